"""Commands that are told to stop: by Ctrl-C, or by SIGTERM.

The package imports this module before all others, because a second or two pass until
everything is imported: a command that is interrupted then says so, without a traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

#: added to the number of a signal, as shells do, for the exit code of what it ended
_BY_SIGNAL = 128


class TerminatedError(KeyboardInterrupt):
    """SIGTERM; whatever cleans up after Ctrl-C does so here, too."""


def exit_code(stopped: KeyboardInterrupt) -> int:
    """130 for Ctrl-C, and 143 for SIGTERM."""
    terminated = isinstance(stopped, TerminatedError)
    return _BY_SIGNAL + (signal.SIGTERM if terminated else signal.SIGINT)


def say_interrupted() -> None:
    """Say that there is no result."""
    print("tieaware: interrupted", file=sys.stderr)


@contextmanager
def stoppable() -> Iterator[None]:
    """Signals that ask the process to stop raise a KeyboardInterrupt in the block.

    Those that the program listens to, or ignores, are its own matter.
    """
    ours = threading.current_thread() is threading.main_thread()
    if ours and signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    try:
        signal.signal(signal.SIGTERM, _raise_terminated)
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise_terminated(*_: object) -> NoReturn:
    raise TerminatedError


def _leave(*_: object) -> None:
    """End at once: modules imported by halves may take an exception for another one."""
    if sys.stderr is not None:
        say_interrupted()
        sys.stderr.flush()
    os._exit(_BY_SIGNAL + signal.SIGINT)


def _is_command() -> bool:
    """Whether the process is ``tieaware``, or ``python -m tieaware_sklearn``."""
    program = sys.argv[0] if getattr(sys, "argv", None) else ""
    if program == "-m":  # until the module to run is found
        return "tieaware_sklearn" in {w.removeprefix("-m") for w in sys.orig_argv}
    return Path(program).stem in ("tieaware", "tieaware-script")


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)
