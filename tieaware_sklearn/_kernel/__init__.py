"""The compiled kernel, and the modules that connect it to the NumPy engine."""
