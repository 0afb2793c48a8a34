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
    #: names of the rows: their lines, or their numbers
    places: list[str]
    may_be_refused: bool = False
    #: columns that are features
    names: set[str] = field(default_factory=set)


# ---------------------------------------------------------------- plain reading


def exact(text: str) -> int | float:
    """A number as Python spells it; an integer if it is spelled as a whole number."""
    is_whole = re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text)
    return int(text.partition(".")[0]) if is_whole else float(text)


def plain_column(
    cells: Sequence[str], missing: Sequence[str], decimal: str
) -> list[int | float | None]:
    """The numbers of a column, NaN where they are missing, None for text.

    They are integers if all are, and else floats.
    """
    texts = [None if cell in missing else cell.strip(" \t") for cell in cells]
    # pyarrow takes hexadecimal numbers for integers
    whole = re.compile("-?[0-9]+|0x[0-9]+")
    is_whole = all(text is None or whole.fullmatch(text) for text in texts)
    bases = [16 if text and "x" in text else 10 for text in texts]
    wholes = []
    if is_whole:
        pairs = zip(texts, bases, strict=True)
        wholes = [None if text is None else int(text, base) for text, base in pairs]
    if is_whole and all(n is None or -(2**63) <= n < 2**63 for n in wholes):
        return [math.nan if number is None else number for number in wholes]
    point = re.escape(decimal)
    number = rf"[+-]?([0-9]+({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?"
    word = r"[+-]?(?i:inf|infinity|nan(\([a-z0-9]*\))?)"
    values: list[int | float | None] = []
    for text in texts:
        if text is None:
            values.append(math.nan)
        elif re.fullmatch(number, text):
            values.append(float(text.replace(decimal, ".")))
        elif re.fullmatch(word, text):
            values.append(float(text.partition("(")[0]))
        else:
            values.append(None)
    return values


def plain_ids(cells: Sequence[str]) -> list[Any]:
    """Query ids: integers if Python writes all of them so, and else text."""
    is_whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", cell) for cell in cells)
    return list(map(int, cells)) if is_whole else list(cells)


def plain_table(file: File) -> Plain:
    """A CSV file by Python's module, cell by cell."""
    given = {"decimal": ".", "quoting": "double"} | file.options
    has_quotes = given["quoting"] == "double"
    text = file.text.removeprefix("\ufeff")
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter="\t" if file.name.endswith(".tsv") else ",",
        quoting=csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE,
    )
    header, *rows = [row for row in reader if row] or [[]]
    is_short = any(len(row) != len(header) for row in rows)
    if not rows or is_short or not {"label", "qid"} <= {*header}:
        raise RefusedError
    if len({*header}) < len(header):
        raise RefusedError
    texts = dict(zip(header, zip(*rows, strict=True), strict=True))
    if "" in texts["qid"]:
        raise RefusedError
    places = [f"row {number}" for number in range(2, len(rows) + 2)]
    found = Plain(plain_ids(texts.pop("qid")), [], {}, places)
    missing = [*MISSING, *given.get("missing_values", [])]
    for name, cells in texts.items():
        values = plain_column(cells, missing, given["decimal"])
        found.columns[name] = values
        if None not in values and not {*cells}.issubset(missing):
            found.names.add(name)
        # pyarrow infers integers of it
        found.may_be_refused |= any("0x" in cell for cell in cells)
        wholes = [value for value in values if isinstance(value, int)]
        found.may_be_refused |= any(abs(value) >= 2**53 for value in wholes)
    found.target = found.columns.pop("label")
    if "label" not in found.names or len(found.names) == 1:
        raise RefusedError
    # a cell that stays open takes in a line of no cells
    more = csv.reader(io.StringIO(text + "\n#", newline=""), reader.dialect)
    found.may_be_refused |= [row for row in more if row][-1] != ["#"]
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
    places = [f"line {line}" for line in lines]
    qid, target = [row[1] for row in rows], [row[0] for row in rows]
    return Plain(qid, target, columns, places, names={*columns})


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


