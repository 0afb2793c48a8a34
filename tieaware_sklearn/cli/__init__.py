"""The command line: ``python -m tieaware_sklearn`` and ``tieaware``."""

from ._main import main

__all__ = ["main"]
