"""Small files that the library must read as simple readers do, or refuse.

The files are CSV files with difficult quotation marks or numbers, and LETOR files. The
library reads each file whole and in batches.
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

from tests.fuzz.draw import sample
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io import _csv, _letor

LABEL, QID, TITLE, X, Y = range(5)
BATCH_ROWS = [1, 1, 2, 3]
MISSING = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"]
MISSING += ["None", "none", "-", "?"]
WORDS = ["nan", "inf", "-inf", "+Infinity", "INF", "-nan", "+NaN"]
SMALL = [0, 0, 1, 2, 3, 10, -7, 123, 999, 1000, 1406, -12345, 1234567]
#: integers of which a float64 does not hold each
LARGE = [*range(2**53 - 1, 2**53 + 4), 10**18 + 1, 2**63 - 1, 2**63, 2**64 + 1, 10**30]
LARGE += [-number for number in LARGE]
#: texts that are no numbers, or are numbers with some options only
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
QUERIES = ["7", "8", "-9", "+1", "007", "0"]
QUERIES += [str(2**53), str(2**53 + 1), str(2**63 - 1)]
BAD_TOKENS = [
    *("1:x", "1:1_0", "1:", ":1", "1", "x", "1_0", "-1:5", "1:0x10", "9:1:2", "3:,5"),
    *("1:nan(1)", "1:--1", "0:1", "1:\uff15", "qid:1", "qid:x", "qid:1.0", "qid:"),
    *(f"qid:{2**63}", "qid:1_0", "1:1e", "2:1,5", "x:1", "1.0:1", "nan", ""),
]


@dataclass(frozen=True)
class File:
    """A text, the name of its file, and the options of its readers."""

    name: str
    text: str
    batch_rows: int
    options: dict[str, Any]

    @property
    def is_letor(self) -> bool:
        return self.name.endswith(".txt")


class RefusedError(Exception):
    """The file must be refused. The message of the library must match the pattern."""


@dataclass
class Plain:
    """The content of a file. Whole numbers are integers, and text is None."""

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
    """Return a number in Python's spelling, as an integer if it is spelled as one."""
    is_whole = re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text)
    return int(text.partition(".")[0]) if is_whole else float(text)


def plain_integers(texts: Sequence[str | None]) -> list[int | float] | None:
    """Return 64-bit integers, NaN where they are missing, or None if some are none."""
    values = []
    for text in texts:
        if text is None:
            values.append(math.nan)
            continue
        # pyarrow reads hexadecimal numbers as integers
        if not re.fullmatch("-?[0-9]+|0x[0-9]+", text):
            return None
        number = int(text, 16 if "x" in text else 10)
        if not -(2**63) <= number < 2**63:
            return None
        values.append(number)
    return values


def plain_column(
    cells: Sequence[str], missing: Sequence[str], decimal: str
) -> list[int | float | None]:
    """Return the numbers of a column, NaN where they are missing, None for text.

    They are integers if all are, and else floats.
    """
    texts = [None if cell in missing else cell.strip(" \t") for cell in cells]
    integers = plain_integers(texts)
    if integers is not None:
        return integers
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
    """Return query ids, as integers if Python spells all of them so, else as text."""
    is_whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", cell) for cell in cells)
    if is_whole:
        return [int(cell) for cell in cells]
    return list(cells)


def plain_table(file: File) -> Plain:
    """Read a CSV file by Python's module, cell by cell."""
    decimal = file.options.get("decimal", ".")
    has_quotes = file.options.get("quoting", "double") == "double"
    text = file.text.removeprefix("\ufeff")
    separator = "\t" if file.name.endswith(".tsv") else ","
    quoting = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    stream = io.StringIO(text, newline="")
    reader = csv.reader(stream, delimiter=separator, quoting=quoting)
    rows = [row for row in reader if row]
    if len(rows) < 2:
        raise RefusedError
    header = rows.pop(0)
    if any(len(row) != len(header) for row in rows):
        raise RefusedError
    if len(set(header)) < len(header) or not {"label", "qid"} <= set(header):
        raise RefusedError
    texts = dict(zip(header, zip(*rows, strict=True), strict=True))
    if "" in texts["qid"]:
        raise RefusedError
    places = [f"row {number}" for number in range(2, len(rows) + 2)]
    plain = Plain(plain_ids(texts.pop("qid")), [], {}, places)
    missing = [*MISSING, *file.options.get("missing_values", [])]
    for name, cells in texts.items():
        values = plain_column(cells, missing, decimal)
        plain.columns[name] = values
        if None not in values and not set(cells).issubset(missing):
            plain.names.add(name)
        # pyarrow infers integers from hexadecimal numbers
        has_hexadecimal = any("0x" in cell for cell in cells)
        integers = [value for value in values if isinstance(value, int)]
        has_large = any(abs(value) >= 2**53 for value in integers)
        if has_hexadecimal or has_large:
            plain.may_be_refused = True
    plain.target = plain.columns.pop("label")
    if "label" not in plain.names or len(plain.names) == 1:
        raise RefusedError
    # a cell that stays open also holds a further line
    further = csv.reader(io.StringIO(text + "\n#", newline=""), reader.dialect)
    *_, last = [row for row in further if row]
    if last != ["#"]:
        plain.may_be_refused = True
    return plain


