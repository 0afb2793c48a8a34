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
    st.binary(min_size=1, max_size=6).filter(lambda one: not set(one) & set(SPACES)),
)
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.1, np.nextafter(0.1, 1), 1e39, 2e39, -1e39]),
    st.floats(allow_nan=False, allow_infinity=False),
)
a_line = st.tuples(any_id, any_id, numbers)
lines = st.lists(a_line, unique_by=lambda line: line[:2], min_size=1, max_size=12)


def spelled(id):
    return id.decode("utf-8", "surrogateescape")


#: the starts of files that are no plain text
MARKS = (b"\x1f\x8b", b"BZh", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
MARKS += (b"\x28\xb5\x2f\xfd", b"PK\x03\x04")
NAN, INF = np.nan, np.inf


@settings(max_examples=60)
@given(lines, st.booleans())
@example([(b"1", b"a", 0.1), (b"1", b"b", np.nextafter(0.1, 1))], False)
def test_runs_and_judgments_read_back(tmp_path, drawn, zipped):
    assume(not drawn[0][0].startswith(MARKS))
    columns = topic, docno, label = list(zip(*drawn, strict=True))
    in_order = sorted(drawn, key=lambda line: topic.index(line[0]))
    # the definition of the order: trec_eval's
    by_docno = sorted(drawn, key=lambda line: line[1], reverse=True)
    by_score = sorted(by_docno, key=lambda line: -as_trec_eval(line[2]))
    wanted = sorted(by_score, key=lambda line: topic.index(line[0]))
    path, again = tmp_path / ("run.gz" if zipped else "run"), tmp_path / "again"
    dump_trec_run(path, *columns, tag="né")
    read = datasets.load_run(path)
    # what was read is written as it was
    dump_trec_run(again, read.qid, read.docno, read.score, tag="né")
    data = path.read_bytes()
    assert again.read_bytes() == (gzip.decompress(data) if zipped else data)
    assert read.qid.tolist() == [spelled(topic) for topic, _, _ in wanted]
    assert read.docno.tolist() == [spelled(docno) for _, docno, _ in wanted]
    scores = np.array([score for _, _, score in wanted])
    assert_array_equal(read.score.view(np.int64), scores.view(np.int64))
    ranks = [list(read.qid[: i + 1]).count(topic) for i, topic in enumerate(read.qid)]
    assert read["rank"].tolist() == ranks
    path = tmp_path / "qrels"
    dump_qrels(path, topic, docno, label)
    read = datasets.load_qrels(path)
    dump_qrels(again, read.qid, read.docno, read.target)
    assert again.read_bytes() == path.read_bytes()
    assert read.qid.tolist() == [spelled(topic) for topic, _, _ in in_order]
    assert read.docno.tolist() == [spelled(docno) for _, docno, _ in in_order]
    labels = [own if own >= 0 else NAN for _, _, own in in_order]
    assert_array_equal(read.target, labels)


def test_the_rows_of_load_trec_as_pytrec_eval_reads_them(tmp_path):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {"1": {"a": 1, "b": 0, "z": 2, "y": -1}, "2": {"c": 1}}
    run = {"1": {"a": 0.5, "b": 0.5, "x": 0.25}}
    trec = datasets.load_trec(qrels, run, topics="qrels")
    out = tmp_path / "run", tmp_path / "qrels"
    dump_trec_run(out[0], trec.qid, trec.docno, trec.score)
    dump_qrels(out[1], trec.qid, trec.docno, trec.target)
    # what is not retrieved is not written, and what is not judged is below 0
    retrieved = "1 Q0 b 1 0.5 run\n1 Q0 a 2 0.5 run\n1 Q0 x 3 0.25 run\n"
    labels = "1 0 a 1\n1 0 b 0\n1 0 x -1\n1 0 z 2\n1 0 y -1\n2 0 c 1\n"
    assert [path.read_text() for path in out] == [retrieved, labels]
    with out[0].open() as ranked, out[1].open() as judged:
        assert pytrec_eval.parse_run(ranked) == run
        qrels["1"]["x"] = -1
        assert pytrec_eval.parse_qrel(judged) == qrels


def test_columns_of_any_kind(tmp_path):
    path = tmp_path / "run"
    dump_trec_run(path, np.array([7, 7, 9]), np.arange(3), [1, 2, 3.5])
    assert path.read_text() == "7 Q0 1 1 2 run\n7 Q0 0 2 1 run\n9 Q0 2 1 3.5 run\n"
    frame = pd.DataFrame({"q": ["1", "1"], "d": ["a", "b"], "s": [1, 2]})
    dump_trec_run(path, frame.q, frame.d, frame.s.astype("float32"))
    assert datasets.load_run(path).docno.tolist() == ["b", "a"]
    dump_qrels(path, pd.Series([7, 7]), [b"caf\xe9", "caf\udce8"], [True, False])
    assert path.read_bytes() == b"7 0 caf\xe9 1\n7 0 caf\xe8 0\n"


@pytest.mark.parametrize(
    ("dump", "columns", "message"),
    [
        (dump_trec_run, ("11", "aa", [1, 2]), "a is retrieved twice for topic 1"),
        (dump_trec_run, ("11", "ab", [1, NAN]), "score must be .* got nan in row 1"),
        (dump_trec_run, ("1", "a", [-INF]), "score must retrieve a .* got -inf"),
        (dump_trec_run, ("1", ["a b"], [1]), "docno .* hold white space, got 'a b'"),
        (dump_trec_run, (["1\n"], "a", [1]), r"qid .* hold white space, got '1\\n'"),
        (dump_trec_run, (7, "a", [1]), "qid must have one value per row, got 7"),
        (dump_qrels, ("11", "aa", [1, 0]), "a is judged twice for topic 1"),
        (dump_qrels, ("11", "ab", [0, -INF]), "label must be .* got -inf in row 1"),
        (dump_qrels, ("11", ["b", "a\t"], [1, 0]), r"docno .* white space, got 'a\\t'"),
        *(
            (partial(dump_trec_run, tag=tag), ("1", "a", [1]), "tag must .* without")
            for tag in ("", "a b", "a\n", None, 3)
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, dump, columns, message):
    path = tmp_path / "run"
    path.write_text("old")
    columns = [[*one] if isinstance(one, str) else one for one in columns]
    with pytest.raises(ValueError, match=message):
        dump(path, *columns)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]
