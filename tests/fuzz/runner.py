"""Cases run, counted and, where they fail, made small."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from joblib import Parallel, delayed

from tests.fuzz.cases import HEADER, Case, places
from tests.fuzz.kinds import KINDS, drawn

#: checks that making a case smaller may take
MOST_STEPS = 400


@dataclass
class Done:
    """What was checked, by kind."""

    #: query sets
    sets: Counter[str] = field(default_factory=Counter)
    #: pairs of a query set and a measure
    cases: Counter[str] = field(default_factory=Counter)
    comparisons: Counter[str] = field(default_factory=Counter)
    #: a report of the first case that failed
    failure: str | None = None

    def add(self, other: Done) -> None:
        for name in ("sets", "cases", "comparisons"):
            getattr(self, name).update(getattr(other, name))
        self.failure = self.failure or other.failure

    @property
    def enumerated(self) -> int:
        """Pairs of a query set and a measure whose orders were gone through."""
        return sum(n for name, n in self.cases.items() if KINDS[name].enumerated)

    def __str__(self) -> str:
        lines = [f"{'kind':13} {'query sets':>10} {'cases':>10} {'compared':>12}"]
        counters = self.sets, self.cases, self.comparisons
        rows = [(name, *(one[name] for one in counters)) for name in self.sets]
        for row in [*rows, ("all", *(one.total() for one in counters))]:
            lines.append("{:13} {:10,} {:10,} {:12,}".format(*row))
        return "\n".join(lines)


def run(kind: str, seed: int, numbers: Iterable[int]) -> Done:
    """Cases of these numbers, down to the first that fails."""
    done = Done()
    for number in numbers:
        case = drawn(kind, seed, number)
        try:
            tally = KINDS[kind].check(case)
        except Exception as error:
            done.failure = report(kind, seed, number, case, error)
            break
        done.sets[kind] += 1
        done.cases[kind] += tally.cases
        done.comparisons[kind] += tally.comparisons
    return done


def report(kind: str, seed: int, number: int, case: Case, error: Exception) -> str:
    """A failure, as small as it can be made, and how to see it again."""
    small = shrink(case, KINDS[kind].check, error)
    last = failure_of(small, KINDS[kind].check) or error
    said = f"seed {seed}, {kind!r}, number {number}: {type(last).__name__}: {last}"
    again = "# the same, to be pasted into Python at the root of the project"
    return f"{said}\n\n{again}\n{HEADER}\nKINDS[{kind!r}].check({small!r})"


def failure_of(case: Case, check: Callable[[Case], Any]) -> Exception | None:
    try:
        check(case)
    except Exception as error:
        return error
    return None


def _sort_of(error: Exception | None) -> tuple[Any, str]:
    """Errors that are taken for the same: other bad input is none."""
    return type(error), "" if isinstance(error, AssertionError) else str(error)[:25]


def shrink(case: Case, check: Callable[[Case], Any], error: Exception) -> Case:
    """The case without all that the failure does not need, greedily."""
    wanted, smaller = _sort_of(error), _smaller(case)
    for _ in range(MOST_STEPS):
        step = next(smaller, None)
        if step is None:
            break
        if _sort_of(failure_of(step, check)) == wanted:
            case, smaller = step, _smaller(step)
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases a step smaller or plainer, the largest steps first."""
    return chain(_fewer(case), _plainer(case))


def _fewer(case: Case) -> Iterator[Case]:
    """Without measures, queries or documents."""
    half = len(case.measures) // 2
    if half:
        for measures in (case.measures[:half], case.measures[half:]):
            yield dataclasses.replace(case, measures=measures)
    rows = range(len(case.labels))
    if len(case.queries) > 1:
        for owned in case.queries.values():
            yield case.rows([row for row in rows if row not in owned])
    step = len(rows) // 2
    while step:
        for start in range(0, len(rows), step):
            out = range(start, start + step)
            if len(out) < len(rows):
                yield case.rows([row for row in rows if row not in out])
        step //= 2


def _plainer(case: Case) -> Iterator[Case]:
    """With plain lists, no weights, small scores and labels."""
    plain: dict[str, Any] = {
        "weight": None,
        "labels_as": "list",
        "qid_as": "list",
        "qid": [list(case.queries).index(query) for query in case.qid],
    }
    for name, value in plain.items():
        if repr(getattr(case, name)) != repr(value):
            yield dataclasses.replace(case, **{name: value})
    scores = places(case.arrays["y_score"])
    if case.scores_as != "list" or repr(case.scores) != repr(scores):
        yield dataclasses.replace(case, scores=scores, scores_as="list")
    for row, given in enumerate(case.labels):
        for label in (0, 1):
            if given > label or given != given:
                labels = [*case.labels[:row], label, *case.labels[row + 1 :]]
                yield dataclasses.replace(case, labels=labels)


def run_for(
    seconds: float, seed: int, jobs: int, progress: Callable[[Done, float], None]
) -> Done:
    """All kinds in turn, for so long, or until one case fails."""
    done, start = Done(), time.perf_counter()

    def batches() -> Iterator[Any]:
        for turn in count():
            for name, kind in KINDS.items():
                if done.failure is not None or time.perf_counter() - start >= seconds:
                    return
                first = turn * kind.batch
                yield delayed(run)(name, seed, range(first, first + kind.batch))

    for part in Parallel(jobs, return_as="generator")(batches()):
        done.add(part)
        progress(done, time.perf_counter() - start)
    return done
