"""The command line as a shell user meets it: words, streams, signals; the demo."""

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout, suppress
from pathlib import Path
from unittest import mock

import pytest

from tests.cli.helpers import INPUTS, fail, run, succeed
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.cli import _main, main
from tieaware_sklearn.evaluation import _prepared
from tieaware_sklearn.feature_selection import _selection, _text
from tieaware_sklearn.io import _locate
from tieaware_sklearn.io._batches import track

TIEAWARE = [sys.executable, "-m", "tieaware_sklearn"]
NO_SPACE = "standard output: No space left on device"


BAD_USAGE = [
    ("", "the following arguments are required: COMMAND"),
    ("screen", "required: FILE"),
    ("launch", "invalid choice: 'launch'"),
    ("screen x --direction up", "'up'"),
    ("screen x --top -1", "must be at least 0, got -1"),
    ("screen x --select 0", "--select: must be at least 1"),
    ("screen x --n-features 0", "got 0"),
    ("screen x --cs", "unrecognized arguments: --cs"),
    ("screen x --zero-relevance keep", "'keep'"),
    ("screen x --max-correlation some", "--max-correlation: "),
    ("screen x --csv", "--csv: expected one argument"),
]


@pytest.mark.parametrize(("words", "said"), BAD_USAGE)
def test_bad_usage_exits_with_2(capsys, words, said):
    with pytest.raises(SystemExit) as stopped:
        main(words.split())
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: tieaware")
    assert re.search(said, err)


#: beside those of INPUTS
FAULTY = {
    "fine.txt": "1 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:0\n",
    "below.txt": "# \n\n-1 qid:1 1:1\n",
    "above.txt": "inf qid:1 1:1\n",
    "unjudged.txt": "nan qid:1 1:1\n",
    "gap.txt": "0 qid:1 1:0\n1 qid:1 1:nan\n",
    "inf.txt": "0 qid:1 1:0\n1 qid:1 1:inf\n",
    "below.csv": "label,qid,x\n0,1,1\n0,2,1\n-1,3,1\n",
    "cut": "1 Q0 e 1 1 x\n1 Q0 e\n",
    "graded": "2 0 a -1\n2 0 b 100\n",
}
FINITE = "a label must be finite and >= 0, got"
OF_GAP = "gap.txt, line 2: feature 1 is missing. Number of missing values: 1. "
OF_GAP += "Set --missing last to rank missing values below all others"
INFINITE = (
    "inf.txt, line 2: feature 1 must be finite, got inf. Set --missing-values=inf"
)
REFUSED = "graded: topic 2, document b: NDCG@2: a label must be <= 60"
OF_TABLES = "--label and --qid are for CSV and Parquet files, but fine.txt is read as"
NOT_LETOR = "must not be given for LETOR text"


ERRORS = [
    ("screen absent.txt", "absent.txt: No such file or directory"),
    ("screen no/*", "FILE: there is no file to read in no/*"),
    ("screen fine.txt below.csv", "all files must be of one kind"),
    ("screen below.txt", f"below.txt, line 3: {FINITE} -1"),
    ("screen above.txt", f"above.txt, line 1: {FINITE} inf"),
    ("screen below.csv --batch-rows 2", f"below.csv, row 4: {FINITE} -1"),
    ("screen fine.txt gap.txt", OF_GAP),
    ("screen fine.txt inf.txt", INFINITE),
    ("screen unjudged.txt --unjudged drop", "txt: no document has a label"),
    ("screen fine.txt --label x", OF_TABLES),
    ("screen fine.txt --qid x", OF_TABLES),
    ("screen fine.txt --decimal ,", f"decimal {NOT_LETOR}"),
    ("screen fine.txt --quoting none", f"quoting {NOT_LETOR}"),
    ("screen below.csv --query-file q", "query_file must not be given for"),
    ("screen fine.txt --measures ndgc@10", "did you mean 'NDCG@10'?"),
    ("screen fine.txt --measures fallout --zero-relevance raise", "undef"),
    ("evaluate q1 missing", "missing: No such file"),
    ("evaluate q1 cut", "cut, line 2: must have 6 columns"),
    ("evaluate graded r1 --measures ap ndcg@2", REFUSED),
    ("compare graded r1 r2 --measures ndcg@2", REFUSED),
    ("compare q1 r1", "RUN or --score must name two or more systems, got only r1"),
    ("demo --queries 0", "error: n_queries must be an integer from 1 to 1797, got 0"),
]


