"""Figures for programs and for people: files that come whole, or not at all; pages."""

import csv
import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from tests._display.test_html import parsed
from tests.cli.helpers import INPUTS, fail, run, succeed
from tieaware_sklearn import RankingFeatureSelector, __version__, evaluate
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import load_trec
from tieaware_sklearn.plots import TieRangeDisplay

pytest.importorskip("matplotlib.pyplot")

COMMANDS = {
    "screen": ["screen", "train.txt"],
    "evaluate": ["evaluate", "q1", "r1"],
    "compare": ["compare", "q1", "r1", "r2"],
}
OUTPUTS = {"csv": "o.csv", "json": "o.json", "plot": "o.png", "report": "o.html"}
NO_SPACE = "No space left on device"


def test_screen_writes_csv_and_json(capsys, letor, web):
    words = [letor, "--measures", "ap(rel=2)", "f(rel=2,beta=2)@5", "rr"]
    selector = RankingFeatureSelector(["ap(rel=2)", "f(beta=2,rel=2)@5", "rr"])
    selector.fit(web.data, web.target, web.qid)
    document = json.loads(run(capsys, "screen", *words, "--json=-")[1])
    features = document.pop("features")
    assert features[0]["correlation"] is None
    for row in features:
        j = int(row["feature"]) - 1
        assert row["rank"] == selector.ranking_[j]
        assert row["F(rel=2,beta=2)@5"] == selector.mean_[j, 1]
        assert row["RR_qvalue"] == selector.qvalues_[j, 2]
    assert document.pop("chance")["RR"] == selector.chance_[2]
    assert document.pop("ideal").keys() == {*document["measures"]}
    assert set(document.pop("selected")) <= {row["feature"] for row in features}
    assert document == {
        "files": [letor],
        "n_documents": len(web.target),
        "n_queries": 40,
        "n_features": 12,
        "measures": ["AP(rel=2)", "F(rel=2,beta=2)@5", "RR"],
        "sort_by": "AP(rel=2)",
    }
    _, out, _ = run(capsys, "screen", *words, "--csv=-", "--top", 3)
    wanted = [
        {name: "" if one is None else str(one) for name, one in row.items()}
        for row in features[:3]
    ]
    assert list(csv.DictReader(io.StringIO(out))) == wanted


def test_an_output_may_be_a_pipe(capsys, inputs):
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        succeed(capsys, "screen", "train.txt", "--csv=pipe")
        assert reader.stdout.read().startswith(b"rank,feature")
    assert (inputs / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("screen train.txt --json=./train.txt", "--json must not replace an input"),
        ("screen train.txt --csv=link", "--csv must not replace an input, got train"),
        ("screen train.txt --csv=hard", "--csv must not replace an input"),
        ("screen bare.txt --csv=bare.txt.query", "an input, got bare.txt.query"),
        ("screen bare.txt --query-file sizes --csv=sizes", "an input, got sizes"),
        ("screen train.txt --plot=train.txt", "--plot must not replace an input"),
        ("screen train.txt --report=train.txt", "--report must not replace an input"),
        ("evaluate q1 r1 --json=q1", "--json must not replace an input, got q1"),
        ("evaluate q1 r1 --csv=r1", "--csv must not replace an input, got r1"),
        # two outputs are two files
        ("screen train.txt --csv=both --json=./both", "--csv and --json can go to ./b"),
        ("screen train.txt --csv=both --json=twin", "--csv and --json can go to twin"),
        ("screen train.txt --csv=- --json=-", "--csv and --json can go to -"),
        ("evaluate q1 r1 --csv=a.png --plot=a.png", "only one of --csv and --plot"),
        ("compare q1 r1 r2 --csv=a --report=a", "only one of --csv and --report"),
        # what cannot be written is known before
        *(
            (f"screen train.txt --{name}=", f"--{name} must name a file, got ")
            for name in ("csv", "json", "plot", "report")
        ),
    ],
)  # fmt: skip
def test_outputs_are_checked_before_the_work(capsys, inputs, words, said):
    (inputs / "both").write_text("old")
    (inputs / "sub").mkdir()
    (inputs / "sub" / "a.csv").write_text("old")
    (inputs / "link").symlink_to("train.txt")
    (inputs / "hard").hardlink_to("train.txt")
    (inputs / "twin").hardlink_to("both")
    with mock.patch("tieaware_sklearn.io._batches.open_files") as work:
        err = fail(capsys, *words.replace("{here}", str(inputs)).split(" "))
    work.assert_not_called()
    assert err.startswith("tieaware: error: ")
    assert said in err
    for name in ("both", "sub/a.csv"):
        assert (inputs / name).read_text() == "old"


