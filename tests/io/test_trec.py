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


def as_key(id):
    return id.decode("utf-8", "surrogateescape") if isinstance(id, bytes) else id


@pytest.fixture
def files(tmp_path):
    def write(qrels=QRELS, run=RUN):
        paths = tmp_path / "qrels", tmp_path / "run"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return paths

    return write


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for name in found:
        if name not in ("DESCR", "frame"):
            assert_array_equal(found[name], wanted[name], err_msg=name)


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
    assert (trec.qid[-1], trec.docno[-1], trec.score[-1]) == ("303", "AP-7", -INF)


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
    run = "\n302 Q0 AP-1 1 5 s\n 301\tQ0 FR-1 1 2 s\r\n\n302 Q0 AP-2 2 4 s \n\n"
    alone = load_run(files(run=run)[1])
    assert alone.qid.tolist() == ["302", "302", "301"]
    assert alone.docno.tolist() == ["AP-1", "AP-2", "FR-1"]
    assert alone.score.tolist() == [5, 4, 2]
    assert alone["rank"].tolist() == [1, 2, 1]


@pytest.fixture
def two_runs(files, tmp_path):
    qrels, first = files()
    second = tmp_path / "other"
    second.write_text("301 Q0 FR-9 1 7 s\n303 Q0 AP-8 1 1 s\n303 Q0 AP-7 2 2 s\n")
    return qrels, first, second


def test_several_runs_over_the_same_documents(two_runs):
    qrels, *runs = two_runs
    both = load_trec(qrels, runs, as_frame=True)
    assert both.score.shape == both["rank"].shape == (len(both.qid), 2)
    assert both.run_names == ["sys", "s"]
    assert both.DESCR.startswith(f"2 runs, judged by {qrels}: 3 topics, ")
    assert both.frame.columns.tolist() == ["qid", "docno", "target", "sys", "s"]
    assert_array_equal(both.frame.iloc[:, 3:], both.score)


def test_a_list_of_one_run(two_runs):
    qrels, first, _ = two_runs
    trec = load_trec(qrels, [first], topics="qrels")
    assert trec.score.shape == (len(trec.qid), 1)
    assert trec.qid.tolist()[-1] == "303"


def test_every_run_must_have_a_judged_topic(two_runs):
    qrels, first, second = two_runs
    first.write_text("999 Q0 X 1 1 s\n")
    message = f"{qrels} and {first} must have a topic in common, got 3 and 1 topics"
    with pytest.raises(ValueError, match=message):
        load_trec(qrels, [second, first])


def test_ids_are_told_apart_by_their_bytes(files):
    qrels = b"301 0 caf\xe9 1\n301 0 caf\xc3\xa9 0\n301 0 b 0\n301 0 a\xc2\xa0z 1\n"
    run = b"301 Q0 caf\xe8 1 3 x\n301 Q0 a\xc2\xa0z 2 2 x\n301 Q0 caf\xc3\xa9 3 1 x\n"
    qrels, run = files(qrels, run + b"301 Q0 \x80 4 1 x\n")
    trec = load_trec(qrels, run)
    first, last = ["caf\udce8", "a\xa0z", "caf\xe9", "\udc80"], ["caf\udce9", "b"]
    assert trec.docno.tolist() == first + last
    assert_array_equal(trec.target, [NAN, 1, 0, NAN, 1, 0])


def test_trec_eval_breaks_ties_by_bytes(files):
    # \x80 is above c, but below \xc3
    qrels, run = files()
    run.write_bytes(b"301 Q0 c 1 1 x\n301 Q0 \xc3\xa9 1 1 x\n301 Q0 \x80 2 1 x\n")
    ordered = load_trec(qrels, run, order="trec_eval")
    assert ordered.docno.tolist()[:3] == ["\xe9", "\udc80", "c"]


