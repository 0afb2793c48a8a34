"""Tune the hyperparameters of a ranker by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._engine import IntArray, Queries, by_content, take_rows
from ..evaluation import QueryRows
from ..model_selection import (
    check_cv,
    check_response_method,
    fit_on_queries,
    predicted_scores,
)
from ..rankers import options_of
from ._query_objective import QueryObjective, Step, best_trial, optuna


class _Fold(NamedTuple):
    """Training rows, queries held out, and the places of these in each bucket."""

    train: IntArray
    held_out: IntArray
    buckets: list[tuple[int, IntArray]]


class RankerObjective(QueryObjective):
    """Tune the hyperparameters of any ranker by cross-validation over whole queries.

    Parameters
    ----------
    estimator : estimator
        `QueryLGBMRanker`, another ranker, a regressor, a classifier or a pipeline. Its
        `fit` gets ``qid`` if it takes it or requests it through metadata routing
        (`XGBRanker` in a pipeline by ``set_fit_request(qid=True)``); LightGBM's own
        ranker gets ``group``.
    space : dict or callable
        A dict of parameter names to Optuna distributions
        (``{"num_leaves": IntDistribution(2, 64)}``; for steps of pipelines, names as in
        `set_params`), or a function of the trial that returns a dict of parameters.
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features).
    y, qid, measure, zero_relevance, unjudged, query_weight, report_every, random_state
        As in `QueryObjective`. A pruner is consulted after each fold. Documents that
        count as not relevant have the label 0 in training.
    cv : int or cross-validator, default=5
        Number of folds of `QueryKFold`, or a cross-validator, whose
        ``split(X, y, groups)`` gets X and y as given, and query ids as groups.
    response_method : str or list of str, optional
        As in `make_ranking_scorer`.
    fit_params : dict, optional
        Further arguments of `fit`, without values per row.

    Raises
    ------
    ValueError
        If `space`, `cv` or `fit_params` breaks a rule above, or as in `QueryObjective`.

    See Also
    --------
    make_ranking_scorer : Makes scorers for the searches of scikit-learn.
    QueryKFold : The folds.

    Notes
    -----
    The fit of a ranker may depend on the order of rows. Rows are therefore passed on
    query by query, queries in the order of their ids and the rows of a query in an
    order that depends only on their contents, so that the order of the rows of X does
    not matter, to the last bit. A ranker with ``row_order="input"`` fits to them in
    this order, as XGBoost's and LightGBM's own rankers do; one with
    ``row_order="canonical"`` puts them into the order of its own `random_state`.

    Pruning, ``create_study(prune=True)``, pays except on the smallest data: see
    `QueryObjective`.

    Examples
    --------
    >>> import optuna
    >>> from optuna.distributions import IntDistribution
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import QueryLGBMRanker
    >>> from tieaware_sklearn.optuna import RankerObjective
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> objective = RankerObjective(QueryLGBMRanker(n_estimators=5, verbosity=-1),
    ...                             {"num_leaves": IntDistribution(2, 16)},
    ...                             web.data, web.target, qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=3)
    >>> objective.best_estimator(study).n_features_in_
    12
    """

    @options_of(QueryObjective.__init__)
    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]],
        X: Any,
        y: ArrayLike,
        *,
        cv: Any = 5,
        response_method: str | Sequence[str] | None = None,
        fit_params: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(X, y, **options)
        self.estimator = estimator
        self.space = _check_space(space)
        self._response_method = check_response_method(response_method)
        self._fit_params = dict(fit_params or {})
        if {"qid", "group"} & set(self._fit_params):
            raise ValueError(
                "fit_params must not hold qid or group: the objective passes them, got "
                f"{sorted(self._fit_params)}"
            )
        for owner in (estimator, cv):
            if getattr(owner, "qid", None) is not None:
                raise ValueError(
                    "qid must be given to the objective alone, got "
                    f"{type(owner).__name__}(qid={owner.qid!r}): give X without that "
                    "column, and qid=None there"
                )
        self._y = np.maximum(self._prepared.labels, 0)
        #: the number of each row's query
        self._number = np.repeat(
            np.arange(self._queries.n_queries), self._queries.sizes
        )
        self._folds = self._deal(X, cv)

    def _ordered(self, given: QueryRows) -> Queries:
        return by_content(given.X, given.queries, given.labels)

    def _deal(self, X: Any, cv: Any) -> list[_Fold]:
        """Folds of the rows as they were given."""
        cv = check_cv(cv)
        # where each row of X went
        place = np.argsort(self._queries.arrange(np.arange(len(self._y))))
        qid = self._queries.qid[self._number]
        with warnings.catch_warnings():
            # folds by position need no groups
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            folds = list(cv.split(X, self._y[place], qid[place]))
        if not folds:
            raise ValueError(f"cv must make a fold, got none from {cv!r}")
        out, numbers = [], count()
        for fold, (train, test) in enumerate(folds):
            held_out = np.unique(self._number[place[test]])
            if len(test) != self._queries.sizes[held_out].sum():
                raise ValueError(
                    "cv must keep queries whole, as QueryKFold does, got part of a "
                    f"query in fold {fold} of {cv!r}"
                )
            dealt = self._buckets(len(held_out), self._seed + fold, n_folds=len(folds))
            buckets = [(next(numbers), part) for part in dealt]
            out.append(_Fold(np.sort(place[train]), held_out, buckets))
        return out

    def _steps(
        self, trial: Any, order: np.random.Generator | None, prune: bool
    ) -> Iterator[Step]:
        model = clone(self.estimator).set_params(**self._suggest(trial))
        numbers = np.arange(len(self._folds))
        if order is not None:
            order.shuffle(numbers)
        for number in numbers:
            fold = self._folds[number]
            fitted = self._fitted(clone(model), fold.train)
            rows = self._prepared.queries.rows(fold.held_out)
            scores = predicted_scores(
                fitted,
                take_rows(self._X, rows),
                len(rows),
                self._response_method,
                qid=self._queries.qid[self._number[rows]],
            )
            measured = self._measured(fold.held_out, scores)
            yield Step(measured, fold.buckets, number == numbers[-1])

    def _step_queries(self) -> list[IntArray]:
        return [fold.held_out[part] for fold in self._folds for _, part in fold.buckets]

    def _suggest(self, trial: Any) -> dict[str, Any]:
        if not callable(self.space):
            return {name: _suggest(trial, name, d) for name, d in self.space.items()}
        parameters = self.space(trial)
        if not isinstance(parameters, Mapping):
            raise ValueError(
                f"space(trial) must give a dict of parameters, got {parameters!r}"
            )
        return dict(parameters)

    def _fitted(self, model: Any, rows: IntArray | slice) -> Any:
        """`model` fitted on these rows."""
        X = self._X if isinstance(rows, slice) else take_rows(self._X, rows)
        number = self._number[rows]
        qid = self._queries.qid[number]
        return fit_on_queries(model, X, self._y[rows], qid, number, **self._fit_params)

    def best_estimator(self, study: Any) -> Any:
        """Return the estimator with the best parameters, fitted on all rows.

        Parameters
        ----------
        study : optuna.study.Study or trial
            A study of this objective, or one of its trials. With several measures it
            must be a trial, such as one of ``study.best_trials``.

        Returns
        -------
        estimator

        Raises
        ------
        ValueError
            If the study has several objectives and thus no best trial.
        """
        trial = best_trial(study)
        parameters = self._suggest(optuna.trial.FixedTrial(trial.params))
        return self._fitted(clone(self.estimator).set_params(**parameters), slice(None))


def _check_space(space: Any) -> Any:
    if callable(space):
        return space
    if not isinstance(space, Mapping) or not space:
        raise ValueError(
            "space must be a dict of Optuna distributions or a function of the trial, "
            f"got {space!r}"
        )
    for name, distribution in space.items():
        if not isinstance(distribution, optuna.distributions.BaseDistribution):
            raise ValueError(
                f"space[{name!r}] must be an Optuna distribution, got {distribution!r}"
            )
    return dict(space)


def _suggest(trial: Any, name: str, distribution: Any) -> Any:
    if isinstance(distribution, optuna.distributions.CategoricalDistribution):
        return trial.suggest_categorical(name, distribution.choices)
    real = isinstance(distribution, optuna.distributions.FloatDistribution)
    suggest = trial.suggest_float if real else trial.suggest_int
    ends, step = (distribution.low, distribution.high), distribution.step
    return suggest(name, *ends, step=step, log=distribution.log)
