"""Random query sets that are hard on purpose, and small enough to enumerate."""

import dataclasses
import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from tests import naive
from tests.fuzz.cases import Case
from tests.fuzz.reference import queries
from tests.instances import MEASURES
from tieaware_sklearn import Measure
from tieaware_sklearn.measures import ERR

#: distinct orders of one query that are gone through
MOST_ORDERS = 300
FEW_SCORES = [-1.0, 0.0, 0.5]
SCORES = [*FEW_SCORES, -math.inf, -0.0, 1e-300, 2.5, 7.0]
GRADES = [0, 1, 2, 3, 4]

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
_BEYOND: dict[str, list[Any]] = {
    "list": [*_WIDE, -1, 2**64 + 1],
    "object": [*_WIDE, Fraction(1, 3), Decimal(1) / 3, Decimal("0.1"), 0.1, 10**400],
}
#: labels that no table of gains knows
REAL_LABELS = [0, 0.25, 0.5, 1, 1, 1.5, 2, 2.999, 3, 7]
LARGE_LABELS = [0, 1, 2, 10, 31, 53, 60]


def numbers_where(holds: Callable[[Measure], bool]) -> tuple[int, ...]:
    """Places of measures in `tests.instances.MEASURES`."""
    return tuple(number for number, one in enumerate(MEASURES) if holds(one))


#: measures for which they mean something
FOR_ANY_LABEL = numbers_where(
    lambda one: (
        not isinstance(one, ERR) and not isinstance(getattr(one, "gain", None), tuple)
    )
)
WITH_DISTRIBUTION = numbers_where(
    lambda one: type(one)._outcomes is not Measure._outcomes
)
#: some that read all ranks, and are soon done
IN_LONG_LISTS = numbers_where(
    lambda one: str(one) in ("NDCG", "AP", "RR", "P@3", "BPref", "ERR@3", "ESL")
)
ALL_MEASURES = tuple(range(len(MEASURES)))

