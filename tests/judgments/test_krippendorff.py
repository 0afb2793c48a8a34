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
    rows = [[math.nan if c == "_" else int(c) for c in text] for text in assessors]
    return np.array(rows, dtype=float).T


#: Krippendorff's data C, and two smaller sets; alpha at each level
PUBLISHED = [
    (
        ("123321412___", "1233224125_3", "_3332342251_", "12332441251_"),
        (0.7434, 0.8154, 0.8491),
    ),
    (
        ("_____34121133_3", "1_213343_______", "__21344_21133_4"),
        (0.6914, 0.8067, 0.8108),
    ),
    (("0100000010", "1110010000"), (0.0952, 0.0952, 0.0952)),
]


@pytest.mark.parametrize(
    ("assessors", "alphas"), PUBLISHED, ids=["C", "three", "binary"]
)
def test_published_values(assessors, alphas):
    ratings = ratings_of(*assessors)
    alpha_by_level = [krippendorff_alpha(ratings, level=level) for level in LEVELS]
    assert np.round(alpha_by_level, 4).tolist() == list(alphas)


@given(
    st.lists(
        st.lists(st.sampled_from([None, 0, 1, 2, 5]), min_size=3, max_size=3),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(LEVELS),
)
def test_alpha_follows_its_definition(ratings, level):
    units = [[value for value in row if value is not None] for row in ratings]
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


@pytest.mark.parametrize(
    ("ratings", "level", "message"),
    [
        ([1, 2, 3], "nominal", r"ratings must have a row .* got shape \(3,\)"),
        ([["a", 1]], "nominal", "ratings must all be numbers or all be strings"),
        ([["a", "b"]], "ordinal", "ratings must be numbers at the ordinal level.*'a'"),
        ([[1, math.inf]], "interval", "ratings must be finite"),
        ([[1, 2]], "ratio", "level must be .*'ratio'"),
    ],
    ids=["one axis", "mixed", "texts", "infinite", "level"],
)
def test_bad_ratings_and_levels(ratings, level, message):
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(ratings, level=level)


def test_agreement_of_objects_has_kendalls_tau_too():
    grades = np.array([[2, 2], [1, 0], [0, 0], [1, 1]])
    tau = assessor_agreement(grades).correlation
    assert np.array_equal(assessor_agreement(grades.astype(object)).correlation, tau)
    flags = assessor_agreement(grades > 0)
    assert np.array_equal(assessor_agreement(grades > 0.5).scott, flags.scott)
    assert flags.correlation[0, 1] == pytest.approx(1 / math.sqrt(3))


def test_the_error_of_missing_ratings_names_the_remedy():
    with pytest.raises(ValueError, match=r"krippendorff_alpha .* got nan in row 1"):
        assessor_agreement([[1, 1], [0, math.nan]])
