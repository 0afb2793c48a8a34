"""The command ``compare`` for TREC runs, columns of a table, or saved values."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import _optional
from ..comparison import SystemComparison, _text, compare_systems, compare_values
from ..evaluation import RankingReport
from ..io import _trec
from ..measures import _parse
from ..plots import SystemComparisonDisplay
from . import _evaluate, _gate, _outputs


@dataclass(frozen=True)
class _Compared:
    """A comparison, and descriptions of the files that were read for it."""

    result: SystemComparison
    #: Names of the input files, for JSON.
    files: dict[str, Any]
    #: Description of each input file, for the HTML page.
    read: Sequence[str] = ()
    remarks: Sequence[str] = ()
    #: Reports for --save, by system.
    reports: Mapping[str, RankingReport] = field(default_factory=dict)


def run(arguments: Namespace) -> int:
    """Compare the systems, print or write the results, and return the exit code."""
    _gate.check_options(arguments)
    _check_values_options(arguments)
    has_saved_values = arguments.values or arguments.against
    names = arguments.score or arguments.runs
    if len(names) == 1 and not has_saved_values:
        raise ValueError(
            f"RUN or --score must name two or more systems, got only {names[0]}"
        )
    options = {
        "measure": _parse.parse_measures(arguments.measures),
        "baseline": arguments.baseline or None,
        "test": arguments.test,
        "correction": arguments.correction,
    }
    if arguments.correction == "none":
        options["correction"] = None
    system, queries = "system", "queries"
    if arguments.values:
        compared = _compare_saved_values(arguments, options)
    elif arguments.against:
        compared = _compare_with_saved_values(arguments, options)
    else:
        options["ties"] = list(dict.fromkeys(arguments.ties))
        options["zero_relevance"] = arguments.zero_relevance
        options["n_jobs"] = arguments.jobs
        if arguments.score is None:
            system, queries = "run", "topics"
            compared = _compare_runs(arguments, options)
        else:
            table = _evaluate.read_table(arguments)
            result = compare_systems(
                table.target,
                table.data[arguments.score],
                qid=table.qid,
                unjudged=arguments.unjudged or "raise",
                **options,
            )
            compared = _Compared(result, {"read": table.DESCR}, read=[table.DESCR])
    result = compared.result
    averages = result.summary().columns
    pairs = result._columns()
    # The rows of the summary are in the order of the columns that `pairs` indexes.
    for name in ("mean", "interval_low", "interval_high"):
        values = averages[name][result.pairs]
        pairs[f"{name}_a"], pairs[f"{name}_b"] = values.T
    rows = _outputs.rows_of(pairs)
    systems = {}
    for name, column in averages.items():
        systems[system if name == "system" else name] = column
    about = {
        **compared.files,
        "measures": result.measures,
        "ties": result.ties,
        f"n_{queries}": len(result.expected),
        "test": result.test,
        "correction": arguments.correction,
        "baseline": arguments.baseline,
    }
    about["systems"] = _outputs.rows_of(systems)
    about["pairs"] = rows
    counted = f"{len(result.systems)} {system}s"
    opening = [f"{counted} on {len(result.expected)} {queries} of {arguments.qrels}"]
    opening += result._conclusion()
    verdicts = []
    if arguments.fail_if is not None:
        verdicts = _gate.decide(arguments, result)
        for option in ("fail_if", "alpha", "tolerance"):
            about[option] = getattr(arguments, option)
        about["gate"] = [vars(verdict) for verdict in verdicts]
        opening += [verdict.text for verdict in verdicts]
    tables = result._tables()
    if not _text.overview(result) and len(result.ties) == 1:
        # Each measure has its own tables. Several treatments of ties share tables, and
        # columns name the measure and the treatment.
        tables = []
        for part in result:
            tables += _text.systems_and_pairs(part)
    findings = _outputs.Findings(
        title=f"{counted}, compared",
        about=about,
        rows=rows,
        read=compared.read,
        opening=opening,
        tables=tables,
        pages=result._whole,
        remarks=compared.remarks,
        reports=compared.reports,
        explanations=result._remarks(),
        draw=partial(SystemComparisonDisplay.from_result, result),
    )
    # The exit code of an error in an output takes precedence over the exit code of the
    # gate.
    return _outputs.write_findings(arguments, findings) or _gate.exit_code(verdicts)


def _check_values_options(arguments: Namespace) -> None:
    """Raise an error if an option has no effect with, or without, saved values."""
    if arguments.against and not arguments.score:
        raise ValueError("--score must be given with --against, got none")
    if arguments.save and not arguments.against:
        raise ValueError("--against must be given with --save, got none")
    if not arguments.values and not arguments.against:
        if arguments.unpaired:
            raise ValueError(
                "--values or --against must be given with --unpaired, got neither"
            )
        return
    values_and_defaults = {
        "--ties": (arguments.ties, ["expected"]),
        "--zero-relevance": (arguments.zero_relevance, 0.0),
    }
    if arguments.values:
        values_and_defaults |= {
            "--score": (arguments.score, None),
            "--label": (arguments.label, None),
            "--qid": (arguments.qid, None),
            "--complete": (arguments.topics == "qrels", False),
            "--judged-only": (arguments.unjudged == "drop", False),
        }
    for option, (value, default) in values_and_defaults.items():
        if value != default:
            raise ValueError(
                f"{option} must be left out for saved values, because evaluate --save "
                f"has applied such options, got {value}"
            )


def _compare_saved_values(arguments: Namespace, options: dict[str, Any]) -> _Compared:
    """Compare the values that --save wrote to files."""
    paths = [arguments.qrels, *arguments.runs]
    _outputs.check_files(arguments, paths)
    tables = _read_values(paths, "--values")
    if len(tables) == 1:
        raise ValueError(
            "--values must name files that contain two or more systems in total, got "
            f"one system in {paths[0]}"
        )
    weights = [table["query_weight"].notna().any() for table in tables.values()]
    if arguments.fail_if and any(weights):
        # The t test rejects too often if few queries have most of the weight.
        options["test"] = "randomization"
    if not _chose_measures(arguments):
        # With None, the systems are compared by all saved measures.
        options["measure"] = None
    result = compare_values(tables, paired=not arguments.unpaired, **options)
    return _Compared(result, {"read": paths})


def _compare_with_saved_values(
    arguments: Namespace, options: dict[str, Any]
) -> _Compared:
    """Evaluate columns of scores, and compare them with the values of --against."""
    _outputs.check_files(arguments, [arguments.against])
    table = _evaluate.read_table(arguments)
    saved = _read_values([arguments.against], "--against", table.qid.dtype)
    if not _chose_measures(arguments):
        first = next(iter(saved.values()))
        options["measure"] = _parse.parse_measures(first["measure"].unique())
    reports = _evaluate.evaluate_columns(arguments, table, options["measure"])
    for name in arguments.score:
        if name in saved:
            raise ValueError(
                f"--score must not name a system of --against, got {name} in both"
            )
    options["baseline"] = arguments.baseline or list(saved)
    systems = {**saved, **reports}
    result = compare_values(systems, paired=not arguments.unpaired, **options)
    read = [table.DESCR, f"{arguments.against}: saved values"]
    return _Compared(result, {"read": read}, read, reports=reports)


def _chose_measures(arguments: Namespace) -> bool:
    """Return whether the command line names measures, even if they are the default."""
    return any(word.startswith("--measures") for word in arguments.words)


def _read_values(
    paths: Sequence[str], option: str, qid_dtype: Any = str
) -> dict[str, Any]:
    """Read the values that --save wrote to files: a data frame for each system.

    A system is named after its file, and also after its column if the file contains
    several systems. CSV does not record the type of query ids.
    """
    pandas = _optional.import_optional("pandas", extra="io", purpose=option)
    tables = {}
    for path in paths:
        if path.endswith(".csv"):
            saved = pandas.read_csv(path, dtype={"qid": qid_dtype})
        else:
            saved = pandas.read_parquet(path)
        if "system" not in saved:
            # RankingReport.to_pandas returns a single system without a name.
            saved["system"] = "scores"
        systems = saved.groupby("system", sort=False)
        for name, table in systems:
            stem = Path(path).stem
            system = stem if len(systems) == 1 else f"{stem}/{name}"
            if system in tables:
                raise ValueError(
                    f"{option} must name files with different names, got {stem} twice"
                )
            tables[system] = table
    return tables


def _compare_runs(arguments: Namespace, options: dict[str, Any]) -> _Compared:
    """Compare TREC runs, and note which of their topics are missing."""
    qrels, paths = arguments.qrels, arguments.runs
    _outputs.check_files(arguments, [qrels, *paths])
    trec = _trec.load_trec(qrels, paths, topics=arguments.topics, order="trec_eval")
    _evaluate.check_labels(trec, options["measure"], qrels)
    systems = dict(zip(trec.run_names, trec.score.T, strict=True))
    external = {}
    if "official" in arguments.ties:
        # The scores are already 32-bit numbers, as in trec_eval.
        external["official"] = trec.docno, "descending"
    if "rank" in arguments.ties:
        external["rank"] = trec["rank"], "ascending"
    if "file" in arguments.ties:
        external["file"] = trec.input_order, "ascending"
    result = compare_systems(
        trec.target,
        systems,
        qid=trec.qid,
        external=external,
        unjudged=arguments.unjudged or "nonrelevant",
        **options,
    )
    files = dict(zip(systems, paths, strict=True))
    n_topics = len(np.unique(trec.qid))
    read, remarks = [], []
    for name, path in files.items():
        is_retrieved = np.isfinite(systems[name])
        count = len(np.unique(trec.qid[is_retrieved]))
        read.append(f"{path}: {name}, {count} topics, {is_retrieved.sum()} documents")
        if count < n_topics:
            remarks.append(
                f"{name}: {n_topics - count} of {n_topics} topics are not in the run, "
                "and count as empty lists"
            )
    return _Compared(result, {"qrels": qrels, "runs": files}, read, remarks)
