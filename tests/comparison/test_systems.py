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

from tests._engine.test_lists import alike
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
    return [
        evaluate(WEB.target, scores, qid=WEB.qid, measures=measure)
        for scores in SYSTEMS.values()
    ]


SEVERAL = compare(measure=[*MEASURES], ties=[*TIES], **OPTIONS)
ONE = SEVERAL["AP", "expected"]


def leads_of(noise=1e-3, **options):
    """The first sentence on a page: a and b nearly alike, both far better than c."""
    rng = np.random.default_rng(0)
    labels, qid = rng.integers(0, 3, 400), np.repeat(range(40), 10)
    a, apart, c = labels + rng.normal(0, 0.5, 400), *rng.normal(0, 1, (2, 400))
    systems = {"a": a, "b": a + noise * apart, "c": c}
    return compare_systems(labels, systems, qid=qid, **options)


@pytest.mark.parametrize("options", [
    {}, {"measure": "rank"}, {"average": "geometric"}, {"correction": "tukey"},
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:the differences by")
def test_the_headline_calls_better_what_is_shown_to_be(options):
    comparison = leads_of(**options)
    line, *pairs, largest = comparison._conclusion()
    mean = comparison.summary().mean
    lower = options.get("measure") == "rank"
    first = int(np.argmin(mean) if lower else np.argmax(mean))
    assert first < 2
    p = comparison.adjusted_pvalues[0]
    assert p > 0.05 or math.isnan(p)
    value = "value" if "average" in options else "mean"
    assert f"{'lowest' if lower else 'highest'} {value} " in line
    equal = rf"but is not shown to be better than {'ba'[first]}[;.]"
    assert re.search(equal, line)
    assert " is best" not in line
    assert len(pairs) == (0 if options.get("average") == "geometric" else 3)
    assert largest.startswith("The largest of several observed differences is probably")


def test_the_headline_of_a_system_that_beats_all_others():
    line, *_ = leads_of(noise=99)._conclusion()
    assert "a has the highest mean" in line
    assert "and is significantly better than each of the others" in line


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_the_headline_where_no_query_has_a_value():
    systems = {"a": [1, 2, 1, 2], "b": [2, 1, 1, 1], "c": [1, 1, 1, 1]}
    comparison = compare_systems(
        [0, 0, 0, 0], systems, qid=[1, 1, 2, 2], measure="ap", zero_relevance="skip"
    )
    assert "By AP, no system has a value; no difference is significant" in str(
        comparison
    )


def test_the_headline_with_a_baseline_is_of_what_was_compared():
    line, *pairs, _ = leads_of(baseline="c")._conclusion()
    assert [pair.split()[0] for pair in pairs] == ["a", "b"]
    assert "2 of 2 systems are significantly better than c, and 0 worse" in line
    assert "highest" not in line
    line, *_ = leads_of(baseline=["c", "a"])._conclusion()
    assert "than c, and 0 worse; 0 of 1 systems are significantly better than a" in line
    line, *_ = leads_of(baseline="a", measure="rank")._conclusion()
    assert "0 of 2 systems are significantly better than a, and 1 worse" in line


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5", "esl"])
def test_pairs_by_hand(measure):
    comparison = compare(measure=measure)
    reports = reports_by(measure)
    summaries = [report.summary() for report in reports]
    assert comparison.systems == tuple(SYSTEMS)
    assert [*map(tuple, comparison.pairs)] == [*itertools.combinations(range(4), 2)]
    for name in ("mean", "tie_std", "worst", "best", "chance"):
        each = [getattr(values_of, name)[0] for values_of in summaries]
        assert getattr(comparison.summary(), name).tolist() == each, name
    for i, (a, b) in enumerate(comparison.pairs.tolist()):
        both = [
            np.column_stack([getattr(reports[x], name)[:, 0] for x in (a, b)])
            for name in ("expected", "best", "worst")
        ]
        is_defined = ~np.isnan(both[0]).any(axis=1)
        values, *ends = (values_of[is_defined] for values_of in both)
        low = np.min(ends, axis=0)[:, 0] - np.max(ends, axis=0)[:, 1]
        high = np.max(ends, axis=0)[:, 0] - np.min(ends, axis=0)[:, 1]
        t, apart = stats.ttest_rel(*values.T), np.subtract(*values.T)
        spread = math.hypot(*(summaries[x].tie_std[0] for x in (a, b)))
        for own, expected in {
            "n_queries": is_defined.sum(),
            "difference": apart.mean(),
            "tie_range": [low.mean(), high.mean()],
            "same_sign": low.mean() > 0 or high.mean() < 0,
            "pvalues": t.pvalue,
            "statistic": t.statistic,
            "effect": t.statistic / math.sqrt(is_defined.sum()),
            # of ESL, summaries are over other queries
            "tie_std": spread if measure != "esl" else comparison.tie_std[i],
        }.items():
            assert getattr(comparison, own)[i] == pytest.approx(expected), own
    # the effect is of means, whatever the test
    for change in (
        {"test": "wilcoxon"},
        {"test": "randomization"},
        {"average": "median"},
    ):
        changed = compare(measure=measure, n_resamples=99, **change)
        assert changed.effect.tolist() == comparison.effect.tolist()


def test_kinds_of_input_agree():
    matrix = np.column_stack(list(SYSTEMS.values()))
    by_name, frame, array = map(compare, (SYSTEMS, pd.DataFrame(SYSTEMS), matrix))
    assert np.array_equal(by_name.pvalues, frame.pvalues)
    assert np.array_equal(by_name.pvalues, array.pvalues)
    assert array.systems == tuple(f"system {j}" for j in range(4))
    means, pairs, message = str(by_name).split("\n\n")
    assert len(means.splitlines()) == 2 + 4 + 2
    notes = pairs.splitlines()[2 + 6 :]
    assert [note.split(" ")[0] for note in notes] == ["holm:", "no"]
    assert message.startswith("By NDCG@10, clicks has ")
    # one system has no pairs
    column = matrix[:, 0]
    alone = compare(column, correction="tukey")
    named = compare(pd.Series(column, name="mine"))
    assert (alone.systems, named.systems) == (("scores",), ("mine",))
    assert np.array_equal(named.expected, compare(column[:, None]).expected)
    assert alone.to_pandas().empty
    assert "A - B" not in str(alone)
    assert str(compare({"a": column}, ties=["best"])).endswith("ties: best")
    # and one compared with itself no difference
    twice = compare({"a": column, "b": column})
    assert (twice.difference[0], twice.pvalues[0], twice.effect[0]) == (0, 1, 0)
    assert not twice.same_sign[0]


def test_a_baseline_and_the_systems_compared_with_it():
    whole = compare(correction=None)
    comparison = compare(baseline=NAMES[1])
    assert (whole.baselines, comparison.baselines) == ((), (NAMES[1],))
    assert comparison.pairs.tolist() == [[0, 1], [2, 1], [3, 1]]
    for i, (a, b) in enumerate(comparison.pairs.tolist()):
        j = whole.pairs.tolist().index(sorted([a, b]))
        sign = 1 if a < b else -1
        assert comparison.difference[i] == sign * whole.difference[j]
        assert sorted(sign * comparison.tie_range[i]) == sorted(whole.tie_range[j])
        assert comparison.pvalues[i] == whole.pvalues[j]
    # Holm over these three pairs only
    ascending = sorted(comparison.pvalues.tolist())
    stepped = [p * (3 - i) for i, p in enumerate(ascending)]
    holm = [min(1, max(stepped[: i + 1])) for i in range(3)]
    assert sorted(comparison.adjusted_pvalues.tolist()) == pytest.approx(holm)
    several = compare(baseline=[NAMES[3], NAMES[0]])
    assert several.baselines == (NAMES[3], NAMES[0])
    assert several.pairs.tolist() == [[1, 3], [2, 3], [1, 0], [2, 0]]
    # Tukey's correction is over all pairs
    comparison = compare(correction="tukey")
    assert np.array_equal(comparison.pvalues, whole.pvalues)
    wanted, ends = tukey_test(comparison.expected, comparison.pairs, 0.95)
    assert comparison.adjusted_pvalues.tolist() == wanted.tolist()
    assert np.array_equal(comparison.difference_interval, ends)
    assert "tukey" in str(comparison)
    # of one query
    assert (
        tukey_test(comparison.expected[:1], comparison.pairs, 0.95)[1].shape
        == ends.shape
    )


@pytest.mark.filterwarnings("ignore:the differences by")
def test_intervals_that_are_not_corrected_say_so_and_tukeys_are():
    message = "not corrected for the number of pairs"
    columns = dict(zip("abc", SYSTEMS.values(), strict=False))
    for options in ({}, {"interval": "bootstrap", "n_resamples": 9}):
        comparison = compare(columns, **options)
        # below the pairs, where the column has room, and in what a page says of it
        assert str(comparison).count(message) == ("95%" in str(comparison))
        assert message in comparison.to_html()
    assert message in str(compare(columns, correction=None))
    tukey = compare(correction="tukey")
    assert message not in str(tukey)
    # 0 is inside where the test says no
    logs = compare(correction="tukey", average="geometric")
    for comparison, same in ((tukey, 0), (logs, 1)):
        low, high = comparison.difference_interval.T
        equal = (low <= same) & (high >= same)
        assert np.array_equal(equal, comparison.adjusted_pvalues > 0.05)
    two = {name: SYSTEMS[name] for name in NAMES[:2]}
    assert message not in str(compare(two))


@pytest.mark.parametrize(("measure", "confidence"), [("ap", 0.8), ("esl", 0.95)])
def test_intervals_of_the_difference(measure, confidence):
    options = {"measure": measure, "confidence": confidence}
    comparison = compare(**options)
    sampled = compare(interval="bootstrap", **options)
    assert (comparison.interval, sampled.interval) == ("t", "bootstrap")
    for i, pair in enumerate(comparison.pairs):
        apart = comparison.expected[:, pair[0]] - comparison.expected[:, pair[1]]
        apart = apart[~np.isnan(apart)]
        t = stats.ttest_1samp(apart, 0).confidence_interval(confidence)
        assert comparison.difference_interval[i] == pytest.approx([*t])
        bca = stats.bootstrap(
            (np.sort(apart),), np.mean, n_resamples=9999, confidence_level=confidence,
            rng=np.random.default_rng(0),
        ).confidence_interval  # fmt: skip
        # scipy draws the same samples in other batches
        wide = t[1] - t[0]
        assert sampled.difference_interval[i] == pytest.approx([*bca], abs=wide / 20)
    assert np.array_equal(sampled.pvalues, comparison.pvalues)
    level = f"{confidence:.0%}"
    for report, head in ((comparison, f"±{level}"), (sampled, f"{level} int")):
        pairs = report._tables()[1]
        assert head in " ".join(column.head for column in pairs.columns)
        # p-values do not give way to width
        fitted = [column.head for column in pairs.fitted().columns]
        assert {"pvalue", "holm"} < set(fitted)


def test_geometric_means_are_compared_by_their_ratio():
    comparison = compare(measure="ap", average="geometric", correction=None)
    summaries = [report.summary("geometric") for report in reports_by("ap")]
    summary = comparison.summary()
    for name in ("mean", "worst", "best", "chance", "interval"):
        each = [getattr(summary_of, name)[0] for summary_of in summaries]
        np.testing.assert_allclose(getattr(summary, name), each, rtol=1e-14)
    assert np.isnan([*summary.tie_std, *comparison.tie_std]).all()
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
    _, pairs, message = str(comparison).split("\n\n")
    assert message.replace("\n", " ") == " ".join(comparison._conclusion())
    assert "A / B" in pairs.splitlines()[0]
    with pytest.raises(ValueError, match="average must be 'macro', got 'geometric'"):
        comparison.queries_needed(0.05)


def test_a_value_of_zero_is_one_in_a_hundred_thousand():
    y, qid = [1, 0, 1, 0], [1, 1, 2, 2]
    systems = {"a": [2, 1, 2, 1], "b": [2, 1, -math.inf, 1]}
    comparison = compare_systems(y, systems, qid=qid, measure="rr", average="geometric")
    # 1 and 1 against 1 and 0
    assert comparison.difference[0] == pytest.approx(math.sqrt(1e5))
    assert "the geometric mean of RR, a has the highest value" in str(comparison)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_medians_are_compared_by_a_bootstrap(alternative):
    # all samples of four queries, by enumeration
    rr = np.array([[1, 1 / 2], [1 / 2, 1 / 3], [1 / 3, 1], [1, 1 / 4]])
    y, qid, systems = np.tile([1, 0, 0, 0], 4), np.repeat(range(4), 4), {}
    for name, column in zip("ab", rr.T, strict=True):
        above = [round(1 / value) - 1 for value in column]
        systems[name] = np.ravel([[0] + [1] * n + [-1] * (3 - n) for n in above])
    options = {"measure": "rr", "average": "median", "n_resamples": 20_000}
    options["alternative"] = alternative
    comparison = compare_systems(y, systems, qid=qid, **options)
    assert comparison.expected == pytest.approx(rr)
    samples = np.array([*itertools.product(range(4), repeat=4)])
    apart = np.median(rr[samples, 0], axis=1) - np.median(rr[samples, 1], axis=1)
    less, greater = (apart >= -1e-12).mean(), (apart <= 1e-12).mean()
    wanted = {"less": less, "greater": greater}
    wanted = wanted.get(alternative, 2 * min(less, greater))
    assert comparison.pvalues[0] == pytest.approx(min(wanted, 1), abs=0.02)
    medians = np.median(rr, axis=0)
    assert comparison.summary().mean == pytest.approx(medians)
    assert comparison.difference[0] == pytest.approx(medians[0] - medians[1])
    ends = np.quantile(apart, [0.025, 0.975])
    assert comparison.difference_interval[0] == pytest.approx(ends, abs=0.05)
    assert (comparison.test, comparison.interval, comparison.average) == (
        *["bootstrap"] * 2,
        "median",
    )
    turned = {name: own[::-1] for name, own in systems.items()}
    again = compare_systems(y[::-1], turned, qid=qid[::-1], **options)
    assert again.pvalues == comparison.pvalues
    single = compare_systems([1, 0], {"a": [1, 2], "b": [2, 1]}, qid=[1, 1], **options)
    assert np.isnan(single.pvalues).all()


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


def test_random_states():
    def pvalues(random_state):
        comparison = compare(
            test="randomization", n_resamples=99, random_state=random_state
        )
        return comparison.pvalues.tolist()

    assert pvalues(1) == pvalues(np.int64(1)) != pvalues(2)
    assert pvalues(np.random.RandomState(1)) == pvalues(np.random.RandomState(1))
    assert np.isfinite(pvalues(None)).all()


def test_undefined_systems():
    labels, qid = [1, 0, 0] * 4, np.repeat(range(4), 3)
    systems = {"a": [1, 2, 3] * 2 + [3, 2, 1] * 2, "b": [2, 1, 3] * 2 + [-math.inf] * 6}
    comparison = compare_systems(labels, systems, qid=qid, measure="esl")
    assert (comparison.difference[0], comparison.n_queries[0]) == (1, 2)
    nothing = {"a": systems["a"], "b": [-math.inf] * 12}
    with pytest.warns(UndefinedMetricWarning, match="ESL is undefined for every"):
        comparison = compare_systems(labels, nothing, qid=qid, measure="esl")
    assert np.isnan(comparison.pvalues[0])
    assert math.isnan(comparison.summary().mean[1])
    with pytest.warns(UserWarning, match=r"without qid, all 12 rows .* pass qid"):
        assert np.isnan(compare_systems(labels, systems).pvalues).all()
    # one query on purpose, or nothing to test
    report = compare_systems(labels, systems, qid=[1] * 12)
    assert report.n_queries.tolist() == [1]
    compare_systems(labels, systems["a"])


TUKEY = {"correction": "tukey"}


BAD_INPUT = [
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
    (
        {"y_score": np.ones((3, 2)), "baseline": "bm25"},
        r"baseline .*\('system 0', 'system 1'\), got 'bm25'",
    ),
    ({"baseline": ["a", "a"]}, "baseline .*once, got 'a' twice"),
    ({"baseline": []}, "baseline must not be empty"),
    ({"baseline": "a"}, r"baseline must leave .* got \['a'\]"),
    ({"y_score": {}}, "y_score must hold at least one system"),
    ({"y_score": np.zeros((3, 0))}, "y_score must hold at least one system"),
    ({"y_score": 5}, r"y_score must be a mapping .*, got shape \(\)"),
    ({"y_score": [[[1]]]}, r"y_score must be a mapping .* got shape \(1, 1, 1\)"),
    ({"y_score": [[1], [1, 2]]}, "y_score must be an array"),
    ({"y_score": [1, 2]}, "y_score must have one value per row"),
    ({"y_score": {"a": [1, 2]}}, r"y_score\['a'\] must have one value per row"),
    ({"y_score": {"a": 5}}, r"y_score\['a'\] must be 1-dimensional"),
    ({"y_score": {1: [1, 2, 3], "1": [1, 2, 3]}}, r"for each system, got \('1', '1'\)"),
    ({"y_score": {"a": [1, 2, math.nan]}}, r"y_score\['a'\] must not be NaN"),
]


@pytest.mark.parametrize(("options", "message"), BAD_INPUT)
def test_bad_input(options, message):
    options = {"y_score": {"a": [1, 2, 3]}} | options
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 0], **options)


