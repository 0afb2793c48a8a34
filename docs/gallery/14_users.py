"""
Which user does a measure have in mind?
=======================================

Many measures are averages over a user who reads down the ranking: how much attention a
rank gets (W), how likely the user is to go on from it (C), and to stop there (L).
"""

from tieaware_sklearn.plots import UserModelDisplay

UserModelDisplay.from_measures(["p@10", "rbp(p=0.8)", "rbp(p=0.95)", "dcg@10"])

# %%
# The user of P@10 reads ten documents and stops: a single stem in the third panel.
