"""Files in batches of whole queries: all rows, in their order, whatever the format."""

from __future__ import annotations

import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import FORMS, joined, place_of, write
from tieaware_sklearn.datasets import dump_letor, iter_batches, load_letor, load_table

each_form = pytest.mark.parametrize("name", FORMS)


def reader_of(name):
    return load_letor if ".txt" in name else load_table


@pytest.mark.parametrize("batch_rows", [1, 13, 50, None])
@each_form
def test_batches_are_the_rows_in_whole_queries(files, web, name, batch_rows):
    path, batches = files[name], list(iter_batches(files[name], batch_rows=batch_rows))
    assert_array_equal(joined(batches), web["X"])
    assert_array_equal(joined(batches, "target"), web["y"])
    assert_array_equal(joined(batches, "qid").astype(int), web["qid"])
    assert sum(len(set(batch.qid)) for batch in batches) == 30
    start = 0
    for batch in batches:
        n_rows, queries = len(batch.qid), len(set(batch.qid))
        rows = f"rows {start} to {start + n_rows - 1}, {queries} queries, 12 features"
        assert f"{path}: {rows}" == batch.DESCR
        assert batch.feature_names == batches[0].feature_names
        if batch is not batches[-1]:
            # full, and not before its last query
            assert (batch.qid != batch.qid[-1]).sum() < batch_rows <= n_rows
        start += n_rows
    last = pickle.loads(pickle.dumps(batches[-1]))
    assert last.place(n_rows - 1) == place_of(path, start - 1)
    assert last.place(0) == place_of(path, start - n_rows)


@each_form
def test_whole_files_are_the_only_batch(files, name):
    whole = reader_of(name)(files[name])
    (batch,) = iter_batches(files[name], batch_rows=10**6)
    assert whole.keys() == batch.keys()
    for key in ("data", "target", "qid"):
        assert_array_equal(whole[key], batch[key], strict=True)
    for key in ("feature_names", "left_out"):
        assert whole[key] == batch[key]
    n_rows = len(whole.qid)
    described = f"{files[name]}: {n_rows} rows, 30 queries, 12 features"
    assert described == whole.DESCR
    assert pickle.loads(pickle.dumps(whole)).place(3) == batch.place(3)
    for framed in iter_batches(files[name], batch_rows=40, as_frame=True):
        assert framed.data.columns.tolist() == whole.feature_names
        n_rows -= len(framed.data)
    assert n_rows == 0


@each_form
def test_rows_in_any_order_are_read_at_once_only(tmp_path, web, name):
    rows = np.r_[0:50, 60:70, 0]
    path = write(tmp_path / name, **{key: v[rows] for key, v in web.items()})
    place = re.escape(place_of(path, 60))
    with pytest.raises(ValueError, match=rf"^{place}: query '?1'? comes back after"):
        list(iter_batches(path))
    assert_array_equal(reader_of(name)(path).data, web["X"][rows])


@each_form
def test_several_files_are_one_and_a_query_may_go_on(tmp_path, web, name):
    middle = int(np.flatnonzero(web["qid"] == web["qid"][150])[2])
    parts = [
        write(tmp_path / f"{i}{name}", **{k: v[rows] for k, v in web.items()})
        for i, rows in enumerate([slice(0, middle), slice(middle, None)])
    ]
    batches = list(iter_batches(parts, batch_rows=40))
    assert_array_equal(joined(batches), web["X"])
    seen = [q for b in batches for q in dict.fromkeys(b.qid.tolist())]
    assert len(seen) == len(set(seen)) == 30
    (whole,) = iter_batches(parts)
    assert whole.place(middle - 1) == place_of(parts[0], middle - 1)
    assert whole.place(middle) == place_of(parts[1], 0)
    again = reader_of(name)(parts, as_frame=True, ignore=batches[0].feature_names[:1])
    assert_array_equal(again.data, web["X"][:, 1:])


