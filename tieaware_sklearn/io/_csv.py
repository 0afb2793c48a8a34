"""CSV and TSV: read by pyarrow, numbers exactly; all that is wrong said at once."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from operator import itemgetter
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import how_to_read
from ._frames import NUMBER, arrow
from ._source import MAX_LINE, Lines, TextSource
from ._wording import in_one_line, quoted

#: cells that stand for a missing number
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"),
    *("None", "none", "-", "?"),
)
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
#: a number, or one whose digits stand in groups
_LIKE_A_NUMBER = re.compile(
    NUMBER.pattern + r"|^[ \t]*[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?[ \t]*$"
)
#: what floats may be beside numbers
_NO_NUMBER = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
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
    missing: list[str]
    thousands: str | None

    @property
    def ids(self) -> list[str]:
        """The column of query ids, unless it is in the name of a folder."""
        return [self.qid] if self.qid in self.names else []

    def rows(self, *, strict: bool = False) -> Generator[tuple[int, list[str]]]:
        """Lines on which rows end, and their cells; the first one is the header.

        Bytes that are not UTF-8 become halves of surrogate pairs. `strict` raises a
        `csv.Error` where quotation marks are not as they must be.
        """
        limit = csv.field_size_limit(2**31 - 1)
        try:
            with self.source.open_text() as file:
                text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")
                reader = csv.reader(text, delimiter=self.separator, strict=strict)
                for cells in reader:
                    if len(cells) > 1 or "".join(cells).strip():
                        yield reader.line_num, cells
        finally:
            csv.field_size_limit(limit)

    def place(self, row: int) -> str:
        """A row as a message names it, by its line."""
        line, _ = next(islice(self.rows(), row + 1, None))
        return f"{self.source}, line {line}"


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
        If it is empty, or the names are not UTF-8.
    """
    file = CsvFile(source, separator, [], qid, [*MISSING, *missing], thousands)
    with closing(file.rows()) as rows:
        _, names = next(rows, (0, []))
    if not names:
        raise ValueError(f"{source}: the file is empty: it must begin with a header")
    if bad := _not_utf_8("".join(names)):
        raise ValueError(f"{source}, line 1: {bad}")
    return file._replace(names=names)


def kinds_of_csv(file: CsvFile, columns: Sequence[str]) -> dict[str, str]:
    """Which of the columns are "numbers" and which "text"; no other holds a value.

    What decides are the first rows of the file in which a column is not missing. A
    column with a single number there is one of numbers, also one such as 1,234.
    """
    found: dict[str, str] = {}
    try:
        try:
            _find_kinds(file, columns, found, _START)
        except arrow().ArrowInvalid:  # a row may be longer
            _find_kinds(file, columns, found, MAX_LINE)
    except (arrow().ArrowInvalid, _MalformedError) as error:
        # not all rows could be read: those that can tell
        with closing(file.rows()) as rows:
            first = [cells for _, cells in islice(rows, 1, _FIRST_ROWS)]
        for name in columns:
            cells = (_plain(file, row, file.names.index(name)) for row in first)
            is_number = any(_LIKE_A_NUMBER.match(cell) for cell in cells)
            found[name] = "numbers" if is_number else "text"
        raise ValueError(_complaint(file, found, error)) from None
    return found


def _find_kinds(
    file: CsvFile, columns: Sequence[str], found: dict[str, str], block: int
) -> None:
    left = [name for name in columns if name not in found]
    texts = dict.fromkeys(left, arrow().string())
    for batch in _batches(file, texts, block) if left else ():
        # the first ones mostly tell
        for rows in (batch.slice(0, _FIRST_ROWS), batch.slice(_FIRST_ROWS)):
            for name in left:
                cells = _cells(rows.column(name), file)
                if _any_number(cells, _LIKE_A_NUMBER.pattern):
                    found[name] = "numbers"
                elif cells.null_count < len(cells):
                    found[name] = "text"
            left = [name for name in left if name not in found]
        if not left:
            break


