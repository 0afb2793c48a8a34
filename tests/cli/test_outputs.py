"""Figures for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import run
from tests.io.helpers import stop_in_the_middle
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.cli import main


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
    assert document["measures"] == ["AP(rel=2)", "F(rel=2,beta=2)@5", "RR"]
    assert document["n_queries"] == 40
    assert document["chance"]["RR"] == selector.chance_[2]
    assert document["features"][0]["correlation"] is None
    assert [row["feature"] for row in document["features"]] == [
        row["feature"] for row in rows
    ]


def test_screen_to_standard_output(capsys, letor):
    _, out, _ = run(capsys, "screen", letor, "--top", 3, "--csv")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 3
    _, out, _ = run(capsys, "screen", letor, "--json", "--sort-by", "rr")
    document = json.loads(out)
    assert document["sort_by"] == "RR"
    values = [row["RR"] for row in document["features"]]
    assert values == sorted(values, reverse=True)
    code, _, err = run(capsys, "screen", letor, "--json", "--csv")
    assert code == 1
    assert "only one of --csv and --json" in err


def test_outputs_keep_what_stands_at_their_path(capsys, letor, tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert run(capsys, "screen", letor, f"--csv={link}")[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("rank,feature")
    assert target.stat().st_mode & 0o777 == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert run(capsys, "screen", letor, f"--csv={pipe}")[0] == 0
        assert reader.stdout.read().startswith(b"rank,feature")
    assert pipe.is_fifo()


TIEAWARE = [sys.executable, "-m", "tieaware_sklearn"]


def shell(words, **options):
    """The command as a shell runs it, with what follows the words."""
    command = words if isinstance(words, str) else shlex.join(map(str, words))
    return subprocess.run(
        command.replace("tieaware", shlex.join(TIEAWARE), 1),
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A folder with files to read, which must stay as they are."""
    files = {
        "train.txt": "1 qid:1 1:2\n0 qid:1 1:1\n1 qid:3 1:2\n0 qid:3 1:1\n",
        "test.txt": "1 qid:2 1:2 2:1\n0 qid:2 1:1 2:3\n",
        "bare.txt": "1 1:2\n0 1:1\n",
        "bare.txt.query": "2\n",
        "sizes": "2\n",
        "q1": "1 0 a 1\n1 0 b 0\n",
        "r1": "1 Q0 a 1 5 x\n1 Q0 b 2 5 x\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "link").symlink_to("train.txt")
    (tmp_path / "hard").hardlink_to(tmp_path / "train.txt")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert {name: (tmp_path / name).read_text() for name in files} == files
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("screen train.txt --csv=train.txt", "--csv must not replace an input, got tr"),
        ("screen train.txt --json=./train.txt", "--json must not replace an input"),
        ("screen train.txt --csv=link", "--csv must not replace an input, got train"),
        ("screen link --csv=train.txt", "--csv must not replace an input, got link"),
        ("screen train.txt --csv=hard", "--csv must not replace an input"),
        ("screen train.txt test.txt --json=test.txt", "--json must not replace"),
        ("screen bare.txt --csv=bare.txt.query", "got bare.txt.query"),
        ("screen bare.txt --query-file sizes --csv=sizes", "an input, got sizes"),
        ("screen train.txt --plot=train.txt", "--plot must not replace an input"),
        ("evaluate q1 r1 --json=q1", "--json must not replace an input, got q1"),
        ("evaluate q1 r1 --csv=r1", "--csv must not replace an input, got r1"),
    ],
)
def test_an_output_is_never_an_input(capsys, inputs, words, named):
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (1, "")
    assert named in err


def test_standard_input_is_a_file_too(inputs):
    done = shell("tieaware screen - --csv=train.txt < train.txt")
    assert done.returncode == 1
    assert "must not replace an input" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "screen --csv train.txt",
        "screen --quiet --json train.txt",
        "evaluate --csv q1 r1",
        "evaluate q1 --json r1",
    ],
)
def test_an_option_without_a_value_swallows_no_file(capsys, inputs, words):
    moved = [*(w for w in words.split() if "-" not in w), "--csv"]
    moved[-1] = "--json" if "--json" in words else "--csv"
    assert run(capsys, *words.split()) == run(capsys, *moved)


