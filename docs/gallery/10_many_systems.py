"""
How do eight systems compare at each recall?
============================================

More than three curves have a panel each, with all the others thin behind it.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PrecisionRecallBandDisplay

web = make_web_search(n_queries=15, as_frame=True, random_state=0)
systems = web.data.drop(columns=web.data.filter(regex="log_|noise_[34]").columns)
PrecisionRecallBandDisplay.from_predictions(web.target, systems, qid=web.qid)

# %%
# Only `text_score` and `noise_2`, which are continuous, have no band.
