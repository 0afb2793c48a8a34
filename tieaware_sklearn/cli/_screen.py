"""The command ``screen``: the exact score of every feature of a file, as a ranking."""

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.utils import Bunch

from .._display import progress_bars, words
from ..feature_selection import (
    RankingFeatureSelector,
    Screening,
    _selection,
    _text,
)
from ..io import _arrow, _batches, _locate, _wording
from ..measures import Measure, _cumulated_gain, _parse
from ..plots import FeatureScreeningDisplay
from . import _outputs

#: files that take more on disk are read in batches
_LARGE = 1 << 28


def run(arguments: argparse.Namespace) -> int:
    """Read, screen, and print or write the screening."""
    # once, because commands may write further files that match
    files = _locate.find_files(arguments.files, "FILE", arguments.format)
    paths = list(map(str, files.paths))
    sizes = [f"{name}{suffix}" for name in paths for suffix in _locate.GROUP_SUFFIXES]
    _outputs.check_files(arguments, [*paths, *sizes, *(arguments.query_file or ())])
    unjudged = arguments.unjudged
    selector = RankingFeatureSelector(
        arguments.measures,
        sort_by=arguments.sort_by,
        direction=arguments.direction,
        missing=arguments.missing,
        zero_relevance=arguments.zero_relevance,
        unjudged="raise" if unjudged == "drop" else unjudged,
        n_features_to_select=arguments.select,
        max_correlation=arguments.max_correlation,
        diversity=arguments.diversity,
        n_jobs=arguments.jobs,
    )
    screening, n_documents = _screened(arguments, files, selector)
    rows, top = screening.rows(), arguments.top
    chosen = rows[:top] if top else rows
    shown = rows[: _text.SHOWN] if top is None else chosen
    title = f"Features by {screening.sort_by}"
    table = replace(_text.table_of(screening, shown), title=title)
    pages = [table]
    if len(shown) < len(chosen):
        everything = _text.table_of(screening, chosen)
        pages.append(replace(everything, title="All features"))
    if len(shown) < len(rows):
        more = f"... and {len(rows) - len(shown)} more (--top 0 shows all)"
        table = replace(table, notes=[more])
    inputs = arguments.files
    named = inputs[0]
    if len(inputs) > 1:
        named += f" and {len(inputs) - 1} more"
    measures, names = screening.measures, screening.feature_names
    n_features, n_queries = len(names), screening.n_queries
    selected = () if screening.selection is None else screening.selection.order
    findings = _outputs.Findings(
        title=f"{n_features} features, each scored alone as a ranking",
        about={
            "files": inputs,
            "n_documents": n_documents,
            "n_queries": n_queries,
            "n_features": n_features,
            "measures": measures,
            "sort_by": screening.sort_by,
            "chance": dict(zip(measures, screening.chance.tolist(), strict=True)),
            "ideal": dict(zip(measures, screening.ideal.tolist(), strict=True)),
            "selected": [names[j] for j in selected],
            "features": chosen,
        },
        rows=chosen,
        read=inputs if len(inputs) > 1 else [],
        opening=[
            f"{named}: {n_documents} documents, {n_queries} queries, "
            f"{n_features} features"
        ],
        tables=[table],
        pages=pages,
        remarks=_closing(selector, screening),
        draw=lambda: FeatureScreeningDisplay.from_result(
            screening, max_features=len(shown)
        ),
        conclusion=screening._conclusion(),
    )
    return _outputs.write_findings(arguments, findings)


