"""Selectors fitted on tables that come in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain
from operator import attrgetter
from typing import Any, Self

import numpy as np
from sklearn.utils import Bunch

from .._display.warn import warn
from .._engine.added_up import gather
from .._engine.validation import check_count
from ..io._batches import rows_of_batch
from ..io._table_columns import OneKind
from ..io._table_pieces import Piece, check_different, gathered, of_all, pieces
from ..io._wording import listed
from ._in_parts import FitsInParts
from ._screening import Screening


class FitsInBatches(FitsInParts):
    """A selector that is fitted on an iterable of batches, small ones together."""

    def fit_batches(
        self,
        batches: Iterable[Any],
        *,
        label: str = "label",
        qid: str = "qid",
        features: Sequence[str] | None = None,
        query_weight: str | None = None,
        batch_rows: int | None = None,
    ) -> Self:
        """Fit the selector on batches of whole queries, for data larger than memory.

        Parameters
        ----------
        batches : iterable of data frames, Arrow tables or Arrow record batches
            pandas DataFrames, polars DataFrames, or Arrow tables or record batches, all
            of one kind, with one row per document. All rows of a query must be in one
            batch, in any order; `tieaware_sklearn.datasets.whole_queries` makes such
            batches. Or the batches of `tieaware_sklearn.datasets.iter_batches`, which
            are taken as they are: no other parameter then has a meaning.
        label, qid : str, default="label", "qid"
            Columns with labels and query ids.
        features : list of str, optional
            Columns to screen; by default all other columns of the first batch that hold
            numbers or flags, by their type (or that of their categories). A warning
            names columns that are left out. All batches must then have the same ones.
        query_weight : str, optional
            A column with the weight of each document's query.
        batch_rows : int, optional
            Number of rows that are gathered before they are screened. By default so
            many that they hold about four million numbers (32 MB).

        Returns
        -------
        self
            As after one `fit` of all rows, to 1e-12. What was fitted before is
            forgotten.

        Raises
        ------
        ValueError
            As in `fit`, with the number of the batch, from 0; for a query that is in
            two batches, which is named; for ids of another kind than in the first batch
            (such as text and integers); for a column that a batch does not have, or
            that only a later one has; for batches that are not tables or of different
            kinds; if there is no row; if the selector reads query ids from a column of
            X; and if there are more than 1000 features to correlate, as in
            `partial_fit`. The selector then stays as it was.

        Warns
        -----
        UserWarning
            For columns that are left out since they do not hold numbers.

        See Also
        --------
        tieaware_sklearn.evaluate_batches : Exact scores of one column.
        tieaware_sklearn.dask.fit_selector : The same on a cluster.

        Examples
        --------
        >>> import pandas as pd
        >>> from tieaware_sklearn import RankingFeatureSelector
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=200, random_state=0)
        >>> rows = pd.DataFrame(web.data, columns=web.feature_names)
        >>> rows = rows.assign(label=web.target, qid=web.qid)
        >>> batches = [rows[rows.qid % 4 == part] for part in range(4)]
        >>> selector = RankingFeatureSelector(n_features_to_select=3)
        >>> selector.fit_batches(batches).get_feature_names_out().tolist()
        ['clicks', 'page_visits', 'text_score']
        """
        if self.qid is not None:
            raise ValueError(
                "fit_batches needs a selector that does not read query ids from a "
                f"column of X (qid={self.qid!r}): name the column here, qid=..."
            )
        if batch_rows is not None:
            check_count(batch_rows, "batch_rows")
        weights = [] if query_weight is None else [query_weight]
        first, every = _first_of(batches)
        if isinstance(first, Bunch):
            columns, parts = first.data, self._of_bunches(every)
        else:
            others = [label, qid, *weights]
            chosen = _features(first, others, features)
            check_different([*others, *chosen], "label, qid, query_weight and features")
            columns = first.select(chosen).table
            parts = self._of_tables(
                every, chosen, label, qid, query_weight, batch_rows,
                alike=features is None,
            )  # fmt: skip
        found: list[Screening] = []
        for part in parts:
            gather(found, part, Screening.merge, attrgetter("n_queries"))
        if not found:
            raise ValueError("batches must hold at least one row, got none")
        whole = reduce(Screening.merge, found)
        if weights and not whole.statistics.chance.weight.any():
            raise ValueError(f"{query_weight} must not be 0 in every query")
        return self.adopt(whole, columns)

    def _of_bunches(self, batches: Iterable[Bunch]) -> Iterator[Screening]:
        kind, first = OneKind(), None
        for number, batch in enumerate(batches):
            names = list(batch.feature_names)
            first = names if first is None else first
            if names != first:
                raise ValueError(
                    f"batches must all have the same features, got {listed(first)} "
                    f"first and {listed(names)} in batch {number}"
                )
            kind.check(np.asarray(batch.qid), "qid", number)
            try:
                yield self.screen(batch.data, batch.target, batch.qid)
            except ValueError as error:
                raise ValueError(f"batch {number}: {error}") from None

    def _of_tables(
        self,
        batches: Iterable[Any],
        features: list[Any],
        label: str,
        qid: str,
        query_weight: str | None,
        batch_rows: int | None,
        *,
        alike: bool,
    ) -> Iterator[Screening]:
        def of_rows(rows: Piece) -> Screening:
            weight = None if query_weight is None else rows.column(query_weight)
            X = rows.matrix(features)
            found = self.screen(X, rows.column(label), rows.column(qid), weight)
            return replace(found, label=str(label))

        names = [label, qid, *([] if query_weight is None else [query_weight])]
        least = rows_of_batch(batch_rows, len(features))
        for rows in gathered(batches, [*names, *features], qid, least, alike=alike):
            yield of_all(rows, of_rows)


def _first_of(batches: Iterable[Any]) -> tuple[Any, Iterable[Any]]:
    """The first batch, a Bunch or a table as a `Piece`, and all of them."""
    if Piece(batches, 0).kind:
        next(pieces(batches, []))  # which is an error
    every = iter(batches)
    for first in every:
        if not isinstance(first, Bunch):
            # a table, or an error
            check = pieces([first], [])
            next(check, None)
            return Piece(first, 0), chain([first], every)
        return first, chain([first], every)
    raise ValueError("batches must hold at least one row, got none")


def _features(
    first: Piece, others: Sequence[str], features: Sequence[str] | None
) -> list[Any]:
    """The columns to screen; those of the first batch, if none are named."""
    if features is None:
        chosen = [name for name in first.numeric() if name not in others]
        left_out = [n for n in first.names if n not in chosen and n not in others]
        if chosen and left_out:
            warn(
                f"columns that do not hold numbers are not screened: {listed(left_out)}"
                " (features says which columns are)"
            )
    else:
        chosen = list(features)
    if not chosen:
        raise ValueError("features must name at least one column, got none")
    first.check_columns([*others, *chosen])
    return chosen