def cells_of(rng: Random, others: Sequence[str], decimal: str = ".") -> Iterator[str]:
    """The cells of a column: whole numbers or fractions, large ones, and others."""
    some = ["", *(decimal + one for one in ("5", "25", "0", "", "1" + 24 * "0" + "7"))]
    fractions = rng.choice([[""], ["", decimal + "0", decimal + "000"], some, some])
    wholes = rng.choice([*[SMALL] * 8, SMALL + LARGE, LARGE])
    while True:
        whole = rng.choice(wholes)
        text = f"{whole}{rng.choice(fractions)}"
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
    """CSV with numbers with commas, large, missing, and what is none."""
    decimal = rng.choice("..,")
    options: dict[str, Any] = {"decimal": decimal}
    kinds = [[], [""], MISSING, MISSING, WORDS]
    if one_in(rng, 3):
        options["missing_values"] = ["tbd"]
        kinds.append(["tbd"])
    others = [rng.choice(kinds) for _ in range(2)]
    x, y = (cells_of(rng, own, decimal) for own in others)
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


#: a file is parsed in blocks of so many bytes
BLOCKS = [30, 200, 1 << 20]


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
        for n_bytes, how in itertools.product(BLOCKS, wanted):
            where = f"{how}, in blocks of {n_bytes}"
            # what is behind the first block may be unlike it, and refused
            is_small = not file.is_letor and n_bytes < len(file.text.encode()) + 20
            with (
                mock.patch.object(_csv, "_BLOCK", n_bytes),
                mock.patch.object(_letor, "_CHUNK", n_bytes),
                warnings.catch_warnings(),
            ):
                warnings.filterwarnings("ignore", "columns without numbers are left")
                try:
                    batches = _read(how, path, file)
                except ValueError as error:
                    if not is_small:
                        _check_refusal(f"{where}: {error}", wanted[how], str(path))
                    said = "refused"
                else:
                    _check_reading(where, batches, wanted[how], is_small=is_small)
                    said = "read"
    return said


def _read(how: str, path: Path, file: File) -> list[Any]:
    if how == "batches":
        return list(iter_batches(path, batch_rows=file.batch_rows, **file.options))
    load = load_letor if file.is_letor else load_table
    return [load(path, **file.options)]


def _check_refusal(said: str, wanted: Plain | RefusedError, path: str) -> None:
    assert path in said, f"{said}, must name the file"
    if isinstance(wanted, Plain):
        assert wanted.may_be_refused, f"{said}, must be read as {wanted}"
        return
    pattern = str(wanted)
    # batches may meet a query that comes back before what else is wrong
    is_said = re.search(f"{pattern}|comes back after another query", said)
    assert is_said, f"{said}, must say {pattern!r}"


def _check_reading(
    where: str,
    batches: Sequence[Any],
    wanted: Plain | RefusedError,
    *,
    is_small: bool,
) -> None:
    assert isinstance(wanted, Plain), f"{where}: must be refused {wanted}"
    names = batches[0].feature_names
    right = [name for name in wanted.columns if name in wanted.names]
    others = [name for name in wanted.columns if name not in right]
    must = f"{where}: must be read as {wanted}"
    if is_small:
        # a column is text by its first block
        right = [name for name in right if name in names]
        others = [name for name in wanted.columns if name not in names]
    rows, target, qid, places = [], [], [], []
    for batch in batches:
        assert [batch.feature_names, batch.left_out] == [right, others], must
        rows += batch.data.tolist()
        target += batch.target.tolist()
        qid += batch.qid.tolist()
        named = map(batch.place, range(len(batch.qid)))
        places += [place.rpartition(", ")[2] for place in named]
    found = [*zip(*rows, strict=True), target, qid, places]
    columns = [wanted.columns[name] for name in right]
    expected = [*columns, wanted.target, wanted.qid, wanted.places]
    # Python compares integers and floats exactly
    assert [*map(_known, found)] == [*map(_known, expected)], f"{must}, got {found}"


def _known(values: Iterable[Any]) -> list[Any]:
    return ["NaN" if one != one else one for one in values]
