"""Finding 1: trec_eval's values at the ends of the ranges, and the exact means."""

from types import SimpleNamespace

import numpy as np

from tieaware_sklearn.plots import OfficialVsExactDisplay

# as `python -m benchmarks.results.official` prints them: official, exact, worst, best
AP = [
    [0.1170, 0.1212, 0.1168, 0.1266],
    [0.1075, 0.1231, 0.1068, 0.1464],
    [0.0193, 0.0477, 0.0183, 0.1849],
]
P_10 = [
    [0.1960, 0.2033, 0.1956, 0.2113],
    [0.2071, 0.2376, 0.2061, 0.2733],
    [0.0002, 0.1055, 0.0001, 0.2102],
]
official, exact, worst, best = np.moveaxis(np.array([AP, P_10]), 2, 0).swapaxes(1, 2)
systems = ("baseline", "result_to_compare1", "result_to_compare2")
up = np.array([True, True])
found = SimpleNamespace(
    systems=systems,
    measures=("AP", "P@10"),
    official=official,
    exact=exact,
    worst=worst,
    best=best,
    tied_documents=np.array([0.489, 0.730, 1.0]),
    comparisons=SimpleNamespace(systems=systems, greater_is_better=up),
)
OfficialVsExactDisplay(found).plot()
