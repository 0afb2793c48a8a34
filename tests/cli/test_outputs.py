"""Figures for other programs and for people: files that come whole, or not at all."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.helpers import INPUTS, run
from tieaware_sklearn import RankingFeatureSelector, evaluate
from tieaware_sklearn.cli import _evaluate, main
from tieaware_sklearn.datasets import load_trec

pytest.importorskip("matplotlib")

COMMANDS = {
    "screen": ["screen", "train.txt"],
    "evaluate": ["evaluate", "q1", "r1"],
    "compare": ["compare", "q1", "r1", "r2"],
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


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A folder with files to read, which must stay as they are."""
    for name, text in INPUTS.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "link").symlink_to("train.txt")
    (tmp_path / "hard").hardlink_to(tmp_path / "train.txt")
    (tmp_path / "full.png").symlink_to("/dev/full")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert {name: (tmp_path / name).read_text() for name in INPUTS} == INPUTS
    assert not list(tmp_path.glob(".*"))


def test_screen_writes_csv_and_json(capsys, letor, web, tmp_path):
    names = ["--measures", "ap(rel=2)", "f(rel=2,beta=2)@5,rr"]
    to_csv, to_json = tmp_path / "out.csv", tmp_path / "out.json"
    code, out, _ = run(
        capsys, "screen", letor, *names, f"--csv={to_csv}", f"--json={to_json}"
    )
    assert code == 0
    assert "feature" in out
    rows = list(csv.DictReader(io.StringIO(to_csv.read_text())))
    selector = RankingFeatureSelector(["ap(rel=2)", "f(beta=2,rel=2)@5", "rr"])
    selector.fit(web.data, web.target, web.qid)
    assert len(rows) == 12
    for row in rows:
        j = int(row["feature"]) - 1
        assert int(row["rank"]) == selector.ranking_[j]
        assert float(row["F(rel=2,beta=2)@5"]) == selector.mean_[j, 1]
        assert float(row["RR_q"]) == selector.qvalues_[j, 2]
    document = json.loads(to_json.read_text())
    assert document["files"] == [letor]
    assert document["measures"] == ["AP(rel=2)", "F(rel=2,beta=2)@5", "RR"]
    assert (document["n_queries"], document["n_features"]) == (40, 12)
    assert document["n_documents"] == len(web.target)
    assert document["complete"]
    assert document["chance"]["RR"] == selector.chance_[2]
    assert document["features"][0]["correlation"] is None
    features = [row["feature"] for row in document["features"]]
    assert features == [row["feature"] for row in rows]
    _, out, _ = run(capsys, "screen", letor, "--top", 3, "--csv")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 3
    _, out, _ = run(capsys, "screen", letor, "--json", "--sort-by", "rr")
    document = json.loads(out)
    assert document["sort_by"] == "RR"
    values = [row["RR"] for row in document["features"]]
    assert values == sorted(values, reverse=True)


