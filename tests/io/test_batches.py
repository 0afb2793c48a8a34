"""Files in batches of whole queries, the same numbers as of all rows at once."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.io.helpers import FORMS, write
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table


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


@pytest.mark.filterwarnings("ignore:p-values need at least two queries")
def test_shards_of_letor_text_that_leave_out_zeros_merge(tmp_path):
    shards = {"a": "1 qid:1 1:1 3:2\n0 qid:1 1:2\n", "b": "1 qid:2 1:1\n0 qid:2 2:2\n"}
    for name, text in shards.items():
        (tmp_path / name).write_text(text)

    def fitted(names, **options):
        paths = [tmp_path / name for name in names]
        batches = iter_batches(paths, batch_rows=1, as_frame=True, **options)
        return RankingFeatureSelector("ap").fit_batches(batches)

    with pytest.raises(ValueError, match="features differ: other has no '3'"):
        fitted("a").merge(fitted("b"))
    found, whole = fitted("a").merge(fitted("b", n_features=3)), fitted("ab")
    assert_allclose(found.mean_, whole.mean_, atol=1e-12)
    assert found.screening_.feature_names == ("1", "2", "3")
    with pytest.raises(ValueError, match="n_features must be at least 3, the number"):
        fitted("a", n_features=2)


@pytest.mark.parametrize("name", FORMS)
def test_whole_files_are_the_only_batch(files, name):
    whole = (load_letor if ".txt" in name else load_table)(files[name])
    (batch,) = iter_batches(files[name], batch_rows=10**6)
    assert whole.keys() == batch.keys()
    for key in ("data", "target", "qid"):
        assert_array_equal(whole[key], batch[key], strict=True)
    for key in ("feature_names", "left_out"):
        assert whole[key] == batch[key]
    assert pickle.loads(pickle.dumps(whole)).place(3) == batch.place(3)


@pytest.mark.parametrize("name", FORMS)
def test_everything_can_be_read_at_once_in_any_order(tmp_path, web, name):
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    path = write(tmp_path / name, **{key: v[order] for key, v in web.items()})
    with pytest.raises(ValueError, match="comes back"):
        list(iter_batches(path))
    found = (load_letor if ".txt" in name else load_table)(path)
    assert_array_equal(found.data, web["X"][order])
    assert found.DESCR.startswith(f"{path}: {len(order)} rows, 30 queries")


def test_a_file_that_has_become_shorter(tmp_path, web):
    path = write(tmp_path / "web.txt", **web)
    batches = iter_batches(path, batch_rows=10)
    path.write_text("1 qid:1 1:1\n")
    with pytest.raises(ValueError, match="has changed since it was read"):
        list(batches)


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


@pytest.mark.parametrize("name", FORMS)
def test_a_query_that_comes_back_is_named(tmp_path, web, name):
    rows = np.r_[0:50, 60:70, 0]
    path = write(tmp_path / name, **{k: v[rows] for k, v in web.items()})
    # the first line of tables holds the names, and CSV counts lines from 1
    line = {"txt": "line 61", "csv": "line 62", "tsv": "line 62", "parquet": "row 60"}
    place = line[name.split(".")[1]]
    with pytest.raises(ValueError, match=f"{name}, {place}: query .* comes back"):
        list(iter_batches(path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_rows": 0}, "batch_rows must be an integer >= 1"),
        ({"ignore": ["f99"]}, "ignore must name"),
        ({"label": "nowhere"}, "there is no column 'nowhere'"),
        ({"query_file": "x"}, "query_file must not be given for tables"),
        ({"n_features": 3}, "n_features must not be given for tables"),
        ({"n_features": 0}, "n_features must be"),
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


@pytest.mark.parametrize("name", FORMS)
def test_batches_as_data_frames(files, name):
    selector = RankingFeatureSelector(["ndcg@10"])
    for batch in iter_batches(files[name], batch_rows=40, as_frame=True):
        assert batch.data.columns.tolist() == batch.feature_names
        selector.partial_fit(batch.data, batch.target, qid=batch.qid)
    assert selector.to_pandas()["feature"].iloc[0] in batch.feature_names


@pytest.mark.parametrize("name", ["web.txt", "web.csv", "web.parquet"])
def test_batches_say_what_they_are(files, web, name, capsys):
    batches = list(iter_batches(files[name], batch_rows=50, progress=True))
    assert "reading" in capsys.readouterr().err
    first, second, *_ = batches
    n, queries = len(first.qid), len(set(first.qid))
    n_features = web["X"].shape[1]
    says = f"{files[name]}: rows 0 to {n - 1}, {queries} queries, {n_features} features"
    assert says == first.DESCR
    assert f": rows {n} to " in second.DESCR
    assert str(files[name]) in first.place(0)
    with pytest.raises(ValueError, match="ignore must name a feature, got 'no such'"):
        iter_batches(files[name], ignore=["no such"])
