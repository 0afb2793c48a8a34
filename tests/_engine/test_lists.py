"""Tests of matrices, which have the bits of flat arrays."""

import dataclasses
import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import tieaware_sklearn as ta
from tests.signatures import taken
from tests.strategies import ranking
from tieaware_sklearn import comparison, evaluation
from tieaware_sklearn.evaluation import residuals, sample_orderings, tie_distributions

NAN = math.nan
INF = math.inf
MEASURES = ["ndcg@3", "ap", "rr", "esl", "fallout@2"]
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
TIES = ("expected", "best", "worst", "input")


@st.composite
def padded(draw):
    """Draw labels and scores with queries as rows, and NaN without a document."""
    rows = draw(st.lists(ranking(), min_size=1, max_size=4))
    longest = max(len(labels) for labels, _ in rows)
    width = max(2, longest)
    width += draw(st.integers(0, 2))
    matrices = np.full((2, len(rows), width), NAN)
    for i, (labels, scores) in enumerate(rows):
        places = draw(st.permutations(range(width)))[: len(labels)]
        matrices[0, i, places] = labels
        matrices[1, i, places] = scores
    return tuple(matrices)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(
    matrices=padded(),
    ties=st.sampled_from(TIES),
    average=st.sampled_from(["macro", "median", None]),
)
def test_the_same_bits_as_flat_arrays(matrices, ties, average):
    labels, scores = matrices
    present = ~(np.isnan(labels) & np.isnan(scores))
    y_true = labels[present]
    y_score = scores[present]
    qid = query_of(present)
    weight = 1.0 + np.arange(len(labels)) % 3
    options = {"measure": "ap", "ties": ties, "average": average}
    flat = {"y_true": y_true, "y_score": y_score, "qid": qid}
    expected = ta.ranking_score(**flat, **options)
    weight_of_rows = weight[qid]
    weighted = ta.ranking_score(**flat, query_weight=weight_of_rows, **options)
    report = ta.evaluate(**flat, measures=MEASURES)
    prepared = ta.PreparedRanking(labels, mask=present)
    assert_array_equal(prepared.score(scores, **options), expected)
    assert prepared.n_documents == len(y_true)
    masked = {"y_true": np.where(present, labels, -1), "mask": present}
    masked["y_score"] = np.where(present, scores, INF)
    padded_with_nan = {"y_true": labels, "y_score": scores}
    for data in (padded_with_nan, masked):
        assert_array_equal(ta.ranking_score(**data, **options), expected)
        value = ta.ranking_score(**data, query_weight=weight, **options)
        assert_array_equal(value, weighted)
        of_matrices = ta.evaluate(**data, measures=MEASURES)
        assert of_matrices.qid.tolist() == list(range(len(labels)))
        for name in PER_QUERY:
            values = getattr(of_matrices, name)
            assert_array_equal(values, getattr(report, name), name)


def test_every_function_of_labels_and_scores_takes_a_mask():
    takers = taken()
    without = takers["qid"].keys() - takers["mask"].keys()
    without &= takers["y_score"].keys()
    # These functions return a column of scores.
    assert without == {"break_ties", "band_scores", "round_scores"}


def query_of(present):
    """Return the query number of each document, in the order of flat arrays."""
    return present.nonzero()[0]


def ragged(dtype=float):
    """Return labels, three systems and the mask of queries of 2 to 8 documents."""
    rng = np.random.default_rng(4)
    present = rng.random((9, 8)) < 0.6
    present[:, :2] = True
    grades = rng.integers(0, 3, present.shape)
    labels = np.where(present, grades, NAN)
    systems = rng.integers(0, 4, (*present.shape, 3)).astype(dtype)
    if dtype is float:
        is_missing = rng.random(systems.shape) < 0.1
        systems[is_missing] = -INF
        systems[~present] = NAN
    return labels, systems, present


