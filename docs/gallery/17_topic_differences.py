"""
On which topics is one system better, and on which do ties decide?
==================================================================

A mean hides on how many topics a system wins. `SystemComparison.by_query` has the
values of each topic. The line on a bar goes from the smallest to the largest
difference over all orders of the ties.
"""

import matplotlib.pyplot as plt

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
places = range(len(difference))
axis.bar(places, difference, color="#56B4E9", label="exact mean over all orders")
axis.vlines(places, low, high, color="black", label="range over orders of ties")
axis.axhline(0, color="grey", linewidth=1)
axis.set_xticks(places, difference.index, rotation=90, fontsize="small")
axis.set(xlabel="topic", ylabel="difference of AP")
axis.set_title("chebyshev - hamming", loc="left")
axis.legend()

# %%
# Where the line crosses zero, a tool that breaks ties by the order of the rows could
# name either of the two systems as the better one.
