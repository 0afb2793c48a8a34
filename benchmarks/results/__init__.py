"""What exact measures find, shown on data: one module per finding."""
