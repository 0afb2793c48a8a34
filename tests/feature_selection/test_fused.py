"""Features fused by Borda scores, and selected one after another."""

from fractions import Fraction
from functools import partial
from itertools import compress
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal as same
from scipy.stats import spearmanr
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import tieaware_sklearn as ta
from tests import naive
from tieaware_sklearn import FusedRanker, QueryKFold
from tieaware_sklearn.feature_selection import _fused

MEASURES = {
    "ndcg@3": (partial(naive.ndcg, k=3), 1),
    "ap": (naive.average_precision, 1),
    "fallout@2": (partial(naive.fallout, k=2), -1),
}
SHOWN = ("selection_order_", "path_scores_", "support_", "mean_", "directions_")
SHOWN += ("ranking_", "repeats_")


def fitted(web, X=None, rows=slice(None), **parameters):
    ranker = FusedRanker(**{"n_features_to_select": 5, **parameters})
    X = web.data if X is None else X
    return ranker.fit(X[rows], web.target[rows], qid=web.qid[rows])


def assert_same(one, other):
    for name in SHOWN:
        same(getattr(one, name), getattr(other, name), name)


# Borda scores


def test_a_long_query_takes_wider_numbers(engine):
    X, qid = np.arange(40_000.0)[:, None] // 2, np.zeros(40_000)
    ranker = FusedRanker(direction="descending").fit(X, X[:, 0] > 9, qid=qid)
    scores = ranker.predict(X, qid=qid)
    assert scores.max() == -scores.min() == 39_998


@pytest.mark.parametrize("n", [4, 4_000_000])
def test_products_of_scores_are_floats_and_do_not_overflow(n):
    one, of = np.arange(1 - n, n, 2), SimpleNamespace(sizes=np.array([n]))
    found = _fused.BordaScores.products(of, one, one)
    assert found.dtype == np.float64
    assert found == pytest.approx((n**3 - n) / 3)


@pytest.mark.parametrize("longest", [_fused._LONGEST, 1])
def test_repeats_are_above_the_mean_of_spearmans_rho(longest, monkeypatch):
    monkeypatch.setattr(_fused, "_LONGEST", longest)
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 30, 40)))
    X = rng.normal(size=(len(qid), 2)).round(1)
    weight = rng.uniform(size=40) / 1000
    parts = [X[qid == query] for query in range(40)]
    vary = [(np.ptp(part, axis=0) > 0).all() for part in parts]
    found = [spearmanr(part).statistic for part in compress(parts, vary)]
    limit = abs(np.average(found, weights=weight[vary]))
    for most, n_repeats in ((limit - 1e-12, 1), (limit + 1e-12, 0)):
        ranker = FusedRanker(n_features_to_select=1, max_correlation=most)
        ranker.fit(X, X[:, 0] > 0, qid=qid, query_weight=weight[qid])
        assert (ranker.repeats_ >= 0).sum() == n_repeats


# selected by the definition, in exact fractions


def borda(column, direction):
    """n + 1 - 2 midrank of each document."""
    better = (lambda a, b: a > b) if direction == "descending" else lambda a, b: a < b
    return [
        sum(better(own, other) for other in column)
        - sum(better(other, own) for other in column)
        for own in column
    ]


def value(plain, queries, features, directions):
    """Mean over queries of the expected measure of the fused ranking."""
    total = Fraction(0)
    for X, labels in queries:
        each = (borda([row[j] for row in X], directions[j]) for j in features)
        found = naive.over_ties(plain, labels, [*map(sum, zip(*each, strict=True))])
        total += found.expected if found else 0
    return total / len(queries)


@st.composite
def small_data(draw):
    """Queries of a few documents with a few features, which tie."""
    n_features = draw(st.integers(2, 4))
    row = st.lists(st.integers(0, 2), min_size=n_features, max_size=n_features)
    query = st.lists(st.tuples(row, st.integers(0, 2)), min_size=1, max_size=5)
    drawn = draw(st.lists(query, min_size=1, max_size=3))
    return [tuple(map(list, zip(*one, strict=True))) for one in drawn]


