"""What is wrong with a partition: its number, a column, a rule, a value and a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._engine.exact import show
from .._engine.validation import (
    check_labels,
    check_qid,
    check_query_weight,
    check_scores,
    reject,
)
from .._optional import import_optional
from ..evaluation._undefined import Asked
from ..measures._gains import refused_label

pandas = import_optional("pandas", extra="dask", purpose="tieaware_sklearn.dask")

Found = TypeVar("Found")
#: from here on, floats do not hold all integers
_BEYOND = 2**53
#: how messages of this module begin
_OURS = re.compile(r"(shuffled )?partition (\d+) \(of 0 to \d+\)")
#: the number of a row, before the query that it is of
_ROW = re.compile(r"\brow \d+, (?=query )")
#: kinds of which values of one are compared with those of another
_NUMBERS = {"integers", "floats", "numbers"}
#: what pandas infers of objects
_KINDS = {
    "string": "text",
    "integer": "integers",
    "floating": "floats",
    "mixed-integer-float": "numbers",
    "decimal": "numbers",
    "boolean": "numbers",
    "datetime": "times",
    "mixed-integer": "values of several types",
    "mixed": "values of several types",
}


class Names(NamedTuple):
    """Columns that are no features."""

    label: str
    qid: str
    weight: str | None
    score: str | None = None

    def given(self) -> list[str]:
        return [name for name in self if name is not None]

    def check_weight(self, total: Any) -> None:
        """Single partitions may weigh nothing, but not all of them."""
        if self.weight is not None and not total.any():
            raise ValueError(f"{self.weight} must not be 0 in every query")


class Wanted(NamedTuple):
    """What is read of each partition, and what its values must be.

    Attributes
    ----------
    names : Names
    asked : Asked
        Measures, and what they do with labels.
    scores : sequence of str
        Columns with scores, beside that of `names`.
    features : sequence of str
        Columns to screen.
    missing : {"raise", "last"}
        Whether NaN is an error in these.
    others : sequence of str
        Columns of any values, none of which is missing.
    """

    names: Names
    asked: Asked
    scores: Sequence[str] = ()
    features: Sequence[str] = ()
    missing: str = "raise"
    others: Sequence[str] = ()

    def check(self, frame: Any) -> None:
        """Raise a ValueError that names the column and the query of a wrong value."""
        label, qid, weight, score = self.names
        unknown = frame[qid].isna()
        if unknown.any():
            value = show(frame[qid][unknown.to_numpy()].tolist()[0])
            raise ValueError(
                f"{qid} must not be missing, got {value} in {int(unknown.sum())} of "
                f"{len(frame)} rows"
            )
        queries = check_qid(frame[qid], n_rows=len(frame), name=qid)

        def place(row: int) -> str:
            return f"query {show(frame[qid].iloc[row : row + 1].tolist()[0])}"

        labels = check_labels(
            frame[label], unjudged=self.asked.unjudged, name=label, place=place
        )
        refused = refused_label(self.asked.measures, labels)
        if refused is not None:
            row, why = refused
            raise ValueError(f"{label} is refused in {place(row)}: {why}")
        for name in [*self.scores, *([] if score is None else [score])]:
            check_scores(frame[name], name=name, place=place)
        if weight is not None:
            check_query_weight(
                frame[weight], queries, allow_zero=True, name=weight, place=place
            )
        for name in self.others:
            gone = frame[name].isna().to_numpy()
            reject(gone, frame[name].to_numpy(dtype=object), name, "not be missing",
                   place)  # fmt: skip
        for name in self.features:
            cells = frame[name]
            values = pandas.to_numeric(cells, errors="coerce").to_numpy(
                dtype=np.float64, na_value=np.nan
            )
            there, number = cells.notna().to_numpy(), ~np.isnan(values)
            given = cells.to_numpy(dtype=object)
            reject(there & ~number, given, name, "hold numbers", place)
            reject(np.isinf(values), given, name, "be finite", place)
            if self.missing == "raise":
                rule = 'not be missing (missing="last" ranks it below every value)'
                reject(~there, given, name, rule, place)


class Where(NamedTuple):
    """One of the partitions; rows that were shuffled stand in other ones."""

    number: int
    n_partitions: int
    shuffled: bool = False

    def __str__(self) -> str:
        of = f"partition {self.number} (of 0 to {self.n_partitions - 1})"
        return f"shuffled {of}" if self.shuffled else of

    def of_rows(
        self, of_rows: Callable[[Any], Found], frame: Any, wanted: Wanted | None
    ) -> Found:
        """What is found in its rows; errors name it, the column and the query."""
        try:
            return of_rows(frame)
        except ValueError as error:
            # rows of a partition say nothing beside a query
            what = _ROW.sub("", str(error))
            raise ValueError(f"{self}: {_first_fault(frame, wanted) or what}") from None


def _first_fault(frame: Any, wanted: Wanted | None) -> str:
    try:
        if wanted is not None:
            wanted.check(frame)
    except ValueError as error:
        return str(error)
    return ""


def is_named(error: ValueError) -> bool:
    """Whether it names a partition."""
    return bool(_OURS.match(str(error)))


def number_in(message: str) -> int | None:
    """The number of the partition of the data frame that a message names."""
    found = _OURS.match(message)
    return None if found is None or found[1] else int(found[2])


def kinds_of(meta: Any) -> dict[str, str]:
    """Columns of which it is known that they hold numbers, texts or times."""
    found = {name: _kind(meta[name]) for name in meta.columns}
    return {name: kind for name, kind in found.items() if kind}


def check_kinds_of(
    frame: Any,
    wanted: Sequence[str],
    kinds: Mapping[str, str],
    where: Where,
    only: Sequence[str] | None = None,
    *,
    qid: str | None = None,
) -> None:
    """Whether a partition is what the meta of its data frame says.

    It must have the columns that are wanted, with values of the kinds of the meta. With
    `only`, it must have no others than these. Of ids in `qid`, integers and floats are
    two kinds: as floats, integers beyond 2^53 are other ids.
    """
    if not isinstance(frame, pandas.DataFrame):
        raise ValueError(f"{where} must be a pandas.DataFrame, got {type(frame)}")
    for name in wanted:
        if name not in frame.columns:
            own = ", ".join(map(str, frame.columns))
            raise ValueError(
                f"{where} must have a column {name!r}, as the meta of df has, got {own}"
            )
    for name in () if only is None else frame.columns:
        if name not in (only or ()):
            raise ValueError(
                f"{where} must not have a column {name!r}, which the meta of df does "
                "not have: give df the right meta, or name the features"
            )
    for name in wanted if len(frame) else ():
        kind, other = _kind(frame[name]), kinds.get(name, "")
        alike = not kind or not other or kind == other
        if kind in _NUMBERS and other in _NUMBERS:
            alike = alike or name != qid or "numbers" in (kind, other)
            # what is missing makes floats of integers, and is an error of its own
            alike = alike or bool(frame[name].isna().any())
        elif other in _NUMBERS:
            other = "numbers"
        if not alike:
            raise ValueError(
                f"{where} must have {other} in column {name!r}, as the meta of df "
                f"has, got {kind} (dtype {frame[name].dtype})"
            )


def as_meta(frame: Any, kinds: Mapping[str, str], where: Where) -> Any:
    """A partition whose numbers can stand beside those of others unchanged.

    A shuffle makes floats of integers that come together with floats.
    """
    for name in frame.columns:
        kind, other = _kind(frame[name]), kinds.get(name)
        if {kind, other} != {"integers", "floats"}:
            continue
        values = pandas.to_numeric(frame[name]).dropna()
        if kind == "integers":
            if len(values) and not -_BEYOND <= values.min() <= values.max() <= _BEYOND:
                raise ValueError(
                    f"{where} must have floats in column {name!r}, as the meta of df "
                    "has, got integers that 64-bit floats do not hold (beyond 2^53)"
                )
        elif len(values) == len(frame):
            floats = values.to_numpy(dtype=np.float64)
            if ((floats == np.rint(floats)) & (np.abs(floats) < _BEYOND)).all():
                # not by `assign`, which knows no names that are numbers
                frame = frame.copy(deep=False)
                frame[name] = floats.astype(np.int64)
    return frame


def _kind(column: Any) -> str:
    """Integers, floats, text, ...; empty for others, and if there is nothing to see."""
    dtype = column.dtype
    types = pandas.api.types
    if isinstance(dtype, pandas.CategoricalDtype):
        dtype, column = dtype.categories.dtype, dtype.categories
    if types.is_object_dtype(dtype):
        found: str = pandas.api.types.infer_dtype(column, skipna=True)
        return _KINDS.get(found, "")
    if types.is_bool_dtype(dtype):
        return "numbers"
    if types.is_integer_dtype(dtype):
        return "integers"
    if types.is_numeric_dtype(dtype):
        return "floats" if types.is_float_dtype(dtype) else "numbers"
    if types.is_datetime64_any_dtype(dtype):
        return "times"
    return "text" if types.is_string_dtype(dtype) else ""


def file_of(df: Any, number: int) -> str:
    """The Parquet file that a partition is read from; empty if it is not known."""
    for read in df.expr.walk():
        if "ReadParquet" not in type(read).__name__:
            continue
        if read.npartitions == df.npartitions:
            # what the two readers of Dask know; it is not part of their interface
            with suppress(Exception):
                return str(read.fragments[number].path)
            with suppress(Exception):
                return str(read._plan["parts"][number]["piece"][0])
    return ""
