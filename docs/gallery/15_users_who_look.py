"""
What if the user looks at what is there?
========================================

The users of RR, ERR and AP react to the documents that they find. They need a ranking
to walk down: here its first, third and sixth documents are relevant.
"""

from tieaware_sklearn.plots import UserModelDisplay

labels = [1, 0, 1, 0, 0, 1, 0, 0]
UserModelDisplay.from_measures(["rr", "err", "ap"], ranking=labels, depth=8)

# %%
# The user of RR stops at the first relevant document.
