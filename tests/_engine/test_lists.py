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
    width = max(2, *(len(labels) for labels, _ in rows)) + draw(st.integers(0, 2))
    matrices = np.full((2, len(rows), width), NAN)
    for i, row in enumerate(rows):
        places = draw(st.permutations(range(width)))[: len(row[0])]
        for j, place in enumerate(places):
            matrices[:, i, place] = row[0][j], row[1][j]
    return tuple(matrices)


def flat(labels, scores):
    """The same documents by rows and ids."""
    there = ~(np.isnan(labels) & np.isnan(scores))
    return labels[there], scores[there], np.nonzero(there)[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(padded(), st.sampled_from(TIES), st.sampled_from(["macro", "median", None]))
def test_the_same_bits_as_flat_arrays(matrices, ties, average):
    labels, scores = matrices
    there = ~np.isnan(labels)
    y_true, y_score, qid = flat(labels, scores)
    weight = 1.0 + np.arange(len(labels)) % 3
    given = {
        "NaN": (labels, scores, None),
        "mask": (np.where(there, labels, -1), np.where(there, scores, INF), there),
    }
    options = {"measure": "ap", "ties": ties, "average": average}
    own = {**options, "qid": qid}
    wanted = ta.ranking_score(y_true, y_score, **own)
    weighted = ta.ranking_score(y_true, y_score, query_weight=weight[qid], **own)
    table = ta.evaluate(y_true, y_score, qid=qid, measures=MEASURES)
    prepared = ta.PreparedRanking(labels, mask=there)
    assert_array_equal(prepared.score(scores, **options), wanted)
    assert prepared.n_documents == len(y_true)
    for y, s, mask in given.values():
        assert_array_equal(ta.ranking_score(y, s, mask=mask, **options), wanted)
        found = ta.ranking_score(y, s, mask=mask, query_weight=weight, **options)
        assert_array_equal(found, weighted)
        report = ta.evaluate(y, s, mask=mask, measures=MEASURES)
        assert report.qid.tolist() == list(range(len(labels)))
        for name in PER_QUERY:
            assert_array_equal(getattr(report, name), getattr(table, name), name)


def test_every_function_of_labels_and_scores_takes_a_mask():
    takers = taken()
    without = takers["y_score"].keys() & takers["qid"] - takers["mask"].keys()
    # these return scores, a column of them
    assert without == {"break_ties", "band_scores", "round_scores"}


def ragged(dtype=float):
    """Labels and three systems of queries of 2 to 7 documents."""
    rng = np.random.default_rng(4)
    there = rng.random((9, 8)) < 0.6
    there[:, :2] = True
    labels = np.where(there, rng.integers(0, 3, there.shape), NAN)
    systems = rng.integers(0, 4, (*there.shape, 3)).astype(dtype)
    if dtype is float:
        systems[rng.random(systems.shape) < 0.1] = -INF
        systems[~there] = NAN
    return labels, systems, there


def alike(found, wanted):
    """Results equal to the bit, in all that they hold."""
    assert type(found) is type(wanted)
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for key, one in wanted.items():
            alike(found[key], one)
        return
    for name in (field.name for field in dataclasses.fields(wanted)):
        a, b = getattr(found, name), getattr(wanted, name)
        if dataclasses.is_dataclass(b):
            alike(a, b)
        elif isinstance(b, np.ndarray):
            assert_array_equal(a, b, name, strict=True)
        elif not callable(b):
            assert a == b or b != b, name


MEASURED = {"measure": ["ap", "ndcg@3"], "query_weight": 0}
OF_SYSTEMS = {
    "compare_systems": {**MEASURED, "segment": 0, "ties": ["expected", "input"]},
    "pvalues_over_orders": {**MEASURED, "n_orders": 20},
    "precision_study": {"query_weight": 0, "coarseness": "decimals=0"},
}


@pytest.mark.filterwarnings("ignore:")
@pytest.mark.parametrize("dtype", [float, np.int8])
@pytest.mark.parametrize("name", OF_SYSTEMS)
def test_systems_as_matrices_are_the_same_bits_as_columns(name, dtype):
    labels, systems, there = ragged(dtype)
    function, options = getattr(ta, name), OF_SYSTEMS[name]
    of_rows = {"query_weight": 1.0 + np.arange(9) % 3, "segment": list("aabbccabc")}
    of_rows = {key: of_rows.get(key, value) for key, value in options.items()}
    qid = there.nonzero()[0]
    of_documents = {
        key: np.array(value)[qid] if options[key] == 0 else value
        for key, value in of_rows.items()
    }
    names = ["a", "b", "c"]
    columns = dict(zip(names, systems[there].T, strict=True))
    if name in ("compare_systems", "precision_study"):
        key = np.arange(there.size).reshape(there.shape) * 7 % 11
        several = np.stack([key, -key, key % 3], axis=-1)
        for options, of in (of_rows, lambda x: x), (of_documents, lambda x: x[there]):
            options["external"] = {"one": of(key), "each": (of(several), "descending")}
            treatments = ["expected", "input", "one", "each"]
            options["ties"] = "each" if name == "precision_study" else treatments
    wanted = function(labels[there], columns, qid=qid, **of_documents)
    matrices = dict(zip(names, np.moveaxis(systems, -1, 0), strict=True))
    if dtype is float:
        alike(function(labels, matrices, **of_rows), wanted)
    filled = np.where(there, labels, -1)
    found = function(filled, matrices, mask=there, **of_rows)
    alike(found, wanted)
    array = function(filled, systems, mask=there, **of_rows)
    assert array.systems == ("system 0", "system 1", "system 2")
    alike(dataclasses.replace(array, systems=wanted.systems), wanted)


@pytest.mark.filterwarnings("ignore:")
def test_systems_without_labels_as_matrices():
    _, systems, there = ragged()
    qid, names = there.nonzero()[0], ["a", "b", "c"]
    matrices = dict(zip(names, np.moveaxis(systems, -1, 0), strict=True))
    columns = {name: matrix[there] for name, matrix in matrices.items()}
    lines = np.arange(there.size).reshape(there.shape) * 7 % 31
    ranks = np.stack([lines, lines % 4, lines % 5], axis=-1)
    more = {"rank": ranks, "input_order": lines}
    of_documents = {name: values[there] for name, values in more.items()}
    filled = {name: np.where(there, x, 7) for name, x in matrices.items()}
    wanted = comparison.tie_statistics(columns, qid=qid, **of_documents)
    alike(comparison.tie_statistics(matrices, **more), wanted)
    alike(comparison.tie_statistics(filled, mask=there, **more), wanted)
    array = comparison.tie_statistics(systems, **more)
    alike(dataclasses.replace(array, systems=tuple(names)), wanted)
    alone = comparison.tie_statistics(filled["a"], mask=there)
    assert alone.n_documents.tolist() == [(columns["a"] > -INF).sum()]


TWO = [[1, 0], [0, 1]]
NONE, BOTH = [[1, NAN], [0, 1]], {"a": TWO, "b": TWO}


BAD_SYSTEMS = [
    (
        lambda: ta.compare_systems(TWO, {"a": TWO, "b": [1, 0]}),
        r"y_score\['b'\] must have the shape of y_true, \(2, 2\), got \(2,\)",
    ),
    (
        lambda: ta.compare_systems(TWO, {"a": TWO, "b": NONE}),
        r"y_score\['b'\] must not be NaN .*, got nan in row 0, column 1",
    ),
    (
        lambda: ta.compare_systems(TWO, np.ones((2, 2, 1, 1))),
        r"shape \(n_queries, n_documents, n_systems\), got shape \(2, 2, 1, 1\)",
    ),
    (
        lambda: ta.compare_systems(TWO, BOTH, ties="ids", external={"ids": ["a", "b"]}),
        r"external\['ids'\] must have the shape of y_true, \(2, 2\), got \(2,\)",
    ),
    (
        lambda: ta.compare_systems(
            TWO, BOTH, ties="ids", external={"ids": [["a", "b"], ["c", None]]}
        ),
        "must not be missing where a document is retrieved, got None",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD_SYSTEMS)
def test_bad_systems(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_ids_and_masks_belong_to_one_form():
    for function in (comparison.rank_correlation, comparison.rank_biased_overlap):
        with pytest.raises(ValueError, match="qid must be None where y_true has two"):
            function(TWO, TWO, qid=[0, 1])
        with pytest.raises(
            ValueError, match=r"mask must be None unless y_true .* \(n_"
        ):
            function([1, 0], [0, 1], mask=[True, True])
    with pytest.raises(ValueError, match=r"qid must be None where y_score\['a'\] has"):
        comparison.tie_statistics({"a": TWO}, qid=[0, 1])


def test_a_label_without_a_judgment_is_no_padding():
    labels, scores = [[1, NAN, 0], [0, 1, NAN]], [[1, 3, 2], [1, 2, NAN]]
    own = {"measure": "rr", "unjudged": "nonrelevant", "average": None}
    found = ta.ranking_score(labels, scores, **own)
    assert found.tolist() == [1 / 3, 1]
    mask = ~np.isnan(scores)
    prepared = ta.PreparedRanking(labels, mask=mask, unjudged="nonrelevant")
    assert prepared.score(scores, "rr", average=None).tolist() == found.tolist()
    with pytest.raises(ValueError, match=r"got nan in row 0, column 1$"):
        ta.PreparedRanking(labels, mask=mask).score(scores, "rr")


def test_frames_and_lists():
    labels, scores = [[1, 0, 2], [0, 1, 0]], [[2, 1, 1], [1, 1, 0]]
    wanted = ta.ranking_score(labels, scores, average=None).tolist()
    polars = partial(pl.DataFrame, orient="row")
    for frame in (np.array, pd.DataFrame, polars, lambda rows: [*map(np.array, rows)]):
        found = ta.ranking_score(frame(labels), frame(scores), average=None)
        assert found.tolist() == wanted
    hidden = pd.DataFrame(scores) == 0
    given = [pd.DataFrame(x, dtype="Int64").mask(hidden) for x in (labels, scores)]
    found = ta.evaluate(*given, measures="p")
    assert found.expected[:, 0].tolist() == [2 / 3, 1 / 2]


def test_a_column_with_a_mask_is_queries_of_one_document():
    # batches of lists are as wide as their longest
    labels, scores = np.array([[1], [0], [2]]), [[3], [1], [2]]
    mask = np.ones((3, 1)) > 0
    found = ta.ranking_score(labels, scores, mask=mask, measure="rr", average=None)
    assert found.tolist() == [1, 0, 1]
    prepared = ta.PreparedRanking(labels.tolist(), mask=mask)
    assert prepared.score(scores, "rr", average=None).tolist() == [1, 0, 1]


ONE = {"y_true": [[1, 0], [0, 1]], "y_score": [[2, 1], [1, 2]]}
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
    arguments = {**ONE, **changes}
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)


@pytest.mark.filterwarnings("ignore:")
def test_displays_of_matrices():
    plots = pytest.importorskip("tieaware_sklearn.plots")
    labels, systems, there = ragged()
    columns = {"a": systems[there][:, 0], "b": systems[there][:, 1]}
    matrices = {"a": systems[..., 0], "b": systems[..., 1]}
    qid, filled = there.nonzero()[0], np.where(there, labels, -1)
    draw = plots.PrecisionRecallBandDisplay.from_predictions
    wanted = draw(labels[there], columns, qid=qid).curves
    for y, mask in ((labels, None), (filled, there)):
        alike(draw(y, matrices, mask=mask).curves, wanted)
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
    labels, systems, there = ragged()
    one = labels if function in OF_LABELS else systems[..., 1]
    other, qid = systems[..., 0], there.nonzero()[0]
    wanted = function(one[there], other[there], qid=qid)
    alike(function(one, other), wanted)
    filled = np.where(there, one, -1), np.where(there, other, 7)
    alike(function(*filled, mask=there), wanted)


def test_orders_are_of_places_in_the_flattened_matrix():
    labels, systems, there = ragged()
    columns, qid = (labels[there], systems[there][:, 0]), there.nonzero()[0]
    filled = np.where(there, labels, -1), np.where(there, systems[..., 0], 7)
    (flat_rows,) = sample_orderings(*columns, qid=qid, n_orders=1)
    for matrices, mask in (((labels, systems[..., 0]), None), (filled, there)):
        (rows,) = sample_orderings(*matrices, mask=mask, n_orders=1)
        assert_array_equal(rows, np.flatnonzero(there)[flat_rows])


def test_a_search_for_precision_takes_a_mask():
    optuna = pytest.importorskip("tieaware_sklearn.optuna")
    labels, systems, there = ragged(np.int8)
    values = []
    for y, scores, ids in (
        (np.where(there, labels, -1), systems[..., 0], {"mask": there}),
        (labels[there], systems[there][:, 0], {"qid": there.nonzero()[0]}),
    ):
        objective = optuna.ScorePrecisionObjective(y, scores, **ids)
        study = objective.create_study(seed=0)
        study.optimize(objective, n_trials=3)
        values.append([trial.values for trial in study.trials])
    assert values[0] == values[1]
