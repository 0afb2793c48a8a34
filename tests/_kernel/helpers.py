"""The two engines side by side, and cases that are hard on both."""

import math

import numpy as np
from hypothesis import strategies as st

from tests.instances import MEASURES
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.engines import ENGINES, use_engine
from tieaware_sklearn.evaluation._prepared import Prepared
from tieaware_sklearn.evaluation._resolved import resolve
from tieaware_sklearn.measures._interpolated import _Interpolated
from tieaware_sklearn.measures._parse import parse_measures
from tieaware_sklearn.measures._values import Detail
from tieaware_sklearn.ranking._ranked import deepest

#: interpolated ones sample, by the same seeds in both engines, and take their time
GRADED = [m for m in MEASURES if not isinstance(m, _Interpolated)]
GRADED += parse_measures(
    ["ndcg@10", "dcg@1", "rbp@4", "ap@1", "rr@1", "success@7", "p@1", "r@7", "f@4"]
)
GRADED += parse_measures([f"{name}@{2**70}" for name in ("ndcg", "ap", "rr", "p", "r")])
#: for labels of any size, whole or not
ANY_LABELS = ["cg", "cg@3", "dcg(gain=linear)", "ndcg(gain=linear)@5", "ap", "p@5"]
ANY_LABELS += ["ap(rel=2.5)@4", "r(rel=7)@3", "rprec(rel=0.5)", "fallout@3", "rr"]
ANY_LABELS += ["f@2", "rr(rel=300)", "success(rel=2)@2", "rbp(rel=255)", "bpref"]
ANY_LABELS += ["ndcg(gain=linear)@30%", "p@20%", "ap@50%", "rr@2.5%", "judged@70%"]
ANY_LABELS = parse_measures(ANY_LABELS)

UNIT = 2.0**-52
LABELS = {
    "graded": [0, 0, 0, 1, 2, 3, 4],
    "binary": [0, 1],
    "unjudged": [-1, 0, 1, 4],
    "irrelevant": [0],
}
OTHER_LABELS = {
    "floats": [0, 0.5, 1, 2.5, 3.25],
    "large": [0, 1, 7, 253, 254, 255, 300, 1e6, -1],
    "hundreds": [j / 8 for j in range(200)],
}
#: dtype, and scores that tie, or hardly do not
SCORES = {
    "few": (float, [-1.0, -0.0, 0.0, 0.5]),
    "tied": (float, [3.0]),
    "missing": (float, [-math.inf, math.nan, 0.0, 1.0, -0.0, -2.5]),
    "one ulp": (float, [1 + k * UNIT for k in range(7)] + [-1 - UNIT, -1.0, 0.25]),
    "tiny": (float, [0.0, 5e-324, 1e-323, -5e-324, -1e-308, 1e308, -1e308]),
    "many": (float, [j / 7 for j in range(-40, 40)]),
    "int64": (np.int64, [2**62, 2**62 + 1, 2**53, 2**53 + 1, -(2**63), 0, 2**63 - 1]),
    "uint64": (np.uint64, [2**64 - 1, 2**64 - 2, 2**63, 2**53 + 1, 0]),
    "int8": (np.int8, [-128, -1, 0, 127]),
    "bool": (bool, [False, True]),
    "float16": (np.float16, [0.1, 0.1001, -math.inf, math.nan, 6e-8, -0.0]),
    "float32": (np.float32, [0.1, 0.10000001, 1e-45, -math.inf, math.nan, 3e38]),
    "longdouble": (np.longdouble, [1, 1 + np.finfo(np.longdouble).eps, -math.inf, 0]),
}


#: arrays of values that are compared
NAMES = ["expected", "best", "worst", "std", "normaliser", "spread_within_ties"]


@st.composite
def cases(draw, labels=LABELS, max_documents: int = 60):
    """Labels, scores and interleaved ids of up to four queries."""
    n = draw(st.integers(1, max_documents))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    dtype, scores = SCORES[draw(st.sampled_from([*SCORES]))]
    label = np.array(column(labels[draw(st.sampled_from([*labels]))]), dtype=float)
    qid = column(list(range(draw(st.integers(1, 4)))))
    return label, np.array(column(scores), dtype=dtype), np.array(qid)


def by_engine(compute, *args, **options):
    """What `compute` gives by the kernel, and by NumPy."""
    results = []
    for name in ENGINES:
        with use_engine(name):
            results.append(compute(*args, **options))
    return results


def prepared(labels, qid, **options):
    labels = np.asarray(labels, dtype=float)
    return Prepared(labels, check_qid(qid, n_rows=len(labels)), **options)


def rankings_of(queries, scores, measures, *, both_ways=False, spread=False, **options):
    """All values per query and measure, by name; with `both_ways` a list of two."""

    def compute(ranked):
        detail = Detail.SPREAD if spread else Detail.DEVIATION
        orders = [ranked, ranked.reversed()] if both_ways else [ranked]
        return [order.values(measures, detail) for order in orders]

    if not both_ways:
        options["depth"] = deepest(measures)
    parts = queries.each_block(compute, np.atleast_2d(scores), **options)
    orders = []
    for blocks in zip(*parts, strict=True):
        values = queries.joined(blocks)
        if np.ndim(scores) == 1:
            values = values.apply(lambda array: array[0])
        statistics = {name: getattr(values, name) for name in NAMES}
        orders.append(
            {name: array for name, array in statistics.items() if array is not None}
        )
    return orders if both_ways else orders[0]


def values_of(labels, scores, qid, measures, **options):
    """Values per query and measure, and those of labels, by the engine that runs."""
    queries = prepared(labels, qid)
    statistics = rankings_of(queries, scores, measures, **options)
    labels = queries.label_values(resolve(measures, "skip"))
    return statistics | {"chance": labels.chance, "ideal": labels.ideal}


def assert_close(compiled, numpy, message=""):
    """The same up to 1e-12 of the value, or of 1."""
    compiled, numpy = np.asarray(compiled, float), np.asarray(numpy, float)
    assert compiled.shape == numpy.shape, message
    assert np.array_equal(np.isnan(compiled), np.isnan(numpy)), message
    defined = ~np.isnan(numpy)
    a, b = compiled[defined], numpy[defined]
    off = np.abs(a - b) / np.maximum(1, np.abs(b))
    assert off.max(initial=0.0) <= 1e-12, (message, off.max())


def assert_engines_agree(labels, scores, qid, measures, **options):
    by_kernel, by_numpy = by_engine(values_of, labels, scores, qid, measures, **options)
    for name, values in by_kernel.items():
        for at, measure in enumerate(measures):
            expected = by_numpy[name][..., at]
            assert_close(values[..., at], expected, f"{name} of {measure}")
