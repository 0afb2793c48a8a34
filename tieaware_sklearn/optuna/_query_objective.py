"""What objectives over queries share: buckets, reports, pruning."""

from __future__ import annotations

import hashlib
import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._engine.digests import query_marks
from .._engine.qid_column import take_rows
from .._engine.seeds import seed_of
from .._engine.ties import FloatArray, IntArray, TieGroups
from .._engine.validation import (
    Queries,
    check_count,
    check_labels,
    check_qid,
    check_query_weight,
)
from ..evaluation._averages import mean, std_of_mean
from ..evaluation._labelled_queries import STATISTICS, statistics_of
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import Asked, ask
from ..measures import Measure, parse_measure
from ._studies import StudyCreator, optuna

#: at most so many values are reported by a trial
N_VALUES = 256
_REPORTS = "reports"
#: with fewer values that tie, scipy's Wilcoxon test runs through all their signs,
#: which takes a quarter of a second
_LEAST_PAIRS = 14


class Measured(NamedTuple):
    """What scores of some queries are worth.

    Arrays of shape (n_chosen,); `tied` and `ranked` count documents.
    """

    chosen: IntArray
    values: dict[str, FloatArray]
    tied: int
    ranked: int


class QueryBuckets:
    """Labels of queries, measured for any choice of them.

    Parameters
    ----------
    prepared : Prepared
        The queries in the order of their ids, their rows query by query.
    asked : Asked
        One measure.
    """

    def __init__(self, prepared: Prepared, asked: Asked) -> None:
        self.prepared = prepared
        self._asked = asked
        (chance,) = prepared.of_labels(asked, ["chance"])
        weight = prepared.weight
        self._weight = np.ones(len(chance)) if weight is None else weight
        if not (~np.isnan(chance[:, 0]) & (self._weight > 0)).any():
            raise ValueError(
                f"y must hold a query for which {asked.measures[0]} is defined"
                f"{'' if weight is None else ' and that has weight'}, got "
                f"none (of {prepared.queries.n_queries} queries)"
            )

    def measured(self, chosen: IntArray, scores: Any) -> Measured:
        """Exact values of these queries, given scores of their rows in order."""
        some = self.prepared
        if len(chosen) < some.queries.n_queries or (np.diff(chosen) != 1).any():
            some = some.of_queries(chosen)

        def compute(groups: TieGroups) -> tuple[list[FloatArray], int, int]:
            found = statistics_of(self._asked.measures, STATISTICS, groups)
            tied = int(groups.n[groups.n > 1].sum())
            return found, tied, int(groups.n.sum())

        parts, tied, ranked = zip(
            *some.labelled.each_block(compute, scores), strict=True
        )
        stacked = map(some.labelled.in_order, zip(*parts, strict=True))
        found = dict(zip(STATISTICS, stacked, strict=True))
        filled = self._asked.fill_statistics(found, some.queries)
        values = {name: column[:, 0] for name, column in filled.items()}
        return Measured(chosen, values, sum(tied), sum(ranked))

    def mean(self, measured: Measured, part: IntArray | slice = slice(None)) -> float:
        """Mean value of some of the queries, NaN where none is defined."""
        weight = self._weight[measured.chosen[part]]
        return mean(measured.values["expected"][part], weight)

    def summary(self, parts: list[Measured]) -> dict[str, float]:
        """Averages over all that was measured; its value is the ``"mean"``."""
        chosen = np.concatenate([part.chosen for part in parts])
        weight = self._weight[chosen]
        expected, best, worst, std = (
            np.concatenate([part.values[name] for part in parts]) for name in STATISTICS
        )
        ranked = sum(part.ranked for part in parts)
        return {
            "mean": mean(expected, weight),
            "best": mean(best, weight),
            "worst": mean(worst, weight),
            "tie_std": std_of_mean(std, weight),
            "tied_documents": sum(part.tied for part in parts) / max(ranked, 1),
            "n_queries": len(chosen),
        }


class Step(NamedTuple):
    """Queries measured together, and the places in them of each of their buckets."""

    measured: Measured
    buckets: list[tuple[int, IntArray]]
    is_last: bool


