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
from tieaware_sklearn.feature_selection import _selection, _statistics

#: the best features, whatever they repeat
PLAIN = {"max_correlation": None}


def test_auto_takes_the_better_direction_and_pays_for_it(web):
    down, up = fitted(web, direction="descending"), fitted(web, direction="ascending")
    auto = fitted(web)
    better = np.where(up.mean_[:, 0] > down.mean_[:, 0], "ascending", "descending")
    assert auto.directions_.tolist() == better.tolist()
    assert auto.directions_[web.feature_names.index("url_length")] == "ascending"
    one = np.where((better == "ascending")[:, None], up.pvalues_, down.pvalues_)
    np.testing.assert_array_equal(auto.pvalues_, np.minimum(1, 2 * one))
    assert fitted(web, direction=better.tolist()).pvalues_ == pytest.approx(one)


@pytest.mark.parametrize(("at", "name"), [(0, "ndcg@10"), (1, "fallout@5"), (2, "rr")])
def test_sort_by_alone_decides(web, at, name):
    measures = ["ndcg@10", "fallout@5", "rr"]
    selector = fitted(web, measures=measures, sort_by=name, n_features_to_select=3)
    alone = fitted(web, measures=name, n_features_to_select=3)
    np.testing.assert_array_equal(selector.mean_[:, [at]], alone.mean_)
    np.testing.assert_array_equal(selector.ranking_, alone.ranking_)
    np.testing.assert_array_equal(selector.support_, alone.support_)
    best = np.argmin if name == "fallout@5" else np.argmax
    assert alone.ranking_[best(alone.mean_[:, 0])] == 1


def test_no_constant_feature_is_ever_selected(web):
    rng = np.random.default_rng(0)
    per_query = rng.random(web.qid.max() + 1)[web.qid]
    X = np.column_stack([np.zeros(len(web.qid)), web.data[:, 1], per_query])
    data = Bunch(data=X, target=web.target, qid=web.qid)
    for parameters in (
        {},
        {"direction": "ascending", "alpha": 1.0, "min_lift": -100},
        {"zero_relevance": "skip", "alpha": 1.0},
    ):
        selector = fitted(data, **parameters)
        assert selector.support_.tolist() in ([False, True, False], [False] * 3)
        assert selector.pvalues_[[0, 2]].tolist() == [[1.0] * 3] * 2
        np.testing.assert_array_equal(selector.mean_[0], selector.chance_)
        np.testing.assert_array_equal(selector.lift_[0], [0.0] * 3)
    data.data = np.column_stack([X, X[:, 1] * 2])
    with (
        pytest.warns(UserWarning, match=r"=4, but only 2 of 4 features vary"),
        pytest.warns(UserWarning, match="1 of the selected features is an exact copy"),
    ):
        selector = fitted(data, n_features_to_select=4)
    assert selector.selection_order_.tolist() == [1, 3]
    assert selector.repeats_.tolist() == [-1] * 4


def test_a_single_query_keeps_everything_and_says_so(web):
    X = np.column_stack([web.data[:, :3], np.ones(len(web.qid)), -web.data[:, :3]])
    data = Bunch(data=X, target=web.target, qid=np.zeros(len(web.qid)))
    said = "p-values need at least two queries, got 1: every feature that is not const"
    with pytest.warns(UserWarning, match=f"{said}ant is"):
        selector = fitted(data, max_correlation=None)
    assert selector.support_.tolist() == [True, True, True, False, True, True, True]
    assert np.isnan(selector.pvalues_).all()
    assert np.isnan(selector.interval_).all()
    weight = (web.qid == 3).astype(float)
    with pytest.warns(UserWarning, match=f"{said}ant and repeats no other is"):
        usable = RankingFeatureSelector().fit(X, web.target, web.qid, weight)
    order = usable.selection_order_
    assert sorted(order % 4 - order // 4) == [0, 1, 2]
    chosen = fitted(data, n_features_to_select=1)
    assert chosen.support_.sum() == 1
    assert chosen.ranking_[chosen.support_] == 1


@pytest.mark.parametrize(
    ("number", "n_selected"), [(3, 3), (0.5, 6), (1.0, 12), (1e-9, 1), (7 / 12, 7)]
)
def test_number_of_features(web, number, n_selected):
    options = {"n_features_to_select": number, "redundancy": False}
    selector = fitted(web, **options, **PLAIN)
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= n_selected)
    assert selector.transform(web.data).shape == (len(web.qid), n_selected)
    assert (np.diff(selector.ranking_[selector.selection_order_]) > 0).all()
    # without a number, q and lift decide
    selector = fitted(web, alpha=0.01, min_lift=0.1, redundancy=False, **PLAIN)
    good = (selector.qvalues_[:, 0] <= 0.01) & (selector.lift_[:, 0] >= 0.1)
    np.testing.assert_array_equal(selector.support_, good)
    assert 0 < selector.support_.sum() < len(selector.support_)


