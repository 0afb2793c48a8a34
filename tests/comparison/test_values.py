"""Comparisons of values that users have, and of saved reports."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import tieaware_sklearn as ta
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=60, random_state=0)
SYSTEMS = {name: WEB.data[:, j] for j, name in enumerate(WEB.feature_names[:4])}
RNG = np.random.default_rng(0)
DIFFICULTY = RNG.normal(0.5, 0.15, 80)
VALUES = {
    name: np.clip(DIFFICULTY + shift + RNG.normal(0, 0.1, 80), 0, 1)
    for name, shift in (("a", 0.02), ("b", 0.0), ("c", -0.03))
}
OF_PAIRS = ("difference", "difference_interval", "statistic", "pvalues", "effect")
OF_PAIRS += ("adjusted_pvalues", "n_queries", "tie_std", "tie_range", "same_sign")


def reports(**options):
    return {
        name: ta.evaluate(WEB.target, scores, qid=WEB.qid, **options)
        for name, scores in SYSTEMS.items()
    }


def same(comparison, expected):
    for name in (*OF_PAIRS, "expected", "best", "worst", "std", "chance", "undefined"):
        np.testing.assert_array_equal(
            getattr(comparison, name), getattr(expected, name)
        )
    assert str(comparison) == str(expected)


OPTIONS = [
    {},
    {"measure": ["ap", "rr"]},
    {"measure": "esl", "correction": "bh"},
    {"average": "geometric", "baseline": "clicks"},
    {"average": "median", "n_resamples": 99},
    {"test": "wilcoxon"},
    {"test": "randomization", "interval": "bootstrap", "n_resamples": 99},
    {"query_weight": np.where(WEB.qid % 3, 1.0, 2.0)},
    {"segment": WEB.qid % 2},
    {"cluster": WEB.qid // 3},
]


@pytest.mark.filterwarnings("ignore:the values per query")
@pytest.mark.parametrize("options", OPTIONS)
def test_reports_compare_as_their_systems_do(options):
    expected = ta.compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, **options)
    of_queries = {"query_weight", "segment", "cluster"} & options.keys()
    data = {name: options[name] for name in of_queries}
    tests = {k: v for k, v in options.items() if k not in {*of_queries, "measure"}}
    measured = reports(measures=options.get("measure", "ndcg@10"), **data)
    same(ta.compare_values(measured, **tests), expected)
    # saved, in any order of queries
    tables = {
        name: report.to_pandas(settings=True).sample(frac=1, random_state=0)
        for name, report in measured.items()
    }
    saved = ta.compare_values(tables, **tests)
    np.testing.assert_array_equal(saved.pvalues, expected.pvalues)
    np.testing.assert_array_equal(saved.difference, expected.difference)
    if "segment" in options:
        pd.testing.assert_frame_equal(
            saved.by_segment().to_pandas(), expected.by_segment().to_pandas()
        )


def test_one_measure_of_reports():
    comparison = ta.compare_values(reports(measures=["ap", "rr"]), measure="rr")
    same(comparison, ta.compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure="rr"))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_tests_of_arrays_are_those_of_scipy(alternative):
    options = {"alternative": alternative, "correction": None, "n_resamples": 999}
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    comparison = ta.compare_values(VALUES, **options)
    for i, (a, b) in enumerate(pairs):
        expected = stats.ttest_rel(VALUES[a], VALUES[b], alternative=alternative)
        assert comparison.statistic[i] == pytest.approx(expected.statistic, rel=1e-12)
        assert comparison.pvalues[i] == pytest.approx(expected.pvalue, rel=1e-12)
        two_sided = stats.ttest_rel(VALUES[a], VALUES[b]).confidence_interval()
        assert comparison.difference_interval[i] == pytest.approx(
            [*two_sided], rel=1e-12
        )
    comparison = ta.compare_values(VALUES, test="wilcoxon", **options)
    for i, (a, b) in enumerate(pairs):
        expected = stats.wilcoxon(VALUES[a], VALUES[b], alternative=alternative)
        assert comparison.pvalues[i] == pytest.approx(expected.pvalue, rel=1e-12)
    few = {name: values[:8] for name, values in VALUES.items()}
    comparison = ta.compare_values(few, test="randomization", **options)
    for i, (a, b) in enumerate(pairs):
        expected = stats.permutation_test(
            (few[a] - few[b],),
            np.mean,
            permutation_type="samples",
            alternative=alternative,
            n_resamples=np.inf,
        )
        assert comparison.pvalues[i] == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_different_queries_are_compared_by_welch(alternative):
    days = {"today": VALUES["a"][:30], "yesterday": VALUES["c"]}
    comparison = ta.compare_values(days, paired=False, alternative=alternative)
    expected = stats.ttest_ind(*days.values(), equal_var=False, alternative=alternative)
    assert comparison.statistic == pytest.approx([expected.statistic], rel=1e-12)
    assert comparison.pvalues == pytest.approx([expected.pvalue], rel=1e-12)
    two_sided = stats.ttest_ind(*days.values(), equal_var=False)
    ends = [[*two_sided.confidence_interval()]]
    assert comparison.difference_interval == pytest.approx(np.array(ends), rel=1e-12)
    variances = [values.var(ddof=1) for values in days.values()]
    effect = comparison.difference / np.sqrt(np.mean(variances))
    assert comparison.effect == pytest.approx(effect, rel=1e-12)
    assert (comparison.qid, comparison.n_queries.tolist(), comparison.test) == (
        None,
        [110],
        "welch",
    )
    assert "Welch" in comparison.to_html()
    means = {name: values.mean() for name, values in days.items()}
    assert comparison.summary().mean == pytest.approx([*means.values()])
    for method in (
        comparison.by_segment,
        comparison.by_query,
        lambda: comparison.queries_needed(0.1),
    ):
        with pytest.raises(ValueError, match=r"paired must be True for .* got False"):
            method()


def test_values_that_do_not_vary_have_no_welch_test():
    comparison = ta.compare_values({"a": [1.0] * 5, "b": [0.5] * 4}, paired=False)
    assert np.isnan(comparison.pvalues).all()
    assert np.isnan(comparison.difference_interval).all()


def test_reports_of_two_days_say_how_ties_bear_on_them():
    first, second = WEB.qid <= 25, WEB.qid > 25
    days = {
        name: ta.evaluate(WEB.target[rows], SYSTEMS["clicks"][rows], qid=WEB.qid[rows])
        for name, rows in (("monday", first), ("tuesday", second))
    }
    comparison = ta.compare_values(days, measure="ap", paired=False)
    spreads = [report.summary().tie_std[1] for report in days.values()]
    assert comparison.tie_std == pytest.approx([np.hypot(*spreads)], rel=1e-12)
    low, high = (
        [getattr(report.summary(), name)[1] for report in days.values()]
        for name in ("worst", "best")
    )
    assert comparison.tie_range[0] == pytest.approx(
        [low[0] - high[1], high[0] - low[1]]
    )


def test_arrays_say_nothing_of_ties():
    comparison = ta.compare_values(VALUES, measure="accuracy")
    for result in (comparison, comparison.summary()):
        words = re.findall("[a-z_]+", str(result))
        assert not {"tie", "ties", "tie_std", "worst", "best", "order"} & {*words}
    assert comparison.ties == ("given",)
    assert not {"tie_std", "same_sign", "tie_range_low"} & {
        *comparison.to_pandas().columns
    }


IDS = [f"q{i}" for i in range(80)]
ORDER = RNG.permutation(80)


def in_another_order(name):
    series = pd.Series(VALUES[name], index=IDS)
    return series.iloc[ORDER] if name == "b" else series


KINDS = {
    "array": (VALUES, {"qid": IDS}),
    "lists": ({name: list(values) for name, values in VALUES.items()}, {"qid": IDS}),
    "frame with an index": (pd.DataFrame(VALUES, index=IDS), {}),
    "frame with a column": (pd.DataFrame(VALUES | {"q": IDS}), {"qid": "q"}),
    "polars": (pl.DataFrame(VALUES | {"q": IDS}), {"qid": "q"}),
    "series": ({name: in_another_order(name) for name in VALUES}, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_values(kind):
    values, options = KINDS[kind]
    comparison = ta.compare_values(values, measure="ndcg@10", **options)
    assert comparison.systems == ("a", "b", "c")
    assert comparison.qid.tolist() == IDS
    np.testing.assert_array_equal(
        comparison.expected, np.column_stack([*VALUES.values()])
    )
    assert comparison.measures == ("NDCG@10",)
    assert comparison.bounds.tolist() == [[0, 1]]
    assert comparison.greater_is_better.tolist() == [True]


def test_columns_of_a_frame_are_weights_segments_and_clusters():
    more = {"w": 1.0 + np.arange(80) % 2, "s": np.arange(80) % 2, "g": np.arange(80)}
    frame = pd.DataFrame(VALUES | more)
    names = {"query_weight": "w", "segment": "s", "cluster": "g"}
    comparison = ta.compare_values(frame, **names)
    arrays = {option: more[name] for option, name in names.items()}
    expected = ta.compare_values(VALUES, **arrays)
    assert comparison.systems == ("a", "b", "c")
    np.testing.assert_array_equal(comparison.pvalues, expected.pvalues)
    assert comparison.by_segment().n_queries.tolist() == [40] * 6


def test_the_direction_of_values():
    errors = {"good": [1.0, 2.0, 1.0, 3.0], "bad": [2.0, 3.0, 3.0, 4.0]}
    text = str(ta.compare_values(errors, greater_is_better=False))
    assert (
        "By value, good is significantly better than bad: ahead by 1.2500 (41.7% less;"
    ) in text
    ranks = ta.compare_values(errors, measure="esl")
    assert ranks.greater_is_better.tolist() == [False]
    with pytest.raises(ValueError, match="greater_is_better must be True or False, go"):
        ta.compare_values(errors, greater_is_better="yes")


def test_queries_without_a_value_are_left_out_of_pairs():
    gaps = dict(VALUES)
    gaps["b"] = np.where(np.arange(80) < 10, np.nan, VALUES["b"])
    comparison = ta.compare_values(gaps, correction=None)
    assert comparison.n_queries.tolist() == [70, 80, 70]
    expected = stats.ttest_rel(VALUES["a"][10:], VALUES["b"][10:])
    assert comparison.pvalues[0] == pytest.approx(expected.pvalue, rel=1e-12)


def test_only_queries_of_all_systems_if_others_are_dropped():
    a, b = pd.Series(VALUES["a"], index=IDS), pd.Series(VALUES["b"], index=IDS)
    series = {"a": a.iloc[:60], "b": b.iloc[5:]}
    comparison = ta.compare_values(series, missing="drop")
    assert comparison.qid.tolist() == IDS[5:60]
    with pytest.raises(
        ValueError, match=r"the same queries .* got 55 that all .* 5 .* 'a', 20 .* 'b'"
    ):
        ta.compare_values(series)
    apart = {"a": a.iloc[:10], "b": b.iloc[10:]}
    with pytest.raises(ValueError, match="got 0 that all have, 10 more in 'a', 70 mor"):
        ta.compare_values(apart, missing="drop")


AP, RR = (reports(measures=name)["clicks"] for name in ("ap", "rr"))
HEAVY = ta.evaluate(
    WEB.target, SYSTEMS["clicks"], qid=WEB.qid, measures="ap", query_weight=WEB.qid
)
SKIPPING = reports(measures="ap", zero_relevance="skip")["clicks"]
ONE = {"a": [0.5, 0.7], "b": [0.4, 0.8]}
REFUSED = {
    "a list": ([1, 2], {}, "values must be a mapping .* or a data frame, got list"),
    "nothing": ({}, {}, "systems of different names, got none"),
    "one name twice": ({1: [1], "1": [2]}, {}, r"of different names, got \['1'\]"),
    "text": ({"a": ["x"], "b": [1]}, {}, r"values\['a'\] must be numeric"),
    "an infinity": (
        {"a": [np.inf], "b": [1]},
        {},
        r"values\['a'\] must be finite, or NaN for no value, got inf in row 0",
    ),
    "beyond the bounds": (
        {"a": [0.5], "b": [1.5]},
        {"measure": "ndcg"},
        r"values\['b'\] must be from 0 to 1, got 1.5 in row 0",
    ),
    "beyond bounds of ours": (ONE, {"bounds": (0, 0.6)}, "be from 0 to 0.6, got 0.7"),
    "other lengths": ({"a": [1, 2], "b": [1]}, {}, "same queries .* got 1 that all"),
    "ids of another length": (ONE, {"qid": [1]}, "qid must have one value per row"),
    "an id twice": (ONE, {"qid": [7, 7]}, r"once, got 2 values of 7 in values\['a'\]"),
    "no such column": (
        pd.DataFrame(ONE),
        {"segment": "s"},
        r"segment must be a column .* got 's' \(columns: \['a', 'b'\]\)",
    ),
    "two measures": (ONE, {"measure": ["ap", "rr"]}, "measure must be one name for"),
    "measures that differ": (
        {"a": AP, "b": RR},
        {},
        r"the same measures in all systems, got \('AP',\) in 'a' and \('RR',\) in 'b'",
    ),
    "options that differ": (
        {"a": AP, "b": SKIPPING},
        {},
        "the same options in all systems, got .* in 'a' and .*'skip'.* in 'b'",
    ),
    "a report beside an array": (
        {"a": AP, "b": [0.5]},
        {"measure": "ap"},
        "the same options in all systems, got .* in 'a' and {} in 'b'",
    ),
    "weights that differ": (
        {"a": AP, "b": HEAVY},
        {},
        "query_weight must be the same in all systems, got another one in 'a' than",
    ),
    "a measure that no report has": (
        {"a": AP, "b": AP},
        {"measure": "rr"},
        r"measure must be one of \('AP',\), got 'RR'",
    ),
    "ids for reports": ({"a": AP, "b": AP}, {"qid": [1]}, "qid must be None for rep"),
    "weights of different queries": (
        {"a": HEAVY, "b": HEAVY},
        {"paired": False},
        "query_weight must be None with paired=False, got one in 'a'",
    ),
    "another test of different queries": (
        ONE,
        {"paired": False, "test": "wilcoxon"},
        "with paired=False, got wilcoxon, t, macro and holm",
    ),
    "Tukey's test of different queries": (
        ONE,
        {"paired": False, "correction": "tukey"},
        "with paired=False, got t, t, macro and tukey",
    ),
    "Wilcoxon with weights": (
        {"a": HEAVY, "b": HEAVY},
        {"test": "wilcoxon"},
        "test must not be 'wilcoxon'.* with query_weight",
    ),
    "no option": (ONE, {"missing": "ignore"}, "missing must be one of .* got 'ignore'"),
    "no flag": (ONE, {"paired": "no"}, "paired must be True or False, got 'no'"),
    "no system": (ONE, {"baseline": "c"}, r"baseline must be one of .* got 'c'"),
    "not saved with settings": (
        {"a": AP.to_pandas(), "b": AP},
        {},
        r"frame must have the columns of to_pandas\(settings=True\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    values, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        ta.compare_values(values, **options)


def test_ranks_that_the_data_do_not_exclude():
    comparison = ta.compare_values(VALUES)
    significant = {
        (a, b) if difference > 0 else (b, a)
        for a, b, difference, pvalue in zip(
            *comparison.to_pandas()[
                ["a", "b", "difference", "adjusted_pvalue"]
            ].T.to_numpy(),
            strict=True,
        )
        if pvalue <= 0.05
    }
    summary = comparison.summary()
    for name, (low, high) in zip(VALUES, summary.rank.tolist(), strict=True):
        assert low == 1 + sum(loser == name for _, loser in significant)
        assert high == 3 - sum(winner == name for winner, _ in significant)
    assert significant
    for options in (
        {"correction": None},
        {"correction": "bh"},
        {"correction": "by"},
        {"correction": "tukey"},
        {"alternative": "greater"},
        {"test": "wilcoxon"},
        {"baseline": "a"},
    ):
        assert "rank_low" not in ta.compare_values(VALUES, **options).summary().columns
    errors = ta.compare_values(VALUES, greater_is_better=False).summary()
    assert errors.rank.tolist() == [[4 - high, 4 - low] for low, high in summary.rank]


def test_ranks_in_the_table():
    rng = np.random.default_rng(1)
    values = {f"s{i}": i / 2 + rng.normal(0, 1, 50) for i in range(5)}
    text = str(ta.compare_values(values))
    summary = ta.compare_values(values).summary()
    low, high = summary.rank[2].tolist()
    line = next(line for line in text.splitlines() if " s2 " in line)
    assert line.split()[-1] == (f"{low}-{high}" if low < high else str(low))
    assert "rank: those of 5 that the data do not exclude (95% for all systems" in text
