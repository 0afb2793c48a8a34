"""One run or several, of any kinds, and their names."""

from __future__ import annotations

import re
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tieaware_sklearn.datasets import load_trec
from tieaware_sklearn.io._trec_lines import run_names

QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}
RUN = {"1": {"a": 0.5, "x": 0.25}, "2": {"c": 1.0}}
OTHER = {"1": {"b": 3}}
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "other.txt.gz"
    path.write_text("1 Q0 b 1 3 dense\n")
    return path


def test_a_list_of_any_kinds(path):
    frame = pd.DataFrame({"qid": ["1"], "docno": ["b"], "score": [3.0]})
    records = [Scored("1", "b", 3.0)]
    trec = load_trec(QRELS, [RUN, OTHER, str(path), path, frame, records])
    for other in trec.score.T[2:]:
        np.testing.assert_array_equal(other, trec.score[:, 1])
    assert trec.run_names == [
        *("run[0]", "run[1]", str(path), f"{path} (2)", "run[4]", "run[5]")
    ]


def test_a_mapping_of_any_kinds(path):
    frame = pd.DataFrame({"qid": ["1"], "docno": ["b"], "score": [3.0]})
    runs = {"bm25": RUN, "dict": OTHER, "file": path, "frame": frame}
    trec = load_trec(QRELS, runs)
    assert trec.run_names == list(runs)
    listed = load_trec(QRELS, list(runs.values()))
    for name in ("qid", "docno", "score", "rank", "input_order", "target"):
        np.testing.assert_array_equal(trec[name], listed[name])
    assert load_trec(QRELS, {"one": RUN}).score.shape[1] == 1
    # names that are those of columns
    assert load_trec(QRELS, {"qid": RUN, "docno": OTHER}).run_names == ["qid", "docno"]
    assert load_trec(QRELS, {"qid": path, "docno": path}).run_names == ["qid", "docno"]
    assert load_trec(QRELS, {7: RUN}).run_names == ["7"]
    # and topics that are
    odd = {"qid": {"a": 1}, "docno": {"b": 2}}
    assert load_trec(odd, odd).qid.tolist() == ["qid", "docno"]


def test_depth_tells_a_run_from_runs():
    assert load_trec(QRELS, RUN).score.ndim == 1
    assert load_trec(QRELS, {"1": {}, "2": {"c": 1}}).score.ndim == 1
    named = load_trec(QRELS, {"empty first": {"1": {}, "2": {"c": 1}}})
    # the first topic of a run may have no documents
    assert named.run_names == ["empty first"]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([], "run must hold at least one run, got an empty list"),
        ({}, "run must hold at least one topic, got an empty dict"),
        (3, "run must be a path, a dict of dicts, a data frame or records"),
        (b"run.txt", "run must be a path, a dict of dicts, a data frame or records"),
        (
            {"bm25": RUN, "2": {"c": 1}},
            "run['2'] must map each topic to a dict of documents and their scores, got "
            "1 for topic 'c'",
        ),
        ({"1": {"a": 1}, "2": 3}, "run must map each topic to a dict of documents"),
        ({"a": {}, "b": RUN}, "run['a'] must hold at least one topic, got an empty"),
        ({"a": RUN, "b": 3}, "run['b'] must be a path, a dict of dicts, a data frame"),
        ([RUN, {"1": {7: 1}}], "run[1]: document must be a string or by"),
        ([RUN, {"1": {"a": "1"}}], "run[1]: score must be numeric"),
        ([RUN, [RUN]], "run[1] must be a path, a dict of dicts, a data frame or rec"),
        (
            [RUN, {"9": {"a": 1}}],
            "qrels and run[1] must have a topic in common, got 2 and 1 topics without",
        ),
        (
            {"bm25": RUN, "dense": {"9": {"a": 1}}},
            "qrels and run['dense'] must have a topic in common",
        ),
        ({"9": {"a": 1}}, "qrels and run must have a topic in common"),
    ],
)
def test_bad_runs(run, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load_trec(QRELS, run)


def test_judgments_are_one():
    with pytest.raises(ValueError, match="qrels must be a path, a dict of dicts"):
        load_trec([QRELS, QRELS], RUN)


def test_runs_go_by_their_tags_or_files(tmp_path):
    first = tmp_path / "run"
    first.write_text("1 Q0 a 1 5 sys\n")
    second = tmp_path / "other" / "run"
    second.parent.mkdir()

    def names(text):
        second.write_text(text)
        return load_trec(QRELS, [first, second]).run_names

    assert names("1 Q0 b 1 7 né\n") == ["sys", "né"]
    # the tag of another run, and several
    assert names("1 Q0 b 1 7 sys\n") == [str(first), str(second)]
    assert names("1 Q0 b 1 7 a\n1 Q0 c 1 6 b\n") == ["sys", "run"]


@pytest.mark.parametrize(
    ("paths", "tags", "names"),
    [
        (["x/a", "x/b"], ["bm25", "dense"], ["bm25", "dense"]),
        (["x/a.gz", "x/b.txt.bz2"], ["bm25", None], ["bm25", "b.txt"]),
        (["x/a", "x/b", "c"], ["bm25", "bm25", "rm3"], ["a", "b", "rm3"]),
        (["x/a", "y/a", "y/b"], [None, None, None], ["x/a", "y/a", "b"]),
        # a tag that is the name of the file of another run
        (["x/a", "x/b"], ["b", None], ["b", "x/b"]),
        (["x/a", "x/a"], ["t", "t"], ["x/a", "x/a (2)"]),
        ([".gz", "-"], [None, None], [".gz", "-"]),
    ],
)
def test_names(paths, tags, names):
    assert run_names(paths, tags) == names


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "x/a", "x/a.gz", "a (2)", "b.gz"]),
            st.sampled_from([None, "a", "b", "x/a", "a (2)"]),
        )
    )
)
@example([("a", None), ("a", None), ("x/a", "a (2)")])
def test_names_are_distinct_and_tags_where_they_can_be(runs):
    paths, tags = [path for path, _ in runs], [tag for _, tag in runs]
    names = run_names(paths, tags)
    assert len(set(names)) == len(names) == len(runs)
    for name, tag in zip(names, tags, strict=True):
        if tag is not None and tags.count(tag) == 1:
            assert name == tag
