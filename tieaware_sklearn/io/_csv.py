"""CSV and TSV: read by pyarrow, numbers exactly; all that is wrong said at once."""

import csv
import io
import re
import shlex
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import accumulate, islice, takewhile
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from .._display import progress_bars, words
from .._engine import exact_numbers, spelling
from . import _frames, _source, _wording

#: cells that stand for a missing number
MISSING = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"),
    *("None", "none", "-", "?"),
)
#: numbers, and those whose digits stand in groups
_GROUPED = spelling.Spelling(",")
#: bytes of a file that show how it is written
_START = 1 << 20
#: rows by which columns are known, unless all their cells there are missing
_FIRST_ROWS = 4096
#: what a message says of a file at most, of a column, and how many rows behind the
#: first problem are looked at for others
_SAID, _CELLS_SAID, _ROWS_LOOKED_AT = 10, 3, 1 << 16
#: cells of several lines that are looked at, for rows between two stray quotes
_MOST_OF_LINES = 1000
#: by column and kind of problem: the first line that has it, and words of some
_Said = dict[tuple[str, str], tuple[int, list[str]]]


class CsvFile(NamedTuple):
    """A file of text: how its cells are parted, and what they may mean.

    `missing` are cells that stand for a missing number. Without `quotes`, a quotation
    mark is a character as any other.
    """

    source: _source.TextSource
    options: _frames.TableOptions
    progress: bool
    separator: str
    names: list[str]
    #: the line on which the header ends
    header: int

    @property
    def missing(self) -> list[str]:
        return [*MISSING, *self.options.missing_values]

    @property
    def quotes(self) -> bool:
        return self.options.quoting == "double"

    @property
    def ids(self) -> list[str]:
        """The column of query ids, unless it is in the name of a folder."""
        return [self.options.qid] if self.options.qid in self.names else []

    def rows(self, before: int | None = None) -> Generator[tuple[int, list[str]]]:
        """Lines on which rows end, and their cells; the first one is the header.

        Bytes that are not UTF-8 become halves of surrogate pairs. With `before`, the
        lines from that one on are not read.

        Raises
        ------
        csv.Error
            Where quotation marks are not as they must be.
        """
        limit = csv.field_size_limit(_source.MAX_LINE)
        try:
            with self.source.open_text() as file:
                text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")
                lines = islice(text, None if before is None else before - 1)
                reader = csv.reader(
                    lines,
                    delimiter=self.separator,
                    quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
                    strict=True,
                )
                for cells in reader:
                    if len(cells) > 1 or "".join(cells).strip():
                        yield reader.line_num, cells
        finally:
            csv.field_size_limit(limit)

    def place(self, row: int) -> str:
        """A row as a message names it, by its line."""
        line, _ = next(islice(self.rows(), row + 1, None))
        return f"{self.source}, line {line}"

    def line_of_byte(self, number: int) -> int:
        """The line on which a byte stands."""
        with self.source.open() as file:
            # a character for each byte
            text = io.TextIOWrapper(file, "latin-1", newline="")
            ends = accumulate(map(len, text))
            return 1 + sum(1 for _ in takewhile(lambda end: end <= number, ends))


class _MalformedError(Exception):
    """Some cell is not as it must be."""


class _QuoteError(_MalformedError):
    """The quotation mark at a byte of the file opens a cell and does not close it."""


def open_csv(
    source: _source.TextSource, options: _frames.TableOptions, progress: bool
) -> CsvFile:
    """The file, and the names of its columns.

    If there is a single one, other separators are tried.

    Raises
    ------
    ValueError
        If it is empty, or the names are not UTF-8.
    """
    for separator in "\t" if source.format == "tsv" else ",;\t|":
        file = CsvFile(source, options, progress, separator, [], 0)
        try:
            with closing(file.rows()) as rows:
                line, names = next(rows, (0, []))
        except csv.Error as error:
            said = _complaint(file, {}, _quote_error(file) or error, 0)
            raise ValueError(said) from None
        if len(names) > 1:
            break
    if not names:
        raise ValueError(f"{source}: the file is empty: it must begin with a header")
    if bad := _not_utf_8("".join(names)):
        raise ValueError(f"{source}, line 1: {bad}")
    return file._replace(names=names, header=line)


