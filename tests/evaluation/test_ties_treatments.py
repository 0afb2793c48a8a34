"""The ways to treat ties, side by side."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware_sklearn import ranking_score, tie_treatments


def test_treatments_side_by_side():
    labels, scores, qid = [0, 1, 1, 0, 1], [1, 1, 1, 2, 2], [1, 1, 1, 2, 2]
    found = tie_treatments(
        labels,
        scores,
        qid=qid,
        measures=["rr", "p@1"],
        external={
            "url": (["c", "a", "b", "x", "y"], "descending"),
            "length": np.array([5, 5, 7, 2, 1]),
        },
    )
    assert found.treatments == (
        *("input", "url", "length"),
        *("best", "worst", "expected"),
    )
    rows = dict(zip(found.treatments, found.per_query[:, :, 0].tolist(), strict=True))
    assert rows["input"] == [1 / 2, 1 / 2]
    assert rows["url"] == [1 / 2, 1]
    # equal lengths are still tied: 1 or 1/2
    assert rows["length"] == [3 / 4, 1]
    assert rows["best"] == [1, 1]
    assert rows["worst"] == [1 / 2, 1 / 2]
    assert rows["expected"] == pytest.approx([5 / 6, 3 / 4])
    assert found.mean[0].tolist() == [1 / 2, 0]
    assert found.to_pandas().set_index("treatment").loc["url", "RR"] == 3 / 4
    lines = str(found).splitlines()
    assert len({len(line) for line in lines}) == 1


def test_an_external_rule_ranks_by_score_first():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 200), rng.integers(0, 9, 200).astype(float)
    scores[::7] = -math.inf
    key = rng.permutation(200)
    found = tie_treatments(labels, scores, measures="ap", external={"key": key})
    order = np.lexsort((key, -scores))
    by_hand = ranking_score(labels[order], scores[order], measure="ap", ties="input")
    assert found.mean[1, 0] == by_hand
    shuffled = rng.permutation(200)
    again = tie_treatments(
        labels[shuffled],
        scores[shuffled],
        measures="ap",
        external={"key": key[shuffled]},
    )
    assert again.mean[1:].tolist() == found.mean[1:].tolist()


@pytest.mark.parametrize(
    ("external", "message"),
    [
        ({"expected": [1, 2]}, "external must not use the name of .* got 'expected'"),
        ({"a": [1, 2, 3]}, r"external\['a'\] must have one value per row \(2\), got 3"),
        (
            {"a": [1, math.nan]},
            r"external\['a'\] must not be missing .* got nan in row",
        ),
        ({"a": [None, "x"]}, r"external\['a'\] must not be missing .* None in row 0"),
        ({"a": ([1, 2], "down")}, r"external\['a'\] must be one of .* got 'down'"),
        ({"a": [[1, 2]]}, r"external\['a'\] must be 1-dimensional"),
        ({"a": ["x", 2]}, r"external\['a'\] must hold .* only, got \['x', 2\]"),
        ([1, 2], r"external must map names to keys, got \[1, 2\]"),
        ({1: [1, 2]}, "external must map names to keys"),
    ],
)
def test_bad_external_rules(external, message):
    with pytest.raises(ValueError, match=message):
        tie_treatments([0, 1], [1, 1], external=external)


@pytest.mark.parametrize(
    "options",
    [
        {"zero_relevance": 0.25, "query_weight": [1, 1, 3, 3, 1, 1]},
        {"zero_relevance": "skip"},
        {"convention": "catboost"},
        {"unjudged": "nonrelevant", "labels": [1, np.nan, 0, np.nan, 2, 0]},
    ],
)
def test_options_are_those_of_ranking_score(options):
    labels = options.pop("labels", [1, 0, 0, 0, 2, 0])
    scores, qid = [1, 1, 2, 2, 1, 1], [1, 1, 2, 2, 3, 3]
    found = tie_treatments(labels, scores, qid=qid, measures=["ap@1"], **options)
    for treatment, ties in [
        ("input", "input"),
        ("best", "best"),
        ("worst", "worst"),
        ("expected", "expected"),
    ]:
        wanted = ranking_score(
            labels, scores, qid=qid, measure="ap@1", ties=ties, **options
        )
        assert found.mean[found.treatments.index(treatment)].tolist() == [wanted]
