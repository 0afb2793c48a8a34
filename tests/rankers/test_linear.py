"""LinearRanker: equal rows have equal scores, and weights are tuned exactly."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tieaware_sklearn import LinearRanker, ranking_score
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=24, n_documents=15, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid


def quick(**options):
    return LinearRanker(**{"n_restarts": 1, "max_iter": 3, **options})


@pytest.fixture(scope="module")
def plain():
    return quick().fit(X, Y, qid=QID)


# -- fixed weights


@settings(max_examples=25)
@given(st.integers(1, 70), st.integers(0, 10_000))
@example(9001, 0)  # more than the 8192 that einsum buffers
def test_equal_rows_have_equal_scores_wherever_they_stand(n_features, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, n_features))
    equal = rng.permutation(40)[:15]
    Z[equal] = Z[equal[0]]
    weights = rng.normal(size=n_features)
    ranker = LinearRanker(weights).fit(Z)
    scores = ranker.predict(Z)
    assert len(set(scores[equal])) == 1
    for rows in (equal, slice(1, None), slice(None, None, -3), slice(7, 8)):
        subset = ranker.predict(Z[rows])
        assert np.array_equal(subset, scores[rows])
    by_column = ranker.predict(np.asfortranarray(Z))
    assert np.array_equal(by_column, scores)
    np.testing.assert_allclose(scores, Z @ ranker.coef_, atol=1e-12)


def test_transforms():
    X = np.array([
        [3.0, -8.0, 2.0],
        [0.0, 0.0, 2.0],
        [1.0, 8.0, 5.0],
        [1.0, 1.0, 9.0],
    ])  # fmt: skip
    transforms = ("identity", "log1p", "rank")
    ranker = LinearRanker([1, 1, 1], transforms=list(transforms)).fit(X)
    assert ranker.transforms_ == transforms
    identity = X[:, 0]
    log1p = np.sign(X[:, 1]) * np.log(1 + abs(X[:, 1]))
    rank = np.array([2 / 8, 2 / 8, 5 / 8, 7 / 8])
    expected = identity + log1p + rank
    np.testing.assert_allclose(ranker.predict(X), expected, atol=1e-15)


@pytest.mark.parametrize(("value", "rank"), [(1.0, 0.0), (3.0, 0.5), (10.0, 1.0)])
def test_unseen_values_are_ranked_among_those_of_fit(value, rank):
    ranker = LinearRanker([1], transforms="rank").fit([[2.0], [2.0], [5.0], [9.0]])
    assert ranker.predict([[value]]) == rank


def test_equal_weights_put_features_on_one_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1, 1000, 0]
    ranker = LinearRanker("equal").fit(X)
    weights = ranker.coef_[:2] * X[:, :2].std(axis=0)
    np.testing.assert_allclose(weights, [1, 1])
    assert ranker.coef_[2] == 0
    permuted = LinearRanker("equal").fit(rng.permutation(X))
    assert np.array_equal(permuted.coef_, ranker.coef_)


# -- tuned weights


def drawn(seed, n_queries=8, n_features=3):
    """Features with ties, and labels that depend on them a little."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    n_rows = len(qid)
    Z = rng.integers(0, 4, (n_rows, n_features)).astype(float)
    noise = rng.integers(-2, 2, n_rows)
    y = np.clip(Z[:, 0] + noise, 0, 3)
    y[0] = 1
    return Z, y, qid


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.sampled_from(["ndcg@10", "ap", "rr", "esl"]))
@example(3, "ndcg@10")  # roundings would bring a gain that predict does not have
def test_training_never_gets_worse(seed, measure):
    Z, y, qid = drawn(seed)

    def value(scores):
        return ranking_score(y, scores, qid=qid, measure=measure)

    ranker = quick(measure=measure).fit(Z, y, qid=qid)
    sign = -1 if measure == "esl" else 1
    assert (sign * np.diff(ranker.train_score_) >= 0).all()
    best = ranker.train_score_[ranker.n_iter_]
    assert best == sign * np.max(sign * ranker.train_score_)
    # the value that was tuned is the value of the ranking
    assert best == value(ranker.predict(Z))
    for column in Z.T:
        alone = max(value(column), value(-column))
        if measure != "esl" and alone > value(0 * column):
            assert best >= alone - 1e-12


