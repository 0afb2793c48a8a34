"""Checks of arrays (dtypes, lengths, missing values, query ids) and of seeds.

Arranged rows are the rows of the data set, gathered into queries, one query after
another.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._display import words
from .._typing import Array, BoolArray, FloatArray, IndexArray, IntArray
from . import exact_numbers, messages, segments

#: Maximum size of the table in which integers are looked up, in cells per integer.
#: Integers that need a larger table are sorted.
_TABLE = 4
#: Maximum number of rows of a small example. In a small example, it is not an error if
#: each row is a query, and no warning appears if all features are constant.
FEW_ROWS = 50


def check_seed(random_state: Any) -> np.random.RandomState:
    """Return a random generator. Equal integers give equal random numbers.

    If a Generator or RandomState is passed, the result draws from its stream, so that a
    second call continues the stream.

    Raises
    ------
    ValueError
        If `random_state` is not an integer from 0 to 2**32 - 1, a Generator, a
        RandomState or None.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    try:
        return check_random_state(random_state)
    except ValueError:
        raise ValueError(
            "random_state must be an integer from 0 to 2**32 - 1, a Generator, a "
            f"RandomState or None, got {random_state!r}"
        ) from None


def seed_of(random_state: Any) -> int:
    """Return a seed that can be reused: the integer itself, or a drawn integer."""
    random = check_seed(random_state)
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(random.randint(2**31 - 1))


UNJUDGED = ("raise", "nonrelevant", "drop")
#: The label of documents without a judgment. `UNJUDGED_LABEL` is below all true labels.
UNJUDGED_LABEL = -1.0
#: The label of documents that are dropped from the ranking.
DROPPED_LABEL = -2.0


@dataclass(frozen=True)
class Queries:
    """Rows gathered into queries.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    offsets : ndarray of shape (n_queries + 1,), int64
        The arranged rows of query ``q`` are ``offsets[q]:offsets[q + 1]``.
    order : ndarray of shape (n_rows,) or None
        The row of the data set for each arranged row, or None if the rows are already
        query by query.
    """

    qid: Array
    offsets: IntArray
    order: IndexArray | None

    def __getstate__(self) -> dict[str, Any]:
        # Computing the sizes is faster than pickling them.
        return {name: value for name, value in vars(self).items() if name != "sizes"}

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def sizes(self) -> IntArray:
        return self.offsets[1:] - self.offsets[:-1]

    def name(self, query: int) -> str:
        """Return the id of a query as shown in messages."""
        return repr(self.qid[query : query + 1].tolist()[0])

    def arrange(self, values: Array) -> Array:
        """Return the values of rows query by query."""
        return values if self.order is None else values[self.order]

    def sorted(self) -> IndexArray:
        """Return the indices of the queries, sorted by id.

        The sorted ids do not depend on the order of the rows.
        """
        if self.qid.dtype.kind != "O":
            return np.argsort(self.qid, kind="stable")
        ids = self.qid.tolist()
        queries = range(self.n_queries)
        try:
            by_id = sorted(queries, key=ids.__getitem__)
        except TypeError:  # Ids of several types cannot be compared.
            by_id = sorted(queries, key=lambda q: (type(ids[q]).__name__, str(ids[q])))
        return np.array(by_id, dtype=np.intp)

    def shortest_first(self) -> IndexArray:
        """Return the queries sorted by size, then by id."""
        by_id = self.sorted()
        return by_id[np.argsort(self.sizes[by_id], kind="stable")]

    def original_rows(self, arranged: IndexArray) -> IndexArray:
        """Return the row of the data set for each of these arranged rows."""
        return arranged if self.order is None else self.order[arranged]

    @property
    def codes(self) -> IntArray:
        """The index of the query of each arranged row."""
        return segments.owners(self.sizes)

    def row_codes(self) -> IntArray:
        """Return the index of the query of each row of the data set."""
        if self.order is None:
            return self.codes
        codes = np.empty(self.n_rows, dtype=np.int64)
        codes[self.order] = self.codes
        return codes

    def varying(self, arranged: Array) -> BoolArray:
        """Return a mask of the values that differ from the first row of their query.

        The values are a column or a matrix, in arranged rows. NaN is equal to NaN.
        """
        first = np.repeat(arranged[self.offsets[:-1]], self.sizes, axis=0)
        differs = arranged != first
        if arranged.dtype.kind == "f" and np.isnan(first).any():
            differs &= ~(np.isnan(arranged) & np.isnan(first))
        return differs

    def rows(self, chosen: NDArray[np.integer[Any]]) -> IndexArray:
        """Return the arranged rows of these queries, query by query."""
        return segments.consecutive(self.offsets[:-1][chosen], self.sizes[chosen])

    def subset(self, chosen: NDArray[np.integer[Any]]) -> Queries:
        """Return only these queries.

        The rows of the result are the arranged rows `rows(chosen)`, which the caller
        must select from all columns.
        """
        offsets = segments.offsets_of(self.sizes[chosen])
        return Queries(self.qid[chosen], offsets, None)

    def by_id(self) -> Queries:
        """Return the queries in the order of their ids, with the same rows."""
        by_id = self.sorted()
        queries = self.subset(by_id)
        rows = self.original_rows(self.rows(by_id))
        if (rows == np.arange(self.n_rows)).all():
            return queries
        return replace(queries, order=rows)


