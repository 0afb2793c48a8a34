"""Features by NDCG@10: some beat chance, one of them repeats another, one is noise."""

import matplotlib.pyplot as plt
import numpy as np
from theme import BAR, DIAMOND, INK, ORANGE, QUIET

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=60, random_state=0)
selector = RankingFeatureSelector("ndcg@10").fit(web.data, web.target, qid=web.qid)
screening = selector.screening_
means = screening.mean[:, 0]
beats_chance = screening.qvalues[:, 0] <= 0.05
best = np.argsort(-means)[[0, 1, 2, 3, 5, 8]]

figure, panel = plt.subplots(figsize=(2.9, 2.3))
rows = np.arange(len(best))
panel.hlines(rows, screening.worst[best, 0], screening.best[best, 0], **BAR)
filled = np.where(beats_chance[best], means[best], np.nan)
hollow = np.where(beats_chance[best], np.nan, means[best])
panel.plot(filled, rows, markersize=8, **DIAMOND)
panel.plot(hollow, rows, markersize=8, markerfacecolor="none", **DIAMOND)
chance = screening.chance[0]
panel.axvline(chance, color=ORANGE, linestyle="--")
panel.text(chance, -0.75, "chance", color=ORANGE, ha="center")
quiet = {"va": "center", "fontsize": 8.5, "color": QUIET}
panel.text(screening.best[best[0], 0], 5, "does not beat chance", ha="right", **quiet)
for row, repeated in enumerate(screening.selection.repeats[best]):
    if repeated >= 0 and beats_chance[best[row]]:
        panel.text(chance, row, f"  repeats {web.feature_names[repeated]}", **quiet)
panel.set_yticks(rows, [web.feature_names[j] for j in best])
panel.set(ylim=(len(best) - 0.5, -0.7), xticks=[])
panel.set_xlabel("NDCG@10", color=QUIET)
panel.tick_params(axis="y", length=0, colors=INK)
panel.spines[:].set_visible(False)
