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


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_it_is_that_of_ranking_score_and_routed_without_being_asked(ranker):
    with sklearn.config_context(enable_metadata_routing=True):
        asking = sklearn.base.clone(ranker).set_score_request(sample_weight=True)
        model, weighted = (
            make_pipeline(StandardScaler(), one).fit(X, Y, qid=QID)
            for one in (ranker, asking)
        )
        found = model.score(X, Y, qid=QID)
        with_weight = weighted.score(X, Y, qid=QID, sample_weight=WEIGHT)
    Z, last = model[0].transform(X), model[-1]
    by_query = {"qid": QID} if isinstance(ranker, CoarseRanker) else {}
    scores = last.predict(Z, **by_query)
    assert type(found) is float
    assert found == last.score(Z, Y, qid=QID) == ranking_score(Y, scores, qid=QID)
    expected = ranking_score(Y, scores, qid=QID, query_weight=WEIGHT)
    assert with_weight == last.score(Z, Y, qid=QID, sample_weight=WEIGHT) == expected


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_what_is_refused(ranker):
    with pytest.raises(NotFittedError):
        sklearn.base.clone(ranker).score(X, Y, qid=QID)
    model = sklearn.base.clone(ranker).fit(X, Y, qid=QID)
    ways = r"qid must hold the query of each row, got None: pass qid to score"
    with pytest.raises(ValueError, match=ways) as caught:
        model.score(X, Y)
    named = "qid=<name or index> in the constructor"
    assert (named in str(caught.value)) == hasattr(ranker, "qid")
    for arguments, message in (
        ({"qid": QID[:3]}, r"qid must have one value per row \(971\), got 3"),
        ({"y": Y - 9.0}, "y must be >= 0"),
        ({"y": [0, 1]}, r"^y must have one value per row \(971\), got 2"),
        ({"sample_weight": np.arange(len(Y))}, "sample_weight must be constant within"),
        ({"sample_weight": 0 * Y}, "sample_weight must not be 0 in every"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, **{"y": Y, "qid": QID, **arguments})


def test_query_ids_are_given_once():
    Z, said = np.column_stack([QID, X]), r"given once.*set_score_request\(qid=False\)"
    for ranker in RANKERS[2:]:
        plain = sklearn.base.clone(ranker).fit(X, Y, qid=QID)
        model = sklearn.base.clone(ranker).set_params(qid=0).fit(Z, Y)
        with pytest.raises(ValueError, match=said):
            model.score(Z, Y, qid=QID)
        assert model.score(Z, Y) == plain.score(X, Y, qid=QID)


@pytest.mark.parametrize(("ranker", "column", "name"), [
    (TREES, False, "QueryLGBMRanker"),
    (sklearn.base.clone(TREES).set_params(qid=-1), True, "QueryLGBMRanker"),
    (RANKERS[1], False, "LinearRanker"),
], ids=repr)  # fmt: skip
def test_split_queries_are_warned_of(ranker, column, name):
    """As the scorer does."""
    ids = QID + 1000 if column else np.array([f"q{q}" for q in QID])
    half = np.arange(len(Y)) % 3 == 0
    Z = np.column_stack([X, ids]) if column else X
    given = {} if column else {"qid": ids[half]}
    model = sklearn.base.clone(ranker).fit(Z[half], Y[half], **given)
    # a column of ids may be left out, and ids given
    with pytest.warns(SplitQueriesWarning, match=f"{name} was fitted on"):
        model.score(X[~half], Y[~half], qid=ids[~half])
    assert model.score(Z[half], Y[half], **given) > 0.3
