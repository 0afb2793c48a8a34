"""Selectors in files: fitted as they were, and ready for more queries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from tests.saved import check_damaged, members_of, zipped
from tieaware_sklearn import NDCG, RankingFeatureSelector, Screening, parse_measure
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=0)
FRAME = pd.DataFrame(WEB.data, columns=WEB.feature_names)
HALF = WEB.qid % 2 == 0


def check_same(found, expected):
    """All fitted attributes, private ones included, to the last bit."""
    assert type(found) is type(expected)
    assert str(found.get_params()) == str(expected.get_params())
    ours, theirs = vars(found), vars(expected)
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        if isinstance(value, np.ndarray):
            assert_array_equal(ours[name], value, err_msg=name)
            assert ours[name].dtype == value.dtype, name
        elif isinstance(value, Screening):
            assert ours[name].to_bytes() == value.to_bytes()
        else:
            assert ours[name] == value, name
    assert found.to_bytes() == expected.to_bytes()
    assert str(found.screening_) == str(expected.screening_)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"measures": "ap", "n_features_to_select": 3, "direction": "descending"},
        {"measures": [NDCG(5), "rr"], "sort_by": parse_measure("rr")},
        {"measures": (NDCG(gain={0: 0, 1: 0.1, 2: 3, 3: 4, 4: 4}),)},
        {"n_features_to_select": np.float64(0.4), "alpha": np.float32(0.25)},
        {"direction": np.array(["auto"] * 12), "max_correlation": None},
        {"redundancy": False, "max_correlation": None, "missing": "last"},
        {"zero_relevance": "skip", "unjudged": "drop", "diversity": 0, "n_jobs": 2},
        {"measures": ["esl", "fallout@3"], "alpha": 1.0, "min_lift": -1},
    ],
    ids=str,
)
@pytest.mark.parametrize("X", [WEB.data, FRAME], ids=["array", "frame"])
def test_it_is_fitted_as_before(tmp_path, parameters, X):
    selector = RankingFeatureSelector(**parameters).fit(X, WEB.target, qid=WEB.qid)
    expected = selector.transform(X)
    selector.save(tmp_path / "s.tie")
    found = RankingFeatureSelector.load(tmp_path / "s.tie")
    for name, value in parameters.items():
        assert_array_equal(found.get_params()[name], value)
    found.set_params(**parameters)  # the types of NumPy are not kept
    check_same(found, selector)
    assert_array_equal(found.transform(X), expected)
    names = WEB.feature_names if X is WEB.data else None
    assert_array_equal(
        found.get_feature_names_out(names), selector.get_feature_names_out(names)
    )
    assert found.to_pandas().equals(selector.to_pandas())
    with pytest.raises(ValueError, match=r"features|feature names"):
        found.transform(X[:, :2] if X is WEB.data else X.iloc[:, :2])


@given(st.integers(0, 99), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_more_queries_as_if_it_had_never_been_saved(seed, n_ours, n_theirs, texts):
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
        RankingFeatureSelector.from_bytes(of.to_bytes()) for of in (one, two)
    )
    before = loaded.to_bytes()
    for again in (
        lambda: loaded.partial_fit(X[ours], y[ours], qid=qid[ours]),
        lambda: loaded.merge(one),
    ):
        with pytest.raises(ValueError, match=r"again$|none of the queries"):
            again()
        assert loaded.to_bytes() == before
    more = RankingFeatureSelector.from_bytes(before)
    more.partial_fit(X[~ours], y[~ours], qid=qid[~ours])
    check_same(loaded.merge(other), one.merge(two))
    check_same(more, one)
    with pytest.raises(ValueError, match="must not change after the first queries"):
        more.set_params(measures="rr").partial_fit(X, y, qid=qid)


@pytest.mark.parametrize("column", ["qid", 0])
def test_a_column_of_ids(column):
    X = FRAME.copy()
    X.insert(4 if column == "qid" else 0, "qid", WEB.qid)
    X = X if column == "qid" else X.to_numpy()
    selector = RankingFeatureSelector("ap", qid=column).fit(X, WEB.target)
    found = RankingFeatureSelector.from_bytes(selector.to_bytes())
    check_same(found, selector)
    assert_array_equal(found.transform(X), selector.transform(X))
    with pytest.raises(ValueError, match="again"):
        found.partial_fit(X, WEB.target)
    found.set_params(qid=None)
    with pytest.raises(ValueError, match="qid must not change between fit and save"):
        found.to_bytes()


def test_a_screening_that_was_adopted():
    parts = [
        RankingFeatureSelector().screen(WEB.data[of], WEB.target[of], WEB.qid[of])
        for of in (HALF, ~HALF)
    ]
    whole = Screening.from_bytes(parts[0].merge(parts[1]).to_bytes())
    selector = RankingFeatureSelector().adopt(whole, FRAME)
    check_same(RankingFeatureSelector.from_bytes(selector.to_bytes()), selector)


def test_more_features_than_are_correlated():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 1001)).astype(float)
    y, qid = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    selector = RankingFeatureSelector("ap", n_features_to_select=5).fit(X, y, qid=qid)
    check_same(RankingFeatureSelector.from_bytes(selector.to_bytes()), selector)


def test_what_cannot_be_saved_is_named(tmp_path):
    def squared(label):
        return label**2

    fit = (WEB.data, WEB.target, WEB.qid)
    path = tmp_path / "s.tie"
    with pytest.raises(NotFittedError):
        RankingFeatureSelector().save(path)
    for measures in (NDCG(gain=squared), ["ap", NDCG(gain=squared)]):
        selector = RankingFeatureSelector(measures).fit(*fit)
        with pytest.raises(ValueError, match=r"'NDCG\(gain=squared\)' cannot be saved"):
            selector.save(path)
    selector = RankingFeatureSelector("ap").fit(*fit)
    for name, value in {"alpha": 1j, "n_jobs": np.nan, "sort_by": object()}.items():
        with pytest.raises(ValueError, match=f"{name} must be a text, a number"):
            RankingFeatureSelector("ap").fit(*fit).set_params(**{name: value}).save(
                path
            )
    assert not path.exists()
    selector.save(path)
    with pytest.raises(ValueError, match=r"must hold a Screening, got a Ranking.*use"):
        Screening.load(path)


class Own(RankingFeatureSelector):
    """A user's own, which has a rule for names."""

    def __init__(self, measures="ap", *, table=None):
        super().__init__(measures)
        self.table = table


