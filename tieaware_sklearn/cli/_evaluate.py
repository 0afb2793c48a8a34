"""The command ``evaluate``: the exact scores of TREC runs."""

import argparse
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._display import html, progress_bars, text_tables, words
from .._engine import messages
from ..comparison import tie_statistics
from ..evaluation import PreparedRanking, Summary, _averages, _report, _resolved
from ..io import _source, _trec, _trec_inputs, _trec_lines, _wording
from ..measures import Measure, _cumulated_gain, _parse
from ..plots import TieRangeDisplay
from . import _outputs

#: measures to use where trec_eval defines one of the same name differently
_OTHERWISE = {
    "NDCG": "ndcg(gain=linear), with discount=log2",
    "IPrec": "iprec_at_recall_0.10 (version 10: iprec(rounding=nearest)@0.1)",
    "IAP": "11pt_avg (version 10: iap(rounding=nearest))",
}


def run(arguments: argparse.Namespace) -> int:
    """Read the files, measure every run, and print or write the results."""
    if not (arguments.csv or arguments.json or arguments.report):
        # what is printed has no interval
        warnings.filterwarnings("ignore", "the values per query")
    more = topic_files(arguments)
    _outputs.check_files(arguments, [arguments.qrels, *arguments.runs, *more.values()])
    measures = _parse.parse_measures(arguments.measures)
    judgments = _source.TextSource(arguments.qrels)
    judged = _trec_inputs.read_judgments(judgments)
    official = [_is_trec_evals(measure) for measure in measures]
    runs: list[tuple[Summary, Summary | None, dict[str, Any], list[str]]] = []
    tags: list[str | None] = []
    topics, of_none = "both", "left out (-c counts them)"
    if arguments.complete:
        topics, of_none = "qrels", "counted as empty lists"
    read = [_described(arguments.qrels, judged, "judgments")]
    of_topic = read_topic_files(more)
    bar = progress_bars.shows_progress(arguments.quiet) and len(arguments.runs) > 1
    paths = arguments.runs
    for path in progress_bars.show_progress(paths, bar, len(paths), "run"):
        ranked = _trec_inputs.read_run(_source.TextSource(path))
        trec = _trec.join(judged, [ranked], None, topics=topics, order="trec_eval")
        check_labels(trec, measures, judgments)
        summary, of_segments, columns = _measured(
            trec, measures, official, arguments, of_topic(trec.qid)
        )
        notes = [*_report.estimates(summary), *_notes(trec, judged, ranked, of_none)]
        count, worth = summary.n_queries, summary.n_effective
        if (worth < count).any():
            notes.append(_report.queries_in_words(count.max(), worth.min()))
        runs.append((summary, of_segments, columns, notes))
        tags.append(ranked.tag)
        read.append(_described(path, ranked, "documents"))
    names = _trec_inputs.run_names(arguments.runs, tags)
    summaries = dict(zip(names, (summary for summary, *_ in runs), strict=True))
    rows, by_segment, tables = [], [], []
    remarks, average = [], arguments.average
    for name, (_, of_segments, columns, notes) in zip(names, runs, strict=True):
        about = {"run": name, "average": average}
        rows += [about | row for row in _outputs.rows_of(columns)]
        remarks += [f"{name}: {note}" for note in notes]
        if of_segments is not None:
            figures = of_segments.columns
            shown = {one: figures[one] for one in columns if one in figures}
            shown |= {"topic": np.full(len(of_segments), "all")}
            shown |= {"n_topics": of_segments.n_queries}
            by_segment += [about | row for row in _outputs.rows_of(shown)]
            for table in of_segments._tables():
                notes = [f"run: {name}"] * (len(names) > 1) + [*table.notes]
                table = replace(table, title=f"{name} by segment", notes=notes)
                tables.append(table)
    others = [m for m, same in zip(measures, official, strict=True) if not same]
    for name, otherwise in _OTHERWISE.items():
        if same := [str(measure) for measure in others if measure.name == name]:
            remarks.append(f"{', '.join(same)}: trec_eval's {name} is {otherwise}")
    findings = _outputs.Findings(
        title=f"{names[0] if len(names) == 1 else f'{len(names)} runs'}, evaluated",
        about={
            "qrels": arguments.qrels,
            "average": average,
            "measures": [str(measure) for measure in measures],
            "runs": dict(zip(names, arguments.runs, strict=True)),
            "results": rows + by_segment,
            **more,
        },
        rows=rows + by_segment,
        read=[*read, *more.values()],
        tables=[_table(rows, arguments, measures), *tables],
        remarks=remarks,
        draw=lambda: of_topics(summaries, words.AVERAGES[average]),
    )
    return _outputs.write_findings(arguments, findings)


