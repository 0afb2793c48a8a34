"""Bundled and generated rankings, and the readers of files."""

from ..io import (
    dump_letor,
    dump_qrels,
    dump_trec_run,
    iter_batches,
    load_letor,
    load_qrels,
    load_run,
    load_subtopics,
    load_table,
    load_trec,
    query_digests,
    whole_queries,
)
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
    "load_subtopics",
    "load_table",
    "load_trec",
    "make_web_search",
    "query_digests",
    "whole_queries",
]
