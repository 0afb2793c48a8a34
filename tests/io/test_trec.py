"""Judgments and runs: of files and in memory, alone and joined."""

import gzip
import re
from collections import namedtuple
from fractions import Fraction
from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.io.helpers import as_trec_eval
from tieaware_sklearn import ranking_score
from tieaware_sklearn.datasets import load_qrels, load_run, load_trec
from tieaware_sklearn.io import _trec_files, _trec_inputs
from tieaware_sklearn.measures._parse import parse_measures

QRELS = """\
301 0 FR-1 1
301 0 FR-2 0
301 0 FR-9 2
301 0 FR-3 -1
302 0 AP-1 1
303 0 AP-7 1
"""
RUN = """\
301 Q0 FR-2 1 5.0e-1 sys
301 Q0 FR-1 2 0.5 sys
301 Q0 FR-5 3 -1 sys
301 Q0 FR-3 4 2E0 sys

302 Q0 AP-2 10 -3.5 sys
304 Q0 XX-1 1 1 sys
"""
NAN, INF = np.nan, np.inf


def as_text(id):
    return id.decode("utf-8", "surrogateescape") if isinstance(id, bytes) else id


@pytest.fixture
def files(tmp_path):
    """A function that writes judgments and a run, and returns their paths."""

    def write(qrels=QRELS, run=RUN):
        qrels_path, run_path = tmp_path / "qrels", tmp_path / "run"
        qrels_path.write_bytes(qrels if isinstance(qrels, bytes) else qrels.encode())
        run_path.write_bytes(run if isinstance(run, bytes) else run.encode())
        return qrels_path, run_path

    return write


def assert_same(bunch, expected):
    """Assert that two results hold the same rows."""
    assert bunch.keys() == expected.keys()
    for name in bunch.keys() - {"DESCR", "frame"}:
        assert_array_equal(bunch[name], expected[name], err_msg=name)


def test_a_run_and_its_judgments(files):
    qrels, run = files()
    trec = load_trec(qrels, run)
    assert trec.qid.tolist() == ["301"] * 5 + ["302"] * 2
    assert " ".join(trec.docno) == "FR-2 FR-1 FR-5 FR-3 FR-9 AP-2 AP-1"
    assert_array_equal(trec.score, [0.5, 0.5, -1, 2, -INF, -3.5, -INF])
    assert_array_equal(trec.target, [0, 1, NAN, NAN, 2, NAN, 1])
    assert_array_equal(trec["rank"], [1, 2, 3, 4, NAN, 10, NAN])
    assert_array_equal(trec.input_order, [1, 2, 3, 4, NAN, 1, NAN])
    assert f"{run}, judged by {qrels}: 2 topics, 7 documents" == trec.DESCR


def test_all_judged_topics(files):
    trec = load_trec(*files(), topics="qrels")
    assert trec.qid[-1] == "303"
    assert trec.docno[-1] == "AP-7"
    assert trec.score[-1] == -INF


