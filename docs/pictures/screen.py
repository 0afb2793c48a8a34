"""Features by NDCG@10: those that a selector keeps, and those that it leaves out."""

import matplotlib.pyplot as plt
import numpy as np
from theme import BAR, DIAMOND, INK, ORANGE, QUIET

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=60, random_state=0)
selector = RankingFeatureSelector("ndcg@10").fit(web.data, web.target, qid=web.qid)
screening = selector.screening_
means, kept = screening.mean[:, 0], selector.get_support()
best = np.argsort(-means)[[0, 1, 2, 3, 5, 8]]

figure, panel = plt.subplots(figsize=(2.9, 2.3))
rows = np.arange(len(best))
panel.hlines(rows, screening.worst[best, 0], screening.best[best, 0], **BAR)
hollow = np.where(kept[best], np.nan, means[best])
panel.plot(means[best], rows, markersize=8, **DIAMOND)
panel.plot(hollow, rows, markersize=8, markerfacecolor="white", **DIAMOND)
chance = screening.chance[0]
panel.axvline(chance, color=ORANGE, linestyle="--")
panel.text(chance, -0.75, "chance", color=ORANGE, ha="center")
panel.text(screening.best[best[0], 0], 5, "hollow: left out", ha="right", va="center")
panel.set_yticks(rows, [web.feature_names[j] for j in best])
panel.set(ylim=(len(best) - 0.5, -0.7), xticks=[])
panel.set_xlabel("NDCG@10", color=QUIET)
panel.tick_params(axis="y", length=0, colors=INK)
panel.spines[:].set_visible(False)
