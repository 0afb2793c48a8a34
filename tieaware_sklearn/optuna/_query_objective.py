"""What objectives over queries share: measures, buckets, pruning."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine import FloatArray, IntArray, Queries, check_count, query_marks, seed_of
from ..evaluation import (
    Asked,
    Prepared,
    QueryRows,
    RankedQueries,
    ask,
    means,
    stds_of_means,
)
from ..measures import STATISTICS, Measure, parse_measures
from ._studies import PRUNE, StudyCreator, optuna

#: at most so many values are reported by a trial
N_VALUES = 256
_REPORTS = "reports"
#: WilcoxonPruner is asked about trials that have reported so many values
_LEAST_PAIRS = 14


class Measured(NamedTuple):
    """Exact values of some queries.

    `values` are arrays of shape (n_chosen, n_measures); `tied` and `ranked` count
    documents.
    """

    chosen: IntArray
    values: dict[str, FloatArray]
    tied: int
    ranked: int


class Step(NamedTuple):
    """Queries measured together, and the places in them of each of their buckets."""

    measured: Measured
    buckets: list[tuple[int, IntArray]]
    is_last: bool


class Summary(NamedTuple):
    """Averages over queries: a value per measure, and what a trial remembers."""

    mean: list[float]
    n_queries: int
    attributes: dict[str, Any]


class QueryBuckets:
    """Labels of queries, measured for any choice of them.

    Parameters
    ----------
    prepared : Prepared
        The queries in the order of their ids, their rows query by query.
    asked : Asked
    """

    def __init__(self, prepared: Prepared, asked: Asked) -> None:
        self.prepared = prepared
        self._asked = asked
        (chance,) = prepared.of_labels(asked, ["chance"])
        weight = prepared.weight
        self._weight = np.ones(len(chance)) if weight is None else weight
        counts = ~np.isnan(chance) & (self._weight > 0)[:, None]
        for j, measure in enumerate(asked.measures):
            if not counts[:, j].any():
                raise ValueError(
                    f"y must have a query for which {measure} is defined"
                    f"{'' if weight is None else ' and that has weight'}, got "
                    f"none (of {prepared.queries.n_queries} queries)"
                )

    def measured(self, chosen: IntArray, scores: NDArray[np.generic]) -> Measured:
        """Exact values of these queries, given scores of their rows in order."""
        some = self.prepared
        if len(chosen) < some.queries.n_queries or (np.diff(chosen) != 1).any():
            some = some.of_queries(chosen)

        def compute(ranked: RankedQueries) -> tuple[FloatArray, int, int]:
            found = ranked.statistics(self._asked.measures, STATISTICS)
            groups = ranked.groups
            tied = int(groups.n[groups.n > 1].sum())
            return found, tied, int(groups.n.sum())

        parts, tied, ranked = zip(
            *some.labelled.each_block(compute, scores), strict=True
        )
        stacked = some.labelled.in_order(parts, 1)
        found = dict(zip(STATISTICS, stacked, strict=True))
        filled = self._asked.fill_statistics(found, some.queries)
        return Measured(chosen, filled, sum(tied), sum(ranked))

    def means(
        self, measured: Measured, part: IntArray | slice = slice(None)
    ) -> list[float]:
        """Mean values of some of the queries, NaN where none is defined."""
        weight = self._weight[measured.chosen[part]]
        found: list[float] = means(measured.values["expected"][part], weight).tolist()
        return found

    def summary(self, parts: list[Measured]) -> Summary:
        """Averages over all that was measured."""
        chosen = np.concatenate([part.chosen for part in parts])
        weight = self._weight[chosen]
        expected, best, worst, std = (
            np.concatenate([part.values[name] for part in parts]) for name in STATISTICS
        )
        spreads = {
            "best": means(best, weight).tolist(),
            "worst": means(worst, weight).tolist(),
            "tie_std": stds_of_means(std, weight).tolist(),
        }
        tied, ranked = sum(p.tied for p in parts), sum(p.ranked for p in parts)
        attributes = {
            f"{measure} {name}": values[j]
            for j, measure in enumerate(self._asked.names)
            for name, values in spreads.items()
        }
        attributes["tied_documents"] = tied / max(ranked, 1)
        return Summary(means(expected, weight).tolist(), len(chosen), attributes)


def is_paired(pruner: Any) -> bool:
    """Whether a pruner compares trials value by value."""
    return isinstance(pruner, optuna.pruners.WilcoxonPruner)


@dataclass
class Reports:
    """What one trial reports, step by step.

    Attributes
    ----------
    trial : optuna.trial.Trial
    data : QueryBuckets
    measure : Measure
    paired : bool
        Report the value of each bucket, not running means.
    n_values : int
        Values that are reported.
    """

    trial: Any
    data: QueryBuckets
    measure: Measure
    paired: bool
    n_values: int = 0

    def end(self, step: Step, parts: list[Measured]) -> bool:
        """Report what a step adds; whether the trial ends with it."""
        if self.paired:
            values = [
                (number, self.data.means(step.measured, part)[0])
                for number, part in step.buckets
            ]
        else:
            so_far = self.data.summary(parts)
            values = [(so_far.n_queries, so_far.mean[0])]
        for number, value in values:
            if not math.isnan(value):
                self.trial.report(value, step=number)
                self.n_values += 1
        asks = not self.paired or self.n_values >= _LEAST_PAIRS
        if step.is_last or not asks or not self.trial.should_prune():
            return False
        if not self.paired:
            return True
        # a part of the queries must not pass for the best trial
        value, best = self.data.summary(parts).mean[0], self.trial.study.best_value
        return bool(value < best if self.measure.greater_is_better else value > best)


class QueryObjective(StudyCreator):
    """An Optuna objective whose value is the mean of a measure over queries.

    With a list of measures it returns one value for each, for a multi-objective study.

    Use one of its subclasses `ScoringObjective`, `LinearScoringObjective` and
    `RankerObjective`; all take these options.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features).
    y : array-like of shape (n_rows,)
        Labels: finite and >= 0. NaN is unjudged.
    qid : array-like of shape (n_rows,)
        Query of each row.
    measure : str, Measure or list of such, default="ndcg@10"
        Measure or measures, as in `parse_measure`. A list, without duplicates, gives an
        objective for each measure: see Notes.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat NaN labels, as in `ranking_score`.
    query_weight : array-like of shape (n_rows,), optional
        Weight of each row's query.
    report_every : int, optional
        Number of queries in a bucket, whose mean is reported as one value. By default
        there are at most 256 buckets; 1 reports every query.
    random_state : int, RandomState instance or None, default=0
        Seed that assigns queries to buckets, which are the same in every trial, and
        draws the order of the buckets, which differs from trial to trial. Processes
        that share a study must have the same buckets: give each the same int.

    Attributes
    ----------
    measure : Measure or tuple of Measure
        The measure or measures of the objective.

    Raises
    ------
    ValueError
        If the data or an option breaks a rule above, or if no query has a defined
        value.

    See Also
    --------
    ScoringObjective, LinearScoringObjective, RankerObjective : The subclasses.

    Notes
    -----
    **Pruning.** ``create_study(prune=True)`` sets Optuna's `WilcoxonPruner`, which
    stops a trial once it is clearly worse, query by query, than the best one. Queries
    are then scored in blocks, and each block takes additional time: to gather and
    measure it, to report up to 256 values (.3 ms each in a journal) and to check them
    (.5 to 1.5 ms). So it pays where *scoring* is dear: for rankers, except on the
    smallest data, and for functions that take longer than about 100 ms for a million
    documents, but not for linear scores.

    `WilcoxonPruner` compares trials bucket by bucket, so the order of the buckets is
    drawn anew for each trial. It is consulted only after 14 values are reported. A
    pruned trial returns its running mean, so that Optuna counts it as complete; it is
    never the best. Other pruners compare running means, for which all trials have the
    same order of buckets; with them a trial ends as pruned. A value that is undefined
    is never reported.

    **Several measures.** With ``measure=["ndcg@10", "ap"]`` a call returns a tuple of
    exact means, and finds ties once for all. `create_study` creates a study with an
    objective for each measure, with its direction and its name, sampled by TPE;
    ``study.best_trials`` is the Pareto front. Optuna cannot prune such a study.

    Every trial gets user attributes: ``best``, ``worst`` and ``tie_std`` of the measure
    over the orders of ties (with several measures ``NDCG@10 best`` and so on for each),
    ``tied_documents`` (the share of documents that have the same score as another
    document of their query), ``n_queries`` (the number of queries that were scored) and
    ``pruned``.

    Examples
    --------
    >>> from tieaware_sklearn.optuna import QueryObjective, ScoringObjective
    >>> issubclass(ScoringObjective, QueryObjective)
    True
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any,
        measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        query_weight: ArrayLike | None = None,
        report_every: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        measures = tuple(parse_measures(measure, name="measure"))
        asked = ask(measures, zero_relevance, unjudged)
        self._measures = measures
        self._is_one = isinstance(measure, (str, Measure))
        self.measure = measures[0] if self._is_one else measures
        if report_every is not None:
            check_count(report_every, "report_every")
        self._seed = seed_of(random_state)
        X = X if hasattr(X, "shape") else np.asarray(X)
        given = QueryRows.of(X, y, qid, query_weight, unjudged=asked.unjudged)
        self._queries = self._ordered(given)
        rows = given.sorted(self._queries)
        self._X = rows.X
        self._data = QueryBuckets(rows.prepared(), asked)
        self._zero_relevance = zero_relevance
        self._report_every = report_every

    def _ordered(self, given: QueryRows) -> Queries:
        """The queries by id, the rows of each in the order in which they are scored."""
        return given.queries.by_id()

    @property
    def direction(self) -> str:
        """The direction of a study of the measure: ``"maximize"`` or ``"minimize"``.

        An objective of several measures raises RuntimeError: use `directions`.
        """
        if not self._is_one:
            raise RuntimeError(
                "an objective of several measures has no single direction: use "
                f"directions, {self.directions}"
            )
        return self.directions[0]

    @property
    def directions(self) -> list[str]:
        """The direction of each measure, as `optuna.create_study` takes them."""
        ups = [measure.greater_is_better for measure in self._measures]
        return ["maximize" if up else "minimize" for up in ups]

    @abstractmethod
    def _steps(
        self, trial: Any, order: np.random.Generator | None, prune: bool
    ) -> Iterator[Step]:
        """Some queries after others, until all are measured.

        `order` draws the order of buckets; without it they stand as they are.
        """

    @abstractmethod
    def _step_queries(self) -> list[IntArray]:
        """The queries of each bucket."""

    def __call__(self, trial: Any) -> float | tuple[float, ...]:
        """The exact mean of the measure, or of the queries before pruning.

        Parameters
        ----------
        trial : optuna.trial.Trial

        Returns
        -------
        float, or tuple of float for a list of measures

        Raises
        ------
        ValueError
            If the study's directions do not go with the measures, if it has several
            objectives and prunes, and for scores that cannot rank.
        """
        pruner = self._check_study(trial)
        paired = is_paired(pruner)
        order = np.random.default_rng([self._seed, trial.number]) if paired else None
        reports = None
        if pruner is not None:
            reports = Reports(trial, self._data, self._measures[0], paired)
        parts: list[Measured] = []
        pruned = False
        for step in self._steps(trial, order, reports is not None):
            parts.append(step.measured)
            if reports is not None and reports.end(step, parts):
                pruned = True
                break
        summary = self._data.summary(parts)
        counts = {"n_queries": summary.n_queries, "pruned": pruned}
        for name, attribute in {**summary.attributes, **counts}.items():
            # one measure goes without saying
            alone = name.removeprefix(f"{self.measure} ") if self._is_one else name
            trial.set_user_attr(alone, attribute)
        if pruned and not paired:
            (measure,), (value,) = self._measures, summary.mean
            raise optuna.TrialPruned(
                f"{measure} of {summary.n_queries} queries: {value:.6g}"
            )
        return summary.mean[0] if self._is_one else tuple(summary.mean)

    def _check_study(self, trial: Any) -> Any:
        """The pruner that reports are for, or None."""
        study = getattr(trial, "study", None)
        if study is None:  # a FixedTrial
            return None
        pruner = study.pruner
        if isinstance(pruner, optuna.pruners.NopPruner):
            pruner = None
        if is_paired(getattr(pruner, "_wrapped_pruner", None)):
            raise ValueError(
                "the pruner must be WilcoxonPruner itself, got one inside "
                "PatientPruner: patience has no meaning for values of buckets"
            )
        if len(study.directions) > len(self.directions):  # and other values beside
            if len(self._measures) == 1 and pruner is not None:
                raise ValueError(
                    "a study of several objectives cannot prune, got "
                    f"{type(pruner).__name__}: create it with "
                    "pruner=optuna.pruners.NopPruner()"
                )
            return None
        self._check_directions(trial, *self._measures)
        said = study.user_attrs.get(PRUNE)
        if pruner is None or said is False or len(self._measures) > 1:
            return None
        self._check_reports(study, pruner)
        return pruner

    def _check_reports(self, study: Any, pruner: Any) -> None:
        """Refuse a study whose trials reported other things under the same steps."""
        kind = "values of buckets" if is_paired(pruner) else "running means"
        mine = f"{kind} of {self._measures[0]}, {self._data_digest}"
        theirs = study.user_attrs.get(_REPORTS)
        if theirs is None:
            study.set_user_attr(_REPORTS, mine)
        elif theirs != mine:
            raise ValueError(
                f"the study must hold reports of this objective ({mine}), got "
                f"{theirs}: join it by objective.create_study(..., "
                "load_if_exists=True), or give optuna.load_study the pruner that it "
                "began with"
            )

    @cached_property
    def _data_digest(self) -> str:
        """Tells objectives apart whose steps or values mean other things."""
        data = self._data.prepared
        digest = hashlib.blake2b(digest_size=8)
        digest.update(query_marks(data.labels, data.queries.offsets).tobytes())
        digest.update(repr((self._zero_relevance, data.weight is None)).encode())
        if data.weight is not None:
            digest.update(data.weight.tobytes())
        for bucket in self._step_queries():
            digest.update(np.array([len(bucket), *bucket], np.int64).tobytes())
        return f"data {digest.hexdigest()}"

    def _metric_names(self) -> list[str]:
        return [] if self._is_one else list(map(str, self._measures))

    def _buckets(self, n_queries: int, seed: int, n_folds: int = 1) -> list[IntArray]:
        """Fixed buckets of about as many queries as share a value, drawn at random."""
        size = self._report_every
        if size is None:
            size = math.ceil(self._queries.n_queries / max(1, N_VALUES + 1 - n_folds))
        order = np.random.default_rng(seed).permutation(n_queries)
        return [np.sort(part) for part in np.array_split(order, -(-n_queries // size))]
