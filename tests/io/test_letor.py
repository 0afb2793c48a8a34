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


def test_features_labels_and_queries_are_read(tmp_path):
    path = write(tmp_path, LETOR)
    bunch = load_letor(path)
    assert bunch.data.dtype == np.float64
    assert bunch.data.tolist() == ROWS
    assert bunch.target.tolist() == [2, 0, 1]
    assert bunch.qid.tolist() == [10, 10, 9]
    assert bunch.feature_names == ["1", "2", "3", "4"]
    description = f"{path}: 3 rows, 2 queries, 4 features"
    assert description == bunch.DESCR


def test_the_lines_of_rows(tmp_path):
    path = write(tmp_path, LETOR)
    bunch = load_letor(path)
    assert bunch.place(0) == f"{path}, line 1"
    assert bunch.place(1) == f"{path}, line 4"
    assert bunch.place(2) == f"{path}, line 5"


def test_sparse_features(tmp_path):
    sparse = load_letor(write(tmp_path, LETOR), sparse=True).data
    assert sparse.format == "csr"
    assert sparse.toarray().tolist() == ROWS


@pytest.mark.parametrize("sparse", [False, True])
def test_a_frame_without_an_ignored_feature(tmp_path, sparse):
    path = write(tmp_path, LETOR)
    bunch = load_letor(path, as_frame=True, ignore=["2"], sparse=sparse)
    assert bunch.feature_names == ["1", "3", "4"]
    frame = bunch.data
    assert frame.columns.tolist() == ["1", "3", "4"]
    assert_array_equal(frame.to_numpy(), np.delete(ROWS, 1, axis=1))
    assert isinstance(frame.dtypes.iloc[0], pd.SparseDtype) == sparse


def test_files_have_one_set_of_features_and_queries_go_on(tmp_path):
    first = write(tmp_path, LETOR)
    second = write(tmp_path, "3 qid:9 6:1\n", "b.txt")
    bunch = load_letor([first, second])
    assert bunch.data.shape == (4, 6)
    assert bunch.qid.tolist() == [10, 10, 9, 9]


def test_all_files_or_none_have_queries(tmp_path):
    first = write(tmp_path, LETOR)
    second = write(tmp_path, "3 6:1\n", "b.txt")
    refused(
        [first, second],
        f"{second}: the lines have no qid:, unlike the lines of other files",
        load_letor,
    )


each_compression = pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress, bytes]
)


@each_compression
def test_compressed_whatever_its_name_with_a_byte_order_mark(tmp_path, compress):
    path = tmp_path / "train"
    text = LETOR.replace("\n", "\r\n")
    path.write_bytes(compress(b"\xef\xbb\xbf" + text.encode()))
    assert load_letor(str(path)).data.tolist() == ROWS


@each_compression
def test_compressed_streams_may_follow_each_other(tmp_path, compress):
    path = tmp_path / "train"
    first = compress(LETOR[:70].encode())
    second = compress(LETOR[70:].encode())
    path.write_bytes(first + second)
    assert load_letor(path).data.tolist() == ROWS


# -- numbers of features

FROM_ZERO = "1 qid:1 0:5 2:7\n"
FROM_TWO = "1 qid:1 2:7\n"


def test_features_may_be_numbered_from_0(tmp_path):
    bunch = load_letor(write(tmp_path, FROM_ZERO))
    assert bunch.data.tolist() == [[5, 0, 7]]
    assert bunch.feature_names == ["0", "1", "2"]


FEATURES = [
    ({"zero_based": False}, [[0, 7]]),
    ({"zero_based": True}, [[0, 0, 7]]),
    ({"n_features": 3}, [[0, 7, 0]]),
    ({"n_features": 2}, [[0, 7]]),
]


@pytest.mark.parametrize(("options", "expected"), FEATURES)
def test_options_say_which_features_exist(tmp_path, options, expected):
    path = write(tmp_path, FROM_TWO)
    assert load_letor(path, **options).data.tolist() == expected


def test_batches_have_the_number_of_features(tmp_path):
    path = write(tmp_path, FROM_TWO)
    (batch,) = iter_batches(path, n_features=3)
    assert batch.feature_names == ["1", "2", "3"]
    assert batch.data.tolist() == [[0, 7, 0]]


def test_no_line_needs_a_feature_if_their_number_is_known(tmp_path):
    path = write(tmp_path, "1 qid:1\n0 qid:1\n")
    assert load_letor(path, n_features=1).data.tolist() == [[0], [0]]


FEATURE_ERRORS = [
    (FROM_TWO, {"n_features": 1}, "^n_features must be at least 2 .* got 1"),
    (FROM_TWO, {"ignore": ["1", "2"]}, "ignore must leave at least one feature"),
    (FROM_ZERO, {"zero_based": False}, "zero_based=False, but a feature has number 0"),
    (FROM_TWO, {"zero_based": "maybe"}, "zero_based must be one of"),
]


