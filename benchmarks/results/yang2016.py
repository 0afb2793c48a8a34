"""The figures of Yang, Moffat and Turpin (AIRS 2016), drawn for other runs.

``python -m benchmarks.results.yang2016 QRELS RUN RUN ...`` prints, by AP, RR and RBP,
how much of the runs ties (their Table 1), each run's mean and its range over the orders
of tied documents (Figure 2), how much bands of ranks change (Figure 3, beside the
bounds of Table 2), and which significant differences they keep (Table 3, Figure 4).
``--out FOLDER`` saves the figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from tieaware_sklearn import compare_systems, precision_study
from tieaware_sklearn.comparison import SystemComparison, tie_statistics
from tieaware_sklearn.plots import (
    PairwisePValueDisplay,
    PrecisionLossDisplay,
    TieRangeDisplay,
)
from tieaware_sklearn.score_precision import PrecisionStudy, worst_case_loss

from ._shared import Runs, command_line, not_inferior, pairs_kept, table, trec

MEASURES = ["ap", "rr", "rbp(p=0.5)", "rbp(p=0.85)"]
RHO = ("1.1", "1.2", "1.4", "1.7", "2.0")


def ranges(runs: Runs) -> SystemComparison:
    """The runs by the order of document ids, and by exact means with their ranges."""
    return compare_systems(
        runs.target,
        runs.scores,
        qid=runs.qid,
        measure=MEASURES,
        ties=["document ids", "expected"],
        external={"document ids": (runs.docno, "descending", "float32")},
        unjudged="nonrelevant",
    )


def segments(found: SystemComparison) -> list[list[Any]]:
    """A row for each measure and run, with the length of its segment at the end."""
    frame = found.summary().to_pandas()
    exact = frame[frame.ties == "expected"]
    columns = exact[["measure", "system", "mean", "worst", "best"]]
    ids = frame[frame.ties == "document ids"]["mean"]
    columns.insert(2, "ids", ids.to_numpy())
    widths = (exact.best - exact.worst).abs()
    return [
        [*row, f"{width:.1e}" if width else "0"]
        for row, width in zip(columns.values.tolist(), widths, strict=True)
    ]


def studies(runs: Runs) -> list[PrecisionStudy]:
    """Bands of the ranks that the runs give, for the six best runs of each measure."""
    columns = np.nan_to_num(-runs.rank.T, nan=-np.inf)
    return [
        precision_study(
            runs.target,
            dict(zip(runs.scores, columns, strict=True)),
            qid=runs.qid,
            measure=measure,
            coarseness=[f"rho={rho}" for rho in RHO],
            existing_ties="order",
            top=6,
            unjudged="nonrelevant",
        )
        for measure in MEASURES
    ]


def bands(study: PrecisionStudy, name: str) -> list[list[Any]]:
    """A row for each rho: what bands cost, and what becomes of differences."""
    means = study.expected.mean(axis=1)
    changes = (means[1:] / means[0] - 1).mean(axis=1)
    losses = np.maximum(-study.changes().min(axis=(1, 2)), 0)[1:]
    kept, of = (found.sum(axis=2)[:, :2] for found in not_inferior(study))
    shares = np.char.add(np.char.add(kept.astype(str), "/"), of.astype(str))
    counts = np.column_stack([shares, *pairs_kept(study)])[1:].tolist()
    rows = []
    for rho, change, loss, row in zip(RHO, changes, losses, counts, strict=True):
        bound = "-" if name == "ap" else f"{worst_case_loss(name, rho):.4f}"
        rows.append([study.measure, rho, f"{change:+.2%}", loss, bound, *row])
    return rows


def panels(size: tuple[float, float], **options: Any) -> tuple[Any, list[Any]]:
    """A figure with a panel for each measure."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=size, layout="constrained", **options)
    return figure, list(axes.flat)


def below(figure: Any, axis: Any) -> None:
    """Explain all panels by the entries of one."""
    entries = axis.get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=3, frameon=False)


def figure_of_ranges(found: SystemComparison) -> Any:
    """Figure 2: of each run, the range of its mean over orders of ties, and the mean.

    A mark shows the mean by trec_eval's order of ties.
    """
    figure, axes = panels((11, 7), sharey=True)
    # the figure of the paper has neither intervals nor chance levels
    TieRangeDisplay.from_result(found, ax=axes, interval=None, chance=None)
    for axis in axes:
        axis.set_title("", loc="left")
    axes[-1].get_legend().remove()
    below(figure, axes[0])
    return figure


def figure_of_changes(found: list[PrecisionStudy]) -> Any:
    """Figure 3: changes of the values of queries, a box for each rho."""
    figure, axes = panels((9, 7))
    for axis, study in zip(axes, found, strict=True):
        PrecisionLossDisplay.from_result(study, ax=axis)
        axis.get_legend().remove()
    below(figure, axes[0])
    return figure


def figure_of_pairs(found: list[PrecisionStudy]) -> Any:
    """Figure 4: p-values of pairs of runs, by the ranking and by bands."""
    figure, axes = panels((9, 9))
    for axis, study in zip(axes, found, strict=True):
        PairwisePValueDisplay.from_result(study, level="rho=1.4", ax=axis)
    return figure


def main() -> None:
    parser = command_line(__doc__, nargs="+", help="QRELS, then RUNs")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the figures")
    arguments = parser.parse_args()
    matplotlib.use("Agg")
    runs = trec(arguments.files[0], arguments.files[1:])
    shares = tie_statistics(runs.scores, qid=runs.qid, rank=runs.rank).overall()
    rows = [[of, f"{share:.1%}"] for of, share in shares.items()]
    print(table(["with ties", "share"], rows) + "\n")
    of_orders = ranges(runs)
    head = ["measure", "run", "ids", "exact", "worst", "best", "best - worst"]
    print(table(head, segments(of_orders)))
    found = studies(runs)
    head = ["measure", "rho", "change", "loss", "bound", ">99%", ">97%"]
    head += ["kept", "lost", "new"]
    each = zip(found, MEASURES, strict=True)
    print("", table(head, [row for one in each for row in bands(*one)]), sep="\n")
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        drawn = {
            "ranges": figure_of_ranges(of_orders),
            "changes": figure_of_changes(found),
            "pairs": figure_of_pairs(found),
        }
        for name, figure in drawn.items():
            path = arguments.out / f"{name}.png"
            figure.savefig(path, dpi=90)
            print(path)


if __name__ == "__main__":
    main()