BEIR = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize("head", [BEIR, BEIR.upper(), "\ufeff" + BEIR, "\n" + BEIR])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_judgments_of_beir(files, head, end):
    text = head + "1\tMED 10\t2\n\nPLAIN-2\tMED-7\t0\n1\tMED-7\t-1\n"
    path, _ = files(gzip.compress(text.replace("\n", end).encode()))
    found = load_qrels(path)
    assert found.qid.tolist() == ["1", "1", "PLAIN-2"]
    assert found.docno.tolist() == ["MED 10", "MED-7", "MED-7"]
    assert_array_equal(found.target, [2, NAN, 0])
    # a topic that is called like a column
    path.write_text("query-id\tcorpus-id\tscore\t1\n")
    assert load_qrels(path).qid.tolist() == ["query-id"]


# in memory: dicts of dicts, data frames, records
DICT = {"1": {"a": 0.5, "x": 0.25}, "2": {"c": 1.0}}
JUDGED = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}
OTHER = {"1": {"b": 3}}
IN_MEMORY = {
    "relevance": {"301": {"F1": 1, "F2": 0, "F9": 2, "F3": -1}, "303": {"A7": 1}},
    "score": {"303": {"A7": 1, "A8": 2.5}, "301": {"F2": 0.5, "F1": 0.5, "F3": -1}},
}
#: records as ir_datasets gives them
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


# lines are split many at a time; this is what each of them means
#: mostly lines of a run; some cells are numbers to Python or to C alone, or no numbers
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


@st.composite
def texts_of_runs(draw):
    """Lines of a run, in which a few cells are lost, doubled or replaced."""
    columns = [ids_of_run, st.just(b"Q0"), ids_of_run, numbers_of_run, numbers_of_run]
    columns.append(ids_of_run)
    text = draw(st.sampled_from([b"", b"\n", b" ", b"\xef\xbb\xbf"]))
    for _ in range(draw(st.integers(0, 6))):
        cells = [draw(column) for column in columns]
        at = draw(st.integers(0, 30))
        if at < len(columns):
            cells[at : at + 1] = draw(st.lists(odd_cells, max_size=2))
        text += draw(gaps).join(cells) + draw(ends)
    return text if draw(st.booleans()) else text.rstrip(b"\n")


def plain_run(text):
    """Topic, document, rank and score line by line, or the number of a wrong line."""
    rows, first_line = [], {}
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 6:
            return number
        plain = re.compile(rb"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?")
        if not all(plain.fullmatch(cell) for cell in cells[3:5]):
            return number
        rank, score = map(float, cells[3:5])
        if INF in (rank, score):
            return number
        topic, docno = (as_key(cells[at]) for at in (0, 2))
        rows.append((topic, docno, rank, score, number))
    for topic, docno, _, _, number in rows:
        if first_line.setdefault((topic, docno), number) != number:
            return number
    return [row[:4] for row in sorted(rows, key=lambda row: order_of(row[0], rows))]


def order_of(topic, rows):
    return [row[0] for row in rows].index(topic)


@settings(max_examples=200)
@given(text=texts_of_runs(), block=st.sampled_from([1, 30, 1 << 17]))
@example(text=b"a Q0 b 1 1 t\na Q0 c 2 1\na Q0 d 3 1 t u\n", block=1 << 17)
@example(text=b"a Q0 b 1\n1 t a Q0 c 2 1 t\n", block=1 << 17)
def test_lines_are_read_as_one_by_one(tmp_path, text, block):
    path = tmp_path / "run"
    path.write_bytes(text)
    wanted = plain_run(text)
    with mock.patch.object(_trec_files, "_BLOCK", block):
        if isinstance(wanted, int):
            with pytest.raises(ValueError, match=f"run, line {wanted}: "):
                load_run(path)
        elif not wanted:
            with pytest.raises(ValueError, match="run must hold at least one line"):
                load_run(path)
        else:
            run = load_run(path)
            columns = (run[name].tolist() for name in ("qid", "docno", "rank", "score"))
            assert list(zip(*columns, strict=True)) == wanted


def rows(nested):
    return [(topic, d, n) for topic, own in nested.items() for d, n in own.items()]


