"""Ties broken by a rule, and the ways to treat ties by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.exact import in_32_bits, is_missing, none_for_masked, show
from .._engine.lists import Lists
from .._engine.qid_column import array_of
from .._engine.seeds import check_seed
from .._engine.ties import FloatArray, IntArray, dense_ranks
from .._engine.validation import (
    Queries,
    check_choice,
    check_choices,
    check_length,
    check_qid,
    check_scores,
    is_retrieved,
)
from ._prepared_ranking import TIES, Prepared
from ._undefined import Asked

DIRECTIONS = ("ascending", "descending", "random")
#: when two scores are equal: as they are, or as trec_eval reads them
EQUALITIES = ("exact", "float32")


def break_ties(
    y_score: ArrayLike,
    key: Any,
    *,
    qid: Any = None,
    random_state: Any = 0,
) -> FloatArray:
    """Break the ties of scores by a key, such as document ids.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,) or (n_documents, n_systems)
        Scores, -inf for documents that are not retrieved. Each column is broken on
        its own.
    key : array-like, tuple, "input" or "random"
        What decides among documents with equal scores:

        - an array of numbers or strings, of shape (n_documents,) or of the shape of
          `y_score`: the smallest ranks first. Strings are compared as UTF-8 bytes;
        - a pair of such an array and "ascending" (smallest first), "descending"
          (largest first) or "random" (the distinct keys in a random order, which does
          not depend on the order of rows);
        - a triple of array, direction and "float32": scores tie if they are equal as
          32-bit floats. ``(docno, "descending", "float32")`` is trec_eval's rule, if
          ids are strings: numbers are compared as numbers;
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
        For scores as in `ranking_score`; for keys of another shape, of mixed types, or
        missing where a document is retrieved; and for an unknown direction.

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
    array = array_of(y_score)
    columns = [y_score] if array.ndim != 2 else [*array.T]
    checked = [check_scores(column) for column in columns]
    n_rows = len(checked[0])
    rule = _TieRule(key, "key", n_rows, len(columns), random_state=random_state)
    queries = check_qid(qid, n_rows=n_rows)
    query = queries.row_codes()
    broken = [rule.broken(scores, queries, j) for j, scores in enumerate(checked)]
    ranks = [_from_the_bottom(scores, query) for scores in broken]
    return ranks[0] if array.ndim != 2 else np.column_stack(ranks)


def _from_the_bottom(scores: FloatArray, query: IntArray) -> FloatArray:
    """Dense ranks within each query, 1 for the lowest score."""
    out = np.full(len(scores), -np.inf)
    there = np.flatnonzero(is_retrieved(scores))
    there = there[np.lexsort((scores[there], query[there]))]
    score, query = scores[there], query[there]
    new = np.ones(len(there), dtype=bool)
    new[1:] = (score[1:] != score[:-1]) | (query[1:] != query[:-1])
    first = np.ones(len(there), dtype=bool)
    first[1:] = query[1:] != query[:-1]
    place = np.cumsum(new)
    before = np.repeat(
        place[first] - 1, np.diff(np.flatnonzero(first), append=len(there))
    )
    out[there] = place - before
    return out


class _Codes(NamedTuple):
    """A key of each row as a whole number, higher ranked first; -1 where missing."""

    codes: IntArray
    given: Any

    def of(
        self, retrieved: NDArray[np.bool_], name: str, queries: Queries, system: str
    ) -> IntArray:
        missing = (self.codes < 0) & retrieved
        if missing.any():
            row = int(np.argmax(missing))
            where = f"row {row}"
            if queries.n_queries > 1:
                where += f", query {queries.name(int(queries.row_codes()[row]))}"
            if system:
                where += f", of system {system!r}"
            raise ValueError(
                f"{name} must not be missing where a document is retrieved, got "
                f"{self.given[row]} in {where}"
            )
        return self.codes[retrieved]


