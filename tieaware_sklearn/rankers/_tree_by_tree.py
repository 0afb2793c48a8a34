"""Exact measures of evaluation sets, after each tree of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._engine.ties import FloatArray
from .._engine.validation import check_query_weight
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import Asked, ask
from ..measures import Measure
from ..measures._parse import parse_measures
from ._query_data import QueryData

History = dict[str, dict[str, list[float]]]


def ask_eval_metric(
    eval_metric: str | Measure | Iterable[str | Measure] | None,
    zero_relevance: float | str,
    library: str,
) -> Asked | None:
    """What `eval_metric` of a ranker asks for, None for nothing.

    Raises
    ------
    ValueError
        For an unknown measure, or one twice.
    TypeError
        For anything else than names and Measures.
    """
    if eval_metric is None:
        return None
    one = isinstance(eval_metric, (str, Measure)) or not np.iterable(eval_metric)
    measures: list[Any] = [eval_metric] if one else [*eval_metric]  # type: ignore[misc]
    for measure in measures:
        if not isinstance(measure, (str, Measure)):
            raise TypeError(
                "eval_metric must be the name of a measure, a Measure or a list of "
                f"these, got {measure!r:.80}: other metrics need {library}"
            )
    try:
        parsed = parse_measures(measures)
    except ValueError as error:
        raise ValueError(f"eval_metric: {error}") from None
    return ask(parsed, zero_relevance)


def weights_of_queries(data: QueryData, name: str) -> FloatArray | None:
    """One weight per query out of one per row, in the order of the queries."""
    arranged = replace(data.queries, order=None)
    return check_query_weight(data.weight, arranged, name=name)


def prepare(data: QueryData) -> Prepared:
    """An evaluation set, ready for the scores of many models."""
    weight = weights_of_queries(data, "eval_sample_weight")
    return Prepared(data.y, replace(data.queries, order=None), weight, keep=True)


def measured(asked: Asked, prepared: Prepared, scores: FloatArray) -> list[float]:
    """The mean of each measure over the queries."""
    values = prepared.values(asked, scores)["expected"]
    return prepared.means(asked, values)


class TreeByTree:
    """Values of measures by evaluation set, in the order of the trees.

    Attributes
    ----------
    history : dict
        ``history["valid_0"]["NDCG@10"]``: one value per tree.
    """

    def __init__(self, asked: Asked, names: Sequence[str]) -> None:
        self.asked = asked
        self.history: History = {
            name: {measure: [] for measure in asked.names} for name in names
        }

    def add(self, name: str, values: Iterable[float]) -> None:
        """The values after one more tree."""
        for kept, value in zip(self.history[name].values(), values, strict=True):
            kept.append(value)