def kinds_of_csv(file: CsvFile, columns: Sequence[str]) -> dict[str, str]:
    """Which of the columns are "numbers" and which "text"; no other holds a value.

    What decides are the first rows of the file in which a column is not missing. A
    column with a single number there is one of numbers, also one such as 1,234, and so
    is one of numbers that are all spelled otherwise.
    """
    kinds: dict[str, str] = {}
    for block in (_START, _source.MAX_LINE):
        try:
            _find_kinds(file, columns, kinds, block)
            return kinds
        except _frames.arrow().ArrowInvalid:
            continue  # a row may be longer than the first block
        except _MalformedError:
            break
    # not all rows could be read: those that can tell
    first: list[list[str]] = []
    with closing(file.rows()) as rows, suppress(csv.Error):
        first += (cells for _, cells in islice(rows, 1, _FIRST_ROWS))
    for name in columns:
        j = file.names.index(name)
        # in ASCII are all numbers, and Arrow takes it
        texts = (_plain(file, row, j).encode("ascii", "replace") for row in first)
        cells = _frames.arrow().array(filter(None, texts)).cast("string")
        kinds[name] = "numbers" if _like_numbers(cells, file) else "text"
    # it says what is wrong
    deque(read_csv(file, kinds), maxlen=0)
    return kinds


def _find_kinds(
    file: CsvFile, columns: Sequence[str], kinds: dict[str, str], block: int
) -> None:
    left = [name for name in columns if name not in kinds]
    texts = dict.fromkeys(left, _frames.arrow().string())
    for batch in _batches(file, texts, block) if left else ():
        # the first ones mostly tell
        for rows in (batch.slice(0, _FIRST_ROWS), batch.slice(_FIRST_ROWS)):
            for name in left:
                cells = _cells(rows.column(name), file).drop_null()
                if _like_numbers(cells, file):
                    kinds[name] = "numbers"
                elif len(cells):
                    kinds[name] = "text"
            left = [name for name in left if name not in kinds]
        if not left:
            break


def _like_numbers(cells: Any, file: CsvFile) -> bool:
    """Whether some cell is a number, or all are in another spelling."""
    matches = _frames.arrow(".compute").match_substring_regex
    patterns = {file.options.spelling.pattern, _GROUPED.pattern}
    some = any(_any(matches(cells, pattern)) for pattern in patterns)
    return some or bool(spelling.other_spellings(cells.to_pylist()))


def read_csv(file: CsvFile, kinds: dict[str, str]) -> Iterator[Any]:
    """All rows as record batches of query ids and numbers; text is only looked at.

    Numbers are floats, or 64-bit integers where floats would make one of two.

    Raises
    ------
    ValueError
        With all that is wrong: short and long rows, quotation marks that do not close
        their cells, text in columns of numbers, numbers in columns of text, missing
        ids, bytes that are not UTF-8, numbers that neither kind holds.
    """
    numbers = [name for name, kind in kinds.items() if kind == "numbers"]
    string = _frames.arrow().string()
    as_they_are = dict.fromkeys([*kinds, *file.ids], string)
    n_read, error = 0, None
    # at once or, where some cells may be more than pyarrow knows of numbers, and right,
    # cell by cell, from where it stopped
    exactly = [True] if file.options.spelling.thousands else [False, True]
    for as_text in exactly:
        kind, first = string if as_text else _frames.arrow().float64(), 0
        try:
            types = as_they_are | dict.fromkeys(numbers, kind)
            for batch in _batches(file, types, numbers=numbers):
                rows = batch.slice(n_read - first)
                first += batch.num_rows
                if rows.num_rows:
                    yield _checked(rows, file, kinds, as_text=as_text)
                    n_read += rows.num_rows
            return
        except (_frames.arrow().ArrowInvalid, _MalformedError) as caught:
            error = caught
    # closer to what is wrong, in smaller pieces
    n_good = 0
    with suppress(_frames.arrow().ArrowInvalid, _MalformedError):
        for batch in _batches(file, as_they_are, _START):
            _checked(batch, file, kinds, as_text=True)
            n_good += batch.num_rows
        n_good = n_read  # some pieces are right alone
    raise ValueError(_complaint(file, kinds, error, max(n_read, n_good)))


