"""The command demo."""

from __future__ import annotations

import re

import pytest

from tests.cli.helpers import run


@pytest.mark.parametrize("name", ["digits.txt", "digits.csv", "digits.tsv.gz"])
def test_demo(capsys, tmp_path, name):
    path = tmp_path / name
    code, shown, err = run(capsys, "demo", "--queries", 10, "--out", path)
    assert code == 0
    features = "; features 1 hamming, 2 l1, " * (name == "digits.txt")
    assert err.startswith(f"tieaware: wrote {path}{features}")
    found = re.search(
        r"has only (\d+) values, .* moves its AP from (\S+) to (\S+); the exact value "
        r"is (\S+)\.$",
        " ".join(shown.split()),
    )
    n_values, worst, best, exact = map(float, found.groups())
    assert 10 < n_values <= 17
    assert worst < exact < best
    assert max(map(len, shown.splitlines())) <= 80
    for term in ("q", "first"):
        assert f"\n{term}  " in shown
    code, out, _ = run(capsys, "screen", path)
    assert code == 0
    assert "17960 documents, 10 queries, 7 features" in out
    if not features:
        # the same table, of the same names
        assert out.split("\n\n")[1] == shown.split("\n\n")[1]


@pytest.mark.parametrize("name", ["d.json", "d.parquet", "d.csv.zst", "d.csv.xz"])
def test_data_are_not_written_under_the_name_of_another_format(capsys, tmp_path, name):
    code, out, err = run(capsys, "demo", "--out", tmp_path / name)
    assert (code, out) == (1, "")
    assert err.startswith("tieaware: error: --out must name a file of LETOR text, CSV")
    assert name in err
    assert not list(tmp_path.iterdir())
    code, _, err = run(capsys, "demo", "--queries", 0)
    assert (code, err) == (1, "tieaware: error: n_queries must be in 1..1797, got 0\n")
