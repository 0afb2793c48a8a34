"""Studies created or joined, by one worker or several."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np

from .._engine.validation import check_count
from .._optional import import_optional

optuna = import_optional("optuna", extra="optuna", purpose="tieaware_sklearn.optuna")

_WORKER = "worker "


def open_study(
    directions: list[str],
    seed: int | None,
    sampler: Any,
    first_trials: list[dict[str, Any]],
    **options: Any,
) -> Any:
    """Create or join a study; `sampler` is one, or makes one of this worker's seed.

    The first worker alone enqueues the first trials.
    """
    if seed is not None:
        check_count(seed, "seed", least=0)
    study = optuna.create_study(directions=directions, **options)
    first, seed = (True, seed) if options["storage"] is None else _join(study, seed)
    own = isinstance(sampler, optuna.samplers.BaseSampler)
    study.sampler = sampler if own else sampler(seed)
    if first and not study.get_trials(deepcopy=False):
        for parameters in first_trials:
            study.enqueue_trial(parameters)
    return study


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
