"""The command line: ``python -m tieaware_sklearn`` and ``tieaware``."""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from .._version import __version__
from . import _outputs


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. `cli.main` handles Ctrl-C as well."""
    if hasattr(sys.stdout, "reconfigure"):
        # A terminal with an encoding that lacks ± shows ? instead.
        sys.stdout.reconfigure(errors="replace")

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        _outputs.note(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show_warning
        try:
            try:
                arguments = parsed(argv)
                # The import takes a second, which help and wrong usage do not need.
                command = import_module(f"._{arguments.command}", __package__)
                return int(command.run(arguments))
            finally:
                # Flush the output, because argparse ignores a failure to print help.
                _outputs.show()
        except (OSError, ValueError, ImportError, MemoryError) as error:
            return _outputs.fail(error)


class _Parser(argparse.ArgumentParser):
    """Parser that accepts only options spelled in full."""

    def __init__(self, **settings: Any) -> None:
        # Descriptions and examples are printed with the line breaks of this file.
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(**settings, formatter_class=layout, allow_abbrev=False)


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse the words of a command line, by default ``sys.argv[1:]``."""
    # The import is in the function, so `main` reports an unknown TIEAWARE_ENGINE.
    from .._kernel import engines

    parser = _Parser(
        prog="tieaware", description="The exact score of a ranking when documents tie."
    )
    version = f"{__version__}, engine: {engines.engine_in_words()}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    _add_demo(commands)
    _add_screen(commands)
    _add_evaluate(commands)
    _add_compare(commands)
    if words is None:
        words = sys.argv[1:]
    arguments = parser.parse_args(words)
    arguments.words = list(words)
    if "runs" in arguments and not arguments.runs:
        # Tables and saved values can be a single file.
        needs_runs = not arguments.score and not getattr(arguments, "values", False)
        if needs_runs:
            parser.error("RUN or --score is required")
    return arguments


def _add_demo(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="show the effect of ties on scikit-learn's digits, without a download",
        usage="tieaware demo [options]",
        description="""\
Screen integer similarities of hand-written digits, and show how much a measure
can change if it breaks ties by row order.""",
        epilog="""\
examples:
  tieaware demo --queries 20
  tieaware demo --out digits.csv
  tieaware screen digits.csv""",
    )
    parser.add_argument(
        "--queries",
        metavar="N",
        type=int,
        default=100,
        help="number of images that are queries (default: 100)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="also write the data as CSV, compressed if FILE ends in .gz",
    )
    _add_common_options(parser)


