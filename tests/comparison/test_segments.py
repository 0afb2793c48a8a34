"""Results for the queries of each segment alone."""

import warnings
from html import unescape

import numpy as np
import pytest

import tieaware_sklearn as ta
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=30, random_state=1)
# rows of queries interleaved
ROWS = np.random.default_rng(0).permutation(len(WEB.qid))
LABELS, QID, DATA = WEB.target[ROWS], WEB.qid[ROWS], WEB.data[ROWS, :3]


def test_segments_whose_names_are_alike_as_texts():
    segment = [1 if query % 2 else "1" for query in QID.tolist()]
    comparison = ta.compare_systems(LABELS, DATA[:, :2], qid=QID, segment=segment)
    message = "segments must have names that contain ASCII letters .* characters, got 1"
    with pytest.raises(ValueError, match=message):
        comparison.by_segment().to_metrics()


def by_kind_of_query(**options):
    """Compare systems, of which "new" is better for words and worse for questions."""
    rng = np.random.default_rng(0)
    kind = np.array(["words", "question"])[np.arange(100) % 2]
    y = rng.integers(0, 3, (100, 12))
    noise = {"old": 2.0, "new": np.where(kind == "words", 0.2, 20.0)[:, None]}
    systems = {name: y + rng.normal(0, 1, y.shape) * std for name, std in noise.items()}
    systems["best"] = y + rng.normal(0, 0.1, y.shape)
    return ta.compare_systems(y, systems, segment=kind, **options)


@pytest.mark.parametrize(
    "options", [{"measure": "ap"}, {"measure": "esl"}, {"average": "geometric"}]
)
def test_the_better_system_of_each_segment(options):
    comparison = by_kind_of_query(**options)
    rows = comparison.by_segment()
    for row in range(len(rows)):
        a, b = (
            np.array(comparison.systems) == name for name in (rows.a[row], rows.b[row])
        )
        values = comparison.expected[comparison.segment == rows.segment[row]]
        means = np.log(values + 1e-9).mean(axis=0)
        if "average" not in options:
            means = values.mean(axis=0) * (1 if comparison.greater_is_better[0] else -1)
        ahead = rows.a[row] if means[a] > means[b] else rows.b[row]
        is_significant = rows.adjusted_pvalue[row] <= 0.05
        assert rows.better[row] == (ahead if is_significant else "")


def test_a_page_says_in_which_segments_a_system_is_better():
    comparison = by_kind_of_query()
    sizes = {
        segment: f"{abs(size):.4f}"
        for segment, size in zip(
            comparison.by_segment().segment[::3],
            comparison.by_segment().difference[::3],
            strict=True,
        )
    }
    headline, *sentences = comparison._conclusion()
    assert "best has the highest mean" in headline
    assert "best is significantly better than old in each of the 2 segments." in (
        sentences
    )
    assert (
        "The difference between old and new depends on the segment: "
        "old is significantly better in question "
        f"(by {sizes['question']}); new is significantly better in words "
        f"(by {sizes['words']})."
    ) in sentences
    page = unescape(comparison.to_html())
    for sentence in [*sentences, "NDCG@10 is between 0 and 1. Higher is better."]:
        assert sentence in page
    assert "depends on the segment" not in str(comparison)


def test_sentences_call_no_ratio_a_difference():
    comparison = by_kind_of_query(average="geometric")
    text = " ".join(comparison._conclusion())
    assert "depends on the segment" in text
    assert "(by " not in text


def test_a_page_of_one_system_with_segments():
    systems = {"a": [2, 1, 2, 1]}
    options = {"qid": [1, 1, 2, 2], "segment": ["x", "x", "y", "y"], "measure": "rr"}
    result = ta.compare_systems([1, 0, 1, 0], systems, **options)
    assert result._conclusion() == []
    assert "Pairs of systems by segment" in result.to_html()


def test_segments_follow_the_sentence_on_all_queries():
    weight = np.where(np.arange(100) < 10, 3.0, 1.0)
    worth, headline, first, *_ = by_kind_of_query(query_weight=weight)._conclusion()
    assert "worth" in worth
    assert headline.startswith("By NDCG@10, ")
    assert "segments" in first


def test_each_measure_has_the_interaction_of_its_own():
    segment = np.repeat(["x", "y"], 40)
    rng = np.random.default_rng(0)
    # Success differs alike in both segments, the reciprocal rank does not.
    ranks = {"a": np.where(segment == "x", 1, 3) + rng.integers(0, 2, 80), "b": 2}
    systems = {}
    for name, rank in ranks.items():
        score = -np.abs(np.arange(10) + 0.5)
        relevant_last = np.tile(score, (80, 1))
        relevant_last[:, 0] = -np.broadcast_to(rank, 80)
        systems[name] = relevant_last
    y = np.tile(np.arange(10) == 0, (80, 1))
    comparison = ta.compare_systems(
        y, systems, measure=["success@10", "rr"], segment=segment
    )
    rows = comparison.by_segment()
    success, rr = rows.interaction[::2]
    assert np.isnan(success) or success > 0.05
    assert rr < 0.05
    text = str(rows).replace("\n", " ")
    assert "the difference by RR differs between segments" in text
    assert "by Success@10 differs" not in text


def test_three_segments_have_a_sentence_on_the_interaction():
    rng = np.random.default_rng(0)
    market = np.repeat(["de", "fr", "us"], 40)
    values = rng.random((120, 2))
    values[market == "us", 0] += 1
    systems = dict(zip("ab", values.T, strict=True))
    comparison = ta.compare_values(systems, measure="gain", segment=market)
    text = str(comparison.by_segment()).replace("\n", " ")
    assert "the difference by gain differs between segments" in text


def test_differences_of_logarithms_are_not_called_near_0():
    comparison = by_kind_of_query(average="geometric")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        comparison.by_segment()
    assert not [warning for warning in caught if "near 0" in str(warning.message)]
