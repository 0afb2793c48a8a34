from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arranged import Plan

_Int32 = NDArray[np.int32]
_Int64 = NDArray[np.int64]
_Float = NDArray[np.float64]

class Keys:
    @property
    def keys(self) -> _Int64: ...
    @property
    def counts(self) -> _Int32: ...
    @property
    def width(self) -> int: ...

def small_codes(labels: _Float, code: _Int32) -> list[int] | None: ...
def relevant(label: _Int32, offsets: _Int64, least: int, out: _Int64) -> None: ...
def arrange(
    code: _Int32,
    order: _Int64 | None,
    start: _Int64,
    offsets: _Int64,
    n_levels: int,
    rows: _Int32,
    label: _Int32,
) -> None: ...
def pack(
    scores: NDArray[np.floating[Any]],
    rows: _Int32,
    offsets: _Int64,
    longest: int,
    *,
    ascending: bool,
) -> Keys: ...
def walk(
    walks: list[Plan],
    keys: Keys,
    label: _Int32,
    ascending: _Int32,
    out: _Float,
    *,
    backwards: bool = False,
    split: bool = False,
) -> None: ...
def walk_labels(
    walks: list[Plan], label: _Int32, offsets: _Int64, out: _Float
) -> None: ...
def tie_groups(
    keys: Keys,
    column: int,
    label: _Int32,
    n_groups: _Int64,
    start: _Int64,
    levels: _Int32,
    *,
    backwards: bool = False,
    split: bool = False,
) -> int: ...
def midranks(keys: Keys, out: _Float, *, backwards: bool = False) -> None: ...
def spread_within_ties(
    walks: list[Plan],
    keys: Keys,
    ascending: _Int32,
    sums: _Float,
    log_factorial: _Float,
    out: _Float,
    *,
    backwards: bool = False,
) -> None: ...
def interpolated(ties: _Int64, out: _Float) -> None: ...
