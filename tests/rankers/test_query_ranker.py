"""Query rankers by LightGBM's: their data, their order of rows, their tools."""

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
    no_name = frame.set_axis([None] * frame.shape[1], axis=1)
    np.testing.assert_array_equal(model.predict(no_name), model.predict(frame))
    with pytest.raises(ValueError, match="X has 11 features, but QueryLGBMR"):
        model.predict(frame.drop(columns="clicks"))
    with pytest.raises(ValueError, match=r"2-dimensional, got shape .*Reshape your"):
        model.predict(web.data[0])
    numbers = pd.DataFrame(np.column_stack([web.qid, web.data]))
    model = ranker(qid=0).fit(numbers, web.target)
    with pytest.raises(ValueError, match="in order: 1 as column 0, got 12"):
        model.predict(numbers[numbers.columns[::-1]])


def test_categorical_features_are_counted_with_the_qid_column(web, frame):
    names = web.feature_names
    frame = frame[[*names[:6], "qid", *names[6:]]]
    categories = list(frame.columns[[5, 8]])
    data = frame.to_numpy()
    frame[categories] = web.target[:, None] * [7, 3] % 5

    def trees(categorical_feature):
        model = ranker(qid="qid")
        model.fit(frame, web.target, categorical_feature=categorical_feature)
        return trees_of(model)

    by_index = trees([5, 8])
    assert by_index == trees(categories)
    assert by_index != trees("auto")
    for X, qid, qid_column in [
        (frame, "qid", [6]),
        (frame, "qid", ["qid"]),
        (data, 6, [6]),
        (data, -7, [6]),
    ]:
        with pytest.raises(ValueError, match="must leave out the qid column, got"):
            ranker(qid=qid).fit(X, web.target, categorical_feature=qid_column)


