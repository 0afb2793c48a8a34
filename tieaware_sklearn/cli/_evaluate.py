"""The command ``evaluate``: the exact scores of TREC runs, or of tables."""

import argparse
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._display import html, progress_bars, text_tables, words
from .._engine import checks
from ..comparison import tie_statistics
from ..evaluation import PreparedRanking, RankingReport, Summary, _resolved, _text
from ..io import (
    _arrow,
    _locate,
    _source,
    _tables,
    _trec,
    _trec_inputs,
    _trec_lines,
)
from ..measures import Measure, _cumulated_gain, _parse
from ..plots import TieRangeDisplay
from ..statistics.averages import AVERAGE_FUNCTIONS
from . import _outputs

#: measures to use where trec_eval defines one of the same name differently
_OTHERWISE = {
    "NDCG": "ndcg(gain=linear), with discount=log2",
    "IPrec": "iprec_at_recall_0.10 (version 10: iprec(rounding=nearest)@0.1)",
    "IAP": "11pt_avg (version 10: iap(rounding=nearest))",
}


@dataclass(frozen=True)
class _Result:
    """Values of a run, whose name depends on the tags of all runs."""

    tag: str | None
    read: str
    report: RankingReport
    summary: Summary
    rows: list[dict[str, Any]]
    notes: list[str]


def run(arguments: argparse.Namespace) -> int:
    """Read the files, measure every system, and print or write the results."""
    evaluated = _of_runs if arguments.score is None else _of_table
    return _outputs.write_findings(arguments, evaluated(arguments))


def _of_runs(arguments: argparse.Namespace) -> _outputs.Findings:
    """Measure TREC runs."""
    if not (arguments.csv or arguments.json or arguments.report):
        # what is printed has no interval
        warnings.filterwarnings("ignore", "the values per query")
    average, paths = arguments.average, arguments.runs
    _outputs.check_files(arguments, [arguments.qrels, *paths])
    measures = _parse.parse_measures(arguments.measures)
    judged = _trec_inputs.read_judgments(_source.TextSource(arguments.qrels))
    bar = progress_bars.shows_progress(arguments.quiet) and len(paths) > 1
    results = [
        _measured(arguments, measures, judged, path)
        for path in progress_bars.show_progress(paths, bar, len(paths), "run")
    ]
    names = _trec_inputs.run_names(paths, [result.tag for result in results])
    rows, remarks, summaries, reports = [], [], {}, {}
    for name, result in zip(names, results, strict=True):
        summaries[name], reports[name] = result.summary, result.report
        about = {"run": name, "average": average}
        rows += [about | row for row in result.rows]
        remarks += [f"{name}: {note}" for note in result.notes]
    others = [measure for measure in measures if not _is_trec_evals(measure)]
    for name, otherwise in _OTHERWISE.items():
        if same := [str(measure) for measure in others if measure.name == name]:
            remarks.append(f"{', '.join(same)}: trec_eval's {name} is {otherwise}")
    return _outputs.Findings(
        title=f"{names[0] if len(names) == 1 else f'{len(names)} runs'}, evaluated",
        about={
            "qrels": arguments.qrels,
            "average": average,
            "measures": list(map(str, measures)),
            "runs": dict(zip(names, paths, strict=True)),
            "results": rows,
        },
        rows=rows,
        read=[
            _described(arguments.qrels, judged, "judgments"),
            *(result.read for result in results),
        ],
        tables=[_table(rows, arguments)],
        remarks=remarks,
        draw=lambda: of_topics(summaries, f"{words.AVERAGES[average]} over topics"),
        conclusion=_conclusion(summaries, measures),
        reports=reports,
    )