def read_csv(file: CsvFile, kinds: Mapping[str, str]) -> Iterator[Any]:
    """All rows as record batches of query ids and numbers; text is only looked at.

    Numbers are floats, or 64-bit integers where floats would make one of two.

    Raises
    ------
    ValueError
        With all that is wrong: short and long rows, quotation marks left open, text in
        columns of numbers, numbers in columns of text, missing ids, bytes that are not
        UTF-8, numbers that neither kind holds.
    """
    numbers = [name for name, kind in kinds.items() if kind == "numbers"]
    texts = [name for name, kind in kinds.items() if kind == "text"]
    float64, string, n_read = arrow().float64(), arrow().string(), 0
    others = dict.fromkeys([*texts, *file.ids], string)
    try:
        floats = dict.fromkeys(numbers, float64) | others
        for batch in () if file.thousands else _batches(file, floats):
            if any(_are_large(_floats(batch.column(name))) for name in numbers):
                raise _MalformedError
            _look_at(batch, file, texts)
            yield batch
            n_read += batch.num_rows
        if not file.thousands:
            return
    except (arrow().ArrowInvalid, _MalformedError):
        pass  # some cells may be more than pyarrow knows of numbers, and right
    # cell by cell, from where it stopped
    try:
        for batch in _batches(file, dict.fromkeys(numbers, string) | others):
            rows, n_read = batch.slice(n_read), max(n_read - batch.num_rows, 0)
            if rows.num_rows:
                _look_at(rows, file, texts)
                exact = {name: _exact(rows.column(name), file) for name in numbers}
                ids = {name: rows.column(name) for name in file.ids}
                yield arrow().record_batch(exact | ids)
    except (arrow().ArrowInvalid, _MalformedError) as error:
        raise ValueError(_complaint(file, kinds, error)) from None


def _batches(
    file: CsvFile, kinds: dict[str, Any], block: int = MAX_LINE
) -> Iterator[Any]:
    """Some columns of the file, as record batches of so many bytes of it."""
    module = arrow(".csv")
    lines = _QuotedLines(file.source.open(), str(file.source))
    with io.BufferedReader(lines) as opened:
        yield from module.open_csv(
            opened,
            module.ReadOptions(block_size=block),
            module.ParseOptions(
                delimiter=file.separator,
                newlines_in_values=True,
                invalid_row_handler=_skip_blank,
            ),
            module.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=file.missing,
            ),
        )
        if lines.may_be_open(file.separator.encode()) and _open_quote(file):
            raise _MalformedError


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