def test_columns_of_x_as_given(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    assert model.feature_names_in_.dtype == object
    assert model.n_features_ == 12
    assert model.feature_name_ == web.feature_names
    *importances, last = model.feature_importances_
    assert last == 0
    gains = model.booster_.feature_importance("split")
    assert importances == gains.tolist()
    model.set_params(importance_type="gain")
    assert model.feature_importances_.sum() > gains.sum()

    array = ranker(qid=-1).fit(frame.to_numpy(), web.target)
    assert array.n_features_in_ == 13
    assert not hasattr(array, "feature_names_in_")
    assert array.feature_importances_[-1] == 0
    for X in (frame.to_numpy(), frame.to_numpy().tolist(), web.data):
        assert np.array_equal(array.predict(X), model.predict(frame))
    for X in (web.data[:, 1:], frame.to_numpy()[:, [0]]):
        with pytest.raises(ValueError, match=r"QueryLGBMRanker is expecting 13 feat"):
            array.predict(X)

    routed = ranker().fit(web.data.tolist(), web.target, qid=web.qid)
    assert routed.n_features_in_ == 12
    assert routed.n_features_ == 12
    assert routed.feature_importances_.dtype.kind == "i"
    numbered = frame.rename(columns={"clicks": 7})
    with pytest.raises(AttributeError, match="X had no column names"):
        _ = ranker(qid="qid").fit(numbered, web.target).feature_names_in_


def test_it_is_fitted_again_and_a_fit_that_fails_leaves_the_last_one(web, frame):
    model = ranker(qid="qid").fit(frame, web.target)
    before = model.predict(frame)
    with pytest.raises(ValueError, match="y must be >= 0"):
        model.fit(frame[["clicks", "qid"]], web.target - 9)
    assert np.array_equal(model.predict(frame), before)
    model.set_params(qid=None).fit(web.data[:, :3], web.target, qid=web.qid)
    assert model.n_features_in_ == len(model.feature_importances_) == 3
    assert not hasattr(model, "feature_names_in_")


# -- the order of rows


@pytest.mark.parametrize("name", ["sample_weight", "init_score"])
def test_weights_and_initial_scores_are_sorted_with_their_rows(web, orders, name):
    """Half of the rows are equal, and only these values tell them apart."""
    X, y = web.data.copy(), web.target.copy()
    X[::2], y[::2] = X[0], 1
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


def test_the_seed_decides_the_order(web):
    """The seed also decides what is drawn. None is a seed, too."""

    def trees(**options):
        return trees_of(ranker(**options).fit(**rows_of(web)))

    default = trees()
    assert trees(random_state=None) == default
    assert trees(random_state=0) == default
    seeded = trees(random_state=1)
    assert seeded != default
    assert trees(seed=1) == seeded
    assert trees(random_seed=1) == seeded
    for make in (np.random.RandomState, np.random.default_rng):
        assert trees(random_state=make(5)) == trees(random_state=make(5))


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


def test_labels_of_mixed_rows_are_named_as_given(web, orders):
    order = orders[0]
    labels = web.target.astype(float)
    labels[order[7]] = 0.5
    with pytest.raises(ValueError, match=r"y must be integers .*0.5 in row 7$"):
        ranker().fit(web.data[order], labels[order], qid=web.qid[order])
    with pytest.warns(UserWarning, match="y must be 1-dimensional") as caught:
        ranker().fit(web.data, web.target[:, None], qid=web.qid)
    assert len(caught) == 1


# -- metrics


def test_a_data_set_is_prepared_once_and_a_few_are_kept(web):
    metric, sizes = eval_metric("ndcg@10"), sizes_of(web)
    labels = web.target.copy()
    scores = np.zeros(len(labels))
    value = metric(labels, scores, None, sizes)
    (prepared,) = metric._prepared.values()
    metric(labels, scores + web.data[:, 0], None, sizes)
    assert [*metric._prepared.values()] == [prepared]
    # other labels or groups in the same place are other data
    labels[:] = labels[::-1].copy()
    assert metric(labels, scores, None, sizes) != value
    merged = np.r_[sizes[0] + sizes[1], sizes[2:]]
    qid = np.repeat(np.arange(len(merged)), merged)
    expected = ranking_score(labels, scores, qid=qid)
    assert metric(labels, scores, None, merged) == ("NDCG@10", expected, True)
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


# -- what is refused

FRAME3 = pd.DataFrame(X3, columns=["a", "b", "c"])
OTHER3 = {"X": FRAME3, "eval_X": FRAME3[["c", "b", "a"]]}
TRAIN3 = {"eval_X": X3, "eval_y": Y3, "eval_qid": Q3, "eval_names": "mine"}
TWICE = {name: (value, value) for name, value in EVAL3.items()}
WEIGHT = "eval_query_weight"


REFUSED = [
    ({}, {"qid": [1, 2]}, r"qid must have one value per row \(3\), got 2"),
    ({}, {"qid": [1, None, 2]}, "qid must not be missing"),
    ({}, {"qid": "qid"}, r"got 'qid' \(pass the values, such as X\['qid'\];"),
    ({}, {"qid": -1}, r"one value per row, got -1 \(pass .* X\[:, -1\];"),
    ({"qid": "topic"}, {"X": FRAME3, "qid": None}, "got 'topic'"),
    ({"qid": 0}, {"X": X3[:, :1], "qid": None}, r"got 0 feature\(s\).* selector"),
    ({}, {"X": X3[:, 0]}, "X must be 2-dimensional"),
    ({}, {"y": [0, 1]}, r"y must have one value per row \(3\)"),
    ({}, {"y": None}, "y must hold the labels of X.* y is None"),
    ({}, {"y": [0, 1, np.nan]}, "y must be judged .* nan in row 2"),
    ({}, {"y": [0, 1, -1]}, "y must be >= 0, got -1.0 in row 2"),
    ({}, {"sample_weight": [1.0]}, r"sample_weight must.* row \(3\), got 1"),
    ({}, {"sample_weight": 2.0}, "sample_weight must be 1-dim"),
    ({}, {"sample_weight": [1, -1.0, 1]}, "sample_weight must be >= 0, got -1.0"),
    ({}, {"init_score": [1.0]}, r"init_score must have.* row \(3\), got 1"),
    ({}, {"init_score": [1, np.nan, 1]}, "init_score must not be NaN.* row 1"),
    ({}, {**EVAL3, "eval_qid": None}, "eval_qid to fit. Or let it.* of eval_X"),
    ({}, {**EVAL3, "eval_y": None}, "eval_y must hold the labels of eval_X, got N"),
    ({}, {"eval_qid": Q3}, "eval_X must come with eval_qid, got None"),
    ({}, {**EVAL3, "eval_y": [0, 1, -1]}, "eval_y must be >= 0, got -1.0 in row 2"),
    ({}, {**EVAL3, "eval_X": None}, "eval_X must come with eval_y"),
    ({}, {**EVAL3, "eval_qid": [1]}, r"eval_qid must have one value per row \(3\)"),
    ({}, {**EVAL3, "eval_X": (X3, X3)}, "eval_y must be a tuple of 2 entries, as"),
    ({}, {**EVAL3, "eval_X": X3[:, :2]}, "eval_X must.* 3 features, got 2"),
    ({}, {**EVAL3, **OTHER3}, "eval_X must have.* 'a' as column 0, got 'c'"),
    (
        {},
        {**EVAL3, WEIGHT: [1.0, 2.0, 1.0]},
        f"{WEIGHT} must be constant within a query, got 1.0 and 2.0",
    ),
    ({}, {**TWICE, WEIGHT: np.ones(3)}, f"{WEIGHT} must be a tuple of 2 entries"),
    ({}, {**TWICE, WEIGHT: ([1, 1, 1],)}, f"{WEIGHT} must be a tuple of 2 entries"),
    ({}, {**EVAL3, "eval_names": ["a", "b"]}, r"eval_names.*each eval.* \(1\)"),
    ({}, {**TWICE, "eval_names": ["a", "a"]}, r"eval_names.*each eval.* \(2\)"),
    ({}, {**EVAL3, "eval_names": "training"}, 'must have "training" for the train'),
    (
        {"early_stopping_rounds": 2},
        TRAIN3,
        "evaluation set .*, got none: pass eval_X, eval_y and eval_qid to fit",
    ),
]


@pytest.mark.parametrize(("options", "arguments", "message"), REFUSED)
def test_invalid_parameters_and_data_are_refused(options, arguments, message):
    with pytest.raises(ValueError, match=message):
        ranker(**options).fit(**ROWS3 | arguments)


def test_ids_of_one_evaluation_set_may_be_texts_in_a_list():
    numbers = ranker(n_estimators=2).fit(**ROWS3, **EVAL3)
    with_texts = EVAL3 | {"eval_qid": ["a", "a", "b"]}
    texts = ranker(n_estimators=2).fit(**ROWS3, **with_texts)
    assert numbers.evals_result_ == texts.evals_result_
