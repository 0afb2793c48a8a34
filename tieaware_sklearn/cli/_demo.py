"""The command ``demo``: real ties, from scikit-learn's digits."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from .._display.progress import shows_progress
from .._display.tables import format_table, number
from .._display.terminal import printable
from ..datasets import dump_letor, load_digits_retrieval
from ..evaluation import PreparedRanking, evaluate
from ..feature_selection import RankingFeatureSelector
from ..io._whole_file import check_writable
from ._outputs import show

#: the feature whose rows are put in several orders: it takes 17 values at most
_SHOWN = "chebyshev"


def run(arguments: argparse.Namespace) -> None:
    """Screen the digits, and show what ties do to a plain measure."""
    if arguments.out is not None:
        check_writable(arguments.out, "--out")
    digits = load_digits_retrieval(n_queries=arguments.queries)
    if arguments.out is not None:
        dump_letor(digits.data, digits.target, arguments.out, qid=digits.qid)
        numbered = enumerate(digits.feature_names, start=1)
        names = ", ".join(f"{column} {name}" for column, name in numbered)
        wrote = printable(f"tieaware: wrote {arguments.out}; features {names}")
        print(wrote, file=sys.stderr)
    show(
        f"Hand-written digits: {arguments.queries} images are queries, each against "
        "all 1796 others;\nimages of the same digit are relevant. Integer "
        "similarities rank them:\n"
    )
    selector = RankingFeatureSelector(
        n_jobs=arguments.jobs, progress=shows_progress(arguments.quiet)
    )
    selector.fit(digits.data, digits.target, qid=digits.qid)
    show(str(selector.screening_.named(digits.feature_names)))

    column = digits.data[:, digits.feature_names.index(_SHOWN)]
    show(
        f"\n{_SHOWN} takes {len(np.unique(column))} values only, so most images tie. "
        "Its exact value, and how far\nthe order of ties could move it:\n"
    )
    report = evaluate(digits.target, column, qid=digits.qid)
    show(str(report))
    show(
        "\nA measure unaware of ties goes by the order of the rows. The same scores, "
        "the same\nlabels, rows in four orders:\n"
    )
    show(order_table(digits.target, column, digits.qid, report.measures))


def order_table(
    target: np.ndarray, score: np.ndarray, qid: np.ndarray, measures: tuple[str, ...]
) -> str:
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
        rows.append([name, *(number(float(value)) for value in values)])
    return format_table(["rows", *measures], rows)
