"""Binary codes of images: what the order of the database adds to a benchmark.

``python -m benchmarks.results.hash_codes`` hashes scikit-learn's pictures of digits in
three ways to some numbers of bits, ranks the database by Hamming distance for each of
300 queries, and prints mAP over the whole database: exactly, with the worst and the
best order of ties, and with the database sorted by class, forwards and backwards. The
second table has the pairs of hashes whose test depends on the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from tieaware_sklearn import compare_systems

from ._shared import command_line, p_value, table

BITS = (4, 8, 16, 32)
N_QUERIES = 300
#: orders of the database, by the sign of the class
ORDERS = {"forwards": 1, "backwards": -1}


def codes(pictures: np.ndarray, bits: int) -> dict[str, np.ndarray]:
    """Codes of 0 and 1 by random planes, principal components and single pixels."""
    rng = np.random.default_rng(0)
    centred = pictures - pictures.mean(axis=0)
    planes = centred @ rng.normal(size=(pictures.shape[1], bits))
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    varied = np.argsort(-centred.var(axis=0), kind="stable")[:bits]
    return {
        "planes": planes > 0,
        "components": centred @ components[:bits].T > 0,
        "pixels": centred[:, varied] > 0,
    }


def rankings() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Labels, query ids, distances of all hashes, and the class of each image."""
    pictures, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digit))
    queries, database = order[:N_QUERIES], order[N_QUERIES:]
    same = digit[queries][:, None] == digit[database]
    scores = {}
    for bits in BITS:
        for name, code in codes(pictures, bits).items():
            apart = code[queries][:, None] != code[database]
            scores[f"{name} {bits}"] = -apart.sum(axis=2).ravel()
    qid = np.repeat(np.arange(N_QUERIES), len(database))
    of_class = np.tile(digit[database], N_QUERIES)
    return same.ravel() * 1, qid, scores, of_class


def main() -> None:
    command_line(__doc__).parse_args()
    labels, qid, scores, of_class = rankings()
    external = {name: sign * of_class for name, sign in ORDERS.items()}
    result = compare_systems(
        labels, scores, qid=qid, measure="ap", ties=["expected", *ORDERS],
        external=external,
    )  # fmt: skip
    summary = result.summary()
    of = {ties: summary.mean[summary.ties == ties] for ties in result.ties}
    first = summary.ties == "expected"
    lines: list[list[Any]] = []
    for i, name in enumerate(result.systems):
        hashed, bits = name.split()
        ends = summary.interval[first][i]
        lines.append([hashed, bits, *(float(one[i]) for one in of.values())])
        lines[-1] += [
            float(summary.columns[end][first][i]) for end in ("worst", "best")
        ]
        lines[-1].append(f"±{(ends[1] - ends[0]) / 2:.4f}")
    print(table(["mAP", "bits", "exact", *ORDERS, "worst", "best", "95%"], lines))
    print()
    tested = [result["AP", ties] for ties in result.ties]
    rows = []
    for i, (a, b) in enumerate(tested[0].pairs):
        one, other = (result.systems[j].split() for j in (a, b))
        p = [comparison.adjusted_pvalues[i] for comparison in tested]
        certain = {
            (q <= 0.05) * np.sign(comparison.difference[i])
            for q, comparison in zip(p, tested, strict=True)
        }
        if one[1] == other[1] and len(certain) > 1:
            rows.append([f"{one[0]} - {other[0]}", one[1], *map(p_value, p)])
    n_pairs = len(BITS) * 3
    print(f"{len(rows)} of {n_pairs} pairs with as many bits depend on the order")
    if rows:
        print(table(["p by holm", "bits", "exact", *ORDERS], rows))


if __name__ == "__main__":
    main()
