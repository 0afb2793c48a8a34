"""Query sets compared with the definitions, over all orders of their ties."""

import itertools
import math
import random
import warnings
from collections.abc import Collection, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from tests import naive
from tests.fuzz import reference
from tests.fuzz.cases import Case, places
from tests.fuzz.reference import Query, as_float
from tests.instances import IDS, INSTANCES, MEASURES
from tieaware_sklearn import Measure, PreparedRanking, evaluate, ranking_score
from tieaware_sklearn.evaluation import tie_distributions

PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
TIES = ("expected", "best", "worst", "input")
#: most documents of a query whose orders are enumerated for chance and ideal
MOST_FOR_CHANCE = 5


def assert_close(value: float, expected: float, name: str, near: float = 0.0) -> None:
    """Raise an AssertionError unless the numbers are close, or both NaN."""
    if math.isnan(value) and math.isnan(expected):
        return
    tolerance = max(1e-12, 1e-13 * abs(expected), near)
    message = f"{name}: found {float(value)!r}, wanted {expected!r}"
    assert abs(value - expected) <= tolerance, message


def assert_same_bits(
    report: Any, expected: Any, name: str, order: Any = slice(None)
) -> None:
    """Compare all statistics of two reports. `order` sorts the second's queries."""
    for statistic in PER_QUERY:
        np.testing.assert_array_equal(
            getattr(report, statistic),
            getattr(expected, statistic)[order],
            f"{statistic}, {name}",
        )


def check_measures(case: Case) -> str:
    """Compare `evaluate` with the definitions, for all measures of the case."""
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
            _compare(case, values, number, query, f"{IDS[number]}, query {q}")
    # takes as long as all other checks together
    if len(case.labels) % 3 == 0:
        _check_row_order(case, report, options)
    return "checked"


def expected_values(number: int, query: Query) -> naive.Exact | None:
    labelled = query.labelled_for(MEASURES[number])
    return reference.expected_values(number, labelled)


def _refusals(case: Case, queries: list[Query]) -> list[str]:
    """Return words of the errors that the call may, or must, raise."""
    words = []
    has_unjudged = any(label != label for label in case.labels)
    takes_unjudged = all(MEASURES[number].takes_unjudged for number in case.measures)
    raises = case.options.get("unjudged", "raise") == "raise"
    if has_unjudged and raises and not takes_unjudged:
        words.append("y_true must be judged")
    if case.options.get("zero_relevance") == "raise":
        pairs = itertools.product(case.measures, queries)
        if any(expected_values(number, query) is None for number, query in pairs):
            words.append("is undefined for query")
    if case.may_be_refused:
        words.append("y_score")
    return words


def _compare(
    case: Case, values: dict[str, float], number: int, query: Query, name: str
) -> None:
    """Compare all statistics of a query and a measure."""
    expected = expected_values(number, query)
    if expected is None:
        zero_relevance = case.options.get("zero_relevance", 0.0)
        fill = as_float(reference.fill(MEASURES[number], zero_relevance))
        for statistic, value in values.items():
            expected_value = 0 * fill if statistic == "std" else fill
            assert_close(value, expected_value, f"{statistic} of {name}")
        return
    for statistic in ("expected", "best", "worst"):
        expected_value = float(getattr(expected, statistic))
        assert_close(values[statistic], expected_value, f"{statistic} of {name}")
    if len(query.labels) <= MOST_FOR_CHANCE:
        tied = expected_values(number, query.tied)
        assert_close(values["chance"], float(tied.expected), f"chance of {name}")
        assert_close(values["ideal"], float(tied.best), f"ideal of {name}")
    std = values["std"]
    if INSTANCES[number].sampled:
        labelled = query.labelled_for(MEASURES[number])
        near = reference.sampled_tolerance(number, labelled)
        assert_close(std**2, float(expected.variance), f"variance of {name}", near)
    else:
        largest = max(abs(expected.best), abs(expected.worst))
        near = 1e-13 * float(largest)
        assert_close(std, math.sqrt(expected.variance), f"std of {name}", near)


def _check_row_order(case: Case, report: Any, options: dict[str, Any]) -> None:
    """Assert that the order of rows changes no bit."""
    n_rows = len(case.labels)
    rows = random.Random(n_rows).sample(range(n_rows), n_rows)
    shuffled = evaluate(**case.select(rows).arrays, **options)
    places_of_ids = {query: q for q, query in enumerate(shuffled.qid.tolist())}
    order = [places_of_ids[query] for query in report.qid.tolist()]
    assert_same_bits(report, shuffled, f"rows in the order {rows}", order)


