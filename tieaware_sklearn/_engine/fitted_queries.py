"""What a fitted ranker keeps of its queries, and whether folds have split them.

Ids do not tell: those of two data sets may both be numbered from 0. Rows do: a query
that is split has some of its rows in training, and others where it is scored.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from .._display.warn import warn
from .digests import Digests, column_digests, mixed, row_digests, value_bits
from .qid_column import split_qid_column, take_rows
from .segments import IntArray, consecutive, count_segments, owners, sum_segments
from .validation import Queries

#: a feature of queries varies within at most this share of them
_VARYING = 0.05
#: two queries have the same value of it with at most this chance
_ALIKE = 0.5
#: a sparse column with fewer cells, by queries, is 0 in so many that they are alike
_FILLED = 0.25
#: queries that are kept, 32 bytes each
MOST_KEPT = 8192
#: queries that are compared, of those that are shared: enough to tell half of them
MOST_COMPARED = 256
#: ids that count from 0 or 1 begin with at most this one, where some are absent
_START = 2
_LARGEST = np.uint64(2**64 - 1)

SILENT, WARN, REFUSE = "silent", "warn", "refuse"


class _Contents(NamedTuple):
    """The distinct rows of queries, and the least digest of some columns in each."""

    rows: Digests
    sizes: IntArray
    n_columns: int
    least: dict[int, Digests]

    @property
    def sums(self) -> Digests:
        return sum_segments(self.rows, self.sizes, np.uint64)

    @property
    def features(self) -> Digests:
        """One digest of the columns."""
        digest = np.zeros(len(self.sizes), dtype=np.uint64)
        for least in self.least.values():
            digest += least
        return mixed(digest)


@dataclass(frozen=True, eq=False)
class FittedQueries:
    """The queries of a fit, 32 bytes each, none of them by its name.

    Of more than 8192 queries, those with the smallest digests of ids stand for all.

    Attributes
    ----------
    ids, rows, smallest, features : ndarray of shape (n_queries,), uint64
        Digests, ascending in the first: of the id, of the set of rows, of one row
        that no other query has (the largest number if there is none), and of the
        features of the query.
    feature_columns : tuple of int
        Columns that are constant within each query, or nearly each, and vary
        between queries, as inverse document frequencies do.
    alike : float
        The chance that two of the queries have the same features.
    n_columns : int
    cells : int
        A digest of all cells of all rows of the fit, whatever rows they stand in.
    numbered : bool
        Ids count from the start, as those of other data do, too: see `_are_numbers`.
    """

    ids: Digests
    rows: Digests
    smallest: Digests
    features: Digests
    feature_columns: tuple[int, ...]
    alike: float
    n_columns: int
    cells: int
    numbered: bool

    @classmethod
    def of(
        cls, X: Any, queries: Queries, digests: Digests | None = None
    ) -> FittedQueries:
        """Of features as the ranker sees them, their rows query by query.

        Who has the `digests` of these rows saves a pass over X.
        """
        ids, numbered = value_bits(queries.qid), _are_numbers(queries.qid)
        if digests is None:
            digests = row_digests(X)
        cells = _total(digests)
        if len(ids) > MOST_KEPT:
            kept = np.sort(np.argsort(ids)[:MOST_KEPT])
            rows, ids = queries.rows(kept), ids[kept]
            X, digests = take_rows(X, rows), digests[rows]
            queries = queries.some(kept)
        found = _contents(X, queries.offsets, digests=digests)
        features = found.features
        order = np.argsort(ids)
        return cls(
            ids=ids[order],
            rows=found.sums[order],
            smallest=_own_rows(found)[order],
            features=features[order],
            feature_columns=tuple(found.least),
            alike=_chance_alike(features),
            n_columns=found.n_columns,
            cells=cells,
            numbered=numbered,
        )

    def places(self, qid: NDArray[Any]) -> IntArray:
        """Where these ids stand among those of the fit, -1 where they do not."""
        ids = value_bits(qid)
        at = np.searchsorted(self.ids, ids)
        at[at == len(self.ids)] = 0
        return np.where(self.ids[at] == ids, at, -1)

    def has_cells_of(self, X: Any) -> bool:
        """Whether X is that of the fit, but for columns that may be permuted.

        Permutation importance on training data scores such ones.
        """
        return X is not None and _total(row_digests(X)) == self.cells

    def verdict(
        self,
        X: Any,
        queries: Queries,
        *,
        numbered: bool,
        exact: bool = True,
        drawn: bool = False,
    ) -> str:
        """What scoring queries with ids of the fit calls for.

        A query whose rows are those of the fit has a training score. One that has
        some of these rows was split. Rows that are all others, with the features of
        the query that was fitted, are the rest of it; with other features they are
        another query, of other data. Without features of queries, ids that count
        from 0 or 1 on both sides say little, and any other ids say that it is the
        rest. What holds for half of the queries or more decides: one may be alike by
        chance.

        Parameters
        ----------
        X : matrix of any kind, or None
            Features as the ranker sees them, rows query by query; None if they are
            not known.
        queries : Queries
            Their queries, each with an id of the fit.
        numbered : bool
            Whether ids count from 0 or 1 where it is scored, too.
        exact : bool
            False if rows of the fit may have come out otherwise by a rounding error.
        drawn : bool
            Whether the fit was on rows drawn from those that were given, so that
            some of the rows are as good as all.

        Returns
        -------
        {"silent", "warn", "refuse"}
        """
        if X is None:
            return WARN
        at = self.places(queries.qid)
        found = _contents(X, queries.offsets, self.feature_columns)
        same = found.sums == self.rows[at]
        sought = np.repeat(self.smallest[at], found.sizes)
        parts = ~same & (count_segments(found.rows == sought, found.sizes) > 0)
        others = ~same & ~parts
        split, unknown = 0 if drawn else int(parts.sum()), int(others.sum())
        if unknown and self.feature_columns and self.alike <= _ALIKE:
            alike = found.features[others] == self.features[at][others]
            if alike.mean() >= (1 + self.alike) / 2:
                split += unknown
            unknown = 0
        if 2 * split >= len(same):
            return REFUSE
        if 2 * (split + unknown) >= len(same):
            weak = not exact or (self.numbered and numbered)
            return WARN if weak else REFUSE
        return SILENT


def _contents(
    X: Any,
    offsets: IntArray,
    columns: tuple[int, ...] | None = None,
    digests: Digests | None = None,
) -> _Contents:
    """What is in queries, with these columns or those that tell queries apart."""
    sizes = np.diff(offsets)
    if columns is None:
        least = _features_of_queries(X, offsets)
    else:
        least = {j: low for j, low, _ in _ends(X, offsets, columns=columns)}
    # what is summed must not be sums of cells: rows that swap cells are others
    digests = mixed(row_digests(X) if digests is None else digests)
    codes = owners(sizes)
    digests = digests[np.lexsort((digests, codes))]
    fresh = np.ones(len(digests), dtype=bool)
    fresh[1:] = (np.diff(codes) > 0) | (digests[1:] != digests[:-1])
    n_distinct = count_segments(fresh, sizes)
    return _Contents(digests[fresh], n_distinct, X.shape[1], least)


def _features_of_queries(X: Any, offsets: IntArray) -> dict[int, Digests]:
    """Columns that (nearly) no query varies, but that vary between queries."""
    several = np.flatnonzero(np.diff(offsets) > 1)
    if not len(several):
        return {}
    most = _VARYING * len(several)
    columns = None
    if not hasattr(X, "tocsc"):
        # the first two rows of queries already rule most columns out
        pairs = take_rows(X, consecutive(offsets[several], np.full(len(several), 2)))
        ends = _ends(pairs, 2 * np.arange(len(several) + 1))
        columns = [j for j, low, high in ends if (low != high).sum() <= most]
    least, n_varying = {}, {}
    filled = _FILLED * (len(offsets) - 1)
    for j, low, high in _ends(X, offsets, filled=filled, columns=columns):
        varying = int((low != high)[several].sum())
        if varying <= most and _chance_alike(low) <= _ALIKE:
            least[j], n_varying[j] = low, varying
    fewest = min(n_varying.values(), default=0)
    return {j: low for j, low in least.items() if n_varying[j] == fewest}


def _ends(
    X: Any,
    offsets: IntArray,
    *,
    filled: float = 0,
    columns: Sequence[int] | None = None,
) -> Iterator[tuple[int, Digests, Digests]]:
    """Columns, as of `column_digests`: the least and greatest digest per query."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    codes = owners(sizes)
    for j, rows, cells in column_digests(X, filled=filled, columns=columns):
        if isinstance(rows, slice):
            low, high = (f.reduceat(cells, starts) for f in (np.minimum, np.maximum))
        else:
            # those of a sparse matrix: cells that are not stored have the digest 0
            low = np.full(len(starts), _LARGEST)
            high = np.zeros(len(starts), dtype=np.uint64)
            np.minimum.at(low, codes[rows], cells)
            np.maximum.at(high, codes[rows], cells)
            low[np.bincount(codes[rows], minlength=len(starts)) < sizes] = 0
        yield j, low, high