@pytest.mark.parametrize("options", [{"topics": "run"}, {"order": "rank"}])
def test_an_option_must_be_one_of_its_choices(files, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        load_trec(*files(), **options)


def test_a_run_alone(files):
    _, run = files()
    alone = load_run(run)
    assert " ".join(alone.docno) == "FR-2 FR-1 FR-5 FR-3 AP-2 XX-1"
    assert f"{run}: 3 topics, 6 documents" == alone.DESCR


def test_judgments_alone(files):
    qrels, _ = files()
    judged = load_qrels(qrels)
    assert f"{qrels}: 3 topics, 6 judgments" == judged.DESCR
    assert_array_equal(judged.target, [1, 0, 2, NAN, 1, 1])


def test_lines_of_a_topic_that_comes_back_are_put_together(files):
    text = "\n302 Q0 AP-1 1 5 s\n 301\tQ0 FR-1 1 2 s\r\n\n302 Q0 AP-2 2 4 s \n\n"
    _, run = files(run=text)
    alone = load_run(run)
    assert alone.qid.tolist() == ["302", "302", "301"]
    assert alone.docno.tolist() == ["AP-1", "AP-2", "FR-1"]
    assert alone.score.tolist() == [5, 4, 2]
    assert alone["rank"].tolist() == [1, 2, 1]


@pytest.fixture
def two_runs(files, tmp_path):
    qrels, first = files()
    second = tmp_path / "second"
    second.write_text("301 Q0 FR-9 1 7 s\n303 Q0 AP-8 1 1 s\n303 Q0 AP-7 2 2 s\n")
    return qrels, first, second


def test_several_runs_over_the_same_documents(two_runs):
    qrels, *runs = two_runs
    both = load_trec(qrels, runs, as_frame=True)
    n_rows = len(both.qid)
    assert both.score.shape == (n_rows, 2)
    assert both["rank"].shape == (n_rows, 2)
    assert both.run_names == ["sys", "s"]
    assert both.DESCR.startswith(f"2 runs, judged by {qrels}: 3 topics, ")
    assert both.frame.columns.tolist() == ["qid", "docno", "target", "sys", "s"]
    assert_array_equal(both.frame.iloc[:, 3:], both.score)


def test_a_list_of_one_run(two_runs):
    qrels, first, _ = two_runs
    trec = load_trec(qrels, [first], topics="qrels")
    assert trec.score.shape == (len(trec.qid), 1)
    assert trec.qid[-1] == "303"


def test_every_run_must_have_a_judged_topic(two_runs):
    qrels, first, second = two_runs
    first.write_text("999 Q0 X 1 1 s\n")
    message = f"{qrels} and {first} must have a topic in common, got 3 and 1 topics"
    with pytest.raises(ValueError, match=message):
        load_trec(qrels, [second, first])


def test_ids_are_told_apart_by_their_bytes(files):
    judged = b"301 0 caf\xe9 1\n301 0 caf\xc3\xa9 0\n301 0 b 0\n301 0 a\xc2\xa0z 1\n"
    ranked = (
        b"301 Q0 caf\xe8 1 3 x\n301 Q0 a\xc2\xa0z 2 2 x\n"
        b"301 Q0 caf\xc3\xa9 3 1 x\n301 Q0 \x80 4 1 x\n"
    )
    trec = load_trec(*files(judged, ranked))
    retrieved = ["caf\udce8", "a\xa0z", "caf\xe9", "\udc80"]
    assert trec.docno.tolist() == [*retrieved, "caf\udce9", "b"]
    assert_array_equal(trec.target, [NAN, 1, 0, NAN, 1, 0])


def test_trec_eval_breaks_ties_by_bytes(files):
    # \x80 is above c, but below \xc3
    lines = b"301 Q0 c 1 1 x\n301 Q0 \xc3\xa9 1 1 x\n301 Q0 \x80 2 1 x\n"
    qrels, run = files(run=lines)
    trec = load_trec(qrels, run, order="trec_eval")
    assert trec.docno.tolist()[:3] == ["\xe9", "\udc80", "c"]


BEIR = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize("head", [BEIR, BEIR.upper(), "\ufeff" + BEIR, "\n" + BEIR])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_judgments_of_beir(files, head, end):
    text = head + "1\tMED 10\t2\n\nPLAIN-2\tMED-7\t0\n1\tMED-7\t-1\n"
    text = text.replace("\n", end)
    path, _ = files(gzip.compress(text.encode()))
    judged = load_qrels(path)
    assert judged.qid.tolist() == ["1", "1", "PLAIN-2"]
    assert judged.docno.tolist() == ["MED 10", "MED-7", "MED-7"]
    assert_array_equal(judged.target, [2, NAN, 0])


def test_a_topic_may_be_called_like_a_column_of_beir(files):
    path, _ = files("query-id\tcorpus-id\tscore\t1\n")
    assert load_qrels(path).qid.tolist() == ["query-id"]


# -- lines of a run: they are split many at a time, and read as if one by one

#: cells that are numbers to Python or to C alone, or no numbers
odd_cells = st.sampled_from(
    [
        b"nan",
        b"-inf",
        b"1e400",
        b"1_0",
        b"0x1",
        b"\xd9\xa1",
        b"1\xa0",
        b'"',
        b"'1'",
        b"#",
    ]
)
numbers_of_run = st.sampled_from([b"1", b"+2", b"-3e-2", b".5", b"5.", b"00", b"2.5"])
ids_of_run = st.sampled_from(
    [b"a", b"b", b"c", b"caf\xe9", b"caf\xc3\xa9", b"\xc2\xa0"]
)
gaps = st.sampled_from([b" "] * 5 + [b"\t", b"  ", b" \t", b"\v", b"\f"])
ends = st.sampled_from([b"\n"] * 5 + [b"\r\n", b" \n", b"\n\n", b"\n\t\n"])
columns_of_run = [
    ids_of_run,
    st.just(b"Q0"),
    ids_of_run,
    numbers_of_run,
    numbers_of_run,
    ids_of_run,
]


@st.composite
def texts_of_runs(draw):
    """Lines of a run, in which a few cells are lost, doubled or replaced."""
    text = draw(st.sampled_from([b"", b"\n", b" ", b"\xef\xbb\xbf"]))
    for _ in range(draw(st.integers(0, 6))):
        cells = [draw(column) for column in columns_of_run]
        at = draw(st.integers(0, 30))
        if at < len(cells):
            cells[at : at + 1] = draw(st.lists(odd_cells, max_size=2))
        text += draw(gaps).join(cells) + draw(ends)
    if draw(st.booleans()):
        return text
    return text.rstrip(b"\n")


NUMBER = re.compile(rb"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")


def parse_line(cells):
    """Return topic, document, rank and score, or None if they are not on the line."""
    if len(cells) != 6:
        return None
    topic, _, docno, rank, score, _ = cells
    if not NUMBER.fullmatch(rank) or not NUMBER.fullmatch(score):
        return None
    rank, score = float(rank), float(score)
    if INF in (rank, score):
        return None
    return as_text(topic), as_text(docno), rank, score


def parse_run(text):
    """Return the rows of a run line by line, or the number of the first wrong line."""
    rows = {}
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            continue
        row = parse_line(cells)
        if row is None:
            return number
        rows[number] = row
    pairs = []
    for number, (topic, docno, _, _) in rows.items():
        if (topic, docno) in pairs:
            return number
        pairs.append((topic, docno))
    topics = [topic for topic, _ in pairs]
    return sorted(rows.values(), key=lambda row: topics.index(row[0]))


@settings(max_examples=200)
@given(text=texts_of_runs(), block=st.sampled_from([1, 30, 1 << 17]))
@example(text=b"a Q0 b 1 1 t\na Q0 c 2 1\na Q0 d 3 1 t u\n", block=1 << 17)
@example(text=b"a Q0 b 1\n1 t a Q0 c 2 1 t\n", block=1 << 17)
def test_lines_are_read_as_one_by_one(tmp_path, text, block):
    path = tmp_path / "run"
    path.write_bytes(text)
    expected = parse_run(text)
    message = None
    if isinstance(expected, int):
        message = f"run, line {expected}: "
    elif not expected:
        message = "run must contain at least one line"
    with mock.patch.object(_trec_files, "_BLOCK", block):
        if message is not None:
            with pytest.raises(ValueError, match=message):
                load_run(path)
            return
        run = load_run(path)
    columns = [run[name].tolist() for name in ("qid", "docno", "rank", "score")]
    assert list(zip(*columns, strict=True)) == expected


# -- in memory: dicts of dicts, data frames, records

DICT = {"1": {"a": 0.5, "x": 0.25}, "2": {"c": 1.0}}
JUDGED = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}
RELEVANCE = {"301": {"F1": 1, "F2": 0, "F9": 2, "F3": -1}, "303": {"A7": 1}}
SCORE = {"303": {"A7": 1, "A8": 2.5}, "301": {"F2": 0.5, "F1": 0.5, "F3": -1}}
#: records as ir_datasets gives them
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


