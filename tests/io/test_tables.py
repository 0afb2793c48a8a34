"""CSV, TSV and Parquet at once."""

from __future__ import annotations

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from tieaware_sklearn.datasets import iter_batches, load_table


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
    again = shutil.copy(files[name], tmp_path)
    twice = load_table([files[name], again], ignore=["f1"], as_frame=True)
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
    with pytest.raises(ValueError, match=r"line 4: query 'a' comes .* sort the rows"):
        list(iter_batches(path, **columns))
    with pytest.raises(ValueError, match=r"there is no column 'label' .*--label"):
        load_table(path)
    with pytest.raises(ValueError, match=r"must end in \.csv.* load_letor"):
        load_table(tmp_path / "train.txt")


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        # beyond all types of 64 bits, and beyond what one of them holds
        (["18446744073709551617", "18446744073709551618", "3"], "18446744073709551617"),
        (["9223372036854775809", "9223372036854775808", "-3"], "9223372036854775809"),
        (["9223372036854775807", "9223372036854775808", "3"], "9223372036854775807"),
        (["0" * 5000 + "1", "9" * 5000, "2"], "0" * 60),
    ],
)
def test_floats_tie_no_integers(tmp_path, cells, bad):
    path = tmp_path / "large.csv"
    path.write_text("label,qid,x\n" + "".join(f"1,1,{cell}\n" for cell in cells))
    with pytest.raises(ValueError, match=f"line 2: column 'x' must .* got '{bad}"):
        load_table(path)


@pytest.mark.parametrize(
    "ids",
    [[[1], [2]], [{"a": 1}, {"a": 2}], pa.array([[1, 2]] * 2, pa.list_(pa.int8(), 2))],
)
def test_query_ids_of_parquet_that_are_no_single_values(tmp_path, ids):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"qid": ids, "label": [1, 0], "x": [1, 2]}), path)
    for reader in (load_table, iter_batches):
        with pytest.raises(
            ValueError,
            match=r"t\.parquet: column 'qid' must hold one value .*, got",
        ):
            reader(path)


def test_ids_of_parquet_that_are_no_text(tmp_path):
    ends = pa.array([0, 1, 2, 5, 6], pa.int32()).buffers()[1]
    data = pa.py_buffer(b"aa\xed\xa0\x80b")
    text = pa.Array.from_buffers(pa.string(), 4, [None, ends, data])
    columns = {"qid": text, "label": [1, 0, 0, 1], "x": range(4)}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=2)
    for read in (load_table, lambda path: list(iter_batches(path))):
        with pytest.raises(ValueError, match="column 'qid' must hold text") as error:
            read(path)
        assert str(error.value).startswith(f"{path}: ")
        assert str(error.value).endswith(" row 2")


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), None])
def test_text_ids_of_all_types_go_together(tmp_path, kind):
    others = pa.array(["b", "c"], kind or pa.string())
    if kind is None:
        others = others.dictionary_encode()
    for name, ids in (("1", pa.array(["a", "b"])), ("2", others)):
        table = pa.table({"qid": ids, "label": [1, 0], "x": [1, 2]})
        try:
            pq.write_table(table, tmp_path / f"{name}.parquet")
        except pa.ArrowNotImplementedError:
            pytest.skip(f"this pyarrow does not write {kind}")
    assert load_table(tmp_path).qid.tolist() == ["a", "b", "b", "c"]
    assert [b.qid.tolist() for b in iter_batches(tmp_path, batch_rows=2)] == [
        ["a", "b", "b"],
        ["c"],
    ]


def test_parquet_is_opened_a_few_times_however_many_columns_it_has(
    tmp_path, monkeypatch
):
    rows = {f"f{j}": np.arange(8) for j in range(300)}
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"qid": [1] * 4 + [2] * 4, "label": [1] * 8, **rows}), path)
    opened = []
    file = pq.ParquetFile

    def count(*arguments, **options):
        opened.append(arguments)
        return file(*arguments, **options)

    monkeypatch.setattr(pq, "ParquetFile", count)
    (batch,) = iter_batches(path)
    assert batch.data.shape == (8, 300)
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


def test_a_shard_may_be_a_header_alone(tmp_path):
    for end in ("", "\n"):
        (tmp_path / "0.csv").write_text(f"label,qid,x{end}")
        (tmp_path / "1.csv").write_text("label,qid,x\n1,1,2")
        assert load_table(tmp_path).data.tolist() == [[2]]
