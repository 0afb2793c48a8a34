"""Selectors fitted on a cluster, as on one machine."""

from __future__ import annotations

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.dask.helpers import (
    MARKS,
    assert_same_selector,
    spread,
)
from tieaware_sklearn import RankingFeatureSelector
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


def test_a_selector_of_many_features_is_refused_before_the_work(rows):
    columns = {f"f{j}": rows.clicks for j in range(1001)}
    wide = pd.DataFrame(columns).assign(label=rows.label, qid=rows.qid)
    never = spread(wide, 2).map_partitions(lambda frame: frame[["f0"]], meta=wide[:0])
    with pytest.raises(ValueError, match=r"redundancy must be True .* 1001 features"):
        fit_selector(RankingFeatureSelector(), never)
