"""The version of the library."""

__version__ = "1.1.0"