@pytest.mark.parametrize(("words", "message"), ERRORS)
def test_errors_are_one_line(capsys, inputs, words, message):
    for name, text in FAULTY.items():
        (inputs / name).write_text(text)
    err = fail(capsys, *words.split())
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("tieaware: error: ")
    # a label is refused for the measure that cannot take it alone
    succeed(capsys, "evaluate", "graded", "r1", "--measures", "ndcg(gain=linear)@2")


ERRORS_OF_PYTHON = [
    (OSError(5, "Input/output error"), 1, "error: Input/output error"),
    (OSError(5, "Broken", "x.txt"), 1, "error: x.txt: Broken"),
    (OSError("no words of its own"), 1, "error: no words of its own"),
    (MemoryError(), 1, "error: MemoryError"),
    (ValueError("one\x1b"), 1, "error: one\\x1b"),
    (ImportError(), 1, "error: ImportError"),
    (KeyboardInterrupt(), 130, "interrupted"),
]


@pytest.mark.parametrize(("error", "code", "said"), ERRORS_OF_PYTHON)
def test_errors_are_said_in_words(capsys, letor, error, code, said):
    with mock.patch("tieaware_sklearn.io._batches.open_files", side_effect=error):
        assert run(capsys, "screen", letor) == (code, "", f"tieaware: {said}\n")


@pytest.mark.parametrize(
    ("words", "shown"), [([], "12/12"), (["--batch-rows", "100"], "screening")]
)
def test_progress_on_a_terminal_only(monkeypatch, capsys, letor, words, shown):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert shown in run(capsys, "screen", letor, *words)[2]
    assert run(capsys, "screen", letor, *words, "--quiet")[2] == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert run(capsys, "screen", letor, *words)[2] == ""


PAGES = [
    ("demo", ""),
    ("screen", "FILE [FILE ...] "),
    ("evaluate", "QRELS RUN [RUN ...] "),
    ("compare", "QRELS RUN RUN [RUN ...] "),
]


