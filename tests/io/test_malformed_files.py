"""Malformed files: an error names the file and the line, and quotes what is wrong."""

import bz2
import gzip
import io
import lzma
import re
from itertools import count

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.io.helpers import in_batches
from tieaware_sklearn.datasets import load_letor, load_qrels, load_run, load_table

LETOR, CSV, QRELS, RUN = b"", b"label,qid,x,text\n", b"", b""
for i in range(20):
    label, query, rank = i % 2, i // 4, i % 4
    LETOR += b"%d qid:%d 1:%d.5 2:3 # c\n" % (label, query, i)
    CSV += b"%d,%d,%d.5,t\n" % (label, query, i)
    QRELS += b"%d 0 D-%d %d\n" % (query, i, label)
    RUN += b"%d Q0 D-%d %d %d.5 r\n" % (query, i, rank, -i)
#: the number of the line that `with_line` inserts
LINE = 11


def with_line(data: bytes, line: bytes) -> bytes:
    """Return the file with another line in the middle."""
    lines = data.splitlines(keepends=True)
    lines.insert(LINE - 1, line + b"\n")
    return b"".join(lines)


def cut_after(data: bytes, end: bytes) -> bytes:
    """Return the file up to the last of these bytes."""
    return data[: data.rindex(end) + len(end)]


def encode(data: bytes, codec: str) -> bytes:
    return data.decode().encode(codec)


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    frame = pd.read_csv(io.BytesIO(CSV)).assign(**columns)
    frame.to_parquet(file, row_group_size=5)
    return file.getvalue()


def overwrite(data: bytes, at: int) -> bytes:
    """Return the file with 40 damaged bytes."""
    return data[:at] + b"\xff" * 40 + data[at + 40 :]


