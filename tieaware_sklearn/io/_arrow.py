"""Rankings from Arrow tables: selection of feature columns, and values as arrays."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .. import _optional
from .._engine import checks, messages
from .._typing import Array
from . import _rows, _wording

#: Pattern of integers as written by Python. 18 digits always fit in 64 bits.
INTEGER = "^(0|-?[1-9][0-9]{0,17})$"


def arrow(module: str = "") -> Any:
    """Import pyarrow, or one of its submodules."""
    return _optional.import_optional(
        f"pyarrow{module}", extra="io", purpose="reading tables"
    )


@dataclass(frozen=True)
class TableOptions:
    """Options for the columns of tables and the cells of CSV: see `load_table`.

    Without `features`, all other numeric columns are features.
    """

    label: str
    qid: str
    ignore: Sequence[str] = ()
    missing_values: Sequence[str] = ()
    decimal: str = "."
    quoting: str = "double"
    features: Sequence[str] = ()

    def __post_init__(self) -> None:
        columns = [self.label, self.qid, *self.features]
        check_different(columns, "label, qid and features")
        cells = self.missing_values
        if isinstance(cells, str) or not all(isinstance(cell, str) for cell in cells):
            raise ValueError(f"missing_values must be a list of strings, got {cells!r}")
        if len(self.decimal) != 1 or self.decimal in "+-eE0123456789":
            raise ValueError(
                "decimal must be one character other than +, -, e, E and digits, got "
                f"{self.decimal!r}"
            )
        checks.check_choice(self.quoting, "quoting", ("double", "none"))

    def of_csv(self) -> dict[str, Any]:
        """Return the options of CSV files that differ from their defaults."""
        options: dict[str, Any] = {}
        if self.missing_values:
            options["missing_values"] = self.missing_values
        if self.decimal != ".":
            options["decimal"] = self.decimal
        if self.quoting != "double":
            options["quoting"] = self.quoting
        return options


def is_nameless(name: str) -> bool:
    """Return whether a column has no name, or a name that pandas generated."""
    return not name.strip() or name.startswith("Unnamed:")


def check_different(columns: Sequence[str], arguments: str) -> None:
    """Check that no column is used for two purposes."""
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(
                f"{arguments} must name different columns, got {name!r} twice"
            )


def check_columns(place: str, names: Sequence[Any], wanted: Iterable[Any]) -> None:
    """Check that a file or a batch has these columns."""
    for name in wanted:
        if name not in names:
            raise ValueError(
                f"{place}: there is no column {name!r}. The columns are "
                f"{_wording.listed(names)}"
            )


def check_same_columns(
    names: Sequence[Any], place: str, first: Sequence[Any], first_place: str
) -> None:
    """Check that a file or a batch has the columns of the first file or batch."""
    differing = set(names) ^ set(first)
    if differing:
        raise ValueError(
            f"{place}: must have the columns of {first_place}, but only one of the two "
            f"has {_wording.listed(sorted(map(repr, differing)))}"
        )


def types_of(schema: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the types of the columns with a name. The names must differ."""
    named = [name for name in names if not is_nameless(name)]
    for name, count in Counter(named).items():
        if count > 1:
            raise ValueError(f"must contain each column once, got {name!r} twice")
    return {name: schema.field(name).type for name in named}


def plain_schema(schema: Any, ignore: Sequence[str] = ()) -> Any:
    """Return a schema without categories, and with a single type for all texts.

    A column of categories gets the type of its values. Ignored columns are left out.
    """
    plain = {}
    for field in schema:
        dtype = field.type
        if arrow(".types").is_dictionary(dtype):
            dtype = dtype.value_type
        if str(dtype) in ("large_string", "string_view"):
            dtype = arrow().string()
        if field.name not in ignore:
            plain[field.name] = dtype
    return arrow().schema(plain)


def common_schema(schema: Any, added: Any, place: str) -> Any:
    """Return a schema with the columns of both schemas.

    Errors name the `place` of the second schema.

    Raises
    ------
    ValueError
        If a column contains text in one schema and numbers in the other schema.
    """
    try:
        return arrow().unify_schemas([schema, added], promote_options="permissive")
    except arrow().ArrowTypeError as error:
        raise ValueError(f"{place}: {error}") from None


def are_integers(texts: Any) -> bool:
    """Return whether all texts are integers of at most 18 digits in Python's form."""
    compute = arrow(".compute")
    is_integer = compute.match_substring_regex(texts, INTEGER)
    # By default, `all` returns null if there are no texts.
    return bool(compute.all(is_integer, min_count=0).as_py())


def is_number(dtype: Any) -> bool:
    """Return whether a type is numeric or Boolean."""
    types = arrow(".types")
    return bool(
        types.is_integer(dtype)
        or types.is_floating(dtype)
        or types.is_boolean(dtype)
        or types.is_decimal(dtype)
    )


def numeric(schema: Any) -> list[str]:
    """Return the names of the numeric and Boolean columns."""
    return [field.name for field in schema if is_number(field.type)]


def numbers(column: Any) -> Array:
    """Return a numeric column in its own dtype, or as float64 if values are missing."""
    types = arrow(".types")
    if types.is_decimal(column.type):
        # Python rounds decimals to the nearest float, and Arrow does not.
        return np.array(column.to_pylist(), dtype=np.float64)
    if column.null_count and not types.is_floating(column.type):
        column = column.cast(arrow().float64())
    return np.asarray(column)


def query_ids(column: Any, place: messages.Place, first_row: int) -> Array:
    """Return a column of query ids.

    Raises
    ------
    ValueError
        If ids are missing or empty, or if cells are lists of values.
    """
    compute = arrow(".compute")
    if arrow(".types").is_nested(column.type):
        raise ValueError(f"query ids must be single values, got {column.type}")
    is_missing = compute.is_null(column, nan_is_null=True)
    if column.type == arrow().string():
        # A missing text compares as null, and or_kleene(True, null) is True.
        is_missing = compute.or_kleene(is_missing, compute.equal(column, ""))
    row = compute.index(is_missing, True).as_py()
    if row >= 0:
        raise ValueError(
            f"{place(first_row + row)}: the query id must not be missing or empty, got "
            f"{column[row].as_py()!r}"
        )
    return np.asarray(column)


def rows_of(table: Any, place: messages.Place, first_row: int) -> _rows.Rows:
    """Return rows of a ranking from the columns of labels, query ids and features."""
    target, ids, *features = table.columns
    return _rows.Rows(
        [numbers(column) for column in features],
        numbers(target),
        query_ids(ids, place, first_row),
        place,
        first_row,
    )


def rankings_of(
    source_name: str,
    names: Sequence[str],
    schema: Any,
    read: Callable[[Sequence[str]], Iterator[_rows.Rows]],
    options: TableOptions,
    n_rows: int | None = None,
) -> _rows.Rankings:
    """Return a table as rankings whose features are its numeric columns.

    `read` yields the rows with the columns of labels, ids and the selected features.
    """
    label, qid = options.label, options.qid
    _rows.check_ignored(options.ignore, [n for n in names if n not in (label, qid)])
    for name in (label, *options.features):
        if name not in numeric(schema):
            raise ValueError(f"{source_name}: column {name!r} must be numeric")
    features = list(options.features)
    if not features:
        features = [name for name in numeric(schema) if name not in (label, qid)]
    if not features:
        raise ValueError(
            f"{source_name}: no column besides {label!r} and {qid!r} is numeric"
        )
    columns = [label, qid, *features]
    left_out = [name for name in names if name not in (*columns, *options.ignore)]
    return _rows.Rankings(
        source_name, features, left_out, partial(read, columns), n_rows
    )
