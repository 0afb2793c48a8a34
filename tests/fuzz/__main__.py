"""The long run: ``python -m tests.fuzz --minutes 10 [--seed 1] [--jobs 2]``."""

import argparse
import sys
import time

from tests.fuzz.runner import Done, run_for


def show_progress(done: Done, seconds: float) -> None:
    """One line, written anew, and none where nobody looks."""
    if sys.stderr.isatty():
        counted = f"{done.cases.total():,} cases  {done.comparisons.total():,} compared"
        rate = f"{done.enumerated / seconds * 60:,.0f} enumerated a minute "
        sys.stderr.write(f"\r{seconds:6.0f} s  {counted}  {rate}")
        sys.stderr.flush()


def main(arguments: list[str] | None = None) -> int:
    """1 where a case failed, whose reproduction is printed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="(default: 1)")
    parser.add_argument("--seed", type=int, help="(default: by the clock)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    given = parser.parse_args(arguments)
    if not given.minutes > 0 or given.jobs < 1:
        parser.error("--minutes and --jobs must be above 0")
    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    start = time.perf_counter()
    done = run_for(60 * given.minutes, seed, given.jobs, show_progress)
    minutes = (time.perf_counter() - start) / 60
    print(f"\nseed {seed}, {minutes:.1f} minutes, {given.jobs} jobs", end=": ")
    print(f"{done.enumerated / minutes:,.0f} enumerated cases a minute")
    print(done)
    if done.failure is None:
        return 0
    print(f"\nFAILED: {done.failure}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