# -- features that repeat others


def by_definition(selector, number, limit, diversity):
    """The features chosen, from lift and rank correlation alone."""
    lift, rank = selector.lift_[:, 0], selector.ranking_
    rho = np.round(np.abs(selector.rank_correlation_), 10)
    chosen = [int(np.argmin(rank))]
    while len(chosen) < number:
        closest = rho[:, chosen].max(axis=1)
        left = [j for j in np.argsort(rank) if j not in chosen]
        if limit is not None:
            left = [j for j in left if closest[j] <= limit and closest[j] < 1]
        if not left:
            break
        value = (1 - diversity) * lift / lift.max() - diversity * closest
        if not diversity:
            value = -rank.astype(float)
        chosen.append(max(left, key=lambda j: (round(value[j], 10), -rank[j])))
    return chosen


def similar_features(seed, n_features=8, n_queries=12):
    """Features of which some are much alike, and labels that they tell something of."""
    rng = np.random.default_rng(seed)
    n = 8 * n_queries
    y = rng.integers(0, 3, n)
    common = y[:, None] + rng.normal(0, 1, (n, 3))
    X = common[:, rng.integers(0, 3, n_features)]
    scale = 10.0 ** rng.integers(0, 3, n_features)
    X = np.round((X + rng.normal(0, 0.4, X.shape)) * scale) / scale
    return Bunch(data=X, target=y, qid=np.repeat(np.arange(n_queries), 8))


@pytest.mark.parametrize("limit", [0.3, 0.8, 1.0, None])
@pytest.mark.parametrize("diversity", [0, 0.3, 1])
@pytest.mark.filterwarnings("ignore:n_features_to_select")
def test_the_choice_is_that_of_the_definition(limit, diversity):
    for seed in range(8):
        data, number = similar_features(seed), seed + 1
        options = {"max_correlation": limit, "diversity": diversity}
        selector = fitted(data, n_features_to_select=number, **options)
        wanted = by_definition(selector, number, limit, diversity)
        # repeats fill up, the best first
        rest = [j for j in np.argsort(selector.ranking_) if j not in wanted]
        order = [*wanted, *rest][:number]
        assert selector.selection_order_.tolist() == order
        assert np.flatnonzero(selector.support_).tolist() == sorted(order)
        rho = np.round(np.abs(selector.rank_correlation_), 10)
        for j, own in enumerate(rho[:, order]):
            is_repeat = limit is not None and j not in order and own.max() > limit
            closest = order[np.argmax(own)] if is_repeat else -1
            assert selector.repeats_[j] == closest


