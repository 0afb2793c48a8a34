"""Tests of arrays of any kind: their dtypes, objects, and missing values."""

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

#: A time in nanoseconds. 64-bit floats near it are 256 apart.
T = 1_700_000_000_000_000_000
NEAR = [T, T + 100, 0]
NEAR_WITH_FRACTION = [T, T + 100, 0.5]
NEAR_WITH_GAP = [T, T + 100, None]
THIRD = Fraction(1, 3)
NAN = float("nan")
LONG_ABOVE_1 = np.nextafter(np.longdouble(1), 2)

EXACT = [
    np.array(NEAR),
    np.array([2**63, 2**63 + 1, 0], dtype=np.uint64),
    NEAR,
    pd.Series(NEAR, dtype="Int64"),
    pd.Series(NEAR, dtype="int64[pyarrow]"),
    pl.Series(NEAR),
    pa.array(NEAR),
    np.array([1, LONG_ABOVE_1, 0], dtype=np.longdouble),
]


@pytest.mark.parametrize("scores", EXACT)
def test_scores_of_a_numeric_dtype_are_exact(scores):
    dtype = getattr(scores, "dtype", None)
    if dtype == np.longdouble and scores[1] == 1.0:
        pytest.skip("no longer than a double here")
    labels = [0, 1, 0]
    assert ta.ranking_score(labels, scores, measure="rr") == 1


FLOATS = [
    NEAR_WITH_FRACTION,
    [2**70, 2**70 + 1, 0],
    [True, 2, 0.5],
    np.array(NEAR_WITH_FRACTION, dtype=object),
    [Decimal(1), Decimal("1.0000000000000000001"), Decimal(0)],
    [THIRD, Fraction(1, 2), None],
    np.array([np.float32(1), np.True_, np.int8(3)], dtype=object),
    pl.Series(NEAR, dtype=pl.Decimal(30, 0)),
    np.array([1, pd.NA, NAN], dtype=object),
    # Columns with missing values.
    pl.Series(NEAR_WITH_GAP),
    pa.array(NEAR_WITH_GAP),
    pd.array(NEAR_WITH_GAP, "Int64"),
    pd.Series([1, None], dtype="int64[pyarrow]"),
    pd.array([0.5, None], "Float64"),
    pl.Series([True, None]),
    pa.array([True, None]),
    pd.array([True, None], "boolean"),
]


@pytest.mark.parametrize("values", FLOATS)
def test_other_numbers_are_floats_and_missing_values_are_nan(values):
    numbers = exact.numbers_of(values, "y")
    assert numbers.dtype == np.float64
    objects = np.asarray(values, dtype=object)
    for number, value in zip(numbers, objects, strict=True):
        if value is None or value is pd.NA or value != value:
            assert np.isnan(number)
        else:
            assert number == float(value)


def test_labels_and_weights_are_floats():
    labels = checks.check_labels(np.array([T, T + 1]))
    assert labels.tolist() == [float(T), float(T)]
    queries = checks.check_qid([1, 2], n_rows=2)
    weight = checks.check_query_weight(np.array([1, 2], np.uint8), queries)
    assert weight.dtype == np.float64


def test_bands_of_ranks_tell_large_integers_apart():
    scores = np.array([T, T + 100])
    bands = round_scores(scores, "rho=1.1")
    assert bands.argmax() == 1


