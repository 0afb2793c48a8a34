"""The rows of a ranking in an order that the order of the input cannot change."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.segments import owners, runs
from .._engine.ties import FloatArray, dense_ranks
from .._engine.validation import Queries, is_retrieved


class CanonicalRows:
    """Rows by query id, not retrieved ones last, by score, by label.

    Rows that are alike in all three are interchangeable, and no order of the input
    can be told from them.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Rows of the input.
    queries : Queries
        By id; its offsets say where queries start in `rows`.
    by_id : ndarray of shape (n_queries,)
        Queries, by their order of first appearance, in the order of their ids.
    label : ndarray of shape (n_rows,)
        Label of each of `rows`.
    retrieved : ndarray of shape (n_rows,), bool
        Which of `rows` have a place in the ranking.
    starts, sizes : ndarray of shape (n_groups,)
        Where tie groups start in `rows`, and their numbers of rows. The rows of a
        query that are not retrieved are a group.
    mixed : ndarray of shape (n_groups,), bool
        Tie groups of different labels.
    tied : ndarray of shape (n_queries,), bool
        Queries with such a group.
    """

    def __init__(
        self, labels: FloatArray, scores: NDArray[Any], given: Queries
    ) -> None:
        self.queries = queries = given.by_id()
        self.by_id = given.sorted()
        ranks, _ = dense_ranks(scores)
        # not retrieved: below everything
        place = np.where(is_retrieved(scores), -ranks, 1)
        query = queries.codes
        place, label = queries.arrange(place), queries.arrange(labels)
        order = np.lexsort((label, place, query))
        self.rows = queries.given(order)
        place, self.label = place[order], label[order]
        self.starts, self.sizes = runs(query * (place.max() - place.min() + 2) + place)
        self.retrieved = place <= 0
        last = self.label[self.starts + self.sizes - 1]
        self.mixed = (self.label[self.starts] != last) & self.retrieved[self.starts]
        self.tied = np.bincount(query[self.starts], self.mixed, queries.n_queries) > 0

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The number of the tie group of each of `rows`."""
        return owners(self.sizes)
