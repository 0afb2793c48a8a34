"""Judgments by subtopic, beside a run."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest

from tieaware_sklearn import evaluate_subtopics
from tieaware_sklearn.datasets import load_subtopics

QRELS = """2 10 b 1
1 1 a 1
1 2 a 2
1 2 c 1
1 1 d -2
2 9 b 0
2 9 e 1

3 1 a 1
"""
RUN = """1 Q0 c 1 2.5 x
1 Q0 a 2 2.5 x
1 Q0 z 3 1 x
2 Q0 e 1 7 x
9 Q0 e 1 7 x
"""


@pytest.fixture
def files(tmp_path):
    def write(qrels=QRELS, run=RUN):
        paths = tmp_path / "qrels", tmp_path / "run"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_text(text)
        return paths

    return write


def test_labels_stand_beside_the_run(files):
    web = load_subtopics(*files())
    rows = list(
        zip(web.qid.tolist(), web.docno.tolist(), web.score.tolist(), strict=True)
    )
    assert rows == [
        ("2", "e", 7.0),
        ("2", "b", -math.inf),
        ("1", "c", 2.5),
        ("1", "a", 2.5),
        ("1", "z", 1.0),
        ("1", "d", -math.inf),
    ]
    # numbers by size
    assert web.subtopics == {"2": ["9", "10"], "1": ["1", "2"]}
    nan = math.nan
    np.testing.assert_array_equal(
        web.target, [[1, nan], [0, 1], [nan, 1], [1, 2], [nan, nan], [nan, nan]]
    )
    assert "2 topics, 6 documents, up to 2 subtopics" in web.DESCR
    report = evaluate_subtopics(web.target, web.score, qid=web.qid, measures="strec@1")
    assert report.qid.tolist() == ["2", "1"]
    assert report.expected[:, 0].tolist() == [0.5, 0.75]


def test_all_judged_topics_on_request(files):
    web = load_subtopics(*files(), topics="qrels")
    assert list(web.subtopics) == ["2", "1", "3"]
    assert web.score[web.qid == "3"].tolist() == [-math.inf]
    with pytest.raises(ValueError, match="topics must be one of"):
        load_subtopics(*files(), topics="all")


def test_compressed_files_and_any_bytes(tmp_path):
    qrels, run = tmp_path / "qrels.gz", tmp_path / "run"
    qrels.write_bytes(gzip.compress(b"1 x \xe4 1\n1 y b\xc3\xa4 1\n"))
    run.write_bytes(b"1 Q0 \xe4 1 2 t\n1 Q0 b\xc3\xa4 2 1 t\n")
    web = load_subtopics(qrels, run)
    assert web.docno.tolist() == ["\udce4", "bä"]
    assert (web.score > 0).all()


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (
            "1 1 a\n",
            r"qrels, line 1: must have 4 columns \(topic subtopic docno label\)",
        ),
        ("1 1 a 1\n1 1 a 2\n", "line 2: 1 a is judged twice for topic 1 .line 1 has"),
        ("1 1 a x\n", "line 1: label must be a finite number, got 'x'"),
        ("1 1 a nan\n", "line 1: label must be a finite number, got 'nan'"),
        ("1 1 a 1_0\n", "line 1: label must be a finite number, got '1_0'"),
        ("\n", "must have a topic in common, got 0 and 3 topics"),
        ("7 1 a 1\n", "must have a topic in common, got 1 and 3 topics"),
    ],
)
def test_malformed_judgments_are_named(files, qrels, message):
    with pytest.raises(ValueError, match=message):
        load_subtopics(*files(qrels=qrels))
