"""Screenings: as tables, merged, and as bytes."""

import io
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.feature_selection.helpers import assert_same, fitted
from tests.instances import MEASURES
from tieaware_sklearn import RankingFeatureSelector, Screening
from tieaware_sklearn._display import words

FIGURES = ["mean", "best", "worst", "tie_std", "lift", "interval", "pvalues", "qvalues"]
FIGURES += ["chance", "ideal", "n_averaged", "ranking", "varies", "query_digests"]


def test_table_names_what_a_feature_repeats(web):
    X = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    table = selector.to_pandas()
    assert table.columns[:4].tolist() == ["rank", "feature", "direction", "selected"]
    assert table["rank"].tolist() == list(range(1, 13))
    selected = table["feature"][table["selected"]].tolist()
    assert table["chosen"].dropna().tolist() == list(range(1, len(selected) + 1))
    assert pd.api.types.is_integer_dtype(table["chosen"])
    assert sorted(selected) == sorted(selector.get_feature_names_out())
    mean = table["NDCG@10"]
    assert (table["NDCG@10_interval_low"] < mean).all()
    assert (mean < table["NDCG@10_interval_high"]).all()
    assert (np.diff(mean) <= 0).all()
    assert pd.isna(table.loc[0, "repeats"])
    by_name = table.set_index("feature")
    assert by_name.loc["log_clicks", "repeats"] == "clicks"
    assert by_name.loc["log_clicks", "correlation"] == pytest.approx(1)


def test_uncorrelated_features_repeat_nothing():
    X = np.tile([[1, 2], [2, 4], [3, 1], [4, 3]], (2, 1))
    qid = np.repeat([0, 1], 4)
    y = np.tile([0, 1, 0, 1], 2)
    table = RankingFeatureSelector("ap").fit(X, y, qid=qid).to_pandas()
    assert table["repeats"].isna().all()
    assert table["correlation"].isna().all()


def test_without_correlations_no_feature_repeats(web):
    selector = fitted(web, redundancy=False, max_correlation=None)
    assert selector.rank_correlation_ is None
    assert selector.to_pandas()["repeats"].isna().all()


def test_a_screening_leaves_out_the_column_of_ids(web):
    X = np.insert(web.data, 3, web.qid, axis=1)
    selector = RankingFeatureSelector(qid=3).fit(X, web.target)
    screening = selector.screening_
    columns = np.delete(np.arange(13), 3)
    for name in [*FIGURES[:8], "ranking", "directions"]:
        values = getattr(selector, f"{name}_")[columns]
        assert_array_equal(values, getattr(screening, name))
    assert screening.measures == selector.measures_
    assert screening.sort_by == "NDCG@10"
    assert screening.feature_names == tuple(f"x{j}" for j in columns)


def test_attributes_are_copies(web):
    selector = fitted(web)
    table = selector.to_pandas()
    for name in ("mean_", "ranking_", "chance_", "interval_", "rank_correlation_"):
        getattr(selector, name)[:] = 0
    assert selector.to_pandas().equals(table)


def test_it_prints_and_pickles(web):
    screening = fitted(web).screening_.named(web.feature_names)
    text = str(screening)
    lines = text.splitlines()
    # the rank and the interval do not fit
    heads = ["feature", "direction", "NDCG@10", "qvalue", "AP"]
    assert lines[0].split()[:5] == heads
    names = [row["feature"] for row in screening.rows()]
    shown = [line.split()[0] for line in lines[3 : 3 + len(names)]]
    assert shown == names
    assert "\nHidden columns: rank, chosen, NDCG@10 ±95%," in text
    (table,) = screening._tables()
    meaning = table.meaning("(chance)")
    assert meaning
    assert meaning == words.meaning("chance")
    # names are aligned to the left
    assert re.search('<th [^>]*class="name"[^>]*>repeats', screening.to_html())
    loaded = pickle.loads(pickle.dumps(screening))
    assert repr(loaded) == text
    assert loaded.to_pandas().equals(screening.to_pandas())
    with pytest.raises(ValueError, match=r"one name per feature \(12\), got 1"):
        screening.named(["a"])


def test_at_most_20_features_are_printed():
    assert str(made(2, 24, measures="ap")).endswith("... and 4 more")
    assert "more" not in str(made(2, 20, measures="ap"))


# -- merged and adopted


