"""What single features are worth as rankings, as data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import format_table, number, probability
from .._engine.ties import FloatArray
from .._optional import import_optional
from ..evaluation._intervals import QueryMoments, adjust
from ..evaluation._report import lift
from ..measures import Measure
from ._statistics import FeatureStatistics

#: rows of a table in print
SHOWN = 20
#: lower correlations are no repetition
_ALIKE = 0.5


class Rule(NamedTuple):
    """How features are ranked: all that two screenings must share to merge.

    Attributes
    ----------
    measures : tuple of Measure
    sort : int
        Number of the measure that decides directions and ranking.
    directions : tuple of str
        "auto", "descending" or "ascending" of each feature.
    missing : {"raise", "last"}
    zero_relevance : float, "skip" or "raise"
    correlates : bool
        Whether pairs of features are correlated.
    """

    measures: tuple[Measure, ...]
    sort: int
    directions: tuple[str, ...]
    missing: str
    zero_relevance: float | str
    correlates: bool


@dataclass(frozen=True, eq=False, repr=False)
class Screening(Result):
    """What single features are worth as rankings; prints as a table.

    `RankingFeatureSelector` makes it: ``selector.screening_``. Features are those
    screened, without a column of query ids.

    Attributes
    ----------
    features : tuple of str
    measures : tuple of str
    sort_by : str
        The measure that decides directions and ranking.
    mean, best, worst, tie_std, lift : ndarray of shape (n_features, n_measures)
        Average over queries of the expected, best and worst value, standard deviation
        of the mean over tie orders, and (mean - chance) / (ideal - chance).
    interval : ndarray of shape (n_features, n_measures, 2)
        95 % t interval of `mean` over queries.
    pvalues, qvalues : ndarray of shape (n_features, n_measures)
        Of the one-sided paired t test against chance, and adjusted for the number of
        features (Benjamini and Hochberg 1995).
    chance, ideal : ndarray of shape (n_measures,)
    n_averaged : ndarray of shape (n_measures,), int
        Queries averaged.
    directions : tuple of str
        "descending" or "ascending".
    ranking : ndarray of shape (n_features,), int
        1 is the best; features of equal mean rank by their column.
    varies : ndarray of shape (n_features,), bool
        Features that differ within a query.
    rank_correlation : ndarray of shape (n_features, n_features) or None
        Mean over queries of Spearman's rho, each feature in its direction.
    n_queries : int
    rule : Rule
        How features were to be ranked.
    statistics : FeatureStatistics
        What was added up over queries; two screenings merge by it.

    Examples
    --------
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, n_noise=0, n_duplicates=0, random_state=0)
    >>> selector = RankingFeatureSelector("ap").fit(web.data, web.target, qid=web.qid)
    >>> print(selector.screening_.named(web.feature_names))
    feature      rank  first      AP    ±95%        q  repeats
    ----------------------------------------------------------
    (chance)                  0.4826
    clicks          1   high  0.6276  0.0299  <0.0001
    text_score      2   high  0.6147  0.0322  <0.0001
    page_visits     3   high  0.5778  0.0321  <0.0001
    in_degree       4   high  0.5735  0.0323  <0.0001
    url_length      5    low  0.5614  0.0328  <0.0001
    n_slashes       6    low  0.5421  0.0325  <0.0001
    """

    features: tuple[str, ...]
    measures: tuple[str, ...]
    sort_by: str
    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    tie_std: FloatArray
    lift: FloatArray
    interval: FloatArray
    pvalues: FloatArray
    qvalues: FloatArray
    chance: FloatArray
    ideal: FloatArray
    n_averaged: NDArray[np.int64]
    directions: tuple[str, ...]
    ranking: NDArray[np.int64]
    varies: NDArray[np.bool_]
    rank_correlation: FloatArray | None
    n_queries: int
    rule: Rule
    statistics: FeatureStatistics

    @classmethod
    def of(
        cls, statistics: FeatureStatistics, features: Sequence[str], rule: Rule
    ) -> Screening:
        """From what was added up to means, tests, directions and ranks."""
        up, down = statistics.descending, statistics.ascending
        sort = rule.sort
        favourable = 1.0 if rule.measures[sort].greater_is_better else -1.0
        asked = np.array(rule.directions)
        both = asked == "auto"
        gain = favourable * (down.value.mean - up.value.mean)[:, sort]
        # a tie, as of a constant feature, leaves the direction descending
        ascending = (asked == "ascending") | (both & (gain > 0))

        def chosen(name: str) -> QueryMoments:
            return _where(ascending, getattr(down, name), getattr(up, name))

        value = chosen("value")
        means = value.averages()
        pvalues = chosen("difference").p_greater()
        pvalues = np.where(both[:, None], np.minimum(1.0, 2 * pvalues), pvalues)
        variance = np.where(ascending[:, None], down.tie_variance, up.tie_variance)
        total = np.where(value.weight > 0, value.weight, np.nan)
        chance, ideal = statistics.chance.averages(), statistics.ideal.averages()
        order = np.argsort(-favourable * means[:, sort], kind="stable")
        ranking = np.empty(len(order), dtype=np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        correlation = statistics.correlation
        return cls(
            features=tuple(map(str, features)),
            measures=tuple(map(str, rule.measures)),
            sort_by=str(rule.measures[sort]),
            mean=means,
            best=chosen("best").averages(),
            worst=chosen("worst").averages(),
            tie_std=np.sqrt(variance) / total,
            lift=lift(means, chance, ideal),
            interval=value.interval(),
            pvalues=pvalues,
            qvalues=np.apply_along_axis(adjust, 0, pvalues, "bh"),
            chance=chance,
            ideal=ideal,
            n_averaged=statistics.chance.count.astype(np.int64),
            directions=tuple(np.where(ascending, "ascending", "descending").tolist()),
            ranking=ranking,
            varies=statistics.varies,
            rank_correlation=(
                None if correlation is None else correlation.of_directions(ascending)
            ),
            n_queries=statistics.n_queries,
            rule=rule,
            statistics=statistics,
        )

    def named(self, features: Sequence[str]) -> Screening:
        """The same under other names of the features.

        Parameters
        ----------
        features : list of str

        Returns
        -------
        Screening

        Raises
        ------
        ValueError
            For another number of names.
        """
        if len(features) != len(self.features):
            raise ValueError(
                f"features must have {len(self.features)} names, got {len(features)}"
            )
        return replace(self, features=tuple(map(str, features)))

    def merge(self, other: Screening) -> Screening:
        """Of the queries of both.

        Parameters
        ----------
        other : Screening
            Of other queries, by the same rule.

        Returns
        -------
        Screening

        Raises
        ------
        ValueError
            If the two do not go together.
        """
        if not isinstance(other, Screening):
            raise ValueError(f"other must be a Screening, got {other!r}")
        if (self.rule, self.features) != (other.rule, other.features):
            raise ValueError(
                "other must have the features, measures and options of this "
                f"screening, got {', '.join(other.measures)} of "
                f"{len(other.features)} features"
            )
        merged = self.statistics.merge(other.statistics)
        return Screening.of(merged, self.features, self.rule)

    def rows(self, selected: NDArray[np.bool_] | None = None) -> list[dict[str, Any]]:
        """A dict of plain values per feature, the best first.

        Parameters
        ----------
        selected : ndarray of shape (n_features,), bool, optional
            Which features are selected, to be told as well.

        Returns
        -------
        list of dict
            As `RankingFeatureSelector.table` has them.
        """
        order = np.argsort(self.ranking)
        rows = []
        for rank, j in enumerate(order.tolist(), start=1):
            row: dict[str, Any] = {
                "rank": rank,
                "feature": self.features[j],
                "direction": self.directions[j],
            }
            if selected is not None:
                row["selected"] = bool(selected[j])
            for m, measure in enumerate(self.measures):
                low, high = self.interval[j, m].tolist()
                row |= {
                    measure: float(self.mean[j, m]),
                    f"{measure}_low": low,
                    f"{measure}_high": high,
                    f"{measure}_best": float(self.best[j, m]),
                    f"{measure}_worst": float(self.worst[j, m]),
                    f"{measure}_tie_std": float(self.tie_std[j, m]),
                    f"{measure}_chance": float(self.chance[m]),
                    f"{measure}_lift": float(self.lift[j, m]),
                    f"{measure}_p": float(self.pvalues[j, m]),
                    f"{measure}_q": float(self.qvalues[j, m]),
                }
            like, rho = self._repeats(j, order[: rank - 1])
            row["repeats"] = None if like is None else self.features[like]
            row["correlation"] = rho
            rows.append(row)
        return rows

    def _repeats(
        self, feature: int, better: NDArray[np.int64]
    ) -> tuple[int | None, float]:
        """The better-ranked feature most like this one, the best of equals."""
        if self.rank_correlation is None or not len(better):
            return None, math.nan
        rho = self.rank_correlation[feature, better]
        # the last bits of a correlation must not choose between copies
        at = int(np.argmax(np.round(rho, 10)))
        if rho[at] <= 1e-10:
            return None, math.nan
        return int(better[at]), float(rho[at])

    def to_pandas(self) -> Any:
        """The features as a `pandas.DataFrame`, the best first, indexed by rank."""
        pandas = import_optional("pandas", extra="io", purpose="to_pandas")
        return pandas.DataFrame(self.rows()).set_index("rank")

    def text(self, rows: Sequence[dict[str, Any]]) -> str:
        """Some of `rows` as a table: mean, half the interval and q per measure."""
        header = ["feature", "rank", "first"]
        chance = ["(chance)", "", ""]
        for m, measure in enumerate(self.measures):
            header += [measure, "±95%", "q"]
            chance += [number(float(self.chance[m])), "", ""]
        header.append("repeats")
        chance.append("")
        body = [chance]
        for row in rows:
            first = "high" if row["direction"] == "descending" else "low"
            cells = [row["feature"], str(row["rank"]), first]
            for measure in self.measures:
                half = (row[f"{measure}_high"] - row[f"{measure}_low"]) / 2
                q = probability(row[f"{measure}_q"])
                cells += [number(row[measure]), number(half), q]
            repeats = row["repeats"]
            alike = repeats is not None and row["correlation"] >= _ALIKE
            cells.append(f"{repeats} ({row['correlation']:.2f})" if alike else "")
            body.append(cells)
        return format_table(header, body)

    def __str__(self) -> str:
        rows = self.rows()
        lines = [self.text(rows[:SHOWN])]
        if len(rows) > SHOWN:
            lines.append(f"... and {len(rows) - SHOWN} more")
        return "\n".join(lines)


def _where(
    ascending: NDArray[np.bool_], down: QueryMoments, up: QueryMoments
) -> QueryMoments:
    column = ascending[:, None]
    return QueryMoments(
        *(
            np.where(column, getattr(down, field.name), getattr(up, field.name))
            for field in fields(QueryMoments)
        )
    )
