"""The command demo."""

from __future__ import annotations

import re

import pytest

from tests.cli.helpers import run


def test_demo(capsys, tmp_path):
    path = tmp_path / "digits.txt"
    code, out, err = run(capsys, "demo", "--queries", 10, "--out", path)
    assert code == 0
    assert err.startswith(f"tieaware: wrote {path}; features 1 hamming, 2 l1, ")
    found = re.search(
        r"moves its AP from (\S+) to (\S+); the exact value is (\S+)\.$",
        " ".join(out.split()),
    )
    worst, best, exact = map(float, found.groups())
    assert worst < exact < best
    shown = out
    code, out, _ = run(capsys, "screen", path)
    assert code == 0
    assert "17960 documents, 10 queries, 7 features" in out
    assert max(map(len, shown.splitlines())) <= 80
    for term in ("q", "first"):
        assert f"\n{term}  " in shown
    code, _, err = run(capsys, "demo", "--queries", 0)
    assert code == 1
    assert "n_queries must be in 1..1797, got 0" in err


@pytest.mark.parametrize("name", ["digits.csv", "digits.tsv.gz"])
def test_data_as_a_table_have_the_names_that_the_demo_shows(capsys, tmp_path, name):
    path = tmp_path / name
    code, shown, err = run(capsys, "demo", "--queries", 10, "--out", path)
    assert (code, err) == (0, f"tieaware: wrote {path}\n")
    _, out, _ = run(capsys, "screen", path)
    assert "17960 documents, 10 queries, 7 features" in out
    # the same table, of the same names
    assert out.split("\n\n")[1] == shown.split("\n\n")[1]


@pytest.mark.parametrize("name", ["d.json", "d.parquet", "d.csv.zst", "d.csv.xz"])
def test_data_are_not_written_under_the_name_of_another_format(capsys, tmp_path, name):
    code, out, err = run(capsys, "demo", "--out", tmp_path / name)
    assert (code, out) == (1, "")
    assert err.startswith("tieaware: error: ")
    assert name in err
    assert not list(tmp_path.iterdir())
