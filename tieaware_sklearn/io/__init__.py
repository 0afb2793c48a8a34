"""Files of rankings: LETOR text, CSV, Parquet and TREC, whole and in batches."""

from ._batches import iter_batches
from ._letor import dump_letor, load_letor
from ._tabular import load_table
from ._trec import load_qrels, load_run, load_trec

__all__ = [
    "dump_letor",
    "iter_batches",
    "load_letor",
    "load_qrels",
    "load_run",
    "load_table",
    "load_trec",
]
