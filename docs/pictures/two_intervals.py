"""What ties leave open, query by query, and the interval over queries."""

import matplotlib.pyplot as plt
import numpy as np
from theme import BAR, DIAMOND, INK

from tieaware_sklearn import evaluate
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=25, random_state=3)
clicks = web.data[:, web.feature_names.index("clicks")]
report = evaluate(web.target, clicks, qid=web.qid, measures=["ndcg@10"])
(row,) = report.summary().to_pandas().itertuples()
order = np.argsort(report.expected[:, 0])
at = np.arange(1, len(order) + 1)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8.2, 3.4), sharey=True, width_ratios=[3, 1]
)
worst, best = report.worst[order, 0], report.best[order, 0]
bar = BAR | {"linewidth": 6, "label": "range over the orders of ties"}
diamond = DIAMOND | {"markersize": 5, "label": "mean over orders of ties"}
left.vlines(at, worst, best, **bar)
left.plot(at, report.expected[order, 0], **diamond)
left.set_title("NDCG@10 of each query", loc="left", fontsize=10)
left.set(xlabel="queries, from the hardest to the easiest", ylabel="NDCG@10")
left.set_xticks([1, 5, 10, 15, 20, 25])
right.vlines(0, row.worst, row.best, **BAR)
line = {"color": INK, "label": "95% confidence interval over queries"}
right.vlines(1, row.interval_low, row.interval_high, linewidth=1.2, **line)
right.plot([0, 1], [row.mean] * 2, **DIAMOND)
right.set(xlim=(-0.6, 1.6), xlabel="two intervals")
right.set_title("NDCG@10, mean", loc="left", fontsize=10)
right.set_xticks([0, 1], ["ties", "queries"])
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=3, frameon=False)
