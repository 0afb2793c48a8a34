"""
Which user does a measure assume?
=================================

Many measures are the expected gain of a user who reads down the ranking. The panels
show how much attention each rank gets (W), how likely the user is to go on from it (C),
and how likely it is the last rank read (L).
"""

from tieaware_sklearn.plots import UserModelDisplay

UserModelDisplay.from_measures(["p@10", "rbp(p=0.8)", "rbp(p=0.95)", "dcg@10"])

# %%
# The user of P@10 reads ten documents and stops. Hence the single stem in the third
# panel.