def topic_files(arguments: argparse.Namespace) -> dict[str, str]:
    """Files with a weight or a segment of each topic, by what they have."""
    given = {"weight": arguments.weight, "segment": arguments.segment}
    return {what: path for what, path in given.items() if path is not None}


def read_topic_files(files: dict[str, str]) -> Callable[[NDArray[Any]], dict[str, Any]]:
    """Read weights and segments, and return a function that looks them up by topic.

    It maps the topics of documents to arguments of `compare_systems`.

    Raises
    ------
    ValueError
        For a faulty line, with file and line; and in the function, for a topic without
        one: to leave it out, or to count it once, would be a guess.
    """
    read: dict[str, dict[str, Any]] = {what: {} for what in files}
    for what, path in files.items():
        source = _source.TextSource(path)
        with source.reading(), source.open_text() as file:
            for number, line in enumerate(file, 1):
                if not (cells := line.strip().split(None, 1)):
                    continue
                place = f"{source}, line {number}"
                rule = f"{place}: must have a topic, a space and its {what}"
                messages.require(len(cells) == 2, rule)
                topic, value = (cell.decode(*_trec_lines.UTF8) for cell in cells)
                rule = f"{place}: topic {topic} must have one {what}, got two"
                messages.require(topic not in read[what], rule)
                read[what][topic] = _weight(value, place) if what == "weight" else value

    def look_up(topics: NDArray[Any]) -> dict[str, Any]:
        for what, values in read.items():
            rule = f"{files[what]} must have a {what} for each topic"
            rule += " (0 leaves a topic out)" * (what == "weight")
            lacking = (one for one in topics.tolist() if one not in values)
            missing = _wording.listed(dict.fromkeys(lacking))
            messages.require(not missing, f"{rule}, got none for {missing}")
        return {
            what.replace("weight", "query_weight"): [*map(values.get, topics.tolist())]
            for what, values in read.items()
        }

    return look_up


def _weight(text: str, place: str) -> float:
    with suppress(ValueError):
        weight = float(text)
        # float() also reads 1_0
        if "_" not in text and (weight == 0 or 1e-100 <= weight <= 1e100):
            return weight
    rule = "weight must be 0 or a number from 1e-100 to 1e100"
    raise ValueError(f"{place}: {rule}, got {_wording.quoted(text)}")


def of_topics(result: Any, average: str = "mean") -> TieRangeDisplay:
    """Plot summaries of runs, which have no chance level in common."""
    options = {"average": f"{average} over topics", "chance": None}
    return TieRangeDisplay.from_result(result, **options)


def _described(path: str, lines: _trec_lines.TrecLines, what: str) -> str:
    """Describe in words what was read from a file."""
    tag = "" if lines.tag is None else f", tag {lines.tag}"
    topics = words.counted(len(lines.topics), "topic", "topics")
    return f"{path}: {topics}, {lines.n_lines} {what}{tag}"


def check_labels(
    trec: Bunch, measures: list[Measure], judgments: _source.TextSource
) -> None:
    """Check labels, and name the file, topic and document of a refused one."""
    judged = ~np.isnan(trec.target)
    if refused := _cumulated_gain.refused_label(measures, trec.target[judged]):
        row, why = refused
        topic, docno = trec.qid[judged][row], trec.docno[judged][row]
        raise ValueError(f"{judgments}: topic {topic}, document {docno}: {why}")


def unjudged_of(arguments: argparse.Namespace) -> str:
    """Return the treatment of documents without a judgment."""
    return "drop" if arguments.judged_only else "nonrelevant"


