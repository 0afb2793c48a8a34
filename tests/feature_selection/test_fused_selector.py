"""Greedy selection by the exact measure of the fused ranking."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from tests import naive
from tieaware_sklearn import (
    FusedRanker,
    LinearRanker,
    QueryKFold,
    RankingFeatureSelector,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn._kernel.engines import compiled, use_engine
from tieaware_sklearn.datasets import load_letor

ENGINES = ["numpy"] + ["compiled"] * (compiled is not None)
MEASURES = {
    "ndcg@3": (naive.ndcg(3), 1),
    "ap": (naive.average_precision(), 1),
    "rr": (naive.reciprocal_rank(), 1),
    "fallout@2": (naive.fallout(2), -1),
}
SHOWN = (
    "selection_order_", "path_scores_", "support_", "mean_", "directions_",
    "ranking_", "repeats_",
)  # fmt: skip


def fitted(web, **parameters):
    selector = FusedRanker(**{"n_features_to_select": 5, **parameters})
    return selector.fit(web.data, web.target, qid=web.qid)


def assert_same(one, other):
    for name in SHOWN:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


# the same by the definition, in exact fractions


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
        scores = [
            sum(own)
            for own in zip(
                *(borda([row[j] for row in X], directions[j]) for j in features),
                strict=True,
            )
        ]
        found = naive.over_ties(plain, labels, scores)
        total += found.expected if found else 0
    return total / len(queries)


def best_directions(plain, sign, queries, n_features):
    return [
        max(
            ("descending", "ascending"),
            key=lambda way: sign * value(plain, queries, [j], {j: way}),
        )
        for j in range(n_features)
    ]


@st.composite
def small_data(draw):
    """Queries of a few documents with a few features, which tie."""
    n_features = draw(st.integers(2, 4))
    row = st.lists(st.integers(0, 2), min_size=n_features, max_size=n_features)
    query = st.lists(st.tuples(row, st.integers(0, 2)), min_size=1, max_size=5)
    drawn = draw(st.lists(query, min_size=1, max_size=3))
    return [tuple(map(list, zip(*one, strict=True))) for one in drawn]


def as_arrays(queries):
    X = np.array([row for rows, _ in queries for row in rows])
    y = np.array([label for _, labels in queries for label in labels])
    return X, y, np.repeat(np.arange(len(queries)), [len(own) for _, own in queries])


@pytest.mark.filterwarnings("ignore:n_features_to_select")
@pytest.mark.filterwarnings("ignore:no feature is selected")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("measure", MEASURES)
@given(queries=small_data())
@settings(max_examples=25, deadline=None)
def test_each_step_is_the_best_by_enumeration(engine, measure, queries):
    plain, sign = MEASURES[measure]
    X, y, qid = as_arrays(queries)
    with use_engine(engine):
        selector = FusedRanker(
            measure=measure, n_features_to_select=10, max_correlation=None
        )
        selector.fit(X, y, qid=qid)
    n_features = X.shape[1]
    directions = list(selector.directions_)
    for j, way in enumerate(best_directions(plain, sign, queries, n_features)):
        by_them = [value(plain, queries, [j], {j: w}) for w in (way, directions[j])]
        assert by_them[0] == by_them[1]
    varies = [
        any(any(borda([row[j] for row in rows], "descending")) for rows, _ in queries)
        for j in range(n_features)
    ]
    assert list(selector.support_) == varies
    chosen = []
    pairs = zip(selector.selection_order_, selector.path_scores_, strict=True)
    for feature, score in pairs:
        left = [j for j in range(n_features) if varies[j] and j not in chosen]
        values = {
            j: sign * value(plain, queries, [*chosen, j], directions) for j in left
        }
        assert values[feature] == max(values.values())
        assert score == pytest.approx(float(sign * values[feature]), abs=1e-12)
        chosen.append(feature)


@pytest.mark.parametrize("engine", ENGINES)
def test_neither_rows_nor_columns_nor_threads_change_the_choice(web, engine):
    # the last two are copies, of which the first column is chosen
    X = web.data[:, :10]
    rows = np.random.default_rng(0).permutation(len(web.target))
    columns = np.random.default_rng(1).permutation(10)
    with use_engine(engine):
        expected = FusedRanker(n_features_to_select=5)
        expected.fit(X, web.target, qid=web.qid)
        for n_jobs in (1, 3):
            selector = FusedRanker(n_features_to_select=5, n_jobs=n_jobs)
            selector.fit(X[rows], web.target[rows], qid=web.qid[rows])
            assert_same(selector, expected)
        turned = FusedRanker(n_features_to_select=5)
        turned.fit(X[:, columns], web.target, qid=web.qid)
    order = columns[turned.selection_order_]
    np.testing.assert_array_equal(order, expected.selection_order_)
    np.testing.assert_array_equal(turned.path_scores_, expected.path_scores_)


def test_the_scores_along_the_path_are_those_of_the_ranker(web):
    selector = fitted(web, measure="ap", zero_relevance="skip")
    for number, score in enumerate(selector.path_scores_, 1):
        order = selector.selection_order_[:number]
        directions = [selector.directions_[j] for j in order]
        ranker = FusedRanker(order.tolist(), direction=directions)
        ranker.fit(web.data, web.target, qid=web.qid)
        scores = ranker.predict(web.data, qid=web.qid)
        found = ranking_score(
            web.target, scores, qid=web.qid, measure="ap", zero_relevance="skip"
        )
        assert found == score
    np.testing.assert_array_equal(selector.predict(web.data, qid=web.qid), scores)


def test_single_features_are_as_the_other_selector_has_them(web):
    selector = fitted(web)
    alone = RankingFeatureSelector("ndcg@10").fit(web.data, web.target, qid=web.qid)
    np.testing.assert_array_equal(selector.mean_, alone.mean_[:, 0])
    np.testing.assert_array_equal(selector.ranking_, alone.ranking_)
    np.testing.assert_array_equal(selector.directions_, alone.directions_)
    assert selector.selection_order_[0] == np.argmin(alone.ranking_)
    assert selector.measure_ == "NDCG@10"
    assert selector.n_queries_ == 60


def test_weights_of_queries_are_those_of_repeated_queries(web):
    weight = 1.0 + (web.qid == web.qid[0])
    weighted = FusedRanker(n_features_to_select=4)
    weighted.fit(web.data, web.target, qid=web.qid, query_weight=weight)
    again = web.qid == web.qid[0]
    X, y = np.vstack([web.data, web.data[again]]), np.r_[web.target, web.target[again]]
    repeated = FusedRanker(n_features_to_select=4)
    repeated.fit(X, y, qid=np.r_[web.qid, np.full(again.sum(), web.qid.max() + 1)])
    np.testing.assert_array_equal(weighted.selection_order_, repeated.selection_order_)
    np.testing.assert_allclose(weighted.path_scores_, repeated.path_scores_, atol=1e-12)


def test_unjudged_documents(web):
    y = web.target.astype(float)
    y[::7] = np.nan
    options = {"measure": "ap", "n_features_to_select": 3}
    selector = FusedRanker(**options, unjudged="nonrelevant")
    selector.fit(web.data, y, qid=web.qid)
    zeros = FusedRanker(**options).fit(web.data, np.nan_to_num(y), qid=web.qid)
    assert_same(selector, zeros)
    with pytest.raises(ValueError, match="y must be judged"):
        FusedRanker(n_features_to_select=10).fit(web.data, y, qid=web.qid)


@pytest.mark.parametrize("n_features_to_select", [4, 0.4])
def test_copies_in_any_monotone_form_are_left_out(web, n_features_to_select):
    X = web.data[:, :10]
    forms = [X, 2 * X + 1, -X, np.exp(X / np.abs(X).max(axis=0))]
    copies = np.hstack(forms)
    number = n_features_to_select
    number = number if isinstance(number, int) else number / len(forms)
    selector = FusedRanker(n_features_to_select=number)
    selector.fit(copies, web.target, qid=web.qid)
    assert len(set(selector.selection_order_ % 10)) == 4
    plain = FusedRanker(n_features_to_select=4)
    plain.fit(X, web.target, qid=web.qid)
    np.testing.assert_array_equal(
        selector.selection_order_ % 10, plain.selection_order_
    )
    np.testing.assert_array_equal(selector.path_scores_, plain.path_scores_)
    for feature in selector.selection_order_:
        repeated = np.flatnonzero(selector.repeats_ == feature)
        assert set(feature % 10 + 10 * np.arange(4)) - {feature} <= set(repeated)


def test_copies_fill_up_where_nothing_else_is_left(web):
    X = np.column_stack([web.data[:, :2], web.data[:, :2] ** 3, np.ones(len(web.data))])
    with pytest.warns(UserWarning, match="2 of the 4 features that are selected") as w:
        selector = FusedRanker(n_features_to_select=4).fit(X, web.target, qid=web.qid)
    assert len(w) == 1
    assert set(selector.selection_order_[:2] % 2) == {0, 1}
    assert set(selector.selection_order_) == {0, 1, 2, 3}
    assert selector.repeats_[4] == -1
    with pytest.warns(UserWarning, match="only 4 of 5 features vary"):
        FusedRanker(n_features_to_select=10, max_correlation=None).fit(
            X, web.target, qid=web.qid
        )
    auto = FusedRanker(n_features_to_select="cv", cv=2)
    auto.fit(X, web.target, qid=web.qid)
    assert len(auto.selection_order_) <= 2


def test_equal_candidates_go_by_rank_alone_then_by_column():
    # fused with the first, each of the others gives a perfect ranking
    X = [[2, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 0, 0]]
    selector = FusedRanker(
        measure="rr",
        n_features_to_select=2,
        max_correlation=None,
        direction="descending",
    )
    selector.fit(X, [1, 0, 0, 0], qid=[0] * 4)
    assert selector.ranking_.tolist() == [1, 2, 4, 3]
    assert selector.selection_order_.tolist() == [0, 1]


def test_missing_values_are_last_in_either_direction(web):
    X = web.data.copy()
    X[::3, :6] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FusedRanker(n_features_to_select=10).fit(X, web.target, qid=web.qid)
    selector = FusedRanker(n_features_to_select=4, missing="last")
    selector.fit(X, web.target, qid=web.qid)
    low = np.where(selector.directions_ == "ascending", 1e9, -1e9)
    filled = np.where(np.isnan(X), low, X)
    other = FusedRanker(n_features_to_select=4, direction=selector.directions_.tolist())
    other.fit(filled, web.target, qid=web.qid)
    assert_same(selector, other)
    np.testing.assert_array_equal(
        selector.predict(X, qid=web.qid), other.predict(filled, qid=web.qid)
    )


def test_sparse_matrices_and_frames_are_as_arrays(web):
    expected = fitted(web)
    frame = pd.DataFrame(web.data, columns=web.feature_names).assign(q=web.qid)
    for kind in (sp.csr_array, sp.csc_matrix):
        selector = FusedRanker(n_features_to_select=5)
        selector.fit(kind(web.data), web.target, qid=web.qid)
        assert_same(selector, expected)
        chosen = selector.transform(kind(web.data)).toarray()
        np.testing.assert_array_equal(chosen, expected.transform(web.data))
        np.testing.assert_array_equal(
            selector.predict(kind(web.data), qid=web.qid),
            expected.predict(web.data, qid=web.qid),
        )
    frame.insert(0, "q", frame.pop("q"))
    selector = FusedRanker(n_features_to_select=5, qid="q")
    selector.set_output(transform="pandas").fit(frame, web.target)
    names = [web.feature_names[j] for j in sorted(expected.selection_order_)]
    assert list(selector.transform(frame)) == names
    assert selector.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(
        selector.selection_order_, expected.selection_order_ + 1
    )
    assert selector.directions_[0] == "qid"
    assert np.isnan(selector.mean_[0])
    np.testing.assert_array_equal(
        selector.predict(frame), expected.predict(web.data, qid=web.qid)
    )


@pytest.mark.parametrize("measure", ["ndcg@10", "esl"])
def test_fewer_features_are_the_beginning_of_more(web, measure):
    most = fitted(web, measure=measure, n_features_to_select=6)
    for number in (1, 2, 4):
        fewer = fitted(web, measure=measure, n_features_to_select=number)
        for name in ("selection_order_", "path_scores_"):
            np.testing.assert_array_equal(
                getattr(fewer, name), getattr(most, name)[:number]
            )


def test_a_pipeline_with_routing(web):
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(FusedRanker(n_features_to_select=3), FusedRanker())
        model.fit(web.data, web.target, qid=web.qid)
        predicted = model.predict(web.data, qid=web.qid)
        score = model.score(web.data, web.target, qid=web.qid)
        search = GridSearchCV(
            make_pipeline(FusedRanker(n_features_to_select=10), LinearRanker()),
            {"fusedranker__n_features_to_select": [1, 3]},
            scoring=make_ranking_scorer("ndcg@10"),
            cv=QueryKFold(3),
        ).fit(web.data, web.target, qid=web.qid)
    expected = fitted(web, n_features_to_select=3)
    np.testing.assert_array_equal(predicted, expected.predict(web.data, qid=web.qid))
    assert score == ranking_score(web.target, predicted, qid=web.qid)
    assert score == expected.path_scores_[-1]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_progress_bar_changes_nothing(web, capsys):
    for number in (5, "cv"):
        shown = fitted(web, n_features_to_select=number, progress=True)
        bars = capsys.readouterr().err
        assert "selecting" in bars
        assert ("cross-validation" in bars) == (number == "cv")
        assert_same(shown, fitted(web, n_features_to_select=number))


def test_one_query_and_no_ids(web):
    own = web.qid == web.qid[0]
    with pytest.warns(UserWarning, match="without qid"):
        selector = FusedRanker(n_features_to_select=2).fit(
            web.data[own], web.target[own]
        )
    same = FusedRanker(n_features_to_select=2)
    same.fit(web.data[own], web.target[own], qid=np.zeros(own.sum()))
    assert_same(selector, same)
    with pytest.raises(ValueError, match="cv must be at most the number of queries"):
        FusedRanker(n_features_to_select="cv").fit(
            web.data[own], web.target[own], qid=np.zeros(own.sum())
        )


def test_nothing_varies(web):
    with pytest.warns(UserWarning, match="no feature is selected"):
        selector = FusedRanker(n_features_to_select=10).fit(
            web.data, web.target, qid=np.arange(len(web.target))
        )
    assert not selector.support_.any()
    assert selector.path_scores_.shape == selector.selection_order_.shape == (0,)
    with pytest.warns(UserWarning, match="no feature is selected"):
        assert selector.transform(web.data).shape == (len(web.data), 0)
    assert not selector.predict(web.data, qid=web.qid).any()


class ByRows:
    """Folds that split queries."""

    def split(self, X, y=None, groups=None):
        rows = np.arange(len(X))
        return [(rows[::2], rows[1::2])]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select must be an integer"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be an integer"),
        ({"n_features_to_select": True}, "n_features_to_select must be an integer"),
        ({"n_features_to_select": "auto"}, "n_features_to_select must be an integer"),
        ({"max_correlation": 0}, r"max_correlation must be a number in \(0, 1\]"),
        ({"max_correlation": 1.1}, r"max_correlation must be a number in \(0, 1\]"),
        ({"max_features": 0}, "max_features must be an integer"),
        ({"direction": "up"}, "direction must be one of"),
        ({"direction": ["auto"]}, "direction must have one value per feature"),
        ({"missing": "first"}, "missing must be one of"),
        ({"progress": 1}, "progress must be True or False"),
        ({"measure": "ndgc"}, "ndgc"),
        (
            {"n_features_to_select": "cv", "cv": ByRows()},
            "cv must keep queries whole",
        ),
        (
            {"n_features_to_select": "cv", "cv": QueryKFold(3, qid=0)},
            "cv must leave its qid at None",
        ),
    ],
)
def test_parameters_that_break_a_rule(web, parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(web, **parameters)


def test_auto_takes_fewest_features_that_are_as_good(web):
    selector = fitted(web, n_features_to_select="cv", max_features=7)
    results = selector.cv_results_
    assert results["n_features"].tolist() == list(range(1, 8))
    best = np.argmax(results["mean_test_score"])
    assert results["loss"][best] == 0
    good = results["loss"] <= results["standard_error"]
    number = int(results["n_features"][good][0])
    assert len(selector.selection_order_) == number
    fixed = fitted(web, n_features_to_select=number)
    assert_same(selector, fixed)
    assert not hasattr(fixed, "cv_results_")
    # what is chosen on the other queries alone, and the rows in any order
    by_hand = np.zeros((7, 60))
    ids = np.unique(web.qid)
    for train, test in QueryKFold(5).split(web.data, groups=web.qid):
        own = FusedRanker(n_features_to_select=7)
        own.fit(web.data[train], web.target[train], qid=web.qid[train])
        for number in range(7):
            order = own.selection_order_[: number + 1]
            ranker = FusedRanker(
                order.tolist(), direction=own.directions_[order].tolist()
            ).fit(web.data[train], web.target[train], qid=web.qid[train])
            values = ranking_score(
                web.target[test],
                ranker.predict(web.data[test], qid=web.qid[test]),
                qid=web.qid[test],
                average=None,
            )
            _, first = np.unique(web.qid[test], return_index=True)
            names = web.qid[test][np.sort(first)]
            by_hand[number, np.searchsorted(ids, names)] = values
    np.testing.assert_allclose(results["mean_test_score"], by_hand.mean(axis=1))
    loss = by_hand[best] - by_hand
    np.testing.assert_allclose(results["loss"], loss.mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(
        results["standard_error"], loss.std(axis=1, ddof=1) / np.sqrt(60), atol=1e-12
    )
    rows = np.random.default_rng(0).permutation(len(web.target))
    again = FusedRanker(n_features_to_select="cv", max_features=7)
    again.fit(web.data[rows], web.target[rows], qid=web.qid[rows])
    assert_same(selector, again)
    np.testing.assert_array_equal(again.cv_results_["loss"], results["loss"])


def test_three_forms_of_each_feature_of_real_data(shared_data):
    data = load_letor(shared_data / "mslr/msn1.fold1.train.5k.txt.gz")
    X = data.data.toarray() if sp.issparse(data.data) else data.data
    forms = np.hstack([X, 2 * X + 1, -X])
    selector = FusedRanker(n_features_to_select=20)
    selector.fit(forms, data.target, qid=data.qid)
    assert len(set(selector.selection_order_ % X.shape[1])) == 20
