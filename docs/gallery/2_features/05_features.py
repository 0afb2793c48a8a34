"""
Which single features rank well?
================================

Each feature alone is used as a score, and is compared with the chance level.

In `FeatureScreeningDisplay`, a diamond shows the exact mean of a feature. The bar goes
from the worst to the best order of ties, and is grey if it contains the chance level.
The diamond is hollow if the feature is not significantly better than chance.
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
# Most features of noise do not beat chance. By NDCG@10, `noise_3` can seem very good or
# very bad, because its value depends nearly only on the order of its ties. Selected
# features are numbered in the order of selection. The logarithm of a count ranks
# documents like the count itself, so the selector keeps only the count.
#
# By AP, the diamond of `noise_2` is filled (q = 0.0497), although its 95% interval
# contains chance. The test compares the value of each query with the chance level of
# the same query. The interval only describes the mean of the values, so the test can
# find a difference that the interval does not show.