def test_ids_that_are_not_whole_numbers_are_told_apart(tmp_path):
    """Python's hash takes -1.0 for -2.0."""
    ids = [-1.0, -2.0, -1.5, 0.25, 1e300, 0.0]
    frame = pd.DataFrame({"label": 1, "qid": ids, "x": 2.0})
    frame.to_parquet(tmp_path / "a.parquet")
    batches = list(iter_batches(tmp_path / "a.parquet", batch_rows=1))
    assert [batch.qid.tolist() for batch in batches] == [[one] for one in ids]
    frame.iloc[[0, 1, 2, 1]].to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"row 3: query -2\.0 comes back"):
        list(iter_batches(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("web.csv", {"batch_rows": 0}, "batch_rows must be an integer >= 1.* got 0"),
        ("web.csv", {"progress": 1}, "progress must be True or False, got 1"),
        ("web.csv", {"ignore": ["f99"]}, "ignore must name a feature, got 'f99'"),
        ("web.csv", {"label": "nowhere"}, "there is no column 'nowhere'.*--label"),
        ("web.csv", {"label": "qid"}, "different columns, got 'qid' twice"),
        ("web.csv", {"query_file": "x"}, "^query_file must not be given for tables"),
        ("web.csv", {"n_features": 3}, "^n_features must not .* for tables, got 3"),
        ("web.csv", {"n_features": 0}, "n_features must be an integer >= 1"),
        ("web.csv", {"thousands": "ab"}, "thousands must be one character .* 'ab'"),
        ("web.csv", {"thousands": "1"}, "thousands must be one character .* '1'"),
        ("web.csv", {"missing_values": "NA"}, "missing_values must be a list .* 'NA'"),
        ("web.csv", {"missing_values": [1]}, "missing_values must be a list .*1"),
        ("web.parquet", {"ignore": ["x"]}, "ignore must name a feature, got 'x'"),
        ("web.txt", {"ignore": ["x"]}, r"feature, got 'x' \(features: 1, 2, 3"),
        ("web.txt", {"thousands": ","}, "thousands must not be given for LETOR text"),
        ("web.txt", {"missing_values": ["a"]}, "missing_values must not .* LETOR text"),
    ],
)
def test_arguments_that_are_wrong(files, name, arguments, message):
    with pytest.raises(ValueError, match=message):
        iter_batches(files[name], **arguments)


def test_files_of_two_kinds(files):
    with pytest.raises(ValueError, match="all files must be of one kind"):
        iter_batches([files["web.csv"], files["web.txt"]])
    with pytest.raises(ValueError, match=r"path must end in \.csv.* load_letor"):
        load_table(files["web.txt"])


def test_a_progress_bar_counts_documents(files, web, capsys):
    list(iter_batches(files["web.parquet"], batch_rows=50, progress=True))
    n_rows, said = len(web["qid"]), capsys.readouterr().err
    assert f"{n_rows}/{n_rows}" in said
    assert "reading" in said
    list(iter_batches(files["web.parquet"]))
    assert capsys.readouterr().err == ""


def test_memory_stays_flat(tmp_path):
    n_rows, n_features = 120_000, 10
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (n_rows, n_features)).astype(np.float64)
    y, qid = rng.integers(0, 3, n_rows), np.arange(n_rows) // 40
    path = write(tmp_path / "large.parquet", X, y, qid, row_group_size=10_000)
    tracemalloc.start()
    batches = iter_batches(path, batch_rows=5000)
    n_queries = sum(len(np.unique(batch.qid)) for batch in batches)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_queries == 3000
    assert peak < X.nbytes / 3


# files without rows among others, as Spark writes one for each empty partition
ROWS = pd.DataFrame(
    {"label": [1, 0, 2, 0, 1], "qid": [1, 1, 2, 3, 3], "x": [1.5, 2, 3, 4, 5]}
)
ENDINGS = [".parquet", ".csv", ".txt"]


def put(path, frame):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif len(frame):
        dump_letor(frame[["x"]], frame.label, path, qid=frame.qid)
    else:
        path.write_text("")
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_empty_files_among_others(tmp_path, ending):
    for number, n_rows in enumerate((0, 0, 3, 0, 2, 0)):
        start = 0 if number < 4 else 3
        put(tmp_path / f"{number}{ending}", ROWS[start : start + n_rows])
    found = reader_of(ending)(tmp_path)
    assert_array_equal(np.ravel(found.data), ROWS.x)
    for batch_rows in (1, 3, 100):
        batches = list(iter_batches(tmp_path, batch_rows=batch_rows))
        assert_array_equal(joined(batches)[:, 0], ROWS.x)
        assert_array_equal(joined(batches, "target"), ROWS.label)
    assert found.place(3) == batches[-1].place(3)
    assert found.place(3) == place_of(tmp_path / f"4{ending}", 0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_document_at_all(tmp_path, ending):
    paths = [put(tmp_path / f"{name}{ending}", ROWS[:0]) for name in "ab"]
    with pytest.raises(ValueError, match=r"a.*b.*: there is no document"):
        iter_batches(paths)
    with pytest.raises(ValueError, match=rf"a\{ending}: there is no document"):
        iter_batches(paths[0])


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_an_empty_file_has_the_columns_of_the_others(tmp_path, ending):
    first = put(tmp_path / f"a{ending}", ROWS)
    other = put(tmp_path / f"b{ending}", ROWS[:0].rename(columns={"x": "y"}))
    said = rf"^{re.escape(str(other))}: there is no column 'x' .*{first} has it"
    with pytest.raises(ValueError, match=said):
        iter_batches([first, other])
    put(other, ROWS[:0].assign(y=1.0))
    said = rf"^{re.escape(str(first))}: there is no column 'y' .*{other} has it"
    with pytest.raises(ValueError, match=said):
        iter_batches([first, other])


@pytest.mark.parametrize("kind", ["str", "float", object])
def test_types_of_no_ids_do_not_matter(tmp_path, kind):
    put(tmp_path / "a.parquet", ROWS[:0].astype({"qid": kind}))
    put(tmp_path / "b.parquet", ROWS)
    assert load_table(tmp_path).qid.tolist() == ROWS.qid.tolist()
