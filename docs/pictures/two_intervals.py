"""What ties leave open, query by query, and the interval over queries."""

import matplotlib.pyplot as plt
import numpy as np
from theme import BLUE, ORANGE

from tieaware_sklearn import evaluate
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=25, random_state=3)
clicks = web.data[:, web.feature_names.index("clicks")]
report = evaluate(web.target, clicks, qid=web.qid, measures=["ndcg@10"])
(row,) = report.summary().to_pandas().itertuples()
order = np.argsort(report.expected[:, 0])
at = np.arange(len(order))

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 3.2), sharey=True, width_ratios=[3, 1]
)
worst, best = report.worst[order, 0], report.best[order, 0]
left.vlines(at, worst, best, color="#56B4E9", linewidth=6, label="worst to best")
left.plot(at, report.expected[order, 0], "o", color=BLUE, ms=4, label="exact")
left.set(xlabel="queries, from the hardest to the easiest", ylabel="NDCG@10", xticks=[])
left.legend(frameon=False, loc="upper left")
right.vlines(0, row.worst, row.best, color="#56B4E9", linewidth=14)
right.errorbar(
    1,
    row.mean,
    [[row.mean - row.interval_low], [row.interval_high - row.mean]],
    color=ORANGE,
    capsize=6,
)
right.hlines(row.mean, -0.5, 1.5, color=BLUE, linestyle=":")
right.set(xlim=(-0.6, 1.6), xlabel="mean of the queries")
right.set_xticks([0, 1], ["worst\nto best", "95%\ninterval"])
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
