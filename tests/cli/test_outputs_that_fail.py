"""Disks that are full, plots that fail: all that can be written is written."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import pytest

from tests.cli.helpers import run
from tieaware_sklearn.cli import main

matplotlib.use("Agg")
TIEAWARE = [sys.executable, "-m", "tieaware_sklearn"]
COMMANDS = {
    "screen": ["screen", "train.txt"],
    "evaluate": ["evaluate", "qrels", "run1"],
    "compare": ["compare", "qrels", "run1", "run2"],
}
#: what each one draws with
DRAWN = {
    "screen": "_screen.FeatureScreeningDisplay.from_result",
    "evaluate": "_evaluate.of_topics",
    "compare": "_compare.of_topics",
}
OUTPUTS = {"csv": "o.csv", "json": "o.json", "plot": "o.png", "report": "o.html"}
NO_SPACE = "No space left on device"
each_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(autouse=True)
def inputs(tmp_path, monkeypatch):
    files = {
        "train.txt": "1 qid:1 1:2 2:1\n0 qid:1 1:1 2:2\n1 qid:3 1:2 2:2\n0 qid:3 1:1\n",
        "qrels": "".join(f"{q} 0 a {q % 2}\n{q} 0 b 1\n" for q in range(4)),
        "run1": "".join(f"{q} Q0 a 1 5 x\n{q} Q0 b 2 5 x\n" for q in range(4)),
        "run2": "".join(f"{q} Q0 a 1 5 y\n{q} Q0 b 2 {q} y\n" for q in range(4)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "full.png").symlink_to("/dev/full")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    plt.close("all")
    assert {name: (tmp_path / name).read_text() for name in files} == files
    assert not list(tmp_path.glob(".*"))


def words_of(command, full=()):
    """The command with every output, some of them to a full disk."""
    to = dict.fromkeys(full, "/dev/full")
    to |= {"plot": "full.png"} if "plot" in full else {}
    return COMMANDS[command] + [f"--{o}={to.get(o, p)}" for o, p in OUTPUTS.items()]


def assert_written(folder, names):
    there = {name for name in OUTPUTS.values() if (folder / name).exists()}
    assert there == set(names)
    for name in names:
        start = (folder / name).read_bytes()[:15]
        if name == "o.csv":
            assert list(csv.DictReader((folder / name).read_text().splitlines()))
        elif name == "o.json":
            assert json.loads((folder / name).read_text())
        else:
            assert start.startswith(b"\x89PNG" if "png" in name else b"<!DOCTYPE html>")


@each_command
@pytest.mark.parametrize("full", [[option] for option in OUTPUTS], ids="".join)
def test_a_full_disk_costs_no_other_output(capsys, inputs, command, full):
    table = run(capsys, *COMMANDS[command])[1]
    code, out, err = run(capsys, *words_of(command, full))
    assert (code, out) == (1, table)
    named = {"plot": "full.png"}
    errors = [line for line in err.splitlines() if "warning" not in line]
    assert errors == [
        f"tieaware: error: {named.get(option, '/dev/full')}: {NO_SPACE}"
        for option in full
    ]
    assert_written(inputs, [p for o, p in OUTPUTS.items() if o not in full])


@each_command
@pytest.mark.parametrize("where", ["drawn", "saved"])
@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RuntimeError("no\nfont"), "font"),
        (KeyError(), "KeyError"),
        (MemoryError(), "emory"),
        (OSError(2, "No such file", "font.ttf"), "No such file"),
        (BrokenPipeError(32, "Broken pipe"), "Broken pipe"),
    ],
)
def test_a_failed_plot_costs_no_other_output(
    capsys, monkeypatch, inputs, command, where, error, why
):
    def fails(*_, **__):
        raise error

    table = run(capsys, *COMMANDS[command])[1]
    if where == "drawn":
        monkeypatch.setattr(f"tieaware_sklearn.cli.{DRAWN[command]}", fails)
    else:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", fails)
    code, out, err = run(capsys, *words_of(command))
    assert (code, out) == (1, table)
    of_plot, of_page = [line for line in err.splitlines() if "warning" not in line]
    assert of_plot.startswith("tieaware: error: o.png: ")
    assert why in of_plot
    assert of_page.startswith("tieaware: error: o.html: written without its figure")
    assert why in of_page
    assert_written(inputs, ["o.csv", "o.json", "o.html"])
    assert "<p>there is no figure: " in (inputs / "o.html").read_text()


@each_command
@pytest.mark.parametrize("printed", ["table", "csv", "json"])
def test_standard_output_that_is_full_costs_no_file(inputs, command, printed):
    words = [w if w != f"--{printed}=o.{printed}" else f"--{printed}"
             for w in words_of(command)]  # fmt: skip
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*TIEAWARE, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[-1] == f"tieaware: error: standard output: {NO_SPACE}"
    )
    assert "Traceback" not in done.stderr
    assert_written(inputs, [p for o, p in OUTPUTS.items() if o != printed])


@pytest.mark.parametrize("full", [(), ("json",)])
def test_a_reader_that_has_seen_enough_costs_no_file(inputs, full):
    read, written = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*TIEAWARE, *words_of("evaluate", full)],
            stdout=written,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(written)
    said = "".join(f"tieaware: error: /dev/full: {NO_SPACE}\n" for _ in full)
    assert (done.returncode, done.stderr) == (1, said)
    assert_written(inputs, [p for o, p in OUTPUTS.items() if o not in full])


def test_what_stood_there_stays(capsys, monkeypatch, inputs):
    def fails(*_, **__):
        raise RuntimeError("no font")

    (inputs / "o.png").write_text("old")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fails)
    assert run(capsys, *words_of("evaluate"))[0] == 1
    assert (inputs / "o.png").read_text() == "old"


@pytest.mark.parametrize("name", ["full.png", "/dev/full"])
def test_the_demo_is_shown_though_its_data_are_lost(capsys, name):
    assert main(["demo", "--queries", "2"]) == 0
    shown = capsys.readouterr().out
    code, out, err = run(capsys, "demo", "--queries", "2", "--out", name)
    assert (code, out) == (1, shown)
    assert err.splitlines()[-1] == f"tieaware: error: {name}: {NO_SPACE}"
    assert "wrote" not in err
