"""Permutation importance: against plain loops, scikit-learn, and in any row order."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse, stats
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tests.model_selection.helpers import Column
from tieaware_sklearn import query_permutation_importance, ranking_score
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._engine.row_order import by_content
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker

WEB = make_web_search(n_queries=20, n_documents=8, shuffle=True, random_state=3)
# counts: equal ones tie
X, Y, QID = WEB.data[:, :4].round(0), WEB.target, WEB.qid
NAMES = WEB.feature_names[:4]
TREE = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, Y)
FIGURES = ("baseline", "importances", "importances_mean", "interval", "pvalues")
FIGURES += ("adjusted_pvalues", "differences")


def importance(
    estimator=TREE,
    X=X,
    y=Y,
    qid=QID,
    n_repeats=3,
    measures=("ndcg@5", "esl"),
    **options,
):
    return query_permutation_importance(
        estimator, X, y, qid=qid, n_repeats=n_repeats, measures=measures, **options
    )


def assert_same(result, expected, names=FIGURES):
    for name in names:
        values = getattr(result, name)
        np.testing.assert_array_equal(values, getattr(expected, name), name)


@pytest.mark.parametrize("within", [False, True])
def test_against_a_plain_loop(within):
    # rows in their canonical order: a row number identifies a document
    order = np.lexsort((np.arange(len(Y)), QID))
    X_, y, qid = X[order], Y[order], QID[order]
    result = importance(X=X_, y=y, qid=qid, within_queries=within)
    queries = check_qid(qid, n_rows=len(y))
    queries = by_content(X_, queries, y)
    X_ = X_[queries.order]
    y = y[queries.order]
    rng = np.random.RandomState(0)
    permutations = []
    for _ in range(3):
        if within:
            permutation = np.lexsort((rng.random_sample(len(y)), queries.codes))
            assert (qid[permutation] == qid).all()
        else:
            permutation = rng.permutation(len(y))
        permutations.append(permutation)
    for m, (measure, sign) in enumerate([("ndcg@5", 1), ("esl", -1)]):
        options = {"qid": qid, "measure": measure, "average": None}
        baseline = ranking_score(y, TREE.predict(X_), **options)
        for j in range(4):
            losses = []
            for permutation in permutations:
                permuted = X_.copy()
                permuted[:, j] = X_[permutation, j]
                values = ranking_score(y, TREE.predict(permuted), **options)
                losses.append(sign * (baseline - values))
            importances = np.nanmean(losses, axis=1)
            assert result.importances[j, m] == pytest.approx(importances)
            differences = np.mean(losses, axis=0)
            np.testing.assert_allclose(
                result.differences[:, j, m], differences, atol=1e-12
            )
            defined = differences[~np.isnan(differences)]
            assert result.importances_mean[j, m] == pytest.approx(defined.mean())
            test = stats.ttest_1samp(defined, 0, alternative="greater")
            assert result.pvalues[j, m] == pytest.approx(test.pvalue)
            interval = stats.ttest_1samp(defined, 0).confidence_interval(0.95)
            assert result.interval[j, m] == pytest.approx(list(interval))
    assert result.qid.tolist() == np.unique(qid).tolist()
    assert result.differences.shape == (len(result.qid), 4, 2)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize(
    "model",
    [TREE, make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)],
    ids=["tree", "scaled"],
)
def test_no_row_order_and_no_thread_matters(model, within):
    order = np.random.default_rng(1).permutation(len(Y))
    options = {"within_queries": within, "random_state": 4}
    expected = importance(model, **options)
    result = importance(model, X[order], Y[order], QID[order], n_jobs=2, **options)
    assert_same(result, expected)


def test_the_seed_matters():
    first = importance(random_state=4)
    second = importance(random_state=5)
    assert (first.importances != second.importances).any()


def to_pandas(X):
    return pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1])


def to_polars(X):
    return pl.DataFrame(X, schema=NAMES)


def to_arrow(X):
    return pa.table(dict(zip(NAMES, X.T, strict=True)))


class ArrayTree(Column):
    """The tree, which reads any container."""

    def predict(self, X):
        if isinstance(X, pa.Table):
            X = np.column_stack([np.asarray(column) for column in X.columns])
        elif isinstance(X, pd.DataFrame | pl.DataFrame):
            X = X.to_numpy()
        return TREE.predict(X)


@pytest.mark.parametrize("convert", [to_pandas, to_polars, to_arrow])
def test_frames_are_permuted_and_not_changed(convert):
    frame = convert(X)
    result = importance(ArrayTree(), frame)
    assert_same(result, importance())
    assert result.columns == tuple(NAMES)
    assert frame.equals(convert(X))


@pytest.mark.parametrize(
    "convert",
    [np.ndarray.tolist, sparse.csr_array, sparse.csc_array, sparse.coo_matrix],
)
def test_matrices_are_permuted_and_not_changed(convert):
    matrix = convert(X)
    result = importance(ArrayTree(), matrix)
    assert_same(result, importance())
    assert result.columns == ("x0", "x1", "x2", "x3")
    assert str(matrix) == str(convert(X))


def test_arrays_may_be_read_only():
    read_only = X.copy()
    read_only.flags.writeable = False
    assert_same(importance(X=read_only), importance())


def test_categories_stay_categories():
    is_blue = (X[:, 1] > 1).astype(int)
    colour = pd.Categorical.from_codes(is_blue, ["red", "blue"])
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour, "when": pd.Timestamp(0)})

    class Typed(Column):
        def predict(self, X):
            assert X.dtypes.equals(frame.dtypes)
            return X["colour"].cat.codes

    result = importance(Typed(), frame, measures="ap")
    assert result.importances_mean[[0, 2], 0].tolist() == [0, 0]
    assert result.importances_mean[1, 0] != 0


def test_the_importance_of_a_column_does_not_depend_on_the_other_columns():
    all_columns = importance()
    subset = importance(columns=[2, 0])
    np.testing.assert_array_equal(subset.importances, all_columns.importances[[2, 0]])


def test_groups_of_columns():
    frame = to_pandas(X)
    model = sklearn.base.clone(TREE).fit(frame, Y)
    pair = NAMES[1:3]
    named = importance(model, frame, columns={"first": NAMES[0], "pair": pair})
    assert named.columns == ("first", "pair")
    listed = importance(model, frame, columns=[NAMES[0], pair])
    assert listed.columns == (NAMES[0], ", ".join(pair))
    assert_same(named, listed)
    by_index = importance(columns=[0, [1, 2]])
    assert_same(named, by_index)


def test_a_column_of_a_multi_index_is_named_by_its_tuple():
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    frame = pd.DataFrame(X[:, :2], columns=names)
    model = LinearRegression().fit(X[:, :2], Y)
    result = importance(model, frame, columns=[("a", 2)])
    assert result.columns == ("('a', 2)",)


def test_ids_are_never_permuted():
    options = {"n_estimators": 3, "verbosity": -1, "n_jobs": 1}
    features = pd.DataFrame(X, columns=NAMES)
    frame = features.assign(q=QID)
    by_column = QueryLGBMRanker(qid="q", **options).fit(frame, Y)
    result = importance(by_column, frame, qid="q")
    assert result.columns == tuple(NAMES)
    plain = QueryLGBMRanker(**options).fit(features, Y, qid=QID)
    expected = importance(plain, features)
    np.testing.assert_array_equal(result.baseline, expected.baseline)
    for columns in (["q"], {"ids": [NAMES[0], "q"]}):
        with pytest.raises(ValueError, match=r"columns must .* none of query ids"):
            importance(by_column, frame, qid="q", columns=columns)


def test_ids_reach_rankers_that_need_them():
    ranker = CoarseRanker(TREE, "rho=2").fit(X, Y)
    scores = ranker.predict(X, qid=QID)
    expected = ranking_score(Y, scores, qid=QID, measure="ndcg@5")
    assert importance(ranker).baseline[0] == pytest.approx(expected, abs=1e-12)


def test_weights_and_queries_left_out():
    weight = (QID % 3).astype(float)
    options = {"query_weight": weight, "zero_relevance": "skip"}
    result = importance(measures="ndcg@5", **options)
    value = ranking_score(Y, TREE.predict(X), qid=QID, measure="ndcg@5", **options)
    assert result.baseline[0] == pytest.approx(value, abs=1e-12)
    query_weight = result.qid % 3
    np.testing.assert_array_equal(result.query_weight, query_weight)
    losses = result.differences[:, 1, 0]
    is_defined = ~np.isnan(losses)
    mean = np.average(losses[is_defined], weights=query_weight[is_defined])
    assert result.importances_mean[1, 0] == pytest.approx(mean)


def test_settings_of_scikit_learn_reach_the_threads(capsys):
    class Framed(Column):
        def predict(self, X):
            assert sklearn.get_config()["transform_output"] == "pandas"
            return X[:, 0]

    with sklearn.config_context(transform_output="pandas"):
        importance(Framed(), n_jobs=2, progress=True)
    assert "permuting: 100%" in capsys.readouterr().err


def test_without_ids_all_rows_are_one_query():
    with pytest.warns(UserWarning, match=r"without qid, all \d+ rows .*: pass qid"):
        result = importance(qid=None)
    assert_same(result, importance(qid=np.zeros(len(Y))))
    assert np.isnan(result.interval).all()


def test_a_single_row_has_no_importance():
    result = importance(X=X[:1], y=Y[:1], qid=QID[:1], within_queries=True)
    assert result.importances_mean.tolist() == [[0, 0], [0, 0], [0, 0], [0, 0]]


WIDE = np.random.default_rng(0).normal(size=(60, 24))
RELEVANT = (WIDE[:, 3] > 0.5).astype(float)


def of_column_3(columns=None, measures=("ap", "rr"), **options):
    return query_permutation_importance(
        Column(3),
        WIDE,
        RELEVANT,
        qid=np.repeat(np.arange(10), 6),
        measures=measures,
        n_repeats=2,
        columns=columns,
        **options,
    )


def test_a_table_per_measure_with_the_most_important_column_first():
    result = of_column_3()
    first, second = str(result).split("\n\n")
    head, _, row, *_, last = first.splitlines()
    assert head.split()[:3] == ["AP", f"{result.baseline[0]:.4f}", "loss"]
    assert "holm" in head
    assert row.split()[0] == "x3"
    assert last == "... and 4 more"
    assert second.startswith("RR")
    assert result.ranking[3] == 1


def test_pvalues_are_corrected_for_the_number_of_columns_by_measure():
    result = of_column_3()
    least = result.pvalues.min(axis=0)
    assert result.adjusted_pvalues.min(axis=0) == pytest.approx(24 * least)


def test_the_table_of_a_single_column_has_no_adjusted_pvalue():
    table = str(of_column_3([3], measures="ap", confidence=0.9))
    head = table.splitlines()[0]
    assert "90% interval" in head
    assert head.endswith(" pvalue")


def test_long_names_do_not_widen_the_table():
    long = "long " * 20
    table = str(of_column_3({f"{long}{j}": j for j in range(24)}))
    widths = [len(line) for line in table.splitlines()]
    assert max(widths) <= 80


def test_to_pandas_and_a_pickle():
    result = pickle.loads(pickle.dumps(of_column_3(correction=None)))
    frame = result.to_pandas()
    assert len(frame) == 48
    by_column = frame.set_index(["column", "measure"])
    low, high = result.interval[3, 1]
    assert by_column.loc[("x3", "RR")].to_dict() == {
        "importances_mean": result.importances_mean[3, 1],
        "importances_std": result.importances[3, 1].std(),
        "interval_low": low,
        "interval_high": high,
        "pvalue": result.pvalues[3, 1],
        "adjusted_pvalue": result.pvalues[3, 1],
    }


def test_the_range_of_the_measure_cuts_the_interval():
    qid = np.repeat([0, 1], 6)
    result = importance(Column(3), WIDE[:12], RELEVANT[:12], qid)
    assert np.nanmax(np.abs(result.interval[:, 0])) == 1


BAD_INPUT = [
    ({"columns": [4]}, "columns must be the index of one of the 4 columns"),
    ({"columns": "x0"}, "columns must be a list or a mapping of .*got 'x0'"),
    ({"columns": ["a"]}, "columns must be an index where X has no column .*'a'$"),
    ({"columns": []}, r"at least one entry, and different names, got \[\]"),
    ({"columns": [0, 0]}, r"different names, got \['x0', 'x0'\]"),
    ({"columns": {"none": []}}, "at least one column in each group, .* got 'none'"),
    ({"columns": {"both": [1, 1]}}, "each column once and .* got 'both'"),
    ({"n_repeats": 0}, "n_repeats must be an integer >= 1"),
    ({"within_queries": "yes"}, "within_queries must be True or False"),
    ({"correction": "bonferroni"}, "correction must be one of"),
    ({"confidence": 95}, "confidence must be a number in"),
    ({"response_method": "transform"}, "response_method must be one of"),
    ({"y": Y[1:]}, "y must have one value per row"),
    ({"X": X[:, 0]}, r"X must be 2-dimensional, got shape \(151,\)"),
    ({"qid": QID[1:]}, "qid must have one value per row"),
    ({"qid": "q"}, "qid must be an index where X has no column names"),
    ({"measures": "npcg"}, "npcg"),
]


@pytest.mark.parametrize(("options", "message"), BAD_INPUT)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        importance(**options)
