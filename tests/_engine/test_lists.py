"""Queries as the rows of matrices: the numbers of flat arrays, to the bit."""

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

NAN, INF = math.nan, math.inf
MEASURES = ["ndcg@3", "ap", "rr", "esl", "fallout@2"]
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
TIES = ("expected", "best", "worst", "input")


@st.composite
def padded(draw):
    """Labels and scores with queries as rows, NaN in both behind the end or between."""
    rows = draw(st.lists(ranking(), min_size=1, max_size=4))
    longest = max(len(labels) for labels, _ in rows)
    width = max(2, longest) + draw(st.integers(0, 2))
    matrices = np.full((2, len(rows), width), NAN)
    for i, (labels, scores) in enumerate(rows):
        places = draw(st.permutations(range(width)))[: len(labels)]
        matrices[0, i, places] = labels
        matrices[1, i, places] = scores
    return tuple(matrices)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(padded(), st.sampled_from(TIES), st.sampled_from(["macro", "median", None]))
def test_the_same_bits_as_flat_arrays(matrices, ties, average):
    labels, scores = matrices
    present = ~(np.isnan(labels) & np.isnan(scores))
    y_true, y_score = labels[present], scores[present]
    qid = np.nonzero(present)[0]
    weight = 1.0 + np.arange(len(labels)) % 3
    options = {"measure": "ap", "ties": ties, "average": average}
    flat = {"y_true": y_true, "y_score": y_score, "qid": qid}
    expected = ta.ranking_score(**flat, **options)
    weighted = ta.ranking_score(**flat, query_weight=weight[qid], **options)
    report = ta.evaluate(**flat, measures=MEASURES)
    prepared = ta.PreparedRanking(labels, mask=present)
    assert_array_equal(prepared.score(scores, **options), expected)
    assert prepared.n_documents == len(y_true)
    masked = {"y_true": np.where(present, labels, -1), "mask": present}
    masked["y_score"] = np.where(present, scores, INF)
    for data in ({"y_true": labels, "y_score": scores}, masked):
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
    without = takers["y_score"].keys() & takers["qid"] - takers["mask"].keys()
    # these return scores, a column of them
    assert without == {"break_ties", "band_scores", "round_scores"}


def ragged(dtype=float):
    """Labels and three systems of queries of 2 to 7 documents."""
    rng = np.random.default_rng(4)
    present = rng.random((9, 8)) < 0.6
    present[:, :2] = True
    labels = np.where(present, rng.integers(0, 3, present.shape), NAN)
    systems = rng.integers(0, 4, (*present.shape, 3)).astype(dtype)
    if dtype is float:
        systems[rng.random(systems.shape) < 0.1] = -INF
        systems[~present] = NAN
    return labels, systems, present


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
        value, expected_value = getattr(result, name), getattr(expected, name)
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
    qid = present.nonzero()[0]
    for key in ("query_weight", "segment"):
        if key in of_rows:
            of_documents[key] = of_rows[key][qid]
    if name in ("compare_systems", "precision_study"):
        key = np.arange(present.size).reshape(present.shape) * 7 % 11
        keys = np.stack([key, -key, key % 3], axis=-1)
        of_rows["external"] = {"shared": key, "each": (keys, "descending")}
        flat_keys = (keys[present], "descending")
        of_documents["external"] = {"shared": key[present], "each": flat_keys}
        ties = ["expected", "input", "shared", "each"]
        if name == "precision_study":
            ties = "each"
        of_rows["ties"] = of_documents["ties"] = ties
    matrices = {system: systems[..., j] for j, system in enumerate("abc")}
    columns = {system: matrix[present] for system, matrix in matrices.items()}
    expected = function(labels[present], columns, qid=qid, **of_documents)
    if dtype is float:
        assert_same(function(labels, matrices, **of_rows), expected)
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
    qid = present.nonzero()[0]
    matrices = {system: systems[..., j] for j, system in enumerate("abc")}
    columns = {system: matrix[present] for system, matrix in matrices.items()}
    filled = {name: np.where(present, x, 7) for name, x in matrices.items()}
    lines = np.arange(present.size).reshape(present.shape) * 7 % 31
    ranks = np.stack([lines, lines % 4, lines % 5], axis=-1)
    options = {"rank": ranks, "input_order": lines}
    of_documents = {name: values[present] for name, values in options.items()}
    expected = comparison.tie_statistics(columns, qid=qid, **of_documents)
    assert_same(comparison.tie_statistics(matrices, **options), expected)
    of_filled = comparison.tie_statistics(filled, mask=present, **options)
    assert_same(of_filled, expected)
    of_array = comparison.tie_statistics(systems, **options)
    assert_same(dataclasses.replace(of_array, systems=("a", "b", "c")), expected)
    alone = comparison.tie_statistics(filled["a"], mask=present)
    assert alone.n_documents.tolist() == [(columns["a"] > -INF).sum()]


