"""
Which measures suffer most from ties?
=====================================

One feature, the number of clicks on a document, and six measures of the same ranking.
Clicks are counts, and most documents have few of them.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import TieRangeDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
measures = ["rr", "p@1", "p@10", "ndcg@10", "ap", "bpref"]
TieRangeDisplay.from_predictions(
    web.target,
    web.data[["clicks", "log_clicks", "text_score"]],
    qid=web.qid,
    measures=measures,
)

# %%
# `log_clicks` ranks just as `clicks` does, and its values are the same. `text_score`
# is continuous: it does not tie, and its best and worst orders are one.
