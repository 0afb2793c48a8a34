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


def importance(estimator=TREE, X=X, y=Y, qid=QID, **options):
    options = {"n_repeats": 3, "measures": ["ndcg@5", "esl"], **options}
    return query_permutation_importance(estimator, X, y, qid=qid, **options)


def assert_same(one, other, names=FIGURES):
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("within", [False, True])
def test_against_a_plain_loop(within):
    # rows that are in their canonical order already: one row tells a document
    order = np.lexsort((np.arange(len(Y)), QID))
    X_, y, qid = X[order], Y[order], QID[order]
    found = importance(X=X_, y=y, qid=qid, within_queries=within)
    queries = check_qid(qid, n_rows=len(y))
    queries = by_content(X_, queries, y)
    X_ = X_[queries.order]
    y = y[queries.order]
    rng = np.random.RandomState(0)
    if within:
        by_query = queries.codes
        orders = [np.lexsort((rng.random_sample(len(y)), by_query)) for _ in range(3)]
        assert all((qid[permuted] == qid).all() for permuted in orders)
    else:
        orders = [rng.permutation(len(y)) for _ in range(3)]
    for m, (measure, sign) in enumerate([("ndcg@5", 1), ("esl", -1)]):
        own = {"qid": qid, "measure": measure, "average": None}
        baseline = ranking_score(y, TREE.predict(X_), **own)
        for j in range(4):
            worse = []
            for permutation in orders:
                changed = X_.copy()
                changed[:, j] = X_[permutation, j]
                values = ranking_score(y, TREE.predict(changed), **own)
                worse.append(sign * (baseline - values))
            each = np.mean(worse, axis=0)
            np.testing.assert_allclose(found.differences[:, j, m], each, atol=1e-12)
            assert found.importances[j, m] == pytest.approx(np.nanmean(worse, axis=1))
            there = each[~np.isnan(each)]
            assert found.importances_mean[j, m] == pytest.approx(there.mean())
            test = stats.ttest_1samp(there, 0, alternative="greater")
            assert found.pvalues[j, m] == pytest.approx(test.pvalue)
            interval = stats.ttest_1samp(there, 0).confidence_interval(0.95)
            assert found.interval[j, m] == pytest.approx(list(interval))
    assert found.qid.tolist() == np.unique(qid).tolist()
    assert found.differences.shape == (len(found.qid), 4, 2)


@pytest.mark.parametrize("within", [False, True])
def test_no_row_order_and_no_thread_matters(within):
    options = {"within_queries": within, "random_state": 4}
    scaled = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    order = np.random.default_rng(1).permutation(len(Y))
    for model in (TREE, scaled):
        expected = importance(model, **options)
        found = importance(model, X[order], Y[order], QID[order], n_jobs=2, **options)
        assert_same(expected, found)
    assert (importance(random_state=5).importances != expected.importances).any()


KINDS = {
    "numbers": np.ndarray.tolist,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_matrix,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1]),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_containers_of_all_kinds_are_permuted_and_none_is_changed(kind):
    class Plain(Column):
        def predict(self, X):
            if kind == "arrow":
                X = np.column_stack([np.asarray(column) for column in X.columns])
            elif kind in ("pandas", "polars"):
                X = X.to_numpy()
            return TREE.predict(X)

    given, before = KINDS[kind](X), KINDS[kind](X)
    found = importance(Plain(), given)
    assert_same(importance(), found)
    named = kind in ("pandas", "polars", "arrow")
    assert found.columns == tuple(NAMES if named else ["x0", "x1", "x2", "x3"])
    assert given.equals(before) if named else str(given) == str(before)


def test_arrays_may_be_read_only():
    own = X.copy()
    own.flags.writeable = False
    assert_same(importance(), importance(X=own))


def test_categories_stay_categories():
    colour = pd.Categorical(np.array(["red", "blue"])[(X[:, 1] > 1).astype(int)])
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour, "when": pd.Timestamp(0)})

    class Typed(Column):
        def predict(self, X):
            assert X.dtypes.equals(frame.dtypes)
            return X["colour"].cat.codes

    found = importance(Typed(), frame, measures="ap")
    assert found.importances_mean[[0, 2], 0].tolist() == [0, 0]
    assert found.importances_mean[1, 0] != 0


def test_groups_of_columns():
    # what a column loses does not go by the others
    some, every = importance(columns=[2, 0]), importance()
    np.testing.assert_array_equal(some.importances, every.importances[[2, 0]])
    frame = KINDS["pandas"](X)
    model = sklearn.base.clone(TREE).fit(frame, Y)
    found = importance(model, frame, columns={"first": NAMES[0], "pair": NAMES[1:3]})
    assert found.columns == ("first", "pair")
    listed = importance(model, frame, columns=[NAMES[0], NAMES[1:3]])
    assert listed.columns == (NAMES[0], f"{NAMES[1]}, {NAMES[2]}")
    assert_same(found, listed)
    assert_same(found, importance(columns=[0, [1, 2]]))
    two = pd.DataFrame(X[:, :2], columns=pd.MultiIndex.from_product([["a"], [1, 2]]))
    model = LinearRegression().fit(X[:, :2], Y)
    assert importance(model, two, columns=[("a", 2)]).columns == ("('a', 2)",)