def forms(number):
    """The same in all forms; number is the name of the last column."""
    of_rows, judged = rows(IN_MEMORY[number]), number == "relevance"
    frame = pd.DataFrame(of_rows, columns=["query_id", "doc_id", number])
    columns = frame.set_axis(["qid", "docno", number], axis=1).to_dict("list")
    records = [Qrel(*row, "0") if judged else Scored(*row) for row in of_rows]

    def mapped(key, value):
        return {
            key(topic): {key(docno): value(of) for docno, of in own.items()}
            for topic, own in IN_MEMORY[number].items()
        }

    return {
        "pandas": frame,
        "ours": pd.DataFrame(columns).rename(columns={"relevance": "target"}),
        "labels": pd.DataFrame(columns).rename(columns={"relevance": "label"}),
        "beir": frame.set_axis(["query-id", "corpus-id", "score"], axis=1),
        "ranx": frame.set_axis(["q_id", "doc_id", "score"], axis=1),
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "index": frame.set_axis(range(5, 0, -1)),
        "categories": frame.astype({"query_id": "category", "doc_id": "category"}),
        "bytes": mapped(str.encode, float),
        "numpy numbers": mapped(str, np.float32),
        "fractions": mapped(str, Fraction),
        "columns": columns,
        "arrays": {name: np.array(own) for name, own in columns.items()},
        "records": records,
        "iterator": iter(records),
    }


@pytest.mark.parametrize("form", forms("score"))
def test_all_forms_are_those_of_the_file(files, form):
    lines = [f"{t} 0 {d} {n}\n" for t, d, n in rows(IN_MEMORY["relevance"])]
    ranked = [f"{t} Q0 {d} 0 {n} x\n" for t, d, n in rows(IN_MEMORY["score"])]
    qrels, run = files("".join(lines), "".join(ranked))
    same(load_qrels(forms("relevance")[form]), load_qrels(qrels))
    same(load_trec(forms("relevance")[form], run), load_trec(qrels, run))
    # equal ranks, 0 in the file, contradict no scores, as do none
    readers = [load_run, partial(load_trec, qrels)]
    for read in [*readers, partial(load_trec, qrels, order="trec_eval")]:
        wanted = read(run)
        wanted["rank"] = np.full(len(wanted.qid), NAN)
        same(read(forms("score")[form]), wanted)


def test_frames_of_ours_read_back(files):
    qrels, run = files()
    assert "frame" not in load_trec(qrels, run)
    # rows of a topic that no run retrieves are there, in the order of the judgments
    trec = load_trec(qrels, run, topics="qrels", as_frame=True)
    for ours in (trec.frame, trec):
        again = load_trec(ours, ours, topics="qrels", as_frame=True)
        same(again, trec)
        pd.testing.assert_frame_equal(again.frame, trec.frame)
    for load, path in ((load_qrels, qrels), (load_run, run)):
        found = load(path, as_frame=True)
        same(load(found.frame), load(path))
    same(load_run(load_run(run)), load_run(run))


def test_ranks_and_tags_of_frames():
    frame = FRAME.assign(rank=[0, 1])
    assert load_run(frame)["rank"].tolist() == [0, 1]
    tagged, mixed = frame.assign(tag="bm25"), frame.assign(tag=["a", "b"])
    assert load_trec(JUDGED, [tagged, frame]).run_names == ["bm25", "run[1]"]
    assert load_trec(JUDGED, [mixed, frame]).run_names == ["run[0]", "run[1]"]


ids = st.one_of(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1),
    st.binary(min_size=1).filter(lambda one: b"\0" not in one),
)
values = st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)
documents = st.dictionaries(ids, values, max_size=4)


@settings(max_examples=25)
@given(st.dictionaries(ids, documents, min_size=1, max_size=4))
@example({"a query\nof two lines": {"caf\xe9 1": 1, b"caf\xe9 1": 2, "c\udce9": 3}})
@example({"2": {"a": 1}, "1": {"a": 2, "b": 3}, b"2": {"c": 1}})
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


FRAME = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [2.0, 1.0]})
LABELS = FRAME.rename(columns={"score": "relevance"})
joined = partial(load_trec, JUDGED)


