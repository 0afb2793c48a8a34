"""TREC files, alone and together, and the official program's numbers."""

from __future__ import annotations

import gzip
import re
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tieaware_sklearn import evaluate, evaluate_subtopics, ranking_score
from tieaware_sklearn.datasets import load_qrels, load_run, load_subtopics, load_trec
from tieaware_sklearn.io import run_names
from tieaware_sklearn.judgments import depth_pool

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
UNJUDGED = {"unjudged": "nonrelevant"}


@pytest.fixture
def files(tmp_path):
    def write(qrels=QRELS, run=RUN):
        paths = tmp_path / "qrels", tmp_path / "run"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return paths

    return write


def test_rows(files):
    qrels, run = files()
    trec = load_trec(qrels, run)
    assert trec.qid.tolist() == ["301"] * 5 + ["302"] * 2
    assert " ".join(trec.docno) == "FR-2 FR-1 FR-5 FR-3 FR-9 AP-2 AP-1"
    np.testing.assert_array_equal(trec.score, [0.5, 0.5, -1, 2, -INF, -3.5, -INF])
    np.testing.assert_array_equal(trec.target, [0, 1, NAN, NAN, 2, NAN, 1])
    np.testing.assert_array_equal(trec["rank"], [1, 2, 3, 4, NAN, 10, NAN])
    np.testing.assert_array_equal(trec.input_order, [1, 2, 3, 4, NAN, 1, NAN])
    assert (trec.n_inversions, trec.n_contradictions) == (1, 1)
    assert f"{run}, judged by {qrels}: 2 topics, 7 documents" == trec.DESCR
    # FR-3 first (unjudged), then FR-1 and FR-2 tied; FR-9 is not retrieved
    data = {"qid": trec.qid, "measure": "ap", "average": None}
    found = ranking_score(trec.target, trec.score, **data, **UNJUDGED)
    assert found.tolist() == [pytest.approx((1 / 2 + 1 / 3) / 2 / 2), 0]
    with pytest.raises(ValueError, match="y_true must be judged"):
        evaluate(trec.target, trec.score, qid=trec.qid)
    every = load_trec(qrels, run, topics="qrels")
    assert (every.qid[-1], every.docno[-1], every.score[-1]) == ("303", "AP-7", -INF)
    for options, message in (
        ({"topics": "run"}, "topics must be one of"),
        ({"order": "rank"}, "order must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            load_trec(qrels, run, **options)


def test_runs_and_judgments_alone(files):
    qrels, run = files()
    alone, judged = load_run(run), load_qrels(qrels)
    assert " ".join(alone.docno) == "FR-2 FR-1 FR-5 FR-3 AP-2 XX-1"
    assert alone.qid.tolist()[-1] == "304"
    assert f"{run}: 3 topics, 6 documents" == alone.DESCR
    assert f"{qrels}: 3 topics, 6 judgments" == judged.DESCR
    np.testing.assert_array_equal(judged.target, [1, 0, 2, NAN, 1, 1])
    assert depth_pool([alone, alone], 1).docno.tolist() == ["FR-3", "AP-2", "XX-1"]
    # lines of topics that come back, and empty lines
    run = "\n302 Q0 AP-1 1 5 s\n 301\tQ0 FR-1 1 2 s\r\n\n302 Q0 AP-2 2 4 s \n\n"
    alone = load_run(files(run=run)[1])
    assert alone.qid.tolist() == ["302", "302", "301"]
    assert alone.docno.tolist() == ["AP-1", "AP-2", "FR-1"]
    assert alone.score.tolist() == [5, 4, 2]
    assert alone["rank"].tolist() == [1, 2, 1]


def test_several_runs_over_the_same_documents(files, tmp_path):
    qrels, first = files()
    second = tmp_path / "other" / "run"
    second.parent.mkdir()
    second.write_text("301 Q0 FR-9 1 7 s\n303 Q0 AP-8 1 1 s\n303 Q0 AP-7 2 2 s\n")
    both = load_trec(qrels, [first, second])
    assert both.score.shape == both["rank"].shape == (len(both.qid), 2)
    assert both.run_names == ["sys", "s"]
    assert both.n_inversions.tolist() == both.n_contradictions.tolist() == [1, 1]
    assert both.DESCR.startswith(f"2 runs, judged by {qrels}: 3 topics, ")
    every = load_trec(qrels, [first], topics="qrels")
    assert every.qid.tolist()[-1] == "303"
    first.write_text("999 Q0 X 1 1 s\n")
    message = f"{qrels} and {first} must have a topic in common, got 3 and 1 topics"
    for runs in ([first], [second, first]):
        with pytest.raises(ValueError, match=message):
            load_trec(qrels, runs)


@pytest.mark.parametrize("order", [None, "trec_eval"])
def test_several_runs_have_the_scores_and_ties_of_each_alone(files, tmp_path, order):
    rng = np.random.default_rng(0)
    pairs = [(t, d) for t in range(9) for d in range(30)]
    qrels = "".join(f"{t} 0 d{d} {rng.integers(-1, 3)}\n" for t, d in pairs)
    runs = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for path in runs:
        kept = [pairs[i] for i in rng.permutation(len(pairs))[:150]]
        lines = (f"{t} Q0 d{d} 1 {rng.integers(0, 4)} {path.name}\n" for t, d in kept)
        path.write_text("".join(lines))
    qrels, _ = files(qrels)
    together = load_trec(qrels, runs, order=order)
    options = {"measures": ["ap", "rprec", "ndcg@3"], **UNJUDGED}
    for run, column in zip(runs, together.score.T, strict=True):
        alone = load_trec(qrels, run, order="trec_eval", topics="qrels")
        found = evaluate(together.target, column, qid=together.qid, **options)
        wanted = evaluate(alone.target, alone.score, qid=alone.qid, **options)
        np.testing.assert_array_equal(found.qid, wanted.qid)
        np.testing.assert_array_equal(found.expected, wanted.expected)
        found, wanted = (
            ranking_score(one.target, score, qid=one.qid, measure="ap", ties="input",
                          average=None, **UNJUDGED)
            for one, score in ((together, column), (alone, alone.score))
        )  # fmt: skip
        np.testing.assert_array_equal(found, wanted)
    for topic in np.unique(together.qid):
        docno = together.docno[together.qid == topic].tolist()
        assert docno == sorted(docno, reverse=True)


def test_the_order_of_trec_eval(files):
    run = "301 Q0 FR-1 1 0.1 s\n301 Q0 FR-2 2 0.10000000001 s\n301 Q0 FR-9 3 0.1 s\n"
    trec = load_trec(*files(run=run), order="trec_eval")
    assert trec.docno.tolist()[:3] == ["FR-9", "FR-2", "FR-1"]
    assert len(set(trec.score[:3])) == 1
    options = {"qid": trec.qid, "measure": "ap", "ties": "input", **UNJUDGED}
    assert ranking_score(trec.target, trec.score, **options) == (1 + 2 / 3) / 2
    # scores beyond 32 bits are alike and retrieved
    run = "301 Q0 FR-1 1 -1e39 s\n301 Q0 FR-2 2 1e39 s\n301 Q0 FR-9 3 2e39 s\n"
    trec = load_trec(*files(run=run), order="trec_eval")
    assert trec.docno.tolist()[:3] == ["FR-9", "FR-2", "FR-1"]
    assert np.isfinite(trec.score[:3]).all()
    assert trec.score[0] == trec.score[1] > trec.score[2]
    exact = load_trec(*files(run=run))
    assert exact.score.tolist()[:3] == [-1e39, 1e39, 2e39]
    assert (trec.n_inversions, exact.n_inversions) == (1, 2)


def test_ids_are_told_apart_by_their_bytes(files):
    qrels = b"301 0 caf\xe9 1\n301 0 caf\xc3\xa9 0\n301 0 b 0\n301 0 a\xc2\xa0z 1\n"
    run = b"301 Q0 caf\xe8 1 3 x\n301 Q0 a\xc2\xa0z 2 2 x\n301 Q0 caf\xc3\xa9 3 1 x\n"
    qrels, run = files(qrels, run + b"301 Q0 \x80 4 1 x\n")
    for frame in (False, True):
        trec = load_trec(qrels, run, as_frame=frame)
        first, last = ["caf\udce8", "a\xa0z", "caf\xe9", "\udc80"], ["caf\udce9", "b"]
        assert trec.docno.tolist() == first + last
        np.testing.assert_array_equal(trec.target, [NAN, 1, 0, NAN, 1, 0])
    assert trec.frame["docno"].tolist() == trec.docno.tolist()
    # in the order of bytes, in which \x80 stands above c, not below it
    ordered = load_trec(qrels, run, order="trec_eval")
    assert ordered.docno.tolist()[2:4] == ["\udc80", "caf\xe9"]
    run.write_bytes(b"301 Q0 \xc3\xa9 1 1 x\n301 Q0 \x80 2 1 x\n")
    ordered = load_trec(qrels, run, order="trec_eval")
    assert ordered.docno.tolist()[:2] == ["\xe9", "\udc80"]


def test_data_frames(files):
    qrels, run = files()
    assert "frame" not in load_trec(qrels, run)
    for found in (
        load_trec(qrels, run, as_frame=True),
        load_run(run, as_frame=True),
        load_qrels(qrels, as_frame=True),
    ):
        of_rows = ["qid", "docno", "target", "score", "rank", "input_order"]
        columns = [name for name in of_rows if name in found]
        assert found.frame.columns.tolist() == columns
        for name in columns:
            np.testing.assert_array_equal(found.frame[name], found[name])
    several = load_trec(qrels, [run, run], as_frame=True)
    columns = ["qid", "docno", "target", *several.run_names]
    assert several.frame.columns.tolist() == columns
    np.testing.assert_array_equal(several.frame.iloc[:, 3:], several.score)
    with pytest.raises(ValueError, match=r"differ from the other columns .* 'docno'"):
        load_trec(qrels, {"a": run, "docno": run}, as_frame=True)


def test_inversions_count_topics_in_use_only():
    qrels = {"1": {"a": 1}}
    lines = {"qid": ["1", "1", "9", "9"], "docno": list("abab"), "score": [1, 2, 1, 2]}
    assert load_trec(qrels, lines).n_inversions == 1
    ranked = {**lines, "rank": [1, 2, 1, 2]}
    assert load_trec(qrels, ranked).n_contradictions == 1
    assert load_trec(qrels, lines).n_contradictions == 0


# the forms of files
BEIR = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize("head", [BEIR, BEIR.upper(), "\ufeff" + BEIR, "\n" + BEIR])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_judgments_of_beir(files, head, end):
    text = head + "1\tMED 10\t2\n\nPLAIN-2\tMED-7\t0\n1\tMED-7\t-1\n"
    path, run = files(text.replace("\n", end), "1 Q0 MED-7 1 2.0 x\n1 Q0 a 2 1.0 x\n")
    found = load_qrels(path)
    assert found.qid.tolist() == ["1", "1", "PLAIN-2"]
    # cut at tabs only
    assert found.docno.tolist() == ["MED 10", "MED-7", "MED-7"]
    np.testing.assert_array_equal(found.target, [2, NAN, 0])
    assert load_trec(path, run).docno.tolist() == ["MED-7", "a", "MED 10"]
    packed = path.with_name("file.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_qrels(packed).docno.tolist() == found.docno.tolist()
    # a topic that is called like a column
    path.write_text("query-id\tcorpus-id\tscore\t1\n")
    assert load_qrels(path).qid.tolist() == ["query-id"]


@pytest.mark.parametrize("q0", ["Q0", "q0", "0"])
def test_runs_without_a_tag(files, q0):
    _, path = files(run=f"\n1 {q0} a 0 2.5\n2 Q0 b 0 1\n1\tQ0\tc\t1\t1e-3\n")
    found = load_run(path)
    assert found.qid.tolist() == ["1", "1", "2"]
    assert found.docno.tolist() == ["a", "c", "b"]
    assert found.score.tolist() == [2.5, 0.001, 1]
    assert found["rank"].tolist() == [0, 1, 0]
    assert load_trec({"1": {"a": 1}}, [path]).run_names == ["run"]


# one run or several, of any kinds, and their names
DICT = {"1": {"a": 0.5, "x": 0.25}, "2": {"c": 1.0}}
JUDGED = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}
OTHER = {"1": {"b": 3}}
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


def test_runs_of_any_kinds_in_a_list_or_by_their_names(tmp_path):
    path = tmp_path / "other.txt.gz"
    path.write_text("1 Q0 b 1 3 dense\n")
    frame = pd.DataFrame({"qid": ["1"], "docno": ["b"], "score": [3.0]})
    others = [OTHER, str(path), path, frame, [Scored("1", "b", 3.0)]]
    trec = load_trec(JUDGED, [DICT, *others])
    for other in trec.score.T[2:]:
        np.testing.assert_array_equal(other, trec.score[:, 1])
    names = ["run[0]", "run[1]", str(path), f"{path} (2)", "run[4]", "run[5]"]
    assert trec.run_names == names
    named = load_trec(JUDGED, dict(zip("abcdef", [DICT, *others], strict=True)))
    assert named.run_names == [*"abcdef"]
    for name in ("qid", "docno", "score", "rank", "input_order", "target"):
        np.testing.assert_array_equal(trec[name], named[name])
    for runs, wanted in (
        ({"one": DICT}, ["one"]),
        ({7: DICT}, ["7"]),
        # names that are those of columns
        ({"qid": DICT, "docno": OTHER}, ["qid", "docno"]),
        ({"qid": path, "docno": path}, ["qid", "docno"]),
        # the first topic of a run may have no documents
        ({"empty first": {"1": {}, "2": {"c": 1}}}, ["empty first"]),
    ):
        found = load_trec(JUDGED, runs)
        assert found.run_names == wanted
        assert found.score.shape[1] == len(wanted)
    # and topics that are; depth tells a run from runs
    odd = {"qid": {"a": 1}, "docno": {"b": 2}}
    assert load_trec(odd, odd).qid.tolist() == ["qid", "docno"]
    for run in (DICT, {"1": {}, "2": {"c": 1}}):
        assert load_trec(JUDGED, run).score.ndim == 1


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ([], "^run must hold at least one run, got an empty list"),
        ({}, "^run must hold at least one topic, got an empty dict"),
        (3, "^run must be a path, a dict of dicts, a data frame or records.*got 3"),
        (b"run.txt", "^run must be a path.*got b'run.txt'"),
        ({"bm25": DICT, "2": {"c": 1}}, r"^run\['2'\] must map each topic to a dict of "
         "documents and their scores, got 1 for topic 'c'"),
        ({"1": {"a": 1}, "2": 3}, "^run must map each topic to .* got 3 for topic '2'"),
        ({"a": {}, "b": DICT}, r"^run\['a'\] must hold at least one topic, got an emp"),
        ({"a": DICT, "b": 3}, r"^run\['b'\] must be a path, a dict of dicts"),
        ([DICT, {"1": {7: 1}}], r"^run\[1\]: document must be a string or bytes"),
        ([DICT, {"1": {"a": "1"}}], r"^run\[1\]: score must be numeric"),
        ([DICT, [DICT]], r"^run\[1\] must be a path, a dict of dicts, a data frame"),
        ([DICT, {"9": {"a": 1}}], r"^qrels and run\[1\] must have a topic in common, "
         "got 2 and 1 topics without a common one"),
        ({"b": DICT, "x": {"9": {"a": 1}}}, r"^qrels and run\['x'\] must have a topic"),
        ({"9": {"a": 1}}, "^qrels and run must have a topic in common"),
    ],
)  # fmt: skip
def test_bad_runs(run, message):
    with pytest.raises(ValueError, match=message):
        load_trec(JUDGED, run)
    with pytest.raises(ValueError, match="qrels must be a path, a dict of dicts"):
        load_trec([JUDGED, JUDGED], DICT)


