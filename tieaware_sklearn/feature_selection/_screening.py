"""Scores and p-values of single features as rankings, as data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._display import html
from .._engine import seen_queries
from .._typing import BoolArray, FloatArray, IntArray
from ..statistics.averages import round_relative
from ..statistics.chance import lift, random_label_pvalues
from ..statistics.moments import QueryMoments
from ..statistics.multiple_testing import adjust
from . import _bytes, _feature_sums, _selection, _text


@dataclass(frozen=True, eq=False, repr=False)
class Screening(html.Result):
    """Scores of each feature as a ranking of the documents.

    The attribute ``screening_`` of a fitted `RankingFeatureSelector` is a screening. If
    the selector reads query ids from a column of X, this column is not a feature of the
    screening. `merge` combines screenings of different queries. `to_bytes` returns
    bytes to store or send, and `from_bytes` reads the bytes.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the features.
    measures : tuple of str
        Names of the measures.
    sort_by : str
        The measure that decides directions and ranking.
    mean, best, worst : ndarray of shape (n_features, n_measures)
        Means over queries of the expected, best and worst values over the orders of
        ties. The means are weighted if the queries have weights.
    tie_std : ndarray of shape (n_features, n_measures)
        Standard deviation, over the orders of ties, of the mean over queries.
    lift : ndarray of shape (n_features, n_measures)
        (mean - chance) / (ideal - chance), or 0 where ideal equals chance.
    interval : ndarray of shape (n_features, n_measures, 2)
        95% t interval of `mean` over queries, clipped to the range of the measure, such
        as [0, 1] for NDCG and [0, inf) for DCG. A value of `zero_relevance` outside the
        range extends the range. The interval is NaN if the number of queries is below 2
        (with weights, the effective number), or if all queries have the same value.
    pvalues, qvalues : ndarray of shape (n_features, n_measures)
        One-sided p-values against chance, as in `RankingFeatureSelector`, and the same
        p-values adjusted for the number of features (Benjamini and Hochberg 1995).
    chance : ndarray of shape (n_measures,)
        Mean over queries of the expected value if all documents of a query are tied.
    ideal : ndarray of shape (n_measures,)
        Mean over queries of the best possible value.
    n_averaged : ndarray of shape (n_measures,), int
        Number of queries in the means of each measure, without queries of weight 0.
    directions : tuple of str
        "descending" if higher values of the feature rank first, "ascending" if lower
        values rank first.
    ranking : ndarray of shape (n_features,), int
        Ranks of the features, 1 for the best. Features with equal means rank in the
        order of their columns.
    varies : ndarray of shape (n_features,), bool
        Whether a feature varies within at least one query.
    rank_correlation : ndarray of shape (n_features, n_features) or None
        Mean of Spearman's ρ of two features, each ranked in its direction, over the
        queries in which both features vary, or 0 if both vary in no query. None if ρ
        was not computed for all pairs of features (see the parameter `redundancy` of
        `RankingFeatureSelector`).
    n_queries : int
        Number of queries.
    rule : Rule
        The measures and options of the selector.
    statistics : FeatureStatistics
        Sums over queries, which `merge` adds.
    query_digests : ndarray, uint64
        Sorted 64-bit digests of the query ids, by which `merge` detects queries that
        are in more than one screening. A query without an id has no digest.
    weighted : bool
        Whether the queries have weights.
    label : str or None
        Name of the column of labels, if the screening was made from tables by
        `RankingFeatureSelector.fit_batches` or `tieaware_sklearn.dask.fit_selector`.
    selection : Selection or None
        The selected features (``order``) and, for other features that repeat a selected
        feature, the feature that they repeat. None for screenings from
        `RankingFeatureSelector.screen` and `Screening.merge`, because these methods
        select no features.

    See Also
    --------
    RankingFeatureSelector : Makes screenings.
    tieaware_sklearn.plots.FeatureScreeningDisplay : Draws screenings.

    Examples
    --------
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, n_noise=0, n_duplicates=0, random_state=0)
    >>> selector = RankingFeatureSelector("ap").fit(web.data, web.target, qid=web.qid)
    >>> print(selector.screening_.named(web.feature_names))
    feature      rank   direction      AP    ±95%   qvalue
    ------------------------------------------------------
    (chance)                       0.4826
    clicks          1  descending  0.6276  0.0299  <0.0001
    text_score      2  descending  0.6147  0.0322  <0.0001
    page_visits     3  descending  0.5778  0.0321  <0.0001
    in_degree       4  descending  0.5735  0.0323  <0.0001
    url_length      5   ascending  0.5614  0.0328  <0.0001
    n_slashes       6   ascending  0.5421  0.0325  <0.0001
    200 queries; 2 without a relevant document count as 0 (zero_relevance="skip"
    leaves them out)
    """

    feature_names: tuple[str, ...]
    rule: _selection.Rule
    statistics: _feature_sums.FeatureStatistics
    query_digests: NDArray[np.uint64]
    selection: _selection.Selection | None = None
    weighted: bool = False
    label: str | None = None

    _tables = _text.tables
    _whole = _text.tables_of_page
    _conclusion = _text.conclusion

    @property
    def measures(self) -> tuple[str, ...]:
        return self.rule.resolved.names

    @property
    def sort_by(self) -> str:
        return self.measures[self.rule.sort]

    @property
    def n_queries(self) -> int:
        return self.statistics.n_queries

    @property
    def n_averaged(self) -> IntArray:
        return self.statistics.of_labels.count[0].astype(np.int64)

    @property
    def varies(self) -> BoolArray:
        return self.statistics.varies

    @cached_property
    def ascending(self) -> BoolArray:
        """Return whether lower values of each feature rank first."""
        wanted = np.array(self.rule.directions)
        expected = self.statistics.values.mean[:, :, 0, self.rule.sort]
        # Higher values rank first if the means differ by no more than rounding.
        ascending_is_better = self._rounded(expected[:, 1] - expected[:, 0]) > 0
        return (wanted == "ascending") | ((wanted == "auto") & ascending_is_better)

    def _rounded(self, values: FloatArray) -> FloatArray:
        """Return rounded values of the measure that decides; higher is better."""
        sort = self.rule.sort
        rounded = round_relative(values, self._largest[sort], _selection.DECIMALS)
        if self.rule.measures[sort].greater_is_better:
            return rounded
        return -rounded

    @cached_property
    def directions(self) -> tuple[str, ...]:
        return tuple(np.where(self.ascending, "ascending", "descending").tolist())

    @property
    def _directed(self) -> tuple[IntArray, IntArray]:
        """Return an index of sums that selects each feature in its direction."""
        return np.arange(len(self.ascending)), self.ascending.astype(np.intp)

    def _moments(self, value: str) -> QueryMoments:
        """Return the moments of one of `VALUES` for features in their directions."""
        column = _feature_sums.VALUES.index(value)
        return self.statistics.values.select((*self._directed, column))

    @cached_property
    def mean(self) -> FloatArray:
        return self._moments("expected").averages()

    @cached_property
    def best(self) -> FloatArray:
        return self._moments("best").averages()

    @cached_property
    def worst(self) -> FloatArray:
        return self._moments("worst").averages()

    @cached_property
    def tie_std(self) -> FloatArray:
        weight = self._moments("expected").weight
        total = np.where(weight > 0, weight, np.nan)
        return np.sqrt(self.statistics.tie_variance[self._directed]) / total

    @cached_property
    def chance(self) -> FloatArray:
        return self.statistics.of_labels.averages()[0]

    @cached_property
    def ideal(self) -> FloatArray:
        return self.statistics.of_labels.averages()[1]

    @property
    def _largest(self) -> FloatArray:
        """Return the ideal, or the chance level if lower values are better."""
        return np.maximum(self.ideal, self.chance)

    @cached_property
    def lift(self) -> FloatArray:
        return lift(self.mean, self.chance, self.ideal)

    @cached_property
    def t_interval(self) -> FloatArray:
        """Return the interval before clipping, which is symmetric about the mean."""
        return self._moments("expected").interval()

    @cached_property
    def interval(self) -> FloatArray:
        low, high = self.rule.resolved.bounds.T[..., None]
        return np.clip(self.t_interval, low, high)

    @cached_property
    def pvalues(self) -> FloatArray:
        gain = self._moments("gain")
        variance = self.statistics.null_variance[self._directed]
        log_placements = self.statistics.log_placements
        over_labels = random_label_pvalues(gain, variance, log_placements)
        over_queries = gain.t_test("greater", self._largest).pvalue
        pvalues = np.maximum(over_queries, over_labels)
        # The choice of the better direction counts as two tests.
        tried_both = (np.array(self.rule.directions) == "auto")[:, None]
        return np.where(tried_both, np.minimum(1.0, 2 * pvalues), pvalues)

    @cached_property
    def qvalues(self) -> FloatArray:
        return np.apply_along_axis(adjust, 0, self.pvalues, "bh")

    @cached_property
    def ranking(self) -> IntArray:
        # Features rank in the order of columns if their means differ by no more than
        # rounding.
        rounded = self._rounded(self.mean[:, self.rule.sort])
        order = np.argsort(-rounded, kind="stable")
        return np.argsort(order) + 1

    @cached_property
    def rank_correlation(self) -> FloatArray | None:
        correlation = self.statistics.correlation
        if correlation is None:
            return None
        return correlation.of_directions(self.ascending)

    def named(self, feature_names: Sequence[str]) -> Screening:
        """Rename the features.

        Parameters
        ----------
        feature_names : list of str
            The new names, one for each feature. Names of other types are converted to
            strings.

        Returns
        -------
        Screening
            A copy of the screening, with these names.

        Raises
        ------
        ValueError
            If the number of names is not the number of features.
        """
        names = tuple(map(str, feature_names))
        if len(names) != len(self.feature_names):
            raise ValueError(
                "feature_names must have one name per feature "
                f"({len(self.feature_names)}), got {len(names)}"
            )
        return replace(self, feature_names=names)

    def merge(self, *others: Screening) -> Screening:
        """Merge the screening with screenings of other queries.

        Parameters
        ----------
        *others : Screening
            Screenings of other queries, with the same features, measures and options.
            The queries must have weights in all screenings or in none. Screenings that
            have a `label` must have the same `label`.

        Returns
        -------
        Screening
            The screening of all queries, without a selection of features. If `others`
            is empty, this screening itself is returned.

        Raises
        ------
        ValueError
            If an argument is not a screening, if the features, measures, options or
            labels differ, if only some screenings have weights, or if two screenings
            have a query in common. The message names the first difference. For queries
            in common, the message states their number, but not their ids, because a
            screening contains only digests of ids.
        """
        for screening in (self, *others):
            if not isinstance(screening, Screening):
                raise ValueError(
                    "merge accepts screenings as separate arguments, as in "
                    f"Screening.merge(*screenings), got {type(screening).__name__}"
                )
        whole = self
        for screening in others:
            whole._check_mergeable(screening)
            first = whole.query_digests
            second = screening.query_digests
            n_shared = int(seen_queries.known(first, second).sum())
            if n_shared:
                raise ValueError(
                    "a query must not be in more than one screening, got "
                    f"{n_shared} of {screening.n_queries} queries again"
                )
            label = whole.label
            if label is None:
                label = screening.label
            whole = replace(
                whole,
                statistics=whole.statistics.merge(screening.statistics),
                query_digests=seen_queries.both(first, second),
                selection=None,
                label=label,
            )
        return whole

    def _check_mergeable(self, screening: Screening) -> None:
        """Refuse a screening with different features or options."""
        names = zip_longest(screening.feature_names, self.feature_names)
        for position, (name, expected) in enumerate(names):
            if name != expected:
                raise ValueError(
                    "other must have the features, measures and options of this "
                    f"screening, got {name!r} as feature {position} instead of "
                    f"{expected!r}"
                )
        options = self._options()
        for option, value in screening._options().items():
            expected = options[option]
            # Arrays of labels have no name, so None fits every label.
            if value != expected and None not in (value, expected):
                raise ValueError(
                    "other must have the features, measures and options of this "
                    f"screening, got {option}: {value} instead of {expected}"
                )

    def _options(self) -> dict[str, Any]:
        """Return the options that screenings must share to merge, by name."""
        rule = self.rule.filled
        return {
            "measures": rule.measures,
            "sort_by": rule.measures[rule.sort],
            "direction": rule.directions,
            "missing": rule.missing,
            "zero_relevance": rule.zero_relevance,
            "unjudged": rule.unjudged,
            "redundancy": rule.correlates,
            "query_weight given": self.weighted,
            "label": self.label,
        }

    def to_bytes(self) -> bytes:
        """Return the screening as bytes, to store or to send.

        Returns
        -------
        bytes
            An archive of NumPy arrays, in the format of `numpy.savez`. One of the
            arrays contains text in JSON. Within a version of the package,
            equal screenings have the same bytes.

        Raises
        ------
        ValueError
            If the gain or discount of a measure is a function.

        Examples
        --------
        >>> from tieaware_sklearn import RankingFeatureSelector, Screening
        >>> selector = RankingFeatureSelector("ap")
        >>> screening = selector.screen([[2], [1], [1]], [1, 0, 0], qid=[1, 1, 1])
        >>> Screening.from_bytes(screening.to_bytes()).mean
        array([[1.]])
        """
        return _bytes.to_bytes(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Make a screening from the bytes that `to_bytes` returned.

        Parameters
        ----------
        data : bytes
            Bytes from `to_bytes`. Nothing in the bytes is executed.

        Returns
        -------
        Screening
            A screening whose values equal the stored values, to the last bit.

        Raises
        ------
        ValueError
            If the bytes are damaged, were not written by `to_bytes`, or are in a
            version of the format that this version of the package does not read.
        """
        return cls(**_bytes.read_fields(data))

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict of plain values for each feature, the best feature first.

        Returns
        -------
        list of dict
            The rows of `RankingFeatureSelector.to_pandas`, without the keys
            ``selected`` and ``chosen`` if `selection` is None.
        """
        columns = self._columns()
        return [
            dict(zip(columns, row, strict=True))
            for row in zip(*columns.values(), strict=True)
        ]

    def _columns(self) -> dict[str, Any]:
        """Return the columns of `rows` by name."""
        figures = {
            "": self.mean,
            "_interval_low": self.interval[..., 0],
            "_interval_high": self.interval[..., 1],
            "_best": self.best,
            "_worst": self.worst,
            "_tie_std": self.tie_std,
            "_chance": np.broadcast_to(self.chance, self.mean.shape),
            "_lift": self.lift,
            "_pvalue": self.pvalues,
            "_qvalue": self.qvalues,
        }
        order = np.argsort(self.ranking)
        columns: dict[str, Any] = {
            "rank": np.sort(self.ranking).tolist(),
            "feature": [self.feature_names[j] for j in order],
            "direction": [self.directions[j] for j in order],
        }
        if self.selection is not None:
            places = self.selection.places()[order].tolist()
            columns["selected"] = [place > 0 for place in places]
            columns["chosen"] = [place or None for place in places]
        for m, measure in enumerate(self.measures):
            for name, values in figures.items():
                columns[measure + name] = values[order, m].tolist()
        repeats = [self._repeats(j, order[:above]) for above, j in enumerate(order)]
        columns["repeats"], columns["correlation"] = zip(*repeats, strict=True)
        return columns

    def _repeats(self, feature: int, better: IntArray) -> tuple[str | None, float]:
        """Return the selected feature that a feature repeats, and their correlation.

        For other features, return the most similar of the better features. If no better
        feature has a positive correlation, return None and NaN.
        """
        selection, rho = self.selection, self.rank_correlation
        if selection is not None and selection.repeats[feature] >= 0:
            repeated = self.feature_names[selection.repeats[feature]]
            return repeated, float(selection.correlation[feature])
        if rho is not None and len(better):
            similar = rho[feature, better]
            nearest = int(np.argmax(np.round(similar, _selection.DECIMALS)))
            # A correlation that is only rounding counts as 0.
            if similar[nearest] > 10.0**-_selection.DECIMALS:
                return self.feature_names[better[nearest]], float(similar[nearest])
        return None, math.nan

    def to_pandas(self) -> Any:
        """Return the scores as a `pandas.DataFrame`, the best feature first.

        Returns
        -------
        pandas.DataFrame
            The columns of `RankingFeatureSelector.to_pandas`, without ``selected`` and
            ``chosen`` if `selection` is None.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        table = super().to_pandas()
        if self.selection is None:
            return table
        # The dtype Int64 can represent integers beside missing values.
        return table.astype({"chosen": "Int64"})
