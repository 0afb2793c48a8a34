"""Rankings evaluated by segment, on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.digests import Digests
from .._engine.known_queries import id_digests
from .._engine.validation import check_qid
from ..evaluation import SegmentSummary
from ..evaluation._exact_sums import ReportSums
from ..evaluation._prepared_ranking import DEFAULT_MEASURES
from ..evaluation._report import of_segments
from ..evaluation._summary import stack_summaries
from ..evaluation._undefined import ask
from ..measures import Measure
from ..measures._parse import parse_measures
from ._columns import check_given
from ._evaluate import check_average, report_of
from ._faults import Names, Wanted
from ._partitions import gathered, merged


@dataclass(frozen=True)
class _Segments:
    """The queries of each segment.

    Attributes
    ----------
    of : dict
        For each segment the segment itself, as an array of shape (1,), and sums over
        its queries.
    """

    of: dict[Hashable, tuple[NDArray[Any], ReportSums]]

    def merge(self, other: _Segments) -> _Segments:
        """Segments of either, with the queries of both."""
        both = dict(self.of)
        for key, (segment, sums) in other.of.items():
            ours = both.get(key)
            both[key] = (
                (segment, sums) if ours is None else (ours[0], ours[1].merge(sums))
            )
        return _Segments(both)

    def summary(self, name: str) -> SegmentSummary:
        """As after an evaluation in memory; all queries are those of all segments."""
        kinds = {segment.dtype.kind for segment, _ in self.of.values()}
        segments = [segment for segment, _ in self.of.values()]
        if len(kinds) > 1:
            segments = [segment.astype(object) for segment in segments]
        found = check_qid(
            np.concatenate(segments), n_rows=len(segments), name=name, empty=True
        )
        ascending = found.sorted()
        each = [sums for _, sums in self.of.values()]
        return stack_summaries(
            found.qid[ascending],
            [each[i].moments().summary() for i in ascending],
            reduce(ReportSums.merge, each).moments().summary(),
        )


def evaluate_by_segment(
    df: Any,
    *,
    score: str,
    segment: str,
    label: str = "label",
    qid: str = "qid",
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    average: str = "macro",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: str | None = None,
    convention: str | None = None,
    shuffle: bool = True,
) -> SegmentSummary:
    """Compute the exact scores of a ranking on a cluster, averaged by segment.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    score, label, qid : str, default label="label", qid="qid"
        Columns with scores, labels and query ids.
    segment : str
        A column with the segment of each document's query, such as a market or a range
        of query lengths. Segments are of any hashable type and constant within a query.
    measures, zero_relevance, unjudged, convention
        As in `tieaware_sklearn.evaluate`.
    average : {"macro", "geometric"}, default="macro"
        As in `evaluate`.
    query_weight : str, optional
        A column with the weight of each document's query.
    shuffle : bool, default=True
        As in `evaluate`.

    Returns
    -------
    SegmentSummary
        The same as
        ``tieaware_sklearn.evaluate(..., segment=...).by_segment(average)``: averages,
        lift, tie std and numbers of queries to the last bit, intervals to 1e-12. No bit
        depends on how rows are divided into partitions.

    Raises
    ------
    ValueError
        As in `evaluate`, and if a query has rows in several segments (the message names
        it).

    See Also
    --------
    evaluate : Averages over all queries.
    tieaware_sklearn.evaluate : The same in memory, with ``segment=``.

    Notes
    -----
    Each worker sums over the queries of each segment of its rows. Sums and digests are
    merged as in `evaluate`. With three measures, a segment takes 1.5 kilobytes of
    traffic and half a millisecond of CPU for each partition that has any of its
    queries. This is little for a thousand segments, and much for one per query: for
    these, see `evaluate_queries`.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate_by_segment
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 1], "clicks": [2, 1, 1, 1, 1, 2],
    ...                      "qid": [1, 2, 1, 2, 3, 3],
    ...                      "market": ["us", "de", "us", "de", "de", "de"]})
    >>> print(evaluate_by_segment(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                           segment="market", measures="rr"))
    RR   queries   mean  worst   best  tie std  chance   lift    95% interval
    -------------------------------------------------------------------------
    de         2  0.875  0.750  1.000    0.125   0.750  0.500  [0.000, 1.000]
    us         1  1.000  1.000  1.000    0.000   0.750  1.000          [-, -]
    all        3  0.917  0.833  1.000    0.083   0.750  0.667  [0.558, 1.000]
    """
    check_average(average)
    check_given(score=score, label=label, qid=qid, segment=segment)
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    names = Names(label, qid, query_weight, score)

    def sums(frame: Any) -> tuple[_Segments, Digests]:
        report = report_of(frame, names, asked, segment)
        segments, reports = of_segments(report)
        each = [ReportSums.of(one, average) for one in reports]
        keys = [_key(segments, i) for i in range(len(segments))]
        ones = [segments[i : i + 1] for i in range(len(segments))]
        found = _Segments(dict(zip(keys, zip(ones, each, strict=True), strict=True)))
        return found, id_digests(report.qid, qid)

    # it may be the query itself, or its weight
    others = [] if segment in (qid, query_weight) else [segment]
    rows = gathered(df, names, shuffle, others, "segment")
    wanted = Wanted(names, asked, others=others)
    found, _ = merged(rows, sums, qid, shuffle, keep=False, wanted=wanted)
    weights = [each.values.weight.rounded for _, each in found.of.values()]
    names.check_weight(np.array(weights))
    return found.summary(segment)


def _key(segments: NDArray[Any], i: int) -> Hashable:
    """What is equal for equal segments of all partitions."""
    # dates as integers would not tell their units
    as_they_are = segments.dtype.kind in "mM"
    found: Hashable = segments[i] if as_they_are else segments[i : i + 1].tolist()[0]
    return found
