"""LETOR text, read and written."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tieaware_sklearn.datasets import dump_letor, load_letor

LETOR = """\
2 qid:10 1:0.5 2:3 4:-1e-3 # docid = 17 1:9
# a comment alone

0 qid:10 1:1 2:0
1 qid:9 4:7 #end
"""
ROWS = [[0.5, 3, 0, -1e-3], [1, 0, 0, 0], [0, 0, 0, 7]]


def write(folder, text, name="train.txt"):
    path = folder / name
    path.write_text(text)
    return path


def test_letor_text(tmp_path):
    found = load_letor(write(tmp_path, LETOR))
    assert found.data.dtype == np.float64
    assert found.data.tolist() == ROWS
    assert found.target.tolist() == [2, 0, 1]
    assert found.qid.tolist() == [10, 10, 9]
    assert found.feature_names == ["1", "2", "3", "4"]
    assert "3 rows, 2 queries, 4 features" in found.DESCR


def test_letor_gzipped_whatever_its_name(tmp_path):
    for name in ("train.txt.gz", "train.txt"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(LETOR.encode()))
        assert load_letor(path).data.tolist() == ROWS
        assert load_letor(str(path)).data.tolist() == ROWS


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, bytes]
)
def test_letor_compressed_with_a_byte_order_mark(tmp_path, compress):
    path = tmp_path / "train"
    path.write_bytes(compress(b"\xef\xbb\xbf" + LETOR.replace("\n", "\r\n").encode()))
    assert load_letor(path).data.tolist() == ROWS


def test_letor_sparse(tmp_path):
    found = load_letor(write(tmp_path, LETOR), sparse=True)
    assert sp.issparse(found.data)
    assert found.data.format == "csr"
    assert found.data.toarray().tolist() == ROWS


def test_letor_as_a_data_frame(tmp_path):
    path = write(tmp_path, LETOR)
    for options in ({}, {"sparse": True}):
        found = load_letor(path, as_frame=True, ignore=["2"], **options)
        assert found.feature_names == ["1", "3", "4"]
        assert found.data.columns.tolist() == found.feature_names
        wanted = np.delete(ROWS, 1, axis=1)
        assert np.array_equal(found.data.to_numpy(), wanted)
    assert isinstance(found.data.dtypes.iloc[0], pd.SparseDtype)
    with pytest.raises(ValueError, match="ignore must leave at least one feature"):
        load_letor(path, ignore=["1", "2", "3", "4"])


def test_letor_feature_numbers(tmp_path):
    from_zero = write(tmp_path, "1 qid:1 0:5 2:7\n", "zero.txt")
    assert load_letor(from_zero).data.tolist() == [[5, 0, 7]]
    assert load_letor(from_zero).feature_names == ["0", "1", "2"]
    from_one = write(tmp_path, "1 qid:1 2:7\n", "one.txt")
    assert load_letor(from_one).data.tolist() == [[0, 7]]
    as_zero = load_letor(from_one, zero_based=True)
    assert as_zero.data.tolist() == [[0, 0, 7]]
    assert load_letor(from_one, n_features=3).data.tolist() == [[0, 7, 0]]
    with pytest.raises(ValueError, match=r"n_features must be at least 2, .* got 1"):
        load_letor(from_one, n_features=1)
    with pytest.raises(
        ValueError, match="zero_based=False, but a feature has number 0"
    ):
        load_letor(from_zero, zero_based=False)
    with pytest.raises(ValueError, match="zero_based must be one of"):
        load_letor(from_zero, zero_based="maybe")


def test_letor_several_files(tmp_path):
    a = write(tmp_path, LETOR, "a.txt")
    b = write(tmp_path, "3 qid:9 6:1\n", "b.txt")
    found = load_letor([a, b])
    assert found.data.shape == (4, 6)
    assert found.qid.tolist() == [10, 10, 9, 9]


def test_letor_with_group_sizes(tmp_path):
    text = "1 1:1\n0 1:2\n0 1:3\n"
    path = write(tmp_path, text)
    with pytest.raises(
        ValueError, match=r"no qid:, and there is no file train\.txt\.query"
    ):
        load_letor(path)
    write(tmp_path, "2\n1\n", "train.txt.query")
    assert load_letor(path).qid.tolist() == [0, 0, 1]
    again = write(tmp_path, text, "again.txt")
    write(tmp_path, "2\n1\n", "again.txt.query")
    assert load_letor([path, again]).qid.tolist() == [0, 0, 1, 2, 2, 3]
    other = write(tmp_path, "1\n\n1\n1", "sizes")
    assert load_letor(path, query_file=other).qid.tolist() == [0, 1, 2]
    wrong = write(tmp_path, "2\n2\n", "wrong")
    with pytest.raises(
        ValueError, match=r"wrong: the sizes of its 2 queries add up to 4"
    ):
        load_letor(path, query_file=wrong)
    for text, line in (("2\nx\n", 2), ("0\n3\n", 1), ("3 # three\n", 1)):
        malformed = write(tmp_path, text, "malformed")
        with pytest.raises(ValueError, match=f"malformed, line {line}: the size"):
            load_letor(path, query_file=malformed)
    with pytest.raises(ValueError, match=r"one file for each path \(1\), got 2"):
        load_letor(path, query_file=[other, other])
    with pytest.raises(
        ValueError, match="query_file must be None, because the lines have qid:"
    ):
        load_letor(write(tmp_path, LETOR, "q.txt"), query_file=other)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x qid:1 1:2", "the label must be a number, got 'x'"),
        ("qid:1 1:2", "the label must be a number, got 'qid:1'"),
        ("1 qid:a 1:2", "qid must be a 64-bit integer, got 'a'"),
        ("1 qid: 1:2", "qid must be a 64-bit integer, got ''"),
        ("1 1:2", "there is no qid:, though other lines have one"),
        ("1 qid:1 1:2 3", "a feature must look like number:value, got '3'"),
        ("1 qid:1 1:2 three:3", "a feature must look like .* got 'three:3'"),
        ("1 qid:1 1:two", "a feature must look like number:value, got '1:two'"),
        ("1 qid:1 1:", "a feature must look like number:value, got '1:'"),
        ("1 qid:1 -1:2", "a feature must look like number:value, got '-1:2'"),
        ("1 qid:1 2:1 1:2", "feature numbers must ascend, got 1 after 2"),
        ("1 qid:1 4000000000:1", "a feature number must be below 2.31"),
        ("1 qid:1 1:1 1:2", "feature numbers must ascend, got 1 after 1"),
        ("1 qid:99999999999999999999 1:1", "qid must be a 64-bit integer"),
        ("\x00\x01PAR1", "must be text in UTF-8, got a NUL byte"),
    ],
)
def test_a_malformed_line_is_reported_with_file_and_number(tmp_path, line, message):
    lines = ["# head", "", *["1 qid:1 1:0.5 2:1"] * 50]
    lines.insert(30, line)
    path = write(tmp_path, "\n".join(lines), "middle.txt")
    with pytest.raises(ValueError, match=f"middle.txt, line 31: {message}"):
        load_letor(path)


def test_letor_damaged_or_empty_files(tmp_path):
    whole = gzip.compress(LETOR.encode() * 1000)
    path = tmp_path / "cut.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.gz: damaged compressed data"):
        load_letor(path)
    for text in ("", "# nothing\n\n"):
        with pytest.raises(ValueError, match=r"train\.txt: there is no document"):
            load_letor(write(tmp_path, text))
    with pytest.raises(FileNotFoundError):
        load_letor(tmp_path / "absent")
    with pytest.raises(ValueError, match="path must name at least one file"):
        load_letor([])


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=100)
@given(
    data=arrays(float, array_shapes(min_dims=2, max_dims=2), elements=NUMBERS),
    zero_based=st.booleans(),
    suffix=st.sampled_from([".txt", ".txt.gz"]),
    draw=st.data(),
)
def test_letor_reads_back_exactly(tmp_path, data, zero_based, suffix, draw):
    n = len(data)
    y = draw.draw(arrays(float, n, elements=st.floats(0, 1e9)))
    qid = draw.draw(arrays(np.int64, n, elements=st.integers(0, 5)))
    path = tmp_path / f"out{suffix}"
    dump_letor(data, y, path, qid=qid, zero_based=zero_based)
    found = load_letor(path, zero_based=zero_based)
    assert np.array_equal(found.data, data)
    assert found.target.tolist() == y.tolist()
    assert found.qid.tolist() == qid.tolist()
    sparse = sp.csr_array(data)
    dump_letor(sparse, y, path, qid=qid, zero_based=zero_based)
    found = load_letor(path, zero_based=zero_based, n_features=data.shape[1])
    assert np.array_equal(found.data, data)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_dump_refuses_and_leaves_the_old_file(tmp_path):
    path = write(tmp_path, "old")
    X, y, qid = [[1.0]], [1], [1]
    for arguments, message in (
        (([["a"]], y, qid), "X must be a 2-D numeric array"),
        (([1.0], y, qid), r"X must be a 2-D numeric array, got shape \(1,\)"),
        ((X, [1, 2], qid), r"y must have one value per row \(1\), got 2"),
        ((X, y, ["a"]), "qid must hold 64-bit integers"),
        ((X, y, np.array([2**63], np.uint64)), "qid must hold 64-bit integers"),
        ((X, ["a"], qid), "y must be numeric"),
    ):
        with pytest.raises(ValueError, match=message):
            dump_letor(*arguments[:2], path, qid=arguments[2])
    assert path.read_text() == "old"
    dump_letor(np.array([[True, False]]), [True], path, qid=[3])
    assert path.read_text() == "1 qid:3 1:1 2:0\n"
    twice = sp.csr_array(([1.0, 2.0, 5.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    dump_letor(twice, [1], path, qid=[3])
    assert path.read_text() == "1 qid:3 1:5 2:3\n"
    assert twice.indices.tolist() == [1, 1, 0]
    dump_letor(pd.DataFrame({"a": [1], "b": [True]}), [1], path, qid=[3])
    assert load_letor(path).data.tolist() == [[1, 1]]