@pytest.mark.parametrize(
    ("missing", "direction"), [("raise", "auto"), ("last", "descending")]
)
def test_copies_under_every_monotone_map_are_recognised(web, missing, direction):
    X = web.data[:, [1, 5, 2]] + 10.0
    if missing == "last":
        X[::7] = np.nan
    # the reversed one of missing values has them last, too, as its lowest
    copies = np.hstack([np.log(X), X, 2 * X + 1, np.nan_to_num(-X, nan=-1e9), X**3])
    given = Bunch(data=copies, target=web.target, qid=web.qid)
    options = {"missing": missing, "direction": direction, "measures": "ndcg@10"}
    for diversity in (0, 0.4, 1):
        selector = fitted(given, n_features_to_select=3, diversity=diversity, **options)
        assert sorted(selector.selection_order_ % 3) == [0, 1, 2]
        left_out = np.flatnonzero(~selector.support_)
        assert (selector.repeats_[left_out] % 3 == left_out % 3).all()
    by_q = fitted(given, **options)
    assert sorted(by_q.selection_order_ % 3) == [0, 1, 2]
    # a reversed copy is left out, though it ranks worse
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


def test_copies_are_chosen_last_and_with_a_warning(web, recwarn):
    # clicks and text_score; the noise and a similar feature remain before copies
    X = web.data[:, [1, 5, 6]]
    similar = X[:, [1]] + 0.1 * np.random.default_rng(0).normal(size=(len(X), 1))
    data = Bunch(data=np.hstack([X, 2 * X, similar]), target=web.target, qid=web.qid)
    for number, copies, which in [
        (3, 0, None),
        (4, 0, None),
        (5, 1, "is an exact copy"),
        (7, 3, "are exact copies"),
    ]:
        recwarn.clear()
        selector = fitted(data, n_features_to_select=number, max_correlation=0.9)
        order = selector.selection_order_
        assert len(order) == number
        ranked = np.array([0, 1, 2, 0, 1, 2, 1])[order]
        assert sorted(ranked[:3]) == [0, 1, 2]
        assert (ranked[3:4] == 1).all()
        said = "but only 4 features rank differently: {} of the selected features {} of"
        assert len(recwarn) == bool(copies)
        assert all(said.format(copies, which) in str(one.message) for one in recwarn)
    # features that rank worse than chance, or that nothing is known of
    y = np.random.default_rng(0).integers(0, 2, 60)
    X = -y[:, None] + np.random.default_rng(1).normal(0, [0.1, 0.5, 0.9], (60, 3))
    data = Bunch(data=X, target=y, qid=np.repeat(np.arange(6), 10))
    selector = fitted(data, n_features_to_select=2, direction="descending")
    assert (selector.lift_ < 0).all()
    assert selector.selection_order_[0] == np.argmin(selector.ranking_)
    data.target = np.zeros(60)
    none = fitted(data, n_features_to_select=3, max_correlation=None)
    assert len(none.selection_order_) == 3


# -- parts of the data, and more features than are correlated in pairs


