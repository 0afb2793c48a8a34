"""Tune the hyperparameters of a ranker by cross-validation."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from .._engine.digests import by_content
from .._engine.qid_column import take_rows
from .._engine.segments import begins, runs
from .._engine.ties import IntArray
from ..measures import Measure
from ..model_selection import QueryKFold
from ..model_selection._predictions import check_response_method, predicted_scores
from ._query_objective import QueryObjective, Step
from ._studies import optuna

#: distributions by what suggests them
_SUGGEST = ("FloatDistribution", "IntDistribution", "CategoricalDistribution")


class RankerObjective(QueryObjective):
    """Tune hyperparameters of any ranker by cross-validation over whole queries.

    Parameters
    ----------
    estimator : estimator
        `QueryLGBMRanker`, another ranker, a regressor, a classifier or a pipeline;
        `fit` is given ``qid`` if it takes it, or asks for it by metadata routing
        (`XGBRanker` in a pipeline by ``set_fit_request(qid=True)``), and LightGBM's
        own ranker ``group``.
    space : dict or callable
        Optuna distributions by the names of parameters
        (``{"num_leaves": IntDistribution(2, 64)}``; steps of pipelines as in
        `set_params`), or a function of the trial that gives parameters.
    X : array-like, sparse matrix, data frame or Arrow table
        Of shape (n_rows, n_features).
    y, qid, measure, zero_relevance, query_weight, report_every, random_state
        As in `ScoringObjective`; a pruner is asked after each fold.
    cv : int or cross-validator, default=5
        A number of folds is that of `QueryKFold`. A cross-validator's
        ``split(X, y, groups)`` is given X and y as they came, and query ids as
        groups.
    response_method : str or list of str, default="predict"
        As in `make_ranking_scorer`; classifiers rank better by ``"predict_proba"``.
    fit_params : dict, optional
        What else `fit` is given, as it is (no values per row).

    Notes
    -----
    A ranker may fit otherwise to rows in another order. Rows are therefore handed
    over query by query, the queries in the order of their ids and the rows of a
    query in an order that their contents decide: the order in which they came does
    not matter.

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

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]],
        X: Any,
        y: ArrayLike,
        *,
        qid: Any,
        cv: Any = 5,
        measure: str | Measure = "ndcg@10",
        response_method: str | Sequence[str] = "predict",
        fit_params: Mapping[str, Any] | None = None,
        zero_relevance: float | str = 0.0,
        query_weight: ArrayLike | None = None,
        report_every: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            y,
            qid=qid,
            measure=measure,
            zero_relevance=zero_relevance,
            query_weight=query_weight,
            report_every=report_every,
            random_state=random_state,
        )
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
        queries = self._queries
        X = self._check_rows(X)
        gathered = take_rows(X, queries.order)
        rows = by_content(gathered, self._data.labels, queries.offsets)
        self._X = take_rows(gathered, rows)
        self._data.reorder(rows)
        self._y = self._data.labels
        self._qid = np.repeat(queries.qid, queries.sizes)
        # where each row of X went
        place = np.empty(len(rows), dtype=np.int64)
        place[rows if queries.order is None else queries.order[rows]] = np.arange(
            len(rows)
        )
        if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
            cv = QueryKFold(int(cv))
        if isinstance(cv, str) or not hasattr(cv, "split"):
            raise ValueError(
                f"cv must be a number of folds or a cross-validator, got {cv!r}"
            )
        with warnings.catch_warnings():
            # folds by position need no groups
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            folds = list(cv.split(X, self._y[place], self._qid[place]))
        if not folds:
            raise ValueError(f"cv must make a fold, got none from {cv!r}")
        moved = [(place[train], place[test]) for train, test in folds]
        self._folds = self._deal(moved, cv)

    def _deal(
        self, folds: list[tuple[IntArray, IntArray]], cv: Any
    ) -> list[tuple[IntArray, IntArray, list[IntArray]]]:
        """Of each fold: training rows, queries held out, and their buckets."""
        number = self._queries.codes
        out = []
        for fold, (train, test) in enumerate(folds):
            held_out = np.unique(number[test])
            if len(test) != self._queries.sizes[held_out].sum():
                raise ValueError(
                    f"cv must keep queries whole, got a part of one in fold {fold} of "
                    f"{cv!r}: QueryKFold does"
                )
            seed = self.random_state + fold
            dealt = self._buckets(len(held_out), seed, n_folds=len(folds))
            out.append((np.sort(train), held_out, dealt))
        return out

    def _steps(
        self, trial: Any, order: np.random.Generator | None, prune: bool
    ) -> Iterator[Step]:
        model = clone(self.estimator).set_params(**self._suggest(trial))
        first = np.cumsum([0, *(len(dealt) for _, _, dealt in self._folds)]).tolist()
        numbers = np.arange(len(self._folds))
        if order is not None:
            order.shuffle(numbers)
        for fold in numbers:
            train, held_out, dealt = self._folds[fold]
            fitted = self._fitted(clone(model), train)
            rows = self._data.queries.rows(held_out)
            scores = predicted_scores(
                fitted, take_rows(self._X, rows), len(rows), self._response_method
            )
            buckets = list(enumerate(dealt, start=first[fold]))
            is_last = fold == numbers[-1]
            yield Step(self._data.measured(held_out, scores), buckets, is_last)

    def _step_queries(self) -> list[IntArray]:
        return [held_out[part] for _, held_out, dealt in self._folds for part in dealt]

    def _suggest(self, trial: Any) -> dict[str, Any]:
        if callable(self.space):
            parameters = self.space(trial)
            if not isinstance(parameters, Mapping):
                raise ValueError(
                    f"space(trial) must give a dict of parameters, got {parameters!r}"
                )
            return dict(parameters)
        return {name: _suggest(trial, name, d) for name, d in self.space.items()}

    def _fitted(self, model: Any, rows: IntArray | None) -> Any:
        """`model` fitted on these rows, on all of them for None."""
        X = take_rows(self._X, rows)
        y, qid = (v if rows is None else v[rows] for v in (self._y, self._qid))
        takes = inspect.signature(model.fit).parameters
        if type(model).__module__.startswith("xgboost") and qid.dtype.kind not in "iu":
            # it takes numbers only
            qid = np.cumsum(begins(qid)) - 1
        if "qid" in takes:
            return model.fit(X, y, qid=qid, **self._fit_params)
        if "group" in takes:  # LightGBM's own ranker: sizes of queries in a row
            return model.fit(X, y, group=runs(qid)[1], **self._fit_params)
        with sklearn.config_context(enable_metadata_routing=True):
            if get_routing_for_object(model).consumes("fit", ["qid"]):
                return model.fit(X, y, qid=qid, **self._fit_params)
        return model.fit(X, y, **self._fit_params)

    def best_estimator(self, study: Any) -> Any:
        """The estimator with the best parameters, fitted on all rows.

        Parameters
        ----------
        study : optuna.study.Study or trial
            A study of this objective, or one of its trials.

        Returns
        -------
        estimator
        """
        trial = getattr(study, "best_trial", study)
        parameters = self._suggest(optuna.trial.FixedTrial(trial.params))
        return self._fitted(clone(self.estimator).set_params(**parameters), None)


def _check_space(space: Any) -> Any:
    if callable(space):
        return space
    if not isinstance(space, Mapping) or not space:
        raise ValueError(
            "space must be a dict of Optuna distributions or a function of the trial, "
            f"got {space!r}"
        )
    for name, distribution in space.items():
        if type(distribution).__name__ not in _SUGGEST:
            raise ValueError(
                f"space[{name!r}] must be an Optuna distribution "
                f"({', '.join(_SUGGEST)}), got {distribution!r}"
            )
    return dict(space)


def _suggest(trial: Any, name: str, distribution: Any) -> Any:
    if hasattr(distribution, "choices"):
        return trial.suggest_categorical(name, distribution.choices)
    suggest = trial.suggest_int
    if type(distribution).__name__ == "FloatDistribution":
        suggest = trial.suggest_float
    ends = distribution.low, distribution.high
    step = distribution.step
    more = {} if distribution.log or step is None else {"step": step}
    return suggest(name, *ends, log=distribution.log, **more)
