"""The ways to treat ties, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.result import Result
from .._display.tables import Table
from .._engine.ties import FloatArray
from ..measures import Measure
from ..measures._parse import parse_measures
from ._averages import means
from ._prepared_ranking import DEFAULT_MEASURES, prepare
from ._tie_rules import TieRules
from ._undefined import ask


@dataclass(frozen=True, eq=False, repr=False)
class TieTreatments(Result):
    """Values of one ranking under several treatments of its ties; prints as a table.

    Attributes
    ----------
    treatments : tuple of str
        Names of the treatments: "input" (the order of rows), the external rules,
        "best" and "worst" (of all orders) and "expected" (the mean over them).
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
    {'input': 0.833, 'best': 1.0, 'worst': 0.833, 'expected': 0.917}
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
        of y_true, or a tuple of such an array and a direction, as in `break_ties`.
        ``(docno, "descending", "float32")`` is trec_eval's rule. Documents that tie in
        both score and key count with the mean over their orders.

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
    break_ties : The scores that rank by such a rule.

    Notes
    -----
    The treatments are those of Yang, Moffat and Turpin, "How precise does document
    scoring need to be?", AIRS 2016, section 2, where "best", "worst" and "expected"
    are called optimistic, pessimistic and mean.

    Examples
    --------
    >>> from tieaware_sklearn import tie_treatments
    >>> found = tie_treatments([0, 1, 1], [1, 1, 1], measures=["rr", "ap"],
    ...                        external={"shortest first": [90, 20, 55]})
    >>> print(found)
    treatment           RR      AP
    ------------------------------
    input           0.5000  0.5833
    shortest first  1.0000  1.0000
    best            1.0000  1.0000
    worst           0.5000  0.5833
    expected        0.8333  0.8056
    """
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    prepared, scores = prepare(asked, y_true, y_score, qid, query_weight, keep=True)
    rules = TieRules(external, len(scores), lists=prepared.lists)
    plain = rules.values(prepared, asked, scores, "input")
    broken = {
        name: rules.values(prepared, asked, scores, name) for name in rules.external
    }
    found = rules.values(prepared, asked, scores, "expected", ("best", "worst"))
    treatments = {
        "input": plain["expected"],
        **{name: values["expected"] for name, values in broken.items()},
        **{name: found[name] for name in ("best", "worst", "expected")},
    }
    per_query = np.stack(list(treatments.values()))
    return TieTreatments(
        treatments=tuple(treatments),
        measures=asked.names,
        qid=prepared.queries.qid,
        per_query=per_query,
        mean=np.array([means(table, prepared.weight) for table in per_query]),
    )
