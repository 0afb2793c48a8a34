"""
Which measures suffer most from ties?
=====================================

Six measures of two features show how far the order of ties moves each measure.

`clicks` is a count. Most documents have few clicks, so many documents tie. `text_score`
is continuous and does not tie, so its worst and best values are equal.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import TieRangeDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
measures = ["rr", "p@1", "p@10", "ndcg@10", "ap", "bpref"]
TieRangeDisplay.from_predictions(
    web.target,
    web.data[["clicks", "text_score"]],
    qid=web.qid,
    measures=measures,
)

# %%
# In most queries, the first documents have many clicks and hardly tie. So the order of
# ties hardly moves RR and P@1, which depend on the first documents. Measures that look
# further down the ranking depend most on the order of ties.
