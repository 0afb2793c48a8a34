"""
Which single features rank well?
================================

Each feature is taken as a score by itself. `FeatureScreeningDisplay` shows the exact
mean of a measure, its 95% interval over queries, the range from the worst to the best
order of ties, and the chance level.
"""

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import FeatureScreeningDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
selector = RankingFeatureSelector(["ndcg@10", "ap"]).fit(
    web.data, web.target, qid=web.qid
)
FeatureScreeningDisplay.from_result(selector.screening_)

# %%
# The intervals of the noise features include the chance level.
# Names of features that are not selected are grey. The logarithms rank as what they are
# logarithms of, and are left out.
