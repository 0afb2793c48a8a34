"""Judgments and runs in memory: dicts of dicts, data frames, records."""

from __future__ import annotations

import re
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.datasets import load_qrels, load_run, load_trec
from tieaware_sklearn.io._trec_lines import spelled

QRELS = {"301": {"FR-1": 1, "FR-2": 0, "FR-9": 2, "FR-3": -1}, "303": {"AP-7": 1}}
RUN = {"303": {"AP-7": 1, "AP-8": 2.5}, "301": {"FR-2": 0.5, "FR-1": 0.5, "FR-3": -1}}
#: records as ir_datasets gives them
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


def rows(nested):
    return [
        (topic, docno, number)
        for topic, documents in nested.items()
        for docno, number in documents.items()
    ]


def forms(nested, number):
    """The same in all forms; number is the name of the last column."""
    of_rows = rows(nested)
    frames = {
        "pandas": pd.DataFrame(of_rows, columns=["query_id", "doc_id", number]),
        "ours": pd.DataFrame(
            of_rows,
            columns=["qid", "docno", "target" if number == "relevance" else "score"],
        ),
        "pandas objects": pd.DataFrame(
            of_rows, columns=["query_id", "doc_id", number], dtype=object
        ),
        "pandas labels": pd.DataFrame(
            of_rows,
            columns=["qid", "docno", "label" if number == "relevance" else "score"],
        ),
        "beir": pd.DataFrame(of_rows, columns=["query-id", "corpus-id", "score"]),
        "ranx": pd.DataFrame(of_rows, columns=["q_id", "doc_id", "score"]),
    }
    frames["polars"] = pl.from_pandas(frames["pandas"])
    frames["arrow"] = pa.Table.from_pandas(frames["pandas"])
    frames["shuffled index"] = frames["pandas"].set_index(np.arange(len(of_rows))[::-1])
    frames["categories"] = frames["pandas"].astype(
        {"query_id": "category", "doc_id": "category"}
    )
    columns = dict(
        zip(("qid", "docno", number), zip(*of_rows, strict=True), strict=True)
    )
    kind = Qrel if number == "relevance" else Scored
    extra = ("0",) if number == "relevance" else ()
    records = [kind(*row, *extra) for row in of_rows]
    as_bytes = {
        topic.encode(): {docno.encode(): value for docno, value in documents.items()}
        for topic, documents in nested.items()
    }
    return frames | {
        "dict": nested,
        "bytes": as_bytes,
        "columns": columns,
        "arrays": {name: np.array(values) for name, values in columns.items()},
        "records": records,
        "iterator": iter(records),
        "numpy numbers": {
            t: {d: np.float32(v) for d, v in of.items()} for t, of in nested.items()
        },
        "fractions": {
            t: {d: Fraction(v) for d, v in of.items()} for t, of in nested.items()
        },
    }


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name in found:
        if name not in ("DESCR", "frame"):
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


def names_of(nested, number):
    return sorted(forms(nested, number))


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{t} 0 {d} {n}\n" for t, d, n in rows(QRELS)))
    run.write_text("".join(f"{t} Q0 {d} 0 {n} x\n" for t, d, n in rows(RUN)))
    return qrels, run


@pytest.mark.parametrize("form", names_of(QRELS, "relevance"))
def test_judgments_of_all_forms_are_those_of_the_file(files, form):
    qrels, run = files
    same(load_qrels(forms(QRELS, "relevance")[form]), load_qrels(qrels))
    same(load_trec(forms(QRELS, "relevance")[form], run), load_trec(qrels, run))


@pytest.mark.parametrize("form", names_of(RUN, "score"))
@pytest.mark.parametrize("order", [None, "trec_eval"])
def test_runs_of_all_forms_are_those_of_the_file(files, form, order):
    qrels, run = files
    wanted = load_run(run)
    wanted["rank"] = np.full(len(wanted.qid), np.nan)
    same(load_run(forms(RUN, "score")[form]), wanted)
    wanted = load_trec(qrels, run, order=order)
    wanted["rank"] = np.full(len(wanted.qid), np.nan)
    found = load_trec(qrels, forms(RUN, "score")[form], order=order)
    # equal ranks, 0 in the file, contradict no scores, as do none
    assert wanted.n_contradictions == 0
    same(found, wanted)