def many_features(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    X = y[:, None] * rng.random(n) + rng.normal(0, 1, (120, n))
    X = np.hstack([X, 2 * X + 1, -X])[:, rng.permutation(3 * n)]
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
    found = fitted(data, measures="ap", **options)
    wanted = fitted(data, measures="ap", redundancy=True, **options)
    assert found.rank_correlation_ is None
    assert found.selection_order_.tolist() == wanted.selection_order_.tolist()
    assert found.repeats_.tolist() == wanted.repeats_.tolist()
    data.data = sp.csr_array(data.data)
    if "missing" not in options:
        again = fitted(data, measures="ap", **options)
        assert again.selection_order_.tolist() == wanted.selection_order_.tolist()


def test_many_features_in_parts_need_all_pairs():
    data = many_features(400)
    arguments = data.data, data.target, data.qid
    selector = RankingFeatureSelector("ap", n_features_to_select=5, diversity=0.4)
    one, other = (
        clone(selector).fit(*arguments[:2], qid=data.qid + first) for first in (0, 100)
    )
    screening = clone(selector).screen(*arguments)
    message = (
        r"redundancy must be True with max_correlation=0.95 and diversity=0.4, or "
        r"'auto' with .* 1000 features, got 'auto' and 1200 features.* "
        r"set max_correlation=None and diversity=0"
    )
    for call in (
        lambda: clone(selector).partial_fit(*arguments),
        lambda: clone(selector).adopt(screening, data.data),
        lambda: one.merge(other),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    correlated = {"redundancy": True, "max_correlation": 0.95}
    for options in (PLAIN | {"diversity": 0}, correlated):
        selector.set_params(**options)
        assert clone(selector).partial_fit(*arguments).support_.sum() == 5


# -- what is added up over queries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("direction", ["descending", "ascending"])
def test_statistics_are_those_of_evaluate(web, direction, weighted):
    measures = ["ndcg@5", "ap(rel=2)", "fallout@3"]
    weight = (web.qid % 3 + 1.0) if weighted else None
    given = {"qid": web.qid, "query_weight": weight}
    selector = RankingFeatureSelector(measures, direction=direction)
    selector.fit(web.data, web.target, **given)
    way = int(direction == "ascending")
    known = np.sqrt(selector.screening_.statistics.null_variance[:, way])
    for j in range(web.data.shape[1]):
        column = web.data[:, j] if direction == "descending" else -web.data[:, j]
        report = evaluate(web.target, column, measures=measures, **given)
        summary = report.summary()
        assert np.array_equal(selector.chance_, summary.chance)
        assert np.array_equal(selector.ideal_, summary.ideal)
        for name in ("mean", "best", "worst", "tie_std", "lift", "interval"):
            found, expected = getattr(selector, f"{name}_")[j], getattr(summary, name)
            rtol = 1e-13 if name in ("tie_std", "interval") else 0
            np.testing.assert_allclose(found, expected, rtol=rtol)
        for m, side in enumerate([] if weighted else ["greater", "greater", "less"]):
            values = report.expected[:, m], report.chance[:, m]
            expected = stats.ttest_rel(*values, alternative=side).pvalue
            gain = (values[0] - values[1]).sum() * (-1 if side == "less" else 1)
            expected = max(expected, stats.norm.sf(gain / known[j, m]))
            assert selector.pvalues_[j, m] == pytest.approx(expected, rel=1e-9)
    for q, p in zip(selector.qvalues_.T, selector.pvalues_.T, strict=True):
        np.testing.assert_allclose(q, stats.false_discovery_control(p))


@pytest.mark.parametrize("direction", ["auto", "descending", "mixed"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "missing", "skip"])
def test_features_of_one_call_are_as_each_alone(web, monkeypatch, kind, direction):
    some = np.flatnonzero(np.isin(web.qid, np.unique(web.qid)[:6]))
    X, y, qid = web.data[some], web.target[some].copy(), web.qid[some]
    X = np.hstack([X, np.ones((len(X), 1))])
    y[qid == qid[0]] = 0
    options = {"zero_relevance": "skip"} if kind == "skip" else {}
    if kind == "sparse":
        X = sp.csr_array(np.where(np.median(X, axis=0) < X, X, 0))
    elif kind == "missing":
        X[::7, ::2] = np.nan
        options = {"missing": "last"}
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
    given = X, y, qid, np.unique(qid, return_inverse=True)[1] / 2
    whole = clone(selector).fit(*given)
    # and one more, of a list that ties as a whole
    assert 2 <= len(calls) <= (2 if direction == "descending" else 3)
    monkeypatch.setattr(_statistics, "_FEW_CELLS", 0)
    for cells in (1, 3 * len(y)):
        monkeypatch.setattr(_prepared, "_CELLS", cells)
        parts = clone(selector).set_params(n_jobs=2).fit(*given)
        assert_same(whole, parts)
        assert np.array_equal(whole.screening_.varies, parts.screening_.varies)


def test_no_bit_depends_on_rows_or_jobs_or_how_columns_are_held(web, monkeypatch):
    # so few that one thread would score them
    monkeypatch.setattr(_statistics, "_FEW_CELLS", 0)
    selector = RankingFeatureSelector()
    given = web.data, web.target, web.qid, 1 / web.qid
    whole = clone(selector).fit(*given)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(web.qid))
        assert_same(whole, clone(selector).fit(*(values[order] for values in given)))
    for backend in ("threading", "multiprocessing"):
        with joblib.parallel_config(backend=backend):
            assert_same(whole, clone(selector).set_params(n_jobs=2).fit(*given))
    X = np.where(web.data > 5, web.data, 0)
    first = clone(selector).fit(sp.csr_matrix(X), *given[1:])
    for convert in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        by_row = (values[order] for values in given[1:])
        sparse = clone(selector).set_params(n_jobs=2).fit(convert(X[order]), *by_row)
        assert_same(first, sparse)
        assert sp.issparse(sparse.transform(convert(X)))


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_query_ids_may_be_a_column_of_a_sparse_matrix(web, convert):
    X = sp.csr_array(np.where(web.data > 5, web.data, 0))
    apart = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    with_ids = convert(sp.hstack([X, web.qid[:, None]]))
    inside = RankingFeatureSelector(qid=-1).fit(with_ids, web.target)
    assert np.array_equal(inside.mean_[:-1], apart.mean_)


QUERIES = st.lists(st.integers(1, 8), min_size=2, max_size=12)
MEASURES = ["ndcg@3", "ap", "rr", "fallout@2", "esl", "bpref"]


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40)
@given(QUERIES, st.integers(0, 2**32 - 1), st.data())
def test_sparse_columns_are_as_dense(engine, sizes, seed, data):
    rng = np.random.default_rng(seed)
    n_rows = sum(sizes)
    shape = n_rows, data.draw(st.integers(1, 6))
    missing = data.draw(st.sampled_from(["raise", "last"]))
    there = rng.random(shape) < data.draw(st.sampled_from([0, 0.03, 0.2, 0.7]))
    X = np.where(there, rng.integers(-2, 3, shape), 0.0)
    if missing == "last":
        X[rng.random(shape) < 0.03] = np.nan
    kind = data.draw(st.sampled_from([np.float64, np.float32, np.int8, np.bool_]))
    X = X.astype(kind) if missing == "raise" else X
    # explicit zeros are as others
    row, column = np.nonzero((X != 0) | (rng.random(shape) < 0.05))
    sparse = sp.coo_array((X[row, column], (row, column)), shape)
    y = rng.integers(0, 3, n_rows) * (rng.random(n_rows) < 0.6)
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    weight = data.draw(st.sampled_from([None, [1, 2, 0.5], [1000, 1, 1e-3, 0]]))
    # lift divides by what the queries that vary weigh, here a millionth of the others
    merged_tolerance = 1e-12 if weight is None or min(weight) == 0.5 else 1e-8
    if weight is not None:
        weight = np.resize(weight, len(sizes))[qid]
    options = {
        "measures": data.draw(st.permutations(MEASURES))[:3],
        "missing": missing,
        "direction": data.draw(st.sampled_from(["auto", "ascending", "descending"])),
        "zero_relevance": data.draw(st.sampled_from([0.0, 1.0, "skip"])),
        "unjudged": data.draw(st.sampled_from(["raise", "drop"])),
        "n_features_to_select": 1,
    }
    if options["unjudged"] == "drop":
        y = np.where(rng.random(n_rows) < 0.2, np.nan, y)
    selector = RankingFeatureSelector(**options)
    expected = clone(selector).fit(X, y, qid, weight)
    convert = data.draw(st.sampled_from([sp.csr_array, sp.csc_matrix, sp.coo_array]))
    whole = clone(selector).fit(convert(sparse), y, qid, weight)
    assert_same(whole, expected)
    for name, values in vars(expected.screening_.statistics.worth).items():
        assert np.array_equal(getattr(whole.screening_.statistics.worth, name), values)
    parts = clone(selector).set_params(n_jobs=2)
    for some in (qid % 2 == 0, qid % 2 == 1):
        own = None if weight is None else weight[some]
        parts.partial_fit(convert(sparse.tocsr()[some]), y[some], qid[some], own)
    assert_same(parts, expected, tolerance=merged_tolerance)