def test_ranges_are_of_the_orders_that_a_treatment_leaves_open():
    systems = {"a": [2, 1, 1, 3, 3, 1], "b": [1, 1, 1, 1, 2, 3]}
    options = {"external": {"id": list("abcdef"), "kind": list("aabaab")}}
    options |= {"qid": [1, 1, 1, 2, 2, 2], "measure": "ap"}

    def compared(ties):
        return compare_systems([1, 0, 0, 1, 0, 2], systems, ties=ties, **options)

    # a rule without ties has one order
    for ties in ("best", "input", "id"):
        comparison = compared(ties)
        assert comparison.tie_std.tolist() == [0.0]
        assert comparison.tie_range[0].tolist() == [comparison.difference[0]] * 2
    assert compared("kind").tie_std[0] > 0
    assert "order of ties that the treatment leaves open" in compared("kind").to_html()


def test_each_comparison_is_the_one_asked_for_alone():
    for measure, ties in itertools.product(MEASURES, TIES):
        alone = compare(measure=measure, ties=ties, **OPTIONS)
        alike(SEVERAL[measure, ties], alone)
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
    return list(zip(*(map(str, column) for column in columns), strict=True))


def cells(table, *heads):
    named = {column.head: column.values for column in table.columns}
    return texts(*(named[head] for head in heads))


