"""The command line: ``python -m tieaware_sklearn`` and ``tieaware``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from .. import __version__
from .._display.tables import definitions, paragraph
from .._display.terminal import printable
from .._display.words import meaning
from ..evaluation._prepared_ranking import DEFAULT_MEASURES
from ..feature_selection._rule import DIRECTIONS
from ..feature_selection._screening import SHOWN
from . import _compare, _demo, _evaluate, _screen
from ._outputs import flush, show


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : list of str, optional
        By default those of the process.

    Returns
    -------
    int
        0 where all went well, 1 for bad input, 130 if interrupted; bad usage
        exits with 2.
    """
    if sys.stderr is None:
        # or what is said of the work would stand among the figures
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        return _fail("standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        # a plain terminal shows ? for ±, and all the rest
        sys.stdout.reconfigure(errors="replace")
    words = sys.argv[1:] if argv is None else argv
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            arguments = _parser().parse_args(_marked(words))
            arguments.measures = _apart(arguments.measures)
            arguments.words = list(words)
            arguments.run(arguments)
        except BrokenPipeError:
            # the reader, such as head, has seen enough
            _discard_output()
            return 1
        except KeyboardInterrupt:
            print("tieaware: interrupted", file=sys.stderr)
            return 130
        except (OSError, ValueError, ImportError, MemoryError) as error:
            _discard_output()
            return _fail(_in_words(error))
    return 0


def _fail(message: str) -> int:
    print(f"tieaware: error: {printable(message)}", file=sys.stderr)
    return 1


def _discard_output() -> None:
    """Drop what cannot be written, or the end of the process would try again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError):
        name = "" if error.filename is None else f"{error.filename}: "
        return f"{name}{error.strerror or error}"
    return str(error) or "out of memory"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"tieaware: warning: {printable(str(message))}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """One whose messages are safe to show, and whose options are spelled in full."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def print_help(self, file: Any = None) -> None:
        # argparse does not mind where nothing can be written
        show(self.format_help().removesuffix("\n"))

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        flush()
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        super().error(printable(message.replace(_APART, "")))


class _Output(argparse.Action):
    """A file to write to, which may be left out, and so takes no file to read.

    After a space it is a FILE only where those to read have all been named.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        path = values.removeprefix(_APART)
        read = getattr(namespace, "files", None) or getattr(namespace, "runs", None)
        if path != values and not read:
            parser.error(
                f"{option_string} {path}: before the files to read, write "
                f"{option_string}={path} to write to it, and {option_string}=- for "
                "standard output"
            )
        setattr(namespace, self.dest, path)


def _marked(argv: Sequence[str]) -> list[str]:
    """The words, with a mark before values that stand apart from `_Output` options."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    for i in range(end - 1):
        if words[i] in _PRINTED and not words[i + 1].startswith("-"):
            words[i + 1] = f"{_APART}{words[i + 1]}"
    return words


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tieaware",
        description="The exact score of a ranking when documents tie.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        described = commands.add_parser(
            name,
            help=command.help,
            usage=f"tieaware {name} {command.files} [options]".replace("  ", " "),
            description=paragraph(command.description),
            epilog=command.epilog(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for shown, text in (command.options | _COMMON).items():
            names = shown.split()
            settings = dict(_SETTINGS.get(names[0], {}))
            if names[-1].isupper():
                settings["metavar"] = names.pop()
            described.add_argument(*names, help=text, **settings)
        described.set_defaults(run=command.run, measures=command.measures)
    return parser


def _apart(measures: Sequence[str]) -> list[str]:
    """Names apart by spaces or commas, commas in parentheses excepted."""
    names = re.split(r",(?![^(]*\))", ",".join(measures))
    return [name for name in names if name.strip()]


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be an integer, got {text[:40]!r}"
        ) from None


def _jobs(text: str) -> int:
    value = _integer(text)
    if value != -1 and not 1 <= value <= _MOST_THREADS:
        raise argparse.ArgumentTypeError(
            f"must be 1 to {_MOST_THREADS}, or -1 for every core, got {value}"
        )
    return value


def _count(text: str) -> int:
    value = _integer(text)
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"must be >= 0 and below 2^63, got {value}")
    return value


def _zero_relevance(text: str) -> float | str:
    return text if text in ("skip", "raise") else float(text)


