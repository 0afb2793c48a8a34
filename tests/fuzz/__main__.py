"""The long run: ``python -m tests.fuzz --minutes 10 [--kinds letor graded]``."""

import argparse
import itertools
import time
import warnings
from collections import Counter, defaultdict

from tests.fuzz.kinds import KINDS, run

#: examples of a kind in a row: hypothesis remembers them all
EXAMPLES = 100


def main(arguments: list[str] | None = None) -> None:
    """Check new cases of all kinds in turn, and print their numbers."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="(default: 1)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UserWarning)
    done: dict[str, Counter[str]] = defaultdict(Counter)
    end = time.monotonic() + 60 * options.minutes
    try:
        for kind in itertools.cycle(options.kinds):
            done[kind] += run(kind, EXAMPLES, derandomize=False, database=None)
            if time.monotonic() >= end:
                break
    finally:
        for kind, counts in done.items():
            numbers = ", ".join(f"{n:,} {word}" for word, n in sorted(counts.items()))
            print(f"{kind:13} {numbers}")


if __name__ == "__main__":
    main()
