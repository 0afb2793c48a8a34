"""LinearRanker tunes its weights by coordinate ascent on an exact measure."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import (
    LinearRanker,
    QueryKFold,
    SplitQueriesWarning,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn._kernel.engines import engine, use_engine
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=24, n_documents=15, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid


def quick(**options):
    return LinearRanker(**{"n_restarts": 1, "max_iter": 3, **options})


def drawn(seed, n_queries=8, n_features=3):
    """Features with ties, and labels that depend on them a little."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(2, 9, n_queries))
    Z = rng.integers(0, 4, (len(qid), n_features)).astype(float)
    y = np.clip(Z[:, 0] + rng.integers(-2, 2, len(qid)), 0, 3)
    y[0] = 1
    return Z, y, qid


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["ndcg@10", "ap", "rr", "esl"]))
def test_training_never_gets_worse(seed, measure):
    Z, y, qid = drawn(seed)
    ranker = quick(measure=measure).fit(Z, y, qid=qid)
    sign = -1 if measure == "esl" else 1
    assert (sign * np.diff(ranker.train_score_) >= 0).all()
    best = ranker.train_score_[ranker.n_iter_]
    assert best == sign * np.max(sign * ranker.train_score_)
    # the value that was tuned is the value of the ranking
    assert best == ranking_score(y, ranker.predict(Z), qid=qid, measure=measure)
    for j in range(Z.shape[1]):
        alone = [
            ranking_score(y, s * Z[:, j], qid=qid, measure=measure) for s in (1, -1)
        ]
        lifted = ranking_score(y, 0 * Z[:, j], qid=qid, measure=measure)
        if measure != "esl" and max(alone) > lifted:
            assert best >= max(alone) - 1e-12


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 0.4]), st.booleans())
def test_no_bit_depends_on_rows_ids_or_threads(seed, share, texts):
    Z, y, qid = drawn(seed)
    y[qid % 2 == 0] = np.maximum(y[qid % 2 == 0], 1)
    y[qid % 2 == 1] = np.maximum(y[qid % 2 == 1], 1)
    Z = Z + np.random.default_rng(seed).normal(size=Z.shape).round(1)
    ids = np.array([f"q{q}" for q in qid]) if texts else qid
    ranker = quick(validation_fraction=share, transforms="log1p")
    weight = qid % 3 + 0.5
    one = clone(ranker).fit(Z, y, qid=ids, query_weight=weight)
    rows = np.random.default_rng(seed).permutation(len(y))
    two = clone(ranker).set_params(n_jobs=2)
    two.fit(Z[rows], y[rows], qid=ids[rows], query_weight=weight[rows])
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.train_score_, two.train_score_)
    assert np.array_equal(one.predict(Z), two.predict(Z))


def test_both_engines_agree():
    found = []
    for name in ("numpy", engine()):
        with use_engine(name):
            found.append(quick().fit(X, Y, qid=QID))
    assert np.array_equal(found[0].coef_, found[1].coef_)
    np.testing.assert_allclose(found[0].train_score_, found[1].train_score_, atol=1e-12)


@pytest.mark.parametrize("transform", [None, "log1p", "rank"])
def test_a_linear_model_is_recovered(transform):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 4)) * [1.0, 50.0, 0.01, 1.0]
    made = Z @ np.array([1.0, -0.04, 60.0, 0.0])
    qid = np.arange(600) % 30
    if transform is not None:
        made = np.sign(Z[:, 0]) * np.log1p(abs(Z[:, 0])) - 0.01 * Z[:, 1]
    y = np.digitize(made, np.quantile(made, [0.6, 0.85]))
    ranker = LinearRanker(transforms=transform).fit(Z, y, qid=qid)
    assert ranker.train_score_[ranker.n_iter_] > 0.97
    equal = LinearRanker("equal", transforms=transform).fit(Z)
    assert ranker.score(Z, y, qid=qid) > equal.score(Z, y, qid=qid) + 0.1
    share = ranker.coef_ * Z.std(axis=0)
    if transform is None:
        assert np.abs(share).sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(share / share[0], [1, -2, 0.6, 0], atol=0.3)


def test_an_interaction_of_signs_is_found():
    """Neither feature ranks alone; their difference does."""
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=400) * 20, rng.normal(size=400)
    Z = np.column_stack([common + own, common - own])
    y = (own > 1).astype(int)
    qid = np.arange(400) % 20
    ranker = LinearRanker(measure="ap").fit(Z, y, qid=qid)
    perfect = ranking_score(y, own, qid=qid, measure="ap")
    assert ranker.train_score_[0] < perfect - 0.2
    assert ranking_score(y, ranker.predict(Z), qid=qid, measure="ap") == perfect


def test_a_single_feature_has_the_direction_that_ranks():
    for sign in (1, -1):
        ranker = quick().fit(sign * Y[:, None], Y, qid=QID)
        assert np.sign(ranker.coef_) == [sign]
        assert ranker.train_score_.tolist() == [ranker.train_score_[0]] * 2
        assert ranker.n_iter_ == 0