def check_not_row_ids(
    n_rows: int, qid: Array, name: str, *, in_fit: bool = False
) -> None:
    """Warn, or raise in `fit`, if all of several queries have a single document.

    In `fit`, up to `FEW_ROWS` rows only cause a warning. Ids with fractions, which
    scikit-learn's checks of estimators pass, also cause only a warning. `qid` contains
    one id for each query.
    """
    if n_rows > len(qid) or n_rows == 1:
        return
    message = (
        f"{name} must contain the query id of each row, got a different id in each of "
        f"{n_rows} rows, so each query has a single document and nothing is ranked. If "
        f"{name} contains ids of rows or documents, pass query ids instead"
    )
    has_fractions = qid.dtype.kind == "f" and (qid % 1).any()
    if in_fit and n_rows > FEW_ROWS and not has_fractions:
        raise ValueError(message)
    words.warn(message)


def reject(
    bad: BoolArray,
    values: Array,
    name: str,
    requirement: str,
    place: messages.Place = messages.in_row,
    hint: str = "",
) -> None:
    """Raise a ValueError that shows the first of the `bad` rows, if there are any."""
    if bad.any():
        row = int(bad.argmax())
        n_more = int(bad.sum()) - 1
        more = f" (and {n_more} more)" if n_more else ""
        raise ValueError(
            f"{name} must {requirement}, got {values[row]} in {place(row)}{more}{hint}"
        )


def check_labels(
    y_true: ArrayLike,
    *,
    unjudged: str = "raise",
    name: str = "y_true",
    place: messages.Place = messages.in_row,
    padded: bool = False,
) -> FloatArray:
    """Return labels as finite and non-negative float64 values.

    Documents without a judgment get the label `UNJUDGED_LABEL`, or `DROPPED_LABEL` with
    ``unjudged="drop"``. Labels are `padded` if they come from a matrix.
    """
    check_choice(unjudged, "unjudged", UNJUDGED)
    labels = exact_numbers.floats_of(y_true, name, place)
    # Both comparisons are false for NaN.
    if labels.min() >= 0 and labels.max() < np.inf:
        return labels
    missing = np.isnan(labels)
    if unjudged == "raise":
        advice = ". Leave out rows without a label"
        if name == "y_true":
            advice = (
                '. Set unjudged="nonrelevant" to count NaN as not relevant, or '
                'unjudged="drop" to leave NaN out'
            )
        if padded:
            advice += ". If NaN is padding, the scores must also be NaN"
        reject(missing, labels, name, "be judged", place, advice)
    advice = ""
    if padded:
        advice = f". If such labels mark padding, pass mask={name} >= 0"
    elif name == "y_true":
        advice = ". If labels and scores are swapped, pass labels first"
    reject(labels < 0, labels, name, "be >= 0", place, advice)
    reject(np.isinf(labels), labels, name, "be finite", place)
    marked = DROPPED_LABEL if unjudged == "drop" else UNJUDGED_LABEL
    return np.where(missing, marked, labels)