def check_places(case: Case) -> None:
    """Compare with small whole numbers, whose order is the order of the scores."""
    measures = [MEASURES[number] for number in case.measures]
    arrays = case.arrays
    report = evaluate(**arrays, measures=measures, **case.options)
    arrays["y_score"] = np.array(places(arrays["y_score"]), float)
    expected = evaluate(**arrays, measures=measures, **case.options)
    assert_same_bits(report, expected, "small whole scores")


def check_averages(case: Case) -> None:
    """Check `ranking_score` with all treatments of ties and averages, and summaries."""
    queries = reference.queries(case)
    row_weights = case.weight or [1] * len(case.labels)
    weight = []
    for rows in case.queries.values():
        weight.append(Fraction(row_weights[rows[0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for number in case.measures:
            _check_averages(case, number, queries, weight)


def _values(
    number: int, queries: list[Query], name: str, undefined: Fraction | None
) -> list[Fraction | None]:
    """Return a statistic per query, and `undefined` where it is undefined."""
    values = []
    for query in queries:
        if name == "input":
            labelled = query.labelled_for(MEASURES[number])
            value = INSTANCES[number].plain(*labelled.input_order())
        else:
            value = getattr(expected_values(number, query), name, None)
        values.append(undefined if value is None else value)
    return values


def _expected_averages(
    measure: Measure,
    queries: list[Query],
    values: list[Fraction | None],
    weight: list[Fraction],
    undefined: Fraction | None,
) -> dict[str, float]:
    """Return all averages of the values of a measure."""
    averages = {}
    for name in reference.AVERAGES:
        averages[name] = reference.average(name, values, weight)
    if measure.is_ratio:
        denominators = [reference.denominator(measure, query) for query in queries]
        averages["micro"] = reference.micro(values, denominators, weight, undefined)
    return averages


def _check_averages(
    case: Case, number: int, queries: list[Query], weight: list[Fraction]
) -> None:
    measure = MEASURES[number]
    undefined = reference.fill(measure, case.options["zero_relevance"])
    arrays = case.arrays
    scores = arrays.pop("y_score")
    prepared = PreparedRanking(**arrays, **case.options)
    report = evaluate(**case.arrays, measures=[measure], **case.options)
    summaries = {name: report.summary(name) for name in reference.AVERAGES}
    for ties in TIES:
        score = partial(
            ranking_score, **case.arrays, measure=measure, ties=ties, **case.options
        )
        values = _values(number, queries, ties, undefined)
        per_query = score(average=None)
        for q, (value, expected) in enumerate(zip(per_query, values, strict=True)):
            name = f"{ties} of {IDS[number]}, query {q}"
            assert_close(value, as_float(expected), name)
        averages = _expected_averages(measure, queries, values, weight, undefined)
        for average, expected in averages.items():
            name = f"{ties} of {IDS[number]}, {average}"
            value = score(average=average)
            assert_close(value, expected, name)
            again = prepared.score(scores, measure, ties=ties, average=average)
            np.testing.assert_array_equal(again, value, f"{name}, PreparedRanking")
            if average in summaries and ties != "input":
                # the column of the table that a report prints
                column = "mean" if ties == "expected" else ties
                printed = getattr(summaries[average], column)[0]
                assert_close(printed, expected, f"{name}, summary")
    if not INSTANCES[number].sampled:
        zero = None if undefined is None else Fraction(0)
        variances = _values(number, queries, "variance", zero)
        expected = reference.tie_std(variances, weight)
        tie_std = summaries["macro"].tie_std[0]
        assert_close(tie_std, expected, f"tie_std of {IDS[number]}")


def check_distributions(case: Case) -> None:
    """Check each value that a measure can have, and its probability."""
    queries = reference.queries(case)
    for number in case.measures:
        measure = MEASURES[number]
        by_query = tie_distributions(**case.arrays, measure=measure, **case.options)
        assert list(by_query) == list(case.queries)
        for query, distribution in zip(queries, by_query.values(), strict=True):
            labelled = query.labelled_for(measure)
            expected = naive.outcomes(INSTANCES[number].plain, *labelled)
            name = f"outcomes of {IDS[number]}"
            _compare_numbers(distribution.values, expected, name)
            _compare_numbers(distribution.probability, expected.values(), name)


def _compare_numbers(
    values: Collection[float], expected: Iterable[Fraction], name: str
) -> None:
    numbers = [float(value) for value in expected]
    message = f"{name}: {values}, wanted {numbers}"
    assert len(values) == len(numbers), message
    for value, number in zip(values, numbers, strict=True):
        assert_close(value, number, message)