def test_treatments_one_below_the_other():
    systems, pairs = _text.systems_and_pairs(SEVERAL)
    means, frame = SEVERAL.summary().to_pandas(), SEVERAL.to_pandas()
    for head in ("measure", "ties", "system", "mean", "worst", "best"):
        assert cells(systems, head) == texts(means[head])
    heads = ["measure", "ties", "A", "B", "A - B", "holm"]
    names = ["measure", "ties", "a", "b", "difference", "adjusted_pvalue"]
    assert cells(pairs, *heads) == texts(*(frame[name] for name in names))
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
    # of one treatment, the measures below one another
    few = compare(measure=[*MEASURES], baseline=NAMES[1])
    systems, pairs = _text.systems_and_pairs(few)
    assert cells(systems, "measure", "system")[4] == ("AP", NAMES[0])
    others_of = [name for name in NAMES if name != NAMES[1]]
    expected_rows = [
        (*pair, NAMES[1]) for pair in itertools.product(MEASURES, others_of)
    ]
    assert cells(pairs, "measure", "A", "B") == expected_rows


def test_everything_as_a_data_frame():
    frame, means = SEVERAL.to_pandas(), SEVERAL.summary().to_pandas()
    whole = SEVERAL.by_query()
    assert len(means) == len(SEVERAL.summary()) == len(SEVERAL) * len(SYSTEMS)
    for single in SEVERAL:
        at = {"measure": single.measures[0], "ties": single.ties[0]}
        rows, own = (
            table[(table[[*at]] == at).all(axis=1)] for table in (frame, means)
        )
        assert rows["difference"].tolist() == single.difference.tolist()
        assert rows["b"].tolist() == [NAMES[b] for b in single.pairs[:, 1]]
        for name in ("tie_range", "difference_interval"):
            columns = rows[[f"{name}_low", f"{name}_high"]]
            assert np.array_equal(columns, getattr(single, name))
        assert own["system"].tolist() == NAMES
        for name in ("tie_std", "worst"):
            assert own[name].tolist() == getattr(single.summary(), name).tolist()
        alone = whole[(whole[[*at]] == at).all(axis=1)].reset_index(drop=True)
        assert alone.equals(single.by_query())
    frame = ONE.by_query()
    columns = ["qid", "expected", "best", "worst", "std", "chance"]
    assert sorted(frame.columns) == sorted(["measure", "ties", "system", *columns])
    for name, report in zip(SYSTEMS, reports_by("ap"), strict=True):
        own, wanted = frame[frame.system == name], report.to_pandas()
        for column in columns:
            assert own[column].tolist() == wanted[column].tolist(), column


