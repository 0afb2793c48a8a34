"""Runs and judgments written as TREC files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _atomic
from .._engine import exact_numbers, messages
from . import _locate, _source, _trec_lines, _wording

#: what is no white space to readers, and can be written in UTF-8
_TAG = re.compile(r"[^ \t\n\r\v\f\0\ud800-\udc7f\udd00-\udfff]+")


def dump_trec_run(
    path: _locate.PathLike, qid: Any, docno: Any, score: Any, *, tag: str = "run"
) -> None:
    r"""Write a TREC run whose scores read back exactly as float64.

    Parameters
    ----------
    path : path
        File to write, gzipped if its name ends in ``.gz``. It appears only once it is
        complete.
    qid : array-like of shape (n_rows,), strings, bytes or integers
        Topic of each row.
    docno : array-like of shape (n_rows,), strings, bytes or integers
        Document of each row.
    score : array-like of shape (n_rows,)
        Scores. Rows with -inf are not retrieved, and are not written.
    tag : str, default="run"
        Name of the run, on every line.

    Raises
    ------
    ValueError
        For lengths that differ; for ids that are empty, contain white space or have
        other types; for a document that occurs twice in a topic; for scores that are
        not numbers, NaN or +inf; and if nothing is retrieved.
    OSError
        If the file cannot be written.

    See Also
    --------
    dump_qrels : Writes judgments.
    load_run : Reads the file.
    load_trec : Reads runs with their judgments.

    Notes
    -----
    Lines have the form ``topic Q0 docno rank score tag``, as in `load_trec`. Topics are
    in the order of their first rows. Documents are ranked from 1 as by trec_eval: by
    score in 32 bits and then by descending document id. Tools that use ranks and tools
    that use scores thus evaluate the same ranking.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import dump_trec_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run")
    ...     dump_trec_run(path, ["301"] * 3, ["FR-1", "FR-2", "FR-9"], [1, 0.1, 1])
    ...     print(path.read_text())
    301 Q0 FR-9 1 1 run
    301 Q0 FR-1 2 1 run
    301 Q0 FR-2 3 0.1 run
    <BLANKLINE>
    """
    rule = "tag must be a string in UTF-8 without white space, and not empty"
    messages.require(isinstance(tag, str) and _TAG.fullmatch(tag), rule, tag)
    run = _lines(path, {"qid": qid, "docno": docno, "score": score}, _trec_lines.RUN)
    rule = "score must retrieve a document, got -inf in all rows"
    messages.require(run.docno, rule)
    run = run.in_order(_trec_lines.by_score_and_docno(run))
    columns = *run.ids(), run.places_in_topics(), run.numbers[:, _trec_lines.SCORE]
    lines = (
        f"{topic} Q0 {document} {rank} {_wording.number_as_text(number)} {tag}\n"
        for topic, document, rank, number in _rows(columns)
    )
    _atomic.write_whole(Path(path), lines)


def dump_qrels(path: _locate.PathLike, qid: Any, docno: Any, label: Any) -> None:
    r"""Write relevance judgments as TREC has them.

    Parameters
    ----------
    path : path
        File to write, gzipped if its name ends in ``.gz``. It appears only once it is
        complete.
    qid : array-like of shape (n_rows,), strings, bytes or integers
        Topic of each row.
    docno : array-like of shape (n_rows,), strings, bytes or integers
        Document of each row.
    label : array-like of shape (n_rows,)
        Labels. Unjudged documents (NaN or below 0) get -1.

    Raises
    ------
    ValueError
        For lengths that differ; for ids that are empty, contain white space or have
        other types; for a document that occurs twice in a topic; and for labels that
        are not numbers or infinite.
    OSError
        If the file cannot be written.

    See Also
    --------
    dump_trec_run : Writes a run.
    load_qrels : Reads the file.
    load_trec : Reads runs with their judgments.

    Notes
    -----
    Lines have the form ``topic iteration docno label``, as in `load_trec`, with
    iteration 0. Lines of a topic are contiguous, in the order of their rows. trec_eval
    reads integer labels only.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import dump_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels")
    ...     dump_qrels(path, ["301", "301"], ["FR-1", "FR-2"], [2, 0])
    ...     path.read_text()
    '301 0 FR-1 2\n301 0 FR-2 0\n'
    """
    columns = {"qid": qid, "docno": docno, "label": label}
    judged = _lines(path, columns, _trec_lines.JUDGMENTS)
    labels = np.where(np.isnan(judged.numbers), -1, judged.numbers)[:, 0]
    lines = (
        f"{topic} 0 {document} {_wording.number_as_text(number)}\n"
        for topic, document, number in _rows((*judged.ids(), labels))
    )
    _atomic.write_whole(Path(path), lines)


def _rows(columns: Sequence[NDArray[Any]]) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def _lines(
    path: _locate.PathLike, columns: dict[str, Any], kind: _trec_lines.Kind
) -> _trec_lines.TrecLines:
    """Lines that a file can hold, and the readers read."""
    topic, document, _ = columns
    for name in (topic, document):
        columns[name] = _with_spelled_integers(columns[name])
    lines = _trec_lines.lines_of_columns(columns, kind, str(path), absent=True)
    for name, ids in ((topic, list(lines.topics)), (document, lines.docno)):
        holds = b" ".join(ids).split() == ids
        bad = b"" if holds else next(one for one in ids if one.split() != [one])
        rule = f"{path}: {name} must not hold white space"
        messages.require(holds, rule, _trec_lines.spelled(bad))
    first = next(iter(lines.topics), b"")
    what = _source.would_not_read_as_text(first)
    rule = f"{path}: the first topic must not begin with the bytes of {what}"
    messages.require(not what, rule, _trec_lines.spelled(first))
    return lines


def _with_spelled_integers(ids: Any) -> Any:
    """Ids, as text where they are integers: there is one way to write them."""
    array = np.asarray(exact_numbers.none_for_masked(ids), dtype=object)
    if array.ndim != 1:
        return ids
    return [
        str(one) if type(one) is int or isinstance(one, np.integer) else one
        for one in array.tolist()
    ]
