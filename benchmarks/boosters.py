"""The metrics that boosters have of their own, of scores that they start from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def lightgbm_metric(
    y: np.ndarray, sizes: np.ndarray, score: np.ndarray, metric: str
) -> Callable[[], float]:
    """LightGBM's value of a measure at a rank, computed at each call."""
    import lightgbm as lgb

    name, _, k = metric.partition("@")
    params = {"verbosity": -1, "num_threads": 1, "feature_pre_filter": False}
    rows = np.zeros((len(y), 1))
    data = lgb.Dataset(rows, y, group=sizes, init_score=score, params=params)
    params |= {"objective": "lambdarank", "metric": name, "eval_at": [int(k)]}
    booster = lgb.Booster(params, data)
    return lambda: booster.eval_train()[0][2]


def xgboost_metric(
    y: np.ndarray, sizes: np.ndarray, score: np.ndarray, metric: str
) -> Callable[[], float]:
    """XGBoost's value, computed at each call, a prediction included."""
    import xgboost as xgb

    rows = xgb.DMatrix(np.zeros((len(y), 1)), y, group=sizes, nthread=1)
    rows.set_base_margin(score.astype(np.float32))
    params = {"objective": "rank:ndcg", "eval_metric": metric, "nthread": 1}
    booster = xgb.Booster({**params, "base_score": 0.0}, [rows])
    return lambda: float(booster.eval(rows).split(":")[1])
