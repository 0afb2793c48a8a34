"""Statistics of numbers per query: averages, intervals, tests, corrections, power."""