def _checked(rows: Any, file: CsvFile, kinds: dict[str, str], *, as_text: bool) -> Any:
    """Rows as a record batch: no query id is missing, text has no numbers."""
    compute, pattern = _frames.arrow(".compute"), file.options.spelling.pattern
    columns = {name: rows.column(name) for name in file.ids}
    wrong = any(_any(compute.equal(ids, "")) for ids in columns.values())
    for name, kind in kinds.items():
        cells = rows.column(name)
        if kind == "text":
            wrong |= _any(compute.match_substring_regex(cells, pattern))
        elif as_text:
            columns[name] = _exact(cells, file)
        else:
            # Arrow takes nan(x) for a number
            wrong |= exact_numbers.any_large(cells) or _any(compute.is_nan(cells))
            columns[name] = cells
    if wrong:
        raise _MalformedError
    return _frames.arrow().record_batch(columns)


def _batches(
    file: CsvFile,
    kinds: dict[str, Any],
    block: int = _source.MAX_LINE,
    numbers: Sequence[str] = (),
) -> Iterator[Any]:
    """Some columns of the file, as record batches of so many bytes of it."""
    module, lines = _frames.arrow(".csv"), _CsvLines(file)
    with io.BufferedReader(lines) as opened:
        yield from module.open_csv(
            opened,
            module.ReadOptions(
                block_size=block, column_names=file.names, skip_rows=file.header
            ),
            module.ParseOptions(
                delimiter=file.separator,
                quote_char='"' if file.quotes else False,
                newlines_in_values=file.quotes,
                invalid_row_handler=partial(_skip_blank, file),
            ),
            module.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                null_values=file.missing,
                decimal_point=file.options.spelling.decimal,
            ),
        )
    for at, column, text in lines.cells_of_lines:
        if _holds_rows(file, text, column, numbers):
            words.warn(
                f"{file.source}, line {file.line_of_byte(at)}: a cell in quotation "
                "marks holds lines that are whole rows without these marks. If they "
                'are no quotes, quoting="none", or --quoting none, reads them as they '
                "are"
            )
            break


def _holds_rows(file: CsvFile, text: str, column: int, numbers: Sequence[str]) -> bool:
    """Whether the lines of a cell are rows, with numbers where these are expected."""
    first, *others = (line.split(file.separator) for line in text.split("\n"))
    rows = [[*[""] * column, *first], *others]
    whole = {len(row) for row in rows[:-1]} == {len(file.names)}
    of_numbers = {file.names.index(name) for name in numbers} - {column}
    cells = [*filter(None, (_plain(file, row, j) for row in rows for j in of_numbers))]
    are_numbers = bool(cells) and all(map(file.options.spelling.match, cells))
    return whole and len(rows[-1]) == column + 1 and are_numbers


def _quote_error(file: CsvFile) -> _QuoteError | None:
    """The first quotation mark of the file that does not close its cell."""
    try:
        with io.BufferedReader(_CsvLines(file)) as text:
            while text.read(_START):
                pass
    except _QuoteError as error:
        return error
    return None


def _skip_blank(file: CsvFile, row: Any) -> str:
    is_quoted = file.quotes and row.text.startswith('"')
    text = row.text[1:-1] if is_quoted else row.text
    return "error" if row.actual_columns > 1 or text.strip() else "skip"


