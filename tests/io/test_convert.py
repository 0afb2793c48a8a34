"""Rankings written in another format: what is read back is what was read."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from tests.io.helpers import FORMS
from tieaware_sklearn.datasets import dump_letor, load_letor, load_table
from tieaware_sklearn.io import _batches, _convert
from tieaware_sklearn.io._batches import scan_files
from tieaware_sklearn.io._convert import convert, feature_numbers
from tieaware_sklearn.io._tabular_frames import is_tabular

OUTPUTS = ["out.txt", "out.gz", "out.csv", "out.tsv.gz", "out.pq"]


def look_through(path, **options):
    return scan_files([path], label="label", qid="qid", **options)


def read(path):
    return (load_table if is_tabular(path) else load_letor)(path)


def converted(path, out, **options):
    convert(look_through(path), out, **options)
    return read(out)


def same(found, wanted):
    """Whether two rankings hold the same numbers and ids."""
    assert_array_equal(found.data, wanted.data)
    assert_array_equal(found.target, wanted.target)
    assert found.qid.astype(str).tolist() == wanted.qid.astype(str).tolist()


@pytest.mark.parametrize("rows", [40, 10**6])
@pytest.mark.parametrize("out", OUTPUTS)
@pytest.mark.parametrize("name", FORMS)
def test_what_is_written_is_what_was_read(
    tmp_path, files, monkeypatch, name, out, rows
):
    monkeypatch.setattr(_convert, "rows_of_batch", lambda *_: rows)
    wanted = read(files[name])
    found = converted(files[name], tmp_path / out)
    same(found, wanted)
    if is_tabular(tmp_path / out):
        assert found.feature_names == wanted.feature_names
        assert not found.left_out
    # and back
    path = tmp_path / ("back.parquet" if out == "out.txt" else "back.txt")
    same(converted(tmp_path / out, path), wanted)


@settings(max_examples=50)
@given(
    arrays(np.float64, (5, 3), elements=st.floats(allow_nan=True)),
    arrays(np.float64, 5, elements=st.floats(allow_nan=True)),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=5, max_size=5),
)
def test_every_number_has_its_bits(tmp_path, X, y, qid):
    # columns without a number are left out of tables
    X[0], y[0] = 1, 0
    source = tmp_path / "any.txt"
    dump_letor(X, y, source, qid=qid)
    for out in ("out.txt", "out.csv", "out.parquet"):
        found = converted(source, tmp_path / out)
        same(found, load_letor(source))
        # zeros are equal, and a sparse matrix has none of its own sign
        held = ~np.isnan(X) & (X != 0)
        assert_array_equal(np.signbit(found.data)[held], np.signbit(X)[held])


def test_parquet_is_written_by_batches_of_whole_queries(tmp_path, files, monkeypatch):
    monkeypatch.setattr(_convert, "rows_of_batch", lambda *_: 50)
    out = tmp_path / "out.parquet"
    wanted = read(files["web.txt"])
    convert(look_through(files["web.txt"]), out, label="grade", qid="query")
    written = pq.ParquetFile(out)
    names = ["grade", "query", *wanted.feature_names]
    assert written.schema_arrow.names == names
    kinds = [str(kind) for kind in written.schema_arrow.types]
    assert kinds == ["double", "int64", *["double"] * len(wanted.feature_names)]
    assert written.num_row_groups > 2
    groups = [
        written.read_row_group(i, ["query"])["query"].to_numpy()
        for i in range(written.num_row_groups)
    ]
    for one, other in itertools.pairwise(groups):
        assert len(one) >= 50
        assert one[-1] != other[0]


def test_queries_that_are_not_together_keep_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(_convert, "rows_of_batch", lambda *_: 2)
    path = tmp_path / "any.txt"
    path.write_text("1 qid:7 1:1\n0 qid:5 1:2\n2 qid:7 3:3\n0 qid:7 1:4\n1 qid:5 2:5\n")
    for out in ("out.csv", "out.txt", "out.parquet"):
        same(converted(path, tmp_path / out), load_letor(path))


def test_several_files_and_sizes_of_queries(tmp_path):
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("1 1:1\n0 1:2\n2 1:3\n")
    other.write_text("1 2:4\n")
    for path, sizes in ((one, "2\n1\n"), (other, "1\n")):
        path.with_name(f"{path.name}.query").write_text(sizes)
    scan = scan_files([one, other], label="label", qid="qid")
    convert(scan, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (
        "label,qid,1,2\n1,0,1,0\n0,0,2,0\n2,1,3,0\n1,2,0,4\n"
    )


def test_text_ids_and_gaps(tmp_path):
    path = tmp_path / "any.csv"
    text = 'label,qid,"a, b",x\n1,007,,2.5\n,NA,1e3,-0.0\n0,"a ""b"", c",inf,3\n'
    path.write_text(text)
    wanted = load_table(path)
    assert wanted.qid.tolist() == ["007", "NA", 'a "b", c']
    for out in ("out.csv", "out.parquet", "out.tsv"):
        found = converted(path, tmp_path / out)
        assert_array_equal(found.data, wanted.data)
        assert_array_equal(found.target, wanted.target)
        assert found.qid.tolist() == wanted.qid.tolist()
        assert found.feature_names == ["a, b", "x"]


@pytest.mark.parametrize(
    "text", ["007", "a", "1.0", "+1", "-0", "9223372036854775808", "1" * 5000, "٣"]
)
def test_letor_text_takes_ids_that_are_integers_spelled_in_one_way(tmp_path, text):
    path, out = tmp_path / "any.csv", tmp_path / "out.txt"
    path.write_text(f"label,qid,x\n1,-9223372036854775808,2\n0,{text},3\n")
    out.write_text("before")
    with pytest.raises(ValueError, match=r"any.csv, line 3: .* must be a 64-bit int"):
        convert(look_through(path), out)
    assert out.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 2


def test_unsigned_ids(tmp_path):
    path = tmp_path / "any.parquet"
    frame = pd.DataFrame({"label": [1, 0], "x": [1, 2]})
    frame.assign(qid=np.array([3, 4], dtype=np.uint64)).to_parquet(path)
    assert converted(path, tmp_path / "out.txt").qid.tolist() == [3, 4]
    frame.assign(qid=np.array([3, 2**63], dtype=np.uint64)).to_parquet(path)
    assert converted(path, tmp_path / "out.csv").qid.tolist() == ["3", str(2**63)]
    with pytest.raises(ValueError, match="row 1: in LETOR text a query id must be"):
        convert(look_through(path), tmp_path / "out.txt")


@pytest.mark.parametrize("out", OUTPUTS)
def test_no_integer_becomes_another_number(tmp_path, out):
    path = tmp_path / "any.parquet"
    large = 2**53 + np.array([0, 2, 4])
    frame = pd.DataFrame({"label": [1, 0, 1], "qid": 1, "n": large, "x": [1.5, 2, 3]})
    frame.to_parquet(path)
    found = converted(path, tmp_path / out).data[:, 0]
    if "csv" in out or "tsv" in out:
        # in a matrix beside floats, whole numbers are ranks
        separator = "," if "csv" in out else "\t"
        found = pd.read_csv(tmp_path / out, sep=separator)["n"]
    assert found.tolist() == large.tolist()
    for name, row, value in (("n", 1, 2**53 + 1), ("label", 2, 2**63 - 1)):
        frame.assign(**{name: [0] * row + [value] * (3 - row)}).to_parquet(path)
        with pytest.raises(ValueError, match=f"row {row}: column '{name}' .* {value}$"):
            convert(look_through(path), tmp_path / out)


def test_numbers_of_features():
    assert feature_numbers(["1", "2", "7"]) == [1, 2, 7]
    assert feature_numbers(["0", "5"]) == [0, 5]
    for names in (["2", "1"], ["1", "1"], ["01", "2"], ["1", "x"], ["1", "9" * 10]):
        assert feature_numbers(names) == [1, 2]


def test_columns_have_different_names(tmp_path, files):
    scan = look_through(files["web.txt"])
    out = tmp_path / "out.csv"
    for names in ({"label": "2"}, {"qid": "3"}, {"label": "qid"}):
        (name,) = names.values()
        with pytest.raises(ValueError, match=f"different names, got '{name}' twice"):
            convert(scan, out, **names)
    assert not out.exists()
    # LETOR text names nothing
    convert(scan, tmp_path / "out.txt", label="2")


def test_a_file_that_is_malformed_or_goes_away_leaves_nothing(tmp_path, monkeypatch):
    path, out = tmp_path / "any.txt", tmp_path / "out.parquet"
    lines = [f"1 qid:{i // 9} 1:{i} 2:3 3:4" for i in range(99)]
    monkeypatch.setattr(_convert, "rows_of_batch", lambda *_: 10)
    path.write_text("\n".join([*lines, "1 qid:11 1:1 2:x 3:1"]))
    with pytest.raises(ValueError, match=r"any.txt, line 100: a feature must look"):
        convert(look_through(path), out)
    path.write_text("\n".join(lines))
    scan = look_through(path)
    path.unlink()
    with pytest.raises(ValueError, match=r"any.txt: No such file"):
        convert(scan, out)
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_batches, "_BATCH_CELLS", 2000)
    most = []
    write = _convert.letor_lines

    def seen(rows, *rest):
        most.append(len(rows))
        return write(rows, *rest)

    monkeypatch.setattr(_convert, "letor_lines", seen)
    path = tmp_path / "many.txt"
    path.write_text("".join(f"1 qid:{i // 10} 1:{i} 4:2\n" for i in range(5000)))
    same(converted(path, tmp_path / "out.txt"), load_letor(path))
    assert max(most) == 500


def test_ids_of_a_later_file_may_need_more_bits(tmp_path):
    for name, qid in (("a", np.array([1, 1], np.int32)), ("b", np.array([2**40] * 2))):
        frame = pd.DataFrame({"label": [1, 0], "qid": qid, "x": [1.0, 2.0]})
        frame.to_parquet(tmp_path / f"{name}.parquet", index=False)
    scan = scan_files(sorted(tmp_path.iterdir()), label="label", qid="qid")
    convert(scan, tmp_path / "out.parquet")
    assert read(tmp_path / "out.parquet").qid.tolist() == [1, 1, 2**40, 2**40]
