"""Arrays of any kind: dtypes stay, objects are floats, what is missing is refused."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

import tieaware_sklearn as ta
from tests.evaluation.helpers import AP_A, AP_C, LABELS, QID, SCORES
from tieaware_sklearn._engine import checks, messages
from tieaware_sklearn._engine import exact_numbers as exact
from tieaware_sklearn._engine import feature_matrix as columns
from tieaware_sklearn.score_precision import round_scores

#: a time in nanoseconds: 64-bit floats are 256 apart there
T = 1_700_000_000_000_000_000
THIRD = Fraction(1, 3)
NAN = float("nan")


EXACT = [
    np.array([T, T + 100, 0]),
    np.array([2**63, 2**63 + 1, 0], dtype=np.uint64),
    [T, T + 100, 0],
    pd.Series([T, T + 100, 0], dtype="Int64"),
    pd.Series([T, T + 100, 0], dtype="int64[pyarrow]"),
    pl.Series([T, T + 100, 0]),
    pa.array([T, T + 100, 0]),
    np.array([1, np.nextafter(np.longdouble(1), 2), 0], dtype=np.longdouble),
]


@pytest.mark.parametrize("scores", EXACT)
def test_scores_of_a_numeric_dtype_are_exact(scores):
    if getattr(scores, "dtype", None) == np.longdouble and scores[1] == 1.0:
        pytest.skip("no longer than a double here")
    assert ta.ranking_score([0, 1, 0], scores, measure="rr") == 1


FLOATS = [
    [T, T + 100, 0.5],
    [2**70, 2**70 + 1, 0],
    [True, 2, 0.5],
    np.array([T, T + 100, 0.5], dtype=object),
    [Decimal(1), Decimal("1.0000000000000000001"), Decimal(0)],
    [THIRD, Fraction(1, 2), None],
    np.array([np.float32(1), np.True_, np.int8(3)], dtype=object),
    pl.Series([T, T + 100, 0], dtype=pl.Decimal(30, 0)),
    pl.Series([T, T + 100, None]),
    pl.Series([True, None]),
    pa.array([T, T + 100, None]),
    pa.array([True, None]),
    pd.array([T, T + 100, None], "Int64"),
    pd.array([0.5, None], "Float64"),
    pd.array([True, None], "boolean"),
    pd.Series([1, None], dtype="int64[pyarrow]"),
    np.array([1, pd.NA, NAN], dtype=object),
]


@pytest.mark.parametrize("values", FLOATS)
def test_other_numbers_are_floats_and_what_is_missing_is_nan(values):
    numbers = exact.numbers_of(values, "y")
    assert numbers.dtype == np.float64
    for number, value in zip(numbers, np.asarray(values, dtype=object), strict=True):
        if value is None or value is pd.NA or value != value:
            assert np.isnan(number)
        else:
            assert number == float(value)


def test_labels_and_weights_are_floats():
    assert checks.check_labels(np.array([T, T + 1])).tolist() == [float(T)] * 2
    queries = checks.check_qid([1, 2], n_rows=2)
    weight = checks.check_query_weight(np.array([1, 2], np.uint8), queries)
    assert weight.dtype == np.float64
    scores = np.array([T, T + 100])
    assert round_scores(scores, "rho=1.1").argmax() == 1  # bands are of ranks


MASKED = np.ma.array([1, 2, 3], mask=[0, 1, 0])
MASKED_X = np.ma.array([[1.0, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize("name", ["y_true", "y_score", "query_weight", "qid"])
def test_masked_arrays_are_refused(name):
    data = {"y_true": [0, 1, 0], "y_score": [1, 2, 3]}
    data[name] = MASKED
    message = rf"{name} must not be a masked array, got one of shape \(3,\) "
    message += r"\(\.astype\(float\)\.filled\(np\.nan\)"
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(**data)


@pytest.mark.parametrize(
    "model", [ta.RankingFeatureSelector("rr"), ta.LinearRanker("equal")]
)
def test_masked_features_are_refused(model):
    with pytest.raises(ValueError, match=r"X must not be a masked .* shape \(3, 2\)"):
        model.fit(MASKED_X, [0, 1, 0], qid=[1, 1, 1])


def pandas_with_nullable_dtypes(columns):
    return pd.DataFrame(columns).convert_dtypes()


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pandas_with_nullable_dtypes, pl.DataFrame, pa.table]
)
def test_columns_keep_the_order_of_their_integers_beside_floats(make):
    X = make({"time": [T, T + 100, 0, 5], "other": [0.5, 1.0, 2.0, 3.0]})
    y, qid = [0, 1, 0, 0], [1, 1, 1, 1]
    with pytest.warns(UserWarning, match="p-values need"):
        selector = ta.RankingFeatureSelector("rr").fit(X, y, qid=qid)
    assert selector.mean_[0, 0] == 1
    comparison = ta.compare_systems(y, X, qid=qid, measure="rr")
    assert comparison.expected.tolist() == [[1, 1 / 3]]


MISSING_IDS = [
    np.array([pd.NaT, pd.NaT, 1], dtype=object),
    np.array([np.datetime64("NaT", "s"), 1, 1], dtype=object),
    [("a", NAN), ("a", NAN), ("b", 1)],
    pd.MultiIndex.from_tuples([("a", NAN), ("a", NAN), ("b", 1.0)]),
    [Decimal("nan"), Decimal("nan"), Decimal(1)],
    np.array([NAN, NAN, 1], dtype=np.float16),
    pd.array([1, None, 2], dtype="Int64"),
    pd.Series(["a", None, "b"], dtype="category"),
    pl.Series([1, None, 2]),
    pa.array([1, None, 2]).dictionary_encode(),
    pa.chunked_array([pa.array(ids).dictionary_encode() for ids in ([1, None], [5])]),
    pa.array(["a", None, "b"]),
    ["a", None, "b"],
]


@pytest.mark.parametrize("qid", MISSING_IDS)
def test_query_ids_with_something_missing_are_refused(qid):
    with pytest.raises(ValueError, match="qid must not be missing, got"):
        checks.check_qid(qid, n_rows=3)


IDS = [
    np.array([3, 3, 1, 1, 3, 2, 2, 2]),
    np.array(QID, dtype=object),
    np.array([b"x", b"x", b"y", b"y", b"x", b"z", b"z", b"z"]),
    np.array([50, 50, 51, 51, 50, 52, 52, 52], "M8[Y]"),
    [*[(1, "a")] * 2, *[(2, "b")] * 2, (1, "a"), *[(3, "c")] * 3],
    pd.Series(QID, index=range(8, 0, -1)),
    pd.Series(QID, dtype="category"),
    pl.Series(QID),
    [True, True, False, False, True, 2, 2, 2],
    ["1", "1", b"1", b"1", "1", 1, 1, 1],
    [2**53, 2**53, 2**53 + 1, 2**53 + 1, 2**53, 1.5, 1.5, 1.5],
    [2**63, 2**63, 2**63 + 1, 2**63 + 1, 2**63, -1, -1, -1],
]


@pytest.mark.parametrize("qid", IDS)
def test_qid_of_any_hashable_dtype(qid):
    values = ta.ranking_score(LABELS, SCORES, qid=qid, measure="ap", average=None)
    assert values == pytest.approx([AP_A, 0, AP_C])


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([frozenset("ab"), 1], "sets, which have no order, got frozenset.* in row 0"),
        (np.array([(1,), (2,)], dtype=[("id", int)]), "records, got dtype .*'id'"),
        ([[1], [2]], r"hashable values: .*list"),
    ],
)
def test_query_ids_that_are_refused(qid, message):
    with pytest.raises(ValueError, match=f"qid must (not )?hold {message}"):
        checks.check_qid(qid, n_rows=2)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_integers_beyond_all_floats_are_refused(number):
    with pytest.raises(ValueError, match=r"y_score must fit 64-bit floats, .* row 1"):
        ta.ranking_score([0, 1], [1, number])


TEXTS = ["a", "b", "", "b"]
BYTES = [b"a", b"b", b"", b"b"]


@pytest.mark.parametrize("texts", [
    TEXTS, np.array(TEXTS), np.array(TEXTS, dtype=object),
    BYTES, np.array(BYTES), np.array(BYTES, dtype=object),
])  # fmt: skip
def test_the_empty_text_is_no_id_and_a_segment(texts):
    """In text files, nothing tells it from an id that is missing."""
    with pytest.raises(ValueError, match=r"qid .* be empty, got .*'' in row 2"):
        checks.check_qid(texts, n_rows=4)
    queries = checks.check_qid([1, 2, 3, 2], n_rows=4)
    segments = checks.check_segment(texts, queries)
    assert len(set(segments.tolist())) == 3


def test_one_column_is_taken_with_a_warning():
    frame = pd.DataFrame({"rel": [0, 1, 0], "score": [1, 2, 3], "qid": [*"aab"]})
    expected = ta.ranking_score(frame["rel"], frame["score"], qid=frame["qid"])
    message = "1-dimensional, got a column of shape"
    with pytest.warns(DataConversionWarning, match=message) as caught:
        value = ta.ranking_score(frame[["rel"]], frame[["score"]], qid=frame[["qid"]])
    assert value == expected
    arguments = [str(warning.message).split()[0] for warning in caught]
    assert arguments == ["y_true", "qid", "y_score"]


def test_flags_with_gaps_are_labels_without_a_judgment():
    labels = pd.array([True, None, False], dtype="boolean")
    with pytest.raises(ValueError, match=r"y_true must be judged .* got nan in row 1"):
        ta.ranking_score(labels, [1, 2, 3])
    options = {"measure": "rr", "unjudged": "nonrelevant"}
    assert ta.ranking_score(labels, [1, 2, 3], **options) == 1 / 3


@pytest.mark.parametrize("value", [np.array([1]), [1], "1", 1j, pd.Timestamp("2020")])
def test_objects_that_are_no_numbers_are_named(value):
    message = f"y_score must be numeric, got dtype object with {value!r} in row 2"
    with pytest.raises(ValueError, match=re.escape(message)):
        ta.ranking_score([0, 1, 0], checks._objects([1, 2, value]))


TWO_NUMBERS = np.array([1, 2])


@pytest.mark.parametrize(("name", "value"), [
    ("unjudged", TWO_NUMBERS),
    ("ties", TWO_NUMBERS),
    ("average", TWO_NUMBERS),
    ("convention", TWO_NUMBERS),
    ("zero_relevance", TWO_NUMBERS),
    ("zero_relevance", 10**400),
    # which has too many digits for int() to print
    pytest.param("zero_relevance", 10**5000, id="zero_relevance-long"),
])  # fmt: skip
def test_options_of_odd_kinds_are_refused_in_words(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        ta.ranking_score([0, 1, 0], [1, 2, 3], **{name: value})


@pytest.mark.parametrize("value", [2, 3.5, True, "4"])
def test_counts_are_checked(value):
    checks.check_count(3, "depth", least=3)
    with pytest.raises(ValueError, match=f"depth must be .* >= 3, got {value!r}"):
        checks.check_count(value, "depth", least=3)


def test_values_are_shown_in_a_line():
    assert messages.show(10**5000) == "an integer of 16610 bits"
    assert messages.show("x" * 78) == repr("x" * 78)
    assert messages.show("x" * 79) == f"'{'x' * 59}... (81 characters)"


class OfArray:
    """Offers `__array__` alone."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class OfDLPack:
    """Offers DLPack alone, as before it had options, on a device of our choice."""

    def __init__(self, values, device=(1, 0)):
        self.values = np.asarray(values)
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self):
        return self.values.__dlpack__()


