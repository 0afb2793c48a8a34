"""The command line: ``python -m tieaware_sklearn`` and ``tieaware``."""

import argparse
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from .._display import words
from .._version import __version__
from . import _outputs

#: seconds after which a missing kernel is noted
_LONG = 10.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, as `tieaware_sklearn.cli.main` does."""
    if sys.stderr is None:
        # print would write notes to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        return _outputs.fail(ValueError("standard output is closed"))
    if hasattr(sys.stdout, "reconfigure"):
        # terminals that lack ± show ? in its place
        sys.stdout.reconfigure(errors="replace")
    started = time.monotonic()
    with warnings.catch_warnings(), stoppable():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _show_warning
        try:
            try:
                arguments = parsed(list(sys.argv[1:] if argv is None else argv))
                # takes a second, which help and wrong usage do not need
                command = import_module(f"._{arguments.command}", __package__)
                return int(command.run(arguments))
            finally:
                _note_missing_kernel(time.monotonic() - started)
                # argparse ignores a failure to print, for example, the help
                _outputs.show()
        except KeyboardInterrupt as stopped:
            _outputs.note("interrupted")
            return 128 + int(next(iter(stopped.args), signal.SIGINT))
        except (OSError, ValueError, ImportError, MemoryError) as error:
            return _outputs.fail(error)


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn SIGTERM into a KeyboardInterrupt within the block, unless it is handled."""

    def stop(number: int, _: object) -> NoReturn:
        raise KeyboardInterrupt(number)

    default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ours = default and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _note_missing_kernel(seconds: float) -> None:
    """Tell users of the compiled kernel after a command that took long without it."""
    from .._kernel import engines

    if seconds > _LONG and (why := engines.missed()) is not None:
        _outputs.note(
            f"the compiled kernel is missing ({why}), so this took longer. With a C "
            "compiler, install it by: pip install --force-reinstall --no-deps "
            "--no-cache-dir tieaware-sklearn"
        )


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _outputs.note(f"warning: {message}")


