"""Recall in a collection whose judgments cover only a random sample."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html, text_tables, words
from .._engine import checks
from .._typing import FloatArray
from ..statistics.intervals import share_interval


@dataclass(frozen=True, eq=False, repr=False)
class RecallEstimate(html.Result):
    """Estimates of the recall and of the number of relevant documents in a collection.

    Attributes
    ----------
    share, n_relevant, recall : float
        Share of relevant documents in the collection, their number, and recall. Recall
        is NaN if the sample contains no relevant document, or if `n_found` is None.
    share_interval, n_relevant_interval, recall_interval : ndarray of shape (2,)
        Exact intervals (Clopper and Pearson). The number of relevant documents is at
        least `n_found`, and at least the number of relevant documents in the sample.
    n_judged, n_population : int
        Number of documents in the sample and in the collection.
    confidence : float
        Confidence level of the intervals.

    See Also
    --------
    estimate_recall : The function that returns this estimate.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import estimate_recall
    >>> found = estimate_recall([1, 0, 0, 0, 0, 1, 0, 0, 0, 0], 100, n_found=12)
    >>> found.n_relevant, found.recall
    (20.0, 0.6)
    """

    share: float
    share_interval: FloatArray
    n_relevant: float
    n_relevant_interval: FloatArray
    recall: float
    recall_interval: FloatArray
    n_judged: int
    n_population: int
    confidence: float

    def sample_size(self, width: float) -> int:
        """Compute the sample size at which the interval of the share is narrow enough.

        Parameters
        ----------
        width : float
            Largest width of the interval, in (0, 1).

        Returns
        -------
        int
            Smallest sample size, if the share stays as estimated. The size is at most
            `n_population`.

        Raises
        ------
        ValueError
            If the width is outside (0, 1).

        Examples
        --------
        >>> from tieaware_sklearn.judgments import estimate_recall
        >>> estimate_recall([1] * 5 + [0] * 95, 10**6).sample_size(0.02)
        1927
        """
        checks.check_share(width, "width")

        def fits(n: int) -> bool:
            low, high = share_interval(self.share * n, n, self.confidence)
            return bool(high - low <= width)

        sizes = range(1, self.n_population + 1)
        index = bisect_left(sizes, True, key=fits)
        return min(index + 1, self.n_population)

    def _columns(self) -> dict[str, Any]:
        intervals = self.share_interval, self.n_relevant_interval, self.recall_interval
        low, high = np.array(intervals).T
        return {
            "of": np.array(["share", "n_relevant", "recall"], dtype=object),
            "estimate": np.array([self.share, self.n_relevant, self.recall]),
            "low": low,
            "high": high,
        }

    def _tables(self) -> list[text_tables.Table]:
        _, estimate, low, high = self._columns().values()
        ends = zip(map(_cell, low), map(_cell, high), strict=True)
        source = f"from {self.n_judged} of {self.n_population} documents"
        table = text_tables.Table.of(
            ("", ["share relevant", "number relevant", "recall"]),
            ("estimate", map(_cell, estimate)),
            (f"{100 * self.confidence:g}% interval", [f"[{a}, {b}]" for a, b in ends]),
            terms={"estimate": source},
        )
        return [table]


def _cell(value: float) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:.4g}" if value < 1 else f"{value:.0f}"


def estimate_recall(
    judged_sample: ArrayLike,
    n_population: int,
    n_found: int | None = None,
    *,
    rel: float = 1.0,
    confidence: float = 0.95,
) -> RecallEstimate:
    """Estimate recall in a collection from the judgments of a random sample.

    Parameters
    ----------
    judged_sample : array-like of shape (n_judged,)
        Labels of documents that were drawn at random from the whole collection.
    n_population : int
        Number of documents in the collection.
    n_found : int, optional
        Number of relevant documents that the search found in the collection.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    confidence : float, default=0.95
        Confidence level of the intervals.

    Returns
    -------
    RecallEstimate

    Raises
    ------
    ValueError
        If labels are negative or missing, if the sample is larger than the collection,
        if `n_found` leaves no room in the collection for the irrelevant documents of
        the sample, or if the confidence is outside (0, 1).

    Warns
    -----
    UserWarning
        If more relevant documents were found than the sample allows.

    See Also
    --------
    depth_pool : Selects documents to judge if relevant documents are rare.

    Notes
    -----
    The number of relevant documents in the sample is treated as binomial (Clopper and
    Pearson, Biometrika 1934). The interval is therefore too wide if the sample is a
    large part of the collection. The estimated number of relevant documents, and both
    ends of its interval, are at least the number found. Recall is the number found
    divided by the estimated number.

    If relevant documents are rare, the sample must be large. In the example, two of
    1,000 documents are relevant, and the interval of recall ranges from an eighth to 1.
    An interval half as wide requires several thousand judgments.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import estimate_recall
    >>> sample = [1, 1] + [0] * 998
    >>> found = estimate_recall(sample, n_population=1_000_000, n_found=900)
    >>> print(found)
                     estimate           95% interval
    ------------------------------------------------
    share relevant      0.002  [0.0002423, 0.007206]
    number relevant      2000            [900, 7206]
    recall               0.45            [0.1249, 1]
    >>> found.sample_size(width=0.001)
    32789
    """
    labels = checks.check_labels(judged_sample, name="judged_sample")
    checks.check_count(n_population, "n_population", least=len(labels))
    checks.check_share(confidence, "confidence")
    n = len(labels)
    k = int((labels >= rel).sum())
    share = k / n
    ends = share_interval(k, n, confidence)
    # Numbers of documents that are known to be relevant, and that could be relevant.
    known = k
    possible = n_population - (n - k)
    recall = np.nan
    recall_interval = np.full(2, np.nan)
    if n_found is not None:
        checks.check_count(n_found, "n_found", least=0)
        if n_found > possible:
            raise ValueError(
                f"n_found must be at most {possible} (n_population without the "
                f"irrelevant documents of the sample), got {n_found}"
            )
        if n_found > ends[1] * n_population:
            least, most = ends * n_population
            words.warn(
                f"n_found={n_found} contradicts the sample, by which there are "
                f"{least:.4g} to {most:.4g} relevant documents: the sample may not be "
                "random, or some of the documents found may not be relevant"
            )
        known = max(n_found, k)
    n_relevant = max(share * n_population, known)
    low, high = np.clip(ends * n_population, known, possible)
    if n_found is not None:
        recall_interval = np.array([n_found / high if high else 0.0, 1.0])
        if low:
            recall_interval[1] = n_found / low
        if k:
            recall = n_found / n_relevant
    return RecallEstimate(
        share=share,
        share_interval=ends,
        n_relevant=n_relevant,
        n_relevant_interval=np.array([low, high]),
        recall=recall,
        recall_interval=recall_interval,
        n_judged=n,
        n_population=n_population,
        confidence=confidence,
    )