TWO = [[1, 0], [0, 1]]
NONE, BOTH = [[1, NAN], [0, 1]], {"a": TWO, "b": TWO}


UNLIKE = [[1, NAN], [0, 1]]


@pytest.mark.parametrize(("systems", "message"), [
    ({"a": TWO, "b": [1, 0]},
     r"y_score\['b'\] must have the shape of y_true, \(2, 2\), got \(2,\)"),
    ({"a": TWO, "b": UNLIKE},
     r"y_score\['b'\] must not be NaN .*, got nan in row 0, column 1"),
    (np.ones((2, 2, 1, 1)),
     r"shape \(n_queries, n_documents, n_systems\), got shape \(2, 2, 1, 1\)"),
])  # fmt: skip
def test_bad_systems(systems, message):
    with pytest.raises(ValueError, match=message):
        ta.compare_systems(TWO, systems)


@pytest.mark.parametrize(("ids", "message"), [
    (["a", "b"],
     r"external\['ids'\] must have the shape of y_true, \(2, 2\), got \(2,\)"),
    ([["a", "b"], ["c", None]],
     "must not be missing where a document is retrieved, got None"),
])  # fmt: skip
def test_bad_keys_of_systems(ids, message):
    systems = {"a": TWO, "b": TWO}
    with pytest.raises(ValueError, match=message):
        ta.compare_systems(TWO, systems, ties="ids", external={"ids": ids})


@pytest.mark.parametrize(
    "function", [comparison.rank_correlation, comparison.rank_biased_overlap]
)
def test_ids_and_masks_belong_to_one_form(function):
    with pytest.raises(ValueError, match="qid must be None where y_true has two"):
        function(TWO, TWO, qid=[0, 1])
    with pytest.raises(ValueError, match=r"mask must be None unless y_true .* \(n_"):
        function([1, 0], [0, 1], mask=[True, True])


def test_systems_as_matrices_take_no_ids():
    with pytest.raises(ValueError, match=r"qid must be None where y_score\['a'\] has"):
        comparison.tie_statistics({"a": TWO}, qid=[0, 1])


def test_a_label_without_a_judgment_is_no_padding():
    labels, scores = [[1, NAN, 0], [0, 1, NAN]], [[1, 3, 2], [1, 2, NAN]]
    options = {"measure": "rr", "unjudged": "nonrelevant", "average": None}
    values = ta.ranking_score(labels, scores, **options)
    assert values.tolist() == [1 / 3, 1]
    mask = ~np.isnan(scores)
    prepared = ta.PreparedRanking(labels, mask=mask, unjudged="nonrelevant")
    of_prepared = prepared.score(scores, "rr", average=None)
    assert of_prepared.tolist() == values.tolist()
    with pytest.raises(ValueError, match=r"got nan in row 0, column 1$"):
        ta.PreparedRanking(labels, mask=mask).score(scores, "rr")


def list_of_arrays(rows):
    return [np.array(row) for row in rows]


@pytest.mark.parametrize(
    "frame",
    [np.array, pd.DataFrame, partial(pl.DataFrame, orient="row"), list_of_arrays],
)
def test_frames_and_lists(frame):
    labels, scores = [[1, 0, 2], [0, 1, 0]], [[2, 1, 1], [1, 1, 0]]
    expected = ta.ranking_score(labels, scores, average=None)
    values = ta.ranking_score(frame(labels), frame(scores), average=None)
    assert values.tolist() == expected.tolist()


def test_missing_cells_of_frames_are_padding():
    scores = pd.DataFrame([[2, 1, 1], [1, 1, 0]], dtype="Int64")
    labels = pd.DataFrame([[1, 0, 2], [0, 1, 0]], dtype="Int64")
    padding = scores == 0
    report = ta.evaluate(labels.mask(padding), scores.mask(padding), measures="p")
    assert report.expected[:, 0].tolist() == [2 / 3, 1 / 2]


def test_a_column_with_a_mask_is_queries_of_one_document():
    # batches of lists are as wide as their longest
    labels, scores = np.array([[1], [0], [2]]), [[3], [1], [2]]
    mask = np.ones((3, 1)) > 0
    values = ta.ranking_score(labels, scores, mask=mask, measure="rr", average=None)
    assert values.tolist() == [1, 0, 1]
    prepared = ta.PreparedRanking(labels.tolist(), mask=mask)
    assert prepared.score(scores, "rr", average=None).tolist() == [1, 0, 1]


A = np.array([[2, 1], ["a", 2]], object)
A = np.array([[2, 1], ["a", 2]], object)
EMPTY, SPARSE = [[1, 0], [NAN, NAN]], csr_array(np.eye(2))


