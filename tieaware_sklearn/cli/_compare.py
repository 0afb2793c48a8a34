"""The command ``compare``: TREC runs pair by pair."""

import argparse
import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._display import text_tables
from ..comparison import SystemComparison, compare_systems
from ..io import _source, _trec
from ..measures import _parse
from . import _evaluate, _outputs


def run(arguments: argparse.Namespace) -> int:
    """Read the files, compare the runs, and print or write the results."""
    paths, files = arguments.runs, _evaluate.topic_files(arguments)
    _outputs.check_files(arguments, [arguments.qrels, *paths, *files.values()])
    if len(paths) == 1:
        raise ValueError(f"RUN must name two files or more, got {paths[0]}")
    measures = _parse.parse_measures(arguments.measures)
    trec = _trec.load_trec(
        arguments.qrels, paths, topics=arguments.topics, order="trec_eval"
    )
    _evaluate.check_labels(trec, measures, str(_source.TextSource(arguments.qrels)))
    orders = {
        # scores for trec_eval's rule are in 32 bits already
        "official": (trec.docno, "descending"),
        "rank": (trec["rank"], "ascending"),
        "file": (trec.input_order, "ascending"),
    }
    result = compare_systems(
        trec.target,
        dict(zip(trec.run_names, trec.score.T, strict=True)),
        qid=trec.qid,
        measure=measures,
        ties=list(dict.fromkeys(arguments.ties)),
        external={name: orders[name] for name in orders if name in arguments.ties},
        baseline=arguments.baseline or None,
        test=arguments.test,
        correction=None if arguments.correction == "none" else arguments.correction,
        unjudged=arguments.unjudged,
        n_jobs=arguments.jobs,
        **_evaluate.topic_options(
            arguments, _evaluate.read_topic_files(files), trec.qid
        ),
    )
    return _outputs.write_findings(arguments, _findings(arguments, files, trec, result))


def _findings(
    arguments: argparse.Namespace,
    files: dict[str, str],
    trec: Bunch,
    result: SystemComparison,
) -> _outputs.Findings:
    names, n_topics = trec.run_names, len(np.unique(trec.qid))
    runs = f"{len(names)} runs on {n_topics} topics of {arguments.qrels}"
    read, remarks = [], []
    retrieved = np.isfinite(trec.score).T
    for name, path, there in zip(names, arguments.runs, retrieved, strict=True):
        count = len(np.unique(trec.qid[there]))
        read.append(f"{path}: {name}, {count} topics, {there.sum()} documents")
        if count < n_topics:
            missing = f"{n_topics - count} of {n_topics} topics are not in the run"
            remarks.append(f"{name}: {missing}, and count as empty lists")
    # columns that identify a row come first
    first = ["measure", "ties", "topic"]
    first += ["segment"] * (result.segment is not None)
    pairs = dict.fromkeys(first, np.full(len(result.pairs), "all")) | result._columns()
    averages = result.summary().columns
    for name in ("mean", "interval_low", "interval_high"):
        of_pairs = averages[name][result.pairs]
        pairs |= {f"{name}_a": of_pairs[:, 0], f"{name}_b": of_pairs[:, 1]}
    rows = _outputs.rows_of(pairs)
    overview, pages = result._at_a_glance(), _titled(result, for_page=True)
    tables = result._tables() if overview else _titled(result)
    pages, parts = [*overview, *pages], []
    if result.segment is not None:
        segments = result.by_segment()
        whole = dict.fromkeys(first, np.full(len(segments), "all"))
        of_segments = [name for name in segments.columns if name not in pairs]
        rows = [row | dict.fromkeys(of_segments, math.nan) for row in rows]
        rows += _outputs.rows_of(whole | segments.columns)
        titled = "Pairs of runs by segment"
        parts += [replace(one, title=titled) for one in segments._tables()]
    if arguments.per_topic:
        columns = _by_topic(result)
        rows += _outputs.rows_of(columns)
        parts.append(_table_by_topic(columns))
    systems = {"run" if n == "system" else n: column for n, column in averages.items()}
    return _outputs.Findings(
        title=f"{len(names)} runs, compared",
        about={
            "qrels": arguments.qrels,
            "measures": list(result.measures),
            "ties": list(result.ties),
            "runs": dict(zip(names, arguments.runs, strict=True)),
            "n_topics": n_topics,
            "test": arguments.test,
            "correction": arguments.correction,
            "baseline": arguments.baseline,
            "systems": _outputs.rows_of(systems),
            "pairs": rows,
            **files,
        },
        rows=rows,
        read=[*read, *files.values()],
        opening="\n".join([runs, *result._conclusion()]),
        tables=[*tables, *parts],
        pages=[*pages, *parts],
        remarks=remarks,
        draw=lambda: _evaluate.of_topics(result),
    )


def _titled(
    result: SystemComparison, for_page: bool = False
) -> list[text_tables.Table]:
    """Tables of all comparisons, with treatments of ties side by side."""
    tables = []
    for one in [result] if len(result.ties) > 1 else result:
        by, (runs, pairs) = ", ".join(one.measures), one._systems_and_pairs(for_page)
        tables.append(replace(runs, title=f"Runs by {by}"))
        tables.append(replace(pairs, title=f"Pairs of runs by {by}"))
    return tables


def _by_topic(result: SystemComparison) -> dict[str, Any]:
    """Differences of all pairs of runs, topic by topic."""
    a, b = result.pairs.T
    ends = np.stack([result.best, result.worst])
    low, high = ends.min(axis=0), ends.max(axis=0)
    names = {
        name: np.repeat(of_pairs, len(result.qid))
        for name, of_pairs in result._names().items()
    }
    topic = {"topic": np.tile(result.qid.astype(object), len(result.pairs))}
    if result.segment is not None:
        topic["segment"] = np.tile(result.segment, len(result.pairs))
    figures = {
        "difference": result.expected[:, a] - result.expected[:, b],
        "tie_std": np.hypot(result.std[:, a], result.std[:, b]),
        "tie_range_low": low[:, a] - high[:, b],
        "tie_range_high": high[:, a] - low[:, b],
    }
    # rows are sorted by pair
    columns = {name: values.T.ravel() for name, values in figures.items()}
    return dict.fromkeys(("measure", "ties")) | topic | names | columns


def _table_by_topic(columns: dict[str, Any]) -> text_tables.Table:
    names = ("measure", "ties", "topic", "a", "b")
    shown = [name for name in names if len(set(columns[name].tolist())) > 1]
    tie_range = np.column_stack([columns["tie_range_low"], columns["tie_range_high"]])
    return text_tables.Table.of(
        *((name.upper() if name in "ab" else name, columns[name]) for name in shown),
        ("A - B", columns["difference"]),
        ("tie range", tie_range),
        left=len(shown),
        title="Pairs of runs by topic",
    )
