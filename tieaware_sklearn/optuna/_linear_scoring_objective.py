"""Tune the weights of a linear score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._engine.qid_column import list_columns
from .._engine.ties import FloatArray
from ..measures import Measure
from ..rankers import LinearRanker
from ..rankers._linear import (
    TRANSFORMS,
    check_transforms,
    linear_scores,
    scales,
    transformed,
)
from ._scoring_objective import ScoringObjective
from ._studies import optuna

#: from so many weights or trials on, CMA-ES learns more from a trial than TPE
MANY_WEIGHTS = 20
MANY_TRIALS = 200


class LinearScoringObjective(ScoringObjective):
    """Tune the weights of a linear score over features against an exact measure.

    A trial has one parameter per feature, ``weight_<feature>``, of the feature
    divided by its standard deviation, so that weights compare.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Finite numbers.
    y, qid, measure, zero_relevance, query_weight, block_size, report_every, \
random_state
        As in `ScoringObjective`.
    feature_names : list of str, optional
        By default the columns of a data frame, or ``x0``, ``x1``, ...
    bounds : (float, float), default=(-1, 1)
        Of every weight.
    signs : list of {-1, 0, 1}, optional
        Per feature: 1 allows no negative weight, -1 no positive one, 0 both.
    simplex : bool, default=False
        Weights are not negative and sum to 1: parameters between 0 and 1 are
        divided by their sum (equal weights if all are 0).
    transforms : str or list of str, optional
        Per feature or for all: ``"identity"``, ``"log1p"`` or ``"rank"`` as in
        `LinearRanker`, or ``"tune"``, which makes the transform a parameter of the
        trial, ``transform_<feature>``.

    Notes
    -----
    `create_study` enqueues equal weights, the best single feature, and all features
    by what they are worth alone, and samples by CMA-ES where there are more than 20
    weights or 200 trials, by TPE otherwise (and where transforms are tuned). It does
    not prune unless it is given a pruner: linear scores are cheap, and CMA-ES learns
    less from values of some queries. Scores are sums that give equal rows equal bits.

    Examples
    --------
    >>> import optuna
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import LinearScoringObjective
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> objective = LinearScoringObjective(web.data[:, [1, 5]], web.target, qid=web.qid,
    ...                                    feature_names=["clicks", "text_score"],
    ...                                    transforms=["log1p", "identity"])
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=20)
    >>> sorted(study.best_params)
    ['weight_clicks', 'weight_text_score']
    >>> ranker = objective.to_estimator(study)
    >>> ranker.coef_.shape
    (2,)
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any,
        measure: str | Measure = "ndcg@10",
        feature_names: Sequence[str] | None = None,
        bounds: tuple[float, float] = (-1.0, 1.0),
        signs: Sequence[int] | None = None,
        simplex: bool = False,
        transforms: str | Sequence[str] | None = None,
        zero_relevance: float | str = 0.0,
        query_weight: ArrayLike | None = None,
        block_size: int | None = None,
        report_every: int | None = None,
        random_state: int = 0,
    ) -> None:
        names = list_columns(X) if feature_names is None else feature_names
        data = check_array(X, dtype=np.float64, order="C", input_name="X")
        super().__init__(
            self._linear,
            np.arange(len(data))[:, None],  # `score` is given numbers of rows
            y,
            qid=qid,
            measure=measure,
            zero_relevance=zero_relevance,
            query_weight=query_weight,
            block_size=block_size,
            report_every=report_every,
            random_state=random_state,
        )
        n_features = data.shape[1]
        self.feature_names = _names(names, n_features)
        self._bounds = _bounds(bounds, signs, simplex, n_features)
        self._simplex = simplex
        self._transforms = check_transforms(
            transforms, n_features, (*TRANSFORMS, "tune")
        )
        tuned = "tune" in self._transforms
        kinds = TRANSFORMS if tuned else tuple(sorted(set(self._transforms)))
        # each feature by each transform that it may have, and what it is divided by
        self._columns = {
            kind: np.column_stack([transformed(column, kind) for column in data.T])
            for kind in kinds
        }
        self._scales = {kind: scales(self._columns[kind]) for kind in kinds}
        self._given = X

    def _linear(self, trial: Any, rows: Any) -> FloatArray:
        kinds, coef = self._suggest(trial)
        return self._scores(rows[:, 0], kinds, coef)

    def _scores(self, rows: Any, kinds: Sequence[str], coef: FloatArray) -> FloatArray:
        if len(set(kinds)) == 1:
            data = self._columns[kinds[0]][rows]
        else:
            data = np.column_stack(
                [self._columns[kind][rows, j] for j, kind in enumerate(kinds)]
            )
        return linear_scores(data, coef)

    def _suggest(self, trial: Any) -> tuple[list[str], FloatArray]:
        """Transforms and coefficients of a trial."""
        kinds = [
            trial.suggest_categorical(f"transform_{name}", TRANSFORMS)
            if kind == "tune"
            else kind
            for name, kind in zip(self.feature_names, self._transforms, strict=True)
        ]
        weights = np.array(
            [
                trial.suggest_float(f"weight_{name}", *ends)
                for name, ends in zip(self.feature_names, self._bounds, strict=True)
            ]
        )
        return kinds, self._coef(kinds, weights)

    def _coef(self, kinds: Sequence[str], weights: FloatArray) -> FloatArray:
        if self._simplex:
            total = weights.sum()
            weights = weights / total if total > 0 else np.full(len(weights), 1.0)
        scale = np.array([self._scales[kind][j] for j, kind in enumerate(kinds)])
        return np.asarray(weights / scale)

    def starts(self) -> list[dict[str, Any]]:
        """Parameters to begin with, the best last.

        Returns
        -------
        list of dict
            Equal weights, the best single feature, and weights in proportion to what
            the features are worth alone, above chance: sorted by their value.
        """
        low, high = np.array(self._bounds).T
        kinds = ["identity" if kind == "tune" else kind for kind in self._transforms]
        everything = np.arange(self._queries.n_queries)

        def worth(scores: FloatArray) -> float:
            found = self._data.mean(self._data.measured(everything, scores))
            return found if self.measure.greater_is_better else -found

        def value(weights: FloatArray) -> float:
            coef = self._coef(kinds, weights)
            return worth(self._scores(self._X[:, 0], kinds, coef))

        down = [value(w) if w.any() else -np.inf for w in np.diag(low)]
        up = [value(w) if w.any() else -np.inf for w in np.diag(high)]
        rising = np.array(up) >= np.array(down)
        alone = np.where(rising, up, down)
        ends = np.where(rising, high, low)
        single = np.zeros(len(low))
        single[np.argmax(alone)] = ends[np.argmax(alone)]
        equal = np.where(high > 0, high, low)
        candidates = [equal, single]
        lifts = np.maximum(alone - worth(np.zeros(self._queries.n_rows)), 0)
        if lifts.any():
            candidates.append(ends * lifts / lifts.max())
        candidates = [np.clip(weights, low, high) for weights in candidates]
        candidates.sort(key=value)
        fixed = {
            f"transform_{name}": "identity"
            for name, kind in zip(self.feature_names, self._transforms, strict=True)
            if kind == "tune"
        }
        return [
            {
                **fixed,
                **{
                    f"weight_{name}": float(weight)
                    for name, weight in zip(self.feature_names, weights, strict=True)
                },
            }
            for weights in candidates
        ]

    def create_study(
        self,
        seed: int | None = None,
        *,
        n_trials: int | None = None,
        pruner: Any = None,
        **options: Any,
    ) -> Any:
        """A study that starts from simple weights, with a sampler that suits them.

        Parameters
        ----------
        seed, n_trials, **options
            As in `QueryObjective.create_study`. More than 200 trials are for CMA-ES,
            as more than 20 weights are.
        pruner : optional
            By default none.

        Returns
        -------
        optuna.study.Study
        """
        pruner = optuna.pruners.NopPruner() if pruner is None else pruner
        return super().create_study(seed, n_trials=n_trials, pruner=pruner, **options)

    def _first_trials(self) -> list[dict[str, Any]]:
        return self.starts()

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        many = len(self.feature_names) > MANY_WEIGHTS
        many |= n_trials is not None and n_trials > MANY_TRIALS
        if not many or "tune" in self._transforms or len(self.feature_names) < 2:
            return super()._sampler(seed, n_trials)
        return optuna.samplers.CmaEsSampler(seed=seed)

    def to_estimator(self, study: Any) -> LinearRanker:
        """The best trial's score as a fitted estimator, which needs no Optuna.

        Parameters
        ----------
        study : optuna.study.Study or trial
            A study of this objective, or one of its trials.

        Returns
        -------
        LinearRanker
            Fitted on the X of this objective.
        """
        trial = getattr(study, "best_trial", study)
        kinds, coef = self._suggest(optuna.trial.FixedTrial(trial.params))
        return LinearRanker(coef, transforms=kinds).fit(self._given)


