"""The command screen: tables of features, selections, files at once and in batches."""

import json
import re
import subprocess
import sys
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import fail, run, succeed
from tests.io.helpers import csv
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import dump_letor, load_letor
from tieaware_sklearn.io import _batches

COLUMNS = ["--label", "rating", "--qid", "query"]


@pytest.fixture(scope="module")
def frame(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    return frame.assign(rating=web.target, query=[f"q{q}" for q in web.qid], url="a/b")


def test_screen_prints_a_table(capsys, letor, web):
    code, out, err = run(capsys, "screen", letor, "--top", 5)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    said = f"{letor}: {len(web.target)} documents, 40 queries, 12 features"
    assert lines[0] == said
    assert lines[2].split()[:4] == ["feature", "direction", "chosen", "NDCG@10"]
    assert lines[4].startswith("(chance)")
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    best = int(np.argmin(selector.ranking_))
    figures = [str(best + 1), "descending", "1", f"{selector.mean_[best, 0]:.4f}"]
    assert lines[5].split()[:4] == figures
    assert len(lines[5:10]) == 5
    assert "... and 7 more (--top 0 shows all)" in out
    passed = (selector.qvalues_[:, 0] <= 0.05).sum()
    assert f"{passed} of 12 features beat chance by NDCG@10 (q <= 0.05; 40 qu" in out
    repeats = (selector.repeats_ >= 0).sum()
    left_out = f"{repeats} others repeat one of them (|rho| > 0.95)."
    assert f"{selector.support_.sum()} are selected; {left_out}" in out
    for words in ([], ["--top", 0]):
        assert "more (--top" not in run(capsys, "screen", letor, *words)[1]


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("--select 5 --diversity 0 --max-correlation none",
         {"n_features_to_select": 5, "diversity": 0, "max_correlation": None}),
        ("--max-correlation 0.3", {"max_correlation": 0.3}),
        ("--select 6 --diversity 0.7 --batch-rows 200",
         {"n_features_to_select": 6, "diversity": 0.7}),
        ("--direction ascending --measures rr ap --sort-by ap",
         {"measures": ["rr", "ap"], "sort_by": "ap", "direction": "ascending"}),
    ],
)  # fmt: skip
def test_the_selection_is_that_of_the_selector(capsys, letor, web, options, parameters):
    selector = RankingFeatureSelector(**parameters)
    selector.fit(web.data, web.target, web.qid)
    out, _ = succeed(capsys, "screen", letor, *options.split(), "--json=-")
    found = json.loads(out)
    assert found["sort_by"] == ("AP" if "sort_by" in parameters else "NDCG@10")
    names = [str(j + 1) for j in selector.selection_order_]
    assert found["selected"] == names
    rows = {row["feature"]: row for row in found["features"]}
    assert [rows[name]["chosen"] for name in names] == [*range(1, len(names) + 1)]
    for j in np.flatnonzero(selector.repeats_ >= 0):
        assert rows[str(j + 1)]["repeats"] == str(selector.repeats_[j] + 1)
        assert not rows[str(j + 1)]["selected"]


