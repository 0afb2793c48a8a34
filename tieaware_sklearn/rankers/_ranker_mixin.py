"""The score of a ranker: what searches without `scoring` take."""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._engine.fitted_queries import check_whole_queries
from .._engine.qid_column import count_rows, how_to_pass_qid, resolve_qid
from .._engine.ties import FloatArray
from .._engine.validation import (
    check_labels,
    check_length,
    check_qid,
    check_query_weight,
)
from ..evaluation import ranking_score


class RankerMixin:
    """Gives an estimator whose `predict` ranks a `score`: exact NDCG@10."""

    # scikit-learn reads what metadata routing asks for from the start here
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the exact NDCG@10 of the ranking of X, the default of searches.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Arrow table
            Data of shape (n_rows, n_features).
        y : array-like of shape (n_rows,)
            Labels: finite and >= 0.
        qid : array-like of shape (n_rows,)
            Query of each row, unless a column of X holds it. Metadata routing passes it
            without a request.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row's query in the mean: constant within a query, and not
            all 0. Metadata routing passes it after
            ``set_score_request(sample_weight=True)``.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there are no query ids, or if labels or weights break a rule above.

        Warns
        -----
        SplitQueriesWarning
            If the ranker was fitted on the same ids with other numbers of rows: see the
            notes of `make_ranking_scorer`.
        """
        check_is_fitted(self)
        column = self._qid_column(X)
        request = "set_score_request(qid=False)"
        _, ids = resolve_qid(X, column, qid, request=request)
        if ids is None:
            way = ", qid=<name or index> in the constructor"
            raise ValueError(
                "qid must hold the query of each row, got None: pass qid to "
                f"score. {how_to_pass_qid()}{way if hasattr(self, 'qid') else ''}"
            )
        labels = check_labels(y, name="y")
        check_length(labels, count_rows(X), "y")
        queries = check_qid(ids, n_rows=len(labels))
        check_query_weight(sample_weight, queries, name="sample_weight")
        check_whole_queries(self, queries)
        predict: Any = self.predict  # type: ignore[attr-defined]
        by_query = column is None and "qid" in signature(predict).parameters
        scores: FloatArray = predict(X, **({"qid": ids} if by_query else {}))
        return float(
            ranking_score(
                labels,
                scores,
                qid=ids,
                measure="ndcg@10",
                query_weight=sample_weight,
            )
        )

    def _qid_column(self, X: Any) -> str | int | None:
        """The column of X that holds query ids."""
        column: str | int | None = getattr(self, "qid", None)
        return column
