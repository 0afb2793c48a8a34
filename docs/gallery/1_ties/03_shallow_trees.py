"""
Do shallow trees tie?
=====================

A tree of depth 2 gives at most four different scores, so most documents tie.

`TieRangeDisplay.from_estimator` ranks held-out queries by fitted estimators.
"""

from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import train_test_split_queries
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import TieRangeDisplay

web = make_web_search(n_queries=60, random_state=0)
X, X_test, y, y_test, _, qid_test = train_test_split_queries(
    web.data, web.target, qid=web.qid, random_state=0
)
models = {f"tree of depth {d}": DecisionTreeRegressor(max_depth=d) for d in (2, 4, 8)}
models["linear"] = LinearRegression()
fitted = {name: model.fit(X, y) for name, model in models.items()}
TieRangeDisplay.from_estimator(fitted, X_test, y_test, qid=qid_test, measures="ndcg@10")

# %%
# The deeper the tree is, the less the order of ties moves its NDCG@10. The scores of
# the linear model do not tie.