def plain_letor(file: File) -> Plain:
    """Read LETOR text, token by token."""
    documents, lines, rows, bad = [], [], [], []
    text = file.text.removeprefix("\ufeff").encode()
    for line, content in enumerate(text.split(b"\n"), start=1):
        before_comment, _, _ = content.partition(b"#")
        tokens = [token.decode() for token in before_comment.split()]
        if not tokens:
            continue
        documents.append(tokens)
        lines.append(line)
        try:
            rows.append(_plain_line(*tokens))
        except ValueError:
            bad.append(str(line))
    has_queries = any(" ".join(tokens[1:]).startswith("qid:") for tokens in documents)
    if not has_queries or all(len(tokens) < 3 for tokens in documents):
        raise RefusedError  # without queries or features, whatever else is wrong
    if bad:
        # a first line that is no LETOR text and has a tab is the header of a table;
        # a last word without a colon may count as feature 0
        not_letor = "no column 'label'|no line contains a feature"
        raise RefusedError(rf"line ({'|'.join(bad)})\b|{not_letor}")
    target, qid, features = (list(column) for column in zip(*rows, strict=True))
    numbers = set().union(*features)
    first = 0 if 0 in numbers else 1
    columns = {}
    for number in range(first, max(numbers) + 1):
        columns[str(number)] = [values.get(number, 0.0) for values in features]
    places = [f"line {line}" for line in lines]
    return Plain(qid, target, columns, places, names=set(columns))


def _plain_line(
    label: str, query: str = "", *tokens: str
) -> tuple[float, int, dict[int, float]]:
    """Return the label, the query and the features, or raise a ValueError."""
    if not re.fullmatch("qid:[+-]?[0-9]+", query):
        raise ValueError
    qid = int(query.removeprefix("qid:"))
    if not -(2**63) <= qid < 2**63:
        raise ValueError
    features: dict[int, float] = {}
    for token in tokens:
        number, _, value = token.partition(":")
        if not re.fullmatch("[0-9]+", number):
            raise ValueError
        if features and int(number) <= max(features):
            raise ValueError
        features[int(number)] = _plain_float(value)
    return _plain_float(label), qid, features


def _plain_float(text: str) -> float:
    number = exact(text)
    is_rounded = isinstance(number, int) and number != float(number)
    if "_" in text or not text.isascii() or is_rounded:
        raise ValueError
    return float(number)


# ---------------------------------------------------------------------- drawing


def one_in(rng: Random, n: int) -> bool:
    """Return True once in `n` times."""
    return rng.randrange(n) == n - 1


def grouped(rng: Random, ids: Sequence[str]) -> list[str]:
    """Return the ids of up to six rows, query after query."""
    queries = sample(rng, ids, 3)
    n_rows = rng.choice([*[1, 2, 3, 4, 5, 6] * 6, 0])
    qid = [rng.choice(queries) for _ in range(n_rows)]
    return sorted(qid, key=queries.index)


DIGITS = ["5", "25", "0", "", "1" + 24 * "0" + "7"]


def cells_of(rng: Random, words: Sequence[str], decimal: str = ".") -> Iterator[str]:
    """Return the cells of a column: whole numbers or fractions, and words."""
    zeros = ["", decimal + "0", decimal + "000"]
    any_fractions = ["", *(decimal + digits for digits in DIGITS)]
    fractions = rng.choice([[""], zeros, any_fractions, any_fractions])
    integers = rng.choice([*[SMALL] * 8, SMALL + LARGE, LARGE])
    while True:
        whole = rng.choice(integers)
        text = f"{whole}{rng.choice(fractions)}"
        if text[0] == "0" and len(text) > 2 and one_in(rng, 3):
            text = text[1:]
        if one_in(rng, 10):
            text += rng.choice(["e2", "E-3", "e+0", "e300", "e-400"])
        if whole > 0 and one_in(rng, 10):
            text = "+" + text
        if words and one_in(rng, 4):
            yield rng.choice(words)
        else:
            yield text


