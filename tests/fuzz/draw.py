"""Random query sets with difficult values, small enough to enumerate their orders."""

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from tests import naive
from tests.fuzz.cases import Case, places
from tests.instances import IDS, MEASURES
from tieaware_sklearn import Measure
from tieaware_sklearn.measures import ERR

#: Most distinct orders of a query. All are enumerated.
MOST_ORDERS = 300
FEW_SCORES = [-1.0, 0.0, 0.5]
SCORES = [*FEW_SCORES, -math.inf, -0.0, 1e-300, 2.5, 7.0]
GRADES = [0, 1, 2, 3, 4]
UNJUDGED = [*GRADES, math.nan, math.nan]

_FLOAT64 = [0.0, -0.0, 5e-324, -5e-324, 1.0, 1 + 2**-52, 1e300, -1.7e308, -math.inf]
_INT64 = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1]
_UINT64 = [0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
_LONGDOUBLE: list[Any] = [
    0.0,
    -0.0,
    1,
    1 + Fraction(1, 2**63),
    1 + Fraction(1, 2**52),
    -math.inf,
]
_LONGDOUBLE += [2**63, 2**63 + 1, -(2**64) + 1, Fraction(1, 2**2000), 2**2000]
#: scores that are easily confused, by the kind of array that holds them
BY_DTYPE: dict[str, list[Any]] = {
    "float16": [0.0, -0.0, 2.0**-24, 2.0**-23, 1.0, 1 + 2**-10, 65504.0, -math.inf],
    "float32": [0.0, -0.0, 2.0**-149, 1.0, 1 + 2**-23, 3e38, -3e38, -math.inf],
    "float64": _FLOAT64,
    ">f8": _FLOAT64,
    "strided": _FLOAT64,
    "tuple": _FLOAT64,
    "pandas:float64": _FLOAT64,
    "pandas:float32": [0.0, -0.0, 1.0, 1 + 2**-23, -math.inf],
    "scalars:float16": [0.0, -0.0, 2.0**-24, 1.0, 1 + 2**-10],
    "scalars:float32": [0.0, -0.0, 2.0**-149, 1.0, 1 + 2**-23],
    "longdouble": _LONGDOUBLE,
    "int8": [-128, -1, 0, 1, 127],
    "int16": [-(2**15), -1, 0, 1, 2**15 - 1],
    "int32": [-(2**31), -1, 0, 1, 2**31 - 1],
    "uint8": [0, 1, 2, 254, 255],
    "uint16": [0, 1, 2, 2**16 - 2, 2**16 - 1],
    "uint32": [0, 1, 2, 2**32 - 2, 2**32 - 1],
    "int64": _INT64,
    ">i8": _INT64,
    "scalars:int64": _INT64,
    "pandas:int64": _INT64,
    "pandas:Int64": [-1, 0, 1, 2**40],
    "uint64": _UINT64,
    "bool": [False, True],
    "pandas:bool": [False, True],
    "list": [True, 0, 1, 2, -0.0, 1.0, 0.5, 2**40, -math.inf],
    "object": [0, 1, 2, 1.0, -0.0, 0.5, -(2**40), -math.inf],
}
#: numbers of values from 1 to 2
_STEPS = {"float16": 2**10, "float32": 2**23, "float64": 2**52, "longdouble": 2**63}
_WIDE = [0, 0.5, 1.7e18, 2**53, 2**53 + 1, 1_700_000_000_000_000_100, 2**63, 2**63 + 1]
_BEYOND: list[tuple[str, list[Any]]] = [
    ("list", [*_WIDE, -1, 2**64 + 1]),
    ("object", [*_WIDE, Fraction(1, 3), Decimal(1) / 3, Decimal("0.1"), 0.1, 10**400]),
]
#: labels that no table of gains contains
REAL_LABELS = [0, 0.25, 0.5, 1, 1, 1.5, 2, 2.999, 3, 7]
LARGE_LABELS = [0, 1, 2, 10, 31, 53, 60]


#: Measures that accept any label, by their places in `tests.instances.MEASURES`.
FOR_ANY_LABEL = []
WITH_DISTRIBUTION = []
for number, measure in enumerate(MEASURES):
    has_table = isinstance(getattr(measure, "gain", None), tuple)
    if not isinstance(measure, ERR) and not has_table:
        FOR_ANY_LABEL.append(number)
    if type(measure)._outcomes is not Measure._outcomes:
        WITH_DISTRIBUTION.append(number)
#: fast measures that read all ranks
_FAST = ["NDCG", "AP", "RR", "P@3", "BPref", "ERR@3", "ESL"]
IN_LONG_LISTS = [IDS.index(name) for name in _FAST]
ALL_MEASURES = range(len(MEASURES))

WEIGHTS = [0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0, 2.0, 3.0, 0.0, 1e-30, 1e30]
_FLOAT_IDS = [
    -1.5,
    0.0,
    0.1,
    0.1 + 2**-54,
    1e300,
    -1e-300,
    0.5,
    1.5,
    2.5,
    3.5,
    4.5,
    5.5,
]
_BYTES_IDS = [b"a", b"b", b"\xe9", *(bytes([i]) for i in range(1, 10))]
_PAIRS = [(i % 3, str(i)) for i in range(12)]
_TUPLES = [(i,) * (i + 1) for i in range(12)]
_COMPLEX = [complex(i, 1) for i in range(12)]
_LEAP_DAY = datetime.date(2020, 2, 29)
_DAYS = [_LEAP_DAY + datetime.timedelta(i) for i in range(12)]
#: ids of up to 12 queries, and the kinds of arrays that may hold them
QUERIES: list[tuple[Sequence[Any], tuple[str, ...]]] = [
    (range(12), ("list", "int64", "uint8", "float32", "object", "pandas:int64")),
    (range(2**63 - 12, 2**63), ("list", "int64", "object")),
    (range(2**64, 2**64 + 12), ("list", "object")),
    (_FLOAT_IDS, ("list", "float64", "object")),
    ([*"abcdefghij", " ", "a "], ("list", "object", "str", "pandas:str")),
    (_BYTES_IDS, ("list", "object")),
    (_PAIRS, ("list",)),
    (_TUPLES, ("list",)),
    (_COMPLEX, ("list", "object")),
    (_DAYS, ("list", "datetime64[D]")),
    ([1, "1", 1.5, (1,), b"1", 2, "2", 2.5, (2,), b"2", 0, " "], ("list",)),
]


#: kinds of arrays, and values to draw from
Pools = Sequence[tuple[str, Sequence[Any]]]


def as_lists(*pools: Sequence[Any]) -> Pools:
    """Return pools of values that lists hold."""
    return [("list", pool) for pool in pools]


def sample(rng: Random, pool: Sequence[Any], size: int) -> list[Any]:
    """Return values from different places of a pool, at most all of them.

    Hypothesis may make the draws of `Random.sample` equal in all places. It does not do
    so with numbers drawn in turn.
    """
    left = list(pool)
    values = []
    for _ in range(min(size, len(pool))):
        values.append(left.pop(rng.randrange(len(left))))
    return values


def query_set(
    rng: Random,
    labels: Pools = (("list", GRADES),),
    scores: Pools = (("list", SCORES),),
    *,
    most_queries: int = 3,
    most_documents: int = 6,
    weights: Sequence[Sequence[float] | None] = (None,),
    measures: Sequence[int] = ALL_MEASURES,
    n_measures: int | None = None,
    **options: Sequence[Any],
) -> Case:
    """Return rows of several queries. The ties of each query have few enough orders.

    Labels, scores and weights come from one of their pools. Each option has one of its
    values.
    """
    labels_as, labels = rng.choice(labels)
    scores_as, scores = rng.choice(scores)
    ids, id_kinds = rng.choice(QUERIES)
    weights = rng.choice(weights)
    rows: list[tuple[Any, ...]] = []
    for query in sample(rng, ids, rng.randint(1, most_queries)):
        # few labels and few scores make long ties
        grades = sample(rng, labels, rng.randint(1, 5))
        levels = sample(rng, scores, rng.randint(1, 5))
        weight = rng.choice(weights) if weights else 1
        documents = []
        for _ in range(rng.randint(1, most_documents)):
            documents.append((rng.choice(grades), rng.choice(levels), query, weight))
        while too_many_orders(documents):
            documents.pop()
        rows += documents
    if n_measures:
        measures = sample(rng, measures, n_measures)
    # rows are in the order of queries, or in any order
    if rng.randrange(4):
        rows = sample(rng, rows, len(rows))
    columns = [list(column) for column in zip(*rows, strict=True)]
    row_labels, row_scores, qid, row_weights = columns
    qid_as = rng.choice(id_kinds)
    case_options = {name: rng.choice(values) for name, values in options.items()}
    has_weight = weights and any(row_weights)
    return Case(
        labels=row_labels,
        scores=row_scores,
        qid=qid,
        weight=row_weights if has_weight else None,
        scores_as=scores_as,
        labels_as=labels_as,
        qid_as=qid_as,
        measures=measures,
        options=case_options,
    )


def too_many_orders(rows: Sequence[tuple[Any, ...]]) -> bool:
    labels, scores, *_ = zip(*rows, strict=True)
    return len(naive.orders(labels, places(scores))) > MOST_ORDERS


#: grades of five levels, short queries, all measures
GRADED = partial(
    query_set,
    labels=as_lists(GRADES, GRADES, UNJUDGED),
    scores=as_lists(FEW_SCORES, SCORES, [0.0]),
    zero_relevance=[0.0, 0.0, 1, 0.25, -3.5, "skip", "skip", "raise"],
    unjudged=["raise", "nonrelevant", "drop"],
)
#: two grades, up to 12 documents, at most two scores
LONG_TIES = partial(
    query_set,
    labels=as_lists([0, 1], [0, 2], [0, 0, 3], [1, 4]),
    scores=as_lists([0.0], [0.0, 1.0], [0.0, -math.inf]),
    most_queries=2,
    most_documents=12,
    zero_relevance=[0.0, "skip"],
)
#: arrays of labels with two grades, and with five
_BINARY_KINDS = ["bool", "int8", "float16"]
_GRADED_KINDS = ["list", "tuple", "uint8", "int64", "object", "float32", ">f8"]
_LABELS_BY_DTYPE: list[tuple[str, list[int]]] = []
for kind in _BINARY_KINDS:
    _LABELS_BY_DTYPE.append((kind, [0, 1]))
for kind in _GRADED_KINDS:
    _LABELS_BY_DTYPE.append((kind, GRADES))
#: scores at the limits of their dtypes
DTYPES = partial(
    query_set,
    labels=_LABELS_BY_DTYPE,
    scores=[*BY_DTYPE.items(), *_BEYOND],
    most_documents=5,
)
#: fractions and large labels
ANY_LABELS = partial(
    query_set,
    labels=as_lists(REAL_LABELS, LARGE_LABELS),
    most_documents=5,
    measures=FOR_ANY_LABEL,
    zero_relevance=["skip"],
)


#: measures whose whole distribution is known
_DISTRIBUTED = partial(
    query_set,
    measures=WITH_DISTRIBUTION,
    n_measures=8,
    unjudged=["nonrelevant"],
)


def distributed(rng: Random) -> Case:
    """Return any ties, or long ties of two grades."""
    if rng.randrange(3):
        return _DISTRIBUTED(rng, as_lists(GRADES, GRADES, UNJUDGED))
    labels = as_lists([0, 1], [0, 1, math.nan])
    return _DISTRIBUTED(rng, labels, as_lists(FEW_SCORES), most_documents=10)


#: many short queries, weights, and measures to average
AVERAGED = partial(
    query_set,
    most_queries=10,
    most_documents=4,
    # none, all equal, whole numbers, or anything
    weights=[None, [0.1], [1 / 3], [0, 1, 2, 3], WEIGHTS[:6], WEIGHTS],
    n_measures=4,
    zero_relevance=[0.0, 1, 0.25, -3.5, "skip"],
)


def _neighbouring_floats(rng: Random, kind: str) -> list[Any]:
    """Return values a step of a dtype apart, or a few steps."""
    base = Fraction(rng.choice([1, 3, 1000]))
    values = [base * (1 + Fraction(i, _STEPS[kind])) for i in range(-20, 20)]
    if kind == "longdouble":
        return values
    return [*map(float, values), 0.0, -0.0, -math.inf]


_LEAST = {"int64": -(2**63), "uint64": 0, "int32": -(2**31)}


def neighbours(rng: Random) -> Case:
    """Return many rows, with scores a few of the smallest steps of a dtype apart."""
    kind = rng.choice([*_STEPS, *_LEAST])
    if kind in _STEPS:
        pool = _neighbouring_floats(rng, kind)
    else:
        least = _LEAST[kind] + rng.choice([0, 2**31 - 20, 2**32 - 40])
        pool = [least + i for i in range(40)]
    pool = sample(rng, pool, rng.randint(2, len(pool)))
    n_rows = rng.randint(1, 800)
    n_queries = rng.randint(1, 30)
    # the rows are too many for hypothesis to choose each value
    rng = Random(rng.randrange(2**16))
    labels, scores, qid = [], [], []
    for _ in range(n_rows):
        labels.append(rng.choice(GRADES))
        scores.append(rng.choice(pool))
        qid.append(rng.randrange(n_queries))
    return Case(labels, scores, qid, scores_as=kind, measures=IN_LONG_LISTS)
