"""Statistics of values per query: averages, intervals, tests, corrections, power."""
