"""The forms of files of judgments and runs."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from tieaware_sklearn.datasets import load_qrels, load_run, load_trec

BEIR = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file"


@pytest.mark.parametrize("head", [BEIR, BEIR.upper(), "\ufeff" + BEIR, "\n" + BEIR])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_judgments_of_beir(path, head, end):
    text = head + "1\tMED 10\t2\n\nPLAIN-2\tMED-7\t0\n1\tMED-7\t-1\n"
    path.write_bytes(text.replace("\n", end).encode())
    found = load_qrels(path)
    assert found.qid.tolist() == ["1", "1", "PLAIN-2"]
    # cut at tabs only
    assert found.docno.tolist() == ["MED 10", "MED-7", "MED-7"]
    np.testing.assert_array_equal(found.target, [2, np.nan, 0])
    packed = path.with_name("file.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_qrels(packed).docno.tolist() == found.docno.tolist()


def test_a_topic_that_is_called_like_a_column(path):
    path.write_text("query-id\tcorpus-id\tscore\t1\n")
    assert load_qrels(path).qid.tolist() == ["query-id"]


def test_judgments_of_beir_go_with_runs(path):
    path.write_text(BEIR + "1\ta\t1\n1\tb\t0\n")
    run = path.with_name("run")
    run.write_text("1 Q0 b 1 2.0 x\n1 Q0 a 2 1.0 x\n")
    assert load_trec(path, run).target.tolist() == [0, 1]


@pytest.mark.parametrize("q0", ["Q0", "q0", "0"])
def test_runs_without_a_tag(path, q0):
    path.write_text(f"\n1 {q0} a 0 2.5\n2 Q0 b 0 1\n1\tQ0\tc\t1\t1e-3\n")
    found = load_run(path)
    assert found.qid.tolist() == ["1", "1", "2"]
    assert found.docno.tolist() == ["a", "c", "b"]
    assert found.score.tolist() == [2.5, 0.001, 1]
    assert found["rank"].tolist() == [0, 1, 0]
    assert load_trec({"1": {"a": 1}}, [path]).run_names == ["file"]


def test_a_tag_that_all_lines_have_names_the_run(path):
    path.write_text("1 x a 1 2 né\n1 y b 2 1 né\n")
    assert load_trec({"1": {"a": 1}}, [path]).run_names == ["né"]
    path.write_bytes(b"1 x a 1 2 n\xe9\n")
    assert load_trec({"1": {"a": 1}}, [path]).run_names == ["n\udce9"]
    path.write_text("1 x a 1 2 one\n1 y b 2 1 two\n1 y c 2 1 one\n")
    assert load_trec({"1": {"a": 1}}, [path]).run_names == ["file"]


RUN = "must have 6 columns (topic Q0 docno rank score tag)"
QRELS = "must have 4 columns (topic iteration docno label)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 a 1\n", f"line 1: {RUN}, got 4 (or 5 on all lines"),
        ("1 Q0 a 1 2 x y\n", f"line 1: {RUN}, got 7"),
        # a run of one form all through
        ("1 Q0 a 1 2 x\n1 Q0 b 2 1\n", f"line 2: {RUN}, got 5"),
        (
            "\n1 Q0 a 1 2\n1 Q0 b 2 1 x\n",
            "line 3: must have 5 columns (topic Q0 docno rank score), got 6 (as the "
            "first line says)",
        ),
        # another five columns: the rank is no document
        (
            "1 a 1 2.5 7\n",
            "line 1: the second of 5 columns must be Q0, or 0, got 'a'",
        ),
        ("1 Q0 a 1 2\n1 Q1 b 2 1\n", "line 2: the second of 5 columns must be Q0"),
        (
            "1 Q0 a 1 2\n1 Q0 b 2 1_0\n",
            "line 2: score must be a finite number, got '1_0'",
        ),
        ("1 Q0 a_1 1_0 2\n", "line 1: rank must be a finite number, got '1_0'"),
        (
            "1 Q0 a 1 2\n1 Q0 a 2 1\n",
            "line 2: a is retrieved twice for topic 1 (line 1",
        ),
    ],
)
def test_malformed_runs(path, text, message):
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{path}, {message}")):
        load_run(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1\ta\t1\n",
            f"line 1: {QRELS}, got 3 (or 3 below the line query-id corpus-id score, "
            "cut at tabs)",
        ),
        ("query-id corpus-id score\n", f"line 1: {QRELS}, got 3 (or 3 below the line"),
        ("1 0 a 1\n1\tb\t1\n", f"line 2: {QRELS}, got 3"),
        (
            BEIR + "1 0 a 1\n",
            "line 2: must have 3 columns (query-id corpus-id score), got 1 (as the "
            "first line says)",
        ),
        (BEIR + "1\t0\ta\t1\n", "line 2: must have 3 columns"),
        (BEIR + "\n1\ta\tx\n", "line 3: score must be a finite number, got 'x'"),
        (BEIR + "1\ta\t\n", "line 2: score must not be empty"),
        (BEIR + "1\t\t1\n", "line 2: corpus-id must not be empty"),
        (BEIR + "2\ta\t1\n\ta\t1\n", "line 3: query-id must not be empty"),
        (BEIR + "1\ta\t1\n1\ta\t0\n", "line 3: a is judged twice for topic 1 (line 2"),
    ],
)
def test_malformed_judgments(path, text, message):
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{path}, {message}")):
        load_qrels(path)


def test_a_head_alone_has_no_lines(path):
    path.write_text(BEIR)
    with pytest.raises(ValueError, match="file must hold at least one line, got none"):
        load_qrels(path)