def _screened(
    arguments: argparse.Namespace,
    files: _locate.Files,
    selector: RankingFeatureSelector,
) -> tuple[Screening, int]:
    """Fit the selector on all files; return the screening and the documents read."""
    options = _arrow.TableOptions(
        arguments.label or "label",
        arguments.qid or "qid",
        arguments.ignore or (),
        arguments.missing_values or (),
        arguments.decimal,
        arguments.quoting,
    )
    rankings = _batches.open_files(
        files,
        options,
        format=arguments.format,
        query_file=arguments.query_file,
        n_features=arguments.n_features,
    )
    if (arguments.label or arguments.qid) and not rankings.is_table:
        raise ValueError(
            f"--label and --qid are for CSV and Parquet files, but {files.paths[0]} is "
            "read as LETOR text (--format csv reads it as CSV)"
        )
    rows, wanted, n = None, arguments.batch_rows, len(rankings.feature_names)
    if wanted or (wanted is None and _locate.size_on_disk(files.paths) > _LARGE):
        rows = _batches.rows_of_batch(wanted, n)
        if n > _selection.AUTO_REDUNDANCY and arguments.max_correlation is not None:
            raise ValueError(
                f"--max-correlation must be none for more than "
                f"{_selection.AUTO_REDUNDANCY} features in batches, got {n} features "
                "(--batch-rows 0 reads all at once)"
            )
    # one bar: over documents in batches, over features of all at once
    bar = progress_bars.shows_progress(arguments.quiet)
    selector.set_params(progress=bar and rows is None)
    measures = _parse.parse_measures(arguments.measures)
    n_documents = 0

    def batches() -> Iterator[Bunch]:
        nonlocal n_documents
        for batch in _batches.track(rankings, rows, bar and rows is not None):
            _check_values(batch, arguments, measures)
            judged = ~np.isnan(batch.target)
            if arguments.unjudged == "drop" and not judged.all():
                for name in ("data", "target", "qid"):
                    batch[name] = batch[name][judged]
            n_documents += len(batch.target)
            if len(batch.target):
                yield batch
        _note_left_out(rankings.left_out, files.left_out)
        if not n_documents:
            raise ValueError(f"{arguments.files[0]}: no document has a label")

    if rows is None:
        for batch in batches():
            selector.fit(batch.data, batch.target, qid=batch.qid)
    else:
        selector.fit_batches(batches())
    return selector.screening_.named(rankings.feature_names), n_documents


def _note_left_out(columns: list[str], files: dict[str, str]) -> None:
    if columns:
        _outputs.note(f"left out, not numeric or nameless: {', '.join(columns)}")
    if files:
        what = words.counted(len(files), "file is", "files are")
        _outputs.note(f"{what} left out: {_wording.with_reasons(files)}")


def _check_values(
    data: Bunch, arguments: argparse.Namespace, measures: list[Measure]
) -> None:
    """Raise with the file and line of the first value that is refused, and a remedy."""
    target = data.target
    values = np.asarray(data.data, dtype=np.float64)
    unlabelled = np.isnan(target)
    if arguments.unjudged == "raise" and unlabelled.any():
        raise ValueError(
            f"{data.place(int(np.argmax(unlabelled)))}: the label is missing "
            f"({unlabelled.sum()} of {len(target)} are missing; --unjudged nonrelevant "
            "counts such documents as not relevant, --unjudged drop leaves them out)"
        )
    refused = np.isinf(target) | (target < 0)
    if refused.any():
        row = int(np.argmax(refused))
        raise ValueError(
            f"{data.place(row)}: a label must be finite and >= 0, got {target[row]:g}"
        )
    if refused_by_measure := _cumulated_gain.refused_label(measures, target):
        row, why = refused_by_measure
        raise ValueError(f"{data.place(row)}: {why}")
    infinite = np.isinf(values)
    if infinite.any():
        row, j = np.argwhere(infinite)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} must be finite, got "
            f"{values[row, j]:g} (--missing-values inf reads such cells of CSV as "
            "missing; --ignore leaves the feature out)"
        )
    gaps = np.isnan(values)
    if arguments.missing == "raise" and gaps.any():
        row, j = np.argwhere(gaps)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} is missing "
            f"({gaps.sum()} values are missing in all; --missing last ranks them below "
            "all others)"
        )


def _closing(selector: RankingFeatureSelector, screening: Screening) -> list[str]:
    """Sentences on selected features, and on queries that are averaged."""
    counts, sort = screening.n_averaged, screening.rule.sort
    q = screening.qvalues[:, sort]
    lines = [
        f"{(q <= selector.alpha).sum()} of {len(q)} features "
        f"beat chance by {screening.sort_by} (q <= {selector.alpha:g}; "
        f"{counts[sort]} queries)."
    ]
    repeats = (selector.repeats_ >= 0).sum()
    if repeats or selector.n_features_to_select is not None:
        chosen = f"{len(selector.selection_order_)} are selected"
        if repeats:
            of_them = words.counted(repeats, "other repeats", "others repeat")
            chosen += f"; {of_them} one of them (|rho| > {selector.max_correlation:g})"
        lines.append(f"{chosen}.")
    lines.append("Scores are exact means over all orders of tied documents.")
    for m, measure in enumerate(screening.rule.measures):
        if measure.greater_is_better and not screening.ideal[m] > 0:
            lines.append(
                f"Warning: no query has a document that is relevant for {measure}."
            )
    return [*lines, *(f"{note}." for note in _text.undefined(screening))]
