"""Several systems that rank the same documents, measured query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.qid_column import array_of, list_columns
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    DROPPED_LABEL,
    check_choices,
    check_labels,
    check_qid,
    check_scores,
)
from ..evaluation._judged_rows import not_retrieved
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._tie_rules import TieRules
from ..evaluation._undefined import Asked, ask
from ..measures import Measure

#: the name of the only system, if it came without one
ONE_SYSTEM = "scores"


class MeasuredSystems:
    """Checked labels and the score columns of systems.

    Attributes
    ----------
    names : tuple of str
    scores : list of ndarray of shape (n_documents,)
    measures : list of Measure
    asked : Asked
    rules : TieRules
    queries : Queries
        In order of first appearance.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: Any,
        qid: Any,
        measures: list[Measure],
        zero_relevance: float | str,
        unjudged: str,
        n_jobs: int | None,
        external: Mapping[str, Any] | None = None,
    ) -> None:
        self.measures = measures
        self.asked = ask(measures, zero_relevance, unjudged)
        labels = check_labels(y_true, unjudged=self.asked.unjudged)
        self.names, self.scores = check_systems(y_score, len(labels))
        self.queries = check_qid(qid, n_rows=len(labels))
        self.rules = TieRules(external, len(labels), self.names)
        self._n_jobs = n_jobs
        self._prepared = Prepared(labels, self.queries, keep=True)

    def values(
        self,
        scores: NDArray[Any],
        statistics: Sequence[str],
        ties: str = "expected",
        *,
        column: int = 0,
    ) -> dict[str, FloatArray]:
        """`expected` and each of `statistics` per query and measure.

        `column` says to which system these scores belong, for rules by system.
        """
        return self.rules.values(
            self._prepared, self.asked, scores, ties, statistics,
            column=column, n_jobs=self._n_jobs,
        )  # fmt: skip

    def ranked(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores without the documents that ``unjudged="drop"`` leaves out."""
        dropped = np.flatnonzero(self._prepared.labels == DROPPED_LABEL)
        return not_retrieved(scores, dropped)

    @property
    def labels(self) -> FloatArray:
        """The checked labels of the documents."""
        return self._prepared.labels

    def all_values(
        self, statistics: Sequence[str], ties: str = "expected"
    ) -> dict[str, FloatArray]:
        """The same of every system, of shape (n_measures, n_queries, n_systems)."""
        return values_of_systems(
            self._prepared, self.asked, self.rules, self.scores, ties, statistics,
            n_jobs=self._n_jobs,
        )  # fmt: skip


def values_of_systems(
    prepared: Prepared,
    asked: Asked,
    rules: TieRules,
    columns: Sequence[NDArray[Any]],
    ties: str,
    statistics: Sequence[str] = ("best", "worst", "std", "chance"),
    *,
    n_jobs: int | None = None,
) -> dict[str, FloatArray]:
    """`expected` and others of score columns, (n_measures, n_queries, n_systems)."""
    each = [
        rules.values(prepared, asked, scores, ties, statistics, column=j, n_jobs=n_jobs)
        for j, scores in enumerate(columns)
    ]
    return {
        name: np.stack([values[name].T for values in each], axis=-1)
        for name in ["expected", *statistics]
    }


def warn_undefined(asked: Asked, expected: FloatArray) -> None:
    """Warn of each measure that is undefined for every query of a system.

    `expected` has shape (n_measures, n_queries, n_systems).
    """
    undefined = np.isnan(expected).all(axis=1)
    # NaN is the largest
    asked.warn_of_nan(np.where(undefined, np.nan, 0.0).max(axis=1).tolist())


def pairs_of(n: int) -> IntArray:
    """Every pair of n systems, of shape (n_pairs, 2)."""
    return np.column_stack(np.triu_indices(n, k=1))


def check_baselines(baseline: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the baselines, none for None."""
    if baseline is None:
        return ()
    chosen = check_choices(baseline, "baseline", names)
    if len(chosen) == len(names):
        raise ValueError(
            "baseline must leave at least one other system to compare with it, got "
            f"{chosen}, which is every system"
        )
    return tuple(chosen)


def pairs_with(baselines: tuple[str, ...], names: tuple[str, ...]) -> IntArray:
    """Every other system and a baseline, or every pair without baselines."""
    if not baselines:
        return pairs_of(len(names))
    return np.array(
        [
            (names.index(system), names.index(baseline))
            for baseline in baselines
            for system in names
            if system not in baselines
        ]
    )


def check_systems(
    y_score: Any, n_rows: int | None = None
) -> tuple[tuple[str, ...], list[Any]]:
    """Names and score columns: a mapping, a data frame, or an array of one or more."""
    if isinstance(y_score, Mapping) or hasattr(y_score, "columns"):
        keys = y_score if isinstance(y_score, Mapping) else list_columns(y_score)
        given = [(str(key), y_score[key]) for key in keys]
    else:
        try:
            masked = isinstance(y_score, np.ma.MaskedArray)
            array = y_score if masked else array_of(y_score)
        except ValueError as error:
            raise ValueError(f"y_score must be an array: {error}") from None
        if array.ndim == 1:
            name = getattr(y_score, "name", None)
            alone = ONE_SYSTEM if name is None else str(name)
            return (alone,), [check_scores(y_score, n_rows=n_rows)]
        if array.ndim != 2:
            raise ValueError(
                "y_score must be a mapping of system names to scores, or an array of "
                f"shape (n_documents, n_systems), got shape {array.shape}"
            )
        given = [(f"system {j}", column) for j, column in enumerate(array.T)]
    if not given:
        raise ValueError("y_score must hold at least one system, got none")
    names = tuple(name for name, _ in given)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"y_score must have a different name for each system, got {name} twice"
            )
    columns: list[Any] = []
    for name, column in given:
        checked = check_scores(column, n_rows=n_rows, name=f"y_score[{name!r}]")
        # without labels, the first one says how many there are
        n_rows = len(checked)
        columns.append(checked)
    return names, columns