@pytest.mark.parametrize(("command", "files"), PAGES)
def test_help_and_the_page_name_all_there_is(command, files, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: tieaware {command} {files}[options]\n")
    first = "Give the files before the options." in " ".join(out.split())
    assert first == bool(files)
    assert "--jobs N" in out
    assert ("--csv FILE" in out) == (command != "demo")
    _, _, examples = out.partition("\nexamples:\n")
    assert max(map(len, out.splitlines())) <= 80
    for line in examples.splitlines():
        assert line.startswith("  tieaware ")
        # what follows is understood
        _main.parsed(line.split()[1:])
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text("utf-8")
    section = page.split(f"\n## tieaware {command}\n")[1].split("\n## ")[0]
    commands = re.findall(rf"^(?:\$ )?(tieaware {command} .*)", section, re.M)
    named = set(re.findall(r"`(--?[a-zA-Z][a-z-]*)", section))
    for one in commands:
        named |= set(re.findall(r" (--?[a-zA-Z][a-z-]*)", one))
    options = out.partition("\noptions:\n")[2].partition("\nexamples:\n")[0]
    assert named
    assert named <= set(re.findall(r"(?<!\S)--?[a-zA-Z][a-z-]*", options))


def test_tables_of_commands_fit_80_columns(inputs, capsys):
    names = ",".join(f"ranked/{j}" for j in range(9))
    rows = [f"{d % 2},{q},{','.join(str(d % j) for j in range(2, 11))}"
            for q in range(3) for d in range(8)]  # fmt: skip
    Path("x.csv").write_text("\n".join([f"label,qid,{names}", *rows, ""]))
    runs = [f"run{j}" for j in range(6)]
    for name in runs:
        Path(name).write_text(INPUTS["r1"].replace("x", f"ranked{name[-1]}"))
    measures = ["--measures", "ndcg@10", "ap", "p@5"]
    for words in (
        ["screen", "x.csv", *measures],
        ["evaluate", "q1", *runs, *measures, "-q"],
        ["evaluate", "q1", "run0", *measures],
        ["compare", "q1", *runs, *measures, "--test", "randomization"],
    ):
        out, _ = succeed(capsys, *words)
        # the first line may name a file
        assert max(map(len, out.splitlines()[1:])) <= 80


@pytest.mark.parametrize("name", ["digits.csv", "digits.csv.gz"])
def test_demo(capsys, inputs, name):
    shown, err = succeed(capsys, "demo", "--queries", 2, "--out", name)
    assert err == f"tieaware: wrote {name}\n"
    found = re.search(
        r"has only (\d+) values, .* moves its AP from (\S+) to (\S+); the exact value "
        r"is (\S+)\.$",
        " ".join(shown.split()),
    )
    n_values, worst, best, exact = map(float, found.groups())
    assert n_values == 10
    assert worst < exact < best
    assert max(map(len, shown.splitlines())) <= 80
    for term in ("qvalue", "direction"):
        assert f"\n{term}  " in shown
    out, _ = succeed(capsys, "screen", name)
    assert "3592 documents, 2 queries, 7 features" in out
    # the same table, of the same names
    assert out.split("\n\n")[1] == shown.split("\n\n")[1]
    # it is shown without a file, and though its data are lost
    words = ["demo", "--queries", 2]
    assert run(capsys, *words) == (0, shown, "")
    said = "tieaware: error: /dev/full: No space left on device\n"
    assert run(capsys, *words, "--out", "/dev/full") == (1, shown, said)


# streams and signals
@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        # a reader that leaves, as head does, is no error
        ("tieaware screen train.txt --csv=- | head -c 1", 0, "r", ""),
        ("tieaware screen train.txt > /dev/full", 1, "", f"error: {NO_SPACE}\n"),
        ("TIEAWARE_ENGINE=fast tieaware --version", 1, "", "error: TIEAWARE_ENGINE "
         "must be one of ('compiled', 'numpy'), got 'fast'\n"),
    ],
)  # fmt: skip
def test_in_a_shell(inputs, words, code, out, err):
    words = words.replace("tieaware", shlex.join(TIEAWARE), 1)
    pipes = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run(words, shell=True, check=False, **pipes)
    assert done.returncode == code
    assert done.stdout.startswith(out)
    assert bool(done.stdout) == bool(out)
    assert done.stderr == f"tieaware: {err}" * bool(err)


def test_help_imports_little_and_signals_stay_as_they_were():
    # in the background of a shell, interrupts are ignored from the start
    code = (
        "import signal, sys; handler = signal.getsignal(signal.SIGINT)\n"
        "from tieaware_sklearn.cli import main\n"
        "print(signal.getsignal(signal.SIGINT) is handler)\n"
        "try: main(['screen', '--help'])\n"
        "except SystemExit: print({'sklearn', 'scipy', 'matplotlib', 'pandas', 'tqdm', "
        "'pyarrow'} & set(sys.modules), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True\nusage: tieaware screen")
    assert done.stderr == "set()\n"


def test_defaults_and_choices_are_those_of_the_library(capsys):
    arguments = _main.parsed(["screen", "x"])
    assert arguments.direction == RankingFeatureSelector().direction
    assert arguments.measures == [*_prepared.DEFAULT_MEASURES]
    with pytest.raises(SystemExit):
        main(["screen", "--help"])
    page = capsys.readouterr().out
    assert f"--direction {{{','.join(_selection.DIRECTIONS)}}}" in page
    assert f"--format {{{','.join(_locate.FORMATS)}}}" in page
    assert f"(default: {_text.SHOWN} in" in page