@settings(max_examples=6)
@given(st.integers(0, 10_000), st.sampled_from([None, 0.4]), st.booleans())
def test_no_bit_depends_on_rows_ids_or_threads(seed, share, texts):
    Z, y, qid = drawn(seed)
    y = np.maximum(y, 1)
    rng = np.random.default_rng(seed)
    Z = Z + rng.normal(size=Z.shape).round(1)
    weight = qid % 3 + 0.5
    if texts:
        qid = np.array([f"q{query}" for query in qid])
    ranker = quick(validation_fraction=share, transforms="log1p")
    ranker.fit(Z, y, qid=qid, query_weight=weight)
    rows = np.random.default_rng(seed).permutation(len(y))
    shuffled = clone(ranker).set_params(n_jobs=2)
    shuffled.fit(Z[rows], y[rows], qid=qid[rows], query_weight=weight[rows])
    assert np.array_equal(shuffled.coef_, ranker.coef_)
    assert np.array_equal(shuffled.train_score_, ranker.train_score_)
    assert np.array_equal(shuffled.predict(Z), ranker.predict(Z))


@pytest.mark.parametrize("transform", [None, "log1p", "rank"])
def test_a_linear_model_is_recovered(transform):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 4)) * [1.0, 50.0, 0.01, 1.0]
    qid = np.arange(600) % 30
    if transform is None:
        target = Z @ np.array([1.0, -0.04, 60.0, 0.0])
    else:
        log1p = np.sign(Z[:, 0]) * np.log1p(abs(Z[:, 0]))
        target = log1p - 0.01 * Z[:, 1]
    thresholds = np.quantile(target, [0.6, 0.85])
    y = np.digitize(target, thresholds)
    ranker = LinearRanker(transforms=transform).fit(Z, y, qid=qid)
    assert ranker.train_score_[ranker.n_iter_] > 0.97
    equal = LinearRanker("equal", transforms=transform).fit(Z)
    assert ranker.score(Z, y, qid=qid) > equal.score(Z, y, qid=qid) + 0.1
    share = ranker.coef_ * Z.std(axis=0)
    if transform is None:
        assert np.abs(share).sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(share / share[0], [1, -2, 0.6, 0], atol=0.3)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_single_feature_has_the_direction_that_ranks(sign):
    feature = sign * Y[:, None]
    ranker = quick().fit(feature, Y, qid=QID)
    assert np.sign(ranker.coef_) == [sign]
    first, last = ranker.train_score_
    assert first == last
    assert ranker.n_iter_ == 0


def test_features_constant_within_queries_get_no_weight():
    constant = np.ones(len(Y))
    Z = np.column_stack([X[:, 0], constant, QID, X[:, 1]])
    ranker = quick(n_restarts=3).fit(Z, Y, qid=QID)
    assert ranker.coef_[[1, 2]].tolist() == [0, 0]
    assert ranker.coef_.any()


@pytest.mark.parametrize("constant", [np.ones((len(Y), 2)), QID[:, None]])
@pytest.mark.parametrize("share", [None, 0.3])
def test_without_a_feature_that_varies_all_weights_are_0(constant, share):
    ranker = quick(validation_fraction=share).fit(constant, Y, qid=QID)
    assert not ranker.coef_.any()
    assert ranker.n_iter_ == 0
    assert len(set(ranker.predict(constant))) == 1


def test_a_perfect_ranking_keeps_its_weights():
    """The weights could move without a change of the ranking."""
    Z = np.column_stack([Y, Y * 10])
    ranker = quick().fit(Z, Y, qid=QID)
    assert len(set(ranker.train_score_)) == 1
    assert ranker.n_iter_ == 0
    first, second = ranker.coef_
    assert first == pytest.approx(10 * second)


def test_the_ascent_starts_at_weights_by_lift_or_at_the_best_feature():
    ranker = quick(n_restarts=0, max_iter=1).fit(X, Y, qid=QID)
    chance = ranking_score(Y, np.zeros(len(Y)), qid=QID)
    lifts = []
    for column in X.T:
        descending = ranking_score(Y, column, qid=QID) - chance
        ascending = ranking_score(Y, -column, qid=QID) - chance
        if descending >= ascending:
            lifts.append(max(descending, 0))
        else:
            lifts.append(-max(ascending, 0))
    size = np.abs(lifts)
    best = np.where(size == size.max(), lifts, 0)
    means = [X[query == QID].mean(axis=0) for query in QID]
    spread = (X - means).std(axis=0)
    by_lift = ranking_score(Y, X @ (lifts / spread), qid=QID)
    by_best = ranking_score(Y, X @ (best / spread), qid=QID)
    expected = max(by_lift, by_best)
    assert ranker.train_score_[0] == pytest.approx(expected, abs=1e-9)


