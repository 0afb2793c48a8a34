"""The ways to treat ties, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.result import Result
from .._display.tables import Table
from .._engine.exact import is_missing, none_for_masked
from .._engine.lists import Lists
from .._engine.qid_column import array_of
from .._engine.ties import FloatArray, IntArray, dense_ranks
from .._engine.validation import check_choice, check_length, is_retrieved
from ..measures import Measure
from ..measures._parse import parse_measures
from ._averages import means
from ._prepared_ranking import DEFAULT_MEASURES, prepare
from ._undefined import ask


@dataclass(frozen=True, eq=False, repr=False)
class TieTreatments(Result):
    """Values of one ranking under several treatments of its ties; prints as a table.

    Attributes
    ----------
    treatments : tuple of str
        Names of the treatments: "input order", the external rules, "optimistic" (the
        best order), "pessimistic" (the worst) and "mean" (over all orders).
    measures : tuple of str
        Canonical names.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    per_query : ndarray of shape (n_treatments, n_queries, n_measures)
        Values. NaN where a query is skipped.
    mean : ndarray of shape (n_treatments, n_measures)
        Averages over queries.

    See Also
    --------
    tie_treatments : The function that returns these values.

    Examples
    --------
    >>> from tieaware_sklearn import tie_treatments
    >>> found = tie_treatments([1, 0, 1, 0], [2, 1, 1, 0], measures="ap")
    >>> dict(zip(found.treatments, found.mean[:, 0].round(3).tolist()))
    {'input order': 0.833, 'optimistic': 1.0, 'pessimistic': 0.833, 'mean': 0.917}
    """

    treatments: tuple[str, ...]
    measures: tuple[str, ...]
    qid: NDArray[Any]
    per_query: FloatArray
    mean: FloatArray

    def _columns(self) -> dict[str, Any]:
        averages = zip(self.measures, self.mean.T, strict=True)
        return {"treatment": self.treatments, **dict(averages)}

    def _tables(self) -> list[Table]:
        return [Table.of(*self._columns().items())]


def tie_treatments(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    external: Mapping[str, Any] | None = None,
    convention: str | None = None,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
) -> TieTreatments:
    """Measure one ranking under several treatments of its ties.

    Parameters
    ----------
    y_true, y_score, qid, convention, zero_relevance, unjudged, query_weight
        As in `ranking_score`.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Names of measures, or `Measure` objects; see `parse_measure`.
    external : mapping of str to key, optional
        External rules by name. A key is an array of numbers or strings, of the shape
        of y_true, or a pair of such an array and "ascending" (default) or
        "descending". Among documents with equal scores, an ascending key ranks the
        smallest first. ``(docno, "descending")`` is trec_eval's rule. Documents that
        tie in both score and key count with the mean over their orders.

    Returns
    -------
    TieTreatments

    Raises
    ------
    ValueError
        As in `ranking_score`; for keys of another length, and for keys that are
        missing where a document is retrieved.

    See Also
    --------
    tie_report : How much of a ranking is tied.
    evaluate : The exact mean, best and worst value of each query.

    Notes
    -----
    The treatments are those of Yang, Moffat and Turpin, "How precise does document
    scoring need to be?", AIRS 2016, section 2.

    Examples
    --------
    >>> from tieaware_sklearn import tie_treatments
    >>> found = tie_treatments([0, 1, 1], [1, 1, 1], measures=["rr", "ap"],
    ...                        external={"shortest first": [90, 20, 55]})
    >>> print(found)
    treatment           RR      AP
    ------------------------------
    input order     0.5000  0.5833
    shortest first  1.0000  1.0000
    optimistic      1.0000  1.0000
    pessimistic     0.5000  0.5833
    mean            0.8333  0.8056
    """
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    prepared, scores = prepare(asked, y_true, y_score, qid, query_weight, keep=True)

    def values(
        scores: NDArray[Any], *names: str, plain: bool = False
    ) -> list[FloatArray]:
        found = prepared.values(asked, scores, names, input_order=plain)
        return list(found.values())

    rules = {} if external is None else external
    if not isinstance(rules, Mapping) or not all(isinstance(n, str) for n in rules):
        raise ValueError(f"external must map names to keys, got {external!r}")
    treatments = {"input order": values(scores, "expected", plain=True)[0]}
    for name, key in rules.items():
        if name in ("input order", "optimistic", "pessimistic", "mean"):
            raise ValueError(
                f"external must not use the name of a built-in treatment, got {name!r}"
            )
        broken = _broken(scores, name, key, prepared.lists)
        treatments[name] = values(broken, "expected")[0]
    best, worst, average = values(scores, "best", "worst", "expected")
    treatments |= {"optimistic": best, "pessimistic": worst, "mean": average}
    per_query = np.stack(list(treatments.values()))
    return TieTreatments(
        treatments=tuple(treatments),
        measures=asked.names,
        qid=prepared.queries.qid,
        per_query=per_query,
        mean=np.array([means(table, prepared.weight) for table in per_query]),
    )


def _broken(
    scores: NDArray[Any], name: str, key: Any, lists: Lists | None
) -> FloatArray:
    """Scores that rank as `scores` do, and by `key` where those tie."""
    retrieved = is_retrieved(scores)
    ranks, _ = dense_ranks(scores[retrieved])
    codes = _key_codes(key, f"external[{name!r}]", retrieved, lists)
    place, _ = dense_ranks(ranks * (codes.max(initial=0) + 1) + codes)
    out = np.full(len(scores), -np.inf)
    out[retrieved] = place
    return out


def _key_codes(
    key: Any, name: str, retrieved: NDArray[np.bool_], lists: Lists | None
) -> IntArray:
    """A whole number for the key of each retrieved document, higher ranked first."""
    direction = "ascending"
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], str):
        key, direction = key
        check_choice(direction, name, ("ascending", "descending"))
    key = none_for_masked(key)
    if lists is not None:
        key = lists.documents(key, name)
    array = array_of(key)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-dimensional, got shape {array.shape}")
    check_length(array, len(retrieved), name)
    # as they were given: an array of a list makes texts of its numbers
    values = array.tolist() if not isinstance(key, list) else key
    missing = [is_missing(value) for value in values]
    if any(there := missing & retrieved):
        row = int(np.argmax(there))
        raise ValueError(
            f"{name} must not be missing where a document is retrieved, got "
            f"{values[row]} in row {row}"
        )
    kinds = {
        isinstance(value, (str, bytes))
        for value, absent in zip(values, missing, strict=True)
        if not absent
    }
    try:
        keys, codes = np.unique(array[retrieved], return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"{name} must hold numbers only or strings only: {error}"
        ) from None
    if len(kinds) > 1:
        raise ValueError(f"{name} must hold numbers only or strings only, got {key!r}")
    codes = codes.astype(np.int64)
    return len(keys) - 1 - codes if direction == "ascending" else codes
