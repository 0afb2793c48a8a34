"""The command ``screen``: the features of a file by what they are exactly worth."""

from __future__ import annotations

import argparse
from typing import Any

from .._display.tables import format_table, number, probability
from ..feature_selection import RankingFeatureSelector
from ..feature_selection._table import feature_rows
from ..plots import FeatureScreeningDisplay
from ._outputs import as_csv, as_json, check_outputs, write_output, write_plot
from ._screen_files import Screened, screen_files

#: rows of the table, and of the plot, unless --top asks for others
SHOWN = 20
#: lower correlations are no repetition
_ALIKE = 0.5


def run(arguments: argparse.Namespace) -> None:
    """Read, screen, and print or write what was found."""
    check_outputs(arguments)
    selector = RankingFeatureSelector(
        arguments.measures,
        sort_by=arguments.sort_by,
        direction=arguments.direction,
        missing=arguments.missing,
        zero_relevance=arguments.zero_relevance,
        n_jobs=arguments.jobs,
    )
    screened = screen_files(arguments, selector)
    names = screened.feature_names
    rows = feature_rows(selector, names)
    top = arguments.top
    chosen = rows[:top] if top else rows
    if arguments.csv is not None:
        write_output(arguments.csv, as_csv(chosen))
    if arguments.json is not None:
        write_output(arguments.json, _document(chosen, screened, arguments.files))
    if arguments.plot is not None:
        display = FeatureScreeningDisplay.from_estimator(
            selector,
            feature_names=names,
            max_features=top or (SHOWN if top is None else len(rows)),
        )
        write_plot(arguments.plot, display.figure_)
    if "-" not in (arguments.csv, arguments.json):
        shown = rows[: SHOWN if top is None else top or None]
        print(summary(screened, arguments.files))
        print()
        print(feature_table(shown, selector))
        print()
        print(closing(selector, len(rows) - len(shown)))
    if screened.interrupted:
        raise KeyboardInterrupt


def summary(screened: Screened, files: list[str]) -> str:
    """What was read."""
    named = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    return (
        f"{named}: {screened.n_documents} documents, {screened.selector.n_queries_} "
        f"queries, {len(screened.feature_names)} features"
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
        alike = repeats is not None and row["correlation"] >= _ALIKE
        cells.append(f"{repeats} ({row['correlation']:.2f})" if alike else "")
        body.append(cells)
    return format_table(header, body)


def closing(selector: RankingFeatureSelector, hidden: int) -> str:
    """How many features are worth keeping, and how to read the table."""
    measures, sort = selector._parsed()
    measure = selector.measures_[sort]
    used = selector._statistics_.chance.count
    lines = [
        f"{int(selector.support_.sum())} of {selector.n_features_in_} features beat "
        f"chance by {measure} (q <= {selector.alpha:g}; "
        f"{int(used[sort])} queries).",
        "Scores are exact means over all orders of tied documents (--csv, --json and "
        "--plot have their",
        "best and worst), ±95%: half of the interval over queries; first: which values "
        "rank first;",
        "repeats: the better-ranked feature that ranks most alike (Spearman's rho).",
    ]
    for m, one in enumerate(measures):
        if one.greater_is_better and not selector.ideal_[m] > 0:
            lines.append(f"Warning: no query has a document that {one} counts.")
        elif used[m] < selector.n_queries_:
            lines.append(
                f"{one} is the average of {int(used[m])} of {selector.n_queries_} "
                "queries: it is undefined for the others."
            )
    if hidden:
        lines.insert(0, f"... and {hidden} more (--top 0 shows all)\n")
    return "\n".join(lines)


def _document(rows: list[dict[str, Any]], screened: Screened, files: list[str]) -> str:
    """The rows as JSON, with what they were made from; NaN is null."""
    selector = screened.selector
    _, sort = selector._parsed()
    measures = selector.measures_
    document = {
        "files": files,
        "complete": not screened.interrupted,
        "n_documents": screened.n_documents,
        "n_queries": selector.n_queries_,
        "n_features": len(screened.feature_names),
        "measures": list(measures),
        "sort_by": measures[sort],
        "chance": dict(zip(measures, selector.chance_.tolist(), strict=True)),
        "ideal": dict(zip(measures, selector.ideal_.tolist(), strict=True)),
        "features": rows,
    }
    return as_json(document)