def check_scores(
    y_score: ArrayLike,
    *,
    n_rows: int | None = None,
    name: str = "y_score",
    place: messages.Place = messages.in_row,
) -> Array:
    """Return scores in their own dtype, or objects as floats.

    A score of -inf means "not retrieved".
    """
    scores = exact_numbers.numbers_of(y_score, name, place)
    if n_rows is not None:
        check_length(scores, n_rows, name)
    # The comparison is false for NaN.
    if scores.dtype.kind == "f" and not scores.max() < np.inf:
        advice = ""
        if name.startswith("y_score"):
            advice = ". Pass -inf for documents that are not retrieved"
        reject(np.isnan(scores), scores, name, "not be NaN", place, advice)
        reject(np.isposinf(scores), scores, name, "be finite or -inf", place)
    if scores.dtype.kind == "u":
        _warn_of_negated(scores, name)
    return scores


def _warn_of_negated(scores: NDArray[np.unsignedinteger[Any]], name: str) -> None:
    """Warn of negated unsigned integers, because 0 stays the lowest of them.

    As an unsigned integer, -d is the largest integer + 1 - d. So negated distances of
    less than half of the range are 0 or above the middle of the range.
    """
    positive = scores[scores > 0]
    if 0 < len(positive) < len(scores):
        least = positive.min()
        largest = np.iinfo(scores.dtype).max
        if largest - largest // 2 < least < positive.max():
            words.warn(
                f"{name} of dtype {scores.dtype} contains 0 and otherwise only values "
                f">= {least}, like negated unsigned distances, so distance 0 ranks "
                "last: pass -distances.astype(int)"
            )


def is_retrieved(scores: Array) -> BoolArray:
    """Return a mask of the retrieved documents: scores of any dtype except -inf."""
    return scores != -np.inf


def check_length(values: Array, n_rows: int, name: str) -> None:
    if len(values) != n_rows:
        raise ValueError(
            f"{name} must have one value per row ({n_rows}), got {len(values)}"
        )


def check_same_order(columns: Mapping[str, Any]) -> None:
    """Warn of frames with the same index, or the same columns, in different orders.

    Rows and columns are matched by position. Frames with different labels cause no
    warning, as in scikit-learn.

    Warns
    -----
    UserWarning
        If the labels of two frames are the same but in different orders.
    """
    indexes = {}
    column_names = {}
    for name, frame in columns.items():
        # In a list, `index` is a method.
        if hasattr(frame, "index") and hasattr(frame.index, "equals"):
            indexes[name] = frame.index
        if hasattr(frame, "columns"):
            # In Arrow tables, `columns` contains arrays.
            labels = getattr(frame, "column_names", frame.columns)
            column_names[name] = [str(label) for label in labels]
    for name, index in indexes.items():
        first, first_index = next(iter(indexes.items()))
        if not index.equals(first_index) and set(index) == set(first_index):
            words.warn(
                f"{name} and {first} have the same index in different orders, but are "
                "matched by position. To match rows by index, pass "
                f"{name}.loc[{first}.index]. To silence this warning, pass to_numpy() "
                "of both"
            )
    for name, labels in column_names.items():
        first, first_labels = next(iter(column_names.items()))
        if labels != first_labels and sorted(labels) == sorted(first_labels):
            words.warn(
                f"{name} and {first} have the same columns in different orders, but "
                "are matched by position. To match columns by name, pass "
                f"{name}[{first}.columns]. To silence this warning, pass to_numpy() of "
                "both"
            )


