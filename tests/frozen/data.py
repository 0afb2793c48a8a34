"""Inputs of the frozen values, made by integer arithmetic alone.

`numpy.random` may change its streams, and transcendental functions differ between CPUs.
Products of 64-bit integers and divisions do neither.
"""

import numpy as np

ARITHMETIC = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def integers(n: int, modulus: int, seed: int) -> np.ndarray:
    """Return n pseudorandom integers below `modulus` (SplitMix64)."""
    values = np.arange(1, n + 1, dtype=np.uint64) + np.uint64(seed) * np.uint64(1 << 32)
    values *= ARITHMETIC
    values = (values ^ (values >> np.uint64(30))) * FACTORS[0]
    values = (values ^ (values >> np.uint64(27))) * FACTORS[1]
    values ^= values >> np.uint64(31)
    return (values % np.uint64(modulus)).astype(np.int64)


def permutation(n: int, seed: int) -> np.ndarray:
    """Return a pseudorandom permutation of the integers below n."""
    return np.argsort(integers(n, 1 << 62, seed), kind="stable")


class Ranking:
    """Labels, query ids, weights and score columns of the same documents.

    The rows of all queries are interleaved. With `shuffled` the same rows stand in
    another order; `restore` undoes the order for arrays with a value a row.
    """

    def __init__(self, sizes: list[int], *, shuffled: bool = False, seed: int = 1):
        n_rows = sum(sizes)
        query = np.repeat(np.arange(len(sizes)), sizes)
        # nine labels in twelve are 0, and grades up to 4 are rarer the higher they are
        grade = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 4])
        grade[9] = 3
        y = grade[integers(n_rows, 12, seed)]
        y[query % 7 == 3] = 0
        y[query % 11 == 5] = 1 + y[query % 11 == 5] // 2
        few = integers(n_rows, 4, seed + 1) + y // 2
        thirds = integers(n_rows, 7, seed + 2) + y
        unretrieved = few / 4
        unretrieved[integers(n_rows, 5, seed + 3) == 0] = -np.inf
        unretrieved[query == 8] = -np.inf
        columns = {
            "few": few / 4,
            "integer": thirds,
            "float32": (thirds.astype(np.float32) / np.float32(3)),
            "unretrieved": unretrieved,
            "distinct": permutation(n_rows, seed + 4) + 10 * y,
            "tied": np.full(n_rows, 0.5),
        }
        order = permutation(n_rows, seed + 5)
        if shuffled:
            order = order[permutation(n_rows, seed + 6)]
        self.place = np.argsort(np.argsort(order))
        self.restore = np.argsort(order)
        self.query = query[order]
        self.y = y[order].astype(np.float64)
        self.scores = {name: column[order] for name, column in columns.items()}
        self.qid = (self.query * 37) % 101
        self.names = np.array([f"topic {number}" for number in self.qid])
        self.docno = np.array([f"d{number:05}" for number in order])
        self.row = order
        self.weight = 1 + (self.query % 5) / 4.0
        self.segment = np.array(["north", "south", "west"])[self.query % 3]
        unjudged = integers(n_rows, 4, seed + 7)[order] == 0
        self.partly_judged = np.where(unjudged, np.nan, self.y)


#: single documents, queries of 2 and 3, and lists longer than every cut-off
SIZES = [1, 1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 17, 20, 25, 33, 40]


def lists(n_queries: int = 12, length: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Return matrices of labels and scores, padded with NaN."""
    shape = n_queries, length
    y = integers(n_queries * length, 5, 21).reshape(shape) // 2 / 1.0
    scores = integers(n_queries * length, 4, 22).reshape(shape) / 8
    padding = np.arange(length) >= 1 + integers(n_queries, length, 23)[:, None]
    y[padding] = scores[padding] = np.nan
    return y, scores


def features(ranking: Ranking, n_columns: int = 9) -> np.ndarray:
    """Return columns to screen: tied, sparse, a copy, a reversed copy, a constant."""
    n_rows = len(ranking.y)
    columns = []
    for j in range(n_columns):
        noise = integers(n_rows, 3 + 4 * j, 30 + j)[ranking.row]
        columns.append((noise + (j % 3) * ranking.y) / 4)
    columns.append(columns[1] * 2 + 1)
    columns.append(-columns[2])
    columns.append(np.ones(n_rows))
    columns.append(np.where(integers(n_rows, 9, 40)[ranking.row] == 0, ranking.y, 0.0))
    columns.append(np.where(integers(n_rows, 7, 41)[ranking.row] == 0, -1.0, 0.0))
    return np.column_stack(columns)
