"""The command screen."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.helpers import run
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import dump_letor, load_letor


def test_screen_prints_a_table(capsys, letor, web):
    code, out, err = run(capsys, "screen", letor, "--top", 5)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert f"{len(web.target)} documents, 40 queries, 12 features" in lines[0]
    assert lines[2].split()[:4] == ["feature", "first", "chosen", "NDCG@10"]
    assert lines[4].startswith("(chance)")
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    best = int(np.argmin(selector.ranking_))
    cells = lines[5].split()
    assert cells[:3] == [str(best + 1), "high", "1"]
    assert cells[3] == f"{selector.mean_[best, 0]:.4f}"
    assert len(lines[5:10]) == 5
    assert "... and 7 more" in out
    passed = (selector.qvalues_[:, 0] <= 0.05).sum()
    assert f"{passed} of 12 features beat chance by NDCG@10" in out
    repeats = (selector.repeats_ >= 0).sum()
    left_out = f"{repeats} others repeat one of them (|rho| > 0.95)."
    assert f"{selector.support_.sum()} are selected; {left_out}" in out


def test_the_selection_is_that_of_the_selector(capsys, letor, web):
    for options, parameters in [
        ([], {}),
        (["--select", 5], {"n_features_to_select": 5}),
        (
            ["--select", 5, "--diversity", 0, "--max-correlation", "none"],
            {"n_features_to_select": 5, "diversity": 0, "max_correlation": None},
        ),
        (["--max-correlation", "0.3"], {"max_correlation": 0.3}),
        (
            ["--select", 6, "--diversity", 0.7, "--batch-rows", 200],
            {"n_features_to_select": 6, "diversity": 0.7},
        ),
    ]:
        selector = RankingFeatureSelector(**parameters)
        selector.fit(web.data, web.target, web.qid)
        code, out, _ = run(capsys, "screen", letor, *options, "--json")
        assert code == 0
        found = json.loads(out)
        names = [str(j + 1) for j in selector.selection_order_]
        assert found["selected"] == names
        rows = {row["feature"]: row for row in found["features"]}
        assert [rows[name]["chosen"] for name in names] == [*range(1, len(names) + 1)]
        for j in np.flatnonzero(selector.repeats_ >= 0):
            assert rows[str(j + 1)]["repeats"] == str(selector.repeats_[j] + 1)
            assert not rows[str(j + 1)]["selected"]


def test_a_selection_that_is_not_understood_is_an_error(capsys, letor):
    for options, message in [
        (["--select", 0], "n_features_to_select must be an integer >= 1"),
        (["--max-correlation", 2], "max_correlation must be in [0, 1] or None, got 2"),
        (["--diversity", -1], "diversity must be in [0, 1], got -1"),
    ]:
        code, _, err = run(capsys, "screen", letor, *options)
        assert code == 1
        assert message in err
    with pytest.raises(SystemExit):
        run(capsys, "screen", letor, "--max-correlation", "some")
    err = capsys.readouterr().err
    assert "--max-correlation: " in err
    assert "'some'" in err


def test_many_features_in_batches(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.txt"
    X, qid = rng.integers(0, 9, (24, 1001)), np.repeat(np.arange(6), 4)
    X[:, 1000] = -X[:, 0]
    dump_letor(X, rng.integers(0, 3, 24), path, qid=qid)
    command = ["screen", path, "--measures", "ap", "--top", 3, "--json"]
    code, out, err = run(capsys, *command, "--batch-rows", 8)
    assert code == 0
    assert "repeats are not looked for: of more than 1000 features in batches" in err
    code, _, err = run(capsys, *command, "--batch-rows", 8, "--select", 3)
    assert code == 1
    assert "got 1001 (--batch-rows 0 reads everything at once)" in err
    code, out, err = run(capsys, *command, "--select", 3)
    selector = RankingFeatureSelector("ap", n_features_to_select=3)
    data = load_letor(path)
    selector.fit(data.data, data.target, data.qid)
    names = [str(j + 1) for j in selector.selection_order_]
    assert json.loads(out)["selected"] == names


def test_measures_that_few_queries_have_say_so(capsys, tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("2 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:1\n0 qid:2 1:0\n1 qid:3 1:1\n")
    measures = ["--measures", "ap(rel=2)", "rr(rel=9)", "fallout@1", "ap"]
    _, out, _ = run(capsys, "screen", path, *measures, "--zero-relevance", "skip")
    assert "beat chance by AP(rel=2) (q <= 0.05; 1 queries)" in out
    assert "AP(rel=2) is averaged over 1 of 3 queries: it is undefined" in out
    assert "Warning: no query has a document that is relevant for RR(rel=9)." in out
    assert "Fallout@1 is averaged over 2 of 3 queries" in out
    assert "\nAP is" not in out
    _, out, _ = run(capsys, "screen", path, *measures)
    assert "of 3 queries" not in out


def test_one_query_is_warned_of_in_plain_words(capsys, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("1 qid:1 1:1\n0 qid:1 1:0\n")
    code, _, err = run(capsys, "screen", path)
    assert code == 0
    assert err.startswith("tieaware: warning: p-values need at least two queries")
