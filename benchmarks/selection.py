"""What selecting features in other ways than by the lift of each adds to a ranker.

``python -m benchmarks.selection FILE [FILE ...]`` reads sets of LETOR files (parts of a
set are joined by +) and trains a LightGBM and a linear ranker on the first k features
of each way to select, in 5 folds by query, repeated; features are selected within the
folds. It prints differences in NDCG@10 to the plain filter on held-out queries, paired
by query, times 1,000, with half of their 95 % t intervals over queries, which allow for
training sets that overlap, as `selection_curve` does; "all" is the mean over the sets.
All ways but the plain filter have a cap, max_correlation=.95; d is the diversity, and
fusion is `FusedRanker`. Without files it makes up a small set.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.linear_model import Ridge

from benchmarks.results._shared import Rows, collections, generated
from benchmarks.tables import format_table
from tieaware_sklearn import (
    FusedRanker,
    QueryKFold,
    RankingFeatureSelector,
    selection_curve,
)
from tieaware_sklearn._display.words import number
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.midranks import rank_within
from tieaware_sklearn.inspection import SelectionCurve
from tieaware_sklearn.lightgbm import QueryLGBMRanker

SIZES = [3, 5, 10, 20]
MEASURE = "ndcg@10"
PLAIN = "plain filter"
FOLDS = 5


def that_vary(rows: Rows) -> Rows:
    """The rows without features that no selector ever takes."""
    queries = check_qid(rows.qid, n_rows=len(rows.y))
    varies = queries.varying(queries.arrange(rows.X)).any(axis=0)
    return rows._replace(X=rows.X[:, varies])


def ways() -> dict[str, Any]:
    """The ways to select, the plain filter first."""

    def lift(diversity: float = 0.0, cap: float | None = 0.95) -> Any:
        return RankingFeatureSelector(MEASURE, max_correlation=cap, diversity=diversity)

    return {
        PLAIN: lift(cap=None),
        "cap alone": lift(),
        "d = .2": lift(0.2),
        "d = .3": lift(0.3),
        "d = .4": lift(0.4),
        "d = .5": lift(0.5),
        "fusion": FusedRanker(measure=MEASURE),
    }


def rankers() -> dict[str, Any]:
    trees = QueryLGBMRanker(
        n_estimators=50, num_leaves=8, random_state=0, n_jobs=1, verbosity=-1
    )
    return {"LightGBM": trees, "linear": Ridge(1.0)}


def ranked(data: Rows) -> Rows:
    """Each feature as its rank within the query, from -1 to 1, for a linear ranker.

    The selection is the same, because features rank as before.
    """
    queries = check_qid(data.qid, n_rows=len(data.y)).by_id()
    arranged = np.ascontiguousarray(queries.arrange(data.X).T)
    ranks = -rank_within(arranged, queries.sizes, both_ways=False)
    ranks = ranks / np.repeat(queries.sizes, queries.sizes)[:, None]
    return Rows(ranks, queries.arrange(data.y), queries.qid[queries.codes])


class Gain(NamedTuple):
    """A mean difference and its standard error, with so many degrees of freedom."""

    mean: float
    error: float
    degrees: float

    @classmethod
    def of(cls, differences: np.ndarray) -> Gain:
        """Of one difference per query (the variance of Nadeau and Bengio 2003)."""
        n = len(differences)
        error = np.sqrt((1 + FOLDS / (FOLDS - 1)) / n) * differences.std(ddof=1)
        return cls(differences.mean(), error, n - 1)

    @classmethod
    def over(cls, gains: Iterable[Gain]) -> Gain:
        """The mean over data sets (Welch and Satterthwaite's degrees of freedom)."""
        means, errors, degrees = np.array(list(gains)).T
        squares = errors**2
        total = squares.sum()
        degree = total**2 / (squares**2 / degrees).sum() if total else degrees.sum()
        return cls(means.mean(), np.sqrt(total) / len(means), degree)

    def __str__(self) -> str:
        if np.isnan(self.mean):
            return "-"
        half = stats.t.ppf(0.975, self.degrees) * self.error
        return f"{1000 * self.mean:+.1f} ± {1000 * half:.1f}"


Curves = Mapping[tuple[str, str], SelectionCurve]


def differences(curve: SelectionCurve, way: str) -> np.ndarray:
    """Of each query and size, to the plain filter."""
    return curve.values[:, curve.selectors.index(way)] - curve.values[:, 0]


def gain(
    curves: Curves, way: str, sets: Iterable[str], which: Iterable[str], k: int = 0
) -> Gain:
    """Of a way with k features, or averaged over all k; over rankers; over sets."""
    found = []
    for name in sets:
        own = [curves[name, ranker] for ranker in which]
        sizes = own[0].n_features
        if k and k not in sizes:
            continue
        at = [sizes.index(k)] if k else slice(None)
        values = [differences(curve, way)[:, at] for curve in own]
        found.append(Gain.of(np.mean(values, axis=0).mean(axis=1)))
    return Gain.over(found) if found else Gain(np.nan, np.nan, 1)


def show(curves: Curves, names: list[str], every: bool) -> None:
    """Tables: by set, and by ranker and size over all sets."""
    others = next(iter(curves.values())).selectors[1:]
    which = list(rankers())
    rows = [
        [way]
        + [str(gain(curves, way, [name], which)) for name in names]
        + [str(gain(curves, way, names, which))]
        for way in others
    ]
    print("\nmean over both rankers and all k, by data set\n")
    print(format_table(["", *names, "all"], rows))
    for ranker in which:
        parts = [("all sets", names)]
        if every:
            parts += [(name, [name]) for name in names]
        for title, some in parts:
            rows = [
                [way, *(str(gain(curves, way, some, [ranker], k)) for k in [*SIZES, 0])]
                for way in others
            ]
            print(f"\n{ranker}, {title}\n")
            print(format_table(["", *(f"k = {k}" for k in SIZES), "mean"], rows))
    rows = []
    for (name, ranker), curve in curves.items():
        means = dict(zip(curve.n_features, curve.mean[0], strict=True))
        means = [*(means.get(k, np.nan) for k in SIZES), curve.mean_all]
        rows.append([name, ranker, *map(number, means)])
    print(f"\nNDCG@10 of the {PLAIN}, and with all features\n")
    header = ["", "ranker", *(f"k = {k}" for k in SIZES), "all"]
    print(format_table(header, rows, left=2))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.selection",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--repeats", type=int, default=3, help="of the folds")
    parser.add_argument("--every", action="store_true", help="a table for every set")
    parser.add_argument("--jobs", type=int, default=2, help="processes over folds")
    arguments = parser.parse_args()
    sets = collections(arguments.files) or {"made up": generated(120)[0]}
    # OHSUMED has features that repeat others among the first ten
    warnings.filterwarnings("ignore", "n_features_to_select")
    start, curves = time.perf_counter(), {}
    for name, rows in sets.items():
        data = that_vary(rows)
        n_queries, n_features = len(np.unique(data.qid)), data.X.shape[1]
        print(f"{name}: {n_queries} queries, {len(data.y)} documents, ", end="")
        print(f"{n_features} features", flush=True)
        for ranker, estimator in rankers().items():
            own = ranked(data) if ranker == "linear" else data
            curves[name, ranker] = selection_curve(
                ways(),
                estimator,
                own.X,
                own.y,
                qid=own.qid,
                n_features=[k for k in SIZES if k < own.X.shape[1]],
                measure=MEASURE,
                cv=QueryKFold(
                    FOLDS,
                    shuffle=True,
                    random_state=0,
                    n_repeats=arguments.repeats,
                ),
                n_jobs=arguments.jobs,
            )
    show(curves, list(sets), arguments.every)
    print(f"\n{time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
