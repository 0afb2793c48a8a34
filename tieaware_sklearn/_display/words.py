"""Spelling of names and numbers, and meanings of heads."""

import math
import os
import sys
import textwrap
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path

#: columns of text
COLUMNS = 80
#: decimals of values
DIGITS = 4
#: larger values are shown with a power of ten
_LARGE = 1e9
_PACKAGE = str(Path(__file__).parents[1]) + os.sep

#: averages over queries
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
    "loss": "by how much the mean gets worse when the column is permuted",
    "±repeats": "standard deviation over the repeats",
    "imprecision": "best minus worst order of ties, as a share of the mean",
    "bits": "log2 of the distinct scores of a query",
    "tied documents": "share of documents that tie with another one of their query",
    "residual": "increase of the mean if all unjudged documents are relevant",
}


def meaning(head: str) -> str:
    """The meaning of the head of a column; empty if it needs none."""
    return _MEANINGS.get(head, "")


def number(value: float, digits: int = DIGITS) -> str:
    """A number for a table: fixed decimals, ``-`` for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}{'e' if abs(value) >= _LARGE else 'f'}}"


def bracketed(interval: Iterable[float], digits: int = DIGITS) -> str:
    """The two ends of an interval for a table."""
    low, high = interval
    return f"[{number(low, digits)}, {number(high, digits)}]"


def probability(value: float) -> str:
    """A p-value or q-value for a table."""
    if math.isnan(value):
        return "-"
    least = 10.0**-DIGITS
    return f"<{number(least)}" if value < least else number(value)


def percent(value: float) -> str:
    """A share for a table."""
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def counted(count: int, one: str, several: str) -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else several}"


def clip(text: str, longest: int) -> str:
    """Shorten a text in the middle to at most `longest` characters."""
    if len(text) <= longest:
        return text
    tail = (longest - 3) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def printable(text: str) -> str:
    r"""Spell out characters of a text that a terminal may obey, or cannot show.

    As `repr` does it: ``\n`` for a new line, ``\x1b`` for an escape character.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii")
        for one in text
    )


def paragraph(text: str) -> str:
    """Wrap a text to 80 columns."""
    return textwrap.fill(text, COLUMNS, break_on_hyphens=False)


def definitions(terms: Collection[tuple[str, str]]) -> str:
    """List terms with their meanings, which are aligned."""
    indent = max((len(term) for term, _ in terms), default=0) + 2
    return "\n".join(
        textwrap.fill(
            said,
            COLUMNS,
            initial_indent=term.ljust(indent),
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
        for term, said in terms
    )


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the caller's line outside this package, as far as Python 3.11 can."""
    if sys.version_info >= (3, 12):
        warnings.warn(printable(message), category, skip_file_prefixes=(_PACKAGE,))
    else:
        warnings.warn(printable(message), category, stacklevel=2)
