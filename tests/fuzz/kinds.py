"""Kinds of cases to fuzz: functions that draw them, and functions that check them."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz import draw, enumerated, files


class Kind(NamedTuple):
    """Functions that draw a case and check it."""

    draw: Callable[[Random], Any]
    #: raises an error where the library is wrong, and may return the outcome
    check: Callable[[Any], str | None]


KINDS = {
    "graded": Kind(draw.GRADED, enumerated.check_measures),
    "long ties": Kind(draw.LONG_TIES, enumerated.check_measures),
    "dtypes": Kind(draw.DTYPES, enumerated.check_measures),
    "labels": Kind(draw.ANY_LABELS, enumerated.check_measures),
    "averages": Kind(draw.AVERAGED, enumerated.check_averages),
    "distributions": Kind(draw.distributed, enumerated.check_distributions),
    "neighbours": Kind(draw.neighbours, enumerated.check_places),
    "csv quotes": Kind(files.csv_quotes, files.check),
    "csv numbers": Kind(files.csv_numbers, files.check),
    "letor": Kind(files.letor, files.check),
}


def run(kind: str, examples: int, **options: Any) -> Counter[str]:
    """Return the numbers of cases that were checked, read or refused.

    If a case fails, the error has a note with the smallest such case.
    """
    done: Counter[str] = Counter()
    options.setdefault("phases", [Phase.generate, Phase.shrink])

    @settings(
        max_examples=examples,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        **options,
    )
    @given(st.randoms(use_true_random=False).map(KINDS[kind].draw))
    def check(case):
        done[KINDS[kind].check(case) or "checked"] += 1

    check()
    return done
