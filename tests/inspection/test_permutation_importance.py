"""Permutation importance: against plain loops, scikit-learn, and in any row order."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse, stats
from sklearn.compose import make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tests.model_selection.helpers import Column
from tieaware_sklearn import query_permutation_importance, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.inspection import _permutation_importance as module
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


def canonical(X, y, qid):
    """The rows in the order in which they are permuted."""
    rows = module.QueryRows.of(X, y, qid)
    return rows.sorted(module.by_content(X, rows.queries, rows.labels))


def assert_same(one, other, names=FIGURES):
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("within", [False, True])
def test_against_a_plain_loop(within):
    # rows that are in their canonical order already: one row tells a document
    order = np.lexsort((np.arange(len(Y)), QID))
    X_, y, qid = X[order], Y[order], QID[order]
    found = importance(X=X_, y=y, qid=qid, within_queries=within)
    n_queries = len(np.unique(qid))
    ordered = canonical(X_, y, qid)
    X_, y = ordered.X, ordered.labels
    rows = module.permutations(
        ordered.queries, 3, np.random.RandomState(0), within=within
    )
    for m, (measure, sign) in enumerate([("ndcg@5", 1), ("esl", -1)]):

        def values(X_, measure=measure):
            return ranking_score(
                y, TREE.predict(X_), qid=qid, measure=measure, average=None
            )

        for j in range(4):
            worse = []
            for permutation in rows:
                changed = X_.copy()
                for row, other in enumerate(permutation):
                    assert not within or qid[row] == qid[other]
                    changed[row, j] = X_[other, j]
                worse.append(sign * (values(X_) - values(changed)))
            each = np.mean(worse, axis=0)
            assert found.differences[:, j, m] == pytest.approx(
                each, abs=1e-12, nan_ok=True
            )
            assert found.importances[j, m] == pytest.approx(np.nanmean(worse, axis=1))
            there = each[~np.isnan(each)]
            assert found.importances_mean[j, m] == pytest.approx(there.mean())
            test = stats.ttest_1samp(there, 0, alternative="greater")
            assert found.pvalues[j, m] == pytest.approx(test.pvalue)
            interval = stats.ttest_1samp(there, 0).confidence_interval(0.95)
            assert found.interval[j, m] == pytest.approx(list(interval))
    assert found.qid.tolist() == np.unique(qid).tolist()
    assert found.differences.shape == (n_queries, 4, 2)


def test_scikit_learns_own_on_one_query(monkeypatch):
    """With its permutations, which it composes anew for every repeat."""
    ordered = canonical(X, Y, None)
    X_, y = ordered.X, ordered.labels
    theirs = permutation_importance(
        TREE,
        X_,
        y,
        scoring=lambda model, X, y: ranking_score(y, model.predict(X)),
        n_repeats=4,
        random_state=7,
    )

    def composed(queries, number, rng, *, within):
        seed = rng.randint(np.iinfo(np.int32).max + 1)
        rng, rows, order = np.random.RandomState(seed), [], np.arange(queries.n_rows)
        place = order.copy()
        for _ in range(number):
            rng.shuffle(order)
            place = place[order]
            rows.append(place)
        return rows

    monkeypatch.setattr(module, "permutations", composed)
    with pytest.warns(UserWarning, match=r"without qid, all \d+ rows .*: pass qid"):
        ours = importance(qid=None, n_repeats=4, random_state=7, measures="ndcg@10")
    np.testing.assert_allclose(ours.importances[:, 0], theirs.importances, atol=1e-12)
    np.testing.assert_allclose(
        ours.importances_std[:, 0], theirs.importances_std, atol=1e-12
    )
    assert np.isnan(ours.interval).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("within", [False, True])
def test_no_row_order_and_no_thread_matters(within, n_jobs):
    options = {"within_queries": within, "random_state": 4}
    scaled = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    for model in (TREE, scaled):
        expected = importance(model, **options)
        order = np.random.default_rng(n_jobs).permutation(len(Y))
        found = importance(
            model, X[order], Y[order], QID[order], n_jobs=n_jobs, **options
        )
        assert_same(expected, found)
    assert (importance(random_state=5).importances != expected.importances).any()


def test_what_a_column_loses_does_not_go_by_the_others():
    expected = importance()
    some = importance(columns=[2, 0])
    assert some.columns == ("x2", "x0")
    np.testing.assert_array_equal(some.importances, expected.importances[[2, 0]])


def test_containers_of_all_kinds_and_none_is_changed():
    expected = importance()
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(len(Y))[::-1])
    fitted = DecisionTreeRegressor(max_depth=5, random_state=0).fit(frame, Y)
    before = frame.copy()
    found = importance(fitted, frame)
    pd.testing.assert_frame_equal(frame, before)
    assert_same(expected, found)
    assert found.columns == tuple(NAMES)
    assert_same(expected, importance(fitted, pl.from_pandas(frame)))
    twice = frame.set_axis([NAMES[0], *[NAMES[1]] * (len(NAMES) - 1)], axis=1)
    names_of = {"columns": [NAMES[0]]}
    assert_same(
        importance(Column(NAMES[0]), frame, **names_of),
        importance(Column(NAMES[0]), twice, **names_of),
    )
    own = X.copy()
    own.flags.writeable = False
    assert_same(expected, importance(X=own))
    assert_same(expected, importance(X=X.tolist(), y=Y.tolist(), qid=QID.tolist()))
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_matrix):
        matrix = kind(X)
        assert_same(expected, importance(X=matrix))
        assert (matrix.toarray() == X).all()

    class OfArrow(Column):
        def predict(self, X):
            return TREE.predict(np.column_stack([np.asarray(c) for c in X.columns]))

    table = pa.table(dict(zip(NAMES, X.T, strict=True)))
    assert_same(expected, importance(OfArrow(), table))


def test_categories_stay_categories():
    rng = np.random.default_rng(0)
    names = np.array(["red", "green", "blue"])
    colour = pd.Categorical(names[rng.integers(0, 3, len(Y))])
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour, "when": pd.Timestamp(0)})

    class Typed(Column):
        def predict(self, X):
            assert X.dtypes.equals(frame.dtypes)
            return X["size"] + (X["colour"] == "red")

    assert importance(Typed(), frame).importances_mean[2].tolist() == [0, 0]
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="drop")
    model = make_pipeline(encode, LogisticRegression()).fit(frame, Y > 0)
    # a classifier ranks by its probabilities
    found = importance(model, frame, measures="ap")
    assert found.importances_mean[0, 0] == 0
    assert found.importances_mean[1, 0] != 0


def test_groups_of_columns():
    frame = pd.DataFrame(X, columns=NAMES)
    model = TREE.__class__(max_depth=5, random_state=0).fit(frame, Y)
    groups = {"first": NAMES[0], "pair": NAMES[1:3]}
    found = importance(model, frame, columns=groups)
    assert found.columns == ("first", "pair")
    listed = importance(model, frame, columns=[NAMES[0], NAMES[1:3]])
    assert listed.columns == (NAMES[0], f"{NAMES[1]}, {NAMES[2]}")
    assert_same(found, listed)
    assert_same(found, importance(columns=[0, [1, 2]]))
    twins = np.c_[X[:, 0], X[:, 0]]
    model = LinearRegression().fit(twins, Y)
    two = pd.DataFrame(twins, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert importance(model, two, columns=[("a", 2)]).columns == ("('a', 2)",)


def test_features_of_queries_lose_nothing_within_queries():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, size=21)[QID].astype(float)
    # documents rank by one column or by the other, as the query wants
    model = Column()
    model.predict = lambda X: np.where(X[:, 0] > 0, X[:, 1], X[:, 2])
    score = np.where(kind > 0, X[:, 1], X[:, 2])
    y = (score > np.median(score)).astype(float)
    data = np.c_[kind, X[:, 1:3]]
    assert (
        importance(model, data, y, within_queries=True).importances_mean[0].max() == 0
    )
    assert importance(model, data, y).importances_mean[0, 0] > 0.02


def test_ids_from_a_column_are_never_permuted():
    column = QueryLGBMRanker(qid="q", n_estimators=3, verbosity=-1, n_jobs=1)
    frame = pd.DataFrame(X, columns=NAMES).assign(q=QID)
    column.fit(frame, Y)
    found = importance(column, frame, qid="q")
    assert found.columns == tuple(NAMES)
    plain = QueryLGBMRanker(n_estimators=3, verbosity=-1, n_jobs=1)
    plain.fit(frame[NAMES], Y, qid=QID)
    assert_same(found, importance(plain, frame[NAMES]), ("baseline",))
    for columns in (["q"], {"ids": [NAMES[0], "q"]}):
        with pytest.raises(ValueError, match=r"columns must .* none of query ids"):
            importance(column, frame, qid="q", columns=columns)


def test_rankers_that_need_queries_are_given_them():
    ranker = CoarseRanker(TREE, "levels=3").fit(X, Y)
    found = importance(ranker)
    by_hand = ranking_score(Y, ranker.predict(X, qid=QID), qid=QID, measure="ndcg@5")
    assert found.baseline[0] == pytest.approx(by_hand, abs=1e-12)


def test_weights_and_queries_left_out():
    weight = (QID % 3).astype(float)
    found = importance(query_weight=weight, zero_relevance="skip", measures="ndcg@5")
    value = ranking_score(
        Y, TREE.predict(X), qid=QID, measure="ndcg@5", query_weight=weight,
        zero_relevance="skip",
    )  # fmt: skip
    assert found.baseline[0] == pytest.approx(value, abs=1e-12)
    per_query = np.array([weight[q == QID][0] for q in found.qid])
    np.testing.assert_array_equal(found.query_weight, per_query)
    lost = found.differences[:, 1, 0]
    there = ~np.isnan(lost)
    assert found.importances_mean[1, 0] == pytest.approx(
        np.average(lost[there], weights=per_query[there])
    )


def test_settings_of_scikit_learn_reach_the_threads():
    class Framed(Column):
        def predict(self, X):
            assert sklearn.get_config()["transform_output"] == "pandas"
            return X[:, 0]

    with sklearn.config_context(transform_output="pandas"):
        importance(Framed(), n_jobs=2)


def test_progress(capsys):
    importance(progress=True)
    assert "permuting: 100%" in capsys.readouterr().err


def test_one_document_and_a_pickle():
    found = importance(X=X[:1], y=Y[:1], qid=QID[:1], within_queries=True)
    assert (
        found.importances_mean.tolist() == [[0, 0]] * 4
        or np.isnan(found.importances_mean[:, 1]).all()
    )
    again = pickle.loads(pickle.dumps(importance()))
    assert_same(again, importance())
    assert str(again) == str(importance())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"columns": [4]},
            "columns must be the index of one of the 4 columns",
        ),
        ({"columns": "x0"}, "columns must be a list or a mapping of .*got 'x0'"),
        ({"columns": 0}, "columns must be a list or a mapping of columns, got 0"),
        ({"columns": ["a"]}, "columns must be an index where X has no column .*'a'$"),
        (
            {"columns": []},
            r"at least one entry, and different names, got \[\]",
        ),
        ({"columns": [0, 0]}, r"different names, got \['x0', 'x0'\]"),
        ({"columns": {"none": []}}, "at least one column in each group, .* got 'none'"),
        (
            {"columns": {"both": [1, 1]}},
            "each column once and .* got 'both'",
        ),
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
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        importance(**options)