@pytest.mark.parametrize(("text", "options", "message"), FEATURE_ERRORS)
def test_options_that_do_not_fit_the_features(tmp_path, text, options, message):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=message):
        load_letor(path, **options)


def test_a_file_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_letor(tmp_path / "absent")


def test_a_feature_far_beyond_the_others_is_refused_unless_meant(tmp_path):
    path = write(tmp_path, "0 qid:1 1:1\n1 qid:1 20000:1\n")
    refused(path, "train.txt: feature number 20000 is far", load_letor)
    sparse = load_letor(path, n_features=20000, sparse=True).data
    assert sparse.shape == (2, 20000)


def test_features_up_to_10000_are_not_far(tmp_path):
    path = write(tmp_path, "1 qid:1 1:1 10000:1\n")
    assert load_letor(path, sparse=True).data.shape == (1, 10000)


def test_features_among_many_are_not_far(tmp_path):
    lines = [f"1 qid:1 {number}:1\n" for number in range(1, 20000, 50)]
    path = write(tmp_path, "".join(lines))
    assert load_letor(path, sparse=True).data.shape == (400, 19951)


# -- sizes of queries in a file of their own

WITHOUT_QID = "# a comment\n\n1 1:1\n0 1:2\n0 1:3\n"


def test_sizes_of_queries_beside_a_file(tmp_path):
    path = write(tmp_path, WITHOUT_QID)
    refused(path, r"no qid:.* no file train\.txt\.query or \.group", load_letor)
    write(tmp_path, "1\n2\n", "train.txt.group")
    assert load_letor(path).qid.tolist() == [0, 1, 1]
    write(tmp_path, "2\n1\n", "train.txt.query")
    assert load_letor(path).qid.tolist() == [0, 0, 1]


@pytest.fixture
def two_files(tmp_path):
    """Write two files of three rows without ids, and the sizes of their queries."""
    write(tmp_path, "2\n1\n", "train.txt.query")
    write(tmp_path, "2\n1\n", "train2.txt.query")
    first = write(tmp_path, WITHOUT_QID)
    return [first, write(tmp_path, WITHOUT_QID, "train2.txt")]


def test_sizes_of_queries_beside_the_files_of_a_folder(tmp_path, two_files):
    # a file without rows needs no sizes
    write(tmp_path, "", "train0.txt")
    assert load_letor(tmp_path).qid.tolist() == [0, 0, 1, 2, 2, 3]
    write(tmp_path, "1\n", "train0.txt.query")
    paths = str(tmp_path / "train*.txt")
    refused(paths, r"add up to 1, but .* has 0 rows", load_letor)


def test_sizes_of_queries_in_batches(two_files):
    batches = in_batches(two_files)
    assert [batch.qid.tolist() for batch in batches] == [[0, 0], [1], [2, 2], [3]]
    assert batches[3].place(0) == f"{two_files[1]}, line 5"


def test_sizes_of_queries_in_a_file_of_any_name(tmp_path, two_files):
    sizes = write(tmp_path, "1\n\n1\n1", "sizes")
    first = load_letor(two_files[0], query_file=sizes)
    assert first.qid.tolist() == [0, 1, 2]
    both = load_letor(two_files, query_file=[sizes, sizes])
    assert both.qid.tolist() == [0, 1, 2, 3, 4, 5]


def test_sizes_of_queries_must_fit_the_files(tmp_path, two_files):
    path, _ = two_files
    sizes = write(tmp_path, "2\n2\n", "wrong")
    message = f"wrong: .* the 2 queries add up to 4, but {path} has 3 rows"
    refused(path, message, load_letor, query_file=sizes)
    message = r"one file for each path \(1\), got 2"
    refused(path, message, load_letor, query_file=[sizes, sizes])


def test_lines_with_ids_need_no_sizes(tmp_path):
    path = write(tmp_path, LETOR)
    sizes = write(tmp_path, "1\n1\n1\n", "sizes")
    message = "query_file must be None, because the lines have qid:"
    refused(path, message, load_letor, query_file=sizes)


WRONG_SIZES = [
    ("2\nx\n", "'x'"),
    ("0\n3\n", "'0'"),
    ("-1\n4\n", "'-1'"),
    ("3 # three\n", "'#'"),
]


@pytest.mark.parametrize(("text", "word"), WRONG_SIZES)
def test_a_size_must_be_a_positive_integer(tmp_path, text, word):
    path = write(tmp_path, "1 1:1\n")
    sizes = write(tmp_path, text, "malformed")
    message = f"malformed: the size of a query must be a positive integer, got {word}"
    refused(path, message, load_letor, query_file=sizes)


