"""Who wins, by three ways to break ties and by none.

``python -m benchmarks.results.winners QRELS RUN RUN ...`` compares TREC runs four
times: ties broken by document id, descending, which is trec_eval's rule; ascending; by
the ranks that the files of the runs give; and not at all, by exact means. It prints the
averages and the pairs whose p-values (paired t tests, corrected by Holm) lead to
different conclusions. Without files it makes up two runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware_sklearn.comparison import compare_systems

from ._shared import Runs, command_line, p_value, table, trec

IDS = {"ids desc.": "descending", "ids asc.": "ascending"}
RULES = (*IDS, "ranks", "exact")
ALPHA = 0.05


def made_up(n_topics: int = 60, n_documents: int = 40, seed: int = 0) -> Runs:
    """A run with ties, and one without; relevant documents have the lowest ids."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, 2, size=(n_topics, n_documents)), axis=1)
    coarse = np.round(y + rng.normal(size=y.shape) * 1.2)
    fine = y + rng.normal(size=y.shape) * 1.4
    scores = {"coarse": coarse.ravel(), "fine": fine.ravel()}
    docno = [f"d{n_documents - i:03d}" for i in range(n_documents)] * n_topics
    qid = np.repeat(np.arange(n_topics), n_documents)
    return Runs(y.ravel(), qid, np.array(docno), scores, rng.permutation(len(qid)))


def comparisons(
    runs: Runs, measure: str = "ap", test: str = "t", correction: str = "holm"
) -> dict[str, Any]:
    """All pairs of systems, by each of the rules."""
    keys = {rule: (runs.docno, way) for rule, way in IDS.items()}
    keys["ranks"] = (np.nan_to_num(runs.rank), "ascending")
    found = compare_systems(
        runs.target,
        runs.scores,
        qid=runs.qid,
        measure=measure,
        ties=[*keys, "expected"],
        external={rule: (*key, "float32") for rule, key in keys.items()},
        test=test,
        correction=correction,
        unjudged="nonrelevant",
    )
    return dict(zip(RULES, found, strict=True))


def averages(found: dict[str, Any]) -> list[list[Any]]:
    """Of each system: by the rules, worst and best."""
    by_rule = [list(found[rule].summary().mean) for rule in RULES]
    exact = found["exact"].summary()
    columns = zip(
        found["exact"].systems, *by_rule, exact.worst, exact.best, strict=True
    )
    return [list(row) for row in columns]


def conclusion(comparison: Any, pair: int) -> str:
    """The better one of a pair, if the difference is significant."""
    if comparison.adjusted_pvalues[pair] > ALPHA:
        return "-"
    return comparison.systems[
        comparison.pairs[pair][0 if comparison.difference[pair] > 0 else 1]
    ]


def conclusions(found: dict[str, Any]) -> list[list[Any]]:
    """Of each pair and rule: difference, p-value, and who is better."""
    rows = []
    for pair, (first, second) in enumerate(found["exact"].pairs):
        row = [f"{found['exact'].systems[i]}" for i in (first, second)]
        for rule in RULES:
            p = found[rule].adjusted_pvalues[pair]
            row += [
                f"{found[rule].difference[pair]:+.4f}",
                p_value(p),
                conclusion(found[rule], pair),
            ]
        rows.append(row)
    return rows


def disagreements(rows: list[list[Any]]) -> list[list[Any]]:
    """Those pairs on which the rules do not agree."""
    return [row for row in rows if len(set(row[4::3])) > 1]


def main() -> None:
    parser = command_line(__doc__, help="QRELS, then RUNs")
    parser.add_argument("--measure", default="ap")
    parser.add_argument("--test", default="t")
    arguments = parser.parse_args()
    files = arguments.files
    runs = trec(files[0], files[1:]) if files else made_up()
    found = comparisons(runs, arguments.measure, arguments.test)
    header = [found["exact"].measures[0], *RULES, "worst", "best"]
    print(table(header, averages(found)) + "\n")
    pairs = conclusions(found)
    differ = disagreements(pairs)
    print(f"{len(differ)} of {len(pairs)} pairs lead to different conclusions")
    for row in differ:
        print(f"\n{row[0]} - {row[1]}")
        of_rules = zip(RULES, row[2::3], row[3::3], row[4::3], strict=True)
        print(table(["ties by", "difference", "holm", "better"], list(of_rules)))


if __name__ == "__main__":
    main()
