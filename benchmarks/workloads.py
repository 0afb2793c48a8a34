"""Rankings of the sizes that people have, made up, with a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import lightgbm as lgb
import numpy as np
from numpy.random import Generator

from tieaware_sklearn._typing import Array, FloatArray, IntArray

#: Documents that trees learn from.
_LEARNT_FROM = 100_000
#: Rows of columns that are made at a time.
_ROWS_MADE = 1 << 15
#: Shares of the labels 0 to 4 in MSLR-WEB30K.
_WEB_LABELS = (0.52, 0.32, 0.13, 0.02, 0.01)


class Workload(NamedTuple):
    """Labels, query ids and score columns of the same documents."""

    name: str
    y: FloatArray
    qid: IntArray
    sizes: IntArray
    scores: dict[str, FloatArray]


def _draw_labels(
    name: str, sizes: IntArray, shares: Sequence[float], rng: Generator
) -> Workload:
    """Return queries of these sizes without scores; a share for each label."""
    n = int(sizes.sum())
    y = rng.choice(len(shares), size=n, p=shares)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return Workload(name, y.astype(np.float64), qid, sizes, {})


def web(scale: float = 1.0, seed: int = 0) -> Workload:
    """Return rankings as large as MSLR-WEB30K: 31,531 queries, 3.7 million rows."""
    rng = np.random.default_rng(seed)
    n_queries = max(int(31_531 * scale), 1)
    lengths = rng.lognormal(np.log(100), 0.55, n_queries)
    lengths = np.clip(lengths, 1, 1251)
    lengths = lengths * 117.6 / lengths.mean()
    sizes = np.maximum(lengths.astype(np.int64), 1)
    data = _draw_labels("web", sizes, _WEB_LABELS, rng)
    n = len(data.y)
    clicks = rng.zipf(1.6, n) - 1
    clicks += rng.poisson(data.y / 4)
    clicks = np.minimum(clicks, 10**6)
    data.scores["continuous"] = data.y / 2 + rng.normal(size=n)
    data.scores["discrete"] = clicks.astype(np.float64)
    return data


def web_with_trees(scale: float) -> Workload:
    """Return `web`, also scored by the first 8 trees of a booster, of 8 leaves each."""
    data = web(scale)
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(len(data.y), 2))
    X = np.column_stack([*data.scores.values(), noise])
    ends = np.cumsum(data.sizes)
    n_queries = int(np.searchsorted(ends, _LEARNT_FROM)) + 1
    groups = data.sizes[:n_queries]
    n_rows = int(groups.sum())
    rows = lgb.Dataset(X[:n_rows], data.y[:n_rows], group=groups)
    params = {"objective": "lambdarank", "num_leaves": 8, "seed": 0}
    params |= {"verbosity": -1, "num_threads": 1, "deterministic": True}
    trees = lgb.train(params, rows, 8)
    data.scores["trees"] = trees.predict(X)
    return data


def in_degree() -> Workload:
    """Return 28,043 queries scored by in-degree, as McSherry and Najork had them."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 200, 28_043)
    shares = [0.9, 0.05, 0.02, 0.01, 0.01, 0.01]
    data = _draw_labels("in-degree", sizes, shares, rng)
    degree = rng.zipf(1.8, len(data.y))
    degree = np.minimum(degree, 10**6)
    data.scores["in-degree"] = degree.astype(np.float64)
    return data


def one_query() -> Workload:
    """Return one query of a million documents."""
    rng = np.random.default_rng(0)
    n = 10**6
    sizes = np.array([n])
    data = _draw_labels("one query", sizes, [0.9, 0.1], rng)
    data.scores["continuous"] = rng.normal(size=n)
    discrete = rng.integers(0, 1000, n)
    data.scores["discrete"] = discrete.astype(np.float64)
    return data


def columns(n_rows: int, n_columns: int) -> Array:
    """Return columns to screen, half of them discrete, in single precision.

    A few rows are made at a time, so that memory holds little else.
    """
    rng = np.random.default_rng(1)
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for start in range(0, n_rows, _ROWS_MADE):
        part = X[start : start + _ROWS_MADE]
        rng.standard_normal(dtype=np.float32, out=part)
        discrete = part[:, ::2]
        # Tails are as long as those of clicks, by the inverse of their distribution.
        u = rng.random(discrete.shape, dtype=np.float32)
        clicks = np.floor((1 - u) ** (-1 / 0.6))
        discrete[:] = np.minimum(clicks, 10**6)
    return X


def matrix(n_queries: int = 2000, n_documents: int = 117) -> Workload:
    """Return queries of one length, as matrices hold them."""
    rng = np.random.default_rng(0)
    sizes = np.full(n_queries, n_documents)
    data = _draw_labels("matrix", sizes, _WEB_LABELS, rng)
    n = len(data.y)
    data.scores["continuous"] = data.y / 2 + rng.normal(size=n)
    discrete = rng.integers(0, 20, n)
    data.scores["discrete"] = discrete.astype(np.float64)
    return data


def few_rows() -> Workload:
    """Return three queries of four documents, and a thousand columns of scores."""
    rng = np.random.default_rng(0)
    sizes = np.full(3, 4)
    data = _draw_labels("few rows", sizes, [0.6, 0.4], rng)
    X = rng.normal(size=(1000, len(data.y)))
    for j, column in enumerate(np.round(X, 1)):
        data.scores[str(j)] = column
    return data
