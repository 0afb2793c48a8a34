"""Krippendorff's alpha: published values, the definition, and bad ratings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn.judgments import assessor_agreement, krippendorff_alpha
from tieaware_sklearn.judgments._krippendorff import LEVELS


def ratings_of(*assessors):
    """A matrix of the digits that each assessor gave; _ is a missing rating."""
    rows = []
    for text in assessors:
        row = [math.nan if digit == "_" else int(digit) for digit in text]
        rows.append(row)
    return np.array(rows, dtype=float).T


#: Krippendorff's data C, and two smaller sets; below, alpha at each level
DATA_C = ("123321412___", "1233224125_3", "_3332342251_", "12332441251_")
THREE = ("_____34121133_3", "1_213343_______", "__21344_21133_4")
BINARY = ("0100000010", "1110010000")
PUBLISHED = [
    (DATA_C, [0.7434, 0.8154, 0.8491]),
    (THREE, [0.6914, 0.8067, 0.8108]),
    (BINARY, [0.0952, 0.0952, 0.0952]),
]


@pytest.mark.parametrize(
    ("assessors", "expected"), PUBLISHED, ids=["C", "three", "binary"]
)
def test_published_values(assessors, expected):
    ratings = ratings_of(*assessors)
    alphas = [krippendorff_alpha(ratings, level=level) for level in LEVELS]
    assert np.round(alphas, 4).tolist() == expected


GRADES = st.sampled_from([None, 0, 1, 2, 5])
ROWS = st.lists(GRADES, min_size=3, max_size=3)


@given(st.lists(ROWS, min_size=1, max_size=8), st.sampled_from(LEVELS))
def test_alpha_follows_its_definition(ratings, level):
    units = []
    for row in ratings:
        unit = [value for value in row if value is not None]
        units.append(unit)
    expected = naive.krippendorff_alpha(units, level)
    alpha = krippendorff_alpha(ratings, level=level)
    if expected is None:
        assert math.isnan(alpha)
    else:
        assert alpha == pytest.approx(float(expected), abs=1e-12)


def test_nominal_ratings_may_be_strings():
    words = [["yes", "no", None], ["no", "no", "no"], ["yes", "yes", "no"]]
    numbers = [[1, 0, None], [0, 0, 0], [1, 1, 0]]
    assert krippendorff_alpha(words) == krippendorff_alpha(numbers)


def test_full_agreement_is_1_and_equal_ratings_have_no_alpha():
    assert krippendorff_alpha([[1, 1], [2, 2]], level="interval") == 1.0
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
    assert math.isnan(krippendorff_alpha([[1, None], [None, 2]]))


BAD_INPUT = {
    "one axis": ([1, 2, 3], "nominal", r"ratings must have a row .* got shape \(3,\)"),
    "mixed": (
        [["a", 1]],
        "nominal",
        "ratings must contain only numbers or only strings",
    ),
    "texts": (
        [["a", "b"]],
        "ordinal",
        "ratings must be numbers at the ordinal level.*'a'",
    ),
    "infinite": ([[1, math.inf]], "interval", "ratings must be finite"),
    "level": ([[1, 2]], "ratio", "level must be .*'ratio'"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_ratings_and_levels(case):
    ratings, level, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(ratings, level=level)


def test_agreement_of_objects_has_kendalls_tau_too():
    grades = np.array([[2, 2], [1, 0], [0, 0], [1, 1]])
    numbers = assessor_agreement(grades)
    objects = assessor_agreement(grades.astype(object))
    assert np.array_equal(objects.correlation, numbers.correlation)
    flags = assessor_agreement(grades > 0)
    halves = assessor_agreement(grades > 0.5)
    assert np.array_equal(halves.scott, flags.scott)
    assert flags.correlation[0, 1] == pytest.approx(1 / math.sqrt(3))


def test_the_error_of_missing_ratings_names_the_remedy():
    with pytest.raises(ValueError, match=r"krippendorff_alpha .* got nan in row 1"):
        assessor_agreement([[1, 1], [0, math.nan]])
