"""
On which topics is one system better, and on which do ties decide?
==================================================================

A mean hides on how many topics a system wins. `TopicDifferenceDisplay` shows the
difference of two systems on each topic. The line on a bar goes from the smallest to the
largest difference over all orders of the ties. "Better" means better in all of them.
"""

from tieaware_sklearn.datasets import load_digits_retrieval
from tieaware_sklearn.plots import TopicDifferenceDisplay

digits = load_digits_retrieval(n_queries=30, as_frame=True)
TopicDifferenceDisplay.from_predictions(
    digits.target, digits.data[["chebyshev", "hamming"]], qid=digits.qid, measure="ap"
)

# %%
# Where the line crosses zero, a tool that breaks ties by the order of the rows could
# name either of the two systems as the better one.
