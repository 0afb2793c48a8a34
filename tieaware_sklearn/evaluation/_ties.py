"""Break ties by rules, compare treatments of ties, and report ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html
from .._engine import checks, exact_numbers, lists, messages, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..measures import Measure, _parse
from ..measures._values import Detail, QueryValues
from ..ranking._ranked import Ranked
from ..statistics.averages import column_means
from . import _prepared, _resolved, _text

#: Directions in which a key orders tied documents.
DIRECTIONS = ("ascending", "descending", "random")
#: Precisions in which scores are compared. trec_eval reads scores as 32-bit floats.
EQUALITIES = ("exact", "float32")


def break_ties(
    y_score: ArrayLike, key: Any, *, qid: Any = None, random_state: Any = 0
) -> FloatArray:
    """Break the ties of scores by a key, such as document ids.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,) or (n_documents, n_systems)
        Scores. A document with a score of -inf is not retrieved. The ties of each
        column are broken separately.
    key : array-like, tuple, "input" or "random"
        Rule that orders documents of a query if their scores are equal, in one of these
        forms:

        - An array of numbers or strings, of shape (n_documents,) or of the shape of
          `y_score`. The document with the smallest key ranks first. Strings are
          compared as UTF-8 bytes.
        - A pair of such an array and a direction: "ascending" (smallest first),
          "descending" (largest first) or "random" (the distinct keys in a random order,
          which does not depend on the order of rows).
        - A triple of such an array, a direction and "float32". Scores then tie if the
          scores are equal as 32-bit floats. ``(docno, "descending", "float32")`` is
          trec_eval's rule if the ids are strings. Ids that are numbers are compared as
          numbers.
        - "input": the document that comes first in `y_score` ranks first.
        - "random": documents with equal scores rank in a random order.
    qid : array-like of shape (n_documents,), optional
        Query id of each document. If None, all documents belong to one query.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the random orders.

    Returns
    -------
    ndarray of the shape of `y_score`, float64
        Ranks within each query, counted from the bottom. The rank of the last retrieved
        document is 1, and the rank of documents that are not retrieved is -inf.
        Documents with equal scores and equal keys still tie, so their ranks are equal.

    Raises
    ------
    ValueError
        If scores or query ids break a rule of `ranking_score`, if a direction or a
        precision is unknown, if keys have the wrong shape or mix numbers and strings,
        or if the key of a retrieved document is missing.

    See Also
    --------
    tie_treatments : Measures one ranking under several rules.
    compare_systems : Compares systems under a rule (``ties=``, ``external=``).

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
    columns = [y_score]
    if array.ndim == 2:
        columns = [*array.T]
    checked = [checks.check_scores(column) for column in columns]
    n_rows = len(checked[0])
    tie_rule = _TieRule(key, "key", n_rows, len(columns), random_state=random_state)
    queries = checks.check_qid(qid, n_rows=n_rows)
    # `broken` returns ranks over all queries, which are below the number of rows.
    first_place = queries.row_codes() * n_rows
    ranks = np.full((n_rows, len(columns)), -np.inf)
    for j, scores in enumerate(checked):
        retrieved = checks.is_retrieved(scores)
        rank = tie_rule.broken(scores, queries, j)[retrieved].astype(np.int64)
        first = first_place[retrieved]
        distinct, index = np.unique(first + rank, return_inverse=True)
        ranks[retrieved, j] = index - np.searchsorted(distinct, first) + 1
    return ranks if array.ndim == 2 else ranks[:, 0]


