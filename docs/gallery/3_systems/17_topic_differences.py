"""
On which topics is one system better, and on which do ties decide?
==================================================================

A mean over topics does not show on how many topics a system is better.

`SystemComparison.by_query` returns the values of each system on each topic. In the
plot, a bar goes from the smallest to the largest difference over all orders of ties. If
the bar contains zero, the order of ties decides which system is better, and the bar is
grey.
"""

import matplotlib.pyplot as plt
import numpy as np

from tieaware_sklearn import compare_systems
from tieaware_sklearn.datasets import load_digits_retrieval

digits = load_digits_retrieval(n_queries=30, as_frame=True)
systems = digits.data[["chebyshev", "hamming"]]
result = compare_systems(digits.target, systems, qid=digits.qid, measure="ap")
topics = result.by_query().pivot(index="qid", columns="system")
a, b = topics.xs("chebyshev", axis=1, level=1), topics.xs("hamming", axis=1, level=1)
difference = (a.expected - b.expected).sort_values(ascending=False)
low = (a.worst - b.best)[difference.index]
high = (a.best - b.worst)[difference.index]

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
ranks = np.arange(1, len(difference) + 1)
depends_on_ties = low * high < 0
for label, colour, shown in [
    ("range over the orders of ties", "#56B4E9", ~depends_on_ties),
    ("better system depends on ties", ("#767676", 0.6), depends_on_ties),
]:
    bars = {"color": colour, "linewidth": 7, "label": label}
    axis.vlines(ranks[shown], low[shown], high[shown], **bars)
diamond = {"color": "#E69F00", "label": "mean over orders of ties"}
axis.plot(ranks, difference, "D", **diamond)
axis.axhline(0, color="black", linewidth=1)
axis.set_xticks([1, 10, 20, 30])
axis.set(xlabel="topics, from the best for chebyshev", ylabel="difference")
axis.set_title("AP: chebyshev − hamming, for each topic", loc="left")
figure.legend(loc="outside lower center", ncols=3, frameon=False)

# %%
# Suppose that a tool breaks ties by the order of the rows. On a topic with a grey bar,
# the tool could report that either system is better.