def rows_of(nested):
    """Return topic, document and number of each document of a dict of dicts."""
    rows = []
    for topic, documents in nested.items():
        for docno, number in documents.items():
            rows.append((topic, docno, number))
    return rows


def convert(nested, key, number):
    """Return a dict of dicts with converted keys and numbers."""
    converted = {}
    for topic, documents in nested.items():
        pairs = documents.items()
        converted[key(topic)] = {key(docno): number(value) for docno, value in pairs}
    return converted


def forms(nested, name):
    """Return judgments or a run in all forms. Their last column has this name."""
    rows = rows_of(nested)
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", name])
    ours = frame.set_axis(["qid", "docno", name], axis=1)
    columns = ours.to_dict("list")
    if name == "relevance":
        records = [Qrel(*row, "0") for row in rows]
    else:
        records = [Scored(*row) for row in rows]
    return {
        "pandas": frame,
        "ours": ours.rename(columns={"relevance": "target"}),
        "labels": ours.rename(columns={"relevance": "label"}),
        "beir": frame.set_axis(["query-id", "corpus-id", "score"], axis=1),
        "ranx": frame.set_axis(["q_id", "doc_id", "score"], axis=1),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "index": frame.set_axis(range(5, 0, -1)),
        "categories": frame.astype({"query_id": "category", "doc_id": "category"}),
        "bytes": convert(nested, str.encode, float),
        "numpy numbers": convert(nested, str, np.float32),
        "fractions": convert(nested, str, Fraction),
        "columns": columns,
        "arrays": {column: np.array(values) for column, values in columns.items()},
        "records": records,
        "iterator": iter(records),
    }


