"""The command line: ``python -m tieaware_sklearn`` and ``tieaware``."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : list of str, optional
        Words of the command line. By default, the words with which the process was
        started.

    Returns
    -------
    int
        Exit code: 0 for success, 1 for an error, or 130 after Ctrl-C. With the option
        ``--fail-if`` of the command ``compare``, the exit code is also 3 if a system
        fails, or 2 if no system fails but a system cannot be tested.

    Raises
    ------
    SystemExit
        With code 2 if the usage is wrong, or with code 0 after ``--help`` or
        ``--version``.
    """
    try:
        # The import is inside `try`, so Ctrl-C during the import is also caught.
        from ._main import main as run

        return run(argv)
    except KeyboardInterrupt:
        sys.stderr.write("tieaware: interrupted\n")
        return 130
