"""Learning curves by whole queries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import LearningCurveDisplay, LeaveOneOut, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from tieaware_sklearn import (
    QueryKFold,
    QueryTimeSeriesSplit,
    make_ranking_scorer,
    query_learning_curve,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker

WEB = make_web_search(n_queries=24, n_documents=12, shuffle=True, random_state=0)
FRAME = pd.DataFrame(WEB.data, columns=WEB.feature_names).assign(qid=WEB.qid)
RANKER = QueryLGBMRanker(n_estimators=3, verbosity=-1, n_jobs=1)


class Recorder(BaseEstimator):
    """Ranks by the first column, and notes the ids that the last one holds."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append(X[:, -1].tolist())
        return self

    def predict(self, X):
        return X[:, 0]


def curve(estimator=RANKER, X=WEB.data, **options):
    options = {"qid": WEB.qid, "cv": 3, "error_score": "raise", **options}
    return query_learning_curve(estimator, X, WEB.target, **options)


def test_training_sets_are_nested_samples_of_whole_queries():
    Recorder.seen = []
    X = np.c_[WEB.data, WEB.qid]
    sizes, train, test = curve(Recorder(), X, train_sizes=[1.0, 0.25, 7, 0.25])
    assert sizes.tolist() == [4, 7, 16]
    assert train.shape == test.shape == (3, 3)
    for fold, (rows, _) in enumerate(QueryKFold(3).split(X, groups=WEB.qid)):
        # in the order in which scikit-learn fits: size by size
        sets = [set(Recorder.seen[3 * i + fold]) for i in range(3)]
        assert sets[0] < sets[1] < sets[2] == set(WEB.qid[rows])
        assert [len(ids) for ids in sets] == [4, 7, 16]
        for i, ids in enumerate(sets):
            assert len(Recorder.seen[3 * i + fold]) == np.isin(WEB.qid, list(ids)).sum()


@pytest.mark.parametrize("routing", [False, True])
def test_the_last_point_is_that_of_whole_folds(routing):
    column = RANKER.__class__(qid="qid", n_estimators=3, verbosity=-1, n_jobs=1)
    with sklearn.config_context(enable_metadata_routing=routing):
        _, train, test = curve(train_sizes=[0.3, 1.0])
        _, *by_column = curve(column, FRAME, qid="qid", train_sizes=[0.3, 1.0])
    np.testing.assert_array_equal(by_column, [train, test])
    for fold, (rows, rest) in enumerate(QueryKFold(3).split(FRAME, groups=WEB.qid)):
        model = column.fit(FRAME.iloc[rows], WEB.target[rows])
        for place, scores in ((rows, train), (rest, test)):
            value = ranking_score(
                WEB.target[place], model.predict(FRAME.iloc[place]), qid=WEB.qid[place]
            )
            assert scores[-1, fold] == value


def test_no_row_order_matters():
    expected = curve(Recorder(), np.c_[WEB.data, WEB.qid])
    Recorder.seen = []
    order = np.random.default_rng(0).permutation(len(WEB.qid))
    found = query_learning_curve(
        Recorder(),
        np.c_[WEB.data, WEB.qid][order],
        WEB.target[order],
        qid=WEB.qid[order].tolist(),
        cv=3,
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_estimators_scorers_folds_and_drawings():
    drop = make_column_transformer(("drop", ["qid"]), remainder="passthrough")
    _, _, test = curve(make_pipeline(drop, Ridge()), FRAME, qid="qid")
    _, _, same = curve(Ridge(), FRAME.drop(columns="qid"))
    np.testing.assert_array_equal(test, same)
    _, _, same = curve(Ridge(), scoring=make_ranking_scorer(), n_jobs=2)
    np.testing.assert_allclose(same, test, atol=1e-12)
    _, _, other = curve(Ridge(), random_state=1)
    assert (other[:2] != test[:2]).any()
    np.testing.assert_allclose(other[-1], test[-1], atol=1e-12)
    assert np.isfinite(curve(GaussianNB(), scoring="rr")[2]).all()
    sizes, _, _ = curve(Ridge(), cv=QueryTimeSeriesSplit(2))
    assert sizes[-1] == 8
    sizes, *found = curve(Ridge(), cv=QueryKFold(3, qid="qid"), X=FRAME, scoring="ap")
    assert np.shape(found) == (2, 5, 3)
    assert len(curve(Ridge(), return_times=True)) == 5
    assert LearningCurveDisplay(train_sizes=sizes, train_scores=found[0],
                                test_scores=found[1]).plot().ax_  # fmt: skip


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_sizes": [0.0]}, r"shares in \(0, 1\] or numbers of queries up to 16"),
        ({"train_sizes": [17]}, "up to 16, got 17"),
        ({"train_sizes": [True]}, "got True"),
        ({"train_sizes": []}, "train_sizes must not be empty"),
        ({"cv": "5"}, "cv must be a number of folds or a cross-validator, got '5'"),
        ({"cv": LeaveOneOut()}, "cv must keep queries whole.*in fold 0"),
        ({"cv": PredefinedSplit(np.arange(len(WEB.qid)) % 2)}, "must keep queries"),
        ({"scoring": ["ap", "rr"]}, "scoring must be one measure or one scorer, got"),
        ({"scoring": "r2"}, "measure"),
        ({"qid": None}, "qid must say which rows are one query, got None"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        curve(Ridge(), **options)
