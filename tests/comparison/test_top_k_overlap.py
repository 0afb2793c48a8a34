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
    assert overlap.worst.tolist() == [float(min(values))]
    assert overlap.best.tolist() == [float(max(values))]
    assert overlap.std[0] == pytest.approx(math.sqrt(variance), abs=1e-14)


@pytest.mark.filterwarnings("ignore:k must be below the number of documents")
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
        returned = rng.permuted(order, axis=1)
        values = np.take_along_axis(full, returned, axis=1)
        column = np.full(full.shape, -np.inf)
        np.put_along_axis(column, returned, values, axis=1)
        ids.append(returned)
        scores.append(values)
        columns.append(column)
    return columns, ids, scores


def assert_same(overlap, expected, *more, rows=slice(None)):
    """Assert that some rows of a result are those that are expected."""
    for name in ("expected", "worst", "best", "std", *more):
        values = getattr(overlap, name)[rows]
        np.testing.assert_array_equal(values, getattr(expected, name), name)


@pytest.mark.filterwarnings("ignore:.*lists of.*end within the tie")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("reference_ties", ["orders", "interchangeable"])
def test_columns_matrices_and_lists_agree(seed, reference_ties):
    columns, ids, scores = random_lists(seed)
    options = {"k": 5, "reference_ties": reference_ties}
    overlap = top_k_overlap(*scores, ids=ids, **options)
    distances = [-values for values in scores]
    of_distances = top_k_overlap(*distances, ids=ids, metric="distance", **options)
    assert_same(overlap, of_distances)
    of_matrices = top_k_overlap(*columns, **options)
    assert_same(overlap, of_matrices)
    qid = np.repeat(np.arange(30), 40)
    flat = [column.ravel() for column in columns]
    of_columns = top_k_overlap(*flat, qid=qid, **options)
    assert_same(overlap, of_columns)
    rows = np.random.default_rng(seed).permutation(len(qid))
    shuffled = [column[rows] for column in flat]
    of_shuffled = top_k_overlap(*shuffled, qid=qid[rows], **options)
    assert_same(of_shuffled, overlap, rows=np.argsort(of_shuffled.qid))


def test_interchangeable_is_the_threshold_of_ann_benchmarks():
    rng = np.random.default_rng(1)
    exact, approximate = rng.random((2, 40, 25))
    order = np.argsort(approximate, axis=1)[:, :5]
    returned = np.take_along_axis(exact, order, axis=1)
    fifth = np.sort(exact, axis=1)[:, 4:5]
    is_near = returned <= fifth + 1e-3
    options = {"k": 5, "metric": "distance", "reference_ties": "interchangeable"}
    overlap = top_k_overlap(exact, approximate, tolerance=1e-3, **options)
    np.testing.assert_array_equal(overlap.expected, is_near.mean(axis=1))


def test_summary_averages_over_queries():
    reference = [[3, 2, 1], [3, 2, 1], [1, 1, 1]]
    scores = [[3, 1, 2], [3, 1, 2], [3, 1, 2]]
    overlap = top_k_overlap(reference, scores, k=2)
    assert overlap.expected.tolist() == [0.5, 0.5, pytest.approx(2 / 3)]
    summary = overlap.summary()
    assert summary.worst[0] == pytest.approx(1 / 2)
    assert summary.mean[0] == pytest.approx(5 / 9)
    assert summary.best[0] == pytest.approx(2 / 3)
    assert summary.tie_std[0] == pytest.approx(overlap.std[2] / 3)
    assert summary.n_queries.tolist() == [3]


def test_lists_that_end_inside_the_tie_are_counted():
    ids = [[0, 1, 2], [0, 1, 2]]
    reference = [[3, 2, 1], [3, 2, 1]]
    scores = [[1, 1, 1], [2, 2, 1]]
    with pytest.warns(UserWarning, match="1 of 2 lists of scores end within the tie"):
        overlap = top_k_overlap(reference, scores, ids=(ids, ids), k=2)
    assert overlap.is_open.tolist() == [[False, True], [False, False]]


