"""Display: tables in print and on pages, progress bars, warnings."""
