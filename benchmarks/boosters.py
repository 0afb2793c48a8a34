"""The metrics that boosters have of their own, of scores that they start from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tieaware_sklearn._typing import FloatArray, IntArray


def lightgbm_metric(
    y: FloatArray, sizes: IntArray, score: FloatArray, metric: str
) -> Callable[[], float]:
    """Return LightGBM's value of a measure at a rank, computed at each call."""
    import lightgbm as lgb

    name, k = metric.split("@")
    params = {"verbosity": -1, "num_threads": 1, "feature_pre_filter": False}
    rows = np.zeros((len(y), 1))
    data = lgb.Dataset(rows, y, group=sizes, init_score=score, params=params)
    params |= {"objective": "lambdarank", "metric": name, "eval_at": [int(k)]}
    booster = lgb.Booster(params, data)

    def value() -> float:
        (result,) = booster.eval_train()
        return result[2]

    return value


def xgboost_metric(
    y: FloatArray, sizes: IntArray, score: FloatArray, metric: str
) -> Callable[[], float]:
    """Return XGBoost's value, computed at each call, a prediction included."""
    import xgboost as xgb

    rows = xgb.DMatrix(np.zeros((len(y), 1)), y, group=sizes, nthread=1)
    rows.set_base_margin(score.astype(np.float32))
    params = {"objective": "rank:ndcg", "eval_metric": metric, "nthread": 1}
    params["base_score"] = 0.0
    booster = xgb.Booster(params, [rows])

    def value() -> float:
        text = booster.eval(rows)
        return float(text.split(":")[1])

    return value
