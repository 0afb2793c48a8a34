"""The linear ranker, and what the rankers of LightGBM, XGBoost and CatBoost share."""

from ._coordinate_ascent import linear_scores
from ._eval_sets import (
    BoostingMeasures,
    TreeByTree,
    ask_eval_metric,
    measured,
    prepare_set,
    queries_of,
)
from ._linear import TRANSFORMS, LinearRanker, check_transforms, scales, transformed
from ._query_ranker import (
    QueryData,
    QueryRankerMixin,
    RankerMixin,
    options_of,
    without_qid,
)

__all__ = ["LinearRanker"]
