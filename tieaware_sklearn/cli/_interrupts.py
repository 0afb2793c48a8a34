"""Commands that are told to stop: by Ctrl-C, or by SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


def exit_code(stopped: KeyboardInterrupt) -> int:
    """130 for Ctrl-C, and 143 for SIGTERM, as shells have it."""
    number: int = next(iter(stopped.args), signal.SIGINT)
    return 128 + number


def _stop(number: int, _: object) -> NoReturn:
    raise KeyboardInterrupt(number)


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM is a KeyboardInterrupt in the block, if nobody else listens to it."""
    default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ours = default and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
