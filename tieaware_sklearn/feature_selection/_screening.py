"""Scores of single features as rankings, as data."""

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
from ..statistics.chance import lift, random_label_pvalues
from ..statistics.multiple_testing import adjust
from . import _bytes, _selection, _statistics, _text


@dataclass(frozen=True, eq=False)
class Figures:
    """Scores of features, each in its direction, as `Screening` describes them.

    `t_interval` is `interval` before it is clipped; `ascending` says by flags what
    `directions` says by names.
    """

    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    tie_std: FloatArray
    lift: FloatArray
    interval: FloatArray
    t_interval: FloatArray
    pvalues: FloatArray
    qvalues: FloatArray
    chance: FloatArray
    ideal: FloatArray
    n_averaged: IntArray
    ranking: IntArray
    ascending: BoolArray
    directions: tuple[str, ...]
    rank_correlation: FloatArray | None
    measures: tuple[str, ...]
    sort_by: str
    varies: BoolArray

    @classmethod
    def of(cls, rule: _selection.Rule, sums: _statistics.FeatureStatistics) -> Figures:
        """From sums over queries, by the rule that features were scored by."""
        wanted, sort = np.array(rule.directions), rule.sort
        sign = 1.0 if rule.measures[sort].greater_is_better else -1.0
        gain = np.diff(sums.worth.mean[:, :, 0, sort])[:, 0]
        # of equal means (but for rounding), higher values rank first
        better = sign * np.round(gain, _selection.DECIMALS) > 0
        ascending = (wanted == "ascending") | ((wanted == "auto") & better)
        directed = np.arange(len(wanted)), ascending.astype(np.intp)
        # in the order of `FeatureStatistics.worth`
        expected, over_chance, best, worst = (
            sums.worth.select((*directed, place)) for place in np.arange(4)
        )
        mean = expected.averages()
        chance, ideal = sums.of_labels.averages()
        t_interval = expected.interval()
        low, high = rule.resolved.bounds.T[..., None]
        pvalues = over_chance.t_test("greater").pvalue
        if sums.null_variance is not None and sums.log_placements is not None:
            of_labels = random_label_pvalues(
                over_chance, sums.null_variance[directed], sums.log_placements
            )
            pvalues = np.maximum(pvalues, of_labels)
        both = (wanted == "auto")[:, None]
        pvalues = np.where(both, np.minimum(1.0, 2 * pvalues), pvalues)
        total = np.where(expected.weight > 0, expected.weight, np.nan)
        # equal means (but for rounding) rank in the order of columns
        rounded = np.round(mean[:, sort], _selection.DECIMALS)
        order = np.argsort(-sign * rounded, kind="stable")
        measures, rho = rule.resolved.names, sums.correlation
        return cls(
            mean=mean,
            best=best.averages(),
            worst=worst.averages(),
            tie_std=np.sqrt(sums.tie_variance[directed]) / total,
            lift=lift(mean, chance, ideal),
            interval=np.clip(t_interval, low, high),
            t_interval=t_interval,
            pvalues=pvalues,
            qvalues=np.apply_along_axis(adjust, 0, pvalues, "bh"),
            chance=chance,
            ideal=ideal,
            n_averaged=sums.of_labels.count[0].astype(np.int64),
            ranking=np.argsort(order) + 1,
            ascending=ascending,
            directions=tuple(np.where(ascending, "ascending", "descending").tolist()),
            rank_correlation=None if rho is None else rho.of_directions(ascending),
            measures=measures,
            sort_by=measures[sort],
            varies=sums.varies,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Screening(html.Result):
    """Scores of single features as rankings, which print as a table.

    A fitted `RankingFeatureSelector` has it as ``selector.screening_``. A column of
    query ids is not among its features. `merge` combines screenings of different
    queries. `to_bytes` returns bytes to store or send, and `from_bytes` reads them.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the features.
    measures : tuple of str
        Names of the measures.
    sort_by : str
        The measure that decides directions and ranking.
    mean, best, worst, tie_std, lift : ndarray of shape (n_features, n_measures)
        Averages over queries of the expected, best and worst values, standard deviation
        of `mean` over the orders of ties, and (mean - chance) / (ideal - chance).
    interval : ndarray of shape (n_features, n_measures, 2)
        95% t interval of `mean` over queries, clipped to the range of the measure:
        [0, 1] for normalised measures, [0, inf) for sums.
    pvalues, qvalues : ndarray of shape (n_features, n_measures)
        One-sided p-values against chance, as in `RankingFeatureSelector`, and the same
        adjusted for the number of features (Benjamini and Hochberg 1995). Files of
        1.0.0, and what is merged with them, have those of the t test alone.
    chance, ideal : ndarray of shape (n_measures,)
        Mean over queries of the expected value when all documents of a query tie, and
        of the best possible value.
    n_averaged : ndarray of shape (n_measures,), int
        Number of queries in each average.
    directions : tuple of str
        "descending" where higher values rank first, or "ascending".
    ranking : ndarray of shape (n_features,), int
        Ranks of the features, 1 for the best. Features with equal means rank in the
        order of their columns.
    varies : ndarray of shape (n_features,), bool
        Whether a feature varies within at least one query.
    rank_correlation : ndarray of shape (n_features, n_features) or None
        Mean over queries of Spearman's ρ of two rankings, each in its direction.
    n_queries : int
        Number of queries.
    rule : Rule
        The measures and options of the selector.
    statistics : FeatureStatistics
        Sums over queries, which `merge` adds.
    query_digests : ndarray, uint64
        Sorted 64-bit digests of the query ids, by which `merge` detects queries that
        are in both screenings.
    weighted : bool
        Whether the queries have weights.
    label : str or None
        Name of the column of labels, if they come from a table.
    selection : Selection or None
        The selected features (``order``) and, for features left out as repeats, what
        they repeat. `screen` and `merge` select nothing.

    See Also
    --------
    RankingFeatureSelector : Makes screenings.
    tieaware_sklearn.plots.FeatureScreeningDisplay : Draws them.

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
    """

    feature_names: tuple[str, ...]
    rule: _selection.Rule
    statistics: _statistics.FeatureStatistics
    query_digests: NDArray[np.uint64]
    selection: _selection.Selection | None = None
    weighted: bool = False
    label: str | None = None

    _tables = _text.tables
    _whole = _text.tables_of_page
    _conclusion = _text.conclusion

    @cached_property
    def figures(self) -> Figures:
        """All that is computed from the sums."""
        return Figures.of(self.rule, self.statistics)

    def __getattr__(self, name: str) -> Any:
        if name not in Figures.__dataclass_fields__:
            raise AttributeError(f"a Screening has no attribute {name!r}")
        return getattr(self.figures, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *Figures.__dataclass_fields__]

    @property
    def n_queries(self) -> int:
        return self.statistics.n_queries

    def named(self, feature_names: Sequence[str]) -> Screening:
        """Rename the features.

        Parameters
        ----------
        feature_names : list of str
            One name for each feature.

        Returns
        -------
        Screening
            A copy with these names.

        Raises
        ------
        ValueError
            If there is not one name for each feature.
        """
        names = tuple(map(str, feature_names))
        if len(names) != len(self.feature_names):
            raise ValueError(
                "feature_names must have one name per feature "
                f"({len(self.feature_names)}), got {len(names)}"
            )
        return changed(self, feature_names=names)

    def merge(self, *others: Screening) -> Screening:
        """Merge with screenings of other queries.

        Parameters
        ----------
        *others : Screening
            Screenings of other queries, with the same features, measures and options.
            Queries have weights in both or in neither. Columns of labels have the same
            name, if known.

        Returns
        -------
        Screening
            The screening of all queries.

        Raises
        ------
        ValueError
            If the features, measures, options, weights or labels differ (the message
            names the first difference), or if two screenings have a query in common.
            The message counts such queries. It cannot name them, because a screening
            contains digests of ids only.
        """
        for screening in (self, *others):
            if not isinstance(screening, Screening):
                raise ValueError(
                    "merge takes screenings one by one, Screening.merge(*screenings), "
                    f"got {type(screening).__name__}"
                )
        whole = self
        for other in others:
            whole._check_mergeable(other)
            digests = whole.query_digests, other.query_digests
            n_shared = int(seen_queries.known(*digests).sum())
            if n_shared:
                raise ValueError(
                    "other must have none of the queries of this screening, got "
                    f"{n_shared} of them among its {other.n_queries}"
                )
            whole = replace(
                whole,
                statistics=whole.statistics.merge(other.statistics),
                query_digests=seen_queries.both(*digests),
                selection=None,
                label=other.label if whole.label is None else whole.label,
            )
        return whole

    def _check_mergeable(self, other: Screening) -> None:
        """Refuse a screening of other features, or with other options."""
        rule = "other must have the features, measures and options of this screening"
        names = zip_longest(other.feature_names, self.feature_names)
        for position, (name, expected) in enumerate(names):
            if name != expected:
                raise ValueError(
                    f"{rule}, got {name!r} as feature {position} and not {expected!r}"
                )
        theirs, ours = other.rule.filled, self.rule.filled
        options = [
            ("measures", theirs.measures, ours.measures),
            ("sort_by", theirs.measures[theirs.sort], ours.measures[ours.sort]),
            ("direction", theirs.directions, ours.directions),
            ("missing", theirs.missing, ours.missing),
            ("zero_relevance", theirs.zero_relevance, ours.zero_relevance),
            ("unjudged", theirs.unjudged, ours.unjudged),
            ("redundancy", theirs.correlates, ours.correlates),
            ("query_weight given", other.weighted, self.weighted),
        ]
        # arrays of labels have no name
        if other.label is not None and self.label is not None:
            options.append(("label", other.label, self.label))
        for option, value, expected in options:
            if value != expected:
                raise ValueError(f"{rule}, got {option}: {value} and not {expected}")

    def to_bytes(self) -> bytes:
        """Return the screening as bytes, to store or to send.

        Returns
        -------
        bytes
            A zip archive, not compressed, of NumPy arrays and a header in JSON. Equal
            screenings have the same bytes.

        Raises
        ------
        ValueError
            For a measure whose gain or discount is a function.

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
        """Make a screening of the bytes that `to_bytes` returned.

        Parameters
        ----------
        data : bytes
            Bytes from `to_bytes`, or from a file that version 1.0.0 or 1.1.0 saved.
            Nothing in them is executed.

        Returns
        -------
        Screening
            The same screening, to the last bit.

        Raises
        ------
        ValueError
            If the bytes are damaged, come from another source, or have a newer version
            of the format.
        """
        return cls(**_bytes.read_fields(data))

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict of plain values for each feature, the best first.

        Returns
        -------
        list of dict
            The rows of `RankingFeatureSelector.to_pandas`, without the keys
            ``selected`` and ``chosen`` if `selection` is None.
        """
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
        order, directions = np.argsort(self.ranking), self.directions
        places = None if self.selection is None else self.selection.places()
        rows = []
        for rank, j in enumerate(order.tolist(), start=1):
            row = {"rank": rank, "feature": self.feature_names[j]}
            row["direction"] = directions[j]
            if places is not None:
                row["selected"] = bool(places[j])
                row["chosen"] = int(places[j]) or None
            for m, measure in enumerate(self.measures):
                for name, values in figures.items():
                    row[measure + name] = float(values[j, m])
            rows.append(row | self._repeats(j, order[: rank - 1]))
        return rows

    def _repeats(self, feature: int, better: IntArray) -> dict[str, Any]:
        """The chosen feature that this one repeats, or the better one most like it."""
        selection = self.selection
        if selection is not None and (like := int(selection.repeats[feature])) >= 0:
            rho = float(selection.correlation[feature])
            return {"repeats": self.feature_names[like], "correlation": rho}
        if self.rank_correlation is not None and len(better):
            rho = self.rank_correlation[feature, better]
            at = int(np.argmax(np.round(rho, _selection.DECIMALS)))
            if rho[at] > 10.0**-_selection.DECIMALS:
                like = self.feature_names[better[at]]
                return {"repeats": like, "correlation": float(rho[at])}
        return {"repeats": None, "correlation": math.nan}

    def _columns(self) -> dict[str, Any]:
        rows = self.rows()
        return {name: [row[name] for row in rows] for name in rows[0]}

    def to_pandas(self) -> Any:
        """Return `rows` as a `pandas.DataFrame`."""
        table = super().to_pandas()
        # whole numbers, although some are missing
        return table if self.selection is None else table.astype({"chosen": "Int64"})

    def _about(self) -> dict[str, Any]:
        chosen = None
        if self.selection is not None:
            chosen = tuple(self.feature_names[j] for j in self.selection.order)
        return {
            "features": len(self.feature_names),
            "queries": self.n_queries,
            "measures": self.measures,
            "sorted by": self.sort_by,
            "missing values": self.rule.missing,
            "label": self.label,
            "selected": chosen,
        }


def changed(screening: Screening, **fields: Any) -> Screening:
    """A copy with another selection, label or names; its figures stay, if known."""
    copy = replace(screening, **fields)
    if "figures" in vars(screening):
        vars(copy)["figures"] = screening.figures
    return copy
