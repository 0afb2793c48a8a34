"""Judgments and runs in memory: dicts of dicts, data frames, records."""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
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
    of_rows, judged = rows(nested), number == "relevance"
    frame = pd.DataFrame(of_rows, columns=["query_id", "doc_id", number])
    columns = dict(
        zip(("qid", "docno", number), zip(*of_rows, strict=True), strict=True)
    )
    records = [Qrel(*row, "0") if judged else Scored(*row) for row in of_rows]

    def named(*columns):
        return frame.set_axis(columns, axis=1)

    def mapped(key, value):
        return {
            key(topic): {key(docno): value(of) for docno, of in own.items()}
            for topic, own in nested.items()
        }

    return {
        "pandas": frame,
        "ours": named("qid", "docno", "target" if judged else "score"),
        "pandas labels": named("qid", "docno", "label" if judged else "score"),
        "beir": named("query-id", "corpus-id", "score"),
        "ranx": named("q_id", "doc_id", "score"),
        "pandas objects": frame.astype(object),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "shuffled index": frame.set_index(np.arange(len(of_rows))[::-1]),
        "categories": frame.astype({"query_id": "category", "doc_id": "category"}),
        "dict": nested,
        "bytes": mapped(str.encode, float),
        "numpy numbers": mapped(str, np.float32),
        "fractions": mapped(str, Fraction),
        "columns": columns,
        "arrays": {name: np.array(values) for name, values in columns.items()},
        "records": records,
        "iterator": iter(records),
    }


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name in found:
        if name not in ("DESCR", "frame"):
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{t} 0 {d} {n}\n" for t, d, n in rows(QRELS)))
    run.write_text("".join(f"{t} Q0 {d} 0 {n} x\n" for t, d, n in rows(RUN)))
    return qrels, run


@pytest.mark.parametrize("form", sorted(forms(QRELS, "relevance")))
def test_judgments_of_all_forms_are_those_of_the_file(files, form):
    qrels, run = files
    same(load_qrels(forms(QRELS, "relevance")[form]), load_qrels(qrels))
    same(load_trec(forms(QRELS, "relevance")[form], run), load_trec(qrels, run))


@pytest.mark.parametrize("form", sorted(forms(RUN, "score")))
def test_runs_of_all_forms_are_those_of_the_file(files, form):
    qrels, run = files
    wanted = load_run(run)
    wanted["rank"] = np.full(len(wanted.qid), np.nan)
    same(load_run(forms(RUN, "score")[form]), wanted)
    for order in (None, "trec_eval"):
        wanted = load_trec(qrels, run, order=order)
        wanted["rank"] = np.full(len(wanted.qid), np.nan)
        # equal ranks, 0 in the file, contradict no scores, as do none
        assert wanted.n_contradictions == 0
        same(load_trec(qrels, forms(RUN, "score")[form], order=order), wanted)


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


def test_topics_apart_and_topics_without_documents():
    columns = {"qid": ["2", "1", "2"], "docno": [*"abc"], "score": [3.0, 2.0, 1.0]}
    found = load_run(pd.DataFrame(columns))
    assert found.qid.tolist() == ["2", "2", "1"]
    assert found.docno.tolist() == ["a", "c", "b"]
    assert found.score.tolist() == [3, 1, 2]
    found = load_trec({"1": {"a": 1}, "2": {"b": 1}}, {"1": {}, "2": {"b": 1.0}})
    assert found.qid.tolist() == ["1", "2"]
    assert found.score.tolist() == [-np.inf, 1]
    unjudged = load_trec({"1": {}, "2": {"b": 1}}, {"1": {"a": 1}, "2": {"b": 1.0}})
    np.testing.assert_array_equal(unjudged.target, [np.nan, 1])


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


