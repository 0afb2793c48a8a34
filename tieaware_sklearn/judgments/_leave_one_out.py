"""Leave one run out: scores without the judgments that only this run contributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import html, text_tables
from .._engine import checks
from .._typing import FloatArray, IntArray
from ..evaluation import PreparedRanking
from ..measures import Measure, parse_measure
from . import _pooling


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut(html.Result):
    """Scores of each run with and without the judgments that only this run contributed.

    Attributes
    ----------
    systems : tuple of str
        Names of the runs.
    measure : str
        Canonical name of the measure.
    greater_is_better : bool
        Whether higher values are better.
    n_alone, n_relevant : ndarray of shape (n_systems,), int
        Number of judged documents that only this run contributes to the pool, and
        number of these documents with a target above 0.
    value, without : ndarray of shape (n_systems,)
        Mean of the measure with all judgments, and without the judgments of the
        documents that only this run contributes to the pool.
    depth : int
        Rank down to which the documents of each run and query are pooled.

    See Also
    --------
    leave_one_out : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import leave_one_out
    >>> runs = {"a": {"qid": [1, 1], "docno": ["x", "y"], "score": [2, 1]},
    ...         "b": {"qid": [1, 1], "docno": ["y", "z"], "score": [2, 1]}}
    >>> judged = {"qid": [1, 1], "docno": ["x", "y"], "target": [1, 1]}
    >>> found = leave_one_out(runs, judged, measure="rr", depth=1)
    >>> found.without.tolist()
    [0.5, 0.0]
    """

    systems: tuple[str, ...]
    measure: str
    greater_is_better: bool
    n_alone: IntArray
    n_relevant: IntArray
    value: FloatArray
    without: FloatArray
    depth: int
    _undefined: list[str]

    def _tables(self) -> list[text_tables.Table]:
        changes = []
        for difference in (self.without - self.value).tolist():
            changes.append(f"{difference:+.4f}")
        terms = {
            "alone": f"judged documents that only this run has to rank {self.depth}",
            "relevant": "relevant ones of these",
            "without": f"{self.measure} if these documents had not been judged",
        }
        table = text_tables.Table.of(
            ("run", self.systems),
            ("alone", self.n_alone),
            ("relevant", self.n_relevant),
            (self.measure, self.value),
            ("without", self.without),
            ("change", changes),
            notes=self._undefined,
            terms=terms,
        )
        return [table]


def leave_one_out(
    runs: Mapping[str, Mapping[str, Any]] | Sequence[Mapping[str, Any]],
    judgments: Mapping[str, Any],
    *,
    measure: str | Measure = "ap",
    depth: int = 100,
    zero_relevance: float | str = 0.0,
) -> LeaveOneOut:
    """Score each run with and without the judgments that only this run contributed.

    Parameters
    ----------
    runs : mapping of str to mapping, or sequence of mapping
        Runs by name, each in the form that `depth_pool` accepts. The runs of a sequence
        are named "run 0", "run 1", ...
    judgments : mapping
        Judgments with ``qid``, ``docno`` and ``target`` of shape (n_judgments,), as
        returned by `load_qrels`. Documents without a judgment, or with a target of NaN,
        count as not relevant.
    measure : str or Measure, default="ap"
        Measure, or the name of a measure, as in `parse_measure`.
    depth : int, default=100
        Rank down to which the documents of each run and query are pooled.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as AP for queries without
        a relevant document. "skip" leaves these queries out of the mean, and "raise"
        raises an error, as in `ranking_score`.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ValueError
        If the runs or `depth` are invalid, as in `depth_pool`, if the targets are
        invalid labels, as in `ranking_score`, if the measure or an option is unknown,
        or if a document is judged twice for the same query.
    KeyError
        If a run lacks ``qid``, ``docno`` or ``score``, or if the judgments lack
        ``qid``, ``docno`` or ``target``.
    TypeError
        As in `depth_pool`.

    Warns
    -----
    UndefinedMetricWarning
        If every query is left out, with all judgments or without the judgments that
        only one run contributed, so that a mean is NaN. Also if targets are above 0,
        but all targets are below the `rel` of the measure.

    See Also
    --------
    depth_pool : Returns the pool of several runs.

    Notes
    -----
    If a run loses much, the judgments favour the run over similar runs that were not
    pooled, because a run that is not pooled contributes no judgments (Zobel, SIGIR
    1998). All queries with judgments count, except queries that are left out because
    the measure is undefined. The value of each query is the mean over the orders of
    ties, as in `ranking_score`. A run is the only run that contributes a document if
    the run ranks the document within `depth` in at least one order of its ties, and no
    other run does so in any order of its ties.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import leave_one_out
    >>> runs = {"a": {"qid": [1, 1], "docno": ["x", "y"], "score": [2, 1]},
    ...         "b": {"qid": [1, 1], "docno": ["y", "z"], "score": [2, 1]}}
    >>> judged = {"qid": [1, 1], "docno": ["x", "y"], "target": [1, 1]}
    >>> print(leave_one_out(runs, judged, depth=1))
    run  alone  relevant      AP  without   change
    ----------------------------------------------
    a        1         1  1.0000   0.5000  -0.5000
    b        1         1  0.5000   0.0000  -0.5000
    """
    checks.check_count(depth, "depth")
    measure = parse_measure(measure)
    if not isinstance(runs, Mapping):
        runs = {f"run {number}": run for number, run in enumerate(runs)}
    pooled_runs = _pooling.PooledRuns([*runs.values()])
    judged = _pooling.Documents(judgments, "judgments", "target")
    n_judged = len(judged.keys)
    name = "judgments target"
    labels = checks.check_labels(judged.values, unjudged="nonrelevant", name=name)
    checks.check_length(labels, n_judged, name)
    topics = {qid for qid, _ in judged.keys}
    # Judged documents are the first columns.
    column_of = {key: i for i, key in enumerate(judged.keys)}
    for key in pooled_runs.keys:
        topic, _ = key
        if topic in topics:
            column_of.setdefault(key, len(column_of))
    target = np.full(len(column_of), np.nan)
    target[:n_judged] = np.where(labels < 0, np.nan, labels)
    # The last column collects the documents of topics without judgments.
    pooled = np.zeros((len(runs), len(column_of) + 1), dtype=bool)
    scores = np.full(pooled.shape, -np.inf)
    for i, run in enumerate(pooled_runs.runs):
        columns = [column_of.get(key, -1) for key in run.keys]
        pooled[i, columns] = run.inclusion(depth) > 0
        scores[i, columns] = run.score
    is_pooled_once = pooled.sum(axis=0) == 1
    alone = (pooled & is_pooled_once)[:, :-1]
    qid = [topic for topic, _ in column_of]

    def prepare(labels: FloatArray) -> PreparedRanking:
        return PreparedRanking(
            labels, qid, zero_relevance=zero_relevance, unjudged="nonrelevant"
        )

    whole = prepare(target)
    is_judged = alone & (target >= 0)
    is_relevant = alone & (target > 0)
    value, without = np.zeros((2, len(runs)))
    for i, score in enumerate(scores[:, :-1]):
        value[i] = whole.score(score, measure)
        remaining = np.where(alone[i], np.nan, target)
        without[i] = prepare(remaining).score(score, measure)
    undefined = whole._prepared.undefined_note(whole._resolve([measure]))
    return LeaveOneOut(
        systems=tuple(map(str, runs)),
        measure=str(measure),
        greater_is_better=measure.greater_is_better,
        n_alone=is_judged.sum(axis=1),
        n_relevant=is_relevant.sum(axis=1),
        value=value,
        without=without,
        depth=depth,
        _undefined=undefined,
    )