def test_frames_of_ours_read_back(files):
    qrels, run = files
    trec = load_trec(qrels, run, topics="qrels", as_frame=True)
    again = load_trec(trec.frame, trec.frame, topics="qrels")
    # rows of a topic that no run retrieves are there, in the order of the judgments
    same(again, load_trec(qrels, run, topics="qrels"))
    bunch = load_trec(trec, trec, topics="qrels")
    same(bunch, again)
    judged = load_qrels(qrels, as_frame=True)
    same(load_qrels(judged.frame), load_qrels(qrels))
    ranked = load_run(run, as_frame=True)
    same(load_run(ranked.frame), load_run(run))
    same(load_run(load_run(run)), load_run(run))


def test_ranks_and_tags_of_frames(files):
    frame = pd.DataFrame(
        {"query_id": "1", "doc_id": ["b", "a"], "score": [2, 1], "rank": [0, 1]}
    )
    assert load_run(frame)["rank"].tolist() == [0, 1]
    tagged = frame.assign(tag="bm25")
    qrels = {"1": {"a": 1}}
    assert load_trec(qrels, [tagged, frame]).run_names == ["bm25", "run[1]"]
    mixed = frame.assign(tag=["bm25", "dense"])
    assert load_trec(qrels, [mixed, frame]).run_names == ["run[0]", "run[1]"]


def test_topics_whose_rows_do_not_stand_together():
    frame = pd.DataFrame(
        {"qid": ["2", "1", "2"], "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    )
    found = load_run(frame)
    assert found.qid.tolist() == ["2", "2", "1"]
    assert found.docno.tolist() == ["a", "c", "b"]
    assert found.score.tolist() == [3, 1, 2]


def test_a_topic_without_documents_is_an_empty_list():
    found = load_trec({"1": {"a": 1}, "2": {"b": 1}}, {"1": {}, "2": {"b": 1.0}})
    assert found.qid.tolist() == ["1", "2"]
    assert found.score.tolist() == [-np.inf, 1]
    unjudged = load_trec({"1": {}, "2": {"b": 1}}, {"1": {"a": 1}, "2": {"b": 1.0}})
    np.testing.assert_array_equal(unjudged.target, [np.nan, 1])


def test_ids_with_what_no_file_can_hold():
    run = {"a query\nof two lines": {"caf\xe9 1": 1, b"caf\xe9 1": 2, "c\udce9": 3}}
    found = load_run(run)
    assert found.qid.tolist() == ["a query\nof two lines"] * 3
    assert found.docno.tolist() == ["caf\xe9 1", "caf\udce9 1", "c\udce9"]


ids = st.one_of(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1),
    st.binary(min_size=1).filter(lambda one: b"\0" not in one),
)
nested = st.dictionaries(
    ids,
    st.dictionaries(
        ids,
        st.one_of(st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False)),
        max_size=4,
    ),
    min_size=1,
    max_size=4,
)


def as_key(one):
    return spelled(one) if isinstance(one, bytes) else one


@given(nested)
def test_dicts_hold_what_they_say(run):
    keys = [as_key(topic) for topic in run]
    wanted = [(as_key(t), as_key(d), float(n)) for t, d, n in rows(run)]
    pairs = [pair[:2] for pair in wanted]
    # the lines of a topic stand together, though one be a string and one bytes
    wanted.sort(key=lambda line: keys.index(line[0]))
    if len(set(pairs)) < len(pairs) or not wanted:
        with pytest.raises(ValueError, match="run"):
            load_run(run)
        return
    found = load_run(run)
    columns = (found[name].tolist() for name in ("qid", "docno", "score"))
    assert list(zip(*columns, strict=True)) == wanted
    frame = pd.DataFrame(rows(run), columns=["qid", "docno", "score"], dtype=object)
    same(load_run(frame), found)


