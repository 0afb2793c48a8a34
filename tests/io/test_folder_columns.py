"""Columns in the names of folders."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tieaware_sklearn.datasets import iter_batches, load_table
from tieaware_sklearn.io._locate import type_of_values


def shards(root, column, values, **columns):
    """A file in a folder for each value."""
    for value in values:
        folder = root / f"{column}={quote(str(value), safe='')}"
        folder.mkdir(parents=True)
        frame = pd.DataFrame(columns)
        if "qid" in frame:
            frame["qid"] = [f"{value}-{q}" for q in frame["qid"]]
        frame.to_parquet(folder / "part-0.parquet")
    return root


def test_folders_that_pyarrow_writes(tmp_path):
    table = pa.table(
        {"qid": [1, 1, 2, 3], "label": [1, 0, 1, 2], "x": [0.5, 1, 2, 3],
         "qid_bucket": [1, 1, 10, 9]}
    )  # fmt: skip
    ds.write_dataset(
        table, tmp_path, format="parquet", partitioning=["qid_bucket"],
        partitioning_flavor="hive",
    )  # fmt: skip
    batches = list(iter_batches(tmp_path, batch_rows=1))
    assert batches[0].feature_names == ["x", "qid_bucket"]
    assert [b.qid.tolist() for b in batches] == [[1, 1], [3], [2]]
    assert [b.data[:, 1].tolist() for b in batches] == [[1, 1], [9], [10]]
    whole = load_table(str(tmp_path / "*/*"), ignore=["qid_bucket"])
    assert whole.feature_names == ["x"]


@pytest.mark.parametrize(
    ("values", "kept"),
    [([1, 2, 11], int), (["a", "7"], str), (["007", "8"], str), (["a/b", "c d"], str)],
)
def test_query_ids_in_names_of_folders(tmp_path, values, kept):
    shards(tmp_path, "qid", values, label=[1, 0], x=[2.0, 3.0])
    batches = list(iter_batches(tmp_path, batch_rows=1))
    found = [q for b in batches for q in set(b.qid.tolist())]
    assert set(found) == {kept(value) for value in values}
    assert all(len(b.data) == 2 for b in batches)


def test_labels_in_names_of_folders(tmp_path):
    shards(tmp_path / "good", "label", [0, 1, 0.5], qid=[1, 2], x=[2.0, 3.0])
    table = load_table(tmp_path / "good")
    assert set(table.target) == {0, 0.5, 1}
    shards(tmp_path / "bad", "label", [0, "high"], qid=[1, 2], x=[2.0, 3.0])
    with pytest.raises(
        ValueError,
        match=r"column 'label' holds no number",
    ):
        load_table(tmp_path / "bad")


def test_missing_values_and_missing_columns(tmp_path):
    hive = "__HIVE_DEFAULT_PARTITION__"
    shards(tmp_path / "x", "z", [hive, 3], qid=[1, 2], label=[1, 0], x=[2.0, 3.0])
    z = load_table(tmp_path / "x").data[:, 1]
    assert_array_equal(np.sort(z), [3, 3, np.nan, np.nan])
    shards(tmp_path / "q", "qid", [hive, 3], label=[1, 0], x=[2.0, 3.0])
    with pytest.raises(
        ValueError, match=r"qid=.*0\.parquet: column 'qid' must not be m"
    ):
        list(iter_batches(tmp_path / "q"))
    pd.DataFrame({"label": [1], "x": [1.0]}).to_parquet(tmp_path / "q" / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: there is no column 'qid'"):
        iter_batches(tmp_path / "q")


def test_a_column_of_the_file_goes_before(tmp_path):
    shards(tmp_path, "x", [5], qid=[1, 2], label=[1, 0], x=[2.0, 3.0])
    assert load_table(tmp_path).data.tolist() == [[2], [3]]


@given(st.lists(st.integers(-(2**53), 2**53) | st.floats(allow_nan=False), min_size=1))
def test_numbers_stay_what_they_are(values):
    kind = type_of_values([str(value) for value in values])
    assert [kind(str(value)) for value in values] == [kind(value) for value in values]
    whole = all(isinstance(value, int) for value in values)
    assert kind is (int if whole else float)


def test_floats_make_no_two_numbers_one():
    large = ["9007199254740993", "9007199254740992"]
    assert type_of_values([*large, "0.5"]) is str
    assert type_of_values(large) is int
    assert type_of_values(["1", "1.0", "nan"]) is float


@pytest.mark.parametrize(
    ("ids", "kinds"),
    [
        (([1, 2], ["1", "3"]), "must hold integers, as in .*0.parquet, got text"),
        (([1, 2], [1.0, 3.0]), "must hold integers.*got values of the type"),
        ((["1"], [1]), "must hold text, as in .*0.parquet, got integers"),
        (
            (np.array([1], "u8"), [1]),
            "64-bit integers without a sign.*got",
        ),
    ],
)
def test_ids_of_two_kinds_are_refused(tmp_path, ids, kinds):
    for i, own in enumerate(ids):
        frame = pd.DataFrame({"qid": own, "label": 1, "x": 1.0})
        frame.to_parquet(tmp_path / f"{i}.parquet")
    for read in (iter_batches, load_table):
        with pytest.raises(ValueError, match=rf"1\.parquet: column 'qid' .*{kinds}"):
            read(tmp_path)


def test_ids_of_one_kind_in_several_widths(tmp_path):
    for i, kind in enumerate(["int8", "int32", "int64", "uint32"]):
        frame = pd.DataFrame({"qid": np.array([7 + i], kind), "label": 1, "x": 1.0})
        frame.to_parquet(tmp_path / f"{i}.parquet")
    assert load_table(tmp_path).qid.tolist() == [7, 8, 9, 10]
    text = pd.DataFrame({"qid": ["7"], "label": 1, "x": 1.0})
    text.to_csv(tmp_path / "4.csv", index=False)
    with pytest.raises(ValueError, match=r"4\.csv: column 'qid' must hold integers"):
        load_table(tmp_path)