def test_features_constant_within_queries_get_no_weight():
    Z = np.column_stack([X[:, 0], np.ones(len(Y)), QID, X[:, 1]])
    ranker = quick(n_restarts=3).fit(Z, Y, qid=QID)
    assert ranker.coef_[[1, 2]].tolist() == [0, 0]
    assert ranker.coef_.any()
    for constant in (np.ones((len(Y), 2)), QID[:, None]):
        for share in (None, 0.3):
            ranker = quick(validation_fraction=share).fit(constant, Y, qid=QID)
            assert not ranker.coef_.any()
            assert ranker.n_iter_ == 0
            assert len(set(ranker.predict(constant))) == 1


def test_equal_values_change_nothing():
    """A perfect ranking stays as it is, for weights that could move as well."""
    ranker = quick().fit(np.column_stack([Y, Y * 10]), Y, qid=QID)
    assert len(set(ranker.train_score_)) == 1
    assert ranker.n_iter_ == 0
    assert ranker.coef_[0] == pytest.approx(10 * ranker.coef_[1])


def test_restarts_only_add():
    """More restarts keep the ascents that fewer make."""
    values = [
        ranker.train_score_[ranker.n_iter_]
        for ranker in (quick(n_restarts=n).fit(X, Y, qid=QID) for n in (0, 1, 3))
    ]
    assert values == sorted(values)


def test_the_seed_and_its_kinds():
    one, two = (quick(random_state=s).fit(X, Y, qid=QID).coef_ for s in (1, 2))
    assert not np.array_equal(one, two)
    state = np.random.RandomState(1)
    assert np.array_equal(quick(random_state=state).fit(X, Y, qid=QID).coef_, one)
    with pytest.raises(ValueError, match="random_state must be"):
        quick(random_state="x").fit(X, Y, qid=QID)


def test_held_out_queries_stop_the_ascent():
    ranker = quick(validation_fraction=0.25, max_iter=8, tol=0).fit(X, Y, qid=QID)
    held = ranker.validation_score_
    assert len(held) == len(ranker.train_score_)
    assert held[ranker.n_iter_] == held.max()
    assert ranker.n_iter_ == np.argmax(held)
    # the mean of all queries is that of both parts
    everything = ranking_score(Y, ranker.predict(X), qid=QID)
    parts = 18 * ranker.train_score_[ranker.n_iter_] + 6 * held[ranker.n_iter_]
    assert everything == pytest.approx(parts / 24, abs=1e-12)
    assert not hasattr(quick().fit(X, Y, qid=QID), "validation_score_")


def test_tol_and_max_iter():
    assert len(quick(max_iter=1).fit(X, Y, qid=QID).train_score_) == 2
    # two iterations that bring too little are the last
    assert len(quick(max_iter=9, tol=1).fit(X, Y, qid=QID).train_score_) == 3


def test_weights_of_queries_are_those_of_the_mean():
    weight = QID % 2 * 3.0 + (QID % 2 == 0)
    ranker = quick().fit(X, Y, qid=QID, query_weight=weight)
    assert ranker.train_score_[ranker.n_iter_] == ranking_score(
        Y, ranker.predict(X), qid=QID, query_weight=weight
    )
    only = quick().fit(X, Y, qid=QID, query_weight=QID[40] > QID)
    few = QID[40] > QID
    assert ranking_score(Y[few], only.predict(X[few]), qid=QID[few]) == pytest.approx(
        only.train_score_[only.n_iter_]
    )


def test_undefined_and_unjudged():
    y = np.where(QID[0] == QID, 0, Y)
    skipped = quick(zero_relevance="skip").fit(X, y, qid=QID)
    assert skipped.train_score_[-1] == pytest.approx(
        ranking_score(y, skipped.predict(X), qid=QID, zero_relevance="skip")
    )
    with pytest.raises(ValueError, match="NDCG@10 is undefined for query"):
        quick(zero_relevance="raise").fit(X, y, qid=QID)
    missing = np.where(np.arange(len(Y)) % 7 == 0, np.nan, Y)
    with pytest.raises(ValueError, match="y must be judged"):
        quick().fit(X, missing, qid=QID)
    ranker = quick(unjudged="nonrelevant").fit(X, missing, qid=QID)
    as_zero = quick().fit(X, np.nan_to_num(missing), qid=QID)
    assert np.array_equal(ranker.coef_, as_zero.coef_)


def test_a_mean_is_needed():
    with pytest.raises(
        ValueError, match=r"ESL\(i=99\) must be defined .* no such query$"
    ):
        quick(measure="esl(i=99)").fit(X, Y, qid=QID)
    one = QID[0] == QID
    with pytest.raises(ValueError, match=r"no such query (held out|left to tune by)"):
        quick(validation_fraction=0.3).fit(X, Y, qid=QID, query_weight=one)


