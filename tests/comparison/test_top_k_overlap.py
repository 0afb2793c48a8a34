"""The neighbours that two rankings with ties share among their first k."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn.comparison import top_k_overlap

SCORES = st.sampled_from([-math.inf, 0.0, 0.0, 1.0, 2.0])
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=5)


def assert_is(overlap, values):
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    assert overlap.expected[0] == pytest.approx(float(mean), abs=1e-14)
    assert [*overlap.worst, *overlap.best] == [float(min(values)), float(max(values))]
    assert overlap.std[0] == pytest.approx(math.sqrt(variance), abs=1e-14)


@pytest.mark.filterwarnings("ignore:k must leave out a document")
@settings(max_examples=150)
@given(PAIRS, st.integers(1, 6))
# the cut ties of both share documents
@example([(0.0, 0.0), (0.0, 0.0), (1.0, 0.0)], 2)
def test_values_by_enumeration_of_both_orders(pairs, k):
    reference, scores = zip(*pairs, strict=True)
    overlap = top_k_overlap(reference, scores, k=k)
    if not np.isfinite(reference).any():
        assert np.isnan([overlap.expected, overlap.best, overlap.std]).all()
        return
    assert_is(overlap, naive.top_k_recalls(reference, scores, k))
    options = {"k": k, "reference_ties": "interchangeable"}
    for tolerance in (0, 1.5):
        near = top_k_overlap(reference, scores, tolerance=tolerance, **options)
        assert_is(near, naive.interchangeable_recalls(reference, scores, k, tolerance))


def random_lists(seed):
    """What two indexes return of 40 documents, and all scores, -inf for the others."""
    rng = np.random.default_rng(seed)
    columns, ids, scores = [], [], []
    for levels in (50, 6):
        full = rng.integers(0, levels, (30, 40))
        order = np.argsort(-full, axis=1, kind="stable")[:, :12]
        ids.append(rng.permuted(order, axis=1))
        scores.append(np.take_along_axis(full, ids[-1], axis=1))
        columns.append(np.full(full.shape, -np.inf))
        np.put_along_axis(columns[-1], ids[-1], scores[-1], axis=1)
    return columns, ids, scores


def assert_same(overlap, expected, *more, rows=slice(None), own=slice(None)):
    """Some rows of a result are some of another."""
    for name in ("expected", "worst", "best", "std", *more):
        values = getattr(overlap, name)[rows], getattr(expected, name)[own]
        np.testing.assert_array_equal(*values, name)


@pytest.mark.filterwarnings("ignore:.*lists of.*end inside the tie")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reference_ties", ["orders", "interchangeable"])
def test_columns_matrices_and_lists_agree(seed, reference_ties):
    columns, ids, scores = random_lists(seed)
    qid = np.repeat(np.arange(30), 40)
    flat = [column.ravel() for column in columns]
    shuffled = np.random.default_rng(seed).permutation(len(qid))
    options = {"k": 5, "reference_ties": reference_ties}
    overlap = top_k_overlap(*scores, ids=ids, **options)
    far, mixed = [-values for values in scores], [values[shuffled] for values in flat]
    assert_same(overlap, top_k_overlap(*far, ids=ids, metric="distance", **options))
    assert_same(overlap, top_k_overlap(*columns, **options))
    assert_same(overlap, top_k_overlap(*flat, qid=qid, **options))
    by_rows = top_k_overlap(*mixed, qid=qid[shuffled], **options)
    assert_same(overlap, by_rows, own=np.argsort(by_rows.qid))


def test_interchangeable_is_the_threshold_of_ann_benchmarks():
    rng = np.random.default_rng(1)
    exact, approximate = rng.random((2, 40, 25))
    order = np.argsort(approximate, axis=1)[:, :5]
    threshold = np.sort(exact, axis=1)[:, 4] + 1e-3
    is_near = np.take_along_axis(exact, order, axis=1) <= threshold[:, None]
    options = {"k": 5, "metric": "distance", "reference_ties": "interchangeable"}
    overlap = top_k_overlap(exact, approximate, tolerance=1e-3, **options)
    np.testing.assert_array_equal(overlap.expected, is_near.mean(axis=1))


def test_summary_averages_over_queries():
    overlap = top_k_overlap([[3, 2, 1], [3, 2, 1], [1, 1, 1]], [[3, 1, 2]] * 3, k=2)
    summary = overlap.summary()
    assert overlap.expected.tolist() == [0.5, 0.5, pytest.approx(2 / 3)]
    figures = summary.worst[0], summary.mean[0], summary.best[0]
    assert figures == pytest.approx((1 / 2, 5 / 9, 2 / 3))
    assert summary.tie_std[0] == pytest.approx(overlap.std[2] / 3)
    assert summary.n_queries.tolist() == [3]


def test_lists_that_end_inside_the_tie_are_counted():
    ids = [[0, 1, 2], [0, 1, 2]]
    reference, scores = [[3, 2, 1], [3, 2, 1]], [[1, 1, 1], [2, 2, 1]]
    with pytest.warns(UserWarning, match="1 of 2 lists of scores end inside the tie"):
        overlap = top_k_overlap(reference, scores, ids=(ids, ids), k=2)
    assert overlap.is_open.tolist() == [[False, True], [False, False]]
    # or within the tolerance
    options = {"k": 1, "reference_ties": "interchangeable", "metric": "distance"}
    options |= {"tolerance": 0.6, "ids": ([[0, 1]],) * 2}
    with pytest.warns(UserWarning, match="1 of 1 lists of reference"):
        top_k_overlap([[1, 1.5]], [[1, 2]], **options)
    with pytest.warns(UserWarning, match="must leave out a document, got 2 for .* 2;"):
        top_k_overlap([[1, 1.5]], [[1, 2]], k=2)


@pytest.mark.filterwarnings("error")
def test_a_list_that_an_index_could_not_fill_is_whole():
    overlap = top_k_overlap([[1, 1, 0]], [[1, 1, np.nan]], ids=([[0, 1, -1]],) * 2, k=2)
    assert overlap.expected.tolist() == [1.0]
    assert not overlap.is_open.any()


BAD_INPUT = [
    ({"k": 0}, "k must be .* got 0"),
    ({"metric": "l2"}, "metric must be one of .*similarity.* got 'l2'"),
    ({"reference_ties": "any"}, "reference_ties must be one of .* got 'any'"),
    ({"tolerance": -1}, "tolerance must be a number >= 0, got -1"),
    ({"tolerance": 0.1}, "tolerance must be 0 unless .*interchangeable.*, got 0.1"),
    ({"qid": [1, 1]}, "qid and mask must be None with ids"),
    ({"ids": ([[0, 0]], [[0, 1]])}, "ids of reference .* once .* 0 twice in row 0"),
    ({"ids": ([[0, 1]], [[7, 7]])}, "ids of scores .* once .* 7 twice in row 0"),
    ({"ids": ([[0], [0, 1]], [[0, 1]])}, "ids of reference .* rows of equal length"),
    ({"ids": 5}, "ids must be a pair, .* got 5"),
    ({"ids": ([[0]], [[0]], [[0]])}, "ids must be a pair"),
    ({"ids": ([0, 1], [0, 1])}, r"ids of reference .* got shape \(2,\)"),
    ({"ids": ([[0.5, 1]], [[0, 1]])}, "ids of reference .* got .*float64"),
    ({"ids": ([[0, -2]], [[0, 1]])}, "ids of reference must be >= -1"),
    (
        {"ids": ([[0, 1]], [[0, 1]] * 2), "scores": [[1, 2]] * 2},
        "as many rows on both sides.* 1 and 2",
    ),
    ({"ids": ([[0, 1]], [[0, 1, 2]])}, r"scores must have the shape of its ids"),
    ({"k": 3}, "ids of reference must have at least k=3 columns, got 2"),
    (
        {"ids": None, "reference": [1, 2], "scores": [1]},
        r"scores must have one value per row \(2\), got 1",
    ),
    (
        {"ids": None, "reference": [1, math.nan], "scores": [1, 2]},
        "reference must not be NaN, got nan in row 1",
    ),
    ({"ids": None, "qid": [1]}, "qid must be None where reference has two"),
]


@pytest.mark.parametrize(("change", "message"), BAD_INPUT)
def test_errors_name_argument_rule_and_value(change, message):
    arguments = {"reference": [[2, 1]], "scores": [[1, 2]], "ids": ([[0, 1]], [[0, 1]])}
    with pytest.raises(ValueError, match=message):
        top_k_overlap(**{**arguments, "k": 1, **change})


def test_integers_are_compared_as_integers():
    large = np.array([2**53, 2**53 + 1, 0], dtype=np.uint64)
    near = top_k_overlap(large, [0, 1, 2], k=1, metric="distance")
    assert near.expected.tolist() == [0.0]
    far = top_k_overlap(large, [0, 1, 0], k=1)
    assert far.expected.tolist() == [1.0]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i8", "u1", "u8"])
def test_a_relative_tolerance_is_of_the_distance_in_any_dtype(dtype):
    reference = np.array([[10, 11, 30], [1, 2, 30]], dtype)
    scores = np.array([[9, 1, 8], [9, 1, 9]], dtype)
    options = {"k": 1, "metric": "distance", "reference_ties": "interchangeable"}
    near = top_k_overlap(reference, scores, tolerance=0.1, relative=True, **options)
    assert near.expected.tolist() == [1.0, 0.0]
    far = top_k_overlap(reference, scores, tolerance=1.0, relative=True, **options)
    assert far.expected.tolist() == [1.0, 1.0]


def test_masked_ids_are_refused():
    ids = [[0, 1, 2]], np.ma.masked_array([[0, 1, 2]], [[1, 0, 0]])
    with pytest.raises(ValueError, match=r"ids of scores .* masked .* shape \(1, 3\)"):
        top_k_overlap([[1.0, 2, 3]], [[1.0, 2, 3]], ids=ids, k=1)


def test_an_index_that_returns_nothing_finds_nothing():
    ids = ([[0, 1], [-1, -1]], [[-1, -1], [0, 1]])
    overlap = top_k_overlap([[1, 2]] * 2, [[0, 1]] * 2, ids=ids, k=1)
    np.testing.assert_array_equal(overlap.expected, [0, np.nan])


def test_parts_of_many_queries_are_one():
    rng = np.random.default_rng(3)
    ids = np.argsort(rng.random((1000, 200)), axis=1)[:, :100]
    scores = rng.integers(0, 9, (2, 1000, 100))
    whole = top_k_overlap(*scores, ids=(ids, ids), k=10)
    for rows in (slice(0, 400), slice(990, 1000)):
        part = top_k_overlap(*scores[:, rows], ids=(ids[rows], ids[rows]), k=10)
        assert_same(whole, part, rows=rows)
    ids[800, :2] = 7
    with pytest.raises(ValueError, match="7 twice in row 800"):
        top_k_overlap(*scores, ids=(ids, ids), k=10)


def test_frames_in_another_order_warn():
    frame = pd.DataFrame([[1.0, 2], [2, 1]], index=["q1", "q2"])
    message = "scores has the index of reference in another"
    with pytest.warns(UserWarning, match=message):
        top_k_overlap(frame, frame.iloc[::-1], k=1)


@pytest.mark.filterwarnings("ignore:.*lists of.*end inside the tie")
@pytest.mark.parametrize("reference_ties", ["orders", "interchangeable"])
def test_lists_of_any_length_are_those_of_each_query_alone(reference_ties):
    columns, ids, scores = random_lists(7)
    empty = np.random.default_rng(7).random(ids[1].shape) < 0.4
    ids[1] = np.where(empty | (np.arange(30) % 7 == 0)[:, None], -1, ids[1])
    options = {"k": 3, "reference_ties": reference_ties}
    whole = top_k_overlap(*scores, ids=ids, **options)
    kept = np.arange(40) < np.random.default_rng(8).integers(4, 40, 30)[:, None]
    masked = top_k_overlap(*columns, mask=kept, **options)
    for i in range(30):
        own_ids, own_scores = (
            [column[[i]] for column in arguments] for arguments in (ids, scores)
        )
        alone = top_k_overlap(*own_scores, ids=own_ids, **options)
        assert_same(whole, alone, "is_open", rows=[i])
        short = top_k_overlap(*(column[i, kept[i]] for column in columns), **options)
        assert_same(masked, short, "is_open", rows=[i])


@pytest.mark.parametrize("metric", ["similarity", "distance"])
def test_a_missing_value_is_named_by_row_and_column(metric):
    scores = np.zeros((5, 6))
    scores[1, 2] = np.nan
    wanted = "^scores must not be NaN, got nan in row 1, column 2"
    ids = np.tile(np.arange(6), (5, 1))
    holes = np.where(np.arange(6) < 1, -1, ids)
    for pair in (None, (ids, ids), (holes, holes)):
        with pytest.raises(ValueError, match=wanted):
            top_k_overlap(np.ones((5, 6)), scores, ids=pair, k=2, metric=metric)


def test_unsigned_distances_may_be_as_large_as_they_can():
    distance = np.array([[0, 255, 1, 2]], dtype=np.uint8)
    overlap = top_k_overlap(
        distance, -distance.astype(int) * -1, k=2, metric="distance"
    )
    assert overlap.expected.tolist() == [1]
