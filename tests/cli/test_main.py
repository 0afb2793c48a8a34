"""The command line, as a shell user meets it; the demo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.helpers import INPUTS, run
from tieaware_sklearn._kernel import engines
from tieaware_sklearn.cli import _main, main
from tieaware_sklearn.cli._main import parsed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "the following arguments are required: COMMAND"),
        ("screen", "required: FILE"),
        ("launch", "invalid choice: 'launch'"),
        ("screen x --direction up", "'up'"),
        ("screen x --top -1", "at least 0 and below 9223372036854775808, got -1"),
        ("demo --jobs 0", "must be at least 1 and below 1025, or -1, got 0"),
        ("screen x --jobs -5", "got -5"),
        ("screen x --batch-rows 99999999999999999999", "got 99999999999999999999"),
        ("screen x --n-features 2147483648", "at least 1 and below 2147483648, got "),
        ("screen x --n-features 0", "got 0"),
        ("screen x --cs", "unrecognized arguments: --cs"),
        ("screen x --zero-relevance keep", "'keep'"),
        ("screen x --max-correlation some", "--max-correlation: "),
        # a file apart from its option
        ("screen x --csv y", "unrecognized arguments: y .*--csv and --json take =FILE"),
        ("evaluate q r --json new", "arguments: new .*--csv and --json take =FILE"),
    ],
)
def test_bad_usage_exits_with_2(capsys, words, said):
    with pytest.raises(SystemExit) as stopped:
        main(words.split())
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("usage: tieaware")
    assert re.search(said, err)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(5, "Input/output error"), 1, "error: Input/output error"),
        (OSError(5, "Broken", "x.txt"), 1, "error: x.txt: Broken"),
        (OSError("no words of its own"), 1, "error: no words of its own"),
        (MemoryError(), 1, "error: out of memory"),
        (ValueError("one\n  two\x1b"), 1, "error: one\n  two\\x1b"),
        (ImportError(), 1, "error: ImportError"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_are_said_in_words(monkeypatch, capsys, letor, error, code, said):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("tieaware_sklearn.cli._screen.open_files", fails)
    assert run(capsys, "screen", letor) == (code, "", f"tieaware: {said}\n")


def test_a_missing_kernel_is_told_of_after_a_long_time(monkeypatch, capsys, inputs):
    words = ["screen", "train.txt"]
    monkeypatch.setattr(engines, "missing", "it was not built")
    monkeypatch.delenv(engines.VARIABLE, raising=False)
    assert run(capsys, *words)[2] == ""
    monkeypatch.setattr(_main, "_LONG", 0)
    code, out, err = run(capsys, *words)
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
    assert run(capsys, *words)[2] == ""
    monkeypatch.delenv(engines.VARIABLE)
    monkeypatch.setattr(engines, "missing", None)
    assert run(capsys, *words)[2] == ""


@pytest.mark.parametrize(
    ("words", "shown"), [([], "12/12"), (["--batch-rows", "100"], "screening")]
)
def test_progress_on_a_terminal_only(monkeypatch, capsys, letor, words, shown):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert shown in run(capsys, "screen", letor, *words)[2]
    assert run(capsys, "screen", letor, *words, "--quiet")[2] == ""


@pytest.mark.parametrize(
    ("command", "files", "figures"),
    [
        ("demo", "", "chance, first, chosen, ±95%, q, repeats"),
        ("screen", "FILE [FILE ...] ", "chance, first, chosen, ±95%, q, repeats, lift"),
        ("merge", "FILE [FILE ...] ", "chance, first, ±95%, q, tie std"),
        ("evaluate", "QRELS RUN [RUN ...] ", "mean, worst, best, tie std, trec_eval"),
        ("compare", "QRELS RUN RUN [RUN ...] ", "mean, tie range, holds, d, A - B"),
    ],
)
def test_help_and_the_page_name_all_there_is(command, files, figures, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: tieaware {command} {files}[options]\n")
    first = "Give the files before the options." in " ".join(out.split())
    assert first == bool(files)
    assert ("--jobs N" in out) == (command != "merge")
    assert ("--csv [=FILE]" in out) == (command != "demo")
    told, _, examples = out.partition("\nfigures:\n")[2].partition("\nexamples:\n")
    for word in figures.split(", "):
        assert f"  {word} " in told
    assert max(map(len, out.splitlines())) <= 80
    for line in examples.splitlines():
        assert line.startswith("  tieaware ")
        # what follows is understood
        parsed(line.split()[1:])
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text("utf-8")
    section = page.split(f"\n## tieaware {command}\n")[1].split("\n## ")[0]
    # options stand in the first column
    rows = [line.split(" | ")[0] for line in section.splitlines() if line[:3] == "| `"]
    named = {word for row in rows for word in re.findall(r"`(--?[a-zA-Z][a-z-]*)", row)}
    described = _main._COMMANDS[command]
    options = {*described.options, *described.common()}
    assert named == {w for one in options for w in one.split() if w[0] == "-"}


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
        code, out, _ = run(capsys, *words)
        assert code == 0
        # the first line may name a file
        assert max(map(len, out.splitlines()[1:])) <= 80


def test_commas_between_measures_and_in_them():
    words = "ndcg(gain={0: 0, 1: 3})@10,ap", "p@1," + "," * 10**6
    found = parsed(["screen", "x", "--measures", *words]).measures
    assert found == ["ndcg(gain={0: 0, 1: 3})@10", "ap", "p@1"]


@pytest.mark.parametrize("name", ["digits.txt", "digits.csv", "digits.tsv.gz"])
def test_demo(capsys, inputs, name):
    code, shown, err = run(capsys, "demo", "--queries", 2, "--out", name)
    assert code == 0
    features = "; features 1 hamming, 2 l1, " * (name == "digits.txt")
    assert err.startswith(f"tieaware: wrote {name}{features}")
    found = re.search(
        r"has only (\d+) values, .* moves its AP from (\S+) to (\S+); the exact value "
        r"is (\S+)\.$",
        " ".join(shown.split()),
    )
    n_values, worst, best, exact = map(float, found.groups())
    assert n_values == 10
    assert worst < exact < best
    assert max(map(len, shown.splitlines())) <= 80
    for term in ("q", "first"):
        assert f"\n{term}  " in shown
    code, out, _ = run(capsys, "screen", name)
    assert code == 0
    assert "3592 documents, 2 queries, 7 features" in out
    if not features:
        # the same table, of the same names
        assert out.split("\n\n")[1] == shown.split("\n\n")[1]
    # it is shown though its data are lost
    said = "tieaware: error: /dev/full: No space left on device\n"
    words = ["demo", "--queries", 2, "--out", "/dev/full"]
    assert run(capsys, *words) == (1, shown, said)


@pytest.mark.parametrize("name", ["d.json", "d.parquet", "d.csv.zst", "d.csv.xz"])
def test_data_are_not_written_under_the_name_of_another_format(capsys, inputs, name):
    code, out, err = run(capsys, "demo", "--out", name)
    assert (code, out) == (1, "")
    assert err.startswith("tieaware: error: --out must name a file of LETOR text, CSV")
    assert name in err
    assert not (inputs / name).exists()
    code, _, err = run(capsys, "demo", "--queries", 0)
    assert (code, err) == (1, "tieaware: error: n_queries must be in 1..1797, got 0\n")