@pytest.mark.filterwarnings("ignore:n_features_to_select")
@pytest.mark.filterwarnings("ignore:no feature is selected")
@pytest.mark.parametrize("measure", MEASURES)
@given(queries=small_data())
@settings(max_examples=15)
def test_each_step_is_the_best_by_enumeration(engine, measure, queries):
    plain, sign = MEASURES[measure]
    X = np.array([row for rows, _ in queries for row in rows])
    y = np.array([label for _, labels in queries for label in labels])
    qid = np.repeat(np.arange(len(queries)), [len(rows) for rows, _ in queries])
    options = {"n_features_to_select": 10, "max_correlation": None}
    selector = FusedRanker(measure=measure, **options).fit(X, y, qid=qid)
    directions = list(selector.directions_)
    for j in range(X.shape[1]):
        down, up = (
            sign * value(plain, queries, [j], {j: way})
            for way in ("descending", "ascending")
        )
        # of two that are as good, higher values rank first
        assert directions[j] == ("ascending" if up > down else "descending")
    varies = [
        any(any(borda([row[j] for row in rows], "descending")) for rows, _ in queries)
        for j in range(X.shape[1])
    ]
    assert list(selector.support_) == varies
    chosen = []
    pairs = zip(selector.selection_order_, selector.path_scores_, strict=True)
    for feature, score in pairs:
        values = {
            j: sign * value(plain, queries, [*chosen, j], directions)
            for j in np.flatnonzero(varies)
            if j not in chosen
        }
        assert values[feature] == max(values.values())
        assert score == pytest.approx(float(sign * values[feature]), abs=1e-12)
        chosen.append(feature)


def test_equal_candidates_go_by_rank_alone_then_by_column():
    # fused with the first, each of the others gives a perfect ranking
    X = [[2, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 0, 0]]
    options = {"n_features_to_select": 2, "max_correlation": None}
    selector = FusedRanker(measure="rr", direction="descending", **options)
    selector.fit(X, [1, 0, 0, 0], qid=[0] * 4)
    assert selector.ranking_.tolist() == [1, 2, 4, 3]
    assert selector.selection_order_.tolist() == [0, 1]


def test_neither_rows_nor_columns_nor_threads_change_the_choice(web, monkeypatch):
    # the last two are copies, of which the first column is chosen
    X = web.data[:, :10]
    rows = np.random.default_rng(0).permutation(len(web.target))
    columns = np.random.default_rng(1).permutation(10)
    expected = fitted(web, X)
    for kind in (sp.csr_array, sp.csc_matrix):
        sparse = fitted(web, kind(X))
        assert_same(sparse, expected)
        same(sparse.transform(kind(X)).toarray(), expected.transform(X))
        found = sparse.predict(kind(X), qid=web.qid)
        same(found, expected.predict(X, qid=web.qid))
    monkeypatch.setattr(_fused, "_ROWS", 50)
    for n_jobs in (1, 3):
        assert_same(fitted(web, X, rows, n_jobs=n_jobs), expected)
    turned = fitted(web, X[:, columns])
    same(columns[turned.selection_order_], expected.selection_order_)
    same(turned.path_scores_, expected.path_scores_)


def test_the_path_is_that_of_rankers_of_single_features(web):
    options = {"measure": "ap", "zero_relevance": "skip"}
    selector = fitted(web, **options)
    alone = ta.RankingFeatureSelector("ap", zero_relevance="skip")
    alone.fit(web.data, web.target, qid=web.qid)
    same(selector.mean_, alone.mean_[:, 0])
    same(selector.ranking_, alone.ranking_)
    same(selector.directions_, alone.directions_)
    assert selector.selection_order_[0] == np.argmin(alone.ranking_)
    assert (selector.measure_, selector.n_queries_) == ("AP", 60)
    for number, score in enumerate(selector.path_scores_, 1):
        order = selector.selection_order_[:number]
        ranker = FusedRanker(order.tolist(), direction=selector.directions_[order])
        ranker.fit(web.data, web.target, qid=web.qid)
        scores = ranker.predict(web.data, qid=web.qid)
        assert ta.ranking_score(web.target, scores, qid=web.qid, **options) == score
    same(selector.predict(web.data, qid=web.qid), scores)