def _of_table(arguments: argparse.Namespace) -> _outputs.Findings:
    """Measure columns of scores. With --per-topic, rows are of each query."""
    table = read_table(arguments)
    ranking = PreparedRanking(
        table.target, table.qid, unjudged=arguments.unjudged or "raise"
    )
    reports, summaries, rows, tables = {}, {}, [], []
    for name in arguments.score:
        report = ranking.evaluate(
            table.data[name], arguments.measures, n_jobs=arguments.jobs
        )
        summary = report.summary(arguments.average)
        reports[name], summaries[name] = report, summary
        shown = report if arguments.per_topic else summary
        for row in _outputs.rows_of(shown._columns()):
            rows.append({"system": name, **row})
        for means in summary._tables():
            measure, *figures = means.columns
            named = [measure._replace(head=name), *figures]
            tables.append(replace(means, columns=named, title=name))
    return _outputs.Findings(
        title=f"{', '.join(reports)}, evaluated",
        about={
            "read": table.DESCR,
            "average": arguments.average,
            "measures": report.measures,
            "results": rows,
        },
        rows=rows,
        read=[table.DESCR],
        tables=tables,
        remarks=[],
        draw=lambda: TieRangeDisplay.from_result(summaries),
        conclusion=_conclusion(summaries, _parse.parse_measures(arguments.measures)),
        reports=reports,
    )


def _conclusion(summaries: dict[str, Summary], measures: list[Measure]) -> list[str]:
    """Sentences on the only system, or on the best one by each measure."""
    systems = list(summaries)
    if len(systems) == 1:
        return _text.conclusion(summaries[systems[0]])
    average = words.AVERAGES[summaries[systems[0]].average]
    sentences = []
    for j, measure in enumerate(measures):
        means = np.array([summary.mean[j] for summary in summaries.values()])
        if np.isnan(means).all():
            continue
        best, extreme = np.nanmax(means), "highest"
        if not measure.greater_is_better:
            best, extreme = np.nanmin(means), "lowest"
        names = ", ".join(systems[i] for i in np.flatnonzero(means == best))
        sentences.append(
            f"By {measure}, the {extreme} {average} is {words.number(best)} ({names})."
        )
    sentences.append("tieaware compare tests whether the systems differ.")
    return sentences


def read_table(arguments: argparse.Namespace) -> Bunch:
    """Read the columns of tables that the options name.

    Raises
    ------
    ValueError
        For a value that is refused, with the column, the file and the row.
    """
    files = _locate.find_files([arguments.qrels, *arguments.runs], "FILE")
    _outputs.check_files(arguments, map(str, files.paths))
    label, score = arguments.label or "label", arguments.score
    options = _arrow.TableOptions(label, arguments.qid or "qid", features=score)
    rankings = _tables.open_tables(_source.sources_of(files), options)
    table = next(rankings.batches(as_frame=True))
    checks.check_labels(
        table.target,
        unjudged=arguments.unjudged or "raise",
        name=label,
        place=table.place,
    )
    for name in score:
        checks.check_scores(table.data[name], name=name, place=table.place)
    return table


def of_topics(result: Any, average: str) -> TieRangeDisplay:
    """Plot summaries of runs, which have no chance level in common."""
    return TieRangeDisplay.from_result(result, average=average, chance=None)


def _described(path: str, lines: _trec_lines.TrecLines, what: str) -> str:
    """Describe in words what was read from a file."""
    tag = "" if lines.tag is None else f", tag {lines.tag}"
    topics = words.counted(len(lines.topics), "topic", "topics")
    return f"{path}: {topics}, {lines.n_lines} {what}{tag}"


def check_labels(trec: Bunch, measures: list[Measure], judgments: str) -> None:
    """Check labels, and name the file, topic and document of a refused one."""
    if refused := _cumulated_gain.refused_label(measures, trec.target):
        row, why = refused
        topic, docno = trec.qid[row], trec.docno[row]
        raise ValueError(f"{judgments}: topic {topic}, document {docno}: {why}")


