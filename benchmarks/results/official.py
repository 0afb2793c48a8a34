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

from tieaware_sklearn import compare_systems, parse_measure, pvalues_over_orders
from tieaware_sklearn.comparison import rank_correlation, tie_statistics

from ._shared import Runs, command_line, p_value, table, trec
from .winners import ALPHA, made_up

MEASURES = ["map", "ndcg_cut_10", "P_10"]
SIGNIFICANT = f"p < {ALPHA:g}"


def compare(runs: Runs, **options: Any) -> tuple[Any, Any]:
    """The means of all runs, and the differences of all pairs, as data frames."""
    options = {"qid": runs.qid, "unjudged": "nonrelevant", **options}
    found = compare_systems(
        runs.target,
        runs.scores,
        ties=["official", "expected"],
        external={"official": (runs.docno, "descending", "float32")},
        correction=None,
        **options,
    )
    over = pvalues_over_orders(
        runs.target, runs.scores, alpha=ALPHA, n_orders=1000, **options
    )
    # the rows of both treatments have the same order
    official, exact = by_treatment(found.summary().to_pandas())
    means = exact[["measure", "system", "worst", "best"]].assign(
        official=official["mean"], exact=exact["mean"]
    )
    official, exact = by_treatment(found.to_pandas())
    pairs = over.to_pandas().assign(
        official_difference=official.difference,
        official_pvalue=official.pvalue,
        exact_difference=exact.difference,
        exact_pvalue=exact.pvalue,
        tie_range_low=exact.tie_range_low,
        tie_range_high=exact.tie_range_high,
    )
    pairs["change"] = [change(pair) for pair in pairs.itertuples()]
    return means, pairs


def by_treatment(frame: Any) -> tuple[Any, Any]:
    """The rows by trec_eval's rule, and those of the exact means."""
    official, exact = (
        frame[frame.ties == ties].reset_index(drop=True)
        for ties in ("official", "expected")
    )
    return official, exact


def change(pair: Any) -> str:
    """What the exact means change in the conclusion about a pair."""
    is_official = pair.official_pvalue < ALPHA
    is_exact = pair.exact_pvalue < ALPHA
    if is_official and not is_exact:
        return "lost"
    if is_exact and not is_official:
        return "new"
    if pair.official_difference * pair.exact_difference < 0:
        return "turned" if is_exact else "sign"
    return ""


def averages(means: Any) -> str:
    """The means of all runs by one measure, and how far the orders of runs agree."""
    columns = ["official", "exact", "worst", "best"]
    rows = means[["system", *columns]].values.tolist()
    (measure,) = means.measure.unique()
    # tau-AP begins with the best run
    sign = 1 if parse_measure(measure).greater_is_better else -1
    (taus,) = rank_correlation(
        sign * means.exact, sign * means.official, coefficients=["tau_b", "tau_ap"]
    ).values
    agreement = f"tau-b {taus[0]:.2f}, tau-AP {taus[1]:.2f}"
    shown = table([measure, *columns], rows)
    return f"{shown}\norder of runs, official against exact: {agreement}"


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
    means, pairs = compare(
        runs,
        measure=arguments.measures,
        baseline=arguments.baseline,
        test=arguments.test,
    )
    for measure, of_measure in pairs.groupby("measure", sort=False):
        print("", averages(means[means.measure == measure]), sep="\n")
        print("", differences(of_measure), sep="\n")
        print("", tests(of_measure), sep="\n")
    print("", changes(pairs), sep="\n")


if __name__ == "__main__":
    main()
