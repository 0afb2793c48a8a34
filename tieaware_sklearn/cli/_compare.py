"""The command ``compare``: TREC runs pair by pair."""

import argparse
from dataclasses import replace

import numpy as np

from .._display import text_tables
from ..comparison import SystemComparison, _text, compare_systems
from ..io import _source, _trec
from ..measures import _parse
from . import _evaluate, _outputs


def run(arguments: argparse.Namespace) -> int:
    """Read the files, compare the runs, and print or write the results."""
    paths = arguments.runs
    _outputs.check_files(arguments, [arguments.qrels, *paths])
    if len(paths) == 1:
        raise ValueError(f"RUN must name two files or more, got {paths[0]}")
    measures = _parse.parse_measures(arguments.measures)
    trec = _trec.load_trec(
        arguments.qrels, paths, topics=arguments.topics, order="trec_eval"
    )
    _evaluate.check_labels(trec, measures, str(_source.TextSource(arguments.qrels)))
    names, n_topics = trec.run_names, len(np.unique(trec.qid))
    orders = {
        # scores for trec_eval's rule are in 32 bits already
        "official": (trec.docno, "descending"),
        "rank": (trec["rank"], "ascending"),
        "file": (trec.input_order, "ascending"),
    }
    result = compare_systems(
        trec.target,
        dict(zip(names, trec.score.T, strict=True)),
        qid=trec.qid,
        measure=measures,
        ties=list(dict.fromkeys(arguments.ties)),
        external={name: orders[name] for name in orders if name in arguments.ties},
        baseline=arguments.baseline or None,
        test=arguments.test,
        correction=None if arguments.correction == "none" else arguments.correction,
        zero_relevance=arguments.zero_relevance,
        unjudged=arguments.unjudged,
        n_jobs=arguments.jobs,
    )
    runs = dict(zip(names, paths, strict=True))
    read, remarks = [], []
    for (name, path), score in zip(runs.items(), trec.score.T, strict=True):
        is_retrieved = np.isfinite(score)
        count = len(np.unique(trec.qid[is_retrieved]))
        read.append(f"{path}: {name}, {count} topics, {is_retrieved.sum()} documents")
        if count < n_topics:
            remarks.append(
                f"{name}: {n_topics - count} of {n_topics} topics are not in the run, "
                "and count as empty lists"
            )
    averages, pairs = result.summary().columns, result._columns()
    for name in ("mean", "interval_low", "interval_high"):
        pairs[f"{name}_a"], pairs[f"{name}_b"] = averages[name][result.pairs].T
    rows = _outputs.rows_of(pairs)
    overview = _text.overview(result)
    tables = result._tables() if overview else _titled(result)
    pages = [*overview, *_titled(result)]
    systems = {"run" if n == "system" else n: column for n, column in averages.items()}
    findings = _outputs.Findings(
        title=f"{len(names)} runs, compared",
        about={
            "qrels": arguments.qrels,
            "measures": result.measures,
            "ties": result.ties,
            "runs": runs,
            "n_topics": n_topics,
            "test": arguments.test,
            "correction": arguments.correction,
            "baseline": arguments.baseline,
            "systems": _outputs.rows_of(systems),
            "pairs": rows,
        },
        rows=rows,
        read=read,
        opening=[
            f"{len(names)} runs on {n_topics} topics of {arguments.qrels}",
            *result._conclusion(),
        ],
        tables=tables,
        pages=pages,
        remarks=remarks,
        draw=lambda: _evaluate.of_topics(result),
    )
    return _outputs.write_findings(arguments, findings)


def _titled(result: SystemComparison) -> list[text_tables.Table]:
    """Tables of all comparisons, of several treatments of ties in one."""
    tables = []
    for part in [result] if len(result.ties) > 1 else result:
        measures = ", ".join(part.measures)
        runs, pairs = _text.systems_and_pairs(part)
        tables.append(replace(runs, title=f"Runs by {measures}"))
        tables.append(replace(pairs, title=f"Pairs of runs by {measures}"))
    return tables