@pytest.fixture
def files_of_forms(files):
    judged = [f"{topic} 0 {docno} {n}\n" for topic, docno, n in rows_of(RELEVANCE)]
    # equal ranks contradict no scores
    ranked = [f"{topic} Q0 {docno} 0 {n} x\n" for topic, docno, n in rows_of(SCORE)]
    return files("".join(judged), "".join(ranked))


@pytest.mark.parametrize("form", forms(RELEVANCE, "relevance"))
def test_judgments_of_all_forms_are_those_of_the_file(files_of_forms, form):
    qrels, run = files_of_forms
    judged = forms(RELEVANCE, "relevance")[form]
    assert_same(load_qrels(judged), load_qrels(qrels))
    judged = forms(RELEVANCE, "relevance")[form]
    assert_same(load_trec(judged, run), load_trec(qrels, run))


@pytest.mark.parametrize("form", forms(SCORE, "score"))
def test_runs_of_all_forms_are_those_of_the_file(files_of_forms, form):
    qrels, run = files_of_forms
    join = partial(load_trec, qrels)
    for load in (load_run, join, partial(join, order="trec_eval")):
        expected = load(run)
        expected["rank"] = np.full(len(expected.qid), NAN)
        ranked = forms(SCORE, "score")[form]
        assert_same(load(ranked), expected)


@pytest.mark.parametrize("attribute", ["frame", "bunch"])
def test_joined_rows_read_back(files, attribute):
    # topics that no run retrieves are in the order of the judgments
    trec = load_trec(*files(), topics="qrels", as_frame=True)
    source = trec.frame if attribute == "frame" else trec
    again = load_trec(source, source, topics="qrels", as_frame=True)
    assert_same(again, trec)
    pd.testing.assert_frame_equal(again.frame, trec.frame)


def test_frames_of_judgments_and_runs_read_back(files):
    qrels, run = files()
    assert "frame" not in load_trec(qrels, run)
    judged = load_qrels(qrels, as_frame=True)
    assert_same(load_qrels(judged.frame), load_qrels(qrels))
    ranked = load_run(run, as_frame=True)
    assert_same(load_run(ranked.frame), load_run(run))
    assert_same(load_run(load_run(run)), load_run(run))


FRAME = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [2.0, 1.0]})
LABELS = FRAME.rename(columns={"score": "relevance"})


def test_ranks_and_tags_of_frames():
    frame = FRAME.assign(rank=[0, 1])
    assert load_run(frame)["rank"].tolist() == [0, 1]
    tagged = frame.assign(tag="bm25")
    assert load_trec(JUDGED, [tagged, frame]).run_names == ["bm25", "run[1]"]
    mixed = frame.assign(tag=["a", "b"])
    assert load_trec(JUDGED, [mixed, frame]).run_names == ["run[0]", "run[1]"]


ids = st.one_of(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1),
    st.binary(min_size=1).filter(lambda id: b"\0" not in id),
)
values = st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)
documents = st.dictionaries(ids, values, max_size=4)


