"""What the findings share: files named, data read and split, rows ordered, tables."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import format_table
from tieaware_sklearn import QueryKFold
from tieaware_sklearn.datasets import load_letor, load_trec, make_web_search
from tieaware_sklearn.score_precision import PrecisionStudy

#: what the rows of a file may be sorted by, without a change to the data
ORDERS = ("relevant first", "relevant last", "shuffled")


def command_line(description: str | None, **files: Any) -> argparse.ArgumentParser:
    """What reads the command line of a finding: files, if there are no options."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("files", **{"nargs": "*", "metavar": "FILE", **files})
    return made


class Rows(NamedTuple):
    """Features, labels and query ids of documents."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    def take(self, rows: np.ndarray) -> Rows:
        return Rows(*(column[rows] for column in self))


def joined(parts: Iterable[Rows]) -> Rows:
    return Rows(*map(np.concatenate, zip(*parts, strict=True)))


def letor(files: Sequence[str]) -> Rows:
    """The rows of one LETOR file, or of the parts of a collection."""
    data = load_letor(files)
    return Rows(data.data, data.target, data.qid)


def collections(paths: Sequence[str]) -> dict[str, Rows]:
    """Those of LETOR files, named by their folders; parts of one are joined by +.

    Of a folder's name, what comes before _ is enough.
    """
    found = {}
    for path in paths:
        files = path.split("+")
        folder = Path(files[0]).resolve().parent.name.partition("_")[0]
        found[path if folder in found else folder] = letor(files)
    return found


def split(rows: Rows, parts: list[int], seed: int = 0) -> list[Rows]:
    """Whole queries in so many shares."""
    cv = QueryKFold(sum(parts), shuffle=True, random_state=seed)
    tests = [test for _, test in cv.split(rows.X, groups=rows.qid)]
    ends = np.cumsum(parts)
    shares = zip(ends - parts, ends, strict=True)
    return [rows.take(np.concatenate(tests[a:b])) for a, b in shares]


def generated(n_queries: int = 200) -> list[Rows]:
    """Training, validation and held-out queries of `make_web_search`."""
    web = make_web_search(n_queries=n_queries, random_state=0)
    return split(Rows(web.data, web.target, web.qid), [2, 1, 1])


def ordered(rows: Rows, order: str) -> Rows:
    """Rows of each query by label, or all in random order."""
    if order == "shuffled":
        return rows.take(np.random.default_rng(0).permutation(len(rows.y)))
    sign = -1 if order == "relevant first" else 1
    return rows.take(np.lexsort([sign * rows.y, rows.qid]))


def grouped(rows: Rows) -> tuple[Rows, np.ndarray]:
    """Rows query by query, and the sizes of queries that boosters take."""
    rows = rows.take(np.argsort(rows.qid, kind="stable"))
    return rows, np.unique(rows.qid, return_counts=True)[1]


def run_name(path: str) -> str:
    """The name of a run, by its file."""
    name = os.path.basename(path)
    return name.removesuffix(".gz").removeprefix("input.")


class Runs(NamedTuple):
    """Runs over the same documents, with the ids and the ranks that they give."""

    target: np.ndarray
    qid: np.ndarray
    docno: np.ndarray
    scores: dict[str, np.ndarray]
    rank: np.ndarray | None = None


def trec(qrels: str, runs: Sequence[str]) -> Runs:
    """Judgments and runs, named by their files."""
    data = load_trec(qrels, runs)
    scores = dict(zip(map(run_name, runs), data.score.T, strict=True))
    return Runs(data.target, data.qid, data.docno, scores, data["rank"])


def pairs_kept(study: PrecisionStudy) -> list[np.ndarray]:
    """Significant differences that each level keeps, loses and adds.

    A difference is kept if it is significant by the scores as they are and by coarser
    ones, lost if only by the scores as they are, and new if only by coarser ones.
    """
    found = study.significant()
    kept = (found & found[0] & ~study.turned()).sum(axis=1)
    return [kept, study.false_negatives(), study.false_positives()]


def not_inferior(study: PrecisionStudy) -> tuple[np.ndarray, np.ndarray]:
    """Which systems keep each share, (n_levels, n_shares, n_systems), and which count.

    Those in which ten queries change count, as in the table of a study.
    """
    enough = np.broadcast_to(study.changed()[:, None] >= 10, study.inferiority.shape)
    return (study.inferiority <= study.alpha) & enough, enough


def means(found: Iterable[Sequence[Sequence[Any]]]) -> list[list[Any]]:
    """Tables of the same rows averaged: names, which come first, stay."""
    return [
        [rows[0][0], *np.mean([row[1:] for row in rows], axis=0).tolist()]
        for rows in zip(*found, strict=True)
    ]


def p_value(p: float) -> str:
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Text, with numbers of four decimals."""
    cells = [
        [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in rows
    ]
    return format_table(list(headers), cells)
