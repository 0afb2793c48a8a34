"""
What if users react to what they find?
======================================

The users whom RR, ERR and AP assume react to relevant documents in the ranking.

So the behaviour of these users depends on the labels of the documents. In the ranking
of this example, the first, third and sixth documents are relevant. The panels show the
attention that each rank gets (W), the probability of reading on (C), and the
probability that the rank is the last one (L).
"""

import matplotlib.pyplot as plt
import numpy as np

from tieaware_sklearn import parse_measure

labels = [1, 0, 1, 0, 0, 1, 0, 0]
ranks = np.arange(1, len(labels) + 1)
figure, (weight, continuation, last) = plt.subplots(
    1, 3, figsize=(11, 3.5), layout="constrained"
)
for name in ["rr", "err", "ap"]:
    measure = parse_measure(name)
    weight.plot(ranks, measure.weight(ranks, labels), label=str(measure))
    continuation.plot(ranks, measure.continuation(ranks, labels))
    last.plot(ranks, measure.last(ranks, labels))
titles = {
    weight: "W(i): share of attention",
    continuation: "C(i): probability of reading on",
    last: "L(i): probability that i is the last",
}
for axis, title in titles.items():
    axis.set_title(title, loc="left", fontsize="medium")
    axis.set(xlabel="rank i (relevant: 1, 3 and 6)", xticks=ranks)
figure.legend(loc="outside lower center", ncols=3, frameon=False)

# %%
# The user of RR stops at the first relevant document, which is at rank 1 in this
# example.
