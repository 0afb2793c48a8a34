"""Tables and sentences on rankings, and on their ties.

The module of a result imports this one. A `summary` is a `Summary`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._display import text_tables, words

Tables = list[text_tables.Table]

#: heads of averages
HEADS = {"macro": "mean", "geometric": "geom.", "median": "median"}
_AVERAGES = ("mean", "worst", "best", "tie_std", "chance", "lift")
#: queries for which measures are undefined, if not those without a relevant document
_UNDEFINED = {
    "ESL": "with too few relevant documents retrieved",
    "Rank": "with too few relevant documents retrieved",
    "Fallout": "with relevant documents only",
}


def table_of_means(summary: Any) -> Tables:
    """Table of the summary of a ranking."""
    average = summary.average
    columns = [
        ("measure" if average == "macro" else average, summary.measure),
        ("median" if average == "median" else "mean", summary.mean),
        *((name, summary.columns[name]) for name in _AVERAGES[1:]),
        ("95% interval", summary.interval),
    ]
    if len(np.unique(summary.n_queries)) > 1:
        columns.append(("queries", summary.n_queries))
    notes = [summary.queries + summary.undefined, *estimates(summary)]
    return [text_tables.Table.of(*columns, drop=(4, 5), notes=notes)]


def tables_by_segment(summary: Any) -> Tables:
    """Table of all segments, for each measure."""
    overall, tables = summary.overall, []
    number = partial(words.number, digits=3)
    for j, measure in enumerate(overall.measure.tolist()):
        rows = slice(j, None, len(overall))
        figures = {
            name: np.append(summary.columns[name][rows], overall.columns[name][j])
            for name in ("n_queries", *_AVERAGES)
        }
        heads = {"mean": HEADS[summary.average]}
        intervals = [*summary.interval[rows], overall.interval[j]]
        table = text_tables.Table.of(
            (measure, [*map(str, summary.segment[rows].tolist()), "all"]),
            ("queries", figures["n_queries"]),
            *((heads.get(name, name), figures[name], number) for name in _AVERAGES),
            ("95% interval", intervals, partial(words.bracketed, digits=3)),
            drop=(5, 6, 7, 1),
            title=f"{measure} by segment",
        )
        tables.append(table)
    notes = estimates(overall)
    if overall.undefined:
        notes.insert(0, overall.queries + overall.undefined)
    tables[-1] = replace(tables[-1], notes=notes)
    return tables


def queries_in_words(count: float, worth: float, cluster: Any = None) -> str:
    """Count queries, and say what those of unequal weights or clusters are worth."""
    text = words.counted(int(count), "query", "queries")
    if cluster is not None:
        n_clusters = len(set(cluster.tolist()))
        return f"{text} in {n_clusters} clusters, worth {worth:.1f} of equal weight"
    if not worth < count:
        return text
    return f"{text}, whose weights are worth {worth:.1f} of equal weight"


def undefined_in_words(
    measures: Sequence[str],
    counts: Any,
    values: Any,
    means: Sequence[str] = (),
    *,
    can_skip: bool = True,
) -> str:
    """Say for how many queries measures are undefined, and what they count as.

    The text follows a number of queries, and is empty if there are none. `values` are
    NaN for queries that are left out, and `means` are over the other queries.
    """
    remedy = 'zero_relevance="skip" leaves them out' if can_skip else "without them"
    alike: dict[tuple[int, str, str], list[int]] = {}
    for j, measure in enumerate(measures):
        if counts[j]:
            name = re.split(r"\W", measure)[0]
            reason = _UNDEFINED.get(name, "without a relevant document")
            alike.setdefault((counts[j], reason, f"{values[j]:g}"), []).append(j)
    text = ""
    for (count, reason, value), columns in alike.items():
        if value == "nan":
            verb = "is" if count == 1 else "are"
            if len(columns) == len(measures):
                return f"; {count} more {reason} {verb} left out"
            names = ", ".join(measures[j] for j in columns)
            text += f"; {count} {reason} {verb} left out of {names}"
            continue
        verb = "counts" if count == 1 else "count"
        text += f"; {count} {reason} {verb} as {value}"
        if means:
            text += f" ({remedy}: {', '.join(means[j] for j in columns)})"
        elif can_skip:
            text += f" ({remedy})"
    return text


def undefined_note(
    n_queries: int, measures: Sequence[str], counts: Any, values: Any, **options: Any
) -> list[str]:
    """Note the number of queries, if measures are undefined for some of them."""
    text = undefined_in_words(measures, counts, values, **options)
    if np.isnan(values).all() and len({*counts}) == 1:
        n_queries -= counts[0]
    return [words.counted(n_queries, "query", "queries") + text] if text else []


def estimates(summary: Any) -> list[str]:
    """Say which values of a summary are estimates."""
    notes = []
    for i, name in enumerate(summary.measure.tolist()):
        if summary.sampling_error[i] > 0:
            notes.append(
                f"{name}: the mean is estimated from sampled orders of ties, with "
                f"a standard error of {summary.sampling_error[i]:.1g}"
            )
        if count := summary.n_estimated[i]:
            queries = words.counted(count, "query", "queries")
            notes.append(
                f"{name}: the tie_std of {queries} is estimated from sampled orders of "
                "ties"
            )
    return notes


def conclusion(summary: Any) -> list[str]:
    """Say how good a ranking is by each measure, and how far ties move it."""
    if summary.keys != ("measure",) or "chance" not in summary.columns:
        return []
    lines = []
    for j, measure in enumerate(summary.measure.tolist()):
        mean, worst, best, chance = (
            words.number(summary.columns[name][j])
            for name in ("mean", "worst", "best", "chance")
        )
        ties = f"the order of ties moves it from {worst} to {best}"
        if worst == best:
            ties = "no order of ties changes it"
        interval = f"95% interval {words.bracketed(summary.interval[j])}"
        lines.append(f"{measure} is {mean} ({interval}, chance {chance}); {ties}.")
    return lines


def table_of_treatments(treatments: Any) -> Tables:
    """Table of `TieTreatments`."""
    columns = treatments._columns().items()
    return [text_tables.Table.of(*columns, notes=treatments._undefined)]


def tables_of_ties(report: Any) -> Tables:
    """Tables of a `TieReport`."""
    figures = {
        "queries": str(report.n_queries),
        "documents": str(report.n_documents),
        "distinct scores": str(report.n_distinct_scores),
        "largest tie group": str(report.largest_group),
        "documents tied": words.percent(report.tied_documents),
        "  in groups with different labels": words.percent(report.mixed_documents),
        "  tied with the document before": words.percent(report.repeated_documents),
        "queries with ties": words.percent(report.tied_queries),
        f"  with cut-off {report.k} inside a tie": words.percent(report.cut_queries),
    }
    return [
        text_tables.Table.of(("ties", figures), ("", figures.values())),
        text_tables.Table.of(
            ("best - worst", report.measures),
            ("mean gap", report.mean_gap),
            ("largest gap", report.largest_gap),
            notes=report._undefined,
        ),
    ]


def conclusion_on_ties(report: Any) -> list[str]:
    """Say how far the order of ties moves each measure."""
    gaps = (
        f"{measure} by {words.number(gap)}"
        for measure, gap in zip(report.measures, report.mean_gap.tolist(), strict=True)
    )
    share = f"{words.percent(report.tied_documents)} of the documents tie"
    return [f"{share}; their order moves the mean of {', of '.join(gaps)}."]


def table_of_contingency(contingency: Any) -> Tables:
    """Table of the sums of a `ContingencyTable`."""
    sums = contingency.sum()
    sums = np.vstack([sums, sums.sum(axis=0)])
    sums = np.column_stack([sums, sums.sum(axis=1)])
    k = contingency.k
    retrieved = "retrieved" if k is None else f"in the first {k}"
    names = [retrieved, f"not {retrieved}", "all"]
    counts = [
        [f"{cell:.10g}" if cell % 1 == 0 else f"{cell:.2f}" for cell in column]
        for column in sums.T
    ]
    heads = ["documents", "relevant", "not relevant", "all"]
    return [text_tables.Table.of(*zip(heads, [names, *counts], strict=True))]


def table_of_curve(curve: Any) -> Tables:
    """Table of a `PrecisionRecallCurve`."""
    notes, error = [*curve._undefined], float(curve.sampling_error.max())
    if error > 0:
        notes.append(
            "the means of long ties are estimated from sampled orders, with standard "
            f"errors of at most {error:.1g}"
        )
    return [
        text_tables.Table.of(
            ("recall", [f"{recall:g}" for recall in curve.recall]),
            ("precision", curve.mean),
            ("worst", curve.worst),
            ("best", curve.best),
            ("tie_std", curve.tie_std),
            notes=notes,
        )
    ]


def table_of_sampled(score: Any) -> Tables:
    """Table of a `SampledScore`."""
    figures = {
        "measure": score.measure,
        "mean": score.mean,
        "standard error": score.sampling_error,
        "tie_std": score.tie_std,
        "min": score.min,
        "max": score.max,
        "orders": score.n_orders,
        "queries": np.count_nonzero(~np.isnan(score.expected)),
    }
    return [text_tables.Table.of(*((head, [cell]) for head, cell in figures.items()))]


def table_of_residuals(report: Any) -> Tables:
    """Table of the averages of a `ResidualReport`."""
    return [
        text_tables.Table.of(
            ("measure", report.measures),
            *report._means().items(),
            terms={
                "mean": "exact mean if no unjudged document is relevant",
                "worst": "least favourable order of ties, if no unjudged document is "
                "relevant",
                "best": "most favourable order of ties, if all unjudged documents are "
                "relevant",
            },
        )
    ]