class _QuotedLines(Lines):
    """Lines of which the last one ends, too, but maybe not its quotation marks."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__(file, name)
        self.n_quotes, self._before, self._last = 0, b"\n", b"\n"
        self._is_ended = False

    def readinto(self, buffer: Any) -> int:
        n_bytes = super().readinto(buffer)
        if n_bytes or self._is_ended:
            return n_bytes
        # without a line end, pyarrow takes a header for nothing
        self._is_ended, buffer[:1] = True, b"\n"
        return 1

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
        for line, _ in file.rows(strict=True):
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


def _look_at(batch: Any, file: CsvFile, texts: Sequence[str]) -> None:
    """No query id is missing; text has no numbers."""
    compute = arrow(".compute")
    ids = [compute.equal(batch.column(name), "") for name in file.ids]
    if any(compute.any(missing).as_py() for missing in ids):
        raise _MalformedError
    for name in texts:
        cells = batch.column(name)
        if _any_number(_cells(cells, file) if file.thousands else cells):
            raise _MalformedError


def _any_number(cells: Any, spelled: str = NUMBER.pattern) -> bool:
    compute = arrow(".compute")
    are_numbers = compute.match_substring_regex(cells, spelled)
    return bool(compute.any(are_numbers).as_py())


def _cells(cells: Any, file: CsvFile) -> Any:
    """Cells without blanks and what parts groups of digits; null if one is missing."""
    compute = arrow(".compute")
    cells = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(cells, arrow().array(file.missing))
    if file.thousands is not None:
        cells = compute.replace_substring(cells, file.thousands, "")
    return compute.if_else(missing, None, cells)


def _exact(cells: Any, file: CsvFile) -> Any:
    """Cells of text as floats, or as integers where floats would round."""
    cells = _cells(cells, file)
    floats = cells.cast(arrow().float64())
    if not _are_large(_floats(floats)):
        return floats
    if not cells.null_count:
        try:
            return cells.cast(arrow().int64())
        except arrow().ArrowInvalid:
            pass
    if any(cell is not None and _is_rounded(cell) for cell in cells.to_pylist()):
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


def _plain(file: CsvFile, cells: Sequence[str], j: int) -> str:
    """A cell of a row without blanks around it, empty if it stands for a missing one.

    What parts groups of digits is left out.
    """
    cell = cells[j].strip() if j < len(cells) else ""
    return "" if cell in file.missing else cell.replace(file.thousands or "\0", "")


def _complaint(file: CsvFile, kinds: Mapping[str, str], error: Exception) -> str:
    """All that is wrong with a file, by its lines, and once for each column."""
    opened, last = _open_quote(file), None
    said: dict[tuple[str, str], tuple[int, list[str]]] = {}
    columns = [(file.names.index(name), name, kind) for name, kind in kinds.items()]
    with closing(file.rows()) as rows:
        next(rows)
        for number, (line, row) in enumerate(rows):
            if opened and line >= opened:
                break
            for name, kind, what in _wrong_with(file, columns, row):
                _, words = said.setdefault((name, kind), (line, []))
                if what not in words and len(words) < _CELLS_SAID:
                    words.append(what)
            n_said = sum(kind not in ("other", "large") for _, kind in said)
            if n_said and last is None:
                last = number + _ROWS_LOOKED_AT
            if n_said >= _SAID or number == last:
                break
    if opened:
        said["", ""] = opened, ["a quotation mark is opened and never closed"]
    found = []
    for (name, kind), (line, words) in said.items():
        is_mixed = (name, "other") in said and (name, "64 bits") not in said
        if kind == "cell":
            found.append((line, _of_cells(name, words)))
        elif kind != "other" and (kind != "large" or is_mixed):
            found.append((line, words[0]))
    if not found:
        return f"{file.source}: {in_one_line(error) or 'malformed'}"
    lines = sorted(found, key=itemgetter(0))[:_SAID]
    return f"{file.source}, " + "\n  ".join(f"line {at}: {what}" for at, what in lines)


def _wrong_with(
    file: CsvFile, columns: Sequence[tuple[int, str, str]], cells: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """What is wrong with a row: the column, the kind of problem, and words for it.

    Cells that are "other" than whole numbers of 64 bits are wrong beside "large" ones.
    """
    n_cells = len(file.names)
    if bad := _not_utf_8("".join(cells)):
        yield "", "bytes", bad
        return
    if len(cells) != n_cells:
        which = "fewer" if len(cells) < n_cells else "more"
        what = (
            f"a row must not have {which} cells than the header ({n_cells}), got "
            f"{len(cells)} (a cell that holds {file.separator!r} must be in quotation "
            "marks)"
        )
        yield "", which, what
        return
    for name in file.ids:
        if not cells[file.names.index(name)]:
            what = f"column {name!r} must not be empty (it holds the ids of queries)"
            yield name, "id", what
    for j, name, kind in columns:
        cell, plain = cells[j].strip(), _plain(file, cells, j)
        must, got = f"column {name!r} must hold", f"got {quoted(cell)}"
        is_number, is_whole = NUMBER.match(plain), _WHOLE.fullmatch(plain)
        if kind == "text":
            if is_number:
                what = f"{must} numbers or text, not both, {got} after text"
                yield name, kind, what + _LEAVES_OUT
        elif plain and not is_number and not _NO_NUMBER.fullmatch(plain):
            yield name, "cell", cell
        elif is_whole and _is_rounded(plain):
            if not _is_64_bits(plain):
                what = f"{must} numbers of 64 bits at most, {got}"
                yield name, "64 bits", what + _LEAVES_OUT
            what = f"{must} numbers that a float64 holds beside fractions, larger ones"
            yield name, "large", f"{what} or missing cells, {got}{_LEAVES_OUT}"
        elif not (is_whole and _is_64_bits(plain)):
            yield name, "other", ""


def _is_64_bits(whole: str) -> bool:
    return len(whole) <= 25 and -(2**63) <= int(whole) < 2**63


def _of_cells(name: str, cells: Sequence[str]) -> str:
    """What to say of cells of a column that are no numbers."""
    remedies: dict[str, str] = {}
    for cell in cells:
        option, does = _remedy(cell)
        remedies.setdefault(option, does)
    advice = "".join(f"{option} {does}; " for option, does in remedies.items())
    return (
        f"column {name!r} must hold numbers, got {', '.join(map(quoted, cells))} "
        f"({advice}ignore, or --ignore, leaves out the column)"
    )


_LEAVES_OUT = " (ignore, or --ignore, leaves out the column)"


def _remedy(cell: str) -> tuple[str, str]:
    """An option that reads a cell that is no number, and what the option does."""
    how = how_to_read(cell)
    if how and "decimal" not in how and "," in cell:
        return 'thousands=",", or --thousands ,,', f"reads numbers such as {cell}"
    if how:
        return how.removesuffix(" reads such numbers"), "reads such numbers"
    return "missing_values, or --missing-values,", f"reads {cell} as missing"