def test_lists_that_end_within_the_tolerance_are_counted():
    ids = [[0, 1]]
    options = {"reference_ties": "interchangeable", "metric": "distance"}
    with pytest.warns(UserWarning, match="1 of 1 lists of reference"):
        top_k_overlap(
            [[1, 1.5]], [[1, 2]], ids=(ids, ids), k=1, tolerance=0.6, **options
        )


def test_k_that_leaves_out_no_document_warns():
    with pytest.warns(
        UserWarning,
        match="must be below the number of documents, got 2 for .* 2 documents",
    ):
        top_k_overlap([[1, 1.5]], [[1, 2]], k=2)


@pytest.mark.filterwarnings("error")
def test_a_list_that_an_index_could_not_fill_is_whole():
    ids = [[0, 1, -1]]
    overlap = top_k_overlap([[1, 1, 0]], [[1, 1, np.nan]], ids=(ids, ids), k=2)
    assert overlap.expected.tolist() == [1.0]
    assert not overlap.is_open.any()


FIRST_TWO = [[0, 1]]
BAD_IDS = [
    ([[0, 0]], FIRST_TWO, "ids of reference .* once .* 0 twice in row 0"),
    (FIRST_TWO, [[7, 7]], "ids of scores .* once .* 7 twice in row 0"),
    ([[0], [0, 1]], FIRST_TWO, "ids of reference .* If rows differ in length"),
    ([0, 1], [0, 1], r"ids of reference .* got shape \(2,\)"),
    ([[0.5, 1]], FIRST_TWO, "ids of reference .* got .*float64"),
    ([[0, -2]], FIRST_TWO, "ids of reference must be .* got ids from -2 to 0"),
    (FIRST_TWO, [[0, 1, 2]], r"scores must have the same shape as its ids"),
]


@pytest.mark.parametrize(("ids", "ids_of_scores", "message"), BAD_IDS)
def test_ids_that_are_refused(ids, ids_of_scores, message):
    with pytest.raises(ValueError, match=message):
        top_k_overlap([[2, 1]], [[1, 2]], ids=(ids, ids_of_scores), k=1)


def test_ids_are_a_pair():
    with pytest.raises(
        ValueError,
        match=r"ids must be a pair \(ids of reference, ids of scores\), got 5",
    ):
        top_k_overlap([[2, 1]], [[1, 2]], ids=5, k=1)
    with pytest.raises(ValueError, match="ids must be a pair"):
        top_k_overlap([[2, 1]], [[1, 2]], ids=([[0]], [[0]], [[0]]), k=1)


def test_both_sides_have_as_many_rows():
    ids = (FIRST_TWO, [[0, 1], [0, 1]])
    with pytest.raises(
        ValueError, match=r"must have the same number of rows.* 1 and 2"
    ):
        top_k_overlap([[2, 1]], [[1, 2], [1, 2]], ids=ids, k=1)