def _add_screen(commands: Any) -> None:
    parser = commands.add_parser(
        "screen",
        help="rank the features of a learning-to-rank file",
        usage="tieaware screen FILE [FILE ...] [options]",
        description="""\
Rank the features of learning-to-rank files by the exact score of each feature
alone, and test the scores against chance. Files are LETOR/SVMlight text (with
qid:, or with FILE.query beside them; - is standard input), CSV, TSV or Parquet.
Text may be compressed. A FILE may be a folder, a pattern such as
'shards/*.parquet' or a URL. Several files are read as one file. Give the files
before the options.""",
        epilog="""\
examples:
  tieaware screen train.txt.gz
  tieaware screen train.csv --label grade --qid query --ignore date
  tieaware screen train.txt --measures ndcg@10 p@5 --top 0 --csv=found.csv
  tieaware screen train.txt --select 10 --max-correlation 0.9 --csv=ten.csv
  tieaware screen train.txt --report report.html""",
    )
    add_argument = parser.add_argument
    add_argument(
        "files", metavar="FILE", nargs="+", help="learning-to-rank files to read"
    )
    _add_measures(parser, "ndcg@10 ap(rel=2) p@5", "ndcg@10 ap rr")
    add_argument(
        "--sort-by",
        metavar="MEASURE",
        help="""the measure that ranks the features, one of --measures (default: the
        first)""",
    )
    add_argument(
        "--top",
        metavar="N",
        type=_integer_from(0),
        help="""show the best N features; 0 shows all (default: 20 in the table, all in
        CSV and JSON)""",
    )
    add_argument(
        "--select",
        metavar="K",
        type=_integer_from(1),
        help="""select K features (default: all features that beat chance and repeat no
        better feature)""",
    )
    add_argument(
        "--max-correlation",
        metavar="RHO",
        type=number_or_none,
        default=0.95,
        help="""leave out features whose rank correlation with a selected feature is
        above RHO or below -RHO; none leaves out no feature (default: 0.95)""",
    )
    add_argument(
        "--diversity",
        metavar="SHARE",
        type=float,
        default=0.0,
        help="""with --select, the weight of being different from the features selected
        so far, 0 to 1 (default: 0, by score alone)""",
    )
    add_argument(
        "--direction",
        choices=("auto", "descending", "ascending"),
        default="auto",
        help="""rank high values first (descending), low values first (ascending), or
        whichever is better (auto, the default)""",
    )
    add_argument(
        "--format",
        choices=("letor", "csv", "tsv", "parquet"),
        help="""how to read the files, whatever their names are (default: by their
        names, or else by their first lines)""",
    )
    _add_keys(parser)
    add_argument(
        "--ignore",
        metavar="FEATURE",
        nargs="+",
        action="extend",
        help="columns or feature numbers to leave out",
    )
    add_argument(
        "--query-file",
        metavar="SIZES",
        action="append",
        help="""file of query sizes for a FILE whose lines have no qid:; once per
        FILE""",
    )
    add_argument(
        "--n-features",
        metavar="N",
        type=_integer_from(1),
        help="""number of features of LETOR text, for files that may leave out the last
        features because they are 0 (default: the largest feature number in the
        files)""",
    )
    add_argument(
        "--batch-rows",
        metavar="N",
        type=_integer_from(0),
        help="""read batches of whole queries with at least N rows in total, for files
        larger than memory; the rows of each query must be together; 0 reads all rows
        at once, in any order (default: batches of 32 MB for files of more than 256 MB
        on disk)""",
    )
    add_argument(
        "--missing-values",
        metavar="CELL",
        nargs="+",
        action="extend",
        help="""further cells of CSV that stand for a missing number, besides empty
        cells, NA, n/a, NaN, NULL, None, - and ?""",
    )
    add_argument(
        "--decimal",
        metavar="CHARACTER",
        default=".",
        help="decimal separator in CSV, such as , in 3,14 (default: .)",
    )
    add_argument(
        "--quoting",
        choices=("double", "none"),
        default="double",
        help="""whether double quotes enclose cells of CSV (double, the default), or are
        ordinary characters, as in 24" monitor (none)""",
    )
    add_argument(
        "--missing",
        choices=("raise", "last"),
        default="raise",
        help="""missing values are an error (raise, the default), or rank below all
        others (last)""",
    )
    add_argument(
        "--unjudged",
        choices=("raise", "nonrelevant", "drop"),
        default="raise",
        help="""missing labels are an error (raise, the default), count as not relevant
        (nonrelevant), or their documents are left out (drop)""",
    )
    _add_zero_relevance(parser)
    _add_outputs(parser)


