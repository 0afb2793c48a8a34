"""Split queries are refused, other queries and training scores are not."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import QueryKFold
from tieaware_sklearn._engine import fitted_queries
from tieaware_sklearn._engine.digests import value_bits
from tieaware_sklearn._engine.fitted_queries import FittedQueries, check_whole_queries
from tieaware_sklearn._engine.qid_column import split_qid_column, take_rows
from tieaware_sklearn._engine.validation import check_qid
from tieaware_sklearn.score_precision import CoarseRanker

IDS = {
    "numbered": lambda q: q,
    "from one": lambda q: q + 1,
    "floats": lambda q: q.astype(float),
    "sparse": lambda q: 7 * q + 3,
    "text": lambda q: np.char.add("q", q.astype(str)),
    "objects": lambda q: np.array([f"q{i}" for i in q], dtype=object),
    "numbered objects": lambda q: q.astype(object),
}
NUMBERED = {"numbered", "from one", "floats", "numbered objects"}


def some_queries(seed=0, *, n_queries=40, features=True, shuffle=False):
    """Queries of ten documents; with features of the query in two columns."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 10)
    X = rng.normal(size=(len(qid), 5)).round(2)
    X[:, 4] = rng.random(len(qid)) < 0.02  # hardly ever there
    if features:
        X[:, 0] = rng.exponential(size=n_queries)[qid]
        X[:, 2] = rng.integers(0, 5, size=n_queries)[qid]
    if shuffle:
        order = rng.permutation(len(qid))
        X, qid = X[order], qid[order]
    return X, qid


class Keeps(RegressorMixin, BaseEstimator):
    """A ranker that does what those of the library do."""

    def __init__(self, qid=0):
        self.qid = qid

    def fit(self, X, y=None, sample_weight=None):
        X, qid = split_qid_column(X, self.qid)
        queries = check_qid(qid, n_rows=len(qid))
        X = take_rows(X, queries.order)
        self._fitted_queries_ = FittedQueries.of(X, queries)
        self.n_features_in_ = X.shape[1] + 1
        self.feature_importances_ = np.arange(X.shape[1] + 1.0)[::-1]
        self.classes_ = np.arange(2)
        return self

    def predict(self, X):
        return np.zeros(len(X))


def keep(X, qid):
    queries = check_qid(qid, n_rows=len(qid))
    ranker = Keeps(qid=None)
    ranker._fitted_queries_ = FittedQueries.of(take_rows(X, queries.order), queries)
    return ranker


def outcome(estimator, X, qid):
    """Whether a check is silent, warns or refuses."""
    queries, refused = check_qid(qid, n_rows=len(qid)), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_whole_queries(estimator, X, queries)
        except ValueError as error:
            refused = str(error)
    if refused is not None:
        assert "was fitted on other rows, got" in refused
        return "refuse"
    if caught:
        (warning,) = caught
        assert warning.category is UserWarning
        assert "make ids unique" in str(warning.message)
        assert "QueryKFold" in str(warning.message)
        return "warn"
    return "silent"


def folds_of(cv, X, qid, ids):
    """What happens in each fold."""
    named = IDS[ids](qid)
    groups = named if isinstance(cv, QueryKFold) else None
    return {
        outcome(keep(X[train], named[train]), X[test], named[test])
        for train, test in cv.split(X, groups=groups)
    }


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("features", [True, False])
def test_whole_queries_are_scored(ids, features):
    X, qid = some_queries(features=features, shuffle=True)
    assert folds_of(QueryKFold(5), X, qid, ids) == {"silent"}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("features", [True, False])
def test_folds_of_rows_one_after_another_are_refused(ids, features):
    """Each fold cuts a query or two; its ids are a range, but not from 0 or 1."""
    X, qid = some_queries(features=features, n_queries=33)
    assert folds_of(KFold(4), X, qid, ids) == {"refuse"}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("features", [True, False])
