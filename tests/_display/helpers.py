"""What the tests of tables share."""

from __future__ import annotations

# so that all kinds of results are defined
import tieaware_sklearn.comparison
import tieaware_sklearn.judgments  # noqa: F401
from tieaware_sklearn._display.html import Result


def all_results(cls=Result):
    """Every kind of result, those derived from others too."""
    kinds = set()
    for kind in cls.__subclasses__():
        kinds |= {kind, *all_results(kind)}
    # not those that tests derive
    kinds = {kind for kind in kinds if kind.__module__.startswith("tieaware_sklearn")}
    return sorted(kinds, key=lambda kind: kind.__name__)
