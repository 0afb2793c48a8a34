"""Columns that are refused before any partition is read."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.dask.helpers import MARKS, spread
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.dask import (
    compare_systems,
    evaluate,
    evaluate_queries,
    fit_selector,
)

pytestmark = MARKS


def twice(rows):
    return rows.set_axis([*rows.columns[:-1], "clicks"], axis=1)


def with_levels(rows):
    return rows.set_axis(
        pd.MultiIndex.from_tuples([("a", name) for name in rows]), axis=1
    )


REFUSED = {
    "no score": ({"score": None}, "df must have one column None, got"),
    "no query": ({"qid": None}, "df must have one column None, got"),
    "a list": (
        {"score": ["clicks"]},
        r"df must have one column \['clicks'\], got",
    ),
    "a shuffle": ({"shuffle": "disk"}, "shuffle must be True or False, got 'disk'"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("function", [evaluate, evaluate_queries])
def test_arguments_of_a_wrong_type_are_named(rows, function, case):
    options, message = REFUSED[case]
    options = {"score": "clicks", **options}
    with pytest.raises(ValueError, match=message):
        function(spread(rows), **options)


@pytest.mark.parametrize("columns", [3, "clicks", []])
def test_lists_of_columns_are_lists(rows, columns):
    with pytest.raises(ValueError, match="features must be a list"):
        fit_selector(RankingFeatureSelector(), spread(rows), features=columns)
    with pytest.raises(ValueError, match="scores must be a list"):
        compare_systems(spread(rows), scores=columns)


def test_columns_that_dask_cannot_shuffle_are_refused(rows):
    df = spread(twice(rows))
    with pytest.raises(ValueError, match="must have one column 'clicks', got in_deg"):
        evaluate(df, score="clicks")
    with pytest.raises(ValueError, match=r"one column 'label', got .*'a'"):
        evaluate(spread(with_levels(rows)), score="clicks")
    # unlike those of other names, it would be lost on the way
    own = spread(rows.rename(columns={"clicks": "_partitions"}), 1)
    with pytest.raises(KeyError, match="_partitions"):
        evaluate(own, score="_partitions")
    assert evaluate(own, score="_partitions", shuffle=False).qid.size == 60


@pytest.mark.parametrize("qid", ["measure", "expected"])
def test_ids_do_not_take_the_place_of_results(rows, qid):
    df = spread(rows.rename(columns={"qid": qid}))
    with pytest.raises(ValueError, match=f"must not have the name of .*, got '{qid}'"):
        evaluate_queries(df, score="clicks", qid=qid)


def test_a_selector_is_sent_without_what_it_learned(rows, capsys, monkeypatch):
    selector = RankingFeatureSelector("rr", progress=True)
    fitted = fit_selector(selector, spread(rows))
    screened = []
    screen = RankingFeatureSelector.screen

    def spy(self, *arguments):
        screened.append((hasattr(self, "n_queries_"), self.progress))
        return screen(self, *arguments)

    monkeypatch.setattr(RankingFeatureSelector, "screen", spy)
    again = fit_selector(fitted, spread(rows))
    assert set(screened) == {(False, False)}
    assert again.progress
    assert capsys.readouterr().err == ""
