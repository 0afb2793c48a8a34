"""Comparisons of values that users have, and of saved reports."""

import re
import warnings

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
VALUES = {}
for name, shift in (("a", 0.02), ("b", 0.0), ("c", -0.03)):
    noise = RNG.normal(0, 0.1, 80)
    VALUES[name] = np.clip(DIFFICULTY + shift + noise, 0, 1)
OF_PAIRS = ("difference", "difference_interval", "statistic", "pvalues", "effect")
OF_PAIRS += ("adjusted_pvalues", "n_queries", "tie_std", "tie_range", "same_sign")


def reports(**options):
    evaluated = {}
    for name, scores in SYSTEMS.items():
        evaluated[name] = ta.evaluate(WEB.target, scores, qid=WEB.qid, **options)
    return evaluated


def assert_same(comparison, expected):
    for name in (*OF_PAIRS, "expected", "best", "worst", "std", "chance", "undefined"):
        values = getattr(comparison, name)
        np.testing.assert_array_equal(values, getattr(expected, name))
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
    # what the reports get, and what the comparison of their values gets
    data = {}
    tests = dict(options)
    for name in ("query_weight", "segment", "cluster"):
        if name in options:
            data[name] = tests.pop(name)
    data["measures"] = tests.pop("measure", "ndcg@10")
    measured = reports(**data)
    assert_same(ta.compare_values(measured, **tests), expected)
    # saved, in any order of queries
    tables = {}
    for name, report in measured.items():
        table = report.to_pandas(settings=True)
        tables[name] = table.sample(frac=1, random_state=0)
    saved = ta.compare_values(tables, **tests)
    np.testing.assert_array_equal(saved.pvalues, expected.pvalues)
    np.testing.assert_array_equal(saved.difference, expected.difference)
    if "segment" in options:
        by_segment = saved.by_segment().to_pandas()
        pd.testing.assert_frame_equal(by_segment, expected.by_segment().to_pandas())


def test_one_measure_of_reports():
    measured = reports(measures=["ap", "rr"])
    comparison = ta.compare_values(measured, measure="rr")
    expected = ta.compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure="rr")
    assert_same(comparison, expected)


