"""Optional libraries, named by their extra when they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import an optional library, or raise an ImportError that says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module.partition('.')[0]}: "
            f'pip install "tieaware-sklearn[{extra}]"'
        ) from error
