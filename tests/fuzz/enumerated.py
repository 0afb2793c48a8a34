"""Query sets against the definitions, every order of the ties gone through."""

import itertools
import math
import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from tests import naive
from tests.fuzz import reference
from tests.fuzz.cases import Case, Mismatch, places
from tests.fuzz.reference import Query, as_float
from tests.instances import IDS, INSTANCES, MEASURES
from tieaware_sklearn import PreparedRanking, evaluate, ranking_score
from tieaware_sklearn.evaluation import tie_distributions

PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
TIES = ("expected", "best", "worst", "input")
#: documents whose every order is gone through for chance and ideal
MOST_FOR_CHANCE = 5


class Tally:
    """Comparisons of one case, made and counted."""

    def __init__(self, case: Case) -> None:
        self.case = case
        # measures under which the query set was looked at
        self.cases = len(case.measures)
        self.comparisons = 0

    def same(self, found: float, wanted: float, what: str, near: float = 0.0) -> None:
        self.comparisons += 1
        found = float(found)
        close = max(1e-12, 1e-13 * abs(wanted), near)
        if abs(found - wanted) <= close or (found != found and wanted != wanted):
            return
        raise Mismatch(f"{what}: found {found!r}, wanted {wanted!r}")

    def same_bits(
        self, report: Any, other: Any, what: str, order: Any = slice(None)
    ) -> None:
        """Compare all statistics of two reports, the other's queries in that order."""
        for name in PER_QUERY:
            found, wanted = getattr(report, name), getattr(other, name)[order]
            self.comparisons += found.size
            if not np.array_equal(found, wanted, equal_nan=True):
                raise Mismatch(f"{name}, {what}: found {found}, wanted {wanted}")


def check_measures(case: Case) -> Tally:
    """`evaluate` of all measures of the case."""
    tally = Tally(case)
    measures = [MEASURES[number] for number in case.measures]
    options = {"measures": measures, **case.options}
    queries = reference.queries(case)
    if case.options.get("unjudged") == "drop":
        queries = [query.judged for query in queries]
    refusals = _refusals(case, queries)
    try:
        report = evaluate(**case.arrays, **options)
    except ValueError as error:
        if not any(words in str(error) for words in refusals):
            raise
        tally.comparisons += 1
        return tally
    if refusals and not case.may_be_refused:
        raise Mismatch(f"not refused: {refusals}")
    if report.qid.tolist() != list(case.queries):
        raise Mismatch(f"qid: {report.qid.tolist()!r}")
    for q, query in enumerate(queries):
        for j, number in enumerate(case.measures):
            values = {name: getattr(report, name)[q, j] for name in PER_QUERY}
            _compare(tally, values, number, query, f"query {q}")
    # as dear as all the rest together
    if len(case.labels) % 3 == 0:
        _check_row_order(tally, report, options)
    return tally


def wanted_of(number: int, query: Query) -> naive.Exact | None:
    return reference.wanted(number, query.of(MEASURES[number]))


def _refusals(case: Case, queries: list[Query]) -> list[str]:
    """Words of errors that the call may, or must, raise."""
    words = []
    measures = [MEASURES[number] for number in case.measures]
    unjudged = any(label != label for label in case.labels)
    takes = all(measure.takes_unjudged for measure in measures)
    if unjudged and not takes and case.options.get("unjudged", "raise") == "raise":
        words.append("y_true must be judged")
    pairs = itertools.product(case.measures, queries)
    undefined = any(wanted_of(*pair) is None for pair in pairs)
    if case.options.get("zero_relevance") == "raise" and undefined:
        words.append("is undefined for query")
    if case.may_be_refused:
        words.append("y_score")
    return words


def _compare(
    tally: Tally, values: dict[str, float], number: int, query: Query, where: str
) -> None:
    """All statistics of one query under one measure."""
    wanted, where = wanted_of(number, query), f"{IDS[number]}, {where}"
    if wanted is None:
        zero_relevance = tally.case.options.get("zero_relevance", 0.0)
        instead = as_float(reference.fill(MEASURES[number], zero_relevance))
        for name, value in values.items():
            expected = 0 * instead if name == "std" else instead
            tally.same(value, expected, f"{name} of {where}")
        return
    plain = {n: float(getattr(wanted, n)) for n in ("expected", "best", "worst")}
    if len(query.labels) <= MOST_FOR_CHANCE:
        tied = wanted_of(number, query.tied)
        plain |= {"chance": float(tied.expected), "ideal": float(tied.best)}
    for name, expected in plain.items():
        tally.same(values[name], expected, f"{name} of {where}")
    found, expected = values["std"], math.sqrt(wanted.variance)
    near = 1e-13 * max(abs(plain["best"]), abs(plain["worst"]))
    if INSTANCES[number].sampled:
        found, expected = found**2, float(wanted.variance)
        near = reference.sampled_tolerance(number, query.of(MEASURES[number]))
    tally.same(found, expected, f"std of {where}", near)


def _check_row_order(tally: Tally, report: Any, options: dict[str, Any]) -> None:
    """The same bits whatever the order of the rows."""
    n = len(tally.case.labels)
    shuffled = random.Random(n).sample(range(n), n)
    again = evaluate(**tally.case.rows(shuffled).arrays, **options)
    ids = {query: q for q, query in enumerate(again.qid.tolist())}
    order = [ids[query] for query in report.qid.tolist()]
    tally.same_bits(report, again, f"rows in the order {shuffled}", order)