def _chance_alike(values: Digests) -> float:
    counts = np.unique(values, return_counts=True)[1]
    return float(((counts / len(values)) ** 2).sum())


def _own_rows(found: _Contents) -> Digests:
    """The smallest digest of a row of each query that no other query has."""
    _, place, counts = np.unique(found.rows, return_inverse=True, return_counts=True)
    own = np.where(counts[place] == 1, found.rows, _LARGEST)
    return np.asarray(np.minimum.reduceat(own, np.cumsum(found.sizes) - found.sizes))


def _total(digests: Digests) -> int:
    """Of rows: the digest of all their cells, which no permuted column changes."""
    return int(digests.sum(dtype=np.uint64))


def _are_numbers(qid: NDArray[Any]) -> bool:
    """Whether ids count from 0 or 1, with half of the numbers there or more.

    So they do still in a training set that some queries were kept out of.
    """
    if qid.dtype.kind not in "iuf":
        if not all(isinstance(one, numbers.Integral) for one in qid.tolist()):
            return False
        qid = qid.astype(float)
    from_start = 0 <= qid.min() <= _START and qid.max() < 2 * len(qid)
    return bool(from_start and (qid == np.floor(qid)).all())


def check_whole_queries(estimator: Any, X: Any, queries: Queries) -> None:
    """Refuse to score queries that a ranker was fitted on other rows of.

    Parameters
    ----------
    estimator : object
        A ranker that keeps its `FittedQueries`, or a fitted estimator with such
        rankers inside; others are not checked.
    X : matrix of any kind
        What the estimator is given to predict.
    queries : Queries
        Of the rows of X, as they stand there.

    Raises
    ------
    ValueError
        If folds have split queries: see `FittedQueries.verdict`.

    Warns
    -----
    UserWarning
        If they may have, and the queries may as well be others.
    """
    for ranker, path in _rankers_inside(estimator):
        fitted: FittedQueries = ranker._fitted_queries_
        places = fitted.places(queries.qid)
        shared = np.flatnonzero(places >= 0)
        if not len(shared):
            continue
        # by digest: a sample that no order of rows changes
        compared = shared[np.argsort(places[shared])[:MOST_COMPARED]]
        rows = queries.given(queries.rows(compared))
        seen, exact = _as_seen(ranker, path, X, rows)
        verdict = fitted.verdict(
            seen,
            queries.some(compared),
            numbered=_are_numbers(queries.qid),
            exact=exact,
            # as bagging does; asked of the class, since it draws them again
            drawn=any(hasattr(type(one), "estimators_samples_") for one in path),
        )
        if verdict != SILENT and fitted.has_cells_of(_as_seen(ranker, path, X)[0]):
            continue
        name = type(ranker).__name__
        if verdict == WARN:
            warn(
                f"qid holds ids that {name} was fitted on, with other rows. If these "
                "are other queries, make ids unique (load_letor of a list of files "
                "numbers queries through all files). If they are the same queries, the "
                "folds split queries, and the scores are those of shorter, easier "
                "rankings: use QueryKFold, which keeps queries whole"
            )
        elif verdict == REFUSE:
            more = "" if len(shared) == 1 else f" (and {len(shared) - 1} more)"
            raise ValueError(
                f"qid must not hold queries of which {name} was fitted on other rows, "
                f"got {queries.name(shared[0])}{more}. Either the folds split queries: "
                "QueryKFold keeps them whole, an integer cv does not. Or these are "
                "other queries with the same ids: make ids unique (load_letor of a "
                "list of files numbers queries through all files)"
            )