def test_standard_input_in_batches_and_a_plain_terminal(inputs, monkeypatch, capsys):
    wanted = run(capsys, "screen", "train.txt")[1]
    assert "±95%" in wanted
    text = (inputs / "train.txt").read_bytes()
    for words in ([], ["--batch-rows", "1"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "ascii")) as shown:
            assert main(["screen", "-", *words]) == 0
        shown.seek(0)
        assert shown.read() == wanted.replace("train.txt", "-").replace("±", "?")
    text = io.TextIOWrapper(io.BytesIO(b"1 qid:1 1:2\n\n-1 qid:1 1:3\n"))
    monkeypatch.setattr(sys, "stdin", text)
    err = run(capsys, "screen", "-")[2]
    assert "standard input, line 3: a label must be finite and >= 0, got -1" in err


LOST_REPORTS = [
    ("screen - --quiet", "stdin", "standard input is closed"),
    ("evaluate - r1", "stdin", "standard input is closed"),
    ("screen train.txt --csv=-", "full", NO_SPACE),
    ("evaluate q1 r1 --json=-", "full", NO_SPACE),
    ("--help", "full", NO_SPACE),
    ("demo --queries 1", "full", NO_SPACE),
]


@pytest.mark.parametrize(("words", "name", "message"), LOST_REPORTS)
def test_a_lost_report_is_an_error(inputs, monkeypatch, capsys, words, name, message):
    with open("/dev/full", "w") as full:
        full.reconfigure(line_buffering=False)
        stream = "stdout" if name == "full" else name
        monkeypatch.setattr(sys, stream, full if name == "full" else None)
        assert main(words.split()) == 1
    assert capsys.readouterr().err == f"tieaware: error: {message}\n"
    assert not (inputs / "new").exists()


@pytest.mark.parametrize("full", [False, True])
def test_a_reader_that_has_seen_enough_costs_no_file(inputs, monkeypatch, capsys, full):
    read, written = os.pipe()
    os.close(read)
    to = "/dev/full" if full else "o.json"
    with os.fdopen(written, "w") as left:
        monkeypatch.setattr(sys, "stdout", left)
        assert main(["evaluate", "q1", "r1", "--csv=o.csv", f"--json={to}"]) == 1
    said = "tieaware: error: /dev/full: No space left on device\n"
    assert capsys.readouterr().err == said * full
    assert (inputs / "o.csv").exists()
    assert (inputs / "o.json").exists() != full


@pytest.fixture
def _handlers():
    """Those of a new process, whatever started the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("batch_rows", [0, 100])
@pytest.mark.usefixtures("_handlers")
def test_nothing_is_written_by_an_interrupted_screening(
    letor, tmp_path, monkeypatch, capsys, batch_rows
):
    def until(*arguments):
        for batch in track(*arguments):
            signal.raise_signal(signal.SIGINT)
            yield batch

    monkeypatch.setattr("tieaware_sklearn.io._batches.track", until)
    files = [tmp_path / "found.csv", tmp_path / "found.json"]
    for file in files:
        file.write_text("old")
    words = [letor, "--batch-rows", batch_rows, "--quiet"]
    words += [f"--csv={files[0]}", f"--json={files[1]}"]
    assert run(capsys, "screen", *words) == (130, "", "tieaware: interrupted\n")
    assert {file.read_text() for file in tmp_path.iterdir()} == {"old"}


@pytest.mark.weekly
@pytest.mark.usefixtures("_handlers")
def test_a_command_stopped_while_it_writes(tmp_path):
    target = tmp_path / "digits.txt"
    target.write_text("old")
    command = [*TIEAWARE, "demo", "--queries", "600", "--out", str(target)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            # one may have its own name by now
            with suppress(FileNotFoundError):
                if any(part.stat().st_size for part in tmp_path.glob(".*.part")):
                    process.send_signal(signal.SIGINT)
                    break
            time.sleep(0.005)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == [target.name]
