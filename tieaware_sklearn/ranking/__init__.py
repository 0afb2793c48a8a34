"""Engines that rank blocks of queries and compute measures."""
