"""A selector fitted on batches, as on all rows."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from tests.feature_selection.helpers import assert_same
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
    web = make_web_search(n_queries=40, n_documents=10, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame = frame.assign(label=web.target, qid=web.qid)
    return frame.assign(w=np.random.default_rng(0).random(41)[web.qid])


@pytest.mark.parametrize(
    ("kind", "weight", "batch_rows"),
    [(0, None, 1), (1, "w", 100), (2, "w", None), (3, None, 100)],
)
def test_as_after_a_fit_of_all_rows(rows, kind, weight, batch_rows):
    names = list(rows.columns.drop(["label", "qid", "w"]))
    X, w = rows[names].to_numpy(), None if weight is None else rows["w"]
    expected = RankingFeatureSelector(n_features_to_select=3)
    expected.fit(X, rows.label, qid=rows.qid, query_weight=w)
    own = (rows if weight else rows.drop(columns="w")).assign(url="a")
    parts = [own[own.qid % 7 == n].sample(frac=1, random_state=0) for n in range(7)]
    batches = [KINDS[kind](part) for part in parts]
    # what was fitted before is forgotten
    found = RankingFeatureSelector(n_features_to_select=3)
    found.fit(X[:, :9], rows.label, qid=rows.qid)
    with pytest.warns(UserWarning, match="not screened: url .features says") as told:
        found.fit_batches(batches, query_weight=weight, batch_rows=batch_rows)
    assert len(told) == 1
    assert found.feature_names_in_.tolist() == names
    assert found.n_queries_ == 40
    assert_same(found, expected, tolerance=1e-12)


@pytest.mark.parametrize("as_frame", [True, False])
def test_batches_of_files(rows, tmp_path, as_frame):
    X = rows[["clicks", "in_degree"]].to_numpy()
    dump_letor(X, rows.label, tmp_path / "a.txt", qid=rows.qid)
    batches = iter_batches(tmp_path / "a.txt", batch_rows=100, as_frame=as_frame)
    found = RankingFeatureSelector().fit_batches(batches)
    expected = RankingFeatureSelector().fit(X, rows.label, qid=rows.qid)
    assert_allclose(found.mean_, expected.mean_, rtol=0, atol=1e-12)
    assert hasattr(found, "feature_names_in_") == as_frame


def halves(rows):
    return rows[rows.qid < 9], rows[rows.qid > 8]


NAMES = ["qid", "label", "clicks", "w"]


def of_bunches(first, second):
    return [*iter_batches(first[NAMES]), *iter_batches(second)]


@pytest.mark.parametrize(
    ("batches", "options", "message"),
    [
        (lambda f, g: [f, f[30:]], {}, r"query \d+ again in batch 1"),
        (lambda f, g: [f[:0]], {}, "at least one row, got none"),
        (lambda f, g: [], {}, "at least one row, got none"),
        (lambda f, g: f, {}, "got a single DataFrame"),
        (lambda f, g: [f.to_numpy()], {}, "got ndarray in batch 0"),
        (lambda f, g: [f], {"features": ["absent"]}, "column 'absent'"),
        (lambda f, g: [f], {"features": []}, "features must name at least one column"),
        (lambda f, g: [f], {"features": ["qid"]}, "different columns, got 'qid' twice"),
        (lambda f, g: [f], {"batch_rows": 0}, "batch_rows must be .* 1, got 0"),
        (lambda f, g: [f.assign(w=0)], {"query_weight": "w"}, "w must not be 0 in "),
        (lambda f, g: [f, g.assign(label=-1)], {}, "1: y must"),
        (lambda f, g: [f, g.drop(columns="w")], {}, r"batch 1: there is no column 'w'"),
        (lambda f, g: of_bunches(f, g[NAMES[:3]]), {}, "clicks, w first and clicks in"),
        (lambda f, g: of_bunches(f, g[NAMES].astype({"qid": str})), {},
         "batch 1 must hold integers, as in batch 0"),
        (lambda f, g: of_bunches(f, g[NAMES].assign(label=-1)), {},
         "^batch 1: y must be >= 0"),
    ],
)  # fmt: skip
def test_errors_leave_the_selector_as_it_was(rows, batches, options, message):
    selector = RankingFeatureSelector().fit([[1], [0]], [1, 0], qid=[0, 1])
    with pytest.raises(ValueError, match=message):
        selector.fit_batches(batches(*halves(rows)), **options)
    assert (selector.n_queries_, selector.n_features_in_) == (2, 1)
    with pytest.raises(ValueError, match="does not read query ids from a column"):
        selector.set_params(qid="qid").fit_batches([rows])


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_only_some_batches_have(rows, kind):
    first, second = halves(rows)
    batches = [kind(first), kind(second.assign(extra=1.0))]
    with pytest.raises(ValueError, match=r"no column 'extra' .*: batch 1 has"):
        RankingFeatureSelector().fit_batches(batches)
    found = RankingFeatureSelector().fit_batches(batches, features=["clicks", "w"])
    assert found.feature_names_in_.tolist() == ["clicks", "w"]


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table.to_batches(max_chunksize=20),
        lambda table: [table.slice(0, 20).to_pandas(), table.slice(20).to_pandas()],
        lambda table: iter_batches(table.to_pandas(), as_frame=True, batch_rows=9),
    ],
)
def test_numbers_with_gaps_are_features(make):
    whole = [None, *range(1, 40)]
    decimals = pa.array([None if i is None else Decimal(i) / 4 for i in whole])
    features = {
        "decimal": decimals.cast(pa.decimal128(20, 2)),
        "wide": decimals.cast(pa.decimal256(40, 2)),
        "half": pa.array(np.arange(40, dtype=np.float16)),
        "unsigned": pa.array(whole, pa.uint64()),
        "category": pa.array(whole).dictionary_encode(),
        "flag": pa.array([None if i is None else i % 2 == 0 for i in whole]),
    }
    y, qid = np.arange(40) % 3, np.arange(40) // 4
    values = [
        [np.nan if v is None else float(v) for v in column.to_pylist()]
        for column in features.values()
    ]
    found, expected = (RankingFeatureSelector("ap", missing="last") for _ in "ab")
    expected.fit(np.column_stack(values), y, qid)
    table = pa.table({"qid": qid, "label": y} | features)
    found.fit_batches(make(table))
    assert found.feature_names_in_.tolist() == list(features)
    assert_same(found, expected, tolerance=1e-12)
    polars = pl.from_arrow(table.select(["qid", "label", "decimal", "unsigned"]))
    own = clone(found).fit_batches([polars]).mean_
    assert_allclose(own, expected.mean_[[0, 3]], rtol=0, atol=1e-12)


def test_what_is_no_number_is_no_feature_and_large_integers_are_not_rounded():
    frame = pd.DataFrame({"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0], "x": range(4)})
    frame = frame.assign(took=pd.to_timedelta(frame.x), root=[1j] * 4)
    with pytest.warns(UserWarning, match="not screened: took, root"):
        found = RankingFeatureSelector("rr").fit_batches([frame])
    assert found.feature_names_in_.tolist() == ["x"]
    large = pa.array([2**60 + 3, 2**60 + 1, 2**60, None]).dictionary_encode()
    table = pa.table({"qid": [1] * 4, "label": [3, 1, 0, 0], "x": large})
    with pytest.raises(ValueError, match="numbers that differ but are equal as 64-bit"):
        RankingFeatureSelector("ndcg", missing="last").fit_batches([table])
