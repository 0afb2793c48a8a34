"""The command ``screen``: the exact score of every feature of a file, as a ranking."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from .._display import conclusion_of
from ..feature_selection import SHOWN, RankingFeatureSelector, Screening, table_of
from ..io import GROUP_SUFFIXES, find_files
from ..plots import FeatureScreeningDisplay
from ._interrupts import exit_code
from ._outputs import Findings, check_outputs, note, write_bytes, write_findings
from ._parts import Read, saved_part
from ._screen_files import Screened, screen_files


def run(arguments: argparse.Namespace) -> int:
    """Read, screen, and print or write what was found."""
    # once: files may come while others are read, such as those written here
    paths = find_files(arguments.files, "FILE")
    files = list(map(str, paths))
    sizes = [f"{name}{suffix}" for name in files for suffix in GROUP_SUFFIXES]
    check_outputs(arguments, [*files, *sizes, *(arguments.query_file or ())])
    selector = RankingFeatureSelector(
        arguments.measures,
        sort_by=arguments.sort_by,
        direction=arguments.direction,
        missing=arguments.missing,
        zero_relevance=arguments.zero_relevance,
        n_features_to_select=arguments.select,
        n_jobs=arguments.jobs,
    )
    set_selection(selector, arguments)
    screened = screen_files(arguments, paths, selector)
    if screened.interrupted is not None:
        named = screened.selector.screening_.named(screened.feature_names)
        write_bytes(arguments.save, _saved(named, screened))
        note(
            f"interrupted: {arguments.save} holds what was found in the first "
            f"{screened.n_documents} documents (tieaware merge --interrupted takes it)"
        )
        return exit_code(screened.interrupted)
    several = arguments.files if len(arguments.files) > 1 else []
    report(arguments, screened, several)
    return 0


def set_selection(
    selector: RankingFeatureSelector, arguments: argparse.Namespace
) -> None:
    """The options that choose among features, if they are given."""
    for name in ("max_correlation", "diversity"):
        if name in arguments:
            selector.set_params(**{name: getattr(arguments, name)})


def report(arguments: argparse.Namespace, screened: Screened, read: list[str]) -> None:
    """Print or write what was found, on a page with what was read."""
    names, selector = screened.feature_names, screened.selector
    screening = selector.screening_.named(names)
    rows = screening.rows()
    top = arguments.top
    chosen = rows[:top] if top else rows
    shown = rows[:SHOWN] if top is None else chosen
    table = table_of(screening, shown)
    if len(shown) < len(rows):
        more = f"... and {len(rows) - len(shown)} more (--top 0 shows all)"
        table = replace(table, notes=[more])
    heading = f"Features by {screening.sort_by}"
    write_findings(
        arguments,
        Findings(
            title=f"{len(names)} features, each scored alone as a ranking",
            about=_about(chosen, screened),
            rows=chosen,
            read=read,
            opening=[summary(screened)],
            tables=[(heading, table)],
            pages=[(heading, table_of(screening, chosen))],
            remarks=closing(selector),
            draw=lambda: FeatureScreeningDisplay.from_result(
                screening, max_features=len(shown)
            ),
            conclusion=conclusion_of(screening),
            saved=lambda: _saved(screening, screened),
        ),
    )


def _saved(screening: Screening, screened: Screened) -> bytes:
    """What is saved: the screening, and of what it is."""
    read = Read(
        screened.files, screened.n_documents, screened.complete, screened.unjudged
    )
    return saved_part(replace(screening, label=screened.label), read)


def summary(screened: Screened) -> str:
    """What was read."""
    named = screened.files[0]
    if len(screened.files) > 1:
        named += f" and {len(screened.files) - 1} more"
    n_documents = screened.n_documents
    documents = "" if n_documents is None else f"{n_documents} documents, "
    return (
        f"{named}: {documents}{screened.selector.n_queries_} queries, "
        f"{len(screened.feature_names)} features"
    )


def closing(selector: RankingFeatureSelector) -> list[str]:
    """How many features are selected, and how many queries are averaged over."""
    screening = selector.screening_
    used = dict(zip(screening.measures, screening.n_averaged.tolist(), strict=True))
    q = screening.qvalues[:, screening.rule.sort]
    lines = [
        f"{int((q <= selector.alpha).sum())} of {selector.n_features_in_} features "
        f"beat chance by {screening.sort_by} (q <= {selector.alpha:g}; "
        f"{used[screening.sort_by]} queries).",
        *_chosen(selector),
        "Scores are exact means over all orders of tied documents.",
    ]
    for m, measure in enumerate(screening.rule.measures):
        name = str(measure)
        if measure.greater_is_better and not screening.ideal[m] > 0:
            lines.append(
                f"Warning: no query has a document that is relevant for {name}."
            )
        elif used[name] < screening.n_queries:
            lines.append(
                f"{name} is averaged over {used[name]} of {screening.n_queries} "
                "queries: it is undefined for the others."
            )
    return lines


def _chosen(selector: RankingFeatureSelector) -> list[str]:
    """How many features are selected, if not all those that beat chance."""
    repeats = int((selector.repeats_ >= 0).sum())
    if selector.n_features_to_select is None and not repeats:
        return []
    said = f"{len(selector.selection_order_)} are selected"
    if repeats:
        of_them = "1 other repeats" if repeats == 1 else f"{repeats} others repeat"
        limit = f"|rho| > {selector.max_correlation:g}"
        said += f"; {of_them} one of them ({limit})"
    return [f"{said}."]


def _about(rows: list[dict[str, Any]], screened: Screened) -> dict[str, Any]:
    """The rows, and what they were made from."""
    screening = screened.selector.screening_
    measures, names = screening.measures, screened.feature_names
    return {
        "files": screened.files,
        "complete": screened.complete,
        "n_documents": screened.n_documents,
        "n_queries": screening.n_queries,
        "n_features": len(screened.feature_names),
        "measures": list(measures),
        "sort_by": screening.sort_by,
        "chance": dict(zip(measures, screening.chance.tolist(), strict=True)),
        "ideal": dict(zip(measures, screening.ideal.tolist(), strict=True)),
        "selected": [names[j] for j in screened.selector.selection_order_.tolist()],
        "features": rows,
    }
