"""
Which queries have good precision and recall at rank 10?
========================================================

Each point is a query: its exact precision and recall over the orders of ties. The thin
line through it goes from the worst to the best order. F is equal along a dashed line.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PrecisionRecallScatterDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
PrecisionRecallScatterDisplay.from_predictions(
    web.target, web.data[["clicks", "text_score"]], qid=web.qid, rel=2
)

# %%
# Both measures count the relevant documents among the first ten. So the orders of ties
# move a query on a line through the origin.
