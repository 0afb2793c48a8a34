"""LETOR text, read and written."""

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
from numpy.testing import assert_array_equal

from tests.io.helpers import in_batches, memory_below, refused
from tieaware_sklearn.datasets import dump_letor, iter_batches, load_letor

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


def test_what_is_read(tmp_path):
    path = write(tmp_path, LETOR)
    found = load_letor(path)
    assert found.data.dtype == np.float64
    assert found.data.tolist() == ROWS
    assert found.target.tolist() == [2, 0, 1]
    assert found.qid.tolist() == [10, 10, 9]
    assert found.feature_names == ["1", "2", "3", "4"]
    assert f"{path}: 3 rows, 2 queries, 4 features" == found.DESCR


def test_the_lines_of_rows(tmp_path):
    path = write(tmp_path, LETOR)
    place = load_letor(path).place
    assert [place(row) for row in range(3)] == [f"{path}, line {n}" for n in (1, 4, 5)]


def test_sparse_features(tmp_path):
    sparse = load_letor(write(tmp_path, LETOR), sparse=True).data
    assert (sparse.format, sparse.toarray().tolist()) == ("csr", ROWS)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_frame_without_an_ignored_feature(tmp_path, sparse):
    path = write(tmp_path, LETOR)
    found = load_letor(path, as_frame=True, ignore=["2"], sparse=sparse)
    assert found.data.columns.tolist() == found.feature_names == ["1", "3", "4"]
    assert_array_equal(found.data.to_numpy(), np.delete(ROWS, 1, axis=1))
    assert isinstance(found.data.dtypes.iloc[0], pd.SparseDtype) == sparse


def test_files_have_one_set_of_features_and_queries_go_on(tmp_path):
    path = write(tmp_path, LETOR)
    found = load_letor([path, write(tmp_path, "3 qid:9 6:1\n", "b.txt")])
    assert found.data.shape == (4, 6)
    assert found.qid.tolist() == [10, 10, 9, 9]


def test_all_files_or_none_have_queries(tmp_path):
    paths = [write(tmp_path, LETOR), write(tmp_path, "3 6:1\n", "b.txt")]
    refused(paths, f"{paths[1]}: only other files have qid:", load_letor)


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, bytes]
)
def test_compressed_whatever_its_name_with_a_byte_order_mark(tmp_path, compress):
    path = tmp_path / "train"
    path.write_bytes(compress(b"\xef\xbb\xbf" + LETOR.replace("\n", "\r\n").encode()))
    assert load_letor(str(path)).data.tolist() == ROWS
    # streams one after another
    first, second = (compress(half.encode()) for half in (LETOR[:70], LETOR[70:]))
    path.write_bytes(first + second)
    assert load_letor(path).data.tolist() == ROWS


