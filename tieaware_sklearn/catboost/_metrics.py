"""Exact measures in the form of CatBoost's custom metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.segments import run_starts
from .._engine.ties import FloatArray
from .._engine.validation import check_labels, check_query_weight, check_scores
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import Asked, ask
from ..measures import Measure
from ..measures._parse import parse_measure
from ..rankers._boosting_measures import queries_of, shortest_decimals
from ..rankers._tree_by_tree import TreeByTree, measured


def _key(labels: ArrayLike) -> bytes:
    """Labels as CatBoost hands them over: what a data set is known by."""
    return (np.asarray(labels, dtype=np.float32) + np.float32(0)).tobytes()


class ExactMeasure:
    """Called as CatBoost calls a custom metric: with labels, but without queries.

    CatBoost hands over all rows of a data set at once, those of an evaluation set in
    the order of its pool; training data come in an order of CatBoost's own.
    """

    #: CatBoost's own switch: it would warn that numba cannot compile this
    no_jit = True

    def __init__(self, asked: Asked, sets: Sequence[Prepared]) -> None:
        self.asked = asked
        self._sets: dict[bytes, Prepared] = {}
        for prepared in sets:
            known = self._sets.setdefault(_key(prepared.labels), prepared)
            if not _same_queries(known, prepared):
                raise ValueError(
                    "evaluation sets must differ in their labels, or have the same "
                    "queries and weights, got two with the same labels: CatBoost "
                    "passes only labels and scores to a metric, which cannot tell them "
                    "apart"
                )
        self._weighted: dict[tuple[bytes, bytes], Prepared] = {}
        self._unknown: bytes | None = None

    def is_max_optimal(self) -> bool:
        """Whether higher is better."""
        return self.asked.measures[0].greater_is_better

    def evaluate(
        self, approxes: Sequence[FloatArray], target: NDArray[Any], weight: Any
    ) -> tuple[float, float]:
        """The measure of an evaluation set, and 0 for training data."""
        key = _key(target)
        prepared = self._prepared(key, weight)
        if prepared is None:
            self._check_training(target)
            return 0.0, 1.0
        n_rows = prepared.queries.n_rows
        scores = check_scores(approxes[0], n_rows=n_rows, name="predictions")
        values = measured(self.asked, prepared, scores)
        self._keep(key, values)
        # CatBoost cannot write NaN, the mean over no query
        return (0.0 if np.isnan(values[0]) else values[0]), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """What `evaluate` gave."""
        del weight
        return error

    def _prepared(self, key: bytes, weight: NDArray[Any] | None) -> Prepared | None:
        """A data set with the weights that CatBoost has for it."""
        plain = self._sets.get(key)
        if plain is None or weight is None:
            return plain
        both = key, np.asarray(weight).tobytes()
        if both not in self._weighted:
            given = shortest_decimals(np.array(weight))
            per_query = check_query_weight(given, plain.queries, name="weight")
            self._weighted[both] = Prepared(
                plain.labels, plain.queries, per_query, keep=True
            )
        return self._weighted[both]

    def _keep(self, key: bytes, values: list[float]) -> None:
        """Remember the values of a data set."""

    def _check_training(self, labels: NDArray[Any]) -> None:
        """Refuse a second data set, in any order, that is no evaluation set."""
        found = _key(np.sort(labels))
        if self._unknown not in (None, found):
            raise ValueError(
                "pools must include every evaluation set, got one of "
                f"{len(labels)} rows whose labels are not those of a pool or of the "
                "training data"
            )
        self._unknown = found

    def __deepcopy__(self, memo: Any) -> ExactMeasure:
        # CatBoost copies it for each training
        return ExactMeasure(self.asked, list(self._sets.values()))

    def __repr__(self) -> str:
        return f"eval_metric({', '.join(self.asked.names)})"


class RecordedMeasures(ExactMeasure):
    """Measures whose values stay, tree by tree: a metric and a callback of CatBoost.

    Parameters
    ----------
    asked : Asked
    sets : dict
        Prepared evaluation sets by name.
    """

    def __init__(self, asked: Asked, sets: dict[str, Prepared]) -> None:
        super().__init__(asked, list(sets.values()))
        self.trees = TreeByTree(asked, list(sets))
        self.after_tree: dict[int, dict[str, dict[str, float]]] = {}
        self._n_trees = 0
        self._names: dict[bytes, list[str]] = defaultdict(list)
        for name, prepared in sets.items():
            self._names[_key(prepared.labels)].append(name)
        self._values: dict[bytes, list[list[float]]] = defaultdict(list)

    def after_iteration(self, info: Any) -> bool:
        """Take the values of a tree; training goes on."""
        del info
        found: dict[str, list[float]] = {}
        for key, names in self._names.items():
            # training data in the order of an evaluation set would come first; with
            # a metric_period, there are none after some trees
            values = self._values[key][-len(names) :]
            found.update(zip(names, values, strict=False))
        for name, means in found.items():
            self.trees.add(name, means)
        self.after_tree[self._n_trees] = {
            name: dict(zip(self.asked.names, means, strict=True))
            for name, means in found.items()
        }
        self._n_trees += 1
        self._values.clear()
        return True

    def forget(self) -> None:
        """Let the evaluation sets go."""
        self._sets = {}
        self._names = {}

    def _prepared(self, key: bytes, weight: Any) -> Prepared | None:
        return self._sets.get(key)  # weights are known, in 64 bits

    def _keep(self, key: bytes, values: list[float]) -> None:
        self._values[key].append(values)

    def __deepcopy__(self, memo: Any) -> RecordedMeasures:
        return self  # the copy that CatBoost trains with is asked for the values


def _same_queries(a: Prepared, b: Prepared) -> bool:
    weights = (a.weight, b.weight)
    same_weights = weights[0] is weights[1] or np.array_equal(*weights)  # type: ignore[arg-type]
    return same_weights and np.array_equal(a.queries.offsets, b.queries.offsets)


def _of_pool(pool: Any) -> Prepared:
    """Labels and queries of a pool, whose weights it does not give out."""
    ids = pool.get_group_id_hash()
    if ids is None:
        raise ValueError(
            "pools must have group ids, got one without them: make it with "
            "catboost.Pool(X, y, group_id=qid)"
        )
    starts = run_starts(np.asarray(ids))
    queries = queries_of(np.diff(np.append(starts, len(ids))))
    labels = shortest_decimals(np.asarray(pool.get_label(), dtype=np.float32))
    return Prepared(check_labels(labels, name="label"), queries, keep=True)


def eval_metric(
    measure: str | Measure = "ndcg@10",
    *,
    pools: Any,
    zero_relevance: float | str = 0.0,
) -> ExactMeasure:
    """Make a tie-aware metric for ``CatBoostRanker(eval_metric=...)``.

    `QueryCatBoostRanker` takes the names of measures directly.

    Parameters
    ----------
    measure : str or Measure, default="ndcg@10"
        A measure, as in `parse_measure`.
    pools : catboost.Pool or list of them
        The evaluation sets, with group ids. CatBoost passes labels and scores to a
        metric, but no groups: the metric recognises a pool by its labels.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.

    Returns
    -------
    object
        A metric with the methods that CatBoost requires. The weights of a pool are
        taken as weights of queries: they must be constant within each query.

    Raises
    ------
    ValueError
        If the measure is unknown, if a pool has no groups, if labels break a rule of
        `ranking_score`, or if two pools have the same labels but different queries.
        Errors about weights are raised in training, at the end of CatBoost's own error
        message.

    See Also
    --------
    QueryCatBoostRanker : Uses such metrics by default.

    Notes
    -----
    CatBoost's results name the metric ``ExactMeasure``; the last evaluation set decides
    on early stopping and the best model. For the training data (``learn``) the value is
    0, because CatBoost passes them in an order that it does not reveal. The metric
    needs training on the CPU.

    Examples
    --------
    >>> from catboost import CatBoostRanker, Pool
    >>> from tieaware_sklearn.catboost import eval_metric
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=40, random_state=0)  # rows are sorted by qid
    >>> valid = make_web_search(n_queries=20, random_state=1)
    >>> pool = Pool(valid.data, valid.target, group_id=valid.qid)
    >>> ranker = CatBoostRanker(iterations=5, eval_metric=eval_metric(pools=pool),
    ...                         verbose=False, allow_writing_files=False)
    >>> _ = ranker.fit(web.data, web.target, group_id=web.qid, eval_set=pool)
    >>> len(ranker.evals_result_["validation"]["ExactMeasure"])
    5
    """
    several = pools if isinstance(pools, Iterable) else [pools]
    asked = ask([parse_measure(measure)], zero_relevance)
    return ExactMeasure(asked, [_of_pool(pool) for pool in several])