def test_a_class_of_the_users_own():
    selector = Own(table={"a": [1, (2, None)]}).fit(WEB.data, WEB.target, WEB.qid)
    found = Own.from_bytes(selector.to_bytes())
    check_same(found, selector)
    with pytest.raises(ValueError, match=r"must have parameters of Ranking.*got table"):
        RankingFeatureSelector.from_bytes(selector.to_bytes())


SMALL = RankingFeatureSelector("rr", qid="q").fit(
    pd.DataFrame({"q": [1, 1, 2, 2], "a": [1, 2, 3, 4]}), [0, 1, 0, 1]
)
DATA = SMALL.to_bytes()


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_damaged_files(where, change):
    check_damaged(RankingFeatureSelector, DATA, where, change)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_features_in": 1}, "must have 1 columns, got 2 names"),
        ({"n_features_in": 3, "feature_names_in": None}, "a column for every feature"),
        ({"feature_names_in": ["q"]}, "must have 2 columns, got 1 names"),
        ({"feature_names_in": ["q", "b"]}, "a screening of its columns"),
        ({"feature_names_in": [1, 2]}, "a list of texts, 'feature_names_in'"),
        ({"qid_at": 2}, "a column for every feature"),
        ({"qid_at": None}, "must have 'qid_at' of type int"),
        ({"parameters": {"colour": 1}}, "must have parameters of.* got colour: if a"),
        ({"parameters": []}, "must have 'parameters' of type dict"),
        (
            {"parameters": {"measures": {"dict": {"measure": "cake"}}}},
            "unknown measure 'cake'",
        ),
        ({"screening": 1}, "must have an object, 'screening', in its header"),
    ],
)
def test_headers_that_no_selector_has(changes, message):
    header, members = members_of(DATA)
    content = header["content"] | changes
    with pytest.raises(ValueError, match=message):
        RankingFeatureSelector.from_bytes(
            zipped(header | {"content": content}, members)
        )