class _Command(NamedTuple):
    """A command, its options and their help as the help page shows them."""

    run: Callable[[argparse.Namespace], None]
    help: str
    description: str
    files: str
    examples: Sequence[str]
    options: dict[str, str]
    words: Sequence[str]
    measures: Sequence[str] = ()

    def epilog(self) -> str:
        """What the figures are called, and examples."""
        words = [(word, meaning(word)) for word in self.words]
        examples = "\n".join(f"  {one}" for one in self.examples)
        return f"figures:\n{definitions(words, margin=2)}\n\nexamples:\n{examples}"


_SWITCH = {"action": "store_true"}
#: options that print without a value, and what no word can hold, before one of theirs
_PRINTED, _APART = ("--csv", "--json"), "\0"
_OUTPUT = {"nargs": "?", "const": "-", "action": _Output}
#: more than that are started by mistake
_MOST_THREADS = 1024
#: what argparse is told of an option beside its metavar and help, in every command
_SETTINGS: dict[str, dict[str, Any]] = {
    "files": {"nargs": "+"},
    "runs": {"nargs": "+"},
    "--queries": {"type": _integer, "default": 100},
    "--measures": {"nargs": "+"},
    "--top": {"type": _count},
    "--direction": {"choices": DIRECTIONS, "default": "auto"},
    "--ignore": {"nargs": "+", "action": "extend"},
    "--query-file": {"action": "append"},
    "--batch-rows": {"type": _count},
    "--missing": {"choices": ("raise", "last"), "default": "raise"},
    "--unjudged": {"choices": ("raise", "nonrelevant", "skip"), "default": "raise"},
    "--zero-relevance": {"type": _zero_relevance, "default": 0.0},
    "--average": {"choices": ("macro", "geometric", "median"), "default": "macro"},
    "--test": {"choices": ("t", "wilcoxon", "randomization"), "default": "t"},
    "--correction": {"choices": ("holm", "bh", "by", "none"), "default": "holm"},
    "-q": _SWITCH,
    "-c": _SWITCH,
    "--csv": _OUTPUT,
    "--json": _OUTPUT,
    "--jobs": {"type": _jobs},
    "--quiet": _SWITCH,
}
_WRITE = (
    "write all figures as {} to FILE, or without one, or for -, to standard output; "
    "before the files to read, = is needed"
)
_OUTPUTS = {
    "--csv =FILE": _WRITE.format("CSV"),
    "--json =FILE": _WRITE.format("JSON"),
    "--plot FILE": "draw means with the best and worst of their ties (.png, .svg, "
    ".pdf)",
    "--report FILE": "write one page of HTML, complete in itself: tables that sort, "
    "the figure, what was read, versions and the command",
}
#: figures that the help explains
_OF_RUNS = ("mean", "worst", "best", "tie std")
_OF_FEATURES = ("chance", "first", "±95%", "q", "repeats", "lift", "tie std")
_COMMON = {
    "--jobs N": "threads; -1 is every core (default: 1)",
    "--quiet": "no progress bar",
}
_COMMANDS = {
    "demo": _Command(
        _demo.run,
        "real ties from scikit-learn's digits, without a download",
        "Screen integer similarities of hand-written digits, and show "
        "what ties do to measures that break them by row order.",
        "",
        [
            "tieaware demo --queries 20",
            "tieaware demo --out digits.csv",
            "tieaware screen digits.csv",
        ],
        {
            "--queries N": "images drawn as queries (default: 100)",
            "--out FILE": "also write the data: CSV if FILE ends in .csv (.tsv: "
            "TSV), else LETOR text; gzipped if it ends in .gz",
        },
        _OF_FEATURES[:-2],
    ),
    "screen": _Command(
        _screen.run,
        "rank the features of a learning-to-rank file",
        "Rank the features of learning-to-rank files by the exact score "
        "of each one alone, tested against chance. Files are LETOR/SVMlight text "
        "(with qid:, or with FILE.query beside them; - is standard input), CSV, TSV or "
        "Parquet; text may be compressed. Several files are read as one. Name the "
        "files first.",
        "FILE [FILE ...]",
        [
            "tieaware screen train.txt.gz",
            "tieaware screen train.csv --label grade --qid query --ignore date",
            "tieaware screen train.txt --measures ndcg@10 p@5 --top 0 --csv=found.csv",
            "tieaware screen train.txt --report report.html",
        ],
        {
            "files FILE": "",
            "--measures MEASURE": "such as ndcg@10 ap(rel=2) p@5 (default: ndcg@10 ap "
            "rr)",
            "--sort-by MEASURE": "one of the measures (default: the first)",
            "--top N": "show the best N features; 0 shows all (default: "
            f"{SHOWN} in the table, all in CSV and JSON)",
            "--direction": "rank high values first (descending), low ones, or "
            "whichever is better (default: auto)",
            "--label COLUMN": "labels in CSV and Parquet (default: label)",
            "--qid COLUMN": "query ids in CSV and Parquet (default: qid)",
            "--ignore FEATURE": "columns or feature numbers to leave out",
            "--query-file SIZES": "sizes of the queries of a FILE whose lines hold no "
            "qid:; once per FILE",
            "--batch-rows N": "read whole queries of at least N rows together at a "
            "time, for files larger than memory whose queries stand together; 0 reads "
            "everything at once (default: batches of 32 MB for large files)",
            "--missing": "missing values are an error, or rank below everything",
            "--unjudged": "missing labels are an error, count as not relevant, or "
            "their documents are left out",
            "--zero-relevance VALUE": "value of queries where a measure is undefined, "
            "skip or raise (default: 0)",
            **_OUTPUTS,
        },
        _OF_FEATURES,
        DEFAULT_MEASURES,
    ),
    "evaluate": _Command(
        _evaluate.run,
        "exact scores of TREC runs, with the best and worst of their ties",
        "Measure TREC runs (topic Q0 docno rank score tag) by relevance "
        "judgments (topic iteration docno label), plain or compressed; - is standard "
        "input. Scores rank, and equal ones (in 32 bits, as trec_eval reads them) tie: "
        "mean, worst and best are over all orders of tied documents. The last column "
        "has the value in trec_eval's order (document id, descending), for measures "
        "that it defines alike. Runs go by their tags, or by the names of their files "
        "where tags do not tell them apart. Name the files first.",
        "QRELS RUN [RUN ...]",
        [
            "tieaware evaluate qrels.txt run.gz",
            "tieaware evaluate qrels.txt run1 run2 --measures ap p@10 ndcg@20",
            "tieaware evaluate qrels.txt run -q --csv=topics.csv",
            "tieaware evaluate qrels.txt run1 run2 --report report.html",
        ],
        {
            "qrels QRELS": "",
            "runs RUN": "",
            "--measures MEASURE": "such as ap p@5 err@20 (default: "
            f"{' '.join(_evaluate.DEFAULT_MEASURES)})",
            "-q --per-topic": "show every topic, too",
            "-c --complete": "average over all judged topics, not only those of the "
            "run",
            "--average": "over topics: mean, geometric mean or median (default: macro)",
            **_OUTPUTS,
        },
        (*_OF_RUNS, "trec_eval"),
        _evaluate.DEFAULT_MEASURES,
    ),
    "compare": _Command(
        _compare.run,
        "compare TREC runs pair by pair",
        "Compare TREC runs (files as for evaluate) pair by pair: the difference of "
        "their exact means, how far orders of ties could move it, a paired test over "
        "topics, corrected for the number of pairs, and the size of the effect. All "
        "runs are compared on the same topics: one that a run does not have counts as "
        "an empty list. Name the files first.",
        "QRELS RUN RUN [RUN ...]",
        [
            "tieaware compare qrels.txt run1 run2",
            "tieaware compare qrels.txt runs/* --measures ap p@10 --csv=pairs.csv",
            "tieaware compare qrels.txt run1 run2 run3 --report report.html",
        ],
        {
            "qrels QRELS": "",
            "runs RUN": "",
            "--measures MEASURE": "such as ap p@5 err@20 (default: "
            f"{' '.join(_compare.DEFAULT_MEASURES)})",
            "--test": "paired t, Wilcoxon's signed ranks, or randomised signs "
            "(default: t)",
            "--correction": "of p values, for the number of pairs (default: holm)",
            "-c --complete": "average over all judged topics, not only those of a run",
            **_OUTPUTS,
        },
        (*_OF_RUNS, "A - B", "tie range", "holds", "d"),
        _compare.DEFAULT_MEASURES,
    ),
}
