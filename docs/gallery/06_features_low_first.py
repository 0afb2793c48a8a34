"""
Which features rank well with low values first?
===============================================

Short URLs tend to be better pages: "(low first)" marks features that are turned round.
Here the measure is the expected search length (ESL), the number of non-relevant
documents above the first relevant one, and lower is better.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import FeatureScreeningDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
FeatureScreeningDisplay.from_predictions(
    web.target, web.data, qid=web.qid, measures="esl", max_features=8
)

# %%
# In the worst order of its ties, `url_length` is hardly better than chance.
