"""The score of every ranker: exact NDCG@10."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import LinearRanker, SplitQueriesWarning, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker

WEB = make_web_search(n_queries=40, n_documents=20, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid
WEIGHT = QID % 3 + 0.5
TREES = QueryLGBMRanker(n_estimators=2, num_leaves=3, verbosity=-1, n_jobs=1)
RANKERS = [
    LinearRanker("equal"),
    LinearRanker(n_restarts=0, max_iter=1),
    CoarseRanker(LinearRegression(), "levels=4", scale="query"),
    TREES,
]


each_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=repr)


def predict_scaled(model, ranker):
    """Return scaled features, and the scores of the ranker in a fitted pipeline."""
    scaler, last = model
    Z = scaler.transform(X)
    if isinstance(ranker, CoarseRanker):
        return Z, last.predict(Z, qid=QID)
    return Z, last.predict(Z)


@each_ranker
def test_query_ids_are_routed_without_being_asked(ranker):
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), ranker).fit(X, Y, qid=QID)
        value = model.score(X, Y, qid=QID)
    Z, scores = predict_scaled(model, ranker)
    assert type(value) is float
    assert value == model[-1].score(Z, Y, qid=QID)
    assert value == ranking_score(Y, scores, qid=QID)


@each_ranker
def test_weights_are_routed_on_request(ranker):
    weighted = sklearn.base.clone(ranker)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted.set_score_request(sample_weight=True)
        model = make_pipeline(StandardScaler(), weighted).fit(X, Y, qid=QID)
        value = model.score(X, Y, qid=QID, sample_weight=WEIGHT)
    Z, scores = predict_scaled(model, ranker)
    assert value == model[-1].score(Z, Y, qid=QID, sample_weight=WEIGHT)
    assert value == ranking_score(Y, scores, qid=QID, query_weight=WEIGHT)


@each_ranker
def test_a_score_needs_a_fit(ranker):
    model = sklearn.base.clone(ranker)
    with pytest.raises(NotFittedError):
        model.score(X, Y, qid=QID)


@each_ranker
def test_a_score_needs_query_ids(ranker):
    model = sklearn.base.clone(ranker).fit(X, Y, qid=QID)
    message = r"qid must contain the query of each row, got None: pass qid to score"
    with pytest.raises(ValueError, match=message) as error:
        model.score(X, Y)
    names_column = "qid=<name or index> in the constructor" in str(error.value)
    assert names_column == hasattr(ranker, "qid")


DATA_ERRORS = [
    ({"qid": QID[:3]}, r"qid must have one value per row \(971\), got 3"),
    ({"y": Y - 9.0}, "y must be >= 0"),
    ({"y": [0, 1]}, r"^y must have one value per row \(971\), got 2"),
    ({"sample_weight": np.arange(len(Y))}, "sample_weight must be constant within"),
    ({"sample_weight": 0 * Y}, "sample_weight must not be 0 in every"),
]


@each_ranker
@pytest.mark.parametrize(("arguments", "message"), DATA_ERRORS)
def test_errors_of_data(ranker, arguments, message):
    model = sklearn.base.clone(ranker).fit(X, Y, qid=QID)
    arguments = {"y": Y, "qid": QID, **arguments}
    with pytest.raises(ValueError, match=message):
        model.score(X, **arguments)


@pytest.mark.parametrize("ranker", RANKERS[2:], ids=repr)
def test_query_ids_are_a_column_or_an_argument(ranker):
    Z = np.column_stack([QID, X])
    plain = sklearn.base.clone(ranker).fit(X, Y, qid=QID)
    model = sklearn.base.clone(ranker).set_params(qid=0).fit(Z, Y)
    message = r"given only once.*set_score_request\(qid=False\)"
    with pytest.raises(ValueError, match=message):
        model.score(Z, Y, qid=QID)
    assert model.score(Z, Y) == plain.score(X, Y, qid=QID)


@pytest.mark.parametrize(
    ("ranker", "name"), [(TREES, "QueryLGBMRanker"), (RANKERS[1], "LinearRanker")]
)
def test_split_queries_are_warned_of(ranker, name):
    """The scorer warns of them, too."""
    ids = np.array([f"q{query}" for query in QID])
    half = np.arange(len(Y)) % 3 == 0
    model = sklearn.base.clone(ranker).fit(X[half], Y[half], qid=ids[half])
    with pytest.warns(SplitQueriesWarning, match=f"{name} was fitted"):
        model.score(X[~half], Y[~half], qid=ids[~half])
    assert model.score(X[half], Y[half], qid=ids[half]) > 0.3


def test_split_queries_of_a_column_are_warned_of():
    ids = QID + 1000
    half = np.arange(len(Y)) % 3 == 0
    Z = np.column_stack([X, ids])
    model = sklearn.base.clone(TREES).set_params(qid=-1).fit(Z[half], Y[half])
    # the column of ids may be left out if ids are passed
    with pytest.warns(SplitQueriesWarning, match="QueryLGBMRanker was fitted"):
        model.score(X[~half], Y[~half], qid=ids[~half])
    assert model.score(Z[half], Y[half]) > 0.3