class QueryObjective(StudyCreator):
    """An Optuna objective whose value is the mean of a measure over queries.

    `ScoringObjective`, `LinearScoringObjective` and `RankerObjective` are the ones
    to use; all take these options.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Arrow table
        Of shape (n_rows, n_features).
    y : array-like of shape (n_rows,)
        Labels: finite and >= 0. NaN is unjudged.
    qid : array-like of shape (n_rows,)
        Query of each row.
    measure : str or Measure, default="ndcg@10"
        See `parse_measure`.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant"}, default="raise"
        What to do with NaN labels.
    query_weight : array-like of shape (n_rows,), optional
        Weight of each row's query.
    report_every : int, optional
        How many queries share one reported value, their mean; by default as many as
        make at most 256 values. 1 reports query by query.
    random_state : int, RandomState instance or None, default=0
        Deals the queries into the buckets that share a value, the same ones in
        every trial, and draws their order, another one for every trial. Processes
        that share a study must draw the same buckets: give each the same int.

    Notes
    -----
    For `WilcoxonPruner`, which compares trials bucket by bucket, buckets are scored
    in an order drawn for each trial. It is asked once 14 values are reported. A
    pruned trial returns its running mean, so that Optuna counts it as complete; it
    is never the best. Other pruners compare running means, over one order of
    buckets; with them a trial ends as pruned. A value that is undefined is never
    reported.

    Every trial gets user attributes: ``best``, ``worst`` and ``tie_std`` of the
    measure over the orders of tied documents, ``tied_documents`` (the share of
    documents whose score another one has), ``n_queries`` that were scored, and
    ``pruned``.
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any,
        measure: str | Measure = "ndcg@10",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        query_weight: ArrayLike | None = None,
        report_every: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.measure = parse_measure(measure)
        asked = ask([self.measure], zero_relevance, unjudged)
        if report_every is not None:
            check_count(report_every, "report_every")
        self._seed = seed_of(random_state)
        labels = check_labels(y, unjudged=asked.unjudged, name="y")
        queries = check_qid(qid, n_rows=len(labels)).by_id()
        weight = check_query_weight(query_weight, queries)
        X = X if hasattr(X, "shape") else np.asarray(X)
        if X.shape[0] != queries.n_rows:
            raise ValueError(
                f"X must have one row per label ({queries.n_rows}), got {X.shape[0]}"
            )
        self._queries = self._ordered(X, labels, queries)
        self._X = take_rows(X, self._queries.order)
        prepared = Prepared(
            self._queries.arrange(labels),
            Queries(queries.qid, queries.offsets, None),
            weight,
            keep=True,
        )
        self._data = QueryBuckets(prepared, asked)
        self._zero_relevance = zero_relevance
        self._report_every = report_every

    def _ordered(self, X: Any, labels: FloatArray, queries: Queries) -> Queries:
        """The queries, the rows of each in the order in which they are scored."""
        return queries

    @property
    def direction(self) -> str:
        """``"maximize"`` or ``"minimize"``: what a study must do with the measure."""
        return "maximize" if self.measure.greater_is_better else "minimize"

    @property
    def directions(self) -> list[str]:
        """The direction, as `optuna.create_study` takes several."""
        return [self.direction]

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

    def __call__(self, trial: Any) -> float:
        """The exact mean of the measure, or of the queries before pruning.

        Parameters
        ----------
        trial : optuna.trial.Trial

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the study's direction does not go with the measure, if it has several
            objectives and prunes, and for scores that cannot rank.
        """
        pruner = self._check_study(trial)
        prune = pruner is not None
        paired = isinstance(pruner, optuna.pruners.WilcoxonPruner)
        order = np.random.default_rng([self._seed, trial.number]) if paired else None
        parts: list[Measured] = []
        reported = 0
        pruned = False
        for step in self._steps(trial, order, prune):
            parts.append(step.measured)
            if not prune:
                continue
            reported += self._report(trial, step, parts, paired)
            few = paired and reported < _LEAST_PAIRS
            if not (step.is_last or few) and self._ends(trial, parts, paired):
                pruned = True
                break
        summary = self._data.summary(parts)
        value = summary.pop("mean")
        for name, attribute in {**summary, "pruned": pruned}.items():
            trial.set_user_attr(name, attribute)
        if pruned and not paired:
            raise optuna.TrialPruned(
                f"{self.measure} of {summary['n_queries']} queries: {value:.6g}"
            )
        return value

    def _report(
        self, trial: Any, step: Step, parts: list[Measured], paired: bool
    ) -> int:
        """Report what a step adds to its trial; how many values that is."""
        if paired:
            measured = step.measured
            values = [(n, self._data.mean(measured, part)) for n, part in step.buckets]
        else:
            so_far = self._data.summary(parts)
            values = [(int(so_far["n_queries"]), so_far["mean"])]
        defined = [(number, value) for number, value in values if not math.isnan(value)]
        for number, value in defined:
            trial.report(value, step=number)
        return len(defined)

    def _ends(self, trial: Any, parts: list[Measured], paired: bool) -> bool:
        """Whether a trial ends with the queries measured so far."""
        if not trial.should_prune():
            return False
        if not paired:
            return True
        # a part of the queries must not pass for the best trial
        value, best = self._data.summary(parts)["mean"], trial.study.best_value
        return bool(value < best if self.measure.greater_is_better else value > best)

    def _check_study(self, trial: Any) -> Any:
        """The pruner that reports are for, or None."""
        study = getattr(trial, "study", None)
        if study is None:  # a FixedTrial
            return None
        pruner = study.pruner
        if isinstance(pruner, optuna.pruners.NopPruner):
            pruner = None
        inner = getattr(pruner, "_wrapped_pruner", None)
        if isinstance(inner, optuna.pruners.WilcoxonPruner):
            raise ValueError(
                "the pruner must be WilcoxonPruner itself, got PatientPruner around "
                "it: patience has no meaning for values of buckets"
            )
        if len(study.directions) > 1:
            if pruner is not None:
                raise ValueError(
                    "a study of several objectives cannot prune, got "
                    f"{type(pruner).__name__}: create it with "
                    "pruner=optuna.pruners.NopPruner()"
                )
            return None
        self._check_directions(trial, self.measure)
        if pruner is not None:
            self._check_reports(study, pruner)
        return pruner

    def _check_reports(self, study: Any, pruner: Any) -> None:
        """Refuse a study whose trials reported other things under the same steps."""
        paired = isinstance(pruner, optuna.pruners.WilcoxonPruner)
        kind = "values of buckets" if paired else "running means"
        mine = f"{kind} of {self.measure}, {self._data_digest}"
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

    def _pruner(self) -> Any:
        with warnings.catch_warnings():
            # Optuna has called it experimental since 3.6
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return optuna.pruners.WilcoxonPruner()

    def _buckets(self, n_queries: int, seed: int, n_folds: int = 1) -> list[IntArray]:
        """Fixed buckets of about as many queries as share a value, drawn at random."""
        size = self._report_every
        if size is None:
            size = math.ceil(self._queries.n_queries / max(1, N_VALUES + 1 - n_folds))
        order = np.random.default_rng(seed).permutation(n_queries)
        return [np.sort(part) for part in np.array_split(order, -(-n_queries // size))]
