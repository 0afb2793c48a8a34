"""A selector fitted on batches, as on all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import dump_letor, iter_batches, make_web_search

KINDS = [
    lambda frame: frame,
    lambda frame: pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
    lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
]


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=60, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame = frame.assign(label=web.target, qid=web.qid, url="a")
    return frame.assign(w=np.random.default_rng(0).random(61)[web.qid])


@pytest.mark.parametrize("batch_rows", [1, 500, None])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("kind", KINDS)
def test_as_after_a_fit_of_all_rows(rows, kind, weight, batch_rows):
    names = list(rows.columns.drop(["label", "qid", "url", "w"]))
    X = rows[names].to_numpy()
    w = None if weight is None else rows["w"]
    expected = RankingFeatureSelector(n_features_to_select=3)
    expected.fit(X, rows.label, qid=rows.qid, query_weight=w)
    batches = [
        kind(part.sample(frac=1, random_state=0))
        for _, part in (rows if weight else rows.drop(columns="w")).groupby(
            rows.qid % 7
        )
    ]
    # what was fitted before is forgotten
    found = RankingFeatureSelector(n_features_to_select=3)
    found.fit(X[:, :9], rows.label, qid=rows.qid)
    found.fit_batches(batches, query_weight=weight, batch_rows=batch_rows)
    assert found.feature_names_in_.tolist() == names
    assert found.n_queries_ == 60
    assert_array_equal(found.selection_order_, expected.selection_order_)
    for name in ("mean_", "best_", "lift_", "interval_", "pvalues_", "tie_std_"):
        assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=0, atol=1e-12
        )


def test_features_can_be_named(rows):
    found = RankingFeatureSelector().fit_batches(
        [rows], features=["clicks", "in_degree"]
    )
    assert found.feature_names_in_.tolist() == ["clicks", "in_degree"]


@pytest.mark.parametrize("as_frame", [True, False])
def test_batches_of_files(rows, tmp_path, as_frame):
    X = rows[["clicks", "in_degree"]].to_numpy()
    dump_letor(X, rows.label, tmp_path / "a.txt", qid=rows.qid)
    batches = iter_batches(tmp_path / "a.txt", batch_rows=100, as_frame=as_frame)
    found = RankingFeatureSelector().fit_batches(batches)
    expected = RankingFeatureSelector().fit(X, rows.label, qid=rows.qid)
    assert_allclose(found.mean_, expected.mean_, rtol=0, atol=1e-12)
    assert hasattr(found, "feature_names_in_") == as_frame


@pytest.mark.parametrize(
    ("batches", "options", "message"),
    [
        (lambda f: [f[:40], f[30:]], {}, r"query \d+ again in batch 1"),
        (lambda f: [f[:0]], {}, "at least one row, got none"),
        (lambda f: [], {}, "at least one row, got none"),
        (lambda f: f, {}, "got a single DataFrame"),
        (lambda f: [f.to_numpy()], {}, "got ndarray in batch 0"),
        (lambda f: [f], {"features": ["absent"]}, "column 'absent'"),
        (lambda f: [f], {"features": []}, "features must name at least one column"),
        (lambda f: [f], {"features": ["qid"]}, "different columns, got 'qid' twice"),
        (lambda f: [f], {"batch_rows": 0}, "batch_rows must be"),
        (lambda f: [f.assign(w=0)], {"query_weight": "w"}, "w must not be 0 in every"),
        (lambda f: [f[f.qid < 9], f[f.qid > 8].assign(label=-1)], {}, "1: y must"),
    ],
)  # fmt: skip
def test_errors_leave_the_selector_as_it_was(rows, batches, options, message):
    selector = RankingFeatureSelector().fit([[1], [0]], [1, 0], qid=[0, 1])
    with pytest.raises(ValueError, match=message):
        selector.fit_batches(batches(rows), **options)
    assert (selector.n_queries_, selector.n_features_in_) == (2, 1)


def test_ids_do_not_come_as_a_column_of_x(rows):
    with pytest.raises(ValueError, match="does not read query ids from a column"):
        RankingFeatureSelector(qid="qid").fit_batches([rows])
