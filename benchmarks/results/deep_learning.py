"""What ties change in all passage runs of a modern track.

``python -m benchmarks.results.deep_learning QRELS RUN RUN ...`` reads the scores of all
runs as trec_eval does, with 32 bits. Documents without a judgment count as not
relevant. trec_eval's order of ties (descending document ids) is compared with the exact
means over all orders. The command prints

- how many documents tie by depth and by kind of run, how many ties other runs have too,
  and which files break ties;
- for each measure, the ranges of the means, the runs that change place, and the
  conclusions that change (p < 0.05) in paired t tests, after Holm's correction, and in
  randomisation tests;
- how often random orders of ties change conclusions, and how often ties can reverse the
  order of two runs;
- how many ranks of a run the topics leave open, and how many the ties;
- the same by scores of less precision;
- the runs that change place, and by two measures the conclusions that change and all
  runs.

``--out FOLDER`` saves a picture of the runs. Without files it makes up eight runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from scipy.stats import kendalltau, rankdata

from tieaware_sklearn import pvalues_over_orders
from tieaware_sklearn._typing import Array, BoolArray
from tieaware_sklearn.comparison import SystemComparison, tie_statistics
from tieaware_sklearn.plots import TieRangeDisplay
from tieaware_sklearn.score_precision import round_scores

from ._shared import (
    Runs,
    TableRows,
    command_line,
    p_value,
    print_table,
    save_pictures,
    trec,
)
from .tracks import equals_previous
from .winners import ALPHA

NDCG, RR = "NDCG(gain=linear)@10", "RR(rel=2)@10"
MEASURES = [
    NDCG,
    "NDCG(gain=linear)@100",
    RR,
    "P(rel=2)@10",
    "AP(rel=2)@100",
    "RBP(p=0.8,rel=2)",
]
#: The measures of the tables of scores of less precision, and of the picture.
SHOWN = [NDCG, RR]
OFFICIAL, EXACT = "official", "expected"
DEPTHS = (1, 5, 10, 100)
#: Kinds of runs, and how their names tell. The first kind that fits counts.
KINDS = {
    "BM25": "bm25",
    "sparse": "unicoil|tilde",
    "ColBERT": "colbert",
    "dense": "tct|tas-b|_dr_",
    "fusion": "fusion",
    "T5": "t5",
    "BERT": "bert|electra|^mono",
    "not told": "",
}
#: Precision of the scores. The files have up to 64 bits, and trec_eval reads 32.
LEVELS = [
    "files",
    "bits=float32",
    "decimals=4",
    "decimals=3",
    "decimals=2",
    "bits=float16",
    "bits=bfloat16",
]
N_ORDERS = 500
#: Smallest share of orders that count as an exception.
EXCEPTIONS = 0.05
#: Difference by which tools break the ties of scores with six decimals.
LAST_DIGIT = 1e-6
#: Differences of two means up to this size are rounding.
ROUNDING = 1e-12


def made_up(n_topics: int = 30, n_documents: int = 40) -> Runs:
    """Return eight runs of which some tie often. Some documents have no judgment."""
    rng = np.random.default_rng(0)
    shape = n_topics, n_documents
    labels = rng.integers(0, 4, size=shape).astype(float)
    names = ["bm25", "unicoil", "colbert", "tct", "fusion", "monot5", "bert", "other"]
    scores = {}
    for i, name in enumerate(names):
        noise = rng.normal(size=shape) * (1 + 0.3 * i)
        score = np.round(labels + noise, i % 3)
        score[rng.random(shape) < 0.1] = -np.inf
        scores[name] = score.ravel()
    labels[rng.random(shape) < 0.2] = np.nan
    docno = np.tile([f"d{i:03d}" for i in range(n_documents)], n_topics)
    qid = np.repeat(np.arange(n_topics), n_documents)
    return Runs(labels.ravel(), qid, scores, docno)


def with_precision(runs: Runs, level: str) -> Runs:
    """Return the runs with scores of less precision, as trec_eval would read them."""
    scores = {}
    for name, score in runs.scores.items():
        if level != "files":
            score = round_scores(score, level).astype(np.float32)
        scores[name] = score
    return runs._replace(scores=scores)


def broken_ties(runs: Runs) -> TableRows:
    """Return a row for each run whose file breaks ties, with shares of its scores.

    The first share is that of neighbours whose scores differ by 0.000001, as if a tool
    had broken their tie in the last digit. The second is that of scores that are the
    reciprocal of the rank. Runs below 5% are left out.
    """
    _, topic = np.unique(runs.qid, return_inverse=True)
    rows = []
    for name, score in runs.scores.items():
        retrieved = np.flatnonzero(np.isfinite(score))
        order = retrieved[np.lexsort([-score[retrieved], topic[retrieved]])]
        values = score[order]
        same_topic = equals_previous(topic[order])
        gaps = values[:-1] - values[1:]
        is_last_digit = np.abs(gaps[same_topic] - LAST_DIGIT) < LAST_DIGIT / 50
        numbers = np.arange(len(order))
        starts = np.where(np.append(True, ~same_topic), numbers, 0)
        rank = numbers - np.maximum.accumulate(starts) + 1
        is_reciprocal = np.isclose(values * rank, 1)
        shares = [is_last_digit.mean(), is_reciprocal.mean()]
        if max(shares) >= 0.05:
            rows.append([name, *(f"{share:.0%}" for share in shares)])
    return rows


class ByRule(NamedTuple):
    """Comparisons of all pairs of runs by a measure, for both treatments of ties."""

    official: SystemComparison
    exact: SystemComparison


def comparisons(
    runs: Runs, measures: Sequence[str] = MEASURES, **options: Any
) -> dict[str, ByRule]:
    """Compare all pairs of runs by each measure."""
    result = runs.compare(
        measure=measures,
        ties=[OFFICIAL, EXACT],
        external={OFFICIAL: runs.by_id()},
        **options,
    )
    by_measure = {}
    for name in result.measures:
        by_measure[name] = ByRule(result[name, OFFICIAL], result[name, EXACT])
    return by_measure


def places(result: SystemComparison) -> Array:
    """Return the place of each run: 1 + the number of runs with a higher mean."""
    means = np.round(result.summary().mean, 12)
    return rankdata(-means, "min").astype(int)


def short(measure: str) -> str:
    """Return the name of a measure without its parameters."""
    return re.sub(r"\(.*\)", "", measure)


def conclusions(result: SystemComparison, pvalues: Array) -> Array:
    """Return 1 where A is significantly better, -1 where B is, and otherwise 0."""
    return np.sign(result.difference) * (pvalues < ALPHA)


def changed(rules: ByRule, corrected: bool = False) -> BoolArray:
    """Return for each pair whether both treatments of ties lead to one conclusion."""
    both = []
    for result in rules:
        pvalues = result.adjusted_pvalues if corrected else result.pvalues
        both.append(conclusions(result, pvalues))
    return both[0] != both[1]


def reverses(result: SystemComparison) -> BoolArray:
    """Return for each pair whether either run can be ahead, by the order of ties."""
    low, high = result.tie_range.T
    return (low < -ROUNDING) & (high > ROUNDING)


def widths(result: SystemComparison) -> Array:
    """Return the difference between the best and the worst mean of each run."""
    summary = result.summary()
    return summary.best - summary.worst


class TiedNeighbours(NamedTuple):
    """Pairs of documents of a run that tie, and have no document between them.

    Attributes
    ----------
    rows : ndarray of shape (n_pairs, 2)
    topic : ndarray of shape (n_pairs,)
    place : ndarray of shape (n_pairs,)
        Rank of the first document of the pair.
    """

    rows: Array
    topic: Array
    place: Array


def tied_neighbours(runs: Runs) -> Iterator[TiedNeighbours]:
    """Yield the tied neighbours of each run."""
    _, topic = np.unique(runs.qid, return_inverse=True)
    for score in runs.scores.values():
        rows = np.flatnonzero(np.isfinite(score))
        order = rows[np.lexsort([-score[rows], topic[rows]])]
        sorted_topics = topic[order]
        same_topic = equals_previous(sorted_topics)
        tied = np.flatnonzero(same_topic & equals_previous(score[order]))
        starts = np.flatnonzero(np.append(True, ~same_topic))
        first = starts[np.searchsorted(starts, tied, "right") - 1]
        pairs = np.column_stack([order[tied], order[tied + 1]])
        yield TiedNeighbours(pairs, sorted_topics[tied], tied - first + 1)


def tied_topics(neighbours: TiedNeighbours, n_topics: int) -> list[float]:
    """Return shares of topics: a tie begins in the first 1, 5, 10 and 100 documents.

    The last two shares are those of topics where a tie extends over rank 5 and 10.
    """
    shares = []
    for depth in DEPTHS:
        tied = np.unique(neighbours.topic[neighbours.place <= depth])
        shares.append(len(tied) / n_topics)
    for depth in (5, 10):
        shares.append(np.sum(neighbours.place == depth) / n_topics)
    return shares


def also_tied(runs: Runs, system: int, rows: Array) -> float:
    """Return how often other runs that retrieve two tied documents tie them, too."""
    scores = np.array(list(runs.scores.values()))
    scores = np.delete(scores, system, axis=0)
    first = scores[:, rows[:, 0]]
    second = scores[:, rows[:, 1]]
    retrieved = np.isfinite(first) & np.isfinite(second)
    tied = retrieved & (first == second)
    n_retrieved = retrieved.sum(axis=0)
    known = n_retrieved > 0
    if not known.any():
        return np.nan
    shares = tied.sum(axis=0)[known] / n_retrieved[known]
    return float(shares.mean())


def equal_labels(runs: Runs) -> TableRows:
    """Return rows with numbers of pairs: tied in a run, both judged, of equal labels.

    The pairs of the second row tie in most of the runs that retrieve both documents.
    """
    parts = [np.sort(neighbours.rows, axis=1) for neighbours in tied_neighbours(runs)]
    pairs = np.unique(np.concatenate(parts), axis=0)
    scores = np.array(list(runs.scores.values()))
    first = scores[:, pairs[:, 0]]
    second = scores[:, pairs[:, 1]]
    retrieved = np.isfinite(first) & np.isfinite(second)
    tied = retrieved & (first == second)
    in_most = tied.sum(axis=0) > retrieved.sum(axis=0) / 2
    rows = []
    for name, chosen in [("a run", pairs), ("most runs", pairs[in_most])]:
        labels = runs.target[chosen]
        judged = labels[~np.isnan(labels).any(axis=1)]
        n_equal = np.sum(judged[:, 0] == judged[:, 1])
        rows.append([name, len(chosen), len(judged), n_equal])
    return rows


def kind_of(name: str) -> str:
    """Return the kind of a run that its name tells."""
    for kind, pattern in KINDS.items():
        if re.search(pattern, name.lower()):
            return kind
    raise ValueError(f"name must fit a kind of run, got {name!r}")


def prevalence(runs: Runs) -> TableRows:
    """Return a row for each kind of run: medians over its runs, in percent.

    The column after the share of tied documents is the largest share of a run.
    """
    n_topics = len(np.unique(runs.qid))
    documents = tie_statistics(runs.scores, qid=runs.qid).tied_documents
    shares = []
    for i, neighbours in enumerate(tied_neighbours(runs)):
        row = [documents[i], *tied_topics(neighbours, n_topics)]
        row.append(also_tied(runs, i, neighbours.rows))
        shares.append(row)
    table = np.array(shares)
    kinds = np.array([kind_of(name) for name in runs.scores])
    rows = []
    for kind in [*KINDS, "all"]:
        chosen = table[(kinds == kind) | (kind == "all")]
        if len(chosen):
            tied, *shares_of_topics = medians(chosen)
            most = f"{chosen[:, 0].max():.0%}"
            rows.append([kind, len(chosen), tied, most, *shares_of_topics])
    return rows


def medians(shares: Array) -> list[str]:
    """Return medians of columns as text, without values that are undefined."""
    cells = []
    for column in shares.T:
        defined = column[~np.isnan(column)]
        cells.append(f"{np.median(defined):.0%}" if len(defined) else "-")
    return cells


def effects(by_measure: dict[str, ByRule], randomized: dict[str, ByRule]) -> TableRows:
    """Return a row for each measure: ranges, moves and conclusions that change."""
    rows = []
    for name, rules in by_measure.items():
        width = widths(rules.exact)
        moves = np.abs(places(rules.official) - places(rules.exact))
        means = [np.round(result.summary().mean, 12) for result in rules]
        row = [short(name), np.median(width), width.max()]
        n_moved = np.count_nonzero(moves)
        tau, _ = kendalltau(*means)
        row += [n_moved, moves.max(), tau]
        by_t = changed(rules)
        by_holm = changed(rules, corrected=True)
        by_randomization = changed(randomized[name])
        row += [by_t.sum(), by_holm.sum(), by_randomization.sum()]
        rows.append(row)
    return rows


def orders(runs: Runs, by_measure: dict[str, ByRule]) -> TableRows:
    """Return a row for each measure: conclusions by trec_eval and by random orders.

    `random` is the mean number of conclusions that a random order changes. `open`
    counts the pairs that lead to another conclusion in at least 5% of the orders.
    """
    study = pvalues_over_orders(
        **runs.arguments(), measure=list(by_measure), alpha=ALPHA, n_orders=N_ORDERS
    )
    rows = []
    for i, (name, rules) in enumerate(by_measure.items()):
        official = conclusions(rules.official, rules.official.pvalues)
        exact = conclusions(rules.exact, rules.exact.pvalues)
        share_a = study.share_a[i]
        share_b = study.share_b[i]
        agreeing = 1 - share_a - share_b
        agreeing[exact > 0] = share_a[exact > 0]
        agreeing[exact < 0] = share_b[exact < 0]
        differing = 1 - agreeing
        is_lost = (official != 0) & (exact == 0)
        is_new = (official == 0) & (exact != 0)
        is_turned = official * exact < 0
        is_open = differing >= EXCEPTIONS
        reversed_pairs = reverses(rules.exact)
        row = [short(name), np.count_nonzero(official), np.count_nonzero(exact)]
        row += [is_lost.sum(), is_new.sum(), is_turned.sum()]
        row.append(f"{differing.sum():.1f}")
        row += [is_open.sum(), reversed_pairs.sum()]
        row.append(np.count_nonzero(exact[reversed_pairs]))
        rows.append(row)
    return rows


def open_ranks(by_measure: dict[str, ByRule]) -> TableRows:
    """Return a row for each measure: the ranks that topics and ties leave open.

    Topics leave open the ranks of the intervals of `summary`, except one. Ties leave
    open as many ranks as there are runs that may be ahead or behind.
    """
    rows = []
    for name, rules in by_measure.items():
        low, high = rules.exact.summary().rank.T
        by_topics = high - low
        by_ties = reversals(rules.exact)
        row = [short(name), f"{np.median(by_topics):g}"]
        row += [by_topics.min(), by_topics.max()]
        row.append(f"{np.median(by_ties):g}")
        row += [by_ties.max(), np.count_nonzero(by_ties)]
        rows.append(row)
    return rows


def reversals(result: SystemComparison) -> Array:
    """Return with how many runs each run changes places by the order of ties."""
    pairs = result.pairs[reverses(result)]
    return np.bincount(pairs.ravel(), minlength=len(result.systems))


def levels(runs: Runs) -> TableRows:
    """Return a row for each measure and precision of the scores.

    The first columns compare both treatments of ties of these scores, as `effects`.
    The last columns compare the exact means with those of 32-bit scores.
    """
    by_level = {}
    tied = {}
    for level in LEVELS:
        coarse = with_precision(runs, level)
        by_level[level] = comparisons(coarse, SHOWN)
        documents = tie_statistics(coarse.scores, qid=runs.qid).tied_documents
        tied[level] = f"{np.median(documents):.0%}"
    rows = []
    for name in SHOWN:
        fine = by_level["bits=float32"][name].exact
        for level in LEVELS:
            rules = by_level[level][name]
            exact = rules.exact
            width = widths(exact)
            row = [short(name), level.removeprefix("bits="), tied[level], width.max()]
            for pair in (rules, ByRule(exact, fine)):
                moved = places(pair.official) != places(pair.exact)
                row += [moved.sum(), changed(pair).sum()]
            change = np.abs(exact.summary().mean - fine.summary().mean)
            row.append(change.max())
            rows.append(row)
    return rows


def outside(by_measure: dict[str, ByRule]) -> TableRows:
    """Return for each measure how many official means are outside the exact range."""
    rows = []
    for name, rules in by_measure.items():
        official = rules.official.summary().mean
        exact = rules.exact.summary()
        is_low = official < exact.worst - ROUNDING
        is_high = official > exact.best + ROUNDING
        rows.append([short(name), np.sum(is_low | is_high)])
    return rows


def moves(by_measure: dict[str, ByRule]) -> TableRows:
    """Return a row for each measure and run that changes place."""
    rows = []
    for name, rules in by_measure.items():
        before = places(rules.official)
        after = places(rules.exact)
        for i in np.flatnonzero(before != after):
            row = [short(name), *run_row(rules, i)]
            rows.append([*row, f"{before[i]} to {after[i]}"])
    return rows


def run_row(rules: ByRule, run: int) -> list[Any]:
    """Return the name of a run, its official, exact, worst and best mean."""
    official, exact = [result.summary() for result in rules]
    means = [official.mean[run], exact.mean[run], exact.worst[run], exact.best[run]]
    return [rules.exact.systems[run], *means]


def run_rows(rules: ByRule) -> TableRows:
    """Return a row for each run, the best first: means, places and open ranks."""
    before = places(rules.official)
    after = places(rules.exact)
    ranks = rules.exact.summary().rank
    by_ties = reversals(rules.exact)
    rows = []
    for i in np.argsort(after, kind="stable"):
        row = [*run_row(rules, i), before[i], after[i]]
        rows.append([*row, f"{ranks[i, 0]}-{ranks[i, 1]}", by_ties[i]])
    return rows


def pair_rows(rules: ByRule) -> TableRows:
    """Return a row for each pair of runs whose conclusion changes."""
    exact = rules.exact
    rows = []
    for i in np.flatnonzero(changed(rules)):
        first, second = exact.pairs[i]
        row = [exact.systems[first], exact.systems[second]]
        for result in rules:
            row += [f"{result.difference[i]:+.4f}", p_value(result.pvalues[i])]
        rows.append(row)
    return rows


def draw(by_measure: dict[str, SystemComparison]) -> Any:
    """Draw the runs by each measure, the best by the first measure on top."""
    fields = {}
    for name in ("mean", "best", "worst", "interval"):
        columns = [getattr(result.summary(), name) for result in by_measure.values()]
        fields[name] = np.stack(columns, axis=1)
    systems = next(iter(by_measure.values())).systems
    measures = tuple(map(short, by_measure))
    display = TieRangeDisplay(systems, measures, **fields).plot()
    for axis in display.axes_:
        for means in axis.lines:
            # most ranges are shorter than diamonds of the usual size
            means.set_markersize(3)
    return display.figure_


def print_rows(headers: Sequence[str], rows: TableRows) -> None:
    """Print a table that may be empty, and an empty line."""
    if rows:
        print_table(headers, rows)
        print()


def main() -> None:
    parser = command_line(__doc__, help="QRELS, then RUNs")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the picture")
    arguments = parser.parse_args()
    matplotlib.use("Agg")
    files = trec(arguments.files) if arguments.files else made_up()
    runs = with_precision(files, "bits=float32")
    head = ["runs", "n", "tied", "most", *map(str, DEPTHS), "over 5", "over 10", "also"]
    print_table(head, prevalence(runs))
    print()
    print_rows(["maybe broken", "0.000001", "1/rank"], broken_ties(files))
    print_table(["tied in", "pairs", "judged", "equal labels"], equal_labels(runs))
    print()
    by_measure = comparisons(runs)
    randomized = comparisons(runs, test="randomization", correction=None)
    head = ["measure", "median", "widest", "moved", "most", "tau", "t", "holm", "rand."]
    print_table(head, effects(by_measure, randomized))
    print()
    head = ["p < 0.05", "official", "exact", "lost", "new", "turned", "random", "open"]
    print_table([*head, "reverse", "p"], orders(runs, by_measure))
    print()
    head = ["ranks open", "by topics", "least", "most", "by ties", "most", "runs"]
    print_table(head, open_ranks(by_measure))
    print()
    head = ["measure", "scores", "tied", "widest", "moved", "t"]
    print_table([*head, "moved", "t", "change"], levels(files))
    print()
    head = ["scores of the files", "outside"]
    print_table(head, outside(comparisons(files, SHOWN)))
    print()
    head = ["measure", "run", "official", "exact", "worst", "best", "place"]
    print_rows(head, moves(by_measure))
    for name in SHOWN:
        print(name)
        head = ["A", "B", "official", "p", "exact", "p"]
        print_rows(head, pair_rows(by_measure[name]))
        head = ["run", "official", "exact", "worst", "best", "place", "place"]
        print_rows([*head, "ranks", "ties"], run_rows(by_measure[name]))
    if arguments.out is not None:
        exact = {name: by_measure[name].exact for name in SHOWN}
        save_pictures({"runs": partial(draw, exact)}, arguments.out)


if __name__ == "__main__":
    main()
