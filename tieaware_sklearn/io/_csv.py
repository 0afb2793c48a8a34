"""CSV and TSV: read by pyarrow, numbers exactly; all that is wrong said at once."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from operator import itemgetter
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import how_to_read
from .._optional import import_optional
from ._source import MAX_LINE, Lines, TextSource
from ._wording import in_one_line, quoted

#: cells that stand for a missing number
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"),
    *("None", "none", "-", "?"),
)
#: how a number is spelled
NUMBER = re.compile(r"^[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$")
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
#: from here on a float64 does not hold every whole number
_EXACT = 2**53
#: bytes of a file that show how it is written
_START = 1 << 20
#: rows by which columns are known, unless all their cells there are missing
_FIRST_ROWS = 4096
#: what a message says of a file at most, of a column, and how many rows behind the
#: first problem are looked at for others
_SAID, _CELLS_SAID, _ROWS_LOOKED_AT = 10, 3, 1 << 20


class CsvFile(NamedTuple):
    """A file of text: how its cells are parted, and what they may mean.

    `missing` are cells that stand for a missing number, `thousands` is what parts
    groups of digits.
    """

    source: TextSource
    separator: str
    names: list[str]
    qid: str
    missing: tuple[str, ...]
    thousands: str | None

    def place(self, row: int) -> str:
        """A row as a message names it, by its line."""
        rows = self.source.csv_rows(self.separator)
        for number, (line, _) in enumerate(rows, start=-1):
            if number == row:
                return f"{self.source}, line {line}"
        return f"{self.source}, row {row}"


class CsvRows(NamedTuple):
    """Some rows: columns of numbers, and query ids if the file has any."""

    columns: dict[str, NDArray[Any]]
    ids: NDArray[Any] | None
    n_rows: int


class _MalformedError(Exception):
    """Some cell is not as it must be."""


def open_csv(
    source: TextSource,
    separator: str,
    qid: str,
    missing: Sequence[str] = (),
    thousands: str | None = None,
) -> CsvFile:
    """The file, and the names of its columns.

    Raises
    ------
    ValueError
        If it is empty, or has a name twice.
    """
    with source.reading(), closing(source.csv_rows(separator)) as rows:
        _, names = next(rows, (0, []))
    if not names:
        raise ValueError(f"{source}: the file is empty: it must begin with a header")
    text = "".join(names)
    if bad := _not_utf_8(text):
        raise ValueError(f"{source}, line 1: {bad}")
    return CsvFile(source, separator, names, qid, (*MISSING, *missing), thousands)


def kinds_of_csv(file: CsvFile, columns: Sequence[str]) -> dict[str, str]:
    """Which of the columns are "numbers" and which "text"; no other holds a value.

    What decides are the first rows of the file in which a column is not missing. A
    column with a single number there is one of numbers.
    """
    found: dict[str, str] = {}
    try:
        try:
            _find_kinds(file, columns, found, _START)
        except _arrow().ArrowInvalid:  # a row may be longer
            _find_kinds(file, columns, found, MAX_LINE)
    except (_arrow().ArrowInvalid, _MalformedError) as error:
        # not all rows could be read: those that can tell
        with closing(file.source.csv_rows(file.separator)) as rows:
            first = [cells for _, cells in islice(rows, 1, _FIRST_ROWS)]
        places = [(name, file.names.index(name)) for name in columns]
        numbers = [
            n
            for n, j in places
            if any(_spells_number(_cell(file, row, j)) for row in first)
        ]
        texts = [name for name in columns if name not in numbers]
        raise ValueError(_complaint(file, numbers, texts, error)) from None
    return found


def _find_kinds(
    file: CsvFile, columns: Sequence[str], found: dict[str, str], block: int
) -> None:
    arrow, compute = _arrow(), _compute()
    left = [name for name in columns if name not in found]
    texts = dict.fromkeys(left, arrow.string())
    for batch in _batches(file, texts, block=block) if left else ():
        for start in (0, _FIRST_ROWS):
            rows = batch.slice(start, _FIRST_ROWS if start == 0 else None)
            for name in left:
                cells = _without_missing(rows.column(name), file)
                if compute.any(_are_numbers(cells, file)).as_py():
                    found[name] = "numbers"
                elif cells.null_count < len(cells):
                    found[name] = "text"
            left = [name for name in left if name not in found]
        if not left:
            break


def read_csv(
    file: CsvFile, numbers: Sequence[str], texts: Sequence[str]
) -> Iterator[CsvRows]:
    """All rows, some together; columns of text are only looked at.

    Numbers are floats, or 64-bit integers where floats would make one of two.

    Raises
    ------
    ValueError
        With all that is wrong: short and long rows, quotation marks left open, text in
        columns of numbers, numbers in columns of text, missing ids, bytes that are not
        UTF-8, numbers that neither kind holds.
    """
    arrow, n_read = _arrow(), 0
    others = dict.fromkeys([*texts, *_qid_of(file)], arrow.string())
    try:
        floats = dict.fromkeys(numbers, arrow.float64()) | others
        for batch in () if file.thousands else _batches(file, floats, fast=True):
            columns = {name: _floats(batch.column(name)) for name in numbers}
            if any(map(_are_large, columns.values())):
                raise _MalformedError
            yield CsvRows(columns, _looked_at(batch, file, texts), batch.num_rows)
            n_read += batch.num_rows
        if not file.thousands:
            return
    except (arrow.ArrowInvalid, _MalformedError):
        pass  # some cells may be more than pyarrow knows of numbers, and right
    # cell by cell, from where it stopped
    try:
        for batch in _batches(file, dict.fromkeys(numbers, arrow.string()) | others):
            if n_read >= batch.num_rows:
                n_read -= batch.num_rows
                continue
            rows, n_read = batch.slice(n_read), 0
            columns = {name: _exact(rows.column(name), name, file) for name in numbers}
            yield CsvRows(columns, _looked_at(rows, file, texts), rows.num_rows)
    except (arrow.ArrowInvalid, _MalformedError) as error:
        raise ValueError(_complaint(file, numbers, texts, error)) from None


def _qid_of(file: CsvFile) -> list[str]:
    """The column of query ids, unless it is in the name of a folder."""
    return [file.qid] if file.qid in file.names else []


def _batches(
    file: CsvFile,
    kinds: dict[str, Any],
    *,
    fast: bool = False,
    block: int = MAX_LINE,
) -> Iterator[Any]:
    """Some columns of the file, as record batches of so many bytes of it.

    With `fast`, line ends are not looked for in quotation marks, which takes longer, if
    there is none at the start; raises an error if there is one later.
    """
    module = import_optional("pyarrow.csv", extra="io", purpose="reading CSV")
    with file.source.reading(), file.source.open() as start:
        fast = fast and b'"' not in start.read(_START)
    lines = _QuotedLines(file.source.open(), str(file.source))
    with file.source.reading(), io.BufferedReader(lines) as opened:
        for batch in module.open_csv(
            opened,
            module.ReadOptions(block_size=block),
            module.ParseOptions(
                delimiter=file.separator,
                newlines_in_values=not fast,
                invalid_row_handler=_skip_blank,
            ),
            module.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=list(file.missing),
            ),
        ):
            if fast and lines.n_quotes:
                raise _MalformedError
            yield batch
        if lines.may_be_open(file.separator.encode()) and _open_quote(file):
            raise _MalformedError


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


class _QuotedLines(Lines):
    """Lines of which is known whether a quotation mark may be left open at the end."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__(file, name)
        self.n_quotes, self._before, self._last = 0, b"\n", b"\n"

    def check(self, block: bytes) -> None:
        super().check(block)
        at = block.rfind(b'"')
        if at >= 0:
            self.n_quotes += block.count(b'"')
            self._before = block[at - 1 : at] if at else self._last
        self._last = block[-1:] or self._last

    def may_be_open(self, separator: bytes) -> bool:
        """The last one begins a cell, or their number is odd."""
        begins = self._before in (separator, b"\n", b"\r")
        return self.n_quotes > 0 and (begins or self.n_quotes % 2 == 1)


