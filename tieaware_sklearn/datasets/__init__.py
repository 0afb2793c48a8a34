"""Rankings to try things on: read, bundled or made."""

from ._batches import iter_batches
from ._digits import load_digits_retrieval
from ._letor import dump_letor, load_letor
from ._table import load_table
from ._trec import load_qrels, load_run, load_trec
from ._web_search import make_web_search

__all__ = [
    "dump_letor",
    "iter_batches",
    "load_digits_retrieval",
    "load_letor",
    "load_qrels",
    "load_run",
    "load_table",
    "load_trec",
    "make_web_search",
]
