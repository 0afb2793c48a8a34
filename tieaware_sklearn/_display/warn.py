"""Warnings that point at the line of the user's that they are about."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from .terminal import printable

_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line up the stack that is not of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=level)
