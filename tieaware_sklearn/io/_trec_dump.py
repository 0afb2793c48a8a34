"""Writing of runs and judgments as TREC files."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .. import _atomic
from .._engine import messages
from . import _locate, _trec_inputs, _trec_lines, _wording

#: The white space of trec_eval, which is only ASCII.
_WHITE_SPACE = re.compile(r"[ \t\n\r\v\f]")


def dump_trec_run(
    path: _locate.PathLike, qid: Any, docno: Any, score: Any, *, tag: str = "run"
) -> None:
    r"""Write a TREC run with the full precision of float64 scores.

    Parameters
    ----------
    path : path
        File to write, gzipped if its name ends in ``.gz``. The file appears only once
        it is complete.
    qid : array-like of shape (n_rows,), strings, bytes or integers
        Topic of each row.
    docno : array-like of shape (n_rows,), strings, bytes or integers
        Document of each row.
    score : array-like of shape (n_rows,)
        Scores. A score of -inf means that the document is not retrieved, so no line is
        written.
    tag : str, default="run"
        Name of the run, without white space, which is written on every line.

    Raises
    ------
    ValueError
        If lengths differ, if an id or the tag is empty, contains white space or is of
        another type, or if a document is retrieved twice for a topic. Also if scores
        are NaN, +inf or not numbers, or if no document is retrieved.
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
    in the order of their first retrieved documents. Documents are ranked from 1 as in
    trec_eval: by descending score in 32 bits, and then by descending document id. So
    tools that read the ranks evaluate the same ranking as trec_eval, which reads the
    scores.

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
    if not isinstance(tag, str) or not tag or _WHITE_SPACE.search(tag):
        raise ValueError(
            "tag must be a string without white space, and not empty, got "
            f"{messages.show(tag)}"
        )
    columns = {"qid": qid, "docno": docno, "score": score}
    run = _lines(path, columns, _trec_lines.RUN)
    if not run.topics:
        raise ValueError(
            "score must contain a number other than -inf, got -inf in all rows"
        )
    lines = []
    for topic_id, topic in run.topics.items():
        values = topic.values.tolist()
        for rank, line in enumerate(topic.trec_eval_order().tolist(), start=1):
            text = _wording.number_as_text(values[line])
            lines.append(f"{topic_id} Q0 {topic.docno[line]} {rank} {text} {tag}\n")
    _atomic.write_whole(Path(path), lines)


def dump_qrels(path: _locate.PathLike, qid: Any, docno: Any, label: Any) -> None:
    r"""Write relevance judgments in the format of TREC.

    Parameters
    ----------
    path : path
        File to write, gzipped if its name ends in ``.gz``. The file appears only once
        it is complete.
    qid : array-like of shape (n_rows,), strings, bytes or integers
        Topic of each row.
    docno : array-like of shape (n_rows,), strings, bytes or integers
        Document of each row.
    label : array-like of shape (n_rows,)
        Labels. The labels of unjudged documents (NaN or below 0) are written as -1.

    Raises
    ------
    ValueError
        If lengths differ, if an id is empty, contains white space or is of another
        type, or if a document occurs twice in a topic. Also if labels are infinite or
        not numbers, or if there is no row.
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
    iteration 0. The lines of a topic are contiguous, in the order of the rows. Labels
    may be fractions, but trec_eval reads only integer labels.

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
    lines = []
    for topic_id, topic in judged.topics.items():
        values = np.where(np.isnan(topic.values), -1, topic.values).tolist()
        for document, value in zip(topic.docno, values, strict=True):
            lines.append(f"{topic_id} 0 {document} {_wording.number_as_text(value)}\n")
    _atomic.write_whole(Path(path), lines)


def _lines(
    path: _locate.PathLike, columns: dict[str, Any], kind: _trec_lines.Kind
) -> _trec_lines.TrecLines:
    """Return lines of ids that a file can contain. Other ids raise an error."""
    lines = _trec_inputs.lines_of_columns(
        columns, kind, str(path), allow_missing=True, integer_ids=True
    )
    documents = chain.from_iterable(topic.docno for topic in lines.topics.values())
    for name, ids in (("qid", lines.topics), ("docno", documents)):
        for text in ids:
            if _WHITE_SPACE.search(text):
                raise ValueError(
                    f"{path}: {name} must not contain white space, got {text!r}"
                )
    return lines
