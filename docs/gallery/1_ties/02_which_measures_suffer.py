"""
Which measures suffer most from ties?
=====================================

Six measures of two features show which measures the order of ties moves.

Clicks are counts, and most documents have few of them, so they tie. `text_score` is
continuous and does not tie, so its worst and best values are equal.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import TieRangeDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
measures = ["rr", "p@1", "p@10", "ndcg@10", "ap", "bpref"]
TieRangeDisplay.from_predictions(
    web.target,
    web.data[["clicks", "text_score"]],
    qid=web.qid,
    measures=measures,
)

# %%
# The first relevant documents have many clicks and hardly tie, so RR and P@1 hardly
# move. Measures that look further down move most.