def _measured(
    arguments: argparse.Namespace,
    measures: list[Measure],
    judged: _trec_lines.TrecLines,
    path: str,
) -> _Result:
    """Measure a run: a row for each measure and topic, with ``all`` last."""
    ranked = _trec_inputs.read_run(_source.TextSource(path))
    topics = arguments.topics
    trec = _trec.join(judged, [ranked], None, topics=topics, order="trec_eval")
    check_labels(trec, measures, judged.source)
    ranking = PreparedRanking(
        trec.target,
        trec.qid,
        unjudged=arguments.unjudged or "nonrelevant",
    )
    report = ranking.evaluate(trec.score, measures, n_jobs=arguments.jobs)
    summary = report.summary(arguments.average)
    undefined = np.full(report.expected.shape, np.nan)
    # NaN for measures that trec_eval lacks or defines differently
    official = undefined.copy()
    for j, measure in enumerate(measures):
        if _is_trec_evals(measure):
            score = ranking.score(trec.score, measure, ties="input", average=None)
            official[:, j] = score
    of_each = {
        "mean": report.expected,
        "worst": report.worst,
        "best": report.best,
        "tie_std": report.std,
        "interval_low": undefined,
        "interval_high": undefined,
        "trec_eval": official,
        "sampling_error": report.sampling_error,
        "n_estimated": report.std_is_estimate.astype(int),
        "n_topics": (~np.isnan(report.expected)).astype(int),
    }
    averaged = AVERAGE_FUNCTIONS[arguments.average]
    averages = [averaged(column) for column in official.T]
    of_all = summary.columns | {"trec_eval": averages, "n_topics": summary.n_queries}
    values = {name: np.vstack([of_each[name], of_all[name]]).T for name in of_each}
    keys = {"measure": report.measures, "topic": (*report.qid.tolist(), "all")}
    columns = html.by_cell(keys, values)
    notes = [*_text.estimates(summary), *_notes(trec, judged, ranked, topics)]
    if text := report._undefined_in_words(arguments.average, can_skip=False):
        notes.insert(0, words.counted(len(report.qid), "topic", "topics") + text)
    return _Result(
        tag=ranked.tag,
        read=_described(path, ranked, "documents"),
        report=report,
        summary=summary,
        rows=_outputs.rows_of(columns),
        notes=notes,
    )


def _is_trec_evals(measure: Measure) -> bool:
    """Whether trec_eval 9 or 10 has this measure with the same definition."""
    for version in ("trec_eval9", "trec_eval10"):
        with suppress(ValueError):
            if _resolved.define(measure, version).filled() == measure.filled():
                return True
    return False


def _notes(
    trec: Bunch,
    judged: _trec_lines.TrecLines,
    ranked: _trec_lines.TrecLines,
    topics: str,
) -> list[str]:
    """Note runs that contradict their scores, and topics that only one file has."""
    of_none = (
        "left out (-c counts them)" if topics == "both" else "counted as empty lists"
    )
    nothing = "by score and by rank: nothing orders them"
    rank = trec["rank"]
    if np.isnan(rank[trec.score > -np.inf]).any():
        rank = None
    ties = tie_statistics(
        {"run": trec.score}, qid=trec.qid, rank=rank, input_order=trec.input_order
    )
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
    rows: list[dict[str, Any]], arguments: argparse.Namespace
) -> text_tables.Table:
    """Table of averages and, with --per-topic, of every topic."""
    rows = [row for row in rows if arguments.per_topic or row["topic"] == "all"]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    names = ["run", "measure"] if len(arguments.runs) > 1 else ["measure"]
    if arguments.per_topic:
        names.append("topic")
    average = words.AVERAGES[arguments.average]
    shown = {name: columns[name] for name in names}
    shown[average.split()[0]] = columns["mean"]
    for name in ("worst", "best", "tie_std", "trec_eval"):
        shown[name] = columns[name]
    if not arguments.per_topic:
        shown["topics"] = columns["n_topics"]
    return text_tables.Table.of(
        *shown.items(),
        left=len(names),
        drop=[
            list(shown).index(name) for name in ("topics", "tie_std") if name in shown
        ],
        title=f"{average.capitalize()} over topics",
    )
