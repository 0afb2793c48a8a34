"""The command ``compare``: TREC runs, columns of a table, or saved values."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import _optional
from .._display import text_tables
from ..comparison import SystemComparison, _text, compare_systems, compare_values
from ..io import _trec
from ..measures import _parse
from ..plots import SystemComparisonDisplay
from . import _evaluate, _gate, _outputs


def run(arguments: argparse.Namespace) -> int:
    """Read the files, compare the systems, and print or write the results."""
    _gate.check_options(arguments)
    names = arguments.score or arguments.runs
    if len(names) == 1 and not arguments.values:
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
    system, queries = "system", "queries"
    if arguments.values:
        result, files, read, remarks = _of_values(arguments, options)
    elif arguments.score is None:
        system, queries = "run", "topics"
        result, files, read, remarks = _of_runs(arguments, options)
    else:
        table = _evaluate.read_table(arguments)
        result = compare_systems(
            table.target,
            table.data[arguments.score],
            qid=table.qid,
            unjudged=arguments.unjudged or "raise",
            **options,
        )
        files, read, remarks = {"read": table.DESCR}, [table.DESCR], []
    n_systems, n_queries = len(result.systems), len(result.expected)
    verdicts, gate = [], {}
    if arguments.fail_if is not None:
        verdicts = _gate.decide(arguments, result)
        gate = {"gate": [verdict._asdict() for verdict in verdicts]}
    averages, pairs = result.summary().columns, result._columns()
    for name in ("mean", "interval_low", "interval_high"):
        pairs[f"{name}_a"], pairs[f"{name}_b"] = averages[name][result.pairs].T
    rows = _outputs.rows_of(pairs)
    overview = _text.overview(result)
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
            **gate,
        },
        rows=rows,
        read=read,
        opening=[
            f"{n_systems} {system}s on {n_queries} {queries} of {arguments.qrels}",
            *result._conclusion(),
            *(verdict.text for verdict in verdicts),
        ],
        tables=result._tables() if overview else _titled(result, system),
        pages=result._whole(),
        remarks=remarks,
        explanations=result._remarks(),
        draw=lambda: SystemComparisonDisplay.from_result(result),
    )
    return _outputs.write_findings(arguments, findings) or _gate.exit_code(verdicts)


def _of_values(
    arguments: argparse.Namespace, options: dict[str, Any]
) -> tuple[Any, ...]:
    """Compare values that --save has written, as `_of_runs` does.

    A system is named by its file, and also by its column if the file has several.
    """
    pandas = _optional.import_optional("pandas", extra="io", purpose="--values")
    paths = [arguments.qrels, *arguments.runs]
    _outputs.check_files(arguments, paths)
    tables = {}
    for path in paths:
        if path.endswith(".csv"):
            saved = pandas.read_csv(path, dtype={"qid": str})
        else:
            saved = pandas.read_parquet(path)
        if "system" not in saved:  # a report that was saved from Python
            saved["system"] = "scores"
        systems = saved.groupby("system", sort=False)
        for name, table in systems:
            stem = Path(path).stem
            system = stem if len(systems) == 1 else f"{stem}/{name}"
            if system in tables:
                raise ValueError(
                    f"--values must name files of different names, got {stem} twice"
                )
            tables[system] = table
    is_chosen = any(word.startswith("--measures") for word in arguments.words)
    test = options["test"]
    if arguments.fail_if and saved["query_weight"].notna().any():
        # the t test rejects too often if few queries have most of the weight
        test = "randomization"
    result = compare_values(
        tables,
        # by default all that were saved
        measure=options["measure"] if is_chosen else None,
        paired=not arguments.unpaired,
        baseline=options["baseline"],
        test=test,
        correction=options["correction"],
    )
    return result, {"read": paths}, [], []


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
