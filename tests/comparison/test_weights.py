"""Weights and segments of queries in comparisons."""

import math
import re
import warnings

import numpy as np
import pytest
from scipy import stats

import tieaware_sklearn as ta
from tieaware_sklearn.comparison._result import _FIGURES
from tieaware_sklearn.statistics.paired_tests import TESTS


def rows(n_queries=12):
    rng, n = np.random.default_rng(0), 6 * n_queries
    labels, scores = rng.integers(0, 2, n), rng.integers(0, 4, (3, n))
    systems = dict(zip("abc", scores, strict=True))
    return {"y_true": labels, "y_score": systems, "qid": np.arange(n) // 6}


def select(data, rows):
    scores = {name: column[rows] for name, column in data["y_score"].items()}
    labels, qid = data["y_true"][rows], data["qid"][rows]
    return {"y_true": labels, "y_score": scores, "qid": qid}


def repeated(data, times):
    """Each query as often as its weight says, with ids of their own."""
    copied = np.repeat(np.arange(len(times)), times)
    copies = select(data, (6 * copied[:, None] + np.arange(6)).ravel())
    return copies | {"qid": np.repeat(np.arange(len(copied)), 6)}


def per_row(weight, data):
    return np.asarray(weight)[data["qid"]]


def compare(data, weight=None, **options):
    """The systems compared, with a weight for each query."""
    if weight is not None:
        options["query_weight"] = per_row(weight, data)
    return ta.compare_systems(**data, **options)


def assert_same(comparison, expected):
    for name in _FIGURES:
        np.testing.assert_array_equal(
            getattr(comparison, name), getattr(expected, name), name
        )


@pytest.mark.parametrize("average", ["macro", "geometric"])
def test_estimates_are_those_of_repeated_queries(average):
    data, times = rows(), np.arange(12) % 4 + 1
    options = {"measure": "ap", "average": average}
    comparison = compare(data, times, **options)
    again = compare(repeated(data, times), **options)
    np.testing.assert_allclose(comparison.difference, again.difference, atol=1e-14)
    np.testing.assert_allclose(comparison.tie_range, again.tie_range, atol=1e-14)
    np.testing.assert_allclose(
        comparison.summary().mean, again.summary().mean, atol=1e-14
    )
    # a query does not become several by its weight
    assert (comparison.n_queries == 12).all()


@pytest.mark.parametrize("test", ["t", "randomization"])
@pytest.mark.parametrize("interval", ["t", "bootstrap"])
@pytest.mark.parametrize("equal", [1.0, 0.1, 7.0])
def test_equal_weights_change_no_bit(test, interval, equal):
    data = rows()
    options = {"test": test, "interval": interval, "n_resamples": 99}
    options["measure"] = ["rr", "ndcg@3"]
    weighted = compare(data, np.full(12, equal), **options)
    assert_same(weighted, compare(data, **options))


def test_queries_of_weight_0_are_left_out():
    data, weight = rows(), np.arange(12) % 3
    comparison = compare(data, weight)
    assert_same(comparison, compare(select(data, per_row(weight, data) > 0), weight))
    assert len(comparison.qid) == 12


def differences(comparison):
    a, b = comparison.pairs.T
    return (comparison.expected[:, a] - comparison.expected[:, b]).T


def kish(weight):
    """Kish's effective number of queries."""
    return weight.sum() ** 2 / (weight**2).sum()


def mean_and_error(values, weight):
    """Weighted mean of values per query, and its standard error."""
    n = kish(weight)
    mean = np.average(values, weights=weight)
    square = (weight**2 * (values - mean) ** 2).sum()
    return mean, math.sqrt(square * n / (n - 1)) / weight.sum()


def test_t_test_has_the_error_and_degrees_of_kish():
    data, weight = rows(), np.random.default_rng(1).exponential(size=12)
    comparison = compare(data, weight, measure="ap")
    n = kish(weight)
    for i, apart in enumerate(differences(comparison)):
        mean, error = mean_and_error(apart, weight)
        t = mean / error
        assert comparison.statistic[i] == pytest.approx(t)
        p = 2 * stats.t.sf(abs(t), n - 1)
        assert comparison.pvalues[i] == pytest.approx(p)
        ends = stats.t.interval(0.95, n - 1, mean, error)
        assert comparison.difference_interval[i] == pytest.approx(ends)
        assert comparison.effect[i] == pytest.approx(t / math.sqrt(n))
    # reports have the same interval
    alone = data | {"y_score": data["y_score"]["a"], "measures": "ap"}
    report = ta.evaluate(**alone, query_weight=per_row(weight, data)).summary()
    np.testing.assert_array_equal(report.interval, comparison.summary().interval[:1])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_randomization_changes_the_signs_of_weighted_differences(alternative):
    data, weight = rows(8), np.random.default_rng(2).exponential(size=8)
    test = {"test": "randomization", "alternative": alternative, "correction": None}
    comparison = compare(data, weight, measure="ap", **test)
    exact = {"permutation_type": "samples", "n_resamples": math.inf}
    exact["alternative"] = alternative
    for p, apart in zip(comparison.pvalues, differences(comparison), strict=True):
        sample = (weight * apart,)
        expected = stats.permutation_test(sample, np.sum, **exact)
        assert p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("test", "weighted"), [*((test, False) for test in TESTS), ("randomization", True)]
)
def test_the_order_of_rows_changes_no_bit(test, weighted):
    data, rng = rows(), np.random.default_rng(3)
    weight = rng.exponential(size=12) if weighted else None
    mixed = select(data, rng.permutation(len(data["qid"])))
    options = {"test": test, "interval": "bootstrap", "n_resamples": 99}
    comparison = compare(data, weight, segment=data["qid"] % 3, **options)
    again = compare(mixed, weight, segment=mixed["qid"] % 3, n_jobs=2, **options)
    qid = comparison.qid.tolist()
    assert again.qid.tolist() != qid
    assert sorted(again.qid) == qid
    assert_same(comparison, again)
    by_segment = comparison.by_segment(n_resamples=99)
    again_by_segment = again.by_segment(n_resamples=99)
    for name, column in by_segment.columns.items():
        np.testing.assert_array_equal(column, again_by_segment.columns[name])


