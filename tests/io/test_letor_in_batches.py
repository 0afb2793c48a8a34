"""LETOR text in batches."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tieaware_sklearn._kernel.engines import use_engine
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import dump_letor, iter_batches, load_letor
from tieaware_sklearn.io import _letor


def test_sizes_of_queries_beside_a_file(tmp_path, web):
    path = tmp_path / "sizes.txt"
    lines = [f"{y:g} 1:{x}" for y, x in zip(web["y"], web["X"][:, 0], strict=True)]
    path.write_text("# a comment\n\n" + "\n".join(lines))
    sizes = np.unique(web["qid"], return_counts=True)[1]
    again = tmp_path / "again.txt"
    again.write_bytes(path.read_bytes())
    for file in (path, again):
        file.with_name(f"{file.name}.query").write_text("\n".join(map(str, sizes)))
    batches = list(iter_batches([path, again], batch_rows=25))
    ids = np.concatenate([b.qid for b in batches])
    assert_array_equal(ids, np.repeat(np.arange(60), np.tile(sizes, 2)))
    assert batches[1].place(0) == f"{path}, line {3 + len(batches[0].qid)}"
    with pytest.raises(ValueError, match="query_file must name one file for each path"):
        iter_batches(path, query_file=[path, path])
    (tmp_path / "sizes.txt.query").write_text("3\n")
    with pytest.raises(ValueError, match="add up to"):
        iter_batches(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:5\n1 qid:1 2:x\n", "line 2: a feature must look like"),
        ("1 qid:1 1:5\n\n# x\n1 qid:x 2:1\n", "line 4: qid must be a 64-bit integer"),
        ("1 qid:1 1:5\n1 1:5\n", "line 2: there is no qid:"),
        ("1 qid:1 1:5\n1_0 qid:1 1:5\n", "line 2: the label must be a number"),
        ("1 qid:1 1:5\n1 qid:1 3:5 2:1\n", "line 2: feature numbers must ascend"),
        ("1 qid:1\n0 qid:1\n", "no line holds a feature"),
        ("1 qid:1 1:5\n1 qid:1 4000000000:5\n", "line 2: .* must be below 2.31"),
        ("1 qid:1 1:5\n1 qid:9999999999999999999 1:5\n", "line 2: qid must be a 64-b"),
        ("1 qidx:1 1:5\n", "line 1: a feature must look like .* got 'qidx:1'"),
        ("# nothing\n", "there is no document"),
    ],
)
def test_letor_lines_that_are_wrong(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        list(iter_batches(path))
    # as when read at once
    assert main(["screen", str(path)]) == 1


plain = st.builds(
    lambda label, qid, features, end: f"{label} qid:{qid} {features}{end}",
    st.integers(0, 4),
    st.integers(-3, 12),
    st.lists(st.integers(0, 30), unique=True).map(
        lambda numbers: " ".join(f"{n}:{n / 7:.17g}" for n in sorted(numbers))
    ),
    st.sampled_from(["", " ", "\r", "# 1:2 qid:3", " #"]),
)
tokens = st.sampled_from(
    [
        *("1", "0.5", "-1", "nan", "1e3", "1_0", "x", "#", "#1", "\xe9"),
        *("qid:1", "qid:7", "qid:x", "qid:", "qidx:1", f"qid:{10**20}"),
        *("1:2", "2:3", "3:4e-5", "10:1e400", "4:-inf", "1:", ":1", "1:x", "5:0x1"),
        *("+4:1", "-1:1", "01:1", "1:2:3", "0:1", "4294967297:1", "1:1_0"),
        *(f"3:{2**53}", f"3:{2**53 + 1}", "2:\xb2", "1:\0"),
    ]
)
noisy = st.lists(tokens, max_size=5).flatmap(
    lambda words: st.sampled_from([" ", "\t", "  ", "\x0b", "\r"]).map(
        lambda white: white.join(words)
    )
)
texts = st.lists(plain | plain | noisy, min_size=1, max_size=12)


def found_in(path, **options):
    """All that is read, or the words of the error."""
    try:
        found = load_letor(path, **options)
    except ValueError as error:
        return str(error)
    data = found.data
    parts = [data]
    if sp.issparse(data):
        parts = [data.data, data.indices, data.indptr, np.array(data.shape)]
    arrays = [
        (x.dtype, x.shape, x.tobytes()) for x in (*parts, found.target, found.qid)
    ]
    return arrays, found.feature_names, found.DESCR


@pytest.mark.usefixtures("kernel")
@settings(max_examples=500)
@given(
    st.lists(plain, min_size=1, max_size=12) | texts,
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
    st.sampled_from([True, False, "auto"]),
    st.sampled_from([1, 9, 1 << 20]),
    st.sampled_from([{}, {"sparse": True}, {"ignore": ["3"]}, {"n_features": 31}]),
)
@example(["1 qid:1 1:9007199254740993"], "\n", True, "auto", 9, {})
@example(["1 qid:1 1:5", "1 qid:1 1:-9007199254740993"], "\n", True, "auto", 9, {})
@example(["1 qid:1 1:5", "1 qid:1 2:1 x 3:1"], "\n", True, "auto", 1, {})
@example(["9007199254740993 qid:1 1:5"], "\n", True, "auto", 1, {"sparse": True})
def test_readers_agree_on_any_text(
    tmp_path, monkeypatch, lines, end, ends, zero_based, chunk, options
):
    path = tmp_path / "any.txt"
    text = end.join(lines) + (end if ends else "")
    path.write_bytes(text.encode("latin-1"))
    monkeypatch.setattr(_letor, "_CHUNK", chunk)
    with use_engine("numpy"):
        wanted = found_in(path, zero_based=zero_based, **options)
    with use_engine("compiled"):
        assert found_in(path, zero_based=zero_based, **options) == wanted


@pytest.mark.usefixtures("kernel")
@settings(max_examples=60)
@given(st.binary(max_size=80))
def test_readers_agree_on_any_bytes(tmp_path, some):
    path = tmp_path / "any.txt"
    path.write_bytes(b"1 qid:1 1:5\n0 qid:1 2:3 " + some)
    with use_engine("numpy"):
        wanted = found_in(path)
    with use_engine("compiled"):
        assert found_in(path) == wanted


@pytest.mark.usefixtures("kernel")
def test_plain_text_is_read_by_the_kernel_alone(tmp_path, monkeypatch, web):
    def refuse(*_, **__):
        raise AssertionError("the reader in Python is called")

    path = tmp_path / "web.txt.gz"
    dump_letor(web["X"], web["y"], path, qid=web["qid"])
    monkeypatch.setattr(_letor, "load_svmlight_file", refuse)
    with use_engine("compiled"):
        assert_array_equal(load_letor(path).data, web["X"])
    with use_engine("numpy"), pytest.raises(AssertionError, match="is called"):
        load_letor(path)


def test_a_number_is_at_fault_in_the_line_where_it_stands(tmp_path, engine):
    # far into the file, among plain lines
    path = tmp_path / "late.txt.gz"
    lines = [f"{i % 3} qid:{i // 10} 1:{i}.25 2:1e-3" for i in range(80_000)]
    lines[70_000] = "1 qid:7000 1:2 2:1.0.0"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 1))
    with pytest.raises(ValueError, match="line 70001: a feature must look like"):
        load_letor(path)
    lines[70_000] = "1 qid:7000.5 1:2 2:1"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 1))
    with pytest.raises(ValueError, match="line 70001: qid must be a 64-bit integer"):
        load_letor(path)


def test_lines_that_are_very_long(tmp_path, engine):
    features = " ".join(f"{i}:{i}" for i in range(1, 200_001))
    path = tmp_path / "wide.txt"
    path.write_text(f"1 qid:1 {features}\n0 qid:1 7:1 # {'x' * 10**6}\n")
    found = load_letor(path, sparse=True)
    assert found.data.shape == (2, 200_000)
    assert_array_equal(found.data[[0]].toarray()[0], np.arange(1, 200_001))
    assert found.data[[1]].indices.tolist() == [6]


@pytest.mark.usefixtures("kernel")
def test_memory_is_that_of_what_is_read(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (30_000, 40)).astype(float)
    path = tmp_path / "many.txt"
    dump_letor(X, np.arange(30_000) % 2, path, qid=np.arange(30_000) // 20)
    assert path.stat().st_size > 6e6
    tracemalloc.start()
    try:
        with use_engine("compiled"):
            data = load_letor(path).data
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert_array_equal(data, X)
    # the matrix, and some chunks of text beside it; not the text
    assert peak < X.nbytes + 8e6
