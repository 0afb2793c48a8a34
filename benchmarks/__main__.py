"""How fast exact measures are: ``python -m benchmarks``.

Every figure is made of medians of runs that take turns in one process on one thread
(but for the threads themselves), so that a noisy machine shifts both sides; ``--cpu``
takes the time of the CPU, which others on the machine shift less. The compiled kernel
and NumPy are measured side by side.

``--against REF`` compares this tree with another commit instead: it prints the ratio of
their CPU times, this tree over REF, as the median, least and largest of the turns. The
package of this tree is taken as it is, with the kernel that was built here.
"""

from __future__ import annotations

import argparse
import ast
import time
from pathlib import Path

from benchmarks import against
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


def section_lines() -> str:
    """What is measured, a line each."""
    lines = ["sections:"]
    for name, section in SECTIONS.items():
        lines.append(f"  {name:<24} {section.__doc__}")
    lines += ["", "sections with --against:"]
    for name, text in against.SECTIONS.items():
        lines.append(f"  {name:<24} {text}")
    return "\n".join(lines)


def compare_with(commit: str, names: list[str], scale: float, repeats: int) -> None:
    """Print how fast this tree is beside another commit."""
    found = against.ratios(commit, names, scale, repeats)
    header = ["section", "what", "scores", "this / REF", "least", "largest"]
    lines = [ratio.cells() for ratio in found]
    print(f"CPU time of this tree over {commit}, {repeats} turns of each task")
    print(format_table(header, lines, left=3))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"{section_lines()}\n\n{other_programs()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=[*SECTIONS, *against.SECTIONS],
        metavar="NAME",
        help="these sections",
    )
    parser.add_argument(
        "--against", metavar="REF", help="compare with this commit, in turns"
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
    known = against.SECTIONS if arguments.against else SECTIONS
    chosen = [name for name in known if name in (arguments.only or known)]
    if not chosen:
        parser.error(f"--only must name a section of {', '.join(known)}")
    repeats = max(arguments.repeats, LEAST_REPEATS)
    if arguments.against:
        compare_with(arguments.against, chosen, arguments.scale, repeats)
        return
    if arguments.cpu:
        CLOCK[0] = cpu_time
    resolved = ResolvedMeasures(arguments.scale, repeats)
    header = ["what", "scores", "unit", *ENGINES_HERE, "target", "met"]
    for name in chosen:
        start = time.perf_counter()
        lines = [line.cells() for line in SECTIONS[name](resolved)]
        print(f"{name} ({time.perf_counter() - start:.0f} s): {SECTIONS[name].__doc__}")
        print(format_table(header, lines, left=3))
        print(flush=True)


if __name__ == "__main__":
    main()
