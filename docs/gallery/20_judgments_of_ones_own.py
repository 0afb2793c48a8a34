"""
What does a run owe to judgments of its own?
============================================

Judgments come from a pool of the first documents of several runs. `leave_one_out`
scores each run without the judgments of documents that it alone brought there. A run
that loses much was favoured: a new run that is like it would be scored by so much less.
"""

import numpy as np

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.judgments import leave_one_out
from tieaware_sklearn.plots import LeaveOneOutDisplay

web = make_web_search(n_queries=40, random_state=0)
docno = np.array([f"d{i}" for i in range(len(web.qid))])
of_runs = dict(zip(web.feature_names, web.data.T, strict=True))
runs = {
    name: {"qid": web.qid, "docno": docno, "score": of_runs[name]}
    for name in ("clicks", "page_visits", "text_score", "in_degree")
}
judged = {"qid": web.qid, "docno": docno, "target": web.target}
found = leave_one_out(runs, judged, measure="ndcg@10", depth=10)
LeaveOneOutDisplay.from_result(found)

# %%
# On the right is the number of relevant documents that only this run brought.