def rows_of(rng: Random, x: Iterator[str], y: Iterator[str]) -> list[list[str]]:
    """Return the header and rows, query after query."""
    ids = rng.choice([IDS, IDS, IDS + QUOTED_IDS])
    rows = []
    for query in grouped(rng, ids):
        label, title = rng.choice("012"), rng.choice(TITLES)
        rows.append([label, query, title, next(x), next(y)])
    if rows and one_in(rng, 10):
        labels = [" 1", "2e0", "inf", "1.0", str(rng.choice(LARGE))]
        rows[-1][LABEL] = rng.choice([*MISSING, *labels, *labels])
    titles = [*["title"] * 9, 'ti"tle', "a,b", "two\nlines"]
    header = ["label", "qid", rng.choice(titles), "x", "y"]
    rows.insert(0, header)
    if one_in(rng, 50):
        rows.append(list(header))
    return rows


def table(
    rng: Random, rows: list[list[str]], strange: int, options: dict[str, Any]
) -> File:
    """Return rows as text. Cells are quoted if they must be, and sometimes if not.

    Once in `strange` times, a cell is not written as it must be.
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
        if row is texts[0]:
            cell = '"' + row[column]
        row[column] = cell
    order = sample(rng, range(5), 5)
    lines = []
    for row in texts:
        cells = [row[column] for column in order]
        lines.append(separator.join(cells))
    if len(lines) > 1 and one_in(rng, 10):
        row = rng.randint(1, len(lines) - 1)
        longer = lines[row] + separator
        shorter, _, _ = lines[row].rpartition(separator)
        lines[row] = rng.choice([longer, shorter, shorter, "x"])
    name = "file.tsv" if separator == "\t" else "file.csv"
    text = text_of(rng, lines, ["", "", " ", "  "], "\r")
    return File(name, text, rng.choice(BATCH_ROWS), options)


def text_of(rng: Random, lines: list[str], blanks: list[str], end: str) -> str:
    """Return lines, and blank lines, with an end of line."""
    while one_in(rng, 5):
        at = rng.randint(0, len(lines))
        lines.insert(at, rng.choice(blanks))
    end = rng.choice(["\n", "\n", "\r\n", end])
    text = end.join(lines)
    if not one_in(rng, 5):
        text += end
    if one_in(rng, 10):
        text = "\ufeff" + text
    return text


def csv_quotes(rng: Random) -> File:
    """Return CSV with quotation marks, separators and line ends in cells."""
    cells = ["1", "2.5", "-3", "1e3", " 7 ", "\t0", "NA", "12"]
    x = iter(lambda: rng.choice(cells), None)
    y = iter(lambda: rng.choice(cells), None)
    quoting = rng.choice([{}, {}, {"quoting": "double"}, {"quoting": "none"}])
    return table(rng, rows_of(rng, x, y), 2, quoting)


def csv_numbers(rng: Random) -> File:
    """Return CSV with numbers with commas, large and missing numbers, and words."""
    decimal = rng.choice("..,")
    options: dict[str, Any] = {"decimal": decimal}
    kinds = [[], [""], MISSING, MISSING, WORDS]
    if one_in(rng, 3):
        options["missing_values"] = ["tbd"]
        kinds.append(["tbd"])
    words_of_x, words_of_y = rng.choice(kinds), rng.choice(kinds)
    x = cells_of(rng, words_of_x, decimal)
    y = cells_of(rng, words_of_y, decimal)
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
    """Return LETOR text with nan, large numbers, comments, and wrong tokens."""
    words = rng.choice([[], ["nan"], WORDS])
    columns = [cells_of(rng, words) for _ in range(rng.randint(1, 4))]
    labels = iter(lambda: rng.choice("012"), "")
    if one_in(rng, 5):
        labels = cells_of(rng, words)
    first = rng.choice([1, 1, 1, 0])
    skipped = rng.randint(2, 10)
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
            if one_in(rng, 5):
                tokens = sample(rng, tokens, len(tokens))
        line = rng.choice([" ", " ", "\t", "  "]).join(tokens)
        comments = ["", "", "", " ", "#", " # qid:5 9007199254740993 1_0"]
        before = rng.choice(["", "", " "])
        lines.append(before + line + rng.choice(comments))
    blanks = ["", " ", "\t", "# a comment", " #1 qid:1 1:1"]
    text = text_of(rng, lines, blanks, "\n")
    return File("file.txt", text, rng.choice(BATCH_ROWS), {})


# --------------------------------------------------------------------- checking


#: numbers of bytes that are parsed together
BLOCKS = [30, 200, 1 << 20]


def plain(file: File) -> Plain | RefusedError:
    """Return the content of a file, or the error that the library must raise."""
    try:
        return plain_letor(file) if file.is_letor else plain_table(file)
    except RefusedError as error:
        return error


def comes_back(qid: Sequence[Any]) -> bool:
    """Test whether the rows of a query are not together."""
    return len(list(itertools.groupby(qid))) > len(set(qid))


def check(file: File) -> str:
    """Return whether the file is read or refused.

    Raises
    ------
    AssertionError
        If the file is read as anything else, or is refused though it is right.
    """
    whole = plain(file)
    in_batches = whole
    # a query that comes back cannot be in a single batch
    if isinstance(whole, Plain) and comes_back(whole.qid):
        in_batches = RefusedError()
    outcome = ""
    n_bytes = len(file.text.encode())
    with TemporaryDirectory(prefix="fuzz") as folder:
        path = Path(folder, file.name)
        path.write_bytes(file.text.encode())
        for block in BLOCKS:
            # rows after the first block may have other types, and be refused
            is_small = not file.is_letor and block < n_bytes + 20
            with (
                mock.patch.object(_csv, "_BLOCK", block),
                mock.patch.object(_letor, "_CHUNK", block),
                warnings.catch_warnings(),
            ):
                warnings.filterwarnings(
                    "ignore", "columns that are not numeric are left"
                )
                for read, expected in ((read_batches, in_batches), (read_whole, whole)):
                    name = f"{read.__name__}, in blocks of {block}"
                    try:
                        batches = read(path, file)
                    except ValueError as error:
                        outcome = "refused"
                        if not is_small:
                            _check_refusal(f"{name}: {error}", expected, str(path))
                    else:
                        outcome = "read"
                        _check_reading(name, batches, expected, is_small=is_small)
    return outcome


def read_batches(path: Path, file: File) -> list[Any]:
    return list(iter_batches(path, batch_rows=file.batch_rows, **file.options))


def read_whole(path: Path, file: File) -> list[Any]:
    load = load_letor if file.is_letor else load_table
    return [load(path, **file.options)]


def _check_refusal(message: str, expected: Plain | RefusedError, path: str) -> None:
    assert path in message, f"{message}, must name the file"
    if isinstance(expected, Plain):
        assert expected.may_be_refused, f"{message}, must be read as {expected}"
        return
    pattern = str(expected)
    # batches may meet a query that comes back before any other fault
    matches = re.search(f"{pattern}|comes back after another query", message)
    assert matches, f"{message}, must say {pattern!r}"


def _check_reading(
    name: str,
    batches: Sequence[Any],
    expected: Plain | RefusedError,
    *,
    is_small: bool,
) -> None:
    assert isinstance(expected, Plain), f"{name}: must be refused {expected}"
    message = f"{name}: must be read as {expected}"
    features = expected.names & set(expected.columns)
    if is_small:
        # the first block of a column decides whether it is text
        features &= set(batches[0].feature_names)
    feature_names = [column for column in expected.columns if column in features]
    left_out = [column for column in expected.columns if column not in features]
    rows, target, qid, places = [], [], [], []
    for batch in batches:
        assert batch.feature_names == feature_names, message
        assert batch.left_out == left_out, message
        rows += batch.data.tolist()
        target += batch.target.tolist()
        qid += batch.qid.tolist()
        for row in range(len(batch.qid)):
            places.append(batch.place(row).rpartition(", ")[2])
    columns = [*zip(*rows, strict=True), target, qid, places]
    expected_columns = [expected.columns[column] for column in feature_names]
    expected_columns += [expected.target, expected.qid, expected.places]
    # Python compares integers and floats exactly
    without_nan = [_without_nan(values) for values in columns]
    expected_without_nan = [_without_nan(values) for values in expected_columns]
    assert without_nan == expected_without_nan, f"{message}, got {columns}"


def _without_nan(values: Iterable[Any]) -> list[Any]:
    """Return values with a text for NaN, which does not equal itself."""
    return ["NaN" if value != value else value for value in values]
