"""Studies created or joined, by one worker or several."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from .._engine.validation import check_count
from .._optional import import_optional

optuna = import_optional("optuna", extra="optuna", purpose="tieaware_sklearn.optuna")

_WORKER = "worker "


class StudyCreator(ABC):
    """An objective that knows what study suits it."""

    @property
    @abstractmethod
    def directions(self) -> list[str]:
        """What a study must do with each value: ``"maximize"`` or ``"minimize"``."""

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
            By default those that suit the objective. A sampler is used as it is: two
            workers whose samplers have one seed try the same.

        Returns
        -------
        optuna.study.Study
        """
        if seed is not None:
            check_count(seed, "seed", least=0)
        study = optuna.create_study(
            directions=self.directions,
            storage=storage,
            study_name=study_name,
            load_if_exists=load_if_exists,
            pruner=self._pruner() if pruner is None else pruner,
        )
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

    def _first_trials(self) -> list[dict[str, Any]]:
        """Parameters that a new study begins with."""
        return []

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        return optuna.samplers.TPESampler(seed=seed)

    def _pruner(self) -> Any:
        return optuna.pruners.NopPruner()


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