def _names(names: Any, n_features: int) -> list[str]:
    if not len(names):
        names = [f"x{j}" for j in range(n_features)]
    each = [] if isinstance(names, str) else list(map(str, names))
    if len(each) != n_features or len(set(each)) < n_features:
        raise ValueError(
            f"feature_names must have a different name for each feature ({n_features}),"
            f" got {names!r}"
        )
    return each


def _bounds(
    bounds: Any, signs: Any, simplex: bool, n_features: int
) -> list[tuple[float, float]]:
    """Smallest and largest value of each weight."""
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"bounds must be two finite numbers that rise, got {bounds!r}")
    if simplex:
        if signs is not None or (low, high) != (-1, 1):
            raise ValueError("signs and bounds must be left out with simplex=True")
        return [(0.0, 1.0)] * n_features
    if signs is not None and not isinstance(signs, (list, tuple, np.ndarray)):
        raise ValueError(f"signs must be a list of -1, 0 and 1, got {signs!r}")
    each = [0] * n_features if signs is None else list(signs)
    if len(each) != n_features:
        raise ValueError(
            f"signs must have one entry per feature ({n_features}), got {len(each)}"
        )
    ends = []
    for sign in each:
        if sign not in (-1, 0, 1):
            raise ValueError(f"signs must be -1, 0 or 1, got {sign!r}")
        least = max(low, 0.0) if sign > 0 else low
        most = min(high, 0.0) if sign < 0 else high
        if least >= most:
            raise ValueError(
                f"signs must leave room within bounds, got {sign} in {bounds}"
            )
        ends.append((least, most))
    return ends
