"""The commands evaluate and compare."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re

import numpy as np
import pytest

from tests.cli.helpers import run
from tieaware_sklearn import ranking_score
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.datasets import load_trec

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 z 1\n2 0 a 1\n3 0 q 1\n"
RUN = "1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n1 Q0 c 3 1.0 x\n1 Q0 d 4 3 x\n2 Q0 b 1 1 x\n"


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


@pytest.fixture
def trec(tmp_path):
    paths = tmp_path / "qrels.txt", tmp_path / "run.txt", tmp_path / "other.gz"
    paths[0].write_text(QRELS)
    paths[1].write_text(RUN)
    paths[2].write_bytes(gzip.compress(b"1 Q0 c 1 1 y\n1 Q0 b 2 1 y\n2 Q0 a 1 1 y\n"))
    return [str(path) for path in paths]


def test_evaluate_prints_what_ties_leave_open(trec, capsys):
    words = ["evaluate", *trec[:2], "--measures", "ap", "rr", "ndcg@2"]
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    heads = "measure mean worst best tie std trec_eval topics"
    assert lines[0].split() == heads.split()
    # d, a, then b and c tied: AP (1/2 + (2/4 + 2/3) / 2) / 3, and 0 for topic 2
    mean = (1 / 2 + (2 / 4 + 2 / 3) / 2) / 3 / 2
    best, worst = (1 / 2 + 2 / 3) / 3 / 2, (1 / 2 + 2 / 4) / 3 / 2
    figures = [f"{value:.4f}" for value in (mean, worst, best)]
    assert lines[2].split()[:4] == ["AP", *figures]
    # c before b
    assert lines[2].split()[5:] == [f"{best:.4f}", "2"]
    assert lines[4].split()[5] == "-"  # trec_eval's ndcg has linear gain
    notes = "\n".join(lines[5:])
    assert "1 line is below a line with a lower score" in notes
    assert "1 rank contradicts the scores" in notes
    assert "1 topic with judgments but not in the run: left out (-c" in notes
    assert "trec_eval's NDCG is ndcg(gain=linear)" in notes
    assert len({len(line) for line in lines[:5]}) == 1


@pytest.mark.parametrize("option", ["-J", "--judged-only"])
def test_judged_documents_alone(trec, capsys, option):
    words = ["evaluate", *trec[:2], "--measures", "ap", "--json"]
    rows = json.loads(run(capsys, *words, option)[1])["results"]
    # a, then b and c tied, without d
    mean = (1 + (2 / 2 + 2 / 3) / 2) / 3
    assert rows[0]["mean"] == pytest.approx(mean)
    # c before b
    assert rows[0]["trec_eval"] == pytest.approx((1 + 2 / 2) / 3)
    words = ["compare", *trec, "--measures", "ap", "--json", option]
    systems = json.loads(run(capsys, *words)[1])["systems"]
    assert systems[0]["mean"] == pytest.approx(mean / 2)


def test_the_column_of_trec_eval_is_of_what_it_has(trec, capsys):
    measures = ["rbp", "11pt_avg", "iap(rounding=nearest)", "iap", "P_1", "set_F"]
    lines = run(capsys, "evaluate", *trec[:2], "--measures", *measures)[1].splitlines()
    found = {line.split()[0]: line.split()[5] != "-" for line in lines[2:8]}
    assert found == {
        "RBP(p=0.8)": False,  # version 10 grades it by labels
        "IAP(rounding=trec_eval9)": True,
        "IAP(rounding=nearest)": True,
        "IAP": False,
        "P@1": True,
        "F": True,
    }
    assert "trec_eval's IAP is 11pt_avg (version 10: iap(rounding=nearest))" in lines


def test_topics_several_runs_and_averages(trec, tmp_path, capsys):
    words = ["evaluate", *trec, "-q", "-c", "--measures", "ap"]
    out = run(capsys, *words)[1]
    rows = [line.split()[:3] for line in out.splitlines()[2:10]]
    topics = ["1", "2", "3", "all"]
    assert rows == [[name, "AP", t] for name in ("x", "y") for t in topics]
    assert "x: 1 topic with judgments but not in the run: counted as empty lists" in out
    written = tmp_path / "out.csv"
    words = ["evaluate", *trec[:2], "--measures", "rr"]
    document = json.loads(run(capsys, *words, f"--csv={written}", "--json")[1])
    assert (document["measures"], document["average"]) == (["RR"], "macro")
    assert document["runs"] == {"x": trec[1]}
    assert [row["topic"] for row in document["results"]] == ["1", "2", "all"]
    last = document["results"][-1]
    assert last["mean"] == last["trec_eval"] == 1 / 4
    assert float(rows_of(written)[-1]["mean"]) == 1 / 4
    assert rows_of(written)[-1]["n_topics"] == "2"
    for average, value in (("geometric", math.sqrt(0.5 * 1e-5)), ("median", 1 / 4)):
        lines = run(capsys, *words, "--average", average)[1].splitlines()
        assert lines[0].split()[1] == average
        assert lines[2].split()[1] == f"{value:.4f}"
    # sums have no figure above 1; bytes of topics are written as they came
    code, out, _ = run(capsys, "evaluate", *trec[:2], "--measures", "dcg", "ap")
    assert (code, out.splitlines()[2].split()[0]) == (0, "DCG")
    for path, line in zip(
        trec, (b"30\xe9 0 a 1\n", b"30\xe9 Q0 a 1 3 x\n"), strict=False
    ):
        with open(path, "wb") as file:
            file.write(line + line.replace(b"\xe9", b"\xc3\xa9"))
    assert run(capsys, *words, f"--csv={written}")[0] == 0
    assert b",30\xe9," in written.read_bytes()
    assert b",30\xc3\xa9," in written.read_bytes()


LINES = "".join(f"{t} 0 d{d} {(t + d) % 3 % 2}\n" for t in range(9) for d in range(6))


def lines(tag, score, topics=9):
    return "".join(
        f"{t} Q0 d{d} 1 {score(t, d)} {tag}\n" for t in range(topics) for d in range(6)
    )


@pytest.fixture
def runs(tmp_path):
    texts = {
        "qrels": LINES,
        "one": lines("alpha", lambda t, d: (t + d) % 3),
        "two": lines("beta", lambda t, d: d // 3),
        "three": lines("gamma", lambda t, d: t * d % 5, topics=7),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in texts]


def test_pairs_are_those_of_compare_systems(capsys, runs, tmp_path):
    written = tmp_path / "pairs.csv"
    words = ["--measures", "ap", "p@3", "--json", f"--csv={written}"]
    code, out, err = run(capsys, "compare", *runs, *words)
    assert (code, err) == (0, "")
    found = json.loads(out)
    data = load_trec(runs[0], runs[1:], order="trec_eval")
    systems = dict(zip(data.run_names, data.score.T, strict=True))
    options = {"measure": "ap", "unjudged": "nonrelevant"}
    wanted = compare_systems(data.target, systems, qid=data.qid, **options)
    assert found["measures"] == ["AP", "P@3"]
    assert found["runs"] == dict(zip(data.run_names, runs[1:], strict=True))
    assert (found["n_topics"], found["baseline"], found["test"]) == (9, [], "t")
    pairs = [pair for pair in found["pairs"] if pair["measure"] == "AP"]
    names = [("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")]
    assert [(pair["a"], pair["b"]) for pair in pairs] == names
    for name, values in (
        ("difference", wanted.difference),
        ("adjusted_pvalue", wanted.adjusted_pvalues),
        ("tie_range_low", wanted.tie_range[:, 0]),
    ):
        assert [pair[name] for pair in pairs] == values.tolist()
    means = wanted.summary().mean.tolist()
    assert [row["mean"] for row in found["systems"][:3]] == means
    assert len(rows_of(written)) == 6
    assert float(rows_of(written)[0]["tie_std"]) == pairs[0]["tie_std"]


def test_compare_prints_tables_and_what_their_heads_mean(capsys, runs):
    code, out, _ = run(capsys, "compare", *runs, "--measures", "ap")
    assert code == 0
    assert out.startswith(f"3 runs on 9 topics of {runs[0]}\n\nAP ")
    assert "gamma: 2 of 9 topics are not in the run, and count as empty lists\n" in out
    for term in ("A - B", "±95%", "tie range", "holds", "p (holm)"):
        assert f"\n{term}  " in out
    assert max(map(len, out.splitlines()[1:])) <= 80
    _, out, _ = run(capsys, "compare", *runs, "--correction", "none")
    assert "p (holm)" not in out
    _, out, _ = run(capsys, "compare", *runs[:3], "--test", "wilcoxon")
    assert "p (wilcoxon)  p-value of Wilcoxon's" in out


def test_treatments_side_by_side_with_a_baseline(capsys, runs):
    ties = ["official", "expected", "worst", "rank", "file"]
    words = ["--measures", "ap", "p@3", "--ties", *ties, "--baseline", "beta"]
    code, out, err = run(capsys, "compare", *runs, *words, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["ties"], found["baseline"]) == (ties, ["beta"])
    pairs = {(pair["a"], pair["b"]) for pair in found["pairs"]}
    assert pairs == {("alpha", "beta"), ("gamma", "beta")}
    assert len(found["pairs"]) == 2 * 2 * len(ties)
    means = {
        (row["run"], row["ties"]): row["mean"]
        for row in found["systems"]
        if row["measure"] == "AP"
    }
    options = {"measure": "ap", "ties": "input", "unjudged": "nonrelevant"}
    for name, path in zip(("alpha", "beta", "gamma"), runs[1:], strict=True):
        for treatment, order in (("official", "trec_eval"), ("file", None)):
            data = load_trec(runs[0], path, order=order, topics="qrels")
            wanted = ranking_score(data.target, data.score, qid=data.qid, **options)
            assert means[name, treatment] == wanted
    code, out, _ = run(capsys, "compare", *runs, *words)
    assert "expected" in out
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_pairs_of_every_topic_if_wanted(capsys, runs, tmp_path):
    written = tmp_path / "topics.csv"
    words = [*runs[:3], "--measures", "ap", "-q", f"--csv={written}"]
    code, out, _ = run(capsys, "compare", *words)
    assert code == 0
    rows = rows_of(written)
    assert [row["topic"] for row in rows] == ["all", *map(str, range(9))]
    data = load_trec(runs[0], runs[1:3], order="trec_eval")
    options = {"measure": "ap", "unjudged": "nonrelevant"}
    found = compare_systems(data.target, data.score, qid=data.qid, **options)
    differences = found.expected[:, 0] - found.expected[:, 1]
    for name, values in (
        ("difference", differences),
        ("tie_std", np.hypot(*found.std.T)),
        ("tie_range_low", found.worst[:, 0] - found.best[:, 1]),
        ("tie_range_high", found.best[:, 0] - found.worst[:, 1]),
    ):
        assert [float(row[name]) for row in rows[1:]] == values.tolist()
    assert re.search(rf"^8 +{differences[8]:.4f} ", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate qrels one --measures xyzzy", "unknown measure 'xyzzy'"),
        ("evaluate qrels one --measures gm_map", 'ask for "ap" with average="geomet'),
        ("evaluate qrels missing", "missing: No such file"),
        ("evaluate - -", "each file must be named once, got - and -"),
        ("evaluate qrels one one", "each file must be named once, got one and one"),
        ("evaluate qrels bad", "bad, line 2: must have 6 columns"),
        ("evaluate graded one --measures ap ndcg@2", "graded: topic 2, document d3: "
         "NDCG@2: the label must be <= 60"),
        ("compare graded one two --measures ndcg@2", "graded: topic 2, document d3: "),
        ("compare qrels one", "RUN must name two files or more, got one"),
        ("compare qrels one one", "each file must be named once"),
        ("compare - - one", "each file must be named once, got - and -"),
        ("compare qrels one two --measures xyzzy", "unknown measure 'xyzzy'"),
        ("compare qrels one nowhere", "nowhere: No such file"),
        ("compare qrels one two --baseline x", "baseline must be one of ('alpha',"),
        # a run is not taken twice through a link
        ("evaluate qrels one symlink", "got one and symlink, which are the same file"),
        ("compare qrels one hard", "got one and hard, which are the same file"),
        ("compare qrels one ./one", "got one and ./one, which are the same file"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(capsys, runs, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_text("1 Q0 e 1 1 x\n1 Q0 e\n")
    (tmp_path / "graded").write_text("2 0 d1 -1\n2 0 d3 100\n")
    (tmp_path / "symlink").symlink_to("one")
    (tmp_path / "hard").hardlink_to("one")
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (1, "")
    assert message in err
    words = ["evaluate", "graded", "one", "--measures", "ndcg(gain=linear)@2"]
    assert run(capsys, *words)[0] == 0