def _add_evaluate(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="""compute exact scores of TREC runs or of a table, with the best and worst
        order of ties""",
        usage="""\
tieaware evaluate QRELS RUN [RUN ...] [options]
       tieaware evaluate TABLE [TABLE ...] --score COLUMN [COLUMN ...] [options]""",
        description="""\
Measure TREC runs (topic Q0 docno rank score tag) by relevance judgments (topic
iteration docno label), plain or compressed; - is standard input. Documents are
ranked by their scores, and equal scores (in 32 bits, as trec_eval reads them)
tie: mean, worst and best are over all orders of tied documents. The last column
shows the value in trec_eval's order of ties (document id, descending) for
measures that trec_eval defines in the same way. A run is named by its tag, or
by its file if the tag is missing or another run has the same tag. With --score,
the files are tables instead (CSV, TSV or Parquet) with a row for each document.
Give the files before the options.""",
        epilog="""\
examples:
  tieaware evaluate qrels.txt run.gz
  tieaware evaluate qrels.txt run1 run2 --measures ap p@10 ndcg@20
  tieaware evaluate qrels.txt run -q --csv=topics.csv
  tieaware evaluate qrels.txt run1 run2 --report report.html
  tieaware evaluate scores.parquet --score new old --label y --qid q
  tieaware evaluate scores.parquet --score new --save values.parquet""",
    )
    add_argument = parser.add_argument
    _add_runs(parser, "ap rprec bpref rr p@10 ndcg(gain=linear)@10")
    add_argument(
        "-q",
        "--per-topic",
        action="store_true",
        help="also show every topic; for tables, write every query to CSV and JSON",
    )
    add_argument(
        "--average",
        choices=("macro", "geometric", "median"),
        default="macro",
        help="""average over topics: the mean (macro, the default), the geometric mean
        or the median""",
    )
    _add_save(parser)
    _add_topics(parser)


def _add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="""compare TREC runs, columns of a table, or saved values, pair by pair;
        stop if one is worse""",
        usage="""\
tieaware compare QRELS RUN RUN [RUN ...] [options]
       tieaware compare TABLE [TABLE ...] --score COLUMN [COLUMN ...] [options]
       tieaware compare --values FILE [FILE ...] [options]""",
        description="""\
Compare TREC runs (files as for evaluate) pair by pair: the difference of their
exact means, its range over the orders of ties, a paired test over topics,
corrected for the number of pairs, and the effect size. All runs are compared on
the same topics: a topic that is missing from a run counts as an empty list.
Give the files before the options. With --values, the files are those that
evaluate --save has written. Exit codes are 0, 1 for an error, 2 for wrong
options or too few queries to test, and 3 if a system fails (--fail-if).""",
        epilog="""\
examples:
  tieaware compare qrels.txt run1 run2
  tieaware compare qrels.txt runs/* --measures ap p@10 --csv=pairs.csv
  tieaware compare qrels.txt run1 run2 --ties official expected
  tieaware compare qrels.txt runs/* --baseline bm25 --csv=pairs.csv
  tieaware compare qrels.txt run1 run2 run3 --report report.html
  tieaware compare scores.parquet --score new old --baseline old
  tieaware compare --values a.csv b.csv --baseline a --fail-if worse
  tieaware compare scores.parquet --score new --against old.parquet""",
    )
    add_argument = parser.add_argument
    _add_runs(parser, "ap ndcg(gain=linear)@10")
    add_argument(
        "--values",
        action="store_true",
        help="""the files contain values that evaluate --save has written; systems are
        named by their files and matched by query ids""",
    )
    add_argument(
        "--against",
        metavar="FILE",
        help="""with --score: compare the columns with values that --save has written
        to FILE, which are the baseline""",
    )
    _add_save(parser)
    add_argument(
        "--unpaired",
        action="store_true",
        help="""with --values or --against: systems have different queries (Welch's t
        test)""",
    )
    add_argument(
        "--fail-if",
        choices=("worse", "inferior"),
        help="""exit with code 3 if a system is significantly worse than the baseline
        (worse), or unless its loss is shown to be below --tolerance (inferior)""",
    )
    add_argument(
        "--tolerance",
        type=float,
        metavar="LOSS",
        help="the loss that --fail-if inferior must exclude, in units of the measure",
    )
    add_argument(
        "--alpha",
        type=float,
        default=0.01,
        help="""for --fail-if: the probability of stopping a system that is no worse
        (default: 0.01)""",
    )
    add_argument(
        "--ties",
        metavar="TIES",
        choices=("expected", "best", "worst", "official", "rank", "file"),
        nargs="+",
        default=["expected"],
        help="""treatments of ties, side by side: the exact mean over all orders
        (expected, the default), the best or worst order, trec_eval's order (official:
        document id, descending), or the order of the ranks or lines in each file
        (rank, file)""",
    )
    add_argument(
        "--baseline",
        metavar="RUN",
        nargs="+",
        default=[],
        help="""compare all runs only with these runs, which are named by their tags or
        columns (default: all pairs)""",
    )
    add_argument(
        "--test",
        choices=("t", "wilcoxon", "randomization"),
        default="t",
        help="""the paired test over topics: t test (t, the default), Wilcoxon's
        signed-rank test or Fisher's randomisation test""",
    )
    add_argument(
        "--correction",
        choices=("holm", "bh", "by", "tukey", "none"),
        default="holm",
        help="correction of p-values for the number of pairs (default: holm)",
    )
    _add_zero_relevance(parser)
    _add_topics(parser)


