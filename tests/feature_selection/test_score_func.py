"""RankingScoreFunc in scikit-learn's univariate filters."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.feature_selection import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
)
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from tests.feature_selection.helpers import fitted
from tieaware_sklearn import (
    QueryKFold,
    RankingFeatureSelector,
    RankingScoreFunc,
    make_ranking_scorer,
)


def with_qid(web, at=0):
    return np.insert(web.data, at, web.qid, axis=1)


@pytest.mark.parametrize("measure", ["ap(rel=2)", "ndcg@5", "fallout@5", "esl"])
@pytest.mark.parametrize("at", [None, 0, 5, -1])
def test_it_is_what_the_selector_computes(web, measure, at):
    selector = fitted(web, measures=measure)
    if at is None:
        function = RankingScoreFunc(measure)
        scores, pvalues = function(web.data, web.target, qid=web.qid)
    else:
        X = with_qid(web, web.data.shape[1] if at == -1 else at)
        scores, pvalues = RankingScoreFunc(measure, qid=at)(X, web.target)
        assert np.isnan(scores[at])
        assert pvalues[at] == 1
        scores, pvalues = np.delete(scores, at), np.delete(pvalues, at)
    sign = -1 if measure in ("fallout@5", "esl") else 1
    np.testing.assert_array_equal(scores, sign * selector.mean_[:, 0])
    np.testing.assert_array_equal(pvalues, selector.pvalues_[:, 0])
    # the best of the selector has the greatest score
    assert selector.ranking_[np.argmax(scores)] == 1


def test_options_are_those_of_the_selector(web):
    weight, X = 1.0 / web.qid, with_qid(web)
    options = {"direction": "ascending", "zero_relevance": "skip"}
    function = RankingScoreFunc("ap(rel=4)", qid=0, n_jobs=2, **options)
    scores, _ = function(X, web.target, query_weight=weight)
    selector = RankingFeatureSelector("ap(rel=4)", **options)
    selector.fit(web.data, web.target, web.qid, weight)
    np.testing.assert_array_equal(scores[1:], selector.mean_[:, 0])
    frame = pd.DataFrame(web.data, columns=web.feature_names).assign(q=web.qid)
    by_name = RankingScoreFunc("ap(rel=4)", qid="q", **options)
    found = by_name(frame, web.target, query_weight=weight)[0]
    np.testing.assert_array_equal(found[:-1], scores[1:])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix, list])
def test_filters_never_take_the_ids_for_a_feature(web, convert):
    X, function = convert(with_qid(web)), RankingScoreFunc("ap", qid=0)
    n = web.data.shape[1]
    best = (fitted(web, measures="ap").ranking_ <= 4).tolist()
    for select in (
        SelectKBest(function, k=4),
        SelectPercentile(function, percentile=100 * 4 / (n + 1)),
        GenericUnivariateSelect(function, mode="k_best", param=4),
    ):
        assert select.fit(X, web.target).get_support().tolist() == [False, *best]
    assert not SelectKBest(function, k=n).fit(X, web.target).get_support()[0]
    adjusted = fitted(web, measures="ap").qvalues_[:, 0]
    pvalues = select.pvalues_[1:]
    for select, passed in (
        (SelectFdr(function, alpha=0.01), adjusted * (n + 1) / n <= 0.01),
        (SelectFpr(function, alpha=0.01), pvalues < 0.01),
        (SelectFwe(function, alpha=0.01), pvalues < 0.01 / (n + 1)),
        (GenericUnivariateSelect(function, mode="fdr", param=0.01), None),
    ):
        support = select.fit(X, web.target).get_support().tolist()
        wanted = passed if passed is not None else adjusted * (n + 1) / n <= 0.01
        assert support == [False, *wanted]


def test_it_pickles_clones_and_says_what_it_is(web):
    function = RankingScoreFunc("ap", qid=0)
    assert repr(function) == "RankingScoreFunc(measure='ap', qid=0)"
    select = SelectKBest(function, k=3)
    assert "RankingScoreFunc(measure='ap', qid=0)" in repr(select)
    X = with_qid(web)
    for other in (clone(select), pickle.loads(pickle.dumps(select))):
        other.fit(X, web.target)
        assert other.get_params()["score_func__measure"] == "ap"
        np.testing.assert_array_equal(other.scores_, select.fit(X, web.target).scores_)
    select.set_params(score_func__measure="rr")
    assert function.measure == "rr"
    assert "RankingScoreFunc" in select._repr_html_()


@pytest.mark.parametrize("routing", [False, True])
def test_a_grid_search_over_whole_queries(web, routing):
    X = with_qid(web)
    model = make_pipeline(SelectKBest(RankingScoreFunc(qid=0)), Ridge())
    grid = {
        "selectkbest__k": [1, 4],
        "selectkbest__score_func__measure": ["ap", "fallout@3"],
    }
    cv = QueryKFold(3, qid=0)
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(
            model,
            grid,
            cv=cv,
            scoring=make_ranking_scorer("ap", qid=0),
            error_score="raise",
        ).fit(X, web.target)
    train, test = next(cv.split(X))
    best = RankingFeatureSelector("fallout@3", n_features_to_select=1)
    best.fit(web.data[train], web.target[train], qid=web.qid[train])
    kept = best.transform(web.data)
    rank = Ridge().fit(kept[train], web.target[train])
    by_hand = make_ranking_scorer("ap")(
        rank, kept[test], web.target[test], qid=web.qid[test]
    )
    row = search.cv_results_["params"].index(
        {"selectkbest__k": 1, "selectkbest__score_func__measure": "fallout@3"}
    )
    assert search.cv_results_["split0_test_score"][row] == by_hand


def test_without_query_ids_it_warns(web):
    message = r"without qid, all \d+ rows .* RankingScoreFunc\(qid=<index>\)"
    one = np.zeros(len(web.qid))
    wanted, pvalues = RankingScoreFunc("ap")(web.data, web.target, qid=one)
    assert np.isnan(pvalues).all()
    with pytest.warns(UserWarning, match=message):
        select = SelectKBest(RankingScoreFunc("ap"), k=2).fit(web.data, web.target)
    np.testing.assert_array_equal(select.scores_, wanted)
    assert not SelectFdr(RankingScoreFunc("ap", qid=0)).fit(
        np.column_stack([one, web.data]), web.target
    ).get_support().any()  # fmt: skip


def test_bad_input(web):
    X, y = with_qid(web), web.target
    for function, message in (
        (RankingScoreFunc("ndgc", qid=0), "did you mean 'NDCG'"),
        (RankingScoreFunc(["ap", "rr"], qid=0), "measure"),
        (RankingScoreFunc(qid=13), "index of one of the 13 columns"),
        (RankingScoreFunc(qid="qid"), "qid must be an index .* give the index"),
        (RankingScoreFunc(qid=0, direction="up"), "direction must be one of"),
        (RankingScoreFunc(qid=0, zero_relevance="no"), "zero_relevance must be"),
    ):
        with pytest.raises(ValueError, match=message):
            SelectKBest(function, k=2).fit(X, y)
    with pytest.raises(ValueError, match="y must be >= 0"):
        SelectKBest(RankingScoreFunc(qid=0), k=2).fit(X, y - 1.0)
    with pytest.raises(ValueError, match="qid must be given once"):
        RankingScoreFunc(qid=0)(X, y, qid=web.qid)