_Path = tuple[Any, ...]


def _rankers_inside(
    estimator: Any, path: _Path = (), known: set[int] | None = None
) -> Iterator[tuple[Any, _Path]]:
    """Rankers that keep their queries, and what they are in, from the outside."""
    known = set() if known is None else known
    if id(estimator) in known:
        return
    known.add(id(estimator))
    # its own: a FrozenEstimator has all that the one inside has
    if isinstance(_own(estimator).get("_fitted_queries_"), FittedQueries):
        yield estimator, path
        return
    for inner in _fitted_inside(estimator):
        yield from _rankers_inside(inner, (*path, estimator), known)


def _fitted_inside(estimator: Any) -> Iterator[Any]:
    """Estimators that another one has fitted: its attributes with names that end in _.

    A `FrozenEstimator`, and what is no estimator itself, have them under any name; a
    pipeline has its steps.
    """
    plain = isinstance(estimator, FrozenEstimator)
    plain = plain or not isinstance(estimator, BaseEstimator)
    for name, value in _own(estimator).items():
        if plain or name == "steps" or (name.endswith("_") and name[0] != "_"):
            yield from _estimators_in(value)


def _own(estimator: Any) -> dict[str, Any]:
    return getattr(estimator, "__dict__", {})


def _estimators_in(value: Any) -> Iterator[Any]:
    """An estimator, or those in lists of them or of (name, estimator, ...)."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if any(hasattr(value, name) for name in ("fit", "predict", "predict_proba")):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if not isinstance(item, (str, tuple)):
                yield from _estimators_in(item)
    elif isinstance(value, list) and value:
        # data are lists of other things, all of a kind
        first = value[0]
        if isinstance(first, tuple) or next(_estimators_in(first), None) is not None:
            for item in value:
                yield from _estimators_in(item)


def _as_seen(
    ranker: Any, path: _Path, X: Any, rows: NDArray[np.intp] | None = None
) -> tuple[Any, bool]:
    """Rows (all for None) as they come to the ranker, and whether exactly as in fit."""
    exact = True
    try:
        X = take_rows(X if hasattr(X, "shape") else np.asarray(X), rows)
        for outer, inner in pairwise((*path, ranker)):
            X, as_is = _handed_on(outer, inner, X)
            exact = exact and as_is
        n_columns = ranker._fitted_queries_.n_columns
        if X.shape[1] != n_columns and getattr(ranker, "qid", None) is not None:
            X = split_qid_column(X, ranker.qid)[0]
        return (X if X.shape[1] == n_columns else None), exact
    except Exception:
        return None, False


def _handed_on(outer: Any, inner: Any, X: Any) -> tuple[Any, bool]:
    """What an estimator hands on to one inside, and whether cells stay as they are."""
    own = _own(outer)
    if "steps" in own:
        exact = True
        for _, step in outer.steps:
            if step is inner:
                break
            if step not in (None, "passthrough"):
                X = step.transform(X)
                exact = exact and hasattr(step, "get_support")
        return X, exact
    if own.get("qid") is not None:
        X = split_qid_column(X, outer.qid)[0]
    if "estimators_features_" in own:
        at = next(i for i, one in enumerate(outer.estimators_) if one is inner)
        X = X if hasattr(X, "tocsr") else np.asarray(X)
        X = X[:, outer.estimators_features_[at]]
    elif getattr(inner, "n_features_in_", X.shape[1]) != X.shape[1]:
        X = outer.transform(X)
    return X, True
