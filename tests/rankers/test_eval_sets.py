"""Training and evaluation data: gathered by query, in which order of rows."""

from __future__ import annotations

import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tests.lightgbm.helpers import ranker, rows_of, trees_of
from tieaware_sklearn import ranking_score
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.xgboost import QueryXGBRanker


def test_frames_must_have_the_columns_of_fit(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    other = frame[frame.columns[::-1]]
    model = ranker().fit(frame, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="in order: 'in_degree' as column 0, got"):
        model.predict(other)
    with pytest.raises(ValueError, match="eval_X must have the columns"):
        ranker().fit(
            **{**rows_of(web, web), "X": frame, "eval_X": other},
        )
    fewer = frame.drop(columns="clicks")
    with pytest.raises(ValueError, match="X has 11 features, but QueryLGBMR"):
        model.predict(fewer)


def test_frames_with_numbers_as_names(web):
    frame = pd.DataFrame(np.column_stack([web.qid, web.data]))
    model = ranker(qid=0).fit(frame, web.target)
    with pytest.raises(ValueError, match="in order: 1 as column 0, got 12"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="X must be 2-dimensional"):
        ranker().fit(web.data[:, 0], web.target, qid=web.qid)


def test_several_sets_as_lists(web, valid):
    model = ranker().fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=[valid.data, web.data.copy()],
        eval_y=[valid.target, web.target],
        eval_qid=[valid.qid, web.qid],
    )
    assert list(model.evals_result_) == ["valid_0", "valid_1"]


def test_categorical_features_are_counted_with_the_qid_column(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame.insert(0, "topic", web.qid)
    data = frame.to_numpy()

    def categories(X, qid, wanted):
        model = ranker(qid=qid, min_data_per_group=1, cat_smooth=0.1, n_estimators=20)
        model.fit(X, web.target, categorical_feature=wanted)
        trees = model.booster_.trees_to_dataframe()
        return set(trees[trees.decision_type == "=="].split_feature)

    assert categories(frame, "topic", [5]) == {frame.columns[5]}
    assert categories(frame, "topic", [frame.columns[5]]) == {frame.columns[5]}
    assert categories(data, 0, [5]) == {"Column_4"}
    for X, qid, wanted in ((frame, "topic", [0]), (data, 0, [0]), (data, -13, [0])):
        with pytest.raises(ValueError, match="must leave out the qid column"):
            ranker(qid=qid).fit(X, web.target, categorical_feature=wanted)
    with pytest.raises(ValueError, match="must leave out the qid column, got 'topic'"):
        ranker(qid="topic").fit(frame, web.target, categorical_feature=["topic"])


@pytest.fixture(scope="module")
def orders(web):
    """Orders of all rows: mixed, by label, and with queries turned round."""
    rng = np.random.default_rng(0)
    return [
        rng.permutation(len(web.qid)),
        np.lexsort([-web.target, web.qid]),
        np.lexsort([web.target, -web.qid]),
    ]


def with_order(data, rows):
    return {"X": data.data[rows], "y": data.target[rows], "qid": data.qid[rows]}


def moved_by_one_unit(X, rng):
    """Each twentieth cell goes to the next float, up or down."""
    to = np.where(rng.random(X.shape) < 0.5, np.inf, -np.inf)
    return np.where(rng.random(X.shape) < 0.05, np.nextafter(X, to), X)


#: what no tree sees
UNSEEN = {
    "constant": lambda X, rng: np.column_stack([X, np.ones(len(X))]),
    "scaled": lambda X, rng: X * 2.0 ** rng.integers(-3, 4, X.shape[1]),
    "float32": lambda X, rng: X.astype(np.float32),
    "one unit": moved_by_one_unit,
}


@pytest.mark.parametrize("change", UNSEEN)
@pytest.mark.parametrize(
    ("Ranker", "options"),
    [
        (QueryLGBMRanker, {"verbosity": -1}),
        (QueryXGBRanker, {}),
        (QueryCatBoostRanker, {"verbose": 0, "allow_writing_files": False}),
    ],
)
def test_what_no_tree_sees_changes_no_bit(web, orders, Ranker, options, change):
    data = np.float32(web.data).astype(float)
    rng = np.random.default_rng(0)
    changed = UNSEEN[change](data, rng)
    rows = orders[0]
    one, two = (Ranker(n_estimators=5, **options) for _ in range(2))
    one.fit(data, web.target, qid=web.qid)
    two.fit(changed[rows], web.target[rows], qid=web.qid[rows])
    expected = one.predict(data)
    assert len(set(expected)) > 20
    # thresholds have moved by no more than the cells of their bins
    found = two.predict(data if change == "one unit" else changed)
    np.testing.assert_array_equal(found, expected)


def test_the_order_of_rows_is_a_seed_of_lightgbm(web, orders):
    """What "canonical" is for: were it gone, there would be no need."""
    trees = set()
    for rows in orders[1:]:
        given = with_order(web, rows)
        trees.add(trees_of(ranker(row_order="input").fit(**given)))
    assert len(trees) == 2


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"random_state": 3, "subsample": 0.7, "subsample_freq": 1},
        {"objective": "rank_xendcg", "random_state": 1},
        {"objective": "regression"},
        {"boosting_type": "dart"},
    ],
)
def test_any_order_gives_the_same_bits(web, orders, options):
    plain = trees_of(ranker(**options).fit(**rows_of(web)))
    for rows in orders:
        assert trees_of(ranker(**options).fit(**with_order(web, rows))) == plain


