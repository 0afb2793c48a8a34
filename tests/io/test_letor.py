"""Files read and written, bundled and generated data."""

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

from tieaware_sklearn import RankingFeatureSelector, ranking_score, tie_report
from tieaware_sklearn.datasets import (
    dump_letor,
    load_digits_retrieval,
    load_letor,
    make_web_search,
)

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


def test_letor_feature_numbers(tmp_path):
    from_zero = write(tmp_path, "1 qid:1 0:5 2:7\n", "zero.txt")
    assert load_letor(from_zero).data.tolist() == [[5, 0, 7]]
    assert load_letor(from_zero).feature_names == ["0", "1", "2"]
    from_one = write(tmp_path, "1 qid:1 2:7\n", "one.txt")
    assert load_letor(from_one).data.tolist() == [[0, 7]]
    as_zero = load_letor(from_one, zero_based=True)
    assert as_zero.data.tolist() == [[0, 0, 7]]
    assert load_letor(from_one, n_features=3).data.tolist() == [[0, 7, 0]]
    with pytest.raises(ValueError, match=r"n_features must be at least the 2 .* got 1"):
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
    with pytest.raises(ValueError, match=r"no qid:, and there is no train\.txt\.query"):
        load_letor(path)
    write(tmp_path, "2\n1\n", "train.txt.query")
    assert load_letor(path).qid.tolist() == [0, 0, 1]
    assert load_letor([path, path]).qid.tolist() == [0, 0, 1, 2, 2, 3]
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
    with pytest.raises(ValueError, match=r"one file per path \(1\), got 2"):
        load_letor(path, query_file=[other, other])
    with pytest.raises(
        ValueError, match="query_file is given, but the lines hold qid:"
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
        ("\x00\x01PAR1", "the label must be a number"),
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
        with pytest.raises(
            ValueError, match=r"train\.txt: the file holds no documents"
        ):
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
    dump_letor(data, y, qid, path, zero_based=zero_based)
    found = load_letor(path, zero_based=zero_based)
    assert np.array_equal(found.data, data)
    assert found.target.tolist() == y.tolist()
    assert found.qid.tolist() == qid.tolist()
    sparse = sp.csr_array(data)
    dump_letor(sparse, y, qid, path, zero_based=zero_based)
    found = load_letor(path, zero_based=zero_based, n_features=data.shape[1])
    assert np.array_equal(found.data, data)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_dump_refuses_and_leaves_the_old_file(tmp_path):
    path = write(tmp_path, "old")
    X, y, qid = [[1.0]], [1], [1]
    for arguments, message in (
        (([["a"]], y, qid), "X must be a 2-D numeric array"),
        (([1.0], y, qid), r"X must be a 2-D numeric array, got shape \(1,\)"),
        ((X, [1, 2], qid), r"y must have one value per row of X \(1\)"),
        ((X, y, ["a"]), "qid must be integers"),
        ((X, y, np.array([2**63], np.uint64)), "qid must be a 64-bit integer"),
        ((X, ["a"], qid), "y must be numeric"),
    ):
        with pytest.raises(ValueError, match=message):
            dump_letor(*arguments, path)
    assert path.read_text() == "old"
    dump_letor(np.array([[True, False]]), [True], [3], path)
    assert path.read_text() == "1 qid:3 1:1 2:0\n"
    twice = sp.csr_array(([1.0, 2.0, 5.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    dump_letor(twice, [1], [3], path)
    assert path.read_text() == "1 qid:3 1:5 2:3\n"
    assert twice.indices.tolist() == [1, 1, 0]
    dump_letor(pd.DataFrame({"a": [1], "b": [True]}), [1], [3], path)
    assert load_letor(path).data.tolist() == [[1, 1]]


def test_digits_tie():
    digits = load_digits_retrieval(n_queries=5)
    assert digits.data.shape == (5 * 1796, len(digits.feature_names))
    assert digits.data.dtype.kind == "i"
    assert set(digits.target) == {0, 1}
    assert len(np.unique(digits.qid)) == 5
    for name, column in zip(digits.feature_names, digits.data.T, strict=True):
        assert name in digits.DESCR
        assert tie_report(digits.target, column, qid=digits.qid).tied_documents > 0.5
    hamming = digits.data[:, digits.feature_names.index("hamming")]
    assert -64 <= hamming.min() <= hamming.max() <= 0
    score = ranking_score(digits.target, hamming, qid=digits.qid)
    assert score > 5 * ranking_score(digits.target, hamming * 0, qid=digits.qid)
    again = load_digits_retrieval(n_queries=5, return_X_y_qid=True)
    assert all(
        np.array_equal(a, digits[b])
        for a, b in zip(again, ["data", "target", "qid"], strict=True)
    )
    for n in (0, 1798):
        with pytest.raises(ValueError, match=r"n_queries must be in 1..1797"):
            load_digits_retrieval(n_queries=n)


def test_web_search_is_what_was_asked_for():
    web = make_web_search(n_queries=400, n_noise=3, n_duplicates=3, random_state=0)
    assert web.data.shape == (len(web.target), 6 + 3 + 3)
    assert len(web.feature_names) == 12
    sizes = np.bincount(web.qid)[1:]
    assert len(sizes) == 400
    assert 80 < sizes.mean() < 120
    assert sizes.std() > 20
    assert set(web.target) == {0, 1, 2, 3, 4}
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    by_name = dict(zip(web.feature_names, selector.directions_, strict=True))
    assert by_name["in_degree"] == by_name["text_score"] == "descending"
    assert by_name["url_length"] == by_name["n_slashes"] == "ascending"
    noise = [name.startswith("noise") for name in web.feature_names]
    assert selector.support_.tolist() == [not is_noise for is_noise in noise]
    for j, name in enumerate(("in_degree", "clicks", "page_visits")):
        copy = web.feature_names.index(f"log_{name}")
        assert np.array_equal(selector.scores_[j], selector.scores_[copy])
    again = make_web_search(n_queries=400, n_noise=3, n_duplicates=3, random_state=0)
    assert np.array_equal(web.data, again.data)


def test_web_search_strength_and_ties():
    def clicks(**options):
        web = make_web_search(n_queries=200, random_state=1, **options)
        column = web.data[:, web.feature_names.index("clicks")]
        ties = tie_report(web.target, column, qid=web.qid)
        return ranking_score(web.target, column, qid=web.qid), ties.tied_documents

    values = [clicks(strength=strength)[0] for strength in (0, 0.5, 1)]
    assert values[0] < values[1] < values[2]
    shares = [clicks(tie_rate=tie_rate)[1] for tie_rate in (0.1, 0.6, 0.95)]
    assert shares[0] < shares[1] < shares[2]
    X, y, qid = make_web_search(
        n_queries=9, shuffle=True, random_state=2, return_X_y_qid=True
    )
    assert (np.diff(qid) < 0).any()
    assert len(X) == len(y) == len(qid)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_queries": 0}, "n_queries must be >= 1, got 0"),
        ({"n_documents": 0}, "n_documents must be >= 1, got 0"),
        ({"strength": 1.1}, r"strength must be in \[0, 1\], got 1.1"),
        ({"tie_rate": 1}, r"tie_rate must be in \[0, 1\), got 1"),
        ({"n_noise": -1}, "n_noise must be >= 0, got -1"),
        ({"n_duplicates": 4}, "n_duplicates must be <= 3, got 4"),
    ],
)
def test_web_search_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        make_web_search(**options)