@settings(max_examples=60)
@given(nested)
@example({"a query\nof two lines": {"caf\xe9 1": 1, b"caf\xe9 1": 2, "c\udce9": 3}})
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
        ({"1": {"a": 1}, "2": 3}, "run must map each topic to a dict of .* topic '2'"),
        ({301: {"a": 1}}, "run: topic must be a string or bytes, got the integer 301"),
        ({"1": {7: 1}}, r"run: document must be a string.* the integer 7 in document 7 "
         r"of topic 1 \(ids are compared as text: pass '7'\)"),
        ({"1": {None: 1}}, "run: document must be a string or bytes, got None"),
        ({"1": {"": 1}}, "run: document must be neither empty nor hold a NUL, got ''"),
        ({"1": {"a\0": 1}}, r"must be neither empty nor hold a NUL, got 'a\\x00'"),
        ({"1": {b"a\0": 1}}, r"must be neither empty nor hold a NUL, got b'a\\x00'"),
        ({"1": {"\ud800": 1}}, r"must be text that UTF-8 can hold, got '\\ud800'"),
        ({"1": {"a": 1, b"a": 2}}, "a is retrieved twice for topic 1"),
        ({"1": {"a": 1}, b"1": {"a": 2}}, "a is retrieved twice for topic 1"),
        ({"1": {"a": 1}, "2": {"b": NAN}}, "score must be a finite number, got nan in "
         "document b of topic 2"),
        ({"1": {"a": -INF}}, "score must be a finite number, got -inf"),
        ({"1": {"a": None}}, "score must be a finite number, got nan"),
        ({"1": {"a": 1, "b": "2"}}, "run: score must be numeric, got dtype object with "
         "'2' in document b of topic 1"),
        ({"1": {"a": 2**53, "b": 2**53 + 1, "c": 0.5}}, "run: score must not hold "
         "numbers that differ but are equal as 64-bit"),
        (FRAME.iloc[:0], "run must hold at least one row, got none"),
        (FRAME.assign(doc_id="a"), "^run, row 1: a is retrieved twice for topic 1 .row "
         "0 has it too"),
        (FRAME.assign(doc_id=["a", NAN]), "run: doc_id must be a string or bytes, got "
         "nan in row 1"),
        (FRAME.assign(query_id=301), "run: query_id must be .* got the integer 301"),
        (FRAME.assign(score=[1, NAN]), "score must be a finite number, got nan"),
        (FRAME.assign(score=[1, -INF]), "score must be a finite number, got -inf"),
        (FRAME.assign(score=["x", "y"]), "run: score must be numeric, got"),
        (FRAME.assign(rank=[1, INF]), "rank must be a finite number, got inf"),
        (FRAME.rename(columns={"score": "value"}), r"run must have one column of scores"
         r" \(score\), got the columns query_id, doc_id, value"),
        (FRAME.assign(qid="1"), r"run must have one column of topics \(qid or query_id "
         r"or query-id or q_id\), got the columns query_id, qid"),
        ({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0]},
         r"run must have columns of one length, got \[1, 2\]"),
        ([Scored("1", "a", 1.0), Qrel("1", "b", 1, "0")], "must hold records of one"),
        (pd.concat([FRAME, FRAME[["doc_id"]]], axis=1), r"one column of documents "
         r"\(docno or doc_id or corpus-id\), got the columns doc_id, doc_id"),
        (pl.LazyFrame({"qid": ["1"]}), "run must be a path, a dict of dicts, a"),
        (pd.DataFrame(), "run must be a path, a dict of dicts, a data frame"),
        (3, "run must be a path, a dict of dicts, a data frame or records .* got 3"),
        (["a path", "another"], "run must be a path, a dict of dicts, a data frame or"),
    ],
)  # fmt: skip
def test_bad_runs(run, message):
    with pytest.raises(ValueError, match=message):
        load_run(run)


@pytest.mark.parametrize(
    ("column", "labels", "message"),
    [
        ("relevance", [1, NAN], "^qrels: relevance must be a finite number, got nan"),
        ("target", [1, INF], "^qrels: target must be a finite number, got inf"),
        ("score", [1, 0], r"^qrels must have one column of labels \(target or "
         r"relevance or label\)"),
    ],
)  # fmt: skip
def test_bad_judgments(column, labels, message):
    frame = FRAME.rename(columns={"score": column}).assign(**{column: labels})
    with pytest.raises(ValueError, match=message):
        load_qrels(frame)
    for qrels, said in (
        ({}, "qrels must hold at least one topic, got an empty dict"),
        ({"1": {"a": NAN}}, "label must be a finite number, got nan"),
        ({"1": ["a"]}, "qrels must map each topic to a dict of documents and their l"),
        ({"1": {"a": 1, b"a": 1}}, "a is judged twice for topic 1"),
    ):
        with pytest.raises(ValueError, match=said):
            load_qrels(qrels)