def _add_measures(parser: argparse.ArgumentParser, examples: str, default: str) -> None:
    parser.add_argument(
        "--measures",
        metavar="MEASURE",
        nargs="+",
        default=default.split(),
        help=f"measures, such as {examples} (default: {default})",
    )


def _add_runs(parser: argparse.ArgumentParser, measures: str) -> None:
    parser.add_argument(
        "qrels", metavar="QRELS", help="file of relevance judgments, or a table"
    )
    runs = parser.add_argument(
        "runs", metavar="RUN", nargs="+", default=[], help="run files, or more tables"
    )
    # A single table needs no run. With nargs="*", no RUN could follow an option.
    runs.required = False
    parser.add_argument(
        "--score",
        metavar="COLUMN",
        nargs="+",
        help="read tables, in which these columns are the scores of systems",
    )
    _add_keys(parser)
    _add_measures(parser, "ap p@5 err@20", measures)


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="column of labels in CSV and Parquet (default: label)",
    )
    parser.add_argument(
        "--qid",
        metavar="COLUMN",
        help="column of query ids in CSV and Parquet (default: qid)",
    )


def _add_zero_relevance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--zero-relevance",
        metavar="VALUE",
        type=number_or_word,
        default=0.0,
        help="""the value of queries where a measure is undefined; skip leaves them out,
        raise makes them an error (default: 0)""",
    )


def _add_save(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--save",
        metavar="FILE",
        help="write the values of each topic, with all settings (.parquet, .csv)",
    )


def _add_topics(parser: argparse.ArgumentParser) -> None:
    """Add the options for topics and for outputs."""
    parser.add_argument(
        "-c",
        "--complete",
        dest="topics",
        action="store_const",
        const="qrels",
        default="both",
        help="average over all judged topics, not only those of a run",
    )
    parser.add_argument(
        "-J",
        "--judged-only",
        dest="unjudged",
        action="store_const",
        const="drop",
        help="""rank judged documents only (default: a document without a judgment is
        not relevant, and a missing label of a table is an error)""",
    )
    _add_outputs(parser)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    add_argument = parser.add_argument
    for form in ("CSV", "JSON"):
        add_argument(
            f"--{form.lower()}",
            metavar="FILE",
            help=f"""write all results as {form} to FILE; - is standard output, in place
            of the table""",
        )
    add_argument(
        "--plot",
        metavar="FILE",
        help="""draw the means, with the best and worst order of ties, to FILE (.png,
        .svg, .pdf)""",
    )
    add_argument(
        "--report",
        metavar="FILE",
        help="""write a self-contained HTML page with sortable tables, the figure, the
        input files, versions and the command""",
    )
    _add_common_options(parser)


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=int,
        help="number of threads; -1 uses every core (default: 1)",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")


def _integer_from(minimum: int) -> Callable[[str], int]:
    """Return a type of options: an integer that is not below the minimum."""

    # argparse shows the names of this function and the following functions in errors.
    def integer(text: str) -> int:
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"must be at least {minimum}, got {value}")
        return value

    return integer


def number_or_none(text: str) -> float | None:
    """Convert the value of an option to a number, and ``none`` to None."""
    if text == "none":
        return None
    return float(text)


def number_or_word(text: str) -> float | str:
    """Convert the value of an option to a number, except ``skip`` and ``raise``."""
    if text in ("skip", "raise"):
        return text
    return float(text)
