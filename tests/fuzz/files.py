"""Small files, read whole, in batches and plainly, which must come to the same.

They are CSV files with hard quotation marks, CSV files with hard numbers, and LETOR
files. All must read the same from a file, or refuse it.
"""

import csv
import io
import itertools
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from tests.fuzz.draw import some_of
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io import _csv, _letor

LABEL, QID, TITLE, X, Y = range(5)
BATCH_ROWS = [1, 1, 2, 3]
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"]
MISSING += ["None", "none", "-", "?"]
WORDS = ["nan", "inf", "-inf", "+Infinity", "INF", "-nan", "+NaN"]
SMALL = [0, 0, 1, 2, 3, 10, -7, 123, 999, 1000, 1406, -12345, 1234567]
#: of which a float64 does not hold every one
LARGE = [*range(2**53 - 1, 2**53 + 4), 10**18 + 1, 2**63 - 1, 2**63, 2**64 + 1, 10**30]
LARGE += [-one for one in LARGE]
#: no numbers, or by some spellings only
BAD_NUMBERS = [
    *("0,5", "0,123", "1,2,3", "12,34.5", "1.234,5", "1,234", "1,234,567", "1,234e2"),
    *("1.5", "1,5", ",5", "1 234", "1'234", "1.2.3", "1234,567", "01,234", "1."),
    *("x", "1_0", "0x10", "1e", "e5", ".", "+", "--5", "+ 5", "5%", "1 5", "true"),
    *("5\n", "\n", "\u00a05", "\uff15", "nan(1)", "infi", "- 5", "1,e5"),
]
TITLES = ["disk", '5" disk', 'a "b" c', '"', '""', '"a"', '"a" b', "a,b", "a\tb", "NA"]
TITLES += ["two\nlines", "two\r\nlines", "a\rb", ' "a"', "label", "", " ", "é", 'a"']
IDS = ["a", " a", "a ", "b", "7", "007", "7.0", "NA", "nan", "-", "qid", 'a"b', " "]
QUOTED_IDS = ['"a"', "a,b", "a\nb", '"']
QUERIES = ["7", "8", "-9", "+1", "007", "0", *map(str, (2**53, 2**53 + 1, 2**63 - 1))]
BAD_TOKENS = [
    *("1:x", "1:1_0", "1:", ":1", "1", "x", "1_0", "-1:5", "1:0x10", "9:1:2", "3:,5"),
    *("1:nan(1)", "1:--1", "0:1", "1:\uff15", "qid:1", "qid:x", "qid:1.0", "qid:"),
    *(f"qid:{2**63}", "qid:1_0", "1:1e", "2:1,5", "x:1", "1.0:1", "nan", ""),
]
#: text that may be refused, since by another spelling it is a number
_LIKE_A_NUMBER = re.compile(r"(?=.*[0-9])\s*[-+,.' 0-9eE]*\s*", re.DOTALL)
#: lines that may be taken for blank ones: of quoted blanks, or tabs as separators
_LIKE_A_BLANK = re.compile(r'(?:\A|[\r\n])(?=[^\r\n]*["\t])[ \t"]+(?=[\r\n]|\Z)')


@dataclass(frozen=True)
class File:
    """A text under a name, and how it is to be read."""

    name: str
    text: str
    batch_rows: int
    options: dict[str, Any]

    @property
    def is_letor(self) -> bool:
        return self.name.endswith(".txt")


class RefusedError(Exception):
    """The file must be refused, in words that match the pattern."""


@dataclass
class Plain:
    """What there is in a file; whole numbers are integers, and text is None."""

    qid: list[Any]
    target: list[Any]
    columns: dict[str, list[Any]]
    #: on which rows end
    lines: list[int]
    #: columns that need not be features
    optional: set[str] = field(default_factory=set)
    may_be_refused: bool = False


# ---------------------------------------------------------------- plain reading


def exact(text: str) -> int | float:
    """A number as Python spells it; an integer if it is spelled as a whole number."""
    is_whole = re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text)
    return int(text.partition(".")[0]) if is_whole else float(text)