def test_restarts_only_add(plain):
    """More restarts keep the ascents that fewer restarts make."""
    none = quick(n_restarts=0).fit(X, Y, qid=QID)
    more = quick(n_restarts=3).fit(X, Y, qid=QID)
    best = [ranker.train_score_.max() for ranker in (none, plain, more)]
    assert best == sorted(best)
    assert len(set(best)) > 1


def test_the_seed_and_its_kinds(plain):
    seeded = quick(random_state=1).fit(X, Y, qid=QID)
    assert not np.array_equal(seeded.coef_, plain.coef_)
    state = np.random.RandomState(1)
    by_state = quick(random_state=state).fit(X, Y, qid=QID)
    assert np.array_equal(by_state.coef_, seeded.coef_)


def test_held_out_queries_stop_the_ascent(plain):
    ranker = quick(validation_fraction=0.25, max_iter=8, tol=0).fit(X, Y, qid=QID)
    held_out = ranker.validation_score_
    best = ranker.n_iter_
    assert len(held_out) == len(ranker.train_score_)
    assert held_out[best] == held_out.max()
    assert best == np.argmax(held_out)
    # the mean over all queries is the weighted mean of both parts
    value = ranking_score(Y, ranker.predict(X), qid=QID)
    total = 18 * ranker.train_score_[best] + 6 * held_out[best]
    assert value == pytest.approx(total / 24, abs=1e-12)
    assert not hasattr(plain, "validation_score_")


def test_tol_and_max_iter():
    single = quick(max_iter=1).fit(X, Y, qid=QID)
    assert len(single.train_score_) == 2
    # the ascent ends after two iterations that bring too little
    stopped = quick(max_iter=9, tol=1).fit(X, Y, qid=QID)
    assert len(stopped.train_score_) == 3


@pytest.mark.parametrize("weight", [np.where(QID % 2, 3.0, 1.0), QID[40] > QID])
def test_query_weights_weight_the_mean(weight):
    ranker = quick().fit(X, Y, qid=QID, query_weight=weight)
    scores = ranker.predict(X)
    expected = ranking_score(Y, scores, qid=QID, query_weight=weight)
    assert ranker.train_score_[ranker.n_iter_] == pytest.approx(expected, abs=1e-15)


def test_undefined_queries_are_skipped_on_request():
    y = np.where(QID[0] == QID, 0, Y)
    ranker = quick(zero_relevance="skip").fit(X, y, qid=QID)
    scores = ranker.predict(X)
    expected = ranking_score(y, scores, qid=QID, zero_relevance="skip")
    assert ranker.train_score_[-1] == pytest.approx(expected)


def test_unjudged_labels_count_as_0_on_request():
    is_missing = np.arange(len(Y)) % 7 == 0
    missing = np.where(is_missing, np.nan, Y)
    ranker = quick(unjudged="nonrelevant").fit(X, missing, qid=QID)
    zeros = np.where(is_missing, 0, Y)
    as_zero = quick().fit(X, zeros, qid=QID)
    assert np.array_equal(ranker.coef_, as_zero.coef_)


def test_a_column_of_ids(plain):
    frame = pd.DataFrame(X, columns=WEB.feature_names)
    named = frame.copy()
    named.insert(3, "query", [f"q{q:03d}" for q in QID])
    ranker = quick(qid="query").fit(named, Y)
    assert np.array_equal(ranker.coef_, np.insert(plain.coef_, 3, 0))
    assert ranker.n_features_in_ == 13
    assert ranker.feature_names_in_.tolist() == list(named)
    assert np.array_equal(ranker.predict(named), plain.predict(X))
    assert ranker.score(named, Y) == plain.score(X, Y, qid=QID)
    again = LinearRanker(ranker.coef_, qid="query").fit(named)
    assert np.array_equal(again.predict(named), plain.predict(X))
    with pytest.raises(ValueError, match="qid must be given only once"):
        ranker.fit(named, Y, qid=QID)
    with pytest.raises(
        ValueError, match=r"must be the name of a column .* got 'query'"
    ):
        ranker.predict(frame)