def test_many_features_in_batches(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.txt"
    X, qid = rng.integers(0, 9, (24, 1001)), np.repeat(np.arange(6), 4)
    X[:, 1000] = -X[:, 0]
    dump_letor(X, rng.integers(0, 3, 24), path, qid=qid)
    command = ["screen", path, "--measures", "ap", "--top", 3, "--json=-"]
    succeed(capsys, *command, "--batch-rows", 8, "--max-correlation", "none")
    err = fail(capsys, *command, "--batch-rows", 8)
    assert "got 1001 features: set --batch-rows 0 to read all rows at once" in err
    out, _ = succeed(capsys, *command, "--select", 3)
    selector = RankingFeatureSelector("ap", n_features_to_select=3)
    data = load_letor(path)
    selector.fit(data.data, data.target, data.qid)
    names = [str(j + 1) for j in selector.selection_order_]
    assert json.loads(out)["selected"] == names
    command += ["--ignore", "1001", "--batch-rows", 8]
    assert run(capsys, *command)[::2] == (0, "")


def test_measures_that_few_queries_have_say_so(capsys, tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("2 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:1\n0 qid:2 1:0\n1 qid:3 1:1\n")
    measures = ["--measures", "ap(rel=2)", "rr(rel=9)", "fallout@1", "ap"]
    _, out, _ = run(capsys, "screen", path, *measures, "--zero-relevance", "skip")
    assert "beat chance by AP(rel=2) (q <= 0.05; 1 queries)" in out
    out = " ".join(out.split())
    assert "3 queries; 2 without a relevant document are left out of AP(rel=2); " in out
    assert "Warning: no query has a document that is relevant for RR(rel=9)." in out
    assert "1 with relevant documents only is left out of Fallout@1." in out
    _, out, _ = run(capsys, "screen", path, *measures)
    assert "left out of" not in out
    path.write_text("1 qid:1 1:1\n0 qid:1 1:0\n")
    for words in ([], ["--batch-rows", 2]):
        _, err = succeed(capsys, "screen", path, *words)
        assert err.startswith("tieaware: warning: p-values need at least two queries")


@pytest.mark.parametrize("name", ["web.tsv.xz", "web.parquet", "web.txt"])
def test_screen_reads_files_at_once_and_in_batches(capsys, frame, web, tmp_path, name):
    path, columns, ignored = tmp_path / name, COLUMNS, "clicks"
    if name == "web.txt":
        columns, ignored = [], "2"
        dump_letor(web.data, web.target, path, qid=web.qid)
    elif name == "web.parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t")
    at_once = run(capsys, "screen", path, *columns)
    assert at_once[::2] == (
        0,
        "tieaware: columns that are not numeric or have no name are left out: url\n"
        * bool(columns),
    )
    assert run(capsys, "screen", path, *columns, "--batch-rows", 50) == at_once
    again = path.with_name(f"again-{name}")
    again.write_bytes(path.read_bytes())
    out, _ = succeed(capsys, "screen", path, again, *columns)
    assert out.startswith(f"{path} and 1 more: {2 * len(web.qid)} documents, 40 quer")
    # left out before it is looked at
    words = [*columns, "--ignore", ignored, *["url"] * bool(columns)]
    code, out, err = run(capsys, "screen", path, *words, "--csv=-")
    assert (code, err) == (0, "")
    features = {line.split(",")[1] for line in out.splitlines()}
    names = web.feature_names if columns else [*map(str, range(1, 13))]
    assert features == {"feature", *names} - {ignored}


def test_missing_values_and_columns_without_a_name(capsys, tmp_path):
    rows = [
        "1,1,1406,tbd,,",
        "0,1,3,4,,",
        f"1,NA,{2**62 + 1},0,,",
        f"0,NA,{2**62},,,",
    ]
    path = csv(tmp_path, "\n".join(["label,qid,x,t,n,", *rows]))
    words = ["--missing-values", "tbd", "--missing", "last"]
    out, err = succeed(capsys, "screen", path, "--json=-", *words, "--measures", "rr")
    assert err.startswith(
        "tieaware: columns that are not numeric or have no name are left out: "
    )
    assert err.endswith("\n")
    assert err.count("\n") == 1
    found = json.loads(out)
    assert found["n_queries"] == 2
    # a tie in float64, none in int64
    by_name = {row["feature"]: row["RR"] for row in found["features"]}
    assert by_name == {"x": 1, "t": 0.75}


def test_rows_in_any_order_in_folders_and_large_files(
    capsys, monkeypatch, frame, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shards").mkdir()
    frame.to_parquet("web.parquet")
    mixed = frame.sample(frac=1, random_state=0)
    for i in range(3):
        mixed.iloc[i::3].to_parquet(f"shards/{i}.parquet")
    wanted = run(capsys, "screen", "web.parquet", *COLUMNS)[1].splitlines()[1:]
    with mock.patch.object(_batches, "track", wraps=_batches.track) as track:
        out, _ = succeed(capsys, "screen", "shards", *COLUMNS)
        assert out.splitlines()[1:] == wanted
        monkeypatch.setattr("tieaware_sklearn.cli._screen._LARGE", 10_000)
        out, _ = succeed(capsys, "screen", "web.parquet", *COLUMNS)
        assert out.splitlines()[1:] == wanted
    batch_rows = [call.args[1] for call in track.call_args_list]
    assert batch_rows == [None, (1 << 22) // 12]
    # rows that do not stand together are an error that says what to do
    for words in ([], ["--batch-rows", 60]):
        err = fail(capsys, "screen", "shards", *COLUMNS, *words)
        assert "Sort the rows by query, and pass the files in" in err
    words = ["screen", "shards", *COLUMNS, "--batch-rows", 0]
    assert run(capsys, *words)[1].splitlines()[1:] == wanted
    err = fail(capsys, "screen", "shards", "--csv=shards/1.parquet")
    assert "must not replace an input, got shards/1" in err


@pytest.mark.parametrize("batch_rows", [0, 20])
def test_missing_labels_count_as_nonrelevant_or_are_left_out(
    capsys, frame, tmp_path, batch_rows
):
    gaps = frame.copy()
    gaps.loc[gaps.index % 3 == 0, "rating"] = np.nan
    gaps.loc[:40, "rating"] = np.nan  # and queries without a label

    def screened(table, *more):
        table.to_csv(tmp_path / "table.csv", index=False)
        options = [*COLUMNS, "--json=-", "--batch-rows", batch_rows]
        return run(capsys, "screen", tmp_path / "table.csv", *options, *more)

    code, out, err = screened(gaps)
    assert (code, out) == (1, "")
    n_rows = len(gaps) if batch_rows == 0 else 48
    n_missing = gaps.rating[:n_rows].isna().sum()
    said = (
        f"row 2: the label is missing. Rows without a label: {n_missing} of {n_rows}. "
    )
    for one in (
        said,
        "Set --unjudged nonrelevant to count",
        "--unjudged drop to leave",
    ):
        assert one in err
    for how, alike in (
        ("drop", gaps.dropna(subset="rating")),
        ("nonrelevant", gaps.fillna({"rating": 0})),
    ):
        code, out, _ = screened(gaps, "--unjudged", how)
        assert code == 0
        found, wanted = json.loads(out), json.loads(screened(alike)[1])
        for key in ("n_documents", "n_queries"):
            assert found[key] == wanted[key]
        # other batches are added up in another order
        for one, other in zip(found["features"], wanted["features"], strict=True):
            assert one["NDCG@10"] == pytest.approx(other["NDCG@10"])
    one = gaps.assign(rating=[1.0] + [np.nan] * (len(gaps) - 1)).iloc[::-1]
    assert screened(one, "--unjudged", "drop")[0] == 0


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (-1, "row 3: a label must be finite and >= 0, got -1"),
        (1, "row 2: feature b must be finite, got inf. Set --missing-values"),
    ],
)
def test_the_first_bad_value_is_told(capsys, tmp_path, label, message):
    path = csv(tmp_path, f"label,qid,a,b\n1,1,2,inf\n{label},1,inf,1\n")
    assert message in fail(capsys, "screen", path)


@pytest.mark.parametrize("batch_rows", [0, 1])
def test_a_label_that_a_measure_refuses_is_named(capsys, tmp_path, batch_rows):
    path = csv(tmp_path, "label,qid,x\n1,1,5\n100,2,7\n2,2,3\n")
    options = ["--measures", "rr", "err", "--batch-rows", batch_rows]
    err = fail(capsys, "screen", path, *options)
    said = r"table.csv, row 3: .*ERR: a label must be <= max_label=4 .* got 100"
    assert re.search(said, err)
    succeed(capsys, "screen", path, "--measures", "ndcg(gain=linear)")


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_table_comes_through_a_pipe(name):
    text = "rating;qid;x\n1;a;1,5\n0;a;2\n0;b;1\n1;b;0,5\n"
    options = ["--label", "rating", "--measures", "ap", "--csv=-"]
    command = [sys.executable, "-m", "tieaware_sklearn", "screen", name, *options]
    pipes = {"capture_output": True, "text": True, "check": False}
    for given in ([], ["--format", "csv"]):
        words = [*command, "--decimal", ",", *given]
        done = subprocess.run(words, input=text, **pipes)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[1].split(",")[1] == "x"
    done = subprocess.run(command, input="1 1:5\n", **pipes)
    assert done.returncode == 1
    assert "--query-file" in done.stderr


def test_a_table_of_gains_needs_no_gain_of_missing_labels(tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_text("1 qid:1 1:2\nnan qid:1 1:1\n0 qid:1 1:0\n")
    words = ["--unjudged", "nonrelevant", "--measures", "ndcg(gain={0:0,1:3})"]
    succeed(capsys, "screen", path, *words)
