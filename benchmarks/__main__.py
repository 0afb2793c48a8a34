"""How fast exact measures are: ``python -m benchmarks``.

Every figure is made of medians of runs that take turns in one process on one thread
(but for the threads themselves), so that a noisy machine shifts both sides; ``--cpu``
takes the time of the CPU, which others on the machine shift less. The compiled kernel
and NumPy are measured side by side.
"""

from __future__ import annotations

import argparse
import ast
import time
from pathlib import Path

from benchmarks.sections import SECTIONS, ResolvedMeasures
from benchmarks.tables import format_table
from benchmarks.tasks import ENGINES_HERE
from benchmarks.timing import CLOCK, cpu_time

LEAST_REPEATS = 3


def other_programs() -> str:
    """What else can be run here, a line each, by the first line of its docstring."""
    folder = Path(__file__).parent
    lines = ["other programs, python -m benchmarks.NAME:"]
    for path in [*sorted(folder.glob("*.py")), *sorted(folder.glob("*/*.py"))]:
        module = ast.parse(path.read_text(encoding="utf-8"))
        if isinstance(module.body[-1], ast.If) and path != Path(__file__):
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            what = (ast.get_docstring(module) or "").partition("\n")[0]
            lines.append(f"  {name:<24} {what}")
    return "\n".join(lines)


def sections() -> str:
    """What is measured, a line each."""
    lines = ["sections:"]
    for name, section in SECTIONS.items():
        lines.append(f"  {name:<24} {section.__doc__}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"{sections()}\n\n{other_programs()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, metavar="NAME", help="these sections"
    )
    parser.add_argument(
        "--scale",
        type=float,
        default=0.38,
        help="documents, 1 being those of MSLR-WEB30K, 3.7 million (default: 0.38)",
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="time of the CPU instead of the clock's, for a machine that others use",
    )
    arguments = parser.parse_args()
    if arguments.cpu:
        CLOCK[0] = cpu_time
    resolved = ResolvedMeasures(arguments.scale, max(arguments.repeats, LEAST_REPEATS))
    chosen = [name for name in SECTIONS if name in (arguments.only or SECTIONS)]
    header = ["what", "scores", "unit", *ENGINES_HERE, "target", "met"]
    for name in chosen:
        start = time.perf_counter()
        lines = [line.cells() for line in SECTIONS[name](resolved)]
        print(f"{name} ({time.perf_counter() - start:.0f} s): {SECTIONS[name].__doc__}")
        print(format_table(header, lines, left=3))
        print(flush=True)


if __name__ == "__main__":
    main()
