"""The command demo."""

from __future__ import annotations

from tests.cli.helpers import run


def test_demo(capsys, tmp_path):
    path = tmp_path / "digits.txt"
    code, out, err = run(capsys, "demo", "--queries", 10, "--out", path)
    assert code == 0
    assert err.startswith(f"tieaware: wrote {path}; features 1 hamming, 2 l1, ")
    orders = [
        "relevant rows first",
        "as loaded",
        "shuffled",
        "relevant rows last",
        "exact, in any order",
    ]
    values = {}
    for line in out.splitlines():
        for name in orders:
            if line.startswith(name):
                values[name] = float(line.split()[-2])
    assert list(values) == orders
    best, *_, worst, exact = values.values()
    assert worst < exact < best
    code, out, _ = run(capsys, "screen", path)
    assert code == 0
    assert "17960 documents, 10 queries, 7 features" in out
    code, _, err = run(capsys, "demo", "--queries", 0)
    assert code == 1
    assert "n_queries must be in 1..1797, got 0" in err