def places_of(present):
    """Return the number of each cell."""
    return np.arange(present.size).reshape(present.shape)


def assert_same(result, expected):
    """Check that results are equal to the bit, in all their fields."""
    assert type(result) is type(expected)
    if isinstance(expected, dict):
        assert list(result) == list(expected)
        for key, value in expected.items():
            assert_same(result[key], value)
        return
    for field in dataclasses.fields(expected):
        name = field.name
        value = getattr(result, name)
        expected_value = getattr(expected, name)
        if dataclasses.is_dataclass(expected_value):
            assert_same(value, expected_value)
        elif isinstance(expected_value, np.ndarray):
            assert_array_equal(value, expected_value, name, strict=True)
        elif not callable(expected_value):
            is_nan = expected_value != expected_value
            assert is_nan or value == expected_value, name


WEIGHT = 1.0 + np.arange(9) % 3
SEGMENT = np.array(list("aabbccabc"))
MEASURED = {"measure": ["ap", "ndcg@3"], "query_weight": WEIGHT}
OF_SYSTEMS = {
    "compare_systems": {**MEASURED, "segment": SEGMENT},
    "pvalues_over_orders": {**MEASURED, "n_orders": 20},
    "precision_study": {"query_weight": WEIGHT, "coarseness": "decimals=0"},
}


@pytest.mark.filterwarnings("ignore:")
@pytest.mark.parametrize("dtype", [float, np.int8])
@pytest.mark.parametrize("name", OF_SYSTEMS)
def test_systems_as_matrices_are_the_same_bits_as_columns(name, dtype):
    labels, systems, present = ragged(dtype)
    function = getattr(ta, name)
    of_rows = dict(OF_SYSTEMS[name])
    of_documents = dict(of_rows)
    qid = query_of(present)
    for key in ("query_weight", "segment"):
        if key in of_rows:
            of_documents[key] = of_rows[key][qid]
    if name != "pvalues_over_orders":
        key = places_of(present) * 7 % 11
        keys = np.stack([key, -key, key % 3], axis=-1)
        of_rows["external"] = {"shared": key, "each": (keys, "descending")}
        flat_keys = (keys[present], "descending")
        of_documents["external"] = {"shared": key[present], "each": flat_keys}
        ties = ["expected", "input", "shared", "each"]
        if name == "precision_study":
            ties = "each"
        of_rows["ties"] = ties
        of_documents["ties"] = ties
    matrices = {system: systems[..., j] for j, system in enumerate("abc")}
    columns = {system: matrix[present] for system, matrix in matrices.items()}
    expected = function(labels[present], columns, qid=qid, **of_documents)
    if dtype is float:
        of_nan = function(labels, matrices, **of_rows)
        assert_same(of_nan, expected)
    filled = np.where(present, labels, -1)
    of_matrices = function(filled, matrices, mask=present, **of_rows)
    assert_same(of_matrices, expected)
    of_array = function(filled, systems, mask=present, **of_rows)
    assert of_array.systems == ("system 0", "system 1", "system 2")
    renamed = dataclasses.replace(of_array, systems=expected.systems)
    assert_same(renamed, expected)


@pytest.mark.filterwarnings("ignore:")
def test_systems_without_labels_as_matrices():
    _, systems, present = ragged()
    qid = query_of(present)
    matrices = {system: systems[..., j] for j, system in enumerate("abc")}
    columns = {system: matrix[present] for system, matrix in matrices.items()}
    filled = {name: np.where(present, x, 7) for name, x in matrices.items()}
    lines = places_of(present) * 7 % 31
    ranks = np.stack([lines, lines % 4, lines % 5], axis=-1)
    options = {"rank": ranks, "input_order": lines}
    of_documents = {"rank": ranks[present], "input_order": lines[present]}
    expected = comparison.tie_statistics(columns, qid=qid, **of_documents)
    of_nan = comparison.tie_statistics(matrices, **options)
    assert_same(of_nan, expected)
    of_filled = comparison.tie_statistics(filled, mask=present, **options)
    assert_same(of_filled, expected)
    of_array = comparison.tie_statistics(systems, **options)
    renamed = dataclasses.replace(of_array, systems=("a", "b", "c"))
    assert_same(renamed, expected)
    alone = comparison.tie_statistics(filled["a"], mask=present)
    n_retrieved = (columns["a"] > -INF).sum()
    assert alone.n_documents.tolist() == [n_retrieved]


