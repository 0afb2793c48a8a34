"""LETOR text of the size and kind of a part of MSLR-WEB30K, made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

#: Features of MSLR-WEB30K.
N_FEATURES = 136


def write_letor(path: Path, n_queries: int) -> Path:
    """Write queries of 100 documents; half of the features are counts, half floats."""
    rng = np.random.default_rng(0)
    shape = (100, N_FEATURES)
    with path.open("w") as file:
        for query in range(n_queries):
            counts = rng.integers(0, 10, shape)
            reals = rng.random(shape)
            for row in range(100):
                features = []
                for j in range(N_FEATURES):
                    value = f"{reals[row, j]:.6g}" if j % 2 else f"{counts[row, j]}"
                    features.append(f"{j + 1}:{value}")
                text = " ".join(features)
                file.write(f"{row % 5} qid:{query} {text}\n")
    return path