def test_it_is_pickled_cloned_and_fitted_again():
    ranker = quick(transforms="rank", validation_fraction=0.3).fit(X, Y, qid=QID)
    again = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(again.predict(X), ranker.predict(X))
    assert clone(ranker).get_params() == ranker.get_params()
    # given weights leave nothing of an earlier fit
    ranker.set_params(coef=ranker.coef_).fit(X)
    for name in ("train_score_", "validation_score_", "n_iter_"):
        assert not hasattr(ranker, name)
    assert np.array_equal(again.coef_, ranker.coef_)


def test_a_bar(capsys):
    quick(progress=True).fit(X, Y, qid=QID)
    shown = capsys.readouterr().err
    assert "tuning" in shown
    assert "3/3" in shown


IS_FIRST = QID[0] == QID
LARGE = X * np.where(np.arange(12) == 1, 1e200, 1.0)


PARAMETER_ERRORS = [
    ({"coef": [1.0]}, r"one weight per feature \(12\), got 1"),
    ({"coef": [np.nan] * 12}, "coef must be finite"),
    ({"coef": ["a", "b"]}, "coef must be numeric, got .* 'a' in row 0"),
    ({"coef": 1.0}, r"coef must be 1-dimensional, got shape \(\)"),
    ({"coef": "same"}, "coef must be \"equal\", one weight .* got 'same'"),
    ({"transforms": "square"}, "transforms must be one of"),
    ({"transforms": ["rank"]}, r"one entry per feature \(12\), got \['rank'\]"),
    ({"measure": "x"}, "measure"),
    ({"measure": "esl(i=99)"}, r"ESL\(i=99\) must be defined .* such query$"),
    ({"n_restarts": -1}, "n_restarts must be an integer >= 0, got -1"),
    ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
    ({"tol": -1}, "tol must be a number >= 0, got -1"),
    ({"random_state": "x"}, "random_state must be"),
    ({"validation_fraction": 1}, r"validation_fraction .* \(0, 1\), got 1"),
    ({"validation_fraction": 0.01}, "at least one query .* got 0.01 of 24"),
    ({"unjudged": "x"}, "unjudged must be one of"),
    ({"zero_relevance": "x"}, "zero_relevance must be one of"),
]


@pytest.mark.parametrize(("options", "message"), PARAMETER_ERRORS)
def test_errors_of_parameters(options, message):
    ranker = quick(**options)
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y, qid=QID)


LABEL_ERRORS = [
    (None, "requires y to be passed, but the target y is None"),
    (Y[:9], r"y must have one value per row \(\d+\), got 9"),
    (Y * 0, "a label above 0 to tune weights, got no relevant"),
    (Y - 1.0, "y must be >= 0"),
    (np.where(IS_FIRST, np.nan, Y), "y must be judged"),
]


@pytest.mark.parametrize(("y", "message"), LABEL_ERRORS)
def test_errors_of_labels(y, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(X, y, qid=QID)


QID_ERRORS = [
    (None, 'got None: pass qid to fit.*coef="equal" requires no query'),
    (QID * 0, "at least two queries to tune weights, got one"),
    (QID[:9], "qid must have one value per row"),
]


@pytest.mark.parametrize(("qid", "message"), QID_ERRORS)
def test_errors_of_query_ids(qid, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(X, Y, qid=qid)


def test_features_must_not_overflow():
    ranker = quick(coef="equal")
    with pytest.raises(ValueError, match=r"from 1e-100 to 1e100, got .* in feature 1"):
        ranker.fit(LARGE, Y, qid=QID)


def test_a_feature_beside_the_ids_is_needed():
    ranker = quick(qid=0)
    with pytest.raises(ValueError, match="feature besides the qid column 0"):
        ranker.fit(QID[:, None], Y)


def test_both_parts_of_the_queries_need_a_relevant_document():
    ranker = quick(validation_fraction=0.2)
    message = "relevant documents in both parts, got none in the (5|19) queries"
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y * IS_FIRST, qid=QID)


def test_both_parts_of_the_queries_need_weight():
    ranker = quick(validation_fraction=0.2)
    message = "no such query (held out|used for tuning)$"
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, Y, qid=QID, query_weight=IS_FIRST)


def test_undefined_queries_are_refused_on_request():
    ranker = quick(zero_relevance="raise")
    with pytest.raises(ValueError, match="NDCG@10 is undefined for qu"):
        ranker.fit(X, Y * ~IS_FIRST, qid=QID)
