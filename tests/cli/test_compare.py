"""The command compare."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from tests.cli.helpers import run
from tieaware_sklearn import ranking_score
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.datasets import load_trec

QRELS = "".join(f"{t} 0 d{d} {(t + d) % 3 % 2}\n" for t in range(9) for d in range(6))


def lines(tag, score, topics=9):
    return "".join(
        f"{t} Q0 d{d} 1 {score(t, d)} {tag}\n" for t in range(topics) for d in range(6)
    )


@pytest.fixture
def trec(tmp_path):
    texts = {
        "qrels": QRELS,
        "one": lines("alpha", lambda t, d: (t + d) % 3),
        "two": lines("beta", lambda t, d: d // 3),
        "three": lines("gamma", lambda t, d: t * d % 5, topics=7),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in texts]


def test_pairs_are_those_of_compare_systems(capsys, trec, tmp_path):
    written = tmp_path / "pairs.csv"
    measures = ["--measures", "ap", "p@3"]
    code, out, err = run(
        capsys, "compare", *trec, *measures, "--json", f"--csv={written}"
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    data = load_trec(trec[0], trec[1:], order="trec_eval")
    assert data.run_names == ["alpha", "beta", "gamma"]
    wanted = compare_systems(
        data.target,
        dict(zip(data.run_names, data.score.T, strict=True)),
        qid=data.qid,
        measure="ap",
        unjudged="nonrelevant",
    )
    assert found["measures"] == ["AP", "P@3"]
    assert found["runs"] == dict(zip(data.run_names, trec[1:], strict=True))
    assert found["n_topics"] == 9
    pairs = [pair for pair in found["pairs"] if pair["measure"] == "AP"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [
        *(("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma"))
    ]
    assert [pair["difference"] for pair in pairs] == wanted.difference.tolist()
    assert [pair["adjusted_pvalue"] for pair in pairs] == (
        wanted.adjusted_pvalues.tolist()
    )
    assert [pair["tie_range_low"] for pair in pairs] == wanted.tie_range[:, 0].tolist()
    assert [row["mean"] for row in found["systems"][:3]] == (
        wanted.summary().mean.tolist()
    )
    rows = list(csv.DictReader(io.StringIO(written.read_text())))
    assert len(rows) == 6
    assert float(rows[0]["tie_std"]) == pairs[0]["tie_std"]


def test_it_prints_tables_and_what_their_heads_mean(capsys, trec):
    code, out, _ = run(capsys, "compare", *trec, "--measures", "ap")
    assert code == 0
    assert out.startswith(f"3 runs on 9 topics of {trec[0]}\n\nAP ")
    assert "gamma: 2 of 9 topics are not in the run, and count as empty lists\n" in out
    for term in ("A - B", "±95%", "tie range", "holds", "p (holm)"):
        assert f"\n{term}  " in out
    assert max(map(len, out.splitlines()[1:])) <= 80
    _, out, _ = run(capsys, "compare", *trec, "--correction", "none")
    assert "p (holm)" not in out
    _, out, _ = run(capsys, "compare", *trec[:3], "--test", "wilcoxon")
    assert "p (wilcoxon)  p-value of Wilcoxon's" in out


def test_treatments_side_by_side_with_a_baseline(capsys, trec, tmp_path):
    ties = ["official", "expected", "worst", "rank", "file"]
    words = ["--measures", "ap", "p@3", "--ties", *ties, "--baseline", "beta"]
    picture = tmp_path / "ties.png"
    code, out, err = run(capsys, "compare", *trec, *words, "--json", "--plot", picture)
    assert (code, err) == (0, "")
    assert picture.stat().st_size > 5000
    found = json.loads(out)
    assert (found["ties"], found["baseline"]) == (ties, ["beta"])
    pairs = found["pairs"]
    assert {(pair["a"], pair["b"]) for pair in pairs} == {
        ("alpha", "beta"), ("gamma", "beta")
    }  # fmt: skip
    assert len(pairs) == 2 * 2 * len(ties)
    for j, path in enumerate(trec[1:]):
        official = load_trec(trec[0], path, order="trec_eval", topics="qrels")
        for ties_here, data in (
            ("official", official),
            ("file", load_trec(trec[0], path, topics="qrels")),
        ):
            wanted = ranking_score(
                data.target, data.score, qid=data.qid, measure="ap", ties="input",
                unjudged="nonrelevant",
            )  # fmt: skip
            (row,) = [
                row
                for row in found["systems"]
                if (row["measure"], row["ties"], row["run"])
                == ("AP", ties_here, ["alpha", "beta", "gamma"][j])
            ]
            assert row["mean"] == wanted
    code, out, _ = run(capsys, "compare", *trec, *words)
    assert "expected" in out
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_every_topic_if_wanted(capsys, trec, tmp_path):
    written = tmp_path / "topics.csv"
    code, out, _ = run(
        capsys, "compare", *trec[:3], "--measures", "ap", "-q", f"--csv={written}"
    )
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(written.read_text())))
    assert [row["topic"] for row in rows] == ["all", *map(str, range(9))]
    data = load_trec(trec[0], trec[1:3], order="trec_eval")
    wanted = compare_systems(
        data.target, data.score, qid=data.qid, measure="ap", unjudged="nonrelevant"
    )
    differences = wanted.expected[:, 0] - wanted.expected[:, 1]
    assert [float(row["difference"]) for row in rows[1:]] == differences.tolist()
    lowest = wanted.worst[:, 0] - wanted.best[:, 1]
    assert [float(row["tie_range_low"]) for row in rows[1:]] == lowest.tolist()
    assert re.search(rf"^8 +{differences[8]:.4f} ", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([0, 1], "RUN must name two files or more, got"),
        ([0, 1, 1], "each file must be named once"),
        (["-", "-", 1], "each file must be named once, got - and -"),
        ([0, 1, 2, "--measures", "xyzzy"], "unknown measure 'xyzzy'"),
        ([0, 1, "nowhere"], "nowhere: No such file"),
        ([0, 1, 2, "--baseline", "x"], "baseline must be one of ('alpha', 'beta')"),
    ],
)
def test_it_names_what_is_wrong(capsys, trec, words, message):
    files = [trec[word] if isinstance(word, int) else word for word in words]
    code, out, err = run(capsys, "compare", *files)
    assert (code, out) == (1, "")
    assert message in err


@pytest.mark.parametrize("command", ["compare", "evaluate"])
@pytest.mark.parametrize("link", ["symlink", "hard link", "other path"])
def test_a_run_is_not_taken_twice_through_a_link(
    capsys, trec, tmp_path, monkeypatch, command, link
):
    monkeypatch.chdir(tmp_path)
    again = "./again"
    if link == "symlink":
        (tmp_path / "again").symlink_to("one")
    elif link == "hard link":
        (tmp_path / "again").hardlink_to("one")
    else:
        again = "../" + tmp_path.name + "/one"
    code, out, err = run(capsys, command, *trec, again)
    assert (code, out) == (1, "")
    assert f"got {trec[1]} and {again}, which are the same file" in err