def test_without_spread_the_t_test_says_what_signs_say():
    a, b = [2, 1] * 3, [1, 2] * 3
    options = {"qid": [1, 1, 2, 2, 3, 3], "measure": ["rr", "p@1", "dcg"]}

    def warned(**more):
        message = r"query of a - b by RR, a - b by P@1, a - b by DCG are all equal: "
        with pytest.warns(UserWarning, match=message) as told:
            result = compare_systems([1, 0] * 3, {"a": a, "b": b}, **options, **more)
        assert len(told) == 1
        return result

    weighted = {"query_weight": [0.5] * 6}
    for more in ({}, weighted, {"test": "randomization"}, {"test": "wilcoxon"}, TUKEY):
        of_pair = warned(**more)
        assert of_pair.pvalues.tolist() == [2 / 2**3] * 3
        assert np.isnan(of_pair.effect).all()
    for interval in ("t", "bootstrap"):
        ends = warned(interval=interval).difference_interval
        # at the largest difference of P@1, what is known of the share of such queries
        expected = [[np.nan] * 2, [2 * 0.025 ** (1 / 3) - 1, 1], [np.nan] * 2]
        np.testing.assert_allclose(ends, expected)
    ends = warned().summary().interval[2:4]
    np.testing.assert_allclose(ends, [[0.025 ** (1 / 3), 1], [0, 1 - 0.025 ** (1 / 3)]])


