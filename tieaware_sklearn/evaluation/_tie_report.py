"""How much of a ranking is tied, and how much it matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.result import Result
from .._display.tables import Table
from .._display.warn import warn
from .._engine.ties import FloatArray
from .._engine.validation import Queries, check_count, is_retrieved
from ..measures import Measure
from ..measures._parse import parse_measures
from ._averages import means
from ._judged_rows import JudgedRows
from ._prepared_ranking import DEFAULT_MEASURES, prepare
from ._ranked_queries import RankedQueries
from ._tie_rules import TieRules
from ._undefined import ask

#: distinct neighbours closer than this many units in the last place look like
#: one score computed in two ways
_LAST_BITS = 8


@dataclass(frozen=True, eq=False, repr=False)
class TieReport(Result):
    """How much of a ranking is tied; prints as a table.

    Shares are between 0 and 1. Only documents that are retrieved (scores above -inf)
    count.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries, and of documents that are retrieved.
    n_distinct_scores : int
        Number of distinct scores in the whole column.
    largest_group : int
        Number of documents in the largest tie group.
    tied_documents : float
        Share of documents that tie with another document of their query.
    mixed_documents : float
        Share of documents in tie groups with different labels. Only in these groups
        can the order of ties change a measure.
    repeated_documents : float
        Share of documents that tie with the document before them: Σ (n_g - 1) over
        the sizes n_g of all tie groups, divided by the number of documents (Yang,
        Moffat and Turpin 2016, Table 1).
    tied_queries : float
        Share of queries with a tie (same table).
    k : int
        Cut-off of `cut_queries`.
    cut_queries : float
        Share of queries in which the cut-off k falls inside a tie group.
    measures : tuple of str
        Canonical names.
    mean_gap, largest_gap : ndarray of shape (n_measures,)
        Absolute difference between the best and the worst value: its mean and its
        maximum over queries.
    n_nearly_tied : int
        Number of neighbouring scores of a query that differ in their last bits only.
        It is 0 where scores are so dense that this happens by chance.
    treatments : tuple of str
        Treatments of ties, as given to `tie_report`.
    mean : ndarray of shape (n_treatments, n_measures)
        Averages over queries under each treatment.

    See Also
    --------
    tie_report : The function that returns this report.

    Examples
    --------
    >>> from tieaware_sklearn import tie_report
    >>> report = tie_report([1, 0, 1, 0], [2, 1, 1, 0], k=2)
    >>> report.tied_documents, report.largest_group
    (0.5, 2)
    """

    n_queries: int
    n_documents: int
    n_distinct_scores: int
    largest_group: int
    tied_documents: float
    mixed_documents: float
    repeated_documents: float
    tied_queries: float
    k: int
    cut_queries: float
    measures: tuple[str, ...]
    mean_gap: FloatArray
    largest_gap: FloatArray
    n_nearly_tied: int
    treatments: tuple[str, ...]
    mean: FloatArray

    def _columns(self) -> dict[str, Any]:
        rows: list[tuple[str, str, float]] = []
        for name, value in vars(self).items():
            if name == "mean":
                for treatment, averages in zip(self.treatments, value, strict=True):
                    each = zip(self.measures, averages.tolist(), strict=True)
                    rows += [(f"mean ({treatment})", *one) for one in each]
            elif isinstance(value, np.ndarray):
                gaps = zip(self.measures, value.tolist(), strict=True)
                rows += [(name, measure, gap) for measure, gap in gaps]
            elif not isinstance(value, tuple):
                rows.append((name, "", float(value)))
        columns = zip(*rows, strict=True)
        return dict(zip(("figure", "measure", "value"), columns, strict=True))

    def _tables(self) -> list[Table]:
        def share(value: float) -> str:
            return f"{100 * value:.1f} %"

        figures = [
            ("queries", str(self.n_queries)),
            ("documents", str(self.n_documents)),
            ("distinct scores", str(self.n_distinct_scores)),
            ("largest tie group", str(self.largest_group)),
            ("documents tied", share(self.tied_documents)),
            ("  in groups with different labels", share(self.mixed_documents)),
            ("  tied with the document before", share(self.repeated_documents)),
            ("queries with ties", share(self.tied_queries)),
            (f"  with cut-off {self.k} inside a tie", share(self.cut_queries)),
            ("scores differing in last bits only", str(self.n_nearly_tied)),
        ]
        names, values = zip(*figures, strict=True)
        tables = [
            Table.of(("ties", names), ("", values)),
            Table.of(
                ("best - worst", self.measures),
                ("mean gap", self.mean_gap),
                ("largest gap", self.largest_gap),
            ),
        ]
        if self.treatments:
            averages = zip(self.measures, self.mean.T, strict=True)
            tables.append(Table.of(("treatment", self.treatments), *averages))
        return tables


def tie_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int = 10,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    ties: str | Sequence[str] | None = None,
    external: Mapping[str, Any] | None = None,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
) -> TieReport:
    """Report how much of a ranking is tied, and how much that can change measures.

    Parameters
    ----------
    y_true, y_score, qid, zero_relevance, unjudged, query_weight
        As in `ranking_score`. Weights affect averages only.
    k : int, default=10
        Cut-off: the report states in how many queries it falls inside a tie group.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Measures whose difference between best and worst value is reported.
    ties : str or list of str, optional
        Treatments of ties whose averages are reported, too: "expected", "best",
        "worst", "input" or names of rules in `external`. If None, these rules and
        "expected", if there are any.
    external : mapping of str to key, optional
        External rules for ties by name, as in `tie_treatments`.

    Returns
    -------
    TieReport

    Raises
    ------
    ValueError
        As in `ranking_score`, and for k < 1.

    Warns
    -----
    UserWarning
        If scores of a query differ in their last bits only, so that rounding errors
        decide which ranks first.

    See Also
    --------
    evaluate : Best, worst and standard deviation for each query.
    tie_treatments : The values under other treatments of ties.

    Notes
    -----
    The shares of tied documents and queries are those of Yang, Moffat and Turpin, "How
    precise does document scoring need to be?", AIRS 2016, Table 1.

    Examples
    --------
    >>> from tieaware_sklearn import tie_report
    >>> report = tie_report([1, 0, 0, 1], [2, 1, 1, 1], k=2, measures="rr")
    >>> report.tied_documents, report.repeated_documents, report.cut_queries
    (0.75, 0.5, 1.0)
    """
    check_count(k, "k")
    asked = ask(parse_measures(measures), zero_relevance, unjudged)
    prepared, scores = prepare(asked, y_true, y_score, qid, query_weight)
    rules = TieRules(external, len(scores), lists=prepared.lists)
    if ties is None:
        ties = [*rules.external, "expected"] if rules.external else []
    treatments = rules.check(ties) if ties else ()
    queries, labelled = prepared.queries, prepared.labelled

    def count(ranked: RankedQueries) -> tuple[list[int], int, FloatArray]:
        extremes = ranked.statistics(asked.measures, ("best", "worst"))
        groups = ranked.groups
        n, first, last = groups.n, groups.start, groups.start + groups.n - 1
        tied = n > 1
        label = np.maximum(groups.levels, 0)[groups.label]
        mixed = label[first] != label[last]
        cut = (groups.lo < k) & (k < groups.hi)
        counts = [
            n.sum(),
            n[tied].sum(),
            n[mixed].sum(),
            (n - 1).sum(),
            len(np.unique(groups.query[tied])),
            cut.sum(),
        ]
        return counts, int(n.max(initial=0)), np.stack(extremes, axis=1)

    counts, sizes, extremes = zip(*labelled.each_block(count, scores), strict=True)
    mean = [
        means(rules.values(prepared, asked, scores, one)["expected"], prepared.weight)
        for one in treatments
    ]
    if (judged := JudgedRows.of(prepared.labels, queries)) is not None:
        scores, queries = judged.scores(scores), judged.queries
    documents, tied, mixed, repeated, tied_queries, cut = np.sum(
        counts, axis=0
    ).tolist()
    best, worst = labelled.in_order(extremes).swapaxes(0, 1)
    filled = asked.fill_statistics({"best": best, "worst": worst}, queries)
    gaps = np.abs(filled["best"] - filled["worst"])
    retrieved = max(documents, 1)
    return TieReport(
        n_queries=queries.n_queries,
        n_documents=documents,
        n_distinct_scores=len(np.unique(scores[is_retrieved(scores)])),
        largest_group=max(sizes),
        tied_documents=tied / retrieved,
        mixed_documents=mixed / retrieved,
        repeated_documents=repeated / retrieved,
        tied_queries=tied_queries / queries.n_queries,
        k=int(k),
        cut_queries=cut / queries.n_queries,
        measures=asked.names,
        mean_gap=means(gaps, prepared.weight),
        largest_gap=np.fmax.reduce(gaps),
        n_nearly_tied=_warn_nearly_tied(queries.arrange(scores), queries),
        treatments=treatments,
        mean=np.array(mean).reshape(len(treatments), len(asked.measures)),
    )


def _warn_nearly_tied(scores: NDArray[Any], queries: Queries) -> int:
    """Count neighbours that only rounding tells apart, and warn of them."""
    if scores.dtype.kind != "f" or scores.dtype.itemsize < 4:
        return 0
    query = queries.codes
    order = np.lexsort((scores, query))
    ascending, query = scores[order], query[order]
    low, high = ascending[:-1], ascending[1:]
    apart = np.isfinite(low) & (query[1:] == query[:-1]) & (low != high)
    # whole numbers are counts, however few bits the dtype leaves them
    apart &= (low != np.floor(low)) | (high != np.floor(high))
    low, high = low[apart], high[apart]
    # halves: the difference of the largest floats overflows
    size = np.maximum(np.abs(low), np.abs(high)) / 2
    units = (high / 2 - low / 2) / np.spacing(size)
    near = units <= _LAST_BITS
    count = int(near.sum())
    # of dense scores, seven times as many would be a little further apart
    if count <= int((units <= 8 * _LAST_BITS).sum()) - count:
        return 0
    if count:
        at = int(np.argmax(near))
        warn(
            "y_score has neighbouring scores that differ in their last bits only "
            f"({count} in all, such as {low[at]!s} and {high[at]!s}): they do not tie; "
            "round y_score if they should"
        )
    return count