def plain_number(
    cell: str, missing: Sequence[str], thousands: str | None, decimal: str
) -> int | float | None:
    """The number of a cell, NaN where it is missing, None of text."""
    cell = cell.strip()
    if cell in missing:
        return math.nan
    if re.fullmatch(r"[+-]?(inf|infinity|nan)", cell, re.IGNORECASE):
        return float(cell)
    digits, point = "[0-9]+", re.escape(decimal)
    if thousands:
        digits = rf"([1-9][0-9]{{0,2}}({re.escape(thousands)}[0-9]{{3}})+|[0-9]+)"
    number = rf"[+-]?({digits}({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?"
    if not re.fullmatch(number, cell):
        return None
    return exact(cell.replace(thousands or "\0", "").replace(decimal, "."))


def open_quote(text: str, separator: str) -> int:
    """The line of the first quotation mark whose cell does not end; 0 without one."""
    ends, at = rf"{separator}\r\n", 0
    cell = re.compile(rf'"(?:[^"]|"")*"(?=[{ends}]|\Z)|(?!")[^{ends}]*')
    while at <= len(text):
        if not (found := cell.match(text, at)):
            return len(re.findall(r"\r\n|\r|\n", text[:at])) + 1
        at = found.end() + 1
    return 0


def plain_rows(
    text: str, separator: str, has_quotes: bool
) -> list[tuple[int, list[str]]]:
    """The header and all rows by Python's module, with the lines on which they end.

    Lines that are blank are left out.
    """
    opened = open_quote(text, separator) if has_quotes else 0
    quoting = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error:
        assert opened, "only the csv module refuses this"
        raise RefusedError(rf"line {opened}\b") from None
    assert not opened, "only the csv module reads this"
    least = 2 if separator == "," else math.inf
    return [one for one in rows if len(one[1]) >= least or "".join(one[1]).strip()]


def plain_table(file: File) -> Plain:
    """A CSV file, cell by cell."""
    given = {"thousands": None, "decimal": ".", "quoting": "double"} | file.options
    separators = given["thousands"], given["decimal"]
    if separators[0] == separators[1]:
        raise RefusedError("thousands")
    missing = [*MISSING, *given.get("missing_values", [])]
    separator = "\t" if file.name.endswith(".tsv") else ","
    text = file.text.removeprefix("\ufeff")
    lines = plain_rows(text, separator, given["quoting"] == "double") or [(0, [])]
    (_, header), *lines = lines
    if not lines or not {"label", "qid"} <= {*header} or len({*header}) < len(header):
        raise RefusedError
    has_blanks = _LIKE_A_BLANK.search(text) is not None
    n_cells = rf"cells than the header \({len(header)}\), got"
    for line, row in lines:
        if len(row) != len(header):
            which = "fewer" if len(row) < len(header) else "more"
            said = f"line {line}: a row must not have {which} {n_cells} {len(row)} "
            # such a line before may be told to be too short
            raise RefusedError("" if has_blanks else said)
    texts = dict(zip(header, zip(*(row for _, row in lines), strict=True), strict=True))
    if "" in texts["qid"]:
        raise RefusedError
    found = Plain(list(texts.pop("qid")), [], {}, [line for line, _ in lines])
    found.may_be_refused = has_blanks
    for name, cells in texts.items():
        values = [plain_number(cell, missing, *separators) for cell in cells]
        found.columns[name] = values
        if not any(value is not None and value - value == 0 for value in values):
            found.optional.add(name)
            found.may_be_refused |= any(map(_LIKE_A_NUMBER.fullmatch, cells))
        elif None in values:
            raise RefusedError
        wholes = [value for value in values if isinstance(value, int)]
        found.may_be_refused |= any(abs(value) > 2**53 for value in wholes)
    found.may_be_refused |= not found.columns.keys() - {"label"} - found.optional
    found.may_be_refused |= "label" in found.optional
    found.target = found.columns.pop("label")
    if None in found.target:
        raise RefusedError
    return found


