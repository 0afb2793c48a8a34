"""Faults that are put into the code, and the tests that must notice."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tieaware_sklearn"
#: how pytest runs the tests of every day
PYTEST = ("-q", "-p", "no:cacheprovider", "-o", "addopts=-m 'not weekly'")
