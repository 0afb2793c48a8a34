"""Examples of the guide: run in the order of their page, compared, or written anew.

``python -m tests.pages docs/start.md`` writes what the examples of a page print now
into the page; without a page, into all of them. A block of ``python`` with prompts is a
doctest, one without is run; ``console`` has commands after ``$`` and what they print.
All blocks of a page share one namespace and one folder.

Fitted models differ in digits between machines and versions. A block that prints
figures of one has a comment before it, ``<!-- fitted: 0.03 -->``: decimal numbers may
differ by this much, and nothing else may.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

from tieaware_sklearn.cli import main

DOCS = Path(__file__).parents[1] / "docs"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BLOCK = re.compile(
    r"^(?:<!-- fitted: (?P<tolerance>[\d.]+) -->\n\n?)?"
    r"```(?P<kind>python|console)\n(?P<inside>.*?)^```$",
    re.M | re.S,
)
COMMAND = re.compile(
    r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<want>(?:(?!\$ ).*\n)*)", re.M
)
DECIMAL = re.compile(r"-?\d*\.\d+")


def pages() -> list[Path]:
    """All pages of the guide, but for those that are lists of terms and sources."""
    found = [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("results/*.md")]
    return sorted(page for page in found if page.stem.islower())


@dataclass
class Example:
    """A statement or command, and the output that its page has from a line on."""

    source: str
    start: int
    want: str
    got: str
    tolerance: float = 0.0

    def holds(self) -> bool:
        """Whether the page says what was printed."""
        want = self.want.replace("<BLANKLINE>", "")
        if self.tolerance:
            return alike(want, self.got, self.tolerance)
        return doctest.OutputChecker().check_output(want, self.got, FLAGS)


def alike(want: str, got: str, tolerance: float) -> bool:
    """Whether texts are the same but for layout and for digits of decimal numbers."""
    texts = [re.sub(r"[-\s]+", " ", DECIMAL.sub("#", text)) for text in (want, got)]
    numbers = [[float(one) for one in DECIMAL.findall(text)] for text in (want, got)]
    return texts[0] == texts[1] and all(
        abs(a - b) <= tolerance for a, b in zip(*numbers, strict=True)
    )


def _run_statement(example: doctest.Example, names: dict[str, object]) -> str:
    """What a statement prints, or its error, if the page shows one."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(example.source, "page", "single"), names)
        except Exception as error:
            if example.exc_msg is None:
                raise
            print("Traceback (most recent call last):")
            print(*traceback.format_exception_only(error), end="")
    return printed.getvalue()


def _run_doctests(text: str, line: int, names: dict[str, object]) -> Iterator[Example]:
    lines = text.splitlines()
    for example in doctest.DocTestParser().get_examples(text):
        at = line + example.lineno + 1
        # a last line of "..." is none of the source
        more = takewhile(lambda one: one.lstrip().startswith("..."), lines[at - line :])
        start, got = at + len(list(more)), _run_statement(example, names)
        yield Example(example.source, start, example.want, got)


def _run_command(command: str) -> str:
    """What a command prints, on both streams."""
    if not command.startswith("tieaware "):
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        contextlib.suppress(SystemExit),
    ):
        main(shlex.split(command)[1:])
    return printed.getvalue()


def _run_console(text: str, line: int) -> Iterator[Example]:
    for found in COMMAND.finditer(text):
        command, want = re.sub(r"\\\n\s*", "", found["command"]), found["want"]
        start = line + text.count("\n", 0, found.start("want"))
        yield Example(command, start, want, _run_command(command))


def run(page: Path) -> list[Example]:
    """Run a page in the current folder."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    found = []
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("inside"))
        inside, tolerance = block["inside"], float(block["tolerance"] or 0)
        if block["kind"] == "console":
            examples = _run_console(inside, line)
        elif ">>> " in inside:
            examples = _run_doctests(inside, line, names)
        else:
            exec(compile(inside, str(page), "exec"), names)
            continue
        found += [replace(one, tolerance=tolerance) for one in examples]
    return found


def write(page: Path) -> None:
    """Write what the examples print into their page."""
    page = page.resolve()
    lines = page.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        examples = run(page)
    for example in reversed(examples):
        if not example.holds():
            got = [one.rstrip() for one in example.got.strip("\n").splitlines()]
            if lines[example.start - 1].startswith((">>> ", "...")):
                got = [one or "<BLANKLINE>" for one in got]
            lines[example.start : example.start + example.want.count("\n")] = got
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    for page in map(Path, sys.argv[1:] or pages()):
        write(page)