@settings(max_examples=25)
@given(st.dictionaries(ids, documents, min_size=1, max_size=4))
@example({"a query\nof two lines": {"caf\xe9 1": 1, b"caf\xe9 1": 2, "c\udce9": 3}})
@example({"2": {"a": 1}, "1": {"a": 2, "b": 3}, b"2": {"c": 1}})
def test_dicts_are_read_as_their_rows(run):
    topics = [as_text(topic) for topic in run]
    rows = rows_of(run)
    expected = []
    for topic, docno, score in rows:
        expected.append((as_text(topic), as_text(docno), float(score)))
    pairs = {(topic, docno) for topic, docno, _ in expected}
    if len(pairs) < len(expected) or not expected:
        with pytest.raises(ValueError, match="run"):
            load_run(run)
        return
    # a string and bytes may be one topic, whose lines are put together
    expected.sort(key=lambda row: topics.index(row[0]))
    bunch = load_run(run)
    columns = [bunch[name].tolist() for name in ("qid", "docno", "score")]
    assert list(zip(*columns, strict=True)) == expected
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score"], dtype=object)
    assert_same(load_run(frame), bunch)


WRONG_RUNS = [
    ({}, "^run must contain at least one topic, got an empty dict"),
    ({"1": {}}, "^run must contain at least one line, got none"),
    ({301: {"a": 1}}, "^run: topic must be a non-empty string or bytes, got 301 in"),
    ({"1": {7: 1}}, r"got 7 in document 7 of topic 1$"),
    ({"1": {None: 1}}, "document must be a non-empty string .* got None"),
    ({"1": {"": 1}}, "non-empty string or bytes, got ''"),
    ({"1": {"a": 1}, b"1": {"a": 2}}, "a is retrieved twice for topic 1"),
    ({"1": {"a": 1}, "2": {"b": NAN}}, "nan in document b of topic 2"),
    ({"1": {"a": None}}, "score .* finite number, got nan"),
    ({"1": {"a": 1, "b": "2"}}, "score .* numeric, .* document b of"),
    (FRAME.iloc[:0], "^run must contain at least one row, got none"),
    (FRAME.assign(doc_id="a"), "^run, row 1: a is .* first in row 0"),
    (FRAME.assign(doc_id=["a", NAN]), "run: doc_id .* nan in row 1"),
    (FRAME.assign(score=[1, -INF]), "score .* finite number, got -inf"),
    (FRAME.assign(rank=[1, INF]), "rank .* finite number, got inf"),
    (LABELS, r"one column of scores \(score\), got .* relevance$"),
    (
        FRAME.assign(qid="1"),
        r"one column of topics \(qid or query_id or query-id or q_id\), got the "
        "columns query_id, qid",
    ),
    (
        pd.concat([FRAME, FRAME[["doc_id"]]], axis=1),
        r"one column of documents \(docno or doc_id or corpus-id\), got the columns "
        "doc_id, doc_id",
    ),
    (
        {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0]},
        r"^run must have columns of equal length, got \[1, 2\]",
    ),
    (pl.LazyFrame({"qid": ["1"]}), "^run must be a path, a dict"),
    (pd.DataFrame(), "^run must be a path, a dict of dicts"),
    (["a path", "another"], "^run must be a path, a dict of dicts"),
]


@pytest.mark.parametrize(("run", "message"), WRONG_RUNS)
def test_a_wrong_run_in_memory(run, message):
    with pytest.raises(ValueError, match=message):
        load_run(run)


WRONG_JUDGMENTS = [
    (LABELS.assign(relevance=[1, NAN]), "^qrels: relevance .* got nan"),
    (FRAME.assign(target=[1, INF]), "^qrels: target .* got inf"),
    (FRAME, r"labels \(target or relevance or label\)"),
    ({}, "^qrels must contain at least one topic, got an empty dict"),
    ({"1": {"a": NAN}}, "label must be a finite number, got nan"),
    ({"1": ["a"]}, "^qrels must map .* documents and their lab"),
    ({"1": {"a": 1, b"a": 1}}, "a is judged twice for topic 1"),
    ([JUDGED, JUDGED], "^qrels must be a path, a dict of dicts"),
]


@pytest.mark.parametrize(("qrels", "message"), WRONG_JUDGMENTS)
def test_wrong_judgments_in_memory(qrels, message):
    with pytest.raises(ValueError, match=message):
        load_qrels(qrels)


