"""trec_eval's order of ties against the exact means, for each pair of runs.

``python -m benchmarks.results.official QRELS RUN RUN ...`` prints how many documents of
the runs tie. Then it prints, for each measure, the means of the runs and the
differences of all pairs by trec_eval's rule (ties broken by descending document id) and
by exact means, with the range over the orders of ties, and in what share of these
orders p < 0.05. At the end, it prints the conclusions that change. p-values are from
paired t tests and are not corrected for the number of pairs. Without files it makes up
two runs.
"""

from __future__ import annotations

from typing import Any

from tieaware_sklearn import parse_measure, pvalues_over_orders
from tieaware_sklearn.comparison import rank_correlation, tie_statistics

from ._shared import Runs, command_line, p_value, print_table, trec
from .winners import ALPHA, made_up

MEASURES = ["map", "ndcg_cut_10", "P_10"]
SIGNIFICANT = f"p < {ALPHA:g}"


def compare(runs: Runs, **options: Any) -> tuple[Any, Any]:
    """Return the means of all runs, and the differences of all pairs, as frames."""
    result = runs.compare(
        ties=["official", "expected"],
        external={"official": runs.by_id()},
        correction=None,
        **options,
    )
    # the rows of both treatments have the same order
    official, exact = by_treatment(result.summary().to_pandas())
    means = exact.assign(official=official["mean"])
    official, exact = by_treatment(result.to_pandas())
    over_orders = pvalues_over_orders(
        **runs.arguments(), alpha=ALPHA, n_orders=1000, **options
    )
    pairs = over_orders.to_pandas()
    pairs["official_difference"] = official.difference
    pairs["official_pvalue"] = official.pvalue
    pairs["exact_difference"] = exact.difference
    pairs["exact_pvalue"] = exact.pvalue
    pairs["tie_range_low"] = exact.tie_range_low
    pairs["tie_range_high"] = exact.tie_range_high
    pairs["change"] = [change(pair) for pair in pairs.itertuples()]
    return means, pairs


def by_treatment(frame: Any) -> tuple[Any, Any]:
    """Return the rows by trec_eval's rule, and the rows by exact means."""
    official = frame[frame.ties == "official"]
    exact = frame[frame.ties == "expected"]
    return official.reset_index(drop=True), exact.reset_index(drop=True)


def change(pair: Any) -> str:
    """Return how the exact means change the conclusion about a pair."""
    is_official = pair.official_pvalue < ALPHA
    is_exact = pair.exact_pvalue < ALPHA
    if is_official and not is_exact:
        return "lost"
    if is_exact and not is_official:
        return "new"
    if pair.official_difference * pair.exact_difference < 0:
        return "turned" if is_exact else "sign"
    return ""


def print_means(measure: str, means: Any) -> None:
    """Print the means of all runs by a measure, and how far their orders agree."""
    columns = means[["system", "official", "mean", "worst", "best"]]
    headers = [measure, "official", "exact", "worst", "best"]
    print_table(headers, columns.values.tolist())
    exact = means["mean"]
    official = means["official"]
    # tau-AP begins with the best run
    if not parse_measure(measure).greater_is_better:
        exact = -exact
        official = -official
    correlation = rank_correlation(exact, official, coefficients=["tau_b", "tau_ap"])
    tau_b, tau_ap = correlation.values.ravel()
    agreement = f"tau-b {tau_b:.2f}, tau-AP {tau_ap:.2f}"
    print(f"order of runs, official against exact: {agreement}")


def print_differences(pairs: Any) -> None:
    """Print both differences of pairs, and their range over the orders of ties."""
    rows = []
    for pair in pairs.itertuples():
        official = f"{pair.official_difference:+.4f}"
        exact = f"{pair.exact_difference:+.4f}"
        tie_range = f"[{pair.tie_range_low:+.4f}, {pair.tie_range_high:+.4f}]"
        rows.append([pair.a, pair.b, official, exact, tie_range, pair.change or "-"])
    print_table(["A", "B", "official", "exact", "tie range", "change"], rows)


def print_tests(pairs: Any) -> None:
    """Print p-values of both differences, and p-values over the orders of ties."""
    rows = []
    for pair in pairs.itertuples():
        row = [pair.a, pair.b, p_value(pair.official_pvalue)]
        row += [p_value(pair.exact_pvalue), f"{pair.share:.1%}"]
        row += [p_value(pair.smallest), p_value(pair.largest)]
        rows.append(row)
    header = ["A", "B", "official p", "exact p", SIGNIFICANT, "min p", "max p"]
    print_table(header, rows)
    print(f"standard error of the shares: at most {pairs.share_error.max():.1%}")


def print_changes(pairs: Any) -> None:
    """Print the pairs on which the two rules disagree, by each measure."""
    changed = pairs[pairs.change != ""]
    print(f"{len(changed)} of {len(pairs)} conclusions change")
    header = ["measure", "official", "pvalue", "exact", "pvalue", SIGNIFICANT, "change"]
    for (a, b), pair_rows in changed.groupby(["a", "b"], sort=False):
        rows = []
        for pair in pair_rows.itertuples():
            row = [pair.measure, f"{pair.official_difference:+.4f}"]
            row += [p_value(pair.official_pvalue), f"{pair.exact_difference:+.4f}"]
            row += [p_value(pair.exact_pvalue), f"{pair.share:.1%}", pair.change]
            rows.append(row)
        print(f"\n{a} - {b}")
        print_table(header, rows)


def main() -> None:
    parser = command_line(__doc__, help="QRELS, then RUNs")
    parser.add_argument("--measures", nargs="+", default=MEASURES, metavar="MEASURE")
    parser.add_argument("--baseline", nargs="+", metavar="RUN")
    parser.add_argument("--test", default="t")
    arguments = parser.parse_args()
    files = arguments.files
    runs = trec(files) if files else made_up()
    print(tie_statistics(runs.scores, qid=runs.qid, rank=runs.rank))
    options = {"baseline": arguments.baseline, "test": arguments.test}
    means, pairs = compare(runs, measure=arguments.measures, **options)
    for measure, measure_pairs in pairs.groupby("measure", sort=False):
        print()
        print_means(measure, means[means.measure == measure])
        print()
        print_differences(measure_pairs)
        print()
        print_tests(measure_pairs)
    print()
    print_changes(pairs)


if __name__ == "__main__":
    main()
