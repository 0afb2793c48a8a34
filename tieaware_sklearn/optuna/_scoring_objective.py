"""Tune a scoring function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.qid_column import take_rows
from .._engine.ties import IntArray
from .._engine.validation import check_count, check_scores
from ..rankers._signature import options_of
from ._query_buckets import Step
from ._query_objective import QueryObjective

#: queries are scored in about so many blocks where trials may be pruned
N_BLOCKS = 16


class ScoringObjective(QueryObjective):
    """Tune the parameters of a scoring function by an exact measure.

    Parameters
    ----------
    score : callable
        ``score(trial, X_block) -> y_score`` suggests its parameters with
        ``trial.suggest_*`` and scores the rows of whole queries. Higher scores rank
        first, and -inf means that the document is not retrieved.
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features), which `score` gets in blocks of rows.
    y, qid, measure, zero_relevance, unjudged, query_weight, report_every, random_state
        As in `QueryObjective`.
    block_size : int, optional
        Number of queries that `score` gets at a time if trials may be pruned, rounded
        to whole buckets; by default a sixteenth of all queries. Without a pruner,
        `score` gets all queries at once.

    Raises
    ------
    ValueError
        If `score` is not callable, or as in `QueryObjective`.

    See Also
    --------
    LinearScoringObjective : Tunes the weights of features.
    RankerObjective : Tunes the hyperparameters of a ranker.

    Notes
    -----
    The first trial of a study decides whether the function is expensive enough to
    prune: see `QueryObjective`.

    The score of a row may depend on the rows of its own query, but not on other rows of
    the block.

    Rows are scored query by query, with the queries in the order of their ids, so that
    the order of rows does not matter.

    Examples
    --------
    >>> import optuna
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import ScoringObjective
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> clicks, text = (web.feature_names.index(n) for n in ("clicks", "text_score"))
    >>> def score(trial, X):
    ...     boost = trial.suggest_float("boost", 0, 10)
    ...     return X[:, text] + boost * X[:, clicks]
    >>> objective = ScoringObjective(score, web.data, web.target, qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=20)
    >>> sorted(study.best_trial.user_attrs)
    ['best', 'n_queries', 'pruned', 'tie_std', 'tied_documents', 'worst']
    """

    @options_of(QueryObjective.__init__)
    def __init__(
        self,
        score: Callable[[Any, Any], ArrayLike],
        X: Any,
        y: ArrayLike,
        *,
        block_size: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(X, y, **options)
        if not callable(score):
            raise ValueError(
                f"score must be a function of a trial and rows of X, got {score!r}"
            )
        if block_size is not None:
            check_count(block_size, "block_size")
        self._score = score
        n_queries = self._queries.n_queries
        self._dealt = self._buckets(n_queries, self._seed)
        block = block_size or math.ceil(n_queries / N_BLOCKS)
        self._per_block = max(1, round(block * len(self._dealt) / n_queries))

    def _steps(
        self, trial: Any, order: np.random.Generator | None, prune: bool
    ) -> Iterator[Step]:
        if not prune:
            everything = np.arange(self._queries.n_queries)
            X = self._X
            if hasattr(X, "iloc") or hasattr(X, "tocsr"):
                X = X.copy()
            scores, _ = self._scored(trial, X)
            yield Step(self._data.measured(everything, scores), [], True)
            return
        numbers = np.arange(len(self._dealt))
        if order is not None:
            order.shuffle(numbers)
        for start in range(0, len(numbers), self._per_block):
            block = numbers[start : start + self._per_block].tolist()
            dealt = [self._dealt[number] for number in block]
            chosen = np.concatenate(dealt)
            rows = self._data.prepared.queries.rows(chosen)
            scores, seconds = self._scored(trial, take_rows(self._X, rows))
            measured = self._data.measured(chosen, scores)
            ends = np.cumsum([len(queries) for queries in dealt])
            places = np.split(np.arange(len(chosen)), ends[:-1])
            is_last = start + self._per_block >= len(numbers)
            buckets = list(zip(block, places, strict=True))
            yield Step(measured, buckets, is_last, seconds)

    def _step_queries(self) -> list[IntArray]:
        return self._dealt

    def _scored(self, trial: Any, X: Any) -> tuple[Any, float]:
        """Checked scores, and how long they took."""
        if isinstance(X, np.ndarray):  # what is written is written into our own data
            X = X.view()
            X.setflags(write=False)
        start = perf_counter()
        scores = self._score(trial, X)
        seconds = perf_counter() - start
        name = "what score(trial, X) returns"
        return check_scores(scores, n_rows=X.shape[0], name=name), seconds