class _CsvLines(_source.Lines):
    """Lines of which the last one ends, too, and whose quotation marks are looked at.

    A cell that begins with a quotation mark ends with one, before what ends a cell; in
    it, two stand for one. In other cells they are characters as any other. Arrow takes
    a mark elsewhere for a character, too, and all that follows for the same cell.
    """

    def __init__(self, file: CsvFile) -> None:
        super().__init__(file.source.open(), str(file.source))
        self._quotes, self._separator = file.quotes, file.separator.encode()
        #: of cells of several lines: the first byte, the column, and the text
        self.cells_of_lines: list[tuple[int, int, str]] = []
        end = b"[%b\r\n]" % self._separator
        # cells up to a mark that opens one and does not close it
        cell = b'(?<=%b)[^"]*+(?:""[^"]*+)*+"(?=%b)' % (end + b'"', end)
        plain = b'(?<!%b")' % end
        self._closed = re.compile(b'[^"]*+(?:"(?:%b|%b)[^"]*+)*+' % (cell, plain))
        # cells of several lines
        first, others = b'[^"\n]*+(?:""[^"\n]*+)*+', b'[^"]*+(?:""[^"]*+)*+'
        parts = end, first, others, end
        self._of_lines = re.compile(b'"(?<=%b")(%b\n%b)"(?=%b)' % parts)
        # what the next block goes on with, and the number of its first byte
        self._rest, self._at = b"\n", -1
        # the number of the mark that has opened a cell
        self._opened: int | None = None
        self._is_ended = False

    def block(self, size: int) -> bytes:
        block = super().block(size)
        if block or self._is_ended:
            return block
        self._is_ended = True
        # without a line end, pyarrow takes a header for nothing
        self.check(b"\n")
        if self._opened is not None:
            raise _QuoteError(self._opened)
        return b"\n"

    def check(self, block: bytes) -> None:
        super().check(block)
        for first in range(0, len(block) * self._quotes, _START):
            self._look_at(self._rest + block[first : first + _START])

    def _look_at(self, text: bytes) -> None:
        self._opened, start, mark = None, len(text) - 1, text.find(b'"', 1)
        if mark > 0:
            closed: Any = self._closed.match(text, mark)
            if len(self.cells_of_lines) < _MOST_OF_LINES:
                self._note_lines(text, mark, closed.end())
            mark = text.find(b'"', closed.end())
        if mark > 0:
            self._opened, start = self._at + mark, mark - 1
            # a mark at the end may close it, and so may what follows
            if b'"' in text[mark + 1 :].replace(b'""', b"").removesuffix(b'"'):
                raise _QuoteError(self._opened)
        self._rest, self._at = text[start:], self._at + start
        if len(self._rest) > _source.MAX_LINE:
            raise _QuoteError(self._at + 1)

    def _note_lines(self, text: bytes, start: int, end: int) -> None:
        """Note cells of several lines that hold separators."""
        data = np.frombuffer(text, dtype=np.uint8)[1:]
        marks, ends = np.flatnonzero(data == ord('"')), np.flatnonzero(data == 10)
        # the pattern takes longer: is some line end behind an odd number of marks?
        if not (marks.searchsorted(ends) & 1).any():
            return
        for cell in self._of_lines.finditer(text, start, end):
            if self._separator in cell[1]:
                line = text[text.rfind(b"\n", 0, cell.start()) + 1 : cell.start()]
                column = line.count(self._separator)
                note = self._at + cell.start(), column, cell[1].decode("latin-1")
                self.cells_of_lines.append(note)


def _any(flags: Any) -> bool:
    """Whether one of the flags of Arrow is set."""
    return bool(_frames.arrow(".compute").any(flags).as_py())


def _cells(cells: Any, file: CsvFile) -> Any:
    """Cells without blanks around them; null if one is missing."""
    compute = _frames.arrow(".compute")
    cells = compute.utf8_trim_whitespace(cells)
    missing = compute.is_in(cells, _frames.arrow().array(file.missing))
    return compute.if_else(missing, None, cells)