class _TieRule:
    """A key that breaks ties, encoded once for all columns of scores."""

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
        self._equality = "exact"
        direction = "ascending"
        # A tuple that begins with a string is a sequence of keys.
        has_direction = isinstance(key, tuple) and len(key) >= 2
        if has_direction:
            is_text = isinstance(key[0], (str, bytes))
            has_direction = isinstance(key[1], str) and not is_text
        if isinstance(key, str):
            checks.check_choice(key, f"{name}, if a string,", ("input", "random"))
            if key == "random":
                direction = "random"
            key = np.arange(n_rows)
            # This key is already a column of documents.
            lists = None
        elif has_direction:
            if len(key) > 3:
                raise ValueError(
                    f"{name}, if a tuple, must have 2 or 3 elements (an array, a "
                    f"direction and 'float32'), got {len(key)}"
                )
            if len(key) == 3:
                self._equality = key[2]
            direction = key[1]
            key = key[0]
            checks.check_choice(direction, f"the direction in {name}", DIRECTIONS)
            checks.check_choice(self._equality, f"the precision in {name}", EQUALITIES)
        if lists is not None:
            key = lists.documents(key, name, several=True)
        self._columns = []
        for column in self._split(key, n_columns):
            self._columns.append(self._encode(column, direction, n_rows, random_state))

    def _split(self, key: Any, n_columns: int) -> list[Any]:
        """Return a key for each column of scores, or a single key for all columns."""
        exact_numbers.check_not_masked(key, self.name)
        try:
            array = exact_numbers.as_array(key, self.name)
        except ValueError:
            raise ValueError(
                f"{self.name} must be 'input', 'random', an array, or a tuple of an "
                f"array and one of {DIRECTIONS}, got {messages.show(key)}"
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

    def _encode(
        self, key: Any, direction: str, n_rows: int, random_state: Any
    ) -> tuple[IntArray, Array]:
        """Return integer codes of the keys, and the keys.

        The highest code ranks first. The code of a missing key is -1.
        """
        array = exact_numbers.as_array(key, self.name)
        checks.check_length(array, n_rows, self.name)
        if array.dtype.kind in "biuf" and not isinstance(key, list):
            # A missing key is NaN, which differs from itself.
            is_key = array == array
            comparable = array[is_key]
        else:
            # The array of a mixed list contains strings in place of numbers.
            values = key if isinstance(key, list) else array.tolist()
            is_missing = map(exact_numbers.is_missing, values)
            is_key = ~np.fromiter(is_missing, bool, n_rows)
            comparable = array[is_key]
            rows = np.flatnonzero(is_key).tolist()
            present = [values[row] for row in rows]
            types = set(map(type, present))
            are_texts = {issubclass(kind, (str, bytes)) for kind in types}
            if len(are_texts) > 1:
                raise ValueError(
                    f"{self.name} must contain only numbers or only strings, got "
                    f"{messages.show(key)}"
                )
            if True in are_texts:
                comparable = _encoded(present)
        try:
            distinct, inverse = np.unique(comparable, return_inverse=True)
        except TypeError as error:
            raise ValueError(
                f"{self.name} must contain only numbers or only strings: {error}"
            ) from None
        place = np.arange(len(distinct))
        if direction == "ascending":
            place = place[::-1]
        elif direction == "random":
            random = checks.check_seed(random_state)
            place = random.permutation(len(distinct))
        codes = np.full(n_rows, -1, dtype=np.int64)
        codes[is_key] = place[inverse]
        return codes, array

    def broken(
        self, scores: Array, queries: checks.Queries, column: int = 0, system: str = ""
    ) -> FloatArray:
        """Return scores in the order of `scores`, with ties broken by the key."""
        if len(self._columns) == 1:
            column = 0
        codes, keys = self._columns[column]
        retrieved = checks.is_retrieved(scores)
        is_missing = (codes < 0) & retrieved
        if is_missing.any():
            row = np.argmax(is_missing)
            place = f"row {row}"
            if queries.n_queries > 1:
                query = int(queries.row_codes()[row])
                place += f", query {queries.name(query)}"
            if system:
                place += f", of system {system!r}"
            raise ValueError(
                f"{self.name} must not be missing where a document is retrieved, got "
                f"{keys[row]} in {place}"
            )
        compared = scores[retrieved]
        if self._equality == "float32":
            compared = exact_numbers.in_32_bits(compared)
        ranks, _ = tie_groups.dense_ranks(compared)
        codes = codes[retrieved]
        ranks *= codes.max(initial=0) + 1
        ranks += codes
        broken = np.full(len(scores), -np.inf)
        broken[retrieved], _ = tie_groups.dense_ranks(ranks)
        return broken


def _encoded(values: Sequence[str | bytes]) -> Array:
    """Encode strings as the bytes that trec_eval compares."""
    encoded = []
    for value in values:
        if isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        encoded.append(value)
    # NumPy's arrays of bytes lose trailing NULs.
    has_nul = b"\0" in b"".join(encoded)
    return np.array(encoded, dtype=object if has_nul else None)


class TieRules:
    """Treatments of ties by name: built-in treatments and the user's external rules.

    Parameters
    ----------
    external : mapping of str to key, optional
        As in `tie_treatments`.
    n_rows : int
        Number of documents.
    systems : sequence of str
        Names of the columns of scores, for messages.
    lists : Lists, optional
        Cells of the input that the rows come from, if the input was a matrix of
        queries.

    Attributes
    ----------
    external : dict of str to _TieRule
        External rules by name.
    """

    def __init__(
        self,
        external: Mapping[str, Any] | None,
        n_rows: int,
        systems: Sequence[str] = ("",),
        lists: lists.Lists | None = None,
    ) -> None:
        self._systems = systems
        keys = {} if external is None else external
        if not isinstance(keys, Mapping) or not all(isinstance(n, str) for n in keys):
            raise ValueError(
                f"external must map names to keys, got {messages.show(external)}"
            )
        self.external = {}
        for name, key in keys.items():
            if name in _prepared.TIES:
                raise ValueError(
                    "external must not use the name of a built-in treatment, got "
                    f"{name!r}"
                )
            argument = f"external[{name!r}]"
            self.external[name] = _TieRule(key, argument, n_rows, len(systems), lists)

    def check(self, ties: Any) -> tuple[str, ...]:
        """Check the name of a treatment, or several different names."""
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
        """Return values over the orders of ties that the treatment `ties` allows."""
        if ties in self.external:
            tie_rule = self.external[ties]
            system = self._systems[column]
            scores = tie_rule.broken(scores, prepared.queries, column, system)
            ties = "expected"
        return prepared.values(resolved, scores, detail, ties=ties, n_jobs=n_jobs)


@dataclass(frozen=True, eq=False, repr=False)
class TieTreatments(html.Result):
    """Values of one ranking under several treatments of its ties.

    Printing the result shows a table of the means over queries.

    Attributes
    ----------
    treatments : tuple of str
        Names of the treatments: "input" (the order of rows), the external rules,
        "best" and "worst" (the most and the least favourable order) and "expected" (the
        mean over all orders).
    measures : tuple of str
        Canonical names.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    per_query : ndarray of shape (n_treatments, n_queries, n_measures)
        Values of each treatment, query and measure. Values of queries that are left out
        are NaN.
    mean : ndarray of shape (n_treatments, n_measures)
        Means over queries, weighted by the argument ``query_weight`` of
        `tie_treatments`.

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
        averages = zip(self.measures, self.mean.T, strict=True)
        return {"treatment": self.treatments, **dict(averages)}


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
    measures : str, Measure or list of these, default=("ndcg@10", "ap", "rr")
        Names of different measures, or `Measure` objects, as in `parse_measure`.
    external : mapping of str to key, optional
        External rules by name. The names "expected", "best", "worst" and "input" are
        reserved. A key is an array of numbers or strings, of the shape of
        `y_true`, or a tuple that begins with such an array and a direction, as in
        `break_ties`. For example, ``(docno, "descending", "float32")`` is trec_eval's
        rule if the ids are strings. If documents have equal scores and equal keys, the
        value is the mean over the orders of these documents.

    Returns
    -------
    TieTreatments

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if the list of measures is empty or contains a
        measure twice, if the name of an external rule is reserved, if a key has the
        wrong shape or mixes numbers and strings, if a direction or a precision is
        unknown, or if the key of a retrieved document is missing.

    See Also
    --------
    tie_report : Reports how much of a ranking is tied.
    evaluate : Reports the mean, best and worst value of each query.
    break_ties : Returns ranks in which a key breaks the ties.

    Notes
    -----
    Yang, Moffat and Turpin, "How precise does document scoring need to be?", AIRS 2016,
    compare treatments of ties. In their paper, "best", "worst" and "expected" are
    called optimistic, pessimistic and mean.

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
    parsed = _parse.parse_measures(measures)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, convention)
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid, mask, query_weight, keep=True
    )
    rules = TieRules(external, len(scores), lists=prepared.lists)
    treatments = {}
    for name in ("input", *rules.external):
        values = rules.values(prepared, resolved, scores, name)
        treatments[name] = values.expected
    values = prepared.values(resolved, scores, Detail.RANGE)
    treatments["best"] = values.best
    treatments["worst"] = values.worst
    treatments["expected"] = values.expected
    per_query = np.stack(list(treatments.values()))
    means = [column_means(table, prepared.weight) for table in per_query]
    return TieTreatments(
        treatments=tuple(treatments),
        measures=resolved.names,
        qid=prepared.queries.qid,
        per_query=per_query,
        mean=np.array(means),
        _undefined=prepared.undefined_note(resolved),
    )


@dataclass(frozen=True, eq=False, repr=False)
class TieReport(html.Result):
    """Counts and shares of tied documents, and the effect of ties on measures.

    Shares are between 0 and 1. Only retrieved documents are counted: documents with
    scores above -inf. Printing the report shows tables.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries, and number of retrieved documents.
    n_distinct_scores : int
        Number of distinct scores over all queries.
    largest_group : int
        Number of documents in the largest tie group: 1 if no documents tie, and 0 if no
        document is retrieved.
    tied_documents : float
        Share of documents that tie with another document of their query.
    mixed_documents : float
        Share of documents in tie groups with different labels. An unjudged document
        counts as a document with label 0. Only the order of documents in these groups
        can change a measure. Judged is an exception, because Judged distinguishes
        unjudged documents from documents with label 0.
    repeated_documents : float
        Share of documents that tie with the document ranked directly above: the sum
        of n_g - 1 over all tie groups, where n_g is the size of a group, divided by the
        number of documents (Yang, Moffat and Turpin 2016, Table 1).
    tied_queries : float
        Share of queries with ties (Yang, Moffat and Turpin 2016, Table 1).
    k : int
        Cut-off for `cut_queries`.
    cut_queries : float
        Share of queries in which the cut-off `k` falls inside a tie group.
    measures : tuple of str
        Canonical names.
    mean_gap, largest_gap : ndarray of shape (n_measures,)
        Mean and maximum, over queries, of the absolute difference between the best
        and the worst value. Weights of queries affect only `mean_gap`.

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
        rows = []
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                for measure, gap in zip(self.measures, value.tolist(), strict=True):
                    rows.append((name, measure, gap))
            elif not isinstance(value, (tuple, list)):
                rows.append((name, "", float(value)))
        figures, measures, values = zip(*rows, strict=True)
        return {"figure": figures, "measure": measures, "value": values}


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
    """Report how much of a ranking is tied, and how much ties can change measures.

    Parameters
    ----------
    y_true, y_score, qid, mask, zero_relevance, unjudged, query_weight
        As in `ranking_score`. Weights affect only the attribute `mean_gap` of the
        report.
    k : int, default=10
        Cut-off. The report contains the share of queries in which the cut-off falls
        inside a tie group.
    measures : str, Measure or list of these, default=("ndcg@10", "ap", "rr")
        Names of different measures, or `Measure` objects, as in `parse_measure`. The
        report contains the difference between the best and the worst value of each
        measure.

    Returns
    -------
    TieReport

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if the list of measures is empty or contains a
        measure twice, or if `k` is not an integer >= 1.

    See Also
    --------
    evaluate : Reports the best and worst value and the standard deviation of each
        query.
    tie_treatments : Measures a ranking under several treatments of ties.

    Notes
    -----
    Yang, Moffat and Turpin, "How precise does document scoring need to be?", AIRS 2016,
    Table 1, define ``repeated_documents`` and ``tied_queries``.

    Scores that differ in their last bits do not tie. If scores that should be equal
    differ by rounding errors, round the scores with `score_precision.round_scores`,
    which makes nearly all of these scores equal.

    Examples
    --------
    >>> from tieaware_sklearn import tie_report
    >>> report = tie_report([1, 0, 0, 1], [2, 1, 1, 1], k=2, measures="rr")
    >>> report.tied_documents, report.repeated_documents, report.cut_queries
    (0.75, 0.5, 1.0)
    """
    checks.check_count(k, "k")
    parsed = _parse.parse_measures(measures)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged)
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid, mask, query_weight
    )

    def count(ranked: Ranked) -> tuple[list[int], int]:
        (groups,) = ranked.ties
        n = groups.n
        is_tied = n > 1
        # Unjudged documents count as documents of label 0.
        levels = np.maximum(groups.levels, 0)
        label = levels[groups.label]
        # The documents of a group are sorted by label.
        is_mixed = label[groups.start] != label[groups.start + n - 1]
        is_cut = (groups.lo < k) & (k < groups.hi)
        tied_queries = np.unique(groups.query[is_tied])
        documents = [n.sum(), n[is_tied].sum(), n[is_mixed].sum(), (n - 1).sum()]
        queries = [len(tied_queries), is_cut.sum()]
        return documents + queries, int(n.max(initial=0))

    counts, sizes = zip(*prepared.each_block(count, scores), strict=True)
    sums = np.sum(counts, axis=0)
    n_documents = int(sums[0])
    n_queries = prepared.queries.n_queries
    tied, mixed, repeated = (sums[1:4] / max(n_documents, 1)).tolist()
    tied_queries, cut_queries = (sums[4:] / n_queries).tolist()
    values = prepared.values(resolved, scores, Detail.RANGE)
    gaps = np.abs(values.best - values.worst)
    if prepared.judged is not None:
        # Documents that ``unjudged="drop"`` leaves out are not counted.
        scores = prepared.judged.scores(scores)
    distinct = np.unique(scores[checks.is_retrieved(scores)])
    return TieReport(
        n_queries=n_queries,
        n_documents=n_documents,
        n_distinct_scores=len(distinct),
        largest_group=max(sizes),
        tied_documents=tied,
        mixed_documents=mixed,
        repeated_documents=repeated,
        tied_queries=tied_queries,
        k=int(k),
        cut_queries=cut_queries,
        measures=resolved.names,
        mean_gap=column_means(gaps, prepared.weight),
        largest_gap=np.fmax.reduce(gaps),
        _undefined=prepared.undefined_note(resolved),
    )