ZERO_RELEVANCE = [0.0, 0.0, 1, 0.25, -3.5, "skip", "skip", "raise"]
WEIGHTS = [0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0, 2.0, 3.0, 0.0, 1e-30, 1e30]
_DAY = datetime.date(2020, 2, 29)
#: ids of up to 12 queries, and how they may be handed over
IDS: list[tuple[Sequence[Any], tuple[str, ...]]] = [
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


def gathered(rng: Random, case: Case) -> Case:
    """The rows query by query, or all mixed."""
    if rng.random() < 0.75:
        return case.rows(rng.sample(range(len(case.labels)), len(case.labels)))
    return case


def query_set(
    rng: Random,
    *,
    labels: Sequence[Any] = GRADES,
    scores: Sequence[Any] = SCORES,
    scores_as: str = "list",
    most_queries: int = 3,
    most_documents: int = 6,
    unjudged: float = 0.0,
) -> Case:
    """Rows of several queries, of which each has few enough orders."""
    ids, ways = rng.choice(IDS)
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    chosen = rng.sample(range(len(ids)), rng.randint(1, most_queries))
    for query in chosen:
        n = rng.randint(1, most_documents)
        # few labels and few scores make long ties
        grades = rng.sample(labels, min(len(labels), rng.randint(1, 5)))
        levels = rng.sample(scores, min(len(scores), rng.randint(1, 5)))
        for _ in range(n):
            label = rng.choice(grades)
            columns[0].append(math.nan if rng.random() < unjudged else label)
            columns[1].append(rng.choice(levels))
            columns[2].append(ids[query])
    case = Case(*columns, scores_as=scores_as, qid_as=rng.choice(ways))
    return gathered(rng, thinned(case))


def thinned(case: Case) -> Case:
    """Without the last rows of queries that have too many orders."""
    kept = []
    for query, rows in zip(queries(case), case.queries.values(), strict=True):
        n = len(rows)
        while len(naive.orders(*query)) > MOST_ORDERS:
            n -= 1
            query = query._replace(labels=query.labels[:n], scores=query.scores[:n])
        kept += rows[:n]
    return case.rows(kept)


def with_options(case: Case, measures: tuple[int, ...], **options: Any) -> Case:
    return dataclasses.replace(case, measures=measures, options=options)


def graded(rng: Random) -> Case:
    """Grades of five levels, short queries, all measures."""
    unjudged = rng.choice([0, 0, 0.3])
    scores = rng.choice([FEW_SCORES, SCORES, [0.0]])
    case = query_set(rng, unjudged=unjudged, scores=scores)
    options = {"zero_relevance": rng.choice(ZERO_RELEVANCE)}
    if unjudged:
        options["unjudged"] = rng.choice(["raise", "nonrelevant", "drop"])
    return with_options(case, ALL_MEASURES, **options)


def long_ties(rng: Random) -> Case:
    """Two grades, up to 12 documents, hardly any scores."""
    case = query_set(
        rng,
        labels=rng.choice([[0, 1], [0, 2], [0, 0, 3], [1, 4]]),
        scores=rng.choice([[0.0], [0.0, 1.0], [0.0, -math.inf]]),
        most_queries=2,
        most_documents=12,
    )
    return with_options(case, ALL_MEASURES, zero_relevance=rng.choice([0.0, "skip"]))


def of_a_dtype(rng: Random) -> Case:
    """Scores at the edges of what a dtype holds."""
    kind = rng.choice(list(BY_DTYPE))
    pool = BY_DTYPE[kind]
    if kind in _BEYOND and rng.random() < 0.5:
        pool = _BEYOND[kind]
    case = query_set(rng, scores=pool, scores_as=kind, most_documents=5)
    if all(label in (0, 1) for label in case.labels):
        labels_as = ["bool", "int8", "float16"]
    else:
        labels_as = ["list", "tuple", "uint8", "int64", "float32", "object", ">f8"]
    case = dataclasses.replace(case, labels_as=rng.choice(labels_as))
    return with_options(case, ALL_MEASURES, zero_relevance=0.0)


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
    pool = rng.sample(pool, rng.randint(2, len(pool)))
    n, n_queries = rng.randint(20, 800), rng.randint(1, 30)
    case = Case(
        labels=rng.choices(GRADES, k=n),
        scores=rng.choices(pool, k=n),
        qid=[rng.randrange(n_queries) for _ in range(n)],
        scores_as=kind,
    )
    return with_options(case, IN_LONG_LISTS, zero_relevance=0.0)


def any_labels(rng: Random) -> Case:
    """Labels that are no small whole numbers."""
    labels = rng.choice([REAL_LABELS, LARGE_LABELS])
    case = query_set(rng, labels=labels, most_documents=5)
    return with_options(case, FOR_ANY_LABEL, zero_relevance="skip")


def distributed(rng: Random) -> Case:
    """Any ties, for measures whose distribution is known."""
    wide = rng.random() < 0.3
    case = query_set(
        rng,
        labels=[0, 1] if wide else GRADES,
        scores=FEW_SCORES if wide else SCORES,
        most_documents=10 if wide else 6,
        unjudged=rng.choice([0, 0, 0.3]),
    )
    measures = tuple(sorted(rng.sample(WITH_DISTRIBUTION, 8)))
    return with_options(case, measures, unjudged="nonrelevant")


def averaged(rng: Random) -> Case:
    """Many short queries, weights, and measures to average."""
    case = query_set(rng, most_queries=10, most_documents=4)
    zero_relevance = rng.choice([0.0, 1, 0.25, -3.5, "skip"])
    measures = tuple(sorted(rng.sample(ALL_MEASURES, 4)))
    case = with_options(case, measures, zero_relevance=zero_relevance)
    return case if rng.random() < 0.25 else weighted(rng, case)


def weighted(rng: Random, case: Case) -> Case:
    """With a weight per query: all equal, whole numbers, or anything."""
    pool = rng.choice([[rng.choice(WEIGHTS[:6])], [0, 1, 2, 3], WEIGHTS[:6], WEIGHTS])
    chosen = {query: rng.choice(pool) for query in case.queries}
    if not any(chosen.values()):
        return case
    return dataclasses.replace(case, weight=[chosen[query] for query in case.qid])
