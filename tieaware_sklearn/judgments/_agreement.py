"""Agreement of assessors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._display import html, text_tables, words
from .._engine import checks, exact_numbers
from .._typing import Array, FloatArray

#: Upper bounds and names of the classes of non-negative kappas.
_ENDS = (0.2, 0.4, 0.6, 0.8, 1.0)
_CLASSES = ("slight", "fair", "moderate", "substantial", "almost perfect")


def check_values(values: ArrayLike, name: str) -> Array:
    """Return an array of numbers or strings, none of which is missing or infinite."""
    array = exact_numbers.as_array(values, name)
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"{name} must be a 1-D array of at least one value, got shape {array.shape}"
        )
    cells = array.tolist()
    is_missing = np.array([exact_numbers.is_missing(value) for value in cells])
    requirement = "not be missing (krippendorff_alpha accepts missing ratings)"
    checks.reject(is_missing, array, name, requirement)
    is_infinite = np.array([value in (np.inf, -np.inf) for value in cells])
    checks.reject(is_infinite, array, name, "be finite")
    return array


def _contingency(
    y1: ArrayLike, y2: ArrayLike, sample_weight: ArrayLike | None
) -> FloatArray:
    """Return the total weight of the items in each pair of categories."""
    first = check_values(y1, "y1")
    second = check_values(y2, "y2")
    checks.check_length(second, len(first), "y2")
    if (first.dtype.kind in "US") != (second.dtype.kind in "US"):
        raise ValueError(
            f"y1 and y2 must both have a string dtype, or neither, got {first.dtype} "
            f"and {second.dtype}. If both contain strings, pass both as lists"
        )
    both = np.concatenate([first, second])
    categories, code = np.unique(both, return_inverse=True)
    n_categories = len(categories)
    weight = np.ones(len(first))
    if sample_weight is not None:
        weight = exact_numbers.floats_of(sample_weight, "sample_weight")
        checks.check_length(weight, len(first), "sample_weight")
        is_weight = np.isfinite(weight) & (weight >= 0)
        if not (is_weight.all() and weight.any()):
            raise ValueError("sample_weight must be finite, >= 0 and not all 0")
    table = np.zeros((n_categories, n_categories))
    row, column = code.reshape(2, -1)
    np.add.at(table, (row, column), weight)
    return table


def _beyond_chance(agreement: float, share: FloatArray) -> float:
    """Return (P(A) - P(E)) / (1 - P(E)), or NaN if P(E) is 1.

    P(A) is the agreement. P(E) is computed from the share of each category.
    """
    chance = float((share * share).sum())
    room = 1.0 - chance
    # If P(E) is 1, rounding may make 1 - P(E) differ slightly from 0.
    if room <= 1e-15:
        return math.nan
    return (agreement - chance) / room


def joint_agreement(
    y1: ArrayLike, y2: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute P(A), the share of items to which two assessors give the same judgment.

    Parameters
    ----------
    y1, y2 : array-like of shape (n_items,)
        Judgments of two assessors, as numbers or strings.
    sample_weight : array-like of shape (n_items,), optional
        Weight of each item, such as the number of times that a pair of judgments
        occurs.

    Returns
    -------
    float
        P(A) in [0, 1], not corrected for chance.

    Raises
    ------
    ValueError
        If the arrays differ in length or are empty, if a judgment is missing or
        infinite, if one array contains numbers and the other strings, if a weight is
        negative or not finite, or if all weights are 0.

    See Also
    --------
    scott_pi, fleiss_kappa : Compute the agreement corrected for chance.

    Notes
    -----
    See Manning, Raghavan and Schütze (2008), section 8.5.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import joint_agreement
    >>> joint_agreement([1, 0, 1, 1], [1, 0, 0, 1])
    0.75
    """
    # The result is a single division, so full agreement is exactly 1.
    table = _contingency(y1, y2, sample_weight)
    return float(np.trace(table) / table.sum())


