"""Rows and queries told apart by 64 bits, whatever order they come in."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_optional
from .segments import FloatArray, IntArray, owners, sum_segments

Digests = NDArray[np.uint64]
_FIRST = np.uint64(0x9E3779B97F4A7C15)


def _mix(bits: Digests) -> Digests:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def bits_of(values: NDArray[Any]) -> Digests:
    """64 mixed bits of each number, the same for equal ones."""
    return _mix((values.astype(np.float64) + 0.0).view(np.uint64) + _FIRST)


def row_digests(X: Any) -> Digests:
    """64 bits of each row of a matrix of any kind, the same for equal rows."""
    if hasattr(X, "iloc"):
        pandas = import_optional("pandas", extra="io", purpose="a data frame")
        return np.asarray(pandas.util.hash_pandas_object(X, index=False), np.uint64)
    if hasattr(X, "hash_rows"):  # polars
        return np.asarray(X.hash_rows(seed=0).to_numpy(), dtype=np.uint64)
    if hasattr(X, "to_pandas"):  # an Arrow table
        return row_digests(X.to_pandas())
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        column = _mix(X.indices.astype(np.uint64) + _FIRST)
        entry = np.where(X.data != 0, _mix(bits_of(X.data) ^ column), np.uint64(0))
        return sum_segments(entry, np.diff(X.indptr), np.uint64)
    values = np.asarray(X)
    out = np.zeros(len(values), dtype=np.uint64)
    for column in values.reshape(len(values), -1).T:
        bits = bits_of(column) if column.dtype.kind in "biuf" else _text_bits(column)
        out = _mix(out + _FIRST) ^ bits
    return out


def _text_bits(values: NDArray[Any]) -> Digests:
    """64 bits of each value that is no number, the same in every process."""
    texts = list(map(repr, values.tolist()))
    known = {}
    for text in set(texts):
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        known[text] = int.from_bytes(digest, "little")
    return np.array([known[text] for text in texts], dtype=np.uint64)


def query_marks(labels: FloatArray, offsets: IntArray) -> Digests:
    """A number per query that tells its labels, in any order, from others.

    Labels stand query by query.
    """
    return sum_segments(bits_of(labels), np.diff(offsets), np.uint64)


def by_content(X: Any, y: FloatArray, offsets: IntArray) -> IntArray:
    """Rows of each query in an order that their contents alone decide."""
    digest = _mix(row_digests(X) + _FIRST) ^ bits_of(y)
    return np.lexsort((digest, owners(np.diff(offsets))))
