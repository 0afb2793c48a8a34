"""Tests of warnings if pandas columns have the same index in different orders."""

import numpy as np
import pandas as pd
import pytest

import tieaware_sklearn as ta
from tests.evaluation.helpers import messages_of
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=12, n_documents=15, random_state=0, as_frame=True)
X = WEB.data.iloc[:, :3].reset_index(drop=True)
Y = pd.Series(np.asarray(WEB.target))
QID = pd.Series(np.asarray(WEB.qid))
CLICKS = X.iloc[:, 0]
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(len(Y))
FITTED = ta.LinearRanker("equal").fit(X, Y)


def systems_of(scores):
    return {"a": scores, "b": -scores}


def compare_columns(y, scores, qid):
    ta.compare_systems(y, systems_of(scores), qid=qid)


def compare_a_system_named_qid(y, scores, qid):
    systems = {"qid": scores, "b": -scores}
    ta.compare_systems(y, systems, qid=qid, measure="ap")


def compare_frame(y, scores, qid):
    systems = pd.DataFrame(systems_of(scores))
    ta.compare_systems(y, systems, qid=qid)


def call_scorer(y, scores, qid):
    scorer = ta.make_ranking_scorer()
    scorer(FITTED, X.loc[scores.index], y, qid=qid)


def split(y, scores, qid):
    folds = ta.QueryKFold(3)
    list(folds.split(scores.to_frame(), y, qid=qid))


def fit_ranker(y, scores, qid):
    ranker = ta.LinearRanker()
    ranker.fit(X.loc[scores.index], y, qid=qid)


def fit_selector(y, scores, qid):
    selector = ta.RankingFeatureSelector()
    selector.fit(X.loc[scores.index], y, qid=qid)


#: Functions of labels, scores and query ids, and the argument named by the warning.
CALLS = {
    "ranking_score": (lambda y, s, q: ta.ranking_score(y, s, qid=q), "y_score"),
    "evaluate": (lambda y, s, q: ta.evaluate(y, s, qid=q), "y_score"),
    "systems": (compare_columns, "y_score['a']"),
    "a system named qid": (compare_a_system_named_qid, "y_score['qid']"),
    "frame of systems": (compare_frame, "y_score"),
    "scorer": (call_scorer, "y_true"),
    "folds": (split, "qid"),
    "LinearRanker": (fit_ranker, "y"),
    "RankingFeatureSelector": (fit_selector, "y"),
}


def position_warnings(call, y, scores, qid):
    messages = messages_of(call, y, scores, qid)
    return [message for message in messages if "position" in message]


@pytest.mark.parametrize(("call", "name"), CALLS.values(), ids=CALLS)
def test_one_index_in_two_orders_is_warned_of(call, name):
    scores = CLICKS.iloc[ORDER]
    messages = position_warnings(call, Y, scores, QID)
    start = f"{name} and "
    assert any(message.startswith(start) for message in messages)


ROWS = {
    "same order": (Y, CLICKS, QID),
    "same shuffled order": (Y.iloc[ORDER], CLICKS.iloc[ORDER], QID.iloc[ORDER]),
    "another index": (Y.set_axis(-1 - Y.index), CLICKS, QID.to_numpy()),
    "no index": (Y.to_numpy(), CLICKS.iloc[ORDER], QID.to_numpy()),
}


@pytest.mark.parametrize(("y", "scores", "qid"), ROWS.values(), ids=ROWS)
@pytest.mark.parametrize(("call", "name"), CALLS.values(), ids=CALLS)
def test_rows_that_cannot_be_compared_are_not_warned_of(call, name, y, scores, qid):
    assert position_warnings(call, y, scores, qid) == []


def test_rows_go_by_position():
    scores = CLICKS.iloc[ORDER]
    options = {"qid": QID, "measure": "rr"}
    with pytest.warns(
        UserWarning, match=r"pass y_score\.loc\[y_true\.index\]\. To silence"
    ):
        value = ta.ranking_score(Y, scores, **options)
    by_index = scores.loc[Y.index]
    assert value == ta.ranking_score(Y, scores.to_numpy(), **options)
    assert value != ta.ranking_score(Y, by_index, **options)


def test_matrices_with_texts_as_index_are_warned_of():
    rows = pd.DataFrame({"first": [1, 0], "second": [0, 1]}, index=["a", "b"])
    reverse = rows.iloc[::-1]
    with pytest.warns(UserWarning, match="y_score and y_true have the same index"):
        ta.ranking_score(rows, reverse, measure="rr")
