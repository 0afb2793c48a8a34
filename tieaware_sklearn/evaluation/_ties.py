"""Break ties by rules, compare treatments of ties, and report ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html
from .._engine import (
    checks,
    exact_numbers,
    lists,
    messages,
    segments,
    tie_groups,
)
from .._typing import Array, FloatArray, IntArray
from ..measures import Measure, _parse
from ..measures._values import Detail, QueryValues
from ..ranking._ranked import Ranked
from ..statistics.averages import column_means
from . import _prepared, _resolved, _text

DIRECTIONS = ("ascending", "descending", "random")
#: when scores tie: if equal as given, or in 32 bits, as trec_eval reads them
EQUALITIES = ("exact", "float32")


def break_ties(
    y_score: ArrayLike, key: Any, *, qid: Any = None, random_state: Any = 0
) -> FloatArray:
    """Break the ties of scores by a key, such as document ids.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,) or (n_documents, n_systems)
        Scores, -inf for documents that are not retrieved. Columns are treated
        separately.
    key : array-like, tuple, "input" or "random"
        Rule that orders documents with equal scores:

        - an array of numbers or strings, of shape (n_documents,) or of the shape of
          `y_score`: the smallest ranks first. Strings are compared as UTF-8 bytes;
        - a pair of such an array and "ascending" (smallest first), "descending"
          (largest first) or "random" (the distinct keys in a random order, which does
          not depend on the order of rows);
        - a triple of array, direction and "float32": scores tie if they are equal as
          32-bit floats. ``(docno, "descending", "float32")`` is trec_eval's rule if
          ids are strings. Numbers are compared as numbers;
        - "input": the document that comes first in `y_score` ranks first;
        - "random": a random order of the rows.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    random_state : int, Generator, RandomState or None, default=0
        Seed of "random".

    Returns
    -------
    ndarray of the shape of `y_score`, float64
        In each query, ranks from the bottom: 1 for the document that ranks last, -inf
        for documents that are not retrieved. Documents that are equal in both score
        and key still tie.

    Raises
    ------
    ValueError
        For scores as in `ranking_score`, for an unknown direction, and for keys of
        another shape, of mixed types, or missing where a document is retrieved.

    See Also
    --------
    tie_treatments : The values of one ranking under several rules.
    compare_systems : Compares systems under any rule (``ties=``, ``external=``).

    Examples
    --------
    >>> from tieaware_sklearn import break_ties
    >>> scores, docno = [2.0, 1.0, 1.0, 1.0], ["FR-7", "FR-2", "FR-9", "FR-1"]
    >>> break_ties(scores, (docno, "descending"))
    array([4., 2., 3., 1.])
    >>> break_ties(scores, [1, 2, 1, 1])
    array([3., 1., 2., 2.])
    """
    array = exact_numbers.as_array(y_score, "y_score")
    columns = [y_score] if array.ndim != 2 else [*array.T]
    checked = [checks.check_scores(column) for column in columns]
    n_rows = len(checked[0])
    rule = _TieRule(key, "key", n_rows, len(columns), random_state=random_state)
    queries = checks.check_qid(qid, n_rows=n_rows)
    query = queries.row_codes()
    broken = [rule.broken(scores, queries, j) for j, scores in enumerate(checked)]
    ranks = [_from_the_bottom(scores, query) for scores in broken]
    return ranks[0] if array.ndim != 2 else np.column_stack(ranks)


def _from_the_bottom(scores: FloatArray, query: IntArray) -> FloatArray:
    """Dense ranks within each query, 1 for the lowest score."""
    out = np.full(len(scores), -np.inf)
    there = np.flatnonzero(checks.is_retrieved(scores))
    there = there[np.lexsort((scores[there], query[there]))]
    starts, sizes = segments.runs(query[there])
    new = segments.begins(scores[there])
    new[starts] = True
    place = np.cumsum(new)
    out[there] = place - np.repeat(place[starts] - 1, sizes)
    return out


class _TieRule:
    """A key that breaks ties, read once for all columns of scores."""

    def __init__(
        self,
        key: Any,
        name: str,
        n_rows: int,
        n_columns: int,
        lists: lists.Lists | None = None,
        random_state: Any = 0,
    ) -> None:
        self.name = name
        direction, self._equality = "ascending", "exact"
        if isinstance(key, str):
            checks.check_choice(key, name, ("input", "random"))
            direction = "ascending" if key == "input" else "random"
            key, lists = np.arange(n_rows), None
        elif _is_rule(key):
            if len(key) > 3:
                raise ValueError(
                    f"{name} must be an array, or a tuple of an array, a direction and "
                    f"'float32', got a tuple of {len(key)} elements"
                )
            key, direction, *equality = key
            checks.check_choice(direction, name, DIRECTIONS)
            for self._equality in equality:
                checks.check_choice(self._equality, name, EQUALITIES)
        if lists is not None:
            key = lists.documents(key, name, several=True)
        self._columns = [
            self._read(column, direction, n_rows, random_state)
            for column in self._split(key, n_columns)
        ]

    def _split(self, key: Any, n_columns: int) -> list[Any]:
        """Split keys by column of scores; one may serve all columns."""
        exact_numbers.check_not_masked(key, self.name)
        try:
            array = exact_numbers.as_array(key, self.name)
        except ValueError:
            raise ValueError(
                f"{self.name} must be an array, or a tuple of an array and one of "
                f"{DIRECTIONS}, got {messages.show(key)}"
            ) from None
        if array.ndim == 1:
            return [key]
        if array.ndim != 2 or array.shape[1] != n_columns:
            shape = "(n_documents,)" if n_columns == 1 else "(n_documents, n_systems)"
            raise ValueError(
                f"{self.name} must be 1-dimensional, or have the shape of the scores, "
                f"{shape}, got shape {array.shape}"
            )
        return [*array.T]

    def _read(
        self, key: Any, direction: str, n_rows: int, random_state: Any
    ) -> tuple[IntArray, Array]:
        """Encode keys as numbers, the highest first; return the keys, too."""
        array = exact_numbers.as_array(key, self.name)
        checks.check_length(array, n_rows, self.name)
        rule = f"{self.name} must hold numbers only or strings only"
        if array.dtype.kind in "biuf" and not isinstance(key, list):
            there = array == array
            comparable = array[there]
        else:
            # the keys as given: an array of a mixed list would turn numbers into texts
            values = key if isinstance(key, list) else array.tolist()
            there = ~np.fromiter(map(exact_numbers.is_missing, values), bool, n_rows)
            some = list(compress(values, there))
            are_texts = {issubclass(kind, (str, bytes)) for kind in {*map(type, some)}}
            if len(are_texts) > 1:
                raise ValueError(f"{rule}, got {messages.show(key)}")
            comparable = _encoded(some) if True in are_texts else array[there]
        try:
            keys, inverse = np.unique(comparable, return_inverse=True)
        except TypeError as error:
            raise ValueError(f"{rule}: {error}") from None
        place = np.arange(len(keys))
        if direction == "ascending":
            place = place[::-1]
        elif direction == "random":
            place = checks.check_seed(random_state).permutation(len(keys))
        codes = np.full(n_rows, -1, dtype=np.int64)
        codes[there] = place[inverse]
        return codes, array

    def of_rows(self, rows: IntArray) -> _TieRule:
        """Return the rule for some of the documents."""
        part = copy(self)
        part._columns = [(codes[rows], keys[rows]) for codes, keys in self._columns]
        return part

    def broken(
        self,
        scores: Array,
        queries: checks.Queries,
        column: int = 0,
        system: str = "",
    ) -> FloatArray:
        """Return scores that rank as `scores` do, and by the key where those tie."""
        retrieved = checks.is_retrieved(scores)
        compared = scores[retrieved]
        if self._equality == "float32":
            compared = exact_numbers.in_32_bits(compared)
        ranks, _ = tie_groups.dense_ranks(compared)
        codes, keys = self._columns[column if len(self._columns) > 1 else 0]
        missing = (codes < 0) & retrieved
        if missing.any():
            row = int(np.argmax(missing))
            where = f"row {row}"
            if queries.n_queries > 1:
                where += f", query {queries.name(int(queries.row_codes()[row]))}"
            if system:
                where += f", of system {system!r}"
            raise ValueError(
                f"{self.name} must not be missing where a document is retrieved, got "
                f"{keys[row]} in {where}"
            )
        codes = codes[retrieved]
        place, _ = tie_groups.dense_ranks(
            ranks * (int(codes.max(initial=0)) + 1) + codes
        )
        out = np.full(len(scores), -np.inf)
        out[retrieved] = place
        return out


def _is_rule(key: Any) -> bool:
    """Whether the value is a tuple of an array and a direction, and not of keys."""
    match key:
        case (first, str(), *_) if isinstance(key, tuple):
            return not isinstance(first, (str, bytes))
    return False


def _encoded(values: Sequence[str | bytes]) -> Array:
    """Encode strings as the bytes that trec_eval compares."""
    encoded = [
        one if isinstance(one, bytes) else one.encode("utf-8", "surrogateescape")
        for one in values
    ]
    # arrays of bytes lose trailing NULs
    return np.array(encoded, dtype=object if b"\0" in b"".join(encoded) else None)


class TieRules:
    """Treatments of ties by name: built-in ones, and the external rules of a user.

    Parameters
    ----------
    external : mapping of str to key, optional
        As in `tie_treatments`.
    n_rows : int
        Number of documents.
    systems : sequence of str
        Names of the columns of scores; a message names one that has a name.
    lists : Lists, optional
        The cells that the rows come from, where queries were rows of a matrix.

    Attributes
    ----------
    external : dict of str to _TieRule
        The external rules by name.
    """

    def __init__(
        self,
        external: Mapping[str, Any] | None,
        n_rows: int,
        systems: Sequence[str] = ("",),
        lists: lists.Lists | None = None,
    ) -> None:
        self._systems = systems
        rules = {} if external is None else external
        if not isinstance(rules, Mapping) or not all(isinstance(n, str) for n in rules):
            raise ValueError(
                f"external must map names to keys, got {messages.show(external)}"
            )
        for name in rules:
            if name in _prepared.TIES:
                raise ValueError(
                    "external must not use the name of a built-in treatment, got "
                    f"{name!r}"
                )
        self.external = {
            name: _TieRule(key, f"external[{name!r}]", n_rows, len(systems), lists)
            for name, key in rules.items()
        }

    def of_rows(self, rows: IntArray) -> TieRules:
        """Return the treatments for some of the documents."""
        part = copy(self)
        part.external = {name: one.of_rows(rows) for name, one in self.external.items()}
        return part

    def check(self, ties: Any) -> tuple[str, ...]:
        """Check one treatment or several, each named once."""
        names = (*_prepared.TIES, *self.external)
        return tuple(checks.check_choices(ties, "ties", names))

    def values(
        self,
        prepared: _prepared.Prepared,
        resolved: _resolved.ResolvedMeasures,
        scores: Array,
        ties: str = "expected",
        detail: Detail = Detail.EXPECTED,
        *,
        column: int = 0,
        n_jobs: int | None = None,
    ) -> QueryValues:
        """Compute values over the orders that `ties` leaves open."""
        if ties in self.external:
            scores = self.external[ties].broken(
                scores, prepared.queries, column, self._systems[column]
            )
            ties = "expected"
        return prepared.values(resolved, scores, detail, ties=ties, n_jobs=n_jobs)


@dataclass(frozen=True, eq=False, repr=False)
class TieTreatments(html.Result):
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
    >>> comparison = tie_treatments([1, 0, 1, 0], [2, 1, 1, 0], measures="ap")
    >>> dict(zip(comparison.treatments, comparison.mean[:, 0].round(3).tolist()))
    {'input': 0.833, 'best': 1.0, 'worst': 0.833, 'expected': 0.917}
    """

    treatments: tuple[str, ...]
    measures: tuple[str, ...]
    qid: Array
    per_query: FloatArray
    mean: FloatArray
    _undefined: list[str]

    _tables = _text.table_of_treatments

    def _columns(self) -> dict[str, Any]:
        averages = dict(zip(self.measures, self.mean.T, strict=True))
        return {"treatment": self.treatments} | averages


