"""
Which columns does a ranker rely on?
====================================

`PermutationImportanceDisplay` permutes one column at a time, and shows by how much the
exact measure falls. Predictions of a tree tie all the more when a column is permuted,
so the loss must not depend on the order of the rows.
"""

from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PermutationImportanceDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
tree = DecisionTreeRegressor(max_depth=5, random_state=0).fit(web.data, web.target)
PermutationImportanceDisplay.from_estimator(
    tree, web.data, web.target, qid=web.qid, measures=["ndcg@10", "ap"], max_features=6
)

# %%
# A column that the tree does not split on loses nothing.
