"""Where chance, the mean and the ideal stand on the scale of a measure."""

import matplotlib.pyplot as plt
from theme import DIAMOND, GREEN, INK, ORANGE, QUIET

from tieaware_sklearn import evaluate
from tieaware_sklearn.datasets import make_web_search

web = make_web_search(n_queries=200, random_state=0)
clicks = web.data[:, web.feature_names.index("clicks")]
summary = evaluate(web.target, clicks, qid=web.qid, measures=["ndcg@10"]).summary()
(row,) = summary.to_pandas().itertuples()

figure, panel = plt.subplots(figsize=(7.5, 2.2))
panel.plot([0, 1], [0, 0], color=QUIET, linewidth=1, zorder=0)
panel.barh(0, row.best - row.worst, left=row.worst, height=0.25, color="#56B4E9")
panel.plot(row.mean, 0, markersize=9, **DIAMOND)
panel.plot([row.chance] * 2, [-0.25, 0.25], color=ORANGE, linestyle="--")
panel.plot([row.ideal] * 2, [-0.2, 0.2], color=GREEN, linewidth=3)
panel.text(row.chance, 0.28, f"chance {row.chance:.3f}", ha="right", color=ORANGE)
panel.text(row.mean, 0.28, f"mean {row.mean:.3f}", ha="center", color=INK)
panel.text(row.ideal, 0.28, f"ideal {row.ideal:.3f}", ha="center", color=GREEN)
panel.text(row.worst, -0.2, "worst ", ha="right", va="center")
panel.text(row.best, -0.2, " best", ha="left", va="center")
arrow = {"arrowstyle": "<->", "color": QUIET}
panel.annotate("", (row.chance, -0.5), (row.mean, -0.5), arrowprops=arrow)
panel.annotate("", (row.chance, -0.9), (row.ideal, -0.9), arrowprops=arrow)
panel.text((row.chance + row.mean) / 2, -0.6, "a", ha="center", va="top", fontsize=11)
panel.text((row.chance + row.ideal) / 2, -1, "b", ha="center", va="top", fontsize=11)
panel.text(0, -1.45, f"lift = a / b = {row.lift:.3f}", fontsize=11)
panel.set(xlim=(-0.02, 1.06), ylim=(-1.6, 0.6), yticks=[])
panel.set_xlabel("NDCG@10")
panel.spines[["top", "right", "left"]].set_visible(False)