TWO = [[1, 0], [0, 1]]
WITH_NAN = [[1, NAN], [0, 1]]
BAD_SYSTEMS = [
    (
        {"a": TWO, "b": [1, 0]},
        r"y_score\['b'\] must have the same shape as y_true, \(2, 2\), got \(2,\)",
    ),
    (
        {"a": TWO, "b": WITH_NAN},
        r"y_score\['b'\] must not be NaN, got nan in row 0, column 1",
    ),
    (
        np.ones((2, 2, 1, 1)),
        r"shape \(n_queries, n_documents, n_systems\), .*got shape \(2, 2, 1, 1\)",
    ),
]


@pytest.mark.parametrize(("systems", "message"), BAD_SYSTEMS)
def test_bad_systems(systems, message):
    with pytest.raises(ValueError, match=message):
        ta.compare_systems(TWO, systems)


BAD_KEYS = [
    (
        ["a", "b"],
        r"external\['ids'\] must have the same shape as y_true, \(2, 2\), got \(2,\)",
    ),
    (
        [["a", "b"], ["c", None]],
        "must not be missing where a document is retrieved, got None",
    ),
]


@pytest.mark.parametrize(("ids", "message"), BAD_KEYS)
def test_bad_keys_of_systems(ids, message):
    systems = {"a": TWO, "b": TWO}
    options = {"ties": "ids", "external": {"ids": ids}}
    with pytest.raises(ValueError, match=message):
        ta.compare_systems(TWO, systems, **options)


CORRELATIONS = [comparison.rank_correlation, comparison.rank_biased_overlap]


@pytest.mark.parametrize("function", CORRELATIONS)
def test_ids_and_masks_belong_to_one_form(function):
    with pytest.raises(ValueError, match="qid must be None if y_true has two"):
        function(TWO, TWO, qid=[0, 1])
    with pytest.raises(ValueError, match=r"mask must be None unless y_true .* \(n_"):
        function([1, 0], [0, 1], mask=[True, True])


def test_systems_as_matrices_take_no_ids():
    with pytest.raises(ValueError, match=r"qid must be None if y_score\['a'\] has"):
        comparison.tie_statistics({"a": TWO}, qid=[0, 1])


def test_a_label_without_a_judgment_is_no_padding():
    labels = [[1, NAN, 0], [0, 1, NAN]]
    scores = [[1, 3, 2], [1, 2, NAN]]
    options = {"measure": "rr", "unjudged": "nonrelevant", "average": None}
    values = ta.ranking_score(labels, scores, **options)
    assert values.tolist() == [1 / 3, 1]
    mask = ~np.isnan(scores)
    prepared = ta.PreparedRanking(labels, mask=mask, unjudged="nonrelevant")
    of_prepared = prepared.score(scores, "rr", average=None)
    assert of_prepared.tolist() == values.tolist()
    without_option = ta.PreparedRanking(labels, mask=mask)
    with pytest.raises(ValueError, match=r"got nan in row 0, column 1"):
        without_option.score(scores, "rr")


def list_of_arrays(rows):
    return [np.array(row) for row in rows]