def test_feature_numbers(tmp_path):
    zero = write(tmp_path, "1 qid:1 0:5 2:7\n", "zero.txt")
    assert load_letor(zero).data.tolist() == [[5, 0, 7]]
    assert load_letor(zero).feature_names == ["0", "1", "2"]
    one = write(tmp_path, "1 qid:1 2:7\n", "one.txt")
    for options, wanted in (
        ({"zero_based": False}, [[0, 7]]),
        ({"zero_based": True}, [[0, 0, 7]]),
        ({"n_features": 3}, [[0, 7, 0]]),
        ({"n_features": 2}, [[0, 7]]),
    ):
        assert load_letor(one, **options).data.tolist() == wanted
    (batch,) = iter_batches(one, n_features=3)
    assert (batch.feature_names, batch.data.tolist()) == ([*"123"], [[0, 7, 0]])
    none = write(tmp_path, "1 qid:1\n0 qid:1\n", "none")
    assert load_letor(none, n_features=1).data.tolist() == [[0], [0]]
    for path, options, message in (
        (one, {"n_features": 1}, "^n_features must be at least 2, .* got 1"),
        (one, {"ignore": ["1", "2"]}, "ignore must leave at least one feature"),
        (zero, {"zero_based": False}, "zero_based=False, but a feature has number 0"),
        (one, {"zero_based": "maybe"}, "zero_based must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            load_letor(path, **options)
    with pytest.raises(FileNotFoundError):
        load_letor(tmp_path / "absent")


def test_features_far_beyond_the_others_if_they_are_meant(tmp_path):
    path = write(tmp_path, "0 qid:1 1:1\n1 qid:1 20000:1\n")
    refused(path, "train.txt: feature number 20000 is far", load_letor)
    assert load_letor(path, n_features=20000, sparse=True).data.shape == (2, 20000)
    path = write(tmp_path, "1 qid:1 1:1 10000:1\n")
    assert load_letor(path, sparse=True).data.shape == (1, 10000)
    lines = [f"1 qid:1 {n}:1\n" for n in range(1, 20000, 50)]
    path = write(tmp_path, "".join(lines))
    assert load_letor(path, sparse=True).data.shape == (400, 19951)


def test_sizes_of_queries_beside_files(tmp_path):
    text = "# a comment\n\n1 1:1\n0 1:2\n0 1:3\n"
    path = write(tmp_path, text)
    refused(path, r"no qid:.* beside it, train\.txt\.query", load_letor)
    write(tmp_path, "1\n2\n", "train.txt.group")
    assert load_letor(path).qid.tolist() == [0, 1, 1]
    write(tmp_path, "2\n1\n", "train.txt.query")
    assert load_letor(path).qid.tolist() == [0, 0, 1]
    again = write(tmp_path, text, "train2.txt")
    write(tmp_path, "2\n1\n", "train2.txt.query")
    # a folder, beside text of no rows
    write(tmp_path, "", "train0.txt")
    assert load_letor(tmp_path).qid.tolist() == [0, 0, 1, 2, 2, 3]
    batches = in_batches([path, again])
    assert [b.qid.tolist() for b in batches] == [[0, 0], [1], [2, 2], [3]]
    assert batches[3].place(0) == f"{again}, line 5"
    sizes = write(tmp_path, "1\n\n1\n1", "sizes")
    assert load_letor(path, query_file=sizes).qid.tolist() == [0, 1, 2]
    assert load_letor([path, again], query_file=[sizes] * 2).qid.tolist() == [*range(6)]
    with_ids = write(tmp_path, LETOR, "q.txt")
    wrong = write(tmp_path, "2\n2\n", "wrong")
    write(tmp_path, "1\n", "train0.txt.query")
    for paths, named, message in (
        (path, wrong, f"wrong: .* its 2 queries add up to 4, but {path} has 3 rows"),
        (path, [sizes, sizes], r"one file for each path \(1\), got 2"),
        (with_ids, sizes, "query_file must be None, because the lines have qid:"),
        (str(tmp_path / "train*.txt"), None, r"add up to 1, but .* has 0 rows"),
    ):
        refused(paths, message, load_letor, query_file=named)


BAD_SIZES = [
    ("2\nx\n", "'x'"),
    ("0\n3\n", "'0'"),
    ("-1\n4\n", "'-1'"),
    ("3 # three\n", "'#'"),
]


@pytest.mark.parametrize(("text", "word"), BAD_SIZES)
def test_a_size_must_be_a_positive_integer(tmp_path, text, word):
    path, sizes = write(tmp_path, "1 1:1\n"), write(tmp_path, text, "malformed")
    message = f"malformed: the size of a query must be a positive integer, got {word}"
    refused(path, message, load_letor, query_file=sizes)


@pytest.mark.parametrize("text", ["1 qid:1 1:1\n", LETOR * 2])
def test_a_file_that_has_changed(tmp_path, text):
    batches = iter_batches(write(tmp_path, LETOR), batch_rows=10)
    write(tmp_path, text)
    with pytest.raises(ValueError, match="has changed since it was read"):
        list(batches)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(
    data=arrays(float, array_shapes(min_dims=2, max_dims=2), elements=NUMBERS),
    zero_based=st.booleans(),
    suffix=st.sampled_from([".txt", ".txt.gz"]),
    draw=st.data(),
)
def test_what_is_written_reads_back_exactly(tmp_path, data, zero_based, suffix, draw):
    n = len(data)
    y = draw.draw(arrays(float, n, elements=st.floats(0, 1e9)))
    qid = draw.draw(arrays(np.int64, n, elements=st.integers(0, 5)))
    path = tmp_path / f"out{suffix}"
    for rows in (data, sp.csr_array(data)):
        dump_letor(rows, y, path, qid=qid, zero_based=zero_based)
        found = load_letor(path, zero_based=zero_based, n_features=data.shape[1])
        assert_array_equal(found.data, data)
        assert found.target.tolist() == y.tolist()
        assert found.qid.tolist() == qid.tolist()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


MASKED = np.ma.masked_equal([1], 1)


BAD_ROWS = [
    ([["a"]], [1], [1], "X must be a 2-D numeric array"),
    ([1.0], [1], [1], r"X must be a 2-D numeric array, got shape \(1,\)"),
    ([[1.0]], [1, 2], [1], r"y must have one value per row \(1\), got 2"),
    ([[1.0]], [1], [1, 2], r"qid must have one value per row \(1\), got 2"),
    ([[1.0]], [1], ["a"], "qid must hold 64-bit integers"),
    ([[1.0]], [1], np.array([2**63], np.uint64), "qid must hold 64-bit integers"),
    ([[1.0]], ["a"], [1], "y must be numeric"),
    (np.ma.masked_equal([[1.0]], 1), [1], [1], "X must .*masked"),
    ([[1.0]], MASKED, [1], "y must .*masked"),
    ([[1.0]], [1], MASKED, "qid must .*masked"),
]


@pytest.mark.parametrize(("X", "y", "qid", "message"), BAD_ROWS)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, X, y, qid, message):
    path = write(tmp_path, "old")
    with pytest.raises(ValueError, match=message):
        dump_letor(X, y, path, qid=qid)
    assert path.read_text() == "old"


def test_what_is_written(tmp_path):
    path = tmp_path / "out"
    twice = sp.csr_array(([1.0, 2.0, 5.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    for X, y, options, text in (
        ([[True, False]], [True], {}, "1 qid:3 1:1 2:0\n"),
        ([[0.5, 3]], [0.25], {"zero_based": True}, "0.25 qid:3 0:0.5 1:3\n"),
        (twice, [1], {}, "1 qid:3 1:5 2:3\n"),
        (sp.csr_array((1, 2)), [1], {}, "1 qid:3\n"),
        (pd.DataFrame({"a": [1], "b": [True]}), [1], {}, "1 qid:3 1:1 2:1\n"),
    ):
        dump_letor(X, y, path, qid=[3], **options)
        assert path.read_text() == text
    assert twice.indices.tolist() == [1, 1, 0]
    dump_letor([[1]], [1], path, qid=np.array([2**63 - 1], np.uint64))
    assert path.read_text() == f"1 qid:{2**63 - 1} 1:1\n"


@pytest.mark.slow
def test_memory_is_that_of_what_is_read(tmp_path):
    line = " ".join(f"{j}:{j}" for j in range(1, 41))
    text = "".join(f"{i % 2} qid:{i // 20} {line}\n" for i in range(20_000))
    path = write(tmp_path, text)
    assert path.stat().st_size > 4e6
    # the matrix, and some chunks of text beside it; not the text
    with memory_below(20_000 * 40 * 8 + 9e6):
        data = load_letor(path).data
    assert data.shape == (20_000, 40)
    assert (data == np.arange(1, 41)).all()