def test_shuffled_folds_of_rows_are_refused(ids, features):
    X, qid = some_queries(features=features)
    cv = KFold(2, shuffle=True, random_state=0)
    weak = ids in NUMBERED and not features
    assert folds_of(cv, X, qid, ids) == {"warn" if weak else "refuse"}


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("features", [True, False])
def test_another_data_set_with_the_same_ids(ids, features):
    (X, qid), (other, _) = (some_queries(seed, features=features) for seed in (0, 1))
    expected = "warn" if ids in NUMBERED else "refuse"
    ids = IDS[ids](qid)
    for part in (slice(None), slice(0, 200)):
        found = outcome(keep(X, ids), other[part], ids[part])
        assert found == ("silent" if features else expected)


@pytest.mark.parametrize("ids", IDS)
def test_other_data_than_a_part_that_was_fitted_on(ids):
    """Numbers that are left when some queries are kept for testing."""
    (X, qid), (other, _) = (some_queries(seed, features=False) for seed in (0, 1))
    named = IDS[ids](qid)
    for train, _ in QueryKFold(4, shuffle=True, random_state=0).split(X, groups=qid):
        found = outcome(keep(X[train], named[train]), other, named)
        assert found == ("warn" if ids in NUMBERED else "refuse")


@pytest.mark.parametrize("most_kept", [10, 100])
@pytest.mark.parametrize("features", [True, False])
def test_training_data_with_permuted_columns(features, most_kept, monkeypatch):
    """As permutation importance has them."""
    monkeypatch.setattr(fitted_queries, "MOST_KEPT", most_kept)
    X, qid = some_queries(features=features)
    X[:, 3] = X[:, 3] > 0  # some rows stay as they are
    ids = IDS["text"](qid)
    pipe = make_pipeline(Twice(), keep(Twice().transform(X), ids))
    rng = np.random.default_rng(0)
    for columns in ([1], [2], [3], [1, 2]):
        permuted = X.copy()
        permuted[:, columns] = rng.permutation(X[:, columns])
        for kind in (np.asarray, pd.DataFrame, sp.csr_array):
            assert outcome(keep(X, ids), kind(permuted), ids) == "silent"
        assert outcome(pipe, permuted, ids) == "silent"
    permuted[0, 1] += 1  # other data
    found = outcome(keep(X, ids), permuted, ids)
    assert found == ("silent" if features else "refuse")


def test_a_sample_of_the_queries_is_compared(monkeypatch):
    monkeypatch.setattr(fitted_queries, "MOST_COMPARED", 5)
    X, qid = some_queries(features=False)
    ids, half = IDS["text"](qid), np.arange(len(qid)) % 2 > 0
    seen, verdict = [], FittedQueries.verdict

    def spy(self, X, queries, **options):
        seen.append(set(queries.qid.tolist()))
        return verdict(self, X, queries, **options)

    monkeypatch.setattr(FittedQueries, "verdict", spy)
    order = np.random.default_rng(0).permutation(len(qid))
    for rows in (slice(None), order):
        assert outcome(keep(X, ids), X[rows], ids[rows]) == "silent"
    assert outcome(keep(X[half], ids[half]), X[~half], ids[~half]) == "refuse"
    assert len(seen[0]) == 5
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("features", [True, False])
def test_training_scores(ids, features):
    X, qid = some_queries(features=features)
    ids = IDS[ids](qid)
    ranker = keep(X, ids)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(qid))
    for rows in (
        slice(None),
        order,
        np.isin(qid, [3, 7, 8]),  # some of the queries
        qid == 5,
        np.concatenate([np.flatnonzero(qid == q) for q in (4, 4, 9)]),
        np.arange(len(qid) - 5),  # and a part of one
    ):
        assert outcome(ranker, X[rows], ids[rows]) == "silent"
    # queries drawn with replacement: some are there twice over
    drawn = np.concatenate([np.flatnonzero(qid == q) for q in rng.integers(0, 40, 40)])
    assert outcome(keep(X[drawn], ids[drawn]), X, ids) == "silent"


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("features", [True, False])
def test_parts_that_overlap_are_refused(ids, features):
    """Fitted on rows drawn with replacement, or on nine of ten, and scored on all."""
    X, qid = some_queries(features=features)
    ids = IDS[ids](qid)
    drawn = np.random.default_rng(0).integers(0, len(qid), len(qid))
    for rows in (drawn, np.arange(len(qid)) % 10 > 0):
        assert outcome(keep(X[rows], ids[rows]), X, ids) == "refuse"


