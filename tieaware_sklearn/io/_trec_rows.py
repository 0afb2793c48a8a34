"""Judgments and runs as rows of documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine import rises
from ._trec_lines import (
    RANK,
    SCORE,
    TrecLines,
    as_text,
    by_score_and_docno,
    with_32_bits,
)

#: lines of a topic that a file does not have
_NOTHING = slice(0, 0)


def trec_rows(
    judged: TrecLines, ranked: TrecLines, *, topics: str, order: str | None
) -> Bunch:
    """Judgments and a run as `load_trec` gives them."""
    trec = columns_of_runs(judged, [ranked], topics, order, by_docno=False)
    for name in ("score", "rank", "input_order"):
        trec[name] = trec[name][:, 0]
    for name in ("n_inversions", "n_contradictions"):
        trec[name] = int(trec[name][0])
    trec.DESCR = f"{ranked.source}, judged by {judged.source}: {trec.DESCR}"
    return trec


def columns_of_runs(
    judged: TrecLines,
    runs: Sequence[TrecLines],
    topics: str,
    order: str | None,
    *,
    by_docno: bool,
) -> Bunch:
    """Runs as columns over the documents of all of them, and of the judgments.

    Rows of a topic stand `by_docno`, descending, or as one run has them.
    """
    for run in runs:
        if run.topics.keys().isdisjoint(judged.topics):
            raise ValueError(
                f"{judged.source} and {run.source} must have a topic in common, got "
                f"{len(judged.topics)} and {len(run.topics)} topics without a common "
                "one"
            )
    retrieved = set().union(*(run.topics for run in runs))
    names = [name for name in judged.topics if topics == "qrels" or name in retrieved]
    if order == "trec_eval":
        runs = [with_32_bits(run) for run in runs]
    disorder = np.array([_disorder(run, names) for run in runs]).T.copy()
    input_orders = [run.places_in_topics() for run in runs]
    if order == "trec_eval" and not by_docno:
        orders = [by_score_and_docno(run) for run in runs]
        runs = [run.in_order(own) for run, own in zip(runs, orders, strict=True)]
        input_orders = [
            places[own] for places, own in zip(input_orders, orders, strict=True)
        ]
    files_lines = [judged, *runs]
    lines = [_lines_of(names, file) for file in files_lines]
    rows: list[list[int]] = [[] for _ in files_lines]
    docno: list[bytes] = []
    sizes: list[int] = []
    for name in names:
        own = [file.docno[file.topics.get(name, _NOTHING)] for file in files_lines]
        documents = list(dict.fromkeys(chain(*own[1:], own[0])))
        if by_docno:
            # ties of all runs are broken as trec_eval does, by the order of none
            documents.sort(reverse=True)
        row_of = dict(zip(documents, count(len(docno)), strict=False))
        for of_file, ids in zip(rows, own, strict=True):
            of_file += map(row_of.__getitem__, ids)
        docno += documents
        sizes.append(len(documents))
    target = np.full(len(docno), np.nan)
    target[rows[0]] = judged.numbers[lines[0], 0]
    score = np.full((len(docno), len(runs)), -np.inf)
    rank = np.full((len(docno), len(runs)), np.nan)
    input_order = np.full((len(docno), len(runs)), np.nan)
    for j, (run, places) in enumerate(zip(runs, input_orders, strict=True)):
        score[rows[j + 1], j] = run.numbers[lines[j + 1], SCORE]
        rank[rows[j + 1], j] = run.numbers[lines[j + 1], RANK]
        input_order[rows[j + 1], j] = places[lines[j + 1]]
    return Bunch(
        target=target,
        score=score,
        qid=np.repeat(as_text(names), sizes),
        docno=as_text(docno),
        rank=rank,
        input_order=input_order,
        n_inversions=disorder[0],
        n_contradictions=disorder[1],
        DESCR=f"{len(names)} topics, {len(docno)} documents",
    )


def _lines_of(topics: Sequence[bytes], file: TrecLines) -> NDArray[np.int64]:
    """Numbers of the lines of some topics, in this order."""
    where = [file.topics.get(name, _NOTHING) for name in topics]
    return np.concatenate([np.arange(lines.start, lines.stop) for lines in where])


def _disorder(run: TrecLines, topics: Sequence[bytes]) -> tuple[int, int]:
    """How often a score is above the one before it, by lines and by ranks."""
    wanted = set(topics)
    known = np.array([name in wanted for name in run.topics], dtype=bool)
    topic = run.topic_numbers()
    rank, score = run.numbers.T

    def count_rises(lines: NDArray[np.int64]) -> int:
        found = rises(score[lines], topic[lines])
        return int((found & known[topic[lines][1:]]).sum())

    # documents of equal rank do not contradict their scores
    ranked = np.lexsort((-score, rank, topic))
    # what has no rank contradicts nothing
    ranked = ranked[~np.isnan(rank[ranked])]
    return count_rises(np.arange(len(topic))), count_rises(ranked)
