"""All pairs of runs of several tracks: what the rule for ties changes.

``python -m benchmarks.results.tracks --track QRELS RUN RUN ... --track ...`` compares
all pairs of runs of each track, by six measures and under the four rules of `winners`.
Three rules break ties: by document ids, descending and ascending, and by the ranks in
the files. The fourth rule is exact means. A conclusion is which run of a pair is
better, if its p-value is below 0.05 (paired randomisation test, not corrected). The
command prints

- for each run, the share of tied documents, how the ids of tied documents agree with
  their labels and with the ranks of the run, and in how many measures and pairs the
  rule changes something;
- for each track and measure, the share of pairs with p < 0.05 under each rule, which is
  the discriminative power of the measure (Sakai 2006);
- the number of pairs whose conclusion changes, and of runs that change place.

Without files it makes up two runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from tieaware_sklearn._typing import Array, BoolArray
from tieaware_sklearn.comparison import tie_statistics

from ._shared import Runs, TableRows, print_table, trec
from .winners import ALPHA, RULES, comparisons, made_up

MEASURES = ["ap", "ndcg_cut_10", "P_10", "recip_rank", "Rprec", "rbp(p=0.8)"]


class Study(NamedTuple):
    """Conclusions about the runs of a track under the four rules.

    Attributes
    ----------
    systems, measures : sequence of str
    pairs : ndarray of shape (n_pairs, 2)
    better : ndarray of shape (n_measures, n_rules, n_pairs)
        1 where the first run of a pair is significantly better, -1 where the second is.
    places : ndarray of shape (n_measures, n_rules, n_systems)
    widths : ndarray of shape (n_measures, n_systems)
        Differences between the means with the best and the worst order of ties.
    """

    systems: Sequence[str]
    measures: list[str]
    pairs: Array
    better: Array
    places: Array
    widths: Array

    def changed(self) -> BoolArray:
        """Whether rules disagree about a pair, of shape (n_measures, n_pairs)."""
        return (self.better != self.better[:, :1]).any(axis=1)

    def turned(self) -> BoolArray:
        """Whether each run of a pair is the better run by some rule."""
        wins = self.better.max(axis=1) > 0
        losses = self.better.min(axis=1) < 0
        return wins & losses

    def moved(self) -> BoolArray:
        """Whether a run changes place, of shape (n_measures, n_systems)."""
        return (self.places != self.places[:, :1]).any(axis=1)


class IdAgreement(NamedTuple):
    """Agreement of the ids of tied documents with their labels and their ranks.

    Attributes
    ----------
    relevant_first : float
        Among pairs of a relevant and a nonrelevant document that tie, the share in
        which trec_eval ranks the relevant document first, because its id is later.
    n_as_ranked : int
        The number of tied neighbours that trec_eval ranks in the order of the run.
    n_neighbours : int
        The number of neighbours by rank that tie.
    """

    relevant_first: float
    n_as_ranked: int
    n_neighbours: int


def study(runs: Runs, measures: Sequence[str] = MEASURES, test: str = "t") -> Study:
    """Compare all pairs of the runs of a track, by each measure and rule."""
    names = []
    better = []
    places = []
    widths = []
    for measure in measures:
        results = comparisons(runs, measure, test=test, correction=None)
        winners = []
        ranks = []
        for result in results.values():
            is_significant = result.pvalues < ALPHA
            winners.append(np.sign(result.difference) * is_significant)
            means = np.round(result.summary().mean, 12)
            ranks.append(rankdata(-means, "min"))
        better.append(winners)
        places.append(ranks)
        exact = results["exact"]
        names.append(exact.measures[0])
        summary = exact.summary()
        widths.append(np.subtract(summary.best, summary.worst))
    arrays = exact.pairs, np.array(better), np.array(places), np.array(widths)
    return Study(exact.systems, names, *arrays)


def equals_previous(values: Array) -> BoolArray:
    return values[1:] == values[:-1]


def id_agreement(runs: Runs, system: int) -> IdAgreement:
    """Return how the ids of documents that tie in a run agree with labels and ranks."""
    score = list(runs.scores.values())[system].astype(np.float32)
    ranks = np.broadcast_to(runs.rank.T, (len(runs.scores), len(score)))
    is_retrieved = np.isfinite(score)
    score = score[is_retrieved]
    rank = ranks[system][is_retrieved]
    qid = runs.qid[is_retrieved]
    docno = runs.docno[is_retrieved]
    is_relevant = runs.target[is_retrieved] > 0

    def ties_with_previous(order: Array) -> BoolArray:
        return equals_previous(qid[order]) & equals_previous(score[order])

    order = np.lexsort([docno, score, qid])
    starts = np.append(True, ~ties_with_previous(order))
    group = np.cumsum(starts) - 1
    nonrelevant = ~is_relevant[order]
    group_sizes = np.bincount(group, nonrelevant)
    before_group = np.cumsum(group_sizes) - group_sizes
    # for each document, the nonrelevant documents of its group with an earlier id
    earlier = np.cumsum(nonrelevant) - before_group[group]
    n_pairs = group_sizes[group][~nonrelevant].sum()
    share = np.nan
    if n_pairs:
        share = float(earlier[~nonrelevant].sum() / n_pairs)

    order = np.lexsort([rank, qid])
    tied = ties_with_previous(order)
    names = docno[order]
    as_ranked = tied & (names[:-1] > names[1:])
    return IdAgreement(share, int(as_ranked.sum()), int(tied.sum()))


def run_rows(track: str, runs: Runs, result: Study) -> TableRows:
    """Return a row for each run: its ties and ids, and what depends on the rule."""
    tied = tie_statistics(runs.scores, qid=runs.qid).tied_documents
    moved = result.moved().sum(axis=0)
    changed = result.changed().sum(axis=0)
    rows = []
    for i, name in enumerate(result.systems):
        ids = id_agreement(runs, i)
        relevant_first = f"{ids.relevant_first:.0%}"
        if np.isnan(ids.relevant_first):
            relevant_first = "-"
        row = [track, name, f"{tied[i]:.2%}", relevant_first]
        row.append(f"{ids.n_as_ranked}/{ids.n_neighbours}")
        row.append(f"{result.widths[:, i].max():.4f}")
        row.append(moved[i])
        has_run = (result.pairs == i).any(axis=1)
        n_conclusions = len(result.measures) * has_run.sum()
        row.append(f"{changed[has_run].sum()}/{n_conclusions}")
        rows.append(row)
    return rows


def power(track: str, result: Study) -> TableRows:
    """Return the share of pairs with p < 0.05, for each measure and for all."""
    shares = np.mean(result.better != 0, axis=2)
    rows = []
    for name, values in zip(result.measures, shares, strict=True):
        rows.append([track, name, *percentages(values)])
    rows.append([track, "all", *percentages(shares.mean(axis=0))])
    return rows


def percentages(shares: Array) -> list[str]:
    return [f"{share:.1%}" for share in shares]


def changes(track: str, result: Study) -> TableRows:
    """Return how many pairs and runs depend on the rule, for each measure and for all.

    A row counts the pairs with another conclusion than by exact means, for each rule
    that breaks ties and for any; the pairs of which each run wins by some rule; and the
    runs that change place.
    """
    exact = result.better[:, -1:]
    not_as_exact = (result.better[:, :-1] != exact).sum(axis=2)
    columns = [not_as_exact]
    for cases in (result.changed(), result.turned(), result.moved()):
        columns.append(cases.sum(axis=1))
    counts = np.column_stack(columns)
    rows = []
    for name, values in zip(result.measures, counts.tolist(), strict=True):
        rows.append([track, name, *values])
    rows.append([track, "all", *counts.sum(axis=0).tolist()])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--track", nargs="+", action="append", metavar="FILE", help="QRELS, then RUNs"
    )
    parser.add_argument("--measures", nargs="+", default=MEASURES, metavar="MEASURE")
    parser.add_argument("--test", default="randomization")
    arguments = parser.parse_args()
    tracks = {}
    for files in arguments.track or []:
        folder = Path(files[0]).resolve().parent
        tracks[folder.name] = trec(files)
    if not tracks:
        tracks["made up"] = made_up()
    runs_table = []
    power_table = []
    changes_table = []
    for name, runs in tracks.items():
        result = study(runs, arguments.measures, arguments.test)
        runs_table += run_rows(name, runs, result)
        if len(result.pairs):
            power_table += power(name, result)
            changes_table += changes(name, result)
    head = ["track", "run", "tied", "first", "as ranks", "range", "moved", "pairs"]
    print_table(head, runs_table)
    print()
    print_table(["track", f"p < {ALPHA}", *RULES], power_table)
    print()
    head = ["track", "not as exact", *RULES[:-1], "any", "turned", "moved"]
    print_table(head, changes_table)


if __name__ == "__main__":
    main()
