"""
Which user does a measure assume?
=================================

The value of many measures is the expected gain of a user who reads down the ranking.

For each rank, the first panel shows the share of the user's attention that the rank
gets (W). The second panel shows how likely the user is to read on after the rank (C).
The third panel shows how likely the rank is to be the last one that the user reads (L).
"""

import matplotlib.pyplot as plt
import numpy as np

from tieaware_sklearn import parse_measure

ranks = np.arange(1, 21)
figure, (weight, continuation, last) = plt.subplots(
    1, 3, figsize=(11, 3.5), layout="constrained"
)
for name in ["p@10", "rbp(p=0.8)", "rbp(p=0.95)", "dcg@10"]:
    measure = parse_measure(name)
    weight.plot(ranks, measure.weight(ranks), label=str(measure))
    continuation.plot(ranks, measure.continuation(ranks))
    last.plot(ranks, measure.last(ranks))
titles = {
    weight: "W(i): share of attention",
    continuation: "C(i): probability of reading on",
    last: "L(i): probability that i is the last",
}
for axis, title in titles.items():
    axis.set_title(title, loc="left", fontsize="medium")
    axis.set(xlabel="rank i", xticks=[1, 5, 10, 15, 20])
figure.legend(loc="outside lower center", ncols=4, frameon=False)

# %%
# The user of P@10 reads ten documents and stops. So in the third panel, the curve of
# P@10 has its peak at rank 10.
