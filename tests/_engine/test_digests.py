"""Rows, queries and ids told apart by 64 bits, and the order of rows by them."""

import datetime
import warnings
from collections import Counter
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


def some_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(200, 4)).astype(float)
    X[X == 0] *= rng.choice([1, -1], size=(X == 0).sum())
    return X


@pytest.mark.parametrize("make", MATRICES)
def test_digests_tell_rows_apart_and_nothing_else(make):
    X = some_rows()
    digests = row_digests(make(X))
    assert np.array_equal(digests, row_digests(X))
    assert len(set(digests.tolist())) == len({tuple(row + 0.0) for row in X})
    order = np.random.default_rng(1).permutation(200)
    assert np.array_equal(row_digests(make(X[order])), digests[order])
    # a cell in another column is another row
    assert len(set(row_digests(make(np.eye(5))).tolist())) == 5


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_what_pandas_calls_na_is_nan(backend):
    X = some_rows()
    X[1, 1] = 2.5
    frame = pd.DataFrame(X).convert_dtypes(dtype_backend=backend)
    frame[3] = frame[3] > 0
    X[:, 3] = X[:, 3] > 0
    X[::3] = np.nan
    assert [dtype.kind for dtype in frame.dtypes] == ["i", "f", "i", "b"]
    frame.iloc[::3] = None
    assert np.array_equal(row_digests(frame), row_digests(X))


WHOLE = st.integers(-(2**70), 2**70) | st.sampled_from(
    [s * 2**n + d for n in (53, 62, 63, 64) for s in (1, -1) for d in (-1, 0, 1)]
)
NUMBERS = WHOLE | st.floats(-1e308, 1e308)


def dresses(number):
    """A number as every type that holds it."""
    exact = Fraction(number)
    for kind in (bool, int, float, *map(np.dtype, "?bBhHiIlLefd")):
        with suppress(OverflowError), warnings.catch_warnings(action="ignore"):
            make = kind.type if isinstance(kind, np.dtype) else kind
            whole = kind in (bool, int) or getattr(kind, "kind", "") in "iub"
            yield make(int(exact) if whole and exact.denominator == 1 else number)


@given(NUMBERS, NUMBERS)
def test_numbers_of_all_types_have_one_digest_if_they_are_equal(first, second):
    digests_of = {}
    for number in {first, second}:
        for dress in dresses(number):
            whole = not hasattr(dress, "as_integer_ratio")
            real = int(dress) if whole else dress
            if not np.isfinite(float(real)):
                continue
            plain = Fraction(*real.as_integer_ratio())
            bits = {int(value_bits(_objects([dress]))[0])}
            if hasattr(dress, "dtype"):
                bits.add(int(value_bits(np.array([dress]))[0]))
            digests_of.setdefault(plain, set()).update(bits)
    assert all(len(bits) == 1 for bits in digests_of.values())
    assert len(set.union(*digests_of.values())) == len(digests_of)


@given(
    # of which the distance to 2000 fits into 64 bits of nanoseconds
    st.datetimes(datetime.datetime(1710, 1, 1), datetime.datetime(2250, 1, 1)),
    st.sampled_from(["s", "ms", "us", "D"]),
    st.integers(-12, 12),
)
def test_times_have_one_digest_in_every_unit_zone_and_library(moment, unit, hours):
    held = np.datetime64(moment).astype(f"M8[{unit}]")
    arrays = [np.array([held]).astype(f"M8[{to}]") for to in ("us", "ns", unit)]
    moment = held.astype("M8[us]").item()
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    zoned = moment.replace(tzinfo=datetime.UTC).astimezone(zone)
    objects = [moment, zoned, pd.Timestamp(moment), pd.Timestamp(zoned)]
    objects += [array[0] for array in arrays]
    if unit == "D":
        objects.append(moment.date())
    arrays.append(np.asarray(pa.array([zoned], pa.timestamp("us", "UTC"))))
    arrays.append(np.asarray(pd.Series([zoned])))
    (digest,) = {int(value_bits(a)[0]) for a in [*arrays, *map(_objects, zip(objects))]}
    later = arrays[1] + np.timedelta64(1, "ns")
    assert value_bits(later) != digest
    assert value_bits(_objects([pd.Timestamp(later[0])])) == value_bits(later)
    span = moment - datetime.datetime(2000, 1, 1)
    spans = [_objects([s]) for s in (span, pd.Timedelta(span), np.timedelta64(span))]
    spans += [np.array([span]).astype(f"m8[{to}]") for to in ("us", "ns")]
    assert len({int(value_bits(array)[0]) for array in spans}) == 1
    assert value_bits(_objects([moment - datetime.datetime(1970, 1, 1)])) != digest


def test_what_is_missing_is_one_pattern_and_times_beyond_all_dates():
    other_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    cells = np.array([np.nan, -np.nan, other_nan[0]])
    assert len(set(value_bits(cells).tolist())) == 1
    for kind in "mM":
        nats = [np.array(["NaT"], f"{kind}8[{unit}]") for unit in ("s", "ns", "D")]
        missing = map(value_bits, nats)
        assert len({int(digest[0]) for digest in missing}) == 1
    far = np.array([1, 2, 3000], "M8[Y]")
    assert np.array_equal(value_bits(far), value_bits(far.astype("M8[D]")))


