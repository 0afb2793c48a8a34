"""RankingFeatureSelector as an estimator, and fitted on batches."""

import pickle
import re
from decimal import Decimal

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

import tieaware_sklearn as ta
from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.datasets import dump_letor, iter_batches, make_web_search

# -- query ids


def batch(web, queries, ids):
    rows = np.isin(web.qid, queries)
    return web.data[rows], web.target[rows], ids(web.qid[rows])


IDS = [
    pytest.param(lambda qid: qid, "2", id="integers"),
    pytest.param(lambda qid: qid.astype(float), "2.0", id="floats"),
    pytest.param(
        lambda qid: [f"query 000{q}" for q in qid], "'query 0002'", id="texts"
    ),
    pytest.param(
        lambda qid: [(q, "query") for q in qid.tolist()], "(2, 'query')", id="tuples"
    ),
    # surrogateescape makes such texts of bytes
    pytest.param(
        lambda qid: [f"\udce8{q}" for q in qid], r"'\udce82'", id="not unicode"
    ),
]


@pytest.mark.parametrize(("ids", "name"), IDS)
def test_a_query_is_counted_once_whenever_it_comes_again(web, ids, name):
    selector = RankingFeatureSelector()
    for queries in ([1, 2], [3], [4, 5]):
        selector.partial_fit(*batch(web, queries, ids))
    pickled = pickle.dumps(selector)
    # pickles hold no ids
    assert b"query 000" not in pickled
    loaded = pickle.loads(pickled)
    assert_same(loaded, selector)
    with pytest.raises(ValueError, match=f"query {re.escape(name)} again"):
        loaded.partial_fit(*batch(web, [2, 6], ids))
    overlapping = RankingFeatureSelector().fit(*batch(web, [7, 4, 5], ids))
    message = r"in more than one screening, got 2 of 3 queries again"
    with pytest.raises(ValueError, match=message):
        loaded.merge(overlapping)
    with pytest.raises(ValueError, match=message):
        loaded.screening_.merge(overlapping.screening_)
    assert_same(loaded, selector)


@pytest.mark.parametrize(("ids", "name"), IDS)
def test_an_adopted_screening_takes_more_queries(web, ids, name):
    selector = RankingFeatureSelector().fit(*batch(web, [1, 2, 3, 4, 5], ids))
    adopted = RankingFeatureSelector().adopt(selector.screening_, web.data)
    adopted.partial_fit(*batch(web, [6], ids))
    with pytest.raises(ValueError, match=f"query {re.escape(name)} again"):
        adopted.partial_fit(*batch(web, [2], ids))
    disjoint = RankingFeatureSelector().fit(*batch(web, [7, 8], ids))
    assert adopted.merge(disjoint).n_queries_ == 8


@pytest.mark.parametrize("kind", [np.float32, np.uint8, object])
def test_an_integer_id_is_the_same_in_every_numeric_type(web, kind):
    selector = RankingFeatureSelector()
    selector.partial_fit(*batch(web, [1, 2], lambda qid: qid))
    with pytest.raises(ValueError, match=r"query 2.* again"):
        selector.partial_fit(*batch(web, [2], lambda qid: qid.astype(kind)))


@pytest.mark.parametrize(("ids", "name"), IDS)
def test_another_text_is_another_query(web, ids, name):
    selector = RankingFeatureSelector()
    selector.partial_fit(*batch(web, [1, 2], ids))
    selector.partial_fit(*batch(web, [2], lambda qid: [f"q{q}" for q in qid]))
    assert selector.n_queries_ == 3, name


ONE_QUERY = r"without qid, all \d+ rows are ranked together as one query"


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_without_query_ids_it_warns(web, method):
    X, y = web.data, web.target
    selector = RankingFeatureSelector(n_features_to_select=2)
    # constant ids say that the rows are one query, so nothing warns
    expected = clone(selector).fit(X, y, qid=np.full(len(y), "a"))
    with pytest.warns(UserWarning, match=ONE_QUERY) as caught:
        getattr(selector, method)(X, y)
    assert_same(selector, expected)
    (warning,) = caught
    message = str(warning.message)
    assert "set_config(enable_metadata_routing=True)" in message
    assert "pass qid to fit" in message
    assert "RankingFeatureSelector(qid=<name or index>)" in message


def test_with_metadata_routing_the_warning_passes_qid_to_the_search(web):
    selector = RankingFeatureSelector(n_features_to_select=2)
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(UserWarning, match=r"search\.fit\(X, y, qid=qid\)"),
    ):
        screening = selector.screen(web.data, web.target)
    assert screening.n_queries == 1