def _measured(
    trec: Bunch,
    measures: list[Measure],
    is_official: list[bool],
    arguments: argparse.Namespace,
    of_queries: dict[str, Any],
) -> tuple[Summary, Summary | None, dict[str, Any]]:
    """Compute averages, and columns with a row per measure and topic, ``all`` last."""
    ranking = PreparedRanking(
        trec.target, trec.qid, unjudged=unjudged_of(arguments), **of_queries
    )
    report = ranking.evaluate(trec.score, measures, n_jobs=arguments.jobs)
    summary = report.summary(arguments.average)
    # NaN for measures that trec_eval lacks or defines differently
    official = np.full(report.expected.shape, np.nan)
    for j in np.flatnonzero(is_official):
        options: dict[str, Any] = {"ties": "input", "average": None}
        official[:, j] = ranking.score(trec.score, measures[j], **options)
    of_one = np.full(report.expected.shape, np.nan)  # a topic has no interval
    of_each = {
        "mean": report.expected,
        "worst": report.worst,
        "best": report.best,
        "tie_std": report.std,
        "interval_low": of_one,
        "interval_high": of_one,
        "trec_eval": official,
        "sampling_error": report.sampling_error,
        "n_estimated": report.std_is_estimate.astype(int),
        "n_topics": (~np.isnan(report.expected)).astype(int),
    }
    averaged = _averages.BY_NAME[arguments.average]
    averages = [averaged(column, report.query_weight) for column in official.T]
    of_all = summary.columns | {"trec_eval": averages, "n_topics": summary.n_queries}
    values = {name: np.vstack([of_each[name], of_all[name]]).T for name in of_each}
    keys = {"measure": report.measures, "topic": (*report.qid.tolist(), "all")}
    columns = html.by_cell(keys, values)
    of_segments = None
    if report.segment is not None:
        of_segments = report.by_segment(arguments.average)
        columns["segment"] = np.tile([*report.segment.tolist(), "all"], len(measures))
    return summary, of_segments, columns


def _is_trec_evals(measure: Measure) -> bool:
    """Whether trec_eval 9 or 10 has this measure with the same definition."""
    for version in ("trec_eval9", "trec_eval10"):
        with suppress(ValueError):
            if _resolved.resolve([measure], convention=version).measures == (measure,):
                return True
    return False


def _notes(
    trec: Bunch,
    judged: _trec_lines.TrecLines,
    ranked: _trec_lines.TrecLines,
    of_none: str,
) -> list[str]:
    """Note runs that contradict their scores, and topics that only one file has."""
    nothing = "by score and by rank: nothing orders them"
    # trec_eval reads scores in 32 bits
    score, rank = trec.score.astype(np.float32), trec["rank"]
    ranked_too = not np.isnan(rank[score > -np.inf]).any()
    orders = {"rank": rank if ranked_too else None, "input_order": trec.input_order}
    ties = tie_statistics({"run": score}, qid=trec.qid, **orders)
    unordered = np.nan_to_num(ties.unordered_documents[0]) * ties.n_documents[0]
    missing = len(judged.topics.keys() - ranked.topics.keys())
    unjudged = len(ranked.topics.keys() - judged.topics.keys())
    rising = words.counted(ties.rising_queries[0], "topic", "topics")
    below = f"below a line with a lower score, in {rising} (only scores count)"
    contradicted = words.counted(ties.contradicted_queries[0], "topic", "topics")
    against = f"the scores, in {contradicted} (only scores count)"
    contradictions = max(ties.contradictions[0], 0)
    told = [
        (ties.rises[0], "line is", "lines are", below),
        (contradictions, "rank contradicts", "ranks contradict", against),
        (round(unordered), "document ties", "documents tie", nothing),
        (missing, "topic", "topics", f"with judgments but not in the run: {of_none}"),
        (unjudged, "topic", "topics", "in the run but without judgments: left out"),
    ]
    return [f"{words.counted(n, *nouns)} {what}" for n, *nouns, what in told if n]


def _table(
    rows: list[dict[str, Any]], arguments: argparse.Namespace, measures: list[Measure]
) -> text_tables.Table:
    """Table of averages and, with --per-topic, of every topic."""
    rows = [row for row in rows if arguments.per_topic or row["topic"] == "all"]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    names = ["run", "measure"] if len(arguments.runs) > 1 else ["measure"]
    names += ["topic"] * arguments.per_topic
    worst, mean, best = (columns[name] for name in ("worst", "mean", "best"))
    first, n_names = words.AVERAGES[arguments.average].split()[0], len(names)
    shown = [(name, columns[name]) for name in names] + [(first, mean)]
    others = ("worst", "best", "tie_std", "trec_eval")
    shown += [(name, columns[name]) for name in others]
    drop = [n_names + 3]
    if not arguments.per_topic:
        drop.insert(0, len(shown))
        shown.append(("topics", columns["n_topics"]))
    largest = np.ones(len(mean))
    for measure in measures:
        if np.isinf(measure.maximum):
            # sums have no bound: scale to the largest
            of_measure = columns["measure"] == str(measure)
            largest[of_measure] = np.fmax.reduce(np.fmax(worst, best)[of_measure])
    title = f"{words.AVERAGES[arguments.average].capitalize()} over topics"
    ranges = text_tables.Ranges(worst, mean, best, largest)
    return text_tables.Table.of(
        *shown, left=n_names, drop=drop, ranges=ranges, title=title
    )
