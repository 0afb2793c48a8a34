"""Display of results: tables in print and on pages, progress bars, and warnings."""