@pytest.mark.parametrize(
    ("read", "given", "message"),
    [
        (load_run, {}, "^run must hold at least one topic, got an empty dict"),
        (load_run, {"1": {}}, "^run must hold at least one line, got none"),
        (load_run, {301: {"a": 1}}, "^run: topic must be a string .* got 301 in row 0"),
        (load_run, {"1": {7: 1}}, r"got 7 in document 7 of topic 1$"),
        (load_run, {"1": {None: 1}}, "document must be a string or bytes, .* got None"),
        (load_run, {"1": {"": 1}}, "bytes, and not empty, got ''"),
        (load_run, {"1": {"a": 1}, b"1": {"a": 2}}, "a is retrieved twice for topic 1"),
        (load_run, {"1": {"a": 1}, "2": {"b": NAN}}, "nan in document b of topic 2"),
        (load_run, {"1": {"a": None}}, "score .* finite number, got nan"),
        (load_run, {"1": {"a": 1, "b": "2"}}, "score .* numeric, .* document b of"),
        (load_run, FRAME.iloc[:0], "^run must hold at least one row, got none"),
        (load_run, FRAME.assign(doc_id="a"), "^run, row 1: a is .* .row 0 has it"),
        (load_run, FRAME.assign(doc_id=["a", NAN]), "run: doc_id .* nan in row 1"),
        (load_run, FRAME.assign(score=[1, -INF]), "score .* finite number, got -inf"),
        (load_run, FRAME.assign(rank=[1, INF]), "rank .* finite number, got inf"),
        (load_run, LABELS, r"one column of scores \(score\), got .* relevance$"),
        (load_run, FRAME.assign(qid="1"), r"one column of topics \(qid or query_id or "
         r"query-id or q_id\), got the columns query_id, qid"),
        (load_run, pd.concat([FRAME, FRAME[["doc_id"]]], axis=1), "one column of "
         r"documents \(docno or doc_id or corpus-id\), got the columns doc_id, doc_id"),
        (load_run, {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0]},
         r"^run must have columns of one length, got \[1, 2\]"),
        (load_run, pl.LazyFrame({"qid": ["1"]}), "^run must be a path, a dict"),
        (load_run, pd.DataFrame(), "^run must be a path, a dict of dicts"),
        (load_run, ["a path", "another"], "^run must be a path, a dict of dicts"),
        (load_qrels, LABELS.assign(relevance=[1, NAN]), "^qrels: relevance .* got nan"),
        (load_qrels, FRAME.assign(target=[1, INF]), "^qrels: target .* got inf"),
        (load_qrels, FRAME, r"labels \(target or relevance or label\)"),
        (load_qrels, {}, "^qrels must hold at least one topic, got an empty dict"),
        (load_qrels, {"1": {"a": NAN}}, "label must be a finite number, got nan"),
        (load_qrels, {"1": ["a"]}, "^qrels must map .* documents and their lab"),
        (load_qrels, {"1": {"a": 1, b"a": 1}}, "a is judged twice for topic 1"),
        (load_qrels, [JUDGED, JUDGED], "^qrels must be a path, a dict of dicts"),
        (joined, [], "^run must hold at least one run, got an empty list"),
        (joined, {}, "^run must hold at least one topic, got an empty dict"),
        (joined, 3, "^run must be a path, a dict of dicts, a data .* records.*got 3"),
        (joined, b"run.txt", "^run must be a path.*got b'run.txt'"),
        (joined, {"bm25": DICT, "2": {"c": 1}}, r"^run\['2'\] must map .* got 1 "
         "for topic 'c'"),
        (joined, {"1": {"a": 1}, "2": 3}, "^run must map each .* got 3 for topic '2'"),
        (joined, {"a": {}, "b": DICT}, r"^run\['a'\] must hold at least one topic"),
        (joined, {"a": DICT, "b": 3}, r"^run\['b'\] must be a path, a dict of dicts"),
        (joined, [DICT, {"1": {7: 1}}], r"^run\[1\]: document must be a string"),
        (joined, [DICT, [DICT]], r"^run\[1\] must be a path, a dict of dicts"),
        (joined, [DICT, {"9": {"a": 1}}], r"^qrels and run\[1\] .* 2 and 1 topics"),
        (joined, {"b": DICT, "x": {"9": {"a": 1}}}, r"^qrels and run\['x'\] must have"),
        (joined, {"9": {"a": 1}}, "^qrels and run must have a topic in common"),
    ],
)  # fmt: skip
def test_what_is_refused_in_memory(read, given, message):
    with pytest.raises(ValueError, match=message):
        read(given)