@pytest.mark.parametrize("text", ["1 qid:1 1:1\n", LETOR * 2])
def test_a_file_must_not_change_between_batches(tmp_path, text):
    batches = iter_batches(write(tmp_path, LETOR), batch_rows=10)
    write(tmp_path, text)
    with pytest.raises(ValueError, match="has changed since it was read"):
        list(batches)


# -- written

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(
    X=arrays(float, array_shapes(min_dims=2, max_dims=2), elements=NUMBERS),
    zero_based=st.booleans(),
    suffix=st.sampled_from([".txt", ".txt.gz"]),
    draw=st.data(),
)
def test_rows_read_back_exactly(tmp_path, X, zero_based, suffix, draw):
    n_rows, n_features = X.shape
    y = draw.draw(arrays(float, n_rows, elements=st.floats(0, 1e9)))
    qid = draw.draw(arrays(np.int64, n_rows, elements=st.integers(0, 5)))
    path = tmp_path / f"out{suffix}"
    for matrix in (X, sp.csr_array(X)):
        dump_letor(matrix, y, path, qid=qid, zero_based=zero_based)
        bunch = load_letor(path, zero_based=zero_based, n_features=n_features)
        assert_array_equal(bunch.data, X)
        assert bunch.target.tolist() == y.tolist()
        assert bunch.qid.tolist() == qid.tolist()
    assert list(tmp_path.glob(".*")) == []


MASKED = np.ma.masked_equal([1], 1)


WRONG_ROWS = [
    ([["a"]], [1], [1], "X must be 2-dimensional and numeric"),
    ([1.0], [1], [1], r"X must be 2-dimensional and numeric, got shape \(1,\)"),
    ([[1.0]], [1, 2], [1], r"y must have one value per row \(1\), got 2"),
    ([[1.0]], [1], [1, 2], r"qid must have one value per row \(1\), got 2"),
    ([[1.0]], [1], ["a"], "qid must contain signed 64-bit integers"),
    (
        [[1.0]],
        [1],
        np.array([2**63], np.uint64),
        "qid must contain signed 64-bit integers",
    ),
    ([[1.0]], ["a"], [1], "y must be numeric"),
    (np.ma.masked_equal([[1.0]], 1), [1], [1], "X must .*masked"),
    ([[1.0]], MASKED, [1], "y must .*masked"),
    ([[1.0]], [1], MASKED, "qid must .*masked"),
]


@pytest.mark.parametrize(("X", "y", "qid", "message"), WRONG_ROWS)
def test_rows_that_cannot_be_written_leave_the_old_file(tmp_path, X, y, qid, message):
    path = write(tmp_path, "old")
    with pytest.raises(ValueError, match=message):
        dump_letor(X, y, path, qid=qid)
    assert path.read_text() == "old"


WRITTEN = [
    ([[True, False]], [True], {}, "1 qid:3 1:1 2:0\n"),
    ([[0.5, 3]], [0.25], {"zero_based": True}, "0.25 qid:3 0:0.5 1:3\n"),
    (sp.csr_array((1, 2)), [1], {}, "1 qid:3\n"),
    (pd.DataFrame({"a": [1], "b": [True]}), [1], {}, "1 qid:3 1:1 2:1\n"),
]


@pytest.mark.parametrize(("X", "y", "options", "text"), WRITTEN)
def test_rows_are_written_as_text(tmp_path, X, y, options, text):
    path = tmp_path / "out"
    dump_letor(X, y, path, qid=[3], **options)
    assert path.read_text() == text


def test_cells_of_a_sparse_array_are_summed_and_sorted(tmp_path):
    X = sp.csr_array(([1.0, 2.0, 5.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    path = tmp_path / "out"
    dump_letor(X, [1], path, qid=[3])
    assert path.read_text() == "1 qid:3 1:5 2:3\n"
    # in the file alone
    assert X.indices.tolist() == [1, 1, 0]


def test_the_largest_id_is_written(tmp_path):
    path = tmp_path / "out"
    largest = 2**63 - 1
    dump_letor([[1]], [1], path, qid=np.array([largest], np.uint64))
    assert path.read_text() == f"1 qid:{largest} 1:1\n"


@pytest.mark.slow
def test_memory_grows_with_the_matrix_not_with_the_text(tmp_path):
    features = " ".join(f"{j}:{j}" for j in range(1, 41))
    lines = [f"{i % 2} qid:{i // 20} {features}\n" for i in range(20_000)]
    path = write(tmp_path, "".join(lines))
    assert path.stat().st_size > 4e6
    # the matrix, and some chunks of text beside it
    with memory_below(20_000 * 40 * 8 + 9e6):
        data = load_letor(path).data
    assert data.shape == (20_000, 40)
    assert (data == np.arange(1, 41)).all()
