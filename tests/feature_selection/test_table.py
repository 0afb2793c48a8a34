"""The features of a screening as a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.feature_selection.helpers import fitted
from tieaware_sklearn import RankingFeatureSelector


def test_table_names_what_a_feature_repeats(web):
    X = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    table = selector.table()
    assert table.index.tolist() == list(range(1, 13))
    assert (np.diff(table["NDCG@10"]) <= 0).all()
    by_name = table.set_index("feature")
    assert by_name.loc["log_clicks", "repeats"] == "clicks"
    assert by_name.loc["log_clicks", "correlation"] == pytest.approx(1)
    assert pd.isna(table.loc[1, "repeats"])
    # the mean of Spearman's rho over the queries
    i, j = (web.feature_names.index(name) for name in ("clicks", "url_length"))
    rho = []
    for query in np.unique(web.qid):
        X = web.data[web.qid == query]
        if np.ptp(X[:, i]) > 0 and np.ptp(X[:, j]) > 0:
            rho.append(stats.spearmanr(X[:, i], X[:, j]).statistic)
    # short URLs rank first
    assert selector.directions_[j] == "ascending"
    assert selector.rank_correlation_[i, j] == pytest.approx(-np.mean(rho), abs=1e-12)
    without = fitted(web, redundancy=False)
    assert without.rank_correlation_ is None
    assert without.table()["repeats"].isna().all()
