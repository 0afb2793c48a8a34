"""Screenings in files: the same to the last bit, and they merge as before."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.instances import MEASURES
from tests.saved import check_damaged, members_of, npy, outcome, zipped
from tieaware_sklearn import RankingFeatureSelector, Screening

FIGURES = ["mean", "best", "worst", "tie_std", "lift", "interval", "pvalues", "qvalues"]
FIGURES += ["chance", "ideal", "n_averaged", "ranking", "varies", "query_digests"]


def made(n_queries, n_features, seed=0, first=0, **options):
    rng = np.random.default_rng(seed)
    qid = first + np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    X = rng.integers(0, 4, (len(qid), n_features)).astype(float)
    labels = rng.integers(0, 3, len(qid))
    weight = options.pop("query_weight", None)
    if weight is not None:
        weight = rng.random(first + n_queries)[qid]
    selector = RankingFeatureSelector(**options)
    return selector.screen(X, labels, qid=qid, query_weight=weight)


def check_same(found, expected):
    assert type(found) is type(expected)
    for name in ("feature_names", "rule", "n_queries", "directions"):
        assert getattr(found, name) == getattr(expected, name)
    for name in FIGURES:
        assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert (found.rank_correlation is None) == (expected.rank_correlation is None)
    if found.rank_correlation is not None:
        assert_array_equal(found.rank_correlation, expected.rank_correlation)
    assert found.to_bytes() == expected.to_bytes()
    assert str(found) == str(expected)


@given(
    st.integers(1, 6), st.integers(1, 4), st.integers(0, 99), st.data(),
    st.sampled_from([None, "w"]), st.sampled_from(["raise", "last"]),
    st.sampled_from([True, False]), st.sampled_from([0.0, 0.1, 1, "skip"]),
)  # fmt: skip
def test_all_is_there_again_and_merges(
    n_queries, n_features, seed, data, weight, missing, redundancy, zero_relevance
):
    names = data.draw(
        st.lists(st.text(st.characters()), min_size=n_features, max_size=n_features)
    )
    options = {
        "missing": missing,
        "redundancy": redundancy,
        "zero_relevance": zero_relevance,
        "query_weight": weight,
        "measures": data.draw(st.sampled_from([["ap"], ["ndcg@3", "esl", "rr"]])),
    }
    one, two = (
        made(n_queries, n_features, seed, first, **options).named(names)
        for first in (0, n_queries)
    )
    loaded = [Screening.from_bytes(part.to_bytes()) for part in (one, two)]
    for found, expected in zip(loaded, (one, two), strict=True):
        check_same(found, expected)
    check_same(loaded[0].merge(loaded[1]), one.merge(two))
    check_same(one.merge(loaded[1]), one.merge(two))
    with pytest.raises(ValueError, match="must have none of the queries"):
        loaded[0].merge(one)


def test_a_file_with_a_selection(tmp_path):
    X = np.random.default_rng(0).integers(0, 5, (200, 4)).astype(float)
    X = np.column_stack([X, X[:, 0]])
    labels, qid = X[:, 0] // 2, np.repeat(np.arange(20), 10)
    selector = RankingFeatureSelector("rr", n_features_to_select=2).fit(X, labels, qid)
    expected = selector.screening_
    path = tmp_path / "part.tie"
    expected.save(path)
    assert path.read_bytes() == expected.to_bytes()
    found = Screening.load(str(path))
    check_same(found, expected)
    assert str(found.rows()) == str(expected.rows())
    for name in ("order", "repeats", "correlation"):
        ours, theirs = (getattr(s.selection, name) for s in (found, expected))
        assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    # NumPy alone reads it
    with np.load(path, allow_pickle=False) as file:
        means = file["statistics/worth/mean"][:, 0, 0]
        assert b'"kind": "Screening"' in file["header.json"]
    assert_array_equal(means, expected.statistics.worth.mean[:, 0, 0])


@given(st.integers(0, 99), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_a_selector_goes_on_from_a_file(seed, n_ours, n_theirs, texts):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_ours + n_theirs), 4)
    ours = qid < n_ours
    qid = np.char.add("q", qid.astype(str)) if texts else qid
    X = rng.integers(0, 3, (len(qid), 3)).astype(float)
    y = rng.integers(0, 3, len(qid))
    one, two = (
        RankingFeatureSelector("ap", n_features_to_select=1).fit(
            X[part], y[part], qid=qid[part]
        )
        for part in (ours, ~ours)
    )
    loaded, other = (
        clone(of).adopt(Screening.from_bytes(of.screening_.to_bytes()), X)
        for of in (one, two)
    )
    check_fitted_alike(loaded, one)
    before = loaded.screening_.to_bytes()
    for again in (
        lambda: loaded.partial_fit(X[ours], y[ours], qid=qid[ours]),
        lambda: loaded.merge(one),
    ):
        with pytest.raises(ValueError, match=r"again$|none of the queries"):
            again()
        assert loaded.screening_.to_bytes() == before
    more = clone(one).adopt(Screening.from_bytes(before), X)
    more.partial_fit(X[~ours], y[~ours], qid=qid[~ours])
    check_fitted_alike(loaded.merge(other), one.merge(two))
    check_fitted_alike(more, one)
    with pytest.raises(ValueError, match="must not change after the first queries"):
        more.set_params(measures="rr").partial_fit(X, y, qid=qid)


def check_fitted_alike(found, expected):
    """All fitted attributes, private ones included, to the last bit."""
    check_same(found.screening_, expected.screening_)
    ours, theirs = vars(found), vars(expected)
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        if isinstance(value, np.ndarray):
            assert_array_equal(ours[name], value, err_msg=name)
            assert ours[name].dtype == value.dtype, name


@pytest.mark.parametrize("column", ["qid", 0])
def test_a_selector_with_a_column_of_ids_goes_on_from_a_file(column):
    X = pd.DataFrame({"a": [1, 2, 3, 4], "b": [2, 1, 1, 3]})
    X.insert(1 if column == "qid" else 0, "qid", [1, 1, 2, 2])
    X = X if column == "qid" else X.to_numpy()
    selector = RankingFeatureSelector("ap", qid=column, n_features_to_select=1)
    selector.fit(X, [0, 1, 0, 1])
    found = clone(selector).adopt(
        Screening.from_bytes(selector.screening_.to_bytes()), X
    )
    check_fitted_alike(found, selector)
    assert_array_equal(found.transform(X), selector.transform(X))
    with pytest.raises(ValueError, match="again"):
        found.partial_fit(X, [0, 1, 0, 1])


def test_every_measure_with_a_name():
    named = [m for m in MEASURES if not callable(getattr(m, "gain", None))]
    assert len(named) > 40
    screening = made(3, 2, measures=named, missing="last")
    found = Screening.from_bytes(screening.to_bytes())
    assert found.rule.measures == tuple(named)
    check_same(found, screening)


def test_a_gain_that_is_a_function_is_named():
    gained = [m for m in MEASURES if callable(getattr(m, "gain", None))]
    for measure in gained:
        with pytest.raises(ValueError, match=r"cannot be saved.*not functions") as told:
            made(3, 2, measures=[measure]).to_bytes()
        assert str(measure) in str(told.value)
    assert gained


SMALL = made(2, 1, measures="rr", redundancy=False).to_bytes()


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_damaged_files(where, change):
    check_damaged(Screening, SMALL, where, change)


VALUE = "statistics/worth/mean.npy"


@pytest.mark.parametrize(
    ("name", "member", "message"),
    [
        (VALUE, None, "has no array 'mean'"),
        (VALUE, npy([[0.5, 0.5]]), r"'mean' of .* shape \(1, 2, 4, 1\), got"),
        (VALUE, npy([[1]]), r"'mean' of dtype <f8 .* got <i8 and \(1, 1\)"),
        (VALUE, npy(np.float32([[1]])), r"'mean' of dtype <f8 .* got <f4"),
        (VALUE, npy([[0.5]])[:-1], "is damaged or cut off"),
        (VALUE, npy([[0.5]]).replace(b"(1, 1)", b"(9**9,)"), "is damaged or cut off"),
        (VALUE, npy([[0.5]]).replace(b"(1, 1), }", b"(1, 10**6)}"), "damaged or cut"),
        (VALUE, npy(np.array([[SMALL]], object), allow_pickle=True), "Object arrays"),
        (VALUE, b"no array", r"'mean' of dtype <f8 .* got \|S8"),
        ("query_digests.npy", npy(np.uint64([5, 4])), "a sorted digest of each query"),
        ("query_digests.npy", npy(np.uint64([4, 4])), "a sorted digest of each query"),
        ("query_digests.npy", npy(np.uint64([3, 4, 5])), "a sorted digest"),
    ],
)  # fmt: skip
def test_arrays_that_no_screening_has(name, member, message):
    header, members = members_of(SMALL)
    assert name in members
    members |= {name: member}
    data = zipped(header, {n: m for n, m in members.items() if m is not None})
    with pytest.raises(ValueError, match=message) as told:
        Screening.from_bytes(data)
    assert str(told.value).startswith("data ")


@pytest.mark.parametrize("value", [None, 7, -1, "x", [], ["x"], {}, 1e300, True, [[]]])
@pytest.mark.parametrize("part", ["", "rule", "statistics"])
def test_headers_that_no_screening_has(part, value):
    header, members = members_of(SMALL)
    content = header["content"]
    for name in content[part] if part else content:
        changed = {name: value}
        if part:
            changed = {part: content[part] | changed}
        new = outcome(
            Screening, zipped(header | {"content": content | changed}, members)
        )
        # some of these are right
        if not isinstance(new, str):
            found, _ = members_of(new)
            assert found["content"] == content | changed
        else:
            assert new.startswith("data ")


def test_processes_agree_on_ids_that_are_texts():
    code = (
        "import sys; from tieaware_sklearn import RankingFeatureSelector as S;"
        "ids = [f'q{i}' for i in range(9)] + [str(sys.argv[1])];"
        "s = S('rr', redundancy=False).screen([[i % 3] for i in range(10)], "
        "[1] * 10, qid=ids);"
        "sys.stdout.buffer.write(s.to_bytes())"
    )
    one, two = (
        subprocess.run(
            [sys.executable, "-c", code, word],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for word, seed in (("a", "1"), ("b", "2"))
    )
    one, two = map(Screening.from_bytes, (one, two))
    assert len(np.intersect1d(one.query_digests, two.query_digests)) == 9
    with pytest.raises(ValueError, match="got 9 of them among its 10"):
        one.merge(two)