OTHER_OPTIONS = [
    ({"measures": "rr"}, r"got measures: .ReciprocalRank.* instead of .NDCG"),
    (
        {"sort_by": "ap"},
        r"got sort_by: AP\(rel=1,.*\) instead of NDCG\(gain=expo.*\)@10",
    ),
    ({"zero_relevance": "skip"}, "got zero_relevance: skip instead of 0.0"),
    ({"missing": "last"}, "got missing: last instead of raise"),
    ({"unjudged": "drop"}, "got unjudged: drop instead of raise"),
    (
        {"redundancy": False, "max_correlation": None},
        "got redundancy: False instead of True",
    ),
    (
        {"direction": ["auto"] * 11 + ["descending"]},
        "got direction: .*'descending'.* instead of",
    ),
]


@pytest.mark.parametrize(("options", "message"), OTHER_OPTIONS)
def test_different_options_are_neither_adopted_nor_merged(web, options, message):
    selector = fitted(web)
    screening = selector.screening_
    different = RankingFeatureSelector(**options)
    with pytest.raises(ValueError, match="made with the measures and options"):
        different.adopt(screening, web.data)
    assert not hasattr(different, "n_features_in_")
    different.fit(web.data, web.target, qid=web.qid + 1000)
    message = f"options of this screening, {message}"
    with pytest.raises(ValueError, match=message):
        screening.merge(different.screening_)
    with pytest.raises(ValueError, match=message):
        selector.merge(different)
    selector.set_params(**options)
    message = "must not change after fitting"
    with pytest.raises(ValueError, match=message):
        selector.partial_fit(web.data, web.target, web.qid + 1000)
    with pytest.raises(ValueError, match=message):
        selector.merge(different)
    assert selector.screening_ is screening


def test_a_default_that_is_spelled_out_is_the_same_measure(web):
    screening = fitted(web).screening_
    names = ("NDCG(gain=exponential)@10", "AP(rel=1)", "RR")
    selector = RankingFeatureSelector(measures=names)
    selector.fit(web.data, web.target, qid=web.qid + 1000)
    spelled_out = loaded(selector.screening_)
    assert spelled_out.measures == names
    assert screening.merge(spelled_out).measures == ("NDCG@10", "AP", "RR")
    selector.adopt(screening, web.data)
    assert selector.screening_.measures == screening.measures
    selector.partial_fit(web.data, web.target, qid=web.qid + 1000)
    assert selector.screening_.n_queries == 2 * screening.n_queries


@pytest.fixture
def single(web):
    """A selector of one feature, fitted on a frame."""
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector(n_features_to_select=1)
    return selector.fit(frame, web.target, qid=web.qid)


@pytest.fixture
def unnamed(web, single):
    return single.screen(web.data, web.target, qid=web.qid)


def test_a_screening_of_different_features_is_not_adopted(web, single, unnamed):
    screening = single.screening_
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    selected = single.transform(frame)
    reordered = frame[frame.columns[::-1]]
    for screening_, X, message in [
        (screening, web.data[:, :5], "the 5 features of X .*, got 12 .in_degree"),
        (screening, reordered, "the 12 features of X .log_clicks, .*got 12 .in_degree"),
        (unnamed, web.data[:, :2], r"the 2 features of X \(x0, x1\), got 12 \(x0"),
        (None, frame, "must be a Screening, got None"),
        (single, frame, "screening must be a Screening"),
    ]:
        with pytest.raises(ValueError, match=message):
            single.adopt(screening_, X)
        assert_array_equal(single.transform(frame), selected)


def test_screenings_and_selectors_merge_only_with_their_kind(single, unnamed):
    screening = single.screening_
    with pytest.raises(
        ValueError, match="got 'in_degree' as feature 0 instead of 'x0'"
    ):
        unnamed.merge(screening)
    with pytest.raises(
        ValueError, match=r"merge accepts screenings as separate arguments, .*got int"
    ):
        unnamed.merge(3)
    message = "other must be another RankingFeatureSelector"
    with pytest.raises(ValueError, match=f"{message}, got 3"):
        single.merge(3)
    with pytest.raises(ValueError, match=message):
        single.merge(single)
    assert single.screening_ is screening


def test_an_adopted_screening_without_names_has_those_of_x(web, single, unnamed):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    adopted = clone(single).adopt(unnamed, frame[:0])
    assert adopted.screening_.feature_names == tuple(web.feature_names)
    assert_same(adopted, single)
    assert unnamed.selection is None


