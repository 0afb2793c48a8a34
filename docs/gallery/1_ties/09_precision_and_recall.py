"""
How precise is a ranking at each recall?
========================================

A band around a curve shows how far the order of ties can move the precision.

The band around a curve of interpolated precision reaches from the worst to the best
order of ties. Up to three systems share a panel.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PrecisionRecallBandDisplay

web = make_web_search(n_queries=30, as_frame=True, random_state=0)
PrecisionRecallBandDisplay.from_predictions(
    web.target, web.data[["clicks", "url_length", "text_score"]], qid=web.qid
)

# %%
# `text_score` does not tie, so its curve has no band.