def test_values_of_other_types_are_told_apart():
    ids = ["1", b"1", (1, "a"), (1, "b"), 1j, datetime.date(2026, 1, 2)]
    assert len(set(value_bits(np.array([*ids, None], dtype=object)).tolist())) == 7
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    assert len({*value_bits(days).tolist(), *value_bits(days.view(int)).tolist()}) == 4
    odd = np.array(["\udc80", "\udc81", "?"], dtype=object)
    assert len(set(value_bits(odd).tolist())) == 3
    wide = value_bits(2**53 + np.arange(1, 2001, 2))
    assert len(set(wide.tolist())) == 1000
    assert 0.45 < np.unpackbits(wide.view(np.uint8)).mean() < 0.55


EQUAL_IDS = [
    (b"a", np.bytes_(b"a")),
    ("a\0", np.str_("a\0")),
    (2**63, np.uint64(2**63)),
    (True, 1.0),
]


@pytest.mark.parametrize(("value", "same"), EQUAL_IDS)
def test_equal_ids_in_other_dress_are_one(value, same):
    assert value == same
    assert value_bits(_objects([value])) == value_bits(_objects([same]))
    for values in ([1, 2.5, True], [2**53, 1.0], [2**70, 1], [0, -0.0]):
        alone = [value_bits([number])[0] for number in values]
        assert value_bits(np.array(values, dtype=object)).tolist() == alone


def test_digests_are_the_same_in_every_process():
    hashes = value_bits(np.array(["a", 1.5], dtype=object))
    wanted = ["0xe9fb70c27214839f", "0xd6dab18e1392608a"]
    assert [*map(hex, hashes.tolist())] == wanted
    # and in every version
    moment = np.array(["2026-11-27T01:02:03.5"], dtype="M8[ms]")
    duration = np.array([90], dtype="m8[s]")
    hashes = [int(value_bits(times)[0]) for times in (moment, duration)]
    assert [*map(hex, hashes)] == ["0xf56a53cc8b843dc5", "0x5d98d4f8390a38d0"]


@pytest.fixture
def rows():
    """Few distinct cells, some of them NaN or below 0; equal rows; queries mixed."""
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (200, 4)) / 3
    X[rng.random(X.shape) < 0.1] = np.nan
    X[100:110] = X[0]
    columns = {"y": rng.integers(0, 3, 200), "qid": rng.integers(0, 9, 200)}
    return {"X": X, **columns, "weight": rng.random(200)}


def order(X, y, qid, weight=None, salt=0):
    queries = by_content(X, check_qid(qid, n_rows=len(y)), y, weight, salt=salt)
    assert sorted(queries.order) == list(range(len(y)))
    assert (np.diff(qid[queries.order]) >= 0).all()
    return queries.order


def test_no_order_of_the_input_changes_it(rows):
    frame = pd.DataFrame(rows["X"], columns=list("abcd"))
    frame["text"] = [f"{value:.2f} of it" for value in rows["weight"]]
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200), "D")
    for seed, X in enumerate((rows["X"], frame)):
        mixed = np.random.default_rng(seed).permutation(200)
        X_mixed = X[mixed] if X is rows["X"] else X.iloc[mixed]
        columns_mixed = {name: rows[name][mixed] for name in ("y", "qid", "weight")}
        again = order(X_mixed, **columns_mixed)
        assert np.array_equal(mixed[again], order(**{**rows, "X": X}))


@pytest.mark.parametrize("make", MATRICES)
def test_it_is_that_of_a_dense_matrix(rows, make):
    assert np.array_equal(order(**{**rows, "X": make(rows["X"])}), order(**rows))


def test_rows_are_compared_by_label_column_and_weight(rows):
    """Sorted as the rule says, and permuted: rows and places tell it apart."""
    x = np.nan_to_num(rows["X"], nan=np.inf)
    keys = [rows["weight"], *x.T[::-1], rows["y"], rows["qid"]]
    expected = np.lexsort(keys)
    place = np.empty(200, dtype=int)
    place[expected] = np.arange(200)
    # another salt permutes the places, which are those of the rule
    plain = {"X": np.arange(200.0)[:, None], "y": np.zeros(200)}
    drawn = order(**plain, qid=np.sort(rows["qid"]))
    assert np.array_equal(place[order(**rows)], drawn)


def test_places_do_not_tell_labels():
    """Queries of one size are permuted each in its own way, and by the salt."""
    n_queries, size = 400, 10
    y = np.tile(np.arange(size), n_queries)
    qid = np.repeat(np.arange(n_queries), size)
    placed = [
        y[order(np.zeros((len(y), 1)), y, qid, salt=salt)].reshape(-1, size)
        for salt in (0, 1)
    ]
    assert not np.array_equal(*placed)
    # each label at each place about as often: chi-squared of 81 degrees of freedom
    for labels in placed:
        counts = [np.bincount(column, minlength=size) for column in labels.T]
        assert ((np.array(counts) - 40) ** 2 / 40).sum() < 140


def test_a_query_that_is_added_leaves_those_of_other_sizes(rows):
    more = {name: np.append(value, value[:1], axis=0) for name, value in rows.items()}
    more["qid"][-1] = -1
    assert np.array_equal(order(**more)[1:], order(**rows))


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
    assert repeated == (least, [i for i, part in enumerate(parts) if least in part])


def test_two_ids_with_one_digest_are_named(monkeypatch):
    coarse = lambda ids: value_bits(ids) % np.uint64(8)  # noqa: E731
    monkeypatch.setattr("tieaware_sklearn._engine.hashing.value_bits", coarse)
    ids = np.array([f"q{i}" for i in range(9)])
    with pytest.raises(ValueError, match=r"qid must have ids that differ .* 'q\d' and"):
        seen_queries.id_digests(ids)
    with pytest.raises(ValueError, match="query must have ids that differ"):
        seen_queries.id_digests(ids, "query")
