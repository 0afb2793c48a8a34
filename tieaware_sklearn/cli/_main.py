"""The command line: ``python -m tieaware_sklearn`` and ``tieaware``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ..evaluation._prepared_ranking import DEFAULT_MEASURES
from ..feature_selection._rule import DIRECTIONS
from ..feature_selection._screening import SHOWN
from . import _demo, _evaluate, _screen


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
    arguments = _parser().parse_args(argv)
    if hasattr(sys.stdout, "reconfigure"):
        # a plain terminal shows ? for ±, and all the rest
        sys.stdout.reconfigure(errors="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            arguments.run(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except KeyboardInterrupt:
            print("tieaware: interrupted", file=sys.stderr)
            return 130
        except OSError as error:
            name = "" if error.filename is None else f"{error.filename}: "
            print(f"tieaware: error: {name}{error.strerror or error}", file=sys.stderr)
            return 1
        except (ValueError, ImportError, MemoryError) as error:
            message = str(error) or "out of memory"
            print(f"tieaware: error: {message}", file=sys.stderr)
            return 1
    return 0


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"tieaware: warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tieaware",
        description="What a ranking is really worth when scores tie.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_screen(commands)
    _add_evaluate(commands)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="threads; -1 is every core (default: 1)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def _add_demo(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="real ties from scikit-learn's digits, without a download",
        description="Screen integer similarities of hand-written digits, and show "
        "what ties do to measures that break them by row order.",
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=100,
        metavar="N",
        help="images drawn as queries (default: 100)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="also write the data as LETOR text, gzipped if FILE ends in .gz",
    )
    _add_common(parser)
    parser.set_defaults(run=_demo.run)


def _add_screen(commands: Any) -> None:
    parser = commands.add_parser(
        "screen",
        help="rank the features of a learning-to-rank file",
        description="Rank the features of learning-to-rank files by what each is "
        "exactly worth alone, tested against chance. Files are LETOR/SVMlight text "
        "(with qid:, or with FILE.query beside them; - is standard input), CSV, TSV or "
        "Parquet; text may be compressed. Several files are read as one. Name the "
        "files before --measures.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument(
        "--measures",
        nargs="+",
        default=list(DEFAULT_MEASURES),
        action=_Measures,
        metavar="MEASURE",
        help="such as ndcg@10 ap(rel=2) p@5 (default: ndcg@10 ap rr)",
    )
    parser.add_argument(
        "--sort-by", metavar="MEASURE", help="one of the measures (default: the first)"
    )
    parser.add_argument(
        "--top",
        type=_count,
        metavar="N",
        help="show the best N features; 0 shows all (default: "
        f"{SHOWN} in the table, all in CSV and JSON)",
    )
    parser.add_argument(
        "--direction",
        choices=DIRECTIONS,
        default="auto",
        help="rank high values first (descending), low ones, or whichever is better "
        "(default: auto)",
    )
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="labels in CSV and Parquet (default: label)",
    )
    parser.add_argument(
        "--qid", metavar="COLUMN", help="query ids in CSV and Parquet (default: qid)"
    )
    parser.add_argument(
        "--ignore",
        action="extend",
        nargs="+",
        metavar="FEATURE",
        help="columns or feature numbers to leave out",
    )
    parser.add_argument(
        "--query-file",
        action="append",
        metavar="SIZES",
        help="sizes of the queries of a FILE whose lines hold no qid:; once per FILE",
    )
    parser.add_argument(
        "--batch-rows",
        type=_count,
        metavar="N",
        help="read whole queries of at least N rows together at a time, for files "
        "larger than memory whose queries stand together; 0 reads everything at once "
        "(default: batches of 32 MB for large files)",
    )
    parser.add_argument(
        "--missing",
        choices=("raise", "last"),
        default="raise",
        help="missing values are an error, or rank below everything",
    )
    parser.add_argument(
        "--zero-relevance",
        type=_zero_relevance,
        default=0.0,
        metavar="VALUE",
        help="value of queries where a measure is undefined, skip or raise (default: "
        "0)",
    )
    _add_outputs(parser)
    _add_common(parser)
    parser.set_defaults(run=_screen.run)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    for form in ("CSV", "JSON"):
        parser.add_argument(
            f"--{form.lower()}",
            nargs="?",
            const="-",
            metavar="FILE",
            help=f"write all figures as {form}; without FILE to standard output",
        )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help="draw means with the best and worst of their ties (.png, .svg, .pdf)",
    )


def _add_evaluate(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="what TREC runs are worth, with the best and worst of their ties",
        description="Measure TREC runs (topic Q0 docno rank score tag) by relevance "
        "judgments (topic iteration docno label), plain or compressed; - is standard "
        "input. Scores rank, and equal ones (in 32 bits, as trec_eval reads them) tie: "
        "mean, worst and best are over all orders of tied documents. The last column "
        "has the value in trec_eval's order (document id, descending), for measures "
        "that it defines alike. Name the files before --measures.",
    )
    parser.add_argument("qrels", metavar="QRELS")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument(
        "--measures",
        nargs="+",
        default=list(_evaluate.DEFAULT_MEASURES),
        action=_Measures,
        metavar="MEASURE",
        help=f"such as ap p@5 err@20 (default: {' '.join(_evaluate.DEFAULT_MEASURES)})",
    )
    parser.add_argument(
        "-q", "--per-topic", action="store_true", help="show every topic, too"
    )
    parser.add_argument(
        "-c",
        "--complete",
        action="store_true",
        help="average over all judged topics, not only those of the run",
    )
    parser.add_argument(
        "--average",
        choices=("macro", "geometric", "median"),
        default="macro",
        help="over topics: mean, geometric mean or median (default: macro)",
    )
    _add_outputs(parser)
    _add_common(parser)
    parser.set_defaults(run=_evaluate.run)


class _Measures(argparse.Action):
    """Names apart by spaces or commas, commas in parentheses excepted."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        names = re.split(r",(?![^(]*\))", ",".join(values))
        setattr(namespace, self.dest, [name for name in names if name.strip()])


def _jobs(text: str) -> int:
    value = int(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be at least 1, or -1 for every core")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must be >= 0, got {value}")
    return value


def _zero_relevance(text: str) -> float | str:
    return text if text in ("skip", "raise") else float(text)