def test_segments_say_what_their_queries_are_worth():
    labels, scores, qid = [1, 0] * 5, np.arange(10.0), np.repeat(range(5), 2)
    systems = {"up": scores, "down": -scores}
    options = {"qid": qid, "measure": "rr"}
    options["query_weight"] = np.repeat([1.0, 1, 2, 0, 5], 2)
    options["segment"] = np.repeat([*"aabab"], 2)
    by_segment = ta.compare_systems(labels, systems, **options).by_segment()
    # (1 + 1 + 0)^2 / (1 + 1 + 0), and (2 + 5)^2 / (4 + 25)
    assert by_segment.n_effective == pytest.approx([2, 49 / 29])
    assert np.isnan(by_segment.interaction).all()


BAD_OPTIONS = [
    ({"test": "wilcoxon"}, "test='wilcoxon'.*got 'wilcoxon'"),
    ({"correction": "tukey"}, "correction='tukey'.*got 't', 'tukey'"),
    ({"average": "median"}, "average='median'.*'holm', 'median'"),
    ({"query_weight": np.arange(72)}, "query_weight must be constant within"),
    ({"query_weight": np.zeros(72)}, "query_weight must not be 0 in every query"),
    ({"segment": np.arange(72)}, "segment must be constant within a query"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_errors_name_argument_and_rule(options, message):
    weighted = {"query_weight": np.ones(72), **options}
    with pytest.raises(ValueError, match=message):
        ta.compare_systems(**rows(), **weighted)


def test_weights_of_queries_that_are_left_out_are_worth_nothing():
    data = rows() | {"zero_relevance": "skip"}
    data["y_true"][data["qid"] == 3] = 0
    weight = [3] * 3 + [1000] + [1] * 8
    segment = data["qid"] % 2
    with pytest.warns(
        UserWarning, match=r"10 queries are worth 7\.5 queries of equal weight"
    ):
        comparison = compare(data, weight, measure="ap", segment=segment)
    # another query has no relevant document either
    effective_n = 16**2 / (3 * 9 + 7)
    sentence = f"10 queries, whose weights are worth {effective_n:.1f} of equal"
    assert sentence in str(comparison)
    by_segment = comparison.by_segment()
    assert by_segment.n_effective[-1] == pytest.approx(7**2 / (9 + 4))


# a table names the measure below, or in a column
@pytest.mark.parametrize(
    ("measure", "name"), [("ap", "\nby AP; "), (["ap", "rr"], "RR ")]
)
def test_the_table_of_segments_names_its_measures(measure, name):
    data = rows() | {"zero_relevance": "skip"}
    data["y_true"][data["qid"] == 3] = 0
    options = {"segment": data["qid"] % 2, "correction": None}
    text = str(compare(data, measure=measure, **options).by_segment())
    assert name in f"{text}\n"
    assert "\n\n" not in text


def test_segments_are_worth_what_has_a_value_of_the_measure():
    # RR is 0 where AP has no value
    data = rows() | {"zero_relevance": "skip"}
    data["y_true"][data["qid"] == 3] = 0
    weight, segment = [3] * 3 + [1000] + [1] * 8, data["qid"] % 2
    both = compare(data, weight, segment=segment, measure=["rr", "ap"]).by_segment()
    alone = compare(data, weight, segment=segment, measure="ap").by_segment()
    n_effective = both.n_effective[both.measure == "AP"]
    assert n_effective.tolist() == alone.n_effective.tolist()


def test_one_heavy_query_leaves_no_test():
    weight = np.ones(12)
    weight[3] = 1000
    comparison = compare(rows(), weight)
    assert np.isnan(comparison.pvalues).all()
    assert np.isnan(comparison.difference_interval).all()


@pytest.mark.parametrize("options", [
    {},
    {"measure": ["ap", "rr"]},
    {"ties": ["best", "worst"]},
    {"measure": ["ap", "rr"], "ties": ["best", "expected"], "baseline": "a"},
    {"y_score": {"a": rows()["y_score"]["a"]}},
], ids=str)  # fmt: skip
def test_what_weights_are_worth_is_printed_once(options):
    data, weight = rows(), [3] * 8 + [1] * 3 + [0]
    # one query counts nothing
    effective_n = 27**2 / (9 * 8 + 3)
    message = f"11 queries, whose weights are worth {effective_n:.1f} of equal weight"
    weighted = compare(data | options, weight)
    page = weighted.to_html()
    assert str(weighted).count(message) == 1
    assert re.sub('alt="[^"]*"', "", page).count(message) == 1
    alone = data | {"y_score": data["y_score"]["a"]}
    report = ta.evaluate(**alone, query_weight=per_row(weight, data))
    assert str(report).count(message) == 1
    for equal in (None, np.full(12, 0.1)):
        plain = compare(data | options, equal)
        assert "equal weight" not in str(plain) + plain.to_html()


@pytest.mark.parametrize("weighted", [False, True])
def test_each_segment_is_what_it_is_alone(weighted):
    data = rows(60)
    segment = np.array(["x", "y", "z"])[data["qid"] % 3]
    weight = np.arange(60) % 5 + 1 if weighted else None
    options = {"measure": ["ap", "rr"], "baseline": "a", "interval": "bootstrap"}
    by_segment = compare(data, weight, segment=segment, **options).by_segment()
    for name in "xyz":
        is_segment = by_segment.segment == name
        selected = select(data, segment == name)
        alone = compare(selected, weight, correction=None, **options)
        np.testing.assert_array_equal(by_segment.pvalue[is_segment], alone.pvalues)
        for figure in ("difference", "difference_interval", "n_queries"):
            values = getattr(by_segment, figure)[is_segment]
            np.testing.assert_array_equal(values, getattr(alone, figure))
    assert np.isnan(by_segment.interaction).all() == weighted
    # corrected over the pairs of all segments, for each measure
    for measure in ("AP", "RR"):
        is_measure = by_segment.measure == measure
        ordered = np.sort(by_segment.pvalue[is_measure])
        stepped = ordered * np.arange(len(ordered), 0, -1)
        holm = np.minimum(np.maximum.accumulate(stepped), 1)
        adjusted = np.sort(by_segment.adjusted_pvalue[is_measure])
        np.testing.assert_allclose(adjusted, holm)


def test_interaction_is_the_test_of_alexander_and_govern():
    data = rows(40)
    options = {"segment": data["qid"] % 2, "measure": "ap"}
    comparison = compare(data, **options)
    by_segment = comparison.by_segment()
    first, second = by_segment.interaction.reshape(2, 3)
    assert first.tolist() == second.tolist()
    for apart, p in zip(differences(comparison), first, strict=True):
        expected = stats.alexandergovern(apart[::2], apart[1::2])
        assert p == pytest.approx(expected.pvalue)
    assert "2 segments together" in str(by_segment)


def test_equal_systems_have_no_test_of_interaction():
    data = rows(40)
    data["y_score"] = dict.fromkeys("ab", data["y_score"]["a"])
    equal = compare(data, segment=data["qid"] % 2, measure="ap").by_segment()
    assert np.isnan(equal.interaction).all()


def test_segments_that_were_not_given():
    with pytest.raises(
        ValueError, match="segment must be given when systems are compared"
    ):
        compare(rows()).by_segment()
    tukey = compare(rows(), segment=np.zeros(72), correction="tukey")
    with pytest.raises(ValueError, match="correction must not be 'tukey' for segments"):
        tukey.by_segment()


def test_equal_weights_change_no_study_of_precision():
    data = rows(30)
    options = {"measure": "ap", "coarseness": "rho=2"}
    plain = ta.precision_study(**data, **options)
    equal = ta.precision_study(**data, **options, query_weight=np.full(180, 0.3))
    np.testing.assert_array_equal(equal.pvalues, plain.pvalues)
    np.testing.assert_array_equal(equal.inferiority, plain.inferiority)


def test_a_study_of_precision_has_weights():
    data, weight = rows(30), np.random.default_rng(4).exponential(size=30)
    options = {"measure": "ap", "coarseness": "rho=2"}
    study = ta.precision_study(**data, **options, query_weight=per_row(weight, data))
    means = np.average(study.expected, axis=1, weights=weight)
    np.testing.assert_allclose(study.summary().mean, means.ravel())
    exact, rough = study.expected[:, :, 0]
    mean, error = mean_and_error(rough - 0.97 * exact, weight)
    p = stats.t.sf(mean / error, kish(weight) - 1)
    assert study.inferiority[1, 1, 0] == pytest.approx(p)


def test_orders_of_ties_have_weights():
    # ids do not appear in ascending order
    data, weight = rows(8), np.random.default_rng(6).exponential(size=8)
    order = np.random.default_rng(1).permutation(len(data["qid"]))
    shuffled = select(data, order)
    weighted = shuffled | {"query_weight": per_row(weight, shuffled)}
    options = {"measure": "rr", "n_orders": 20}
    over = ta.pvalues_over_orders(**weighted, **options)
    compared = compare(shuffled, weight, measure="rr", correction=None)
    np.testing.assert_array_equal(over.pvalues[0], compared.pvalues)
    assert (over.smallest <= over.largest).all()
    data["query_weight"] = per_row(weight, data)
    again = ta.pvalues_over_orders(**data, **options)
    np.testing.assert_array_equal(over.smallest, again.smallest)
    with pytest.raises(ValueError, match="test='wilcoxon'"):
        ta.pvalues_over_orders(**weighted, **options, test="wilcoxon")


def warnings_of(function, *args, **options):
    """The messages of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args, **options)
    return [str(warning.message) for warning in caught]


def warnings_of_weights(function, *args, **options):
    messages = warnings_of(function, *args, **options)
    return [message for message in messages if "worth" in message]


@pytest.mark.parametrize(("weight", "effective_n"), [
    (np.repeat([20, 1], [3, 47]), "9.2"),
    (np.repeat([100, 1], [5, 195]), "9.6"),
    (1 / np.arange(1, 101), "16.5"),
])  # fmt: skip
def test_weights_worth_fewer_than_20_queries_name_the_test_that_holds(
    weight, effective_n
):
    data = rows(len(weight))
    expected = (
        f"the weights of {len(weight)} queries are worth {effective_n} queries of "
        "equal weight, fewer than 20, so the interval is too short, and t tests reject "
        "too often. In comparisons, test='randomization' remains valid"
    )
    for function in (compare, pvalues_over_orders):
        messages = warnings_of_weights(function, data, weight, measure="ap")
        assert messages == [expected]
    alone = data | {"y_score": data["y_score"]["a"], "measures": "ap"}
    report = ta.evaluate(**alone, query_weight=per_row(weight, data))
    assert warnings_of_weights(report.summary) == [expected]


def pvalues_over_orders(data, weight, **options):
    options["query_weight"] = per_row(weight, data)
    return ta.pvalues_over_orders(**data, n_orders=2, **options)


@pytest.mark.parametrize("weight", [np.repeat([2, 1], [10, 20]), np.full(12, 3)])
def test_weights_worth_20_queries_or_equal_ones_are_not_warned_of(weight):
    data = rows(len(weight))
    for function in (compare, pvalues_over_orders):
        assert not warnings_of_weights(function, data, weight, measure="ap")


def test_randomization_does_not_warn_of_weights():
    weight = np.arange(1, 13)
    options = {"test": "randomization"}
    assert not warnings_of_weights(pvalues_over_orders, rows(), weight, **options)


@pytest.mark.filterwarnings("ignore")
def test_segments_are_warned_of_by_their_names():
    data = rows(60)
    segment = np.where(data["qid"] < 45, "large", "small")
    # all values are equal in one segment
    for column in data["y_score"].values():
        column[segment == "small"] = 0
    options = {"measure": "ap", "segment": segment}
    comparison = compare(data, **options)
    text = "\n".join(warnings_of(comparison.by_segment))
    assert "b - c by AP in segment small do not vary" in text
    assert "large" not in text
    weight = np.where(np.arange(60) < 2, 50, 1)
    weighted = compare(data, weight, **options)
    text = "\n".join(warnings_of(weighted.by_segment))
    assert "the weights of 45 queries in segment large" in text
    alone = data | {"y_score": data["y_score"]["a"], "measures": "ap"}
    query_weight = per_row(weight, data)
    report = ta.evaluate(**alone, query_weight=query_weight, segment=segment)
    text = "\n".join(warnings_of(report.by_segment))
    assert "the weights of 45 queries in segment large" in text


@pytest.mark.parametrize(("n_small", "is_tested"), [(19, False), (20, True)])
def test_interactions_need_20_queries_of_each_segment(n_small, is_tested):
    data = rows(60)
    segment = data["qid"] < n_small
    by_segment = compare(data, measure="rr", segment=segment).by_segment()
    assert np.isnan(by_segment.interaction).all() != is_tested
    text = " ".join(str(by_segment).split())
    note = "interaction: not tested if a segment has fewer than 20 queries"
    assert (note in text) != is_tested


@pytest.mark.parametrize("options", [
    {"weight": np.arange(60) + 1}, {"average": "median"},
])  # fmt: skip
def test_weights_and_medians_have_no_interaction_whatever_the_segments(options):
    data = rows(60)
    by_segment = compare(data, **options, segment=data["qid"] < 9).by_segment()
    assert "not tested" not in str(by_segment)
