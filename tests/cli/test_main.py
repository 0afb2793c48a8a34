"""The command line, as a shell user meets it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import run
from tieaware_sklearn._kernel import engines
from tieaware_sklearn.cli import _main, main
from tieaware_sklearn.cli._main import parsed


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["screen"],
        ["launch"],
        ["screen", "x", "--direction", "up"],
        ["screen", "x", "--top", "-1"],
        ["screen", "x", "--top", "few"],
        ["screen", "x", "--jobs", "two"],
        ["demo", "--jobs", "0"],
        ["screen", "x", "--jobs", "-5"],
        ["screen", "x", "--jobs", "99999999999999999999"],
        ["screen", "x", "--batch-rows", "99999999999999999999"],
        ["screen", "x", "--cs"],
        ["screen", "x", "--zero-relevance", "keep"],
    ],
)
def test_bad_usage_exits_with_2(capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: tieaware" in capsys.readouterr().err


def shell(command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, **options
    )


def test_as_a_module_and_in_a_pipe(letor):
    module = [sys.executable, "-m", "tieaware_sklearn"]
    assert shell([*module, "--version"]).stdout.strip()
    assert "screen" in shell([*module, "--help"]).stdout
    done = shell([*module, "screen", letor, "--top", "0"])
    assert done.returncode == 0
    assert done.stderr == ""
    # a reader that closes at once, as head does
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(
        [*module, "screen", letor], stdout=write, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(write)
        _, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


@pytest.mark.parametrize("words", ["--csv", "--json=-", "--csv=/dev/stdout"])
def test_a_reader_that_leaves_is_no_error(letor, words):
    command = f"{sys.executable} -m tieaware_sklearn screen {letor} {words} | head -c 1"
    done = shell(["sh", "-c", command])
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) == 1


def test_help_takes_no_optional_library():
    # scikit-learn imports pandas by itself: what counts is what we add
    code = (
        "import sys, sklearn.feature_selection; before = set(sys.modules)\n"
        "from tieaware_sklearn.cli import main\n"
        "try: main(['screen', '--help'])\n"
        "except SystemExit: print({'matplotlib', 'pandas', 'tqdm', 'pyarrow'} &"
        " (set(sys.modules) - before), file=sys.stderr)"
    )
    assert shell([sys.executable, "-c", code]).stderr == "set()\n"


def test_standard_input_and_plain_terminals(letor):
    module = [sys.executable, "-m", "tieaware_sklearn", "screen"]
    with open(letor, "rb") as file:
        done = shell([*module, "-", "--top", "1"], stdin=file)
    assert done.returncode == 0
    assert done.stdout == shell([*module, letor, "--top", "1"]).stdout.replace(
        letor, "-"
    )
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = shell([*module, letor], env=ascii_only)
    assert done.returncode == 0
    assert "?95%" in done.stdout
    piped = shell(["sh", "-c", f"{' '.join(module)} {letor} --csv=/dev/stdout | cat"])
    assert piped.stderr == ""
    assert piped.stdout.startswith("rank,feature")
    text = "1 qid:1 1:2\n\n-1 qid:1 1:3\n"
    done = shell([*module, "-"], input=text)
    assert done.returncode == 1
    assert "standard input, line 3: a label must be finite and >= 0" in done.stderr
    closed = shell(["sh", "-c", f"{' '.join(module)} {letor} >&-"])
    assert "Traceback" not in closed.stderr


def test_interrupted(monkeypatch, capsys, letor):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tieaware_sklearn.cli._screen.open_files", interrupt)
    assert run(capsys, "screen", letor)[0] == 130


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(5, "Input/output error"), "Input/output error"),
        (OSError(5, "Input/output error", "x.txt"), "x.txt: Input/output error"),
        (OSError("no words of its own"), "no words of its own"),
        (MemoryError(), "out of memory"),
        (ValueError("one\n  two\x1b"), "one\n  two\\x1b"),
    ],
)
def test_errors_are_said_in_words(monkeypatch, capsys, letor, error, said):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("tieaware_sklearn.cli._screen.open_files", fails)
    code, out, err = run(capsys, "screen", letor)
    assert (code, out, err) == (1, "", f"tieaware: error: {said}\n")


def test_a_missing_kernel_is_told_of_after_a_long_time(monkeypatch, capsys, letor):
    monkeypatch.setattr(engines, "missing", "it was not built")
    monkeypatch.delenv(engines.VARIABLE, raising=False)
    assert run(capsys, "screen", letor)[2] == ""
    monkeypatch.setattr(_main, "_LONG", 0)
    code, out, err = run(capsys, "screen", letor)
    assert code == 0
    assert err.startswith("tieaware: the compiled kernel is missing (it was not built)")
    assert "pip install --force-reinstall" in err
    assert err.count("\n") == 1
    assert "missing" not in out
    with pytest.raises(SystemExit):
        run(capsys, "--version")
    version = " ".join(capsys.readouterr().out.split())
    assert "the compiled kernel is missing: it was not built" in version
    # who chose NumPy's engine is told nothing
    monkeypatch.setenv(engines.VARIABLE, "numpy")
    assert run(capsys, "screen", letor)[2] == ""
    monkeypatch.delenv(engines.VARIABLE)
    monkeypatch.setattr(engines, "missing", None)
    assert run(capsys, "screen", letor)[2] == ""


def test_progress_on_a_terminal_only(monkeypatch, capsys, letor):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _, _, err = run(capsys, "screen", letor)
    assert "12/12" in err
    _, _, err = run(capsys, "screen", letor, "--quiet")
    assert err == ""


@pytest.mark.parametrize("command", ["demo", "screen", "evaluate", "compare"])
def test_help_begins_with_the_files_and_ends_with_figures_and_examples(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    files = {"demo": "", "screen": "FILE [FILE ...] "}.get(command, "QRELS RUN ")
    assert out.startswith(f"usage: tieaware {command} {files}")
    assert out.splitlines()[0].endswith(" [options]")
    figures, _, examples = out.partition("\nfigures:\n")[2].partition("\nexamples:\n")
    words = {"evaluate": "tie std, trec_eval", "compare": "tie range, holds, d"}
    for word in words.get(command, "chance, first, ±95%, q").split(", "):
        assert f"  {word} " in figures
    examples = examples.splitlines()
    assert all(line.startswith("  tieaware ") for line in examples)
    assert max(map(len, out.splitlines())) <= 80
    for line in examples:
        # what follows is understood
        parsed(line.split()[1:])


def test_tables_of_commands_fit_80_columns(tmp_path, capsys):
    long = "ranked"
    table, qrels = tmp_path / "x.csv", tmp_path / "qrels"
    names = ",".join(f"{long}/{j}" for j in range(9))
    rows = [f"{d % 2},{q},{','.join(str(d % j) for j in range(2, 11))}" for q in "abc"
            for d in range(8)]  # fmt: skip
    table.write_text("\n".join([f"label,qid,{names}", *rows, ""]))
    qrels.write_text("".join(f"{q} 0 {d} {d % 2}\n" for q in "abc" for d in range(8)))
    runs = [tmp_path / f"run{j}" for j in range(6)]
    for j, path in enumerate(runs, start=2):
        lines = (f"{q} Q0 {d} 1 {d % j} {long}{j}\n" for q in "abc" for d in range(8))
        path.write_text("".join(lines))
    measures = ["--measures", "ndcg@10", "ap", "p@5"]
    for words in (
        ["screen", table, *measures],
        ["evaluate", qrels, *runs, *measures, "-q"],
        ["evaluate", qrels, runs[0], *measures],
        ["compare", qrels, *runs, *measures, "--test", "randomization"],
        ["demo", "--queries", "5"],
    ):
        code, out, _ = run(capsys, *words)
        assert code == 0
        # the first line may name a file
        assert max(map(len, out.splitlines()[1:])) <= 80


@pytest.mark.parametrize("command", list(_main._COMMANDS))
def test_the_page_names_every_option_and_no_other(command):
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text("utf-8")
    section = page.split(f"\n## tieaware {command}\n")[1].split("\n## ")[0]
    # options stand in the first column
    rows = [line.split(" | ")[0] for line in section.splitlines() if line[:3] == "| `"]
    named = {word for row in rows for word in re.findall(r"`(--?[a-zA-Z][a-z-]*)", row)}
    described = _main._COMMANDS[command]
    options = {*described.options, *described.common()}
    known = {word for one in options for word in one.split() if word[0] == "-"}
    assert named == known


def test_commas_between_measures_and_in_them():
    words = "ndcg(gain={0: 0, 1: 3})@10,ap", "p@1," + "," * 10**6
    found = parsed(["screen", "x", "--measures", *words]).measures
    assert found == ["ndcg(gain={0: 0, 1: 3})@10", "ap", "p@1"]
