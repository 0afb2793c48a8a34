"""The command ``evaluate``, which computes exact scores of TREC runs or tables."""

import warnings
from argparse import Namespace
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.utils import Bunch

from .._display import html, progress_bars, text_tables, words
from .._engine import checks
from ..comparison import tie_statistics
from ..evaluation import PreparedRanking, RankingReport, Summary, _resolved, _text
from ..io import _arrow, _locate, _source, _tables, _trec, _trec_inputs, _trec_lines
from ..measures import Measure, _cumulated_gain, _parse
from ..plots import TieRangeDisplay
from ..statistics.averages import AVERAGE_FUNCTIONS
from . import _outputs

#: Measures that trec_eval defines differently under the same name, and the measures to
#: use in their place.
_TREC_EVAL_NAMES = {
    "NDCG": "ndcg(gain=linear), with discount=log2",
    "IPrec": "iprec_at_recall_0.10 (version 10: iprec(rounding=nearest)@0.1)",
    "IAP": "11pt_avg (version 10: iap(rounding=nearest))",
}


@dataclass(frozen=True)
class _RunResult:
    """Values of a run by measure and topic, and notes on the run."""

    report: RankingReport
    summary: Summary
    rows: _outputs.Rows
    notes: list[str]


def run(arguments: Namespace) -> int:
    """Read the files, evaluate every system, and print or write the results."""
    if arguments.score is None:
        findings = _evaluate_runs(arguments)
    else:
        findings = _evaluate_table(arguments)
    return _outputs.write_findings(arguments, findings)


def _evaluate_runs(arguments: Namespace) -> _outputs.Findings:
    """Evaluate TREC runs."""
    if not (arguments.csv or arguments.json or arguments.report):
        # The printed table contains no interval that could be too short.
        warnings.filterwarnings("ignore", "the values per query")
    average = arguments.average
    paths = arguments.runs
    _outputs.check_files(arguments, [arguments.qrels, *paths])
    measures = _parse.parse_measures(arguments.measures)
    judgments = _trec_inputs.read_judgments(_source.TextSource(arguments.qrels))
    read = [_describe(judgments, arguments.qrels, "judgments")]
    shows_bar = progress_bars.shows_progress(arguments.quiet) and len(paths) > 1
    tags = []
    results = []
    for path in progress_bars.show_progress(paths, shows_bar, len(paths), "run"):
        documents = _trec_inputs.read_run(_source.TextSource(path))
        read.append(_describe(documents, path, "documents"))
        tags.append(documents.tag)
        results.append(_evaluate_run(arguments, measures, judgments, documents))
    names = _trec_inputs.run_names(paths, tags)
    rows = []
    remarks = []
    reports = {}
    summaries = {}
    for name, result in zip(names, results, strict=True):
        reports[name] = result.report
        summaries[name] = result.summary
        rows += [{"run": name, "average": average, **row} for row in result.rows]
        remarks += [f"{name}: {note}" for note in result.notes]
    for name, definition in _TREC_EVAL_NAMES.items():
        different = [
            str(measure)
            for measure in measures
            if measure.name == name and not _is_in_trec_eval(measure)
        ]
        if different:
            listed = ", ".join(different)
            remarks.append(f"{listed}: trec_eval's {name} is {definition}")
    title = names[0] if len(names) == 1 else f"{len(names)} runs"
    about = {
        "qrels": arguments.qrels,
        "average": average,
        "measures": list(map(str, measures)),
        "runs": dict(zip(names, paths, strict=True)),
    }
    about["results"] = rows
    tables = [_table(rows, arguments)]
    conclusion = _conclusion(summaries, measures)
    label = f"{words.AVERAGES[average]} over topics"

    def draw() -> TieRangeDisplay:
        # The runs have different chance levels.
        return TieRangeDisplay.from_result(summaries, average=label, chance=None)

    return _outputs.Findings(
        title=f"{title}, evaluated",
        about=about,
        rows=rows,
        read=read,
        tables=tables,
        remarks=remarks,
        draw=draw,
        conclusion=conclusion,
        reports=reports,
    )


