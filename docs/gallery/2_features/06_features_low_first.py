"""
Which features rank well with low values first?
===============================================

Pages with short URLs tend to be better, so low values of the URL length rank first.

"(ascending)" marks features whose low values rank first. The measure in this example is
the expected search length (ESL): the number of non-relevant documents above the first
relevant document. So low values of ESL are good.
"""

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import FeatureScreeningDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
selector = RankingFeatureSelector("esl").fit(web.data, web.target, qid=web.qid)
FeatureScreeningDisplay.from_result(selector.screening_, max_features=8)

# %%
# In the worst order of its ties, `url_length` is hardly better than chance.
