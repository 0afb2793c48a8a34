"""From arrays to tie groups: checks, gathering by query, and sorting."""
