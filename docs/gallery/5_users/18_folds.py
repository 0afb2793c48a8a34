"""
Do folds or ties move the mean of a cross-validation further?
=============================================================

The plot shows the scores of the folds, and the range over the orders of ties.

`cross_validate` scores each model by two measures on the held-out queries of each fold.
`FoldScoresDisplay` draws the score of every fold, and the mean over folds. The bar
shows how far the order of tied documents can move each mean. `evaluate` computes this
range from the predictions for the held-out queries.
"""

from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import QueryKFold, evaluate, make_ranking_scorer
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import FoldScoresDisplay

web = make_web_search(n_queries=60, random_state=0)
models = {
    f"tree of depth {depth}": DecisionTreeRegressor(max_depth=depth, random_state=0)
    for depth in (2, 4, 8)
}
models["linear"] = LinearRegression()
measures = ["NDCG@10", "AP"]
data = {"X": web.data, "y": web.target, "cv": QueryKFold(5), "params": {"qid": web.qid}}
results, reports = {}, {}
with config_context(enable_metadata_routing=True):
    for name, model in models.items():
        scorers = make_ranking_scorer(measures)
        results[name] = cross_validate(model, **data, scoring=scorers)
        scores = cross_val_predict(model, **data)
        reports[name] = evaluate(web.target, scores, qid=web.qid, measures=measures)
FoldScoresDisplay.from_result(results, reports=reports)

# %%
# For the tree of depth 2, the range over the orders of ties is wider than the range of
# the folds, by both measures. For the tree of depth 8, the range of the folds is wider.
# The scores of the linear model do not tie. By both measures, the linear model is the
# best model in every fold.
