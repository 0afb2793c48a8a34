"""What commands say where the compiled kernel is missing and much is to be done."""

from __future__ import annotations

import os
import sys

from .._display.terminal import printable
from .._kernel import engines

#: scores to rank, from which on the kernel saves a wait
_MANY = 1_000_000


def note_missing_kernel(n_scores: int, before: int = 0) -> None:
    """Say how to get it, once there are many scores to rank.

    Who chose NumPy's engine by TIEAWARE_ENGINE is told nothing.

    Parameters
    ----------
    n_scores : int
        Documents times columns.
    before : int
        As many of them were there at the last call.
    """
    chosen = os.environ.get(engines.VARIABLE) == "numpy"
    if engines.missing is None or chosen or not before < _MANY <= n_scores:
        return
    print(
        printable(
            "tieaware: this takes longer than it need, because the compiled kernel is "
            f"missing ({engines.missing}); to get it, install a C compiler, then "
            "tieaware-sklearn again: "
            "pip install --force-reinstall --no-deps --no-cache-dir tieaware-sklearn"
        ),
        file=sys.stderr,
    )