def test_ways_to_name_an_output(capsys, inputs):
    printed = run(capsys, "screen", "train.txt", "--csv=-")
    assert printed[0] == 0
    assert printed[1].startswith("rank,feature")
    for words in ("--csv -", "--csv=- --quiet", "--csv=- --"):
        assert run(capsys, "screen", *words.split(), "train.txt") == printed
    for words in ("train.txt --csv new.csv", "--csv=new.csv train.txt"):
        out, _ = succeed(capsys, "screen", *words.split())
        assert not out.startswith("rank,feature")
        assert (inputs / "new.csv").read_text() == printed[1]
    printed = run(capsys, "evaluate", "q1", "r1", "--json=-")
    assert printed[1].startswith("{")
    assert run(capsys, "evaluate", "q1", "--json=-", "r1") == printed


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
    shown = {}
    for words in (
        [],
        ["--csv=-"],
        ["--json=-"],
        ["--ignore", "\x1b]0;"],
        ["--missing"],
    ):
        try:
            _, out, err = run(capsys, "screen", named, *words)
        except SystemExit:
            out, err = capsys.readouterr()
        assert (out + err).replace("\n", "").isprintable()
        shown["".join(words)] = out
    rows = list(csv.DictReader(io.StringIO(shown["--csv=-"], newline="")))
    assert sorted(row["feature"] for row in rows) == sorted(HOSTILE.values())
    features = json.loads(shown["--json=-"])["features"]
    assert sorted(row["feature"] for row in features) == sorted(HOSTILE)
    assert r"\x1b[31mred" in shown[""]
    assert r"g\nh" in shown[""]
    table = shown[""].split("\n\n")[1].partition("\nHidden columns: ")[0]
    assert len(table.splitlines()) == 3 + len(HOSTILE)
    Path("q").write_text("1\x1b[31m 0 a 1\n1\x1b[31m 0 b 0\n2 0 a 1\n")
    for name in ("r\x1b[2J", "other"):
        Path(name).write_text("1\x1b[31m Q0 a 1 5 x\n1\x1b[31m Q0 b 2 5 x\n")
    _, out, err = run(capsys, "evaluate", "q", "r\x1b[2J", "other", "-q")
    assert (out + err).replace("\n", "").isprintable()
    assert r"1\x1b[31m" in out
    assert r"r\x1b[2J: 1 topic with judgments" in out


# disks that are full, plots that fail: all that can be written is written
def words_of(command, to=()):
    """The command with every output, some of them elsewhere."""
    outputs = OUTPUTS | dict(to)
    return [*COMMANDS[command], *(f"--{one}={outputs[one]}" for one in outputs)]


def assert_written(folder, options):
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


FULL_DISKS = [
    ("screen", "csv"),
    ("screen", "plot"),
    ("compare", "json"),
    ("evaluate", "report"),
]


@pytest.mark.parametrize(("command", "option"), FULL_DISKS)
def test_a_full_disk_costs_no_other_output(capsys, inputs, command, option):
    (inputs / "full.png").symlink_to("/dev/full")
    table = run(capsys, *COMMANDS[command])[1]
    code, out, err = run(capsys, *words_of(command, {option: "full.png"}))
    assert (code, out) == (1, table)
    assert err.splitlines()[-1] == f"tieaware: error: full.png: {NO_SPACE}"
    assert err.count("error") == 1
    assert_written(inputs, OUTPUTS.keys() - {option})


@pytest.mark.parametrize(
    ("command", "option"),
    [("screen", "table"), ("evaluate", "csv"), ("compare", "json")],
)
def test_a_full_standard_output_costs_no_file(capsys, inputs, command, option):
    words = words_of(command, {option: "-"} if option in OUTPUTS else {})
    with open("/dev/full", "w") as full, redirect_stdout(full):
        assert main(words) == 1
    err = capsys.readouterr().err
    assert err.endswith(f"tieaware: error: standard output: {NO_SPACE}\n")
    assert_written(inputs, OUTPUTS.keys() - {option})


FAILED_PLOTS = [
    ("screen", "FeatureScreeningDisplay.from_result", KeyError(), "KeyError"),
    ("evaluate", "TieRangeDisplay.from_result", RuntimeError("no\nfont"), "font"),
    ("compare", "SystemComparisonDisplay.from_result", MemoryError(), "emory"),
    ("screen", "", OSError(2, "No such file", "font.ttf"), "No such file"),
    ("screen", "", BrokenPipeError(32, "Broken pipe"), "Broken pipe"),
]


@pytest.mark.parametrize(("command", "where", "error", "why"), FAILED_PLOTS)
def test_a_failed_plot_costs_no_other_output(
    capsys, inputs, command, where, error, why
):
    drawn = f"tieaware_sklearn.cli._{command}.{where}"
    name = drawn if where else "matplotlib.figure.Figure.savefig"
    table = run(capsys, *COMMANDS[command])[1]
    (inputs / "o.png").write_bytes(b"\x89PNG, old")
    with mock.patch(name, side_effect=error):
        code, out, err = run(capsys, *words_of(command))
    assert (code, out) == (1, table)
    of_plot, of_page = err.splitlines()[-2:]
    assert of_plot.startswith("tieaware: error: o.png: ")
    assert why in of_plot
    assert of_page.startswith("tieaware: error: o.html: ")
    assert why in of_page
    # what stood there stays
    assert (inputs / "o.png").read_bytes() == b"\x89PNG, old"
    assert_written(inputs, OUTPUTS.keys() - {"report"})