def _objects(values: Any) -> Array:
    """Return an array of objects. `np.array` would make a matrix from tuples."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def _keys_of_ids(qid: Any, name: str) -> tuple[Array, Array | None]:
    """Return a key for each row, and the ids if the keys are codes of these ids."""
    if isinstance(qid, (str, bytes, int, np.integer)):
        column = f"X[{qid!r}]" if isinstance(qid, str) else f"X[:, {qid!r}]"
        raise ValueError(
            f"{name} must have one value per row, got {qid!r}: pass the values, such "
            f"as {column}. Constructors of estimators accept the name of a column"
        )
    if isinstance(qid, (list, tuple)):
        types = set(map(type, qid))
        # NumPy converts numbers beside texts to texts, and large integers to floats.
        if types not in ({int}, {float}, {str}):
            return _objects(qid), None
        array = np.asarray(qid)
        if types == {int} and array.dtype.kind == "f":
            array = _objects(qid)
        return array, None
    is_pandas = hasattr(qid, "factorize") and qid.dtype != object
    if is_pandas and np.asarray(qid[:0]).dtype.kind == "O":
        # pandas codes its texts, categories and times faster than a dictionary does.
        # Missing ids also get a code, so that `_check_ids` refuses them.
        codes, ids = qid.factorize(use_na_sentinel=False)
        return np.asarray(codes), np.asarray(ids, dtype=object)
    arrow_type: Any = getattr(qid, "type", None)
    if hasattr(arrow_type, "index_type"):
        # If a value of a dictionary is missing, Arrow passes a wrong value to NumPy.
        qid = qid.cast(arrow_type.value_type)
    array = exact_numbers.one_dimensional(qid, name)
    if array.dtype.kind == "V":
        raise ValueError(f"{name} must not contain records, got dtype {array.dtype}")
    return array, None


def _first_of_each(keys: Array, name: str) -> IndexArray:
    """Return, for each key, the index of the first key that is equal."""
    indices = np.arange(len(keys))
    if keys.dtype.kind in "OSU":
        first_of: dict[Any, int] = {}
        try:
            # A key that is already in the dictionary keeps its first index.
            first_indices = map(first_of.setdefault, keys.tolist(), range(len(keys)))
            return np.fromiter(first_indices, np.intp, len(keys))
        except TypeError as error:
            raise ValueError(f"{name} must contain hashable values: {error}") from None
    if keys.dtype.kind in "biu":
        # The difference from the smallest key fits in 64 bits, whatever the dtype.
        above = keys.astype(np.uint64)
        above -= keys.min().astype(np.uint64)
        width = int(above.max()) + 1
        if width <= _TABLE * len(keys):
            table = np.empty(width, dtype=np.intp)
            # In reverse order, the first of several equal keys is written last.
            table[above[::-1]] = indices[::-1]
            return table[above]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse]


def _check_ids(ids: Array, rows: IndexArray, name: str, *, empty: bool) -> None:
    """Refuse missing ids, sets, and empty texts unless `empty` allows empty texts.

    In text files, an empty text may stand for a missing id. `rows` are the first rows
    with these ids.
    """
    for row, value in zip(rows.tolist(), ids.tolist(), strict=True):
        requirement = ""
        if isinstance(value, (str, bytes)):
            if not (value or empty):
                requirement = "not be empty"
        elif exact_numbers.is_missing(value):
            requirement = "not be missing"
        elif isinstance(value, frozenset):
            requirement = "not contain sets, which have no order"
        if requirement:
            raise ValueError(
                f"{name} must {requirement}, got {messages.show(value)} in row {row}"
            )


def check_qid(
    qid: Any, *, n_rows: int, name: str = "qid", empty: bool = False
) -> Queries:
    """Gather the rows into queries. Without ids, all rows are one query.

    With `empty`, the empty text is also a valid id.
    """
    if qid is None:
        offsets = np.array([0, n_rows], np.int64)
        return Queries(np.zeros(1, np.int64), offsets, None)
    keys, ids = _keys_of_ids(qid, name)
    check_length(keys, n_rows, name)
    if keys.dtype.kind in "fmM":
        reject(np.isnan(keys), keys, name, "not be missing")
    try:
        starts = segments.run_starts(keys)
    except (TypeError, ValueError):
        # If objects cannot be compared, each row is a run of its own.
        starts = np.arange(n_rows)
    offsets = np.append(starts, n_rows)
    heads = keys[starts]
    first_rows = starts
    codes = None
    # Runs with ascending keys are different queries, which need no look-up.
    if keys.dtype.kind == "O" or not (heads[1:] > heads[:-1]).all():
        first_of = _first_of_each(heads, name)
        is_first = first_of == np.arange(len(heads))
        first_rows = starts[is_first]
        codes = (np.cumsum(is_first) - 1)[first_of]
    ids = keys[first_rows] if ids is None else ids[keys[first_rows]]
    if ids.dtype.kind in "OSU":
        _check_ids(ids, first_rows, name, empty=empty)
    if codes is None or len(first_rows) == len(starts):
        return Queries(ids, offsets, None)
    # SciPy's conversion to CSC is a counting sort of the rows.
    codes = np.repeat(codes, np.diff(offsets))
    cells = np.ones(n_rows, bool), codes, np.arange(n_rows + 1)
    by_query = sp.csr_array(cells, shape=(n_rows, len(first_rows))).tocsc()
    order = by_query.indices.astype(np.intp)
    return Queries(ids, by_query.indptr.astype(np.int64), order)


def check_query_weight(
    query_weight: ArrayLike | None,
    queries: Queries,
    *,
    allow_zero: bool = False,
    name: str = "query_weight",
) -> FloatArray | None:
    """Return the weight of each query, from one weight per row.

    The weights must not all be 0, unless `allow_zero`.
    """
    if query_weight is None:
        return None
    weight = exact_numbers.floats_of(query_weight, name)
    check_length(weight, queries.n_rows, name)
    is_valid = np.isfinite(weight) & (weight >= 0)
    reject(~is_valid, weight, name, "be finite and >= 0")
    # The squares of weights must not overflow or underflow.
    is_extreme = (weight < 1e-100) | (weight > 1e100)
    reject(is_extreme & (weight > 0), weight, name, "be 0 or from 1e-100 to 1e100")
    per_query = one_per_query(weight, queries, name, str)
    if not (allow_zero or per_query.any()):
        raise ValueError(f"{name} must not be 0 in every query")
    return per_query


def check_segment(segment: Any, queries: Queries, *, name: str = "segment") -> Array:
    """Return the segment of each query, from one segment of hashable type per row."""
    gathered = check_qid(segment, n_rows=queries.n_rows, name=name, empty=True)
    row_codes = gathered.row_codes()
    codes = one_per_query(row_codes, queries, name, gathered.name)
    return gathered.qid[codes]


def queries_by_segment(segment: Any) -> tuple[Array, list[IndexArray]]:
    """Return segments in ascending order, and the queries of each segment."""
    gathered = check_qid(segment, n_rows=len(segment), name="segment", empty=True)
    ascending = gathered.sorted()
    queries = []
    for number in ascending:
        rows = gathered.rows(np.array([number]))
        queries.append(gathered.original_rows(rows))
    return gathered.qid[ascending], queries


def one_per_query(
    values: Array, queries: Queries, name: str, show: Callable[[Any], str]
) -> Array:
    """Return the value of each query, from rows that are constant within a query."""
    arranged = queries.arrange(values)
    per_query = arranged[queries.offsets[:-1]]
    varies = queries.varying(arranged)
    if varies.any():
        row = int(np.argmax(varies))
        query = int(queries.codes[row])
        raise ValueError(
            f"{name} must be constant within a query, got {show(per_query[query])} and "
            f"{show(arranged[row])} in query {queries.name(query)}"
        )
    return per_query


def check_count(value: Any, name: str, *, least: int = 1) -> None:
    """Refuse anything but an integer >= `least`."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (is_whole and value >= least):
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")


