"""The picture of the README: four rows in two orders, and the exact NDCG.

``python docs/pictures/readme.py`` writes ``docs/_static/two_orders.png``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from tieaware_sklearn import evaluate, ranking_score

NAMES = ["tea pot", "tea cup", "kettle", "napkin"]
LABELS, CLICKS = [0, 1, 1, 0], [9, 3, 3, 3]
ORDERS = {
    "the rows in one order": [0, 1, 2, 3],
    "the rows in another order": [0, 3, 2, 1],
}
GREEN, GREY, RED, BLUE, BAND = "#7fc8ae", "#d0d0d0", "#D55E00", "#1f86c9", "#56B4E9"
#: words that are read on white and on black
WORDS = "#808080"


def draw_rows(panel, title: str, order: list[int]) -> None:
    """The documents as a tool that goes by the order of rows ranks them."""
    value = ranking_score(
        [LABELS[row] for row in order], [CLICKS[row] for row in order], ties="input"
    )
    for place, row in enumerate(order):
        colour = GREEN if LABELS[row] else GREY
        panel.barh(-place, 1, color=colour, height=0.88)
        name = f"{place + 1}  {NAMES[row]}{', relevant' if LABELS[row] else ''}"
        black = {"va": "center", "color": "black", "fontsize": 11}
        panel.text(0.04, -place, name, **black)
        clicks = f"{CLICKS[row]} clicks"
        panel.text(0.96, -place, clicks, ha="right", **black)
    panel.set(xlim=(0, 1), xticks=[], yticks=[])
    panel.set_title(title, fontsize=12, color=WORDS)
    panel.set_xlabel(f"NDCG = {value:.2f}", fontsize=15, color=RED, labelpad=8)
    panel.spines[:].set_visible(False)


def draw_exact(panel) -> None:
    """The mean over all orders, between the worst and the best."""
    summary = evaluate(LABELS, CLICKS, measures="ndcg@10").summary()
    mean, worst, best = summary.mean[0], summary.worst[0], summary.best[0]
    panel.barh(0, best - worst, left=worst, color=BAND, height=0.34)
    panel.plot([mean, mean], [-0.24, 0.24], color=BLUE, linewidth=4)
    for value, word in [(worst, "worst"), (best, "best")]:
        text = f"{word}\n{value:.2f}"
        style = {"ha": "center", "va": "top", "fontsize": 12, "color": WORDS}
        panel.text(value, -0.34, text, **style)
    margin = 0.25 * (best - worst)
    panel.set(xlim=(worst - margin, best + margin), ylim=(-1.1, 0.9))
    panel.set(xticks=[], yticks=[])
    panel.set_title("in any order of the rows", fontsize=12, color=WORDS)
    panel.set_xlabel(f"exact NDCG = {mean:.2f}", fontsize=17, color=BLUE, labelpad=8)
    panel.spines[:].set_visible(False)


def main() -> None:
    figure = plt.figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplot_mosaic("AB;CC", height_ratios=[5, 4])
    for name, (title, order) in zip("AB", ORDERS.items(), strict=True):
        draw_rows(axes[name], title, order)
    draw_exact(axes["C"])
    target = Path(__file__).parents[1] / "_static" / "two_orders.png"
    figure.savefig(target, dpi=110, transparent=True)


if __name__ == "__main__":
    main()
