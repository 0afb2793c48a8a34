"""
How do eight systems compare at each recall?
============================================

With more than three systems, each system has a panel of its own.

The orange curve is the mean of the system, and the blue band is its range over the
orders of ties. The thin lines are the curves of the other systems.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PrecisionRecallBandDisplay

web = make_web_search(n_queries=15, as_frame=True, random_state=0)
systems = web.data.drop(columns=web.data.filter(regex="log_|noise_[34]").columns)
PrecisionRecallBandDisplay.from_predictions(web.target, systems, qid=web.qid)

# %%
# `text_score` and `noise_2` are continuous, so they do not tie and have no band. In all
# other systems, documents tie.
