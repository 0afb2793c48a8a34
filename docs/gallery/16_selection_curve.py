"""
How many features does a ranker need?
=====================================

`SelectionCurveDisplay` trains a ranker on the best k features and shows the exact
measure on queries that neither the selection nor the training has seen. Here two ways
to select are compared with all features.
"""

from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import SelectionCurveDisplay

web = make_web_search(n_queries=100, n_noise=20, random_state=0)
selectors = {
    "by lift": RankingFeatureSelector("ndcg@10"),
    "by F test": SelectKBest(f_regression),
}
SelectionCurveDisplay.from_estimator(
    selectors, Ridge(), web.data, web.target, qid=web.qid
)

# %%
# The lines reach the level of all features where further features add nothing.
