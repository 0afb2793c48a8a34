"""
How far can the order of equal scores move a ranking?
=====================================================

Images of hand-written digits are ranked by their similarity to a query image. The
similarities are small integers, so many images have the same score. `TieRangeDisplay`
shows the exact mean over all orders of the tied images, and how far below and above it
the worst and the best order lie.
"""

from tieaware_sklearn.datasets import load_digits_retrieval
from tieaware_sklearn.plots import TieRangeDisplay

digits = load_digits_retrieval(n_queries=30, as_frame=True)
TieRangeDisplay.from_predictions(
    digits.target, digits.data, qid=digits.qid, measures=["ndcg@10", "ap"]
)

# %%
# By NDCG@10, `ink_difference` is worse than chance in one order of its ties and much
# better in another: a tool that breaks ties by the order of the rows could report
# either. By AP, `chebyshev` has the widest range.