LABEL_LISTS = [[1, 0, 2], [0, 1, 0]]
SCORE_LISTS = [[2, 1, 1], [1, 1, 0]]
polars_of_rows = partial(pl.DataFrame, orient="row")
FRAMES = [np.array, pd.DataFrame, polars_of_rows, list_of_arrays]


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_and_lists(frame):
    expected = ta.ranking_score(LABEL_LISTS, SCORE_LISTS, average=None)
    labels = frame(LABEL_LISTS)
    scores = frame(SCORE_LISTS)
    values = ta.ranking_score(labels, scores, average=None)
    assert values.tolist() == expected.tolist()


def test_missing_cells_of_frames_are_padding():
    scores = pd.DataFrame(SCORE_LISTS, dtype="Int64")
    labels = pd.DataFrame(LABEL_LISTS, dtype="Int64")
    padding = scores == 0
    labels = labels.mask(padding)
    scores = scores.mask(padding)
    report = ta.evaluate(labels, scores, measures="p")
    assert report.expected[:, 0].tolist() == [2 / 3, 1 / 2]


def test_a_column_with_a_mask_is_queries_of_one_document():
    # Batches of lists are as wide as the longest list.
    labels = np.array([[1], [0], [2]])
    scores = [[3], [1], [2]]
    mask = np.ones((3, 1), dtype=bool)
    options = {"measure": "rr", "average": None}
    values = ta.ranking_score(labels, scores, mask=mask, **options)
    assert values.tolist() == [1, 0, 1]
    prepared = ta.PreparedRanking(labels.tolist(), mask=mask)
    values = prepared.score(scores, **options)
    assert values.tolist() == [1, 0, 1]


