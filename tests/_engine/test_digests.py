"""Tests of 64-bit digests of rows, queries and ids, and of the row order by digests."""

import datetime
import warnings
from collections import Counter, defaultdict
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tieaware_sklearn._engine import seen_queries
from tieaware_sklearn._engine.checks import _objects, check_qid
from tieaware_sklearn._engine.hashing import row_digests, value_bits
from tieaware_sklearn._engine.row_order import by_content

MATRICES = [
    np.asarray,
    np.asfortranarray,
    pd.DataFrame,
    lambda X: pl.DataFrame(X + 0.0),
    lambda X: pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}),
    sp.csr_array,
    sp.csc_array,
    sp.csc_matrix,
    lambda X: sp.csr_array(X).tolil(),
    lambda X: pd.DataFrame(X).astype(object),
]


def few_cells():
    """Return rows of few distinct cells, some of them -0.0."""
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(200, 4)).astype(float)
    is_zero = X == 0
    X[is_zero] *= rng.choice([1, -1], size=is_zero.sum())
    return X


def n_distinct(digests):
    return len(set(digests.tolist()))


@pytest.mark.parametrize("make", MATRICES)
def test_digests_tell_rows_apart_and_nothing_else(make):
    X = few_cells()
    digests = row_digests(make(X))
    assert_array_equal(digests, row_digests(X))
    distinct_rows = np.unique(X + 0.0, axis=0)
    assert n_distinct(digests) == len(distinct_rows)
    rng = np.random.default_rng(1)
    order = rng.permutation(200)
    shuffled = make(X[order])
    assert_array_equal(row_digests(shuffled), digests[order])
    # The same cell in another column makes another row.
    diagonal = make(np.eye(5))
    assert n_distinct(row_digests(diagonal)) == 5


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_missing_values_of_pandas_are_nan(backend):
    X = few_cells()
    X[1, 1] = 2.5
    frame = pd.DataFrame(X).convert_dtypes(dtype_backend=backend)
    frame[3] = frame[3] > 0
    X[:, 3] = X[:, 3] > 0
    X[::3] = np.nan
    kinds = [dtype.kind for dtype in frame.dtypes]
    assert kinds == ["i", "f", "i", "b"]
    frame.iloc[::3] = None
    assert_array_equal(row_digests(frame), row_digests(X))


#: Whole numbers next to powers of 2.
EDGES = []
for exponent in (53, 62, 63, 64):
    for power in (2**exponent, -(2**exponent)):
        EDGES += [power - 1, power, power + 1]
WHOLE = st.integers(-(2**70), 2**70) | st.sampled_from(EDGES)
NUMBERS = WHOLE | st.floats(-1e308, 1e308)
WHOLE_TYPES = [bool, int, *(np.dtype(code).type for code in "?bBhHiIlL")]
FLOAT_TYPES = [float, *(np.dtype(code).type for code in "efd")]


def in_every_type(number):
    """Return a number as every type that holds it."""
    exact = Fraction(number)
    whole = number
    if exact.denominator == 1:
        whole = int(exact)
    values = []
    with warnings.catch_warnings(action="ignore"):
        for make in WHOLE_TYPES:
            with suppress(OverflowError):
                values.append(make(whole))
        for make in FLOAT_TYPES:
            with suppress(OverflowError):
                values.append(make(number))
    return values


def digest_of(array):
    """Return the digest of the first element of an array."""
    return int(value_bits(array)[0])


def digest_of_object(value):
    return digest_of(_objects([value]))


def fraction_of(value):
    if not hasattr(value, "as_integer_ratio"):
        value = int(value)
    return Fraction(*value.as_integer_ratio())


@given(NUMBERS, NUMBERS)
def test_numbers_of_all_types_have_one_digest_if_they_are_equal(first, second):
    digests_of = defaultdict(set)
    for value in in_every_type(first) + in_every_type(second):
        if not np.isfinite(float(value)):
            continue
        digests = digests_of[fraction_of(value)]
        digests.add(digest_of_object(value))
        if hasattr(value, "dtype"):
            digests.add(digest_of(np.array([value])))
    assert all(len(digests) == 1 for digests in digests_of.values())
    distinct = set.union(*digests_of.values())
    assert len(distinct) == len(digests_of)


EPOCH = datetime.datetime(1970, 1, 1)
Y2K = datetime.datetime(2000, 1, 1)
#: Their distance to 2000 fits into 64 bits of nanoseconds.
MOMENTS = st.datetimes(datetime.datetime(1710, 1, 1), datetime.datetime(2250, 1, 1))


