"""
Do coarser scores change which systems differ significantly?
============================================================

Each point is a pair of systems, tested with the original and with coarser scores.

The position of a point shows two p-values of the paired test. The horizontal axis shows
the p-value with the original scores. The vertical axis shows the p-value with coarser
scores, which are equal within bands of ranks (`rho=2`). The dashed lines mark the
significance level. The differences of pairs in the upper left are no longer
significant. The differences of pairs in the lower right have become significant.
"""

from tieaware_sklearn import precision_study
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import PairwisePValueDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
systems = web.data.filter(regex="^(?!log_)")
study = precision_study(web.target, systems, qid=web.qid, coarseness="rho=2")
PairwisePValueDisplay.from_result(study)

# %%
# Some p-values are too small for the scale. The pairs with these p-values are drawn as
# hollow squares at the edge of the plot.
