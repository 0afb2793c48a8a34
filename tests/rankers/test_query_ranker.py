"""Query rankers, tested with LightGBM: their data, order of rows, and tools."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import cross_val_score

from tests.boosters import conftest
from tests.boosters.helpers import EVAL3, Q3, ROWS3, X3, Y3, LightGBM, rows_of, sizes_of
from tieaware_sklearn import QueryKFold, ranking_score
from tieaware_sklearn.lightgbm import eval_metric

web, valid = conftest.web, conftest.valid
ranker, trees_of = LightGBM().ranker, LightGBM().bits


@pytest.fixture(scope="module")
def frame(web):
    return pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)


@pytest.fixture(scope="module")
def orders(web):
    """Orders of all rows: mixed, by label, and with reversed queries."""
    mixed = np.random.default_rng(0).permutation(len(web.qid))
    by_label = np.lexsort([-web.target, web.qid])
    reversed_queries = np.lexsort([web.target, -web.qid])
    return [mixed, by_label, reversed_queries]


def with_order(data, rows):
    return {"X": data.data[rows], "y": data.target[rows], "qid": data.qid[rows]}


# -- columns


def test_frames_must_have_the_columns_of_fit(web, frame):
    frame = frame.drop(columns="qid")
    model = ranker().fit(frame, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="in order: 'in_degree' as column 0, got"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="X has 11 features, but QueryLGBMR"):
        model.predict(frame.drop(columns="clicks"))
    with pytest.raises(ValueError, match=r"2-dimensional, got shape .*Reshape your"):
        model.predict(web.data[0])


def test_columns_without_names_are_known_by_their_order(web, frame):
    frame = frame.drop(columns="qid")
    model = ranker().fit(frame, web.target, qid=web.qid)
    unnamed = frame.set_axis([None] * 12, axis=1)
    np.testing.assert_array_equal(model.predict(unnamed), model.predict(frame))


def test_numbers_may_name_columns(web):
    numbered = pd.DataFrame(np.column_stack([web.qid, web.data]))
    model = ranker(qid=0).fit(numbered, web.target)
    with pytest.raises(ValueError, match="in order: 1 as column 0, got 12"):
        model.predict(numbered[numbered.columns[::-1]])


@pytest.fixture
def categorical_frame(web, frame):
    """Return features with categories in columns 5 and 8, and ids in column 6."""
    names = web.feature_names
    frame = frame[[*names[:6], "qid", *names[6:]]]
    categories = list(frame.columns[[5, 8]])
    frame[categories] = web.target[:, None] * [7, 3] % 5
    return frame


def test_categorical_features_are_counted_with_the_qid_column(web, categorical_frame):
    def trees(categorical_feature):
        model = ranker(qid="qid")
        model.fit(
            categorical_frame, web.target, categorical_feature=categorical_feature
        )
        return trees_of(model)

    by_index = trees([5, 8])
    assert by_index == trees(list(categorical_frame.columns[[5, 8]]))
    assert by_index != trees("auto")


@pytest.mark.parametrize(
    ("qid", "feature"), [("qid", 6), ("qid", "qid"), (6, 6), (-7, 6)]
)
def test_the_qid_column_is_no_categorical_feature(web, categorical_frame, qid, feature):
    X = categorical_frame
    if qid != "qid":
        X = X.to_numpy()
    with pytest.raises(ValueError, match="must leave out the qid column, got"):
        ranker(qid=qid).fit(X, web.target, categorical_feature=[feature])


def test_features_of_a_frame_are_named(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    assert model.feature_names_in_.dtype == object
    assert model.n_features_ == 12
    assert model.feature_name_ == web.feature_names


def test_the_importance_of_ids_is_0(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    *importances, last = model.feature_importances_
    assert last == 0
    splits = model.booster_.feature_importance("split")
    assert importances == splits.tolist()
    model.set_params(importance_type="gain")
    assert model.feature_importances_.sum() > splits.sum()


def test_features_of_an_array_are_numbered(web, frame):
    named = ranker(qid="qid").fit(frame, web.target)
    array = frame.to_numpy()
    model = ranker(qid=-1).fit(array, web.target)
    assert model.n_features_in_ == 13
    assert not hasattr(model, "feature_names_in_")
    assert model.feature_importances_[-1] == 0
    expected = named.predict(frame)
    for X in (array, array.tolist(), web.data):
        assert np.array_equal(model.predict(X), expected)
    for X in (web.data[:, 1:], array[:, [0]]):
        with pytest.raises(ValueError, match=r"QueryLGBMRanker is expecting 13 feat"):
            model.predict(X)


def test_features_without_a_column_of_ids(web):
    model = ranker().fit(web.data.tolist(), web.target, qid=web.qid)
    assert model.n_features_in_ == 12
    assert model.n_features_ == 12
    assert model.feature_importances_.dtype.kind == "i"


def test_names_of_features_must_be_texts(web, frame):
    model = ranker(qid="qid")
    model.fit(frame.rename(columns={"clicks": 7}), web.target)
    with pytest.raises(AttributeError, match="X had no column names"):
        _ = model.feature_names_in_


def test_a_fit_that_fails_leaves_the_last_one(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    before = model.predict(frame)
    with pytest.raises(ValueError, match="y must be >= 0"):
        model.fit(frame[["clicks", "qid"]], web.target - 9)
    assert np.array_equal(model.predict(frame), before)


def test_another_fit_leaves_nothing_of_the_last_one(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    model.set_params(qid=None).fit(web.data[:, :3], web.target, qid=web.qid)
    assert model.n_features_in_ == 3
    assert len(model.feature_importances_) == 3
    assert not hasattr(model, "feature_names_in_")


# -- the order of rows


@pytest.mark.parametrize("name", ["sample_weight", "init_score"])
def test_weights_and_initial_scores_are_sorted_with_their_rows(web, orders, name):
    """Half of the rows are equal, and only these values tell them apart."""
    X, y = web.data.copy(), web.target.copy()
    X[::2] = X[0]
    y[::2] = 1
    values = np.random.default_rng(1).uniform(1, 2, len(y))

    def trees(rows, values):
        model = ranker()
        model.fit(X[rows], y[rows], qid=web.qid[rows], **{name: values[rows]})
        return trees_of(model)

    plain = trees(slice(None), values)
    for rows in orders:
        assert trees(rows, values) == plain
    without = trees_of(ranker().fit(X, y, qid=web.qid))
    assert trees(orders[0], np.ones(len(y))) == without
    assert without != plain


def trees_of_seed(web, **options):
    return trees_of(ranker(**options).fit(**rows_of(web)))


def test_the_seed_decides_the_order(web):
    """The seed also decides what is drawn. None is a seed, too."""
    default = trees_of_seed(web)
    assert trees_of_seed(web, random_state=None) == default
    assert trees_of_seed(web, random_state=0) == default
    seeded = trees_of_seed(web, random_state=1)
    assert seeded != default
    assert trees_of_seed(web, seed=1) == seeded
    assert trees_of_seed(web, random_seed=1) == seeded


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_generators_are_seeds(web, make):
    expected = trees_of_seed(web, random_state=make(5))
    assert trees_of_seed(web, random_state=make(5)) == expected


def test_input_order_of_rows_that_are_mixed(web, orders):
    """Queries are sorted by first appearance, and their rows keep their order."""
    rows = orders[0]
    qid = web.qid[rows]
    _, first_rows, codes = np.unique(qid, return_index=True, return_inverse=True)
    gathered = np.argsort(first_rows[codes], kind="stable")

    def trees(rows):
        return trees_of(ranker(row_order="input").fit(**with_order(web, rows)))

    mixed = trees(rows)
    assert mixed == trees(rows[gathered])
    # With "input", the order within queries matters. "canonical" prevents that.
    assert mixed != trees(orders[1])


def test_labels_of_mixed_rows_are_named_by_their_row(web, orders):
    order = orders[0]
    labels = web.target.astype(float)
    labels[order[7]] = 0.5
    with pytest.raises(ValueError, match=r"y must be integers .*0.5 in row 7$"):
        ranker().fit(web.data[order], labels[order], qid=web.qid[order])


def test_labels_in_a_column_are_warned_of(web):
    column = web.target[:, None]
    with pytest.warns(UserWarning, match="y must be 1-dimensional") as caught:
        ranker().fit(web.data, column, qid=web.qid)
    assert len(caught) == 1


# -- metrics


@pytest.fixture
def data_set(web):
    """Return a metric, the labels and sizes of queries, and scores of 0."""
    labels = web.target.copy()
    return eval_metric("ndcg@10"), labels, sizes_of(web), np.zeros(len(labels))


def test_a_data_set_is_prepared_once(web, data_set):
    metric, labels, sizes, scores = data_set
    metric(labels, scores, None, sizes)
    (prepared,) = metric._prepared.values()
    metric(labels, scores + web.data[:, 0], None, sizes)
    assert list(metric._prepared.values()) == [prepared]


def test_an_array_with_other_labels_is_another_data_set(data_set):
    metric, labels, sizes, scores = data_set
    value = metric(labels, scores, None, sizes)
    labels[:] = labels[::-1].copy()
    assert metric(labels, scores, None, sizes) != value


def test_other_groups_are_another_data_set(data_set):
    metric, labels, sizes, scores = data_set
    metric(labels, scores, None, sizes)
    merged = np.r_[sizes[0] + sizes[1], sizes[2:]]
    qid = np.repeat(np.arange(len(merged)), merged)
    expected = ranking_score(labels, scores, qid=qid)
    assert metric(labels, scores, None, merged) == ("NDCG@10", expected, True)


def test_at_most_16_data_sets_are_kept(data_set):
    metric, labels, sizes, scores = data_set
    counts = []
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(labels)
        metric(labels, scores, None, sizes)
        counts.append(len(metric._prepared))
    assert max(counts) == 16


# -- among scikit-learn's tools


def test_weights_of_training_are_routed_on_request(web):
    weight = np.random.default_rng(0).uniform(0.1, 9, len(web.qid))
    cv = QueryKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = ranker().set_fit_request(sample_weight=True)
        weighted.set_score_request(sample_weight=False)
        params = {"qid": web.qid, "sample_weight": weight}
        values = cross_val_score(weighted, web.data, web.target, cv=cv, params=params)

    def refitted(weight):
        values = []
        for train, test in cv.split(web.data, groups=web.qid):
            rows = with_order(web, train)
            model = ranker().fit(**rows, sample_weight=weight[train])
            values.append(model.score(**with_order(web, test)))
        return values

    assert values.tolist() == refitted(weight)
    assert values.tolist() != refitted(np.ones(len(weight)))


# -- errors

FRAME3 = pd.DataFrame(X3, columns=["a", "b", "c"])
DATA_ERRORS = [
    ({"qid": [1, 2]}, r"qid must have one value per row \(3\), got 2"),
    ({"qid": [1, None, 2]}, "qid must not be missing"),
    ({"qid": "qid"}, r"got 'qid': pass the values, such as X\['qid'\]."),
    ({"qid": -1}, r"one value per row, got -1: pass .* X\[:, -1\]."),
    ({"X": X3[:, 0]}, "X must be 2-dimensional"),
    ({"y": [0, 1]}, r"y must have one value per row \(3\)"),
    ({"y": None}, "y must contain the labels of X.* y is None"),
    ({"y": [0, 1, np.nan]}, "y must be judged, got nan in row 2"),
    ({"y": [0, 1, -1]}, "y must be >= 0, got -1.0 in row 2"),
    ({"sample_weight": [1.0]}, r"sample_weight must.* row \(3\), got 1"),
    ({"sample_weight": 2.0}, "sample_weight must be 1-dim"),
    ({"sample_weight": [1, -1.0, 1]}, "sample_weight must be >= 0, got -1.0"),
    ({"init_score": [1.0]}, r"init_score must have.* row \(3\), got 1"),
    ({"init_score": [1, np.nan, 1]}, "init_score must not be NaN.* row 1"),
    ({"eval_qid": Q3}, "eval_X must come with eval_qid, got None"),
]


@pytest.mark.parametrize(("arguments", "message"), DATA_ERRORS)
def test_errors_of_data(arguments, message):
    arguments = {**ROWS3, **arguments}
    with pytest.raises(ValueError, match=message):
        ranker().fit(**arguments)


COLUMN_ERRORS = [
    ("topic", FRAME3, "got 'topic'"),
    (0, X3[:, :1], r"got 0 feature\(s\).* selector"),
]


@pytest.mark.parametrize(("qid", "X", "message"), COLUMN_ERRORS)
def test_errors_of_a_column_of_ids(qid, X, message):
    with pytest.raises(ValueError, match=message):
        ranker(qid=qid).fit(X, Y3)


EVAL_ERRORS = [
    ({"eval_qid": None}, "eval_qid to fit. If the ids are a column of eval_X, use qid"),
    ({"eval_y": None}, "eval_y must contain the labels of eval_X, got N"),
    ({"eval_y": [0, 1, -1]}, "eval_y must be >= 0, got -1.0 in row 2"),
    ({"eval_X": None}, "eval_X must come with eval_y"),
    ({"eval_qid": [1]}, r"eval_qid must have one value per row \(3\)"),
    ({"eval_X": (X3, X3)}, "eval_y must be a tuple with 2 entries, like"),
    ({"eval_X": X3[:, :2]}, "eval_X must.* 3 features, got 2"),
    (
        {"X": FRAME3, "eval_X": FRAME3[["c", "b", "a"]]},
        "eval_X must have.* 'a' as column 0, got 'c'",
    ),
    (
        {"eval_query_weight": [1.0, 2.0, 1.0]},
        "eval_query_weight must be constant within a query, got 1.0 and 2.0",
    ),
    ({"eval_names": ["a", "b"]}, r"eval_names.*each eval.* \(1\)"),
    ({"eval_names": "training"}, 'must have "training" for the train'),
]


@pytest.mark.parametrize(("arguments", "message"), EVAL_ERRORS)
def test_errors_of_an_evaluation_set(arguments, message):
    arguments = {**ROWS3, **EVAL3, **arguments}
    with pytest.raises(ValueError, match=message):
        ranker().fit(**arguments)


TWICE = {name: (value, value) for name, value in EVAL3.items()}
EVAL_SETS_ERRORS = [
    (
        {"eval_query_weight": np.ones(3)},
        "eval_query_weight must be a tuple with 2 entr",
    ),
    (
        {"eval_query_weight": ([1, 1, 1],)},
        "eval_query_weight must be a tuple with 2 entr",
    ),
    ({"eval_names": ["a", "a"]}, r"eval_names.*each eval.* \(2\)"),
]


@pytest.mark.parametrize(("arguments", "message"), EVAL_SETS_ERRORS)
def test_errors_of_two_evaluation_sets(arguments, message):
    with pytest.raises(ValueError, match=message):
        ranker().fit(**ROWS3, **TWICE, **arguments)


def test_the_rows_of_training_are_no_evaluation_set():
    model = ranker(early_stopping_rounds=2)
    message = "evaluation set .*, got none: pass eval_X, eval_y and eval_qid to fit"
    with pytest.raises(ValueError, match=message):
        model.fit(**ROWS3, eval_X=X3, eval_y=Y3, eval_qid=Q3, eval_names="mine")


def test_ids_of_one_evaluation_set_may_be_texts_in_a_list():
    by_number = ranker(n_estimators=2).fit(**ROWS3, **EVAL3)
    texts = {**EVAL3, "eval_qid": ["a", "a", "b"]}
    by_text = ranker(n_estimators=2).fit(**ROWS3, **texts)
    assert by_number.evals_result_ == by_text.evals_result_