def _exact(cells: Any, file: CsvFile) -> Any:
    """Cells of text as floats, or as integers where floats would round."""
    compute, cells = _frames.arrow(".compute"), _cells(cells, file)
    thousands, decimal = file.options.spelling
    given = cells
    if thousands is not None:
        cells = compute.replace_substring(cells, thousands, "")
    if decimal != spelling.PLAIN.decimal:
        cells = compute.replace_substring(cells, decimal, ".")
    floats = cells.cast(_frames.arrow().float64())
    # Arrow takes nan(x) for a number
    if file.options.spelling != spelling.PLAIN or _any(compute.is_nan(floats)):
        known = f"{file.options.spelling.pattern}|^{spelling.NO_NUMBER}$"
        if not compute.all(compute.match_substring_regex(given, known)).as_py():
            raise _MalformedError
    if not exact_numbers.any_large(floats):
        return floats
    if not cells.null_count:
        with suppress(_frames.arrow().ArrowInvalid):
            whole = compute.replace_substring_regex(cells, r"^\+|\.0*$", "")
            return whole.cast(_frames.arrow().int64())
    if any(map(spelling.is_rounded, cells.drop_null().to_pylist())):
        raise _MalformedError
    return floats


def _not_utf_8(text: str) -> str:
    """A note on bytes that are not UTF-8; empty if there are none."""
    bad = re.search("[\udc80-\udcff]", text)
    if bad is None:
        return ""
    got = f"got the byte 0x{ord(bad[0]) - 0xDC00:02x}"
    return f"must be UTF-8, {got} (save the file as UTF-8)"


def _plain(file: CsvFile, cells: Sequence[str], j: int) -> str:
    """A cell of a row without blanks around it, empty if it is missing."""
    cell = cells[j].strip() if j < len(cells) else ""
    return "" if cell in file.missing else cell


def _complaint(file: CsvFile, kinds: dict[str, str], error: object, n_good: int) -> str:
    """All that is wrong behind the good rows, by lines, and once for each column."""
    opened = file.line_of_byte(*error.args) if isinstance(error, _QuoteError) else None
    last = None
    said: _Said = {}
    columns = [(file.names.index(name), name, kind) for name, kind in kinds.items()]
    rows = file.rows(before=opened)
    what = "looking for errors"
    every = progress_bars.show_progress(rows, file.progress, None, "row", what)
    with closing(rows), suppress(csv.Error):
        for number, (line, row) in enumerate(islice(every, n_good + 1, None)):
            for name, kind, what in _wrong_with(file, columns, row):
                _, texts = said.setdefault((name, kind), (line, []))
                if what not in texts and len(texts) < _CELLS_SAID:
                    texts.append(what)
            n_said = len(_in_words(said))
            if n_said and last is None:
                last = number + _ROWS_LOOKED_AT
            if n_said >= _SAID or number == last:
                break
    if opened is not None:
        said["", ""] = opened, [_OPEN_QUOTE]
    lines = sorted(_in_words(said), key=itemgetter(0))[:_SAID]
    if not lines:
        return f"{file.source}: {_wording.in_one_line(error) or 'malformed'}"
    return f"{file.source}, " + "\n  ".join(f"line {at}: {what}" for at, what in lines)


def _in_words(said: _Said) -> list[tuple[int, str]]:
    """Lines, and what is wrong there; large numbers only beside others."""
    lines = []
    for (name, kind), (line, texts) in said.items():
        is_mixed = (name, "other") in said and (name, "64 bits") not in said
        if kind == "cell":
            lines.append((line, _of_cells(name, texts)))
        elif kind != "other" and (kind != "large" or is_mixed):
            lines.append((line, texts[0]))
    return lines


