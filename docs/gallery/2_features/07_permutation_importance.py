"""
Which columns does a ranker rely on?
====================================

Permute a column, rank again, and see how much the exact measure falls.

The predictions of a tree tie. So a measure that breaks ties by the order of the rows
would fall by another amount if the rows were in another order. The exact measure does
not depend on the order of the rows. `compare_values` tests over the queries whether the
fall is significant.
"""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import compare_values, evaluate
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import SystemComparisonDisplay

web = make_web_search(n_queries=120, as_frame=True, random_state=0)
tree = DecisionTreeRegressor(max_depth=5, random_state=0).fit(web.data, web.target)
X = {"all columns": web.data}
order = np.random.default_rng(0).permutation(len(web.data))
for column in ["in_degree", "clicks", "text_score"]:
    permuted = web.data[column].to_numpy()[order]
    X[f"{column} permuted"] = web.data.assign(**{column: permuted})
reports = {}
for name, columns in X.items():
    scores = tree.predict(columns)
    reports[name] = evaluate(web.target, scores, qid=web.qid, measures="ndcg@10")
importance = compare_values(reports, baseline="all columns")
SystemComparisonDisplay.from_result(importance)
print(importance)

# %%
# The NDCG@10 of the tree falls most if `clicks` is permuted.
