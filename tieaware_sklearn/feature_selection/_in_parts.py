"""Screenings of whole queries: made here in parts, or elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._engine.digests import Digests
from .._engine.known_queries import id_digests, kept, known
from .._engine.qid_column import how_to_pass_qid, list_columns, warn_one_query
from .._engine.ties import FloatArray
from .._engine.validation import Queries, check_labels, check_qid, check_query_weight
from ..evaluation._prepared_ranking import Prepared
from ._columns import FeatureColumns
from ._likeness import Likeness, PairsAsNeeded
from ._rule import AUTO_REDUNDANCY, Rule
from ._screening import Screening
from ._selection import SelectionRule
from ._statistics import feature_statistics


class Rows(NamedTuple):
    """The rows of a screening, from which further correlations can be computed."""

    data: Any
    queries: Queries
    query_weight: FloatArray | None
    n_jobs: int | None

    def likeness(self, screening: Screening) -> Likeness:
        """Rank correlations of the screening's features, as they are asked for."""
        return PairsAsNeeded(
            self.data,
            self.queries,
            self.query_weight,
            np.array(screening.directions) == "ascending",
            both_ways=screening.rule.missing == "last",
            n_jobs=self.n_jobs,
        )


class FitsInParts(FeatureColumns):
    """What a selector does with data that do not come all at once.

    Attributes
    ----------
    screening_ : Screening
        The queries so far.
    redundancy : bool or "auto"
    n_jobs : int or None
    progress : bool
    """

    redundancy: bool | str
    n_jobs: int | None
    progress: bool
    screening_: Screening
    _fitted_qid_: str | int | None

    def _show(self, screening: Screening, likeness: Likeness | None = None) -> Self:
        """All fitted attributes of a screening, and the selection."""
        raise NotImplementedError

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Add further whole queries, for data that do not fit in memory.

        Parameters
        ----------
        X, y, qid, query_weight
            As in `fit`. All rows of a query must come in one call; without ids, the
            rows are one more query.

        Returns
        -------
        self
            As after one `fit` of all rows, to 1e-12.

        Raises
        ------
        ValueError
            As in `fit`, if a query has come in an earlier call, and if
            `max_correlation` or `diversity` must compare more than 1000 features
            without ``redundancy=True``. Nothing is added then.

        Warns
        -----
        UserWarning
            As in `fit`, and beyond ten million queries (see Notes).

        Notes
        -----
        Queries are recognised by digests of their ids, 64 bits each, which `save`
        keeps; ids are not kept. No query is counted twice among the first ten
        million (80 MB of digests). Of more, only the ten million with the smallest
        digests are compared, with a warning: of n queries, one that comes again is
        detected with probability 10⁷ / n, and a batch of hundreds almost surely. Two
        of n ids have the same digest with probability n² / 2⁶⁵: 3·10⁻⁶ for ten
        million. The second is then refused, too. Without ids, rows that come again
        are counted again.
        """
        first = not hasattr(self, "screening_")
        if not first:
            self._check_unchanged()
        more, _ = self._screened(X, y, qid, query_weight, reset=first)
        return self._show(more if first else self.screening_.merge(more))

    def merge(self, other: Self) -> Self:
        """Add the statistics of a selector fitted on other queries.

        Parameters
        ----------
        other : RankingFeatureSelector
            A selector that was fitted with the same measures, options and features.

        Returns
        -------
        self
            As after one `fit` of all rows, to 1e-12.

        Raises
        ------
        ValueError
            If the measures, options or features differ, if the two selectors have a
            query in common (named by its digest, since ids are not kept), or if there
            are too many features, as in `partial_fit`. Nothing is added then.

        Warns
        -----
        UserWarning
            Beyond ten million queries, of which not all are compared; see
            `partial_fit`.
        """
        check_is_fitted(self)
        if not isinstance(other, FitsInParts) or other is self:
            raise ValueError(
                f"other must be another {type(self).__name__}, got {other!r}"
            )
        check_is_fitted(other)
        self._check_unchanged()
        return self._show(self.screening_.merge(other.screening_))

    def screen(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> Screening:
        """Score every feature without fitting the selector.

        Screenings of parts of the data, each of whole queries, can be merged; then
        `adopt` takes the result.

        Parameters
        ----------
        X, y, qid, query_weight
            As in `fit`; all weights may be 0.

        Returns
        -------
        Screening

        Raises
        ------
        ValueError
            As in `fit`.
        """
        own: Self = clone(self)
        return own._screened(X, y, qid, query_weight, selects=False)[0]

    def adopt(self, screening: Screening, X: Any) -> Self:
        """Fit the selector by a screening that was made elsewhere, as on a cluster.

        Parameters
        ----------
        screening : Screening
            A screening by the measures and options of this selector.
        X : array-like, sparse matrix or data frame
            Data with the columns that were screened; the rows do not matter.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the screening has other measures, options or features, or if there are
            too many features, as in `partial_fit`.
        """
        if not isinstance(screening, Screening):
            raise ValueError(f"screening must be a Screening, got {screening!r}")
        # what is refused leaves the selector as it is
        names = clone(self)._look_at(X)
        renamed = screening.of_columns(names, named=bool(list_columns(X)))
        if screening.rule != Rule.of(self, len(names)):
            raise ValueError(
                f"screening must be by the measures and options of {self!r}, got "
                f"{screening.rule}"
            )
        self.check_correlated(len(names))
        self._look_at(X)
        return self._show(renamed)

    def _screened(
        self,
        X: Any,
        y: Any,
        qid: Any,
        query_weight: Any,
        *,
        reset: bool = True,
        selects: bool = True,
        whole: bool = False,
    ) -> tuple[Screening, Rows]:
        """Scores of the features for these queries alone, and their rows.

        These are the whole data, or a part, by which features are selected or not.
        """
        SelectionRule.of(self)
        data, labels, qid = self._check_data(X, y, qid, reset=reset)
        rule = Rule.of(self, data.shape[1])
        if selects:
            self.check_correlated(data.shape[1], has_rows=whole)
        labels = check_labels(labels, name="y", unjudged=rule.ask().unjudged)
        queries = check_qid(qid, n_rows=len(labels))
        if qid is None:
            column = f"{type(self).__name__}(qid=<name or index>)"
            how = f"pass qid to fit. {how_to_pass_qid()}, {column}"
            warn_one_query(len(labels), how)
        digests = id_digests(queries.qid if qid is not None else queries.qid[:0])
        if not reset:
            self._check_new(queries, digests, weighted=query_weight is not None)
        weight = check_query_weight(query_weight, queries, allow_zero=not whole)
        statistics = feature_statistics(
            data,
            Prepared(labels, queries, weight, keep=True),
            rule,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        names = tuple(self._names())
        screening = Screening(
            names, rule, statistics, kept(digests), weighted=query_weight is not None
        )
        return screening, Rows(data, queries, weight, self.n_jobs)

    def check_correlated(self, n_features: int, *, has_rows: bool = False) -> None:
        """Whether there are the correlations by which repeats are left out.

        Where the rows are there, those of more than 1000 features are computed as
        they are needed.

        Raises
        ------
        ValueError
            If there are none, or a parameter of the selection is wrong.
        """
        rule = SelectionRule.of(self)
        needs, instead = rule.needs_correlation(), rule.without_correlation()
        if not needs or Rule.of(self, n_features).correlates:
            return
        if self.redundancy is False:
            raise ValueError(
                "redundancy must be 'auto' or True, so that features are correlated, "
                f"with {needs}, got False; to select without correlations, set "
                f"{instead}"
            )
        if not has_rows:
            raise ValueError(
                f"redundancy must be True for more than {AUTO_REDUNDANCY} features "
                f"that do not come in one fit, with {needs}, got 'auto' and "
                f"{n_features} features; then all pairs are correlated, which takes "
                "16 bytes each. To select without correlations, set "
                f"{instead}"
            )

    def _check_new(self, queries: Queries, digests: Digests, *, weighted: bool) -> None:
        """What is added must be of new queries, with weights if the others have any."""
        if weighted != self.screening_.weighted:
            ours, now = ("weights" if one else "none"
                         for one in (self.screening_.weighted, weighted))  # fmt: skip
            raise ValueError(
                "query_weight must be given for all queries or for none, got "
                f"{now} after queries with {ours}"
            )
        again = known(digests, self.screening_.query_digests)
        if again.any():
            raise ValueError(
                "qid must have all rows of a query in one call of partial_fit, got "
                f"query {queries.name(int(np.argmax(again)))} again"
            )

    def _check_unchanged(self) -> None:
        """What is added to must have been made by the parameters of today."""
        screening = self.screening_
        rule = Rule.of(self, len(screening.feature_names))
        if (self.qid, rule) != (self._fitted_qid_, screening.rule):
            raise ValueError(
                f"parameters must not change after the first queries, got {self!r}"
            )
        self.check_correlated(len(screening.feature_names))