def test_rows_that_many_queries_have_are_no_evidence():
    """Documents without any match are rows of zeros, in each query of any data."""
    data = []
    for seed in (0, 1):
        X, qid = some_queries(seed)
        X[::5] = 0
        X[:, [0, 2]] = some_queries(seed)[0][:, [0, 2]] * (X[:, [1]] != 0)
        data.append(X)
    assert outcome(keep(data[0], qid), data[1], qid) == "warn"


def test_a_stray_id_does_not_refuse_other_queries():
    """One query of forty has the features of the one fitted on, by chance."""
    (X, qid), (other, _) = some_queries(0), some_queries(1)
    other[qid == 7, :3:2] = X[qid == 7, :3:2]
    assert outcome(keep(X, qid), other, qid) == "silent"


def test_features_of_few_values_do_not_tell_queries_apart():
    (X, qid), (other, _) = (some_queries(seed, features=False) for seed in (0, 1))
    for one, seed in ((X, 0), (other, 1)):
        one[:, 0] = (np.random.default_rng(seed).random(40) < 0.1)[qid]
    ranker = keep(X, qid)
    assert ranker._fitted_queries_.feature_columns == ()
    assert outcome(ranker, other, qid) == "warn"
    for one, seed in ((X, 0), (other, 1)):
        one[:, 0] = np.random.default_rng(seed).integers(0, 3, 40)[qid]
    ranker = keep(X, qid)
    assert ranker._fitted_queries_.feature_columns == (0,)
    assert ranker._fitted_queries_.alike == pytest.approx(1 / 3, abs=0.1)
    assert outcome(ranker, other, qid) == "silent"
    half = np.arange(len(qid)) % 2 > 0
    assert outcome(keep(X[half], qid[half]), X[~half], qid[~half]) == "refuse"


def test_features_of_queries_may_have_exceptions():
    X, qid = some_queries()
    X[0, 2] += 1
    assert FittedQueries.of(X, check_qid(qid, n_rows=len(qid))).feature_columns == (0,)
    X[10, 0] += 1
    found = FittedQueries.of(X, check_qid(qid, n_rows=len(qid)))
    assert found.feature_columns == (0, 2)


def test_queries_of_one_document_have_no_features():
    X, qid = some_queries()
    one = keep(X[::10], qid[::10])
    assert one._fitted_queries_.feature_columns == ()
    assert outcome(one, X[::10], qid[::10]) == "silent"


def test_rows_that_swap_cells_are_others():
    X = np.array([[1.0, 1.0], [2.0, 2.0]])
    qid = np.array([5, 5])
    assert outcome(keep(X, qid), X, qid) == "silent"
    swapped, queries = np.array([[1.0, 2.0], [2.0, 1.0]]), check_qid(qid, n_rows=2)
    fitted = keep(X, qid)._fitted_queries_
    assert fitted.verdict(swapped, queries, numbered=False) == "refuse"


KINDS = {
    "frame": pd.DataFrame,
    "polars": pl.DataFrame,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "list": np.ndarray.tolist,
}


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_of_any_kind(kind):
    X, qid = some_queries()
    (other, _), make = some_queries(1), KINDS[kind]
    assert outcome(keep(X, qid), make(X), qid) == "silent"
    assert outcome(keep(X, qid), make(X[1::2]), qid[1::2]) == "refuse"
    assert outcome(keep(X, qid), make(other), qid) == "silent"
    if kind != "list":
        dense, same = keep(X, qid)._fitted_queries_, keep(make(X), qid)._fitted_queries_
        assert pickle.dumps(same) == pickle.dumps(dense)