def _open_quote(file: CsvFile) -> int:
    """The line of the row whose quotation mark is never closed; 0 if there is none."""
    end = 0
    try:
        for line, _ in file.source.csv_rows(file.separator, strict=True):
            end = line
    except csv.Error as error:
        return end + 1 if "unexpected end" in str(error) else 0
    return 0


def _floats(column: Any) -> NDArray[np.float64]:
    floats: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    return floats


def _are_large(floats: NDArray[np.float64]) -> bool:
    """Whether any may stand for more than one whole number."""
    return bool((np.abs(floats) >= _EXACT).any())


def _looked_at(batch: Any, file: CsvFile, texts: Sequence[str]) -> Any:
    """The query ids of a batch, none missing; text has no numbers."""
    compute = _compute()
    for name in texts:
        if compute.any(_are_numbers(batch.column(name), file)).as_py():
            raise _MalformedError
    if not _qid_of(file):
        return None
    ids = batch.column(file.qid)
    if compute.any(compute.equal(ids, "")).as_py():
        raise _MalformedError
    return ids.to_numpy(zero_copy_only=False)


def _are_numbers(cells: Any, file: CsvFile) -> Any:
    if file.thousands is not None:
        cells = _compute().replace_substring(cells, file.thousands, "")
    return _compute().match_substring_regex(cells, NUMBER.pattern)


