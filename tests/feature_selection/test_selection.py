"""From statistics of features to directions, tests and selected features."""

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.utils import Bunch

from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import RankingFeatureSelector, evaluate
from tieaware_sklearn.evaluation import _prepared
from tieaware_sklearn.feature_selection import _feature_sums, _selection


def test_auto_takes_the_better_direction_and_pays_for_it(web):
    descending = fitted(web, direction="descending")
    ascending = fitted(web, direction="ascending")
    auto = fitted(web)
    is_ascending = ascending.mean_[:, 0] > descending.mean_[:, 0]
    better = np.where(is_ascending, "ascending", "descending").tolist()
    assert auto.directions_.tolist() == better
    assert better[web.feature_names.index("url_length")] == "ascending"
    pvalues = np.where(is_ascending[:, None], ascending.pvalues_, descending.pvalues_)
    np.testing.assert_array_equal(auto.pvalues_, np.minimum(1, 2 * pvalues))
    fixed = fitted(web, direction=better)
    assert fixed.pvalues_ == pytest.approx(pvalues)


@pytest.mark.parametrize(
    ("index", "name", "best"),
    [(0, "ndcg@10", np.argmax), (1, "fallout@5", np.argmin), (2, "rr", np.argmax)],
)
def test_sort_by_alone_decides(web, index, name, best):
    measures = ["ndcg@10", "fallout@5", "rr"]
    selector = fitted(web, measures=measures, sort_by=name, n_features_to_select=3)
    alone = fitted(web, measures=name, n_features_to_select=3)
    np.testing.assert_array_equal(selector.mean_[:, [index]], alone.mean_)
    np.testing.assert_array_equal(selector.ranking_, alone.ranking_)
    np.testing.assert_array_equal(selector.support_, alone.support_)
    assert alone.ranking_[best(alone.mean_[:, 0])] == 1


@pytest.fixture(scope="module")
def with_constants(web):
    """Clicks between two features that are constant in each query."""
    rng = np.random.default_rng(0)
    per_query = rng.random(web.qid.max() + 1)
    zeros = np.zeros(len(web.qid))
    X = np.column_stack([zeros, web.data[:, 1], per_query[web.qid]])
    return Bunch(data=X, target=web.target, qid=web.qid)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"direction": "ascending", "alpha": 1.0, "min_lift": -100},
        {"zero_relevance": "skip", "alpha": 1.0},
    ],
)
def test_no_constant_feature_is_ever_selected(with_constants, parameters):
    selector = fitted(with_constants, **parameters)
    assert selector.support_.tolist() in ([False, True, False], [False, False, False])
    assert (selector.pvalues_[[0, 2]] == 1).all()
    np.testing.assert_array_equal(selector.mean_[0], selector.chance_)
    np.testing.assert_array_equal(selector.lift_[0], [0.0, 0.0, 0.0])


def test_more_features_than_vary_are_not_selected(with_constants):
    X = with_constants.data
    with_copy = np.column_stack([X, X[:, 1] * 2])
    selector = RankingFeatureSelector(n_features_to_select=4)
    with (
        pytest.warns(UserWarning, match=r"=4, but only 2 of 4 features vary"),
        pytest.warns(UserWarning, match="1 of the selected features is a copy"),
    ):
        selector.fit(with_copy, with_constants.target, qid=with_constants.qid)
    assert selector.selection_order_.tolist() == [1, 3]
    assert selector.repeats_.tolist() == [-1, -1, -1, -1]


def test_a_single_query_keeps_everything_and_says_so(web):
    n_rows = len(web.qid)
    X = np.column_stack([web.data[:, :3], np.ones(n_rows), -web.data[:, :3]])
    data = Bunch(data=X, target=web.target, qid=np.zeros(n_rows))
    message = "p-values need at least two queries, got 1, so every feature that is not "
    with pytest.warns(UserWarning, match=f"{message}constant is"):
        selector = fitted(data, max_correlation=None)
    assert selector.support_.tolist() == [True, True, True, False, True, True, True]
    assert np.isnan(selector.pvalues_).all()
    assert np.isnan(selector.interval_).all()
    weight = (web.qid == 3).astype(float)
    without_copies = RankingFeatureSelector()
    with pytest.warns(
        UserWarning, match=f"{message}constant and does not repeat another feature is"
    ):
        without_copies.fit(X, web.target, web.qid, weight)
    order = without_copies.selection_order_
    # features 4 to 6 are reversed copies of features 0 to 2
    assert sorted(order % 4 - order // 4) == [0, 1, 2]
    single = fitted(data, n_features_to_select=1)
    assert single.support_.sum() == 1
    assert single.ranking_[single.support_] == 1


@pytest.mark.parametrize(
    ("number", "n_selected"), [(3, 3), (0.5, 6), (1.0, 12), (1e-9, 1), (7 / 12, 7)]
)
def test_number_of_features(web, number, n_selected):
    selector = fitted(
        web, n_features_to_select=number, redundancy=False, max_correlation=None
    )
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= n_selected)
    assert selector.transform(web.data).shape == (len(web.qid), n_selected)
    ranks = selector.ranking_[selector.selection_order_]
    assert (np.diff(ranks) > 0).all()