def test_a_wide_sparse_matrix_takes_no_memory_for_each_column():
    X = sp.random_array((200, 300_000), density=1e-4, rng=0, format="csr")
    qid = np.repeat(np.arange(20), 10)
    tracemalloc.start()
    ranker = keep(X, qid)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert outcome(ranker, X, qid) == "silent"


def test_cells_that_are_stored_in_parts():
    X, qid = some_queries()
    whole = sp.coo_array(X)
    place = np.tile(whole.coords, 2)
    halves = sp.csr_array((np.tile(whole.data / 2, 2), place), shape=X.shape)
    assert outcome(keep(X, qid), halves, qid) == "silent"


def test_cells_of_any_type():
    X, qid = some_queries()
    frame = pd.DataFrame(X).assign(word=np.char.add("w", qid.astype(str)), when=None)
    assert outcome(keep(frame, qid), frame, qid) == "silent"
    assert outcome(keep(frame[::2], qid[::2]), frame[1::2], qid[1::2]) == "refuse"


def test_it_is_small_and_holds_no_ids():
    qid = np.repeat([f"someone@example.org/{i}" for i in range(2000)], 2)
    X = np.random.default_rng(0).normal(size=(4000, 3))
    kept = keep(X, qid)._fitted_queries_
    dumped = pickle.dumps(kept)
    assert len(dumped) < 33 * 2000 + 1000
    assert b"example" not in dumped
    assert outcome(keep(X, qid), X, qid) == "silent"
    same = keep(X, qid)
    same._fitted_queries_ = pickle.loads(dumped)
    assert outcome(same, X, qid) == "silent"


def test_of_many_queries_a_fixed_number_stands_for_all(monkeypatch):
    monkeypatch.setattr(fitted_queries, "MOST_KEPT", 10)
    X, qid = some_queries(n_queries=40)
    ids = np.char.add("q", qid.astype(str))
    kept = keep(X, ids)._fitted_queries_
    every = value_bits(np.unique(ids))
    assert np.array_equal(kept.ids, np.sort(every)[:10])
    order = np.random.default_rng(1).permutation(len(qid))
    again = keep(X[order], ids[order])._fitted_queries_
    assert pickle.dumps(again) == pickle.dumps(kept)
    assert outcome(keep(X, ids), X, ids) == "silent"
    assert outcome(keep(X[::2], ids[::2]), X[1::2], ids[1::2]) == "refuse"


def first_columns(X, y):
    return np.arange(X.shape[1])[::-1]