def tie_treatments(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
    external: Mapping[str, Any] | None = None,
    convention: str | None = None,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
) -> TieTreatments:
    """Measure one ranking under several treatments of its ties.

    Parameters
    ----------
    y_true, y_score, qid, mask, convention, zero_relevance, unjudged, query_weight
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
        As in `ranking_score`, and for keys of another length or missing where a
        document is retrieved.

    See Also
    --------
    tie_report : How much of a ranking is tied.
    evaluate : The exact mean, best and worst value of each query.
    break_ties : The scores that rank by such a rule.

    Notes
    -----
    The treatments are those of Yang, Moffat and Turpin, "How precise does document
    scoring need to be?", AIRS 2016, where "best", "worst" and "expected" are called
    optimistic, pessimistic and mean.

    Examples
    --------
    >>> from tieaware_sklearn import tie_treatments
    >>> result = tie_treatments([0, 1, 1], [1, 1, 1], measures=["rr", "ap"],
    ...                         external={"shortest first": [90, 20, 55]})
    >>> print(result)
    treatment           RR      AP
    ------------------------------
    input           0.5000  0.5833
    shortest first  1.0000  1.0000
    best            1.0000  1.0000
    worst           0.5000  0.5833
    expected        0.8333  0.8056
    """
    resolved = _resolved.resolve(
        _parse.parse_measures(measures), zero_relevance, unjudged, convention
    )
    prepared, scores = _prepared.prepare_ranking(
        resolved,
        y_true,
        y_score,
        qid=qid,
        query_weight=query_weight,
        mask=mask,
        keep=True,
    )
    rules = TieRules(external, len(scores), lists=prepared.lists)
    treatments = {
        name: rules.values(prepared, resolved, scores, name).expected
        for name in ("input", *rules.external)
    }
    values = prepared.values(resolved, scores, Detail.RANGE)
    treatments["best"] = values.best
    treatments["worst"] = values.worst
    treatments["expected"] = values.expected
    per_query = np.stack(list(treatments.values()))
    return TieTreatments(
        treatments=tuple(treatments),
        measures=resolved.names,
        qid=prepared.queries.qid,
        per_query=per_query,
        mean=np.array([column_means(table, prepared.weight) for table in per_query]),
        _undefined=prepared.undefined_note(resolved),
    )