def _without_missing(cells: Any, file: CsvFile) -> Any:
    """Cells without blanks around them, null where they stand for a missing number."""
    compute = _compute()
    cells = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(cells, _arrow().array(file.missing))
    return compute.if_else(missing, None, cells)


def _exact(cells: Any, name: str, file: CsvFile) -> NDArray[Any]:
    """Cells of text as floats, or as integers where floats would round."""
    arrow, cells = _arrow(), _without_missing(cells, file)
    if file.thousands is not None:
        cells = _compute().replace_substring(cells, file.thousands, "")
    floats = _floats(cells.cast(arrow.float64()))
    if not _are_large(floats):
        return floats
    if not cells.null_count:
        try:
            whole: NDArray[np.int64] = cells.cast(arrow.int64()).to_numpy()
        except arrow.ArrowInvalid:
            pass
        else:
            return whole
    values = cells.to_pylist()
    if any(cell is not None and _is_rounded(cell) for cell in values):
        raise _MalformedError
    return floats


def _is_rounded(cell: str) -> bool:
    """Whether it spells a whole number that a float64 does not hold."""
    if not _WHOLE.fullmatch(cell):
        return False
    # Python takes no more than 4300 digits
    return len(cell) >= 50 or int(float(cell)) != int(cell)


def _not_utf_8(text: str) -> str:
    """What to say of bytes that are none, if there are any."""
    if text.isascii():
        return ""
    bad = next((one for one in text if "\udc80" <= one <= "\udcff"), "")
    return bad and (
        f"must be UTF-8, got the byte 0x{ord(bad) - 0xDC00:02x} (save the file as "
        "UTF-8)"
    )


def _complaint(
    file: CsvFile, numbers: Sequence[str], texts: Sequence[str], error: Exception
) -> str:
    """All that is wrong with a file, in the order of its lines."""
    found = _Problems(file, numbers, texts)
    opened, last = _open_quote(file), None
    with closing(file.source.csv_rows(file.separator)) as rows:
        next(rows)
        for number, (line, cells) in enumerate(rows):
            if opened and line >= opened:
                break
            found.look_at(line, cells)
            if found.lines and last is None:
                last = number + _ROWS_LOOKED_AT
            if len(found.lines) >= _SAID or number == last:
                break
    if opened:
        found.say(opened, "a quotation mark is opened and never closed")
    return found.all_said(in_one_line(error))


def _cell(file: CsvFile, cells: Sequence[str], j: int) -> str:
    """A cell of a row without blanks around it, empty if it stands for a missing one.

    What parts groups of digits is left out.
    """
    cell = cells[j].strip() if j < len(cells) else ""
    plain = cell.replace(file.thousands or "\0", "")
    return "" if cell in file.missing else plain