MASKED = np.ma.array([1, 2, 3], mask=[0, 1, 0])
MASKED_X = np.ma.array([[1.0, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize("name", ["y_true", "y_score", "query_weight", "qid"])
def test_masked_arrays_are_refused(name):
    data = {"y_true": [0, 1, 0], "y_score": [1, 2, 3]}
    data[name] = MASKED
    message = rf"{name} must not be a masked array, got shape \(3,\): "
    message += r"replace .* \.astype\(float\)\.filled\(np\.nan\)"
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(**data)


MODELS = [ta.RankingFeatureSelector("rr"), ta.LinearRanker("equal")]


@pytest.mark.parametrize("model", MODELS)
def test_masked_features_are_refused(model):
    labels = [0, 1, 0]
    with pytest.raises(ValueError, match=r"X must not be a masked .* shape \(3, 2\)"):
        model.fit(MASKED_X, labels, qid=[1, 1, 1])


def pandas_with_nullable_dtypes(columns):
    return pd.DataFrame(columns).convert_dtypes()


FRAMES = [pd.DataFrame, pandas_with_nullable_dtypes, pl.DataFrame, pa.table]


@pytest.mark.parametrize("make", FRAMES)
def test_columns_keep_the_order_of_their_integers_beside_floats(make):
    times = [T, T + 100, 0, 5]
    X = make({"time": times, "fraction": [0.5, 1.0, 2.0, 3.0]})
    y = [0, 1, 0, 0]
    qid = [1, 1, 1, 1]
    selector = ta.RankingFeatureSelector("rr")
    with pytest.warns(UserWarning, match="p-values need"):
        selector.fit(X, y, qid=qid)
    assert selector.mean_[0, 0] == 1
    comparison = ta.compare_systems(y, X, qid=qid, measure="rr")
    assert comparison.expected.tolist() == [[1, 1 / 3]]


TUPLES_WITH_NAN = [("a", NAN), ("a", NAN), ("b", 1.0)]
TEXTS_WITH_GAP = ["a", None, "b"]
NUMBERS_WITH_GAP = [1, None, 2]
FIRST_CHUNK = pa.array([1, None]).dictionary_encode()
SECOND_CHUNK = pa.array([5]).dictionary_encode()
MISSING_IDS = [
    np.array([pd.NaT, pd.NaT, 1], dtype=object),
    np.array([np.datetime64("NaT", "s"), 1, 1], dtype=object),
    TUPLES_WITH_NAN,
    pd.MultiIndex.from_tuples(TUPLES_WITH_NAN),
    [Decimal("nan"), Decimal("nan"), Decimal(1)],
    np.array([NAN, NAN, 1], dtype=np.float16),
    pd.array(NUMBERS_WITH_GAP, dtype="Int64"),
    pl.Series(NUMBERS_WITH_GAP),
    pa.array(NUMBERS_WITH_GAP).dictionary_encode(),
    pa.chunked_array([FIRST_CHUNK, SECOND_CHUNK]),
    pd.Series(TEXTS_WITH_GAP, dtype="category"),
    pa.array(TEXTS_WITH_GAP),
    TEXTS_WITH_GAP,
]


@pytest.mark.parametrize("qid", MISSING_IDS)
def test_query_ids_with_something_missing_are_refused(qid):
    with pytest.raises(ValueError, match="qid must not be missing, got"):
        checks.check_qid(qid, n_rows=3)


def ids_of(first, second, third):
    """Return the query ids of the rows of LABELS."""
    return [first, first, second, second, first, third, third, third]


IDS = [
    np.array(ids_of(3, 1, 2)),
    np.array(QID, dtype=object),
    np.array(ids_of(b"x", b"y", b"z")),
    np.array(ids_of(50, 51, 52), "M8[Y]"),
    ids_of((1, "a"), (2, "b"), (3, "c")),
    pd.Series(QID, index=range(8, 0, -1)),
    pd.Series(QID, dtype="category"),
    pl.Series(QID),
    ids_of(True, False, 2),
    ids_of("1", b"1", 1),
    ids_of(2**53, 2**53 + 1, 1.5),
    ids_of(2**63, 2**63 + 1, -1),
]


@pytest.mark.parametrize("qid", IDS)
def test_qid_of_any_hashable_dtype(qid):
    options = {"measure": "ap", "average": None}
    values = ta.ranking_score(LABELS, SCORES, qid=qid, **options)
    assert values == pytest.approx([AP_A, 0, AP_C])


RECORDS = np.array([(1,), (2,)], dtype=[("id", int)])
BAD_IDS = [
    ([frozenset("ab"), 1], "sets, which have no order, got frozenset.* in row 0"),
    (RECORDS, "records, got dtype .*'id'"),
    ([[1], [2]], r"hashable values: .*list"),
]


@pytest.mark.parametrize(("qid", "message"), BAD_IDS)
def test_query_ids_that_are_refused(qid, message):
    with pytest.raises(ValueError, match=f"qid must (not )?contain {message}"):
        checks.check_qid(qid, n_rows=2)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_integers_beyond_all_floats_are_refused(number):
    with pytest.raises(
        ValueError,
        match=r"y_score must contain numbers that fit in 64-bit floats, .* row 1",
    ):
        ta.ranking_score([0, 1], [1, number])


TEXTS = ["a", "b", "", "b"]
BYTES = [b"a", b"b", b"", b"b"]
TEXTS_WITH_AN_EMPTY_ONE = [
    TEXTS,
    np.array(TEXTS),
    np.array(TEXTS, dtype=object),
    BYTES,
    np.array(BYTES),
    np.array(BYTES, dtype=object),
]


@pytest.mark.parametrize("texts", TEXTS_WITH_AN_EMPTY_ONE)
def test_the_empty_text_is_no_id_and_a_segment(texts):
    """In text files, an empty id cannot be told from a missing id."""
    with pytest.raises(ValueError, match=r"qid .* be empty, got .*'' in row 2"):
        checks.check_qid(texts, n_rows=4)
    queries = checks.check_qid([1, 2, 3, 2], n_rows=4)
    segments = checks.check_segment(texts, queries)
    assert len(set(segments.tolist())) == 3


def test_a_data_frame_of_one_column_is_accepted_with_a_warning():
    frame = pd.DataFrame({"rel": [0, 1, 0], "score": [1, 2, 3]})
    frame["qid"] = ["a", "a", "b"]
    rel = frame[["rel"]]
    score = frame[["score"]]
    qid = frame[["qid"]]
    expected = ta.ranking_score(frame["rel"], frame["score"], qid=frame["qid"])
    message = "1-dimensional, got a column of shape"
    with pytest.warns(DataConversionWarning, match=message) as caught:
        value = ta.ranking_score(rel, score, qid=qid)
    assert value == expected
    arguments = [str(warning.message).split()[0] for warning in caught]
    assert arguments == ["y_true", "qid", "y_score"]


def test_flags_with_gaps_are_labels_without_a_judgment():
    labels = pd.array([True, None, False], dtype="boolean")
    scores = [1, 2, 3]
    with pytest.raises(ValueError, match=r"y_true must be judged, got nan in row 1"):
        ta.ranking_score(labels, scores)
    options = {"measure": "rr", "unjudged": "nonrelevant"}
    assert ta.ranking_score(labels, scores, **options) == 1 / 3


NO_NUMBERS = [np.array([1]), [1], "1", 1j, pd.Timestamp("2020")]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_objects_that_are_no_numbers_are_named(value):
    scores = checks._objects([1, 2, value])
    message = f"y_score must be numeric, got dtype object with {value!r} in row 2"
    with pytest.raises(ValueError, match=re.escape(message)):
        ta.ranking_score([0, 1, 0], scores)


TWO_NUMBERS = np.array([1, 2])
ODD_OPTIONS = [
    ("unjudged", TWO_NUMBERS),
    ("ties", TWO_NUMBERS),
    ("average", TWO_NUMBERS),
    ("convention", TWO_NUMBERS),
    ("zero_relevance", TWO_NUMBERS),
    ("zero_relevance", 10**400),
    # int() refuses to print so many digits.
    pytest.param("zero_relevance", 10**5000, id="zero_relevance-long"),
]


@pytest.mark.parametrize(("name", "value"), ODD_OPTIONS)
def test_options_of_odd_kinds_are_refused_in_words(name, value):
    options = {name: value}
    with pytest.raises(ValueError, match=f"{name} must be"):
        ta.ranking_score([0, 1, 0], [1, 2, 3], **options)


@pytest.mark.parametrize("value", [2, 3.5, True, "4"])
def test_counts_are_checked(value):
    checks.check_count(3, "depth", least=3)
    with pytest.raises(ValueError, match=f"depth must be .* >= 3, got {value!r}"):
        checks.check_count(value, "depth", least=3)


def test_values_are_shown_in_a_line():
    longest = "x" * 78
    longer = "x" * 79
    assert messages.show(10**5000) == "int of more than 4300 digits"
    assert messages.show([10**5000]) == "list of more than 4300 digits"
    assert messages.show(longest) == repr(longest)
    assert messages.show(longer) == f"'{'x' * 59}... (81 characters)"


class OfArray:
    """A tensor that offers only `__array__`."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        if dtype is None:
            return self.values
        return self.values.astype(dtype)


class OfDLPack:
    """A tensor that offers only DLPack without options, on any device."""

    def __init__(self, values, device=(1, 0)):
        self.values = np.asarray(values)
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self):
        return self.values.__dlpack__()


class LikeTorch(OfDLPack):
    """A tensor that requires gradients, as outputs of models do."""

    @property
    def shape(self):
        return self.values.shape

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


LABEL_LISTS = [[1, 0, 2], [0, 1, 0]]
SCORE_LISTS = [[2.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
TENSORS = [OfArray, OfDLPack, LikeTorch]


def test_tuples_and_arrays_are_not_missing():
    pair = ("a", frozenset([1]))
    assert not exact.is_missing(pair)
    assert not exact.is_missing(np.array([1, 2]))


@pytest.fixture
def values_of_lists():
    return ta.ranking_score(LABEL_LISTS, SCORE_LISTS, average=None).tolist()


@pytest.mark.parametrize("tensor", TENSORS)
def test_tensors_in_two_dimensions(tensor, values_of_lists):
    y_true = tensor(LABEL_LISTS)
    y_score = tensor(SCORE_LISTS)
    weight = tensor([1.0, 2.0])
    mask = tensor(np.ones((2, 3), bool))
    report = ta.evaluate(y_true, y_score, query_weight=weight, mask=mask)
    assert report.expected[:, 0].tolist() == values_of_lists
    assert report.query_weight.tolist() == [1, 2]
    prepared = ta.PreparedRanking(y_true, mask=mask)
    values = prepared.score(y_score, average=None)
    assert values.tolist() == values_of_lists


@pytest.mark.parametrize("tensor", TENSORS)
def test_tensors_in_one_dimension(tensor, values_of_lists):
    labels = tensor(np.ravel(LABEL_LISTS))
    scores = tensor(np.ravel(SCORE_LISTS))
    qid = tensor([0, 0, 0, 1, 1, 1])
    values = ta.ranking_score(labels, scores, qid=qid, average=None)
    assert values.tolist() == values_of_lists


@pytest.mark.parametrize("tensor", TENSORS)
def test_integers_of_tensors_stay_integers(tensor):
    large = tensor([2**53, 2**53 + 1])
    assert ta.ranking_score([1, 0], large, measure="rr") == 1 / 2


def test_memory_that_the_cpu_shares_is_read():
    tensor = OfDLPack(SCORE_LISTS, device=(3, 0))
    array = exact.as_array(tensor, "y")
    assert array.tolist() == SCORE_LISTS


def test_dtypes_and_devices_that_numpy_does_not_know_are_refused():
    without_dtype = NoDtype([1.0, 2.0])
    on_device = OnDevice([1, 0])
    with pytest.raises(ValueError, match=r"y_score must be an array that NumPy.*BFlo"):
        ta.ranking_score([1, 0], without_dtype)
    with pytest.raises(ValueError, match=r"y_true must be an array that NumPy.*cuda:"):
        ta.ranking_score(on_device, [1.0, 2.0])


@pytest.mark.parametrize("value", [7, "text"])
def test_a_number_or_text_is_no_array(value):
    with pytest.raises(ValueError, match=r"y_true must be 1-dim.*, got shape \(\)"):
        exact.numbers_of(value, "y_true")


TIMES = pd.date_range("2020", periods=3).to_numpy()


@pytest.fixture
def selector():
    return ta.RankingFeatureSelector("rr", n_features_to_select=1)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_times_and_of_text_are_named(frame, selector):
    labels = [0, 1, 0]
    clicks = [1, 2, 3]
    X = frame({"when": TIMES, "clicks": clicks})
    with pytest.raises(ValueError, match=r"numbers, got .* in column 'when': convert"):
        selector.fit(X, labels)
    X = frame({"query_id": ["a", "a", "b"], "clicks": clicks})
    with pytest.raises(ValueError, match=r"got 'a' in column 'query_id'.*qid='query_"):
        selector.fit(X, labels)
    selector.qid = "query_id"
    selector.fit(X, labels)
    assert selector.n_queries_ == 2


def test_a_text_of_a_number_is_text(selector):
    X = pd.DataFrame({"views": ["1,234", "7", "8"]})
    message = "got '1,234' in column 'views': leave the column out or encode it. If"
    with pytest.raises(ValueError, match=message):
        selector.fit(X, [0, 1, 0])


COMPLEX = np.array([[1j], [1], [0]])
BAD_ARRAYS = [
    (TIMES[:, None], "X must contain numbers, got an array of datet"),
    (
        COMPLEX,
        "^Complex data not supported: X must contain numbers, got an array of "
        "complex128",
    ),
]


@pytest.mark.parametrize(("X", "message"), BAD_ARRAYS)
def test_arrays_of_no_real_numbers_are_refused(X, message, selector):
    with pytest.raises(ValueError, match=message):
        selector.fit(X, [0, 1, 0])


def test_ids_in_a_sparse_matrix_that_are_broken():
    X = sp.csr_array([[0.5, 1], [7, 2]])
    with pytest.warns(UserWarning, match="qid=0 must .* 0.5 in row 0. If an ear"):
        qid = columns.column_of(X, 0)
    assert qid.tolist() == [0.5, 7]
    assert columns.blank_qid_column(X, 0) is X


def test_missing_ids_are_asked_for():
    with pytest.raises(ValueError, match=r"qid must contain .* None: pass qid to fit"):
        columns.need_qid(None, "fit")
    columns.need_qid([1], "fit")