ELSEWHERE = {"9": {"a": 1}}
WRONG_LISTS_OF_RUNS = [
    ([], "^run must contain at least one run, got none"),
    ({}, "^run must contain at least one topic, got an empty dict"),
    (3, "^run must be a path, a dict of dicts, a data .* records.*got 3"),
    (b"run.txt", "^run must be a path.*got b'run.txt'"),
    ({"bm25": DICT, "2": {"c": 1}}, r"^run\['2'\] must map .* got 1 for topic 'c'"),
    ({"1": {"a": 1}, "2": 3}, "^run must map each .* got 3 for topic '2'"),
    ({"a": {}, "b": DICT}, r"^run\['a'\] must contain at least one topic"),
    ({"a": DICT, "b": 3}, r"^run\['b'\] must be a path, a dict of dicts"),
    ([DICT, {"1": {7: 1}}], r"^run\[1\]: document must be a non-empty string"),
    ([DICT, [DICT]], r"^run\[1\] must be a path, a dict of dicts"),
    ([DICT, ELSEWHERE], r"^qrels and run\[1\] .* 2 and 1 topics"),
    ({"b": DICT, "x": ELSEWHERE}, r"^qrels and run\['x'\] must have"),
    (ELSEWHERE, "^qrels and run must have a topic in common"),
]


@pytest.mark.parametrize(("runs", "message"), WRONG_LISTS_OF_RUNS)
def test_wrong_runs_beside_judgments(runs, message):
    with pytest.raises(ValueError, match=message):
        load_trec(JUDGED, runs)


# -- several runs, of any kinds, and their names

SECOND = {"1": {"b": 3}}


@pytest.fixture
def runs_of_any_kind(tmp_path):
    """Return a run, and another run in five forms."""
    path = tmp_path / "second.txt.gz"
    path.write_text("1 Q0 b 1 3 dense\n")
    frame = pd.DataFrame({"qid": ["1"], "docno": ["b"], "score": [3.0]})
    return [DICT, SECOND, str(path), path, frame, [Scored("1", "b", 3.0)]]


def test_runs_of_any_kind_in_a_list(runs_of_any_kind):
    trec = load_trec(JUDGED, runs_of_any_kind)
    for j in range(2, 6):
        assert_array_equal(trec.score[:, j], trec.score[:, 1])
    path = str(runs_of_any_kind[3])
    names = ["run[0]", "run[1]", path, f"{path} (2)", "run[4]", "run[5]"]
    assert trec.run_names == names


def test_runs_of_any_kind_by_their_names(runs_of_any_kind):
    expected = load_trec(JUDGED, runs_of_any_kind)
    expected["run_names"] = list("abcdef")
    named = dict(zip("abcdef", runs_of_any_kind, strict=True))
    assert_same(load_trec(JUDGED, named), expected)


DICTS_OF_RUNS = {
    "a number": {7: DICT},
    "columns": {"qid": DICT, "docno": SECOND},
    "no documents of the first topic": {"empty first": {"1": {}, "2": {"c": 1}}},
}


@pytest.mark.parametrize("runs", DICTS_OF_RUNS.values(), ids=DICTS_OF_RUNS)
def test_names_of_runs_in_a_dict(runs):
    trec = load_trec(JUDGED, runs)
    assert trec.run_names == [str(name) for name in runs]
    assert trec.score.shape[1] == len(runs)


def test_runs_named_like_columns_may_be_files(runs_of_any_kind):
    path = runs_of_any_kind[3]
    trec = load_trec(JUDGED, {"qid": path, "docno": path})
    assert trec.run_names == ["qid", "docno"]
    assert trec.score.shape[1] == 2


def test_topics_may_be_named_like_columns():
    nested = {"qid": {"a": 1}, "docno": {"b": 2}}
    assert load_trec(nested, nested).qid.tolist() == ["qid", "docno"]


@pytest.mark.parametrize("run", [DICT, {"1": {}, "2": {"c": 1}}])
def test_depth_tells_a_run_from_runs(run):
    trec = load_trec(JUDGED, run)
    assert set(trec.qid) == {"1", "2"}
    assert trec.score.ndim == 1


def test_topics_without_a_judgment_are_kept_and_warned_of():
    qrels = {"1": {}, "2": {"c": 1}, "3": {}, "4": {}}
    run = {"1": {"a": 1}, "2": {"c": 1}, "3": {"a": 2}}
    message = r"^qrels has no judgment for 2 topics \(first: '1'\), so no doc"
    with pytest.warns(UserWarning, match=message) as warned:
        trec = load_trec(qrels, run)
    assert len(warned) == 1
    assert_array_equal(trec.target, [NAN, 1, NAN])
    with pytest.warns(UserWarning, match="^qrels has no judgment for 3 topics"):
        load_trec(qrels, run, topics="qrels")


