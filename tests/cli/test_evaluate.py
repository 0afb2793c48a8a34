"""The command evaluate."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math

import pytest

from tieaware_sklearn.cli import main

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 z 1\n2 0 a 1\n3 0 q 1\n"
RUN = "1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n1 Q0 c 3 1.0 x\n1 Q0 d 4 3 x\n2 Q0 b 1 1 x\n"


@pytest.fixture
def trec(tmp_path):
    paths = tmp_path / "qrels.txt", tmp_path / "run.txt", tmp_path / "other.gz"
    paths[0].write_text(QRELS)
    paths[1].write_text(RUN)
    paths[2].write_bytes(gzip.compress(b"1 Q0 c 1 1 y\n1 Q0 b 2 1 y\n2 Q0 a 1 1 y\n"))
    return [str(path) for path in paths]


def test_evaluate_prints_what_ties_leave_open(trec, capsys):
    assert main(["evaluate", *trec[:2], "--measures", "ap", "rr", "ndcg@2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        *("measure", "mean", "worst", "best", "tie", "std", "trec_eval", "topics")
    ]
    # d, a, then b and c tied: AP (1/2 + (2/4 + 2/3) / 2) / 3, and 0 for topic 2
    mean = (1 / 2 + (2 / 4 + 2 / 3) / 2) / 3 / 2
    best, worst = (1 / 2 + 2 / 3) / 3 / 2, (1 / 2 + 2 / 4) / 3 / 2
    figures = [f"{value:.4f}" for value in (mean, worst, best)]
    assert lines[2].split()[:4] == ["AP", *figures]
    # c before b
    assert lines[2].split()[5] == f"{best:.4f}"
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
    assert main([*words, option]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    # a, then b and c tied, without d
    mean = (1 + (2 / 2 + 2 / 3) / 2) / 3
    assert rows[0]["mean"] == pytest.approx(mean)
    # c before b
    assert rows[0]["trec_eval"] == pytest.approx((1 + 2 / 2) / 3)
    assert main(["compare", *trec, "--measures", "ap", "--json", option]) == 0
    systems = json.loads(capsys.readouterr().out)["systems"]
    assert systems[0]["mean"] == pytest.approx(mean / 2)


def test_a_label_that_a_measure_refuses_is_named(trec, capsys):
    with open(trec[0], "a") as file:
        file.write("2 0 b 100\n2 0 c -1\n")
    assert main(["evaluate", *trec[:2], "--measures", "ap", "ndcg@2"]) == 1
    message = capsys.readouterr().err
    assert "qrels.txt: topic 2, document b: NDCG@2: the label must be <= 60" in message
    assert 'gain="linear"' in message
    assert main(["evaluate", *trec[:2], "--measures", "ndcg(gain=linear)@2"]) == 0


def test_the_column_of_trec_eval_is_of_what_it_has(trec, capsys):
    measures = ["rbp", "11pt_avg", "iap(rounding=nearest)", "iap", "P_1", "set_F"]
    assert main(["evaluate", *trec[:2], "--measures", *measures]) == 0
    lines = capsys.readouterr().out.splitlines()
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
    assert main(["evaluate", *trec[:2], "--measures", "gm_map"]) == 1
    assert 'ask for "ap" with average="geometric"' in capsys.readouterr().err


def test_evaluate_shows_topics_and_several_runs(trec, capsys):
    arguments = ["evaluate", *trec, "-q", "-c", "--measures", "ap"]
    assert main(arguments) == 0
    out = capsys.readouterr().out.splitlines()
    rows = [line.split()[:3] for line in out[2:10]]
    topics = ["1", "2", "3", "all"]
    assert rows == [[run, "AP", t] for run in ("x", "y") for t in topics]


def test_evaluate_writes_figures_for_programs(trec, tmp_path, capsys):
    written = tmp_path / "out.csv"
    arguments = ["evaluate", *trec[:2], "--measures", "rr", f"--csv={written}"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["measures"] == ["RR"]
    last = document["results"][-1]
    assert last["topic"] == "all"
    assert last["mean"] == last["trec_eval"] == 1 / 4
    assert [row["topic"] for row in document["results"]] == ["1", "2", "all"]
    rows = list(csv.DictReader(io.StringIO(written.read_text())))
    assert float(rows[-1]["mean"]) == 1 / 4
    assert rows[-1]["n_topics"] == "2"


def test_evaluate_averages_otherwise(trec, capsys):
    arguments = ["evaluate", *trec[:2], "--measures", "rr", "--average"]
    assert main([*arguments, "geometric"]) == 0
    value = capsys.readouterr().out.splitlines()[2].split()[1]
    assert value == f"{math.sqrt(0.5 * 1e-5):.4f}"
    assert main([*arguments, "median"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[1] == "median"
    assert lines[2].split()[1] == "0.2500"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--measures", "xyzzy"], "unknown measure 'xyzzy'"),
        (["missing.txt"], "missing.txt: No such file"),
        (["--csv", "--json"], "only one of --csv and --json can go to standard output"),
        (["-", "-"], "each file must be named once, got - and -"),
        (["run.txt", "run.txt"], "each file must be named once, got run.txt and run"),
    ],
)
def test_evaluate_names_what_is_wrong(trec, extra, message, capsys):
    assert main(["evaluate", *trec[:2], *extra]) == 1
    assert message in capsys.readouterr().err


def test_evaluate_names_file_and_line(trec, tmp_path, capsys):
    bad = tmp_path / "bad"
    bad.write_text(RUN + "1 Q0 e\n")
    assert main(["evaluate", trec[0], str(bad)]) == 1
    assert "bad, line 6: must have 6 columns" in capsys.readouterr().err
