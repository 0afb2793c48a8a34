"""The commands evaluate and compare on tables with columns of scores."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import fail, run, succeed
from tieaware_sklearn import RankingReport, compare_systems, evaluate
from tieaware_sklearn.cli import main

KEYS = ["--qid", "q", "--label", "y"]
BOTH = [*KEYS, "--score", "new", "old", "--measures", "ap", "rr"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of two systems, whose rows are in no order, in three formats."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 240)
    table = pd.DataFrame(
        {
            "q": rng.permutation(np.repeat(np.arange(12), 20)),
            "y": labels,
            "new": rng.integers(0, 5, 240) + labels,
            "old": rng.integers(0, 5, 240) / 4,
            "text": "word",
        }
    )
    table.to_parquet("scores.parquet")
    table.to_csv("scores.csv", index=False)
    table.to_csv("scores.tsv", index=False, sep="\t")
    return table


def report_of(table, name, **options):
    return evaluate(table.y, table[name], qid=table.q, measures=["ap", "rr"], **options)


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv"])
@pytest.mark.parametrize("average", ["macro", "median"])
def test_evaluate_writes_the_summary_of_each_column(table, capsys, ending, average):
    words = [f"scores.{ending}", *BOTH, "--average", average, "--csv=o.csv"]
    found = json.loads(succeed(capsys, "evaluate", *words, "--json=-")[0])
    rows = pd.read_csv("o.csv")
    results = pd.DataFrame(found.pop("results")).fillna(np.nan)
    pd.testing.assert_frame_equal(results, rows, check_dtype=False)
    assert found == {
        "read": f"scores.{ending}: 240 rows, 12 queries, 2 features",
        "average": average,
        "measures": ["AP", "RR"],
    }
    assert rows.system.tolist() == ["new", "new", "old", "old"]
    for name, part in rows.groupby("system"):
        summary = report_of(table, name).summary(average).to_pandas()
        wanted = summary.assign(system=name)[part.columns].reset_index(drop=True)
        pd.testing.assert_frame_equal(
            part.reset_index(drop=True), wanted, rtol=1e-12, check_dtype=False
        )


def test_evaluate_prints_a_table_for_each_column(table, capsys):
    out, _ = succeed(capsys, "evaluate", "scores.csv", *BOTH)
    new, old, meanings = out.split("\n\n")
    for name, text in (("new", new), ("old", old)):
        head, _, ap, _, queries = text.splitlines()
        assert head.split()[:4] == [name, "mean", "worst", "best"]
        mean = report_of(table, name).summary().mean[0]
        assert ap.split()[:2] == ["AP", f"{mean:.4f}"]
        assert queries == "12 queries"
    assert meanings.startswith("mean  ")
    assert max(map(len, out.splitlines())) <= 80


def test_several_tables_are_one(table, capsys):
    table[:100].to_csv("part-1.csv", index=False)
    table[100:].to_csv("part-2.csv", index=False)
    wanted = succeed(capsys, "evaluate", "scores.csv", *BOTH)
    assert succeed(capsys, "evaluate", "part-1.csv", "part-2.csv", *BOTH) == wanted
    assert succeed(capsys, "evaluate", "part-*.csv", *BOTH) == wanted


def test_rows_of_each_query(table, capsys):
    succeed(capsys, "evaluate", "scores.csv", *BOTH, "--per-topic", "--csv=o.csv")
    rows = pd.read_csv("o.csv")
    for name, part in rows.groupby("system"):
        wanted = report_of(table, name).to_pandas()
        np.testing.assert_allclose(part.expected, wanted.expected, rtol=1e-12)
        assert part.qid.tolist() == wanted.qid.tolist()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_saved_values_are_those_of_the_reports(table, capsys, ending):
    path = f"values.{ending}"
    succeed(capsys, "evaluate", "scores.csv", *BOTH, "--save", path)
    values = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path)
    assert values.columns[:3].tolist() == ["system", "qid", "measure"]
    assert values.system.unique().tolist() == ["new", "old"]
    for name, part in values.groupby("system"):
        found, wanted = RankingReport.from_frame(part), report_of(table, name)
        assert found.qid.tolist() == wanted.qid.tolist()
        assert found.options == wanted.options
        for field in ("expected", "best", "worst", "std", "ideal", "undefined"):
            values = getattr(found, field), getattr(wanted, field)
            np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-15)


def test_values_of_runs_are_saved(inputs, capsys):
    words = ["q1", "r1", "r2", "--measures", "ap", "--save", "values.parquet"]
    plain = succeed(capsys, "evaluate", *words[:-2])
    assert succeed(capsys, "evaluate", *words) == plain
    values = pd.read_parquet("values.parquet")
    assert values.system.tolist() == ["x"] * 4 + ["y"] * 4
    assert values.qid.tolist() == ["0", "1", "2", "3"] * 2
    assert set(values.unjudged) == {"nonrelevant"}
    mean = RankingReport.from_frame(values[values.system == "x"]).summary().mean
    assert f"{mean[0]:.4f}" in plain[0]


@pytest.mark.parametrize("baseline", [None, "old"])
def test_compare_writes_pairs_of_columns(table, capsys, baseline):
    words = ["scores.parquet", *BOTH, "--csv=o.csv"]
    if baseline:
        words += ["--baseline", baseline]
    found = json.loads(succeed(capsys, "compare", *words, "--json=-")[0])
    wanted = compare_systems(
        table.y,
        table[["new", "old"]],
        qid=table.q,
        measure=["ap", "rr"],
        baseline=baseline,
    )
    rows = pd.read_csv("o.csv")
    np.testing.assert_allclose(rows["difference"], wanted.difference, rtol=1e-12)
    np.testing.assert_allclose(rows["pvalue"], wanted.pvalues, rtol=1e-12)
    assert (found["n_queries"], found["baseline"]) == (12, [baseline] * bool(baseline))
    assert [row["system"] for row in found["systems"]] == ["new", "old"] * 2
    assert "runs" not in found


def test_compare_speaks_of_systems_and_queries(table, capsys):
    pytest.importorskip("matplotlib")
    words = ["scores.csv", *BOTH, "--report=o.html", "--plot=o.svg"]
    out, _ = succeed(capsys, "compare", *words)
    assert out.startswith("2 systems on 12 queries of scores.csv\n")
    with open("o.html", encoding="utf-8") as page:
        text = page.read()
    assert "<h2>Systems</h2>" in text
    assert "<h2>Pairs of systems</h2>" in text
    assert "over topics" not in text


def test_missing_labels_are_an_error_or_left_out(table, capsys):
    gaps = table.assign(y=table.y.astype(float).where(table.index != 7))
    gaps.to_csv("gaps.csv", index=False)
    err = fail(capsys, "evaluate", "gaps.csv", *BOTH)
    assert "error: y must be judged" in err
    assert "got nan in gaps.csv, row 9" in err
    succeed(capsys, "evaluate", "gaps.csv", *BOTH, "--judged-only", "--csv=o.csv")
    mean = report_of(gaps, "new", unjudged="drop").summary().mean
    assert pd.read_csv("o.csv")["mean"][:2].tolist() == pytest.approx(mean)


ERRORS = [
    ("evaluate scores.csv --score absent", "scores.csv: there is no column 'absent'"),
    (
        "evaluate scores.csv --score text",
        "scores.csv: column 'text' must be numeric",
    ),
    ("compare scores.csv --score new text", "column 'text' must be numeric"),
    ("evaluate scores.csv --score new new", "different columns, got 'new' twice"),
    ("evaluate scores.csv --score y", "different columns, got 'y' twice"),
    ("evaluate gaps.csv --score old", "old must not be NaN, got nan in gaps.csv, row"),
    ("evaluate absent.csv --score new", "absent.csv: No such file"),
    (
        "compare scores.csv --score new",
        "--score must name two or more systems, got only new",
    ),
    ("compare scores.csv --score new old --baseline x", "got 'x'"),
    ("compare scores.csv --score new old --ties official", "got 'official'"),
    ("evaluate scores.csv --score new --save o.txt", "a .csv or .parquet file, got o"),
    ("evaluate scores.csv --score new --save -", "a .csv or .parquet file, got -"),
    ("evaluate scores.csv --score new --save scores.csv", "must not replace an input"),
]


@pytest.mark.parametrize(("words", "message"), ERRORS)
def test_errors_name_the_column_and_the_file(table, capsys, words, message):
    gaps = table.assign(old=table.old.where(table.index != 7))
    gaps.to_csv("gaps.csv", index=False)
    err = fail(capsys, *words.split(), *KEYS)
    assert err.startswith("tieaware: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_default_columns_and_other_files(inputs, capsys):
    rows = "qid,label,s\n1,1,2\n1,0,1\n"
    (inputs / "t.csv").write_text(rows)
    assert "AP" in succeed(capsys, "evaluate", "t.csv", "--score", "s")[0]
    # no table
    err = fail(capsys, "evaluate", "train.txt", "--score", "s")
    assert "train.txt: there is no column 'label'" in err


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_one_file_without_scores_is_wrong_usage(table, capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "scores.csv", *KEYS])
    assert stopped.value.code == 2
    assert "RUN or --score is required" in capsys.readouterr().err


def test_values_are_lost_alone_where_they_cannot_be_written(table, capsys, tmp_path):
    (tmp_path / "full.csv").symlink_to("/dev/full")
    words = ["evaluate", "scores.csv", *BOTH, "--save=full.csv", "--json=o.json"]
    code, out, err = run(capsys, *words)
    assert (code, out.startswith("new ")) == (1, True)
    assert err.endswith("full.csv: No space left on device\n")
    assert (tmp_path / "o.json").exists()
