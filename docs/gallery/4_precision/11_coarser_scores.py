"""
What do coarser scores change, query by query?
==============================================

Coarser scores raise the NDCG@10 of some queries, and lower it for other queries.

`precision_study` makes scores coarser in several ways. With `rho=1.1`, all documents in
a band of ranks get the same score. The first rank of each band is about 10% larger than
the first rank of the band before. With `levels=4`, each query has at most four
different scores.
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
# Some queries gain by chance, and other queries lose. The mean over queries shows the
# cost.