def test_tukeys_test_is_warned_of_unequal_spreads():
    message = (
        "correction='tukey' takes them to be equal, and may reject too often: use 'h"
    )
    with pytest.warns(UserWarning, match=message):
        leads_of(correction="tukey")
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
    assert "pvalue: not corrected for the 5 measures" in str(
        compare(two, measure=["ap", "rr", "p@5", "ndcg@10", "rbp"])
    )
    assert "corrected" not in str(compare(two))


def test_queries_needed_in_each_segment():
    y, qid, segment = WEB.target, WEB.qid, WEB.qid % 2
    comparison = compare(SYSTEMS, segment=segment)
    plan = comparison.queries_needed(0.05, by_segment=True)
    n_pairs = len(comparison.pairs)
    assert plan.segment.tolist() == [0] * n_pairs + [1] * n_pairs
    for part in (0, 1):
        rows = segment == part
        scores = {name: values[rows] for name, values in SYSTEMS.items()}
        alone = compare_systems(y[rows], scores, qid=qid[rows]).queries_needed(0.05)
        at = slice(part * n_pairs, (part + 1) * n_pairs)
        for name in ("std", "queries_needed", "detectable", "n_queries"):
            assert getattr(plan, name)[at].tolist() == getattr(alone, name).tolist()
    with pytest.raises(ValueError, match="segment must be given to compare_systems, g"):
        compare(SYSTEMS).queries_needed(0.05, by_segment=True)


def test_the_page_says_what_a_difference_would_take():
    comparison = compare({"a": SYSTEMS["clicks"], "b": SYSTEMS["in_degree"]})
    table = next(t for t in comparison._whole() if t.title.startswith("Queries needed"))
    best = comparison.summary().mean.max()
    for share, column in zip((0.01, 0.02, 0.05), table.columns[2:5], strict=True):
        needed = comparison.queries_needed(share * best).queries_needed
        assert [*column.values] == needed.tolist()
    assert [*table.columns[5].values] == comparison.queries_needed(
        1
    ).detectable.tolist()


def test_names_with_a_comma_are_quoted():
    systems = {"a, b": SYSTEMS["clicks"], "c": SYSTEMS["in_degree"]}
    assert 'By NDCG@10, "a, b" is ' in str(compare(systems))
