"""Four rows in two orders, the two values of AP, and the exact one."""

import matplotlib.pyplot as plt
from theme import BLUE, DIAMOND, INK, ORANGE

from tieaware_sklearn import evaluate, ranking_score

names, labels, scores = "abcd", [1, 1, 0, 0], [0.7, 0.2, 0.2, 0.2]
figure, axes = plt.subplots(1, 3, figsize=(8, 2.9), width_ratios=[1, 1, 1.1])

for panel, order, title in [
    (axes[0], [0, 1, 2, 3], "one file"),
    (axes[1], [3, 2, 1, 0], "the same rows, sorted otherwise"),
]:
    ranked = sorted(order, key=lambda row: -scores[row])  # stable, as other tools sort
    y_true = [labels[row] for row in order]
    y_score = [scores[row] for row in order]
    value = ranking_score(y_true, y_score, measure="ap", ties="input")
    for place, row in enumerate(ranked):
        colour = "#7fc8ae" if labels[row] else "#d0d0d0"
        panel.barh(-place, 1, color=colour, height=0.86)
        word = "relevant" if labels[row] else "not relevant"
        black = {"va": "center", "color": "black"}
        panel.text(0.04, -place, f"{place + 1}.  {names[row]}  {word}", **black)
        panel.text(0.96, -place, f"{scores[row]}", ha="right", **black)
    panel.set(xlim=(0, 1), xticks=[], yticks=[])
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(f"AP = {value:.2f}", fontsize=12, color=ORANGE)
    panel.spines[:].set_visible(False)

report = evaluate(labels, scores, measures=["ap"])
(summary,) = report.summary().to_pandas().itertuples()
panel = axes[2]
span = summary.best - summary.worst
panel.barh(0, span, left=summary.worst, color="#56B4E9", height=0.3)
panel.plot(summary.mean, 0, markersize=9, **DIAMOND)
for value, text in [(summary.worst, "worst"), (summary.best, "best")]:
    panel.text(value, -0.45, f"{text}\n{value:.2f}", ha="center", va="top")
panel.text(summary.mean, 0.35, f"mean {summary.mean:.3f}", ha="center", color=INK)
panel.set(xlim=(0.65, 1.1), ylim=(-1.4, 1.2), xticks=[], yticks=[])
panel.set_title("range over the orders of ties", fontsize=10)
panel.set_xlabel("the exact AP", fontsize=12, color=BLUE)
panel.spines[:].set_visible(False)