def scott_pi(
    y1: ArrayLike, y2: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Compute Scott's pi, the agreement of two assessors corrected for chance.

    Parameters
    ----------
    y1, y2 : array-like of shape (n_items,)
        Judgments of two assessors, as numbers or strings.
    sample_weight : array-like of shape (n_items,), optional
        Weight of each item, such as the number of times that a pair of judgments
        occurs. A two-by-two table is passed as four items with weights.

    Returns
    -------
    float
        Coefficient of agreement: 1 for full agreement, 0 for the agreement expected by
        chance, and negative for less agreement than expected by chance. The coefficient
        is NaN if both assessors put all items into the same category.

    Raises
    ------
    ValueError
        If the arrays differ in length or are empty, if a judgment is missing or
        infinite, if one array contains numbers and the other strings, if a weight is
        negative or not finite, or if all weights are 0.

    See Also
    --------
    sklearn.metrics.cohen_kappa_score : Computes Cohen's kappa, which estimates the
        agreement by chance from the shares of categories of each assessor.
    fleiss_kappa : Computes a generalisation to more than two assessors.

    Notes
    -----
    The coefficient is pi = (P(A) - P(E)) / (1 - P(E)). P(A) is the joint agreement.
    P(E) is the sum over categories of the squared share of the category among all
    judgments of both assessors. See Scott (1955), and Manning, Raghavan and Schütze
    (2008), section 8.5. The example is a table from Manning, Raghavan and Schütze, who
    report 0.776.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import scott_pi
    >>> round(scott_pi([1, 1, 0, 0], [1, 0, 1, 0], sample_weight=[300, 20, 10, 70]), 5)
    0.77591
    """
    table = _contingency(y1, y2, sample_weight)
    total = table.sum()
    share = (table.sum(axis=0) + table.sum(axis=1)) / (2 * total)
    agreement = float(np.trace(table) / total)
    return _beyond_chance(agreement, share)


def fleiss_kappa(counts: ArrayLike) -> float:
    """Compute Fleiss' kappa, the agreement of several assessors corrected for chance.

    Parameters
    ----------
    counts : array-like of shape (n_items, n_categories)
        Number of assessors who put each item into each category. The number of
        assessors must be the same for every item, and at least two.

    Returns
    -------
    float
        Coefficient of agreement: 1 for full agreement, 0 for the agreement expected by
        chance, and negative for less agreement than expected by chance. The coefficient
        is NaN if all assessors put all items into the same category.

    Raises
    ------
    ValueError
        If the counts are not a matrix with at least one cell, if a count is negative or
        not a whole number, or if the sums of the rows differ or are below two.

    See Also
    --------
    scott_pi : Computes the coefficient for two assessors.
    assessor_agreement : Reports all coefficients together.

    Notes
    -----
    Fleiss (1971) defines the coefficient. For two assessors, Fleiss' kappa is equal to
    Scott's pi.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import fleiss_kappa
    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1], [1, 2]]), 4)
    0.3333
    """
    table = exact_numbers.as_array(counts, "counts").astype(np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(
            f"counts must have shape (n_items, n_categories), got shape {table.shape}"
        )
    is_count = np.isfinite(table) & (table >= 0) & (table == np.floor(table))
    first_wrong = table[np.arange(len(table)), is_count.argmin(axis=1)]
    is_wrong = ~is_count.all(axis=1)
    checks.reject(is_wrong, first_wrong, "counts", "be whole numbers >= 0")
    raters = table.sum(axis=1).astype(np.int64)
    uneven = (raters < 2) | (raters != raters[0])
    requirement = "have the same number of assessors, at least 2, in every row"
    checks.reject(uneven, raters, "counts", requirement)
    n = raters[0]
    n_agreeing_pairs = (table * (table - 1)).sum(axis=1)
    agreement = (n_agreeing_pairs / (n * (n - 1))).mean()
    share = table.sum(axis=0) / table.sum()
    return _beyond_chance(float(agreement), share)


def kappa_in_words(kappa: float) -> str:
    """Describe a kappa in the words of Landis and Koch (1977).

    Parameters
    ----------
    kappa : float
        A coefficient in [-1, 1]: Fleiss' kappa, Cohen's kappa or Scott's pi.

    Returns
    -------
    str
        Class of agreement: "poor" below 0, "slight" up to 0.20, "fair" up to 0.40,
        "moderate" up to 0.60, "substantial" up to 0.80 and "almost perfect" above 0.80.

    Raises
    ------
    ValueError
        If kappa is NaN or outside [-1, 1].

    See Also
    --------
    scott_pi, fleiss_kappa : Compute a kappa.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import kappa_in_words
    >>> kappa_in_words(0.776)
    'substantial'
    """
    if not -1 <= kappa <= 1:
        raise ValueError(f"kappa must be in [-1, 1], got {kappa!r}")
    if kappa < 0:
        return "poor"
    return _CLASSES[np.searchsorted(_ENDS, kappa)]


@dataclass(frozen=True, eq=False, repr=False)
class AgreementReport(html.Result):
    """Agreement of assessors, printed as a table.

    Attributes
    ----------
    names : tuple of str
        Names of the assessors.
    n_items : int
        Number of items.
    joint : ndarray of shape (n_assessors, n_assessors)
        Share of items to which the two assessors of a pair give the same judgment. The
        diagonals of `joint`, `scott` and `correlation` contain 1.
    scott : ndarray of shape (n_assessors, n_assessors)
        Scott's pi of each pair of assessors, or NaN if both assessors put all items
        into the same category.
    correlation : ndarray of shape (n_assessors, n_assessors)
        Kendall's tau-b of the judgments of each pair of assessors, or NaN if the
        judgments are not numbers, or if an assessor of the pair gives all items the
        same judgment.
    all_agree : float
        Share of items to which all assessors give the same judgment.
    fleiss : float
        Fleiss' kappa of all assessors, or NaN if all assessors put all items into the
        same category.

    See Also
    --------
    assessor_agreement : The function that returns this report.
    kappa_in_words : Describes a kappa in words.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import assessor_agreement
    >>> found = assessor_agreement([[2, 2], [1, 0], [0, 0], [1, 1]])
    >>> found.joint[0, 1].item(), found.n_items
    (0.75, 4)
    """

    names: tuple[str, ...]
    n_items: int
    joint: FloatArray
    scott: FloatArray
    correlation: FloatArray
    all_agree: float
    fleiss: float

    def _columns(self) -> dict[str, Any]:
        """Return the columns of a table with one row for each pair of assessors."""
        pairs = np.triu_indices(len(self.names), k=1)
        first, second = zip(*itertools.combinations(self.names, 2), strict=True)
        return {
            "assessor": list(first),
            "other": list(second),
            "joint": self.joint[pairs],
            "scott": self.scott[pairs],
            "correlation": self.correlation[pairs],
        }

    def _tables(self) -> list[text_tables.Table]:
        columns = self._columns()
        scott = columns["scott"]
        assessors = map(", ".join, itertools.combinations(self.names, 2))
        descriptions = map(_describe_kappa, scott)
        notes = []
        if len(self.names) > 2:
            share = words.number(self.all_agree)
            kappa = words.number(self.fleiss)
            description = _describe_kappa(self.fleiss)
            notes = [
                "",
                f"all assessors agree on {share} of the items; "
                f"Fleiss' kappa is {kappa} ({description})",
            ]
        table = text_tables.Table.of(
            ("assessors", assessors),
            ("agree", columns["joint"]),
            ("Scott's pi", scott),
            ("", descriptions),
            ("Kendall's tau-b", columns["correlation"]),
            notes=notes,
        )
        return [table]


def _describe_kappa(kappa: float) -> str:
    return "-" if math.isnan(kappa) else kappa_in_words(kappa)


def assessor_agreement(
    ratings: ArrayLike, *, names: Sequence[str] | None = None
) -> AgreementReport:
    """Report the agreement of assessors, for each pair and for all assessors together.

    Parameters
    ----------
    ratings : array-like of shape (n_items, n_assessors)
        Judgment of each item by each assessor, as numbers or strings.
    names : sequence of str, optional
        Names of the assessors. By default, the assessors are named after the columns of
        a data frame, or numbered 1, 2, ...

    Returns
    -------
    AgreementReport

    Raises
    ------
    ValueError
        If there are fewer than two assessors or no items, if a rating is missing or
        infinite, or if the number of names is not the number of assessors.
    TypeError
        If a data frame or an array of objects contains both numbers and strings.

    See Also
    --------
    scott_pi, fleiss_kappa, joint_agreement : Compute one coefficient each.
    krippendorff_alpha : Computes the agreement if ratings are missing.
    kappa_in_words : Describes a kappa in words.

    Notes
    -----
    Manning, Raghavan and Schütze (2008), section 8.5, define the share of agreement and
    Scott's pi. Fleiss (1971) defines Fleiss' kappa.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import assessor_agreement
    >>> print(assessor_agreement([[2, 2], [1, 0], [0, 0], [1, 1]]))
    assessors   agree  Scott's pi               Kendall's tau-b
    -----------------------------------------------------------
    1, 2       0.7500      0.6190  substantial           0.8000
    """
    table = ratings if np.ma.isMaskedArray(ratings) else np.asarray(ratings)
    # A data frame with several numeric dtypes becomes an array of objects.
    if table.dtype.kind in "bO":
        cells = table.ravel().tolist()
        if all(isinstance(c, Real) or exact_numbers.is_missing(c) for c in cells):
            table = table.astype(np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        raise ValueError(
            "ratings must have a row for each item and a column for each of at least "
            f"two assessors, got shape {table.shape}"
        )
    count = table.shape[1]
    if names is None:
        numbers = [str(number) for number in range(1, count + 1)]
        names = getattr(ratings, "columns", numbers)
    assessors = tuple(map(str, names))
    if len(assessors) != count:
        raise ValueError(f"names must contain {count} names, got {len(assessors)}")
    columns = []
    for name, column in zip(assessors, table.T, strict=True):
        columns.append(check_values(column, f"ratings of {name}"))
    joint, scott, correlation = np.ones((3, count, count))
    is_numeric = table.dtype.kind in "iuf"
    for i, j in itertools.combinations(range(count), 2):
        pair = columns[i], columns[j]
        joint[i, j] = joint[j, i] = joint_agreement(*pair)
        scott[i, j] = scott[j, i] = scott_pi(*pair)
        tau = np.nan
        # Kendall's tau-b is undefined if an assessor gives all items the same grade.
        if is_numeric and np.ptp(pair, axis=1).all():
            tau = stats.kendalltau(*pair).statistic
        correlation[i, j] = correlation[j, i] = tau
    counts = []
    for category in np.unique(table):
        counts.append((table == category).sum(axis=1))
    table_of_counts = np.stack(counts, axis=1)
    is_unanimous = (table_of_counts == count).any(axis=1)
    return AgreementReport(
        names=assessors,
        n_items=len(table),
        joint=joint,
        scott=scott,
        correlation=correlation,
        all_agree=float(is_unanimous.mean()),
        fleiss=fleiss_kappa(table_of_counts),
    )
