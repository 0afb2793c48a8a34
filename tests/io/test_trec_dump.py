"""Runs and judgments, written and read back."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tieaware_sklearn import ranking_score
from tieaware_sklearn.datasets import (
    dump_qrels,
    dump_trec_run,
    load_qrels,
    load_run,
    load_trec,
    make_web_search,
)
from tieaware_sklearn.io._trec_lines import spelled

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
lines = st.lists(
    st.tuples(any_id, any_id, numbers),
    unique_by=lambda line: line[:2],
    min_size=1,
    max_size=12,
)
#: the starts of files that are no plain text
MARKS = (b"\x1f\x8b", b"BZh", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def as_trec_eval(score):
    limit = float(np.finfo(np.float32).max)
    return float(np.float32(min(max(score, -limit), limit)))


@settings(max_examples=60)
@given(lines, st.booleans())
@example([(b"1", b"a", 0.1), (b"1", b"b", np.nextafter(0.1, 1))], False)
def test_runs_read_back(drawn, zipped):
    assume(not drawn[0][0].startswith(MARKS))
    topics = list(dict.fromkeys(topic for topic, _, _ in drawn))
    # the definition of the order: trec_eval's
    by_docno = sorted(drawn, key=lambda line: line[1], reverse=True)
    by_score = sorted(by_docno, key=lambda line: -as_trec_eval(line[2]))
    wanted = sorted(by_score, key=lambda line: topics.index(line[0]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.gz" if zipped else "run")
        columns = list(zip(*drawn, strict=True))
        dump_trec_run(path, *columns, tag="né")
        read = load_run(path)
        # what was read is written as it was
        again = Path(folder, "again")
        dump_trec_run(again, read.qid, read.docno, read.score, tag="né")
        data = path.read_bytes()
        assert again.read_bytes() == (gzip.decompress(data) if zipped else data)
    assert read.qid.tolist() == [spelled(topic) for topic, _, _ in wanted]
    assert read.docno.tolist() == [spelled(docno) for _, docno, _ in wanted]
    scores = np.array([score for _, _, score in wanted])
    np.testing.assert_array_equal(read.score.view(np.int64), scores.view(np.int64))
    ranks = [list(read.qid[: i + 1]).count(topic) for i, topic in enumerate(read.qid)]
    assert read["rank"].tolist() == ranks


@settings(max_examples=50)
@given(lines)
def test_judgments_read_back(drawn):
    assume(not drawn[0][0].startswith(MARKS))
    topic, docno, label = zip(*drawn, strict=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "qrels")
        dump_qrels(path, topic, docno, label)
        read = load_qrels(path)
        again = Path(folder, "again")
        dump_qrels(again, read.qid, read.docno, read.target)
        assert again.read_bytes() == path.read_bytes()
    order = sorted(range(len(drawn)), key=lambda i: topic.index(topic[i]))
    assert read.qid.tolist() == [spelled(topic[i]) for i in order]
    assert read.docno.tolist() == [spelled(docno[i]) for i in order]
    wanted = [label[i] if label[i] >= 0 else np.nan for i in order]
    np.testing.assert_array_equal(read.target, wanted)


def test_the_rows_of_load_trec(tmp_path):
    qrels = {"1": {"a": 1, "b": 0, "z": 2, "y": -1}, "2": {"c": 1}}
    run = {"1": {"a": 0.5, "b": 0.5, "x": 0.25}}
    trec = load_trec(qrels, run, topics="qrels")
    out = tmp_path / "run", tmp_path / "qrels"
    dump_trec_run(out[0], trec.qid, trec.docno, trec.score)
    dump_qrels(out[1], trec.qid, trec.docno, trec.target)
    # what is not retrieved is not written, and what is not judged is below 0
    assert out[0].read_text() == (
        "1 Q0 b 1 0.5 run\n1 Q0 a 2 0.5 run\n1 Q0 x 3 0.25 run\n"
    )
    assert out[1].read_text().splitlines() == [
        *("1 0 a 1", "1 0 b 0", "1 0 x -1", "1 0 z 2", "1 0 y -1", "2 0 c 1")
    ]
    again = load_trec(out[1], out[0], topics="qrels", order="trec_eval")
    for name in ("ap", "ndcg", "bpref"):
        options = {"measure": name, "unjudged": "nonrelevant", "average": None}
        np.testing.assert_array_equal(
            ranking_score(again.target, again.score, qid=again.qid, **options),
            ranking_score(trec.target, trec.score, qid=trec.qid, **options),
        )


def test_ranks_are_those_of_trec_eval(tmp_path):
    path = tmp_path / "run"
    # equal in 32 bits: the id decides, though the scores differ
    dump_trec_run(path, ["1"] * 3, ["a", "b", "c"], [0.1 + 1e-12, 0.1, 7])
    assert path.read_text().split("\n")[1].split()[2:4] == ["b", "2"]
    official = load_trec({"1": {"a": 1}}, path, order="trec_eval")
    assert official["rank"].tolist() == [1, 2, 3]
    assert official.n_contradictions == 0


def test_columns_of_any_kind(tmp_path):
    path = tmp_path / "run"
    web = make_web_search(n_queries=3, n_documents=4, random_state=0)
    docno = np.arange(len(web.qid))
    dump_trec_run(path, web.qid, docno, web.data[:, 0])
    found = load_run(path)
    assert sorted(found.docno.astype(int).tolist()) == docno.tolist()
    assert set(found.qid) == {str(one) for one in web.qid.tolist()}
    frame = pd.DataFrame({"q": ["1", "1"], "d": ["a", "b"], "s": [1, 2]})
    dump_trec_run(path, frame.q, frame.d, frame.s.astype("float32"))
    assert load_run(path).docno.tolist() == ["b", "a"]
    dump_qrels(path, pd.Series([7, 7]), [b"caf\xe9", "caf\udce8"], [True, False])
    assert path.read_bytes() == b"7 0 caf\xe9 1\n7 0 caf\xe8 0\n"


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["1", "1"], ["a", "a"], [1, 2]), "row 1: a is retrieved twice for topic 1"),
        ((["1", "1"], ["a", "b"], [1, NAN]), "score must be .* got nan in row 1"),
        ((["1", "1"], ["a", "b"], [1, INF]), "score must be .* got inf in row 1"),
        ((["1"], ["a"], [-INF]), "^score must retrieve a document, got -inf in all"),
        ((["1"], ["a"], ["x"]), "score must be numeric, got dtype object with 'x' in "),
        ((["1"], ["a b"], [1]), "docno must not hold white space, got 'a b'"),
        ((["1\n"], ["a"], [1]), r"qid must not hold white space, got '1\\n'"),
        ((["1"], ["a", "b"], [1]), r"must have columns of one length, got \[1, 2\]"),
        ((["1", "1"], ["a", "b"], [1]), r"must have columns of one length, got \[1, 2"),
        ((["1"], [""], [1]), "docno must be neither empty nor hold a NUL"),
        ((["1"], [1.5], [1]), "docno must be a string or bytes, got 1.5"),
        ((["1"], [None], [1]), "docno must be a string or bytes, got None"),
        ((None, ["a"], [1]), "qid must have one value per row, got None"),
        ((["1"], "a", [1]), "docno must have one value per row, got 'a'"),
        (([], [], []), "must hold at least one row, got none"),
        ((["BZh1"], ["a"], [1]), "must not begin with the bytes of compressed data"),
        ((["\ufeff1"], ["a"], [1]), "must not begin with the bytes of a byte order"),
        (([b"\xff\xfe1"], ["a"], [1]), "must not begin with the bytes of UTF-16"),
    ],
)  # fmt: skip
def test_bad_runs(tmp_path, columns, message):
    path = tmp_path / "run"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        dump_trec_run(path, *columns)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("tag", ["", "a b", "a\n", None, 3, "a\0", "\ud800"])
def test_bad_tags(tmp_path, tag):
    with pytest.raises(ValueError, match="tag must be a string in UTF-8 without white"):
        dump_trec_run(tmp_path / "run", ["1"], ["a"], [1], tag=tag)


@pytest.mark.parametrize(
    ("docno", "labels", "message"),
    [
        (["a", "a"], [1, 0], "a is judged twice for topic 1"),
        (["a", "b"], [INF, 0], "label must be a finite number, got inf in row 0"),
        (["a", "b"], [0, -INF], "label must be a finite number, got -inf in row 1"),
        (["b", "a\tb"], [1, 0], r"docno must not hold white space, got 'a\\tb'"),
    ],
)
def test_bad_judgments(tmp_path, docno, labels, message):
    path = tmp_path / "qrels"
    with pytest.raises(ValueError, match=f"^{path}.*{message}"):
        dump_qrels(path, ["1", "1"], docno, labels)
    assert not path.exists()


def test_pytrec_eval_reads_what_is_written(tmp_path):
    import pytrec_eval

    rng = np.random.default_rng(0)
    qid = np.repeat(["301", "302", "303"], 40)
    docno = np.tile([f"D-{i}" for i in range(40)], 3)
    score = rng.integers(0, 5, 120) / 3
    score[rng.random(120) < 0.3] = -np.inf
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    dump_trec_run(run, qid, docno, score)
    dump_qrels(qrels, qid, docno, rng.integers(-1, 3, 120).astype(float))
    with run.open() as ranked, qrels.open() as judged:
        scores, labels = pytrec_eval.parse_run(ranked), pytrec_eval.parse_qrel(judged)
    wanted = pytrec_eval.RelevanceEvaluator(labels, {"map", "ndcg"}).evaluate(scores)
    options = {"ties": "input", "unjudged": "nonrelevant", "average": None}
    for trec in (load_trec(qrels, run, order="trec_eval"), load_trec(qrels, scores)):
        # lines that are written stand in trec_eval's order already
        for name, measure in (("map", "ap"), ("ndcg", "ndcg(gain=linear)")):
            own = {"qid": trec.qid, "measure": measure}
            found = ranking_score(trec.target, trec.score, **own, **options)
            official = [wanted[topic][name] for topic in ("301", "302", "303")]
            np.testing.assert_allclose(found, official, rtol=0, atol=1e-12)
