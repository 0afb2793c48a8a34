"""
How far is trec_eval's value from the exact one?
================================================

trec_eval breaks ties by descending document id. `official_vs_exact` shows its values in
the range of all orders of ties, and the exact mean over these orders.
"""

import numpy as np

from tieaware_sklearn import official_vs_exact
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import OfficialVsExactDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
systems = {
    name: web.data[name].to_numpy() for name in ["clicks", "in_degree", "text_score"]
}
systems["rounded text"] = np.round(systems["text_score"])
docno = [f"d{i:05}" for i in range(len(web.target))]
found = official_vs_exact(web.target, systems, docno, qid=web.qid, n_orders=100)
OfficialVsExactDisplay.from_result(found)

# %%
# Where nothing ties, the values are the same. Which conclusions about pairs change?
print(found)
