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
    chosen = table["feature"][table["selected"]].tolist()
    assert table["chosen"].dropna().tolist() == list(range(1, len(chosen) + 1))
    assert pd.api.types.is_integer_dtype(table["chosen"])
    assert sorted(chosen) == sorted(selector.get_feature_names_out())
    low, high = table["NDCG@10_interval_low"], table["NDCG@10_interval_high"]
    assert ((low < table["NDCG@10"]) & (table["NDCG@10"] < high)).all()
    assert (np.diff(table["NDCG@10"]) <= 0).all()
    by_name = table.set_index("feature")
    assert by_name.loc["log_clicks", "repeats"] == "clicks"
    assert by_name.loc["log_clicks", "correlation"] == pytest.approx(1)
    assert pd.isna(table.loc[0, "repeats"])
    without = fitted(web, redundancy=False, max_correlation=None)
    assert without.rank_correlation_ is None
    assert without.to_pandas()["repeats"].isna().all()
    # of a column of ids, the screening has nothing
    X = np.column_stack([web.data[:, :3], web.qid, web.data[:, 3:]])
    selector = RankingFeatureSelector(qid=3).fit(X, web.target)
    screening, columns = selector.screening_, np.delete(np.arange(13), 3)
    for name in [*FIGURES[:8], "ranking", "directions"]:
        shown = getattr(selector, f"{name}_")[columns]
        assert_array_equal(shown, getattr(screening, name))
    assert (screening.measures, screening.sort_by) == (selector.measures_, "NDCG@10")
    assert screening.feature_names == tuple(f"x{j}" for j in columns)
    # what is shown is a copy
    table = selector.to_pandas()
    for name in ("mean_", "ranking_", "chance_", "interval_", "rank_correlation_"):
        getattr(selector, name)[:] = 0
    assert selector.to_pandas().equals(table)


def test_it_prints_and_pickles(web):
    screening = fitted(web).screening_.named(web.feature_names)
    lines = str(screening).splitlines()
    # no room for the rank and the interval
    heads = ["feature", "direction", "NDCG@10", "qvalue", "AP"]
    assert lines[0].split()[:5] == heads
    best = [row["feature"] for row in screening.rows()]
    assert [line.split()[0] for line in lines[3 : 3 + len(best)]] == best
    assert "\nno room for rank, chosen, NDCG@10 ±95%," in str(screening)
    (table,) = screening._tables()
    assert table.meaning("(chance)") == words.meaning("chance") != ""
    # names stand to the left
    assert re.search('<th [^>]*class="name"[^>]*>repeats', screening.to_html())
    again = pickle.loads(pickle.dumps(screening))
    assert repr(again) == str(screening)
    assert again.to_pandas().equals(screening.to_pandas())
    assert str(made(2, 24, measures="ap")).endswith("... and 4 more")
    assert "more" not in str(made(2, 20, measures="ap"))
    with pytest.raises(ValueError, match=r"one name per feature \(12\), got 1"):
        screening.named(["a"])


# -- merged and adopted


OTHER_OPTIONS = [
    ({"measures": "rr"}, r"got measures: .ReciprocalRank.* and not .NDCG"),
    ({"sort_by": "ap"}, r"got sort_by: AP\(rel=1,.*\) and not NDCG\(gain=expo.*\)@10"),
    ({"zero_relevance": "skip"}, "got zero_relevance: skip and not 0.0"),
    ({"missing": "last"}, "got missing: last and not raise"),
    ({"unjudged": "drop"}, "got unjudged: drop and not raise"),
    (
        {"redundancy": False, "max_correlation": None},
        "got redundancy: False and not True",
    ),
    (
        {"direction": ["auto"] * 11 + ["descending"]},
        "got direction: .*'descending'.* and not",
    ),
]


@pytest.mark.parametrize(("options", "said"), OTHER_OPTIONS)
def test_other_measures_and_options_are_neither_adopted_nor_merged(web, options, said):
    selector, other = fitted(web), RankingFeatureSelector(**options)
    whole = selector.screening_
    with pytest.raises(ValueError, match="by the measures and options"):
        other.adopt(whole, web.data)
    assert not hasattr(other, "n_features_in_")
    other.fit(web.data, web.target, qid=web.qid + 1000)
    for ours, theirs in ((whole, other.screening_), (selector, other)):
        with pytest.raises(ValueError, match=f"options of this screening, {said}"):
            ours.merge(theirs)
    selector.set_params(**options)
    for call in (
        lambda: selector.partial_fit(web.data, web.target, web.qid + 1000),
        lambda: selector.merge(other),
    ):
        with pytest.raises(ValueError, match="must not change after the first queries"):
            call()
    assert selector.screening_ is whole


