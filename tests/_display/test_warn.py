"""Warnings point at the caller's line."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning

from tieaware_sklearn import (
    RankingFeatureSelector,
    make_ranking_scorer,
    precision_study,
    ranking_score,
    tie_report,
)
from tieaware_sklearn._display.words import warn
from tieaware_sklearn.comparison import compare_systems

NOTHING = {"qid": [1, 1], "zero_relevance": "skip"}


class Same(BaseEstimator):
    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    "call",
    [
        lambda: warn("is undefined", UndefinedMetricWarning),
        lambda: ranking_score([0, 0], [1, 2], measure="ap", **NOTHING),
        lambda: make_ranking_scorer("ap", zero_relevance="skip")(
            Same(), np.zeros((2, 1)), [0, 0], qid=[1, 1]
        ),
        lambda: compare_systems([0, 0], {"a": [1, 2]}, measure="ap", **NOTHING),
        lambda: precision_study([0, 0], {"a": [1, 2]}, measure="ap", **NOTHING),
        lambda: tie_report([0, 1], [0.1 + 0.2, 0.3]),
        lambda: RankingFeatureSelector().fit([[1], [2]], [0, 1], qid=[0, 0]),
        lambda: RankingFeatureSelector("rr", n_features_to_select=1).fit(
            [[1], [2]], [0, 1]
        ),
    ],
)
def test_a_warning_names_this_file(call):
    with pytest.warns(
        UserWarning, match="is undefined|last bits|two queries|without qid"
    ) as caught:
        call()
    assert [warning.filename for warning in caught] == [__file__]
