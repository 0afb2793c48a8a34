"""Optional libraries, named by their extra when they are missing."""

from importlib import import_module
from typing import Any


def import_optional(module: str, *, extra: str = "", purpose: str = "") -> Any:
    """Import an optional library, or raise an ImportError that says what to install.

    A module and an extra of ours have the name of the library, unless others are given.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose or f'tieaware_sklearn.{library}'} needs {library}: "
            f'pip install "tieaware-sklearn[{extra or library}]"'
        ) from error
