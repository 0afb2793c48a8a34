"""Optional libraries, named by their extra when they are missing."""

from importlib import import_module
from typing import Any


def import_optional(module: str, *, extra: str = "", purpose: str = "") -> Any:
    """Import an optional library, or raise an ImportError with the install command.

    By default, `extra` is the name of the library, and `purpose` is the module of this
    package that has the same name.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose or f'tieaware_sklearn.{library}'} needs {library}: "
            f'pip install "tieaware-sklearn[{extra or library}]"'
        ) from error