def _evaluate_table(arguments: Namespace) -> _outputs.Findings:
    """Evaluate columns of scores, with rows for each query if --per-topic is set."""
    table = read_table(arguments)
    measures = _parse.parse_measures(arguments.measures)
    reports = evaluate_columns(arguments, table, measures)
    rows = []
    tables = []
    summaries = {}
    for name, report in reports.items():
        summary = report.summary(arguments.average)
        summaries[name] = summary
        result = report if arguments.per_topic else summary
        for row in _outputs.rows_of(result._columns()):
            rows.append({"system": name, **row})
        for means in summary._tables():
            first, *figures = means.columns
            columns = [first._replace(head=name), *figures]
            tables.append(replace(means, columns=columns, title=name))
    about = {
        "read": table.DESCR,
        "average": arguments.average,
        # All reports have the same measures.
        "measures": report.measures,
        "results": rows,
    }
    title = f"{', '.join(reports)}, evaluated"
    conclusion = _conclusion(summaries, measures)
    draw = partial(TieRangeDisplay.from_result, summaries)
    return _outputs.Findings(
        title=title,
        about=about,
        rows=rows,
        read=[table.DESCR],
        tables=tables,
        remarks=[],
        draw=draw,
        conclusion=conclusion,
        reports=reports,
    )


def evaluate_columns(
    arguments: Namespace, table: Bunch, measures: list[Measure]
) -> dict[str, RankingReport]:
    """Evaluate the columns that --score names, which share the labels."""
    unjudged = arguments.unjudged or "raise"
    ranking = PreparedRanking(table.target, table.qid, unjudged=unjudged)
    reports = {}
    for name in arguments.score:
        scores = table.data[name]
        reports[name] = ranking.evaluate(scores, measures, n_jobs=arguments.jobs)
    return reports


def _conclusion(summaries: dict[str, Summary], measures: list[Measure]) -> list[str]:
    """Return sentences about the only system, or the best system by each measure."""
    systems = list(summaries)
    first = summaries[systems[0]]
    if len(systems) == 1:
        return _text.conclusion(first)
    average = words.AVERAGES[first.average]
    sentences = []
    for j, measure in enumerate(measures):
        means = np.array([summary.mean[j] for summary in summaries.values()])
        if np.isnan(means).all():
            continue
        if measure.greater_is_better:
            best, extreme = np.nanmax(means), "highest"
        else:
            best, extreme = np.nanmin(means), "lowest"
        names = ", ".join(systems[i] for i in np.flatnonzero(means == best))
        sentences.append(
            f"By {measure}, the {extreme} {average} is {words.number(best)} ({names})."
        )
    sentences.append("tieaware compare tests whether the systems differ.")
    return sentences


def read_table(arguments: Namespace) -> Bunch:
    """Read the columns of tables that the options name.

    Raises
    ------
    ValueError
        If a value is invalid. The message states the column, the file and the row.
    """
    files = _locate.find_files([arguments.qrels, *arguments.runs], "FILE")
    _outputs.check_files(arguments, map(str, files.paths))
    label = arguments.label or "label"
    qid = arguments.qid or "qid"
    options = _arrow.TableOptions(label, qid, features=arguments.score)
    rankings = _tables.open_tables(_source.sources_of(files), options)
    # If no number of rows is set, the only batch contains all rows.
    table = next(rankings.batches(as_frame=True))
    place = table.place
    unjudged = arguments.unjudged or "raise"
    checks.check_labels(table.target, unjudged=unjudged, name=label, place=place)
    for name in arguments.score:
        checks.check_scores(table.data[name], name=name, place=place)
    return table


def _describe(lines: _trec_lines.TrecLines, path: str, noun: str) -> str:
    """Describe what was read from a file: judgments or documents."""
    tag = "" if lines.tag is None else f", tag {lines.tag}"
    topics = words.counted(len(lines.topics), "topic", "topics")
    return f"{path}: {topics}, {lines.n_lines} {noun}{tag}"


def check_labels(trec: Bunch, measures: list[Measure], judgments: str) -> None:
    """Check labels. Errors name the file, topic and document of a refused label."""
    refused = _cumulated_gain.refused_label(measures, trec.target)
    if refused is not None:
        row, reason = refused
        topic, docno = trec.qid[row], trec.docno[row]
        raise ValueError(f"{judgments}: topic {topic}, document {docno}: {reason}")