def test_plots_are_of_the_form_that_their_name_says(inputs, capsys):
    for form, start in (("png", b"\x89PNG\r"), ("svg", b"<?xml"), ("PDF", b"%PDF-")):
        words = ["train.txt", f"--plot=o.{form}", "--json=-"]
        succeed(capsys, "screen", *words)
        assert (inputs / f"o.{form}").read_bytes().startswith(start)
    code, out, err = run(capsys, "screen", "train.txt", "--plot=o.doc")
    assert (code, out.startswith("train.txt")) == (1, True)
    assert err.startswith("tieaware: error: o.doc: Format 'doc' is not supported")


@pytest.mark.parametrize(
    ("average", "said"),
    [("macro", "mean"), ("median", "median"), ("geometric", "geometric mean")],
)
def test_plots_have_the_averages_and_intervals_of_the_summary(
    inputs, capsys, average, said
):
    draw = TieRangeDisplay.from_result
    (inputs / "other").write_text(INPUTS["r1"].replace("x\n", "z\n"))
    words = ["q1", "r1", "other", "--measures", "rr", "ap", "--average", average]
    with mock.patch.object(TieRangeDisplay, "from_result", wraps=draw) as drawn:
        succeed(capsys, "evaluate", *words, "--plot", "x.svg")
    trec = load_trec("q1", "r1")
    options = {"measures": ["rr", "ap"], "unjudged": "nonrelevant"}
    wanted = evaluate(trec.target, trec.score, qid=trec.qid, **options).summary(average)
    display = draw(*drawn.call_args.args, **drawn.call_args.kwargs)
    assert (display.systems, display.measures) == (("x", "z"), ("RR", "AP"))
    for name in ("mean", "best", "worst", "interval"):
        for found in getattr(display, name):
            assert np.array_equal(found, getattr(wanted, name), equal_nan=True)
    assert display.chance is None
    assert display.axes_[0].get_xlabel() == f"{said} over topics"
    assert display.axes_[0].get_title(loc="left").startswith("RR: ")


def test_without_matplotlib_plots_say_what_to_install_and_pages_that_there_is_none(
    inputs, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    err = fail(capsys, "screen", "train.txt", "--plot", "x.png")
    assert 'pip install "tieaware-sklearn[plots]"' in err
    succeed(capsys, "evaluate", "q1", "r1", "--report=o.html")
    found = parsed((inputs / "o.html").read_text())
    assert "because matplotlib is not installed" in found.text
    assert "img" not in found.tags
    assert len(found.tables) == 2


# pages
NASTY = "<b>&\"'"


@pytest.mark.parametrize(
    ("command", "n_tables", "first"),
    [("screen", 1, "(chance)"), ("evaluate", 2, "<i>one"), ("compare", 4, "AP")],
)
def test_pages_are_whole(command, n_tables, first, inputs, capsys):
    labels = list(enumerate([0, 1, 1, 0, 2, 1, 0]))
    rows = [f"{y},{q},{y + d},{d % 2},{-d}\n" for q in range(4) for d, y in labels]
    table = f"{NASTY}.csv"
    Path(table).write_text("".join(['label,qid,"<b>&""\'",plain,x3\n', *rows]))
    for name in ("one", "two"):
        Path(name).write_text(INPUTS["r1"].replace(" x", f" <i>{name}"))
    files = [table] if command == "screen" else ["q1", "one", "two"]
    words = [command, *files, "--report", "report.html"]
    code, out, err = run(capsys, *words)
    assert (code, "do not vary, so" in err) == (0, command == "compare")
    text = Path("report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    found = parsed(text)
    assert len(found.tables) == n_tables
    assert found.tables[0][1][0] == first
    for head, *rows in found.tables:
        assert rows
        assert {len(row) for row in rows} == {len(head)}
        # what a terminal shows is there
        assert head[0] in (*out.split(), "measure", "file")
    # names are text
    assert not {"b", "i"} & set(found.tags)
    # what was read, the command, versions
    version = f"tieaware-sklearn {__version__}"
    for said in (*files, shlex.join(["tieaware", *words]), version):
        assert said in found.text
    succeed(capsys, *words[:-1], "again.html")
    again = Path("again.html").read_text().replace("again.html", "report.html")
    assert again == text


def test_a_page_has_all_that_is_chosen(letor, tmp_path, capsys):
    path = tmp_path / "report.html"
    for words, n_rows in (([], 12), (["--top", 2], 2)):
        succeed(capsys, "screen", letor, "--report", path, *words)
        head, chance, *rows = parsed(path.read_text()).tables[0]
        assert (head.count("qvalue"), chance[0], len(rows)) == (3, "(chance)", n_rows)
