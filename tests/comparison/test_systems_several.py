"""Comparisons by several measures and under several treatments of ties."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from tieaware_sklearn import compare_systems, evaluate
from tieaware_sklearn._display.html import tables_of
from tieaware_sklearn.datasets import load_trec, make_web_search

RUNS = ("baseline", "result_to_compare1", "result_to_compare2")
WEB = make_web_search(n_queries=30, random_state=1)
SYSTEMS = dict(zip(WEB.feature_names[:3], WEB.data.T[:3], strict=True))
MEASURES, TIES = ("RR", "AP"), ("official", "expected", "worst")
OPTIONS = {"qid": WEB.qid, "external": {"official": np.arange(len(WEB.qid))}}
SEVERAL = compare_systems(
    WEB.target, SYSTEMS, measure=[*MEASURES], ties=[*TIES], **OPTIONS
)
ONE = SEVERAL["AP", "expected"]


def cells(table, *heads):
    """The rows of some columns."""
    named = {column.head: column.values for column in table.columns}
    return list(zip(*(map(str, named[head]) for head in heads), strict=True))


def test_each_comparison_is_the_one_asked_for_alone():
    for measure in MEASURES:
        for ties in TIES:
            alone = compare_systems(
                WEB.target, SYSTEMS, measure=measure, ties=ties, **OPTIONS
            )
            found = SEVERAL[measure, ties]
            for name in ("expected", "difference", "adjusted_pvalues", "tie_range"):
                assert np.array_equal(getattr(alone, name), getattr(found, name))
    # by any name of the measure
    by_another = SEVERAL["recip_rank", "official"]
    assert str(by_another) == str(SEVERAL["RR", "official"])
    for key in ("rr", ("foo", "official"), ("rr", "official", 1), (None, "official")):
        with pytest.raises(KeyError, match="is not one of"):
            SEVERAL[key]
    with pytest.raises(KeyError, match=r"'x'\) is not one of \[\('RR', 'official'\)"):
        SEVERAL["RR", "x"]


def test_treatments_side_by_side():
    systems, pairs = tables_of(SEVERAL)
    assert cells(systems, "measure", "system") == [
        (measure, name) for measure in MEASURES for name in SYSTEMS
    ]
    # best is of the expected values, worst was asked for
    heads = [column.head for column in systems.columns]
    assert heads == ["measure", "system", "official", "expected", "worst", "best"]
    for ties in TIES:
        means = [SEVERAL[measure, ties].summary().mean for measure in MEASURES]
        assert cells(systems, ties) == [(str(x),) for x in np.concatenate(means)]
    best = [SEVERAL[measure, "expected"].summary().best for measure in MEASURES]
    assert cells(systems, "best") == [(str(x),) for x in np.concatenate(best)]
    first = [(m, *p) for m in MEASURES for p in ONE.to_pandas()[["a", "b"]].to_numpy()]
    assert cells(pairs, "measure", "A", "B") == first
    for ties in TIES:
        those = [SEVERAL[measure, ties] for measure in MEASURES]
        shown = cells(pairs, ties, f"p {ties}")
        assert shown == [
            (str(difference), str(p))
            for one in those
            for difference, p in zip(one.difference, one.adjusted_pvalues, strict=True)
        ]
    survives = [SEVERAL[measure, "expected"].survives for measure in MEASURES]
    holds = [("yes" if yes else "no",) for yes in np.concatenate(survives)]
    assert cells(pairs, "holds") == holds
    assert "broken by the rule official" in systems.meaning("official")
    assert "least favourable" in pairs.meaning("worst")


def test_one_treatment_of_several_measures():
    found = compare_systems(
        WEB.target, SYSTEMS, measure=[*MEASURES], baseline="clicks", **OPTIONS
    )
    systems, pairs = tables_of(found)
    assert cells(systems, "measure", "system")[3] == ("AP", next(iter(SYSTEMS)))
    assert cells(pairs, "measure", "A", "B") == [
        (measure, name, "clicks")
        for measure in MEASURES
        for name in SYSTEMS
        if name != "clicks"
    ]
    differences = np.concatenate([one.difference for one in found])
    assert cells(pairs, "A - B") == [(str(x),) for x in differences]


def test_a_treatment_is_named_unless_it_is_the_exact_mean():
    options = OPTIONS | {"measure": "ap"}
    assert "ties:" not in str(compare_systems(WEB.target, SYSTEMS, **options))
    official = compare_systems(WEB.target, SYSTEMS, ties="official", **options)
    assert "\nties: official\n" in str(official)
    assert "ties: official" in official.summary()._repr_html_()
    alone = compare_systems(WEB.target, {"a": WEB.data[:, 0]}, ties=["best"], **options)
    assert str(alone).endswith("ties: best")


def test_everything_as_a_data_frame():
    for found in (ONE, SEVERAL, ONE.summary(), SEVERAL.summary()):
        frame = found.to_pandas()
        read = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
        assert list(read.columns) == list(frame.columns)
        assert np.allclose(read.select_dtypes("number"), frame.select_dtypes("number"))
        latex = frame.to_latex(index=False, float_format="%.4f")
        assert latex.count("\\\\\n") == len(frame) + 1
    frame = SEVERAL.to_pandas()
    for one in SEVERAL:
        rows = frame[(frame.measure == one.measures[0]) & (frame.ties == one.ties[0])]
        assert rows["difference"].tolist() == one.difference.tolist()
        assert rows["difference_interval_high"].tolist() == (
            one.difference_interval[:, 1].tolist()
        )
    frame = SEVERAL.summary().to_pandas()
    assert len(frame) == len(SEVERAL.summary()) == len(SEVERAL) * len(SYSTEMS)
    for one in SEVERAL:
        rows = frame[(frame.measure == one.measures[0]) & (frame.ties == one.ties[0])]
        assert rows["tie_std"].tolist() == one.summary().tie_std.tolist()


def test_values_by_query():
    frame = ONE.by_query()
    assert list(frame.columns) == [
        *("measure", "ties", "qid", "system", "expected", "best", "worst", "std"),
        "chance",
    ]
    for name, scores in SYSTEMS.items():
        report = evaluate(WEB.target, scores, qid=WEB.qid, measures="ap").to_pandas()
        own = frame[frame.system == name].reset_index(drop=True)
        for column in ("qid", "expected", "best", "worst", "std", "chance"):
            assert own[column].tolist() == report[column].tolist(), column
    every = SEVERAL.by_query()
    assert list(every.columns) == list(frame.columns)
    chosen = every[(every.measure == "AP") & (every.ties == "expected")]
    pd.testing.assert_frame_equal(
        chosen.reset_index(drop=True), frame, check_dtype=False
    )


def test_ties_decide_a_published_example(shared_data):
    files = [shared_data / "sigtrec" / f"{name}.gz" for name in RUNS]
    trec = load_trec(shared_data / "sigtrec" / "qrelFile.qrel.gz", files)
    names = ["baseline", "run 1", "run 2"]
    found = compare_systems(
        trec.target, dict(zip(names, trec.score.T, strict=True)), qid=trec.qid,
        measure=["ap", "p@10"], ties=["expected", "official"], baseline="baseline",
        external={"official": (trec.docno, "descending", "float32")},
        unjudged="nonrelevant",
    )  # fmt: skip
    exact, official = found["AP", "expected"], found["AP", "official"]
    # run 1 is worse than the baseline by trec_eval's rule, and as good exactly
    assert official.difference[0].round(4) == -0.0096
    assert official.pvalues[0].round(4) == 0.0001
    assert exact.difference[0].round(4) == 0.0019
    assert exact.pvalues[0].round(2) == 0.46
    assert not exact.survives[0]
    # as the posterior says, too
    assert exact.posterior(rope=0.005).equivalent[0] > 0.85
    means = {ties: found["P@10", ties].summary().mean[2] for ties in found.ties}
    assert {ties: x.round(4) for ties, x in means.items()} == {
        "expected": 0.1055,
        "official": 0.0002,
    }
