"""Runs and judgments, written and read back."""

import gzip
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.io.helpers import as_trec_eval
from tieaware_sklearn import datasets
from tieaware_sklearn.datasets import dump_qrels, dump_trec_run

SPACES = b" \t\n\r\v\f\0"
#: any bytes that no line is cut at, many of them alike
any_id = st.one_of(
    st.sampled_from([b"a", b"b", b"B", b"\x80", b"\xc3\xa9", b"a_1"]),
    st.binary(min_size=1, max_size=6).filter(lambda id: not set(id) & set(SPACES)),
)
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.1, np.nextafter(0.1, 1), 1e39, 2e39, -1e39]),
    st.floats(allow_nan=False, allow_infinity=False),
)
a_line = st.tuples(any_id, any_id, numbers)
any_lines = st.lists(a_line, unique_by=lambda line: line[:2], min_size=1, max_size=12)
#: the starts of files that are no plain text
MARKS = (
    b"\x1f\x8b",
    b"BZh",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x28\xb5\x2f\xfd",
    b"PK\x03\x04",
    b"PAR1",
)
NAN, INF = np.nan, np.inf


def as_text(ids):
    return [id.decode("utf-8", "surrogateescape") for id in ids]


@settings(max_examples=60)
@given(any_lines, st.booleans())
@example([(b"1", b"a", 0.1), (b"1", b"b", np.nextafter(0.1, 1))], False)
def test_runs_read_back(tmp_path, lines, is_compressed):
    assume(not lines[0][0].startswith(MARKS))
    columns = list(zip(*lines, strict=True))
    topics = columns[0]
    # trec_eval's definition of the order
    by_docno = sorted(lines, key=lambda line: line[1], reverse=True)
    by_score = sorted(by_docno, key=lambda line: -as_trec_eval(line[2]))
    expected = sorted(by_score, key=lambda line: topics.index(line[0]))
    qid, docno, scores = zip(*expected, strict=True)
    path = tmp_path / ("run.gz" if is_compressed else "run")
    dump_trec_run(path, *columns, tag="né")
    run = datasets.load_run(path)
    assert run.qid.tolist() == as_text(qid)
    assert run.docno.tolist() == as_text(docno)
    bits = np.array(scores).view(np.int64)
    assert_array_equal(run.score.view(np.int64), bits)
    seen = []
    for topic, rank in zip(run.qid, run["rank"], strict=True):
        seen.append(topic)
        assert rank == seen.count(topic)
    # the run that was read is written as the same bytes
    again = tmp_path / "again"
    dump_trec_run(again, run.qid, run.docno, run.score, tag="né")
    data = path.read_bytes()
    if is_compressed:
        data = gzip.decompress(data)
    assert again.read_bytes() == data


@settings(max_examples=60)
@given(any_lines)
def test_judgments_read_back(tmp_path, lines):
    assume(not lines[0][0].startswith(MARKS))
    columns = list(zip(*lines, strict=True))
    topics = columns[0]
    expected = sorted(lines, key=lambda line: topics.index(line[0]))
    qid, docno, labels = zip(*expected, strict=True)
    path = tmp_path / "qrels"
    dump_qrels(path, *columns)
    qrels = datasets.load_qrels(path)
    assert qrels.qid.tolist() == as_text(qid)
    assert qrels.docno.tolist() == as_text(docno)
    # a label below 0 is no judgment
    judged = [label if label >= 0 else NAN for label in labels]
    assert_array_equal(qrels.target, judged)
    again = tmp_path / "again"
    dump_qrels(again, qrels.qid, qrels.docno, qrels.target)
    assert again.read_bytes() == path.read_bytes()


JUDGED = {"1": {"a": 1, "b": 0, "z": 2, "y": -1}, "2": {"c": 1}}
RETRIEVED = {"1": {"a": 0.5, "b": 0.5, "x": 0.25}}