@dataclass(frozen=True, eq=False, repr=False)
class TieReport(html.Result):
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
    _undefined: list[str]

    _tables = _text.tables_of_ties
    _conclusion = _text.conclusion_on_ties

    def _columns(self) -> dict[str, Any]:
        figures = dict(vars(self))
        rows = []
        for name, value in figures.items():
            if isinstance(value, np.ndarray):
                each = zip(self.measures, value.tolist(), strict=True)
                rows += [(name, *one) for one in each]
            elif not isinstance(value, (tuple, list)):
                rows.append((name, "", float(value)))
        columns = zip(*rows, strict=True)
        return dict(zip(("figure", "measure", "value"), columns, strict=True))


def tie_report(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    k: int = 10,
    measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
) -> TieReport:
    """Report how much of a ranking is tied, and how much that can change measures.

    Parameters
    ----------
    y_true, y_score, qid, mask, zero_relevance, unjudged, query_weight
        As in `ranking_score`. Weights affect averages only.
    k : int, default=10
        Cut-off: the report states in how many queries it falls inside a tie group.
    measures : list of str or Measure, default=("ndcg@10", "ap", "rr")
        Measures whose difference between best and worst value is reported.

    Returns
    -------
    TieReport

    Raises
    ------
    ValueError
        As in `ranking_score`, and for k < 1.

    See Also
    --------
    evaluate : Best, worst and standard deviation for each query.
    tie_treatments : The values under other treatments of ties.

    Notes
    -----
    The shares of tied documents and queries are those of Yang, Moffat and Turpin, "How
    precise does document scoring need to be?", AIRS 2016, Table 1.

    Scores that differ in their last bits do not tie. If they are one score, computed in
    two ways, `score_precision.round_scores` makes them tie.

    Examples
    --------
    >>> from tieaware_sklearn import tie_report
    >>> report = tie_report([1, 0, 0, 1], [2, 1, 1, 1], k=2, measures="rr")
    >>> report.tied_documents, report.repeated_documents, report.cut_queries
    (0.75, 0.5, 1.0)
    """
    checks.check_count(k, "k")
    resolved = _resolved.resolve(
        _parse.parse_measures(measures), zero_relevance, unjudged
    )
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid=qid, query_weight=query_weight, mask=mask
    )

    def count(ranked: Ranked) -> tuple[list[int], int]:
        (groups,) = ranked.ties
        n, first, last = groups.n, groups.start, groups.start + groups.n - 1
        tied = n > 1
        label = np.maximum(groups.levels, 0)[groups.label]
        mixed = label[first] != label[last]
        cut = (groups.lo < k) & (k < groups.hi)
        counts = [n.sum(), n[tied].sum(), n[mixed].sum(), (n - 1).sum()]
        counts += [len(np.unique(groups.query[tied])), cut.sum()]
        return counts, int(n.max(initial=0))

    counts, sizes = zip(*prepared.each_block(count, scores), strict=True)
    values = prepared.values(resolved, scores, Detail.RANGE)
    gaps = np.abs(values.best - values.worst)
    queries = prepared.queries
    if (judged := prepared.judged) is not None:
        scores, queries = judged.scores(scores), judged.queries
    sums = np.sum(counts, axis=0).tolist()
    documents, tied, mixed, repeated, tied_queries, cut = sums
    retrieved = max(documents, 1)
    return TieReport(
        n_queries=queries.n_queries,
        n_documents=documents,
        n_distinct_scores=len(np.unique(scores[checks.is_retrieved(scores)])),
        largest_group=max(sizes),
        tied_documents=tied / retrieved,
        mixed_documents=mixed / retrieved,
        repeated_documents=repeated / retrieved,
        tied_queries=tied_queries / queries.n_queries,
        k=int(k),
        cut_queries=cut / queries.n_queries,
        measures=resolved.names,
        mean_gap=column_means(gaps, prepared.weight),
        largest_gap=np.fmax.reduce(gaps),
        _undefined=prepared.undefined_note(resolved),
    )
