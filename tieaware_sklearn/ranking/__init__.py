"""Engines that rank blocks of queries and add up measures."""
