"""
What if users react to what they find?
======================================

The users of RR, ERR and AP react to relevant documents, so their behaviour depends on
the ranking. In the one shown here, the first, third and sixth documents are relevant.
"""

from tieaware_sklearn.plots import UserModelDisplay

labels = [1, 0, 1, 0, 0, 1, 0, 0]
UserModelDisplay.from_measures(["rr", "err", "ap"], ranking=labels, depth=8)

# %%
# The user of RR stops at the first relevant document.