class _Problems:
    """What is wrong with the rows of a file, once for each column."""

    def __init__(
        self, file: CsvFile, numbers: Sequence[str], texts: Sequence[str]
    ) -> None:
        self._file = file
        self._columns = {file.names.index(name): name for name in numbers}
        self._texts = {file.names.index(name): name for name in texts}
        self._qid = file.names.index(file.qid) if _qid_of(file) else None
        #: line and words of each, and the cells of each column
        self.lines: list[tuple[int, str]] = []
        self._cells: dict[str, list[str]] = {}
        self._said: set[str] = set()
        #: whole numbers that floats would round; columns with other cells
        self._large: dict[str, tuple[int, str]] = {}
        self._others: set[str] = set()

    def say(self, line: int, what: str, key: str = "") -> None:
        if key not in self._said or not key:
            self._said.add(key)
            self.lines.append((line, what))

    def look_at(self, line: int, cells: list[str]) -> None:
        """A row that ends on that line."""
        n_cells = len(self._file.names)
        if bad := _not_utf_8("".join(cells)):
            self.say(line, bad, "bytes")
        elif len(cells) != n_cells:
            which = "fewer" if len(cells) < n_cells else "more"
            self.say(
                line,
                f"a row must not have {which} cells than the header ({n_cells}), got "
                f"{len(cells)} (a cell that holds {self._file.separator!r} must be in "
                "quotation marks)",
                which,
            )
        else:
            if self._qid is not None and not cells[self._qid]:
                self.say(
                    line,
                    f"column {self._file.qid!r} must not be empty (every row needs the "
                    "id of its query)",
                    "qid",
                )
            for j, name in self._columns.items():
                self._look_at_cell(
                    line, name, cells[j].strip(), _cell(self._file, cells, j)
                )
            for j, name in self._texts.items():
                if _spells_number(plain := _cell(self._file, cells, j)):
                    self.say(
                        line,
                        f"column {name!r} must hold numbers or text, not both, "
                        f"got {quoted(plain)} after text{_LEAVES_OUT}",
                        f"text {name}",
                    )

    def _look_at_cell(self, line: int, name: str, cell: str, plain: str) -> None:
        if not plain:
            self._others.add(name)
        elif not _spells_number(plain):
            self._bad(line, name, cell)
        elif not _WHOLE.fullmatch(plain):
            self._others.add(name)
        elif _is_rounded(plain):
            if len(plain) > 25 or not -(2**63) <= int(plain) < 2**63:
                what = f"column {name!r} must hold numbers of 64 bits at most, got "
                self.say(line, what + quoted(cell) + _LEAVES_OUT, f"64 bits {name}")
            self._large.setdefault(name, (line, cell))

    def _bad(self, line: int, name: str, cell: str) -> None:
        said = self._cells.setdefault(name, [])
        if not said:
            self.lines.append((line, name))
        if cell not in said and len(said) < _CELLS_SAID:
            said.append(cell)

    def _of_column(self, name: str) -> str:
        """What to say of cells of a column that are no numbers."""
        cells = self._cells[name]
        advice = "missing_values, or --missing-values, reads such cells as missing; "
        if how := how_to_read(cells[0]):
            advice = f"{how}; "
            if "decimal" not in how and "," in cells[0]:
                advice = 'thousands=",", or --thousands ,, reads such numbers; '
        return (
            f"column {name!r} must hold numbers, got "
            f"{', '.join(map(quoted, cells))} ({advice}ignore, or --ignore, leaves out "
            "the column)"
        )

    def all_said(self, otherwise: str) -> str:
        """The message; `otherwise` if nothing was found."""
        for name, (line, cell) in self._large.items():
            if name in self._others and f"64 bits {name}" not in self._said:
                self.lines.append((
                    line,
                    f"column {name!r} must hold numbers that a float64 holds, since it "
                    "has fractions or missing cells, too, got "
                    f"{quoted(cell)}{_LEAVES_OUT}",
                ))  # fmt: skip
        if not self.lines:
            return f"{self._file.source}: {otherwise or 'malformed'}"
        said = [
            f"line {line}: {self._of_column(what) if what in self._cells else what}"
            for line, what in sorted(self.lines, key=itemgetter(0))[:_SAID]
        ]
        return f"{self._file.source}, " + "\n  ".join(said)


_LEAVES_OUT = " (ignore, or --ignore, leaves out the column)"


def _spells_number(cell: str) -> bool:
    if "_" in cell or not cell.isascii():
        return False
    try:
        return float(cell) is not None
    except ValueError:
        return False


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="reading CSV and Parquet")


def _compute() -> Any:
    return import_optional("pyarrow.compute", extra="io", purpose="reading CSV")
