"""Systems compared pair by pair, and the tests of their differences."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests._engine.test_lists import assert_same
from tieaware_sklearn import evaluate
from tieaware_sklearn.comparison import _text, compare_systems
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.statistics.multiple_testing import tukey_test
from tieaware_sklearn.statistics.paired_tests import ALTERNATIVES

WEB = make_web_search(n_queries=40, random_state=3)
SYSTEMS = dict(zip(WEB.feature_names[:4], WEB.data.T[:4], strict=True))
NAMES = list(SYSTEMS)
MEASURES, TIES = ("RR", "AP"), ("official", "expected", "worst")
OPTIONS = {"external": {"official": np.arange(len(WEB.qid))}}


def compare(systems=SYSTEMS, **options):
    return compare_systems(WEB.target, systems, qid=WEB.qid, **options)


def reports_by(measure):
    options = {"qid": WEB.qid, "measures": measure}
    return [evaluate(WEB.target, scores, **options) for scores in SYSTEMS.values()]


SEVERAL = compare(measure=[*MEASURES], ties=[*TIES], **OPTIONS)
ONE = SEVERAL["AP", "expected"]


def leads_of(noise=1e-3, **options):
    """The comparison of a and b, nearly alike, with c, which is far worse."""
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 3, 400), np.repeat(range(40), 10)
    a = labels + rng.normal(0, 0.5, 400)
    apart, c = rng.normal(0, 1, (2, 400))
    systems = {"a": a, "b": a + noise * apart, "c": c}
    return compare_systems(labels, systems, qid=qid, **options)


@pytest.mark.parametrize(("options", "extreme", "n_pairs"), [
    ({}, "highest mean", 3),
    ({"measure": "rank"}, "lowest mean", 3),
    ({"average": "geometric"}, "highest value", 0),
    ({"correction": "tukey"}, "highest mean", 3),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:the differences by")
def test_the_headline_calls_better_what_is_shown_to_be(options, extreme, n_pairs):
    comparison = leads_of(**options)
    line, *pairs, largest = comparison._conclusion()
    mean = comparison.summary().mean
    if extreme == "lowest mean":
        mean = -mean
    first = np.argmax(mean)
    assert first < 2
    p = comparison.adjusted_pvalues[0]
    assert p > 0.05 or math.isnan(p)
    assert f"{extreme} " in line
    equal = rf"but is not shown to be better than {'ba'[first]}[;.]"
    assert re.search(equal, line)
    assert " is best" not in line
    assert len(pairs) == n_pairs
    assert largest.startswith("The largest of several observed differences is probably")


def test_the_headline_of_a_system_that_beats_all_others():
    line, *_ = leads_of(noise=99)._conclusion()
    assert "a has the highest mean" in line
    assert "and is significantly better than each of the others" in line


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_the_headline_where_no_query_has_a_value():
    systems = {"a": [1, 2, 1, 2], "b": [2, 1, 1, 1], "c": [1, 1, 1, 1]}
    options = {"qid": [1, 1, 2, 2], "measure": "ap", "zero_relevance": "skip"}
    text = str(compare_systems([0, 0, 0, 0], systems, **options))
    assert "By AP, no system has a value; no difference is significant" in text


def test_the_headline_with_a_baseline_is_of_what_was_compared():
    line, *pairs, _ = leads_of(baseline="c")._conclusion()
    names = [pair.split()[0] for pair in pairs]
    assert names == ["a", "b"]
    assert "2 of 2 systems are significantly better than c, and 0 worse" in line
    assert "highest" not in line


def test_the_headline_with_two_baselines():
    line, *_ = leads_of(baseline=["c", "a"])._conclusion()
    assert "than c, and 0 worse; 0 of 1 systems are significantly better than a" in line


def test_the_headline_with_a_baseline_and_a_measure_where_less_is_better():
    line, *_ = leads_of(baseline="a", measure="rank")._conclusion()
    assert "0 of 2 systems are significantly better than a, and 1 worse" in line


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5", "esl"])
def test_pairs_by_hand(measure):
    comparison = compare(measure=measure)
    reports = reports_by(measure)
    assert comparison.systems == tuple(SYSTEMS)
    pairs = itertools.combinations(range(4), 2)
    assert comparison.pairs.tolist() == [[a, b] for a, b in pairs]
    for i, (a, b) in enumerate(comparison.pairs.tolist()):
        report_a, report_b = reports[a], reports[b]
        difference = report_a.expected[:, 0] - report_b.expected[:, 0]
        is_defined = ~np.isnan(difference)
        n_queries = is_defined.sum()
        assert comparison.n_queries[i] == n_queries
        assert comparison.difference[i] == pytest.approx(difference[is_defined].mean())
        ends_of_a = np.column_stack([report_a.best, report_a.worst])[is_defined]
        ends_of_b = np.column_stack([report_b.best, report_b.worst])[is_defined]
        lowest = ends_of_a.min(axis=1) - ends_of_b.max(axis=1)
        highest = ends_of_a.max(axis=1) - ends_of_b.min(axis=1)
        low, high = lowest.mean(), highest.mean()
        assert comparison.tie_range[i] == pytest.approx([low, high])
        assert comparison.same_sign[i] == (low > 0 or high < 0)
        t = stats.ttest_1samp(difference[is_defined], 0)
        assert comparison.pvalues[i] == pytest.approx(t.pvalue)
        assert comparison.statistic[i] == pytest.approx(t.statistic)
        effect = t.statistic / math.sqrt(n_queries)
        assert comparison.effect[i] == pytest.approx(effect)


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5", "esl"])
def test_the_summary_of_systems_is_that_of_their_reports(measure):
    comparison = compare(measure=measure)
    summaries = [report.summary() for report in reports_by(measure)]
    for name in ("mean", "tie_std", "worst", "best", "chance"):
        values = [getattr(summary, name)[0] for summary in summaries]
        assert getattr(comparison.summary(), name).tolist() == values, name
    if measure == "esl":
        # a pair is compared on other queries than those of the summaries
        return
    for i, (a, b) in enumerate(comparison.pairs):
        spread = math.hypot(summaries[a].tie_std[0], summaries[b].tie_std[0])
        assert comparison.tie_std[i] == pytest.approx(spread)


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5", "esl"])
@pytest.mark.parametrize("options", [
    {"test": "wilcoxon"}, {"test": "randomization"}, {"average": "median"},
])  # fmt: skip
def test_the_effect_is_of_means_whatever_the_test(measure, options):
    comparison = compare(measure=measure)
    changed = compare(measure=measure, n_resamples=99, **options)
    assert changed.effect.tolist() == comparison.effect.tolist()


def test_kinds_of_input_agree():
    by_name = compare(SYSTEMS)
    frame = compare(pd.DataFrame(SYSTEMS))
    assert np.array_equal(by_name.pvalues, frame.pvalues)
    matrix = np.column_stack(list(SYSTEMS.values()))
    array = compare(matrix)
    assert np.array_equal(by_name.pvalues, array.pvalues)
    assert array.systems == ("system 0", "system 1", "system 2", "system 3")


def test_the_parts_of_a_comparison_in_print():
    means, pairs, text = str(compare(SYSTEMS)).split("\n\n")
    assert len(means.splitlines()) == 2 + 4 + 2
    notes = pairs.splitlines()[2 + 6 :]
    first_words = [note.split(" ")[0] for note in notes]
    assert first_words == ["holm:", "Hidden", "columns."]
    assert text.startswith("By NDCG@10, clicks has ")


def test_a_single_system_has_no_pairs():
    column = SYSTEMS[NAMES[0]]
    alone = compare(column, correction="tukey")
    assert alone.systems == ("scores",)
    assert alone.to_pandas().empty
    assert "A - B" not in str(alone)
    named = compare(pd.Series(column, name="mine"))
    assert named.systems == ("mine",)
    of_matrix = compare(column[:, None])
    assert np.array_equal(named.expected, of_matrix.expected)
    best = compare({"a": column}, ties=["best"])
    assert str(best).endswith("ties: best")


def test_a_system_does_not_differ_from_itself():
    column = SYSTEMS[NAMES[0]]
    comparison = compare({"a": column, "b": column})
    assert comparison.difference[0] == 0
    assert comparison.pvalues[0] == 1
    assert comparison.effect[0] == 0
    assert not comparison.same_sign[0]


def test_a_baseline_and_the_systems_compared_with_it():
    whole = compare(correction=None)
    assert whole.baselines == ()
    comparison = compare(baseline=NAMES[1])
    assert comparison.baselines == (NAMES[1],)
    assert comparison.pairs.tolist() == [[0, 1], [2, 1], [3, 1]]
    pairs = whole.pairs.tolist()
    for i, (a, b) in enumerate(comparison.pairs.tolist()):
        j = pairs.index(sorted([a, b]))
        sign = 1 if a < b else -1
        assert comparison.difference[i] == sign * whole.difference[j]
        tie_range = sign * comparison.tie_range[i]
        assert sorted(tie_range) == sorted(whole.tie_range[j])
        assert comparison.pvalues[i] == whole.pvalues[j]


def test_several_baselines():
    comparison = compare(baseline=[NAMES[3], NAMES[0]])
    assert comparison.baselines == (NAMES[3], NAMES[0])
    assert comparison.pairs.tolist() == [[1, 3], [2, 3], [1, 0], [2, 0]]


def test_holm_corrects_for_the_pairs_with_a_baseline_only():
    comparison = compare(baseline=NAMES[1])
    smallest, middle, largest = np.sort(comparison.pvalues)
    holm = np.maximum.accumulate([3 * smallest, 2 * middle, largest])
    expected = np.minimum(holm, 1)
    assert np.sort(comparison.adjusted_pvalues) == pytest.approx(expected)


def test_tukeys_correction_is_over_all_pairs():
    comparison = compare(correction="tukey")
    uncorrected = compare(correction=None)
    assert np.array_equal(comparison.pvalues, uncorrected.pvalues)
    pvalues, ends = tukey_test(comparison.expected, comparison.pairs, 0.95)
    assert comparison.adjusted_pvalues.tolist() == pvalues.tolist()
    assert np.array_equal(comparison.difference_interval, ends)
    assert "tukey" in str(comparison)
    _, ends_of_one_query = tukey_test(comparison.expected[:1], comparison.pairs, 0.95)
    assert ends_of_one_query.shape == ends.shape


NOT_CORRECTED = "not corrected for the number of pairs"
THREE = dict(zip("abc", SYSTEMS.values(), strict=False))


@pytest.mark.filterwarnings("ignore:the differences by")
@pytest.mark.parametrize("options", [{}, {"interval": "bootstrap", "n_resamples": 9}])
def test_intervals_that_are_not_corrected_say_so(options):
    comparison = compare(THREE, **options)
    # below the pairs, where the column has room, and in what a page says of it
    text = str(comparison)
    assert text.count(NOT_CORRECTED) == ("95%" in text)
    assert NOT_CORRECTED in comparison.to_html()


def test_intervals_are_not_corrected_without_a_correction():
    assert NOT_CORRECTED in str(compare(THREE, correction=None))


def test_the_interval_of_a_single_pair_needs_no_correction():
    two = {name: SYSTEMS[name] for name in NAMES[:2]}
    assert NOT_CORRECTED not in str(compare(two))


@pytest.mark.filterwarnings("ignore:the differences by")
@pytest.mark.parametrize(("average", "equal"), [("macro", 0), ("geometric", 1)])
def test_tukeys_intervals_hold_equality_where_the_test_says_no(average, equal):
    tukey = compare(correction="tukey", average=average)
    low, high = tukey.difference_interval.T
    is_inside = (low <= equal) & (high >= equal)
    assert np.array_equal(is_inside, tukey.adjusted_pvalues > 0.05)
    if average == "macro":
        assert NOT_CORRECTED not in str(tukey)


@pytest.mark.parametrize(("measure", "confidence"), [("ap", 0.8), ("esl", 0.95)])
def test_intervals_of_the_difference(measure, confidence):
    options = {"measure": measure, "confidence": confidence}
    comparison = compare(**options)
    assert comparison.interval == "t"
    sampled = compare(interval="bootstrap", **options)
    assert sampled.interval == "bootstrap"
    assert np.array_equal(sampled.pvalues, comparison.pvalues)
    bootstrap = {"n_resamples": 9999, "confidence_level": confidence}
    for i, (a, b) in enumerate(comparison.pairs):
        apart = comparison.expected[:, a] - comparison.expected[:, b]
        apart = np.sort(apart[~np.isnan(apart)])
        t = stats.ttest_1samp(apart, 0).confidence_interval(confidence)
        assert comparison.difference_interval[i] == pytest.approx([*t])
        rng = np.random.default_rng(0)
        bca = stats.bootstrap((apart,), np.mean, rng=rng, **bootstrap)
        expected = [*bca.confidence_interval]
        # scipy draws the same samples in other batches
        tolerance = (t[1] - t[0]) / 20
        ends = sampled.difference_interval[i]
        assert ends == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("interval", "head"), [("t", "±80%"), ("bootstrap", "80% int")]
)
def test_p_values_do_not_give_way_to_the_column_of_intervals(interval, head):
    comparison = compare(measure="ap", confidence=0.8, interval=interval)
    pairs = comparison._tables()[1]
    heads = [column.head for column in pairs.columns]
    assert head in " ".join(heads)
    fitted = [column.head for column in pairs.fitted().columns]
    assert {"pvalue", "holm"} < set(fitted)


def test_geometric_means_are_compared_by_their_ratio():
    comparison = compare(measure="ap", average="geometric", correction=None)
    summary = comparison.summary()
    logs = np.log(np.maximum(comparison.expected, 1e-5))
    for i, (a, b) in enumerate(comparison.pairs.tolist()):
        ratio = Fraction(summary.mean[a]) / Fraction(summary.mean[b])
        assert comparison.difference[i] == pytest.approx(float(ratio), rel=1e-13)
        test = stats.ttest_rel(logs[:, a], logs[:, b])
        assert comparison.pvalues[i] == pytest.approx(test.pvalue)
        ends = np.exp([*test.confidence_interval()])
        assert comparison.difference_interval[i] == pytest.approx(ends)
        least = summary.worst[a] / summary.best[b]
        largest = summary.best[a] / summary.worst[b]
        assert comparison.tie_range[i] == pytest.approx([least, largest])
        assert comparison.same_sign[i] == (least > 1 or largest < 1)


def test_the_summary_of_geometric_means_is_that_of_the_reports():
    comparison = compare(measure="ap", average="geometric", correction=None)
    summary = comparison.summary()
    summaries = [report.summary("geometric") for report in reports_by("ap")]
    for name in ("mean", "worst", "best", "chance", "interval"):
        values = [getattr(expected, name)[0] for expected in summaries]
        np.testing.assert_allclose(getattr(summary, name), values, rtol=1e-14)
    assert np.isnan(summary.tie_std).all()
    assert np.isnan(comparison.tie_std).all()


def test_geometric_means_in_print():
    comparison = compare(measure="ap", average="geometric", correction=None)
    _, pairs, text = str(comparison).split("\n\n")
    assert text.replace("\n", " ") == " ".join(comparison._conclusion())
    assert "A / B" in pairs.splitlines()[0]
    with pytest.raises(
        ValueError, match=r"average must be 'macro' for .*, got 'geometric'"
    ):
        comparison.queries_needed(0.05)


def test_a_value_of_zero_is_one_in_a_hundred_thousand():
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    systems = {"a": [2, 1, 2, 1], "b": [2, 1, -math.inf, 1]}
    comparison = compare_systems(y, systems, qid=qid, measure="rr", average="geometric")
    # 1 and 1 against 1 and 0
    assert comparison.difference[0] == pytest.approx(math.sqrt(1e5))
    assert "the geometric mean of RR, a has the highest value" in str(comparison)


RECIPROCAL_RANKS = np.array([[1, 1 / 2], [1 / 2, 1 / 3], [1 / 3, 1], [1, 1 / 4]])


def systems_with(reciprocal_ranks):
    """Scores of four documents a query, of which the first is relevant."""
    systems = {}
    for name, column in zip("ab", reciprocal_ranks.T, strict=True):
        scores = []
        for value in column:
            above = round(1 / value) - 1
            scores += [0] + [1] * above + [-1] * (3 - above)
        systems[name] = np.array(scores)
    return systems


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_medians_are_compared_by_a_bootstrap(alternative):
    rr = RECIPROCAL_RANKS
    y, qid = np.tile([1, 0, 0, 0], 4), np.repeat(range(4), 4)
    systems = systems_with(rr)
    options = {"measure": "rr", "average": "median", "n_resamples": 20_000}
    options["alternative"] = alternative
    comparison = compare_systems(y, systems, qid=qid, **options)
    assert comparison.test == "bootstrap"
    assert comparison.interval == "bootstrap"
    assert comparison.average == "median"
    assert comparison.expected == pytest.approx(rr)
    medians = np.median(rr, axis=0)
    assert comparison.summary().mean == pytest.approx(medians)
    assert comparison.difference[0] == pytest.approx(medians[0] - medians[1])
    # all samples of four queries, by enumeration
    samples = np.array([*itertools.product(range(4), repeat=4)])
    a, b = np.median(rr[samples], axis=1).T
    apart = a - b
    less = (apart >= -1e-12).mean()
    greater = (apart <= 1e-12).mean()
    two_sided = min(1, 2 * min(less, greater))
    expected = {"less": less, "greater": greater, "two-sided": two_sided}
    assert comparison.pvalues[0] == pytest.approx(expected[alternative], abs=0.02)
    ends = np.quantile(apart, [0.025, 0.975])
    assert comparison.difference_interval[0] == pytest.approx(ends, abs=0.05)
    turned = {name: scores[::-1] for name, scores in systems.items()}
    again = compare_systems(y[::-1], turned, qid=qid[::-1], **options)
    assert again.pvalues == comparison.pvalues


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_medians_of_a_single_query_are_not_tested(alternative):
    systems = {"a": [1, 2], "b": [2, 1]}
    options = {"average": "median", "alternative": alternative, "measure": "rr"}
    comparison = compare_systems([1, 0], systems, qid=[1, 1], **options)
    assert np.isnan(comparison.pvalues).all()


def test_medians_of_a_pair_do_not_depend_on_other_systems():
    options = {"average": "median", "n_resamples": 99, "measure": "esl"}
    # ESL is undefined where a system retrieves nothing relevant
    none = np.where(WEB.qid % 3 == 0, -math.inf, SYSTEMS[NAMES[0]])
    systems = SYSTEMS | {"none": none}
    whole = compare(systems, **options)
    for i, (a, b) in enumerate(whole.pairs):
        names = whole.systems[a], whole.systems[b]
        alone = compare({name: systems[name] for name in names}, **options)
        assert whole.pvalues[i] == alone.pvalues[0]
        assert (whole.difference_interval[i] == alone.difference_interval[0]).all()


def pvalues_with(random_state):
    options = {"test": "randomization", "n_resamples": 99}
    return compare(random_state=random_state, **options).pvalues.tolist()


def test_random_states():
    pvalues = pvalues_with(1)
    assert pvalues_with(np.int64(1)) == pvalues
    assert pvalues_with(2) != pvalues
    state = np.random.RandomState(1)
    same_state = np.random.RandomState(1)
    assert pvalues_with(state) == pvalues_with(same_state)
    assert np.isfinite(pvalues_with(None)).all()


LABELS_OF_FOUR = [1, 0, 0] * 4
QID_OF_FOUR = np.repeat(range(4), 3)
UP, DOWN = [1, 2, 3], [3, 2, 1]
A = [*UP, *UP, *DOWN, *DOWN]
ABSENT = [-math.inf] * 12


def test_queries_undefined_for_a_system_are_left_out():
    systems = {"a": A, "b": [2, 1, 3] * 2 + [-math.inf] * 6}
    options = {"qid": QID_OF_FOUR, "measure": "esl"}
    comparison = compare_systems(LABELS_OF_FOUR, systems, **options)
    assert comparison.difference[0] == 1
    assert comparison.n_queries[0] == 2


def test_a_system_that_retrieves_nothing_is_not_tested():
    systems = {"a": A, "b": ABSENT}
    options = {"qid": QID_OF_FOUR, "measure": "esl"}
    with pytest.warns(UndefinedMetricWarning, match="ESL is undefined for every"):
        comparison = compare_systems(LABELS_OF_FOUR, systems, **options)
    assert np.isnan(comparison.pvalues[0])
    assert math.isnan(comparison.summary().mean[1])


def test_a_single_query_is_not_tested():
    systems = {"a": A, "b": [2, 1, 3] * 2 + [-math.inf] * 6}
    with pytest.warns(UserWarning, match=r"without qid, all 12 rows .* pass qid"):
        comparison = compare_systems(LABELS_OF_FOUR, systems)
    assert np.isnan(comparison.pvalues).all()
    # one query on purpose, or nothing to test
    on_purpose = compare_systems(LABELS_OF_FOUR, systems, qid=[1] * 12)
    assert on_purpose.n_queries.tolist() == [1]
    compare_systems(LABELS_OF_FOUR, A)


TUKEY = {"correction": "tukey"}


BAD_OPTIONS = [
    ({"test": "z"}, "test must be one of"),
    ({"correction": "x"}, "correction must be one of"),
    ({"alternative": "x"}, "alternative must be one of"),
    ({"interval": "x"}, "interval must be one of"),
    (TUKEY | {"test": "wilcoxon"}, "test must be 't' .*tukey.*'wilcoxon'"),
    (TUKEY | {"alternative": "less"}, "alternative 'two-sided' .*'less'"),
    (TUKEY | {"baseline": "a"}, "baseline must be None .*'a'"),
    ({"average": "micro"}, "average must be one of .* got 'micro'"),
    ({"average": "median", "test": "wilcoxon"}, "test must be .* 't' .*'wilcoxon'"),
    (TUKEY | {"average": "median"}, "average must not be 'median'"),
    ({"interval": "bootstrap", "n_resamples": 1}, "n_resamples .*>= 2"),
    ({"n_resamples": 0}, "n_resamples must be an integer >= 1"),
    ({"confidence": 1}, r"confidence must be .*\(0, 1\), got 1"),
    ({"random_state": -1}, "random_state must be an integer from 0"),
    ({"random_state": "x"}, "random_state must be an integer from 0"),
    ({"baseline": ["a", "a"]}, "baseline .*once, got 'a' twice"),
    ({"baseline": []}, "baseline must not be empty"),
    ({"baseline": "a"}, r"baseline must leave .* got \['a'\]"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 0], {"a": [1, 2, 3]}, **options)


def test_the_error_of_an_unknown_baseline_names_the_systems():
    message = r"baseline .*\('system 0', 'system 1'\), got 'bm25'"
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 0], np.ones((3, 2)), baseline="bm25")


BAD_SCORES = [
    ({}, "y_score must contain at least one system"),
    (np.zeros((3, 0)), "y_score must contain at least one system"),
    (5, r"y_score must map .*, got shape \(\)"),
    ([[[1]]], r"y_score must map .* got shape \(1, 1, 1\)"),
    ([[1], [1, 2]], "y_score must be an array"),
    ([1, 2], "y_score must have one value per row"),
    ({"a": [1, 2]}, r"y_score\['a'\] must have one value per row"),
    ({"a": 5}, r"y_score\['a'\] must be 1-dimensional"),
    ({1: [1, 2, 3], "1": [1, 2, 3]}, r"for each system, got \('1', '1'\)"),
    ({"a": [1, 2, math.nan]}, r"y_score\['a'\] must not be NaN"),
]


@pytest.mark.parametrize(("scores", "message"), BAD_SCORES)
def test_scores_that_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 0], scores)


def compare_with_ties(ties):
    systems = {"a": [2, 1, 1, 3, 3, 1], "b": [1, 1, 1, 1, 2, 3]}
    options = {"qid": [1, 1, 1, 2, 2, 2], "measure": "ap"}
    options["external"] = {"id": list("abcdef"), "kind": list("aabaab")}
    return compare_systems([1, 0, 0, 1, 0, 2], systems, ties=ties, **options)


@pytest.mark.parametrize("ties", ["best", "input", "id"])
def test_a_treatment_without_ties_has_one_order(ties):
    comparison = compare_with_ties(ties)
    assert comparison.tie_std.tolist() == [0.0]
    difference = comparison.difference[0]
    assert comparison.tie_range[0].tolist() == [difference, difference]


def test_ranges_are_of_the_orders_that_a_treatment_leaves_open():
    comparison = compare_with_ties("kind")
    assert comparison.tie_std[0] > 0
    page = comparison.to_html()
    assert "order of ties that the treatment leaves open" in page


def test_each_comparison_is_the_one_asked_for_alone():
    for measure, ties in itertools.product(MEASURES, TIES):
        alone = compare(measure=measure, ties=ties, **OPTIONS)
        assert_same(SEVERAL[measure, ties], alone)
    # by any name of the measure
    by_another = SEVERAL["recip_rank", "official"]
    assert str(by_another) == str(SEVERAL["RR", "official"])
    for key in ("rr", ("foo", "official"), ("rr", "official", 1), (None, "official")):
        with pytest.raises(KeyError, match="is not one of"):
            SEVERAL[key]
    with pytest.raises(KeyError, match=r"'x'\) is not one of \[\('RR', 'official'\)"):
        SEVERAL["RR", "x"]


def texts(*columns):
    """The rows of some columns."""
    rows = zip(*columns, strict=True)
    return [tuple(map(str, row)) for row in rows]


def cells(table, *heads):
    values = {column.head: column.values for column in table.columns}
    columns = [values[head] for head in heads]
    return texts(*columns)


def test_treatments_one_below_the_other():
    systems, pairs = _text.systems_and_pairs(SEVERAL)
    means = SEVERAL.summary().to_pandas()
    for head in ("measure", "ties", "system", "mean", "worst", "best"):
        assert cells(systems, head) == texts(means[head])
    frame = SEVERAL.to_pandas()
    for head in ("measure", "ties"):
        assert cells(pairs, head) == texts(frame[head])
    assert cells(pairs, "A", "B") == texts(frame.a, frame.b)
    assert cells(pairs, "A - B") == texts(frame.difference)
    assert cells(pairs, "holm") == texts(frame.adjusted_pvalue)
    same = frame.same_sign.map({True: "yes", False: "no"})
    assert cells(pairs, "same sign") == texts(same)
    for table in (systems, pairs):
        assert "broken by the rule official" in table.meaning("official")
        assert "least favourable" in table.meaning("worst")


def test_a_treatment_is_named_unless_it_is_the_exact_mean():
    assert "ties:" not in str(ONE)
    official = SEVERAL["AP", "official"]
    assert "\nties: official\nmean and its 95% interval; >: " in str(official)
    assert "ties: official" in official.summary()._repr_html_()


def test_measures_of_a_single_treatment_one_below_the_other():
    comparison = compare(measure=[*MEASURES], baseline=NAMES[1])
    systems, pairs = _text.systems_and_pairs(comparison)
    assert cells(systems, "measure", "system")[4] == ("AP", NAMES[0])
    expected = []
    for measure in MEASURES:
        for name in (NAMES[0], NAMES[2], NAMES[3]):
            expected.append((measure, name, NAMES[1]))
    assert cells(pairs, "measure", "A", "B") == expected


def select_rows(frame, comparison):
    """The rows of a frame that belong to a measure and a treatment of ties."""
    is_measure = frame["measure"] == comparison.measures[0]
    is_treatment = frame["ties"] == comparison.ties[0]
    return frame[is_measure & is_treatment].reset_index(drop=True)


def test_frames_of_all_measures_and_treatments():
    frame = SEVERAL.to_pandas()
    means = SEVERAL.summary().to_pandas()
    assert len(means) == len(SEVERAL) * len(SYSTEMS)
    assert len(means) == len(SEVERAL.summary())
    by_query = SEVERAL.by_query()
    for comparison in SEVERAL:
        pairs = select_rows(frame, comparison)
        assert pairs["difference"].tolist() == comparison.difference.tolist()
        assert pairs["b"].tolist() == [NAMES[b] for b in comparison.pairs[:, 1]]
        for name in ("tie_range", "difference_interval"):
            columns = pairs[[f"{name}_low", f"{name}_high"]]
            assert np.array_equal(columns, getattr(comparison, name))
        systems = select_rows(means, comparison)
        assert systems["system"].tolist() == NAMES
        summary = comparison.summary()
        for name in ("tie_std", "worst"):
            assert systems[name].tolist() == getattr(summary, name).tolist()
        queries = select_rows(by_query, comparison)
        assert queries.equals(comparison.by_query())


def test_the_frame_of_queries():
    frame = ONE.by_query()
    columns = ["qid", "expected", "best", "worst", "std", "chance"]
    assert sorted(frame.columns) == sorted(["measure", "ties", "system", *columns])
    for name, report in zip(SYSTEMS, reports_by("ap"), strict=True):
        of_system = frame[frame.system == name]
        expected = report.to_pandas()
        for column in columns:
            assert of_system[column].tolist() == expected[column].tolist(), column


def compare_without_spread(**options):
    """In all three queries, a has 1 and b has 1/2."""
    systems = {"a": [2, 1, 2, 1, 2, 1], "b": [1, 2, 1, 2, 1, 2]}
    measures = ["rr", "p@1", "dcg"]
    options |= {"qid": [1, 1, 2, 2, 3, 3], "measure": measures}
    message = r"query of a - b by RR, a - b by P@1, a - b by DCG do not vary, "
    with pytest.warns(UserWarning, match=message) as warnings:
        comparison = compare_systems([1, 0, 1, 0, 1, 0], systems, **options)
    assert len(warnings) == 1
    return comparison


@pytest.mark.parametrize("options", [
    {},
    {"query_weight": [0.5] * 6},
    {"test": "randomization"},
    {"test": "wilcoxon"},
    TUKEY,
])  # fmt: skip
def test_without_spread_the_t_test_says_what_signs_say(options):
    comparison = compare_without_spread(**options)
    assert comparison.pvalues.tolist() == [2 / 2**3] * 3
    assert np.isnan(comparison.effect).all()


@pytest.mark.parametrize("interval", ["t", "bootstrap"])
def test_without_spread_the_interval_is_that_of_a_share_at_its_bound(interval):
    comparison = compare_without_spread(interval=interval)
    # at the largest difference of P@1, what is known of the share of such queries
    low = 2 * 0.025 ** (1 / 3) - 1
    unknown = [np.nan, np.nan]
    ends = [unknown, [low, 1], unknown]
    np.testing.assert_allclose(comparison.difference_interval, ends)


def test_without_spread_the_intervals_of_means_are_those_of_shares():
    summary = compare_without_spread().summary()
    low = 0.025 ** (1 / 3)
    np.testing.assert_allclose(summary.interval[2:4], [[low, 1], [0, 1 - low]])


def test_tukeys_test_is_warned_of_unequal_spreads():
    message = (
        "correction='tukey' assumes equal deviations and may reject too often: use"
    )
    with pytest.warns(UserWarning, match=f"{message} 'h"):
        leads_of(correction="tukey")


def test_tukeys_test_does_not_warn_of_equal_spreads():
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 3, 400), np.repeat(range(40), 10)
    systems = dict(zip("abc", rng.normal(size=(3, 400)), strict=True))
    equal = dict.fromkeys("abc", systems["a"])
    # a warning would be an error
    for similar in (systems, equal, {"a": systems["a"]}):
        compare_systems(labels, similar, qid=qid, correction="tukey")
    leads_of(correction="holm")


@pytest.mark.parametrize(("options", "note"), [
    ({}, "holm: corrected for the 3 pairs"),
    ({"baseline": "c", "correction": "bh"}, "bh: corrected for the 2 pairs"),
    ({"correction": None}, "pvalue: not corrected for the 3 pairs"),
    ({"measure": ["ap", "rr"]},
     "holm: corrected for the 3 pairs, not corrected for the 2 measures"),
    ({"measure": ["ap", "rr"], "correction": None},
     "pvalue: not corrected for the 3 pairs, not corrected for the 2 measures"),
    ({"ties": ["expected", "worst"]},
     "holm: corrected for the 3 pairs, not corrected for the 2 treatments of ties"),
])  # fmt: skip
def test_a_note_says_over_what_p_values_are_corrected(options, note):
    comparison = leads_of(**options)
    assert f"\n{note}\n" in str(comparison)
    assert note in comparison.to_html()


def test_a_note_says_that_two_systems_are_not_corrected_for_measures():
    two = {name: SYSTEMS[name] for name in NAMES[:2]}
    text = str(compare(two, measure=["ap", "rr", "p@5", "ndcg@10", "rbp"]))
    assert "pvalue: not corrected for the 5 measures" in text
    assert "corrected" not in str(compare(two))


def test_queries_needed_in_each_segment():
    segment = WEB.qid % 2
    comparison = compare(SYSTEMS, segment=segment)
    plan = comparison.queries_needed(0.05, by_segment=True)
    n_pairs = len(comparison.pairs)
    assert plan.segment.tolist() == [0] * n_pairs + [1] * n_pairs
    for part in (0, 1):
        rows = segment == part
        scores = {name: values[rows] for name, values in SYSTEMS.items()}
        alone = compare_systems(WEB.target[rows], scores, qid=WEB.qid[rows])
        expected = alone.queries_needed(0.05)
        pairs = plan.segment == part
        for name in ("std", "queries_needed", "detectable", "n_queries"):
            values = getattr(plan, name)[pairs]
            assert values.tolist() == getattr(expected, name).tolist()
    with pytest.raises(
        ValueError, match="segment must be given when systems are compared, g"
    ):
        compare(SYSTEMS).queries_needed(0.05, by_segment=True)


def test_the_page_says_what_a_difference_would_take():
    comparison = compare({"a": SYSTEMS["clicks"], "b": SYSTEMS["in_degree"]})
    tables = {table.title: table for table in comparison._whole()}
    (title,) = (title for title in tables if title.startswith("Queries needed"))
    columns = [list(column.values) for column in tables[title].columns]
    best = comparison.summary().mean.max()
    for share, column in zip((0.01, 0.02, 0.05), columns[2:5], strict=True):
        plan = comparison.queries_needed(share * best)
        assert column == plan.queries_needed.tolist()
    plan = comparison.queries_needed(1)
    assert columns[5] == plan.detectable.tolist()


def test_names_with_a_comma_are_quoted():
    systems = {"a, b": SYSTEMS["clicks"], "c": SYSTEMS["in_degree"]}
    assert 'By NDCG@10, "a, b" is ' in str(compare(systems))