TAGS = [
    (b"1 x b 1 7 n\xc3\xa9\n1 y a 2 1 n\xc3\xa9\n", "né"),
    (b"1 Q0 b 1 7 n\xe9\n", "n\udce9"),
    # lines with different tags: the name of the file
    (b"1 Q0 b 1 7 a\n1 Q0 c 1 6 b\n1 Q0 d 1 6 a\n", "run"),
]


@pytest.mark.parametrize(("lines", "name"), TAGS)
def test_runs_are_named_by_their_tags_or_files(files, tmp_path, lines, name):
    first = tmp_path / "first"
    first.write_text("1 Q0 a 1 5 sys\n")
    _, second = files(run=lines)
    assert load_trec(JUDGED, [first, second]).run_names == ["sys", name]


NAMES_OF_RUNS = [
    (["x/a.gz", "x/b.txt.bz2"], ["bm25", None], ["bm25", "b.txt"]),
    (["x/a", "x/b", "c"], ["bm25", "bm25", "rm3"], ["a", "b", "rm3"]),
    (["x/a", "y/a", "y/b"], [None, None, None], ["x/a", "y/a", "b"]),
    # a tag that is the name of the file of another run
    (["x/a", "x/b"], ["b", None], ["b", "x/b"]),
    (["x/a", "x/a"], ["t", "t"], ["x/a", "x/a (2)"]),
    ([".gz", "-"], [None, None], [".gz", "-"]),
    (["a", "a", "x/a"], [None, None, "a (2)"], ["a", "a (3)", "a (2)"]),
]


@pytest.mark.parametrize(("paths", "tags", "names"), NAMES_OF_RUNS)
def test_names_of_runs_differ(paths, tags, names):
    assert _trec_inputs.run_names(paths, tags) == names


# -- rows of joined runs

#: scores that are alike in 32 bits, and scores beyond 32 bits
scores = st.sampled_from([0.0, 1.0, 0.1, 0.10000000001, 1e39, 2e39, -1e39])
a_line = st.tuples(st.sampled_from("12"), st.sampled_from("abcde"), scores)
lists_of_lines = st.lists(a_line, unique_by=lambda line: line[:2], max_size=8)
orders = st.sampled_from([None, "trec_eval"])
PARTIAL = {"1": {"a": 1, "b": 0, "e": 2}, "2": {"c": 1, "d": 1}}


def run_of_lines(lines):
    """Return the columns of a run, with the ranks 0, 7, 14 and so on."""
    qid, docno, score = zip(*lines, strict=True)
    rank = [7 * place for place in range(len(lines))]
    return {"qid": qid, "docno": docno, "score": score, "rank": rank}


