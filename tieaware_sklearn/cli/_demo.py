"""The command ``demo``, which shows real ties in scikit-learn's digits."""

from argparse import Namespace
from pathlib import Path

import numpy as np

from .. import _atomic
from .._display import progress_bars, words
from ..datasets import load_digits_retrieval
from ..evaluation import evaluate
from ..feature_selection import RankingFeatureSelector
from . import _outputs

#: A feature with many ties, because it has at most 17 values.
_SHOWN = "chebyshev"


def run(arguments: Namespace) -> int:
    """Screen the digits, and show the effect of ties on a plain measure."""
    if arguments.out is not None:
        _atomic.check_writable(arguments.out, "--out")
    digits = load_digits_retrieval(n_queries=arguments.queries)
    _print_paragraph(
        f"Hand-written digits: each of {arguments.queries} images is a query that "
        "ranks the 1796 other images; those of the same digit are relevant. The "
        "features are integer similarities:"
    )
    selector = RankingFeatureSelector(
        n_jobs=arguments.jobs, progress=progress_bars.shows_progress(arguments.quiet)
    )
    selector.fit(digits.data, digits.target, qid=digits.qid)
    for table in selector.screening_.named(digits.feature_names)._tables():
        terms = table.fitted().legend().items()
        _outputs.show(f"{table.text()}\n\n{words.definitions(terms)}\n")
    column = digits.data[:, digits.feature_names.index(_SHOWN)]
    report = evaluate(digits.target, column, qid=digits.qid, measures="ap")
    summary = report.summary()
    _print_paragraph(
        f"{_SHOWN} has only {len(np.unique(column))} values, so most images tie. If "
        f"ties are broken by row order, reordering rows moves its "
        f"{summary.measure[0]} from {summary.worst[0]:.2f} to {summary.best[0]:.2f}; "
        f"the exact value is {summary.mean[0]:.2f}."
    )
    if arguments.out is not None:
        cells = np.column_stack([digits.target, digits.qid, digits.data])
        rows = [["label", "qid", *digits.feature_names]]
        rows += cells.astype(int).astype(str).tolist()
        lines = [",".join(row) + "\n" for row in rows]
        _atomic.write_whole(Path(arguments.out), lines)
        _outputs.note(f"wrote {arguments.out}")
    return 0


def _print_paragraph(text: str) -> None:
    _outputs.show(f"{words.paragraph(text)}\n")
