"""The command ``compare``: TREC runs pair by pair."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._display.result import tables_of
from .._display.tables import Table
from ..comparison import SystemComparison, compare_systems
from ..io._text_source import TextSource
from ..io._trec import load_trec
from ..measures._parse import parse_measures
from ..plots import TieRangeDisplay
from ._evaluate import check_labels, check_runs
from ._outputs import Findings, check_outputs, write_findings
from ._slow import note_missing_kernel

DEFAULT_MEASURES = ("ap", "ndcg(gain=linear)@10")
_OF_PAIRS = ("difference", "tie_std", "survives", "statistic", "pvalues")
_MORE_OF_PAIRS = ("adjusted_pvalues", "effect", "n_queries")


def run(arguments: argparse.Namespace) -> None:
    """Read the files, compare the runs, and print or write what was found."""
    check_outputs(arguments, [arguments.qrels, *arguments.runs])
    check_runs(arguments)
    if len(arguments.runs) < 2:
        raise ValueError(f"RUN must name two files or more, got {arguments.runs[0]}")
    measures = parse_measures(arguments.measures)
    topics = "qrels" if arguments.complete else "both"
    trec = load_trec(arguments.qrels, arguments.runs, topics=topics, order="trec_eval")
    check_labels(trec, measures, TextSource(arguments.qrels))
    note_missing_kernel(trec.score.size)
    correction = None if arguments.correction == "none" else arguments.correction
    found = [
        compare_systems(
            trec.target,
            dict(zip(trec.run_names, trec.score.T, strict=True)),
            qid=trec.qid,
            measure=measure,
            test=arguments.test,
            correction=correction,
            unjudged="nonrelevant",
            n_jobs=arguments.jobs,
        )
        for measure in measures
    ]
    write_findings(arguments, _findings(arguments, trec, found))


def _findings(
    arguments: argparse.Namespace, trec: Bunch, found: list[SystemComparison]
) -> Findings:
    names, n_topics = trec.run_names, len(np.unique(trec.qid))
    retrieved = np.isfinite(trec.score)
    own = [len(np.unique(trec.qid[there])) for there in retrieved.T]
    documents = retrieved.sum(axis=0).tolist()
    rows = [row for comparison in found for row in pair_rows(comparison)]
    files = list(zip(names, arguments.runs, own, documents, strict=True))
    return Findings(
        title=f"{len(names)} runs, compared",
        about={
            "qrels": arguments.qrels,
            "measures": [comparison.measure for comparison in found],
            "runs": dict(zip(names, arguments.runs, strict=True)),
            "n_topics": n_topics,
            "test": arguments.test,
            "correction": arguments.correction,
            "systems": [row for comparison in found for row in _averages(comparison)],
            "pairs": rows,
        },
        rows=rows,
        read=[
            f"{path}: {name}, {count} topics, {n_documents} documents"
            for name, path, count, n_documents in files
        ],
        opening=[f"{len(names)} runs on {n_topics} topics of {arguments.qrels}"],
        tables=[table for comparison in found for table in _headed(comparison)],
        remarks=[
            f"{name}: {n_topics - count} of {n_topics} topics are not in the run, and "
            "count as empty lists"
            for name, _, count, _ in files
            if count < n_topics
        ],
        draw=lambda: _picture(found),
    )


def _headed(comparison: SystemComparison) -> list[tuple[str, Table]]:
    """The tables of a comparison, with what each shows."""
    heads = (f"Runs by {comparison.measure}", f"Pairs of runs by {comparison.measure}")
    return list(zip(heads, tables_of(comparison), strict=True))


def pair_rows(comparison: SystemComparison) -> list[dict[str, Any]]:
    """A dict of plain values for each pair."""
    columns: dict[str, NDArray[Any]] = {
        name.replace("pvalues", "pvalue"): getattr(comparison, name)
        for name in (*_OF_PAIRS, *_MORE_OF_PAIRS)
    }
    for name in ("difference_interval", "tie_range", "effect_interval"):
        columns[f"{name}_low"], columns[f"{name}_high"] = getattr(comparison, name).T
    names = comparison.systems
    return [
        {"measure": comparison.measure, "a": names[a], "b": names[b]}
        | {name: values[i].item() for name, values in columns.items()}
        for i, (a, b) in enumerate(comparison.pairs.tolist())
    ]


def _averages(comparison: SystemComparison) -> list[dict[str, Any]]:
    summary = comparison.summary()
    return [
        {"measure": comparison.measure, "run": name}
        | {
            figure: getattr(summary, figure)[i].item()
            for figure in ("mean", "worst", "best", "tie_std")
        }
        for i, name in enumerate(comparison.systems)
    ]


def _picture(found: list[SystemComparison]) -> TieRangeDisplay:
    summaries = [comparison.summary() for comparison in found]
    mean, best, worst, interval = (
        np.stack([getattr(summary, name) for summary in summaries], axis=1)
        for name in ("mean", "best", "worst", "interval")
    )
    return TieRangeDisplay(
        found[0].systems,
        tuple(comparison.measure for comparison in found),
        mean,
        best,
        worst,
        average="mean over topics",
        greater_is_better=found[0].greater_is_better,
        interval=interval,
    ).plot()
