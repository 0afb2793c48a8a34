"""What all results have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_optional
from .html import fragment
from .tables import Table


class Result:
    """A result that shows itself as tables: in print, at a prompt and in a notebook.

    A subclass is a dataclass with `_tables`. In a data frame, what rows are about comes
    first: the query, the measure, the system; the index is only a number.
    """

    def _tables(self) -> list[Table]:
        """What is shown."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in self._tables())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return fragment(self._tables())

    def _columns(self) -> dict[str, Any]:
        """The columns of `to_pandas`, by name.

        By default they are the fields with a value per row: of tuples, named in the
        plural, of arrays, and of intervals, which make two columns.
        """
        return as_columns(vars(self))

    def to_pandas(self) -> Any:
        """The result as a `pandas.DataFrame`."""
        pandas = import_optional("pandas", extra="io", purpose="to_pandas")
        return pandas.DataFrame(self._columns())


def tables_of(result: Result) -> list[Table]:
    """What is shown of a result, for a page of several."""
    return result._tables()


def as_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `values` that have one for each row; see `Result`."""
    columns: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            columns[name.removesuffix("s")] = value
        elif isinstance(value, np.ndarray) and value.ndim == 2:
            columns[f"{name}_low"], columns[f"{name}_high"] = value.T
        elif isinstance(value, np.ndarray):
            columns[name] = value
    return columns


def by_query(
    qid: NDArray[Any],
    measures: Sequence[str],
    values: Mapping[str, NDArray[Any]],
    of: str = "measure",
) -> dict[str, Any]:
    """Columns with a row per query and measure, of arrays (n_queries, n_measures)."""
    return {
        "qid": np.repeat(qid, len(measures)),
        of: list(measures) * len(qid),
        **{name: array.ravel() for name, array in values.items()},
    }