def test_outputs_keep_what_stands_at_their_path(capsys, letor, tmp_path):
    target, link, pipe = (tmp_path / name for name in ("target.csv", "link", "pipe"))
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert run(capsys, "screen", letor, f"--csv={link}")[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("rank,feature")
    assert target.stat().st_mode & 0o777 == 0o640
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert run(capsys, "screen", letor, f"--csv={pipe}")[0] == 0
        assert reader.stdout.read().startswith(b"rank,feature")
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("screen train.txt --csv=train.txt", "--csv must not replace an input, got tr"),
        ("screen train.txt --json=./train.txt", "--json must not replace an input"),
        ("screen train.txt --csv=link", "--csv must not replace an input, got train"),
        ("screen link --csv=train.txt", "--csv must not replace an input, got link"),
        ("screen train.txt --csv=hard", "--csv must not replace an input"),
        ("screen train.txt test.txt --json=test.txt", "--json must not replace"),
        ("screen bare.txt --csv=bare.txt.query", "an input, got bare.txt.query"),
        ("screen bare.txt --query-file sizes --csv=sizes", "an input, got sizes"),
        ("screen train.txt --plot=train.txt", "--plot must not replace an input"),
        ("screen train.txt --report=train.txt", "--report must not replace an input"),
        ("screen train.txt --save=train.txt", "--save must not replace an input"),
        ("evaluate q1 r1 --json=q1", "--json must not replace an input, got q1"),
        ("evaluate q1 r1 --csv=r1", "--csv must not replace an input, got r1"),
        # two outputs are two files
        ("screen train.txt --csv=both --json=both", "only one of --csv and --json can "
         "go to both"),
        ("screen train.txt --csv=both --json=./both", "can go to ./both"),
        ("screen train.txt --csv=both --json=twin", "--csv and --json can go to twin"),
        ("screen train.txt --csv --json", "--csv and --json can go to standard output"),
        ("evaluate q1 r1 --csv=a.png --plot=a.png", "only one of --csv and --plot"),
        ("compare q1 r1 r2 --csv=a --report=a", "only one of --csv and --report"),
        # what cannot be written is known before
        ("screen train.txt --csv=kept", "--csv: kept: the file is write-protected"),
        ("screen train.txt --plot=kept.png", "--plot: kept.png: the file is write-pr"),
        ("screen train.txt --json=loop", "--json: loop: Too many levels of symbolic"),
        (f"screen train.txt --csv={'a' * 256}", "a: File name too long"),
        ("screen train.txt --csv=kept/new", "--csv: kept/new: Not a directory"),
        ("screen train.txt --csv=no/x.csv", "there is no folder"),
        ("screen train.txt --csv=.", "it is a folder"),
        ("screen train.txt --csv=", "--csv must name a file, got ''"),
        ("screen train.txt --plot=", "--plot must name a file, got ''"),
        ("screen train.txt --plot=-", "--plot must name a file, got standard output"),
        ("screen train.txt --report=-", "--report must name a file, got standard"),
        ("screen train.txt --plot=x.doc", "--plot must name a file that ends in .png, "
         ".svg, .pdf or another format of matplotlib, got x.doc"),
        ("screen train.txt --save=x.tie.gz", "--save must not end in .gz"),
        *(
            (f"screen train.txt --{name}=\0y", rf"--{name} must name a file, got '\x0")
            for name in ("csv", "json", "plot", "report", "save")
        ),
    ],
)  # fmt: skip
def test_outputs_are_checked_before_the_work(capsys, inputs, monkeypatch, words, said):
    def work(*_):
        raise AssertionError("the work was done")

    monkeypatch.setattr("tieaware_sklearn.cli._screen.open_files", work)
    for name in ("both", "kept"):
        (inputs / name).write_text("old")
    (inputs / "twin").hardlink_to("both")
    (inputs / "kept").chmod(0o444)
    (inputs / "kept.png").symlink_to("kept")
    (inputs / "loop").symlink_to("loop")
    code, out, err = run(capsys, *words.split(" "))
    assert (code, out) == (1, "")
    assert err.startswith("tieaware: error: ")
    assert said in err
    assert (inputs / "both").read_text() == (inputs / "kept").read_text() == "old"


@pytest.mark.parametrize("form", ["file://{}", "simplecache::filecache::local://{}"])
@pytest.mark.parametrize("folder", [False, True])
def test_an_output_is_no_input_by_its_url(capsys, tmp_path, form, folder):
    path = tmp_path / "a.csv"
    path.write_text("label,qid,a\n1,1,3\n0,1,2\n")
    url = form.format(tmp_path if folder else path)
    code, out, err = run(capsys, "screen", url, f"--csv={path}", "--quiet")
    assert (code, out) == (1, "")
    # of a folder there is no copy to read
    assert "--csv must not replace an input, got" in err or (folder and "::" in form)
    assert path.read_text() == "label,qid,a\n1,1,3\n0,1,2\n"


def test_ways_to_name_an_output(capsys, inputs):
    printed = run(capsys, "screen", "train.txt", "--csv")
    assert printed[0] == 0
    assert printed[1].startswith("rank,feature")
    for words in (["--csv=-"], ["--csv", "--quiet"], ["--csv=/dev/stdout"]):
        assert run(capsys, "screen", "train.txt", *words) == printed
        # an option without a value swallows no file
        assert run(capsys, "screen", *words, "train.txt") == printed
        assert run(capsys, "screen", *words, "--", "train.txt") == printed
    for words in ("train.txt --csv=new.csv", "--csv=new.csv train.txt"):
        code, out, _ = run(capsys, "screen", *words.split())
        assert code == 0
        assert not out.startswith("rank,feature")
        assert (inputs / "new.csv").read_text() == printed[1]
    printed = run(capsys, "evaluate", "q1", "r1", "--json")
    assert printed[1].startswith("{")
    assert run(capsys, "evaluate", "q1", "--json", "r1") == printed