class _TieRule:
    """A key, read once for all columns of scores that it decides about."""

    def __init__(
        self,
        key: Any,
        name: str,
        n_rows: int,
        n_columns: int,
        lists: Lists | None = None,
        random_state: Any = 0,
    ) -> None:
        self.name = name
        direction, self._equality, given = "ascending", "exact", key
        if isinstance(key, str):
            check_choice(key, name, ("input", "random"))
            direction = "ascending" if key == "input" else "random"
            key = np.arange(n_rows)
        elif _is_rule(key):
            if len(key) > 3:
                raise ValueError(
                    f"{name} must be an array, or a tuple of an array, a direction "
                    f"and 'float32', got a tuple of {len(key)} elements"
                )
            key, direction, *equality = key
            check_choice(direction, name, DIRECTIONS)
            for self._equality in equality:
                check_choice(self._equality, name, EQUALITIES)
        if lists is not None and not isinstance(given, str):
            key = lists.documents(key, name)
        self._columns = [
            self._read(column, direction, n_rows, random_state)
            for column in self._split(key, n_columns)
        ]

    def _split(self, key: Any, n_columns: int) -> list[Any]:
        """Keys for each column of scores, or one for all."""
        key = none_for_masked(key)
        try:
            array = array_of(key)
        except ValueError:
            raise ValueError(
                f"{self.name} must be an array, or a tuple of an array and one of "
                f"{DIRECTIONS}, got {show(key)}"
            ) from None
        if array.ndim == 1:
            return [key]
        if array.ndim != 2 or n_columns != array.shape[1]:
            shapes = "(n_documents,)" if n_columns == 1 else "(n_documents, n_systems)"
            raise ValueError(
                f"{self.name} must be 1-dimensional, or have the shape of the scores, "
                f"{shapes}, got shape {array.shape}"
            )
        return [*array.T]

    def _read(self, key: Any, direction: str, n_rows: int, random_state: Any) -> _Codes:
        array = array_of(key)
        check_length(array, n_rows, self.name)
        # as they were given: an array of a list makes texts of its numbers
        values = array.tolist() if not isinstance(key, list) else key
        there = ~np.fromiter(map(is_missing, values), bool, n_rows)
        some = values if there.all() else [v for v in values if not is_missing(v)]
        if len({isinstance(value, (str, bytes)) for value in some}) > 1:
            raise ValueError(
                f"{self.name} must hold numbers only or strings only, got {key!r}"
            )
        try:
            keys, found = np.unique(
                _comparable(array[there], some), return_inverse=True
            )
        except TypeError as error:
            raise ValueError(
                f"{self.name} must hold numbers only or strings only: {error}"
            ) from None
        place = np.arange(len(keys))
        if direction == "ascending":
            place = place[::-1]
        elif direction == "random":
            place = check_seed(random_state).permutation(len(keys))
        codes = np.full(n_rows, -1, dtype=np.int64)
        codes[there] = place[found]
        return _Codes(codes, values)

    def broken(
        self,
        scores: NDArray[Any],
        queries: Queries,
        column: int = 0,
        system: str = "",
    ) -> FloatArray:
        """Scores that rank as `scores` do, and by the key where those tie."""
        retrieved = is_retrieved(scores)
        compared = scores[retrieved]
        if self._equality == "float32":
            compared = in_32_bits(compared)
        ranks, _ = dense_ranks(compared)
        own = self._columns[column if len(self._columns) > 1 else 0]
        codes = own.of(retrieved, self.name, queries, system)
        place, _ = dense_ranks(ranks * (int(codes.max(initial=0)) + 1) + codes)
        out = np.full(len(scores), -np.inf)
        out[retrieved] = place
        return out


def _is_rule(key: Any) -> bool:
    """Whether it is a tuple of an array and a direction, not of keys."""
    if not isinstance(key, tuple) or len(key) < 2 or not isinstance(key[1], str):
        return False
    return not isinstance(key[0], (str, bytes))


def _comparable(array: NDArray[Any], values: Sequence[Any]) -> NDArray[Any]:
    """Strings as the bytes that trec_eval compares; numbers as they are."""
    kinds = set(map(type, values))
    if not kinds or not all(issubclass(one, (str, bytes)) for one in kinds):
        return array
    if array.dtype.kind == "U" and all(issubclass(one, str) for one in kinds):
        joined = "".join(values)
        if joined.isascii() and "\0" not in joined:
            return array
    encoded = [
        one if isinstance(one, bytes) else one.encode("utf-8", "surrogateescape")
        for one in values
    ]
    # arrays of bytes lose NULs at the end
    return np.array(encoded, dtype=object if b"\0" in b"".join(encoded) else None)


class TieRules:
    """Ways to treat ties by name: ours, and the external rules of a user.

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
    """

    def __init__(
        self,
        external: Mapping[str, Any] | None,
        n_rows: int,
        systems: Sequence[str] = ("",),
        lists: Lists | None = None,
    ) -> None:
        self._systems = systems
        rules = {} if external is None else external
        if not isinstance(rules, Mapping) or not all(isinstance(n, str) for n in rules):
            raise ValueError(f"external must map names to keys, got {external!r}")
        for name in rules:
            if name in TIES:
                raise ValueError(
                    "external must not use the name of a built-in treatment, got "
                    f"{name!r}"
                )
        self._rules = {
            name: _TieRule(key, f"external[{name!r}]", n_rows, len(systems), lists)
            for name, key in rules.items()
        }

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the built-in ones first."""
        return (*TIES, *self._rules)

    @property
    def external(self) -> tuple[str, ...]:
        """Names of the external rules."""
        return tuple(self._rules)

    def check(self, ties: Any) -> tuple[str, ...]:
        """One treatment or several, each once."""
        return tuple(check_choices(ties, "ties", self.names))

    def values(
        self,
        prepared: Prepared,
        asked: Asked,
        scores: NDArray[Any],
        ties: str = "expected",
        statistics: Sequence[str] = (),
        *,
        column: int = 0,
        n_jobs: int | None = None,
    ) -> dict[str, FloatArray]:
        """`expected` and each of `statistics` over the orders that `ties` leaves open.

        "best", "worst" and "input" leave one order, so that all of "expected", "best"
        and "worst" are its values, and "std" is 0.
        """
        if ties in self._rules:
            scores = self._rules[ties].broken(
                scores, prepared.queries, column, self._systems[column]
            )
            ties = "expected"
        plain = ties == "input"
        name = "expected" if plain else ties
        wanted = dict.fromkeys([name, *statistics])
        found = prepared.values(
            asked, scores, tuple(wanted), input_order=plain, n_jobs=n_jobs
        )
        if plain or ties != "expected":
            own = found[name]
            found |= dict.fromkeys({"expected", "best", "worst"} & wanted.keys(), own)
            found["expected"] = own
            if "std" in found:
                found["std"] = np.where(np.isnan(own), np.nan, 0.0)
        return {statistic: found[statistic] for statistic in ("expected", *statistics)}
