"""The figures of Yang, Moffat and Turpin (AIRS 2016), drawn for other runs.

``python -m benchmarks.results.yang2016 QRELS RUN RUN ...`` uses AP, RR and RBP. It
prints how many documents of the runs tie (their Table 1), each run's mean and its range
over the orders of tied documents (Figure 2), how much bands of ranks change (Figure 3,
beside the bounds of Table 2), and which significant differences the bands keep (Table
3, Figure 4). ``--out FOLDER`` saves the figures.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from tieaware_sklearn.comparison import SystemComparison, tie_statistics
from tieaware_sklearn.plots import (
    PairwisePValueDisplay,
    PrecisionLossDisplay,
    TieRangeDisplay,
)
from tieaware_sklearn.score_precision import PrecisionStudy, worst_case_loss

from ._shared import (
    Runs,
    TableRows,
    command_line,
    not_inferior,
    pairs_kept,
    print_table,
    save_pictures,
    trec,
)

MEASURES = ["ap", "rr", "rbp(p=0.5)", "rbp(p=0.85)"]
RHO = ("1.1", "1.2", "1.4", "1.7", "2.0")


def ranges(runs: Runs) -> SystemComparison:
    """Compare the runs by the order of document ids, and by exact means."""
    return runs.compare(
        measure=MEASURES,
        ties=["document ids", "expected"],
        external={"document ids": runs.by_id()},
    )


def segments(result: SystemComparison) -> TableRows:
    """Return a row for each measure and run, with the length of its segment last."""
    frame = result.summary().to_pandas()
    exact = frame[frame.ties == "expected"]
    by_id = frame[frame.ties == "document ids"]
    rows = []
    for run, ids in zip(exact.itertuples(), by_id["mean"], strict=True):
        length = abs(run.best - run.worst)
        row = [run.measure, run.system, ids, run.mean, run.worst, run.best]
        row.append(f"{length:.1e}" if length else "0")
        rows.append(row)
    return rows


def band_studies(runs: Runs) -> list[PrecisionStudy]:
    """Study bands of the ranks of the files, for the six best runs of each measure."""
    ranks = np.nan_to_num(-runs.rank.T, nan=-np.inf)
    scores = dict(zip(runs.scores, ranks, strict=True))
    ranked = runs._replace(scores=scores)
    levels = [f"rho={rho}" for rho in RHO]
    options = {"coarseness": levels, "existing_ties": "order", "top": 6}
    return [ranked.study(measure=measure, **options) for measure in MEASURES]


def bands(study: PrecisionStudy, measure: str) -> TableRows:
    """Return a row for each rho: the cost of bands, and the differences they keep."""
    means = study.expected.mean(axis=1)
    changes = np.mean(means[1:] / means[0] - 1, axis=1)
    losses = -study.changes().min(axis=(1, 2))
    keeps, counts = not_inferior(study)
    n_kept = keeps.sum(axis=2)
    n_counted = counts.sum(axis=2)
    differences = np.column_stack(pairs_kept(study))
    rows = []
    for level, rho in enumerate(RHO, 1):
        loss = max(0.0, losses[level])
        row = [study.measure, rho, f"{changes[level - 1]:+.2%}", loss]
        # `worst_case_loss` knows no bound for AP
        row.append("-" if measure == "ap" else worst_case_loss(measure, rho))
        for share in (0, 1):
            row.append(f"{n_kept[level, share]}/{n_counted[level, share]}")
        rows.append([*row, *differences[level]])
    return rows


def panels(size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """Return a figure with a panel for each measure, and its axes."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=size, layout="constrained")
    return figure, list(axes.flat)


def figure_of_ranges(result: SystemComparison) -> Any:
    """Draw Figure 2: the range of the mean of each run over orders of ties.

    Marks show the exact mean, and the mean by trec_eval's order of ties.
    """
    # the figure of the paper has neither intervals nor chance levels
    display = TieRangeDisplay.from_result(result, interval=None, chance=None)
    return display.figure_


def figure_of_changes(studies: list[PrecisionStudy]) -> Any:
    """Draw Figure 3: changes of the values of queries, with a box for each rho."""
    figure, axes = panels((9, 7))
    for axis, study in zip(axes, studies, strict=True):
        PrecisionLossDisplay.from_result(study, ax=axis)
        axis.tick_params(axis="x", labelsize="small")
        axis.get_legend().remove()
    entries = axes[0].get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=3, frameon=False)
    return figure


def figure_of_pairs(studies: list[PrecisionStudy]) -> Any:
    """Draw Figure 4: p-values of pairs of runs, by the ranking and by bands."""
    figure, axes = panels((9, 11))
    for axis, study in zip(axes, studies, strict=True):
        PairwisePValueDisplay.from_result(study, level="rho=1.4", ax=axis)
        # below the panel, whose points and lines leave no room
        below = {"loc": "upper left", "bbox_to_anchor": (0, -0.18)}
        entries = axis.get_legend_handles_labels()
        axis.legend(*entries, fontsize="small", frameon=False, **below)
    return figure


def main() -> None:
    parser = command_line(__doc__, nargs="+", help="QRELS, then RUNs")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the figures")
    arguments = parser.parse_args()
    matplotlib.use("Agg")
    runs = trec(arguments.files)
    ties = tie_statistics(runs.scores, qid=runs.qid, rank=runs.rank)
    rows = [[name, f"{share:.1%}"] for name, share in ties.overall().items()]
    print_table(["with ties", "share"], rows)
    print()
    result = ranges(runs)
    head = ["measure", "run", "ids", "exact", "worst", "best", "best - worst"]
    print_table(head, segments(result))
    print()
    studies = band_studies(runs)
    rows = []
    for measure, study in zip(MEASURES, studies, strict=True):
        rows += bands(study, measure)
    head = ["measure", "rho", "change", "loss", "bound", ">99%", ">97%"]
    print_table([*head, "kept", "lost", "new"], rows)
    if arguments.out is not None:
        draw = {
            "ranges": partial(figure_of_ranges, result),
            "changes": partial(figure_of_changes, studies),
            "pairs": partial(figure_of_pairs, studies),
        }
        save_pictures(draw, arguments.out)


if __name__ == "__main__":
    main()