def test_each_batch_without_ids_is_one_more_query(web):
    selector = RankingFeatureSelector(n_features_to_select=2)
    with pytest.warns(UserWarning, match=ONE_QUERY):
        selector.partial_fit(web.data, web.target).partial_fit(web.data, web.target)
    assert selector.n_queries_ == 2


def array_with_ids(web, index):
    return np.insert(web.data, index % 13, web.qid, axis=1)


def frame_with_ids(web):
    X = pd.DataFrame(web.data, columns=web.feature_names)
    X.insert(2, "qid", [f"q{query}" for query in web.qid])
    return X


def sparse_with_ids(web):
    return sp.csr_array(array_with_ids(web, 0))


def polars_with_ids(web):
    return pl.DataFrame(dict(frame_with_ids(web)))


def renamed_with_ids(web, names):
    return frame_with_ids(web).set_axis(list(names), axis=1)


@pytest.mark.parametrize(
    ("make", "qid", "index"),
    [
        pytest.param(lambda web: array_with_ids(web, -1), -1, 12, id="last"),
        pytest.param(lambda web: array_with_ids(web, 2), 2, 2, id="third"),
        pytest.param(sparse_with_ids, 0, 0, id="sparse"),
        pytest.param(frame_with_ids, "qid", 2, id="pandas"),
        pytest.param(polars_with_ids, "qid", 2, id="polars"),
        pytest.param(lambda web: renamed_with_ids(web, range(13)), 2, 2, id="numbers"),
        pytest.param(
            lambda web: renamed_with_ids(web, "abZdefghijklm"), "Z", 2, id="letters"
        ),
    ],
)
def test_ids_from_a_column(web, make, qid, index):
    plain = fitted(web, n_features_to_select=4)
    X = make(web)
    selector = RankingFeatureSelector(n_features_to_select=4, qid=qid)
    selector.fit(X, web.target)
    assert selector.n_features_in_ == 13
    assert len(selector.get_support()) == 13
    is_qid = np.arange(13) == index
    assert (selector.directions_ == "qid").tolist() == is_qid.tolist()
    assert np.isnan(selector.mean_[index]).all()
    assert selector.ranking_[index] == 13
    assert not selector.support_[index]
    assert selector.repeats_[index] == -1
    for name in ("mean_", "support_", "ranking_"):
        values = getattr(selector, name)[~is_qid]
        np.testing.assert_array_equal(values, getattr(plain, name))
    # The index -1 stands for "repeats no feature" and stays -1.
    columns = np.append(np.flatnonzero(~is_qid), -1)
    order = columns[plain.selection_order_]
    np.testing.assert_array_equal(selector.selection_order_, order)
    repeats = columns[plain.repeats_]
    np.testing.assert_array_equal(selector.repeats_[~is_qid], repeats)
    selected = selector.transform(X)
    if sp.issparse(selected):
        selected = selected.toarray()
    np.testing.assert_array_equal(selected, plain.transform(web.data))
    with pytest.raises(ValueError, match=r"query .* again"):
        selector.partial_fit(X, web.target)
    message = r"qid must be given only once, .* set_fit_request\(qid=False\)"
    with pytest.raises(ValueError, match=message):
        selector.fit(X, web.target, qid=web.qid)


# -- data of many kinds


@pytest.fixture
def mixed_frame(web):
    frame = pd.DataFrame({"qid": [f"q{query}" for query in web.qid]})
    frame["clicks"] = web.data[:, 11].astype(np.int32)
    frame["age"] = pd.array(web.data[:, 1].astype(int), dtype="Int64")
    frame["noise"] = 0.0
    frame["score"] = web.data[:, 5].astype(np.float32)
    frame.index *= 2
    return frame


def test_columns_of_a_frame_keep_their_dtypes_beside_ids(web, mixed_frame):
    selected = mixed_frame[["clicks", "age", "score"]]
    selector = RankingFeatureSelector(qid="qid", n_features_to_select=3)
    array = selector.fit_transform(mixed_frame, web.target)
    assert type(array) is np.ndarray
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, selected.to_numpy(float))
    frame = selector.set_output(transform="pandas").transform(mixed_frame)
    pd.testing.assert_frame_equal(frame, selected)


