"""Data, orders of rows, and tables that several findings use."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import format_table
from tieaware_sklearn import QueryKFold, compare_systems, precision_study
from tieaware_sklearn._typing import Array, BoolArray
from tieaware_sklearn.comparison import SystemComparison
from tieaware_sklearn.datasets import load_letor, load_trec, make_web_search
from tieaware_sklearn.score_precision import PrecisionStudy

#: The folder of the theme of the pictures.
DOCS = Path(__file__).parents[2] / "docs"
TableRows = list[list[Any]]
#: Orders of the rows of a file. They do not change the data.
ORDERS = ("relevant first", "relevant last", "shuffled")


def command_line(
    description: str | None,
    nargs: str = "*",
    metavar: str = "FILE",
    help: str | None = None,
) -> argparse.ArgumentParser:
    """Return the parser of a command that reads files."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs=nargs, metavar=metavar, help=help)
    return parser


class Rows(NamedTuple):
    """Features, labels and query ids of documents."""

    X: Array
    y: Array
    qid: Array

    def take(self, rows: Array) -> Rows:
        return Rows(self.X[rows], self.y[rows], self.qid[rows])

    def query_numbers(self) -> Array:
        """Return the number of the query of each row, from 0."""
        _, numbers = np.unique(self.qid, return_inverse=True)
        return numbers


def joined(parts: Sequence[Rows]) -> Rows:
    X = np.concatenate([part.X for part in parts])
    y = np.concatenate([part.y for part in parts])
    qid = np.concatenate([part.qid for part in parts])
    return Rows(X, y, qid)


def letor(files: Sequence[str]) -> Rows:
    """Return the rows of a LETOR file, or of the parts of a collection."""
    data = load_letor(files)
    return Rows(data.data, data.target, data.qid)


def collections(paths: Sequence[str]) -> dict[str, Rows]:
    """Return the rows of LETOR files by the name of their folder, up to the first _.

    The parts of a collection are joined by +. If several collections are in one folder,
    the names of the later ones are their paths.
    """
    rows = {}
    for path in paths:
        files = path.split("+")
        folder = Path(files[0]).resolve().parent
        name = folder.name.partition("_")[0]
        if name in rows:
            name = path
        rows[name] = letor(files)
    return rows


def query_folds(rows: Rows, n_folds: int, seed: int) -> list[Array]:
    """Return the indices of the rows of each fold. Folds are random sets of queries."""
    cv = QueryKFold(n_folds, shuffle=True, random_state=seed)
    return [test for _, test in cv.split(rows.X, groups=rows.qid)]


def split(rows: Rows, parts: list[int], seed: int = 0) -> list[Rows]:
    """Return random sets of queries. Their sizes have the proportions of `parts`."""
    folds = query_folds(rows, sum(parts), seed)
    shares = []
    for n_folds in parts:
        share = np.concatenate(folds[:n_folds])
        shares.append(rows.take(share))
        folds = folds[n_folds:]
    return shares


def web_search(n_queries: int = 200) -> Rows:
    """Return the rows of `make_web_search`."""
    data = make_web_search(n_queries=n_queries, random_state=0)
    return Rows(data.data, data.target, data.qid)


def made_up(n_queries: int = 200) -> Rows:
    """Return a random half of the queries of `make_web_search`."""
    return split(web_search(n_queries), [2, 1, 1])[0]


def ordered(rows: Rows, order: str) -> Rows:
    """Return the rows of each query by label, or all rows in random order."""
    if order == "shuffled":
        rng = np.random.default_rng(0)
        return rows.take(rng.permutation(len(rows.y)))
    keys = rows.y
    if order == "relevant first":
        keys = -keys
    return rows.take(np.lexsort([keys, rows.qid]))


def grouped(rows: Rows) -> tuple[Rows, Array]:
    """Return rows query by query, and the sizes of queries that boosters take."""
    rows = rows.take(np.argsort(rows.qid, kind="stable"))
    _, sizes = np.unique(rows.qid, return_counts=True)
    return rows, sizes


class Runs(NamedTuple):
    """Scores of systems for the same documents; ids and ranks if they are TREC runs."""

    target: Array
    qid: Array
    scores: dict[str, Array]
    docno: Array | None = None
    rank: Array | None = None

    def by_id(self, direction: str = "descending") -> tuple[Any, str, str]:
        """Return the key for ties broken by document id. Descending is trec_eval's."""
        return self.docno, direction, "float32"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of functions that evaluate the runs."""
        return {
            "y_true": self.target,
            "y_score": self.scores,
            "qid": self.qid,
            "unjudged": "nonrelevant",
        }

    def compare(self, **options: Any) -> SystemComparison:
        return compare_systems(**self.arguments(), **options)

    def study(self, **options: Any) -> PrecisionStudy:
        return precision_study(**self.arguments(), **options)


def trec(files: Sequence[str]) -> Runs:
    """Return the judgments of the first file, and runs named by the other files."""
    qrels, *runs = files
    data = load_trec(qrels, runs)
    scores = {}
    for run, score in zip(runs, data.score.T, strict=True):
        name = Path(run).name.removesuffix(".gz")
        scores[name.removeprefix("input.")] = score
    return Runs(data.target, data.qid, scores, data.docno, data["rank"])


def pairs_kept(study: PrecisionStudy) -> list[Array]:
    """Return how many significant differences each level keeps, loses and adds.

    A difference is kept if it is significant by the exact scores and by coarser scores,
    lost if only by the exact scores, and new if only by coarser scores.
    """
    significant = study.significant()
    kept = significant & significant[0] & ~study.turned()
    return [kept.sum(axis=1), study.false_negatives(), study.false_positives()]


def not_inferior(study: PrecisionStudy) -> tuple[BoolArray, BoolArray]:
    """Return which systems keep each share, and which systems count.

    Both arrays have shape (n_levels, n_shares, n_systems). A system counts if ten of
    its queries change, as in the table of a study.
    """
    enough = study.changed()[:, None] >= 10
    counts = np.broadcast_to(enough, study.inferiority.shape)
    return (study.inferiority <= study.alpha) & counts, counts


def means(tables: Sequence[TableRows]) -> TableRows:
    """Return the mean of tables with the same rows. Names are in the first column."""
    averages = []
    for rows in zip(*tables, strict=True):
        name = rows[0][0]
        values = np.mean([row[1:] for row in rows], axis=0)
        averages.append([name, *values.tolist()])
    return averages


def p_value(p: float) -> str:
    if p < 1e-4:
        return "<0.0001"
    return f"{p:.4f}"


def cell_text(value: Any) -> str:
    """Return a cell of a table as text, floats with four decimals."""
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def save_pictures(draw: dict[str, Callable[[], Any]], folder: Path) -> None:
    """Save figures by name, for light and dark, and for wide and narrow pages."""
    sys.path.insert(0, str(DOCS))
    from matplotlib import pyplot
    from theme import THEME, write_widths

    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in draw.items():
        path = folder / f"{name}.svg"
        with pyplot.rc_context(THEME):
            # other sites than ours show the light picture on any page
            write_widths(figure(), path, facecolor="white")
        print(path)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    lines = []
    for row in rows:
        lines.append([cell_text(value) for value in row])
    print(format_table(headers, lines))
