"""Tie-aware metrics in the two forms that LightGBM takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray
from ..measures import Measure
from ..rankers._boosting_measures import BoostingMeasures


class _Feval(BoostingMeasures):
    made_by = "feval"

    def __init__(self, negate: bool, *options: Any) -> None:
        super().__init__(*options)
        self.negate = negate

    def result(self, measure: Measure, value: float) -> tuple[Any, ...]:
        if self.negate:
            return f"neg_{measure}", -value, not measure.greater_is_better
        return super().result(measure, value)

    def __call__(self, preds: FloatArray, eval_data: Any) -> Any:
        if not hasattr(eval_data, "get_label"):
            raise TypeError(
                "feval(...) is for lightgbm.train and lightgbm.cv: fit of a ranker "
                "takes eval_metric(...)"
            )
        labels = eval_data.get_label()
        sizes, weight = eval_data.get_group(), eval_data.get_weight()
        return self.results(eval_data, labels, sizes, weight, preds)


class _EvalMetric(BoostingMeasures):
    made_by = "eval_metric"

    # LightGBM counts the parameters: it passes weights and groups to four
    def __call__(
        self,
        y_true: NDArray[Any],
        y_pred: FloatArray,
        weight: NDArray[Any] | None = None,
        group: NDArray[Any] | None = None,
    ) -> Any:
        if hasattr(y_pred, "get_label"):
            raise TypeError(
                "eval_metric(...) is for fit of a ranker: lightgbm.train and "
                "lightgbm.cv take feval(...)"
            )
        y_true = np.asarray(y_true)
        return self.results(y_true, y_true, group, weight, y_pred)


def feval(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    zero_relevance: float | str = 0.0,
    negate: bool = False,
) -> Callable[[FloatArray, Any], Any]:
    """Make a tie-aware metric for `lightgbm.train`, `lightgbm.cv` and their tuners.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. Ties are found once for all of them.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    negate : bool, default=False
        Whether to return the negated value, to be minimised, under the name with
        ``neg_`` in front. Optuna's `LightGBMTuner` minimises every metric that is not
        LightGBM's own: pass it this metric, and ``"metric": "neg_NDCG@10"`` in its
        parameters.

    Returns
    -------
    callable
        ``feval(preds, eval_data)``, which returns the name (``"NDCG@10"``), the value
        and whether higher is better, or a list of such tuples. Weights of the data set
        are taken as weights of queries: they must be constant within each query.

    Raises
    ------
    ValueError
        If a measure is unknown. In training, the metric raises it if the data have no
        query groups, if labels or weights break a rule of `ranking_score`, or if
        predictions are NaN.

    See Also
    --------
    eval_metric : Makes the same metric for `LGBMRanker`.
    QueryLGBMRanker : Uses such metrics by default.

    Notes
    -----
    Set ``"metric": "None"`` in the parameters of LightGBM: otherwise its own metric,
    which depends on the order of rows, is evaluated, too, and may stop training early.
    Whatever does not change with the predictions is prepared once for each data set.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import feval
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> sizes = np.unique(web.qid, return_counts=True)[1]  # rows are sorted by qid
    >>> data = lgb.Dataset(web.data, web.target.astype(int), group=sizes)
    >>> params = {"objective": "lambdarank", "metric": "None", "verbosity": -1}
    >>> history = {}
    >>> booster = lgb.train(params, data, 3, valid_sets=[data], feval=feval("ndcg@10"),
    ...                     callbacks=[lgb.record_evaluation(history)])
    >>> list(history["training"])
    ['NDCG@10']
    """
    return _Feval(negate, measure, zero_relevance)


def eval_metric(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    zero_relevance: float | str = 0.0,
) -> Callable[..., Any]:
    """Make a tie-aware metric for ``LGBMRanker.fit(eval_metric=...)``.

    `QueryLGBMRanker` takes the names of measures directly.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. Ties are found once for all of them.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.

    Returns
    -------
    callable
        ``eval_metric(y_true, y_pred, weight, group)``, where `group` is the number of
        rows of each query. It returns the name, the value and whether higher is better,
        or a list of such tuples.

    Raises
    ------
    ValueError
        As in `feval`.

    See Also
    --------
    feval : Makes the same metric for `lightgbm.train`.
    QueryLGBMRanker : Uses such metrics by default.

    Notes
    -----
    ``LGBMRanker(metric="None")`` turns LightGBM's own metric off.

    Examples
    --------
    >>> import numpy as np
    >>> from lightgbm import LGBMRanker
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import eval_metric
    >>> eval_metric("rr")(np.array([0, 1, 1, 0]), np.array([1.0, 1.0, 0.5, 2.0]), None,
    ...                   np.array([2, 2]))
    ('RR', 0.625, True)
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> sizes = np.unique(web.qid, return_counts=True)[1]  # rows are sorted by qid
    >>> ranker = LGBMRanker(n_estimators=3, metric="None", verbosity=-1)
    >>> _ = ranker.fit(web.data, web.target, group=sizes, eval_X=web.data,
    ...                eval_y=web.target, eval_group=[sizes],
    ...                eval_metric=eval_metric(["ndcg@10", "rr"]))
    >>> list(ranker.evals_result_["training"])
    ['NDCG@10', 'RR']
    """
    return _EvalMetric(measure, zero_relevance)


class FirstMetric:
    """Puts the first metric before LightGBM's own: early stopping takes it."""

    order = 25
    before_iteration = False

    def __init__(self) -> None:
        self.name: str | None = None

    def watch(self, metric: Callable[..., Any]) -> Callable[..., Any]:
        """`metric`, which tells its name when it is called."""

        # LightGBM copies metrics, but not functions, and counts the parameters of
        # what is wrapped
        @wraps(metric)
        def watched(*data: Any) -> Any:
            results = metric(*data)
            first = results[0] if isinstance(results, list) else results
            self.name = first[0]
            return results

        return watched

    def __call__(self, env: Any) -> None:
        results = env.evaluation_result_list
        if results:
            sets = [result[0] for result in results]
            results.sort(key=lambda r: (sets.index(r[0]), r[1] != self.name))


def metrics_of(wanted: Any) -> list[Any]:
    """Callables for LightGBM, measures in a row as one."""
    if wanted is None:
        return []
    if isinstance(wanted, (str, Measure)) or callable(wanted):
        wanted = [wanted]
    metrics: list[Any] = []
    for ready, group in groupby(wanted, key=callable):
        together = list(group)
        try:
            metrics += together if ready else [eval_metric(together)]
        except ValueError as error:
            raise ValueError(
                f"eval_metric: {error}; metrics of LightGBM's own are given to the "
                'constructor, metric="auc"'
            ) from None
    # LightGBM merges the values of metrics of one name
    names = [str(m) for metric in metrics for m in getattr(metric, "measures", ())]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"eval_metric: measures must differ, got {twice[0]} twice")
    return metrics