def test_runs_go_by_their_tags_or_files(tmp_path):
    first, second = tmp_path / "run", tmp_path / "other" / "run"
    first.write_text("1 Q0 a 1 5 sys\n")
    second.parent.mkdir()
    for text, names in (
        (b"1 x b 1 7 n\xc3\xa9\n1 y a 2 1 n\xc3\xa9\n", ["sys", "né"]),
        (b"1 Q0 b 1 7 n\xe9\n", ["sys", "n\udce9"]),
        # the tag of another run, and several
        (b"1 Q0 b 1 7 sys\n", [str(first), str(second)]),
        (b"1 Q0 b 1 7 a\n1 Q0 c 1 6 b\n1 Q0 d 1 6 a\n", ["sys", "run"]),
    ):
        second.write_bytes(text)
        assert load_trec(JUDGED, [first, second]).run_names == names


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


topics, documents = st.sampled_from(["1", "2"]), st.sampled_from("abcde")
lines = st.lists(
    st.tuples(topics, documents, st.integers(0, 2)),
    unique_by=lambda line: line[:2],
    max_size=8,
)
NAMES = ("score", "rank", "input_order")


@given(
    st.lists(lines, min_size=1, max_size=3),
    st.sampled_from([None, "trec_eval"]),
    st.booleans(),
)
def test_what_a_run_says_of_each_document(drawn, order, alone):
    judged = {"1": {"a": 1, "b": 0, "e": 2}, "2": {"c": 1, "d": 1}}
    # each run has some topic
    drawn = [[*lines, ("2", "z", 1)] for lines in drawn][: 1 if alone else 3]
    frames = []
    for own in drawn:
        columns = zip(("qid", "docno", "score"), zip(*own, strict=True), strict=True)
        frames.append(dict(columns) | {"rank": [7 * i for i in range(len(own))]})
    trec = load_trec(judged, frames[0] if alone else frames, order=order)
    pairs = list(zip(trec.qid.tolist(), trec.docno.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    cells = np.array([trec[name].reshape(len(pairs), -1) for name in NAMES])
    for j, own in enumerate(drawn):
        wanted, seen = {}, {"1": 0, "2": 0}
        for place, (topic, document, score) in enumerate(own):
            seen[topic] += 1
            wanted[topic, document] = score, 7 * place, seen[topic]
        assert set(wanted) <= set(pairs)
        for i, pair in enumerate(pairs):
            of_pair = wanted.get(pair, (-INF, NAN, NAN))
            np.testing.assert_array_equal(cells[:, i, j], of_pair)


# judgments by subtopic
BY_SUBTOPIC = (
    "2 10 b 1\n1 1 a 1\n1 2 a 2\n1 2 c 1\n1 1 d -2\n2 9 b 0\n2 9 e 1\n\n3 1 a 1\n"
)
WEB = "1 Q0 c 1 2.5 x\n1 Q0 a 2 2.5 x\n1 Q0 z 3 1 x\n2 Q0 e 1 7 x\n9 Q0 e 1 7 x\n"


def test_labels_of_subtopics_stand_beside_the_run(files):
    qrels, run = files(BY_SUBTOPIC, WEB)
    web = load_subtopics(qrels, run)
    columns = (web[name].tolist() for name in ("qid", "docno", "score"))
    rows = [("2", "e", 7), ("2", "b", -INF), ("1", "c", 2.5), ("1", "a", 2.5)]
    assert list(zip(*columns, strict=True)) == [*rows, ("1", "z", 1), ("1", "d", -INF)]
    # numbers by size
    assert web.subtopics == {"2": ["9", "10"], "1": ["1", "2"]}
    np.testing.assert_array_equal(
        web.target, [[1, NAN], [0, 1], [NAN, 1], [1, 2], [NAN, NAN], [NAN, NAN]]
    )
    described = f"{run}, judged by {qrels}: 2 topics, 6 documents, up to 2 subtopics"
    assert described == web.DESCR
    report = evaluate_subtopics(web.target, web.score, qid=web.qid, measures="strec@1")
    assert report.qid.tolist() == ["2", "1"]
    assert report.expected[:, 0].tolist() == [0.5, 0.75]
    every = load_subtopics(qrels, run, topics="qrels")
    assert list(every.subtopics) == ["2", "1", "3"]
    assert every.score[every.qid == "3"].tolist() == [-INF]
    with pytest.raises(ValueError, match="topics must be one of"):
        load_subtopics(qrels, run, topics="all")


def test_subtopics_of_any_bytes_and_of_no_common_topic(files):
    text = gzip.compress(b"1 x \xe4 1\n1 10 b\xc3\xa4 1\n1 a \xe4 0\n")
    web = load_subtopics(*files(text, b"1 Q0 \xe4 1 2 t\n1 Q0 b\xc3\xa4 2 1 t\n"))
    assert web.docno.tolist() == ["\udce4", "bä"]
    assert web.subtopics == {"1": ["10", "a", "x"]}
    assert (web.score > 0).all()
    for qrels, n_topics in (("\n", 0), ("7 1 a 1\n", 1)):
        message = f"must have a topic in common, got {n_topics} and 3 topics"
        with pytest.raises(ValueError, match=message):
            load_subtopics(*files(qrels, WEB))


# the official program
def test_robust03_as_published(shared_data):
    folder = shared_data / "robust03"
    lines = (folder / "official.tsv").read_text().splitlines()[1:]
    assert len(lines) == len(list(folder.glob("input.*.gz")))
    for line in lines:
        run, *published = line.split("\t")
        paths = folder / "qrels.robust03.txt.gz", folder / f"input.{run}.gz"
        trec = load_trec(*paths, order="trec_eval")
        for measure, value in zip(("ap", "rprec"), published, strict=True):
            options = {"qid": trec.qid, "measure": measure, "ties": "input", **UNJUDGED}
            score = ranking_score(trec.target, trec.score, **options)
            assert f"{score:.4f}" == value


def pairs(text):
    return dict(pair.split("=") for pair in text.split())


#: trec_eval's names of measures of relevance or not, and ours; those that are cut
BINARY = pairs(
    "map=ap gm_map=ap Rprec=rprec bpref=bpref gm_bpref=bpref recip_rank=rr set_P=SetP "
    "set_recall=SetR set_F=SetF set_map=SetAP 11pt_avg=iap"
)
CUT = pairs("P=p recall=r map_cut=ap success=success iprec_at_recall=iprec")
#: of labels, and of qrels without labels of -1, which say that a document is pooled
GRADED = {"ndcg": "ndcg(gain=linear)", "infAP": "infAP"}
GRADED_CUT = {"ndcg_cut": "ndcg(gain=linear)"}


def name_of(measure, rel):
    """Our name of trec_eval's measure."""
    name, k = re.fullmatch(r"(\w+?)(?:_(\d+|\d\.\d+))?", measure).groups()
    binary, graded = (CUT, GRADED_CUT) if k else (BINARY, GRADED)
    cut = f"@{k}" if k else ""
    if name in graded and rel == 1:
        return graded[name] + cut
    return f"{binary[name]}(rel={rel}){cut}" if name in binary else None


@pytest.mark.parametrize(
    ("output", "rel"),
    [("out.test.a", 1), ("out.test.aq", 1), ("out.test.aql", 2), ("out.test.aqc", 1)],
)
def test_what_trec_eval_printed(shared_data, tmp_path, output, rel):
    folder = shared_data / "trec_eval"
    run = folder / "results.test"
    if output == "out.test.aqc":
        # printed for a run cut short: no topic 302, and 84 documents of 303
        lines = run.read_text().splitlines(keepends=True)
        first = [line for line in lines if line.startswith("301")]
        third = [line for line in lines if line.startswith("303")][:84]
        run = tmp_path / "run"
        run.write_text("".join(first + third))
    trec = load_trec(
        folder / ("qrels.rel_level" if rel > 1 else "qrels.test"),
        run,
        topics="qrels" if output.endswith("c") else "both",
        order="trec_eval",
    )
    checked = set()
    for line in (folder / output).read_text().splitlines():
        measure, topic, value = line.split()
        name, is_geometric = name_of(measure, rel), measure.startswith("gm_")
        if name is None or (is_geometric and topic != "all"):
            continue  # those of topics are printed as logarithms
        one = np.ones(len(trec.qid), bool) if topic == "all" else trec.qid == topic
        found = ranking_score(
            trec.target[one],
            trec.score[one],
            qid=trec.qid[one],
            measure=name,
            ties="input",
            average="geometric" if is_geometric else "macro",
            # the outputs are of version 10
            convention="trec_eval10",
        )
        assert f"{found:.4f}" == value, (measure, topic)
        checked.add(measure)
    assert len(checked) >= (46 if rel == 1 else 40), sorted(checked)
