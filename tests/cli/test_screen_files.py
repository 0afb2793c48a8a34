"""Files screened, at once and in batches."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import run
from tieaware_sklearn import RankingFeatureSelector


@pytest.fixture(scope="module")
def frame(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    return frame.assign(rating=web.target, query=[f"q{q}" for q in web.qid], url="a/b")


@pytest.mark.parametrize(
    "name", ["web.csv", "web.tsv", "web.csv.gz", "web.csv.xz", "web.parquet"]
)
def test_screen_reads_tables(capsys, frame, web, tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    columns = ["--label", "rating", "--qid", "query"]
    code, out, err = run(capsys, "screen", path, *columns, "--json")
    assert code == 0
    assert err == "tieaware: left out, not numeric: url\n"
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    for row in json.loads(out)["features"]:
        j = web.feature_names.index(row["feature"])
        assert row["NDCG@10"] == pytest.approx(selector.mean_[j, 0], abs=1e-12)
    code, _, err = run(capsys, "screen", path)
    assert code == 1
    assert f"{name}: there is no column 'label' (columns: in_degree, clicks," in err
    again = path.with_name(f"again-{name}")
    again.write_bytes(path.read_bytes())
    code, out, _ = run(capsys, "screen", path, again, *columns)
    assert code == 0
    assert "and 1 more:" in out
    code, out, _ = run(capsys, "screen", path, *columns, "--ignore", "clicks", "--csv")
    assert code == 0
    assert "\nclicks," not in out
    assert len(out.splitlines()) == 12
    # left out before it is looked at
    assert run(capsys, "screen", path, *columns, "--ignore", "url")[::2] == (0, "")
    for name in ("rating", "titles"):
        code, _, err = run(capsys, "screen", path, *columns, "--ignore", name)
        assert code == 1
        assert f"ignore must name a feature, got '{name}'" in err


def test_tables_keep_query_ids_and_integers_as_they_are(capsys, tmp_path):
    path = tmp_path / "ids.csv"
    ids = ["007", "7", "NA", "null"]
    lines = ["label,qid,big,b"]
    for n, qid in enumerate(ids):
        lines += [f"1,{qid},{2**62 + 1},0.5", f"0,{qid},{2**62},{n}.5"]
    path.write_text("\n".join(lines))
    code, out, _ = run(capsys, "screen", path, "--json", "--measures", "rr")
    assert code == 0
    document = json.loads(out)
    assert document["n_queries"] == 4
    by_name = {row["feature"]: row for row in document["features"]}
    # a tie in float64, none in int64
    assert by_name["big"]["RR"] == 1
    dates = pd.DataFrame(
        {
            "label": [1, 0],
            "qid": [1, 1],
            "x": [2, 1],
            "when": pd.to_datetime(["2020-01-01", "2021-01-01"]),
            "nothing": [None, None],
        }
    )
    dates.to_parquet(tmp_path / "dates.parquet")
    _, out, err = run(capsys, "screen", tmp_path / "dates.parquet", "--json")
    assert "tieaware: left out, not numeric: when, nothing\n" in err
    assert [row["feature"] for row in json.loads(out)["features"]] == ["x"]


def test_screen_reports_bad_cells_and_missing_values(capsys, frame, tmp_path):
    columns = ["--label", "rating", "--qid", "query"]
    path = tmp_path / "bad.csv"
    bad = frame.astype({"clicks": object})
    bad.loc[17, "clicks"] = "many"
    bad.to_csv(path, index=False)
    code, _, err = run(capsys, "screen", path, *columns)
    assert code == 1
    assert "bad.csv, line 19: column 'clicks' must hold numbers, got 'many'" in err
    gaps = frame.copy()
    gaps.loc[3, ["clicks", "n_slashes"]] = np.nan
    gaps.to_csv(path, index=False)
    code, _, err = run(capsys, "screen", path, *columns)
    assert code == 1
    assert "bad.csv, line 5: feature clicks is missing (2 values are" in err
    assert "--missing last" in err
    code, _, _ = run(capsys, "screen", path, *columns, "--missing", "last")
    assert code == 0
    unlabelled = frame.copy()
    unlabelled.loc[5, "rating"] = np.nan
    unlabelled.to_csv(path, index=False)
    code, _, err = run(capsys, "screen", path, *columns)
    assert code == 1
    assert "bad.csv, line 7: the label is missing (1 of 971 are missing" in err
    assert "--unjudged nonrelevant counts" in err
    assert "--unjudged skip leaves" in err


@pytest.mark.parametrize("batch_rows", [0, 20])
def test_missing_labels_count_as_nonrelevant_or_are_left_out(
    capsys, frame, tmp_path, batch_rows
):
    gaps = frame.copy()
    gaps.loc[gaps.index % 3 == 0, "rating"] = np.nan
    gaps.loc[:40, "rating"] = np.nan  # and queries without a label
    options = ["--label", "rating", "--qid", "query", "--json"]
    options += ["--batch-rows", batch_rows]

    def screened(table, *more):
        table.to_csv(tmp_path / "table.csv", index=False)
        code, out, err = run(capsys, "screen", tmp_path / "table.csv", *options, *more)
        return code, out, err

    code, out, err = screened(gaps)
    assert (code, out) == (1, "")
    assert "table.csv, line 2: the label is missing (" in err
    for how, alike in (
        ("skip", gaps.dropna(subset="rating")),
        ("nonrelevant", gaps.fillna({"rating": 0})),
    ):
        code, out, _ = screened(gaps, "--unjudged", how)
        assert code == 0
        found, wanted = json.loads(out), json.loads(screened(alike)[1])
        for key in ("n_documents", "n_queries", "features"):
            if how == "nonrelevant" or batch_rows == 0 or key != "features":
                assert found[key] == wanted[key]
            else:  # other batches are added up in another order
                for one, other in zip(found[key], wanted[key], strict=True):
                    assert one["NDCG@10"] == pytest.approx(other["NDCG@10"])
    code, _, err = screened(
        gaps.assign(rating=[1.0] + [np.nan] * (len(gaps) - 1)).iloc[::-1],
        "--unjudged",
        "skip",
    )
    assert code == 0


def quoted_file(folder):
    path = folder / "quoted.csv"
    path.write_text("label,qid,x\n1,1,2\n0,1,3\n")
    return str(path)


def bad_files(folder):
    def write(name, text):
        path = folder / name
        path.write_text(text)
        return str(path)

    yield ["absent.txt"], 1, "absent.txt: No such file or directory"
    yield [str(folder)], 1, "there is no file to read in"
    yield [write("f.csv", "label,qid,x\nbad,1,2\n")], 1, "'label' holds no number"
    yield [write("g.csv", "label,qid\n1,1\n")], 1, "no column but 'label'"
    fine = write("fine.txt", "1 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:0\n")
    yield [fine, write("h.csv", "a")], 1, "all files must be of one kind"
    negative = write("i.txt", "# head\n0 qid:1 1:0\n\n-1 qid:1 1:1\n")
    yield [negative], 1, "i.txt, line 4: a label must be finite and >= 0, got -1"
    for value in ("nan", "inf"):
        path = write("j.txt", f"0 qid:1 1:0\n1 qid:1 1:{value}\n")
        yield [fine, path], 1, "j.txt, line 2: feature 1 "
    path = write("k.txt", "0 qid:1 1:0\ninf qid:1 1:1\n")
    yield [path], 1, "k.txt, line 2: a label must be finite and >= 0, got inf"
    quoted = 'label,qid,x,y\n1,1,2,"a\nb"\n\n1,1,two,c\n'
    yield [write("l.csv", quoted)], 1, "l.csv, line 5: column 'x' must hold numbers"
    middle = write("q.csv", "label,qid,x\n1,1,2\n   \n\n0,1,3,4\n")
    yield [middle], 1, "q.csv, line 5: a row must not have more cells than the head"
    blank = write("r.csv", "label,qid,x\n1,1,1\n   \n\n0,1,3\n\n0,1,y\n")
    yield [blank], 1, "r.csv, line 7: column 'x' must hold numbers, got 'y'"
    long = write("s.csv", f"label,qid,x,t\n1,1,1,{'a' * 200_000}\n0,1,y,b\n")
    yield [long], 1, "s.csv, line 3: column 'x' must hold numbers, got 'y'"
    yield [write("t.txt", "1 qid:1\n0 qid:1\n")], 1, "t.txt: no line holds a feature"
    same = str(folder / "out.csv")
    other = str(folder / "." / "x" / ".." / "out.csv")
    yield [fine, f"--csv={same}", f"--json={other}"], 1, "only one of --csv and --json"
    yield (
        [write("p.csv", "a,b\n1,2\n"), "--label", "qid"],
        1,
        "different columns, got 'qid' twice",
    )
    yield [str(folder / "absent.parquet")], 1, "absent.parquet: No such file"
    yield [fine, "--label", "x"], 1, "--label and --qid are for CSV and Parquet files"
    yield (
        [quoted_file(folder), "--query-file", fine],
        1,
        "query_file must not be given for tables",
    )
    yield [fine, "--ignore", "7"], 1, "ignore must name a feature, got '7'"
    yield [fine, "--ignore", "1"], 1, "ignore must leave at least one feature, got all"
    yield [fine, f"--csv={folder}"], 1, "it is a folder"
    yield [fine, "--csv="], 1, "--csv must name a file, got ''"
    yield [fine, "--csv=same", "--json=same"], 1, "only one of --csv and --json"
    yield [fine, "--measures", "ndgc@10"], 1, "did you mean 'NDCG@10'?"
    yield [fine, "--sort-by", "dcg"], 1, "sort_by must be one of"
    nowhere = str(folder / "no" / "out.csv")
    yield [fine, f"--csv={nowhere}"], 1, "there is no folder"
    yield [fine, "--zero-relevance", "raise", "--measures", "fallout"], 1, "undefined"


def test_bad_files_give_one_line_and_no_traceback(capsys, tmp_path):
    for arguments, expected, message in bad_files(tmp_path):
        code, out, err = run(capsys, "screen", *arguments)
        assert (code, out) == (expected, ""), arguments
        assert message in err
        assert err.count("\n") == 1
        assert err.startswith("tieaware: error: ")


@pytest.mark.parametrize("batch_rows", [0, 1])
@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("ndcg@10", 'NDCG@10: the label must be <= 60 .*gain="linear" .* got 100.0'),
        ("err", "ERR: the label must be <= max_label=4 .* got 100"),
        ("cg(gain=[0,1,2])", "the label must be one of .* of the gain table, got 100"),
        (
            "rbp(gain={0:0,1:1,2:1,100:7})",
            r"must be in \[0, 1\], got 7.0 for label 100",
        ),
    ],
)
@pytest.mark.parametrize("name", ["l.txt", "l.csv"])
def test_a_label_that_a_measure_refuses_is_named(
    capsys, tmp_path, name, measure, message, batch_rows
):
    path = tmp_path / name
    if name == "l.csv":
        path.write_text("label,qid,x\n1,1,5\n100,2,7\n2,2,3\n")
    else:
        path.write_text("# x\n1 qid:1 1:5\n100 qid:2 1:7\n2 qid:2 1:3\n")
    options = ["--measures", "rr", measure, "--batch-rows", batch_rows]
    code, out, err = run(capsys, "screen", path, *options)
    assert (code, out) == (1, "")
    assert re.search(f"{name}, line 3: .*{message}", err)
    assert run(capsys, "screen", path, "--measures", "ndcg(gain=linear)")[0] == 0
