"""Tables and sentences about rankings, and about their ties.

A `summary` is a `Summary`. The annotations do not name the classes of results, because
their modules import this one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._display import words
from .._display.text_tables import Table
from ..statistics.averages import column_means

#: Column heads of the averages.
HEADS = {"macro": "mean", "geometric": "geom.", "median": "median"}
#: Columns of a summary that follow the average in tables.
_FIGURES = ("worst", "best", "tie_std", "chance", "lift")
#: Descriptions of the queries where some measures are undefined. All other measures are
#: undefined for queries without a relevant document.
_UNDEFINED = {
    "ESL": "with too few relevant documents retrieved",
    "Rank": "with too few relevant documents retrieved",
    "Fallout": "with relevant documents only",
}


def table_of_means(summary: Any) -> list[Table]:
    """Return the table of the summary of a ranking."""
    average = summary.average
    # The first two heads are "measure mean", "geometric mean" or "median median".
    name_head = "measure" if average == "macro" else average
    mean_head = "median" if average == "median" else "mean"
    columns = [(name_head, summary.measure), (mean_head, summary.mean)]
    for name in _FIGURES:
        columns.append((name, summary.columns[name]))
    columns.append(("95% interval", summary.interval))
    if len(np.unique(summary.n_queries)) > 1:
        columns.append(("queries", summary.n_queries))
    notes = [summary.queries + summary.undefined]
    notes += estimates(summary)
    # If the table is too wide, tie_std is omitted first, then chance.
    return [Table.of(*columns, drop=(4, 5), notes=notes)]


def tables_by_segment(summary: Any) -> list[Table]:
    """Return a table for each measure, with a row for each segment and for all."""
    overall = summary.overall
    number = partial(words.number, digits=3)
    bracketed = partial(words.bracketed, digits=3)
    tables = []
    for j, measure in enumerate(overall.measure.tolist()):
        rows = slice(j, None, len(overall))
        segments = [str(segment) for segment in summary.segment[rows].tolist()]
        segments.append("all")
        columns: list[tuple[Any, ...]] = [(measure, segments)]
        counts = np.append(summary.n_queries[rows], overall.n_queries[j])
        columns.append(("queries", counts))
        for name in ("mean", *_FIGURES):
            head = HEADS[summary.average] if name == "mean" else name
            by_segment = summary.columns[name][rows]
            values = np.append(by_segment, overall.columns[name][j])
            columns.append((head, values, number))
        intervals = np.vstack([summary.interval[rows], overall.interval[j]])
        columns.append(("95% interval", intervals, bracketed))
        title = f"{measure} by segment"
        # If a table is too wide, tie_std is omitted first, then chance, lift and
        # queries.
        table = Table.of(*columns, drop=(5, 6, 7, 1), title=title)
        tables.append(table)
    notes = estimates(overall)
    if overall.undefined:
        notes.insert(0, overall.queries + overall.undefined)
    tables[-1] = replace(tables[-1], notes=notes)
    return tables


def queries_in_words(count: float, n_effective: float, cluster: Any = None) -> str:
    """State the number of queries, and the effective number if weights differ."""
    text = words.counted(int(count), "query", "queries")
    if cluster is not None:
        n_clusters = len(set(cluster.tolist()))
        return (
            f"{text} in {n_clusters} clusters, worth {n_effective:.1f} of equal weight"
        )
    if not n_effective < count:
        return text
    return f"{text}, whose weights are worth {n_effective:.1f} of equal weight"


def undefined_in_words(
    measures: Sequence[str],
    counts: Any,
    values: Any,
    means: Sequence[str] = (),
    *,
    can_skip: bool = True,
) -> str:
    """State for how many queries measures are undefined, and which value they get.

    The text follows a number of queries. The text is empty if the measures are defined
    for all queries. `values` are NaN for queries that are left out. `means` are texts
    that state the mean of each measure over the queries where the measure is defined.
    """
    remedy = "without them"
    if can_skip:
        remedy = 'zero_relevance="skip" leaves them out'
    groups: dict[tuple[int, str, str], list[int]] = {}
    for j, measure in enumerate(measures):
        if counts[j] == 0:
            continue
        name = re.split(r"\W", measure)[0]
        reason = _UNDEFINED.get(name, "without a relevant document")
        # NaN differs from itself, but two texts of NaN are equal.
        key = (counts[j], reason, f"{values[j]:g}")
        groups.setdefault(key, []).append(j)
    text = ""
    for (count, reason, value), columns in groups.items():
        if value == "nan":
            verb = "is" if count == 1 else "are"
            if len(columns) == len(measures):
                # The number before this text does not include these queries.
                return f"; {count} more {reason} {verb} left out"
            names = ", ".join(measures[j] for j in columns)
            text += f"; {count} {reason} {verb} left out of {names}"
            continue
        verb = "counts" if count == 1 else "count"
        text += f"; {count} {reason} {verb} as {value}"
        if means:
            listed = ", ".join(means[j] for j in columns)
            text += f" ({remedy}: {listed})"
        elif can_skip:
            text += f" ({remedy})"
    return text


def undefined_note(
    n_queries: int, measures: Sequence[str], counts: Any, values: Any, **options: Any
) -> list[str]:
    """Return a note on the number of queries, if measures are undefined for some."""
    text = undefined_in_words(measures, counts, values, **options)
    if not text:
        return []
    if np.isnan(values).all() and len(set(counts)) == 1:
        n_queries -= counts[0]
    return [words.counted(n_queries, "query", "queries") + text]


def estimates(summary: Any) -> list[str]:
    """State which values of a summary are estimates."""
    notes = []
    for i, name in enumerate(summary.measure.tolist()):
        error = summary.sampling_error[i]
        if error > 0:
            notes.append(
                f"{name}: the mean is estimated from sampled orders of ties, with "
                f"a standard error of {error:.1g}"
            )
        n_estimated = summary.n_estimated[i]
        if n_estimated > 0:
            queries = words.counted(n_estimated, "query", "queries")
            notes.append(
                f"{name}: the tie_std of {queries} is estimated from sampled orders of "
                "ties"
            )
    return notes


def conclusion(summary: Any) -> list[str]:
    """State the mean of each measure, and how far the order of ties moves the mean."""
    if summary.keys != ("measure",) or "chance" not in summary.columns:
        # Only summaries of a single ranking have a conclusion.
        return []
    lines = []
    for j, measure in enumerate(summary.measure.tolist()):
        mean = words.number(summary.mean[j])
        worst = words.number(summary.worst[j])
        best = words.number(summary.best[j])
        chance = words.number(summary.chance[j])
        interval = words.bracketed(summary.interval[j])
        ties = f"the order of ties moves it from {worst} to {best}"
        if worst == best:
            ties = "no order of ties changes it"
        lines.append(
            f"{measure} is {mean} (95% interval {interval}, chance {chance}); {ties}."
        )
    return lines


def table_of_treatments(treatments: Any) -> list[Table]:
    """Return the table of `TieTreatments`."""
    columns = treatments._columns().items()
    return [Table.of(*columns, notes=treatments._undefined)]


def tables_of_ties(report: Any) -> list[Table]:
    """Return the tables of a `TieReport`: figures, and gaps of measures."""
    figures = {
        "queries": report.n_queries,
        "documents": report.n_documents,
        "distinct scores": report.n_distinct_scores,
        "largest tie group": report.largest_group,
    }
    shares = {
        "documents tied": report.tied_documents,
        "  in groups with different labels": report.mixed_documents,
        "  tied with the document before": report.repeated_documents,
        "queries with ties": report.tied_queries,
        f"  with cut-off {report.k} inside a tie": report.cut_queries,
    }
    for name, share in shares.items():
        figures[name] = words.percent(share)
    ties = Table.of(("ties", figures), ("", figures.values()))
    gaps = Table.of(
        ("best - worst", report.measures),
        ("mean gap", report.mean_gap),
        ("largest gap", report.largest_gap),
        notes=report._undefined,
    )
    return [ties, gaps]


def conclusion_on_ties(report: Any) -> list[str]:
    """State how far the order of ties moves each measure."""
    gaps = []
    for measure, gap in zip(report.measures, report.mean_gap, strict=True):
        gaps.append(f"{measure} by {words.number(gap)}")
    listed = ", of ".join(gaps)
    share = words.percent(report.tied_documents)
    return [f"{share} of the documents tie; their order moves the mean of {listed}."]


def table_of_curve(curve: Any) -> list[Table]:
    """Return the table of a `PrecisionRecallCurve`."""
    notes = list(curve._undefined)
    error = curve.sampling_error.max()
    if error > 0:
        notes.append(
            "the means of long ties are estimated from sampled orders, with standard "
            f"errors of at most {error:.1g}"
        )
    levels = [f"{level:g}" for level in curve.recall]
    columns = [("recall", levels), ("precision", curve.mean)]
    for name in ("worst", "best", "tie_std"):
        columns.append((name, getattr(curve, name)))
    return [Table.of(*columns, notes=notes)]


def table_of_sampled(score: Any) -> list[Table]:
    """Return the table of a `SampledScore`, which has one row."""
    figures = {
        "measure": score.measure,
        "mean": score.mean,
        "standard error": score.sampling_error,
        "tie_std": score.tie_std,
        "min": score.min,
        "max": score.max,
        "orders": score.n_orders,
    }
    figures["queries"] = np.count_nonzero(~np.isnan(score.expected))
    columns = [(head, [value]) for head, value in figures.items()]
    return [Table.of(*columns)]


def table_of_residuals(report: Any) -> list[Table]:
    """Return the table of the averages of a `ResidualReport`."""
    terms = {
        "mean": "exact mean if no unjudged document is relevant",
        "worst": "least favourable order of ties, if no unjudged document is relevant",
        "best": "most favourable order of ties, if all unjudged documents are relevant",
    }
    columns = [("measure", report.measures)]
    for head in ("mean", "residual", "worst", "best"):
        values = report.expected if head == "mean" else getattr(report, head)
        columns.append((head, column_means(values, report.query_weight)))
    return [Table.of(*columns, terms=terms)]
