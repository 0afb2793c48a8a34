"""The command ``evaluate``: the exact scores of TREC runs."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._display import Ranges, Table, show_progress, shows_progress
from ..evaluation import PreparedRanking, ask, estimates, reduce_queries
from ..io import (
    TextSource,
    TrecLines,
    given_qrels,
    given_run,
    run_names,
    trec_rows,
)
from ..measures import (
    NDCG,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Measure,
    parse_measures,
    refused_label,
)
from ..plots import TieRangeDisplay
from ._outputs import Findings, check_outputs, write_findings
from ._slow import note_missing_kernel

DEFAULT_MEASURES = ("ap", "rprec", "bpref", "rr", "p@10", "ndcg(gain=linear)@10")
_SPELLED = {"macro": "mean", "geometric": "geometric mean"}
_FIGURES = ("mean", "worst", "best", "tie_std", "trec_eval")
#: what to ask for where trec_eval has a measure of that name, defined otherwise
_OTHERWISE: dict[type[Measure], str] = {
    NDCG: "ndcg(gain=linear)",
    InterpolatedPrecision: "iprec_at_recall_0.10 (version 10: "
    "iprec(rounding=nearest)@0.1)",
    InterpolatedAveragePrecision: "11pt_avg (version 10: iap(rounding=nearest))",
}


def run(arguments: argparse.Namespace) -> None:
    """Read the files, measure every run, and print or write what was found."""
    check_outputs(arguments, [arguments.qrels, *arguments.runs])
    check_runs(arguments)
    measures = parse_measures(arguments.measures)
    judgments = TextSource(arguments.qrels)
    judged = given_qrels(judgments)
    found: list[tuple[list[dict[str, Any]], list[str]]] = []
    tags: list[str | None] = []
    n_scores = 0
    read = [describe(arguments.qrels, judged, "judgments")]
    bar = shows_progress(arguments.quiet) and len(arguments.runs) > 1
    for path in show_progress(arguments.runs, bar, len(arguments.runs), "run"):
        source = TextSource(path)
        ranked = given_run(source)
        trec = trec_rows(
            judged,
            [ranked],
            None,
            topics="qrels" if arguments.complete else "both",
            order="trec_eval",
        )
        check_labels(trec, measures, judgments)
        n_scores, before = n_scores + len(trec.score), n_scores
        note_missing_kernel(n_scores, before)
        rows, notes = measure_run(
            trec, measures, arguments.average, unjudged_of(arguments), arguments.jobs
        )
        notes += left_out(set(judged.topics), set(ranked.topics), arguments.complete)
        found.append((rows, notes))
        tags.append(ranked.tag)
        read.append(describe(path, ranked, "documents"))
    names = run_names(arguments.runs, tags)
    write_findings(arguments, _findings(arguments, measures, names, found, read))


def _findings(
    arguments: argparse.Namespace,
    measures: list[Measure],
    names: list[str],
    found: list[tuple[list[dict[str, Any]], list[str]]],
    read: list[str],
) -> Findings:
    average = arguments.average
    rows = [
        {"run": name, "average": average, **row}
        for name, (of_run, _) in zip(names, found, strict=True)
        for row in of_run
    ]
    remarks = [
        f"{name}: {note}"
        for name, (_, notes) in zip(names, found, strict=True)
        for note in notes
    ]
    remarks += [
        f"trec_eval's {measure.name} is {_OTHERWISE[type(measure)]}"
        for measure in measures
        if type(measure) in _OTHERWISE and not _is_trec_evals(measure)
    ]
    heading = f"{_SPELLED.get(average, average).capitalize()} over topics"
    table = result_table(rows, arguments, measures)
    return Findings(
        title=f"{names[0] if len(names) == 1 else f'{len(names)} runs'}, evaluated",
        about={
            "qrels": arguments.qrels,
            "average": average,
            "measures": [str(measure) for measure in measures],
            "runs": dict(zip(names, arguments.runs, strict=True)),
            "results": rows,
        },
        rows=rows,
        read=read,
        opening=[],
        tables=[(heading, table)],
        remarks=remarks,
        draw=lambda: tie_ranges(
            rows, average, greater_is_better=measures[0].greater_is_better
        ),
    )


def describe(path: str, lines: TrecLines, what: str) -> str:
    """What was read from a file."""
    tag = "" if lines.tag is None else f", tag {lines.tag}"
    return f"{path}: {_topics(len(lines.topics))}, {len(lines.docno)} {what}{tag}"


def tie_ranges(
    rows: list[dict[str, Any]], average: str, *, greater_is_better: bool
) -> TieRangeDisplay:
    """The averages of all runs as a plot.

    Without a chance level: that of the judged and retrieved documents is another one
    for each run, and none of a collection.
    """
    means = [row for row in rows if row["topic"] == "all"]
    runs = tuple(dict.fromkeys(row["run"] for row in means))
    measures = tuple(dict.fromkeys(row["measure"] for row in means))
    mean, best, worst, low, high = (
        np.reshape([row[name] for row in means], (len(runs), len(measures)))
        for name in ("mean", "best", "worst", "interval_low", "interval_high")
    )
    return TieRangeDisplay(
        runs,
        measures,
        mean,
        best,
        worst,
        average=f"{_SPELLED.get(average, average)} over topics",
        greater_is_better=greater_is_better,
        interval=np.stack([low, high], axis=-1),
    ).plot()


def check_runs(arguments: argparse.Namespace) -> None:
    """Refuse files that are named twice."""
    if [arguments.qrels, *arguments.runs].count("-") > 1:
        raise ValueError("only one of the files can be standard input (-)")
    for path in arguments.runs:
        if arguments.runs.count(path) > 1:
            raise ValueError(f"RUN must name each file once, got {path} twice")


def check_labels(trec: Bunch, measures: list[Measure], judgments: TextSource) -> None:
    """Name the file, topic and document of a label that a measure refuses."""
    judged = ~np.isnan(trec.target)
    if refused := refused_label(measures, trec.target[judged]):
        row, why = refused
        topic, docno = trec.qid[judged][row], trec.docno[judged][row]
        raise ValueError(f"{judgments}: topic {topic}, document {docno}: {why}")


def unjudged_of(arguments: argparse.Namespace) -> str:
    """What becomes of documents without a judgment."""
    return "drop" if arguments.judged_only else "nonrelevant"


def measure_run(
    trec: Bunch,
    measures: list[Measure],
    average: str,
    unjudged: str,
    n_jobs: int | None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row per measure and topic, ``all`` last; and what there is to say of a run."""
    ranking = PreparedRanking(trec.target, trec.qid, unjudged=unjudged)
    report = ranking.evaluate(trec.score, measures, n_jobs=n_jobs)
    summary = report.summary(average)
    # NaN for measures that trec_eval has not, or not so
    official = np.full(report.expected.shape, np.nan)
    for j, measure in enumerate(measures):
        if _is_trec_evals(measure):
            official[:, j] = ranking.score(
                trec.score, measure, ties="input", average=None
            )
    of_one = np.full(report.expected.shape, np.nan)  # a topic has no interval
    # of every topic, and of all
    columns: dict[str, tuple[NDArray[Any], Any]] = {
        "mean": (report.expected, summary.mean),
        "worst": (report.worst, summary.worst),
        "best": (report.best, summary.best),
        "tie_std": (report.std, summary.tie_std),
        "interval_low": (of_one, summary.interval[:, 0]),
        "interval_high": (of_one, summary.interval[:, 1]),
        "trec_eval": (official, [reduce_queries(own, average) for own in official.T]),
        "sampling_error": (report.sampling_error, summary.sampling_error),
        "n_estimated": (report.std_is_estimate.astype(int), summary.n_estimated),
        "n_topics": ((~np.isnan(report.expected)).astype(int), summary.n_queries),
    }
    figures = {name: np.vstack(both) for name, both in columns.items()}
    rows = [
        {
            "measure": measure,
            "topic": topic,
            **{name: values[i, j].item() for name, values in figures.items()},
        }
        for j, measure in enumerate(report.measures)
        for i, topic in enumerate([*report.qid.tolist(), "all"])
    ]
    return rows, [*estimates(summary), *_disorder(trec)]