def test_a_column_of_ids():
    frame = pd.DataFrame(X, columns=WEB.feature_names)
    plain = quick().fit(frame, Y, qid=QID)
    ids = [f"q{q:03d}" for q in QID]
    named = frame.copy()
    named.insert(3, "query", ids)
    ranker = quick(qid="query").fit(named, Y)
    assert np.array_equal(ranker.coef_, plain.coef_)
    assert ranker.n_features_in_ == 13
    assert ranker.feature_names_in_.tolist() == list(named)
    assert np.array_equal(ranker.predict(named), plain.predict(frame))
    assert ranker.score(named, Y) == plain.score(frame, Y, qid=QID)
    at = quick(qid=-1).fit(np.column_stack([X, QID]), Y)
    assert np.array_equal(at.coef_, plain.coef_)
    # given weights leave the column out, too
    given = LinearRanker(plain.coef_, qid=-1).fit(np.column_stack([X, QID]))
    scores = given.predict(np.column_stack([X, QID]))
    assert np.array_equal(scores, plain.predict(frame))
    with pytest.raises(ValueError, match="qid must be given once"):
        ranker.fit(named, Y, qid=QID)
    with pytest.raises(ValueError, match="must name a column of X, got 'query'"):
        ranker.predict(frame)


def test_searches_and_cross_validation():
    grid = {"linearranker__measure": ["ndcg@10", "ap"]}
    scorer = make_ranking_scorer("ndcg@10")
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), quick())
        search = GridSearchCV(
            model, grid, scoring=scorer, cv=QueryKFold(3), error_score="raise"
        ).fit(X, Y, qid=QID)
        routed = cross_validate(
            quick(), X, Y, scoring=scorer, cv=QueryKFold(3), params={"qid": QID},
            error_score="raise",
        )["test_score"]  # fmt: skip
    assert search.best_estimator_[-1].coef_.shape == (12,)
    Z = np.column_stack([X, QID])
    by_column = cross_validate(
        quick(qid=12), Z, Y, cv=QueryKFold(3, qid=12), error_score="raise",
        scoring=make_ranking_scorer("ndcg@10", qid=12),
    )["test_score"]  # fmt: skip
    assert np.array_equal(routed, by_column)


def test_split_queries_are_warned_of():
    half = np.arange(len(Y)) % 3 == 0
    ids = np.array([f"q{q}" for q in QID])
    ranker = quick().fit(X[half], Y[half], qid=ids[half])
    with pytest.warns(SplitQueriesWarning, match="LinearRanker was fitted on"):
        ranker.score(X[~half], Y[~half], qid=ids[~half])


def test_it_is_pickled_cloned_and_fitted_again():
    ranker = quick(transforms="rank", validation_fraction=0.3).fit(X, Y, qid=QID)
    again = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(again.predict(X), ranker.predict(X))
    assert clone(ranker).get_params() == ranker.get_params()
    # given weights leave nothing of an earlier fit
    ranker.set_params(coef=ranker.coef_).fit(X)
    for name in ("train_score_", "validation_score_", "n_iter_"):
        assert not hasattr(ranker, name)
    assert np.array_equal(again.coef_, ranker.coef_)


def test_a_bar(capsys):
    quick(progress=True).fit(X, Y, qid=QID)
    shown = capsys.readouterr().err
    assert "tuning" in shown
    assert "3/3" in shown


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"y": None}, "requires y to be passed, but the target y is None"),
        ({}, {"qid": None}, 'got None: pass qid to fit.*coef="equal" needs no query'),
        ({}, {"qid": QID * 0}, "at least two queries to tune weights, got one"),
        ({}, {"qid": QID[:9]}, "qid must have one value per row"),
        ({}, {"y": Y[:9]}, r"y must have one value per row \(\d+\), got 9"),
        ({}, {"y": Y * 0}, "a label above 0 to tune weights, got no relevant"),
        ({}, {"y": Y - 1.0}, "y must be >= 0"),
        ({"measure": "x"}, {}, "measure"),
        ({"n_restarts": -1}, {}, "n_restarts must be an integer >= 0, got -1"),
        ({"max_iter": 0}, {}, "max_iter must be an integer >= 1, got 0"),
        ({"tol": -1}, {}, "tol must be a number >= 0, got -1"),
        ({"validation_fraction": 1}, {}, r"validation_fraction .* \(0, 1\), got 1"),
        ({"validation_fraction": 0.01}, {}, "at least one query .* got 0.01 of 24"),
        (
            {"validation_fraction": 0.2},
            {"y": Y * (QID[0] == QID)},
            "relevant documents in both parts, got none in the (5|19) queries",
        ),
        ({"unjudged": "x"}, {}, "unjudged must be one of"),
        ({"zero_relevance": "x"}, {}, "zero_relevance must be one of"),
    ],
)
def test_what_is_refused(options, given, message):
    with pytest.raises(ValueError, match=message):
        quick(**options).fit(X, **{"y": Y, "qid": QID, **given})


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().fit(X, Y, qid=QID)
