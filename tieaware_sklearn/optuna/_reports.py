"""Values that a trial reports, and whether it ends with them."""

from __future__ import annotations

import math
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from ..measures import Measure
from ._query_buckets import Measured, QueryBuckets, Step
from ._studies import AUTO, PRUNE, optuna

#: with fewer values that tie, scipy's Wilcoxon test runs through all their signs,
#: which takes a quarter of a second
_LEAST_PAIRS = 14


def is_paired(pruner: Any) -> bool:
    """Whether a pruner compares trials value by value."""
    return isinstance(pruner, optuna.pruners.WilcoxonPruner)


class Reports:
    """What one trial reports, step by step.

    Parameters
    ----------
    trial : optuna.trial.Trial
    data : QueryBuckets
    measure : Measure
    paired : bool
        Report the value of each bucket, not running means.
    """

    def __init__(
        self, trial: Any, data: QueryBuckets, measure: Measure, paired: bool
    ) -> None:
        self._trial = trial
        self._data = data
        self._measure = measure
        self._paired = paired
        self._n_values = 0

    def end(self, step: Step, parts: list[Measured]) -> bool:
        """Report what a step adds; whether the trial ends with it."""
        self._report(step, parts)
        return not step.is_last and self._is_asked() and self._is_pruned(parts)

    def finish(self) -> None:
        """The trial is through."""

    def _is_asked(self) -> bool:
        return not self._paired or self._n_values >= _LEAST_PAIRS

    def _report(self, step: Step, parts: list[Measured]) -> None:
        if self._paired:
            values = [
                (number, self._data.means(step.measured, part)[0])
                for number, part in step.buckets
            ]
        else:
            so_far = self._data.summary(parts)
            values = [(so_far.n_queries, so_far.mean[0])]
        for number, value in values:
            if not math.isnan(value):
                self._trial.report(value, step=number)
                self._n_values += 1

    def _is_pruned(self, parts: list[Measured]) -> bool:
        if not self._trial.should_prune():
            return False
        if not self._paired:
            return True
        # a part of the queries must not pass for the best trial
        value, best = self._data.summary(parts).mean[0], self._trial.study.best_value
        return bool(value < best if self._measure.greater_is_better else value > best)


class TimedReports(Reports):
    """Reports of a trial that is not pruned, after which the study decides."""

    def __init__(self, trial: Any, data: QueryBuckets, measure: Measure) -> None:
        super().__init__(trial, data, measure, paired=True)
        self._scoring: list[float] = []
        self._checking: list[float] = []
        self._start = perf_counter()

    def end(self, step: Step, parts: list[Measured]) -> bool:
        self._report(step, parts)
        # a check reads trials, too; to ask the pruner itself would take a best trial
        # that has reported
        self._trial.study.get_trials()
        now = perf_counter()
        self._scoring.append(step.seconds)
        self._checking.append(now - self._start - step.seconds)
        self._start = now
        return False

    def finish(self) -> None:
        study = self._trial.study
        if study.user_attrs[PRUNE] != AUTO:  # another trial was faster
            return
        scoring = median(self._scoring)
        checking = median(self._checking) + _seconds_of_a_test(self._n_values)
        can_end = len(self._scoring) > 1 and self._is_asked()
        study.set_user_attr("scoring_seconds", scoring)
        study.set_user_attr("checking_seconds", checking)
        study.set_user_attr(PRUNE, can_end and scoring > checking)


def _seconds_of_a_test(n_values: int) -> float:
    """Of the test in a check, which needs another trial to compare with."""
    differences = np.arange(max(n_values, _LEAST_PAIRS)) // 2
    seconds = []
    for _ in range(3):  # the first one warms up
        start = perf_counter()
        wilcoxon(differences, zero_method="zsplit", alternative="less")
        seconds.append(perf_counter() - start)
    return min(seconds)
