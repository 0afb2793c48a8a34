"""The p-values of paired tests over the orders of ties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from tests import naive
from tieaware_sklearn import compare_systems, pvalues_over_orders
from tieaware_sklearn.comparison import _orders
from tieaware_sklearn.comparison._systems import ALTERNATIVES, TESTS, paired_test
from tieaware_sklearn.datasets import load_trec, make_web_search

WEB = make_web_search(n_queries=30, random_state=3)
SYSTEMS = {
    name: WEB.data[:, j] for j, name in enumerate(WEB.feature_names) if j in (0, 1, 4)
}
PLAIN = {
    "ap": (naive.average_precision(), True),
    "p@2": (naive.precision(2), True),
    "fallout@2": (naive.fallout(2), False),
    "esl": (naive.search_length(), False),
}
FIGURES = (
    *("pvalues", "share", "share_error", "share_a", "share_b", "smallest", "largest"),
    *("mean", "combined", "n_orders", "is_exact"),
)


def by_definition(labels, qid, a, b, name, test, alternative):
    """The p-value and the difference of every joint order of two systems."""
    plain, _ = PLAIN[name]
    found = []
    for one, other in itertools.product(
        naive.joint_orders(labels, qid, a), naive.joint_orders(labels, qid, b)
    ):
        values = []
        for query in sorted(one):
            pair = [plain(*order[query]) for order in (one, other)]
            if name == "esl" and None in pair:
                continue
            values.append(float((pair[0] or 0) - (pair[1] or 0)))
        difference = np.array(values)
        p = paired_test(difference, test, alternative).pvalue
        found.append((p, sum(values)))
    return np.array(found).T


@st.composite
def pairs(draw):
    """Two systems with ties everywhere, rows interleaved."""
    n_queries = draw(st.integers(1, 4))
    scores = st.sampled_from([-math.inf, 0.0, 0.0, 0.0, 1.0])
    rows = st.tuples(st.integers(0, 2), scores, scores, st.integers(0, n_queries - 1))
    drawn = draw(st.lists(rows, min_size=n_queries, max_size=8))
    return [list(column) for column in zip(*drawn, strict=True)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=60)
@given(pairs(), st.sampled_from(TESTS), st.sampled_from(ALTERNATIVES))
def test_all_orders_of_small_rankings(case, test, alternative):
    labels, a, b, qid = case
    n_orders = math.prod(len(naive.joint_orders(labels, qid, s)) for s in (a, b))
    assume(n_orders <= 400)
    # no p-value of so few queries is this number
    alpha = 0.2345678
    found = pvalues_over_orders(
        labels, {"a": a, "b": b}, qid=qid, measure=list(PLAIN), test=test,
        alternative=alternative, alpha=alpha, n_orders=400,
    )  # fmt: skip
    for m, (name, (_, rises)) in enumerate(PLAIN.items()):
        p, difference = by_definition(labels, qid, a, b, name, test, alternative)
        assert found.is_exact[m, 0]
        assert found.share_error[m, 0] == 0 or np.isnan(p).all()
        assert found.n_orders[m, 0] <= n_orders
        better = difference if rises else -difference
        significant = p < alpha
        expected = {
            "share": significant.mean(),
            "share_a": (significant & (better > 1e-12)).mean(),
            "share_b": (significant & (better < -1e-12)).mean(),
            "smallest": p.min(),
            "largest": p.max(),
            "mean": p.mean(),
        }
        for figure, value in expected.items():
            own = getattr(found, figure)[m, 0]
            if np.isnan(p).any():
                assert np.isnan(own)
            else:
                assert own == pytest.approx(value, abs=1e-9), (name, figure)


@pytest.mark.parametrize("test", TESTS)
def test_sampled_orders_of_small_rankings(test):
    labels = [1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1]
    qid = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    a = [1, 1, 0, 2, 2, 2, 1, 1, 1, 5, 3, 3]
    b = [1, 2, 2, 1, 1, 0, 3, 3, 3, 2, 2, 2]
    options = {"qid": qid, "measure": ["ap", "p@2"], "test": test, "alpha": 0.3}
    systems = {"a": a, "b": b}
    every = pvalues_over_orders(labels, systems, n_orders=10**4, **options)
    assert every.is_exact.all()
    for seed in range(4):
        found = pvalues_over_orders(
            labels, systems, n_orders=300, random_state=seed, **options
        )
        assert not found.is_exact.any()
        assert (found.n_orders == 300).all()
        assert (found.share_error > 0).all()
        apart = np.abs(found.share - every.share)
        assert (apart <= 4 * found.share_error).all()
        assert (found.smallest >= every.smallest).all()
        assert (found.largest <= every.largest).all()
        assert np.allclose(found.mean, every.mean, atol=0.08)
        assert np.array_equal(found.pvalues, every.pvalues)
        assert np.array_equal(found.combined, np.minimum(1, 2 * found.mean))


@pytest.mark.parametrize("test", TESTS)
def test_neither_rows_nor_threads_nor_blocks_matter(test, monkeypatch):
    rows = np.random.default_rng(0).permutation(len(WEB.qid))
    options = {
        "measure": ["rr", "ndcg@10"], "test": test, "n_orders": 40, "n_resamples": 99,
    }  # fmt: skip
    found = pvalues_over_orders(WEB.target, SYSTEMS, qid=WEB.qid, **options)
    shuffled = {name: column[rows] for name, column in SYSTEMS.items()}
    monkeypatch.setattr(_orders, "_VALUES", 1000)
    monkeypatch.setattr(_orders, "_CELLS", 3000)
    again = pvalues_over_orders(
        WEB.target[rows], shuffled, qid=WEB.qid[rows], n_jobs=2, **options
    )
    for name in FIGURES:
        assert np.array_equal(getattr(found, name), getattr(again, name)), name
    assert (found.smallest < found.largest).any(axis=1).all()


def test_one_draw_serves_all_measures_and_pairs():
    options = {"qid": WEB.qid, "n_orders": 30}
    both = pvalues_over_orders(WEB.target, SYSTEMS, measure=["ap", "rr"], **options)
    alone = pvalues_over_orders(WEB.target, SYSTEMS, measure="rr", **options)
    first = dict(list(SYSTEMS.items())[:2])
    pair = pvalues_over_orders(WEB.target, first, measure="rr", **options)
    for name in FIGURES:
        assert np.array_equal(getattr(both, name)[1:], getattr(alone, name)), name
        assert np.array_equal(getattr(both, name)[1:, :1], getattr(pair, name)), name
    other = pvalues_over_orders(
        WEB.target, SYSTEMS, measure="rr", random_state=1, **options
    )
    assert not np.array_equal(alone.mean, other.mean)
    assert np.array_equal(alone.pvalues, other.pvalues)


@pytest.mark.parametrize("test", TESTS)
def test_exact_means_as_in_compare_systems(test):
    options = {"qid": WEB.qid, "measure": "rr", "test": test, "n_resamples": 199}
    compared = compare_systems(WEB.target, SYSTEMS, **options)
    found = pvalues_over_orders(WEB.target, SYSTEMS, n_orders=2, **options)
    assert np.array_equal(found.pvalues[0], compared.pvalues)
    # without ties there is one order
    rng = np.random.default_rng(0)
    untied = {name: rng.permutation(len(WEB.qid)) for name in "abc"}
    compared = compare_systems(WEB.target, untied, **options)
    found = pvalues_over_orders(WEB.target, untied, **options)
    for name in ("pvalues", "smallest", "largest", "mean", "combined"):
        assert np.array_equal(getattr(found, name)[0], compared.pvalues), name
    assert found.share[0].tolist() == (compared.pvalues < 0.05).tolist()
    assert found.n_orders.tolist() == [[1, 1, 1]]
    assert not found.share_error.any()


def swapped(columns, qid, swaps):
    """Two columns of scores, exchanged on some of the queries 0, 1, ..."""
    a, b = columns
    chosen = np.array(swaps)[qid]
    return {"a": np.where(chosen, b, a), "b": np.where(chosen, a, b)}


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_sizes_by_all_orders_and_all_signs(alternative):
    # all data sets that are equally likely if the rankings with their ties are
    # exchangeable on each of six queries
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(6), 3)
    labels = np.tile([1, 0, 0], 6)
    columns = rng.integers(0, 2, (2, len(qid)))
    columns[:, :3] = [[2, 1, 1], [0, 1, 1]]
    found = []
    levels = np.arange(1, 65) / 64
    shares = np.zeros((64, len(levels)))
    for row, swaps in enumerate(itertools.product([0, 1], repeat=6)):
        systems = swapped(columns, qid, swaps)
        for j, level in enumerate(levels[: 16 if row else None]):
            one = pvalues_over_orders(
                labels, systems, qid=qid, measure="ap", test="randomization",
                alternative=alternative, alpha=min(level + 1e-9, 1 - 1e-9),
                n_orders=10**4,
            )  # fmt: skip
            shares[row, j] = one.share[0, 0]
        found.append(one)
    assert found[0].n_orders[0, 0] > 1
    # the test in a random order, and so the expected share of significant orders
    assert (shares[:, :16].mean(axis=0) <= levels[:16] + 1e-9).all()
    # three p-values that need no random order
    for name in ("combined", "largest", "pvalues"):
        pvalues = np.array([getattr(one, name)[0, 0] for one in found])
        assert all(np.mean(pvalues <= p + 1e-9) <= p + 1e-9 for p in pvalues), name


def test_the_smallest_p_value_is_none():
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(6), 3)
    labels = np.tile([1, 0, 0], 6)
    columns = rng.integers(0, 2, (2, len(qid)))
    found = [
        pvalues_over_orders(
            labels, swapped(columns, qid, swaps), qid=qid, measure="ap",
            test="randomization", n_orders=10**4,
        )
        for swaps in itertools.product([0, 1], repeat=6)
    ]  # fmt: skip
    pvalues = np.array([one.smallest[0, 0] for one in found])
    assert any(np.mean(pvalues <= p + 1e-9) > p + 0.1 for p in pvalues)


def test_documents_without_a_judgment():
    rng = np.random.default_rng(4)
    unjudged = rng.random(len(WEB.target)) < 0.4
    labels = np.where(unjudged, np.nan, WEB.target)
    options = {"measure": ["rr", "ap"], "n_orders": 30}
    dropped = pvalues_over_orders(
        labels, SYSTEMS, qid=WEB.qid, unjudged="drop", **options
    )
    judged = {name: column[~unjudged] for name, column in SYSTEMS.items()}
    alone = pvalues_over_orders(
        labels[~unjudged], judged, qid=WEB.qid[~unjudged], **options
    )
    last = pvalues_over_orders(
        labels, SYSTEMS, qid=WEB.qid, unjudged="nonrelevant", **options
    )
    for name in FIGURES:
        assert np.array_equal(getattr(dropped, name), getattr(alone, name)), name
    assert not np.array_equal(dropped.mean, last.mean)


def test_baselines():
    every = pvalues_over_orders(WEB.target, SYSTEMS, qid=WEB.qid, n_orders=20)
    names = list(SYSTEMS)
    found = pvalues_over_orders(
        WEB.target, SYSTEMS, qid=WEB.qid, n_orders=20, baseline=names[1]
    )
    assert found.pairs.tolist() == [[0, 1], [2, 1]]
    assert found.mean[0, 0] == every.mean[0, 0]
    assert found.mean[0, 1] == pytest.approx(every.mean[0, 2])
    # A and B change places
    assert found.share_a[0, 1] == every.share_b[0, 2]
    with pytest.raises(ValueError, match=r"baseline must be .*got 'nobody'"):
        pvalues_over_orders(WEB.target, SYSTEMS, qid=WEB.qid, baseline="nobody")
    with pytest.raises(ValueError, match="baseline must leave at least one other"):
        pvalues_over_orders(WEB.target, SYSTEMS, qid=WEB.qid, baseline=names)


def test_the_better_system_of_a_measure_where_lower_is_better():
    labels, qid = [1, 0, 0] * 4, np.repeat([1, 2, 3, 4], 3)
    systems = {"good": [3, 2, 1] * 4, "bad": [1, 2, 2, 0, 1, 2, 1, 3, 3, 0, 1, 1]}
    found = pvalues_over_orders(labels, systems, qid=qid, measure=["esl", "rr"])
    assert found.share.tolist() == [[1.0], [1.0]]
    assert found.share_a.tolist() == [[1.0], [1.0]]
    assert found.share_b.tolist() == [[0.0], [0.0]]


def test_what_it_shows():
    found = pvalues_over_orders(
        WEB.target, SYSTEMS, qid=WEB.qid, measure=["rr", "ap"], n_orders=20
    )
    lines = str(found).splitlines()
    assert len(lines) == 2 + 6 + 1
    assert lines[-1] == "paired t test, two-sided"
    one = pvalues_over_orders(
        WEB.target, SYSTEMS, qid=WEB.qid, measure="rr", n_orders=20, alpha=0.01,
        test="randomization", alternative="less",
    )  # fmt: skip
    assert str(one).splitlines()[0].split("  ")[0] == "A"
    assert "p < 0.01" in str(one)
    assert str(one).endswith("RR, Fisher's randomisation test, less")
    assert max(map(len, lines)) <= 80
    assert "p < 0.05" in lines[0]
    frame = found.to_pandas()
    assert list(frame.columns) == ["measure", "a", "b", *FIGURES]
    assert frame["measure"].tolist() == ["RR"] * 3 + ["AP"] * 3
    assert frame["b"].tolist() == [list(SYSTEMS)[j] for j in (1, 2, 2)] * 2
    for name in FIGURES:
        assert frame[name].tolist() == getattr(found, name).ravel().tolist()
    assert frame.equals(pd.DataFrame(frame.to_dict("list")))


def test_one_query_one_system_nothing_defined():
    labels, systems = [1, 0, 0], {"a": [3, 3, 1], "b": [1, 2, 2]}
    with pytest.warns(UserWarning, match=r"without qid, all 3 rows"):
        found = pvalues_over_orders(labels, systems)
    assert np.isnan(found.share).all()
    alone = pvalues_over_orders(labels, {"a": [3, 3, 1]}, qid=[1, 1, 1])
    assert alone.share.shape == (1, 0)
    assert len(str(alone).splitlines()) == 3
    with pytest.warns(UndefinedMetricWarning, match="undefined for every query"):
        found = pvalues_over_orders([0, 0, 0, 0], {"a": [1, 1, 2, 2], "b": [1] * 4},
                                    qid=[1, 1, 2, 2], measure="esl")  # fmt: skip
    assert np.isnan(found.largest).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must"),
        ({"alpha": 1.0}, "alpha must"),
        ({"n_orders": 0}, "n_orders must"),
        ({"n_resamples": 0}, "n_resamples must"),
        ({"test": "sign"}, "test must"),
        ({"alternative": "two"}, "alternative must"),
        ({"measure": "nothing"}, "measure"),
        ({"progress": 1}, "progress must"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        pvalues_over_orders(WEB.target, SYSTEMS, qid=WEB.qid, **options)


def test_progress(capsys):
    pytest.importorskip("tqdm")
    pvalues_over_orders(WEB.target, SYSTEMS, qid=WEB.qid, n_orders=20, progress=True)
    assert "20/20" in capsys.readouterr().err


def test_the_order_of_document_ids_is_not_a_random_order(shared_data):
    folder = shared_data / "sigtrec"
    runs = [folder / "baseline.gz", folder / "result_to_compare1.gz"]
    trec = load_trec(folder / "qrelFile.qrel.gz", runs)
    found = pvalues_over_orders(
        trec.target, trec.score, qid=trec.qid, measure=["ap", "p@5"],
        unjudged="nonrelevant", n_orders=50,
    )  # fmt: skip
    # trec_eval's order has p = .0001 and .0003
    assert found.share.tolist() == [[0.0], [0.0]]
    assert (found.smallest > 0.1).all()
