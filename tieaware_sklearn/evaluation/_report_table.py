"""Reports made from tables as returned by ``to_pandas(settings=True)``."""

from typing import Any

import narwhals as nw
import numpy as np

from .._engine import checks, exact_numbers
from .._typing import Array
from ..measures import _parse
from . import _resolved

#: Columns that contain a number for each query and measure. A number is NaN only if the
#: measure is undefined for the query.
VALUES = ("expected", "best", "worst", "std", "chance", "ideal", "sampling_error")
FLAGS = ("std_is_estimate", "undefined")
#: Columns with the same value in all rows, named after the parameters of `evaluate`.
OPTIONS = ("zero_relevance", "unjudged", "convention")


def read_fields(frame: Any) -> dict[str, Any]:
    """Return the fields of the report that a table contains."""
    table = _collected(frame)
    for name in ("qid", "measure", *VALUES, *FLAGS, "query_weight", *OPTIONS):
        if name not in table.columns:
            raise ValueError(
                "frame must have the columns of to_pandas(settings=True), but has no "
                f"column {name!r}"
            )
    n_rows = len(table)
    columns = {name: table.get_column(name).to_native() for name in table.columns}
    queries = checks.check_qid(columns["qid"], n_rows=n_rows)
    names = checks.check_qid(columns["measure"], n_rows=n_rows, name="measure")
    try:
        parsed = _parse.parse_measures(names.qid.tolist())
    except ValueError as error:
        raise ValueError(f"column 'measure' of frame: {error}") from None
    shared = [_shared_value(table, name) for name in OPTIONS]
    # Without measures, `resolve` only checks the options.
    options = _resolved.resolve([], *shared).options
    checks.check_choice(options["unjudged"], "unjudged", checks.UNJUDGED)

    numbers: dict[str, Array] = {}
    for name in (*VALUES, *FLAGS, "query_weight"):
        numbers[name] = exact_numbers.floats_of(columns[name], name)
    for name in FLAGS:
        is_flag = np.isin(numbers[name], (0, 1))
        checks.reject(~is_flag, numbers[name], name, "be True or False")
        numbers[name] = numbers[name].astype(bool)
    for name in VALUES:
        is_lost = np.isnan(numbers[name]) & ~numbers["undefined"]
        requirement = "not be missing where undefined is False"
        checks.reject(is_lost, numbers[name], name, requirement)
    fields = {"qid": queries.qid, "options": options}
    weights = numbers.pop("query_weight")
    if not np.isnan(weights).all():
        weight = checks.check_query_weight(weights, queries, allow_zero=True)
        fields["query_weight"] = weight
    for name in ("segment", "cluster"):
        if name in columns:
            fields[name] = checks.check_segment(columns[name], queries, name=name)

    # A cell is a query and a measure.
    n_cells = queries.n_queries * len(parsed)
    cell_of_row = queries.row_codes() * len(parsed) + names.row_codes()
    n_rows_of_cell = np.bincount(cell_of_row, minlength=n_cells)
    if (n_rows_of_cell != 1).any():
        cell = int(np.argmax(n_rows_of_cell != 1))
        query, measure = divmod(cell, len(parsed))
        raise ValueError(
            "frame must have one row for each query and measure, got "
            f"{n_rows_of_cell[cell]} rows of {parsed[measure]} for query "
            f"{queries.name(query)}"
        )
    row_of_cell = np.argsort(cell_of_row)
    for name, values in numbers.items():
        fields[name] = values[row_of_cell].reshape(queries.n_queries, len(parsed))

    # The names of the measures state what a convention has changed, so the convention
    # is not applied again.
    resolved = _resolved.resolve(parsed, options["zero_relevance"])
    fields["measures"] = resolved.names
    fields["bounds"] = resolved.bounds
    return fields


def _collected(frame: Any) -> Any:
    """Return a table from any library, and compute the table if it is lazy."""
    try:
        table = nw.from_native(frame)
    except TypeError:
        raise ValueError(
            "frame must be a data frame of pandas, polars, Arrow or another library "
            f"that narwhals knows, got {type(frame).__name__}"
        ) from None
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    return table


def _shared_value(table: Any, name: str) -> Any:
    """Return the single value of a column, or None if all cells are missing."""
    values = []
    for value in dict.fromkeys(table.get_column(name).to_list()):
        if exact_numbers.is_missing(value):
            value = None
        if value not in values:
            values.append(value)
    if len(values) > 1:
        raise ValueError(
            f"{name} must be the same in all rows of frame, got {values[0]!r} and "
            f"{values[1]!r}"
        )
    return values[0]
