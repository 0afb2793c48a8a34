"""AP in every order of the ties of ten documents, and what the report says of them."""

from itertools import permutations, product

import matplotlib.pyplot as plt
import numpy as np
from theme import BLUE, ORANGE, QUIET

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
panel.bar(found, share, width=0.003, color="#56B4E9", edgecolor=BLUE)
top = share.max()
panel.axvspan(row.mean - row.tie_std, row.mean + row.tie_std, color=BLUE, alpha=0.12)
marks = [
    (row.worst, f"worst \n{row.worst:.3f} ", 1.15, QUIET),
    (row.mean, f"mean {row.mean:.3f}\ntie_std {row.tie_std:.3f}", 1.15, BLUE),
    (row.best, f" best\n {row.best:.3f}", 1.15, QUIET),
    (row.chance, f"chance\n{row.chance:.3f}", 0.6, ORANGE),
]
for at, text, height, colour in marks:
    panel.plot([at, at], [0, top * height], color=colour, linestyle=":")
    side = {row.worst: "right", row.mean: "center"}.get(at, "left")
    panel.text(at, top * height * 1.02, text, ha=side, color=colour)
panel.set(
    ylim=(0, top * 1.55),
    xlabel="AP",
    ylabel=f"share of the {len(values)} orders",
)
panel.spines[["top", "right"]].set_visible(False)