def _wrong_with(
    file: CsvFile, columns: Sequence[tuple[int, str, str]], cells: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """Problems of a row: the column, the kind of problem, and words for it.

    Cells that are "other" than whole numbers of 64 bits are wrong beside "large" ones.
    """
    if bad := _not_utf_8("".join(cells)):
        yield "", "bytes", bad
        return
    if cells == file.names:
        yield "", "header", _HEADER_AGAIN
        return
    n_cells, n_names = len(cells), len(file.names)
    if n_cells != n_names:
        which = "fewer" if n_cells < n_names else "more"
        rule = f"a row must not have {which} cells than the header ({n_names})"
        how = f"a cell that holds {file.separator!r} must be in quotation marks"
        yield "", which, f"{rule}, got {n_cells} ({how})"
        return
    for name in file.ids:
        if not cells[file.names.index(name)]:
            what = f"column {name!r} must not be empty (it holds the ids of queries)"
            yield name, "id", what
    for j, name, kind in columns:
        for problem, what in _wrong_with_cell(file, cells, j, kind):
            yield name, problem, what


def _wrong_with_cell(
    file: CsvFile, cells: Sequence[str], j: int, kind: str
) -> Iterator[tuple[str, str]]:
    cell, text = cells[j].strip(), _plain(file, cells, j)
    must, got = f"column {file.names[j]!r} must hold", f"got {_wording.quoted(cell)}"
    separators = file.options.spelling
    is_number, plain = separators.match(text), separators.plain(text)
    whole = spelling.whole_number(plain) if is_number else None
    is_64_bits = whole is not None and -(2**63) <= whole < 2**63
    if kind == "text":
        if is_number:
            what = f"{must} numbers or text, not both, {got} after text"
            yield kind, what + _LEAVES_OUT
    elif text and not is_number and not re.fullmatch(spelling.NO_NUMBER, text):
        yield "cell", cell
    elif is_number and spelling.is_rounded(plain):
        if not is_64_bits:
            yield "64 bits", f"{must} numbers of 64 bits at most, {got}{_LEAVES_OUT}"
        what = f"{must} numbers that a float64 holds beside fractions, larger ones"
        yield "large", f"{what} or missing cells, {got}{_LEAVES_OUT}"
    elif not is_64_bits:
        yield "other", ""


def _of_cells(name: str, cells: Sequence[str]) -> str:
    """A message on cells of a column that are no numbers."""
    got = ", ".join(map(_wording.quoted, cells))
    if any(map(spelling.PLAIN.match, cells)):  # other separators were given
        rule = f"column {name!r} must hold numbers with the separators given, got {got}"
        return f"{rule} (correct these cells, or give no separators)"
    numbers = [cell for cell in cells if spelling.other_spellings([cell])]
    ways = [_option(way, numbers[0]) for way in spelling.other_spellings(numbers)]
    remedies = [" or ".join(ways)] if ways else []
    if others := [_wording.quoted(cell) for cell in cells if cell not in numbers]:
        how = "missing_values, or --missing-values,"
        remedies.append(f"{how} reads {', '.join(others)} as missing")
    remedies.append("ignore, or --ignore, leaves out the column")
    return f"column {name!r} must hold numbers, got {got} ({'; '.join(remedies)})"


def _option(way: spelling.Spelling, cell: str) -> str:
    """The options, in Python and in the shell, that read a cell as a number."""
    given = way.given().items()
    flags = " ".join(f"--{name} {shlex.quote(value)}" for name, value in given)
    return f"{way.as_options()}, or {flags}, reads {cell} as {way.plain(cell)}"


_LEAVES_OUT = " (ignore, or --ignore, leaves out the column)"
_OPEN_QUOTE = (
    "a quotation mark opens a cell here, but none closes it before a separator or a "
    'line end (in such a cell, "" stands for "; quoting="none", or --quoting none, '
    "reads quotation marks as they are)"
)
_HEADER_AGAIN = (
    "the header stands here again (name the files one by one in place of one that "
    "joins them, or take the line out)"
)
