"""
What do coarser scores change, query by query?
==============================================

Coarser scores raise the measure of some queries and lower it for others.

`precision_study` makes scores coarser. With `rho=1.1`, documents in a band of ranks
share a score, and each band begins at a rank about 10% larger than the band before.
With `levels=4`, at most four different scores are left in a query.
"""

from tieaware_sklearn import precision_study
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PrecisionLossDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
levels = ["rho=1.1", "rho=1.5", "rho=2", "levels=16", "levels=4"]
study = precision_study(
    web.target, web.data["text_score"], qid=web.qid, coarseness=levels
)
PrecisionLossDisplay.from_result(study)

# %%
# Some queries gain by accident and others lose. The mean shows the cost.
