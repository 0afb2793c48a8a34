"""What several tests of this room share."""

import numpy as np

from tieaware_sklearn import RankingFeatureSelector

FIGURES = ("mean_", "best_", "worst_", "tie_std_", "chance_", "ideal_", "lift_")
FIGURES += ("interval_", "pvalues_", "qvalues_", "rank_correlation_")


def fitted(web, **parameters):
    return RankingFeatureSelector(**parameters).fit(web.data, web.target, qid=web.qid)


def assert_same(a, b, tolerance=0.0):
    for name in FIGURES:
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance, err_msg=name)
    for name in ("directions_", "ranking_", "support_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    assert a.n_queries_ == b.n_queries_