BAD_INPUT = [
    ({"y_true": [[1, 0], [NAN, 1]]}, "padding must be NaN in the scores, too"),
    ({"y_score": [[1], [1, 2]]}, "y_score must be .* with rows of equal length"),
    ({"mask": [[1, 1], [1, 0]]}, "mask must be boolean, .* got dtype int64"),
    ({"y_true": [[[1, 0], [0, 1]]]}, r"1-dimensional, got shape \(1, 2, 2\)"),
    ({"y_true": SPARSE}, "y_true must be dense, got a csr_array: toarray"),
    ({"y_score": SPARSE}, "y_score must be dense, got a csr_array: toarray"),
    ({"mask": [True, False]}, r"mask must have the shape of y_true, \(2, 2\), got"),
    ({"mask": [[True, True], [False, False]]}, "mask .* True .* in row 1"),
    (
        {"y_true": EMPTY, "y_score": EMPTY},
        "document in every row, got nothing but padding in row 1",
    ),
    ({"y_true": np.ones((0, 3))}, r"y_true must not be empty, got shape \(0, 3\)"),
    ({"y_true": [[1, 0], [0, -1]]}, r"\(mask=y_true >= 0 .* -1.0 in row 1, col"),
    ({"y_true": [[1, INF], [0, 1]]}, "be finite, got inf in row 0, column 1"),
    ({"y_score": [[2, NAN], [1, 2]]}, "y_score .* be NaN .*, .* row 0, column 1"),
    ({"y_score": [[2, 1], [INF, 2]]}, "y_score .* be finite, .* row 1, column 0"),
    ({"y_score": [[2, 1], ["a", 2]]}, "y_score .* numeric, .* row 0, column 0"),
    ({"y_score": A}, "numeric, got dtype object with 'a' in row 1, column 0"),
    ({"query_weight": [1, 2, 3]}, r"query_weight .* one value per row \(2\)"),
    ({"query_weight": [1, -2]}, "query_weight .* be finite and >= 0, got -2.0 in"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_INPUT)
def test_bad_input(changes, message):
    data = {"y_true": [[1, 0], [0, 1]], "y_score": [[2, 1], [1, 2]]}
    data.update(changes)
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(**data)


@pytest.mark.filterwarnings("ignore:")
def test_displays_of_matrices():
    plots = pytest.importorskip("tieaware_sklearn.plots")
    labels, systems, present = ragged()
    matrices = {"a": systems[..., 0], "b": systems[..., 1]}
    columns = {name: matrix[present] for name, matrix in matrices.items()}
    draw = plots.PrecisionRecallBandDisplay.from_predictions
    expected = draw(labels[present], columns, qid=present.nonzero()[0]).curves
    assert_same(draw(labels, matrices).curves, expected)
    filled = np.where(present, labels, -1)
    assert_same(draw(filled, matrices, mask=present).curves, expected)
    with pytest.raises(ValueError, match=r"y_score\['b'\] must have the shape of y_"):
        draw(labels, {"a": matrices["a"], "b": columns["b"]})


@pytest.mark.parametrize("labels", [TWO, [[True, False], [False, True]]])
def test_a_mask_that_leaves_out_all_that_is_relevant_is_doubted(labels):
    mask = np.array(labels) > 0
    with pytest.warns(UserWarning, match="mask leaves out all relevant documents"):
        assert ta.ranking_score(labels, TWO, mask=~mask, measure="p@1") == 0
    with warnings.catch_warnings(action="error"):
        assert ta.ranking_score(labels, TWO, mask=mask, measure="p@1") == 1
        # there is none, within the mask or without
        ta.ranking_score(np.zeros((2, 2)), TWO, mask=mask, measure="p@1")


OF_LABELS = [ta.tie_treatments, ta.tie_report, residuals, tie_distributions]
OF_LABELS += [evaluation.contingency_table, evaluation.precision_recall_curve]
OF_LABELS += [partial(ta.sampled, score_func=partial(ta.ranking_score, measure="rr"))]
OF_SCORES = [comparison.rank_correlation, comparison.rank_biased_overlap]


@pytest.mark.filterwarnings("ignore:")
@pytest.mark.parametrize("function", OF_LABELS + OF_SCORES)
def test_two_matrices_are_the_same_bits_as_two_columns(function):
    labels, systems, present = ragged()
    first = labels if function in OF_LABELS else systems[..., 1]
    second = systems[..., 0]
    qid = present.nonzero()[0]
    expected = function(first[present], second[present], qid=qid)
    assert_same(function(first, second), expected)
    first, second = np.where(present, first, -1), np.where(present, second, 7)
    assert_same(function(first, second, mask=present), expected)


def test_orders_are_of_places_in_the_flattened_matrix():
    labels, systems, present = ragged()
    scores = systems[..., 0]
    qid = present.nonzero()[0]
    options = {"qid": qid, "n_orders": 1}
    (flat_rows,) = sample_orderings(labels[present], scores[present], **options)
    expected = np.flatnonzero(present)[flat_rows]
    (rows,) = sample_orderings(labels, scores, n_orders=1)
    assert_array_equal(rows, expected)
    labels, scores = np.where(present, labels, -1), np.where(present, scores, 7)
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
    qid = present.nonzero()[0]
    assert of_matrices == values_of_trials(labels[present], scores[present], qid=qid)
