"""Bundled and generated rankings, and functions that read files."""

from ..io._batches import iter_batches
from ..io._frames import whole_queries
from ..io._letor import dump_letor, load_letor
from ..io._tables import load_table
from ..io._trec import load_qrels, load_run, load_trec
from ..io._trec_dump import dump_qrels, dump_trec_run
from ._digits import load_digits_retrieval
from ._web_search import make_web_search

__all__ = [
    "dump_letor",
    "dump_qrels",
    "dump_trec_run",
    "iter_batches",
    "load_digits_retrieval",
    "load_letor",
    "load_qrels",
    "load_run",
    "load_table",
    "load_trec",
    "make_web_search",
    "whole_queries",
]
