"""The command ``compare``: TREC runs, or columns of a table, pair by pair."""

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from .._display import text_tables
from ..comparison import SystemComparison, _text, compare_systems
from ..io import _trec
from ..measures import _parse
from . import _evaluate, _outputs


def run(arguments: argparse.Namespace) -> int:
    """Read the files, compare the systems, and print or write the results."""
    names = arguments.score or arguments.runs
    if len(names) == 1:
        raise ValueError(f"RUN or --score must name two or more, got {names[0]}")
    options = {
        "measure": _parse.parse_measures(arguments.measures),
        "ties": list(dict.fromkeys(arguments.ties)),
        "baseline": arguments.baseline or None,
        "test": arguments.test,
        "correction": None if arguments.correction == "none" else arguments.correction,
        "zero_relevance": arguments.zero_relevance,
        "n_jobs": arguments.jobs,
    }
    if arguments.score is None:
        system, queries = "run", "topics"
        result, files, read, remarks = _of_runs(arguments, options)
    else:
        system, queries = "system", "queries"
        table = _evaluate.read_table(arguments)
        result = compare_systems(
            table.target,
            table.data[arguments.score],
            qid=table.qid,
            unjudged=arguments.unjudged or "raise",
            **options,
        )
        files, read, remarks = {"read": table.DESCR}, [table.DESCR], []
    n_systems, n_queries = len(result.systems), len(result.qid)
    averages, pairs = result.summary().columns, result._columns()
    for name in ("mean", "interval_low", "interval_high"):
        pairs[f"{name}_a"], pairs[f"{name}_b"] = averages[name][result.pairs].T
    rows = _outputs.rows_of(pairs)
    overview = _text.overview(result)
    pages = _titled(result, system)
    systems = {system if n == "system" else n: column for n, column in averages.items()}
    findings = _outputs.Findings(
        title=f"{n_systems} {system}s, compared",
        about={
            **files,
            "measures": result.measures,
            "ties": result.ties,
            f"n_{queries}": n_queries,
            "test": arguments.test,
            "correction": arguments.correction,
            "baseline": arguments.baseline,
            "systems": _outputs.rows_of(systems),
            "pairs": rows,
        },
        rows=rows,
        read=read,
        opening=[
            f"{n_systems} {system}s on {n_queries} {queries} of {arguments.qrels}",
            *result._conclusion(),
        ],
        tables=result._tables() if overview else pages,
        pages=[*overview, *pages],
        remarks=remarks,
        draw=lambda: _evaluate.of_topics(result, f"mean over {queries}"),
    )
    return _outputs.write_findings(arguments, findings)


def _of_runs(arguments: argparse.Namespace, options: dict[str, Any]) -> tuple[Any, ...]:
    """Compare TREC runs; also return files for JSON, descriptions, and remarks."""
    qrels, paths = arguments.qrels, arguments.runs
    _outputs.check_files(arguments, [qrels, *paths])
    trec = _trec.load_trec(qrels, paths, topics=arguments.topics, order="trec_eval")
    _evaluate.check_labels(trec, options["measure"], qrels)
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
        external={name: orders[name] for name in orders if name in arguments.ties},
        unjudged=arguments.unjudged or "nonrelevant",
        **options,
    )
    read, remarks = [], []
    for name, path, score in zip(names, paths, trec.score.T, strict=True):
        is_retrieved = np.isfinite(score)
        count = len(np.unique(trec.qid[is_retrieved]))
        read.append(f"{path}: {name}, {count} topics, {is_retrieved.sum()} documents")
        if count < n_topics:
            remarks.append(
                f"{name}: {n_topics - count} of {n_topics} topics are not in the run, "
                "and count as empty lists"
            )
    files = {"qrels": qrels, "runs": dict(zip(names, paths, strict=True))}
    return result, files, read, remarks


def _titled(result: SystemComparison, system: str) -> list[text_tables.Table]:
    """Tables of all comparisons, of several treatments of ties in one."""
    tables = []
    for part in [result] if len(result.ties) > 1 else result:
        measures = ", ".join(part.measures)
        systems, pairs = _text.systems_and_pairs(part)
        tables.append(replace(systems, title=f"{system.title()}s by {measures}"))
        tables.append(replace(pairs, title=f"Pairs of {system}s by {measures}"))
    return tables