@pytest.mark.parametrize(
    "words", ["screen train.txt --csv test.txt", "evaluate q1 r1 --json new"]
)
def test_a_file_apart_from_its_option_is_wrong_usage(capsys, inputs, words):
    with pytest.raises(SystemExit) as stopped:
        main(words.split())
    assert stopped.value.code == 2
    assert "--csv and --json take =FILE" in capsys.readouterr().err
    assert not (inputs / "new").exists()


def test_ways_to_name_an_output(capsys, inputs):
    printed = run(capsys, "screen", "train.txt", "--csv")
    assert printed[0] == 0
    assert printed[1].startswith("rank,feature")
    for words in (["--csv=-"], ["--csv", "--quiet"]):
        assert run(capsys, "screen", "train.txt", *words) == printed
        assert run(capsys, "screen", *words, "--", "train.txt") == printed
    for words in ("train.txt --csv=new.csv", "--csv=new.csv train.txt"):
        code, out, _ = run(capsys, "screen", *words.split())
        assert code == 0
        assert not out.startswith("rank,feature")
        assert (inputs / "new.csv").read_text() == printed[1]
    with pytest.raises(SystemExit) as helped:
        main(["screen", "--help"])
    assert helped.value.code == 0
    assert "--csv [=FILE]" in capsys.readouterr().out


@pytest.mark.parametrize("same", ["both.txt", "./both.txt", "twin"])
def test_two_outputs_are_two_files(capsys, inputs, same):
    (inputs / "both.txt").write_text("old")
    (inputs / "twin").hardlink_to(inputs / "both.txt")
    code, _, err = run(
        capsys, "screen", "train.txt", "--csv=both.txt", f"--json={same}"
    )
    assert code == 1
    assert f"only one of --csv and --json can go to {same}" in err
    assert (inputs / "both.txt").read_text() == "old"


def test_what_is_printed_to_is_not_replaced(inputs):
    done = shell("tieaware screen train.txt --csv=/dev/stdout > out.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert (inputs / "out.csv").read_text().startswith("rank,feature")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("screen train.txt --csv >&-", "standard output is closed"),
        ("screen train.txt --json=- >&-", "standard output is closed"),
        ("screen train.txt --csv=new >&-", "standard output is closed"),
        ("screen train.txt >&-", "standard output is closed"),
        ("demo --queries 1 >&-", "standard output is closed"),
        ("screen - <&-", "standard input is closed"),
        ("evaluate - r1 <&-", "standard input is closed"),
        ("screen train.txt --csv > /dev/full", "standard output: No space left"),
        ("screen train.txt > /dev/full", "standard output: No space left on device"),
        ("evaluate q1 r1 --json > /dev/full", "standard output: No space left on"),
        ("--help > /dev/full", "standard output: No space left on device"),
        ("demo --queries 1 > /dev/full", "standard output: No space left on device"),
    ],
)
def test_a_lost_report_is_an_error(inputs, words, message):
    done = shell(f"tieaware {words}")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"tieaware: error: {message}")
    assert done.stderr.count("\n") == 1


def test_a_closed_standard_error_is_not_standard_output(inputs):
    if shell(f"{sys.executable} -c 'import scipy.stats' 2>&-").returncode:
        pytest.skip("NumPy 2.0 is not imported without a standard error")
    done = shell("tieaware screen train.txt --csv 2>&-")  # one query is warned of
    assert done.returncode == 0
    assert done.stdout.startswith("rank,feature")
    assert shell("tieaware screen absent --csv 2>&-").returncode == 1


def test_outputs_that_cannot_be_written_are_known_before(capsys, inputs, monkeypatch):
    def work(*_):
        raise AssertionError("the work was done")

    monkeypatch.setattr("tieaware_sklearn.cli._screen.open_files", work)
    (inputs / "kept").write_text("old")
    (inputs / "kept").chmod(0o444)
    (inputs / "kept.png").symlink_to("kept")
    (inputs / "loop").symlink_to("loop")
    for option, message in (
        ("--csv=kept", "--csv: kept: the file is write-protected"),
        ("--plot=kept.png", "--plot: kept.png: the file is write-protected"),
        ("--json=loop", "--json: loop: Too many levels of symbolic links"),
        (f"--csv={'a' * 256}", "a: File name too long"),
        ("--csv=kept/new", "--csv: kept/new: Not a directory"),
        *(
            (f"--{name}=x\0y", rf"--{name} must name a file, got 'x\x00y'")
            for name in ("csv", "json", "plot", "report", "save")
        ),
    ):
        code, out, err = run(capsys, "screen", "train.txt", option)
        assert (code, out) == (1, "")
        assert message in err
    assert (inputs / "kept").read_text() == "old"


