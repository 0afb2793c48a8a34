"""RankingFeatureSelector as an estimator, and fitted on batches."""

import pickle
import re
from decimal import Decimal
from functools import partial
from operator import methodcaller

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch

import tieaware_sklearn as ta
from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import dump_letor, iter_batches, make_web_search

# -- query ids


def batch(web, *queries, ids=lambda qid: qid):
    rows = np.isin(web.qid, queries)
    return web.data[rows], web.target[rows], ids(web.qid[rows])


@pytest.mark.parametrize(("ids", "name"), [
    (lambda qid: qid, "2"),
    (lambda qid: qid.astype(float), "2.0"),
    (lambda qid: [f"query 000{q}" for q in qid], "'query 0002'"),
    (lambda qid: [(q, "query") for q in qid.tolist()], "(2, 'query')"),
    # what surrogateescape makes of bytes
    (lambda qid: [f"\udce8{q}" for q in qid], r"'\udce82'"),
], ids=["integers", "floats", "texts", "tuples", "not unicode"])  # fmt: skip
def test_a_query_is_counted_once_whenever_it_comes_again(web, ids, name):
    selector = RankingFeatureSelector()
    for queries in ([1, 2], [3], [4, 5]):
        selector.partial_fit(*batch(web, *queries, ids=ids))
    # ids do not travel with it
    assert b"query 000" not in pickle.dumps(selector)
    again = pickle.loads(pickle.dumps(selector))
    assert_same(again, selector)
    with pytest.raises(ValueError, match=f"query {re.escape(name)} again"):
        again.partial_fit(*batch(web, 2, 6, ids=ids))
    other = RankingFeatureSelector().fit(*batch(web, 7, 4, 5, ids=ids))
    said = r"none of the queries .* got 2 of them among its 3"
    for ours, theirs in ((again, other), (again.screening_, other.screening_)):
        with pytest.raises(ValueError, match=said):
            ours.merge(theirs)
    assert_same(again, selector)
    adopted = RankingFeatureSelector().adopt(selector.screening_, web.data)
    adopted.partial_fit(*batch(web, 6, ids=ids))
    assert adopted.merge(other.fit(*batch(web, 7, 8, ids=ids))).n_queries_ == 8
    # an integer is known again as a number of any type, but as no text
    for kind in (np.float32, np.uint8, object) if name == "2" else ():
        with pytest.raises(ValueError, match=r"query 2.* again"):
            selector.partial_fit(*batch(web, 2, ids=methodcaller("astype", kind)))
    texts = batch(web, 2, ids=lambda qid: np.char.add("q", qid.astype(str)))
    selector.partial_fit(*texts)


def test_without_query_ids_it_warns(web):
    X, y = web.data, web.target
    one_query = r"without qid, all \d+ rows are ranked together as one query"
    new = RankingFeatureSelector(n_features_to_select=2)
    # what says that it is one query is believed
    wanted = clone(new).fit(X, y, qid=np.full(len(y), "a"))
    for fit in (clone(new).fit, clone(new).partial_fit):
        with pytest.warns(UserWarning, match=one_query) as caught:
            assert_same(fit(X, y), wanted)
        (message,) = (str(warning.message) for warning in caught)
        for way in ("set_config(enable_metadata_routing=True)", "pass qid to fit"):
            assert way in message
        assert "RankingFeatureSelector(qid=<name or index>)" in message
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(UserWarning, match=r"search\.fit\(X, y, qid=qid\)"),
    ):
        assert new.screen(X, y).n_queries == 1
    # each batch without ids is one more query
    with pytest.warns(UserWarning, match=one_query):
        twice = clone(new).partial_fit(X, y).partial_fit(X, y)
    assert twice.n_queries_ == 2


def of_array(web, at):
    """Columns with that of ids at an index, and where the features are."""
    X = np.insert(web.data, at % 13, web.qid, axis=1)
    return X, np.arange(13) != at % 13


