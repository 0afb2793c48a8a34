"""trec_eval's order of ties against the exact means, for every pair of runs.

``python -m benchmarks.results.official QRELS RUN RUN ...`` prints how much of the runs
ties; then, for each measure, the means of the runs and the differences of all pairs by
trec_eval's rule (ties broken by descending document id) and by exact means, with the
range over the orders of ties, and in what share of these orders p < 0.05; at the end,
the conclusions that change. p-values are those of paired t tests and not corrected for
the number of pairs. Without files it makes up two runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware_sklearn import official_vs_exact
from tieaware_sklearn.comparison import OfficialVsExact, tie_statistics

from ._shared import command_line, p_value, table, trec
from .winners import ALPHA, made_up

MEASURES = ["map", "ndcg_cut_10", "P_10"]
SIGNIFICANT = f"p < {ALPHA:g}"


def averages(found: OfficialVsExact, j: int) -> str:
    """The means of all runs by one measure, and how far the orders of runs agree."""
    columns = (found.official, found.exact, found.worst, found.best)
    means = np.column_stack([column[:, j] for column in columns]).tolist()
    rows = [[name, *row] for name, row in zip(found.systems, means, strict=True)]
    header = [found.measures[j], "official", "exact", "worst", "best"]
    taus = f"tau-b {found.tau_b[j]:.2f}, tau-AP {found.tau_ap[j]:.2f}"
    return f"{table(header, rows)}\norder of runs, official against exact: {taus}"


def differences(pairs: Any) -> str:
    """Both differences of pairs, and how far the order of ties could move them."""
    rows = [
        [
            *(pair.a, pair.b),
            f"{pair.official_difference:+.4f}",
            f"{pair.exact_difference:+.4f}",
            f"[{pair.tie_range_low:+.4f}, {pair.tie_range_high:+.4f}]",
            pair.change or "-",
        ]
        for pair in pairs.itertuples()
    ]
    return table(["A", "B", "official", "exact", "tie range", "change"], rows)


def tests(pairs: Any) -> str:
    """p-values of both differences, and those over the orders of ties."""
    rows = [
        [
            *(pair.a, pair.b),
            *map(p_value, (pair.official_pvalue, pair.exact_pvalue)),
            f"{pair.share:.1%}",
            *map(p_value, (pair.smallest, pair.largest)),
        ]
        for pair in pairs.itertuples()
    ]
    header = ["A", "B", "official p", "exact p", SIGNIFICANT, "min p", "max p"]
    error = f"standard error of the shares: at most {pairs.share_error.max():.1%}"
    return f"{table(header, rows)}\n{error}"


def changes(pairs: Any) -> str:
    """The pairs on which the two rules disagree, with the measures that say so."""
    changed = pairs[pairs.change != ""]
    parts = [f"{len(changed)} of {len(pairs)} conclusions change"]
    header = ["measure", "official", "pvalue", "exact", "pvalue", SIGNIFICANT, "change"]
    for (a, b), those in changed.groupby(["a", "b"], sort=False):
        rows = [
            [
                pair.measure,
                f"{pair.official_difference:+.4f}",
                p_value(pair.official_pvalue),
                f"{pair.exact_difference:+.4f}",
                p_value(pair.exact_pvalue),
                f"{pair.share:.1%}",
                pair.change,
            ]
            for pair in those.itertuples()
        ]
        parts.append(f"{a} - {b}\n{table(header, rows)}")
    return "\n\n".join(parts)


def main() -> None:
    parser = command_line(__doc__, help="QRELS, then RUNs")
    parser.add_argument("--measures", nargs="+", default=MEASURES, metavar="MEASURE")
    parser.add_argument("--baseline", nargs="+", metavar="RUN")
    parser.add_argument("--test", default="t")
    arguments = parser.parse_args()
    files = arguments.files
    runs = trec(files[0], files[1:]) if files else made_up()
    print(tie_statistics(runs.scores, qid=runs.qid, rank=runs.rank))
    found = official_vs_exact(
        runs.target,
        runs.scores,
        runs.docno,
        qid=runs.qid,
        measures=arguments.measures,
        baseline=arguments.baseline,
        test=arguments.test,
        alpha=ALPHA,
        n_orders=1000,
        unjudged="nonrelevant",
    )
    pairs = found.to_pandas()
    for j, measure in enumerate(found.measures):
        of_measure = pairs[pairs.measure == measure]
        print("", averages(found, j), sep="\n")
        print("", differences(of_measure), sep="\n")
        print("", tests(of_measure), sep="\n")
    print("", changes(pairs), sep="\n")


if __name__ == "__main__":
    main()
