"""Columns of pandas that have one index, but in different orders, are warned of."""

import numpy as np
import pandas as pd
import pytest

import tieaware_sklearn as ta
from tests.evaluation.helpers import messages_of
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=12, n_documents=15, random_state=0, as_frame=True)
X = WEB.data.iloc[:, :3].reset_index(drop=True)
Y, QID = pd.Series(np.asarray(WEB.target)), pd.Series(np.asarray(WEB.qid))
CLICKS = X.iloc[:, 0]
OTHER = np.random.default_rng(0).permutation(len(Y))
FITTED = ta.LinearRanker("equal").fit(X, Y)

#: what is called with rows, and the argument that comes in the other order
DOORS = {
    "ranking_score": ("y_score", lambda y, s, q: ta.ranking_score(y, s, qid=q)),
    "evaluate": ("y_score", lambda y, s, q: ta.evaluate(y, s, qid=q)),
    "systems": ("a", lambda y, s, q: ta.compare_systems(y, {"a": s, "b": -s}, qid=q)),
    "frame of systems": (
        "y_score",
        lambda y, s, q: ta.compare_systems(y, pd.DataFrame({"a": s, "b": -s}), qid=q),
    ),
    "scorer": (
        "y_true",
        lambda y, s, q: ta.make_ranking_scorer()(FITTED, X.loc[s.index], y, qid=q),
    ),
    "folds": ("qid", lambda y, s, q: [*ta.QueryKFold(3).split(s.to_frame(), y, qid=q)]),
}
for Estimator in (ta.LinearRanker, ta.RankingFeatureSelector):
    DOORS[Estimator.__name__] = (
        "y",
        lambda y, s, q, Estimator=Estimator: Estimator().fit(X.loc[s.index], y, qid=q),
    )


def warned(run, y, s, q):
    return [said for said in messages_of(run, y, s, q) if "position" in said]


@pytest.mark.parametrize("door", list(DOORS))
def test_one_index_in_two_orders_is_warned_of(door):
    name, run = DOORS[door]
    said = warned(run, Y, CLICKS.iloc[OTHER], QID)
    assert any(one.startswith(f"{name} has the index of ") for one in said)
    # rows that belong together, another index, or none
    assert warned(run, Y, CLICKS, QID) == []
    assert warned(run, Y.iloc[OTHER], CLICKS.iloc[OTHER], QID.iloc[OTHER]) == []
    assert warned(run, Y.set_axis(-1 - Y.index), CLICKS, QID.to_numpy()) == []
    assert warned(run, Y.to_numpy(), CLICKS.iloc[OTHER], QID.to_numpy()) == []


def test_rows_go_by_position():
    scores = CLICKS.iloc[OTHER]
    with pytest.warns(UserWarning, match=r"y_score\.loc\[y_true\.index\] puts them"):
        found = ta.ranking_score(Y, scores, qid=QID, measure="rr")
    # a matrix, and texts as an index
    assert found == ta.ranking_score(Y, scores.to_numpy(), qid=QID, measure="rr")
    assert found != ta.ranking_score(Y, scores.loc[Y.index], qid=QID, measure="rr")
    rows = pd.DataFrame([[1, 0], [0, 1]], index=["a", "b"])
    with pytest.warns(UserWarning, match="y_score has the index of y_true in another"):
        ta.ranking_score(rows, rows.iloc[::-1], measure="rr")
