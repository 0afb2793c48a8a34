"""Every set of runs at hand: what the rule for ties changes, by six measures.

``python -m benchmarks.results.tracks --track QRELS RUN RUN ... --track ...`` compares
all pairs of runs of each track under the four rules of `winners`: ties broken by
document ids, descending and ascending, by the ranks that the files give, and not at
all, by exact means. A conclusion is which run of a pair is better, if its p-value is
below 0.05 (paired randomisation test, not corrected). It prints

- for each run, its share of tied documents, what their ids say of their labels and of
  the ranks of the run, and in how many measures and pairs the rule changes something;
- for each track and measure, the share of pairs with p < 0.05 under each rule, which is
  the discriminative power of the measure (Sakai 2006);
- the number of pairs whose conclusion changes, and of runs that change place.

Without files it makes up two runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from tieaware_sklearn.comparison import tie_statistics

from ._shared import Runs, table, trec
from .winners import ALPHA, RULES, comparisons, made_up

MEASURES = ["ap", "ndcg_cut_10", "P_10", "recip_rank", "Rprec", "rbp(p=0.8)"]


class Study(NamedTuple):
    """What four rules say of the runs of a track.

    Attributes
    ----------
    systems, measures : sequence of str
    pairs : ndarray of shape (n_pairs, 2)
    better : ndarray of shape (n_measures, n_rules, n_pairs)
        1 where the first run of a pair is significantly better, -1 where the second is.
    places : ndarray of shape (n_measures, n_rules, n_systems)
    widths : ndarray of shape (n_measures, n_systems)
        From the worst order of ties to the best.
    """

    systems: Sequence[str]
    measures: list[str]
    pairs: np.ndarray
    better: np.ndarray
    places: np.ndarray
    widths: np.ndarray

    def changed(self) -> np.ndarray:
        """Whether rules disagree about a pair, of shape (n_measures, n_pairs)."""
        return (self.better != self.better[:, :1]).any(axis=1)

    def turned(self) -> np.ndarray:
        """Whether both runs of a pair are the better one, by some rule each."""
        return (self.better.min(axis=1) < 0) & (self.better.max(axis=1) > 0)

    def moved(self) -> np.ndarray:
        """Whether a run changes place, of shape (n_measures, n_systems)."""
        return (self.places != self.places[:, :1]).any(axis=1)


def study(runs: Runs, measures: Sequence[str] = MEASURES, test: str = "t") -> Study:
    """All pairs of the runs of a track, by each measure and rule."""
    names, better, places, widths = [], [], [], []
    for measure in measures:
        found = comparisons(runs, measure, test, correction=None)
        exact = found["exact"]
        names.append(exact.measures[0])
        better.append(
            [np.sign(x.difference) * (x.pvalues < ALPHA) for x in found.values()]
        )
        means = [np.round(x.summary().mean, 12) for x in found.values()]
        places.append([rankdata(-of_rule, "min") for of_rule in means])
        widths.append(np.subtract(exact.summary().best, exact.summary().worst))
    made = map(np.array, (exact.pairs, better, places, widths))
    return Study(exact.systems, names, *made)


def of_ids(runs: Runs, system: int) -> tuple[float, list[int]]:
    """What the ids of tied documents say of their labels, and of the ranks of a run.

    Of all pairs of a relevant and another document that tie, the share in which the
    relevant one has the later id, so that trec_eval ranks it first. Of all neighbours
    by rank that tie, how many trec_eval ranks in the same order, and their number.
    """
    score = list(runs.scores.values())[system].astype(np.float32)
    rows = np.flatnonzero(np.isfinite(score))
    ranks = np.broadcast_to(runs.rank.T, (len(runs.scores), len(score)))[system]
    columns = runs.qid, score, runs.docno, ranks, runs.target > 0
    qid, score, docno, rank, relevant = (column[rows] for column in columns)

    def neighbours(order: np.ndarray) -> np.ndarray:
        """Which documents tie with the one before them."""
        return np.logical_and(*(x[order][1:] == x[order][:-1] for x in (qid, score)))

    order = np.lexsort([docno, score, qid])
    group = np.cumsum(np.append(True, ~neighbours(order))) - 1
    others = ~relevant[order]
    before = np.cumsum(others)
    n_others = np.bincount(group, others)
    earlier = before - (np.cumsum(n_others) - n_others)[group]
    pairs = np.sum(n_others[group][~others])
    order = np.lexsort([rank, qid])
    tied = neighbours(order)
    agree = tied & (docno[order][:-1] > docno[order][1:])
    first = float(earlier[~others].sum() / pairs) if pairs else np.nan
    return first, [int(agree.sum()), int(tied.sum())]


def by_run(track: str, runs: Runs, found: Study) -> list[list[Any]]:
    """A row for each run: its ties and ids, and what depends on the rule."""
    tied = tie_statistics(runs.scores, qid=runs.qid).tied_documents
    moved, changed = found.moved().sum(axis=0), found.changed().sum(axis=0)
    rows = []
    for i, name in enumerate(found.systems):
        first, (same, neighbours) = of_ids(runs, i)
        of_pairs = (found.pairs == i).any(axis=1)
        row = [track, name, f"{tied[i]:.2%}"]
        row.append("-" if np.isnan(first) else f"{first:.0%}")
        row += [f"{same}/{neighbours}", f"{found.widths[:, i].max():.4f}"]
        of_measures = len(found.measures) * of_pairs.sum()
        rows.append([*row, int(moved[i]), f"{changed[of_pairs].sum()}/{of_measures}"])
    return rows


def power(track: str, found: Study) -> list[list[Any]]:
    """A row for each measure, and one for all: shares of pairs with p < 0.05."""
    shares = np.mean(found.better != 0, axis=2)
    rows = zip([*found.measures, "all"], [*shares, shares.mean(axis=0)], strict=True)
    return [
        [track, name, *(f"{share:.1%}" for share in of_rules)]
        for name, of_rules in rows
    ]


def changes(track: str, found: Study) -> list[list[Any]]:
    """A row for each measure, and one for all: pairs and runs that depend on the rule.

    Pairs whose conclusion is not that of the exact means, by each other rule and by any
    of them; those that each run wins by some rule; and runs that change place.
    """
    others = (found.better[:, :-1] != found.better[:, -1:]).sum(axis=2)
    counts = (found.changed(), found.turned(), found.moved())
    rows = np.column_stack([others, *(each.sum(axis=1) for each in counts)])
    names = [*found.measures, "all"]
    every = [*rows.tolist(), rows.sum(axis=0).tolist()]
    return [[track, name, *row] for name, row in zip(names, every, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--track", nargs="+", action="append", metavar="FILE", help="QRELS, then RUNs"
    )
    parser.add_argument("--measures", nargs="+", default=MEASURES, metavar="MEASURE")
    parser.add_argument("--test", default="randomization")
    arguments = parser.parse_args()
    tracks = {
        Path(files[0]).resolve().parent.name: trec(files[0], files[1:])
        for files in arguments.track or []
    } or {"made up": made_up()}
    found = {
        name: study(runs, arguments.measures, arguments.test)
        for name, runs in tracks.items()
    }
    of_runs = [row for name in found for row in by_run(name, tracks[name], found[name])]
    head = ["track", "run", "tied", "first", "as ranks", "range", "moved", "pairs"]
    print(table(head, of_runs))
    of_pairs = [(name, each) for name, each in found.items() if len(each.pairs)]
    shares = [row for each in of_pairs for row in power(*each)]
    print("", table(["track", f"p < {ALPHA}", *RULES], shares), sep="\n")
    head = ["track", "not as exact", *RULES[:-1], "any", "turned", "moved"]
    print(
        "", table(head, [row for each in of_pairs for row in changes(*each)]), sep="\n"
    )


if __name__ == "__main__":
    main()