class LikeTorch(OfDLPack):
    """Requires gradients, as the outputs of models do."""

    shape = property(lambda self: self.values.shape)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return OfArray(self.values)


class NoDtype(OfDLPack):
    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")


class OnDevice(OfDLPack):
    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


LISTS = [[1, 0, 2], [0, 1, 0]], [[2.0, 1.0, 1.0], [1.0, 1.0, 0.0]]


def test_tuples_and_arrays_are_not_missing():
    assert not exact.is_missing(("a", frozenset([1])))
    assert not exact.is_missing(np.array([1, 2]))


@pytest.mark.parametrize("tensor", [OfArray, OfDLPack, LikeTorch])
def test_tensors_in_two_dimensions(tensor):
    expected = ta.ranking_score(*LISTS, average=None).tolist()
    y_true, y_score = map(tensor, LISTS)
    weight = tensor([1.0, 2.0])
    mask = tensor(np.ones((2, 3), bool))
    report = ta.evaluate(y_true, y_score, query_weight=weight, mask=mask)
    assert report.expected[:, 0].tolist() == expected
    assert report.query_weight.tolist() == [1, 2]
    prepared = ta.PreparedRanking(y_true, mask=mask)
    assert prepared.score(y_score, average=None).tolist() == expected


@pytest.mark.parametrize("tensor", [OfArray, OfDLPack, LikeTorch])
def test_tensors_in_one_dimension(tensor):
    expected = ta.ranking_score(*LISTS, average=None).tolist()
    labels, scores = (tensor(np.ravel(rows)) for rows in LISTS)
    qid = tensor(np.array([0, 0, 0, 1, 1, 1]))
    values = ta.ranking_score(labels, scores, qid=qid, average=None)
    assert values.tolist() == expected
    # integers stay integers
    large = tensor([2**53, 2**53 + 1])
    assert ta.ranking_score([1, 0], large, measure="rr") == 1 / 2


