"""
Is one system better than another, whatever the order of ties?
==============================================================

The ranges of three systems show which differences hold in every order of ties.

`compare_systems` tests every pair of systems. In the second table of the output, the
column "same sign" shows whether a difference has the same sign in every order of ties.
"""

from tieaware_sklearn import compare_systems
from tieaware_sklearn.datasets import load_digits_retrieval
from tieaware_sklearn.plots import TieRangeDisplay

digits = load_digits_retrieval(n_queries=30, as_frame=True)
systems = digits.data[["l1", "hamming", "quadrants"]]
comparison = compare_systems(digits.target, systems, qid=digits.qid, measure="p@10")
TieRangeDisplay.from_result(comparison)
print(comparison)

# %%
# If the ranges of two systems do not overlap, the same system is better in every order
# of ties.