NAMES_OF_PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_t_test_is_scipys(alternative):
    comparison = ta.compare_values(VALUES, alternative=alternative, correction=None)
    for i, (a, b) in enumerate(NAMES_OF_PAIRS):
        expected = stats.ttest_rel(VALUES[a], VALUES[b], alternative=alternative)
        assert comparison.statistic[i] == pytest.approx(expected.statistic, rel=1e-12)
        assert comparison.pvalues[i] == pytest.approx(expected.pvalue, rel=1e-12)
        two_sided = stats.ttest_rel(VALUES[a], VALUES[b])
        ends = [*two_sided.confidence_interval()]
        assert comparison.difference_interval[i] == pytest.approx(ends, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_wilcoxons_test_is_scipys(alternative):
    options = {"test": "wilcoxon", "alternative": alternative, "correction": None}
    comparison = ta.compare_values(VALUES, **options)
    for i, (a, b) in enumerate(NAMES_OF_PAIRS):
        expected = stats.wilcoxon(VALUES[a], VALUES[b], alternative=alternative)
        assert comparison.pvalues[i] == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_randomization_test_is_scipys(alternative):
    few = {name: values[:8] for name, values in VALUES.items()}
    options = {"test": "randomization", "alternative": alternative, "n_resamples": 999}
    comparison = ta.compare_values(few, correction=None, **options)
    exact = {"permutation_type": "samples", "n_resamples": np.inf}
    exact["alternative"] = alternative
    for i, (a, b) in enumerate(NAMES_OF_PAIRS):
        difference = few[a] - few[b]
        expected = stats.permutation_test((difference,), np.mean, **exact)
        assert comparison.pvalues[i] == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_different_queries_are_compared_by_welch(alternative):
    today, yesterday = VALUES["a"][:30], VALUES["c"]
    days = {"today": today, "yesterday": yesterday}
    comparison = ta.compare_values(days, paired=False, alternative=alternative)
    welch = {"equal_var": False, "alternative": alternative}
    expected = stats.ttest_ind(today, yesterday, **welch)
    assert comparison.statistic == pytest.approx([expected.statistic], rel=1e-12)
    assert comparison.pvalues == pytest.approx([expected.pvalue], rel=1e-12)
    two_sided = stats.ttest_ind(today, yesterday, equal_var=False)
    ends = [*two_sided.confidence_interval()]
    assert comparison.difference_interval[0] == pytest.approx(ends, rel=1e-12)
    variance = (today.var(ddof=1) + yesterday.var(ddof=1)) / 2
    effect = comparison.difference / np.sqrt(variance)
    assert comparison.effect == pytest.approx(effect, rel=1e-12)
    means = [today.mean(), yesterday.mean()]
    assert comparison.summary().mean == pytest.approx(means)


def test_a_comparison_of_different_queries_has_no_values_by_query():
    days = {"today": VALUES["a"][:30], "yesterday": VALUES["c"]}
    comparison = ta.compare_values(days, paired=False)
    assert comparison.qid is None
    assert comparison.n_queries.tolist() == [110]
    assert comparison.test == "welch"
    assert "Welch" in comparison.to_html()
    message = r"paired must be True for .* got False"
    with pytest.raises(ValueError, match=message):
        comparison.by_segment()
    with pytest.raises(ValueError, match=message):
        comparison.by_query()
    with pytest.raises(ValueError, match=message):
        comparison.queries_needed(0.1)


def test_unpaired_systems_are_checked_by_their_own_values():
    dense = VALUES["a"][:60]
    rare = np.repeat([1.0, 0.0], [2, 58])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Differences of rows would all be equal.
        ta.compare_values({"a": dense, "b": dense + 0.1}, bounds=(0, 2), paired=False)
    with pytest.warns(UserWarning, match="query of rare by value are equal for over"):
        ta.compare_values({"a": dense, "rare": rare}, paired=False)


def test_values_that_do_not_vary_have_no_welch_test():
    comparison = ta.compare_values({"a": [1.0] * 5, "b": [0.5] * 4}, paired=False)
    assert np.isnan(comparison.pvalues).all()
    assert np.isnan(comparison.difference_interval).all()


def test_reports_of_two_days_say_how_ties_bear_on_them():
    days = {}
    for name, rows in (("monday", WEB.qid <= 25), ("tuesday", WEB.qid > 25)):
        scores = SYSTEMS["clicks"][rows]
        days[name] = ta.evaluate(WEB.target[rows], scores, qid=WEB.qid[rows])
    comparison = ta.compare_values(days, measure="ap", paired=False)
    # AP is the second of the default measures
    monday = days["monday"].summary().to_pandas().iloc[1]
    tuesday = days["tuesday"].summary().to_pandas().iloc[1]
    spread = np.hypot(monday.tie_std, tuesday.tie_std)
    assert comparison.tie_std == pytest.approx([spread], rel=1e-12)
    low, high = monday.worst - tuesday.best, monday.best - tuesday.worst
    assert comparison.tie_range[0] == pytest.approx([low, high])


def test_arrays_say_nothing_of_ties():
    comparison = ta.compare_values(VALUES, measure="accuracy")
    words_on_ties = {"tie", "ties", "tie_std", "worst", "best", "order"}
    for result in (comparison, comparison.summary()):
        words = re.findall("[a-z_]+", str(result))
        assert words_on_ties.isdisjoint(words)
    assert comparison.ties == ("given",)
    columns = comparison.to_pandas().columns
    assert {"tie_std", "same_sign", "tie_range_low"}.isdisjoint(columns)


IDS = [f"q{i}" for i in range(80)]
ORDER = RNG.permutation(80)


def series_of(name, order):
    return pd.Series(VALUES[name], index=IDS).iloc[order]


IN_ORDER = np.arange(80)
LISTS = {name: list(values) for name, values in VALUES.items()}
SERIES = {
    "a": series_of("a", IN_ORDER),
    "b": series_of("b", ORDER),
    "c": series_of("c", IN_ORDER),
}
WITH_IDS = VALUES | {"q": IDS}


KINDS = {
    "array": (VALUES, {"qid": IDS}),
    "lists": (LISTS, {"qid": IDS}),
    "frame with an index": (pd.DataFrame(VALUES, index=IDS), {}),
    "frame with a column": (pd.DataFrame(WITH_IDS), {"qid": "q"}),
    "polars": (pl.DataFrame(WITH_IDS), {"qid": "q"}),
    "series": (SERIES, {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_values(kind):
    values, options = KINDS[kind]
    comparison = ta.compare_values(values, measure="ndcg@10", **options)
    assert comparison.systems == ("a", "b", "c")
    assert comparison.qid.tolist() == IDS
    expected = np.column_stack([*VALUES.values()])
    np.testing.assert_array_equal(comparison.expected, expected)
    assert comparison.measures == ("NDCG@10",)
    assert comparison.bounds.tolist() == [[0, 1]]
    assert comparison.greater_is_better.tolist() == [True]


def test_columns_of_a_frame_are_weights_segments_and_clusters():
    number = np.arange(80)
    arrays = {"query_weight": 1.0 + number % 2, "segment": number % 2}
    arrays["cluster"] = number
    expected = ta.compare_values(VALUES, **arrays)
    frame = pd.DataFrame(VALUES)
    frame["w"] = arrays["query_weight"]
    frame["s"] = arrays["segment"]
    frame["g"] = arrays["cluster"]
    names = {"query_weight": "w", "segment": "s", "cluster": "g"}
    comparison = ta.compare_values(frame, **names)
    assert comparison.systems == ("a", "b", "c")
    np.testing.assert_array_equal(comparison.pvalues, expected.pvalues)
    assert comparison.by_segment().n_queries.tolist() == [40] * 6


ERRORS = {"good": [1.0, 2.0, 1.0, 3.0], "bad": [2.0, 3.0, 3.0, 4.0]}


def test_less_may_be_better():
    text = str(ta.compare_values(ERRORS, greater_is_better=False))
    sentence = "By value, good is significantly better than bad: ahead by 1.2500 (41.7%"
    assert f"{sentence} less;" in text


def test_a_measure_gives_the_direction():
    comparison = ta.compare_values(ERRORS, measure="esl")
    assert comparison.greater_is_better.tolist() == [False]


def test_a_direction_is_true_or_false():
    with pytest.raises(ValueError, match="greater_is_better must be True or False, go"):
        ta.compare_values(ERRORS, greater_is_better="yes")


def test_queries_without_a_value_are_left_out_of_pairs():
    gaps = dict(VALUES)
    gaps["b"] = VALUES["b"].copy()
    gaps["b"][:10] = np.nan
    comparison = ta.compare_values(gaps, correction=None)
    assert comparison.n_queries.tolist() == [70, 80, 70]
    expected = stats.ttest_rel(VALUES["a"][10:], VALUES["b"][10:])
    assert comparison.pvalues[0] == pytest.approx(expected.pvalue, rel=1e-12)


def test_only_queries_of_all_systems_if_others_are_dropped():
    a, b = series_of("a", IN_ORDER), series_of("b", IN_ORDER)
    series = {"a": a.iloc[:60], "b": b.iloc[5:]}
    comparison = ta.compare_values(series, missing="drop")
    assert comparison.qid.tolist() == IDS[5:60]
    message = r"the same queries .* got 55 common .* 5 .* 'a', 20 .* 'b'"
    with pytest.raises(ValueError, match=message):
        ta.compare_values(series)
    apart = {"a": a.iloc[:10], "b": b.iloc[10:]}
    with pytest.raises(
        ValueError, match="got 0 common queries, 10 more in 'a', 70 mor"
    ):
        ta.compare_values(apart, missing="drop")


AP, RR = (reports(measures=name)["clicks"] for name in ("ap", "rr"))
HEAVY = ta.evaluate(
    WEB.target, SYSTEMS["clicks"], qid=WEB.qid, measures="ap", query_weight=WEB.qid
)
SKIPPING = reports(measures="ap", zero_relevance="skip")["clicks"]
TWO = {"a": [0.5, 0.7], "b": [0.4, 0.8]}
BAD_VALUES = {
    "a list": ([1, 2], "values must be a mapping .* or a data frame, got list"),
    "nothing": ({}, "systems with different names, got none"),
    "one name twice": ({1: [1], "1": [2]}, r"with different names, got \[1, '1'\]"),
    "text": ({"a": ["x"], "b": [1]}, r"values\['a'\] must be numeric"),
    "an infinity": (
        {"a": [np.inf], "b": [1]},
        r"values\['a'\] must be finite, or NaN if there is no value, got inf in row 0",
    ),
    "other lengths": ({"a": [1, 2], "b": [1]}, "same queries .* got 1 common"),
}


@pytest.mark.parametrize("case", BAD_VALUES)
def test_values_that_are_refused(case):
    values, message = BAD_VALUES[case]
    with pytest.raises(ValueError, match=message):
        ta.compare_values(values)


def test_values_beyond_the_bounds_of_a_measure_are_refused():
    message = r"values\['b'\] must be from 0 to 1, got 1.5 in row 0"
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": [0.5], "b": [1.5]}, measure="ndcg")


def test_a_segment_that_is_no_column_is_refused():
    message = r"segment must be a column .* got 's'. The columns are \['a', 'b'\]"
    with pytest.raises(ValueError, match=message):
        ta.compare_values(pd.DataFrame(TWO), segment="s")


BAD_OPTIONS = {
    "bounds": ({"bounds": (0, 0.6)}, "be from 0 to 0.6, got 0.7"),
    "ids of another length": ({"qid": [1]}, "qid must have one value per row"),
    "an id twice": ({"qid": [7, 7]}, r"once, got 2 values of 7 in values\['a'\]"),
    "two measures": ({"measure": ["ap", "rr"]}, "measure must be a single name if"),
    "another test of different queries": (
        {"paired": False, "test": "wilcoxon"},
        "got test='wilcoxon', interval='t', average='macro' and correction='holm'",
    ),
    "Tukey's test of different queries": (
        {"paired": False, "correction": "tukey"},
        "got test='t', interval='t', average='macro' and correction='tukey'",
    ),
    "no option": ({"missing": "ignore"}, "missing must be one of .* got 'ignore'"),
    "no flag": ({"paired": "no"}, "paired must be True or False, got 'no'"),
    "no system": ({"baseline": "c"}, r"baseline must be one of .* got 'c'"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_are_refused(case):
    options, message = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=message):
        ta.compare_values(TWO, **options)


def test_reports_of_different_measures_are_refused():
    message = r"the same measures in all systems, got \('AP',\) in 'a' and \('RR',\) in"
    with pytest.raises(ValueError, match=f"{message} 'b'"):
        ta.compare_values({"a": AP, "b": RR})


def test_reports_of_different_options_are_refused():
    message = "the same options in all systems, got .* in 'a' and .*'skip'.* in 'b'"
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": AP, "b": SKIPPING})


def test_a_report_beside_an_array_is_refused():
    message = "the same options in all systems, got .* in 'a' and {} in 'b'"
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": AP, "b": [0.5]}, measure="ap")


def test_reports_of_different_weights_are_refused():
    message = (
        "query_weight must be the same in all systems, got different values in 'a' and"
    )
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": AP, "b": HEAVY})


def test_a_measure_that_no_report_has_is_refused():
    with pytest.raises(ValueError, match=r"measure must be one of \('AP',\), got 'RR'"):
        ta.compare_values({"a": AP, "b": AP}, measure="rr")


def test_ids_for_reports_are_refused():
    with pytest.raises(ValueError, match=r"qid must be None if .* a rep"):
        ta.compare_values({"a": AP, "b": AP}, qid=[1])


def test_weights_of_different_queries_are_refused():
    message = "query_weight must be None with paired=False, got values in 'a'"
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": HEAVY, "b": HEAVY}, paired=False)


def test_wilcoxons_test_refuses_weights():
    message = r"test='wilcoxon'.* with query_weight"
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": HEAVY, "b": HEAVY}, test="wilcoxon")


def test_a_frame_without_settings_is_refused():
    message = r"frame must have the columns of to_pandas\(settings=True\)"
    with pytest.raises(ValueError, match=message):
        ta.compare_values({"a": AP.to_pandas(), "b": AP})


def test_ranks_that_the_data_do_not_exclude():
    comparison = ta.compare_values(VALUES)
    frame = comparison.to_pandas()
    significant = frame[frame.adjusted_pvalue <= 0.05]
    assert len(significant)
    is_ahead = significant.difference > 0
    winners = significant.a.where(is_ahead, significant.b)
    losers = significant.b.where(is_ahead, significant.a)
    ranks = comparison.summary().rank.tolist()
    for name, (low, high) in zip(VALUES, ranks, strict=True):
        assert low == 1 + (losers == name).sum()
        assert high == 3 - (winners == name).sum()
    errors = ta.compare_values(VALUES, greater_is_better=False).summary()
    assert errors.rank.tolist() == [[4 - high, 4 - low] for low, high in ranks]


@pytest.mark.parametrize("options", [
    {"correction": None},
    {"correction": "bh"},
    {"correction": "by"},
    {"correction": "tukey"},
    {"alternative": "greater"},
    {"test": "wilcoxon"},
    {"baseline": "a"},
])  # fmt: skip
def test_other_comparisons_have_no_ranks(options):
    summary = ta.compare_values(VALUES, **options).summary()
    assert "rank_low" not in summary.columns


def test_ranks_in_the_table():
    rng = np.random.default_rng(1)
    values = {f"s{i}": i / 2 + rng.normal(0, 1, 50) for i in range(5)}
    comparison = ta.compare_values(values)
    text = str(comparison)
    low, high = comparison.summary().rank[2].tolist()
    rank = f"{low}-{high}" if low < high else str(low)
    line = next(line for line in text.splitlines() if " s2 " in line)
    assert line.split()[-1] == rank
    assert "rank: ranks that remain possible (95% confidence for all 5 systems" in text


def test_equal_values_are_equal_on_average():
    values = [0.5, 0.7, 0.1]
    result = ta.compare_values({"a": values, "b": values}, measure="accuracy")
    assert result._conclusion() == ["By accuracy, a and b are equal on average."]
