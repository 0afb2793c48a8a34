"""How fast exact measures are: ``python -m benchmarks``.

Every figure is made of medians of runs that take turns in one process on one thread
(but for the threads themselves), so that a noisy machine shifts both sides; ``--cpu``
takes the time of the CPU, which others on the machine shift less. The compiled kernel
and NumPy are measured side by side.

The first line names the processor and the SIMD instructions that NumPy found. Sorting
depends on AVX-512. ``NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"`` in the
environment shows the figures of a processor without it.

``--against REF`` compares this tree with another commit instead: it prints the ratio of
their CPU times, this tree over REF, as the median, least and largest of the turns. The
package of this tree is taken as it is, with the kernel that was built here.
"""

from __future__ import annotations

import argparse
import ast
import platform
import re
import time
from pathlib import Path

import numpy as np

from benchmarks import against
from benchmarks.sections import SECTIONS, Settings
from benchmarks.tables import format_table
from benchmarks.tasks import ENGINES_HERE
from benchmarks.timing import CLOCK, cpu_time

LEAST_REPEATS = 3


def machine() -> str:
    """Return the names of the processor and of the SIMD instructions of NumPy."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = re.search(r"model name\s*: (.+)", cpuinfo.read_text())
        processor = model[1] if model else processor
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    instructions = [*simd["baseline"], *simd.get("found", [])]
    return f"{processor}, NumPy {np.__version__} with {', '.join(instructions)}"


def other_programs() -> str:
    """Return the first lines of the docstrings of other modules that are programs."""
    folder = Path(__file__).parent
    lines = ["other programs, python -m benchmarks.NAME:"]
    for path in [*sorted(folder.glob("*.py")), *sorted(folder.glob("*/*.py"))]:
        text = path.read_text(encoding="utf-8")
        module = ast.parse(text)
        # A program ends with ``if __name__ == "__main__"``.
        is_program = isinstance(module.body[-1], ast.If)
        if is_program and path != Path(__file__):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join(parts)
            docstring = ast.get_docstring(module)
            first_line = docstring.partition("\n")[0]
            lines.append(f"  {name:<24} {first_line}")
    return "\n".join(lines)


def section_lines() -> str:
    """Return the names of sections with their descriptions."""
    lines = ["sections:"]
    for name, section in SECTIONS.items():
        lines.append(f"  {name:<24} {section.__doc__}")
    lines += ["", "sections with --against:"]
    for name, text in against.SECTIONS.items():
        lines.append(f"  {name:<24} {text}")
    return "\n".join(lines)


def compare_with(commit: str, names: list[str], scale: float, repeats: int) -> None:
    """Print how fast this tree is beside another commit."""
    rows = []
    for ratio in against.ratios(commit, names, scale, repeats):
        rows.append(ratio.cells())
    print(f"CPU time of this tree over {commit}, {repeats} turns of each task")
    header = ["section", "what", "scores", "this / REF", "least", "largest"]
    print(format_table(header, rows, left=3))


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
    sections = against.SECTIONS if arguments.against else SECTIONS
    names = []
    for name in sections:
        if arguments.only is None or name in arguments.only:
            names.append(name)
    if not names:
        parser.error(f"--only must name a section of {', '.join(sections)}")
    repeats = max(arguments.repeats, LEAST_REPEATS)
    print(machine(), flush=True)
    if arguments.against:
        compare_with(arguments.against, names, arguments.scale, repeats)
        return
    if arguments.cpu:
        CLOCK[0] = cpu_time
    settings = Settings(arguments.scale, repeats)
    header = ["what", "scores", "unit", *ENGINES_HERE, "target", "met"]
    for name in names:
        section = SECTIONS[name]
        start = time.perf_counter()
        rows = [line.cells() for line in section(settings)]
        seconds = time.perf_counter() - start
        print(f"{name} ({seconds:.0f} s): {section.__doc__}")
        print(format_table(header, rows, left=3))
        print(flush=True)


if __name__ == "__main__":
    main()