def damage(data: bytes) -> bytes:
    """Return the file with damaged bytes in the middle."""
    return overwrite(data, len(data) * 2 // 5)


def damage_page(data: bytes, group: int) -> bytes:
    """Return the file without the first page of a row group."""
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    page = metadata.row_group(group).column(0)
    return overwrite(data, page.data_page_offset)


def assert_refused(path, data, message, readers):
    """Assert that each reader raises this message after the name of the file."""
    path.write_bytes(data)
    for reader in readers:
        with pytest.raises(ValueError, match=re.escape(f"{path}{message}")) as raised:
            reader(path)
        text = str(raised.value)
        assert len(text) < 1000
        assert text.replace("\n  ", "").isprintable()


LEFT_OUT = "ignore:columns that are not numeric are left out"
DAMAGED = ": damaged compressed data"
NOT_UTF_8 = ": must be text in UTF-8, got "
UTF_16 = NOT_UTF_8 + "UTF-16 (save the file as UTF-8)"
BINARY = NOT_UTF_8 + "binary data or UTF-16 ("
PARQUET = NOT_UTF_8 + "Parquet (load_table"
JSON = NOT_UTF_8 + "JSON (functions read"
CARRIAGE_RETURNS = r": lines must end in \n or \r\n, got \r: save the file with "


# -- LETOR text

LOOKS_LIKE = "must look like '2 qid:7 1:0.5 2:3', got "
BEYOND = ": feature number 1000000 is far above the number of different features, 2"
BZIP2, GZIP, XZ = bz2.compress(LETOR), gzip.compress(LETOR), lzma.compress(LETOR)
LETOR_FILES = [
    (cut_after(LETOR, b" 1:19.5 2:"), f", line 20: {LOOKS_LIKE}'1 qid:4 1:19.5 2:'"),
    (cut_after(LETOR, b" qi"), f", line 20: {LOOKS_LIKE}'1 qi'"),
    (cut_after(LETOR, b"1 qid:"), f", line 20: {LOOKS_LIKE}'1 qid:'"),
    (b"# nothing\n\n", ": there is no document"),
    (b"1 qid:1\n0 qid:1\n", ": no line contains a feature, such as 1:0.5"),
    (b"1 qid:1 1000000:1\n0 qid:1 1:1\n", BEYOND),
    (encode(LETOR, "utf-32"), NOT_UTF_8 + "UTF-16"),
    (encode(LETOR, "utf-16"), NOT_UTF_8 + "UTF-16"),
    (encode(LETOR, "utf-16-le"), BINARY),
    (b"PK\x03\x04\0\0", NOT_UTF_8 + "a zip archive"),
    (BZIP2[:-20], DAMAGED),
    (GZIP[:-20], DAMAGED),
    (damage(BZIP2), DAMAGED),
    (damage(GZIP), DAMAGED),
    (damage(XZ), DAMAGED),
    (LETOR.replace(b"\n", b"\r"), CARRIAGE_RETURNS),
    (b'{"label": [1], "qid": [1]}', JSON),
]


# Files are numbered, because gzip writes the time and an id must not depend on it.
@pytest.mark.parametrize(("data", "message"), LETOR_FILES, ids=count())
def test_a_malformed_letor_file_is_named(tmp_path, data, message):
    readers = [load_letor, in_batches]
    assert_refused(tmp_path / "f.txt", data, message, readers)


def test_a_parquet_file_is_no_letor_text(tmp_path):
    readers = [load_letor]
    assert_refused(tmp_path / "f.txt", parquet(), PARQUET + " reads", readers)


LONG = b"9" * 5000
NOT_ASCII = "numbers and spaces must be ASCII, without no-break spaces"
NO_QUERY = "other lines have qid:"
QUERY_ONCE = "the query must be written once, as qid:7"
ROUNDED = "'9007199254740993' cannot be represented exactly as a float64"
UNDERSCORE = "a number contains an underscore"
NOT_INTEGER = "invalid literal for int() with base 10: "
TOO_LARGE = "Python int too large to convert to C long"
TOO_LONG = "Exceeds the limit (4300 digits) for integer"
UNSORTED = "Feature indices in SVMlight/LibSVM data file should be"
LETOR_LINES = [
    (b"x qid:2 1:1", "could not convert string to float: b'x'"),
    (b"9007199254740993 qid:2 1:1", ROUNDED),
    (b"1_0 qid:2 1:1", UNDERSCORE),
    (b"0\xa0qid:2 1:1", NOT_ASCII),
    (b"0\xc2\xa0qid:2 1:1", NOT_ASCII),
    (b"0", NO_QUERY),
    (b"0 1:1", NO_QUERY),
    (b"0 qid: 1:1", NOT_INTEGER + "b''"),
    (b"0 qid:2.0 1:1", NOT_INTEGER + "b'2.0'"),
    (b"0 qid:\xb2 1:1", NOT_ASCII),
    (b"0 qid:9223372036854775808 1:1", TOO_LARGE),
    (b"0 qid:-9223372036854775809 1:1", TOO_LARGE),
    (b"0 qid:" + LONG + b" 1:1", TOO_LONG),
    (b"0 qidx:2 1:1", QUERY_ONCE),
    (b"0 qid:2 1", "need more than 1 value to unpack"),
    (b"0 qid:2 qid:2 1:1", QUERY_ONCE),
    (b"0 qid:2 1:1_0", UNDERSCORE),
    (b"0 qid:2 one:1", NOT_INTEGER + "b'one'"),
    (b"0 qid:2 -1:2", "Invalid index -1 in SVMlight/LibSVM data file."),
    (b"0 qid:2 1:1 :1", NOT_INTEGER + "b''"),
    (b"0 qid:2 1:1 \xa0 2:1", NOT_ASCII),
    (b"0 qid:2 1:\xd9\xa1", NOT_ASCII),
    (b"0 qid:2 2:1 1:1", UNSORTED),
    (b"0 qid:2 1:1 1:2", UNSORTED),
    (b"0 qid:2 2147483648:1", "value too large to convert to int"),
    (b"0 qid:2 " + LONG + b":1", TOO_LONG),
    (b"0 qid:2 1:9007199254740993", ROUNDED),
    (b"0 qid:2 1:9007199254740993.0", ROUNDED),
    (b"0 qid:2 1:" + b"9" * 400, "9'... cannot be represented exactly as a float64"),
]


@pytest.mark.parametrize(("line", "reason"), LETOR_LINES)
def test_a_malformed_line_of_letor_is_quoted_with_the_reason(tmp_path, line, reason):
    path = tmp_path / "f.txt"
    path.write_bytes(with_line(LETOR, line))
    quoted = repr(line.decode("latin-1")[:60])
    for reader in (load_letor, in_batches):
        with pytest.raises(ValueError, match="must look like") as raised:
            reader(path)
        message = str(raised.value)
        assert message.startswith(f"{path}, line {LINE}: {LOOKS_LIKE}{quoted}")
        assert reason in message
        assert len(message) < 1000
        assert message.isprintable()


# -- tables

CSV_FILES = [
    (gzip.compress(CSV) + b"no gzip", DAMAGED),
    (cut_after(CSV, b"\n1,"), ": CSV parse error: Row #21: Expected 4 columns"),
    (b"", ": CSV parse error: Empty CSV file or block"),
    (b"label,qid,x", ": column 'label' must be numeric"),
    (encode(CSV, "utf-16"), UTF_16),
    (b"\x28\xb5\x2f\xfd\0\0", NOT_UTF_8 + "text compressed by Zstandard"),
    (b"label,\xe9,x\n", ": 'utf-8' codec can't decode byte 0xe9"),
    (CSV.replace(b"qid", b"q" * 999), ": there is no column 'qid'"),
    (b"sep=,\n" + CSV, ": CSV parse error: Row #2: Expected 2 col"),
    (
        CSV.replace(b"qid,x", b"qid,label"),
        ": must contain each column once, got 'label' t",
    ),
]
CSV_LINES = [
    (b"0,2,x,t", ": no column besides 'label' and 'qid' is numeric"),
    (b"x,2,1,t", ": In column 'label': Row #11: CSV conversion error to double: "),
    (b"0,,1,t", ", row 11: the query id must not be missing or empty, got ''"),
    (b"0,2,1,t,5", ": CSV parse error: Row #11: Expected 4 columns, got 5: 0,2,1,t,5"),
    (b'0,2,"1,t', ": CSV parse error: Row #11: Expected 4 columns, got 3: "),
    (
        b'0,2,1,"t',
        ": a quotation mark opens a cell, but no quotation mark closes the cell",
    ),
    (b"0,\xff,1,t", ": In column 'qid': Row #11: CSV conversion error to string: inv"),
]
PARQUET_FILES = [
    (b"PAR1" + CSV, ": "),
    (parquet()[:-30], ": "),
    (damage_page(parquet(), 0), ": "),
    (damage_page(parquet(), 1), ": "),
    (parquet(qid=[None, *range(19)]), ", row 0: the query id must not be"),
]


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize(("data", "message"), CSV_FILES, ids=count())
def test_a_malformed_csv_file_is_named(tmp_path, data, message):
    readers = [load_table, in_batches]
    assert_refused(tmp_path / "f.csv", data, message, readers)


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize(("line", "message"), CSV_LINES)
def test_a_malformed_line_of_csv_is_named(tmp_path, line, message):
    data = with_line(CSV, line)
    readers = [load_table, in_batches]
    assert_refused(tmp_path / "f.csv", data, message, readers)


@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize(("data", "message"), PARQUET_FILES, ids=count())
def test_a_malformed_parquet_file_is_named(tmp_path, data, message):
    readers = [load_table, in_batches]
    assert_refused(tmp_path / "f.parquet", data, message, readers)


def test_csv_may_end_lines_in_carriage_returns(tmp_path):
    path = tmp_path / "f.csv"
    path.write_bytes(b"label,qid,x\r1,1,2\r0,1,3\r")
    assert load_table(path).target.tolist() == [1, 0]


# -- judgments and runs

QRELS_COLUMNS = "must have 4 columns (topic iteration docno label)"
BEIR_COLUMNS = "must have 3 columns (topic docno label)"
RUN_COLUMNS = "must have 6 columns (topic Q0 docno rank score tag)"
NO_LINE = " must contain at least one line, got none"
BEIR = b"query-id\tcorpus-id\tscore\n"
QRELS_FILES = [
    (cut_after(QRELS, b" D-19"), ", line 20: must have 4 columns"),
    (gzip.compress(QRELS)[:-20], DAMAGED),
    (BEIR, NO_LINE),
    (BEIR.replace(b"\t", b" "), f", line 1: {QRELS_COLUMNS}, got 3"),
    (BEIR + b"1 0 a 1\n", f", line 2: {BEIR_COLUMNS}, got 1"),
    (BEIR + b"\n1\ta\tx\n", ", line 3: label must be a finite number, got"),
    (BEIR + b"1\ta\t\n", ", line 2: label must not be empty"),
    (BEIR + b"2\ta\t1\n\ta\t1\n", ", line 3: topic must not be empty"),
    (BEIR + b"1\ta\t1\n" * 2, ", line 3: a is judged twice for topic 1, first in line"),
    (parquet(), PARQUET),
    (BEIR.replace(b"\n", b"\r") + b"1\ta\t1\r", CARRIAGE_RETURNS),
]
QRELS_LINES = [
    (b"2 0 D-8", f"{QRELS_COLUMNS}, got 3"),
    (b"2 0 D 8 1", f"{QRELS_COLUMNS}, got 5"),
    (b"2 0 D nan", "label must be a finite number, got 'nan'"),
    (b"2 0 D 1_0", "label must be a finite number, got '1_0'"),
    (b"2 0 D 1\xa0", r"label must be a finite number, got '1\udca0'"),
    (b"2 0 D-9 1", "D-9 is judged twice for topic 2, first in line 10"),
]
RUN_FILES = [
    (b"", NO_LINE),
    (b"1 Q0 a 1 2 x\r1 Q0 b 2 1 x\r", CARRIAGE_RETURNS),
    (parquet(), PARQUET),
    (gzip.compress(b'[\n {"qid": "1"}]'), JSON),
    (b'{\n"1": {"a": 2}}', JSON + " the dicts"),
    (b"\x80\x04\x95\0\0", BINARY + "save"),
    (b"qid,docno,score\n1,a,2\n", f", line 1: {RUN_COLUMNS}, got 1 separated by ASCII"),
    (b"1 Q0 a\xc2\xa01 2 x\n", f", line 1: {RUN_COLUMNS}, got 5 separated by ASCII"),
    # lines without a tag
    (b"\n1 Q0 a 1 2 x\n1 Q0 b 2 1\n", f", line 3: {RUN_COLUMNS}, got 5"),
]
RUN_LINES = [
    (b"2 Q0 D 1", f"{RUN_COLUMNS}, got 4"),
    (b"2 Q0 D x 1 r", "rank must be a finite number, got 'x'"),
    (b"2 Q0 D 1 inf r", "score must be a finite number, got 'inf'"),
    (b"2 Q0 D-9 1 1 r", "D-9 is retrieved twice for topic 2, first in line 10"),
]


@pytest.mark.parametrize(("data", "message"), QRELS_FILES, ids=count())
def test_a_malformed_file_of_judgments_is_named(tmp_path, data, message):
    assert_refused(tmp_path / "f", data, message, [load_qrels])


@pytest.mark.parametrize(("line", "message"), QRELS_LINES)
def test_a_malformed_line_of_judgments_is_named(tmp_path, line, message):
    data = with_line(QRELS, line)
    assert_refused(tmp_path / "f", data, f", line {LINE}: {message}", [load_qrels])


@pytest.mark.parametrize(("data", "message"), RUN_FILES, ids=count())
def test_a_malformed_run_is_named(tmp_path, data, message):
    assert_refused(tmp_path / "f", data, message, [load_run])


@pytest.mark.parametrize(("line", "message"), RUN_LINES)
def test_a_malformed_line_of_a_run_is_named(tmp_path, line, message):
    data = with_line(RUN, line)
    assert_refused(tmp_path / "f", data, f", line {LINE}: {message}", [load_run])
