"""Selectors fitted on a cluster, as on one machine."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_selection import SelectKBest

from tests.dask.helpers import (
    MARKS,
    assert_same_selector,
    spread,
)
from tieaware_sklearn import FusedRanker, RankingFeatureSelector
from tieaware_sklearn.dask import fit_selector

pytestmark = MARKS


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "ascending", "n_features_to_select": 2},
        {"n_features_to_select": 5, "max_correlation": 0.5, "diversity": 0.6},
        {"redundancy": False, "max_correlation": None, "missing": "last"},
        {"sort_by": "rr", "zero_relevance": "skip", "measures": ["ap", "rr"]},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_selector_is_a_fit_of_all_rows(rows, options, weighted):
    if options.get("missing"):
        rows = rows.assign(clicks=rows.clicks.where(rows.index % 5 > 0))
    features = [c for c in rows if c not in ("label", "qid", "weight")]
    selector = RankingFeatureSelector(**options)
    weight = {"query_weight": "weight"} if weighted else {"features": features}
    found = fit_selector(selector, spread(rows), **weight)
    wanted = RankingFeatureSelector(**options).fit(
        rows[features], rows.label, rows.qid, rows.weight if weighted else None
    )
    assert not hasattr(selector, "mean_")
    assert_same_selector(found, wanted)
    selected = wanted.get_feature_names_out()
    assert_array_equal(found.transform(rows[features]), rows[selected])
    if not weighted:
        # further queries can be added, as after a fit
        found.partial_fit(rows[features], rows.label, rows.qid + 1000)
        assert found.n_queries_ == 120
    else:
        with pytest.raises(ValueError, match="for none, got none after queries with w"):
            found.partial_fit(rows[features], rows.label, rows.qid + 1000)
    assert found.screening_.label == "label"


@pytest.fixture(scope="module")
def repeats(rows):
    """With exact copies, the same upside down, near repeats and a constant."""
    noise = np.random.default_rng(0).random(len(rows)) / 10
    return rows.assign(
        copy=2 * rows.clicks, fewer=-rows.clicks, nearly=rows.page_visits + noise,
        rounded=rows.text_score // 2, constant=1.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_features_to_select": 0.5},
        {"n_features_to_select": 6, "diversity": 0.9},
        {"n_features_to_select": 8, "max_correlation": None, "diversity": 0.2},
        {"n_features_to_select": 14},  # all that vary, copies last
        {"max_correlation": 1.0, "alpha": 0.5, "min_lift": 0.01},
        {"max_correlation": 0, "redundancy": True},
        {"sort_by": "ap", "measures": ["rr", "ap"], "unjudged": "drop"},
    ],
)
def test_a_selection_among_repeats_is_that_of_a_fit(repeats, options):
    if options.get("unjudged"):
        repeats = repeats.assign(label=repeats.label.where(repeats.index % 9 > 0))
    features = [c for c in repeats if c not in ("label", "qid", "weight")]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        found = fit_selector(
            RankingFeatureSelector(**options), spread(repeats), features=features
        )
    with warnings.catch_warnings(record=True) as wanted_said:
        warnings.simplefilter("always", UserWarning)
        wanted = RankingFeatureSelector(**options).fit(
            repeats[features], repeats.label, repeats.qid
        )
    assert_same_selector(found, wanted)
    pd.testing.assert_frame_equal(found.to_pandas(), wanted.to_pandas())
    ours = [str(one.message) for one in said if "n_features_to" in str(one.message)]
    assert ours == [str(one.message) for one in wanted_said]
    assert bool(ours) == (options.get("n_features_to_select") == 14)
    if not options:
        names = dict(zip(features, found.repeats_, strict=True))
        assert names["copy"] == names["fewer"] == features.index("clicks")
        assert (found.repeats_ >= 0).sum() >= 4


@pytest.mark.parametrize(
    ("selector", "what"),
    [
        (FusedRanker(), r"must be a RankingFeatureSelector, got FusedRank"),
        (SelectKBest(), "must be a RankingFeatureSelector, got SelectKBest"),
        (RankingFeatureSelector, "must be a RankingFeatureSelector, got <class"),
        (RankingFeatureSelector(diversity=7), r"diversity must be in \[0, 1\], got 7"),
        (RankingFeatureSelector(redundancy=False), "redundancy must be 'auto' or True"),
        (RankingFeatureSelector(direction=["auto"]), "one value per feature"),
        (
            RankingFeatureSelector("xx", max_correlation=None, diversity=0),
            "unknown measure 'xx'",
        ),
        (RankingFeatureSelector(zero_relevance="no"), "zero_relevance must be"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_the_work(rows, selector, what):
    never = spread(rows, 2).map_partitions(lambda frame: 1 / 0, meta=rows[:0])
    with pytest.raises(ValueError, match=what):
        fit_selector(selector, never)


@pytest.mark.parametrize("features", ["clicks", [], ()])
def test_features_are_a_list(rows, features):
    with pytest.raises(ValueError, match="features must be a list of at least one"):
        fit_selector(RankingFeatureSelector(), spread(rows), features=features)


def test_a_selector_of_many_features_is_refused_before_the_work(rows):
    columns = {f"f{j}": rows.clicks for j in range(1001)}
    wide = pd.DataFrame(columns).assign(label=rows.label, qid=rows.qid)
    never = spread(wide, 2).map_partitions(lambda frame: frame[["f0"]], meta=wide[:0])
    with pytest.raises(ValueError, match=r"redundancy must be True .* 1001 features"):
        fit_selector(RankingFeatureSelector(), never)
