"""Results for the queries of each segment alone, beside that of all queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._display import html, text_tables
from ..evaluation import Summary
from . import _pairs, _text


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SegmentedResult(html.Result):
    """A result on all queries, which may contain the result of each segment."""

    #: Columns that identify a row of a segment.
    _keys: ClassVar[tuple[str, ...]] = ("measure", "a", "b")
    #: Names of the segments, and their results.
    _segments: Any = None
    #: Note on queries without a relevant document.
    _undefined: Sequence[str] = ()

    def by_segment(self) -> Summary:
        """Return the results for the queries of each segment alone.

        Returns
        -------
        Summary
            The figures of each ``segment`` (in ascending order), computed from the
            queries of the segment alone. p-values are not corrected for the number of
            segments. The attribute ``results`` is a dict with the whole result of each
            segment.

        Raises
        ------
        ValueError
            If no `segment` was given.

        Examples
        --------
        >>> from tieaware_sklearn import pvalues_over_orders
        >>> systems = {"a": [2, 1] * 5, "b": [1, 2] * 3 + [1, 1] * 2}
        >>> study = pvalues_over_orders(
        ...     [1, 0] * 5, systems, qid=[1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
        ...     measure="rr", segment=["head"] * 6 + ["tail"] * 4)
        >>> print(study.by_segment())
        A  B  pvalue  p < 0.05   error   min p   max p  combined
        --------------------------------------------------------
        a  b  0.2500    0.0000  0.0000  0.2500  0.2500    0.2500
        segment head
        RR, paired t test, two-sided
        <BLANKLINE>
        A  B  pvalue  p < 0.05   error   min p   max p  combined
        --------------------------------------------------------
        a  b  0.5000    0.0000  0.0000  0.5000  1.0000    1.0000
        segment tail
        RR, paired t test, two-sided
        """
        if self._segments is None:
            raise ValueError(
                "segment must be given to the function that made this result, got None"
            )
        names, results = self._segments
        each = [result._figures() for result in results]
        sizes = [len(next(iter(figures.values()))) for figures in each]
        columns = {"segment": np.repeat(names, sizes)}
        columns |= _pairs.join_columns(each)
        about = {"results": dict(zip(names.tolist(), results, strict=True))}
        return Summary(
            columns, ("segment", *self._keys), about, _text.tables_of_segments
        )

    def _whole(self) -> list[text_tables.Table]:
        tables = self._tables()
        if self._segments is not None:
            tables += self.by_segment()._framed("by_segment()")
        return tables

    def _figures(self) -> dict[str, Any]:
        """Return the columns of `by_segment`."""
        return self._columns()
