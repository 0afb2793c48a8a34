"""What displays are given: columns of scores, fitted estimators, or a study to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.qid_column import count_rows
from ..comparison._measured_systems import check_systems
from ..model_selection._predictions import predicted_scores
from ..score_precision import PrecisionStudy, precision_study


def each_system(y_true: Any, y_scores: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Names and columns of several systems, or of one."""
    if not isinstance(y_scores, Mapping) and not hasattr(y_scores, "columns"):
        array = np.asarray(y_scores)
        if array.ndim == 1:
            y_scores = {"scores": array}
    return check_systems(y_scores, len(np.asarray(y_true)))


def predictions(
    estimator: Any, X: Any, response_method: str | Sequence[str], qid: Any
) -> dict[str, Any]:
    """Scores of X by fitted estimators, by their names."""
    each = estimator
    if not isinstance(estimator, Mapping):
        each = {type(estimator).__name__: estimator}
    return {
        str(name): predicted_scores(one, X, count_rows(X), response_method, qid=qid)
        for name, one in each.items()
    }


def study_of(
    y_true: ArrayLike, y_scores: Any, qid: Any, options: dict[str, Any]
) -> PrecisionStudy:
    """The study of several systems, or of one column of scores."""
    names, columns = each_system(y_true, y_scores)
    systems = dict(zip(names, columns, strict=True))
    return precision_study(y_true, systems, qid=qid, **options)
