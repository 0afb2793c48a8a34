"""Commands say on large input that the compiled kernel is missing."""

from __future__ import annotations

import pytest

from tests.cli.helpers import run
from tieaware_sklearn._kernel import engines
from tieaware_sklearn.cli import _slow


@pytest.fixture
def no_kernel(monkeypatch):
    monkeypatch.setattr(engines, "missing", "it was not built")
    monkeypatch.delenv(engines.VARIABLE, raising=False)
    monkeypatch.setattr(_slow, "_MANY", 50)


@pytest.fixture
def trec(tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 {d} {d % 2}\n" for q in "abc" for d in range(8)))
    runs = [tmp_path / f"run{j}" for j in range(4)]
    for j, path in enumerate(runs):
        lines = (f"{q} Q0 {d} 1 {d % (j + 2)} r{j}\n" for q in "abc" for d in range(8))
        path.write_text("".join(lines))
    return [qrels, *runs]


def notes(err: str) -> list[str]:
    return [line for line in err.splitlines() if "kernel is missing" in line]


@pytest.mark.usefixtures("no_kernel")
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_large_runs_are_told_of_once(command, capsys, trec):
    code, out, err = run(capsys, command, *trec)
    assert code == 0
    (note,) = notes(err)
    assert note.startswith("tieaware: ")
    assert "pip install --force-reinstall" in note
    assert "missing" not in out
    # 48 scores
    assert not notes(run(capsys, command, *trec[:3])[2])


@pytest.mark.usefixtures("no_kernel")
@pytest.mark.parametrize("more", [[], ["--batch-rows", "5"]])
def test_large_files_are_told_of_once(more, capsys, letor, monkeypatch):
    _, _, err = run(capsys, "screen", letor, *more)
    assert len(notes(err)) == 1
    monkeypatch.setattr(_slow, "_MANY", 10**6)
    assert run(capsys, "screen", letor, *more)[2] == ""


@pytest.mark.usefixtures("no_kernel")
def test_who_chose_numpy_is_told_nothing(capsys, letor, monkeypatch):
    monkeypatch.setenv(engines.VARIABLE, "numpy")
    assert run(capsys, "screen", letor)[2] == ""


@pytest.mark.usefixtures("no_kernel")
def test_with_a_kernel_there_is_nothing_to_tell(capsys, letor, monkeypatch):
    monkeypatch.setattr(engines, "missing", None)
    assert run(capsys, "screen", letor)[2] == ""


@pytest.mark.usefixtures("no_kernel")
def test_the_version_comes_with_the_engine(capsys):
    with pytest.raises(SystemExit):
        run(capsys, "--version")
    out = " ".join(capsys.readouterr().out.split())
    assert "engine: " in out
    assert "the compiled kernel is missing: it was not built" in out
