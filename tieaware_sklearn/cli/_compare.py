"""The command ``compare``: TREC runs pair by pair."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._display import Table, conclusion_of, tables_of
from ..comparison import SystemComparison, compare_systems
from ..io import TextSource, load_trec
from ..measures import parse_measures
from ..plots import TieRangeDisplay
from ._evaluate import check_labels, check_runs, unjudged_of
from ._outputs import Findings, check_outputs, write_findings
from ._slow import note_missing_kernel

DEFAULT_MEASURES = ("ap", "ndcg(gain=linear)@10")
DEFAULT_TIES = ("expected",)
#: treatments of ties: of all orders, by trec_eval, and by what the file of a run says
TIES = ("expected", "best", "worst", "official", "rank", "file")
_OF_PAIRS = ("difference", "tie_std", "survives", "statistic", "pvalues")
_MORE_OF_PAIRS = ("adjusted_pvalues", "effect", "n_queries")
_INTERVALS = ("difference_interval", "tie_range")


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
    found = compare_systems(
        trec.target,
        dict(zip(trec.run_names, trec.score.T, strict=True)),
        qid=trec.qid,
        measure=measures,
        ties=list(dict.fromkeys(arguments.ties)),
        external={
            # as trec_eval reads them, scores are in 32 bits already
            "official": (trec.docno, "descending"),
            "rank": (trec["rank"], "ascending"),
            "file": (trec.input_order, "ascending"),
        },
        baseline=arguments.baseline or None,
        test=arguments.test,
        correction=None if arguments.correction == "none" else arguments.correction,
        unjudged=unjudged_of(arguments),
        n_jobs=arguments.jobs,
    )
    write_findings(arguments, _findings(arguments, trec, found))


def _findings(
    arguments: argparse.Namespace, trec: Bunch, found: SystemComparison
) -> Findings:
    names, n_topics = trec.run_names, len(np.unique(trec.qid))
    retrieved = np.isfinite(trec.score)
    own = [len(np.unique(trec.qid[there])) for there in retrieved.T]
    documents = retrieved.sum(axis=0).tolist()
    topics = [row for one in found for row in topic_rows(one)] * arguments.per_topic
    rows = [row for one in found for row in pair_rows(one)] + topics
    files = list(zip(names, arguments.runs, own, documents, strict=True))
    return Findings(
        title=f"{len(names)} runs, compared",
        about={
            "qrels": arguments.qrels,
            "measures": list(found.measures),
            "ties": list(found.ties),
            "runs": dict(zip(names, arguments.runs, strict=True)),
            "n_topics": n_topics,
            "test": arguments.test,
            "correction": arguments.correction,
            "baseline": arguments.baseline,
            "systems": _averages(found),
            "pairs": rows,
        },
        rows=rows,
        read=[
            f"{path}: {name}, {count} topics, {n_documents} documents"
            for name, path, count, n_documents in files
        ],
        opening=[f"{len(names)} runs on {n_topics} topics of {arguments.qrels}"],
        tables=_headed(found) + _topic_tables(topics),
        remarks=[
            f"{name}: {n_topics - count} of {n_topics} topics are not in the run, and "
            "count as empty lists"
            for name, _, count, _ in files
            if count < n_topics
        ],
        draw=lambda: _picture(found),
        conclusion=conclusion_of(found),
    )


def _headed(found: SystemComparison) -> list[tuple[str, Table]]:
    """The tables of all comparisons, with what each shows."""
    heads = ("Runs", "Pairs of runs")
    if len(found.ties) > 1:
        # side by side
        return list(zip(heads, tables_of(found), strict=True))
    return [
        (f"{head} by {one.measures[0]}", table)
        for one in found
        for head, table in zip(heads, tables_of(one), strict=True)
    ]


def _topic_tables(rows: list[dict[str, Any]]) -> list[tuple[str, Table]]:
    """The differences of all pairs, topic by topic."""
    if not rows:
        return []
    names = ("measure", "ties", "topic", "a", "b")
    shown = [name for name in names if len({row[name] for row in rows}) > 1]
    columns: list[tuple[str, Any]] = [
        (name.upper() if name in "ab" else name, [row[name] for row in rows])
        for name in shown
    ]
    difference, low, high = (
        np.array([row[name] for row in rows])
        for name in ("difference", "tie_range_low", "tie_range_high")
    )
    columns += [("A - B", difference), ("tie range", np.column_stack([low, high]))]
    return [("Pairs of runs by topic", Table.of(*columns, left=len(shown)))]


def pair_rows(comparison: SystemComparison) -> list[dict[str, Any]]:
    """A dict of plain values for each pair."""
    columns: dict[str, NDArray[Any]] = {
        name.replace("pvalues", "pvalue"): getattr(comparison, name)
        for name in (*_OF_PAIRS, *_MORE_OF_PAIRS)
    }
    for name in _INTERVALS:
        columns[f"{name}_low"], columns[f"{name}_high"] = getattr(comparison, name).T
    return [
        _about(comparison, "all", *pair)
        | {name: values[i].item() for name, values in columns.items()}
        for i, pair in enumerate(comparison.pairs.tolist())
    ]


def topic_rows(comparison: SystemComparison) -> list[dict[str, Any]]:
    """The same for each pair and topic, with what there is to say of one topic."""
    expected, std = comparison.expected, comparison.std
    ends = np.stack([comparison.best, comparison.worst])
    low, high = ends.min(axis=0), ends.max(axis=0)
    return [
        _about(comparison, topic, a, b)
        | {
            "difference": (expected[i, a] - expected[i, b]).item(),
            "tie_std": np.hypot(std[i, a], std[i, b]).item(),
            "tie_range_low": (low[i, a] - high[i, b]).item(),
            "tie_range_high": (high[i, a] - low[i, b]).item(),
        }
        for a, b in comparison.pairs.tolist()
        for i, topic in enumerate(comparison.qid.tolist())
    ]


def _about(comparison: SystemComparison, topic: str, a: int, b: int) -> dict[str, Any]:
    names = comparison.systems
    return {
        "measure": comparison.measures[0],
        "ties": comparison.ties[0],
        "topic": topic,
        "a": names[a],
        "b": names[b],
    }


def _averages(found: SystemComparison) -> list[dict[str, Any]]:
    columns = found.summary().columns
    names = ("measure", "ties", "system", "mean", "worst", "best", "tie_std")
    cells = zip(*(columns[name].tolist() for name in names), strict=True)
    return [
        {
            "run" if name == "system" else name: cell
            for name, cell in zip(names, row, strict=True)
        }
        for row in cells
    ]


def _picture(found: SystemComparison) -> TieRangeDisplay:
    # the chance level of judged and retrieved documents is another one for each run
    options = {"average": "mean over topics", "chance": None}
    return TieRangeDisplay.from_result(found, **options)