NAN, INF = float("nan"), float("inf")
FRAME = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [2.0, 1.0]})


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({}, "run must hold at least one topic, got an empty dict"),
        ({"1": {}}, "run must hold at least one line, got none"),
        ({"1": {"a": 1}, "2": 3}, "run must map each topic to a dict of documents and"),
        (
            {301: {"a": 1}},
            "run: topic must be a string or bytes, got the integer 301",
        ),
        (
            {"1": {7: 1}},
            "run: document must be a string or bytes, got the",
        ),
        ({"1": {7: 1}}, "(ids are compared as text: pass '7')"),
        (
            {"1": {None: 1}},
            "run: document must be a string or bytes, got N",
        ),
        ({"1": {"": 1}}, "run: document must be neither empty nor hold a"),
        ({"1": {"a\0": 1}}, "must be neither empty nor hold a NUL, got 'a\\x00'"),
        ({"1": {"\ud800": 1}}, "must be text that UTF-8 can hold, got '\\ud800'"),
        (
            {"1": {"a": 1, b"a": 2}},
            "a is retrieved twice for topic 1",
        ),
        ({"1": {"a": 1}, b"1": {"a": 2}}, "a is retrieved twice for topic 1"),
        (
            {"1": {"a": 1}, "2": {"b": NAN}},
            "score must be a finite number, got nan",
        ),
        ({"1": {"a": -INF}}, "score must be a finite number, got -inf"),
        ({"1": {"a": None}}, "score must be a finite number, got nan"),
        (
            {"1": {"a": 1, "b": "2"}},
            "run: score must be numeric, got dtype object with '2' in document b of "
            "topic 1",
        ),
        (
            {"1": {"a": 2**53, "b": 2**53 + 1, "c": 0.5}},
            "run: score must not hold numbers that differ but are equal as 64-bit",
        ),
        (FRAME.iloc[:0], "run must hold at least one row, got none"),
        (
            FRAME.assign(doc_id="a"),
            "a is retrieved twice for topic 1",
        ),
        (
            FRAME.assign(doc_id=["a", NAN]),
            "run: doc_id must be a string or bytes, got nan",
        ),
        (
            FRAME.assign(query_id=301),
            "run: query_id must be a string or bytes, got the integer 301",
        ),
        (
            FRAME.assign(score=[1, NAN]),
            "score must be a finite number, got nan",
        ),
        (FRAME.assign(score=[1, -INF]), "run: score must be a finite number, got -inf"),
        (
            FRAME.assign(score=["x", "y"]),
            "run: score must be numeric, got",
        ),
        (
            FRAME.assign(rank=[1, INF]),
            "rank must be a finite number, got inf",
        ),
        (
            FRAME.rename(columns={"score": "value"}),
            "run must have one column of scores (score), got the columns query_id, "
            "doc_id, value",
        ),
        (
            FRAME.assign(qid="1"),
            "run must have one column of topics (qid or query_id or query-id or q_id), "
            "got the columns query_id, qid",
        ),
        (
            {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0]},
            "run must have columns of one length, got [1, 2]",
        ),
        (
            [Scored("1", "a", 1.0), Qrel("1", "b", 1, "0")],
            "run must hold records of one type",
        ),
        (
            pd.concat([FRAME, FRAME[["doc_id"]]], axis=1),
            "run must have one column of documents (docno or doc_id or corpus-id), got "
            "the columns doc_id, doc_id",
        ),
        (
            pl.LazyFrame({"qid": ["1"]}),
            "run must be a path, a dict of dicts, a data fra",
        ),
        (
            pd.DataFrame(),
            "run must be a path, a dict of dicts, a data frame or records",
        ),
        (3, "run must be a path, a dict of dicts, a data frame or records"),
        (["a path", "another"], "run must be a path, a dict of dicts, a data frame or"),
    ],
)
def test_bad_runs(run, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load_run(run)


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({}, "qrels must hold at least one topic, got an empty dict"),
        ({"1": {"a": NAN}}, "label must be a finite number, got nan"),
        ({"1": ["a"]}, "qrels must map each topic to a dict of documents and their l"),
        (
            FRAME.rename(columns={"score": "relevance"}).assign(relevance=[1, NAN]),
            "relevance must be a finite number, got nan",
        ),
        (
            FRAME.rename(columns={"score": "target"}).assign(target=[1, INF]),
            "target must be a finite number, got inf",
        ),
        (
            FRAME.rename(columns={"score": "label"}).assign(doc_id="a"),
            "a is judged twice for topic 1",
        ),
        (FRAME, "qrels must have one column of labels (target or relevance or label)"),
    ],
)
def test_bad_judgments(qrels, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load_qrels(qrels)