def plain_letor(file: File) -> Plain:
    """LETOR text, token by token."""
    documents, lines, rows, bad = [], [], [], []
    text = file.text.removeprefix("\ufeff").encode()
    for line, content in enumerate(text.split(b"\n"), start=1):
        if tokens := [one.decode() for one in content.partition(b"#")[0].split()]:
            documents.append(tokens)
            lines.append(line)
            try:
                rows.append(_plain_line(*tokens))
            except ValueError:
                bad.append(str(line))
    has_queries = any(" ".join(own[1:]).startswith("qid:") for own in documents)
    if not has_queries or all(len(own) < 3 for own in documents):
        raise RefusedError  # for want of queries or features, whatever else is bad
    if bad:
        # a first line that is none of LETOR, with a tab, is the header of a table
        raise RefusedError(rf"line ({'|'.join(bad)})\b|no column 'label'")
    seen = {number for *_, features in rows for number in features}
    numbers = range(0 if 0 in seen else 1, max(seen) + 1)
    columns = {str(one): [row[2].get(one, 0.0) for row in rows] for one in numbers}
    return Plain([row[1] for row in rows], [row[0] for row in rows], columns, lines)


def _plain_line(
    label: str, query: str = "", *tokens: str
) -> tuple[float, int, dict[int, float]]:
    """The label, the query and the features, or a ValueError."""
    pairs = [token.partition(":")[::2] for token in tokens]
    are_digits = all(re.fullmatch("[0-9]+", number) for number, _ in pairs)
    if not re.fullmatch("qid:[+-]?[0-9]+", query) or not are_digits:
        raise ValueError
    features = {int(number): _plain_float(value) for number, value in pairs}
    qid, numbers = int(query[4:]), [int(number) for number, _ in pairs]
    if not -(2**63) <= qid < 2**63 or numbers != sorted(set(numbers)):
        raise ValueError
    return _plain_float(label), qid, features


def _plain_float(text: str) -> float:
    number = exact(text)
    is_rounded = isinstance(number, int) and number != float(number)
    if "_" in text or not text.isascii() or is_rounded:
        raise ValueError
    return float(number)


# ---------------------------------------------------------------------- drawing


def one_in(rng: Random, n: int) -> bool:
    """Whether to do what is done once in `n` times."""
    return rng.randrange(n) == n - 1


def grouped(rng: Random, ids: Sequence[str]) -> list[str]:
    """Ids of some rows, query after query."""
    own = some_of(rng, ids, 3)
    n = rng.choice([*[1, 2, 3, 4, 5, 6] * 6, 0])
    return sorted([rng.choice(own) for _ in range(n)], key=own.index)


def cells_of(
    rng: Random, others: Sequence[str], thousands: str = "", decimal: str = "."
) -> Iterator[str]:
    """The cells of a column: whole numbers or fractions, large ones, and others."""
    some = ["", *(decimal + one for one in ("5", "25", "0", "", "1" + 24 * "0" + "7"))]
    fractions = rng.choice([[""], ["", decimal + "0", decimal + "000"], some, some])
    wholes = rng.choice([*[SMALL] * 8, SMALL + LARGE, LARGE])
    while True:
        whole = rng.choice(wholes)
        text = f"{whole:,}".replace(",", rng.choice(["", thousands]))
        text += rng.choice(fractions)
        if text[0] == "0" and len(text) > 2 and one_in(rng, 3):
            text = text[1:]
        if one_in(rng, 10):
            text += rng.choice(["e2", "E-3", "e+0", "e300", "e-400"])
        if whole > 0 and one_in(rng, 10):
            text = "+" + text
        yield rng.choice(others) if others and one_in(rng, 4) else text


def rows_of(rng: Random, x: Iterator[str], y: Iterator[str]) -> list[list[str]]:
    """The header and some rows, query after query."""
    rows = [
        [rng.choice("012"), query, rng.choice(TITLES), next(x), next(y)]
        for query in grouped(rng, rng.choice([IDS, IDS, IDS + QUOTED_IDS]))
    ]
    if rows and one_in(rng, 10):
        labels = [" 1", "2e0", "inf", "1.0", str(rng.choice(LARGE))]
        rows[-1][LABEL] = rng.choice([*MISSING, *labels, *labels])
    titles = [*["title"] * 9, 'ti"tle', "a,b", "two\nlines"]
    header = ["label", "qid", rng.choice(titles), "x", "y"]
    return [header, *rows, *[list(header)] * one_in(rng, 50)]