def check_places(case: Case) -> Tally:
    """The same bits as for small whole numbers that compare as the scores do."""
    tally = Tally(case)
    options = {"measures": [MEASURES[n] for n in case.measures], **case.options}
    given = case.arrays
    report = evaluate(**given, **options)
    plain = given | {"y_score": np.array(places(given["y_score"]), float)}
    wanted = evaluate(**plain, **options)
    tally.same_bits(report, wanted, "small whole scores")
    return tally


def check_averages(case: Case) -> Tally:
    """`ranking_score` with all ways to treat ties and to average, and summaries."""
    tally = Tally(case)
    queries = reference.queries(case)
    given = case.weight or [1] * len(case.labels)
    weight = [Fraction(given[rows[0]]) for rows in case.queries.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for number in case.measures:
            _check_scores(tally, number, queries, weight)
            _check_summaries(tally, number, queries, weight)
    return tally


def _statistics(number: int, queries: list[Query], name: str) -> list[Fraction | None]:
    """Of each query, None where undefined."""
    return [getattr(wanted_of(number, query), name, None) for query in queries]


def _values(
    number: int, queries: list[Query], ties: str, zero_relevance: Any
) -> list[Fraction | None]:
    """Per query, the undefined ones filled."""
    measure, plain = MEASURES[number], INSTANCES[number].plain
    if ties == "input":
        found = [plain(*query.of(measure).input_order()) for query in queries]
    else:
        found = _statistics(number, queries, ties)
    instead = reference.fill(measure, zero_relevance)
    return [instead if value is None else value for value in found]


def _check_scores(
    tally: Tally, number: int, queries: list[Query], weight: list[Fraction]
) -> None:
    case, measure = tally.case, MEASURES[number]
    zero_relevance = case.options["zero_relevance"]
    arrays = case.arrays
    scores = arrays.pop("y_score")
    prepared = PreparedRanking(**arrays, **case.options)
    for ties in TIES:
        values = _values(number, queries, ties, zero_relevance)
        wanted: dict[Any, Any] = {
            name: reference.average(name, values, weight) for name in reference.AVERAGES
        }
        if measure.is_ratio:
            below = [reference.denominator(measure, query) for query in queries]
            instead = reference.fill(measure, zero_relevance)
            wanted["micro"] = reference.micro(values, below, weight, instead)
        call = {"measure": measure, "ties": ties, **case.options}
        each = ranking_score(**case.arrays, **call, average=None)
        for q, (found, value) in enumerate(zip(each, values, strict=True)):
            tally.same(found, as_float(value), f"{ties} of {IDS[number]}, query {q}")
        for average, value in wanted.items():
            what = f"{ties} of {IDS[number]}, {average}"
            found = ranking_score(**case.arrays, **call, average=average)
            tally.same(found, value, what)
            again = prepared.score(scores, measure, ties=ties, average=average)
            if not np.array_equal(found, again, equal_nan=True):
                raise Mismatch(f"{what}: {found!r}, of PreparedRanking {again!r}")


def _check_summaries(
    tally: Tally, number: int, queries: list[Query], weight: list[Fraction]
) -> None:
    """The table that a report prints."""
    case, measure = tally.case, MEASURES[number]
    zero_relevance = case.options["zero_relevance"]
    report = evaluate(**case.arrays, measures=[measure], **case.options)
    for average in reference.AVERAGES:
        summary = report.summary(average)
        for name, ties in (("mean", "expected"), ("best", "best"), ("worst", "worst")):
            values = _values(number, queries, ties, zero_relevance)
            wanted = reference.average(average, values, weight)
            found = getattr(summary, name)[0]
            what = f"{name} of {IDS[number]}, summary({average!r})"
            tally.same(found, wanted, what)
    if not INSTANCES[number].sampled:
        variances = _statistics(number, queries, "variance")
        if reference.fill(measure, zero_relevance) is not None:
            variances = [v or Fraction(0) for v in variances]
        wanted = reference.tie_std(variances, weight)
        found = report.summary().tie_std[0]
        tally.same(found, wanted, f"tie_std of {IDS[number]}")


def check_distributions(case: Case) -> Tally:
    """Every value that a measure can take, and its chance."""
    tally = Tally(case)
    queries = reference.queries(case)
    for number in case.measures:
        measure, plain = MEASURES[number], INSTANCES[number].plain
        found = tie_distributions(**case.arrays, measure=measure, **case.options)
        if list(found) != list(case.queries):
            raise Mismatch(f"qid: {list(found)!r}")
        for q, query in enumerate(queries):
            known = query.of(measure)
            wanted = naive.outcomes(plain, known.labels, known.scores)
            told = found[list(found)[q]]
            pairs = ((told.values, wanted), (told.probability, wanted.values()))
            for theirs, ours in pairs:
                what = f"outcomes of {IDS[number]}, query {q}"
                if len(theirs) != len(ours):
                    raise Mismatch(f"{what}: {theirs}, wanted {list(map(float, ours))}")
                for one, other in zip(theirs, ours, strict=True):
                    tally.same(one, float(other), what)
    return tally
