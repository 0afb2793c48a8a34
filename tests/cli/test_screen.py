"""The command screen."""

from __future__ import annotations

import numpy as np

from tests.cli.helpers import run
from tieaware_sklearn import RankingFeatureSelector


def test_screen_prints_a_table(capsys, letor, web):
    code, out, err = run(capsys, "screen", letor, "--top", 5)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert f"{len(web.target)} documents, 40 queries, 12 features" in lines[0]
    assert lines[2].split()[:4] == ["feature", "rank", "first", "NDCG@10"]
    assert lines[4].startswith("(chance)")
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    best = int(np.argmin(selector.ranking_))
    cells = lines[5].split()
    assert cells[:3] == [str(best + 1), "1", "high"]
    assert cells[3] == f"{selector.mean_[best, 0]:.4f}"
    assert len(lines[5:10]) == 5
    assert "... and 7 more" in out
    assert f"{selector.support_.sum()} of 12 features beat chance by NDCG@10" in out


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