def test_rows_of_load_trec_are_written(tmp_path):
    trec = datasets.load_trec(JUDGED, RETRIEVED, topics="qrels")
    path = tmp_path / "written"
    # documents that are not retrieved are not written
    dump_trec_run(path, trec.qid, trec.docno, trec.score)
    assert path.read_text() == "1 Q0 b 1 0.5 run\n1 Q0 a 2 0.5 run\n1 Q0 x 3 0.25 run\n"
    # documents that are not judged are written with a label below 0
    dump_qrels(path, trec.qid, trec.docno, trec.target)
    labels = "1 0 a 1\n1 0 b 0\n1 0 x -1\n1 0 z 2\n1 0 y -1\n2 0 c 1\n"
    assert path.read_text() == labels


def test_pytrec_eval_reads_the_rows_of_load_trec(tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    trec = datasets.load_trec(JUDGED, RETRIEVED, topics="qrels")
    path = tmp_path / "written"
    dump_trec_run(path, trec.qid, trec.docno, trec.score)
    with path.open() as file:
        assert pytrec_eval.parse_run(file) == RETRIEVED
    dump_qrels(path, trec.qid, trec.docno, trec.target)
    expected = {**JUDGED, "1": {**JUDGED["1"], "x": -1}}
    with path.open() as file:
        assert pytrec_eval.parse_qrel(file) == expected


def test_columns_of_a_run_of_any_kind(tmp_path):
    path = tmp_path / "run"
    dump_trec_run(path, np.array([7, 7, 9]), np.arange(3), [1, 2, 3.5])
    assert path.read_text() == "7 Q0 1 1 2 run\n7 Q0 0 2 1 run\n9 Q0 2 1 3.5 run\n"
    frame = pd.DataFrame({"q": ["1", "1"], "d": ["a", "b"], "s": [1, 2]})
    dump_trec_run(path, frame.q, frame.d, frame.s.astype("float32"))
    assert datasets.load_run(path).docno.tolist() == ["b", "a"]


def test_columns_of_judgments_of_any_kind(tmp_path):
    path = tmp_path / "qrels"
    dump_qrels(path, pd.Series([7, 7]), [b"caf\xe9", "caf\udce8"], [True, False])
    assert path.read_bytes() == b"7 0 caf\xe9 1\n7 0 caf\xe8 0\n"


def assert_not_written(path, dump, columns, message):
    """Assert that writing fails and leaves the file as it was."""
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        dump(path, *columns)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


WRONG_RUNS = [
    (["1", "1"], ["a", "a"], [1, 2], "a is retrieved twice for topic 1"),
    (["1", "1"], ["a", "b"], [1, NAN], "score must be .* got nan in row 1"),
    (["1"], ["a"], [-INF], "score must contain a number .* got -inf"),
    (["1"], ["a b"], [1], "docno .* contain white space, got 'a b'"),
    (["1\n"], ["a"], [1], r"qid .* contain white space, got '1\\n'"),
    (7, ["a"], [1], "qid must have one value per row, got 7"),
]


@pytest.mark.parametrize(("qid", "docno", "score", "message"), WRONG_RUNS)
def test_a_wrong_run_is_not_written(tmp_path, qid, docno, score, message):
    columns = [qid, docno, score]
    assert_not_written(tmp_path / "run", dump_trec_run, columns, message)


WRONG_JUDGMENTS = [
    (["1", "1"], ["a", "a"], [1, 0], "a is judged twice for topic 1"),
    (["1", "1"], ["a", "b"], [0, -INF], "label must be .* got -inf in row 1"),
    (["1", "1"], ["b", "a\t"], [1, 0], r"docno .* white space, got 'a\\t'"),
]


@pytest.mark.parametrize(("qid", "docno", "label", "message"), WRONG_JUDGMENTS)
def test_wrong_judgments_are_not_written(tmp_path, qid, docno, label, message):
    columns = [qid, docno, label]
    assert_not_written(tmp_path / "qrels", dump_qrels, columns, message)


@pytest.mark.parametrize("tag", ["", "a b", "a\n", None, 3])
def test_a_tag_is_a_word(tmp_path, tag):
    dump = partial(dump_trec_run, tag=tag)
    columns = [["1"], ["a"], [1]]
    assert_not_written(tmp_path / "run", dump, columns, "tag must .* without")
