"""Rankings of the sizes that people have, made up, with a seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
    """(a) As MSLR-WEB30K: 31,531 queries, 3.7 million documents, labels 0-4."""
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


def in_degree(seed: int = 0) -> Workload:
    """(b) 28,043 queries scored by in-degree, as McSherry and Najork had them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 200, 28_043)
    shares = [0.9, 0.05, 0.02, 0.01, 0.01, 0.01]
    name, y, qid, sizes = _labelled("in-degree", sizes, shares, rng)
    degree = np.minimum(rng.zipf(1.8, len(y)), 10**6).astype(np.float64)
    return Workload(name, y, qid, sizes, {"in-degree": degree})


def trec(seed: int = 0) -> Workload:
    """(c) 250 topics of 1,000 documents, few of them relevant."""
    rng = np.random.default_rng(seed)
    sizes = np.full(250, 1000)
    name, y, qid, sizes = _labelled("TREC", sizes, [0.98, 0.015, 0.005], rng)
    return Workload(name, y, qid, sizes, {"continuous": y + rng.normal(size=len(y))})


def one_query(n: int = 10**6, seed: int = 0) -> Workload:
    """(d) One query of a million documents."""
    rng = np.random.default_rng(seed)
    name, y, qid, sizes = _labelled("one query", np.array([n]), [0.9, 0.1], rng)
    scores = {
        "continuous": rng.normal(size=n),
        "discrete": rng.integers(0, 1000, n).astype(np.float64),
    }
    return Workload(name, y, qid, sizes, scores)


def columns(n_queries: int = 2000, n_columns: int = 136, seed: int = 0) -> np.ndarray:
    """(e) Columns to screen for the first queries of `web`: half of them discrete."""
    part = web(n_queries / 31_531, seed)
    rng = np.random.default_rng(seed + 1)
    X = rng.normal(size=(len(part.y), n_columns))
    X[:, ::2] = np.minimum(rng.zipf(1.6, (len(part.y), (n_columns + 1) // 2)), 10**6)
    return X


def few_rows(n_columns: int = 1000, seed: int = 0) -> Workload:
    """(f) Three queries of four documents, and many columns of scores."""
    rng = np.random.default_rng(seed)
    name, y, qid, sizes = _labelled("few rows", np.full(3, 4), [0.6, 0.4], rng)
    X = np.round(rng.normal(size=(n_columns, len(y))), 1)
    return Workload(name, y, qid, sizes, {str(j): x for j, x in enumerate(X)})
