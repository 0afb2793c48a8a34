"""The linear ranker, and what the rankers of LightGBM, XGBoost and CatBoost share."""

from ._linear import (
    TRANSFORMS,
    LinearRanker,
    check_transforms,
    linear_scores,
    scales,
    transformed,
)
from ._query_ranker import (
    BoostingMeasures,
    QueryData,
    QueryRankerMixin,
    RankerMixin,
    TreeByTree,
    ask_eval_metric,
    measured,
    options_of,
    prepare_set,
    queries_of,
    without_qid,
)

__all__ = ["LinearRanker"]
