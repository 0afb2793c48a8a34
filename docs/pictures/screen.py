"""Features by NDCG@10: those that a selector keeps, and those that it leaves out."""

import matplotlib.pyplot as plt
import numpy as np
from theme import BLUE, INK, ORANGE, QUIET

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=60, random_state=0)
selector = RankingFeatureSelector("ndcg@10").fit(web.data, web.target, qid=web.qid)
means, kept = selector.screening_.mean[:, 0], selector.get_support()
best = np.argsort(-means)[[0, 1, 2, 3, 5, 8]]

figure, panel = plt.subplots(figsize=(2.9, 2.3))
rows = np.arange(len(best))
colours = [BLUE if kept[j] else "#8e959d" for j in best]
panel.barh(rows, means[best], 0.6, color=colours)
chance = selector.screening_.chance[0]
panel.axvline(chance, color=ORANGE, linestyle="--")
panel.text(chance, -0.75, "chance", color=ORANGE, ha="center")
panel.set_yticks(rows, [web.feature_names[j] for j in best])
panel.set(ylim=(len(best) - 0.5, -0.7), xticks=[])
panel.set_xlabel("NDCG@10", color=QUIET)
panel.tick_params(axis="y", length=0, colors=INK)
panel.spines[:].set_visible(False)