def of_frame(web, to=lambda X: X, name="qid"):
    X = pd.DataFrame(web.data, columns=web.feature_names)
    X.insert(2, name, [f"q{q}" for q in web.qid])
    return to(X), np.arange(13) != 2


@pytest.mark.parametrize(
    ("make", "qid"),
    [
        (lambda web: of_array(web, -1), -1),
        (lambda web: of_array(web, 2), 2),
        (lambda web: (sp.csr_array(of_array(web, 0)[0]), np.arange(13) != 0), 0),
        (of_frame, "qid"),
        (lambda web: of_frame(web, lambda X: pl.DataFrame(dict(X))), "qid"),
        (lambda web: of_frame(web, lambda X: X.set_axis([*range(13)], axis=1)), 2),
        (lambda web: of_frame(web, lambda X: X.set_axis([*"abZdefghijklm"], axis=1)),
         "Z"),
    ],
    ids=["last", "third", "sparse", "pandas", "polars", "numbers", "letters"],
)  # fmt: skip
def test_ids_from_a_column(web, make, qid):
    plain = fitted(web, n_features_to_select=4)
    X, at = make(web)
    selector = RankingFeatureSelector(n_features_to_select=4, qid=qid)
    selector.fit(X, web.target)
    assert selector.n_features_in_ == len(selector.get_support()) == 13
    assert (selector.directions_ == "qid").tolist() == (~at).tolist()
    assert np.isnan(selector.mean_[~at]).all()
    assert selector.ranking_[~at] == 13
    assert not selector.support_[~at]
    assert selector.repeats_[~at] == -1
    for name in ("mean_", "support_", "ranking_"):
        found, expected = getattr(selector, name)[at], getattr(plain, name)
        np.testing.assert_array_equal(found, expected)
    columns = np.append(np.flatnonzero(at), -1)
    order, repeats = columns[plain.selection_order_], columns[plain.repeats_]
    np.testing.assert_array_equal(selector.selection_order_, order)
    np.testing.assert_array_equal(selector.repeats_[at], repeats)
    out = selector.transform(X)
    out = out.toarray() if sp.issparse(out) else out
    np.testing.assert_array_equal(out, plain.transform(web.data))
    for call, message in (
        (lambda: selector.partial_fit(X, web.target), r"query .* again"),
        (
            lambda: selector.fit(X, web.target, qid=web.qid),
            r"qid must be given once, .* set_fit_request\(qid=False\) stops it",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# -- data of many kinds


def test_columns_keep_their_dtypes_beside_one_of_ids(web):
    X = pd.DataFrame({"qid": [f"q{q}" for q in web.qid]})
    X["clicks"] = web.data[:, 11].astype(np.int32)
    X["age"] = pd.array(web.data[:, 1].astype(int), dtype="Int64")
    X["noise"], X["score"] = 0.0, web.data[:, 5].astype(np.float32)
    X.index *= 2
    kept = ["clicks", "age", "score"]
    selector = RankingFeatureSelector(qid="qid", n_features_to_select=3)
    array = selector.fit_transform(X, web.target)
    assert (type(array), array.dtype) == (np.ndarray, np.float64)
    np.testing.assert_array_equal(array, X[kept].to_numpy(float))
    out = selector.set_output(transform="pandas").transform(X)
    pd.testing.assert_frame_equal(out, X[kept])
    # of polars, Arrow and arrays, the ids decide no dtype either
    one = RankingFeatureSelector(n_features_to_select=1)
    for names, qid, to, dtype in [
        (["score", "noise"], "qid", pl.DataFrame, np.float64),
        (["score"], "qid", lambda part: pa.table(dict(part)), np.float32),
        (["score", "noise"], 0, lambda part: part.to_numpy(object), np.float64),
    ]:
        own = to(X[["qid", *names]])
        out = clone(one).set_params(qid=qid).fit_transform(own, web.target)
        assert (type(out), out.dtype) == (np.ndarray, dtype)
    numbers = np.column_stack([web.qid, web.data]).astype(np.float32)
    for matrix in (numbers, sp.csr_array(numbers), sp.csc_matrix(numbers)):
        given = matrix.copy()
        out = clone(one).set_params(qid=0).fit_transform(matrix, web.target)
        assert sp.issparse(out) == sp.issparse(matrix)
        assert out.dtype == np.float32
        assert (given != matrix).sum() == 0


def test_unjudged_labels_may_count_as_not_relevant(web, capfd):
    labels = np.where(np.arange(len(web.target)) % 7, web.target, np.nan)
    zeros = Bunch(data=web.data, target=np.nan_to_num(labels), qid=web.qid)
    wanted = fitted(zeros, progress=True)
    assert re.search(r"screening: .* 12/12 .*feature", capfd.readouterr().err)
    selector = RankingFeatureSelector(unjudged="nonrelevant")
    for y in (labels, pd.Series(labels).astype("Int64")):
        assert_same(selector.fit(web.data, y, qid=web.qid), wanted)
    # BPref knows of them by itself, and sees that they are not judged
    bpref = RankingFeatureSelector("bpref").fit(web.data, labels, qid=web.qid)
    expected = ta.ranking_score(labels, -web.data[:, 3], qid=web.qid, measure="bpref")
    assert (bpref.directions_[3], bpref.mean_[3, 0]) == ("ascending", expected)


def test_texts_are_named_and_numbers_that_are_spelled_out_are_numbers(web):
    frame = pd.DataFrame(web.data[:, :2], columns=["in_degree", "clicks"])
    frame = frame.assign(url="http://a.org", q=web.qid)
    message = r"X must hold numbers, got 'http://a.org' in column 'url' \(leave .* it"
    for qid, hint in (("q", r"\)$"), (None, r"; query ids go into qid='url'\)$")):
        with pytest.raises(ValueError, match=message + hint):
            by_column(web, qid, frame)
    frame["url"] = [str(clicks) for clicks in frame["clicks"]]
    selector = by_column(web, "q", frame)
    assert selector.mean_[1].tolist() == selector.mean_[2].tolist()


def test_rows_in_another_order_and_other_columns_are_noticed(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    y, qid = pd.Series(web.target), pd.Series(web.qid)
    turned = "has the index of X in another order, but rows go by position"
    with pytest.warns(UserWarning, match=f"^y {turned}"):
        ta.LinearRanker(max_iter=1).fit(frame, y[::-1], qid)
    with pytest.warns(UserWarning, match=f"^qid {turned}"):
        selector = RankingFeatureSelector().fit(frame, y, qid[::-1])
    seen_at_fit = "feature names should match those that were passed during fit"
    with pytest.raises(ValueError, match=seen_at_fit):
        selector.partial_fit(frame.iloc[:, :5], y, qid + 100)
    assert selector.n_queries_ == 60


# -- before a ranker


def test_weights_are_asked_for_only_on_request(web):
    data = {"qid": web.qid, "query_weight": 1.0 / web.qid}
    rows = web.data, web.target
    with sklearn.config_context(enable_metadata_routing=True):
        selector = RankingFeatureSelector()
        scorer = ta.make_ranking_scorer("ap").set_score_request(query_weight=True)
        model = Pipeline([("select", selector), ("rank", Ridge())])
        # where nobody asks for them, scikit-learn says so
        with pytest.raises(TypeError, match="query_weight"):
            model.fit(*rows, **data)
        how = {"scoring": scorer, "cv": ta.QueryKFold(2), "error_score": "raise"}
        search = GridSearchCV(model, {"select__n_features_to_select": [3]}, **how)
        search.fit(*rows, **data)
        assert_same(search.best_estimator_[0], fitted(web, n_features_to_select=3))
        selector.set_fit_request(query_weight=True)
        search.fit(*rows, **data)
    weighted = RankingFeatureSelector(n_features_to_select=3).fit(*rows, **data)
    assert_same(search.best_estimator_[0], weighted)


# -- what is refused


def refit(web, **given):
    given = {"y": web.target, "qid": web.qid, **given}
    return RankingFeatureSelector(zero_relevance="raise").fit(web.data, **given)


def by_column(web, qid, X):
    return RankingFeatureSelector(qid=qid).fit(X, web.target)


BY_NUMBER = {"redundancy": False, "n_features_to_select": 2, "diversity": 0.4}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sort_by": "dcg"}, r"sort_by must be one of \['NDCG@10', .*, got DCG"),
        ({"measures": ["ndgc"]}, "did you mean 'NDCG'"),
        ({"n_features_to_select": 0}, "n_features_to_select must be .* got 0"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be .* got 1.5"),
        ({"n_features_to_select": True}, "n_features_to_select must be .* got True"),
        ({"alpha": 2}, r"alpha must be in \[0, 1\], got 2"),
        ({"alpha": True}, r"alpha must be in \[0, 1\], got True"),
        ({"min_lift": "much"}, "min_lift must be"),
        ({"direction": "up"}, "direction must be one of .* got 'up'"),
        ({"direction": None}, "direction must be one of .* got None"),
        ({"direction": ["auto"]}, r"one value per feature \(12\), got 1"),
        ({"missing": "first"}, "missing must be one of .* got 'first'"),
        ({"unjudged": "last"}, "unjudged must be one of .* got 'last'"),
        ({"zero_relevance": "keep"}, "zero_relevance must be one of .* got 'keep'"),
        ({"redundancy": "yes"}, "redundancy must be one of"),
        ({"max_correlation": 1.5}, r"max_correlation must be in \[0, 1\] or None, got"),
        ({"max_correlation": True}, "max_correlation must be .* got True"),
        ({"max_correlation": "auto"}, "max_correlation must be .* got 'auto'"),
        ({"diversity": -0.1}, r"diversity must be in \[0, 1\], got -0.1"),
        ({"diversity": None}, r"diversity must be in \[0, 1\], got None"),
        ({"redundancy": False},
         r"redundancy must be True with max_correlation=0.95, or 'auto' .* got False .*"
         r"without correlations, set max_correlation=None and diversity=0$"),
        (BY_NUMBER,
         "with max_correlation=0.95 and diversity=0.4, .* got False.* set "
         "max_correlation=None and diversity=0$"),
        (BY_NUMBER | {"max_correlation": None},
         "with diversity=0.4, .* got False.* and diversity=0$"),
        ({"progress": "x"}, "progress must be True or False, got 'x'"),
        (lambda web: refit(web, y=web.target - 1.0), "y must be >= 0, got -1"),
        (lambda web: refit(web, y=None), "requires y to be passed, but the target y i"),
        (lambda web: refit(web, y=np.where(np.arange(len(web.qid)) == 7, np.nan, 1)),
         r"y must be judged \(leave .* row 7"),
        (lambda web: refit(web, y=np.where(web.qid == 5, 0, 1)), "undefined for query"),
        (lambda web: refit(web, qid=[1, 2, 3]), "qid must have one value .*got 3"),
        (lambda web: refit(web, query_weight=np.arange(len(web.qid))),
         "query_weight must be constant within"),
        (lambda web: refit(web, query_weight=0 * web.qid), "must not be 0 in every"),
        (lambda web: by_column(web, "qid", of_frame(web)[0][["qid"]]),
         "a feature beside its qid column 'qid'"),
        (lambda web: by_column(web, "query", of_frame(web)[0]),
         "qid must name a column of X, got 'query'"),
        (lambda web: by_column(web, 13, of_array(web, 0)[0]), "one of the 13 columns"),
        (lambda web: by_column(web, 0, of_array(web, 0)[0]).merge(
            by_column(web, 12, of_array(web, 12)[0])),
         "other must have the features, measures"),
    ],
)  # fmt: skip
def test_bad_parameters_and_data(web, parameters, message):
    call = parameters if callable(parameters) else partial(fitted, **parameters)
    with pytest.raises(ValueError, match=message):
        call(web)


# -- in batches

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
        (lambda f, g: f, {}, "got str in batch 0"),
        (lambda f, g: [f.to_numpy()], {}, "got ndarray in batch 0"),
        (lambda f, g: [f], {"features": ["absent"]}, "column 'absent'"),
        (lambda f, g: [f], {"features": []}, "features must name at least one column"),
        (lambda f, g: [f], {"features": ["qid"]}, "different columns, got 'qid' twice"),
        (lambda f, g: iter_batches(f[NAMES]), {"batch_rows": 0},
         "batch_rows must be .* 1, got 0"),
        (lambda f, g: [f.assign(w=0)], {"query_weight": "w"}, "w must not be 0 in "),
        (lambda f, g: [f, g.assign(label=-1)], {}, "1: y must"),
        (lambda f, g: [f, g.drop(columns="w")], {}, r"batch 1: there is no column 'w'"),
        (lambda f, g: [f, g.assign(extra=1)], {}, "only one of them has 'extra'"),
        (lambda f, g: of_bunches(f, g[NAMES[:3]]), {}, "clicks, w first and clicks in"),
        (lambda f, g: of_bunches(f, g[NAMES].astype({"qid": str})), {},
         "batch 1: (query ids must be of the type|Unable to merge: Field qid)"),
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


def test_named_features_may_stand_beside_columns_of_some_batches(rows):
    first, second = halves(rows)
    batches = [first, second.assign(extra=1.0)]
    found = RankingFeatureSelector().fit_batches(batches, features=["clicks", "w"])
    assert found.feature_names_in_.tolist() == ["clicks", "w"]


WITH_GAPS = [
    lambda table: table.to_batches(max_chunksize=20),
    lambda table: [table.slice(0, 20).to_pandas(), table.slice(20).to_pandas()],
    lambda table: iter_batches(table.to_pandas(), as_frame=True, batch_rows=9),
]


@pytest.mark.parametrize("make", WITH_GAPS)
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


def test_what_is_no_number_is_no_feature():
    frame = pd.DataFrame({"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0], "x": range(4)})
    frame = frame.assign(took=pd.to_timedelta(frame.x), word="a")
    with pytest.warns(UserWarning, match="not screened: took, word"):
        found = RankingFeatureSelector("rr").fit_batches([frame])
    assert found.feature_names_in_.tolist() == ["x"]
    with pytest.raises(ValueError, match=r"batch 0: .*column root with type complex"):
        RankingFeatureSelector("rr").fit_batches([frame.assign(root=1j)])


def test_missing_values_beside_ids_that_are_texts():
    X = np.array([["a", 3.0], ["a", np.nan], ["b", 1.0], ["b", 2.0]], dtype=object)
    selector = RankingFeatureSelector("rr", n_features_to_select=1, qid=0)
    selector.set_params(missing="last").fit(X, [1, 0, 0, 1])
    wanted = np.array([[3], [np.nan], [1], [2]])
    np.testing.assert_array_equal(selector.transform(X), wanted, strict=True)
    selector.set_params(missing="raise")
    with pytest.raises(ValueError, match="NaN"):
        selector.transform(X)
    # nobody asks for ids to transform
    X = np.array([[np.nan, 3.0], [np.inf, 1.0]])
    np.testing.assert_array_equal(selector.transform(X), [[3], [1]])
    assert np.isnan(X[0, 0])
    X = np.array([[1, 1], [1, 1], [2, 1], [2, 1]], dtype=object)
    selector.set_params(n_features_to_select=None).fit(X, [1, 0, 1, 0])
    with pytest.warns(UserWarning, match="no feature is selected: each is constant"):
        assert selector.transform(X).shape == (4, 0)
