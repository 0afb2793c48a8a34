"""
Is one system better than another, whatever the order of ties?
==============================================================

`compare_systems` tests every pair of systems. In its second table, "holds" says whether
a difference keeps its sign in every order of the ties.
"""

from tieaware_sklearn import compare_systems
from tieaware_sklearn.datasets import load_digits_retrieval
from tieaware_sklearn.plots import TieRangeDisplay

digits = load_digits_retrieval(n_queries=30, as_frame=True)
systems = digits.data[["l1", "hamming", "quadrants"]]
comparison = compare_systems(digits.target, systems, qid=digits.qid, measure="p@10")
TieRangeDisplay.from_comparison(comparison)
print(comparison)

# %%
# Ranges that do not overlap belong to differences that hold.