WITH_TEXT = [[2, 1], ["a", 2]]
OBJECTS = np.array(WITH_TEXT, object)
SPARSE = csr_array(np.eye(2))
NO_ROWS = np.ones((0, 3))
BAD_INPUT = [
    ("y_true", [[1, 0], [NAN, 1]], "the scores must also be NaN"),
    ("y_score", [[1], [1, 2]], "y_score must be .* If rows differ in length"),
    ("mask", [[1, 1], [1, 0]], "mask must be boolean.* got dtype int64"),
    ("y_true", [[[1, 0], [0, 1]]], r"1-dimensional, got shape \(1, 2, 2\)"),
    ("y_true", SPARSE, "y_true must be dense, got a csr_array: convert"),
    ("y_score", SPARSE, "y_score must be dense, got a csr_array: convert"),
    ("mask", [True, False], r"mask must have the same shape as y_true, \(2, 2\), got"),
    ("mask", [[True, True], [False, False]], "mask .* True .* in row 1"),
    ("y_true", NO_ROWS, r"y_true must not be empty, got shape \(0, 3\)"),
    ("y_true", [[1, 0], [0, -1]], r"-1.0 in row 1, col.* mask=y_true >= 0"),
    ("y_true", [[1, INF], [0, 1]], "be finite, got inf in row 0, column 1"),
    ("y_score", [[2, NAN], [1, 2]], "y_score .* be NaN, .* row 0, column 1"),
    ("y_score", [[2, 1], [INF, 2]], "y_score .* be finite or -inf, .* row 1, column 0"),
    ("y_score", WITH_TEXT, "y_score .* numeric, .* row 0, column 0"),
    ("y_score", OBJECTS, "numeric, got dtype object with 'a' in row 1, column 0"),
    ("query_weight", [1, 2, 3], r"query_weight .* one value per row \(2\)"),
    ("query_weight", [1, -2], "query_weight .* be finite and >= 0, got -2.0 in"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_INPUT)
def test_bad_input(name, value, message):
    data = {"y_true": [[1, 0], [0, 1]]}
    data["y_score"] = [[2, 1], [1, 2]]
    data[name] = value
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(**data)


def test_a_row_of_padding_alone_is_refused():
    empty_row = [[1, 0], [NAN, NAN]]
    message = "document in every row, got only padding in row 1"
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(empty_row, empty_row)


@pytest.mark.filterwarnings("ignore:")
def test_displays_of_matrices():
    plots = pytest.importorskip("tieaware_sklearn.plots")
    labels, systems, present = ragged()
    matrices = {"a": systems[..., 0], "b": systems[..., 1]}
    columns = {name: matrix[present] for name, matrix in matrices.items()}
    draw = plots.PrecisionRecallBandDisplay.from_predictions
    of_columns = draw(labels[present], columns, qid=query_of(present))
    of_matrices = draw(labels, matrices)
    assert_same(of_matrices.curves, of_columns.curves)
    filled = np.where(present, labels, -1)
    of_filled = draw(filled, matrices, mask=present)
    assert_same(of_filled.curves, of_columns.curves)
    matrices["b"] = columns["b"]
    with pytest.raises(
        ValueError, match=r"y_score\['b'\] must have the same shape as y_"
    ):
        draw(labels, matrices)


BOOLEANS = [[True, False], [False, True]]


@pytest.mark.parametrize("labels", [TWO, BOOLEANS])
def test_a_mask_that_leaves_out_all_that_is_relevant_is_doubted(labels):
    mask = np.array(labels) > 0
    with pytest.warns(UserWarning, match="mask leaves out all relevant documents"):
        value = ta.ranking_score(labels, TWO, mask=~mask, measure="p@1")
    assert value == 0
    with warnings.catch_warnings(action="error"):
        assert ta.ranking_score(labels, TWO, mask=mask, measure="p@1") == 1


def test_a_mask_is_not_doubted_if_no_document_is_relevant():
    mask = np.array(BOOLEANS)
    with warnings.catch_warnings(action="error"):
        ta.ranking_score(np.zeros((2, 2)), TWO, mask=mask, measure="p@1")


reciprocal_rank = partial(ta.ranking_score, measure="rr")
sampled_reciprocal_rank = partial(ta.sampled, score_func=reciprocal_rank)
OF_LABELS = [ta.tie_treatments, ta.tie_report, residuals, tie_distributions]
OF_LABELS += [evaluation.precision_recall_curve, sampled_reciprocal_rank]


@pytest.mark.filterwarnings("ignore:")
@pytest.mark.parametrize("function", OF_LABELS + CORRELATIONS)
def test_two_matrices_are_the_same_bits_as_two_columns(function):
    labels, systems, present = ragged()
    first = labels if function in OF_LABELS else systems[..., 1]
    second = systems[..., 0]
    qid = query_of(present)
    expected = function(first[present], second[present], qid=qid)
    assert_same(function(first, second), expected)
    first = np.where(present, first, -1)
    second = np.where(present, second, 7)
    assert_same(function(first, second, mask=present), expected)


def test_orders_are_of_places_in_the_flattened_matrix():
    labels, systems, present = ragged()
    scores = systems[..., 0]
    options = {"qid": query_of(present), "n_orders": 1}
    (flat_rows,) = sample_orderings(labels[present], scores[present], **options)
    expected = np.flatnonzero(present)[flat_rows]
    (rows,) = sample_orderings(labels, scores, n_orders=1)
    assert_array_equal(rows, expected)
    labels = np.where(present, labels, -1)
    scores = np.where(present, scores, 7)
    (rows,) = sample_orderings(labels, scores, mask=present, n_orders=1)
    assert_array_equal(rows, expected)


def test_a_search_for_precision_takes_a_mask():
    optuna = pytest.importorskip("tieaware_sklearn.optuna")
    labels, systems, present = ragged(np.int8)
    scores = systems[..., 0]

    def values_of_trials(*data, **ids):
        objective = optuna.ScorePrecisionObjective(*data, **ids)
        study = objective.create_study(seed=0)
        study.optimize(objective, n_trials=3)
        return [trial.values for trial in study.trials]

    filled = np.where(present, labels, -1)
    of_matrices = values_of_trials(filled, scores, mask=present)
    qid = query_of(present)
    of_columns = values_of_trials(labels[present], scores[present], qid=qid)
    assert of_matrices == of_columns
