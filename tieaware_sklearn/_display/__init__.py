"""What a person sees: tables in print and on pages, progress bars, warnings."""
