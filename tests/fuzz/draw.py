"""Random query sets that are hard on purpose, and small enough to enumerate."""

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

#: distinct orders of one query that are gone through
MOST_ORDERS = 300
FEW_SCORES = [-1.0, 0.0, 0.5]
SCORES = [*FEW_SCORES, -math.inf, -0.0, 1e-300, 2.5, 7.0]
GRADES = [0, 1, 2, 3, 4]
UNJUDGED = [*GRADES, math.nan, math.nan]

_FLOAT64 = [0.0, -0.0, 5e-324, -5e-324, 1.0, 1 + 2**-52, 1e300, -1.7e308, -math.inf]
_INT64 = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1]
_UINT64 = [0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
#: scores that are easily taken for one another, by what they are handed over as
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
    "longdouble": [
        *(0.0, -0.0, 1, 1 + Fraction(1, 2**63), 1 + Fraction(1, 2**52), -math.inf),
        *(2**63, 2**63 + 1, -(2**64) + 1, Fraction(1, 2**2000), 2**2000),
    ],
    **{
        f"int{bits}": [-(2 ** (bits - 1)), -1, 0, 1, 2 ** (bits - 1) - 1]
        for bits in (8, 16, 32)
    },
    **{f"uint{bits}": [0, 1, 2, 2**bits - 2, 2**bits - 1] for bits in (8, 16, 32)},
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
#: values from 1 to 2
_STEPS = {"float16": 2**10, "float32": 2**23, "float64": 2**52, "longdouble": 2**63}
_WIDE = [0, 0.5, 1.7e18, 2**53, 2**53 + 1, 1_700_000_000_000_000_100, 2**63, 2**63 + 1]
_BEYOND: list[tuple[str, list[Any]]] = [
    ("list", [*_WIDE, -1, 2**64 + 1]),
    ("object", [*_WIDE, Fraction(1, 3), Decimal(1) / 3, Decimal("0.1"), 0.1, 10**400]),
]
#: labels that no table of gains knows
REAL_LABELS = [0, 0.25, 0.5, 1, 1, 1.5, 2, 2.999, 3, 7]
LARGE_LABELS = [0, 1, 2, 10, 31, 53, 60]


#: Measures for which any label means something, by their places in
#: `tests.instances.MEASURES`.
FOR_ANY_LABEL = []
WITH_DISTRIBUTION = []
for number, measure in enumerate(MEASURES):
    has_table = isinstance(getattr(measure, "gain", None), tuple)
    if not isinstance(measure, ERR) and not has_table:
        FOR_ANY_LABEL.append(number)
    if type(measure)._outcomes is not Measure._outcomes:
        WITH_DISTRIBUTION.append(number)
#: some that read all ranks, and are soon done
IN_LONG_LISTS = [*map(IDS.index, ("NDCG", "AP", "RR", "P@3", "BPref", "ERR@3", "ESL"))]
ALL_MEASURES = range(len(MEASURES))

WEIGHTS = [0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0, 2.0, 3.0, 0.0, 1e-30, 1e30]
_DAY = datetime.date(2020, 2, 29)
#: ids of up to 12 queries, and how they may be handed over
QUERIES: list[tuple[Sequence[Any], tuple[str, ...]]] = [
    (range(12), ("list", "int64", "uint8", "float32", "object", "pandas:int64")),
    (range(2**63 - 12, 2**63), ("list", "int64", "object")),
    (range(2**64, 2**64 + 12), ("list", "object")),
    (
        [-1.5, 0.0, 0.1, 0.1 + 2**-54, 1e300, -1e-300, *(i + 0.5 for i in range(6))],
        ("list", "float64", "object"),
    ),
    ([*"abcdefghij", " ", "a "], ("list", "object", "str", "pandas:str")),
    ([b"a", b"b", b"\xe9", *(bytes([i]) for i in range(1, 10))], ("list", "object")),
    ([(i % 3, str(i)) for i in range(12)], ("list",)),
    ([(i,) * (i + 1) for i in range(12)], ("list",)),
    ([complex(i, 1) for i in range(12)], ("list", "object")),
    ([_DAY + datetime.timedelta(i) for i in range(12)], ("list", "datetime64[D]")),
    ([1, "1", 1.5, (1,), b"1", 2, "2", 2.5, (2,), b"2", 0, " "], ("list",)),
]


Pools = Sequence[tuple[str, Sequence[Any]]]


def as_lists(*pools: Sequence[Any]) -> Pools:
    """Pools of values that are handed over as lists."""
    return [("list", pool) for pool in pools]


def some_of(rng: Random, pool: Sequence[Any], n: int) -> list[Any]:
    """So many values from different places of a pool, or all.

    Of numbers drawn one by one, hypothesis makes no cases with the same in all places,
    as it does of `Random.sample`.
    """
    left = list(pool)
    return [left.pop(rng.randrange(len(left))) for _ in range(min(n, len(pool)))]


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
    """Rows of several queries, of which each has few enough orders.

    Of pools and of each option one is drawn.
    """
    labels_as, labels = rng.choice(labels)
    scores_as, scores = rng.choice(scores)
    ids, id_dtypes = rng.choice(QUERIES)
    weights = rng.choice(weights)
    rows: list[tuple[Any, ...]] = []
    for query in some_of(rng, ids, rng.randint(1, most_queries)):
        # few labels and few scores make long ties
        grades = some_of(rng, labels, rng.randint(1, 5))
        levels = some_of(rng, scores, rng.randint(1, 5))
        weight = rng.choice(weights) if weights else 1
        own = [
            (rng.choice(grades), rng.choice(levels), query, weight)
            for _ in range(rng.randint(1, most_documents))
        ]
        while too_many_orders(own):
            own.pop()
        rows += own
    if n_measures:
        measures = some_of(rng, measures, n_measures)
    # all mixed, or query by query
    if rng.randrange(4):
        rows = some_of(rng, rows, len(rows))
    *columns, weight = map(list, zip(*rows, strict=True))
    return Case(
        *columns,
        weight=weight if weights and any(weight) else None,
        scores_as=scores_as,
        labels_as=labels_as,
        qid_as=rng.choice(id_dtypes),
        measures=measures,
        options={name: rng.choice(own) for name, own in options.items()},
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
#: two grades, up to 12 documents, hardly any scores
LONG_TIES = partial(
    query_set,
    labels=as_lists([0, 1], [0, 2], [0, 0, 3], [1, 4]),
    scores=as_lists([0.0], [0.0, 1.0], [0.0, -math.inf]),
    most_queries=2,
    most_documents=12,
    zero_relevance=[0.0, "skip"],
)
#: scores at the edges of what a dtype holds
DTYPES = partial(
    query_set,
    labels=[
        *((kind, [0, 1]) for kind in ("bool", "int8", "float16")),
        *((kind, GRADES) for kind in ("list", "tuple", "uint8", "int64", "object")),
        *((kind, GRADES) for kind in ("float32", ">f8")),
    ],
    scores=[*BY_DTYPE.items(), *_BEYOND],
    most_documents=5,
)
#: labels that are no small whole numbers
ANY_LABELS = partial(
    query_set,
    labels=as_lists(REAL_LABELS, LARGE_LABELS),
    most_documents=5,
    measures=FOR_ANY_LABEL,
    zero_relevance=["skip"],
)


def distributed(rng: Random) -> Case:
    """Any ties, for measures whose distribution is known."""
    if rng.randrange(3):
        ties = {"labels": as_lists(GRADES, GRADES, UNJUDGED)}
    else:
        labels, scores = as_lists([0, 1], [0, 1, math.nan]), as_lists(FEW_SCORES)
        ties = {"labels": labels, "scores": scores, "most_documents": 10}
    asked = {"measures": WITH_DISTRIBUTION, "n_measures": 8}
    return query_set(rng, **ties, **asked, unjudged=["nonrelevant"])


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


def neighbours(rng: Random) -> Case:
    """Many rows, whose scores are a few of the smallest steps of a dtype apart."""
    kind = rng.choice([*_STEPS, "int64", "uint64", "int32"])
    if kind in _STEPS:
        steps = _STEPS[kind]
        base = Fraction(rng.choice([1, 3, 1000]))
        # as far as the base reaches, a step is one of the dtype or more
        pool: list[Any] = [base * (1 + Fraction(i, steps)) for i in range(-20, 20)]
        if kind != "longdouble":
            pool = [*map(float, pool), 0.0, -0.0, -math.inf]
    else:
        least = {"int64": -(2**63), "uint64": 0, "int32": -(2**31)}[kind]
        base = least + rng.choice([0, 2**31 - 20, 2**32 - 40])
        pool = [base + i for i in range(40)]
    pool = some_of(rng, pool, rng.randint(2, len(pool)))
    n, n_queries = rng.randint(1, 800), rng.randint(1, 30)
    # too many rows for hypothesis to choose each value
    rng = Random(rng.randrange(2**16))
    rows = [
        (rng.choice(GRADES), rng.choice(pool), rng.randrange(n_queries))
        for _ in range(n)
    ]
    columns = map(list, zip(*rows, strict=True))
    return Case(*columns, scores_as=kind, measures=IN_LONG_LISTS)
