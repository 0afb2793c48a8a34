"""Binary codes of images: what the order of the database adds to a benchmark.

``python -m benchmarks.results.hash_codes`` hashes scikit-learn's pictures of digits to
several numbers of bits by each of three hashes, and ranks the database by Hamming
distance for each of 300 queries. It prints mAP over the whole database: exactly, with
the worst and the best order of ties, and with the database sorted by class, forwards
and backwards. The second table shows the pairs of hashes whose test depends on the
order.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from tieaware_sklearn import compare_systems
from tieaware_sklearn._typing import Array
from tieaware_sklearn.comparison import SystemComparison

from ._shared import TableRows, command_line, p_value, print_table

BITS = (4, 8, 16, 32)
N_QUERIES = 300
#: Orders of the database by class, with the sign of the sort key.
ORDERS = {"forwards": 1, "backwards": -1}


def codes(pictures: Array, bits: int) -> dict[str, Array]:
    """Return codes of bits by random planes, principal components and single pixels."""
    rng = np.random.default_rng(0)
    n_pixels = pictures.shape[1]
    centred = pictures - pictures.mean(axis=0)
    planes = centred @ rng.normal(size=(n_pixels, bits))
    _, _, vectors = np.linalg.svd(centred, full_matrices=False)
    components = centred @ vectors[:bits].T
    most_varied = np.argsort(-centred.var(axis=0), kind="stable")
    pixels = centred[:, most_varied[:bits]]
    return {"planes": planes > 0, "components": components > 0, "pixels": pixels > 0}


def compare_hashes() -> SystemComparison:
    """Return the comparison of all hashes, exactly and with both sorted databases."""
    pictures, digit = load_digits(return_X_y=True)
    permutation = np.random.default_rng(0).permutation(len(digit))
    queries = permutation[:N_QUERIES]
    database = permutation[N_QUERIES:]
    scores = {}
    for bits in BITS:
        for name, code in codes(pictures, bits).items():
            differs = code[queries][:, None] != code[database]
            scores[f"{name} {bits}"] = -differs.sum(axis=2).ravel()
    is_same = digit[queries][:, None] == digit[database]
    labels = is_same.ravel().astype(int)
    qid = np.repeat(queries, len(database))
    classes = np.tile(digit[database], N_QUERIES)
    keys = {name: sign * classes for name, sign in ORDERS.items()}
    ties = ["expected", *ORDERS]
    return compare_systems(
        labels, scores, qid=qid, measure="ap", ties=ties, external=keys
    )


def mean_rows(result: SystemComparison) -> TableRows:
    """Return a row for each hash: its mean for each order, and its interval."""
    summary = result.summary()
    means = [summary.mean[summary.ties == ties] for ties in result.ties]
    is_exact = summary.ties == "expected"
    columns = [*means, summary.worst[is_exact], summary.best[is_exact]]
    intervals = summary.interval[is_exact]
    rows = []
    for i, name in enumerate(result.systems):
        low, high = intervals[i]
        values = [column[i] for column in columns]
        rows.append([*name.split(), *values, f"±{(high - low) / 2:.4f}"])
    return rows


def pair_rows(result: SystemComparison) -> TableRows:
    """Return the p-values of pairs of hashes whose conclusion depends on the order."""
    comparisons = [result["AP", ties] for ties in result.ties]
    rows = []
    for pair, (first, second) in enumerate(comparisons[0].pairs):
        pvalues = []
        conclusions = set()
        for comparison in comparisons:
            p = comparison.adjusted_pvalues[pair]
            pvalues.append(p_value(p))
            conclusions.add((p <= 0.05) * np.sign(comparison.difference[pair]))
        a, bits = result.systems[first].split()
        b, b_bits = result.systems[second].split()
        if bits == b_bits and len(conclusions) > 1:
            rows.append([f"{a} - {b}", bits, *pvalues])
    return rows


def main() -> None:
    command_line(__doc__).parse_args()
    result = compare_hashes()
    heads = ["mAP", "bits", "exact", *ORDERS, "worst", "best", "95%"]
    print_table(heads, mean_rows(result))
    print()
    rows = pair_rows(result)
    n_pairs = len(BITS) * 3
    print(
        f"{len(rows)} of {n_pairs} pairs of codes with the same number of bits "
        "depend on the order"
    )
    if rows:
        print_table(["p by holm", "bits", "exact", *ORDERS], rows)


if __name__ == "__main__":
    main()