BAD_OPTIONS = [
    ({"k": 0}, "k must be .* got 0"),
    ({"metric": "l2"}, "metric must be one of .*similarity.* got 'l2'"),
    ({"reference_ties": "any"}, "reference_ties must be one of .* got 'any'"),
    ({"tolerance": -1}, "tolerance must be a number >= 0, got -1"),
    ({"tolerance": 0.1}, "tolerance must be 0 unless .*interchangeable.*, got 0.1"),
    ({"qid": [1, 1]}, "qid and mask must be None with ids"),
    ({"k": 3}, "ids of reference must have at least k=3 columns, got 2"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_options_that_are_refused(options, message):
    options = {"k": 1, **options}
    ids = (FIRST_TWO, FIRST_TWO)
    with pytest.raises(ValueError, match=message):
        top_k_overlap([[2, 1]], [[1, 2]], ids=ids, **options)


def test_columns_that_are_refused():
    with pytest.raises(
        ValueError, match=r"scores must have one value per row \(2\), got 1"
    ):
        top_k_overlap([1, 2], [1], k=1)
    with pytest.raises(ValueError, match="reference must not be NaN, got nan in row 1"):
        top_k_overlap([1, math.nan], [1, 2], k=1)
    with pytest.raises(ValueError, match="qid must be None if reference has two"):
        top_k_overlap([[2, 1]], [[1, 2]], qid=[1], k=1)


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
    ids = [[0, 1, 2]]
    masked = np.ma.masked_array(ids, [[1, 0, 0]])
    with pytest.raises(ValueError, match=r"ids of scores .* masked .* shape \(1, 3\)"):
        top_k_overlap([[1.0, 2, 3]], [[1.0, 2, 3]], ids=(ids, masked), k=1)


def test_an_index_that_returns_nothing_finds_nothing():
    reference_ids = [[0, 1], [-1, -1]]
    ids = [[-1, -1], [0, 1]]
    reference = [[1, 2], [1, 2]]
    scores = [[0, 1], [0, 1]]
    overlap = top_k_overlap(reference, scores, ids=(reference_ids, ids), k=1)
    np.testing.assert_array_equal(overlap.expected, [0, np.nan])


def test_parts_of_many_queries_are_one():
    rng = np.random.default_rng(3)
    ids = np.argsort(rng.random((1000, 200)), axis=1)[:, :100]
    scores = rng.integers(0, 9, (2, 1000, 100))
    whole = top_k_overlap(*scores, ids=(ids, ids), k=10)
    for rows in (slice(0, 400), slice(990, 1000)):
        of_part = ids[rows]
        part = top_k_overlap(*scores[:, rows], ids=(of_part, of_part), k=10)
        assert_same(whole, part, rows=rows)
    ids[800, :2] = 7
    with pytest.raises(ValueError, match="7 twice in row 800"):
        top_k_overlap(*scores, ids=(ids, ids), k=10)


def test_frames_in_another_order_warn():
    frame = pd.DataFrame([[1.0, 2], [2, 1]], index=["q1", "q2"])
    reverse = frame.iloc[::-1]
    message = "scores and reference have the same index"
    with pytest.warns(UserWarning, match=message):
        top_k_overlap(frame, reverse, k=1)


@pytest.mark.filterwarnings("ignore:.*lists of.*end within the tie")
@pytest.mark.parametrize("reference_ties", ["orders", "interchangeable"])
def test_lists_of_any_length_are_those_of_each_query_alone(reference_ties):
    _, (reference_ids, ids), (reference, scores) = random_lists(7)
    is_empty = np.random.default_rng(7).random(ids.shape) < 0.4
    is_empty[::7] = True
    ids[is_empty] = -1
    options = {"k": 3, "reference_ties": reference_ties}
    whole = top_k_overlap(reference, scores, ids=(reference_ids, ids), **options)
    for i in range(30):
        row = [i]
        of_row = (reference_ids[row], ids[row])
        alone = top_k_overlap(reference[row], scores[row], ids=of_row, **options)
        assert_same(whole, alone, "is_open", rows=row)


@pytest.mark.filterwarnings("ignore:.*lists of.*end within the tie")
@pytest.mark.parametrize("reference_ties", ["orders", "interchangeable"])
def test_masked_rows_are_those_of_each_query_alone(reference_ties):
    (reference, scores), _, _ = random_lists(7)
    lengths = np.random.default_rng(8).integers(4, 40, 30)
    mask = np.arange(40) < lengths[:, None]
    options = {"k": 3, "reference_ties": reference_ties}
    masked = top_k_overlap(reference, scores, mask=mask, **options)
    for i, length in enumerate(lengths):
        short = top_k_overlap(reference[i, :length], scores[i, :length], **options)
        assert_same(masked, short, "is_open", rows=[i])


@pytest.mark.parametrize("metric", ["similarity", "distance"])
def test_a_missing_value_is_named_by_row_and_column(metric):
    reference = np.ones((5, 6))
    scores = np.zeros((5, 6))
    scores[1, 2] = np.nan
    message = "^scores must not be NaN, got nan in row 1, column 2"
    ids = np.tile(np.arange(6), (5, 1))
    holes = ids.copy()
    holes[:, 0] = -1
    for pair in (None, (ids, ids), (holes, holes)):
        with pytest.raises(ValueError, match=message):
            top_k_overlap(reference, scores, ids=pair, k=2, metric=metric)


def test_unsigned_distances_may_be_as_large_as_they_can():
    distance = np.array([[0, 255, 1, 2]], dtype=np.uint8)
    signed = distance.astype(int)
    overlap = top_k_overlap(distance, signed, k=2, metric="distance")
    assert overlap.expected.tolist() == [1]