def is_number(
    value: Any,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> bool:
    """Return whether a value is a finite number within bounds, but not a bool."""
    # float and int come first, because a check of the abstract class Real is slow.
    is_real = isinstance(value, (float, int, numbers.Real))
    if not is_real or isinstance(value, bool):
        return False
    try:
        is_finite = math.isfinite(value)
    except OverflowError:  # An integer may exceed all floats.
        return False
    return bool(is_finite and above < value < below and least <= value <= most)


def check_share(value: Any, name: str, *, up_to_one: bool = False) -> None:
    """Refuse anything but a number in (0, 1), or in (0, 1] if `up_to_one`."""
    if not is_number(value, above=0, most=1) or (value == 1 and not up_to_one):
        interval = "(0, 1]" if up_to_one else "(0, 1)"
        raise ValueError(f"{name} must be a number in {interval}, got {value!r}")


def check_choice(value: Any, name: str, choices: tuple[Any, ...]) -> None:
    # The type is checked first, because 1 == True and `in` fails for arrays.
    if not (isinstance(value, (str, bool, type(None))) and value in choices):
        raise ValueError(f"{name} must be one of {choices}, got {messages.show(value)}")


def check_flag(value: Any, name: str) -> None:
    """Refuse anything but True or False, of Python or NumPy."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {messages.show(value)}")


def check_choices(values: Any, name: str, choices: tuple[str, ...]) -> list[str]:
    """Return a list of one or more different choices."""
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, (list, tuple, set, frozenset, np.ndarray)):
        raise ValueError(
            f"{name} must be one or more of {choices}, got {messages.show(values)}"
        )
    chosen = list(values)
    if not chosen:
        raise ValueError(f"{name} must not be empty, got {values!r}")
    for value in chosen:
        check_choice(value, name, choices)
        if chosen.count(value) > 1:
            raise ValueError(
                f"{name} must contain each value once, got {value!r} twice"
            )
    return chosen
