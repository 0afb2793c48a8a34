"""Studies created or joined, by one worker or several."""

from __future__ import annotations

import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._engine import check_count, check_flag
from .._optional import import_optional

optuna = import_optional("optuna", extra="optuna", purpose="tieaware_sklearn.optuna")

#: the user attribute of a study that says whether its trials may be pruned
PRUNE = "prune"
_WORKER = "worker "


class StudyCreator(ABC):
    """An objective that knows what study suits it."""

    @property
    @abstractmethod
    def directions(self) -> list[str]:
        """The direction of each objective: ``"maximize"`` or ``"minimize"``."""

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
        prune: bool = False,
    ) -> Any:
        """Create a study with a sampler and a pruner that suit the objective.

        A study by `optuna.create_study` works, too.

        Parameters
        ----------
        seed : int, optional
            Seed of the sampler. With one worker, equal seeds give equal studies, to the
            last bit. Workers that join a study derive seeds of their own: with equal
            seeds, all would try the same parameters.
        n_trials : int, optional
            Planned number of trials, on which the choice of a sampler may depend.
        storage, study_name, load_if_exists
            As in `optuna.create_study`. For several processes, use
            ``JournalStorage(JournalFileBackend(path))``.
        sampler, pruner : optional
            By default a sampler and a pruner that suit the objective. A given sampler
            is not changed: two workers whose samplers have the same seed try the same
            parameters.
        prune : bool, default=False
            Whether to stop trials early by Optuna's `WilcoxonPruner`. That pays where
            scores are expensive: see the notes of `QueryObjective`. All workers of a
            study must say the same.

        Returns
        -------
        optuna.study.Study

        Raises
        ------
        ValueError
            If `prune` is neither True nor False, is True although `pruner` is given, or
            differs from that of the study that is joined, or if a study of several
            objectives is to prune.
        """
        if seed is not None:
            check_count(seed, "seed", least=0)
        told = self._told(prune, pruner)
        study = optuna.create_study(
            directions=self.directions,
            storage=storage,
            study_name=study_name,
            load_if_exists=load_if_exists,
            pruner=_default_pruner(told) if pruner is None else pruner,
        )
        _agree(study, told)
        if names := self._metric_names():
            with _experimental():
                study.set_metric_names(names)
        first, seed = (True, seed) if storage is None else _join(study, seed)
        study.sampler = self._sampler(seed, n_trials) if sampler is None else sampler
        # the first worker alone enqueues them
        if first and not study.get_trials(deepcopy=False):
            for parameters in self._first_trials():
                study.enqueue_trial(parameters)
        return study

    def _check_directions(self, trial: Any, *values: Any) -> None:
        """Refuse a study that does other things with these values."""
        study = getattr(trial, "study", None)
        if study is None:  # a FixedTrial
            return
        directions = [direction.name.lower() for direction in study.directions]
        if directions != self.directions:
            aims = map("{} {}".format, self.directions, values)
            raise ValueError(
                f"the study must {' and '.join(aims)}, got directions {directions}: "
                f"optuna.create_study(directions={self.directions})"
            )

    def _metric_names(self) -> list[str]:
        """What the values of a new study are called, where that is not left open."""
        return []

    def _first_trials(self) -> list[dict[str, Any]]:
        """Parameters that a new study begins with."""
        return []

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        return optuna.samplers.TPESampler(seed=seed)

    def _told(self, prune: bool, pruner: Any) -> bool:
        """Whether the trials of a study may be pruned."""
        check_flag(prune, "prune")
        if pruner is not None:
            if prune:
                raise ValueError(
                    "prune is for the default pruner and must be left out if pruner is "
                    f"given, got True and {type(pruner).__name__}"
                )
            prune = not isinstance(pruner, optuna.pruners.NopPruner)
        if prune and len(self.directions) > 1:
            raise ValueError(
                "a study of several objectives cannot prune, got "
                f"{'prune=True' if pruner is None else type(pruner).__name__}"
            )
        return bool(prune)


def best_trial(study: Any) -> Any:
    """The best trial of a study; a trial is itself."""
    if not isinstance(study, optuna.study.Study):
        return study
    if len(study.directions) > 1:
        raise ValueError(
            "study must have one objective, or be a trial, got a study of "
            f"{len(study.directions)} objectives: choose from study.best_trials"
        )
    return study.best_trial


def _default_pruner(told: bool) -> Any:
    if not told:
        return optuna.pruners.NopPruner()
    with _experimental():
        return optuna.pruners.WilcoxonPruner()


@contextmanager
def _experimental() -> Iterator[None]:
    """What Optuna has called experimental for years, used without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield


def _agree(study: Any, told: bool) -> None:
    """Let a new study say what it was told, or see that one goes on as it began."""
    said = study.user_attrs.get(PRUNE)
    if said is None:
        if not study.get_trials(deepcopy=False):
            study.set_user_attr(PRUNE, told)
    elif said != told:
        raise ValueError(f"prune must be that of the study, {said!r}, got {told!r}")


def _join(study: Any, seed: int | None) -> tuple[bool, int | None]:
    """Whether this worker is the first of a study, and the seed of its sampler."""
    me = _WORKER + uuid.uuid4().hex
    study.set_user_attr(me, "joined")
    # attributes stand in the order in which they were written, for all workers alike
    first = next(name for name in study.user_attrs if name.startswith(_WORKER)) == me
    if first or seed is None:
        return first, seed
    derived = np.random.SeedSequence([seed, int(me.removeprefix(_WORKER), 16)])
    return first, int(derived.generate_state(1)[0])