def test_qid_must_not_change_after_the_first_queries(web, single):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    single.set_params(qid=3)
    with pytest.raises(ValueError, match="must not change after fitting"):
        single.partial_fit(frame, web.target)


@pytest.fixture(scope="module")
def halves(web):
    """Data of two thirds of the queries, and of the remaining third."""
    is_second = web.qid <= 20
    first = web.data[~is_second], web.target[~is_second], web.qid[~is_second]
    second = web.data[is_second], web.target[is_second], web.qid[is_second]
    return first, second


def constant_weight(data, weight):
    return np.full(len(data[0]), weight)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_screenings_with_and_without_weights_do_not_merge(halves, weight):
    """Weights are weights even if all of them are 0 or 1."""
    first, second = halves
    selector = RankingFeatureSelector("ap")
    unweighted = selector.screen(*first)
    weighted = selector.screen(*second, constant_weight(second, weight))
    assert not unweighted.weighted
    assert weighted.weighted
    for screening in (weighted, loaded(weighted)):
        with pytest.raises(
            ValueError, match="query_weight given: True instead of False"
        ):
            unweighted.merge(screening)
        with pytest.raises(
            ValueError, match="query_weight given: False instead of True"
        ):
            screening.merge(unweighted)
    both = weighted.merge(selector.screen(*first, constant_weight(first, 2.0)))
    assert loaded(both).weighted


@pytest.mark.parametrize(
    ("first_weight", "second_weight", "message"),
    [
        (None, 0.0, "weights after queries with none"),
        (None, 1.0, "weights after queries with none"),
        (2.0, None, "none after queries with weights"),
    ],
)
def test_all_batches_have_weights_or_none(halves, first_weight, second_weight, message):
    first, second = halves
    weights = []
    for data, weight in [(first, first_weight), (second, second_weight)]:
        if weight is None:
            weights.append(None)
        else:
            weights.append(constant_weight(data, weight))
    selector = RankingFeatureSelector("ap").partial_fit(*first, weights[0])
    screening = selector.screening_
    with pytest.raises(ValueError, match=f"all queries or for none, got {message}"):
        selector.partial_fit(*second, weights[1])
    assert selector.screening_ is screening


def test_labels_of_other_columns_do_not_merge(web):
    features = list(web.feature_names)
    frame = pd.DataFrame(web.data, columns=features)
    frame = frame.assign(qid=web.qid, l1=web.target, l2=web.target[::-1])
    parts = [frame[frame.qid % 4 == remainder] for remainder in range(4)]

    def batch_fitted(part, label):
        selector = RankingFeatureSelector("ap")
        return selector.fit_batches([part], label=label, features=features)

    first = batch_fitted(parts[0], "l1")
    different = batch_fitted(parts[1], "l2")
    second = batch_fitted(parts[2], "l1")
    assert first.screening_.label == "l1"
    with pytest.raises(ValueError, match="got label: l2 instead of l1"):
        first.merge(different)
    # labels of arrays have no name
    array = RankingFeatureSelector("ap")
    array.fit(parts[3][features], parts[3].l2, qid=parts[3].qid)
    assert array.screening_.label is None
    assert array.screening_.merge(first.screening_).label == "l1"
    merged = Screening.merge(first.screening_, second.screening_, array.screening_)
    pairwise = first.merge(second).merge(array).screening_
    assert merged.label == "l1"
    assert pairwise.label == "l1"
    assert_array_equal(merged.mean, pairwise.mean)


# -- as bytes


def made(n_queries, n_features, seed=0, first=0, query_weight=None, **options):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n_queries)
    qid = first + np.repeat(np.arange(n_queries), sizes)
    X = rng.integers(0, 4, (len(qid), n_features)).astype(float)
    labels = rng.integers(0, 3, len(qid))
    if query_weight is not None:
        query_weight = rng.random(first + n_queries)[qid]
    selector = RankingFeatureSelector(**options)
    return selector.screen(X, labels, qid=qid, query_weight=query_weight)


def check_same_selector(selector, expected):
    """Compare all fitted attributes, private attributes included, to the last bit."""
    values = vars(selector)
    expected_values = vars(expected)
    assert set(values) == set(expected_values)
    for name, value in expected_values.items():
        if isinstance(value, np.ndarray):
            assert_array_equal(values[name], value, name, strict=True)
    check_same(selector.screening_, expected.screening_)


