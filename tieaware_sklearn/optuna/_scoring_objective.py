"""Tune a scoring function of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.qid_column import take_rows
from .._engine.ties import IntArray
from .._engine.validation import check_count, check_scores
from ..measures import Measure
from ._query_objective import N_BLOCKS, QueryObjective, Step


class ScoringObjective(QueryObjective):
    """Tune the parameters of a scoring function against an exact measure.

    Parameters
    ----------
    score : callable
        ``score(trial, X_block) -> y_score`` suggests its parameters with
        ``trial.suggest_*`` and scores the rows of whole queries: higher first,
        -inf for documents that it does not retrieve.
    X : array-like, sparse matrix, data frame or Arrow table
        Of shape (n_rows, n_features): what `score` is given, some rows at a time.
    y : array-like of shape (n_rows,)
        Labels: finite and >= 0.
    qid : array-like of shape (n_rows,)
        Query of each row.
    measure : str or Measure, default="ndcg@10"
        See `parse_measure`.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    query_weight : array-like of shape (n_rows,), optional
        Weight of each row's query.
    block_size : int, optional
        How many queries `score` is given at a time where trials may be pruned; by
        default a sixteenth of all, in any case whole buckets. Without a pruner it is
        given all at once.
    report_every : int, optional
        How many queries share one reported value, their mean; by default as many as
        make at most 256 values. 1 reports query by query.
    random_state : int, default=0
        Deals the queries into the buckets that share a value, the same ones in
        every trial, and draws their order, another one for every trial.

    Notes
    -----
    The score of a row may depend on the rows of its own query, not on other rows of
    the block.

    For `WilcoxonPruner`, which compares trials bucket by bucket, buckets are scored
    in an order drawn for each trial. It is asked once 14 values are reported. A
    pruned trial returns its running mean, so that Optuna counts it as complete; it
    is never the best. Other pruners compare running means, over one order of
    buckets; with them a trial ends as pruned. A value that is undefined is never
    reported.

    Every trial gets user attributes: ``best``, ``worst`` and ``tie_std`` of the
    measure over the orders of tied documents, ``tied_documents`` (the share of
    documents whose score another one has), ``n_queries`` that were scored, and
    ``pruned``.

    Rows are scored query by query, the queries in the order of their ids, so that
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

    def __init__(
        self,
        score: Callable[[Any, Any], ArrayLike],
        X: Any,
        y: ArrayLike,
        *,
        qid: Any,
        measure: str | Measure = "ndcg@10",
        zero_relevance: float | str = 0.0,
        query_weight: ArrayLike | None = None,
        block_size: int | None = None,
        report_every: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            y,
            qid=qid,
            measure=measure,
            zero_relevance=zero_relevance,
            query_weight=query_weight,
            report_every=report_every,
            random_state=random_state,
        )
        if not callable(score):
            raise ValueError(
                f"score must be a function of a trial and rows of X, got {score!r}"
            )
        if block_size is not None:
            check_count(block_size, "block_size")
        self._score = score
        self._X = take_rows(self._check_rows(X), self._queries.order)
        n_queries = self._queries.n_queries
        self._dealt = self._buckets(n_queries, self.random_state)
        block = math.ceil(n_queries / N_BLOCKS) if block_size is None else block_size
        self._per_block = max(1, round(block * len(self._dealt) / n_queries))

    def _steps(
        self, trial: Any, order: np.random.Generator | None, prune: bool
    ) -> Iterator[Step]:
        if not prune:
            everything = np.arange(self._queries.n_queries)
            X = self._X
            if hasattr(X, "iloc") or hasattr(X, "tocsr"):
                X = X.copy()
            scores = self._checked(trial, X, self._queries.n_rows)
            yield Step(self._data.measured(everything, scores), [], True)
            return
        n_buckets = len(self._dealt)
        numbers = np.arange(n_buckets)
        if order is not None:
            order.shuffle(numbers)
        for start in range(0, n_buckets, self._per_block):
            block = numbers[start : start + self._per_block].tolist()
            chosen = np.concatenate([self._dealt[number] for number in block])
            ends = np.cumsum([len(self._dealt[number]) for number in block])
            rows = self._data.queries.rows(chosen)
            scores = self._checked(trial, take_rows(self._X, rows), len(rows))
            places = np.split(np.arange(len(chosen)), ends[:-1])
            buckets = list(zip(block, places, strict=True))
            is_last = start + self._per_block >= n_buckets
            yield Step(self._data.measured(chosen, scores), buckets, is_last)

    def _step_queries(self) -> list[IntArray]:
        return self._dealt

    def _checked(self, trial: Any, X: Any, n_rows: int) -> Any:
        if isinstance(X, np.ndarray):  # what is written is written into our own data
            X = X.view()
            X.setflags(write=False)
        scores = self._score(trial, X)
        return check_scores(scores, n_rows=n_rows, name="what score(trial, X) returns")
