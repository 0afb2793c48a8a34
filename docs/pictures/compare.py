"""Three systems: exact means, and what the order of their ties leaves open."""

import matplotlib.pyplot as plt
import numpy as np
from theme import BAR, DIAMOND, INK, QUIET

from tieaware_sklearn import evaluate
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=60, random_state=0)
names = ["clicks", "in_degree", "url_length"]
means, worst, best = [], [], []
for name in names:
    score = web.data[:, web.feature_names.index(name)]
    found = evaluate(web.target, score, qid=web.qid, measures="ap").summary()
    means += found.mean.tolist()
    worst += found.worst.tolist()
    best += found.best.tolist()

figure, panel = plt.subplots(figsize=(2.9, 2.3))
rows = np.arange(len(names))
panel.hlines(rows, worst, best, **BAR)
panel.plot(means, rows, markersize=9, **DIAMOND)
panel.text(means[0], -0.4, "exact mean", color=INK, ha="center")
panel.text(max(best), 2.5, "range over the orders of ties", color=INK, ha="right")
panel.set_yticks(rows, names)
panel.set(ylim=(2.8, -0.7), xticks=[])
panel.set_xlabel("AP", color=QUIET)
panel.tick_params(axis="y", length=0, colors=INK)
panel.spines[:].set_visible(False)