def table(
    rng: Random, rows: list[list[str]], strange: int, options: dict[str, Any]
) -> File:
    """Rows as text: cells are quoted if they must be, and sometimes if not.

    Once in `strange` times, some cell is not written as it must be.
    """
    is_plain = options.get("quoting") == "none"
    separator = rng.choice("\t\t\t," if is_plain else ",,\t")

    def spelled(cell: str) -> str:
        if is_plain and not one_in(rng, 100):
            return re.sub(rf"[{separator}\r\n]", ";", cell)
        if re.search(rf'^"|[{separator}\r\n]', cell) or one_in(rng, 7):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    texts = [[spelled(cell) for cell in row] for row in rows]
    if one_in(rng, strange):
        row = rng.choice(texts)
        column = rng.choice([TITLE, TITLE, TITLE, QID, X])
        marks = f'a5 {separator}\n\r"""'
        cell = "".join(rng.choice(marks) for _ in range(rng.randint(1, 6)))
        row[column] = '"' + row[column] if row is texts[0] else cell
    order = some_of(rng, range(5), 5)
    lines = [separator.join(row[column] for column in order) for row in texts]
    if len(lines) > 1 and one_in(rng, 10):
        row = rng.randint(1, len(lines) - 1)
        cut = lines[row].rpartition(separator)[0]
        lines[row] = rng.choice([lines[row] + separator, cut, cut, "x"])
    name = "file.tsv" if separator == "\t" else "file.csv"
    text = text_of(rng, lines, ["", "", " ", "  "], "\r")
    return File(name, text, rng.choice(BATCH_ROWS), options)


def text_of(rng: Random, lines: list[str], blanks: list[str], end: str) -> str:
    """Lines, and blank ones, with one of the ends that lines have."""
    while one_in(rng, 5):
        at = rng.randint(0, len(lines))
        lines.insert(at, rng.choice(blanks))
    end = rng.choice(["\n", "\n", "\r\n", end])
    text = end.join(lines) + end * (not one_in(rng, 5))
    return "\ufeff" * one_in(rng, 10) + text


def csv_quotes(rng: Random) -> File:
    """CSV with quotation marks, separators and line ends in cells."""
    cells = ["1", "2.5", "-3", "1e3", " 7 ", "\t0", "NA", "12"]
    x, y = (iter(lambda: rng.choice(cells), None) for _ in range(2))
    quoting = rng.choice([{}, {}, {"quoting": "double"}, {"quoting": "none"}])
    return table(rng, rows_of(rng, x, y), 2, quoting)


def csv_numbers(rng: Random) -> File:
    """CSV with numbers in groups, with commas, large, missing, and what is none."""
    thousands = rng.choice([None, None, *",.' "])
    decimal = rng.choice("..,")
    if thousands == decimal and not one_in(rng, 10):
        thousands = None
    options = {"thousands": thousands, "decimal": decimal}
    kinds = [[], [""], MISSING, MISSING, WORDS]
    if one_in(rng, 3):
        options["missing_values"] = ["tbd"]
        kinds.append(["tbd"])
    others = [rng.choice(kinds) for _ in range(2)]
    x, y = (cells_of(rng, own, thousands or "", decimal) for own in others)
    rows = rows_of(rng, x, y)
    for row in rows[1:]:
        column = rng.choice([X, Y, LABEL])
        if one_in(rng, 10):
            row[column] = rng.choice(BAD_NUMBERS)
        if one_in(rng, 5):
            before = rng.choice(["", " ", "\t"])
            row[column] = before + row[column] + rng.choice(" \t")
    if one_in(rng, 10):
        options["quoting"] = "none"
    return table(rng, rows, 30, options)


def letor(rng: Random) -> File:
    """LETOR text with nan beside large numbers, comments, and tokens that are none."""
    others = rng.choice([[], ["nan"], WORDS])
    columns = [cells_of(rng, others) for _ in range(rng.randint(1, 4))]
    grades = iter(lambda: rng.choice("012"), "")
    labels = cells_of(rng, others) if one_in(rng, 5) else grades
    first, skipped = rng.choice([1, 1, 1, 0]), rng.randint(2, 10)
    is_bad = one_in(rng, 3)
    lines = []
    for query in grouped(rng, QUERIES):
        tokens = [next(labels), f"qid:{query}"]
        for number, cells in enumerate(columns, start=first):
            if not one_in(rng, skipped):
                tokens.append(f"{number}:{next(cells)}")
        if is_bad and one_in(rng, 3):
            at = rng.randint(0, len(tokens) - 1)
            tokens[at] = rng.choice(BAD_TOKENS)
            tokens = some_of(rng, tokens, len(tokens)) if one_in(rng, 5) else tokens
        line = rng.choice([" ", " ", "\t", "  "]).join(tokens)
        comments = ["", "", "", " ", "#", " # qid:5 9007199254740993 1_0"]
        before = rng.choice(["", "", " "])
        lines.append(before + line + rng.choice(comments))
    blanks = ["", " ", "\t", "# a comment", " #1 qid:1 1:1"]
    text = text_of(rng, lines, blanks, "\n")
    return File("file.txt", text, rng.choice(BATCH_ROWS), {})


