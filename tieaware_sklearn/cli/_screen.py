"""The command ``screen``, which scores every feature of a file as a ranking."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.utils import Bunch

from .._display import progress_bars, words
from ..feature_selection import RankingFeatureSelector, Screening, _selection, _text
from ..io import _arrow, _batches, _locate, _rows, _wording
from ..measures import Measure, _cumulated_gain, _parse
from ..plots import FeatureScreeningDisplay
from . import _outputs

#: Maximum number of bytes on disk that are read at once. Larger files are read in
#: batches.
_LARGE = 1 << 28


def run(arguments: Namespace) -> int:
    """Screen the files, print or write the results, and return the exit code."""
    # Patterns are expanded only once, because the outputs may also match the patterns.
    files = _locate.find_files(arguments.files, "FILE", arguments.format)
    inputs = list(map(str, files.paths))
    # Files of query sizes beside the input files may also be read.
    for path in files.paths:
        inputs += [f"{path}{suffix}" for suffix in _locate.GROUP_SUFFIXES]
    inputs += arguments.query_file or []
    _outputs.check_files(arguments, inputs)
    unjudged = arguments.unjudged
    # `_screen` drops unjudged documents before they reach the selector.
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
    screening, n_documents = _screen(arguments, files, selector)
    rows = screening.rows()
    # --top 0 writes and shows all features; without --top, only the table is short.
    chosen = rows[: arguments.top or None]
    shown = chosen
    if arguments.top is None:
        shown = rows[: _text.SHOWN]
    table = _text.table_of(screening, shown)
    table = replace(table, title=f"Features by {screening.sort_by}")
    pages = [table]
    if len(shown) < len(chosen):
        full_table = _text.table_of(screening, chosen)
        pages.append(replace(full_table, title="All features"))
    if len(shown) < len(rows):
        note = f"... and {len(rows) - len(shown)} more (--top 0 shows all)"
        table = replace(table, notes=[note])
    opening = arguments.files[0]
    read = []
    if len(arguments.files) > 1:
        read = arguments.files
        opening += f" and {len(read) - 1} more"
    names = screening.feature_names
    selected = []
    if screening.selection is not None:
        selected = [names[j] for j in screening.selection.order]
    about = {
        "files": arguments.files,
        "n_documents": n_documents,
        "n_queries": screening.n_queries,
        "n_features": len(names),
        "measures": screening.measures,
        "sort_by": screening.sort_by,
    }
    for name in ("chance", "ideal"):
        values = getattr(screening, name).tolist()
        about[name] = dict(zip(screening.measures, values, strict=True))
    about["selected"] = selected
    about["features"] = chosen
    opening += f": {n_documents} documents, {screening.n_queries} queries, "
    opening += f"{len(names)} features"

    def draw() -> FeatureScreeningDisplay:
        n_shown = len(shown)
        return FeatureScreeningDisplay.from_result(screening, max_features=n_shown)

    findings = _outputs.Findings(
        title=f"{len(names)} features, each scored alone as a ranking",
        about=about,
        rows=chosen,
        read=read,
        opening=[opening],
        tables=[table],
        pages=lambda: pages,
        remarks=_remarks(selector, screening),
        draw=draw,
        conclusion=screening._conclusion(),
    )
    return _outputs.write_findings(arguments, findings)


def _open_files(arguments: Namespace, files: _locate.Files) -> _rows.Rankings:
    """Open the files as one ranking."""
    options = _arrow.TableOptions(
        label=arguments.label or "label",
        qid=arguments.qid or "qid",
        ignore=arguments.ignore or (),
        missing_values=arguments.missing_values or (),
        decimal=arguments.decimal,
        quoting=arguments.quoting,
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
            "read as LETOR text. If the file is CSV, set --format csv"
        )
    return rankings


def _screen(
    arguments: Namespace,
    files: _locate.Files,
    selector: RankingFeatureSelector,
) -> tuple[Screening, int]:
    """Fit the selector on all files. Return the screening and the documents read."""
    rankings = _open_files(arguments, files)
    batch_rows = arguments.batch_rows
    in_batches = bool(batch_rows)
    if batch_rows is None:
        in_batches = _locate.size_on_disk(files.paths) > _LARGE
    n_rows = None
    if in_batches:
        n_features = len(rankings.feature_names)
        n_rows = _batches.rows_of_batch(batch_rows, n_features)
        limit = _selection.AUTO_REDUNDANCY
        if n_features > limit and arguments.max_correlation is not None:
            raise ValueError(
                f"--max-correlation must be none if batches have over {limit} "
                f"features, got {n_features} features: set --batch-rows 0 to read all "
                "rows at once"
            )
    # With batches, a progress bar counts documents. Otherwise, a progress bar of the
    # selector counts features.
    shows_bar = progress_bars.shows_progress(arguments.quiet)
    selector.set_params(progress=shows_bar and not in_batches)
    measures = _parse.parse_measures(arguments.measures)
    n_documents = 0

    def judged_batches() -> Iterator[Bunch]:
        nonlocal n_documents
        for batch in _batches.track(rankings, n_rows, shows_bar and in_batches):
            _check_values(batch, arguments, measures)
            is_judged = ~np.isnan(batch.target)
            if arguments.unjudged == "drop" and not is_judged.all():
                for name in ("data", "target", "qid"):
                    batch[name] = batch[name][is_judged]
            n_documents += len(batch.target)
            if len(batch.target):
                yield batch
        _note_left_out(rankings.left_out, files.left_out)
        if not n_documents:
            raise ValueError(f"{arguments.files[0]}: no document has a label")

    if in_batches:
        selector.fit_batches(judged_batches())
    else:
        # The only batch contains all rows. The loop also runs the notes at the end of
        # `judged_batches`.
        for batch in judged_batches():
            selector.fit(batch.data, batch.target, qid=batch.qid)
    return selector.screening_.named(rankings.feature_names), n_documents


def _note_left_out(columns: list[str], files: dict[str, str]) -> None:
    if columns:
        _outputs.note(
            "columns that are not numeric or have no name are left out: "
            f"{', '.join(columns)}"
        )
    if files:
        count = words.counted(len(files), "file is", "files are")
        _outputs.note(f"{count} left out: {_wording.with_reasons(files)}")


def _check_values(data: Bunch, arguments: Namespace, measures: list[Measure]) -> None:
    """Raise an error with file and line of the first refused value, and a remedy."""
    labels, values = data.target, data.data
    is_unlabelled = np.isnan(labels)
    if arguments.unjudged == "raise" and is_unlabelled.any():
        row = int(np.argmax(is_unlabelled))
        raise ValueError(
            f"{data.place(row)}: the label is missing. Rows without a label: "
            f"{is_unlabelled.sum()} of {len(labels)}. Set --unjudged nonrelevant to "
            "count such documents as not relevant, or --unjudged drop to leave them out"
        )
    is_refused = np.isinf(labels) | (labels < 0)
    if is_refused.any():
        row = int(np.argmax(is_refused))
        raise ValueError(
            f"{data.place(row)}: a label must be finite and >= 0, got {labels[row]:g}"
        )
    refused = _cumulated_gain.refused_label(measures, labels)
    if refused is not None:
        row, reason = refused
        raise ValueError(f"{data.place(row)}: {reason}")
    is_infinite = np.isinf(values)
    if is_infinite.any():
        row, j = np.argwhere(is_infinite)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} must be finite, got "
            f"{values[row, j]:g}. Set --missing-values={values[row, j]:g} to read such "
            "cells of CSV as missing, or --ignore to leave the feature out"
        )
    is_missing = np.isnan(values)
    if arguments.missing == "raise" and is_missing.any():
        row, j = np.argwhere(is_missing)[0].tolist()
        raise ValueError(
            f"{data.place(row)}: feature {data.feature_names[j]} is missing. Number "
            f"of missing values: {is_missing.sum()}. Set --missing last to rank "
            "missing values below all others"
        )


def _remarks(selector: RankingFeatureSelector, screening: Screening) -> list[str]:
    """Return sentences about the selected features and the averaged queries."""
    sort = screening.rule.sort
    qvalues = screening.qvalues[:, sort]
    n_beating = (qvalues <= selector.alpha).sum()
    remarks = [
        f"{n_beating} of {len(qvalues)} features beat chance by {screening.sort_by} "
        f"(q <= {selector.alpha:g}; {screening.n_averaged[sort]} queries)."
    ]
    n_repeats = (selector.repeats_ >= 0).sum()
    selected = f"{len(selector.selection_order_)} are selected"
    if n_repeats:
        repeats = words.counted(n_repeats, "other repeats", "others repeat")
        threshold = f"|rho| > {selector.max_correlation:g}"
        remarks.append(f"{selected}; {repeats} one of them ({threshold}).")
    elif selector.n_features_to_select is not None:
        remarks.append(f"{selected}.")
    remarks.append("Scores are exact means over all orders of tied documents.")
    for m, measure in enumerate(screening.rule.measures):
        if measure.greater_is_better and not screening.ideal[m] > 0:
            remarks.append(
                f"Warning: no query has a document that is relevant for {measure}."
            )
    remarks += [f"{note}." for note in _text.undefined(screening)]
    return remarks