HOSTILE = {
    "=cmd|'/c'!A1": "'=cmd|'/c'!A1",
    "+a": "'+a",
    "-b": "'-b",
    "@c": "'@c",
    "\td": r"\td",
    "e\rf": r"e\rf",
    "g\nh": r"g\nh",
    "\x1b[31mred": r"\x1b[31mred",
    "-1.5": "-1.5",
}


def test_names_are_no_formulas_and_never_reach_a_terminal_raw(capsys, inputs):
    named = "hostile\x1b[2J.csv"
    with open(named, "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["label", "qid", *HOSTILE])
        writer.writerow([1, 1, *range(len(HOSTILE))])
        writer.writerow([0, 1, *range(len(HOSTILE), 0, -1)])
    code, out, _ = run(capsys, "screen", named, "--csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert sorted(row["feature"] for row in rows) == sorted(HOSTILE.values())
    _, out, _ = run(capsys, "screen", named, "--json")
    features = json.loads(out)["features"]
    assert sorted(row["feature"] for row in features) == sorted(HOSTILE)
    for words in ([], ["--csv"], ["--json"], ["--ignore", "\x1b]0;"], ["--missing"]):
        try:
            _, out, err = run(capsys, "screen", named, *words)
        except SystemExit:
            out, err = capsys.readouterr()
        assert (out + err).replace("\n", "").isprintable()
    _, out, _ = run(capsys, "screen", named)
    assert r"\x1b[31mred" in out
    assert r"g\nh" in out
    assert len(out.split("\n\n")[1].splitlines()) == 3 + len(HOSTILE)
    Path("q").write_text("1\x1b[31m 0 a 1\n1\x1b[31m 0 b 0\n2 0 a 1\n")
    for name in ("r\x1b[2J", "other"):
        Path(name).write_text("1\x1b[31m Q0 a 1 5 x\n1\x1b[31m Q0 b 2 5 x\n")
    _, out, err = run(capsys, "evaluate", "q", "r\x1b[2J", "other", "-q")
    assert (out + err).replace("\n", "").isprintable()
    assert r"1\x1b[31m" in out
    assert r"r\x1b[2J: 1 topic with judgments" in out


# disks that are full, plots that fail: all that can be written is written
def words_of(command, full=()):
    """The command with every output, some of them to a full disk."""
    to = dict.fromkeys(full, "/dev/full")
    to |= {"plot": "full.png"} if "plot" in full else {}
    return COMMANDS[command] + [f"--{o}={to.get(o, p)}" for o, p in OUTPUTS.items()]


def assert_written(folder, *options):
    names = {OUTPUTS[option] for option in options}
    assert {name for name in OUTPUTS.values() if (folder / name).exists()} == names
    for name in names:
        content = (folder / name).read_bytes()
        if name == "o.csv":
            assert list(csv.DictReader(content.decode().splitlines()))
        elif name == "o.json":
            assert json.loads(content)
        else:
            start = b"\x89PNG" if "png" in name else b"<!DOCTYPE html>"
            assert content.startswith(start)


@each_command
def test_a_full_disk_costs_no_other_output(capsys, monkeypatch, inputs, command):
    table = run(capsys, *COMMANDS[command])[1]
    for option in OUTPUTS:
        code, out, err = run(capsys, *words_of(command, [option]))
        assert (code, out) == (1, table)
        name = "full.png" if option == "plot" else "/dev/full"
        assert err.splitlines()[-1] == f"tieaware: error: {name}: {NO_SPACE}"
        assert err.count("error") == 1
        others = OUTPUTS.keys() - {option}
        assert_written(inputs, *others)
        for other in others:
            (inputs / OUTPUTS[other]).unlink()
    for option in ("table", "csv", "json"):
        words = words_of(command)
        words = [f"--{option}" if f"--{option}=" in one else one for one in words]
        with open("/dev/full", "w") as full, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", full)
            assert main(words) == 1
        err = capsys.readouterr().err
        assert err.endswith(f"tieaware: error: standard output: {NO_SPACE}\n")
        others = OUTPUTS.keys() - {option}
        assert_written(inputs, *others)
        for other in others:
            (inputs / OUTPUTS[other]).unlink()


@each_command
@pytest.mark.parametrize("where", ["drawn", "saved"])
def test_a_failed_plot_costs_no_other_output(
    capsys, monkeypatch, inputs, command, where
):
    table = run(capsys, *COMMANDS[command])[1]
    name = f"tieaware_sklearn.cli.{DRAWN[command]}"
    name = name if where == "drawn" else "matplotlib.figure.Figure.savefig"
    (inputs / "o.png").write_bytes(b"\x89PNG, old")
    for error, why in (
        (RuntimeError("no\nfont"), "font"),
        (KeyError(), "KeyError"),
        (MemoryError(), "emory"),
        (OSError(2, "No such file", "font.ttf"), "No such file"),
        (BrokenPipeError(32, "Broken pipe"), "Broken pipe"),
    ):

        def fails(*_, error=error, **__):
            raise error

        monkeypatch.setattr(name, fails)
        code, out, err = run(capsys, *words_of(command))
        assert (code, out) == (1, table)
        of_plot, of_page = [line for line in err.splitlines() if "error:" in line]
        assert of_plot.startswith("tieaware: error: o.png: ")
        assert why in of_plot
        assert of_page.startswith("tieaware: error: o.html: written without its figure")
        assert why in of_page
        assert "<p>there is no figure: " in (inputs / "o.html").read_text()
        # what stood there stays
        assert (inputs / "o.png").read_bytes() == b"\x89PNG, old"
        assert_written(inputs, *OUTPUTS)


@pytest.mark.parametrize("name", ["full.png", "/dev/full"])
def test_the_demo_is_shown_though_its_data_are_lost(capsys, inputs, name):
    shown = run(capsys, "demo", "--queries", "2")[1]
    code, out, err = run(capsys, "demo", "--queries", "2", "--out", name)
    assert (code, out) == (1, shown)
    assert err.splitlines()[-1] == f"tieaware: error: {name}: {NO_SPACE}"
    assert "wrote" not in err


@pytest.mark.parametrize(
    ("form", "start"), [("png", b"\x89PNG\r"), ("svg", b"<?xml"), ("PDF", b"%PDF-")]
)
def test_plots_are_of_the_form_that_their_name_says(form, start, inputs, capsys):
    path = inputs / f"plot.{form}"
    for command in COMMANDS.values():
        assert run(capsys, *command, "--plot", path, "--json")[0] == 0
        assert path.read_bytes().startswith(start)
        path.unlink()


@pytest.mark.parametrize(
    ("average", "said"),
    [("macro", "mean"), ("median", "median"), ("geometric", "geometric mean")],
)
def test_plots_have_the_averages_and_intervals_of_the_summary(
    inputs, monkeypatch, capsys, average, said
):
    drawn, draw = [], _evaluate.of_topics
    monkeypatch.setattr(
        "tieaware_sklearn.cli._evaluate.of_topics",
        lambda *given: drawn.append(draw(*given)) or drawn[0],
    )
    (inputs / "other").write_text(INPUTS["r1"].replace("x\n", "z\n"))
    words = ["q1", "r1", "other", "--measures", "rr", "ap", "--average", average]
    assert run(capsys, "evaluate", *words, "--plot", "x.png")[0] == 0
    trec = load_trec("q1", "r1")
    options = {"measures": ["rr", "ap"], "unjudged": "nonrelevant"}
    report = evaluate(trec.target, trec.score, qid=trec.qid, **options)
    (display,), wanted = drawn, report.summary(average)
    assert (display.systems, display.measures) == (("x", "z"), ("RR", "AP"))
    for name in ("mean", "best", "worst", "interval"):
        for found in getattr(display, name):
            assert np.array_equal(found, getattr(wanted, name), equal_nan=True)
    assert display.chance is None
    assert display.axes_[0].get_xlabel() == f"RR, {said} over topics"


def test_plots_without_matplotlib_say_what_to_install(inputs, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, "screen", "train.txt", "--plot", "x.png")
    assert (code, out) == (1, "")
    assert 'pip install "tieaware-sklearn[plots]"' in err