def test_weights_of_queries_are_those_of_repeated_queries(web):
    again = np.isin(web.qid, np.unique(web.qid)[:20])
    weighted = FusedRanker(
        n_features_to_select=4, max_correlation=0.15, direction="descending"
    )
    repeated = sklearn.clone(weighted)
    weighted.fit(web.data, web.target, qid=web.qid, query_weight=1.0 + again)
    X, y = np.vstack([web.data, web.data[again]]), np.r_[web.target, web.target[again]]
    repeated.fit(X, y, qid=np.r_[web.qid, web.qid[again] + 1000])
    same(weighted.selection_order_, repeated.selection_order_)
    same(weighted.repeats_, repeated.repeats_)
    np.testing.assert_allclose(weighted.path_scores_, repeated.path_scores_, atol=1e-12)


@pytest.mark.parametrize("number", [4, 0.1])
def test_copies_in_any_monotone_form_are_left_out(web, number):
    X = web.data[:, :10]
    forms = [X, 2 * X + 1, -X, np.exp(X / np.abs(X).max(axis=0))]
    selector = fitted(web, np.hstack(forms), n_features_to_select=number)
    plain = fitted(web, X, n_features_to_select=4)
    order = selector.selection_order_
    same(order % 10, plain.selection_order_)
    same(selector.path_scores_, plain.path_scores_)
    for feature in order:
        repeated = np.flatnonzero(selector.repeats_ == feature)
        assert set(feature % 10 + 10 * np.arange(4)) - {feature} <= set(repeated)


def test_copies_fill_up_where_nothing_else_is_left(web):
    X = np.column_stack([web.data[:, :2], web.data[:, :2] ** 3, np.ones(len(web.data))])
    with pytest.warns(UserWarning, match="2 of the 4 features that are selected") as w:
        selector = fitted(web, X, n_features_to_select=4)
    assert len(w) == 1
    assert set(selector.selection_order_[:2] % 2) == {0, 1}
    assert set(selector.selection_order_) == {0, 1, 2, 3}
    assert selector.repeats_[4] == -1
    with pytest.warns(UserWarning, match="only 4 of 5 features vary"):
        fitted(web, X, n_features_to_select=10, max_correlation=None)
    # by cross-validation, they are not even tried
    results = fitted(web, X, n_features_to_select="cv", cv=3).cv_results_
    assert results["n_features"].tolist() == [1, 2]
    assert {len(values) for values in results.values()} == {2}
    # where nothing varies
    with pytest.warns(UserWarning, match="no feature is selected"):
        selector.fit(web.data, web.target, qid=np.arange(len(web.target)))
    assert not selector.support_.any()
    assert selector.path_scores_.shape == selector.selection_order_.shape == (0,)
    with pytest.warns(UserWarning, match="no feature is selected"):
        assert selector.transform(web.data).shape == (len(web.data), 0)
    assert not selector.predict(web.data, qid=web.qid).any()


