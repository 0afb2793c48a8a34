"""CSV and TSV files, read by pyarrow."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .._engine import exact_numbers
from . import _arrow, _source

#: Texts of cells that stand for a missing number.
MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "null",
    "NULL",
    "None",
    "none",
    "-",
    "?",
)
#: Number of bytes that are parsed together. Longer rows are refused.
_BLOCK = 1 << 24


class _LongerFile(io.RawIOBase):
    """A file with additional bytes at its end."""

    def __init__(self, file: Any, end: bytes) -> None:
        self._file = file
        self._end = io.BytesIO(end)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(buffer) or self._end.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class CsvFile:
    """A CSV file whose columns have the types that pyarrow infers from the first block.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    types : dict
        Arrow types of the columns, which may be changed before rows are read.
    integers : list of str
        Names of the integer columns, except the column of query ids.
    has_large : bool
        Whether floats would round some integers of the first block.
    """

    #: Number of rows, which is unknown until all rows have been read.
    n_rows = None

    def __init__(
        self, source: _source.TextSource, options: _arrow.TableOptions
    ) -> None:
        pa = _arrow.arrow()
        self._source = source
        self._options = options
        self._separator = "\t"
        if source.format == "csv":
            header = source.start().lstrip().partition(b"\n")[0].decode("latin-1")
            self._separator = next((mark for mark in ",;\t|" if mark in header), ",")
        # pyarrow refuses a header without a line ending.
        with self._opened(b"\n") as reader:
            self.names: list[str] = reader.schema.names
            self.types = _arrow.types_of(reader.schema, self.names)
            block: Any = next(reader, None)
        self.integers: list[str] = []
        for name, dtype in self.types.items():
            if dtype == pa.int64() and name != options.qid:
                self.integers.append(name)
        self.has_large = any(
            exact_numbers.any_large(block[name]) for name in self.integers
        )
        # `open_tables` refuses a missing column.
        label = self.types.get(options.label, pa.null())
        if not (_arrow.is_number(label) or pa.types.is_null(label)):
            # With this type, a label that is not a number raises an error that names
            # the row.
            self.types[options.label] = pa.float64()
        if options.qid in self.types:
            self.types[options.qid] = pa.string()
            batches = self.batches([options.qid])
            if all(_arrow.are_integers(batch[options.qid]) for batch in batches):
                self.types[options.qid] = pa.int64()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the selected columns of all rows as record batches.

        Raises
        ------
        ValueError
            If pyarrow refuses a row or a cell, or if a quotation mark is never closed.
        """
        # An open quotation mark swallows this row of empty cells. For a single column,
        # no row is added, because pyarrow skips empty lines.
        last_line = self._separator * (len(self.names) - 1)
        is_null = _arrow.arrow(".types").is_null
        # A column without a value in the first block must stay empty.
        types = {}
        for name, dtype in self.types.items():
            must_be_empty = is_null(dtype) and name not in self._options.ignore
            if name in columns or must_be_empty:
                types[name] = dtype
        batch: Any = None
        try:
            with self._opened(f"\n{last_line}\n".encode(), types) as reader:
                for following in reader:
                    if batch is not None:
                        yield batch
                    batch = following
                    self._check_not_rounded(batch)
        except _arrow.arrow().ArrowInvalid as error:
            # pyarrow states the number of a column, not the name.
            message = re.sub(
                r"CSV column #(\d+)",
                lambda number: f"column {self.names[int(number[1])]!r}",
                str(error),
            )
            raise ValueError(message) from None
        if last_line:
            (last,) = batch.slice(batch.num_rows - 1).to_pylist()
            if any(last.values()):
                raise ValueError(
                    "a quotation mark opens a cell, but no quotation mark closes the "
                    "cell. To read quotation marks as ordinary characters, set "
                    "quoting='none', or --quoting none"
                )
            batch = batch.slice(0, batch.num_rows - 1)
        if batch is not None:
            yield batch

    def _check_not_rounded(self, batch: Any) -> None:
        """Check that no integer after the first block is too large for floats."""
        for name in set(self.integers).intersection(batch.schema.names):
            is_float = batch[name].type == _arrow.arrow().float64()
            if is_float and exact_numbers.any_large(batch[name]):
                raise ValueError(
                    f"column {name!r} has integers above 2^53 only far from the first "
                    "row. Convert the file to Parquet, or set ignore, or --ignore"
                )

    @contextmanager
    def _opened(
        self, last_line: bytes, types: dict[str, Any] | None = None
    ) -> Iterator[Any]:
        """Open the file with pyarrow, with `last_line` added at the end."""
        module = _arrow.arrow(".csv")
        options = self._options
        has_quotes = options.quoting == "double"
        with (
            self._source.open_text(is_table=True) as text,
            io.BufferedReader(_LongerFile(text, last_line)) as file,
        ):
            yield module.open_csv(
                file,
                # Without threads, errors of pyarrow state the number of the row.
                module.ReadOptions(block_size=_BLOCK, use_threads=False),
                module.ParseOptions(
                    delimiter=self._separator,
                    quote_char='"' if has_quotes else False,
                    newlines_in_values=has_quotes,
                ),
                module.ConvertOptions(
                    column_types=types,
                    include_columns=types and list(types),
                    null_values=[*MISSING, *options.missing_values],
                    # Words such as "true" are read as text, not as Booleans.
                    true_values=[],
                    false_values=[],
                    decimal_point=options.decimal,
                ),
            )

    def place(self, row: int) -> str:
        """Return the file and a row, counted as by pyarrow: the header is row 1."""
        return f"{self._source}, row {row + 2}"
