"""Whether the tests notice faults: ``python -m tests.mutants [ROOM ...]``.

Each fault is put into the code alone, and the tests of its room run until one fails.
Those that no test noticed are shown: each deserves a test, or changes nothing.
"""

import argparse
import os

from . import copies, listed, rooms

if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__
    )
    known = (*listed.LISTS, *rooms.ROOMS)
    parser.add_argument("rooms", nargs="*", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--number", type=int, default=100, help="sampled of each room")
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    resolved = parser.parse_args()
    # of this process, and of those that it starts
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    for room in resolved.rooms or known:
        if room in listed.LISTS:
            copies.check(room, list(listed.faults(room)), resolved.jobs)
        else:
            faults = rooms.sampled(room, resolved.number, resolved.seed)
            copies.check(room, faults, resolved.jobs)
