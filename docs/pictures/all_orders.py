"""AP in every order of the ties of ten documents, and what the report says of them."""

from itertools import permutations, product

import matplotlib.pyplot as plt
import numpy as np
from theme import BAR, DIAMOND, GREEN, INK, ORANGE, QUIET

from tieaware_sklearn import evaluate, ranking_score

labels = np.array([1, 0, 1, 1, 0, 1, 0, 0, 0, 0])
scores = np.array([9.8, 9.3, 9.3, 9.3, 8.4, 8.4, 8.2, 8.0, 8.0, 8.0])

groups = [np.flatnonzero(scores == one) for one in sorted(set(scores), reverse=True)]
values = []
for orders in product(*(permutations(group) for group in groups)):
    order = np.concatenate([np.array(one) for one in orders])
    values.append(ranking_score(labels[order], -np.arange(len(order)), measure="ap"))
(row,) = evaluate(labels, scores, measures=["ap"]).summary().to_pandas().itertuples()
assert np.isclose(np.mean(values), row.mean)
assert np.isclose(np.std(values), row.tie_std)

figure, panel = plt.subplots(figsize=(7.5, 3))
found, counts = np.unique(np.round(values, 12), return_counts=True)
share = counts / len(values)
panel.bar(found, share, width=0.005, color=GREEN)
top = share.max()
# below the histogram, the range and the mean as in all displays
height = -0.12 * top
panel.hlines(height, row.worst, row.best, **BAR)
panel.plot(row.mean, height, markersize=9, **DIAMOND)
panel.axvline(row.chance, color=ORANGE, linestyle="--")
panel.annotate(
    "",
    (row.mean - row.tie_std, 1.12 * top),
    (row.mean + row.tie_std, 1.12 * top),
    arrowprops={"arrowstyle": "|-|, widthA=0.3, widthB=0.3", "color": QUIET},
)
mean = f"mean {row.mean:.3f} ± tie_std {row.tie_std:.3f}"
panel.text(row.mean, 1.2 * top, mean, ha="center", color=INK)
panel.text(row.worst - 0.01, height, f"worst {row.worst:.3f}", ha="right", va="center")
panel.text(row.best + 0.01, height, f"best\n{row.best:.3f}", va="center")
panel.text(row.chance + 0.005, top, f"chance\n{row.chance:.3f}", color=ORANGE)
panel.set(
    ylim=(-0.3 * top, top * 1.4),
    xlim=(0.5, 1.01),
    yticks=[0, 0.05, 0.1, 0.15],
    xlabel="AP",
    ylabel=f"share of the {len(values)} orders",
)
panel.spines[["top", "right"]].set_visible(False)