def test_auto_takes_fewest_features_that_are_as_good(web, capsys):
    auto = {"n_features_to_select": "cv", "max_features": 7}
    selector = fitted(web, progress=True, **auto)
    bars = capsys.readouterr().err
    assert "selecting" in bars
    assert "cross-validation" in bars
    results = selector.cv_results_
    assert results["n_features"].tolist() == list(range(1, 8))
    best = np.argmax(results["mean_test_score"])
    good = results["loss"] <= results["standard_error"]
    number = int(results["n_features"][good][0])
    fixed = fitted(web, n_features_to_select=number)
    assert_same(selector, fixed)
    assert not hasattr(fixed, "cv_results_")
    # what is chosen on the other queries alone, and the rows in any order
    by_hand, y, qid = np.zeros((7, 60)), web.target, web.qid
    for train, test in QueryKFold(5).split(web.data, groups=qid):
        own = fitted(web, rows=train, n_features_to_select=7)
        for number in range(7):
            order = own.selection_order_[: number + 1]
            ranker = FusedRanker(order, direction=own.directions_[order])
            ranker.fit(web.data[train], y[train], qid=qid[train])
            scores = ranker.predict(web.data[test], qid=qid[test])
            report = ta.evaluate(y[test], scores, qid=qid[test], measures="ndcg@10")
            at = np.searchsorted(np.unique(qid), report.qid)
            by_hand[number, at] = report.expected[:, 0]
    loss = by_hand[best] - by_hand
    for name, expected in {
        "mean_test_score": by_hand.mean(axis=1),
        "loss": loss.mean(axis=1),
        "standard_error": loss.std(axis=1, ddof=1) / np.sqrt(60),
    }.items():
        np.testing.assert_allclose(results[name], expected, atol=1e-12)
    # a query that is held out twice counts by its mean
    twice = QueryKFold(2, shuffle=True, n_repeats=2, random_state=0)
    repeated = fitted(web, **(auto | {"cv": twice})).cv_results_["mean_test_score"]
    np.testing.assert_allclose(repeated, results["mean_test_score"], atol=0.1)
    # losses are weighted as the values are
    ranker, weight = FusedRanker(**auto), 1.0 + qid % 3
    found = ranker.fit(web.data, y, qid=qid, query_weight=weight).cv_results_
    lost = found["mean_test_score"].max() - found["mean_test_score"]
    np.testing.assert_allclose(found["loss"], lost, atol=1e-12)
    rows = np.random.default_rng(0).permutation(len(web.target))
    again = fitted(web, rows=rows, **auto)
    assert_same(selector, again)
    same(again.cv_results_["loss"], results["loss"])


# as an estimator


@pytest.mark.parametrize("features", [None, [-1, 2]])
def test_features_that_are_fused_without_a_selection(web, features):
    ranker = FusedRanker(features).fit(web.data, web.target, qid=web.qid)
    selector, n = fitted(web), web.data.shape[1]
    columns = np.arange(n) if features is None else np.array(features) % n
    others = np.setdiff1d(np.arange(n), columns)
    same(ranker.selection_order_, columns)
    same(ranker.directions_[columns], selector.directions_[columns])
    same(ranker.mean_[columns], selector.mean_[columns])
    assert set(ranker.directions_[others]) <= {"none"}
    assert np.isnan(ranker.mean_[others]).all()
    assert (ranker.ranking_[others] == n).all()
    assert sorted(ranker.ranking_[columns]) == list(range(1, len(columns) + 1))
    selector.set_params(n_features_to_select=None)
    selector.fit(web.data, web.target, qid=web.qid)
    assert selector.support_.all()
    for one in (ranker, selector):
        assert not {"path_scores_", "repeats_"} & set(vars(one))


def test_a_selection_among_features_by_name_beside_a_column_of_ids(web):
    names = ["text_score", "n_slashes", "clicks"]
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    with_ids = frame.assign(q=web.qid)[["clicks", "q", "url_length", *names[:2]]]
    options = {"n_features_to_select": 2, "direction": "descending"}
    found = FusedRanker(names, qid="q", **options).set_output(transform="pandas")
    found.fit(with_ids, web.target)
    alone = fitted(web, frame[names], **options)
    order = [names[j] for j in alone.selection_order_]
    assert [with_ids.columns[j] for j in found.selection_order_] == order
    down = ["descending"]
    assert found.directions_.tolist() == [*down, "qid", "none", *down, *down]
    assert np.isnan(found.mean_[:3]).tolist() == [False, True, True]
    assert found.n_features_in_ == 5
    same(found.path_scores_, alone.path_scores_)
    chosen = [name for name in with_ids if name in order]
    assert list(found.transform(with_ids)) == chosen
    assert found.get_feature_names_out().tolist() == chosen
    same(found.predict(with_ids), alone.predict(frame[names], qid=web.qid))
    assert found.score(with_ids, web.target) == found.path_scores_[-1]
    given_twice = r"qid must be given once, .* set_predict_request\(qid=False\) stops"
    with pytest.raises(ValueError, match=given_twice):
        found.predict(with_ids, qid=web.qid)
    with pytest.raises(ValueError, match=r"must not name the column of query ids.* 1"):
        FusedRanker([1], qid="q").fit(with_ids, web.target)


