"""What commands say on large input if the compiled kernel is missing."""

from __future__ import annotations

import sys

from .._display import printable
from .._kernel import missed

#: scores to rank, from which on users wait noticeably longer without the kernel
_MANY = 1_000_000


def note_missing_kernel(n_scores: int, before: int = 0) -> None:
    """Say how to get it, once, when there are many scores to rank.

    Nothing is said to users who chose NumPy's engine with TIEAWARE_ENGINE.

    Parameters
    ----------
    n_scores : int
        Documents times columns.
    before : int
        How many of them an earlier call was given.
    """
    why = missed()
    if why is None or not before < _MANY <= n_scores:
        return
    print(
        printable(
            f"tieaware: the compiled kernel is missing ({why}), so this "
            "takes longer. With a C compiler, install it by: "
            "pip install --force-reinstall --no-deps --no-cache-dir tieaware-sklearn"
        ),
        file=sys.stderr,
    )