# several runs, of any kinds, and their names
def test_runs_of_any_kinds_in_a_list_or_by_their_names(tmp_path):
    path = tmp_path / "other.txt.gz"
    path.write_text("1 Q0 b 1 3 dense\n")
    frame = pd.DataFrame({"qid": ["1"], "docno": ["b"], "score": [3.0]})
    others = [OTHER, str(path), path, frame, [Scored("1", "b", 3.0)]]
    trec = load_trec(JUDGED, [DICT, *others])
    for other in trec.score.T[2:]:
        assert_array_equal(other, trec.score[:, 1])
    names = ["run[0]", "run[1]", str(path), f"{path} (2)", "run[4]", "run[5]"]
    assert trec.run_names == names
    named = load_trec(JUDGED, dict(zip("abcdef", [DICT, *others], strict=True)))
    same(named, {**trec, "run_names": [*"abcdef"]})
    for runs in (
        {7: DICT},
        # names that are those of columns
        {"qid": DICT, "docno": OTHER},
        {"qid": path, "docno": path},
        # the first topic of a run may have no documents
        {"empty first": {"1": {}, "2": {"c": 1}}},
    ):
        found = load_trec(JUDGED, runs)
        assert found.run_names == [*map(str, runs)]
        assert found.score.shape[1] == len(runs)
    # and topics that are; depth tells a run from runs
    odd = {"qid": {"a": 1}, "docno": {"b": 2}}
    assert load_trec(odd, odd).qid.tolist() == ["qid", "docno"]
    for run in (DICT, {"1": {}, "2": {"c": 1}}):
        found = load_trec(JUDGED, run)
        assert (set(found.qid), found.score.ndim) == ({"1", "2"}, 1)


def test_topics_without_a_judgment_are_kept_and_warned_of():
    qrels = {"1": {}, "2": {"c": 1}, "3": {}, "4": {}}
    run = {"1": {"a": 1}, "2": {"c": 1}, "3": {"a": 2}}
    message = "^qrels has 2 topics without a judgment, such as '1': measures count"
    with pytest.warns(UserWarning, match=message) as warned:
        trec = load_trec(qrels, run)
    assert len(warned) == 1
    assert_array_equal(trec.target, [NAN, 1, NAN])
    with pytest.warns(UserWarning, match="^qrels has 3 topics without a judgment"):
        load_trec(qrels, run, topics="qrels")


def test_runs_go_by_their_tags_or_files(files, tmp_path):
    first = tmp_path / "first"
    first.write_text("1 Q0 a 1 5 sys\n")
    for lines, name in (
        (b"1 x b 1 7 n\xc3\xa9\n1 y a 2 1 n\xc3\xa9\n", "né"),
        (b"1 Q0 b 1 7 n\xe9\n", "n\udce9"),
        (b"1 Q0 b 1 7 a\n1 Q0 c 1 6 b\n1 Q0 d 1 6 a\n", "run"),
    ):
        runs = [first, files(run=lines)[1]]
        assert load_trec(JUDGED, runs).run_names == ["sys", name]


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
def test_names(paths, tags, names):
    assert _trec_inputs.run_names(paths, tags) == names


#: alike in 32 bits, and beyond them
scores = st.sampled_from([0.0, 1.0, 0.1, 0.10000000001, 1e39, 2e39, -1e39])
a_line = st.tuples(st.sampled_from("12"), st.sampled_from("abcde"), scores)
lines = st.lists(a_line, unique_by=lambda line: line[:2], max_size=8)


