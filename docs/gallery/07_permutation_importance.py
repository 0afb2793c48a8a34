"""
Which columns does a ranker rely on?
====================================

`query_permutation_importance` permutes the values of one column at a time, and finds
how much the exact measure falls. The predictions of a tree tie, so with a measure that
breaks ties by the order of the rows, the loss would depend on that order as well.
"""

from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import query_permutation_importance
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PermutationImportanceDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
tree = DecisionTreeRegressor(max_depth=5, random_state=0).fit(web.data, web.target)
importance = query_permutation_importance(
    tree, web.data, web.target, qid=web.qid, measures=["ndcg@10", "ap"]
)
PermutationImportanceDisplay.from_result(importance, max_features=6)

# %%
# A column on which the tree never splits shows no loss.
