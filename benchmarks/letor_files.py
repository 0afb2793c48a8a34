"""LETOR text of the size and kind of a part of MSLR-WEB30K, made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

#: features of MSLR-WEB30K
N_FEATURES = 136


def write_letor(path: Path, n_queries: int) -> Path:
    """Queries of 100 documents; half of the features are counts, half are floats."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for query in range(n_queries):
            counts = rng.integers(0, 10, (100, N_FEATURES))
            reals = rng.random((100, N_FEATURES))
            for row in range(100):
                features = " ".join(
                    f"{j + 1}:{reals[row, j]:.6g}" if j % 2 else f"{j + 1}:{count}"
                    for j, count in enumerate(counts[row].tolist())
                )
                file.write(f"{row % 5} qid:{query} {features}\n")
    return path