def _evaluate_run(
    arguments: Namespace,
    measures: list[Measure],
    judgments: _trec_lines.TrecLines,
    documents: _trec_lines.TrecLines,
) -> _RunResult:
    """Evaluate a run, with a row for each measure and topic; ``all`` is the last."""
    topics = arguments.topics
    trec = _trec.join(judgments, [documents], None, topics=topics, order="trec_eval")
    check_labels(trec, measures, judgments.source)
    unjudged = arguments.unjudged or "nonrelevant"
    ranking = PreparedRanking(trec.target, trec.qid, unjudged=unjudged)
    report = ranking.evaluate(trec.score, measures, n_jobs=arguments.jobs)
    summary = report.summary(arguments.average)
    # A single topic has no interval.
    no_interval = np.full(report.expected.shape, np.nan)
    # The value stays NaN if trec_eval lacks a measure or defines it differently.
    official = no_interval.copy()
    for j, measure in enumerate(measures):
        if _is_in_trec_eval(measure):
            # The rows are in trec_eval's order of ties.
            values = ranking.score(trec.score, measure, ties="input", average=None)
            official[:, j] = values
    average = AVERAGE_FUNCTIONS[arguments.average]
    averages = dict(summary.columns)
    averages["trec_eval"] = np.array([average(column) for column in official.T])
    averages["n_topics"] = summary.n_queries
    by_topic = {
        "mean": report.expected,
        "worst": report.worst,
        "best": report.best,
        "tie_std": report.std,
        "interval_low": no_interval,
        "interval_high": no_interval,
        "trec_eval": official,
    }
    by_topic["sampling_error"] = report.sampling_error
    by_topic["n_estimated"] = report.std_is_estimate.astype(int)
    by_topic["n_topics"] = (~np.isnan(report.expected)).astype(int)
    cells = {}
    for name, values in by_topic.items():
        cells[name] = np.vstack([values, averages[name]]).T
    keys = {"measure": report.measures, "topic": (*report.qid.tolist(), "all")}
    rows = _outputs.rows_of(html.by_cell(keys, cells))
    notes = []
    text = report._undefined_in_words(arguments.average, can_skip=False)
    if text:
        notes.append(words.counted(len(report.qid), "topic", "topics") + text)
    notes += _text.estimates(summary)
    notes += _notes(trec, judgments, documents, topics)
    return _RunResult(report, summary, rows, notes)


def _is_in_trec_eval(measure: Measure) -> bool:
    """Return whether trec_eval 9 or 10 defines this measure in the same way."""
    for version in ("trec_eval9", "trec_eval10"):
        with suppress(ValueError):
            if _resolved.define(measure, version).filled() == measure.filled():
                return True
    return False


def _notes(
    trec: Bunch,
    judgments: _trec_lines.TrecLines,
    documents: _trec_lines.TrecLines,
    topics: str,
) -> list[str]:
    """Note runs that contradict their scores, and topics that only one file has."""
    rank = trec["rank"]
    # `tie_statistics` refuses missing ranks of retrieved documents.
    if np.isnan(rank[trec.score > -np.inf]).any():
        rank = None
    ties = tie_statistics(
        {"run": trec.score}, qid=trec.qid, rank=rank, input_order=trec.input_order
    )
    rising = words.counted(ties.rising_queries[0], "topic", "topics")
    contradicted = words.counted(ties.contradicted_queries[0], "topic", "topics")
    # Without ranks, the share of unordered documents is NaN.
    unordered = np.nan_to_num(ties.unordered_documents[0]) * ties.n_documents[0]
    missing = judgments.topics.keys() - documents.topics.keys()
    unjudged = documents.topics.keys() - judgments.topics.keys()
    treatment = "counted as empty lists"
    if topics == "both":
        treatment = "left out (-c counts them)"
    notes = []

    def add(count: int, singular: str, plural: str, text: str) -> None:
        if count > 0:
            notes.append(f"{words.counted(count, singular, plural)} {text}")

    text = f"below a line with a lower score, in {rising} (only scores count)"
    add(ties.rises[0], "line is", "lines are", text)
    text = f"the scores, in {contradicted} (only scores count)"
    add(ties.contradictions[0], "rank contradicts", "ranks contradict", text)
    text = "by score and by rank: nothing orders them"
    add(round(unordered), "document ties", "documents tie", text)
    text = f"with judgments but not in the run: {treatment}"
    add(len(missing), "topic", "topics", text)
    text = "in the run but without judgments: left out"
    add(len(unjudged), "topic", "topics", text)
    return notes


def _table(rows: _outputs.Rows, arguments: Namespace) -> text_tables.Table:
    """Return a table of averages and, with --per-topic, of values of every topic."""
    names = ["measure"]
    if len(arguments.runs) > 1:
        names.insert(0, "run")
    figures = ["mean", "worst", "best", "tie_std", "trec_eval"]
    if arguments.per_topic:
        names.append("topic")
    else:
        figures.append("n_topics")
        rows = [row for row in rows if row["topic"] == "all"]
    average = words.AVERAGES[arguments.average]
    heads = {"mean": average.split()[0], "n_topics": "topics"}
    shown = [*names, *figures]
    columns = []
    for name in shown:
        columns.append((heads.get(name, name), [row[name] for row in rows]))
    drop = [shown.index(name) for name in ("n_topics", "tie_std") if name in shown]
    title = f"{average.capitalize()} over topics"
    return text_tables.Table.of(*columns, left=len(names), drop=drop, title=title)
