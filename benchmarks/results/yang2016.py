"""The figures of Yang, Moffat and Turpin (AIRS 2016), drawn for other runs.

``python -m benchmarks.results.yang2016 QRELS RUN RUN ...`` prints, by AP, RR and RBP,
how far the orders of tied documents leave each run's mean open (their Figure 2), how
much bands of ranks change (Figure 3, beside the bounds of Table 2), and which
significant differences they keep (Table 3, Figure 4). ``--out FOLDER`` saves the
figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from tieaware_sklearn import official_vs_exact, precision_study
from tieaware_sklearn.plots import PairwisePValueDisplay, PrecisionLossDisplay
from tieaware_sklearn.score_precision import PrecisionStudy, worst_case_loss

from ._shared import Runs, command_line, not_inferior, pairs_kept, table, trec

MEASURES = ["ap", "rr", "rbp(p=0.5)", "rbp(p=0.85)"]
RHO = ("1.1", "1.2", "1.4", "1.7", "2.0")
#: ranges that are shorter are drawn here
SHORTEST = 1e-7
#: and runs with ranges of at least this have names
LABELLED = 1e-4


def ranges(runs: Runs) -> Any:
    """Official mean, and the range over orders of ties, of each run and measure."""
    found = official_vs_exact(
        runs.target,
        runs.scores,
        runs.docno,
        qid=runs.qid,
        measures=MEASURES,
        n_orders=1,
        unjudged="nonrelevant",
    )
    frame = found.averages()
    return frame.assign(range=(frame.best - frame.worst).abs())


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


def figure_of_ranges(frame: Any) -> Any:
    """Figure 2: of each run, the range of its mean against trec_eval's mean."""
    figure, axes = panels((9, 7), sharey=True)
    by_measure = frame.groupby("measure", sort=False)
    for axis, (measure, rows) in zip(axes, by_measure, strict=True):
        y = np.maximum(rows.range, SHORTEST)
        tied = 100 * rows.tied_documents
        points = axis.scatter(
            rows.official, y, c=tied, cmap="coolwarm", vmin=0, vmax=100, s=40
        )
        axis.set(title=measure, yscale="log", ylim=(SHORTEST / 2, 1))
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.15)
        for x, at, name in zip(rows.official, y, rows.system, strict=True):
            if at >= LABELLED:
                style = {"textcoords": "offset points", "size": 9}
                axis.annotate(name, (x, at), (7, -3), **style)
    ticks = [10.0**power for power in range(-6, 1, 2)]
    axes[0].set_yticks([SHORTEST, *ticks], ["0", *(f"{tick:g}" for tick in ticks)])
    figure.supxlabel("mean by trec_eval's order of ties")
    figure.supylabel("best minus worst order of ties, mean")
    figure.colorbar(points, ax=axes, label="tied documents, %", shrink=0.6)
    return figure


def figure_of_changes(found: list[PrecisionStudy]) -> Any:
    """Figure 3: changes of the values of queries, a box for each rho."""
    figure, axes = panels((9, 7))
    for axis, study in zip(axes, found, strict=True):
        PrecisionLossDisplay.from_result(study, ax=axis)
        axis.get_legend().remove()
    entries = axes[0].get_legend_handles_labels()
    figure.legend(*entries, loc="outside lower center", ncols=3, frameon=False)
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
    frame = ranges(runs)
    wide = frame.pivot(index="system", columns="measure", values="range")[
        frame.measure.unique()
    ]
    rows = [
        [name, *(f"{x:.1e}" if x else "0" for x in row)]
        for name, *row in wide.itertuples()
    ]
    print(table(["best minus worst", *wide.columns], rows))
    found = studies(runs)
    head = ["measure", "rho", "change", "loss", "bound", ">99%", ">97%"]
    head += ["kept", "lost", "new"]
    each = zip(found, MEASURES, strict=True)
    print("", table(head, [row for one in each for row in bands(*one)]), sep="\n")
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        drawn = {
            "ranges": figure_of_ranges(frame),
            "changes": figure_of_changes(found),
            "pairs": figure_of_pairs(found),
        }
        for name, figure in drawn.items():
            path = arguments.out / f"{name}.png"
            figure.savefig(path, dpi=90)
            print(path)


if __name__ == "__main__":
    main()