@given(
    st.lists(lines, min_size=1, max_size=3),
    st.sampled_from([None, "trec_eval"]),
    st.booleans(),
)
def test_what_a_run_says_of_each_document(drawn, order, alone):
    judged = {"1": {"a": 1, "b": 0, "e": 2}, "2": {"c": 1, "d": 1}}
    # each run has some topic
    drawn = [[*lines, ("2", "z", 1.0)] for lines in drawn][: 1 if alone else 3]
    frames = []
    for own in drawn:
        columns = zip(("qid", "docno", "score"), zip(*own, strict=True), strict=True)
        frames.append(dict(columns) | {"rank": [7 * i for i in range(len(own))]})
    trec = load_trec(judged, frames[0] if alone else frames, order=order)
    pairs = list(zip(trec.qid.tolist(), trec.docno.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    names = ("score", "rank", "input_order")
    cells = np.array([trec[name].reshape(len(pairs), -1) for name in names])
    if order == "trec_eval":
        drawn = [[(t, d, as_trec_eval(score)) for t, d, score in own] for own in drawn]
    for j, own in enumerate(drawn):
        wanted, seen = {}, {"1": [], "2": []}
        for place, (topic, document, score) in enumerate(own):
            seen[topic].append(score)
            wanted[topic, document] = score, 7 * place, len(seen[topic])
        assert set(wanted) <= set(pairs)
        for i, pair in enumerate(pairs):
            assert_array_equal(cells[:, i, j], wanted.get(pair, (-INF, NAN, NAN)))
    for topic in set(trec.qid):
        documents = trec.docno[trec.qid == topic].tolist()
        own = [line for line in drawn[0] if line[0] == topic]
        if alone:
            if order == "trec_eval":
                own = sorted(own, key=lambda line: (line[2], line[1]), reverse=True)
            ranked = [document for _, document, _ in own]
            assert documents == list(dict.fromkeys([*ranked, *judged[topic]]))
        else:
            assert documents == sorted(documents, reverse=True)


# the official program
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.weekly)])
def test_robust03_as_published(shared_data, step):
    folder = shared_data / "robust03"
    lines = (folder / "official.tsv").read_text().splitlines()[1:]
    assert len(lines) == len(list(folder.glob("input.*.gz")))
    for line in lines[::step]:
        run, *published = line.split("\t")
        paths = folder / "qrels.robust03.txt.gz", folder / f"input.{run}.gz"
        trec = load_trec(*paths, order="trec_eval")
        options = {"qid": trec.qid, "ties": "input", "unjudged": "nonrelevant"}
        for name, value in zip(("ap", "rprec"), published, strict=True):
            score = ranking_score(trec.target, trec.score, measure=name, **options)
            assert f"{score:.4f}" == value


def name_of(measure, rel):
    """Our name of trec_eval's measure."""
    try:
        (ours,) = parse_measures([measure.removeprefix("gm_")])
    except ValueError:
        return None
    name, at, k = re.sub(r"\(.*\)", "", str(ours)).partition("@")
    if name == "RBP" or (name == "NDCG" and rel > 1):
        return None  # version 10 grades it
    options = "gain=linear" if name == "NDCG" else f"rel={rel}"
    if "denominator" in str(ours):
        options += ",denominator=cutoff"
    return f"{name}({options}){at}{k}"


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
    qrels = folder / ("qrels.rel_level" if rel > 1 else "qrels.test")
    topics = "qrels" if output.endswith("c") else "both"
    trec = load_trec(qrels, run, topics=topics, order="trec_eval", as_frame=True)
    # the outputs are of version 10
    options = {"ties": "input", "convention": "trec_eval10"}
    checked = set()
    for line in (folder / output).read_text().splitlines():
        measure, topic, value = line.split()
        name, is_geometric = name_of(measure, rel), measure.startswith("gm_")
        if name is None or (is_geometric and topic != "all"):
            continue  # those of topics are printed as logarithms
        rows = trec.frame if topic == "all" else trec.frame[trec.qid == topic]
        options["average"] = "geometric" if is_geometric else "macro"
        y, score, qid = rows.target, rows.score, rows.qid
        found = ranking_score(y, score, qid=qid, measure=name, **options)
        assert f"{found:.4f}" == value, (measure, topic)
        checked.add(measure)
    assert len(checked) >= (46 if rel == 1 else 40), sorted(checked)