def test_ids_are_never_permuted_and_reach_rankers_that_need_them():
    options = {"n_estimators": 3, "verbosity": -1, "n_jobs": 1}
    frame = pd.DataFrame(X, columns=NAMES).assign(q=QID)
    column = QueryLGBMRanker(qid="q", **options).fit(frame, Y)
    found = importance(column, frame, qid="q")
    assert found.columns == tuple(NAMES)
    plain = QueryLGBMRanker(**options).fit(frame[NAMES], Y, qid=QID)
    assert_same(found, importance(plain, frame[NAMES]), ("baseline",))
    for columns in (["q"], {"ids": [NAMES[0], "q"]}):
        with pytest.raises(ValueError, match=r"columns must .* none of query ids"):
            importance(column, frame, qid="q", columns=columns)
    ranker = CoarseRanker(TREE, "rho=2").fit(X, Y)
    by_hand = ranking_score(Y, ranker.predict(X, qid=QID), qid=QID, measure="ndcg@5")
    assert importance(ranker).baseline[0] == pytest.approx(by_hand, abs=1e-12)


def test_weights_and_queries_left_out():
    weight = (QID % 3).astype(float)
    options = {"query_weight": weight, "zero_relevance": "skip"}
    found = importance(measures="ndcg@5", **options)
    value = ranking_score(Y, TREE.predict(X), qid=QID, measure="ndcg@5", **options)
    assert found.baseline[0] == pytest.approx(value, abs=1e-12)
    per_query = np.array([weight[q == QID][0] for q in found.qid])
    np.testing.assert_array_equal(found.query_weight, per_query)
    lost = found.differences[:, 1, 0]
    there = ~np.isnan(lost)
    mean = np.average(lost[there], weights=per_query[there])
    assert found.importances_mean[1, 0] == pytest.approx(mean)


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
        found = importance(qid=None)
    assert_same(found, importance(qid=0 * QID))
    assert np.isnan(found.interval).all()
    one = importance(X=X[:1], y=Y[:1], qid=QID[:1], within_queries=True)
    assert one.importances_mean.tolist() == [[0, 0]] * 4


WIDE = np.random.default_rng(0).normal(size=(60, 24))
RELEVANT = (WIDE[:, 3] > 0.5).astype(float)


def of_column_3(columns=None, **options):
    options = {"measures": ["ap", "rr"], "n_repeats": 2, "columns": columns, **options}
    return importance(Column(3), WIDE, RELEVANT, np.repeat(np.arange(10), 6), **options)


def test_a_table_per_measure_what_matters_most_on_top():
    result = of_column_3()
    first, second = str(result).split("\n\n")
    head, _, row, *_, last = first.splitlines()
    assert head.split()[:3] == ["AP", f"{result.baseline[0]:.4f}", "loss"]
    assert "holm" in head
    assert row.split()[0] == "x3"
    assert last == "... and 4 more"
    assert second.startswith("RR")
    assert result.ranking[3] == 1
    # corrected for the number of columns, by measure
    least = result.pvalues.min(axis=0)
    assert result.adjusted_pvalues.min(axis=0) == pytest.approx(24 * least)
    alone = str(of_column_3([3], measures="ap", confidence=0.9)).splitlines()[0]
    assert "90% interval" in alone
    assert alone.endswith(" pvalue")
    wide = str(of_column_3({f"{'long ' * 20}{j}": j for j in range(24)}))
    assert max(map(len, wide.splitlines())) <= 80


def test_to_pandas_and_a_pickle():
    result = pickle.loads(pickle.dumps(of_column_3(correction=None)))
    frame = result.to_pandas()
    assert len(frame) == 48
    row = frame[(frame["column"] == "x3") & (frame["measure"] == "RR")].iloc[0]
    assert row.iloc[2:].to_dict() == {
        "importances_mean": result.importances_mean[3, 1],
        "importances_std": result.importances[3, 1].std(),
        "interval_low": result.interval[3, 1, 0],
        "interval_high": result.interval[3, 1, 1],
        **dict.fromkeys(["pvalue", "adjusted_pvalue"], result.pvalues[3, 1]),
    }
    # two queries: an interval that the range of AP cuts
    few = importance(Column(3), WIDE[:12], RELEVANT[:12], np.repeat([0, 1], 6))
    assert np.nanmax(np.abs(few.interval[:, 0])) == 1


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