def test_weights_and_scores_to_start_from_go_along(web, orders):
    rng = np.random.default_rng(1)
    # equal rows, which only their weights tell apart
    X = web.data.copy()
    X[::2] = X[0]
    y = web.target.copy()
    y[::2] = 1
    weight, start = rng.uniform(1, 2, len(y)), rng.normal(size=len(y))

    def trees(rows, **more):
        return trees_of(ranker().fit(X[rows], y[rows], qid=web.qid[rows], **more))

    everything = np.arange(len(y))
    for values in (
        {"sample_weight": weight},
        {"init_score": start},
        {"sample_weight": weight, "init_score": start},
    ):
        plain = trees(everything, **values)
        for rows in orders:
            cut = {name: value[rows] for name, value in values.items()}
            assert trees(rows, **cut) == plain
    ones = {"sample_weight": np.ones(len(y))}
    assert trees(orders[0], **ones) == trees(everything)


@pytest.mark.parametrize(
    "make",
    [
        np.ndarray.tolist,
        np.float32,
        pd.DataFrame,
        pl.DataFrame,
        lambda X: pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}),
        sp.csr_array,
        sp.csc_matrix,
    ],
    ids=["list", "float32", "pandas", "polars", "arrow", "csr", "csc"],
)
def test_all_containers_have_one_order(web, orders, make):
    # numbers that 32 bits hold
    X = np.round(web.data.astype(float) * 8) / 8
    plain = ranker().fit(X, web.target, qid=web.qid)
    rows = orders[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ranker().fit(make(X[rows]), web.target[rows], qid=web.qid[rows])
        np.testing.assert_array_equal(model.predict(make(X)), plain.predict(X))


@pytest.mark.parametrize("measure", ["ndcg@10", "err@5"])
def test_early_stopping_by_the_same_bits(web, valid, orders, measure):
    """Stopping and LightGBM's own metric, which goes by the order of rows."""
    options = {"early_stopping_rounds": 5, "n_estimators": 60, "metric": "ndcg"}
    found = set()
    rng = np.random.default_rng(2)
    for rows in (np.arange(len(web.qid)), *orders):
        shuffled = rng.permutation(len(valid.qid))
        seen = with_order(valid, shuffled)
        model = ranker(**options).fit(
            **with_order(web, rows),
            **{f"eval_{name}": values for name, values in seen.items()},
            eval_metric=measure,
        )
        assert model.best_iteration_ < 60
        found.add((trees_of(model), str(model.evals_result_), model.best_iteration_))
    assert len(found) == 1


def test_labels_of_mixed_rows_are_named_as_given(web, orders):
    order = orders[0]
    labels = web.target.astype(float)
    labels[order[7]] = 0.5
    with pytest.raises(ValueError, match=r"y must be integers .*0.5 in row 7$"):
        ranker().fit(web.data[order], labels[order], qid=web.qid[order])


def test_a_column_of_labels_is_warned_of_once(web):
    with pytest.warns(UserWarning, match="y must be 1-dimensional") as caught:
        ranker().fit(web.data, web.target[:, None], qid=web.qid)
    assert len(caught) == 1


def test_the_seed_decides_the_order(web):
    """As it does what is drawn; None is a seed, too."""
    rows = rows_of(web)
    trees = [trees_of(ranker(random_state=seed).fit(**rows)) for seed in (0, 1, None)]
    assert trees[0] != trees[1]
    assert trees[0] == trees[2]
    for name in ("seed", "random_seed"):
        assert trees_of(ranker(**{name: 1}).fit(**rows)) == trees[1]
    for make in (np.random.RandomState, np.random.default_rng):
        first, again = (
            trees_of(ranker(random_state=make(5)).fit(**rows)) for _ in range(2)
        )
        assert first == again


def test_input_order_is_that_of_lightgbm(web, valid):
    """The very trees of LGBMRanker, whatever the order of the ids."""
    # queries from last to first, rows of each as they are
    rows = np.argsort(-web.qid, kind="stable")
    given = with_order(web, rows)
    ids = np.array([f"q{q % 7}-{q}" for q in given["qid"]], dtype=object)
    sizes = np.unique(web.qid, return_counts=True)[1][::-1]
    weight = np.random.default_rng(0).uniform(1, 2, len(ids))
    options = {"n_estimators": 8, "num_leaves": 4, "verbosity": -1, "n_jobs": 1}
    for state in (None, 3, np.random.RandomState):
        seeds = [state(1) if callable(state) else state for _ in range(2)]
        theirs = lgb.LGBMRanker(random_state=seeds[0], subsample=0.5, **options)
        theirs.fit(given["X"], given["y"], group=sizes, sample_weight=weight)
        ours = QueryLGBMRanker(
            random_state=seeds[1], subsample=0.5, row_order="input", **options
        )
        ours.fit(given["X"], given["y"], qid=ids, sample_weight=weight)
        assert trees_of(ours) == trees_of(theirs)
        np.testing.assert_array_equal(
            ours.predict(valid.data), theirs.predict(valid.data)
        )


def test_input_order_of_rows_that_are_mixed(web, orders):
    """Queries by first appearance, rows of each in their order."""
    rows = orders[0]
    first = {q: place for place, q in reversed([*enumerate(web.qid[rows])])}
    gathered = np.argsort([first[q] for q in web.qid[rows]], kind="stable")
    mixed, stood = (with_order(web, r) for r in (rows, rows[gathered]))
    trees = [trees_of(ranker(row_order="input").fit(**d)) for d in (mixed, stood)]
    assert trees[0] == trees[1]


def test_rows_of_the_training_data_that_are_evaluated(web, orders):
    model = ranker().fit(**with_order(web, orders[0]), **{
        f"eval_{name}": values for name, values in with_order(web, orders[1]).items()
    })  # fmt: skip
    expected = ranking_score(web.target, model.predict(web.data), qid=web.qid)
    assert model.evals_result_["valid_0"]["NDCG@10"][-1] == expected


def test_other_orders_are_refused(web):
    with pytest.raises(ValueError, match=r"row_order must be .*got 'sorted'"):
        ranker(row_order="sorted").fit(**rows_of(web))


@pytest.mark.parametrize(
    "Ranker", [QueryLGBMRanker, QueryXGBRanker, QueryCatBoostRanker]
)
def test_ids_alone_are_no_features(Ranker):
    X = np.array([[1], [1], [2], [2]])
    with pytest.raises(ValueError, match=r"got 0 feature\(s\) .* selector before"):
        Ranker(qid=0).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "Ranker", [QueryLGBMRanker, QueryXGBRanker, QueryCatBoostRanker]
)
def test_training_data_stop_nothing_by_any_name(Ranker, web):
    own = rows_of(web)
    sets = {f"eval_{name}": [values] for name, values in own.items()}
    model = Ranker(n_estimators=3, early_stopping_rounds=2)
    with pytest.raises(ValueError, match="early_stopping_rounds needs an evaluation"):
        model.fit(**own, **sets, eval_names=["mine"])