@pytest.mark.parametrize(
    ("names", "qid", "convert", "dtype"),
    [
        (["score", "noise"], "qid", pl.DataFrame, np.float64),
        (["score"], "qid", lambda frame: pa.table(dict(frame)), np.float32),
        (["score", "noise"], 0, lambda frame: frame.to_numpy(object), np.float64),
    ],
    ids=["polars", "Arrow", "objects"],
)
def test_ids_decide_no_dtype(web, mixed_frame, names, qid, convert, dtype):
    X = convert(mixed_frame[["qid", *names]])
    selector = RankingFeatureSelector(n_features_to_select=1, qid=qid)
    selected = selector.fit_transform(X, web.target)
    assert type(selected) is np.ndarray
    assert selected.dtype == dtype


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_matrices_keep_their_kind_and_are_not_changed(web, convert):
    numbers = np.column_stack([web.qid, web.data]).astype(np.float32)
    X = convert(numbers)
    before = X.copy()
    selector = RankingFeatureSelector(n_features_to_select=1, qid=0)
    selected = selector.fit_transform(X, web.target)
    assert sp.issparse(selected) == sp.issparse(X)
    assert selected.dtype == np.float32
    assert (before != X).sum() == 0


@pytest.fixture
def unjudged_labels(web):
    return np.where(np.arange(len(web.target)) % 7, web.target, np.nan)


def test_unjudged_labels_may_count_as_not_relevant(web, unjudged_labels, capfd):
    y = np.nan_to_num(unjudged_labels)
    expected = RankingFeatureSelector(progress=True).fit(web.data, y, qid=web.qid)
    assert re.search(r"screening: .* 12/12 .*feature", capfd.readouterr().err)
    selector = RankingFeatureSelector(unjudged="nonrelevant")
    selector.fit(web.data, unjudged_labels, qid=web.qid)
    assert_same(selector, expected)
    nullable = pd.Series(unjudged_labels).astype("Int64")
    selector.fit(web.data, nullable, qid=web.qid)
    assert_same(selector, expected)


def test_bpref_distinguishes_unjudged_labels(web, unjudged_labels):
    selector = RankingFeatureSelector("bpref")
    selector.fit(web.data, unjudged_labels, qid=web.qid)
    scores = -web.data[:, 3]
    expected = ta.ranking_score(unjudged_labels, scores, qid=web.qid, measure="bpref")
    assert selector.directions_[3] == "ascending"
    assert selector.mean_[3, 0] == expected


def test_texts_are_named_and_numbers_that_are_spelled_out_are_numbers(web):
    frame = pd.DataFrame(web.data[:, :2], columns=["in_degree", "clicks"])
    frame["url"] = "http://a.org"
    frame["q"] = web.qid
    message = r"X must contain numbers, got 'http://a.org' in column 'url': leave .* it"
    with pytest.raises(ValueError, match=message + "$"):
        by_column(web, "q", frame)
    with pytest.raises(
        ValueError, match=message + r"\. If .* query ids, set qid='url'$"
    ):
        by_column(web, None, frame)
    frame["url"] = [str(clicks) for clicks in frame["clicks"]]
    selector = by_column(web, "q", frame)
    assert selector.mean_[1].tolist() == selector.mean_[2].tolist()


