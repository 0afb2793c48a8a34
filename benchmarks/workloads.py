"""Rankings of the sizes that people have, made up, with a seed."""

from __future__ import annotations

from typing import NamedTuple

import lightgbm as lgb
import numpy as np

#: documents that trees learn from
_LEARNT_FROM = 100_000
#: rows of columns that are made at a time
_ROWS_MADE = 1 << 15


class Workload(NamedTuple):
    """Labels, query ids and score columns of the same documents."""

    name: str
    y: np.ndarray
    qid: np.ndarray
    sizes: np.ndarray
    scores: dict[str, np.ndarray]


def _labelled(
    name: str, sizes: np.ndarray, shares: list[float], rng: np.random.Generator
) -> tuple[str, np.ndarray, np.ndarray, np.ndarray]:
    n = int(sizes.sum())
    y = rng.choice(len(shares), size=n, p=shares).astype(np.float64)
    return name, y, np.repeat(np.arange(len(sizes)), sizes), sizes


def web(scale: float = 1.0, seed: int = 0) -> Workload:
    """As MSLR-WEB30K: 31,531 queries, 3.7 million documents, labels 0-4."""
    rng = np.random.default_rng(seed)
    n_queries = max(int(31_531 * scale), 1)
    sizes = np.clip(rng.lognormal(np.log(100), 0.55, n_queries), 1, 1251)
    sizes = np.maximum((sizes * 117.6 / sizes.mean()).astype(np.int64), 1)
    shares = [0.52, 0.32, 0.13, 0.02, 0.01]
    name, y, qid, sizes = _labelled("web", sizes, shares, rng)
    clicks = np.minimum(rng.zipf(1.6, len(y)) - 1 + rng.poisson(y / 4), 10**6)
    scores = {
        "continuous": y / 2 + rng.normal(size=len(y)),
        "discrete": clicks.astype(np.float64),
    }
    return Workload(name, y, qid, sizes, scores)


def with_trees(data: Workload, seed: int = 0) -> Workload:
    """The same, also scored by 8 trees of 8 leaves: the first of a booster."""
    rng = np.random.default_rng(seed + 1)
    noise = rng.normal(size=(len(data.y), 2))
    X = np.column_stack([*data.scores.values(), noise])
    few = int(np.searchsorted(np.cumsum(data.sizes), _LEARNT_FROM)) + 1
    n_rows = int(data.sizes[:few].sum())
    rows = lgb.Dataset(X[:n_rows], data.y[:n_rows], group=data.sizes[:few])
    params = {"objective": "lambdarank", "num_leaves": 8, "seed": seed}
    quiet = {"verbosity": -1, "num_threads": 1, "deterministic": True}
    trees = lgb.train({**params, **quiet}, rows, 8)
    return data._replace(scores={**data.scores, "trees": trees.predict(X)})


def in_degree(seed: int = 0) -> Workload:
    """28,043 queries scored by in-degree, as McSherry and Najork had them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 200, 28_043)
    shares = [0.9, 0.05, 0.02, 0.01, 0.01, 0.01]
    name, y, qid, sizes = _labelled("in-degree", sizes, shares, rng)
    degree = np.minimum(rng.zipf(1.8, len(y)), 10**6).astype(np.float64)
    return Workload(name, y, qid, sizes, {"in-degree": degree})


def one_query(n: int = 10**6, seed: int = 0) -> Workload:
    """One query of a million documents."""
    rng = np.random.default_rng(seed)
    name, y, qid, sizes = _labelled("one query", np.array([n]), [0.9, 0.1], rng)
    scores = {
        "continuous": rng.normal(size=n),
        "discrete": rng.integers(0, 1000, n).astype(np.float64),
    }
    return Workload(name, y, qid, sizes, scores)


def columns(n_rows: int, n_columns: int = 136, seed: int = 0) -> np.ndarray:
    """Columns to screen, half of them discrete, in single precision.

    They are made some rows at a time, so that memory holds little else.
    """
    rng = np.random.default_rng(seed + 1)
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for start in range(0, n_rows, _ROWS_MADE):
        part = X[start : start + _ROWS_MADE]
        rng.standard_normal(dtype=np.float32, out=(own := np.empty(part.shape, "f4")))
        # tails as of clicks, by the inverse of their distribution
        u = rng.random(own[:, ::2].shape, dtype=np.float32)
        own[:, ::2] = np.minimum(np.floor((1 - u) ** (-1 / 0.6)), 10**6)
        part[:] = own
    return X


def matrix(n_queries: int = 2000, n_documents: int = 117, seed: int = 0) -> Workload:
    """Queries of one length, as matrices hold them."""
    rng = np.random.default_rng(seed)
    sizes = np.full(n_queries, n_documents)
    shares = [0.52, 0.32, 0.13, 0.02, 0.01]
    name, y, qid, sizes = _labelled("matrix", sizes, shares, rng)
    scores = {
        "continuous": y / 2 + rng.normal(size=len(y)),
        "discrete": rng.integers(0, 20, len(y)).astype(np.float64),
    }
    return Workload(name, y, qid, sizes, scores)


def few_rows(n_columns: int = 1000, seed: int = 0) -> Workload:
    """Three queries of four documents, and many columns of scores."""
    rng = np.random.default_rng(seed)
    name, y, qid, sizes = _labelled("few rows", np.full(3, 4), [0.6, 0.4], rng)
    X = np.round(rng.normal(size=(n_columns, len(y))), 1)
    return Workload(name, y, qid, sizes, {str(j): x for j, x in enumerate(X)})
