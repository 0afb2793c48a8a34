"""What objectives over queries share: buckets, reports, pruning, studies."""

from __future__ import annotations

import hashlib
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._engine.digests import query_marks
from .._engine.ties import IntArray
from .._engine.validation import (
    check_count,
    check_labels,
    check_qid,
    check_query_weight,
)
from ..evaluation._undefined import check_zero_relevance
from ..measures import Measure, parse_measure
from ._query_buckets import Measured, QueryBuckets, Summary, deal
from ._studies import open_study, optuna

#: at most so many values are reported by a trial
N_VALUES = 256
#: queries are scored in about so many blocks where trials may be pruned
N_BLOCKS = 16
_REPORTS = "reports"
#: with fewer values that tie, scipy's Wilcoxon test runs through all their signs,
#: which takes a quarter of a second
_LEAST_PAIRS = 14


class Step(NamedTuple):
    """Queries measured together, and the places in them of each of their buckets."""

    measured: Measured
    buckets: list[tuple[int, IntArray]]
    is_last: bool


class QueryObjective(ABC):
    """An Optuna objective whose value is the mean of a measure over queries.

    `ScoringObjective`, `LinearScoringObjective` and `RankerObjective` are the ones
    to use.
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        qid: Any,
        measure: str | Measure,
        zero_relevance: float | str,
        query_weight: ArrayLike | None,
        report_every: int | None,
        random_state: int,
    ) -> None:
        self.measure = parse_measure(measure)
        check_zero_relevance(zero_relevance)
        if report_every is not None:
            check_count(report_every, "report_every")
        check_count(random_state, "random_state", least=0)
        labels = check_labels(y, name="y")
        self.random_state = int(random_state)
        self._queries = check_qid(qid, n_rows=len(labels)).by_id()
        self._data = QueryBuckets(
            self._queries.arrange(labels),
            self._queries,
            self.measure,
            zero_relevance,
            check_query_weight(query_weight, self._queries),
        )
        self._report_every = report_every
        self._digest: str | None = None

    def _check_rows(self, X: Any) -> Any:
        X = X if hasattr(X, "shape") else np.asarray(X)
        if X.shape[0] != self._queries.n_rows:
            raise ValueError(
                f"X must have one row per label ({self._queries.n_rows}), got "
                f"{X.shape[0]}"
            )
        return X

    @property
    def direction(self) -> str:
        """``"maximize"`` or ``"minimize"``: what a study must do with the measure."""
        return "maximize" if self.measure.greater_is_better else "minimize"

    @abstractmethod
    def _steps(
        self, trial: Any, order: np.random.Generator | None, prune: bool
    ) -> Iterator[Step]:
        """Some queries after others, until all are measured.

        `order` draws the order of buckets; without it they stand as they are.
        """

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
        paired = isinstance(pruner, optuna.pruners.WilcoxonPruner)
        prune = pruner is not None
        if prune:
            self._check_reports(trial.study, paired)
        seed = [self.random_state, trial.number]
        order = np.random.default_rng(seed) if paired else None
        parts: list[Measured] = []
        reported = 0
        pruned = False
        for part, buckets, is_last in self._steps(trial, order, prune):
            parts.append(part)
            if not prune:
                continue
            if paired:
                for bucket, places in buckets:
                    value = self._data.mean(part, places)
                    if not math.isnan(value):
                        trial.report(value, step=bucket)
                        reported += 1
            else:
                so_far = self._data.summary(parts)
                if not math.isnan(so_far.value):
                    trial.report(so_far.value, step=so_far.n_queries)
            few = paired and reported < _LEAST_PAIRS
            if is_last or few or not trial.should_prune():
                continue
            # a part of the queries must not pass for the best trial
            if not paired or self._is_worse(self._data.summary(parts).value, trial):
                pruned = True
                break
        summary = self._data.summary(parts)
        self._tell(trial, summary, pruned)
        if pruned and not paired:
            raise optuna.TrialPruned(
                f"{self.measure} of {summary.n_queries} queries: {summary.value:.6g}"
            )
        return summary.value

    def _is_worse(self, value: float, trial: Any) -> bool:
        best = trial.study.best_value
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
        direction = study.direction.name.lower()
        if direction != self.direction:
            raise ValueError(
                f"the study must {self.direction} {self.measure}, got direction "
                f'"{direction}": optuna.create_study(direction="{self.direction}")'
            )
        return pruner

    @abstractmethod
    def _step_queries(self) -> list[IntArray]:
        """The queries of each bucket."""

    def _check_reports(self, study: Any, paired: bool) -> None:
        """Refuse a study whose trials reported other things under the same steps."""
        kind = "values of buckets" if paired else "running means"
        mine = f"{kind} of {self.measure}, {self._data_digest()}"
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

    def _data_digest(self) -> str:
        """Tells objectives apart whose steps or values mean other things."""
        if self._digest is None:
            data = self._data
            digest = hashlib.blake2b(digest_size=8)
            digest.update(query_marks(data.labels, data.queries.offsets).tobytes())
            digest.update(repr((data.zero_relevance, data.weight is None)).encode())
            if data.weight is not None:
                digest.update(data.weight.tobytes())
            for bucket in self._step_queries():
                digest.update(np.array([len(bucket), *bucket], np.int64).tobytes())
            self._digest = f"data {digest.hexdigest()}"
        return self._digest

    def _tell(self, trial: Any, summary: Summary, pruned: bool) -> None:
        for name in ("best", "worst", "tie_std", "tied_documents", "n_queries"):
            trial.set_user_attr(name, getattr(summary, name))
        trial.set_user_attr("pruned", pruned)

    def create_study(
        self,
        seed: int | None = None,
        *,
        n_trials: int | None = None,
        storage: Any = None,
        study_name: str | None = None,
        load_if_exists: bool = False,
        sampler: Any = None,
        pruner: Any = None,
    ) -> Any:
        """A study that suits the objective; `optuna.create_study` does as well.

        Parameters
        ----------
        seed : int, optional
            With one worker, equal seeds give equal studies. Workers that join a
            study derive seeds of their own: with equal ones they would all try the
            same.
        n_trials : int, optional
            How many trials there will be, where the choice of a sampler depends on
            it.
        storage, study_name, load_if_exists
            As in `optuna.create_study`. For several processes,
            ``JournalStorage(JournalFileBackend(path))``.
        sampler, pruner : optional
            By default `TPESampler` and `WilcoxonPruner`. A sampler is used as it is:
            two workers whose samplers have one seed try the same.

        Returns
        -------
        optuna.study.Study
        """
        if pruner is None:
            with warnings.catch_warnings():
                # Optuna has called it experimental since 3.6
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                pruner = optuna.pruners.WilcoxonPruner()
        return open_study(
            [self.direction],
            seed,
            sampler or (lambda own_seed: self._sampler(own_seed, n_trials)),
            self._first_trials(),
            storage=storage,
            study_name=study_name,
            load_if_exists=load_if_exists,
            pruner=pruner,
        )

    def _first_trials(self) -> list[dict[str, Any]]:
        """Parameters that a new study begins with."""
        return []

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        return optuna.samplers.TPESampler(seed=seed)

    def _buckets(self, n_queries: int, seed: int, n_folds: int = 1) -> list[IntArray]:
        size = self._report_every
        if size is None:
            size = math.ceil(self._queries.n_queries / max(1, N_VALUES + 1 - n_folds))
        return deal(n_queries, size, seed)
