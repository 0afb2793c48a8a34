"""The compiled kernel, and what stands between it and the engine in NumPy."""

from .arranged import (
    MOST_ROWS,
    ArrangedLabels,
    SortedRows,
    Walk,
    level_codes,
    rank_within,
    score_columns,
)
from .engines import engine, engine_in_words, letor, missed, show_versions
