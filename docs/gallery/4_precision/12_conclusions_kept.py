"""
Do coarser scores change which systems differ significantly?
============================================================

Each point is a pair of systems, tested with exact and with coarser scores.

The position of a point shows two p-values of the paired test: with the original scores,
and with scores in bands of ranks. The dashed lines mark the significance level. Pairs
in the upper left are no longer significant, and pairs in the lower right have become
significant.
"""

from tieaware_sklearn import precision_study
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PairwisePValueDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
systems = web.data.filter(regex="^(?!log_)")
study = precision_study(web.target, systems, qid=web.qid, coarseness="rho=2")
PairwisePValueDisplay.from_result(study)

# %%
# p-values too small for the scale are drawn at its edge, as squares.
