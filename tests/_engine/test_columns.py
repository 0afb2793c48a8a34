"""Cells of X."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from tieaware_sklearn import LinearRanker, RankingFeatureSelector
from tieaware_sklearn.datasets import dump_letor, load_letor, load_table
from tieaware_sklearn.judgments import fleiss_kappa, joint_agreement

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])


@FRAMES
def test_columns_of_times_and_of_text_are_named(frame):
    times = pd.date_range("2020", periods=3).to_numpy()
    X = frame({"when": times, "clicks": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"numbers, got .* in column 'when' \(convert"):
        RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    X = frame({"query_id": ["a", "a", "b"], "clicks": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"got 'a' in column 'query_id' .*qid='query_"):
        RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    found = RankingFeatureSelector("rr", qid="query_id", n_features_to_select=1)
    assert found.fit(X, [0, 1, 0]).n_queries_ == 2
    with pytest.raises(ValueError, match="X must hold numbers, got an array of datet"):
        RankingFeatureSelector("rr").fit(times[:, None], [0, 1, 0])


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        ("2,624", {"thousands": ","}),
        ("-1,234,567.5", {"thousands": ","}),
        ("1.234.567,5", {"thousands": ".", "decimal": ","}),
        ("1 234", {"thousands": " "}),
        ("3,14", {"decimal": ","}),
        ("1,2345,678", {}),
        ("a, b", {}),
    ],
)
def test_numbers_that_pandas_can_read_have_a_hint(cell, options, tmp_path):
    names = ", ".join(f"{name}={value!r}" for name, value in options.items())
    how = f"pandas.read_csv(..., {names}) reads such numbers" if options else ""
    X = pd.DataFrame({"views": [cell, "7", "8"]})
    with pytest.raises(ValueError, match=r"got .* in column 'views'") as caught:
        RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    otherwise = "leave the column out, or encode it; query ids go into qid='views'"
    assert str(caught.value).endswith(f" ({how or otherwise})")
    file = tmp_path / "views.csv"
    X.assign(label=[0, 1, 0], qid=1).to_csv(file, index=False)
    with pytest.raises(ValueError, match=r"line 2: column 'views' must hold") as caught:
        load_table(file)
    if options == {"thousands": ","}:
        how = 'thousands=",", or --thousands ,, reads such numbers'
    assert how in str(caught.value)
    assert "ignore, or --ignore, leaves out the column" in str(caught.value)
    if options:
        assert pd.read_csv(file, **options).views.dtype.kind in "if"


@pytest.mark.parametrize("qid", [None, 0])
def test_a_pipeline_says_what_no_feature_passed(qid):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X[:, 0] = np.repeat(np.arange(20), 3)
    options = {} if qid == 0 else {"rankingfeatureselector__qid": X[:, 0]}
    pipe = make_pipeline(
        RankingFeatureSelector(alpha=1e-9, qid=qid), LinearRegression()
    )
    why = "no feature is selected: .* q-value of at most alpha=1e-09 .* has q = "
    with (
        pytest.warns(UserWarning, match=why),
        pytest.raises(ValueError, match="0 feat"),
    ):
        pipe.fit(X, y, **options)
    constant = RankingFeatureSelector(qid=0).fit(np.column_stack([X[:, 0]] * 2), y)
    with pytest.warns(UserWarning, match="each is constant within every query"):
        assert constant.transform(X[:, :2]).shape == (60, 0)


def test_masks_are_not_looked_through_elsewhere(tmp_path):
    X = np.ma.array([[1.0, 2], [3, 4]], mask=[[1, 0], [0, 0]])
    with pytest.raises(ValueError, match="contains NaN"):
        LinearRanker("equal").fit(X, [0, 1])
    with pytest.raises(ValueError, match="X must not hold masked values"):
        dump_letor(X, [0, 1], tmp_path / "a.txt", qid=[1, 1])
    with pytest.raises(ValueError, match="y1 must not be missing"):
        joint_agreement(X[:, 0], [1, 2])
    with pytest.raises(ValueError, match="counts must be whole numbers"):
        fleiss_kappa(X)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (
            "0 qid:1 1:9007199254740993",
            "feature 1 must be a number that",
        ),
        (
            "0 qid:1 1:-9007199254740993.0 2:1",
            "feature 1 must be a number that",
        ),
        (
            "9007199254740993 qid:1 1:3",
            "the label must be a number that",
        ),
        ("0 qid:9007199254740993 1:9007199254740992 # 1:9007199254740993", ""),
        ("0 qid:1 1:1e300 2:1152921504606846976", ""),
    ],
)
def test_letor_values_are_not_rounded(tmp_path, line, rule):
    path = tmp_path / "data.txt"
    path.write_text(f"1 qid:1 1:0.5\n{line}\n")
    if rule:
        with pytest.raises(ValueError, match=f"data.txt, line 2: {rule}"):
            load_letor(path)
    else:
        assert load_letor(path).data[1, 0] in (2.0**53, 1e300)
