"""Weights and segments of queries in comparisons."""

import math
import re
import warnings

import numpy as np
import pytest
from scipy import stats

import tieaware_sklearn as ta
from tieaware_sklearn.comparison._result import _OF_PAIRS
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
    for name in _OF_PAIRS:
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


def test_t_test_has_the_error_and_degrees_of_kish():
    data, weight = rows(), np.random.default_rng(1).exponential(size=12)
    comparison = compare(data, weight, measure="ap")
    effective_n = weight.sum() ** 2 / (weight**2).sum()
    for i, apart in enumerate(differences(comparison)):
        mean = np.average(apart, weights=weight)
        square = (
            (weight**2 * (apart - mean) ** 2).sum() * effective_n / (effective_n - 1)
        )
        error = math.sqrt(square) / weight.sum()
        assert comparison.statistic[i] == pytest.approx(mean / error)
        p = 2 * stats.t.sf(abs(mean / error), effective_n - 1)
        assert comparison.pvalues[i] == pytest.approx(p)
        ends = stats.t.interval(0.95, effective_n - 1, mean, error)
        assert comparison.difference_interval[i] == pytest.approx(ends)
        assert comparison.effect[i] == pytest.approx(
            mean / error / math.sqrt(effective_n)
        )
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
    for p, apart in zip(comparison.pvalues, differences(comparison), strict=True):
        sample = (weight * apart,)
        wanted = stats.permutation_test(
            sample, np.sum, alternative=alternative, **exact
        )
        assert p == pytest.approx(wanted.pvalue)


@pytest.mark.parametrize(
    ("test", "weighted"), [*((test, False) for test in TESTS), ("randomization", True)]
)
def test_the_order_of_rows_changes_no_bit(test, weighted):
    data, rng = rows(), np.random.default_rng(3)
    weight = rng.exponential(size=12) if weighted else None
    mixed = select(data, rng.permutation(len(data["qid"])))
    options = {"test": test, "interval": "bootstrap", "n_resamples": 99}
    comparison, again = (
        compare(message, weight, segment=message["qid"] % 3, n_jobs=n_jobs, **options)
        for message, n_jobs in ((data, None), (mixed, 2))
    )
    assert sorted(again.qid) == comparison.qid.tolist() != again.qid.tolist()
    assert_same(comparison, again)
    message, expected = (r.by_segment(n_resamples=99) for r in (comparison, again))
    for name, column in message.columns.items():
        np.testing.assert_array_equal(column, expected.columns[name])


def test_segments_say_what_their_queries_are_worth():
    labels, scores, qid = [1, 0] * 5, np.arange(10.0), np.repeat(range(5), 2)
    weight, segment = np.repeat([1.0, 1, 2, 0, 5], 2), np.repeat([*"aabab"], 2)
    systems = {"up": scores, "down": -scores}
    comparison = ta.compare_systems(
        labels, systems, qid=qid, measure="rr", query_weight=weight, segment=segment
    ).by_segment()
    # (1 + 1 + 0)^2 / (1 + 1 + 0), and (2 + 5)^2 / (4 + 25)
    assert comparison.n_effective == pytest.approx([2, 49 / 29])
    assert np.isnan(comparison.interaction).all()


