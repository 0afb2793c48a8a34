"""The command ``demo``: real ties, from scikit-learn's digits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from .._display.progress import shows_progress
from .._display.result import tables_of
from .._display.tables import Table, definitions, paragraph
from .._display.terminal import printable
from ..datasets import dump_letor, load_digits_retrieval
from ..evaluation import PreparedRanking, evaluate
from ..feature_selection import RankingFeatureSelector
from ..io._whole_file import check_writable, write_whole
from ._outputs import show

#: the feature whose rows are put in several orders: it takes 17 values at most
_SHOWN = "chebyshev"
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def run(arguments: argparse.Namespace) -> None:
    """Screen the digits, and show what ties do to a plain measure."""
    if arguments.out is not None:
        check_writable(arguments.out, "--out")
    digits = load_digits_retrieval(n_queries=arguments.queries)
    if arguments.out is not None:
        _write(digits, arguments.out)
    _say(
        f"Hand-written digits: {arguments.queries} images are queries, each against "
        "all 1796 others; images of the same digit are relevant. Integer similarities "
        "rank them:"
    )
    selector = RankingFeatureSelector(
        n_jobs=arguments.jobs, progress=shows_progress(arguments.quiet)
    )
    selector.fit(digits.data, digits.target, qid=digits.qid)
    _show(tables_of(selector.screening_.named(digits.feature_names)))

    column = digits.data[:, digits.feature_names.index(_SHOWN)]
    _say(
        f"{_SHOWN} takes {len(np.unique(column))} values only, so most images tie. "
        "Its exact value, and how far the order of ties could move it:"
    )
    report = evaluate(digits.target, column, qid=digits.qid)
    _show(tables_of(report))
    _say(
        "A measure unaware of ties goes by the order of the rows. The same scores, the "
        "same labels, rows in four orders:"
    )
    table = order_table(digits.target, column, digits.qid, report.measures)
    show(table.text())


def _say(text: str) -> None:
    show(f"{paragraph(text)}\n")


def _show(tables: list[Table]) -> None:
    """Tables, and what their heads mean."""
    for table in tables:
        shown = table.shown()
        show(f"{shown.text}\n\n{definitions(shown.legend.items())}\n")


def _write(digits: Bunch, path: str) -> None:
    """The data as CSV, if the name of the file says so, or as LETOR text."""
    wrote = f"tieaware: wrote {path}"
    plain = Path(path.removesuffix(".gz"))
    if separator := _SEPARATORS.get(plain.suffix.lower()):
        heads = ["label", "qid", *digits.feature_names]
        cells = np.column_stack([digits.target, digits.qid, digits.data])
        rows = [heads, *cells.astype(int).astype(str).tolist()]
        write_whole(Path(path), [separator.join(row) + "\n" for row in rows])
    else:
        dump_letor(digits.data, digits.target, path, qid=digits.qid)
        numbered = enumerate(digits.feature_names, start=1)
        names = ", ".join(f"{column} {name}" for column, name in numbered)
        wrote += f"; features {names}"
    print(printable(wrote), file=sys.stderr)


def order_table(
    target: np.ndarray, score: np.ndarray, qid: np.ndarray, measures: tuple[str, ...]
) -> Table:
    """The plain measures for several orders of the rows, and the exact means."""
    shuffled = np.random.default_rng(0).permutation(len(target))
    orders = (
        ("relevant rows first", np.argsort(-target, kind="stable"), "input"),
        ("as loaded", np.arange(len(target)), "input"),
        ("shuffled", shuffled, "input"),
        ("relevant rows last", np.argsort(target, kind="stable"), "input"),
        ("exact, in any order", shuffled, "expected"),
    )
    rows = []
    for name, order, ties in orders:
        ranking = PreparedRanking(target[order], qid[order])
        values = (ranking.score(score[order], m, ties=ties) for m in measures)
        rows.append([name, *map(float, values)])
    columns = zip(*rows, strict=True)
    return Table.of(*zip(["rows", *measures], columns, strict=True))
