"""Plots of the commands."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from tests.plots.helpers import QID, WEB, Y
from tieaware_sklearn import evaluate
from tieaware_sklearn.cli import _evaluate, main
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


@pytest.mark.parametrize("average", ["macro", "median", "geometric"])
def test_plots_have_the_averages_and_intervals_of_the_summary(
    files, monkeypatch, tmp_path, average
):
    drawn, draw = [], _evaluate.of_topics
    monkeypatch.setattr(
        "tieaware_sklearn.cli._evaluate.of_topics",
        lambda *given: drawn.append(draw(*given)) or drawn[0],
    )
    _, qrels, run = files
    other = tmp_path / "other"
    other.write_text(Path(run).read_text().replace("x\n", "y\n"))
    words = [qrels, run, str(other), "--measures", "rr", "ap", "--average", average]
    assert main(["evaluate", *words, "--plot", str(tmp_path / "x.png")]) == 0
    trec = load_trec(qrels, run)
    report = evaluate(
        trec.target,
        trec.score,
        qid=trec.qid,
        measures=["rr", "ap"],
        unjudged="nonrelevant",
    )
    (display,), wanted = drawn, report.summary(average)
    assert (display.systems, display.measures) == (("x", "y"), ("RR", "AP"))
    for name in ("mean", "best", "worst", "interval"):
        for found in getattr(display, name):
            assert np.array_equal(found, getattr(wanted, name), equal_nan=True)
    assert display.chance is None
    said = {"macro": "mean", "geometric": "geometric mean"}.get(average, average)
    assert display.axes_[0].get_xlabel() == f"RR, {said} over topics"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("plot.doc", "--plot must name a file that ends in .png, .svg, .pdf"),
        ("-", "--plot must name a file"),
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
    assert main(["screen", files[0], "--plot", same, f"--csv={same}"]) == 1
    assert "only one of --csv and --plot can go to" in capsys.readouterr().err


def test_commands_without_matplotlib_say_what_to_install(files, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["screen", files[0], "--plot", "x.png"]) == 1
    assert 'pip install "tieaware-sklearn[plots]"' in capsys.readouterr().err