BAD_OPTIONS = [
    ({"test": "wilcoxon"}, "test must not be 'wilcoxon'.*got 'wilcoxon'"),
    ({"correction": "tukey"}, "correction not 'tukey'.*got 't', 'tukey'"),
    ({"average": "median"}, "average not 'median'.*'holm', 'median'"),
    ({"query_weight": np.arange(72)}, "query_weight must be constant within"),
    ({"query_weight": np.zeros(72)}, "query_weight must not be 0 in every query"),
    ({"segment": np.arange(72)}, "segment must be constant within a query"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_errors_name_argument_and_rule(options, message):
    with pytest.raises(ValueError, match=message):
        ta.compare_systems(**rows(), **{"query_weight": np.ones(72), **options})


def test_weights_of_queries_that_are_left_out_are_worth_nothing():
    data, weight = rows() | {"zero_relevance": "skip"}, [3] * 3 + [1000] + [1] * 8
    data["y_true"][data["qid"] == 3] = 0
    with pytest.warns(UserWarning, match=r"10 queries are worth 7\.5 of equal weight"):
        comparison = compare(data, weight, measure="ap", segment=data["qid"] % 2)
    # another query has no relevant document either
    effective_n = 16**2 / (3 * 9 + 7)
    assert f"10 queries, whose weights are worth {effective_n:.1f} of equal" in str(
        comparison
    )
    assert comparison.by_segment().n_effective[-1] == pytest.approx(7**2 / (9 + 4))
    # a table names the measure below, or in a column
    options = {"segment": data["qid"] % 2, "correction": None}
    for measure, named in (("ap", "\nby AP; "), (["ap", "rr"], "RR ")):
        shown = str(compare(data, measure=measure, **options).by_segment())
        assert named in f"{shown}\n"
        assert "\n\n" not in shown


def test_segments_are_worth_what_has_a_value_of_the_measure():
    # RR is 0 where AP has no value
    data = rows() | {"zero_relevance": "skip", "measure": ["rr", "ap"]}
    data["y_true"][data["qid"] == 3] = 0
    weight, segment = [3] * 3 + [1000] + [1] * 8, data["qid"] % 2
    comparison = compare(data, weight, segment=segment).by_segment()
    alone = compare(data | {"measure": "ap"}, weight, segment=segment).by_segment()
    assert comparison.n_effective[comparison.measure == "AP"].tolist() == [
        *alone.n_effective
    ]


def test_one_heavy_query_leaves_no_test():
    comparison = compare(rows(), np.where(np.arange(12) == 3, 1000, 1))
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
    comparison = compare(data, weight, segment=segment, **options).by_segment()
    for name in "xyz":
        chosen, is_segment = segment == name, comparison.segment == name
        alone = compare(select(data, chosen), weight, correction=None, **options)
        np.testing.assert_array_equal(comparison.pvalue[is_segment], alone.pvalues)
        for figure in ("difference", "difference_interval", "n_queries"):
            wanted = getattr(alone, figure)
            np.testing.assert_array_equal(
                getattr(comparison, figure)[is_segment], wanted
            )
    assert np.isnan(comparison.interaction).all() == weighted
    # corrected over the pairs of all segments, for each measure
    for measure in ("AP", "RR"):
        is_segment = comparison.measure == measure
        ordered = np.sort(comparison.pvalue[is_segment]) * np.arange(
            is_segment.sum(), 0, -1
        )
        holm = np.minimum(np.maximum.accumulate(ordered), 1)
        np.testing.assert_allclose(
            np.sort(comparison.adjusted_pvalue[is_segment]), holm
        )


def test_interaction_is_the_test_of_alexander_and_govern():
    data = rows(40)
    options = {"segment": data["qid"] % 2, "measure": "ap"}
    comparison = compare(data, **options)
    by_segment = comparison.by_segment()
    for apart, p in zip(
        differences(comparison), by_segment.interaction[:3], strict=True
    ):
        wanted = stats.alexandergovern(apart[::2], apart[1::2]).pvalue
        assert p == pytest.approx(wanted)
    assert by_segment.interaction[:3].tolist() == by_segment.interaction[3:].tolist()
    # where nothing differs there is no test
    data["y_score"] = dict.fromkeys("ab", data["y_score"]["a"])
    equal = compare(data, **options).by_segment()
    assert np.isnan(equal.interaction).all()
    assert "2 segments together" in str(by_segment)


def test_segments_that_were_not_given():
    with pytest.raises(ValueError, match="segment must be given to compare_systems"):
        compare(rows()).by_segment()
    tukey = compare(rows(), segment=np.zeros(72), correction="tukey")
    with pytest.raises(ValueError, match="correction must not be 'tukey' for segments"):
        tukey.by_segment()


def test_a_study_of_precision_has_weights():
    data, weight = rows(30), np.random.default_rng(4).exponential(size=30)
    options = {"measure": "ap", "coarseness": "rho=2"}
    plain = ta.precision_study(**data, **options)
    equal = ta.precision_study(**data, **options, query_weight=np.full(180, 0.3))
    study = ta.precision_study(**data, **options, query_weight=per_row(weight, data))
    np.testing.assert_array_equal(equal.pvalues, plain.pvalues)
    np.testing.assert_array_equal(equal.inferiority, plain.inferiority)
    means = np.average(study.expected, axis=1, weights=weight)
    np.testing.assert_allclose(study.summary().mean.reshape(2, 3), means)
    effective_n = weight.sum() ** 2 / (weight**2).sum()
    loss = study.expected[1, :, 0] - 0.97 * study.expected[0, :, 0]
    mean = np.average(loss, weights=weight)
    square = (weight**2 * (loss - mean) ** 2).sum() * effective_n / (effective_n - 1)
    p = stats.t.sf(mean / (math.sqrt(square) / weight.sum()), effective_n - 1)
    assert study.inferiority[1, 1, 0] == pytest.approx(p)


def test_orders_of_ties_have_weights():
    # ids do not appear in ascending order
    data, weight = rows(8), np.random.default_rng(6).exponential(size=8)
    shuffled = select(data, np.random.default_rng(1).permutation(len(data["qid"])))
    weighted = shuffled | {"query_weight": per_row(weight, shuffled)}
    options = {"measure": "rr", "n_orders": 20}
    over = ta.pvalues_over_orders(**weighted, **options)
    compared = compare(shuffled, weight, measure="rr", correction=None)
    np.testing.assert_array_equal(over.pvalues[0], compared.pvalues)
    assert (over.smallest <= over.largest).all()
    data["query_weight"] = per_row(weight, data)
    again = ta.pvalues_over_orders(**data, **options)
    np.testing.assert_array_equal(over.smallest, again.smallest)
    with pytest.raises(ValueError, match="test must not be 'wilcoxon'"):
        ta.pvalues_over_orders(**weighted, **options, test="wilcoxon")


def warned(function, *args, **options):
    """A result, and the warnings that came with it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comparison = function(*args, **options)
    return comparison, [str(message.message) for message in caught]


@pytest.mark.parametrize(("weight", "effective_n"), [
    (np.repeat([20, 1], [3, 47]), "9.2"),
    (np.repeat([100, 1], [5, 195]), "9.6"),
    (1 / np.arange(1, 101), "16.5"),
])  # fmt: skip
def test_weights_worth_fewer_than_20_queries_name_the_test_that_holds(
    weight, effective_n
):
    data = rows(len(weight))
    for function in (compare, pvalues_over_orders):
        _, messages = warned(function, data, weight, measure="ap")
        [message] = [message for message in messages if "worth" in message]
        assert message == (
            f"the weights of {len(weight)} queries are worth {effective_n} "
            "of equal weight, fewer than 20: the interval is too short, and "
            "t tests reject too often; "
            "test='randomization' holds"
        )
    report = ta.evaluate(
        data["y_true"], data["y_score"]["a"], qid=data["qid"], measures="ap",
        query_weight=per_row(weight, data),
    )  # fmt: skip
    _, messages = warned(report.summary)
    assert [message for message in messages if "worth" in message] == [message]


def pvalues_over_orders(data, weight, **options):
    options["query_weight"] = per_row(weight, data)
    return ta.pvalues_over_orders(**data, n_orders=2, **options)


def test_weights_worth_20_queries_or_equal_ones_are_not_warned_of():
    for weight in (np.repeat([2, 1], [10, 20]), np.full(12, 3)):
        data = rows(len(weight))
        for function in (compare, pvalues_over_orders):
            _, messages = warned(function, data, weight, measure="ap")
            assert not [message for message in messages if "worth" in message]
    _, messages = warned(
        pvalues_over_orders, rows(), np.arange(1, 13), test="randomization"
    )
    assert not [message for message in messages if "worth" in message]


def test_segments_are_warned_of_by_their_names():
    data = rows(60)
    segment = np.where(data["qid"] < 45, "large", "small")
    # all values are equal in one segment
    for column in data["y_score"].values():
        column[segment == "small"] = 0
    weight = np.where(np.arange(60) < 2, 50, 1)
    options = {"measure": "ap", "segment": segment}
    comparison, _ = warned(compare, data, **options)
    _, messages = warned(comparison.by_segment)
    assert any(
        "b - c by AP in segment small are all equal" in message for message in messages
    )
    assert not any("large" in message for message in messages)
    comparison, _ = warned(compare, data, weight, **options)
    _, messages = warned(comparison.by_segment)
    assert any(
        "the weights of 45 queries in segment large" in message for message in messages
    )
    report = ta.evaluate(
        data["y_true"], data["y_score"]["a"], qid=data["qid"], measures="ap",
        query_weight=per_row(weight, data), segment=segment,
    )  # fmt: skip
    _, messages = warned(report.by_segment)
    assert any(
        "the weights of 45 queries in segment large" in message for message in messages
    )


def test_interactions_need_20_queries_of_each_segment():
    data = rows(60)
    for n_small, is_tested in ((19, False), (20, True)):
        segment = data["qid"] < n_small
        by_segment = compare(data, measure="rr", segment=segment).by_segment()
        assert np.isnan(by_segment.interaction).all() != is_tested
        note = "interaction: not tested if a segment has fewer than 20 queries"
        assert (note in " ".join(str(by_segment).split())) != is_tested
    # weights and medians have none, whatever the segments
    for options in ({"weight": np.arange(60) + 1}, {"average": "median"}):
        shown = str(compare(data, **options, segment=data["qid"] < 9).by_segment())
        assert "not tested" not in shown