def test_missing_values_tie_below_everything(web):
    column = web.data[:, 5].copy()
    gone = np.random.default_rng(0).random(len(column)) < 0.3
    low, high = column.copy(), column.copy()
    low[gone], high[gone] = column.min() - 1, column.max() + 1
    column[gone] = np.nan
    X, rows = np.column_stack([column, column]), {"y": web.target, "qid": web.qid}
    both = RankingFeatureSelector(direction=["descending", "ascending"])
    expected = clone(both).fit(np.column_stack([low, high]), **rows)
    assert_same(both.set_params(missing="last").fit(X, **rows), expected)
    kept = both.transform(X)
    assert np.array_equal(kept, X[:, both.get_support()], equal_nan=True)
    with pytest.raises(ValueError, match="contains NaN"):
        both.set_params(missing="raise").transform(X)
    got = rf"X must not hold NaN, got {gone.sum()} in column"
    frame = pd.DataFrame({"good": low, "q": web.qid, "bad": column})
    for bad, message in (
        (X, rf"{got} 0 and 1 more \(missing="),
        (np.column_stack([low, column]), rf"{got} 1 \(missing="),
        (sp.csr_array(X), rf"{got} 0 and 1 more \(missing="),
        (frame, f"{got} 'bad' "),
    ):
        with pytest.raises(ValueError, match=message):
            RankingFeatureSelector().fit(bad, **rows)
    # w by higher values and -w by lower ones are the same ranking, NaN and all
    mirrored = RankingFeatureSelector(missing="last")
    mirrored.fit(np.column_stack([column, -column]), **rows)
    assert mirrored.directions_.tolist() == ["descending", "ascending"]
    assert np.array_equal(mirrored.mean_[0], mirrored.mean_[1])
    assert mirrored.rank_correlation_[0, 1] == pytest.approx(1)
    # in one direction they repeat each other by a correlation that the table explains
    same = mirrored.set_params(direction="descending", n_features_to_select=1)
    found = same.fit(np.column_stack([column, -column]), **rows)
    assert found.rank_correlation_[0, 1] > -0.9
    assert found.to_pandas().correlation.min() == -1
    note = "(-1.00): of the copy in the other direction, missing values last"
    assert note in str(found.screening_)
    assert note not in str(clone(same).set_params(direction="auto").fit(X, **rows))


