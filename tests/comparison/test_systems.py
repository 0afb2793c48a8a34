"""Systems compared pair by pair."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tieaware_sklearn import evaluate
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=3)
CHOSEN = dict(zip(WEB.feature_names, WEB.data.T, strict=True))
SYSTEMS = {name: CHOSEN[name] for name in list(CHOSEN)[:4]}


@pytest.mark.parametrize("measure", ["ndcg@10", "fallout@5", "esl"])
def test_pairs_by_hand(measure):
    found = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure=measure)
    reports = [
        evaluate(WEB.target, scores, qid=WEB.qid, measures=measure)
        for scores in SYSTEMS.values()
    ]
    summaries = [report.summary() for report in reports]
    assert found.systems == tuple(SYSTEMS)
    assert found.pairs.tolist() == [
        list(p) for p in itertools.combinations(range(4), 2)
    ]
    assert found.summary().mean.tolist() == [s.mean[0] for s in summaries]
    assert found.summary().tie_std.tolist() == [s.tie_std[0] for s in summaries]
    for i, (a, b) in enumerate(found.pairs.tolist()):
        values = np.column_stack([reports[x].expected[:, 0] for x in (a, b)])
        there = ~np.isnan(values).any(axis=1)
        ends = np.stack(
            [
                np.column_stack([getattr(reports[x], n)[:, 0] for x in (a, b)])[there]
                for n in ("best", "worst")
            ]
        )
        low = ends.min(axis=0)[:, 0] - ends.max(axis=0)[:, 1]
        high = ends.max(axis=0)[:, 0] - ends.min(axis=0)[:, 1]
        t = stats.ttest_rel(*values[there].T)
        assert found.n_queries[i] == there.sum()
        assert found.difference[i] == pytest.approx(
            np.subtract(*values[there].T).mean()
        )
        least, most = found.tie_range[i]
        assert least == pytest.approx(low.mean())
        assert most == pytest.approx(high.mean())
        assert least <= found.difference[i] <= most
        assert found.survives[i] == (low.mean() > 0 or high.mean() < 0)
        assert found.pvalues[i] == pytest.approx(t.pvalue)
        assert found.statistic[i] == pytest.approx(t.statistic)
        assert found.effect[i] == pytest.approx(t.statistic / math.sqrt(there.sum()))
        if measure != "esl":
            spread = math.hypot(*(summaries[x].tie_std[0] for x in (a, b)))
            assert found.tie_std[i] == pytest.approx(spread)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_row_order_does_not_matter(test):
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(WEB.qid))
    options = {"test": test, "n_resamples": 199, "n_jobs": 2, "interval": "bootstrap"}
    shuffled = {name: column[rows] for name, column in SYSTEMS.items()}
    a = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, **options)
    b = compare_systems(WEB.target[rows], shuffled, qid=WEB.qid[rows], **options)
    names = ("difference", "tie_std", "tie_range", "pvalues", "adjusted_pvalues")
    for name in (*names, "effect", "difference_interval"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert set(b.qid.tolist()) == set(a.qid.tolist())


def test_kinds_of_input_agree():
    matrix = np.column_stack(list(SYSTEMS.values()))
    by_name = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid)
    frame = compare_systems(WEB.target, pd.DataFrame(SYSTEMS), qid=WEB.qid)
    array = compare_systems(WEB.target, matrix, qid=WEB.qid)
    assert np.array_equal(by_name.pvalues, frame.pvalues)
    assert np.array_equal(by_name.pvalues, array.pvalues)
    assert array.systems == tuple(f"system {j}" for j in range(4))
    table = by_name.to_pandas()
    assert table.loc[0, "b"] == by_name.systems[1]
    for name in ("tie_range", "difference_interval"):
        columns = table[[f"{name}_low", f"{name}_high"]]
        assert np.array_equal(columns, getattr(by_name, name))
    averages = by_name.summary().to_pandas()
    assert averages["system"].tolist() == list(by_name.systems)
    assert averages["worst"].tolist() == by_name.summary().worst.tolist()
    assert len(str(by_name).splitlines()) == 4 + 2 + 1 + 6 + 2
    alone = compare_systems(WEB.target, matrix[:, :1], qid=WEB.qid)
    assert len(alone.pairs) == 0
    one = compare_systems(WEB.target, matrix[:, 0], qid=WEB.qid)
    assert one.systems == ("scores",)
    assert np.array_equal(one.expected, alone.expected)
    assert "A - B" not in str(alone)


def test_a_baseline_and_the_systems_compared_with_it():
    names = list(SYSTEMS)
    every = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, correction=None)
    found = compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, baseline=names[1])
    assert every.baselines == ()
    assert found.baselines == (names[1],)
    assert found.pairs.tolist() == [[0, 1], [2, 1], [3, 1]]
    for i, (a, b) in enumerate(found.pairs.tolist()):
        j = every.pairs.tolist().index(sorted([a, b]))
        sign = 1 if a < b else -1
        assert found.difference[i] == sign * every.difference[j]
        assert sorted(sign * found.tie_range[i]) == sorted(every.tie_range[j])
        assert found.pvalues[i] == every.pvalues[j]
    # Holm over these three pairs only
    ascending = sorted(found.pvalues.tolist())
    stepped = [p * (3 - i) for i, p in enumerate(ascending)]
    holm = [min(1, max(stepped[: i + 1])) for i in range(3)]
    assert sorted(found.adjusted_pvalues.tolist()) == pytest.approx(holm)
    several = compare_systems(
        WEB.target, SYSTEMS, qid=WEB.qid, baseline=[names[3], names[0]]
    )
    assert several.baselines == (names[3], names[0])
    assert several.pairs.tolist() == [[1, 3], [2, 3], [1, 0], [2, 0]]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("measure", ["ap", "esl"])
def test_intervals_of_the_difference(measure, confidence):
    options = {"qid": WEB.qid, "measure": measure, "confidence": confidence}
    found = compare_systems(WEB.target, SYSTEMS, **options)
    sampled = compare_systems(WEB.target, SYSTEMS, interval="bootstrap", **options)
    assert (found.interval, sampled.interval) == ("t", "bootstrap")
    for i, pair in enumerate(found.pairs):
        apart = found.expected[:, pair[0]] - found.expected[:, pair[1]]
        apart = apart[~np.isnan(apart)]
        t = stats.ttest_1samp(apart, 0).confidence_interval(confidence)
        assert found.difference_interval[i] == pytest.approx([*t])
        bca = stats.bootstrap(
            (np.sort(apart),), np.mean, n_resamples=9999, confidence_level=confidence,
            rng=np.random.default_rng(0),
        ).confidence_interval  # fmt: skip
        # scipy draws the same samples in other batches
        wide = t[1] - t[0]
        assert sampled.difference_interval[i] == pytest.approx([*bca], abs=wide / 20)
        assert np.array_equal(sampled.pvalues, found.pvalues)
    assert f"±{confidence:.0%}" in str(found)
    assert f"{confidence:.0%} interval" in str(sampled)
    columns = found.to_pandas()[["difference_interval_low", "difference_interval_high"]]
    assert np.array_equal(columns, found.difference_interval)


def test_without_query_ids_it_says_that_rows_are_one_query():
    labels, systems = [1, 0, 0], {"a": [3, 2, 1], "b": [1, 2, 3]}
    with pytest.warns(UserWarning, match=r"without qid, all 3 rows .* pass qid"):
        found = compare_systems(labels, systems)
    assert np.isnan(found.pvalues).all()
    # one query on purpose, or nothing to test
    assert compare_systems(labels, systems, qid=[1, 1, 1]).n_queries.tolist() == [1]
    compare_systems(labels, systems["a"])


def test_random_states():
    def pvalues(random_state):
        return compare_systems(
            WEB.target,
            SYSTEMS,
            qid=WEB.qid,
            test="randomization",
            n_resamples=99,
            random_state=random_state,
        ).pvalues.tolist()

    assert pvalues(1) == pvalues(np.int64(1))
    first = pvalues(np.random.RandomState(1))
    assert first == pvalues(np.random.RandomState(1))
    assert first != pvalues(np.random.RandomState(2))
    assert np.isfinite(pvalues(None)).all()


def test_a_system_and_itself():
    first = next(iter(SYSTEMS.values()))
    twice = {"a": first, "b": first}
    for test in ("t", "wilcoxon", "randomization"):
        found = compare_systems(WEB.target, twice, qid=WEB.qid, test=test)
        assert found.difference[0] == 0
        assert found.pvalues[0] == 1
        assert not found.survives[0]
        assert found.effect[0] == 0


def test_undefined_systems():
    labels, qid = [1, 0, 0] * 4, np.repeat(range(4), 3)
    systems = {
        "a": [1, 2, 3] * 2 + [3, 2, 1] * 2,
        "b": [2, 1, 3] * 2 + [-math.inf] * 6,
    }
    found = compare_systems(labels, systems, qid=qid, measure="esl")
    assert found.difference[0] == 1
    assert found.n_queries[0] == 2
    nothing = {"a": systems["a"], "b": [-math.inf] * 12}
    with pytest.warns(UndefinedMetricWarning, match="ESL is undefined for every"):
        found = compare_systems(labels, nothing, qid=qid, measure="esl")
    assert np.isnan(found.pvalues[0])
    assert math.isnan(found.summary().mean[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "z"}, "test must be one of"),
        ({"correction": "x"}, "correction must be one of"),
        ({"alternative": "x"}, "alternative must be one of"),
        ({"interval": "x"}, "interval must be one of"),
        ({"interval": "bootstrap", "n_resamples": 1}, "must be an integer >= 2"),
        (
            {"y_score": np.ones((3, 2)), "baseline": "bm25"},
            r"baseline must be one of \('system 0', 'system 1'\), got 'bm25'",
        ),
        ({"baseline": ["a", "a"]}, "baseline must hold each value once, got 'a' twice"),
        ({"baseline": []}, "baseline must not be empty"),
        ({"baseline": "a"}, r"baseline must leave .* got \['a'\], which is every"),
        ({"confidence": 1}, r"confidence must be a number in \(0, 1\), got 1"),
        ({"n_resamples": 0}, "n_resamples must be an integer >= 1"),
        ({"y_score": {}}, "y_score must hold at least one system"),
        ({"y_score": [[[1]]]}, r"y_score must be a mapping .* got shape \(1, 1, 1\)"),
        ({"y_score": [[1], [1, 2]]}, "y_score must be an array"),
        ({"y_score": [1, 2]}, "y_score must have one value per row"),
        ({"y_score": np.zeros((3, 0))}, "y_score must hold at least one system"),
        ({"random_state": -1}, "random_state must be an integer from 0"),
        ({"random_state": "x"}, "random_state must be an integer from 0"),
        ({"y_score": {"a": [1, 2]}}, r"y_score\['a'\] must have one value per row"),
        ({"y_score": {1: [1, 2, 3], "1": [1, 2, 3]}}, "for each system, got 1 twice"),
        ({"y_score": {"a": [1, 2, math.nan]}}, r"y_score\['a'\] must not be NaN"),
    ],
)
def test_bad_input(options, message):
    options = {"y_score": {"a": [1, 2, 3]}} | options
    with pytest.raises(ValueError, match=message):
        compare_systems([0, 1, 0], **options)


def test_what_is_said_of_orders_is_of_those_left_open():
    """A rule without ties has one order, in which each difference "holds"."""
    qid, systems = (
        [1, 1, 1, 2, 2, 2],
        {"a": [2, 1, 1, 3, 3, 1], "b": [1, 1, 1, 1, 2, 3]},
    )
    external = {"id": list("abcdef"), "kind": list("aabaab")}

    def page(ties):
        found = compare_systems(
            [1, 0, 0, 1, 0, 2], systems, qid=qid, measure="ap", ties=ties,
            external=external,
        )  # fmt: skip
        assert "holds" not in str(found) or found.tie_std.any()
        return found._repr_html_()

    for ties in ("best", "input", "id"):
        for head in ("worst", "tie std", "tie range", "holds"):
            assert f">{head}<" not in page(ties)
    said = "the difference has the same sign in every order of"
    assert f"{said} documents that still tie by the rule kind" in page("kind")
    assert f"{said} ties" in page("expected")