def test_rows_in_another_order_and_other_columns_are_noticed(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    y = pd.Series(web.target)
    qid = pd.Series(web.qid)
    message = "have the same index in different orders, but are matched by position"
    with pytest.warns(UserWarning, match=f"^y and X {message}"):
        ta.LinearRanker(max_iter=1).fit(frame, y[::-1], qid)
    selector = RankingFeatureSelector()
    with pytest.warns(UserWarning, match=f"^qid and X {message}"):
        selector.fit(frame, y, qid[::-1])
    seen_at_fit = "feature names should match those that were passed during fit"
    with pytest.raises(ValueError, match=seen_at_fit):
        selector.partial_fit(frame.iloc[:, :5], y, qid + 100)
    assert selector.n_queries_ == 60


# -- before a ranker


def test_weights_are_asked_for_only_on_request(web):
    X, y = web.data, web.target
    metadata = {"qid": web.qid, "query_weight": 1.0 / web.qid}
    with sklearn.config_context(enable_metadata_routing=True):
        selector = RankingFeatureSelector()
        scorer = ta.make_ranking_scorer("ap").set_score_request(query_weight=True)
        model = Pipeline([("select", selector), ("rank", Ridge())])
        # scikit-learn refuses metadata that no step requests
        with pytest.raises(TypeError, match="query_weight"):
            model.fit(X, y, **metadata)
        search = GridSearchCV(
            model,
            {"select__n_features_to_select": [3]},
            scoring=scorer,
            cv=ta.QueryKFold(2),
            error_score="raise",
        )
        search.fit(X, y, **metadata)
        assert_same(search.best_estimator_[0], fitted(web, n_features_to_select=3))
        selector.set_fit_request(query_weight=True)
        search.fit(X, y, **metadata)
    weighted = RankingFeatureSelector(n_features_to_select=3).fit(X, y, **metadata)
    assert_same(search.best_estimator_[0], weighted)


# -- what is refused


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
        ({"alpha": 2}, r"alpha must be a finite number in \[0, 1\], got 2"),
        ({"alpha": True}, r"alpha must be a finite number in \[0, 1\], got True"),
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
        ({"diversity": -0.1}, r"diversity must be .* in \[0, 1\], got -0.1"),
        ({"diversity": None}, r"diversity must be .* in \[0, 1\], got None"),
        ({"redundancy": False},
         r"redundancy must be True with max_correlation=0.95, or 'auto' .* got False .*"
         r"without correlations, set max_correlation=None and diversity=0$"),
        (BY_NUMBER,
         "with max_correlation=0.95 and diversity=0.4, .* got False.* set "
         "max_correlation=None and diversity=0$"),
        (BY_NUMBER | {"max_correlation": None},
         "with diversity=0.4, .* got False.* and diversity=0$"),
        ({"progress": "x"}, "progress must be True or False, got 'x'"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(web, parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(web, **parameters)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda web: {"y": web.target - 1.0}, "y must be >= 0, got -1"),
        (lambda web: {"y": None}, "requires y to be passed, but the target y i"),
        (lambda web: {"y": np.where(np.arange(len(web.qid)) == 7, np.nan, 1)},
         r"y must be judged, got nan .* row 7"),
        (lambda web: {"y": np.where(web.qid == 5, 0, 1)}, "undefined for query"),
        (lambda web: {"qid": [1, 2, 3]}, "qid must have one value .*got 3"),
        (lambda web: {"query_weight": np.arange(len(web.qid))},
         "query_weight must be constant within"),
        (lambda web: {"query_weight": 0 * web.qid}, "must not be 0 in every"),
    ],
)  # fmt: skip
def test_bad_labels_ids_and_weights_are_refused(web, changes, message):
    arguments = {"y": web.target, "qid": web.qid}
    arguments.update(changes(web))
    selector = RankingFeatureSelector(zero_relevance="raise")
    with pytest.raises(ValueError, match=message):
        selector.fit(web.data, **arguments)


def test_a_column_of_ids_must_exist_beside_a_feature(web):
    frame = frame_with_ids(web)
    with pytest.raises(ValueError, match="a feature besides the qid column 'qid'"):
        by_column(web, "qid", frame[["qid"]])
    with pytest.raises(
        ValueError, match=r"qid must be the name of a column .* got 'query'"
    ):
        by_column(web, "query", frame)
    with pytest.raises(ValueError, match="one of the 13 columns"):
        by_column(web, 13, array_with_ids(web, 0))


def test_selectors_with_different_columns_of_ids_do_not_merge(web):
    first = by_column(web, 0, array_with_ids(web, 0))
    last = by_column(web, 12, array_with_ids(web, 12))
    with pytest.raises(ValueError, match="other must have the features, measures"):
        first.merge(last)


# -- in batches


def to_polars(frame):
    return pl.DataFrame({name: frame[name].to_numpy() for name in frame})