@pytest.mark.weekly
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_command_stopped_while_it_writes(tmp_path, name, code):
    target = tmp_path / "digits.txt"
    target.write_text("old")
    command = [*TIEAWARE, "demo", "--queries", "600", "--out", str(target)]
    found, err = stop_in_the_middle(command, target, getattr(signal, name))
    assert found == code
    assert "Traceback" not in err
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == [target.name]


HOSTILE = [
    "=cmd|'/c'!A1",
    "+a",
    "-b",
    "@c",
    "\td",
    "e\rf",
    "g\nh",
    "\x1b[31mred",
    "-1.5",
]


@pytest.fixture
def hostile(inputs):
    with open("hostile.csv", "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["label", "qid", *HOSTILE])
        writer.writerow([1, 1, *range(len(HOSTILE))])
        writer.writerow([0, 1, *range(len(HOSTILE), 0, -1)])
    return "hostile.csv"


def test_names_are_no_formulas_in_csv(capsys, hostile):
    names = {"=cmd|'/c'!A1": "'=cmd|'/c'!A1", "+a": "'+a", "-b": "'-b", "@c": "'@c"}
    names |= {"\td": r"\td", "e\rf": r"e\rf", "g\nh": r"g\nh"}
    names |= {"\x1b[31mred": r"\x1b[31mred"}
    code, out, _ = run(capsys, "screen", hostile, "--csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    found = sorted(row["feature"] for row in rows)
    assert found == sorted(names.get(name, name) for name in HOSTILE)
    _, out, _ = run(capsys, "screen", hostile, "--json")
    features = json.loads(out)["features"]
    assert sorted(row["feature"] for row in features) == sorted(HOSTILE)


def test_control_characters_never_reach_a_terminal(capsys, hostile):
    named = f"{hostile}\x1b[2J.csv"
    Path(hostile).rename(named)
    for words in ([], ["--csv"], ["--json"], ["--ignore", "\x1b]0;"], ["--missing"]):
        try:
            _, out, err = run(capsys, "screen", named, *words)
        except SystemExit:
            out, err = capsys.readouterr()
        assert (out + err).replace("\n", "").isprintable()
    _, out, _ = run(capsys, "screen", named)
    assert r"\x1b[31mred" in out
    assert r"g\nh" in out
    table = out.split("\n\n")[1]
    assert len(table.splitlines()) == 3 + len(HOSTILE)


def test_topics_and_runs_never_reach_a_terminal_raw(capsys, inputs):
    Path("q").write_text("1\x1b[31m 0 a 1\n1\x1b[31m 0 b 0\n2 0 a 1\n")
    for name in ("r\x1b[2J", "other"):
        Path(name).write_text("1\x1b[31m Q0 a 1 5 x\n1\x1b[31m Q0 b 2 5 x\n")
    _, out, err = run(capsys, "evaluate", "q", "r\x1b[2J", "other", "-q")
    assert (out + err).replace("\n", "").isprintable()
    assert r"1\x1b[31m" in out
    assert r"r\x1b[2J: 1 topic with judgments" in out


@pytest.mark.parametrize(
    "form",
    [
        "file://{}",
        "local://{}",
        "simplecache::file://{}",
        "filecache::local://{}",
        "simplecache::filecache::file://{}",
    ],
)
@pytest.mark.parametrize("folder", [False, True])
def test_an_output_is_no_input_by_its_url(capsys, tmp_path, form, folder):
    path = tmp_path / "a.csv"
    path.write_text("label,qid,a\n1,1,3\n0,1,2\n")
    before = path.read_bytes()
    url = form.format(tmp_path if folder else path)
    assert main(["screen", url, f"--csv={path}", "--quiet"]) == 1
    said = capsys.readouterr().err
    # of a folder there is no copy to read
    copied = folder and "::" in form
    assert "--csv must not replace an input, got" in said or copied
    assert path.read_bytes() == before