def assert_cells(trec, cells, lines, order):
    """Assert that cells hold the score, rank and place of the lines, else nothing.

    The cells have a row for each of the three and a column for each document.
    """
    if order == "trec_eval":
        lines = [(topic, docno, as_trec_eval(s)) for topic, docno, s in lines]
    seen = []
    expected = {}
    for place, (topic, docno, score) in enumerate(lines):
        seen.append(topic)
        expected[topic, docno] = (score, 7 * place, seen.count(topic))
    pairs = list(zip(trec.qid.tolist(), trec.docno.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert expected.keys() <= set(pairs)
    for column, pair in zip(cells.T, pairs, strict=True):
        assert_array_equal(column, expected.get(pair, (-INF, NAN, NAN)))


@given(st.lists(lists_of_lines, min_size=1, max_size=3), orders)
def test_rows_of_several_runs(runs, order):
    # each run has a judged topic
    runs = [[*lines, ("2", "z", 1.0)] for lines in runs]
    trec = load_trec(PARTIAL, [run_of_lines(lines) for lines in runs], order=order)
    cells = np.array([trec.score, trec["rank"], trec.input_order])
    for j, lines in enumerate(runs):
        assert_cells(trec, cells[:, :, j], lines, order)
    for topic in set(trec.qid):
        documents = trec.docno[trec.qid == topic].tolist()
        assert documents == sorted(documents, reverse=True)


@given(lists_of_lines, orders)
def test_rows_of_a_single_run(lines, order):
    # the run has a judged topic
    lines = [*lines, ("2", "z", 1.0)]
    trec = load_trec(PARTIAL, run_of_lines(lines), order=order)
    cells = np.array([trec.score, trec["rank"], trec.input_order])
    assert_cells(trec, cells, lines, order)
    if order == "trec_eval":
        lines.sort(key=lambda line: (as_trec_eval(line[2]), line[1]), reverse=True)
    for topic in set(trec.qid):
        documents = trec.docno[trec.qid == topic].tolist()
        ranked = [line[1] for line in lines if line[0] == topic]
        # judged documents that are not retrieved come last
        assert documents == list(dict.fromkeys([*ranked, *PARTIAL[topic]]))


# -- the official program


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.weekly)])
def test_robust03_as_published(shared_data, step):
    folder = shared_data / "robust03"
    qrels = folder / "qrels.robust03.txt.gz"
    _, *lines = (folder / "official.tsv").read_text().splitlines()
    assert len(lines) == len(list(folder.glob("input.*.gz")))
    for line in lines[::step]:
        run, ap, rprec = line.split("\t")
        trec = load_trec(qrels, folder / f"input.{run}.gz", order="trec_eval")
        for measure, published in (("ap", ap), ("rprec", rprec)):
            score = ranking_score(
                trec.target,
                trec.score,
                qid=trec.qid,
                measure=measure,
                ties="input",
                unjudged="nonrelevant",
            )
            assert f"{score:.4f}" == published


def name_of_measure(measure, rel):
    """Return our name of trec_eval's measure, or None if we have no such measure."""
    try:
        (parsed,) = parse_measures([measure.removeprefix("gm_")])
    except ValueError:
        return None
    without_options = re.sub(r"\(.*\)", "", str(parsed))
    name, at, k = without_options.partition("@")
    if name == "RBP" or (name == "NDCG" and rel > 1):
        return None  # version 10 grades it
    options = "gain=linear" if name == "NDCG" else f"rel={rel}"
    if "denominator" in str(parsed):
        options += ",denominator=cutoff"
    return f"{name}({options}){at}{k}"


def shortened_run(path, tmp_path):
    """Write the run cut short: no topic 302, and 84 documents of topic 303."""
    lines = path.read_text().splitlines(keepends=True)
    first = [line for line in lines if line.startswith("301")]
    third = [line for line in lines if line.startswith("303")]
    shortened = tmp_path / "run"
    shortened.write_text("".join(first + third[:84]))
    return shortened


OUTPUTS = [
    # output, least relevant label, topics, least number of measures
    ("out.test.a", 1, "both", 46),
    ("out.test.aq", 1, "both", 46),
    ("out.test.aql", 2, "both", 40),
    ("out.test.aqc", 1, "qrels", 46),
]


@pytest.mark.parametrize(("output", "rel", "topics", "n_measures"), OUTPUTS)
def test_outputs_of_trec_eval(shared_data, tmp_path, output, rel, topics, n_measures):
    folder = shared_data / "trec_eval"
    run = folder / "results.test"
    if topics == "qrels":
        run = shortened_run(run, tmp_path)
    qrels = folder / ("qrels.rel_level" if rel > 1 else "qrels.test")
    trec = load_trec(qrels, run, topics=topics, order="trec_eval", as_frame=True)
    checked = set()
    for line in (folder / output).read_text().splitlines():
        measure, topic, value = line.split()
        name = name_of_measure(measure, rel)
        is_geometric = measure.startswith("gm_")
        if name is None or (is_geometric and topic != "all"):
            continue  # geometric values of topics are printed as logarithms
        rows = trec.frame
        if topic != "all":
            rows = rows[trec.qid == topic]
        # version 10 printed the outputs
        score = ranking_score(
            rows.target,
            rows.score,
            qid=rows.qid,
            measure=name,
            average="geometric" if is_geometric else "macro",
            ties="input",
            convention="trec_eval10",
        )
        assert f"{score:.4f}" == value, (measure, topic)
        checked.add(measure)
    assert len(checked) >= n_measures, sorted(checked)
