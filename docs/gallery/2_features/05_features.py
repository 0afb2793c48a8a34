"""
Which single features rank well?
================================

Each feature is a score by itself, next to the level of chance.

A diamond of `FeatureScreeningDisplay` is the exact score. The bar goes from the worst
to the best order of ties, and is grey if it contains chance. The diamond is hollow if
the feature does not beat chance.
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
# Most features of noise do not beat chance. `noise_3` can seem very good or very bad,
# because nearly everything depends on the order of its ties. Selected features are
# numbered in the order of selection. A logarithm ranks like the count that it was made
# of, so the selector leaves out one of the two.
#
# By AP, the diamond of `noise_2` is filled (q = 0.0497), although its 95% interval
# contains chance. The test compares the score of each query with the chance level of
# the same query, which the interval of the mean does not do.
