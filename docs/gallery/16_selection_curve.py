"""
How many features does a ranker need?
=====================================

`selection_curve` trains a ranker on the first k features that a selector chooses. Its
display shows the exact measure on queries that neither the selection nor the training
has seen. One way takes the best single features, some of which repeat each other. The
other way is the default, which leaves out repeats.
"""

from sklearn.ensemble import HistGradientBoostingRegressor

from tieaware_sklearn import RankingFeatureSelector, selection_curve
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import SelectionCurveDisplay

web = make_web_search(n_queries=100, n_noise=20, random_state=0)
selectors = {
    "best single features": RankingFeatureSelector("ndcg@10", max_correlation=None),
    "without repeats": RankingFeatureSelector("ndcg@10"),
}
trees = HistGradientBoostingRegressor(max_iter=30, random_state=0)
curve = selection_curve(selectors, trees, web.data, web.target, qid=web.qid)
SelectionCurveDisplay.from_result(curve)

# %%
# With few features, it pays to leave out repeats. With ten features, both ways are as
# good as all features together.
