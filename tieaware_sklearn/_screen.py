"""The command ``screen``: the features of a file by what they are exactly worth."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ._feature_table import feature_rows
from ._files import TextSource
from ._outputs import as_csv, as_json, check_outputs, write_output, write_plot
from ._progress import shows_progress
from ._text import format_table, number, probability
from .datasets._letor import letor_place, read_letor
from .datasets._tabular import is_tabular, load_tabular
from .feature_selection import RankingFeatureSelector
from .plots import FeatureScreeningDisplay

_SHOWN = 20


def run(arguments: argparse.Namespace) -> None:
    """Read, screen, and print or write what was found."""
    check_outputs(arguments)
    data = read(arguments)
    _check_values(data, arguments.missing)
    selector = RankingFeatureSelector(
        arguments.measures,
        sort_by=arguments.sort_by,
        direction=arguments.direction,
        missing=arguments.missing,
        zero_relevance=arguments.zero_relevance,
        n_jobs=arguments.jobs,
        progress=shows_progress(arguments.quiet),
    )
    selector.fit(data.data, data.target, qid=data.qid)
    rows = feature_rows(selector, data.feature_names)
    top = arguments.top
    chosen = rows[:top] if top else rows
    if arguments.csv is not None:
        write_output(arguments.csv, as_csv(chosen))
    if arguments.json is not None:
        write_output(arguments.json, _document(chosen, selector, data, arguments.files))
    if arguments.plot is not None:
        display = FeatureScreeningDisplay.from_estimator(
            selector,
            feature_names=data.feature_names,
            max_features=top or (_SHOWN if top is None else len(rows)),
        )
        write_plot(arguments.plot, display.figure_)
    if "-" not in (arguments.csv, arguments.json):
        shown = rows[: _SHOWN if top is None else top or None]
        print(summary(data, arguments.files, selector.n_queries_))
        print()
        print(feature_table(shown, selector))
        print()
        print(closing(selector, len(rows) - len(shown)))


def read(arguments: argparse.Namespace) -> Bunch:
    """All files as one set of rows; `place` names the file and line of a row."""
    paths = [Path(name) for name in arguments.files]
    tabular = [is_tabular(path) for path in paths]
    if all(tabular):
        if arguments.query_file:
            raise ValueError("--query-file goes with LETOR text, not with tables")
        label, qid = arguments.label or "label", arguments.qid or "qid"
        ignored = arguments.ignore or []
        data = load_tabular(paths, label=label, qid=qid, ignore=ignored)
        if data.left_out:
            _note(f"left out, not numbers: {', '.join(data.left_out)}")
        return data
    if any(tabular):
        raise ValueError("all files must be of one kind: LETOR text, or CSV or Parquet")
    for option in ("label", "qid"):
        if getattr(arguments, option) is not None:
            raise ValueError(
                f"--{option} names a column of CSV and Parquet files, but "
                f"{paths[0]} is read as LETOR text (its name has no such ending)"
            )
    sources = [TextSource(path) for path in paths]
    data = read_letor(sources, query_file=arguments.query_file)
    data.place = partial(letor_place, sources)
    _leave_out(data, arguments.ignore)
    return data


def _note(text: str) -> None:
    print(f"tieaware: {text}", file=sys.stderr)


def _leave_out(data: Bunch, ignored: list[str] | None) -> None:
    """Drop the features that are not to be screened."""
    if not ignored:
        return
    for name in ignored:
        if name not in data.feature_names:
            raise ValueError(
                f"--ignore must name features, got {name!r} (features: "
                f"{', '.join(data.feature_names)})"
            )
    kept = [j for j, name in enumerate(data.feature_names) if name not in ignored]
    if not kept:
        raise ValueError("--ignore must leave a feature to screen, got all of them")
    data.data = data.data[:, kept]
    data.feature_names = [data.feature_names[j] for j in kept]


def _check_values(data: Bunch, missing: str) -> None:
    """Name the file and line of what the selector would refuse."""
    wrong = ~(np.isfinite(data.target) & (data.target >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{data.place(row)}: a label must be finite and >= 0, got "
            f"{data.target[row]:g}"
        )
    infinite = np.isinf(data.data)
    if infinite.any():
        row, j = np.argwhere(infinite)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} must be finite, got "
            f"{data.data[row, j]:g}"
        )
    gaps = np.isnan(data.data)
    if missing == "raise" and gaps.any():
        row, j = np.argwhere(gaps)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} is missing, and so "
            f"are {int(gaps.sum()) - 1} more values (--missing last ranks them below "
            "everything)"
        )


def summary(data: Bunch, files: list[str], n_queries: int) -> str:
    """What was read."""
    named = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    return (
        f"{named}: {len(data.target)} documents, {n_queries} queries, "
        f"{len(data.feature_names)} features"
    )


def feature_table(rows: list[dict[str, Any]], selector: RankingFeatureSelector) -> str:
    """Features with score ± half the 95 % interval and q-value per measure."""
    header = ["feature", "rank", "first"]
    chance = ["(chance)", "", ""]
    for m, measure in enumerate(selector.measures_):
        header += [measure, "±95%", "q"]
        chance += [number(float(selector.chance_[m])), "", ""]
    header.append("repeats")
    chance.append("")
    body = [chance]
    for row in rows:
        first = "high" if row["direction"] == "descending" else "low"
        cells = [row["feature"], str(row["rank"]), first]
        for measure in selector.measures_:
            half = (row[f"{measure}_high"] - row[f"{measure}_low"]) / 2
            q = probability(row[f"{measure}_q"])
            cells += [number(row[measure]), number(half), q]
        repeats = row["repeats"]
        cells.append("" if repeats is None else f"{repeats} ({row['correlation']:.2f})")
        body.append(cells)
    return format_table(header, body)


def closing(selector: RankingFeatureSelector, hidden: int) -> str:
    """How many features are worth keeping, and how to read the table."""
    _, sort = selector._parsed()
    measure = selector.measures_[sort]
    lines = [
        f"{int(selector.support_.sum())} of {selector.n_features_in_} features beat "
        f"chance by {measure} (q <= {selector.alpha:g}; "
        f"{selector.n_queries_} queries).",
        "Scores are exact means over all orders of tied documents; first: which "
        "values rank first;",
        "repeats: the better-ranked feature that ranks most alike (Spearman's rho).",
    ]
    if hidden:
        lines.insert(0, f"... and {hidden} more (--top 0 shows all)\n")
    return "\n".join(lines)


def _document(
    rows: list[dict[str, Any]],
    selector: RankingFeatureSelector,
    data: Bunch,
    files: list[str],
) -> str:
    """The rows as JSON, with what they were made from; NaN is null."""
    _, sort = selector._parsed()
    measures = selector.measures_
    document = {
        "files": files,
        "n_documents": len(data.target),
        "n_queries": selector.n_queries_,
        "n_features": len(data.feature_names),
        "measures": list(measures),
        "sort_by": measures[sort],
        "chance": dict(zip(measures, selector.chance_.tolist(), strict=True)),
        "ideal": dict(zip(measures, selector.ideal_.tolist(), strict=True)),
        "features": rows,
    }
    return as_json(document)
