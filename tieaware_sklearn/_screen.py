"""The command ``screen``: the features of a file by what they are exactly worth."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ._feature_table import feature_rows
from ._text import format_table, number, probability
from .datasets import load_letor
from .datasets._letor import write_whole
from .datasets._tabular import is_tabular, load_tabular
from .feature_selection import RankingFeatureSelector

_SHOWN = 20


def run(arguments: argparse.Namespace) -> None:
    """Read, screen, and print or write what was found."""
    for path in (arguments.csv, arguments.json):
        if path not in (None, "-") and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"{path}: there is no such folder")
    if arguments.csv == arguments.json == "-":
        raise ValueError("only one of --csv and --json can go to standard output")
    data = read(arguments)
    selector = RankingFeatureSelector(
        arguments.measures,
        sort_by=arguments.sort_by,
        direction=arguments.direction,
        missing=arguments.missing,
        zero_relevance=arguments.zero_relevance,
        n_jobs=arguments.jobs,
        progress=shows_progress(arguments),
    )
    _say_where_missing(data, arguments)
    selector.fit(data.data, data.target, qid=data.qid)
    rows = feature_rows(selector, data.feature_names)
    top = arguments.top
    chosen = rows[:top] if top else rows
    if arguments.csv is not None:
        _write(arguments.csv, as_csv(chosen))
    if arguments.json is not None:
        _write(arguments.json, as_json(chosen, selector, data, arguments.files))
    if "-" not in (arguments.csv, arguments.json):
        shown = rows[: _SHOWN if top is None else top or None]
        print(summary(data, arguments.files))
        print()
        print(feature_table(shown, selector))
        print()
        print(closing(selector, len(rows) - len(shown)))


def shows_progress(arguments: argparse.Namespace) -> bool:
    """A bar on a terminal, if tqdm is there and nobody asked for quiet."""
    if arguments.quiet or not sys.stderr.isatty():
        return False
    try:
        import tqdm  # noqa: F401
    except ImportError:
        return False
    return True


def read(arguments: argparse.Namespace) -> Bunch:
    """All files as one set of rows."""
    paths = [Path(name) for name in arguments.files]
    tabular = [is_tabular(path) for path in paths]
    if all(tabular):
        data = load_tabular(paths, label=arguments.label, qid=arguments.qid)
        if data.left_out:
            print(
                f"tieaware: left out, not numbers: {', '.join(data.left_out)}",
                file=sys.stderr,
            )
        return data
    if any(tabular):
        raise ValueError("all files must be of one kind: LETOR text, or CSV or Parquet")
    return load_letor(paths, query_file=arguments.query_file)


def _say_where_missing(data: Bunch, arguments: argparse.Namespace) -> None:
    missing = np.isnan(data.data).any(axis=0)
    if arguments.missing == "raise" and missing.any():
        names = [n for n, gone in zip(data.feature_names, missing, strict=True) if gone]
        some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(
            f"{arguments.files[0]}: values are missing in {len(names)} features "
            f"({some}); --missing last ranks them below everything"
        )


def summary(data: Bunch, files: list[str]) -> str:
    """What was read."""
    n_queries = len(np.unique(np.asarray(data.qid).astype(str)))
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
        "repeats: the better feature whose rankings are most alike (Spearman's rho).",
    ]
    if hidden:
        lines.insert(0, f"... and {hidden} more (--top 0 shows all)\n")
    return "\n".join(lines)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV, numbers in full precision."""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _blank(value) for key, value in row.items()})
    return out.getvalue()


def _blank(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value


def as_json(
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
    return json.dumps(_nulls(document), indent=2, allow_nan=False) + "\n"


def _nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _nulls(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_nulls(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
    else:
        write_whole(Path(path), [text])
