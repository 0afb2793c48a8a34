"""How much of a ranking is tied, and how much it matters."""

from __future__ import annotations

from collections.abc import Iterable
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
from ._prepared_ranking import DEFAULT_MEASURES, prepare
from ._ranked_queries import RankedQueries
from ._undefined import ask

#: distinct neighbours closer than this many units in the last place look like
#: one score computed in two ways
_LAST_BITS = 8


@dataclass(frozen=True, eq=False, repr=False)
class TieReport(Result):
    """How much of a ranking is tied; prints as a table.

    Shares are of 1. Documents are those retrieved (scores above -inf).

    Attributes
    ----------
    n_queries, n_documents : int
    n_distinct_scores : int
        Distinct scores in the whole column.
    largest_group : int
        Documents in the largest tie group.
    tied_documents : float
        Share of documents that tie with another one of their query.
    mixed_documents : float
        Share of documents in tie groups that mix labels: only there can the
        order of ties change a measure.
    repeated_documents : float
        Share of documents tied with their predecessor, Σ (n_g - 1) over all
        groups (Yang, Moffat and Turpin 2016, Table 1).
    tied_queries : float
        Share of queries with a tie (the same table).
    k : int
        The cut-off of `cut_queries`.
    cut_queries : float
        Share of queries whose cut-off k falls inside a tie.
    measures : tuple of str
    mean_gap, largest_gap : ndarray of shape (n_measures,)
        Best minus worst value (worst minus best where lower is better), on
        average and at most over queries.
    n_nearly_tied : int
        Neighbouring scores of a query that differ in their last bits only; 0 where
        scores are so dense that chance explains them.

    See Also
    --------
    tie_report : The function that returns it.

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

    def _columns(self) -> dict[str, Any]:
        rows: list[tuple[str, str, float]] = []
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                gaps = zip(self.measures, value.tolist(), strict=True)
                rows += [(name, measure, gap) for measure, gap in gaps]
            elif name != "measures":
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
            ("  in groups that mix labels", share(self.mixed_documents)),
            ("  tied with their predecessor", share(self.repeated_documents)),
            ("queries with ties", share(self.tied_queries)),
            (f"  with rank {self.k} inside a tie", share(self.cut_queries)),
            ("scores apart by last bits only", str(self.n_nearly_tied)),
        ]
        names, values = zip(*figures, strict=True)
        return [
            Table.of(("ties", names), ("", values)),
            Table.of(
                ("best - worst", self.measures),
                ("mean gap", self.mean_gap),
                ("largest gap", self.largest_gap),
            ),
        ]


def tie_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int = 10,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
) -> TieReport:
    """How much of a ranking is tied, and how much it matters.

    Parameters
    ----------
    y_true, y_score, qid, zero_relevance, unjudged, query_weight
        As in `ranking_score`; weights count in `mean_gap` alone.
    k : int, default=10
        Report the queries whose cut-off k falls inside a tie.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Measures whose best-minus-worst gap is reported.

    Returns
    -------
    TieReport

    Raises
    ------
    ValueError
        As in `ranking_score`; for k < 1.

    Warns
    -----
    UserWarning
        Where distinct scores of a query differ in their last bits only: they
        are ranked, but by rounding.

    See Also
    --------
    evaluate : Best, worst and standard deviation, query by query.
    tie_treatments : The values under other ways to treat ties.

    Notes
    -----
    The prevalence figures are those of Yang, Moffat and Turpin, "How precise does
    document scoring need to be?", AIRS 2016, Table 1.

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
            f"{count} neighbouring scores differ in their last bits only (such as "
            f"{low[at]!s} and {high[at]!s}): they are ranked as they stand; round "
            "y_score if they mean the same"
        )
    return count
