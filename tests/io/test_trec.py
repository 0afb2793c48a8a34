"""TREC files, and the official program's numbers."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import load_qrels, load_run, load_trec
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


@pytest.fixture
def files(tmp_path):
    def write(qrels=QRELS, run=RUN):
        paths = tmp_path / "qrels", tmp_path / "run"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_text(text)
        return paths

    return write


def test_rows(files):
    trec = load_trec(*files())
    assert trec.qid.tolist() == ["301"] * 5 + ["302"] * 2
    assert trec.docno.tolist() == [
        *("FR-2", "FR-1", "FR-5", "FR-3", "FR-9"),
        *("AP-2", "AP-1"),
    ]
    nan, inf = np.nan, np.inf
    np.testing.assert_array_equal(trec.score, [0.5, 0.5, -1, 2, -inf, -3.5, -inf])
    np.testing.assert_array_equal(trec.target, [0, 1, nan, nan, 2, nan, 1])
    np.testing.assert_array_equal(trec["rank"], [1, 2, 3, 4, nan, 10, nan])
    np.testing.assert_array_equal(trec.input_order, [1, 2, 3, 4, nan, 1, nan])
    assert trec.n_inversions == 1
    assert trec.n_contradictions == 1
    assert "2 topics, 7 documents" in trec.DESCR


def test_several_runs_over_the_same_documents(files, tmp_path):
    qrels, first = files()
    second = tmp_path / "other" / "run"
    second.parent.mkdir()
    second.write_text("301 Q0 FR-9 1 7 s\n303 Q0 AP-8 1 1 s\n303 Q0 AP-7 2 2 s\n")
    both = load_trec(qrels, [first, second])
    assert both.score.shape == both["rank"].shape == (len(both.qid), 2)
    assert both.run_names == ["sys", "s"]
    assert both.n_inversions.tolist() == [1, 1]
    assert both.n_contradictions.tolist() == [1, 1]
    assert "2 runs" in both.DESCR
    assert "3 topics" in both.DESCR
    pairs = list(zip(both.qid.tolist(), both.docno.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    names = ["ap", "rprec", "ndcg@3"]
    for run, column in zip((first, second), both.score.T, strict=True):
        alone = load_trec(qrels, run, topics="qrels")
        expected = evaluate(
            alone.target,
            alone.score,
            qid=alone.qid,
            measures=names,
            unjudged="nonrelevant",
        )
        found = evaluate(
            both.target, column, qid=both.qid, measures=names, unjudged="nonrelevant"
        )
        np.testing.assert_array_equal(found.qid, expected.qid)
        np.testing.assert_array_equal(found.expected, expected.expected)
    every = load_trec(qrels, [first], topics="qrels")
    assert every.qid.tolist()[-1] == "303"
    first.write_text("999 Q0 X 1 1 s\n")
    message = f"{qrels} and {first} must have a topic in common, got 3 and 1 topics"
    for runs in ([first], [second, first]):
        with pytest.raises(ValueError, match=message):
            load_trec(qrels, runs)


def test_relevant_documents_never_retrieved_count(files):
    trec = load_trec(*files())
    found = ranking_score(
        trec.target,
        trec.score,
        qid=trec.qid,
        measure="ap",
        unjudged="nonrelevant",
        average=None,
    )
    # FR-3 first (unjudged), then FR-1 and FR-2 tied; FR-9 is not retrieved
    assert found[0] == pytest.approx((1 / 2 + 1 / 3) / 2 / 2)
    assert found[1] == 0
    with pytest.raises(ValueError, match="y_true must be judged"):
        evaluate(trec.target, trec.score, qid=trec.qid)


def test_topics_of_the_judgments(files):
    trec = load_trec(*files(), topics="qrels")
    assert trec.qid.tolist()[-1] == "303"
    assert trec.score[-1] == -np.inf


def test_the_order_of_trec_eval(files):
    run = "301 Q0 FR-1 1 0.1 s\n301 Q0 FR-2 2 0.10000000001 s\n301 Q0 FR-9 3 0.1 s\n"
    trec = load_trec(*files(run=run), order="trec_eval")
    assert trec.docno.tolist()[:3] == ["FR-9", "FR-2", "FR-1"]
    assert len(set(trec.score[:3])) == 1
    found = ranking_score(
        trec.target,
        trec.score,
        qid=trec.qid,
        measure="ap",
        ties="input",
        unjudged="nonrelevant",
    )
    assert found == (1 + 2 / 3) / 2


def test_scores_beyond_32_bits_are_alike_and_retrieved(files):
    run = "301 Q0 FR-1 1 -1e39 s\n301 Q0 FR-2 2 1e39 s\n301 Q0 FR-9 3 2e39 s\n"
    trec = load_trec(*files(run=run), order="trec_eval")
    assert trec.docno.tolist()[:3] == ["FR-9", "FR-2", "FR-1"]
    assert np.isfinite(trec.score[:3]).all()
    assert trec.score[0] == trec.score[1] > trec.score[2]
    assert trec.n_inversions == 1
    exact = load_trec(*files(run=run))
    assert exact.score.tolist()[:3] == [-1e39, 1e39, 2e39]
    assert exact.n_inversions == 2


def test_ids_are_told_apart_by_their_bytes(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_bytes(
        b"301 0 caf\xe9 1\n301 0 caf\xc3\xa9 0\n301 0 b 0\n301 0 a\xc2\xa0z 1\n"
    )
    run.write_bytes(
        b"301 Q0 caf\xe8 1 3 x\n301 Q0 a\xc2\xa0z 2 2 x\n301 Q0 caf\xc3\xa9 3 1 x\n"
        b"301 Q0 \x80 4 1 x\n"
    )
    for frame in (False, True):
        trec = load_trec(qrels, run, as_frame=frame)
        assert trec.docno.tolist() == [
            *("caf\udce8", "a\xa0z", "caf\xe9", "\udc80"),
            *("caf\udce9", "b"),
        ]
        np.testing.assert_array_equal(trec.target, [np.nan, 1, 0, np.nan, 1, 0])
    assert trec.frame["docno"].tolist() == trec.docno.tolist()
    # in the order of bytes, in which \x80 stands above c, not below it
    ordered = load_trec(qrels, run, order="trec_eval")
    assert ordered.docno.tolist()[2:4] == ["\udc80", "caf\xe9"]
    run.write_bytes(b"301 Q0 \xc3\xa9 1 1 x\n301 Q0 \x80 2 1 x\n")
    ordered = load_trec(qrels, run, order="trec_eval")
    assert ordered.docno.tolist()[:2] == ["\xe9", "\udc80"]


def test_topics_are_written_in_the_bytes_they_came_in(tmp_path):
    qrels, run, out = (tmp_path / name for name in ("qrels", "run", "out.csv"))
    qrels.write_bytes(b"30\xe9 0 a 1\n30\xc3\xa9 0 a 1\n")
    run.write_bytes(b"30\xe9 Q0 a 1 3 x\n30\xc3\xa9 Q0 a 1 3 x\n")
    assert main(["evaluate", *map(str, (qrels, run)), f"--csv={out}"]) == 0
    assert b",30\xe9," in out.read_bytes()
    assert b",30\xc3\xa9," in out.read_bytes()


@pytest.mark.parametrize("order", [None, "trec_eval"])
def test_several_runs_break_their_ties_as_each_alone_does(shared_data, order):
    folder = shared_data / "robust03"
    qrels = folder / "qrels.robust03.txt.gz"
    names = ["InexpC2", "rutcor03100", "MU03rob01"]
    runs = [folder / f"input.{name}.gz" for name in names]
    together = load_trec(qrels, runs, order=order)
    options = {"measure": "ap", "unjudged": "nonrelevant", "average": None}
    for run, column in zip(runs, together.score.T, strict=True):
        alone = load_trec(qrels, run, order="trec_eval", topics="qrels")
        for ties in ("input", "expected", "best", "worst"):
            if ties != "input" and order is None:
                continue
            found = ranking_score(
                together.target, column, qid=together.qid, ties=ties, **options
            )
            wanted = ranking_score(
                alone.target, alone.score, qid=alone.qid, ties=ties, **options
            )
            # scores that differ in 64 bits alone do not tie without the order
            slack = 0 if order else 1e-5
            np.testing.assert_allclose(found, wanted, rtol=0, atol=slack)
    for topic in np.unique(together.qid)[:5]:
        docno = together.docno[together.qid == topic].tolist()
        assert docno == sorted(docno, reverse=True)


def test_lines_of_topics_that_come_back_and_empty_lines(files):
    run = "\n302 Q0 AP-1 1 5 s\n 301\tQ0 FR-1 1 2 s\r\n\n302 Q0 AP-2 2 4 s \n\n"
    alone = load_run(files(run=run)[1])
    assert alone.qid.tolist() == ["302", "302", "301"]
    assert alone.docno.tolist() == ["AP-1", "AP-2", "FR-1"]
    np.testing.assert_array_equal(alone.score, [5, 4, 2])
    np.testing.assert_array_equal(alone["rank"], [1, 2, 1])


def test_runs_and_judgments_alone(files):
    qrels, run = files()
    alone = load_run(run)
    assert alone.docno.tolist() == ["FR-2", "FR-1", "FR-5", "FR-3", "AP-2", "XX-1"]
    assert alone.qid.tolist()[-1] == "304"
    assert depth_pool([alone, alone], 1).docno.tolist() == ["FR-3", "AP-2", "XX-1"]
    judged = load_qrels(qrels)
    assert len(judged.docno) == 6
    np.testing.assert_array_equal(judged.target, [1, 0, 2, np.nan, 1, 1])
    run.write_text("")
    with pytest.raises(ValueError, match="run must hold at least one line, got none"):
        load_run(run)


def test_data_frames(files):
    qrels, run = files()
    assert "frame" not in load_trec(qrels, run)
    for found in (
        load_trec(qrels, run, as_frame=True),
        load_run(run, as_frame=True),
        load_qrels(qrels, as_frame=True),
    ):
        columns = found.frame.columns.tolist()
        of_rows = ["qid", "docno", "target", "score", "rank", "input_order"]
        assert columns == [name for name in of_rows if name in found]
        for name in columns:
            np.testing.assert_array_equal(found.frame[name], found[name])
    several = load_trec(qrels, [run, run], as_frame=True)
    names = several.run_names
    assert several.frame.columns.tolist() == ["qid", "docno", "target", *names]
    np.testing.assert_array_equal(several.frame.iloc[:, 3:], several.score)
    with pytest.raises(ValueError, match=r"differ from the other columns .* 'docno'"):
        load_trec(qrels, {"a": run, "docno": run}, as_frame=True)


def test_compressed(files, tmp_path):
    plain = load_trec(*files())
    packed = tmp_path / "qrels.gz", tmp_path / "run.gz"
    for path, text in zip(packed, (QRELS, RUN), strict=True):
        path.write_bytes(gzip.compress(text.encode()))
    again = load_trec(*packed)
    for name in ("target", "score", "qid", "docno"):
        np.testing.assert_array_equal(again[name], plain[name])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"run": "301 Q0 FR-1 1\n"}, "run, line 1: must have 6 columns .*got 4"),
        ({"qrels": "301 0 FR-1\n"}, "qrels, line 1: must have 4 columns .*, got 3"),
        ({"run": RUN + "301 Q0 FR-1 9 0.1 s\n"}, r"line 8: FR-1 is .* \(line 2 has"),
        (
            {"qrels": QRELS + "302 0 AP-1 0\n"},
            r"line 7: AP-1 is .*\(line 5 has",
        ),
        (
            {"run": "301 Q0 FR-1 1 nan s\n"},
            "line 1: score must be a finite number, got 'nan'",
        ),
        (
            {"run": "301 Q0 FR-1 one 1 s\n"},
            "line 1: rank must be a finite number, got 'one'",
        ),
        (
            {"run": "301 Q0 FR-1 1 1_0 s\n"},
            "line 1: score must be a finite number, got '1_0'",
        ),
        (
            {"qrels": "301 0 FR-1 yes\n"},
            "line 1: label must be a finite number, got 'yes'",
        ),
        ({"run": "9 Q0 FR-1 1 1 s\n"}, "must have a topic in common"),
        ({"run": ""}, "must have a topic in common"),
    ],
)
def test_bad_files(files, change, message):
    with pytest.raises(ValueError, match=message):
        load_trec(*files(**change))


def test_bad_options(files):
    with pytest.raises(ValueError, match="topics must be one of"):
        load_trec(*files(), topics="run")
    with pytest.raises(ValueError, match="order must be one of"):
        load_trec(*files(), order="rank")


def test_robust03_as_published(shared_data):
    folder = shared_data / "robust03"
    lines = (folder / "official.tsv").read_text().splitlines()[1:]
    assert len(lines) == len(list(folder.glob("input.*.gz")))
    for line in lines:
        run, *published = line.split("\t")
        trec = load_trec(
            folder / "qrels.robust03.txt.gz",
            folder / f"input.{run}.gz",
            order="trec_eval",
        )
        data = {"qid": trec.qid, "unjudged": "nonrelevant"}
        for measure, value in zip(("ap", "rprec"), published, strict=True):
            scores = {
                ties: ranking_score(
                    trec.target, trec.score, measure=measure, ties=ties, **data
                )
                for ties in ("input", "worst", "expected", "best")
            }
            assert f"{scores['input']:.4f}" == value
            assert scores["worst"] <= scores["expected"] <= scores["best"]


BINARY = {
    "map": "ap(rel={rel})",
    "gm_map": "ap(rel={rel})",
    "Rprec": "rprec(rel={rel})",
    "bpref": "bpref(rel={rel})",
    "gm_bpref": "bpref(rel={rel})",
    "recip_rank": "rr(rel={rel})",
    "P": "p(rel={rel})@{k}",
    "recall": "r(rel={rel})@{k}",
    "map_cut": "ap(rel={rel})@{k}",
    "success": "success(rel={rel})@{k}",
    "set_P": "SetP(rel={rel})",
    "set_recall": "SetR(rel={rel})",
    "set_F": "SetF(rel={rel})",
    "set_map": "SetAP(rel={rel})",
    "11pt_avg": "iap(rel={rel})",
    "iprec_at_recall": "iprec(rel={rel})@{k}",
}
GRADED = {"ndcg": "ndcg(gain=linear)", "ndcg_cut": "ndcg(gain=linear)@{k}"}
# of qrels without labels of -1, which say that a document is in the pool
POOLED = {"infAP": "infAP(rel={rel})"}


def name_of(measure: str, rel: int) -> str | None:
    """Our name of trec_eval's measure."""
    match = re.fullmatch(r"(\w+?)(?:_(\d+|\d\.\d+))?", measure)
    known = BINARY if rel > 1 else {**BINARY, **GRADED, **POOLED}
    name = known.get(match[1]) if match else None
    if name is None or ("{k}" in name) != (match[2] is not None):
        return None
    return name.format(rel=rel, k=match[2])


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
        name = name_of(measure, rel)
        if name is None:
            continue
        one = np.ones(len(trec.qid), bool) if topic == "all" else trec.qid == topic
        found = ranking_score(
            trec.target[one],
            trec.score[one],
            qid=trec.qid[one],
            measure=name,
            ties="input",
            average="geometric" if measure.startswith("gm_") else "macro",
            # the outputs are of version 10
            convention="trec_eval10",
        )
        if measure.startswith("gm_") and topic != "all":
            continue  # printed as logarithms
        assert f"{found:.4f}" == value, (measure, topic)
        checked.add(measure)
    assert len(checked) >= (46 if rel == 1 else 40), sorted(checked)