def test_a_default_that_is_given_is_no_other_measure(web):
    screening = fitted(web).screening_
    names = ("NDCG(gain=exponential)@10", "AP(rel=1)", "RR")
    other = RankingFeatureSelector(measures=names)
    other.fit(web.data, web.target, qid=web.qid + 1000)
    again = Screening.from_bytes(other.screening_.to_bytes())
    assert again.measures == names
    assert screening.merge(again).measures == ("NDCG@10", "AP", "RR")
    assert other.adopt(screening, web.data).screening_.measures == screening.measures
    other.partial_fit(web.data, web.target, qid=web.qid + 1000)
    assert other.screening_.n_queries == 2 * screening.n_queries


def test_what_is_refused_leaves_the_selector_as_it_is(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector(n_features_to_select=1)
    selector.fit(frame, web.target, qid=web.qid)
    kept, screening = selector.transform(frame), selector.screening_
    bare = selector.screen(web.data, web.target, qid=web.qid)
    turned = frame[frame.columns[::-1]]
    for call, message in [
        (lambda: selector.adopt(screening, web.data[:, :5]),
         "the 5 features of X .*, got 12 .in_degree"),
        (lambda: selector.adopt(screening, turned),
         "the 12 features of X .log_clicks, .*got 12 .in_degree"),
        (lambda: selector.adopt(bare, web.data[:, :2]),
         r"the 2 features of X \(x0, x1\), got 12 \(x0"),
        (lambda: selector.adopt(None, frame), "must be a Screening, got None"),
        (lambda: selector.adopt(selector, frame), "screening must be a Screening"),
        (lambda: bare.merge(screening), "got 'in_degree' as feature 0 and not 'x0'"),
        (lambda: bare.merge(3), "merge takes screenings one by one, .*got int"),
        (lambda: selector.merge(3),
         "other must be another RankingFeatureSelector, got 3"),
        (lambda: selector.merge(selector), "other must be another"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
        assert_array_equal(selector.transform(frame), kept)
    # without names, those of X are taken
    adopted = clone(selector).adopt(bare, frame[:0])
    assert adopted.screening_.feature_names == tuple(web.feature_names)
    assert_same(adopted, selector)
    assert bare.selection is None
    selector.set_params(qid=3)
    with pytest.raises(ValueError, match="must not change after the first queries"):
        selector.partial_fit(frame, web.target)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_screenings_with_and_without_weights_do_not_merge(web, weight):
    first = web.qid <= 20

    def data(rows, weight):
        given = web.data[rows], web.target[rows], web.qid[rows]
        return given if weight is None else (*given, np.full(rows.sum(), weight))

    plain, given, both = (
        RankingFeatureSelector("ap").screen(*data(rows, own))
        for rows, own in [(~first, None), (first, weight), (~first, 2.0)]
    )
    # all of these are 0, or 1: they are weights all the same
    assert (plain.weighted, given.weighted) == (False, True)
    said = "got query_weight given: {} and not {}"
    for other in (given, loaded(given)):
        with pytest.raises(ValueError, match=said.format(True, False)):
            plain.merge(other)
        with pytest.raises(ValueError, match=said.format(False, True)):
            other.merge(plain)
    assert loaded(given.merge(both)).weighted
    for before, after, said in (
        (None, weight, "weights after queries with none"),
        (2.0, None, "none after queries with weights"),
    ):
        added = RankingFeatureSelector("ap").partial_fit(*data(~first, before))
        kept = added.screening_
        with pytest.raises(ValueError, match=f"all queries or for none, got {said}"):
            added.partial_fit(*data(first, after))
        assert added.screening_ is kept


def test_labels_of_other_columns_do_not_merge(web):
    features = list(web.feature_names)
    rows = pd.DataFrame(web.data, columns=features)
    rows = rows.assign(qid=web.qid, l1=web.target, l2=web.target[::-1])
    parts = [rows[rows.qid % 4 == part] for part in range(4)]
    one, two, three, own = (RankingFeatureSelector("ap") for _ in parts)
    for fit, part, label in ((one, 0, "l1"), (two, 1, "l2"), (three, 2, "l1")):
        fit.fit_batches([parts[part]], label=label, features=features)
    assert one.screening_.label == "l1"
    with pytest.raises(ValueError, match="got label: l2 and not l1"):
        one.merge(two)
    # labels of arrays have no name
    own.fit(parts[3][features], parts[3].l2, qid=parts[3].qid)
    assert own.screening_.label is None
    assert own.screening_.merge(one.screening_).label == "l1"
    several = Screening.merge(*(part.screening_ for part in (one, three, own)))
    pairwise = one.merge(three).merge(own).screening_
    assert several.label == pairwise.label == "l1"
    assert_array_equal(several.mean, pairwise.mean)


# -- as bytes


def made(n_queries, n_features, seed=0, first=0, query_weight=None, **options):
    rng = np.random.default_rng(seed)
    qid = first + np.repeat(np.arange(n_queries), rng.integers(1, 6, n_queries))
    X = rng.integers(0, 4, (len(qid), n_features)).astype(float)
    labels = rng.integers(0, 3, len(qid))
    weight = None if query_weight is None else rng.random(first + n_queries)[qid]
    selector = RankingFeatureSelector(**options)
    return selector.screen(X, labels, qid=qid, query_weight=weight)


def check_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, RankingFeatureSelector):
        # all fitted attributes, private ones included, to the last bit
        ours, theirs = vars(found), vars(expected)
        assert set(ours) == set(theirs)
        for name, value in theirs.items():
            if isinstance(value, np.ndarray):
                assert_array_equal(ours[name], value, name, strict=True)
        found, expected = found.screening_, expected.screening_
    for name in ("feature_names", "rule", "n_queries", "directions"):
        assert getattr(found, name) == getattr(expected, name)
    for name in FIGURES:
        assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert_array_equal(found.rank_correlation, expected.rank_correlation)
    assert found.to_bytes() == expected.to_bytes()
    assert str(found) == str(expected)


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
def test_all_is_there_again_and_merges(names, n_queries, seed, options):
    one, two = (
        made(n_queries, len(names), seed, first, **options).named(names)
        for first in (0, n_queries)
    )
    check_same(loaded(one), one)
    check_same(loaded(one).merge(loaded(two)), one.merge(two))
    check_same(one.merge(loaded(two)), one.merge(two))
    with pytest.raises(ValueError, match="must have none of the queries"):
        loaded(one).merge(one)


def test_a_selection_is_kept():
    X = np.random.default_rng(0).integers(0, 5, (200, 4)).astype(float)
    X = np.column_stack([X, X[:, 0]])
    labels, qid = X[:, 0] // 2, np.repeat(np.arange(20), 10)
    selector = RankingFeatureSelector("rr", n_features_to_select=2).fit(X, labels, qid)
    expected = selector.screening_
    found = loaded(expected)
    check_same(found, expected)
    assert found.selection.order.dtype == found.selection.repeats.dtype == np.intp
    # NumPy alone reads it
    with np.load(io.BytesIO(expected.to_bytes()), allow_pickle=False) as file:
        means = file["worth/mean"][:, 0, 0]
        assert json.loads(file["header"].item())["feature_names"][0] == "x0"
    assert_array_equal(means, expected.statistics.worth.mean[:, 0, 0])


def test_measures_are_read_by_their_names():
    gained = [m for m in MEASURES if any(map(callable, vars(m).values()))]
    named = [m for m in MEASURES if m not in gained]
    assert len(named) > 40
    screening = made(3, 2, measures=named, missing="last")
    assert loaded(screening).rule.measures == tuple(named)
    check_same(loaded(screening), screening)
    with pytest.raises(ValueError, match=r"cannot be saved.*not functions") as told:
        made(3, 2, measures=gained).to_bytes()
    assert str(gained[0]) in str(told.value)


@pytest.mark.parametrize("column", [None, "qid", 0])
@pytest.mark.parametrize("texts", [False, True])
def test_a_selector_goes_on_from_bytes(column, texts):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (40, 3)), columns=list("abc"))
    y, ids = rng.integers(0, 3, 40), np.repeat(np.arange(10), 4)
    ours = ids < 6
    ids = np.char.add("q", ids.astype(str)) if texts else ids
    if column is not None:
        X.insert(1 if column == "qid" else 0, "qid", ids)
    X = X.to_numpy() if column == 0 else X

    def data(rows):
        given = (ids[rows],) if column is None else ()
        return X[rows], y[rows], *given

    selector = RankingFeatureSelector("ap", n_features_to_select=1, qid=column)
    one, two = (clone(selector).fit(*data(rows)) for rows in (ours, ~ours))
    adopted, other, more = (
        clone(selector).adopt(loaded(of.screening_), X) for of in (one, two, one)
    )
    check_same(adopted, one)
    with pytest.raises(ValueError, match=r"again$"):
        adopted.partial_fit(*data(ours))
    check_same(adopted, one)
    check_same(adopted.merge(other), one.merge(two))
    check_same(more.partial_fit(*data(~ours)), one)
