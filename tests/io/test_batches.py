"""Files in batches of whole queries, the same numbers as of all rows at once."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import (
    dump_letor,
    iter_batches,
    load_table,
    make_web_search,
)
from tieaware_sklearn.io._batches import track

FORMS = ["web.txt", "web.txt.gz", "web.csv", "web.tsv.gz", "web.parquet"]


@pytest.fixture(scope="module")
def web():
    rng = np.random.default_rng(0)
    web = make_web_search(n_queries=30, n_documents=20, random_state=0)
    kept = rng.random(len(web.qid)) < 0.6  # lists of different lengths
    return {"X": web.data[kept], "y": web.target[kept], "qid": web.qid[kept]}


def write(path, X, y, qid, row_group_size=37):
    if ".txt" in path.name:
        dump_letor(X, y, qid, path)
        return path
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    frame = frame.assign(label=y, qid=qid, url="a/b")
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=row_group_size)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


@pytest.fixture(scope="module")
def files(web, tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    return {name: write(folder / name, **web) for name in FORMS}


@pytest.mark.parametrize("batch_rows", [1, 7, 13, 50, 10**6, None])
@pytest.mark.parametrize("name", FORMS)
def test_batches_are_the_rows_in_whole_queries(files, web, name, batch_rows):
    batches = list(iter_batches(files[name], batch_rows=batch_rows))
    assert_array_equal(np.concatenate([b.data for b in batches]), web["X"])
    assert_array_equal(np.concatenate([b.target for b in batches]), web["y"])
    ids = [np.unique(b.qid) for b in batches]
    assert len(np.unique(np.concatenate(ids))) == sum(map(len, ids))
    n_rows = batch_rows or 10**6
    for batch in batches[:-1]:
        # full, and not before its last query
        assert len(batch.qid) >= n_rows
        assert (batch.qid != batch.qid[-1]).sum() < n_rows
    assert len({tuple(b.feature_names) for b in batches}) == 1


@pytest.mark.parametrize("name", FORMS)
def test_several_files_are_one_and_a_query_may_go_on(tmp_path, web, name):
    middle = int(np.flatnonzero(web["qid"] == web["qid"][150])[2])
    parts = [
        write(tmp_path / f"{i}{name}", **{k: v[rows] for k, v in web.items()})
        for i, rows in enumerate([slice(0, middle), slice(middle, None)])
    ]
    batches = list(iter_batches(parts, batch_rows=40))
    assert_array_equal(np.concatenate([b.data for b in batches]), web["X"])
    seen = [q for b in batches for q in dict.fromkeys(b.qid.tolist())]
    assert len(seen) == len(set(seen)) == 30


def fitted(selector):
    return {
        name: value
        for name, value in vars(selector).items()
        if name.endswith("_") and isinstance(value, np.ndarray)
    }


@pytest.mark.parametrize("name", FORMS)
def test_a_selector_fitted_batch_by_batch(files, web, name):
    whole = RankingFeatureSelector().fit(web["X"], web["y"], qid=web["qid"])
    streamed = RankingFeatureSelector()
    for batch in iter_batches(files[name], batch_rows=60):
        streamed.partial_fit(batch.data, batch.target, qid=batch.qid)
    found, wanted = fitted(streamed), fitted(whole)
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        if value.dtype.kind == "f":
            assert_allclose(found[key], value, rtol=1e-11, atol=1e-12, err_msg=key)
        else:
            assert_array_equal(found[key], value, err_msg=key)


@pytest.mark.parametrize("name", FORMS)
def test_a_query_that_comes_back_is_named_before_the_work(tmp_path, web, name):
    rows = np.r_[0:50, 60:70, 0]
    path = write(tmp_path / name, **{k: v[rows] for k, v in web.items()})
    # the first line of tables holds the names, and CSV counts lines from 1
    line = {"txt": "line 61", "csv": "line 62", "tsv": "line 62", "parquet": "row 60"}
    place = line[name.split(".")[1]]
    with pytest.raises(ValueError, match=f"{name}, {place}: query .* comes back"):
        iter_batches(path)


def test_sizes_of_queries_beside_a_file(tmp_path, web):
    path = tmp_path / "sizes.txt"
    lines = [f"{y:g} 1:{x}" for y, x in zip(web["y"], web["X"][:, 0], strict=True)]
    path.write_text("# a comment\n\n" + "\n".join(lines))
    sizes = np.unique(web["qid"], return_counts=True)[1]
    (tmp_path / "sizes.txt.query").write_text("\n".join(map(str, sizes)))
    batches = list(iter_batches([path, path], batch_rows=25))
    ids = np.concatenate([b.qid for b in batches])
    assert_array_equal(ids, np.repeat(np.arange(60), np.tile(sizes, 2)))
    assert batches[1].place(0) == f"{path}, line {3 + len(batches[0].qid)}"
    with pytest.raises(ValueError, match="query_file must name one file per path"):
        iter_batches(path, query_file=[path, path])
    (tmp_path / "sizes.txt.query").write_text("3\n")
    with pytest.raises(ValueError, match="add up to"):
        iter_batches(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:5\n1 qid:1 2:x\n", "line 2: a feature must look like"),
        ("1 qid:1 1:5\n\n# x\n1 qid:x 2:1\n", "line 4: qid must be a 64-bit integer"),
        ("1 qid:1 1:5\n1 1:5\n", "line 2: there is no qid:"),
        ("1 qid:1 1:5\n1_0 qid:1 1:5\n", "line 2: the label must be a number"),
        ("1 qid:1 1:5\n1 qid:1 3:5 2:1\n", "line 2: feature numbers must ascend"),
        ("1 qid:1\n0 qid:1\n", "no line holds a feature"),
        ("# nothing\n", "the file holds no documents"),
    ],
)
def test_letor_lines_that_are_wrong(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        list(iter_batches(path))
    # as when read at once
    assert main(["screen", str(path)]) == 1


def csv(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_tables_whose_first_rows_say_little(tmp_path, monkeypatch):
    monkeypatch.setattr("tieaware_sklearn.io._tabular_stream._ROWS", 2)
    late = "qid,label,late,text,gone\n" + "".join(
        f"{q},{q % 2},{'' if q < 5 else q},t,\n" for q in range(8)
    )
    batches = list(iter_batches(csv(tmp_path, late), batch_rows=3))
    assert batches[0].feature_names == ["late"]
    assert_array_equal(
        np.concatenate([b.data[:, 0] for b in batches]), [np.nan] * 5 + [5, 6, 7]
    )
    assert [b.qid.tolist() for b in batches][-1] == ["6", "7"]
    mixed = "qid,label,f\n" + "".join(
        f"{q},0,{'?' * (q == 3) or q}\n" for q in range(6)
    )
    with pytest.raises(ValueError, match=r"line 5: column 'f' must hold numbers"):
        list(iter_batches(csv(tmp_path, mixed)))
    text_first = "qid,label,f\n" + "1,0,x\n2,0,y\n3,0,1\n4,0,2\n"
    with pytest.raises(ValueError, match=r"line 2: column 'f' must hold numbers"):
        list(iter_batches(csv(tmp_path, text_first)))
    with pytest.raises(ValueError, match=r"line 4: column 'qid' is empty"):
        list(iter_batches(csv(tmp_path, "qid,label,f\n1,0,1\n1,0,2\n,0,1\n")))
    with pytest.raises(ValueError, match=r"line 4: a row must not have more cells"):
        list(iter_batches(csv(tmp_path, "qid,label,f\n1,0,1\n1,0,2\n1,0,1,9\n")))


def test_files_that_spell_queries_differently(tmp_path, web):
    number = write(tmp_path / "a.parquet", **web)
    text = tmp_path / "b.parquet"
    pd.read_parquet(number).assign(qid=[f"q{q}" for q in web["qid"]]).to_parquet(text)
    batches = list(iter_batches([number, text], ignore=["f1"]))
    ids = np.concatenate([b.qid for b in batches])
    assert set(ids) == {f"{p}{q}" for q in web["qid"] for p in ("", "q")}
    assert "f1" not in batches[0].feature_names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_rows": 0}, "batch_rows must be an integer >= 1"),
        ({"ignore": ["f99"]}, "ignore must name"),
        ({"label": "nowhere"}, "there is no column 'nowhere'"),
        ({"query_file": "x"}, "query_file goes with LETOR text"),
    ],
)
def test_arguments_that_are_wrong(files, arguments, message):
    with pytest.raises(ValueError, match=message):
        iter_batches(files["web.csv"], **arguments)


def test_files_of_two_kinds(files):
    with pytest.raises(ValueError, match="of one kind"):
        iter_batches([files["web.csv"], files["web.txt"]])


def test_a_progress_bar_counts_documents(files, web, capsys):
    list(iter_batches(files["web.parquet"], batch_rows=50, progress=True))
    n = len(web["qid"])
    assert f"{n}/{n}" in capsys.readouterr().err


def test_memory_stays_flat(tmp_path):
    n_rows, n_features = 200_000, 20
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (n_rows, n_features)).astype(np.float64)
    y, qid = rng.integers(0, 3, n_rows), np.arange(n_rows) // 40
    path = write(tmp_path / "large.parquet", X, y, qid, row_group_size=30_000)
    tracemalloc.start()
    n_queries = sum(
        len(set(batch.qid)) for batch in iter_batches(path, batch_rows=9999)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_queries == 5000
    assert peak < X.nbytes / 3


# -- the command


def screen(capsys, *arguments):
    code = main(["screen", *map(str, arguments), "--quiet"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize("name", FORMS)
def test_screen_in_batches_prints_the_same(capsys, files, name):
    at_once = screen(capsys, files[name])
    assert at_once[0] == 0
    assert screen(capsys, files[name], "--batch-rows", 50) == at_once


def test_screen_reads_large_files_in_batches(capsys, monkeypatch, files, web, tmp_path):
    path = files["web.parquet"]
    wanted = screen(capsys, path)
    used = []
    monkeypatch.setattr(
        "tieaware_sklearn.cli._screen_files.track",
        lambda *arguments: used.append(arguments) or track(*arguments),
    )
    monkeypatch.setattr("tieaware_sklearn.cli._screen_files._LARGE", 10_000)
    assert screen(capsys, path) == wanted
    assert len(used) == 1
    # rows that do not stand together are read at once, as ever
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    mixed = write(tmp_path / "web.parquet", **{k: v[order] for k, v in web.items()})
    code, out, err = screen(capsys, mixed)
    assert code == 0
    assert "everything is read at once" in err
    assert out.splitlines()[1:] == wanted[1].splitlines()[1:]
    code, _, err = screen(capsys, mixed, "--batch-rows", 50)
    assert code == 1
    assert "comes back after another one" in err
    assert "--batch-rows 0" in err
    assert screen(capsys, mixed, "--batch-rows", 0)[1] == out


def test_an_interrupted_screening_reports_what_is_done(
    capsys, monkeypatch, files, tmp_path
):
    batches = list(iter_batches(files["web.csv"], batch_rows=100))
    done = sum(len(batch.qid) for batch in batches[:2])

    def interrupted(stream, rows, progress):
        for i, batch in enumerate(track(stream, rows, progress)):
            if i == 2:
                raise KeyboardInterrupt
            yield batch

    monkeypatch.setattr("tieaware_sklearn.cli._screen_files.track", interrupted)
    found = tmp_path / "found.json"
    options = ["--batch-rows", 100, "--json", found]
    code, out, err = screen(capsys, files["web.csv"], *options)
    assert code == 130
    assert f"of the first {done} of" in err
    assert f"{done} documents" in out
    document = json.loads(found.read_text())
    assert not document["complete"]
    selector = RankingFeatureSelector()
    for batch in batches[:2]:
        selector.partial_fit(batch.data, batch.target, qid=batch.qid)
    assert document["n_queries"] == selector.n_queries_
    best = min(document["features"], key=lambda row: row["rank"])
    assert best["NDCG@10"] == pytest.approx(selector.scores_[:, 0].max(), abs=1e-12)


def test_screen_in_batches_from_standard_input(capsys, monkeypatch, files):
    text = io.TextIOWrapper(io.BytesIO(files["web.txt"].read_bytes()))
    monkeypatch.setattr(sys, "stdin", text)
    code, out, _ = screen(capsys, "-", "--batch-rows", 50)
    assert code == 0
    wanted = screen(capsys, files["web.txt"])[1]
    assert out.splitlines()[1:] == wanted.splitlines()[1:]


def test_bad_values_in_batches_name_the_line(capsys, tmp_path):
    rows = "".join(f"{q},{-(q == 4)},{q}\n" for q in range(6))
    path = csv(tmp_path, "qid,label,f\n" + rows)
    code, _, err = screen(capsys, path, "--batch-rows", 2)
    assert code == 1
    assert "line 6: a label must be finite and >= 0, got -1" in err


def test_one_query_in_batches_is_warned_of(capsys, tmp_path):
    path = csv(tmp_path, "qid,label,f\n1,0,1\n1,1,2\n")
    _, _, err = screen(capsys, path, "--batch-rows", 2)
    assert "p-values need at least two queries" in err


@pytest.mark.parametrize("name", FORMS)
def test_batches_as_data_frames(files, web, name):
    selector = RankingFeatureSelector(["ndcg@10"])
    for batch in iter_batches(files[name], batch_rows=40, as_frame=True):
        assert batch.data.columns.tolist() == batch.feature_names
        selector.partial_fit(batch.data, batch.target, qid=batch.qid)
    assert selector.table()["feature"].iloc[0] in batch.feature_names


@pytest.mark.parametrize("name", ["web.csv", "web.tsv.gz", "web.parquet"])
def test_a_table_at_once(files, web, name, tmp_path):
    table = load_table(files[name])
    assert_array_equal(table.data, web["X"])
    assert_array_equal(table.target, web["y"])
    assert table.left_out == ["url"]
    assert table.qid.astype(int).tolist() == web["qid"].tolist()
    n_rows, n_features = web["X"].shape
    n_queries = len(np.unique(web["qid"]))
    described = f": {n_rows} rows, {n_queries} queries, {n_features} features"
    assert table.DESCR.endswith(described)
    twice = load_table([files[name], files[name]], ignore=["f1"], as_frame=True)
    assert len(twice.data) == 2 * n_rows
    assert twice.data.columns.tolist() == twice.feature_names
    assert "f1" not in twice.feature_names


def test_a_table_in_any_order(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("query,rating,clicks\na,1,5\nb,0,\na,0,5\n")
    columns = {"label": "rating", "qid": "query"}
    table = load_table(path, **columns)
    assert table.qid.tolist() == ["a", "b", "a"]
    assert_array_equal(table.data, [[5], [np.nan], [5]])
    with pytest.raises(ValueError, match=r"line 4: query a comes .*\(load_letor, load"):
        iter_batches(path, **columns)
    with pytest.raises(ValueError, match=r"there is no column 'label' .*--label"):
        load_table(path)
    with pytest.raises(ValueError, match=r"must end in \.csv.* load_letor"):
        load_table(tmp_path / "train.txt")