class Twice(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * [1, *[2] * (X.shape[1] - 1)]


def search(model):
    first = [(np.arange(200), np.arange(2))]
    return GridSearchCV(model, {}, cv=first, scoring=lambda *_: 0.0)


INSIDE = {
    "frozen": FrozenEstimator,
    "frozen in frozen": lambda ranker: FrozenEstimator(FrozenEstimator(ranker)),
    "search": search,
    "target": TransformedTargetRegressor,
    "bagging": lambda ranker: BaggingRegressor(ranker, 2, bootstrap=False),
    "bagging of drawn rows": lambda ranker: BaggingRegressor(ranker, random_state=0),
    "voting": lambda ranker: VotingRegressor(
        [("a", LinearRegression()), ("b", ranker)]
    ),
    "stacking": lambda ranker: StackingRegressor(
        [("b", FrozenEstimator(ranker))], LinearRegression(), cv="prefit"
    ),
    "transformer": lambda ranker: make_pipeline(Twice(), ranker),
    "selector": lambda ranker: make_pipeline(SelectKBest(first_columns, k=4), ranker),
    "pipelines": lambda ranker: make_pipeline(
        Twice(), make_pipeline(Twice(), "passthrough", ranker)
    ),
    "search of pipeline": lambda ranker: search(make_pipeline(Twice(), ranker)),
    "rfe": lambda ranker: RFE(ranker, n_features_to_select=4),
    "step": lambda ranker: make_pipeline(
        SelectFromModel(ranker, threshold=3), LinearRegression()
    ),
    "coarse": lambda ranker: CoarseRanker(ranker, None),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_ranker_is_found_inside(name):
    (X, qid), (other, _) = some_queries(), some_queries(1)
    X, other = (np.column_stack([qid, one]) for one in (X, other))
    half = np.arange(len(qid)) % 2 > 0

    def fit(rows):
        ranker = Keeps()
        if "frozen" in name or name == "stacking":
            ranker.fit(rows)
        return INSIDE[name](ranker).fit(rows, rows[:, 2])

    for shared in (X, X[qid < 9]):
        assert outcome(fit(X), shared, shared[:, 0]) == "silent"
    assert outcome(fit(X), other, qid) == "silent"
    assert outcome(fit(X[half]), X[~half], qid[~half]) == "refuse"


def test_inside_a_threshold():
    class Classifies(Keeps):
        _estimator_type = "classifier"

        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.estimator_type = "classifier"
            return tags

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    X, qid = some_queries()
    X, half = np.column_stack([qid, X]), np.arange(len(qid)) % 2 > 0
    model = FixedThresholdClassifier(Classifies()).fit(X[half], qid[half] % 2)
    assert outcome(model, X[half], qid[half]) == "silent"
    assert outcome(model, X[~half], qid[~half]) == "refuse"


def test_columns_that_a_ranker_inside_did_not_see():
    """Bagging draws columns, with the one of ids or not."""
    X, qid = some_queries()
    X, half = np.column_stack([X, qid]), np.arange(len(qid)) % 2 > 0
    model = BaggingRegressor(
        Keeps(-1), 3, max_features=4, bootstrap=False, random_state=0
    )
    model.estimators_features_ = [[0, 1, 2, 5], [0, 2, 3, 5], [2, 1, 4, 5]]
    model.estimators_ = [
        Keeps(-1).fit(X[half][:, columns]) for columns in model.estimators_features_
    ]
    assert outcome(model, X[half], qid[half]) == "silent"
    assert outcome(model, X[~half], qid[~half]) == "refuse"


def test_rows_that_cannot_be_compared_are_weak_evidence():
    X, qid = some_queries()
    X, ids = np.column_stack([qid, X]), IDS["text"](qid)
    model = make_pipeline(Twice(), keep(X, ids))
    model.steps[0] = ("twice", "no transformer")
    assert outcome(model, X, ids) == "warn"
    assert outcome(keep(X[:, :3], ids), X, ids) == "warn"
    # numbers that come out otherwise by a rounding error
    X, other = some_queries(features=False)[0], some_queries(1, features=False)[0]
    pca = PCA(5).fit(X)
    model = make_pipeline(pca, keep(pca.fit_transform(X), ids))
    assert outcome(model, X, ids) in ("silent", "warn")
    assert outcome(model, other, ids) == "warn"
    assert outcome(model, other, np.char.add("r", ids)) == "silent"


def test_a_scaled_split_with_features_of_queries_is_refused():
    X, qid = some_queries()
    half = np.arange(len(qid)) % 2 > 0
    scaler = StandardScaler().fit(X[half])
    model = make_pipeline(scaler, keep(scaler.transform(X[half]), qid[half]))
    assert outcome(model, X[~half], qid[~half]) == "refuse"


def test_several_rankers_are_checked_each():
    X, qid = some_queries()
    half = np.arange(len(qid)) % 2 > 0
    model = VotingRegressor([])
    model.estimators_ = [keep(X, qid), keep(X[half], qid[half])]
    assert outcome(model, X, qid) == "refuse"
    model.estimators_ = [keep(X, qid), clone(Keeps())]
    assert outcome(model, X, qid) == "silent"


def test_estimators_that_hold_themselves():
    X, qid = some_queries()
    model = VotingRegressor([])
    model.estimators_ = [model, [[], [model]], [1.0, 2.0], keep(X[1:], qid[1:])]
    assert outcome(model, X[:10], qid[:10]) == "refuse"
    assert outcome(object(), X, qid) == "silent"
