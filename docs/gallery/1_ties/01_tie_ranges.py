"""
How far can the order of equal scores move a ranking?
=====================================================

Scores that are small whole numbers tie, and the order of ties can move a measure far.

Images of hand-written digits are ranked by their similarity to a query image. The
similarities are small integers, so many images have the same score. `TieRangeDisplay`
shows the exact mean over all orders of the tied images as a diamond. The blue bar goes
from the worst to the best order. The bar is grey if it contains the chance level, which
is the mean if all scores tie.
"""

from tieaware_sklearn.datasets import load_digits_retrieval
from tieaware_sklearn.plots import TieRangeDisplay

digits = load_digits_retrieval(n_queries=30, as_frame=True)
TieRangeDisplay.from_predictions(
    digits.target, digits.data, qid=digits.qid, measures=["ndcg@10", "ap"]
)

# %%
# By NDCG@10, `ink_difference` is worse than chance in the worst order of its ties, and
# much better than chance in the best order. A tool that breaks ties by the order of the
# rows could report either value. By AP, `chebyshev` has the widest range.
