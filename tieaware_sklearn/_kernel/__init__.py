"""The compiled kernel, and what stands between it and the engine in NumPy."""