def test_missing_values_are_last_in_either_direction(web):
    X, y = web.data.copy(), web.target.astype(float)
    X[::3, :6] = np.nan
    selector = fitted(web, X, missing="last")
    low = np.where(selector.directions_ == "ascending", 1e9, -1e9)
    filled = np.where(np.isnan(X), low, X)
    other = fitted(web, filled, direction=selector.directions_.tolist())
    assert_same(selector, other)
    same(selector.predict(X, qid=web.qid), other.predict(filled, qid=web.qid))
    with pytest.raises(ValueError, match="NaN"):
        fitted(web, X)
    # of labels, they are documents without a judgment
    y[::7] = np.nan
    zeros = fitted(web).fit(web.data, np.nan_to_num(y), qid=web.qid)
    found = fitted(web, unjudged="nonrelevant").fit(web.data, y, qid=web.qid)
    assert_same(found, zeros)
    with pytest.raises(ValueError, match="y must be judged"):
        zeros.fit(web.data, y, qid=web.qid)


def test_a_pipeline_with_routing(web):
    rows, given = (web.data, web.target), {"qid": web.qid}
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(FusedRanker(n_features_to_select=3), FusedRanker())
        predicted = model.fit(*rows, **given).predict(web.data, **given)
        score = model.score(*rows, **given)
        how = {"cv": QueryKFold(2), "params": given}
        folds = cross_val_score(model, *rows, scoring=ta.make_ranking_scorer(), **how)
    expected = fitted(web, n_features_to_select=3)
    same(predicted, expected.predict(web.data, **given))
    assert score == ta.ranking_score(web.target, predicted, **given)
    assert folds.min() > 0.2


def test_ids_are_needed_and_known_again(web):
    own, two = web.qid == web.qid[0], {"n_features_to_select": 2}
    with pytest.warns(UserWarning, match="without qid.*pass qid to fit"):
        selector = FusedRanker(**two).fit(web.data[own], web.target[own])
    assert_same(selector, fitted(web, rows=own, **two))
    with pytest.raises(
        ValueError, match=r"qid must hold .*Borda.*: pass it to predict"
    ):
        selector.predict(web.data)
    third = np.arange(len(web.qid)) % 3 == 0
    ranker = fitted(web, rows=third)
    with pytest.warns(ta.SplitQueriesWarning, match="that FusedRanker was fitted on"):
        ranker.score(web.data[~third], web.target[~third], qid=web.qid[~third])


CV = {"n_features_to_select": "cv"}


BAD_PARAMETERS = [
    ({"n_features_to_select": 0}, r"n_features_to_select .* >= 1, .* got 0"),
    ({"n_features_to_select": "auto"}, "n_features_.* \"cv\" or None, got 'auto'"),
    ({"max_correlation": 0}, r"max_correlation must be .*\(0, 1\] .* got 0"),
    ({"max_correlation": 1.1}, r"max_correlation must be .*\(0, 1\] .* got 1.1"),
    ({"max_features": 0}, "max_features must be an integer >= 1, got 0"),
    ({"direction": "up"}, "direction must be one of"),
    ({"direction": ["auto"]}, r"one value per feature \(12\), got 1"),
    ({"missing": "first"}, "missing must be one of"),
    ({"progress": 1}, "progress must be True or False"),
    ({"measure": "ndgc"}, "ndgc"),
    (CV | {"cv": QueryKFold(3, qid=0)}, "qid must be given once"),
    (CV | {"cv": 61}, r"n_splits must be at most the number of queries \(60\), got 61"),
    ({"features": []}, r"at least one column .* got \[\]"),
    ({"features": [0, -12]}, "each once"),
    ({"features": [12]}, "names or indices of the 12 columns"),
    ({"features": [-13]}, "names or indices of the 12 columns"),
    ({"features": ["clicks"]}, "names or indices of the 12 columns"),
    ({"features": [True]}, "names or indices of the 12 columns"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_parameters_that_break_a_rule(web, parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(web, **parameters)