def test_memory_that_the_cpu_shares_is_read():
    tensor = OfDLPack(LISTS[1], device=(3, 0))
    assert np.array_equal(exact.as_array(tensor, "y"), LISTS[1])


def test_dtypes_and_devices_that_numpy_does_not_know_are_refused():
    with pytest.raises(ValueError, match=r"y_score must be an array that NumPy.*BFlo"):
        ta.ranking_score([1, 0], NoDtype([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"y_true must be an array that NumPy.*cuda:"):
        ta.ranking_score(OnDevice([1, 0]), [1.0, 2.0])


@pytest.mark.parametrize("value", [7, "text"])
def test_a_number_or_text_is_no_array(value):
    with pytest.raises(ValueError, match=r"y_true must be 1-dim.*, got shape \(\)"):
        exact.numbers_of(value, "y_true")


TIMES = pd.date_range("2020", periods=3).to_numpy()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_times_and_of_text_are_named(frame):
    X = frame({"when": TIMES, "clicks": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"numbers, got .* in column 'when' \(convert"):
        ta.RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    X = frame({"query_id": ["a", "a", "b"], "clicks": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"got 'a' in column 'query_id' .*qid='query_"):
        ta.RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    selector = ta.RankingFeatureSelector("rr", qid="query_id", n_features_to_select=1)
    assert selector.fit(X, [0, 1, 0]).n_queries_ == 2


def test_a_text_of_a_number_is_text():
    X = pd.DataFrame({"views": ["1,234", "7", "8"]})
    message = "got '1,234' in column 'views' .leave the column out, or encode it; query"
    with pytest.raises(ValueError, match=message):
        ta.RankingFeatureSelector("rr").fit(X, [0, 1, 0])


@pytest.mark.parametrize(("X", "message"), [
    (TIMES[:, None], "X must hold numbers, got an array of datet"),
    (np.array([[1j], [1], [0]]),
     "^Complex data not supported: X must hold numbers, got an array of complex128"),
])  # fmt: skip
def test_arrays_of_no_real_numbers_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        ta.RankingFeatureSelector("rr").fit(X, [0, 1, 0])


def test_ids_in_a_sparse_matrix_that_are_broken():
    X = sp.csr_array([[0.5, 1], [7, 2]])
    with pytest.warns(UserWarning, match="qid=0 is .* with 0.5 in row 0: an ear"):
        qid = columns.column_of(X, 0)
    assert qid.tolist() == [0.5, 7]
    assert columns.blank_qid_column(X, 0) is X


def test_missing_ids_are_asked_for():
    with pytest.raises(ValueError, match=r"qid must hold .* None: pass qid to fit"):
        columns.need_qid(None, "fit")
    columns.need_qid([1], "fit")
