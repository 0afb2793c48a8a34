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
from tests.fuzz.cases import Case, places
from tests.fuzz.reference import Query, as_float
from tests.instances import IDS, INSTANCES, MEASURES
from tieaware_sklearn import PreparedRanking, evaluate, ranking_score
from tieaware_sklearn.evaluation import tie_distributions

PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
TIES = ("expected", "best", "worst", "input")
#: documents whose every order is gone through for chance and ideal
MOST_FOR_CHANCE = 5


def same(found: float, wanted: float, what: str, near: float = 0.0) -> None:
    """Raise an AssertionError unless the numbers are close, or both NaN."""
    close = max(1e-12, 1e-13 * abs(wanted), near)
    are_nan = math.isnan(found) and math.isnan(wanted)
    agree = are_nan or abs(found - wanted) <= close
    assert agree, f"{what}: found {float(found)!r}, wanted {wanted!r}"


def same_bits(report: Any, other: Any, what: str, order: Any = slice(None)) -> None:
    """Compare all statistics of two reports, the other's queries in that order."""
    for name in PER_QUERY:
        found, wanted = getattr(report, name), getattr(other, name)[order]
        np.testing.assert_array_equal(found, wanted, f"{name}, {what}")


def check_measures(case: Case) -> str:
    """`evaluate` of all measures of the case."""
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
        return "refused"
    assert case.may_be_refused or not refusals, f"not refused: {refusals}"
    assert report.qid.tolist() == list(case.queries)
    for q, query in enumerate(queries):
        for j, number in enumerate(case.measures):
            values = {name: getattr(report, name)[q, j] for name in PER_QUERY}
            _compare(case, values, number, query, f"query {q}")
    # as dear as all the rest together
    if len(case.labels) % 3 == 0:
        _check_row_order(case, report, options)
    return "checked"


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
    case: Case, values: dict[str, float], number: int, query: Query, where: str
) -> None:
    """All statistics of one query under one measure."""
    wanted, where = wanted_of(number, query), f"{IDS[number]}, {where}"
    if wanted is None:
        zero_relevance = case.options.get("zero_relevance", 0.0)
        instead = as_float(reference.fill(MEASURES[number], zero_relevance))
        for name, value in values.items():
            expected = 0 * instead if name == "std" else instead
            same(value, expected, f"{name} of {where}")
        return
    plain = {n: float(getattr(wanted, n)) for n in ("expected", "best", "worst")}
    if len(query.labels) <= MOST_FOR_CHANCE:
        tied = wanted_of(number, query.tied)
        plain |= {"chance": float(tied.expected), "ideal": float(tied.best)}
    for name, expected in plain.items():
        same(values[name], expected, f"{name} of {where}")
    found, expected = values["std"], math.sqrt(wanted.variance)
    near = 1e-13 * max(abs(plain["best"]), abs(plain["worst"]))
    if INSTANCES[number].sampled:
        found, expected = found**2, float(wanted.variance)
        near = reference.sampled_tolerance(number, query.of(MEASURES[number]))
    same(found, expected, f"std of {where}", near)


def _check_row_order(case: Case, report: Any, options: dict[str, Any]) -> None:
    """The same bits whatever the order of the rows."""
    n = len(case.labels)
    shuffled = random.Random(n).sample(range(n), n)
    again = evaluate(**case.rows(shuffled).arrays, **options)
    ids = {query: q for q, query in enumerate(again.qid.tolist())}
    order = [ids[query] for query in report.qid.tolist()]
    same_bits(report, again, f"rows in the order {shuffled}", order)


def check_places(case: Case) -> None:
    """The same bits as for small whole numbers that compare as the scores do."""
    options = {"measures": [MEASURES[n] for n in case.measures], **case.options}
    given = case.arrays
    report = evaluate(**given, **options)
    plain = given | {"y_score": np.array(places(given["y_score"]), float)}
    wanted = evaluate(**plain, **options)
    same_bits(report, wanted, "small whole scores")


def check_averages(case: Case) -> None:
    """`ranking_score` with all ways to treat ties and to average, and summaries."""
    queries = reference.queries(case)
    given = case.weight or [1] * len(case.labels)
    weight = [Fraction(given[rows[0]]) for rows in case.queries.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for number in case.measures:
            _check_averages(case, number, queries, weight)


def _values(
    number: int, queries: list[Query], name: str, instead: Fraction | None
) -> list[Fraction | None]:
    """A statistic per query, and `instead` where it is undefined."""
    plain, measure = INSTANCES[number].plain, MEASURES[number]
    if name == "input":
        found = [plain(*query.of(measure).input_order()) for query in queries]
    else:
        found = [getattr(wanted_of(number, query), name, None) for query in queries]
    return [instead if value is None else value for value in found]


def _check_averages(
    case: Case, number: int, queries: list[Query], weight: list[Fraction]
) -> None:
    measure = MEASURES[number]
    instead = reference.fill(measure, case.options["zero_relevance"])
    arrays = case.arrays
    scores = arrays.pop("y_score")
    prepared = PreparedRanking(**arrays, **case.options)
    report = evaluate(**case.arrays, measures=[measure], **case.options)
    summaries = {average: report.summary(average) for average in reference.AVERAGES}
    for ties in TIES:
        values = _values(number, queries, ties, instead)
        call = {"measure": measure, "ties": ties, **case.options}
        each = ranking_score(**case.arrays, **call, average=None)
        for q, (found, value) in enumerate(zip(each, values, strict=True)):
            same(found, as_float(value), f"{ties} of {IDS[number]}, query {q}")
        wanted = {
            name: reference.average(name, values, weight) for name in reference.AVERAGES
        }
        if measure.is_ratio:
            below = [reference.denominator(measure, query) for query in queries]
            wanted["micro"] = reference.micro(values, below, weight, instead)
        for average, value in wanted.items():
            what = f"{ties} of {IDS[number]}, {average}"
            found = ranking_score(**case.arrays, **call, average=average)
            same(found, value, what)
            again = prepared.score(scores, measure, ties=ties, average=average)
            np.testing.assert_array_equal(again, found, f"{what}, PreparedRanking")
            # of the table that a report prints
            column = {"expected": "mean"}.get(ties, ties)
            if average in summaries and ties != "input":
                same(getattr(summaries[average], column)[0], value, f"{what}, summary")
    if not INSTANCES[number].sampled:
        zero = None if instead is None else Fraction(0)
        variances = _values(number, queries, "variance", zero)
        wanted_std = reference.tie_std(variances, weight)
        same(summaries["macro"].tie_std[0], wanted_std, f"tie_std of {IDS[number]}")


def check_distributions(case: Case) -> None:
    """Every value that a measure can take, and its chance."""
    queries = reference.queries(case)
    for number in case.measures:
        measure, plain = MEASURES[number], INSTANCES[number].plain
        found = tie_distributions(**case.arrays, measure=measure, **case.options)
        assert list(found) == list(case.queries)
        for query, told in zip(queries, found.values(), strict=True):
            known = query.of(measure)
            wanted = naive.outcomes(plain, known.labels, known.scores)
            pairs = ((told.values, wanted), (told.probability, wanted.values()))
            for theirs, ours in pairs:
                what = (
                    f"outcomes of {IDS[number]}: {theirs}, wanted {[*map(float, ours)]}"
                )
                assert len(theirs) == len(ours), what
                for one, other in zip(theirs, ours, strict=True):
                    same(one, float(other), what)
