"""Malformed files: what stands in the middle of a file, and what is said of it."""

import bz2
import gzip
import io
import lzma
import re

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.io.helpers import in_batches
from tieaware_sklearn import datasets

LETOR = [b"%d qid:%d 1:%d.5 2:3 # c\n" % (i % 2, i // 4, i) for i in range(20)]
CSV = [b"label,qid,x,text\n"]
CSV += [b"%d,%d,%d.5,t\n" % (i % 2, i // 4, i) for i in range(20)]
QRELS = [b"%d 0 D-%d %d\n" % (i // 4, i, i % 2) for i in range(20)]
RUN = [b"%d Q0 D-%d %d %d.5 r\n" % (i // 4, i, i % 4, -i) for i in range(20)]
PLAIN = {"letor": LETOR, "csv": CSV, "qrels": QRELS, "run": RUN}
#: the line that the malformed one becomes
LINE = 11

LONG = b"9" * 5000
LOOKS_LIKE = "must look like '2 qid:7 1:0.5 2:3', got "
OF_QRELS = "must have 4 columns (topic iteration docno label)"
OF_RUN = "must have 6 columns (topic Q0 docno rank score tag)"
OF_BEIR = "must have 3 columns (topic docno label)"
FAR = b"1 qid:1 1000000:1\n0 qid:1 1:1\n"
BEIR = b"query-id\tcorpus-id\tscore\n"
#: lines of LETOR text, and what is wrong with them
NOT_ASCII = "numbers and spaces must be ASCII, no no-break spaces"
LETOR_LINES = [
    (b"x qid:2 1:1", "could not convert string to float: b'x'"),
    (b"9007199254740993 qid:2 1:1", "'9007199254740993' is rounded as a float64"),
    (b"1_0 qid:2 1:1", "a number holds an underscore"),
    (b"0\xa0qid:2 1:1", NOT_ASCII),
    (b"0\xc2\xa0qid:2 1:1", NOT_ASCII),
    (b"0", "other lines have qid:"),
    (b"0 1:1", "other lines have qid:"),
    (b"0 qid: 1:1", "invalid literal for int() with base 10: b''"),
    (b"0 qid:2.0 1:1", "invalid literal for int() with base 10: b'2.0'"),
    (b"0 qid:\xb2 1:1", NOT_ASCII),
    (b"0 qid:9223372036854775808 1:1", "Python int too large to convert to C long"),
    (b"0 qid:-9223372036854775809 1:1", "Python int too large to convert to C long"),
    (b"0 qid:" + LONG + b" 1:1", "Exceeds the limit (4300 digits) for integer"),
    (b"0 qidx:2 1:1", "the query must be written once, as qid:7"),
    (b"0 qid:2 1", "need more than 1 value to unpack"),
    (b"0 qid:2 qid:2 1:1", "the query must be written once, as qid:7"),
    (b"0 qid:2 1:1_0", "a number holds an underscore"),
    (b"0 qid:2 one:1", "invalid literal for int() with base 10: b'one'"),
    (b"0 qid:2 -1:2", "Invalid index -1 in SVMlight/LibSVM data file."),
    (b"0 qid:2 1:1 :1", "invalid literal for int() with base 10: b''"),
    (b"0 qid:2 1:1 \xa0 2:1", NOT_ASCII),
    (b"0 qid:2 1:\xd9\xa1", NOT_ASCII),
    (b"0 qid:2 2:1 1:1", "Feature indices in SVMlight/LibSVM data file should be"),
    (b"0 qid:2 1:1 1:2", "Feature indices in SVMlight/LibSVM data file should be"),
    (b"0 qid:2 2147483648:1", "value too large to convert to int"),
    (b"0 qid:2 " + LONG + b":1", "Exceeds the limit (4300 digits) for integer"),
    (b"0 qid:2 1:9007199254740993", "'9007199254740993' is rounded as a float64"),
    (b"0 qid:2 1:9007199254740993.0", "'9007199254740993' is rounded as a float64"),
    (b"0 qid:2 1:" + b"9" * 400, "9'... is rounded as a float64"),
]
#: format, bytes in the middle of the file, message after file and line
LINES = [
    ("qrels", b"2 0 D-8", f"{OF_QRELS}, got 3"),
    ("qrels", b"2 0 D 8 1", f"{OF_QRELS}, got 5"),
    ("qrels", b"2 0 D nan", "label must be a finite number, got 'nan'"),
    ("qrels", b"2 0 D 1_0", "label must be a finite number, got '1_0'"),
    ("qrels", b"2 0 D 1\xa0", r"label must be a finite number, got '1\udca0'"),
    ("qrels", b"2 0 D-9 1", "D-9 is judged twice for topic 2 (line 10 has it too)"),
    ("run", b"2 Q0 D 1", f"{OF_RUN}, got 4"),
    ("run", b"2 Q0 D x 1 r", "rank must be a finite number, got 'x'"),
    ("run", b"2 Q0 D 1 inf r", "score must be a finite number, got 'inf'"),
    ("run", b"2 Q0 D-9 1 1 r", "D-9 is retrieved twice for topic 2 (line 10 has it"),
]


def in_the_middle(form: str, line: bytes) -> bytes:
    lines = PLAIN[form]
    return b"".join([*lines[: LINE - 1], line, b"\n", *lines[LINE - 1 :]])


def whole(form: str) -> bytes:
    return b"".join(PLAIN[form])


def encoded(form: str, codec: str) -> bytes:
    return whole(form).decode().encode(codec)


def cut(form: str, end: bytes) -> bytes:
    """The file, its last line cut there."""
    data = whole(form)
    return data[: data.rindex(end) + len(end)]


def parquet(**columns: object) -> bytes:
    found = io.BytesIO()
    frame = pd.read_csv(io.BytesIO(whole("csv"))).assign(**columns)
    frame.to_parquet(found, row_group_size=5)
    return found.getvalue()


def damaged(data: bytes, at: int | None = None) -> bytes:
    """A piece, in the middle, is lost, and something else stands there."""
    at = len(data) * 2 // 5 if at is None else at
    return data[:at] + b"\xff" * 40 + data[at + 40 :]


def damaged_page(data: bytes, *, group: int) -> bytes:
    """The first page of a row group is lost."""
    metadata = pq.ParquetFile(io.BytesIO(data)).metadata
    return damaged(data, metadata.row_group(group).column(0).data_page_offset)


DAMAGED = ": damaged compressed data"
NOT_UTF_8 = ": must be text in UTF-8, got "
CARRIAGE_RETURNS = r": lines must end in \n or \r\n, got \r (save the file with "
BZIP2, XZ = bz2.compress(whole("letor")), lzma.compress(whole("letor"))
TWICE = ": must have each column once, got 'label' twice"
PAGES = [damaged_page(parquet(), group=group) for group in range(2)]
CSV_LINES = [
    (b"0,2,x,t", ": no column but 'label' and 'qid' holds numbers"),
    (b"x,2,1,t", ": In column 'label': Row #11: CSV conversion error to double: "),
    (b"0,,1,t", ", row 11: the query id must not be missing or empty, got ''"),
    (b"0,2,1,t,5", ": CSV parse error: Row #11: Expected 4 columns, got 5: 0,2,1,t,5"),
    (b'0,2,"1,t', ": CSV parse error: Row #11: Expected 4 columns, got 3: "),
    (b'0,2,1,"t', ": a quotation mark opens a cell, and none closes it"),
    (b"0,\xff,1,t", ": In column 'qid': Row #11: CSV conversion error to string: inv"),
]
#: format, file, message after its name
FILES = [
    (
        "letor",
        cut("letor", b" 1:19.5 2:"),
        f", line 20: {LOOKS_LIKE}'1 qid:4 1:19.5 2:'",
    ),
    ("letor", cut("letor", b" qi"), f", line 20: {LOOKS_LIKE}'1 qi'"),
    ("letor", cut("letor", b"1 qid:"), f", line 20: {LOOKS_LIKE}'1 qid:'"),
    ("letor", b"# nothing\n\n", ": there is no document"),
    ("letor", b"1 qid:1\n0 qid:1\n", ": no line holds a feature"),
    (
        "letor",
        FAR,
        ": feature number 1000000 is far beyond the others (2 different ones",
    ),
    ("letor", encoded("letor", "utf-32"), NOT_UTF_8 + "UTF-16"),
    ("letor", encoded("letor", "utf-16"), NOT_UTF_8 + "UTF-16"),
    ("letor", b"PK\x03\x04\0\0", NOT_UTF_8 + "a zip archive"),
    ("letor", BZIP2[:-20], DAMAGED),
    ("letor", damaged(BZIP2), DAMAGED),
    ("letor", damaged(XZ), DAMAGED),
    ("letor", damaged(gzip.compress(whole("letor"))), DAMAGED),
    ("letor", gzip.compress(whole("letor"))[:-20], DAMAGED),
    ("csv", gzip.compress(whole("csv")) + b"no gzip", DAMAGED),
    ("csv", cut("csv", b"\n1,"), ": CSV parse error: Row #21: Expected 4 columns"),
    ("csv", b"", ": CSV parse error: Empty CSV file or block"),
    ("csv", b"label,qid,x", ": column 'label' holds no number"),
    ("letor", whole("letor").replace(b"\n", b"\r"), CARRIAGE_RETURNS),
    ("letor", b'{"label": [1], "qid": [1]}', NOT_UTF_8 + "JSON (functions read"),
    ("letor", encoded("letor", "utf-16-le"), NOT_UTF_8 + "binary data or UTF-16 ("),
    ("csv", encoded("csv", "utf-16"), NOT_UTF_8 + "UTF-16 (save the file as UTF-8)"),
    ("csv", b"\x28\xb5\x2f\xfd\0\0", NOT_UTF_8 + "text compressed by Zstandard"),
    ("csv", b"label,\xe9,x\n", ": 'utf-8' codec can't decode byte 0xe9"),
    ("csv", whole("csv").replace(b"qid", b"q" * 999), ": there is no column 'qid'"),
    ("csv", b"sep=,\n" + whole("csv"), ": CSV parse error: Row #2: Expected 2 col"),
    ("csv", whole("csv").replace(b"qid,x", b"qid,label"), TWICE),
    ("parquet", b"PAR1" + whole("csv"), ": "),
    ("parquet", parquet()[:-30], ": "),
    ("parquet", PAGES[0], ": "),
    ("parquet", PAGES[1], ": "),
    ("parquet", parquet(qid=[None, *range(19)]), ", row 0: the query id must not be"),
    ("qrels", cut("qrels", b" D-19"), ", line 20: must have 4 columns"),
    ("qrels", gzip.compress(whole("qrels"))[:-20], DAMAGED),
    ("qrels", BEIR, " must hold at least one line, got none"),
    ("qrels", BEIR.replace(b"\t", b" "), f", line 1: {OF_QRELS}, got 3"),
    ("qrels", BEIR + b"1 0 a 1\n", f", line 2: {OF_BEIR}, got 1"),
    ("qrels", BEIR + b"\n1\ta\tx\n", ", line 3: label must be a finite number, got"),
    ("qrels", BEIR + b"1\ta\t\n", ", line 2: label must not be empty"),
    ("qrels", BEIR + b"2\ta\t1\n\ta\t1\n", ", line 3: topic must not be empty"),
    ("qrels", BEIR + b"1\ta\t1\n" * 2, ", line 3: a is judged twice for topic 1 (line"),
    ("qrels", parquet(), NOT_UTF_8 + "Parquet (load_table"),
    ("qrels", BEIR.replace(b"\n", b"\r") + b"1\ta\t1\r", CARRIAGE_RETURNS),
    ("run", b"", " must hold at least one line, got none"),
    ("run", b"1 Q0 a 1 2 x\r1 Q0 b 2 1 x\r", CARRIAGE_RETURNS),
    ("run", parquet(), NOT_UTF_8 + "Parquet (load_table"),
    ("run", gzip.compress(b'[\n {"qid": "1"}]'), NOT_UTF_8 + "JSON (functions read"),
    ("run", b'{\n"1": {"a": 2}}', NOT_UTF_8 + "JSON (functions read the dicts"),
    ("run", b"\x80\x04\x95\0\0", NOT_UTF_8 + "binary data or UTF-16 (save"),
    (
        "run",
        b"qid,docno,score\n1,a,2\n",
        f", line 1: {OF_RUN}, got 1 separated by ASCII",
    ),
    ("run", b"1 Q0 a\xc2\xa01 2 x\n", f", line 1: {OF_RUN}, got 5 separated by ASCII"),
    # a run of one form all through
    ("run", b"\n1 Q0 a 1 2 x\n1 Q0 b 2 1\n", f", line 3: {OF_RUN}, got 5"),
]
for form, line, message in LINES:
    FILES.append((form, in_the_middle(form, line), f", line {LINE}: {message}"))
for line, message in CSV_LINES:
    FILES.append(("csv", in_the_middle("csv", line), message))
NAMES = {"letor": "f.txt", "csv": "f.csv", "parquet": "f.parquet"}
READERS = {
    "letor": [datasets.load_letor, in_batches],
    "csv": [datasets.load_table, in_batches],
    "parquet": [datasets.load_table, in_batches],
    "qrels": [datasets.load_qrels],
    "run": [datasets.load_run],
}


#: of CSV files, one column is text
LEFT_OUT = "ignore:columns without numbers are left out"


#: without ids of their own, all workers must compress in the same second
@pytest.mark.filterwarnings(LEFT_OUT)
@pytest.mark.parametrize(
    ("form", "data", "message"),
    FILES,
    ids=[f"{form}-{number}" for number, (form, _, _) in enumerate(FILES)],
)
def test_a_malformed_file_is_named_with_the_line(tmp_path, form, data, message):
    path = tmp_path / NAMES.get(form, "f")
    path.write_bytes(data)
    for reader in READERS[form]:
        with pytest.raises(ValueError, match=re.escape(f"{path}{message}")) as raised:
            reader(path)
        assert len(str(raised.value)) < 1000
        assert str(raised.value).replace("\n  ", "").isprintable()


def test_a_parquet_file_is_no_letor_text(tmp_path):
    path = tmp_path / "f.txt"
    path.write_bytes(parquet())
    with pytest.raises(ValueError, match=r"f.txt: .* Parquet \(load_table reads"):
        datasets.load_letor(path)


def test_csv_may_end_lines_in_carriage_returns(tmp_path):
    path = tmp_path / "f.csv"
    path.write_bytes(b"label,qid,x\r1,1,2\r0,1,3\r")
    assert datasets.load_table(path).target.tolist() == [1, 0]


@pytest.mark.parametrize(("line", "reason"), LETOR_LINES)
def test_a_malformed_line_of_letor_is_quoted_with_the_reason(tmp_path, line, reason):
    path = tmp_path / "f.txt"
    path.write_bytes(in_the_middle("letor", line))
    quoted = repr(line.decode("latin-1")[:60])
    for reader in READERS["letor"]:
        with pytest.raises(ValueError, match="must look like") as raised:
            reader(path)
        message = str(raised.value)
        assert message.startswith(f"{path}, line {LINE}: {LOOKS_LIKE}{quoted}")
        assert reason in message
        assert len(message) < 1000
        assert message.isprintable()
