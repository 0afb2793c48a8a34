"""
What if features repeat each other?
===================================

`clicks` and `log_clicks` rank identically: when one of them is permuted, a model still
has the other. Permuted together, as a group of columns, they show how much they
contribute.
"""

from sklearn.linear_model import LinearRegression

from tieaware_sklearn import query_permutation_importance
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PermutationImportanceDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
groups = {
    "clicks": ["clicks"],
    "log_clicks": ["log_clicks"],
    "both": ["clicks", "log_clicks"],
    "text_score": ["text_score"],
}
importance = query_permutation_importance(
    LinearRegression().fit(web.data, web.target),
    *(web.data, web.target),
    qid=web.qid,
    measures="ndcg@10",
    columns=groups,
    within_queries=True,
)
PermutationImportanceDisplay.from_result(importance)

# %%
# Permuting `clicks` alone costs nothing: the model relies on `log_clicks`. Values were
# permuted within queries, so that every query keeps its own values.
