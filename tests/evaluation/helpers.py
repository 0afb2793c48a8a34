"""Data and functions that the tests of evaluation share."""

import warnings

from tieaware_sklearn import ranking_score

LABELS = [1, 0, 0, 0, 2, 0, 1, 0]
SCORES = [2.0, 2.0, 1.0, 1.0, 0.0, 3.0, 3.0, 3.0]
QID = ["a", "a", "b", "b", "a", "c", "c", "c"]
# AP of a: (1/2 at rank 1 and (1/2)(1/2) at rank 2 ... + 2/3)/2, of c: (1 + 1/2 + 1/3)/3
AP_A = ((1 + 1 / 2) / 2 + 2 / 3) / 2
AP_C = (1 + 1 / 2 + 1 / 3) / 3


def messages_of(call, *arguments, **options):
    """Return the messages of the warnings of a call."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        call(*arguments, **options)
    return [str(warning.message) for warning in caught]


def score(measure="ap", **options):
    return ranking_score(LABELS, SCORES, qid=QID, measure=measure, **options)