class _Parser(argparse.ArgumentParser):
    """A parser with messages safe to show and options spelled in full."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message += " (files to read stand together; --csv and --json take =FILE)"
        super().error(words.printable(message))


def parsed(words: list[str]) -> argparse.Namespace:
    """Parse the arguments; --csv and --json take no word that follows."""
    end = words.index("--") if "--" in words else len(words)
    given = [f"{one}=-" if one in ("--csv", "--json") else one for one in words[:end]]
    arguments = _parser().parse_args(given + words[end:])
    # separated by spaces or commas, but not by commas in parentheses
    names = re.findall(r"(?:[^,(]|\([^)]*\)?)+", ",".join(arguments.measures))
    arguments.measures = [name for name in names if name.strip()]
    arguments.words = words
    return arguments


def _parser() -> argparse.ArgumentParser:
    # at the top, a TIEAWARE_ENGINE that is none would end in a traceback
    from .._kernel import engines

    parser = _Parser(
        prog="tieaware", description="The exact score of a ranking when documents tie."
    )
    version = f"{__version__}, engine: {engines.engine_in_words()}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        first = " Give the files before the options." if command.files else ""
        meanings = [(f"  {one}", words.meaning(one)) for one in command.words]
        figures = words.definitions(meanings)
        examples = "\n  ".join(["examples:", *command.examples])
        described = commands.add_parser(
            name,
            help=command.help,
            usage=f"tieaware {name} {command.files} [options]".replace("  ", " "),
            description=words.paragraph(f"{command.description}{first}"),
            epilog=f"figures:\n{figures}\n\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for shown, text in command.options.items():
            names = shown.split()
            settings = _SETTINGS.get(names[0], {})
            if names[-1].isupper():
                settings = settings | {"metavar": names.pop()}
            elif not settings:
                settings = {"action": "store_true"}
            described.add_argument(*names, help=text, **settings)
        described.set_defaults(command=name, measures=command.measures)
    return parser


class _Command(NamedTuple):
    """A command with its options, in the order of its help page."""

    help: str
    description: str
    files: str
    examples: Sequence[str]
    options: dict[str, str]
    words: Sequence[str]
    measures: Sequence[str] = ()


def _stream(path: str) -> str:
    """Option type: a file to write to, or ``-`` for standard output."""
    return "-" if path == "/dev/stdout" else path


def _whole(least: int, below: int, *others: int) -> Callable[[str], int]:
    """Option type: a whole number in a range, or one of some words."""

    def integer(text: str) -> int:
        value = int(text)
        if value in others or least <= value < below:
            return value
        more = "".join(f", or {other}" for other in others)
        raise argparse.ArgumentTypeError(
            f"must be at least {least} and below {below}{more}, got {value}"
        )

    return integer


def _number_or(*words: str) -> Callable[[str], float | str | None]:
    """Option type: a number, or one of some words, of which none stands for None."""

    def number(text: str) -> float | str | None:
        word = None if text == "none" else text
        return word if text in words else float(text)

    return number


def _one_of(*words: str) -> dict[str, Any]:
    """Add an option with one of several values, by default the first."""
    return {"choices": words, "default": words[0]}


#: further arguments of argparse, by the first name of an option
_SETTINGS: dict[str, dict[str, Any]] = {
    "files": {"nargs": "+"},
    "runs": {"nargs": "+"},
    "--queries": {"type": int, "default": 100},
    "--measures": {"nargs": "+"},
    "--top": {"type": _whole(0, 2**63)},
    "--select": {"type": _whole(1, 2**63)},
    "--max-correlation": {"type": _number_or("none"), "default": argparse.SUPPRESS},
    "--diversity": {"type": float, "default": argparse.SUPPRESS},
    "--direction": _one_of("auto", "descending", "ascending"),
    "--ignore": {"nargs": "+", "action": "extend"},
    "--format": {"choices": ("letor", "csv", "tsv", "parquet")},
    "--decimal": {"default": "."},
    "--quoting": _one_of("double", "none"),
    "--query-file": {"action": "append"},
    # SciPy counts columns in 32 bits
    "--n-features": {"type": _whole(1, 2**31)},
    "--batch-rows": {"type": _whole(0, 2**63)},
    "--missing-values": {"nargs": "+", "action": "extend"},
    "--missing": _one_of("raise", "last"),
    "--unjudged": _one_of("raise", "nonrelevant", "drop"),
    "--zero-relevance": {"type": _number_or("skip", "raise"), "default": 0.0},
    "--average": _one_of("macro", "geometric", "median"),
    "--ties": {
        "choices": ("expected", "best", "worst", "official", "rank", "file"),
        "nargs": "+",
        "default": ["expected"],
    },
    "--baseline": {"nargs": "+", "default": []},
    "--test": _one_of("t", "wilcoxon", "randomization"),
    "--correction": _one_of("holm", "bh", "by", "tukey", "none"),
    "--csv": {"nargs": "?", "type": _stream},
    "--json": {"nargs": "?", "type": _stream},
    # a larger number is most likely a mistake
    "--jobs": {"type": _whole(1, 1025, -1)},
}
_WRITE = "write all results as {} to FILE (=FILE, no space), or to standard output"
_OUTPUTS = {
    "--csv =FILE": _WRITE.format("CSV"),
    "--json =FILE": _WRITE.format("JSON"),
    "--plot FILE": "draw the means, with the best and worst order of ties (.png, .svg, "
    ".pdf)",
    "--report FILE": "write a self-contained HTML page with sortable tables, the "
    "figure, the input files, versions and the command",
}
_QUIET = {"--quiet": "show no progress bar"}
_COMMON = {"--jobs N": "number of threads; -1 uses every core (default: 1)"} | _QUIET
_CHOICE = {
    "--top N": "show the best N features; 0 shows all (default: 20 in the "
    "table, all in CSV and JSON)",
    "--select K": "select K features (default: all that beat chance and repeat no "
    "better one)",
    "--max-correlation RHO": "leave out features whose rank correlation with a "
    "selected one is above RHO or below -RHO; none leaves out nothing (default: 0.95)",
    "--diversity SHARE": "with --select, the weight of being different from the "
    "features selected so far, 0 to 1 (default: 0, by score alone)",
}
_RUNS = {"qrels QRELS": "file of relevance judgments", "runs RUN": "run files"}
#: further options of commands on runs
_OF_RUNS = {
    "-c --complete": "average over all judged topics, not only those of a run",
    "-J --judged-only": "rank judged documents only (default: a document without a "
    "judgment is not relevant)",
    "--weight FILE": "file of topics and their weights in averages and tests; 0 leaves "
    "a topic out (default: all weigh the same)",
    "--segment FILE": "file of topics and their segments, such as markets, each of "
    "which has results of its own, too",
    **_OUTPUTS,
    **_COMMON,
}
#: default measures of runs
_EVALUATED = ("ap", "rprec", "bpref", "rr", "p@10", "ndcg(gain=linear)@10")
_COMPARED = ("ap", "ndcg(gain=linear)@10")
#: figures that the help explains
_OF_MEANS = ("mean", "worst", "best", "tie_std")
_OF_DIGITS = ("chance", "direction", "chosen", "±95%", "qvalue", "repeats")
_OF_FEATURES = (*_OF_DIGITS, "lift", "tie_std")
_COMMANDS = {
    "demo": _Command(
        "show the effect of ties on scikit-learn's digits, without a download",
        "Screen integer similarities of hand-written digits, and show how much a "
        "measure can change if it breaks ties by row order.",
        "",
        [
            "tieaware demo --queries 20",
            "tieaware demo --out digits.csv",
            "tieaware screen digits.csv",
        ],
        {
            "--queries N": "number of images that are queries (default: 100)",
            "--out FILE": "write the data, too: as CSV if FILE ends in .csv, as TSV if "
            "it ends in .tsv, otherwise as LETOR text; compressed if it ends in .gz",
            **_COMMON,
        },
        _OF_DIGITS,
    ),
    "screen": _Command(
        "rank the features of a learning-to-rank file",
        "Rank the features of learning-to-rank files by the exact score "
        "of each one alone, tested against chance. Files are LETOR/SVMlight text "
        "(with qid:, or with FILE.query beside them; - is standard input), CSV, TSV or "
        "Parquet; text may be compressed. A FILE may be a folder, a pattern such as "
        "'shards/*.parquet' or a URL. Several files are read as one.",
        "FILE [FILE ...]",
        [
            "tieaware screen train.txt.gz",
            "tieaware screen train.csv --label grade --qid query --ignore date",
            "tieaware screen train.txt --measures ndcg@10 p@5 --top 0 --csv=found.csv",
            "tieaware screen train.txt --select 10 --max-correlation 0.9 --csv=ten.csv",
            "tieaware screen train.txt --report report.html",
        ],
        {
            "files FILE": "learning-to-rank files to read",
            "--measures MEASURE": "measures, such as ndcg@10 ap(rel=2) p@5 (default: "
            "ndcg@10 ap rr)",
            "--sort-by MEASURE": "the measure that ranks the features, one of the "
            "measures (default: the first)",
            **_CHOICE,
            "--direction": "rank high values first (descending), low values first "
            "(ascending), or whichever is better (auto, the default)",
            "--format": "how to read the files, whatever their names are (default: "
            "by their names, or else by their first lines)",
            "--label COLUMN": "column of labels in CSV and Parquet (default: label)",
            "--qid COLUMN": "column of query ids in CSV and Parquet (default: qid)",
            "--ignore FEATURE": "columns or feature numbers to leave out",
            "--query-file SIZES": "file of query sizes for a FILE whose lines have no "
            "qid:; once per FILE",
            "--n-features N": "number of features of LETOR text, for files in which "
            "the last ones may be left out, being 0 (default: the largest number of a "
            "feature in them)",
            "--batch-rows N": "read batches of whole queries with at least N rows in "
            "total, for files larger than memory in which the rows of each query are "
            "together; 0 reads everything at once, in any order (default: batches of "
            "32 MB for files of more than 256 MB on disk)",
            "--missing-values CELL": "further cells of CSV that stand for a missing "
            "number, besides empty ones, NA, n/a, NaN, NULL, None, - and ?",
            "--decimal CHARACTER": "what parts the decimals in CSV, such as , in "
            "3,14 (default: .)",
            "--quoting": "whether double quotes enclose cells of CSV (double, the "
            'default), or are characters as any other, as in 24" monitor (none)',
            "--missing": "missing values are an error (raise, the default), or rank "
            "below all others (last)",
            "--unjudged": "missing labels are an error (raise, the default), count as "
            "not relevant (nonrelevant), or their documents are left out (drop)",
            "--zero-relevance VALUE": "the value of queries where a measure is "
            "undefined; skip leaves them out, raise makes them an error (default: 0)",
            **_OUTPUTS,
            **_COMMON,
        },
        _OF_FEATURES,
        ("ndcg@10", "ap", "rr"),
    ),
    "evaluate": _Command(
        "compute exact scores of TREC runs, with the best and worst order of ties",
        "Measure TREC runs (topic Q0 docno rank score tag) by relevance "
        "judgments (topic iteration docno label), plain or compressed; - is standard "
        "input. Documents are ranked by their scores, and equal scores (in 32 bits, as "
        "trec_eval reads them) tie: mean, worst and best are over all orders of tied "
        "documents. The last column has the value in trec_eval's order (document id, "
        "descending), for measures that trec_eval defines alike. A run is named by its "
        "tag, or by its file if it has no tag that no other run has.",
        "QRELS RUN [RUN ...]",
        [
            "tieaware evaluate qrels.txt run.gz",
            "tieaware evaluate qrels.txt run1 run2 --measures ap p@10 ndcg@20",
            "tieaware evaluate qrels.txt run -q --csv=topics.csv",
            "tieaware evaluate qrels.txt run1 run2 --report report.html",
        ],
        {
            **_RUNS,
            "--measures MEASURE": "measures, such as ap p@5 err@20 (default: "
            f"{' '.join(_EVALUATED)})",
            "-q --per-topic": "show every topic, too",
            "--average": "average over topics: the mean (macro, the default), the "
            "geometric mean or the median",
            **_OF_RUNS,
        },
        (*_OF_MEANS, "trec_eval"),
        _EVALUATED,
    ),
    "compare": _Command(
        "compare TREC runs pair by pair",
        "Compare TREC runs (files as for evaluate) pair by pair: the difference of "
        "their exact means, its range over the orders of ties, a paired test over "
        "topics, corrected for the number of pairs, and the effect size. All runs are "
        "compared on the same topics: a topic that a run does not have counts as an "
        "empty list.",
        "QRELS RUN RUN [RUN ...]",
        [
            "tieaware compare qrels.txt run1 run2",
            "tieaware compare qrels.txt runs/* --measures ap p@10 --csv=pairs.csv",
            "tieaware compare qrels.txt run1 run2 --ties official expected",
            "tieaware compare qrels.txt runs/* --baseline bm25 -q --csv=topics.csv",
            "tieaware compare qrels.txt run1 run2 run3 --report report.html",
        ],
        {
            **_RUNS,
            "--measures MEASURE": "measures, such as ap p@5 err@20 (default: "
            f"{' '.join(_COMPARED)})",
            "--ties TIES": "treatments of ties, side by side: the exact mean over all "
            "orders (expected, the default), the best or worst order, trec_eval's "
            "(official: document id, descending), or that of the ranks or lines of "
            "each file (rank, file)",
            "--baseline RUN": "compare all runs with this run only, named by its tag; "
            "several if need be (default: all pairs)",
            "--test": "the paired test over topics: t test (t, the default), "
            "Wilcoxon's signed-rank test or Fisher's randomisation test",
            "--correction": "correction of p-values for the number of pairs (default: "
            "holm)",
            "-q --per-topic": "show the difference of each pair for every topic, too",
            **_OF_RUNS,
        },
        (*_OF_MEANS, "A - B", "tie range", "same sign", "d"),
        _COMPARED,
    ),
}
