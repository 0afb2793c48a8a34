"""Tie-aware metrics for `xgboost.train` and `xgboost.cv`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._engine.ties import FloatArray
from ..measures import Measure
from ..rankers._boosting_measures import BoostingMeasures

#: XGBoost maximises metrics whose names start with "pre", "map", "ndcg" or "auc"
_MAXIMISED = "precise-"


class _CustomMetric(BoostingMeasures):
    """Called as XGBoost calls a custom metric: ``(predictions, DMatrix)``."""

    made_by = "custom_metric"

    @property
    def __name__(self) -> str:
        return ", ".join(self.result(measure, 0.0)[0] for measure in self.measures)

    def result(self, measure: Measure, value: float) -> tuple[str, float]:
        # XGBoost writes "set-name:value" and reads it back
        name = str(measure).replace(":", "=").replace(" ", "")
        return (_MAXIMISED + name if measure.greater_is_better else name), value

    def __call__(self, predictions: FloatArray, data: Any) -> Any:
        if not hasattr(data, "get_uint_info"):
            raise TypeError(
                "custom_metric takes predictions and a DMatrix, got "
                f"{type(data).__name__}: it is for xgboost.train and xgboost.cv. "
                "XGBRanker passes single queries to a metric and averages the values "
                'in its own way; QueryXGBRanker(eval_metric="ndcg@10") gives exact '
                "means"
            )
        starts, weight = data.get_uint_info("group_ptr"), data.get_weight()
        sizes = np.diff(starts.astype(np.int64)) if len(starts) else None
        if not len(weight):
            weight = None
        elif sizes is not None and len(weight) == len(sizes):
            weight = np.repeat(weight, sizes)
        return self.results(data, data.get_label(), sizes, weight, predictions)


def custom_metric(
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    zero_relevance: float | str = 0.0,
) -> Callable[[FloatArray, Any], Any]:
    """Make a tie-aware metric for `xgboost.train` and `xgboost.cv`.

    `QueryXGBRanker` takes the names of measures directly.

    Parameters
    ----------
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. Ties are found once for all of them;
        early stopping goes by the last.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.

    Returns
    -------
    callable
        ``metric(predictions, data)`` for ``xgboost.train(custom_metric=...)``, where
        `data` is a `DMatrix` with query ids. It returns the name and the value, or a
        list of such tuples. The weights of `data`, one per query in XGBoost, are
        weights of queries.

    Raises
    ------
    ValueError
        If a measure is unknown. In training, the metric raises it if the data have no
        query groups, if labels break a rule of `ranking_score`, or if predictions are
        NaN.
    TypeError
        In training, if `XGBRanker` calls the metric.

    See Also
    --------
    QueryXGBRanker : Uses such metrics by default.

    Notes
    -----
    Results are named ``precise-NDCG@10``: XGBoost maximises a metric in early stopping
    if its name starts with a known word, such as "pre". Measures where lower is better
    keep their plain names. XGBoost rounds custom metrics to six decimals.

    The metric does not work with `XGBRanker`, which passes one query at a time to a
    callable, weights the values by numbers of documents, and gives queries of one
    document the value 1.

    XGBoost's own metric is reported as well, unless the parameters have
    ``disable_default_eval_metric=1``. `xgboost.cv` itself keeps queries whole
    (``nfold=5``; it takes no ``folds`` for ranking).

    Examples
    --------
    >>> import xgboost as xgb
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.xgboost import custom_metric
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> data = xgb.DMatrix(web.data, web.target, qid=web.qid)
    >>> history = {}
    >>> params = {"objective": "rank:ndcg", "disable_default_eval_metric": 1}
    >>> booster = xgb.train(params, data, 3, evals=[(data, "train")],
    ...                     custom_metric=custom_metric("ndcg@10"),
    ...                     evals_result=history, verbose_eval=False)
    >>> list(history["train"])
    ['precise-NDCG@10']
    """
    return _CustomMetric(measure, zero_relevance)