def test_without_a_number_qvalues_and_lift_decide(web):
    selector = fitted(
        web, alpha=0.01, min_lift=0.1, redundancy=False, max_correlation=None
    )
    is_significant = selector.qvalues_[:, 0] <= 0.01
    is_good = is_significant & (selector.lift_[:, 0] >= 0.1)
    np.testing.assert_array_equal(selector.support_, is_good)
    assert 0 < selector.support_.sum() < len(selector.support_)


def test_a_qvalue_of_alpha_is_significant(web):
    qvalues = fitted(web).qvalues_[:, 0]
    alpha = np.sort(qvalues)[len(qvalues) // 2]
    options = {"redundancy": False, "max_correlation": None, "min_lift": -1}
    selector = fitted(web, alpha=alpha, **options)
    np.testing.assert_array_equal(selector.support_, qvalues <= alpha)


# -- features that repeat others


def by_definition(selector, number, limit, diversity):
    """The features chosen, from lift and rank correlation alone."""
    lift = selector.lift_[:, 0]
    rank = selector.ranking_
    rho = np.round(np.abs(selector.rank_correlation_), 10)
    chosen = [int(np.argmin(rank))]
    while len(chosen) < number:
        closest = rho[:, chosen].max(axis=1)
        candidates = [j for j in np.argsort(rank) if j not in chosen]
        if limit is not None:
            is_close = (closest > limit) | (closest >= 1)
            candidates = [j for j in candidates if not is_close[j]]
        if not candidates:
            break
        if diversity:
            value = (1 - diversity) * lift / lift.max() - diversity * closest
            value = value.round(10)
        else:
            value = -rank
        # candidates are sorted by rank, and max takes the first
        chosen.append(max(candidates, key=value.__getitem__))
    return chosen


def similar_features(seed, n_features=8, n_queries=12):
    """Similar features, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    n_rows = 8 * n_queries
    y = rng.integers(0, 3, n_rows)
    common = y[:, None] + rng.normal(0, 1, (n_rows, 3))
    X = common[:, rng.integers(0, 3, n_features)]
    scale = 10.0 ** rng.integers(0, 3, n_features)
    noise = rng.normal(0, 0.4, X.shape)
    X = np.round((X + noise) * scale) / scale
    return Bunch(data=X, target=y, qid=np.repeat(np.arange(n_queries), 8))


@pytest.mark.parametrize("limit", [0.3, 0.8, 1.0, None])
@pytest.mark.parametrize("diversity", [0, 0.3, 1])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore:n_features_to_select")
def test_the_choice_is_that_of_the_definition(limit, diversity, seed):
    data = similar_features(seed)
    number = seed + 1
    selector = fitted(
        data,
        n_features_to_select=number,
        max_correlation=limit,
        diversity=diversity,
    )
    order = by_definition(selector, number, limit, diversity)
    # repeats fill up, the best first
    repeats = [j for j in np.argsort(selector.ranking_) if j not in order]
    order += repeats
    order = order[:number]
    assert selector.selection_order_.tolist() == order
    assert np.flatnonzero(selector.support_).tolist() == sorted(order)
    rho = np.round(np.abs(selector.rank_correlation_), 10)
    for j, repeated in enumerate(selector.repeats_):
        correlations = rho[j, order]
        if limit is None or j in order or correlations.max() <= limit:
            assert repeated == -1
        else:
            assert repeated == order[np.argmax(correlations)]


@pytest.mark.parametrize(
    ("missing", "direction"), [("raise", "auto"), ("last", "descending")]
)
def test_copies_under_every_monotone_map_are_recognised(web, missing, direction):
    X = web.data[:, [1, 5, 2]] + 10.0
    if missing == "last":
        X[::7] = np.nan
    # missing values are last in the reversed copy, too, as its lowest values
    reversed_copy = np.nan_to_num(-X, nan=-1e9)
    copies = np.hstack([np.log(X), X, 2 * X + 1, reversed_copy, X**3])
    data = Bunch(data=copies, target=web.target, qid=web.qid)
    options = {"missing": missing, "direction": direction, "measures": "ndcg@10"}
    for diversity in (0, 0.4, 1):
        selector = fitted(data, n_features_to_select=3, diversity=diversity, **options)
        assert sorted(selector.selection_order_ % 3) == [0, 1, 2]
        left_out = np.flatnonzero(~selector.support_)
        repeats = selector.repeats_[left_out]
        assert (repeats % 3 == left_out % 3).all()
    by_qvalue = fitted(data, **options)
    assert sorted(by_qvalue.selection_order_ % 3) == [0, 1, 2]


def test_a_reversed_copy_is_left_out_though_it_ranks_worse(web):
    X = web.data[:, [1, 6]]
    data = Bunch(data=np.hstack([X, -X]), target=web.target, qid=web.qid)
    selector = fitted(data, n_features_to_select=2, direction="descending", diversity=0)
    assert selector.selection_order_.tolist() == [0, 3]
    assert selector.repeats_.tolist() == [-1, 3, 0, -1]
    table = selector.to_pandas().set_index("feature")
    assert table.loc["x2", "repeats"] == "x0"
    assert table.loc["x2", "correlation"] == pytest.approx(-1)
    assert table.chosen[["x0", "x3"]].tolist() == [1, 2]
    assert table.chosen.isna().sum() == 2


@pytest.mark.parametrize(
    ("number", "messages"),
    [
        (3, []),
        (4, []),
        (5, ["1 of the selected features is a copy of another"]),
        (7, ["3 of the selected features are copies of others"]),
    ],
)
def test_copies_are_chosen_last_and_with_a_warning(web, recwarn, number, messages):
    # clicks, text_score and noise, their copies, and a feature like text_score
    X = web.data[:, [1, 5, 6]]
    noise = np.random.default_rng(0).normal(size=len(X))
    similar = X[:, 1] + 0.1 * noise
    data = np.column_stack([X, 2 * X, similar])
    selector = RankingFeatureSelector(n_features_to_select=number, max_correlation=0.9)
    selector.fit(data, web.target, qid=web.qid)
    order = selector.selection_order_
    assert len(order) == number
    sources = np.array([0, 1, 2, 0, 1, 2, 1])[order]
    assert sorted(sources[:3]) == [0, 1, 2]
    assert (sources[3:4] == 1).all()
    assert len(recwarn) == len(messages)
    for warning, message in zip(recwarn, messages, strict=True):
        expected = f"but only 4 features rank differently: {message}"
        assert expected in str(warning.message)


def test_the_number_is_selected_without_lift_and_without_labels():
    y = np.random.default_rng(0).integers(0, 2, 60)
    noise = np.random.default_rng(1).normal(0, [0.1, 0.5, 0.9], (60, 3))
    X = noise - y[:, None]
    data = Bunch(data=X, target=y, qid=np.repeat(np.arange(6), 10))
    worse_than_chance = fitted(data, n_features_to_select=2, direction="descending")
    assert (worse_than_chance.lift_ < 0).all()
    best = np.argmin(worse_than_chance.ranking_)
    assert worse_than_chance.selection_order_[0] == best
    data.target = np.zeros(60)
    unlabelled = fitted(data, n_features_to_select=3, max_correlation=None)
    assert len(unlabelled.selection_order_) == 3


# -- parts of the data, and more features than are correlated in pairs


def many_features(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    X = y[:, None] * rng.random(n) + rng.normal(0, 1, (120, n))
    X = np.hstack([X, 2 * X + 1, -X])
    X = X[:, rng.permutation(3 * n)]
    X[::9, ::5] = X[0, 0]  # ties
    return Bunch(data=X, target=y, qid=np.repeat(np.arange(8), 15))


@pytest.mark.parametrize("options", [
    {"n_features_to_select": 10},
    {"n_features_to_select": 10, "diversity": 0},
    {"n_features_to_select": 10, "max_correlation": None, "diversity": 0.6},
    {"n_features_to_select": 90, "diversity": 0.9},
    {"n_features_to_select": 110, "diversity": 0, "missing": "last"},
    {"alpha": 0.05, "max_correlation": 0.6},
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:n_features_to_select")
def test_of_many_features_fit_correlates_those_that_matter(options, monkeypatch):
    monkeypatch.setattr(_selection, "AUTO_REDUNDANCY", 299)
    data = many_features(100)
    if "missing" in options:
        data.data[::7] = np.nan
    expected = fitted(data, measures="ap", redundancy=True, **options)
    order = expected.selection_order_.tolist()
    selector = fitted(data, measures="ap", **options)
    assert selector.rank_correlation_ is None
    assert selector.selection_order_.tolist() == order
    assert selector.repeats_.tolist() == expected.repeats_.tolist()
    if "missing" not in options:
        data.data = sp.csr_array(data.data)
        sparse = fitted(data, measures="ap", **options)
        assert sparse.selection_order_.tolist() == order


def test_many_features_in_parts_need_all_pairs():
    data = many_features(400)
    X, y, qid = data.data, data.target, data.qid
    selector = RankingFeatureSelector("ap", n_features_to_select=5, diversity=0.4)
    first = clone(selector).fit(X, y, qid)
    second = clone(selector).fit(X, y, qid + 100)
    screening = clone(selector).screen(X, y, qid)
    message = (
        r"redundancy must be True with max_correlation=0.95 and diversity=0.4, or "
        r"'auto' in .* 1000 features, got 'auto' and 1200 features.* "
        r"set max_correlation=None and diversity=0"
    )
    with pytest.raises(ValueError, match=message):
        clone(selector).partial_fit(X, y, qid)
    with pytest.raises(ValueError, match=message):
        clone(selector).adopt(screening, X)
    with pytest.raises(ValueError, match=message):
        first.merge(second)
    selector.set_params(max_correlation=None, diversity=0)
    uncorrelated = clone(selector).partial_fit(X, y, qid)
    assert uncorrelated.support_.sum() == 5
    selector.set_params(redundancy=True, max_correlation=0.95)
    correlated = clone(selector).partial_fit(X, y, qid)
    assert correlated.support_.sum() == 5


# -- what is added up over queries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("direction", "sign"), [("descending", 1), ("ascending", -1)])
def test_statistics_are_those_of_evaluate(web, direction, sign, weighted):
    measures = ["ndcg@5", "ap(rel=2)", "fallout@3"]
    weight = (web.qid % 3 + 1.0) if weighted else None
    data = {"qid": web.qid, "query_weight": weight}
    selector = RankingFeatureSelector(measures, direction=direction)
    selector.fit(web.data, web.target, **data)
    for j, column in enumerate(web.data.T):
        report = evaluate(web.target, sign * column, measures=measures, **data)
        summary = report.summary()
        assert np.array_equal(selector.chance_, summary.chance)
        assert np.array_equal(selector.ideal_, summary.ideal)
        for name in ("mean", "best", "worst", "lift"):
            values = getattr(selector, f"{name}_")[j]
            np.testing.assert_array_equal(values, getattr(summary, name))
        for name in ("tie_std", "interval"):
            values = getattr(selector, f"{name}_")[j]
            expected = getattr(summary, name)
            np.testing.assert_allclose(values, expected, rtol=1e-13)
    for q, p in zip(selector.qvalues_.T, selector.pvalues_.T, strict=True):
        np.testing.assert_allclose(q, stats.false_discovery_control(p))


@pytest.mark.parametrize(("direction", "sign"), [("descending", 1), ("ascending", -1)])
def test_pvalues_are_the_larger_of_both_tests(web, direction, sign):
    measures = ["ndcg@5", "ap(rel=2)", "fallout@3"]
    sides = ["greater", "greater", "less"]
    selector = RankingFeatureSelector(measures, direction=direction)
    selector.fit(web.data, web.target, qid=web.qid)
    is_ascending = int(direction == "ascending")
    variance = selector.screening_.statistics.null_variance[:, is_ascending]
    for j, column in enumerate(web.data.T):
        report = evaluate(web.target, sign * column, qid=web.qid, measures=measures)
        for m, side in enumerate(sides):
            values = report.expected[:, m]
            chance = report.chance[:, m]
            over_queries = stats.ttest_rel(values, chance, alternative=side).pvalue
            gain = (values - chance).sum()
            if side == "less":
                gain = -gain
            over_labels = stats.norm.sf(gain / np.sqrt(variance[j, m]))
            expected = max(over_queries, over_labels)
            assert selector.pvalues_[j, m] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("direction", ["auto", "descending", "mixed"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "missing", "skip"])
def test_features_of_one_call_are_as_each_alone(web, monkeypatch, kind, direction):
    subset = np.isin(web.qid, np.unique(web.qid)[:6])
    y = web.target[subset]
    qid = web.qid[subset]
    X = np.column_stack([web.data[subset], np.ones(len(y))])
    y[qid == qid[0]] = 0
    options = {}
    if kind == "skip":
        options["zero_relevance"] = "skip"
    elif kind == "sparse":
        is_large = np.median(X, axis=0) < X
        X = sp.csr_array(np.where(is_large, X, 0))
    elif kind == "missing":
        X[::7, ::2] = np.nan
        options["missing"] = "last"
    most_calls = 2 if direction == "descending" else 3
    if direction == "mixed":
        direction = ["ascending", "auto", "descending", "auto"] * 3 + ["ascending"]
    calls = []
    each_block = _prepared.Prepared.each_block

    def counted(self, *args, **options):
        calls.append(self)
        return each_block(self, *args, **options)

    monkeypatch.setattr(_prepared.Prepared, "each_block", counted)
    measures = ["ndcg@5", "ap", "fallout@3", "esl"]
    selector = RankingFeatureSelector(measures, direction=direction, **options)
    _, codes = np.unique(qid, return_inverse=True)
    weight = codes / 2
    whole = clone(selector).fit(X, y, qid, weight)
    # one more call ranks the list that ties as a whole
    assert 2 <= len(calls) <= most_calls
    monkeypatch.setattr(_feature_sums, "_FEW_CELLS", 0)
    for cells in (1, 3 * len(y)):
        monkeypatch.setattr(_prepared, "_CELLS", cells)
        parts = clone(selector).set_params(n_jobs=2).fit(X, y, qid, weight)
        assert_same(whole, parts)
        assert np.array_equal(whole.screening_.varies, parts.screening_.varies)


@pytest.fixture
def threaded(monkeypatch):
    """Let threads score the few cells of these data."""
    monkeypatch.setattr(_feature_sums, "_FEW_CELLS", 0)


@pytest.mark.usefixtures("threaded")
def test_no_bit_depends_on_rows_or_jobs(web):
    X, y, qid = web.data, web.target, web.qid
    selector = RankingFeatureSelector()
    expected = clone(selector).fit(X, y, qid, 1 / qid)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(qid))
        shuffled = clone(selector)
        shuffled.fit(X[order], y[order], qid[order], 1 / qid[order])
        assert_same(expected, shuffled)
    selector.set_params(n_jobs=2)
    for backend in ("threading", "multiprocessing"):
        with joblib.parallel_config(backend=backend):
            parallel = clone(selector).fit(X, y, qid, 1 / qid)
        assert_same(expected, parallel)


@pytest.mark.usefixtures("threaded")
@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_no_bit_depends_on_the_format_of_a_sparse_matrix(web, convert):
    X = np.where(web.data > 5, web.data, 0)
    y, qid = web.target, web.qid
    expected = RankingFeatureSelector().fit(sp.csr_matrix(X), y, qid, 1 / qid)
    order = np.random.default_rng(1).permutation(len(qid))
    shuffled = convert(X[order])
    selector = RankingFeatureSelector(n_jobs=2)
    selector.fit(shuffled, y[order], qid[order], 1 / qid[order])
    assert_same(expected, selector)
    assert sp.issparse(selector.transform(convert(X)))


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_query_ids_may_be_a_column_of_a_sparse_matrix(web, convert):
    X = sp.csr_array(np.where(web.data > 5, web.data, 0))
    apart = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    with_ids = convert(sp.hstack([X, web.qid[:, None]]))
    inside = RankingFeatureSelector(qid=-1).fit(with_ids, web.target)
    assert np.array_equal(inside.mean_[:-1], apart.mean_)


def test_sparse_columns_are_as_dense_with_the_unique_of_numpy_2_0_0(web, monkeypatch):
    X = np.where(web.data > 5, web.data, 0)
    expected = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    unique = np.unique

    def unique_with_a_column(values, axis=None, **options):
        results = unique(values, axis=axis, **options)
        if axis is None or len(results) != 4:
            return results
        distinct, first, inverse, counts = results
        return distinct, first, inverse[:, None], counts

    monkeypatch.setattr(np, "unique", unique_with_a_column)
    sparse = RankingFeatureSelector().fit(sp.csr_array(X), web.target, qid=web.qid)
    assert_same(expected, sparse)


QUERIES = st.lists(st.integers(1, 8), min_size=2, max_size=12)
MEASURES = ["ndcg@3", "ap", "rr", "fallout@2", "esl", "bpref"]


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(QUERIES, st.integers(0, 2**32 - 1), st.data())
def test_sparse_columns_are_as_dense(engine, sizes, seed, data):
    rng = np.random.default_rng(seed)
    n_rows = sum(sizes)
    n_queries = len(sizes)
    shape = n_rows, data.draw(st.integers(1, 6))
    missing = data.draw(st.sampled_from(["raise", "last"]))
    is_stored = rng.random(shape) < data.draw(st.sampled_from([0, 0.03, 0.2, 0.7]))
    X = np.where(is_stored, rng.integers(-2, 3, shape), 0.0)
    if missing == "last":
        X[rng.random(shape) < 0.03] = np.nan
    dtype = data.draw(st.sampled_from([np.float64, np.float32, np.int8, np.bool_]))
    if missing == "raise":
        X = X.astype(dtype)
    # explicit zeros count like implicit zeros
    is_explicit = rng.random(shape) < 0.05
    row, column = np.nonzero((X != 0) | is_explicit)
    sparse = sp.coo_array((X[row, column], (row, column)), shape)
    y = rng.integers(0, 3, n_rows) * (rng.random(n_rows) < 0.6)
    qid = rng.permutation(np.repeat(np.arange(n_queries), sizes))
    weight = data.draw(st.sampled_from([None, [1, 2, 0.5], [1000, 1, 1e-3, 0]]))
    merged_tolerance = 1e-12
    if weight is not None:
        # lift divides by the weight of the queries that vary, which may be a
        # millionth of the weight of the others
        if min(weight) == 0:
            merged_tolerance = 1e-8
        weight = np.resize(weight, n_queries)[qid]
    options = {
        "measures": data.draw(st.permutations(MEASURES))[:3],
        "missing": missing,
        "direction": data.draw(st.sampled_from(["auto", "ascending", "descending"])),
        "zero_relevance": data.draw(st.sampled_from([0.0, 1.0, "skip"])),
        "unjudged": data.draw(st.sampled_from(["raise", "drop"])),
        "n_features_to_select": 1,
    }
    if options["unjudged"] == "drop":
        is_unjudged = rng.random(n_rows) < 0.2
        y = np.where(is_unjudged, np.nan, y)
    selector = RankingFeatureSelector(**options)
    expected = clone(selector).fit(X, y, qid, weight)
    convert = data.draw(st.sampled_from([sp.csr_array, sp.csc_matrix, sp.coo_array]))
    whole = clone(selector).fit(convert(sparse), y, qid, weight)
    assert_same(whole, expected)
    sums = whole.screening_.statistics.values
    expected_sums = expected.screening_.statistics.values
    for name, values in vars(expected_sums).items():
        assert np.array_equal(getattr(sums, name), values)
    parts = clone(selector).set_params(n_jobs=2)
    by_row = sparse.tocsr()
    for remainder in (0, 1):
        subset = qid % 2 == remainder
        X_subset = convert(by_row[subset])
        weight_subset = None if weight is None else weight[subset]
        parts.partial_fit(X_subset, y[subset], qid[subset], weight_subset)
    assert_same(parts, expected, tolerance=merged_tolerance)


@pytest.fixture(scope="module")
def with_gaps(web):
    """A column without some of its values, and an index of those values."""
    column = web.data[:, 5].copy()
    is_missing = np.random.default_rng(0).random(len(column)) < 0.3
    column[is_missing] = np.nan
    return column, is_missing


def test_missing_values_tie_below_everything(web, with_gaps):
    column, is_missing = with_gaps
    values = web.data[:, 5]
    low = np.where(is_missing, values.min() - 1, values)
    high = np.where(is_missing, values.max() + 1, values)
    X = np.column_stack([column, column])
    selector = RankingFeatureSelector(direction=["descending", "ascending"])
    expected = clone(selector)
    expected.fit(np.column_stack([low, high]), web.target, qid=web.qid)
    selector.set_params(missing="last").fit(X, web.target, qid=web.qid)
    assert_same(selector, expected)
    selected = selector.transform(X)
    assert np.array_equal(selected, X[:, selector.get_support()], equal_nan=True)
    with pytest.raises(ValueError, match="contains NaN"):
        selector.set_params(missing="raise").transform(X)


def test_missing_values_are_refused_by_default(web, with_gaps):
    column, is_missing = with_gaps
    values = web.data[:, 5]
    both = np.column_stack([column, column])
    frame = pd.DataFrame({"good": values, "q": web.qid, "bad": column})
    message = rf"X must not contain NaN, got {is_missing.sum()} NaN in feature"
    for X, columns in [
        (both, r"0, and in 1 other feature\. Set missing="),
        (np.column_stack([values, column]), r"1\. Set missing="),
        (sp.csr_array(both), r"0, and in 1 other feature\. Set missing="),
        (frame, r"'bad'\. "),
    ]:
        with pytest.raises(ValueError, match=f"{message} {columns}"):
            RankingFeatureSelector().fit(X, web.target, qid=web.qid)


def test_missing_values_are_last_in_both_directions(web, with_gaps):
    column, _ = with_gaps
    data = {"y": web.target, "qid": web.qid}
    mirrored = np.column_stack([column, -column])
    selector = RankingFeatureSelector(missing="last").fit(mirrored, **data)
    assert selector.directions_.tolist() == ["descending", "ascending"]
    assert np.array_equal(selector.mean_[0], selector.mean_[1])
    assert selector.rank_correlation_[0, 1] == pytest.approx(1)
    # in one direction, the correlation of the copies is not -1, and a note says so
    selector = RankingFeatureSelector(
        missing="last", direction="descending", n_features_to_select=1
    )
    selector.fit(mirrored, **data)
    assert selector.rank_correlation_[0, 1] > -0.9
    assert selector.to_pandas().correlation.min() == -1
    note = "(-1.00): of the copy in the other direction, missing values last"
    assert note in str(selector.screening_)
    auto = clone(selector).set_params(direction="auto")
    auto.fit(np.column_stack([column, column]), **data)
    assert note not in str(auto.screening_)


def test_correlations_of_a_huge_query_do_not_depend_on_row_order():
    rng = np.random.default_rng(0)
    n_rows = 400_000
    X = rng.random((n_rows, 2))
    y = rng.integers(0, 2, n_rows)
    qid = np.zeros(n_rows)
    order = rng.permutation(n_rows)
    selector = RankingFeatureSelector("p@5", n_features_to_select=1)
    expected = clone(selector).fit(X, y, qid=qid).rank_correlation_
    shuffled = clone(selector).fit(X[order], y[order], qid=qid).rank_correlation_
    assert np.array_equal(expected, shuffled)


@pytest.mark.parametrize("missing", ["raise", "last"])
def test_queries_of_one_document_correlate_nothing(missing):
    selector = RankingFeatureSelector("p@5", missing=missing)
    screening = selector.screen([[1.0, 2.0], [3.0, 4.0]], [1, 0], qid=[1, 2])
    assert not screening.rank_correlation.any()


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_are_means_over_queries(weighted):
    rng = np.random.default_rng(1)
    sizes = np.concatenate([rng.integers(2, 40, 60), [400, 401, 1]])
    n_queries = len(sizes)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.integers(0, 50, (len(qid), 5)).astype(float)
    # constant within a query
    X[qid == 3, 1] = 2.0
    weight = rng.integers(0, 4, n_queries).astype(float)
    y = rng.integers(0, 2, len(qid))
    selector = RankingFeatureSelector("p@5", direction="descending")
    if weighted:
        selector.fit(X, y, qid=qid, query_weight=weight[qid])
    else:
        selector.fit(X, y, qid=qid)
        weight = np.ones(n_queries)
    total = np.zeros((5, 5))
    weight_sum = np.zeros((5, 5))
    for query in np.flatnonzero(sizes > 1):
        X_query = X[qid == query]
        varies = np.ptp(X_query, axis=0) > 0
        correlation = stats.spearmanr(X_query[:, varies]).statistic
        pairs = np.ix_(varies, varies)
        total[pairs] += weight[query] * correlation
        weight_sum[pairs] += weight[query]
    expected = total / weight_sum
    np.testing.assert_allclose(selector.rank_correlation_, expected, atol=1e-12)