def _is_trec_evals(measure: Measure) -> bool:
    """Whether version 9 or 10 has it, defined alike."""
    for version in ("trec_eval9", "trec_eval10"):
        with suppress(ValueError):
            if ask([measure], convention=version).measures == (measure,):
                return True
    return False


def _disorder(trec: Bunch) -> list[str]:
    """Where the file itself says otherwise than its scores."""
    notes = []
    if count := trec.n_inversions:
        lines = "line is" if count == 1 else "lines are"
        notes.append(
            f"{count} {lines} below a line with a lower score (only scores count)"
        )
    if count := trec.n_contradictions:
        ranks = "rank contradicts" if count == 1 else "ranks contradict"
        notes.append(f"{count} {ranks} the scores (only scores count)")
    return notes


def left_out(judged: set[bytes], ranked: set[bytes], complete: bool) -> list[str]:
    """Topics that only one of the files has."""
    notes = []
    if missing := len(judged - ranked):
        what = "counted as empty lists" if complete else "left out (-c counts them)"
        notes.append(f"{_topics(missing)} with judgments but not in the run: {what}")
    if unjudged := len(ranked - judged):
        notes.append(f"{_topics(unjudged)} in the run but without judgments: left out")
    return notes


def _topics(count: int) -> str:
    return "1 topic" if count == 1 else f"{count} topics"


def result_table(
    rows: list[dict[str, Any]], arguments: argparse.Namespace, measures: list[Measure]
) -> Table:
    """Averages, and every topic if wanted."""
    names = ["run", "measure"] if len(arguments.runs) > 1 else ["measure"]
    first = "mean" if arguments.average == "macro" else arguments.average
    if arguments.per_topic:
        names.append("topic")
    else:
        rows = [row for row in rows if row["topic"] == "all"]
    columns = {name: [row[name] for row in rows] for name in [*names, *_FIGURES]}
    shown = [(name, columns[name]) for name in names]
    heads = [first, *(name.replace("_", " ") for name in _FIGURES[1:-1]), "trec_eval"]
    shown += [(head, columns[name]) for head, name in zip(heads, _FIGURES, strict=True)]
    drop = [len(names) + 3]
    if not arguments.per_topic:
        drop.insert(0, len(shown))
        shown.append(("topics", [row["n_topics"] for row in rows]))
    worst, mean, best = (np.array(columns[name]) for name in ("worst", "mean", "best"))
    ends = np.fmax(worst, best)
    of_measure = np.array(columns["measure"])
    largest = np.ones(len(rows))
    for measure in measures:
        if np.isinf(measure.maximum):
            # a sum: to the largest one that there is
            own = of_measure == str(measure)
            largest[own] = np.fmax.reduce(ends[own])
    ranges = Ranges(worst, mean, best, largest)
    return Table.of(*shown, left=len(names), drop=drop, ranges=ranges)
