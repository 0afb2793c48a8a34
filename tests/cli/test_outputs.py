"""Figures for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess

from tests.cli.helpers import run
from tieaware_sklearn import RankingFeatureSelector


def test_screen_writes_csv_and_json(capsys, letor, web, tmp_path):
    names = ["--measures", "ap(rel=2)", "f(rel=2,beta=2)@5,rr"]
    to_csv, to_json = tmp_path / "out.csv", tmp_path / "out.json"
    code, out, _ = run(
        capsys, "screen", letor, *names, "--csv", to_csv, "--json", to_json
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
    assert run(capsys, "screen", letor, "--csv", link)[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("rank,feature")
    assert target.stat().st_mode & 0o777 == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert run(capsys, "screen", letor, "--csv", pipe)[0] == 0
        assert reader.stdout.read().startswith(b"rank,feature")
    assert pipe.is_fifo()
