"""The p-values of paired tests over the orders of ties."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from tests import naive
from tests._engine.test_lists import assert_same
from tieaware_sklearn import compare_systems, pvalues_over_orders
from tieaware_sklearn.comparison import _orders
from tieaware_sklearn.comparison._orders import OrderValues
from tieaware_sklearn.comparison._systems import prepare_systems
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.measures import parse_measure
from tieaware_sklearn.statistics.paired_tests import ALTERNATIVES, TESTS, paired_tests

WEB = make_web_search(n_queries=30, random_state=3)
SYSTEMS = {WEB.feature_names[j]: WEB.data[:, j] for j in (0, 1, 4)}
NAMES = list(SYSTEMS)
PLAIN = {
    "ap": (naive.average_precision, True),
    "p@2": (partial(naive.precision, k=2), True),
    "fallout@2": (partial(naive.fallout, k=2), False),
    "esl": (naive.search_length, False),
}
FIGURES = _orders._FIGURES


def over_orders(systems=SYSTEMS, **options):
    return pvalues_over_orders(WEB.target, systems, qid=WEB.qid, **options)


def by_definition(labels, qid, a, b, name, test, alternative):
    """The p-value and the difference of every joint order of two systems."""
    plain, _ = PLAIN[name]
    pvalues, differences = [], []
    orders_of_a = naive.joint_orders(labels, qid, a)
    orders_of_b = naive.joint_orders(labels, qid, b)
    for first, second in itertools.product(orders_of_a, orders_of_b):
        values = []
        for query in sorted(first):
            value_of_a = plain(*first[query])
            value_of_b = plain(*second[query])
            if name == "esl" and None in (value_of_a, value_of_b):
                continue
            values.append(float((value_of_a or 0) - (value_of_b or 0)))
        _, (p,) = paired_tests(np.array([values]), test, alternative)
        pvalues.append(p)
        differences.append(sum(values))
    return np.array(pvalues), np.array(differences)


@st.composite
def pairs(draw):
    """Two systems with ties everywhere, rows interleaved."""
    n_queries = draw(st.integers(1, 4))
    scores = st.sampled_from([-math.inf, 0.0, 0.0, 0.0, 1.0])
    rows = st.tuples(st.integers(0, 2), scores, scores, st.integers(0, n_queries - 1))
    drawn = draw(st.lists(rows, min_size=n_queries, max_size=8))
    return [list(column) for column in zip(*drawn, strict=True)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(pairs(), st.sampled_from(TESTS), st.sampled_from(ALTERNATIVES))
def test_all_orders_of_small_rankings(case, test, alternative):
    labels, a, b, qid = case
    orders_of_a = naive.joint_orders(labels, qid, a)
    orders_of_b = naive.joint_orders(labels, qid, b)
    n_orders = len(orders_of_a) * len(orders_of_b)
    assume(n_orders <= 200)
    # no p-value of so few queries is this number
    alpha = 0.2345678
    options = {"qid": qid, "test": test, "alternative": alternative, "alpha": alpha}
    options |= {"measure": list(PLAIN), "n_orders": 200}
    result = pvalues_over_orders(labels, {"a": a, "b": b}, **options)
    for m, (name, (_, rises)) in enumerate(PLAIN.items()):
        p, difference = by_definition(labels, qid, a, b, name, test, alternative)
        is_undefined = np.isnan(p).any()
        assert result.is_exact[m, 0]
        assert result.share_error[m, 0] == 0 or np.isnan(p).all()
        assert result.n_orders[m, 0] <= n_orders
        better = difference if rises else -difference
        significant = p < alpha
        mean = p.mean()
        combined = mean if result.n_orders[m, 0] == 1 else min(1, 2 * mean)
        expected = {"smallest": p.min(), "largest": p.max(), "mean": mean}
        expected["combined"] = combined
        expected["share"] = significant.mean()
        expected["share_a"] = (significant & (better > 1e-12)).mean()
        expected["share_b"] = (significant & (better < -1e-12)).mean()
        for figure, value in expected.items():
            if is_undefined:
                value = math.nan
            wanted = pytest.approx(value, abs=1e-9, nan_ok=True)
            assert getattr(result, figure)[m, 0] == wanted, (name, figure)


LABELS = [1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("test", TESTS)
def test_sampled_orders_of_small_rankings(test):
    a = [1, 1, 0, 2, 2, 2, 1, 1, 1, 5, 3, 3]
    b = [1, 2, 2, 1, 1, 0, 3, 3, 3, 2, 2, 2]
    systems = {"a": a, "b": b}
    options = {"qid": np.repeat(range(4), 3), "measure": ["ap", "p@2"], "test": test}
    over = partial(pvalues_over_orders, LABELS, systems, alpha=0.3, **options)
    all_orders = over(n_orders=10**4)
    assert all_orders.is_exact.all()
    sampled = over(n_orders=300)
    assert not sampled.is_exact.any()
    assert (sampled.n_orders == 300).all()
    x = sampled.share * 300
    error = np.sqrt((x + 1) * (301 - x) / (302**2 * 303))
    assert sampled.share_error == pytest.approx(error)
    distance = np.abs(sampled.share - all_orders.share)
    assert (distance <= 4 * sampled.share_error).all()
    assert (sampled.smallest >= all_orders.smallest).all()
    assert (sampled.largest <= all_orders.largest).all()
    assert np.allclose(sampled.mean, all_orders.mean, atol=0.08)
    compared = compare_systems(LABELS, systems, **options).pvalues
    assert all_orders.pvalues.ravel().tolist() == compared.tolist()
    assert np.array_equal(sampled.pvalues, all_orders.pvalues)


@pytest.mark.parametrize("test", TESTS)
def test_without_ties_there_is_one_order(test):
    options = {"qid": np.repeat(range(4), 3), "measure": ["ap", "p@2"], "test": test}
    order = np.random.default_rng(0).permutation(12)
    untied = {"a": order, "b": order[::-1]}
    compared = compare_systems(LABELS, untied, **options).pvalues
    result = pvalues_over_orders(LABELS, untied, alpha=0.3, **options)
    for name in ("pvalues", "smallest", "largest", "mean", "combined"):
        assert getattr(result, name).ravel().tolist() == compared.tolist(), name
    is_significant = compared < 0.3
    assert result.share.ravel().tolist() == is_significant.tolist()
    assert result.n_orders.tolist() == [[1], [1]]
    assert not result.share_error.any()


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_neither_rows_nor_threads_nor_blocks_matter(test, monkeypatch):
    judged = np.random.default_rng(4).random(len(WEB.target)) < 0.6
    labels = np.where(judged, WEB.target, np.nan)
    options = {"measure": ["rr", "ndcg@10"], "n_orders": 40, "n_resamples": 99}
    over = partial(pvalues_over_orders, test=test, **options)
    result = over(labels, SYSTEMS, qid=WEB.qid, unjudged="drop")
    nonrelevant = over(labels, SYSTEMS, qid=WEB.qid, unjudged="nonrelevant")
    assert not np.array_equal(result.mean, nonrelevant.mean)
    assert (result.smallest < result.largest).any(axis=1).all()
    # nor do documents without a judgment that are dropped
    rows = np.random.default_rng(0).permutation(np.flatnonzero(judged))
    shuffled = {name: column[rows] for name, column in SYSTEMS.items()}
    monkeypatch.setattr(_orders, "_VALUES", 1000)
    monkeypatch.setattr(_orders, "_CELLS", 3000)
    again = over(labels[rows], shuffled, qid=WEB.qid[rows], n_jobs=2)
    assert_same(again, result)


def test_one_draw_serves_all_measures_and_pairs():
    both = over_orders(measure=["ap", "rr"], n_orders=30)
    options = {"measure": "rr", "n_orders": 30}
    alone = over_orders(**options)
    pair = over_orders({name: SYSTEMS[name] for name in NAMES[:2]}, **options)
    for name in FIGURES:
        assert np.array_equal(getattr(both, name)[1:], getattr(alone, name)), name
        assert np.array_equal(getattr(both, name)[1:, :1], getattr(pair, name)), name
    second = over_orders(random_state=1, **options)
    assert not np.array_equal(alone.mean, second.mean)
    # A and B change places
    result = over_orders(baseline=NAMES[1], **options)
    assert result.pairs.tolist() == [[0, 1], [2, 1]]
    assert result.mean[0, 0] == alone.mean[0, 0]
    assert result.mean[0, 1] == pytest.approx(alone.mean[0, 2])
    assert result.share_a[0, 1] == alone.share_b[0, 2]


def test_what_it_shows(capsys):
    pytest.importorskip("tqdm")
    result = over_orders(measure=["rr", "ap"], n_orders=20, progress=True)
    assert "20/20" in capsys.readouterr().err
    lines = str(result).splitlines()
    assert lines[2 + 6] == "paired t test, two-sided"
    assert lines[2 + 6 + 1].startswith("Hidden columns: ")
    assert max(map(len, lines)) <= 80
    assert "p < 0.05" in lines[0]
    options = {"alpha": 0.01, "test": "randomization", "alternative": "less"}
    first = over_orders(measure="rr", n_orders=20, **options)
    assert options.items() <= vars(first).items()
    assert str(first).splitlines()[0].split("  ")[0] == "A"
    assert "p < 0.01" in str(first)
    assert str(first).endswith("RR, Fisher's randomisation test, less")
    frame = result.to_pandas()
    assert frame["measure"].tolist() == ["RR"] * 3 + ["AP"] * 3
    assert frame["a"].tolist() == [NAMES[j] for j in (0, 0, 1)] * 2
    assert frame["b"].tolist() == [NAMES[j] for j in (1, 2, 2)] * 2
    for name in FIGURES:
        assert frame[name].tolist() == getattr(result, name).ravel().tolist()


def test_a_single_query_has_no_p_values():
    labels, systems = [1, 0, 0], {"a": [3, 3, 1], "b": [1, 2, 2]}
    with pytest.warns(UserWarning, match=r"without qid, all 3 rows"):
        result = pvalues_over_orders(labels, systems)
    assert np.isnan(result.share).all()


def test_a_single_system_has_no_pairs():
    alone = pvalues_over_orders([1, 0, 0], {"a": [3, 3, 1]}, qid=[1, 1, 1])
    assert alone.share.shape == (1, 0)
    assert len(str(alone).splitlines()) == 3


def test_a_measure_that_is_undefined_has_no_p_values():
    systems = {"a": [1, 1, 2, 2], "b": [1, 1, 1, 1]}
    options = {"qid": [1, 1, 2, 2], "measure": "esl"}
    with pytest.warns(UndefinedMetricWarning, match="undefined for every query"):
        result = pvalues_over_orders([0, 0, 0, 0], systems, **options)
    assert np.isnan(result.largest).all()


BAD_OPTIONS = [
    ({"alpha": 0}, "alpha must"),
    ({"n_orders": 0}, "n_orders must"),
    ({"n_resamples": 0}, "n_resamples must"),
    ({"test": "sign"}, "test must"),
    ({"alternative": "two"}, "alternative must"),
    ({"measure": "nothing"}, "measure"),
    ({"baseline": "nobody"}, "baseline must be .*got 'nobody'"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        over_orders(**options)


def values_of(labels, scores, qid, names):
    measures = [parse_measure(name) for name in names]
    systems = prepare_systems(labels, scores, qid, measures, 0.0, "raise", None)
    return OrderValues(systems, 0, systems.values(), (0, 0))


def test_only_orders_that_change_a_value_count():
    # no tie is cut at rank 4; query 2 ties equal labels, and query 3 two of three
    labels = [1, 0, 0, 1, 1, 1, 0, 1, 0]
    systems = {"a": [9, 8, 1, 1, 5, 5, 5, 5, 5], "b": range(9)}
    options = {"qid": [1, 1, 1, 1, 2, 2, 3, 3, 3], "measure": ["p@4", "p@1", "ap"]}
    result = pvalues_over_orders(labels, systems, **options, n_orders=6)
    assert result.n_orders.ravel().tolist() == [1, 6, 6]
    assert result.is_exact.all()
    fewer = pvalues_over_orders(labels, systems, **options, n_orders=5)
    assert fewer.is_exact.ravel().tolist() == [True, False, False]


def test_orders_may_be_more_than_a_float_can_count():
    n = 10**4
    labels, qid = np.arange(n) % 2, np.arange(n) // 5000
    order = np.random.default_rng(0).permutation(n)
    systems = {"a": np.zeros(n), "b": order}
    many = pvalues_over_orders(labels, systems, qid=qid, measure="p@10", n_orders=9)
    assert not many.is_exact


def test_documents_without_relevance_that_are_not_retrieved():
    rng = np.random.default_rng(2)
    labels, qid = rng.integers(0, 2, 200), rng.integers(0, 8, 200)
    is_retrieved = rng.random(200) < 0.3
    scores = np.where(is_retrieved, rng.integers(0, 3, 200), -np.inf)
    names = ["ap", "fallout@5", "bpref", "p@5", "ndcg"]
    together = values_of(labels, scores, qid, names).draw(30)
    for values, name in zip(together, names, strict=True):
        alone = values_of(labels, scores, qid, [name])
        assert np.array_equal(values, alone.draw(30)[0]), name