@given(
    moment=MOMENTS,
    unit=st.sampled_from(["s", "ms", "us", "D"]),
    hours=st.integers(-12, 12),
)
def test_times_have_one_digest_in_every_unit_zone_and_library(moment, unit, hours):
    rounded = np.array([moment], f"M8[{unit}]")
    moment = rounded.astype("M8[us]")[0].item()
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    zoned = moment.replace(tzinfo=datetime.UTC).astimezone(zone)
    digest = digest_of(rounded)
    microseconds = rounded.astype("M8[us]")
    nanoseconds = rounded.astype("M8[ns]")
    of_arrow = pa.array([zoned], pa.timestamp("us", "UTC"))
    of_pandas = pd.Series([zoned])
    for array in (microseconds, nanoseconds, of_arrow, of_pandas):
        assert digest_of(np.asarray(array)) == digest
    objects = [moment, zoned, pd.Timestamp(moment), pd.Timestamp(zoned)]
    objects += [rounded[0], microseconds[0], nanoseconds[0]]
    if unit == "D":
        objects.append(moment.date())
    for value in objects:
        assert digest_of_object(value) == digest


@given(moment=MOMENTS)
def test_a_nanosecond_later_is_another_time(moment):
    array = np.array([moment], "M8[ns]")
    later = array + np.timedelta64(1, "ns")
    digest = digest_of(later)
    assert digest != digest_of(array)
    assert digest == digest_of_object(pd.Timestamp(later[0]))


@given(moment=MOMENTS)
def test_spans_have_one_digest_in_every_unit_and_are_no_times(moment):
    span = moment - Y2K
    digest = digest_of_object(span)
    for value in (pd.Timedelta(span), np.timedelta64(span)):
        assert digest_of_object(value) == digest
    for unit in ("us", "ns"):
        array = np.array([span]).astype(f"m8[{unit}]")
        assert digest_of(array) == digest
    since_epoch = digest_of_object(moment - EPOCH)
    assert since_epoch != digest_of_object(moment)


def test_missing_values_have_one_digest():
    other_bits = np.array([0x7FF8000000000001], dtype=np.uint64)
    (other_nan,) = other_bits.view(np.float64)
    cells = np.array([np.nan, -np.nan, other_nan])
    assert n_distinct(value_bits(cells)) == 1
    for kind in "mM":
        of_units = set()
        for unit in ("s", "ns", "D"):
            array = np.array(["NaT"], f"{kind}8[{unit}]")
            of_units.add(digest_of(array))
        assert len(of_units) == 1
    far = np.array([1, 2, 3000], "M8[Y]")
    days = far.astype("M8[D]")
    assert_array_equal(value_bits(far), value_bits(days))


def test_values_of_other_types_are_told_apart():
    ids = ["1", b"1", (1, "a"), (1, "b"), 1j, datetime.date(2026, 1, 2), None]
    assert n_distinct(value_bits(np.array(ids, dtype=object))) == 7
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    numbers = days.view(int)
    bits = np.append(value_bits(days), value_bits(numbers))
    assert n_distinct(bits) == 4
    surrogates = np.array(["\udc80", "\udc81", "?"], dtype=object)
    assert n_distinct(value_bits(surrogates)) == 3


def test_an_object_has_one_digest_whatever_stands_beside_it():
    values = [1, Fraction(1), (1, 2), (1.0, 2.0)]
    together = np.empty(len(values), dtype=object)
    together[:] = values
    alone = []
    for value in values:
        column = np.empty(1, dtype=object)
        column[0] = value
        alone.append(value_bits(column)[0])
    assert_array_equal(value_bits(together), alone)


def test_digests_of_near_numbers_share_no_bits():
    odd = np.arange(1, 2001, 2)
    digests = value_bits(2**53 + odd)
    assert n_distinct(digests) == 1000
    bits = np.unpackbits(digests.view(np.uint8))
    assert 0.45 < bits.mean() < 0.55


EQUAL_IDS = [
    (b"a", np.bytes_(b"a")),
    ("a\0", np.str_("a\0")),
    (2**63, np.uint64(2**63)),
    (True, 1.0),
]


@pytest.mark.parametrize(("value", "same"), EQUAL_IDS)
def test_equal_ids_of_two_types_have_one_digest(value, same):
    assert value == same
    assert digest_of_object(value) == digest_of_object(same)


MIXED_NUMBERS = [[1, 2.5, True], [2**53, 1.0], [2**70, 1], [0, -0.0]]


@pytest.mark.parametrize("values", MIXED_NUMBERS)
def test_numbers_have_the_same_digest_alone_and_beside_other_types(values):
    digests = value_bits(np.array(values, dtype=object))
    alone = [digest_of([number]) for number in values]
    assert digests.tolist() == alone


def test_digests_are_the_same_in_every_process():
    digests = value_bits(np.array(["a", 1.5], dtype=object))
    assert digests.tolist() == [0xE9FB70C27214839F, 0xD6DAB18E1392608A]
    # Digests are the same in every version, too.
    moment = np.array(["2026-11-27T01:02:03.5"], dtype="M8[ms]")
    assert digest_of(moment) == 0xF56A53CC8B843DC5
    duration = np.array([90], dtype="m8[s]")
    assert digest_of(duration) == 0x5D98D4F8390A38D0