def to_table(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def to_record_batch(frame):
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=40, n_documents=10, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    weights = np.random.default_rng(0).random(41)
    return frame.assign(label=web.target, qid=web.qid, w=weights[web.qid])


@pytest.mark.parametrize(
    ("convert", "weight", "batch_rows"),
    [
        (pd.DataFrame, None, 1),
        (to_polars, "w", 100),
        (to_table, "w", None),
        (to_record_batch, None, 100),
    ],
)
def test_as_after_a_fit_of_all_rows(rows, convert, weight, batch_rows):
    features = rows.drop(columns=["label", "qid", "w"])
    X = features.to_numpy()
    query_weight = rows["w"] if weight == "w" else None
    expected = RankingFeatureSelector(n_features_to_select=3)
    expected.fit(X, rows.label, qid=rows.qid, query_weight=query_weight)
    table = rows.assign(url="a")
    if weight is None:
        table = table.drop(columns="w")
    batches = []
    for remainder in range(7):
        part = table[table.qid % 7 == remainder]
        shuffled = part.sample(frac=1, random_state=0)
        batches.append(convert(shuffled))
    selector = RankingFeatureSelector(n_features_to_select=3)
    # fit_batches forgets this fit
    selector.fit(X[:, :9], rows.label, qid=rows.qid)
    with pytest.warns(UserWarning, match="not screened: url. To silence") as caught:
        selector.fit_batches(batches, query_weight=weight, batch_rows=batch_rows)
    assert len(caught) == 1
    assert selector.feature_names_in_.tolist() == list(features)
    assert selector.n_queries_ == 40
    assert_same(selector, expected, tolerance=1e-12)


@pytest.mark.parametrize("as_frame", [True, False])
def test_batches_of_files(rows, tmp_path, as_frame):
    path = tmp_path / "a.txt"
    X = rows[["clicks", "in_degree"]].to_numpy()
    dump_letor(X, rows.label, path, qid=rows.qid)
    batches = iter_batches(path, batch_rows=100, as_frame=as_frame)
    selector = RankingFeatureSelector().fit_batches(batches)
    expected = RankingFeatureSelector().fit(X, rows.label, qid=rows.qid)
    assert_allclose(selector.mean_, expected.mean_, rtol=0, atol=1e-12)
    assert hasattr(selector, "feature_names_in_") == as_frame


def halves(rows):
    return rows[rows.qid < 9], rows[rows.qid > 8]


NAMES = ["qid", "label", "clicks", "w"]


def of_bunches(first, second):
    return [*iter_batches(first[NAMES]), *iter_batches(second)]


FRAMES = [
    (lambda f, g: [f, f[30:]], {}, r"query \d+ again in batch 1"),
    (lambda f, g: [f[:0]], {}, "at least one row, got none"),
    (lambda f, g: [], {}, "at least one row, got none"),
    (lambda f, g: f, {}, "got str in batch 0"),
    (lambda f, g: [f.to_numpy()], {}, "got ndarray in batch 0"),
    (lambda f, g: [f], {"features": ["absent"]}, "column 'absent'"),
    (lambda f, g: [f], {"features": []}, "features must name at least one column"),
    (lambda f, g: [f], {"features": ["qid"]}, "different columns, got 'qid' twice"),
    (lambda f, g: [f.assign(w=0)], {"query_weight": "w"}, "w must not be 0 in "),
    (lambda f, g: [f, g.assign(label=-1)], {}, "1: y must"),
    (lambda f, g: [f, g.drop(columns="w")], {}, r"batch 1: there is no column 'w'"),
    (lambda f, g: [f, g.assign(extra=1)], {}, "only one of the two has 'extra'"),
]
BUNCHES = [
    (lambda f, g: iter_batches(f[NAMES]), {"batch_rows": 0},
     "batch_rows must be .* 1, got 0"),
    (lambda f, g: of_bunches(f, g[NAMES[:3]]), {}, "clicks, w first and clicks in"),
    (lambda f, g: of_bunches(f, g[NAMES].astype({"qid": str})), {},
     "batch 1: (query ids must have the same type|Unable to merge: Field qid)"),
    (lambda f, g: of_bunches(f, g[NAMES].assign(label=-1)), {},
     "^batch 1: y must be >= 0"),
    (lambda f, g: of_bunches(f, f[NAMES]), {},
     "^batch 1: query 1 is already in an earlier batch, but all rows of a query"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "options", "message"), FRAMES + BUNCHES)
def test_errors_leave_the_selector_as_it_was(rows, make, options, message):
    selector = RankingFeatureSelector().fit([[1], [0]], [1, 0], qid=[0, 1])
    batches = make(*halves(rows))
    with pytest.raises(ValueError, match=message):
        selector.fit_batches(batches, **options)
    assert selector.n_queries_ == 2
    assert selector.n_features_in_ == 1


def test_batches_have_their_ids_in_no_column_of_the_selector(rows):
    selector = RankingFeatureSelector(qid="qid")
    with pytest.raises(ValueError, match="qid of the constructor must be None"):
        selector.fit_batches([rows])


def test_named_features_may_stand_beside_columns_of_some_batches(rows):
    first, second = halves(rows)
    batches = [first, second.assign(extra=1.0)]
    selector = RankingFeatureSelector()
    selector.fit_batches(batches, features=["clicks", "w"])
    assert selector.feature_names_in_.tolist() == ["clicks", "w"]


@pytest.fixture(scope="module")
def features_with_gaps():
    integers = [None, *range(1, 40)]
    quarters = [None]
    flags = [None]
    for i in range(1, 40):
        quarters.append(Decimal(i) / 4)
        flags.append(i % 2 == 0)
    decimals = pa.array(quarters)
    return {
        "decimal": decimals.cast(pa.decimal128(20, 2)),
        "wide": decimals.cast(pa.decimal256(40, 2)),
        "half": pa.array(np.arange(40, dtype=np.float16)),
        "unsigned": pa.array(integers, pa.uint64()),
        "category": pa.array(integers).dictionary_encode(),
        "flag": pa.array(flags),
    }


@pytest.fixture(scope="module")
def table_with_gaps(features_with_gaps):
    rows = np.arange(40)
    return pa.table({"qid": rows // 4, "label": rows % 3, **features_with_gaps})


@pytest.fixture(scope="module")
def fitted_with_gaps(features_with_gaps):
    columns = []
    for feature in features_with_gaps.values():
        values = [np.nan if v is None else float(v) for v in feature.to_pylist()]
        columns.append(values)
    rows = np.arange(40)
    selector = RankingFeatureSelector("ap", missing="last")
    return selector.fit(np.column_stack(columns), rows % 3, rows // 4)


def record_batches(table):
    return table.to_batches(max_chunksize=20)


def pandas_parts(table):
    return [table.slice(0, 20).to_pandas(), table.slice(20).to_pandas()]


def frames_of_iter_batches(table):
    return iter_batches(table.to_pandas(), as_frame=True, batch_rows=9)


@pytest.mark.parametrize("make", [record_batches, pandas_parts, frames_of_iter_batches])
def test_numbers_with_gaps_are_features(table_with_gaps, fitted_with_gaps, make):
    selector = RankingFeatureSelector("ap", missing="last")
    selector.fit_batches(make(table_with_gaps))
    assert selector.feature_names_in_.tolist() == table_with_gaps.column_names[2:]
    assert_same(selector, fitted_with_gaps, tolerance=1e-12)


def test_numbers_of_polars_with_gaps_are_features(table_with_gaps, fitted_with_gaps):
    table = table_with_gaps.select(["qid", "label", "decimal", "unsigned"])
    selector = RankingFeatureSelector("ap", missing="last")
    selector.fit_batches([pl.from_arrow(table)])
    expected = fitted_with_gaps.mean_[[0, 3]]
    assert_allclose(selector.mean_, expected, rtol=0, atol=1e-12)


def test_what_is_no_number_is_no_feature():
    frame = pd.DataFrame({"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0], "x": range(4)})
    frame = frame.assign(took=pd.to_timedelta(frame.x), word="a")
    selector = RankingFeatureSelector("rr")
    with pytest.warns(UserWarning, match="not screened: took, word"):
        selector.fit_batches([frame])
    assert selector.feature_names_in_.tolist() == ["x"]
    frame["root"] = 1j
    with pytest.raises(ValueError, match=r"batch 0: .*column root with type complex"):
        selector.fit_batches([frame])


def test_missing_values_beside_ids_that_are_texts():
    X = np.array([["a", 3.0], ["a", np.nan], ["b", 1.0], ["b", 2.0]], dtype=object)
    selector = RankingFeatureSelector("rr", n_features_to_select=1, qid=0)
    selector.set_params(missing="last").fit(X, [1, 0, 0, 1])
    expected = np.array([[3], [np.nan], [1], [2]])
    np.testing.assert_array_equal(selector.transform(X), expected, strict=True)
    selector.set_params(missing="raise")
    with pytest.raises(ValueError, match="NaN"):
        selector.transform(X)
    # transform needs no ids
    X = np.array([[np.nan, 3.0], [np.inf, 1.0]])
    np.testing.assert_array_equal(selector.transform(X), [[3], [1]])
    assert np.isnan(X[0, 0])


def test_constant_features_beside_ids_are_not_selected():
    X = np.array([[1, 1], [1, 1], [2, 1], [2, 1]], dtype=object)
    selector = RankingFeatureSelector("rr", qid=0).fit(X, [1, 0, 1, 0])
    with pytest.warns(
        UserWarning, match="no feature is selected: each feature is constant"
    ):
        selected = selector.transform(X)
    assert selected.shape == (4, 0)