# --------------------------------------------------------------------- checking


#: a file is looked at in pieces of so many bytes
PIECES = [1, 10, 1 << 20]


def check(file: File) -> str:
    """Whether the file is read, or refused.

    Raises
    ------
    AssertionError
        Where it is read as something else than it is, or what is right is refused.
    """
    whole: Plain | RefusedError
    try:
        whole = plain_letor(file) if file.is_letor else plain_table(file)
    except RefusedError as refused:
        whole = refused
    # a query that comes back cannot be in one batch
    comes_back = isinstance(whole, Plain) and (
        len(list(itertools.groupby(whole.qid))) > len(set(whole.qid))
    )
    wanted = {"batches": RefusedError() if comes_back else whole, "whole": whole}
    said = ""
    with TemporaryDirectory(prefix="fuzz") as folder:
        path = Path(folder, file.name)
        path.write_bytes(file.text.encode())
        for n_bytes, how in itertools.product(PIECES, wanted):
            where = f"{how}, in pieces of {n_bytes}"
            with (
                mock.patch.object(_csv, "_START", n_bytes),
                mock.patch.object(_letor, "_CHUNK", n_bytes),
                warnings.catch_warnings(),
            ):
                # such a cell is read as what it is
                warnings.filterwarnings("ignore", ".*: a cell in quotation marks holds")
                try:
                    batches = _read(how, path, file)
                except ValueError as error:
                    _check_refusal(f"{where}: {error}", wanted[how], str(path))
                    said = "refused"
                else:
                    _check_reading(where, batches, wanted[how])
                    said = "read"
    return said


def _read(how: str, path: Path, file: File) -> list[Any]:
    if how == "batches":
        return list(iter_batches(path, batch_rows=file.batch_rows, **file.options))
    load = load_letor if file.is_letor else load_table
    return [load(path, **file.options)]


def _check_refusal(said: str, wanted: Plain | RefusedError, path: str) -> None:
    if isinstance(wanted, Plain):
        assert wanted.may_be_refused, f"{said}, must be read as {wanted}"
        assert path in said or "column " in said, f"{said}, must name a file or column"
        return
    pattern = str(wanted)
    assert path in said or pattern == "thousands", f"{said}, must name the file"
    # batches may meet a query that comes back before what else is wrong
    is_said = re.search(f"{pattern}|comes back after another query", said)
    assert is_said, f"{said}, must say {pattern!r}"


def _check_reading(
    where: str, batches: Sequence[Any], wanted: Plain | RefusedError
) -> None:
    assert isinstance(wanted, Plain), f"{where}: must be refused {wanted}"
    names = batches[0].feature_names
    right = [name for name in wanted.columns if name in names]
    others = [name for name in wanted.columns if name not in names]
    must = f"{where}: must be read as {wanted}"
    assert wanted.optional.issuperset(others), f"{must}, without {others}"
    rows, target, qid, lines = [], [], [], []
    for batch in batches:
        assert [batch.feature_names, batch.left_out] == [right, others], must
        rows += batch.data.tolist()
        target += batch.target.tolist()
        qid += batch.qid.tolist()
        places = map(batch.place, range(len(batch.qid)))
        lines += [int(place.rpartition(", line ")[2]) for place in places]
    found = [*zip(*rows, strict=True), target, qid, lines]
    columns = [wanted.columns[name] for name in right]
    expected = [*columns, wanted.target, wanted.qid, wanted.lines]
    # Python compares integers and floats exactly
    assert [*map(_known, found)] == [*map(_known, expected)], f"{must}, got {found}"


def _known(values: Iterable[Any]) -> list[Any]:
    return ["NaN" if one != one else one for one in values]
