"""Plots of the commands."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest

from tests.plots.helpers import QID, WEB, Y
from tieaware_sklearn import evaluate
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import dump_letor, load_trec

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    letor, qrels, run = folder / "web.txt", folder / "qrels", folder / "run"
    dump_letor(WEB.data, Y, letor, qid=QID)
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    run.write_text("1 Q0 a 1 5 x\n1 Q0 b 2 5 x\n2 Q0 a 1 1 x\n")
    return str(letor), str(qrels), str(run)


def header(path):
    return path.read_bytes()[:5]


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_commands_write_plots(form, files, tmp_path, capsys):
    letor, qrels, run = files
    path = tmp_path / f"plot.{form}"
    start = {"png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}[form]
    assert main(["screen", letor, "--top", "3", "--plot", str(path)]) == 0
    assert header(path) == start
    assert "features" in capsys.readouterr().out
    assert main(["evaluate", qrels, run, "--plot", str(path), "--json"]) == 0
    assert header(path) == start
    assert list(tmp_path.iterdir()) == [path]


def test_plots_of_several_runs_and_averages(files):
    _, qrels, run = files
    from tieaware_sklearn.cli._evaluate import measure_run, tie_ranges
    from tieaware_sklearn.measures._parse import parse_measures

    trec = load_trec(qrels, run)
    rows, _ = measure_run(
        trec, parse_measures(["rr", "ap"]), "median", "nonrelevant", None
    )
    rows = [{"run": name, **row} for name in ("x", "y") for row in rows]
    display = tie_ranges(rows, "median", greater_is_better=True)
    assert display.systems == ("x", "y")
    assert display.measures == ("RR", "AP")
    assert display.mean[0].tolist() == [0.875, 0.875]
    assert display.best[0].tolist() == [1, 1]
    assert display.worst[0].tolist() == [0.75, 0.75]
    assert display.axes_[0].get_xlabel() == "RR, median over topics"


def test_plots_have_the_intervals_of_the_report(files):
    _, qrels, run = files
    from tieaware_sklearn.cli._evaluate import measure_run, tie_ranges
    from tieaware_sklearn.measures._parse import parse_measures

    trec = load_trec(qrels, run)
    rows, _ = measure_run(
        trec, parse_measures(["rr", "ap"]), "macro", "nonrelevant", None
    )
    report = evaluate(
        trec.target,
        trec.score,
        qid=trec.qid,
        measures=["rr", "ap"],
        unjudged="nonrelevant",
    )
    display = tie_ranges(
        [{"run": "x", **row} for row in rows], "macro", greater_is_better=True
    )
    assert np.array_equal(display.interval[0], report.summary().interval)
    of_topics = [row["interval_low"] for row in rows if row["topic"] != "all"]
    assert np.isnan(of_topics).all()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("plot.doc", "--plot must name a file that ends in .png, .svg, .pdf"),
        ("-", "--plot must name a file that ends in"),
        ("missing/plot.png", "there is no folder"),
        ("", "--plot must name a file, got ''"),
    ],
)
def test_commands_refuse_before_they_work(path, message, files, tmp_path, capsys):
    name = str(tmp_path / path) if path not in ("", "-") else path
    assert main(["screen", files[0], "--plot", name]) == 1
    out, err = capsys.readouterr()
    assert message in err
    assert not out
    same = str(tmp_path / "a.png")
    assert main(["screen", files[0], "--plot", same, "--csv", same]) == 1
    assert "only one of --csv and --plot can go to" in capsys.readouterr().err


def test_commands_without_matplotlib_say_what_to_install(files, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["screen", files[0], "--plot", "x.png"]) == 1
    assert 'pip install "tieaware-sklearn[plots]"' in capsys.readouterr().err