def check_same(screening, expected):
    assert type(screening) is type(expected)
    for name in ("feature_names", "rule", "n_queries", "directions"):
        assert getattr(screening, name) == getattr(expected, name)
    for name in [*FIGURES, "rank_correlation"]:
        values = getattr(screening, name)
        assert_array_equal(values, getattr(expected, name), err_msg=name)
    assert screening.to_bytes() == expected.to_bytes()
    assert str(screening) == str(expected)


def loaded(screening):
    return Screening.from_bytes(screening.to_bytes())


OPTIONS = {
    "missing": st.sampled_from(["raise", "last"]),
    "redundancy": st.booleans(),
    "zero_relevance": st.sampled_from([0.0, 0.1, 1, "skip"]),
    "query_weight": st.sampled_from([None, "w"]),
    "measures": st.sampled_from([["ap"], ["ndcg@3", "esl", "rr"]]),
}
TEXTS = st.lists(st.text(st.characters()), min_size=1, max_size=4)


@settings(max_examples=15)
@given(TEXTS, st.integers(1, 6), st.integers(0, 99), st.fixed_dictionaries(OPTIONS))
def test_loaded_screenings_are_the_same_and_merge(names, n_queries, seed, options):
    n_features = len(names)
    first = made(n_queries, n_features, seed, 0, **options).named(names)
    second = made(n_queries, n_features, seed, n_queries, **options).named(names)
    check_same(loaded(first), first)
    merged = first.merge(second)
    check_same(loaded(first).merge(loaded(second)), merged)
    check_same(first.merge(loaded(second)), merged)
    with pytest.raises(ValueError, match="not be in more than one screening"):
        loaded(first).merge(first)


def test_a_selection_is_saved():
    features = np.random.default_rng(0).integers(0, 5, (200, 4)).astype(float)
    X = np.column_stack([features, features[:, 0]])
    labels = X[:, 0] // 2
    qid = np.repeat(np.arange(20), 10)
    selector = RankingFeatureSelector("rr", n_features_to_select=2).fit(X, labels, qid)
    expected = selector.screening_
    screening = loaded(expected)
    check_same(screening, expected)
    assert screening.selection.order.dtype == np.intp
    assert screening.selection.repeats.dtype == np.intp
    # NumPy alone reads the file
    with np.load(io.BytesIO(expected.to_bytes()), allow_pickle=False) as file:
        means = file["worth/mean"][:, 0, 0]
        header = json.loads(file["header"].item())
    assert header["feature_names"][0] == "x0"
    assert_array_equal(means, expected.statistics.values.mean[:, 0, 0])


def test_measures_are_read_by_their_names():
    callable_gains = []
    named = []
    for measure in MEASURES:
        if any(callable(value) for value in vars(measure).values()):
            callable_gains.append(measure)
        else:
            named.append(measure)
    assert len(named) > 40
    screening = made(3, 2, measures=named, missing="last")
    assert loaded(screening).rule.measures == tuple(named)
    check_same(loaded(screening), screening)
    unsaved = made(3, 2, measures=callable_gains)
    with pytest.raises(ValueError, match=r"cannot be saved.*not functions") as error:
        unsaved.to_bytes()
    assert str(callable_gains[0]) in str(error.value)


@pytest.mark.parametrize("column", [None, "qid", 0])
@pytest.mark.parametrize("texts", [False, True])
def test_a_selector_goes_on_from_bytes(column, texts):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (40, 3)), columns=list("abc"))
    y = rng.integers(0, 3, 40)
    ids = np.repeat(np.arange(10), 4)
    is_first = ids < 6
    if texts:
        ids = np.char.add("q", ids.astype(str))
    if column == "qid":
        X.insert(1, "qid", ids)
    elif column == 0:
        X.insert(0, "qid", ids)
        X = X.to_numpy()

    def data(rows):
        qid = ids[rows] if column is None else None
        return X[rows], y[rows], qid

    selector = RankingFeatureSelector("ap", n_features_to_select=1, qid=column)
    first = clone(selector).fit(*data(is_first))
    second = clone(selector).fit(*data(~is_first))

    def adopted(fitted):
        return clone(selector).adopt(loaded(fitted.screening_), X)

    first_adopted = adopted(first)
    continued = adopted(first)
    check_same_selector(first_adopted, first)
    with pytest.raises(ValueError, match=r"again$"):
        first_adopted.partial_fit(*data(is_first))
    check_same_selector(first_adopted, first)
    merged = first.merge(second)
    check_same_selector(first_adopted.merge(adopted(second)), merged)
    check_same_selector(continued.partial_fit(*data(~is_first)), merged)
