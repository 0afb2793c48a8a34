"""User models of measures: continuation, weight and last document (C/W/L).

A user reads on from rank i to i + 1 with probability C(i). W(i) is the share of
attention that rank i gets, and L(i) the probability that rank i is the last one read.
Each of the three determines the others (Moffat, Thomas and Scholer 2013; Azzopardi,
Thomas and Craswell 2018).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._engine.ties import FloatArray
from .._engine.validation import check_labels
from ._names import names_where

#: a vector of more ranks would not fit the memory of small machines
DEEPEST = 10**7


class UserModel:
    """C, W and L of measures that have a user model."""

    def weight(
        self, i: ArrayLike, ranking: ArrayLike | None = None
    ) -> float | FloatArray:
        """Return W(i), the share of attention that rank i gets.

        Parameters
        ----------
        i : int or array-like of int
            Ranks, from 1.
        ranking : array-like of shape (n_documents,), optional
            Labels in rank order, for user models that depend on them (AP, RR, ERR,
            Rprec, P without a cut-off).

        Returns
        -------
        float, or ndarray of the shape of `i`

        Raises
        ------
        ValueError
            For ranks below 1 or above 10,000,000, for a measure without a user model,
            and if `ranking` is missing where the user model depends on it.

        Notes
        -----
        C/W/L: Moffat, Thomas and Scholer (2013); Azzopardi, Thomas and Craswell
        (2018).

        Examples
        --------
        >>> from tieaware_sklearn import RBP, AveragePrecision
        >>> RBP(p=0.5).weight([1, 2, 3])
        array([0.5  , 0.25 , 0.125])
        >>> AveragePrecision().weight([1, 2, 3], ranking=[0, 1, 0])
        array([0.5, 0.5, 0. ])
        """
        return _plain(self._at(i, ranking)[0])

    def continuation(
        self, i: ArrayLike, ranking: ArrayLike | None = None
    ) -> float | FloatArray:
        """Return C(i) = W(i + 1)/W(i), the probability of reading on from rank i.

        It is 0 for ranks that the user never reaches. Parameters, return value and
        errors are those of `weight`.
        """
        here, following, _ = self._at(i, ranking)
        return _ratio(following, here)

    def last(
        self, i: ArrayLike, ranking: ArrayLike | None = None
    ) -> float | FloatArray:
        """Return L(i) = (W(i) - W(i + 1))/W(1), the probability of stopping at rank i.

        Parameters, return value and errors are those of `weight`.
        """
        here, following, first = self._at(i, ranking)
        return _ratio(here - following, first)

    def _at(
        self, i: ArrayLike, ranking: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """W of ranks i, i + 1 and 1."""
        ranks = np.asarray(i)
        if ranks.dtype.kind not in "iu" or (ranks < 1).any():
            raise ValueError(f"i must hold ranks, integers >= 1, got {i!r}")
        if (ranks > DEEPEST).any():
            raise ValueError(f"i must be at most {DEEPEST}, got {ranks.max()}")
        labels = None
        if ranking is not None:
            labels = np.maximum(
                check_labels(ranking, unjudged="nonrelevant", name="ranking"), 0
            )
        longest = int(ranks.max(initial=1)) + 1
        known = self._attention(longest, labels)
        weights = np.zeros(longest)
        weights[: len(known)] = known[:longest]
        at = ranks.astype(np.int64)
        return weights[at - 1], weights[at], weights[0]

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        """W of at least the first n ranks, or of all with a weight above 0."""
        known = names_where(lambda cls: cls._attention is not UserModel._attention)
        raise ValueError(f"{self} has no user model; {known} have one")

    def _needed(self, labels: FloatArray | None) -> FloatArray:
        if labels is None:
            raise ValueError(
                f"ranking must hold the labels in rank order for the user model of "
                f"{self}, got None"
            )
        return labels


def _ratio(part: FloatArray, whole: FloatArray) -> float | FloatArray:
    """part/whole, 0 where there is no whole."""
    return _plain(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def _plain(values: FloatArray) -> float | FloatArray:
    return float(values) if values.ndim == 0 else values


def even(n: int, shown: int | None = None) -> FloatArray:
    """n ranks read alike, or the first `shown` of them."""
    return np.full(n if shown is None else min(n, shown), 1 / max(n, 1))


def from_views(views: FloatArray) -> FloatArray:
    """Weights of ranks reached with these chances."""
    return np.asarray(views / views.sum())
