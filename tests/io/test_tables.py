"""Parquet, and columns in the names of folders."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.io.helpers import write
from tieaware_sklearn.datasets import iter_batches, load_table
from tieaware_sklearn.io._locate import type_of_values


def ranking(path, ids, **columns):
    """A file of Parquet with these ids of queries."""
    more = {"label": [1] * len(ids), "x": range(len(ids))} | columns
    pq.write_table(pa.table({"qid": ids} | more), path, row_group_size=4)
    return path


def no_text():
    ends = pa.array([0, 1, 2, 5, 6], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"aa\xed\xa0\x80b")
    return pa.Array.from_buffers(pa.string(), 4, [None, ends, data])


PAIR = pa.list_(pa.int8(), 2)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[1], [2]], "must hold one value in each cell, got List"),
        ([{"a": 1}, {"a": 2}], "must hold one value in each cell, got Struct"),
        (pa.array([[1, 2]] * 2, PAIR), "must hold one value in each cell, got Array"),
        (no_text(), "must hold text .* row 2$"),
        (["a", "b", ""], "must not be empty, got '' in row 2$"),
        ([1.0, None], "must not be missing, got nan in row 1$"),
    ],
)
def test_ids_of_parquet_that_are_refused(tmp_path, ids, message):
    path = ranking(tmp_path / "t.parquet", ids)
    for read in (load_table, lambda path: list(iter_batches(path))):
        with pytest.raises(ValueError, match=f"^{path}: column 'qid' {message}"):
            read(path)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), None])
def test_text_ids_of_all_types_go_together(tmp_path, kind):
    others = pa.array(["b", "c"], kind or pa.string())
    ranking(tmp_path / "1.parquet", pa.array(["a", "b"]))
    try:
        others = others if kind else others.dictionary_encode()
        ranking(tmp_path / "2.parquet", others)
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this pyarrow does not write {kind}")
    assert load_table(tmp_path).qid.tolist() == ["a", "b", "b", "c"]
    batches = iter_batches(tmp_path, batch_rows=2)
    assert [batch.qid.tolist() for batch in batches] == [["a", "b", "b"], ["c"]]


def test_parquet_is_opened_a_few_times_however_wide_it_is(tmp_path, monkeypatch):
    rows, file, opened = {f"f{j}": range(8) for j in range(300)}, pq.ParquetFile, []
    path = ranking(tmp_path / "wide.parquet", [1] * 4 + [2] * 4, **rows)

    def count(*arguments, **options):
        opened.append(arguments)
        return file(*arguments, **options)

    monkeypatch.setattr(pq, "ParquetFile", count)
    (batch,) = iter_batches(path)
    assert batch.data.shape == (8, 301)
    assert len(opened) <= 2


def test_types_of_parquet_say_what_is_a_feature(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table({
        "qid": [1, 1], "label": [True, False], "small": pa.array([1, None], pa.int8()),
        "large": [2**62 + 1, 2**62], "half": pa.array(np.array([1, 2], np.float16)),
        "coded": pa.array([3, None]).dictionary_encode(), "none": pa.nulls(2),
        "text": ["a", "7"], "day": pa.array([1, 2], pa.date32()),
    })  # fmt: skip
    pq.write_table(table, path)
    found = load_table(path)
    assert found.feature_names == ["small", "large", "half", "coded"]
    assert found.left_out == ["none", "text", "day"]
    assert_array_equal(found.target, [1, 0])
    # ranks of integers that floats would tie
    assert_array_equal(found.data, [[1, 1, 1, 3], [np.nan, 0, 2, np.nan]])
    text = table.set_column(2, "small", pa.array(["1", "2"]))
    pq.write_table(text, path)
    message = "'small' must hold numbers as numbers, got the text '1' in row 0"
    with pytest.raises(ValueError, match=message):
        load_table(path)
    assert "small" not in load_table(path, ignore=["small"]).feature_names
    pq.write_table(table, tmp_path / "u.parquet")
    pq.write_table(text.set_column(2, "small", pa.array(["a", "b"])), path)
    with pytest.raises(ValueError, match=r"'small' must .* 'a' in .*t\.parquet, row 0"):
        load_table(tmp_path)


def test_what_arrow_cannot_say_in_other_words(tmp_path, web, monkeypatch):
    path = write(tmp_path / "a.parquet", **web)

    def fail(*_, **__):
        raise pa.lib.ArrowException("Unknown error: \x0f\nwrapped")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fail)
    with pytest.raises(ValueError, match=r"a\.parquet: Unknown error:   wrapped"):
        iter_batches(path)


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
    columns = {"qid": [1, 1, 2, 3], "label": [1, 0, 1, 2], "x": [0.5, 1, 2, 3]}
    table = pa.table(columns | {"qid_bucket": [1, 1, 10, 9]})
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
    [
        ([1, 2, 11], int),
        (["a", "7"], str),
        (["007", "8"], str),
        (["1.5", "7"], str),
        (["a/b", "c d"], str),
    ],
)
def test_query_ids_in_names_of_folders(tmp_path, values, kept):
    shards(tmp_path, "qid", values, label=[1, 0], x=[2.0, 3.0])
    batches = list(iter_batches(tmp_path, batch_rows=1))
    found = [q for b in batches for q in set(b.qid.tolist())]
    assert set(found) == {kept(value) for value in values}
    assert all(len(b.data) == 2 for b in batches)


def test_labels_and_features_in_names_of_folders(tmp_path):
    table = load_table(shards(tmp_path / "y", "label", [0, 1, 0.5], qid=[1], x=[2.0]))
    assert table.target.tolist() == [0, 0.5, 1]
    # a column of the file goes before
    own = shards(tmp_path / "x", "x", [5], qid=[1, 2], label=[1, 0], x=[2.0, 3.0])
    assert load_table(own).data.tolist() == [[2], [3]]
    # folders within folders, and other names between them
    deep = shards(tmp_path / "a=1" / "b=2" / "c" / "d=4", "e", [5], qid=[1], label=[1])
    assert load_table(tmp_path / "a=1").feature_names == ["d", "e"]
    assert load_table(deep).data.tolist() == [[4, 5]]
    bad = shards(tmp_path / "bad", "label", [0, "high"], qid=[1, 2], x=[2.0, 3.0])
    with pytest.raises(ValueError, match="column 'label' holds no number"):
        load_table(bad)


def test_missing_values_and_missing_columns(tmp_path):
    hive = "__HIVE_DEFAULT_PARTITION__"
    shards(tmp_path / "x", "z", [hive, 3], qid=[1, 2], label=[1, 0], x=[2.0, 3.0])
    z = load_table(tmp_path / "x").data[:, 1]
    assert_array_equal(np.sort(z), [3, 3, np.nan, np.nan])
    shards(tmp_path / "q", "qid", [hive, 3], label=[1, 0], x=[2.0, 3.0])
    said = r"qid=.*0\.parquet: column 'qid' must not be missing"
    with pytest.raises(ValueError, match=said):
        list(iter_batches(tmp_path / "q"))
    pd.DataFrame({"label": [1], "x": [1.0]}).to_parquet(tmp_path / "q" / "a.parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: there is no column 'qid'"):
        iter_batches(tmp_path / "q")


@given(st.lists(st.integers(-(2**53), 2**53) | st.floats(allow_nan=False), min_size=1))
def test_numbers_in_names_stay_what_they_are(values):
    kind = type_of_values([str(value) for value in values])
    assert [kind(str(value)) for value in values] == [kind(value) for value in values]
    whole = all(isinstance(value, int) for value in values)
    assert kind is (int if whole else float)


def test_floats_make_no_two_numbers_one():
    large = ["9007199254740993", "9007199254740992"]
    assert type_of_values([*large, "0.5"]) is str
    assert type_of_values(large) is int
    assert type_of_values(["1", "1.0", "nan"]) is float
    assert type_of_values([]) is str


@pytest.mark.parametrize(
    ("ids", "kinds"),
    [
        (([1, 2], ["1", "3"]), "must hold integers, as in .*0.parquet, got text"),
        (([1, 2], [1.0, 3.0]), "must hold integers.*got values of the type float64"),
        ((["1"], [1]), "must hold text, as in .*0.parquet, got integers"),
        ((["1"], [True]), "must hold text.* got values of the type bool"),
        ((np.array([1], "u8"), [1]), "64-bit integers without a sign.*got integers"),
    ],
)
def test_ids_of_two_kinds_are_refused(tmp_path, ids, kinds):
    for i, own in enumerate(ids):
        ranking(tmp_path / f"{i}.parquet", own)
    for read in (iter_batches, load_table):
        with pytest.raises(ValueError, match=rf"1\.parquet: column 'qid' .*{kinds}"):
            read(tmp_path)


def test_ids_of_one_kind_in_several_widths(tmp_path):
    for i, kind in enumerate(["int8", "int32", "int64", "uint32"]):
        ranking(tmp_path / f"{i}.parquet", np.array([7 + i], kind))
    assert load_table(tmp_path).qid.tolist() == [7, 8, 9, 10]
    (tmp_path / "4.csv").write_text("label,qid,x\n1,7,1\n")
    with pytest.raises(ValueError, match=r"4\.csv: column 'qid' must hold integers"):
        load_table(tmp_path)