@pytest.fixture
def rows():
    """Return mixed queries with few distinct cells, NaN, and equal rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (200, 4)) / 3
    is_missing = rng.random(X.shape) < 0.1
    X[is_missing] = np.nan
    X[100:110] = X[0]
    columns = {"X": X}
    columns["y"] = rng.integers(0, 3, 200)
    columns["qid"] = rng.integers(0, 9, 200)
    columns["weight"] = rng.random(200)
    return columns


def order(X, y, qid, weight=None, salt=0):
    queries = check_qid(qid, n_rows=len(y))
    rows = by_content(X, queries, y, weight, salt=salt).order
    assert sorted(rows) == list(range(len(y)))
    steps = np.diff(qid[rows])
    assert (steps >= 0).all()
    return rows


def test_row_order_does_not_depend_on_the_input_order(rows):
    X = rows["X"]
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["text"] = [f"{value:.2f} of it" for value in rows["weight"]]
    days = pd.to_timedelta(np.arange(200), "D")
    frame["day"] = pd.Timestamp("2026-01-01") + days
    for seed, features in enumerate((X, frame)):
        rows["X"] = features
        expected = order(**rows)
        rng = np.random.default_rng(seed)
        mixed = rng.permutation(200)
        columns = {name: column[mixed] for name, column in rows.items() if name != "X"}
        columns["X"] = X[mixed] if features is X else frame.iloc[mixed]
        again = order(**columns)
        assert_array_equal(mixed[again], expected)


@pytest.mark.parametrize("make", MATRICES)
def test_row_order_is_the_same_for_every_matrix_type(rows, make):
    expected = order(**rows)
    rows["X"] = make(rows["X"])
    assert_array_equal(order(**rows), expected)


def test_rows_are_compared_by_label_column_and_weight(rows):
    """The rows are sorted by query, label, columns and weight, then permuted."""
    x = np.nan_to_num(rows["X"], nan=np.inf)
    keys = [rows["weight"], *x.T[::-1], rows["y"], rows["qid"]]
    expected = np.lexsort(keys)
    place = np.empty(200, dtype=int)
    place[expected] = np.arange(200)
    # The order permutes places in the sorted rows, whatever the rows contain.
    sorted_rows = np.arange(200.0)[:, None]
    drawn = order(sorted_rows, np.zeros(200), np.sort(rows["qid"]))
    assert_array_equal(place[order(**rows)], drawn)


def test_places_do_not_tell_labels():
    """Each query is permuted in its own way, and in another way with another salt."""
    n_queries = 400
    size = 10
    y = np.tile(np.arange(size), n_queries)
    qid = np.repeat(np.arange(n_queries), size)
    X = np.zeros((len(y), 1))
    orders = [order(X, y, qid, salt=salt) for salt in (0, 1)]
    first, second = orders
    assert not np.array_equal(y[first], y[second])
    # Labels are spread evenly over places: chi-squared with 81 degrees of freedom.
    for drawn in orders:
        labels = y[drawn].reshape(-1, size)
        counts = [np.bincount(column, minlength=size) for column in labels.T]
        squares = (np.array(counts) - 40) ** 2
        assert squares.sum() / 40 < 140


def test_an_added_query_does_not_move_queries_of_other_sizes(rows):
    more = {}
    for name, column in rows.items():
        more[name] = np.append(column, column[:1], axis=0)
    more["qid"][-1] = -1
    assert_array_equal(order(**more)[1:], order(**rows))


IDS = st.lists(st.integers(0, 12), unique=True, max_size=8)


def digests(ids):
    return np.array(ids, dtype=np.uint64)


@given(st.lists(IDS, min_size=1, max_size=5))
def test_a_repeated_query_is_the_least_of_several_parts(parts):
    holders = Counter(query for part in parts for query in part)
    several = [query for query, n in holders.items() if n > 1]
    repeated = seen_queries.repeated([digests(part) for part in parts])
    if not several:
        assert repeated is None
        return
    least = min(several)
    numbers = [i for i, part in enumerate(parts) if least in part]
    assert repeated == (least, numbers)


def test_ids_with_equal_digests_are_named(monkeypatch):
    def coarse(ids):
        return value_bits(ids) % np.uint64(8)

    monkeypatch.setattr("tieaware_sklearn._engine.hashing.value_bits", coarse)
    ids = np.array([f"q{i}" for i in range(9)])
    with pytest.raises(
        ValueError, match=r"qid must have ids with different .* 'q\d' and"
    ):
        seen_queries.id_digests(ids)
    with pytest.raises(ValueError, match="query must have ids with different"):
        seen_queries.id_digests(ids, "query")
