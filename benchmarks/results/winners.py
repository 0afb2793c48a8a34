"""Winners of pairs of runs, by three rules that break ties and by exact means.

``python -m benchmarks.results.winners QRELS RUN RUN ...`` compares TREC runs four
times. Three times ties are broken: by document id, descending, which is trec_eval's
rule; by document id, ascending; and by the ranks in the files of the runs. The fourth
comparison uses exact means. The command prints the averages, and the pairs whose
p-values (paired t tests, corrected by Holm) lead to different conclusions. Without
files it makes up two runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware_sklearn.comparison import SystemComparison

from ._shared import Runs, TableRows, command_line, p_value, print_table, trec

#: The direction of document ids under the rules that break ties by id.
IDS = {"ids desc.": "descending", "ids asc.": "ascending"}
RULES = (*IDS, "ranks", "exact")
ALPHA = 0.05


def made_up(n_topics: int = 60, n_documents: int = 40) -> Runs:
    """Return a run with ties and a run without. Relevant documents have low ids."""
    rng = np.random.default_rng(0)
    shape = n_topics, n_documents
    labels = np.sort(rng.integers(0, 2, size=shape), axis=1)
    coarse = np.round(labels + rng.normal(size=shape) * 1.2)
    fine = labels + rng.normal(size=shape) * 1.4
    scores = {"coarse": coarse.ravel(), "fine": fine.ravel()}
    names = [f"d{number:03d}" for number in range(n_documents, 0, -1)]
    docno = np.tile(names, n_topics)
    qid = np.repeat(np.arange(n_topics), n_documents)
    rank = rng.permutation(len(qid))
    return Runs(labels.ravel(), qid, scores, docno, rank)


def comparisons(
    runs: Runs, measure: str = "ap", **options: Any
) -> dict[str, SystemComparison]:
    """Return the comparison of all runs under each rule."""
    keys = {name: runs.by_id(direction) for name, direction in IDS.items()}
    ranks = np.nan_to_num(runs.rank)
    keys["ranks"] = ranks, "ascending", "float32"
    ties = [*keys, "expected"]
    results = runs.compare(measure=measure, ties=ties, external=keys, **options)
    return dict(zip(RULES, results, strict=True))


def averages(results: dict[str, SystemComparison]) -> TableRows:
    """Return a row for each system: its mean by each rule, worst and best."""
    columns = [result.summary().mean for result in results.values()]
    exact = results["exact"]
    summary = exact.summary()
    rows = zip(exact.systems, *columns, summary.worst, summary.best, strict=True)
    return [list(row) for row in rows]


def better_run(result: SystemComparison, pair: int) -> str:
    """Return the better run of a pair, or "-" if the difference is not significant."""
    if result.adjusted_pvalues[pair] > ALPHA:
        return "-"
    first, second = result.pairs[pair]
    if result.difference[pair] > 0:
        return result.systems[first]
    return result.systems[second]


def conclusions(results: dict[str, SystemComparison]) -> dict[str, TableRows]:
    """Return a table for each pair: difference, p-value and better run by each rule."""
    exact = results["exact"]
    tables = {}
    for pair, (first, second) in enumerate(exact.pairs):
        rows = []
        for name, result in results.items():
            difference = f"{result.difference[pair]:+.4f}"
            p = p_value(result.adjusted_pvalues[pair])
            rows.append([name, difference, p, better_run(result, pair)])
        tables[f"{exact.systems[first]} - {exact.systems[second]}"] = rows
    return tables


def disagreements(tables: dict[str, TableRows]) -> dict[str, TableRows]:
    """Return the tables of the pairs on which the rules disagree."""
    changed = {}
    for pair, rows in tables.items():
        winners = {winner for *_, winner in rows}
        if len(winners) > 1:
            changed[pair] = rows
    return changed


def main() -> None:
    parser = command_line(__doc__, help="QRELS, then RUNs")
    parser.add_argument("--measure", default="ap")
    parser.add_argument("--test", default="t")
    arguments = parser.parse_args()
    files = arguments.files
    runs = trec(files) if files else made_up()
    results = comparisons(runs, arguments.measure, test=arguments.test)
    (measure,) = results["exact"].measures
    print_table([measure, *RULES, "worst", "best"], averages(results))
    print()
    pairs = conclusions(results)
    changed = disagreements(pairs)
    print(f"{len(changed)} of {len(pairs)} pairs lead to different conclusions")
    for pair, rows in changed.items():
        print(f"\n{pair}")
        print_table(["ties by", "difference", "holm", "better"], rows)


if __name__ == "__main__":
    main()
