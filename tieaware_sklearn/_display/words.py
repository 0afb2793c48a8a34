"""Texts of names and numbers, and meanings of column heads."""

import math
import os
import sys
import textwrap
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path

#: Width of printed text in characters.
COLUMNS = 80
#: Default number of decimals of a value.
_DIGITS = 4
#: Values from this number on are shown with a power of ten.
_LARGE = 1e9
#: URL of the pages of the API reference. Each class has one page.
REFERENCE = "https://tieaware-sklearn.github.io/tieaware-sklearn/api/generated"
_PACKAGE = str(Path(__file__).parents[1]) + os.sep

#: Names of averages over queries.
AVERAGES = {"macro": "mean", "geometric": "geometric mean", "median": "median"}

_MEANINGS = {
    "mean": "exact mean over all orders of tied documents, averaged over queries",
    "median": "median over queries of the exact means over all orders of tied "
    "documents",
    "geometric": "geometric mean over queries of the exact means over all orders of "
    "tied documents",
    "geom.": "geometric mean over queries of the exact means over all orders of tied "
    "documents",
    "worst": "average over queries in the least favourable order of ties",
    "best": "average over queries in the most favourable order of ties",
    "tie_std": "standard deviation over the orders of tied documents",
    "chance": "the value if all documents of a query tie",
    "lift": "(mean - chance) / (ideal - chance)",
    "95% interval": "95% confidence interval of the average over queries",
    "±95%": "half of the 95% t interval of the mean over queries",
    "qvalue": "p-value of the test against chance, adjusted for the number of features "
    "(Benjamini and Hochberg)",
    "direction": "whether high values rank first (descending) or low ones",
    "chosen": "order in which features are selected",
    "repeats": "the selected feature most similar to one left out, otherwise the "
    "better feature with the most similar ranking (mean of Spearman's rho)",
    "trec_eval": "value with ties broken as trec_eval does (document id, descending); "
    "- for measures that trec_eval defines differently",
    "topics": "number of topics averaged",
    "A - B": "mean of A minus mean of B",
    "tie range": "smallest and largest difference over all orders of ties",
    "same sign": "whether the difference has one sign in every order of ties",
    "pvalue (t)": "p-value of the paired t test over queries",
    "pvalue (welch)": "p-value of Welch's t test of the means over different queries",
    "pvalue (wilcoxon)": "p-value of Wilcoxon's signed-rank test over queries",
    "pvalue (bootstrap)": "p-value of a bootstrap over queries",
    "pvalue (randomization)": "p-value of Fisher's randomisation test over queries",
    "holm": "the p-value corrected for the number of comparisons (Holm)",
    "bh": "the p-value corrected for the number of comparisons (Benjamini and "
    "Hochberg)",
    "by": "the p-value corrected for the number of comparisons (Benjamini and "
    "Yekutieli)",
    "tukey": "p-value of Tukey's test of all pairs at once (honestly "
    "significant difference)",
    "d": "Cohen's d: mean of the differences divided by their standard deviation",
    "±repeats": "standard deviation over the repeats",
    "imprecision": "best minus worst order of ties, as a share of the mean",
    "bits": "log2 of the distinct scores of a query",
    "tied documents": "share of documents that tie with another one of their query",
    "residual": "increase of the mean if all unjudged documents are relevant",
}


def meaning(head: str) -> str:
    """Return the meaning of the head of a column, or "" if none is needed."""
    return _MEANINGS.get(head, "")


def number(value: float, digits: int = _DIGITS) -> str:
    """Format a number for a table with fixed decimals. NaN becomes ``-``."""
    if math.isnan(value):
        return "-"
    if abs(value) >= _LARGE:
        return f"{value:.{digits}e}"
    return f"{value:.{digits}f}"


def bracketed(interval: Iterable[float], digits: int = _DIGITS) -> str:
    """Format the ends of an interval for a table."""
    low, high = interval
    return f"[{number(low, digits)}, {number(high, digits)}]"


def probability(value: float) -> str:
    """Format a p-value or q-value for a table."""
    smallest = 10.0**-_DIGITS
    if value < smallest:
        return f"<{number(smallest)}"
    return number(value)


def percent(value: float) -> str:
    """Format a share for a table."""
    if math.isnan(value):
        return "-"
    return f"{value:.1%}"


def counted(count: int, singular: str, plural: str) -> str:
    """Return a number with its noun."""
    return f"{count} {singular if count == 1 else plural}"


def clip(text: str, longest: int) -> str:
    """Shorten a text in the middle to at most `longest` characters."""
    if len(text) <= longest:
        return text
    tail = (longest - 3) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def printable(text: str) -> str:
    r"""Escape characters that a terminal may obey or cannot show, as in `repr`.

    A line feed becomes ``\n``, and an escape character becomes ``\x1b``.
    """
    if text.isprintable():
        return text
    characters = []
    for character in text:
        if not character.isprintable():
            character = character.encode("unicode_escape").decode("ascii")
        characters.append(character)
    return "".join(characters)


def paragraph(text: str) -> str:
    """Wrap a text to 80 columns."""
    return textwrap.fill(text, COLUMNS, break_on_hyphens=False)


def definitions(terms: Collection[tuple[str, str]]) -> str:
    """Format terms with their meanings, in an aligned column."""
    indent = max((len(term) for term, _ in terms), default=0) + 2
    paragraphs = []
    for term, text in terms:
        filled = textwrap.fill(
            text,
            COLUMNS,
            initial_indent=term.ljust(indent),
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
        paragraphs.append(filled)
    return "\n".join(paragraphs)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line outside this package that led to the warning.

    Python 3.11 cannot skip the lines of a package. In Python 3.11, the warning is at
    the line that calls this function.
    """
    message = printable(message)
    if sys.version_info >= (3, 12):
        warnings.warn(message, category, skip_file_prefixes=(_PACKAGE,))
    else:
        warnings.warn(message, category, stacklevel=2)