def test_correlations_of_a_huge_query_do_not_depend_on_row_order():
    rng = np.random.default_rng(0)
    X, y = rng.random((400_000, 2)), rng.integers(0, 2, 400_000)
    selector = RankingFeatureSelector("p@5", n_features_to_select=1)
    order, one = rng.permutation(len(y)), np.zeros(len(y))
    first = clone(selector).fit(X, y, qid=one).rank_correlation_
    again = clone(selector).fit(X[order], y[order], qid=one).rank_correlation_
    assert np.array_equal(first, again)
    # and single documents correlate nothing
    for missing in ("raise", "last"):
        selector = RankingFeatureSelector("p@5", missing=missing)
        single = selector.screen([[1.0, 2.0], [3.0, 4.0]], [1, 0], qid=[1, 2])
        assert not single.rank_correlation.any()


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_are_means_of_those_of_each_query(weighted):
    rng = np.random.default_rng(1)
    sizes = np.concatenate([rng.integers(2, 40, 60), [400, 401, 1]])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.integers(0, 50, (len(qid), 5)).astype(float)
    # constant within a query
    X[qid == 3, 1] = 2.0
    weight = rng.integers(0, 4, len(sizes)).astype(float)
    options = {"query_weight": weight[qid]} if weighted else {}
    selector = RankingFeatureSelector("p@5", direction="descending")
    found = selector.fit(X, rng.integers(0, 2, len(qid)), qid=qid, **options)
    total, n = np.zeros((2, 5, 5))
    for query in np.flatnonzero(sizes > 1):
        part = X[qid == query]
        there = np.ptp(part, axis=0) > 0
        both = np.ix_(there, there)
        own = weight[query] if weighted else 1.0
        total[both] += own * stats.spearmanr(part[:, there]).statistic
        n[both] += own
    np.testing.assert_allclose(found.rank_correlation_, total / n, atol=1e-12)
