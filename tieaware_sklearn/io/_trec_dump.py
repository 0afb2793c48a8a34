"""Runs and judgments written as TREC files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import write_whole
from .._engine import none_for_masked, show
from ._locate import PathLike
from ._source import would_not_read_as_text
from ._trec_columns import SCORE, TrecLines, as_text, by_score_and_docno, with_32_bits
from ._trec_given import JUDGMENTS, RUN, Kind, lines_of_columns
from ._wording import number_as_text


def dump_trec_run(
    path: PathLike, qid: Any, docno: Any, score: Any, *, tag: str = "run"
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
        Scores. Rows of -inf are not retrieved, and are not written.
    tag : str, default="run"
        Name of the run, on every line.

    Raises
    ------
    ValueError
        For lengths that differ; for ids that are empty, hold white space or are of
        other types; for a document that occurs twice in a topic; for scores that are
        no numbers, NaN or infinite; and if nothing is retrieved.
    OSError
        If the file cannot be written.

    See Also
    --------
    dump_qrels : Writes judgments.
    load_run : Reads the file.
    load_trec : Reads runs with their judgments.

    Notes
    -----
    The lines are those of `load_trec`: ``topic Q0 docno rank score tag``. Topics stand
    in the order of their first rows; documents as trec_eval ranks them, by score in 32
    bits and then by descending document id, with ranks from 1 on, so that whoever goes
    by ranks and whoever goes by scores evaluate the same ranking.

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
    _check_tag(tag)
    run = _lines(path, {"qid": qid, "docno": docno, "score": score}, RUN)
    if not run.docno:
        raise ValueError("score must retrieve a document, got -inf in all rows")
    run = run.in_order(by_score_and_docno(with_32_bits(run)))

    def lines() -> Iterator[str]:
        ranks = run.places_in_topics().tolist()
        scores = run.numbers[:, SCORE].tolist()
        for pair, rank, own in zip(_pairs(run), ranks, scores, strict=True):
            topic, document = pair
            yield f"{topic} Q0 {document} {rank} {number_as_text(own)} {tag}\n"

    write_whole(Path(path), lines())


def dump_qrels(path: PathLike, qid: Any, docno: Any, label: Any) -> None:
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
        Labels. What is not judged, NaN or below 0, is written as -1.

    Raises
    ------
    ValueError
        For lengths that differ; for ids that are empty, hold white space or are of
        other types; for a document that occurs twice in a topic; and for labels that
        are no numbers or infinite.
    OSError
        If the file cannot be written.

    See Also
    --------
    dump_trec_run : Writes a run.
    load_qrels : Reads the file.
    load_trec : Reads runs with their judgments.

    Notes
    -----
    The lines are those of `load_trec`: ``topic iteration docno label``, the iteration
    being 0. Lines of a topic stand together, in the order of their rows. trec_eval
    reads whole labels only.

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
    judged = _lines(path, {"qid": qid, "docno": docno, "label": label}, JUDGMENTS)

    def lines() -> Iterator[str]:
        labels = judged.numbers[:, 0].tolist()
        for (topic, document), own in zip(_pairs(judged), labels, strict=True):
            written = "-1" if math.isnan(own) else number_as_text(own)
            yield f"{topic} 0 {document} {written}\n"

    write_whole(Path(path), lines())


def _check_tag(tag: Any) -> None:
    try:
        data = tag.encode("utf-8", "surrogateescape") if isinstance(tag, str) else b""
    except UnicodeEncodeError:
        data = b""
    if _has_space(data) or b"\0" in data:
        raise ValueError(
            "tag must be a string in UTF-8 without white space, and not empty, got "
            f"{show(tag)}"
        )


def _lines(path: PathLike, columns: dict[str, Any], kind: Kind) -> TrecLines:
    """Lines that a file can hold, and the readers read."""
    topics, documents, numbers = columns
    lines = lines_of_columns(
        _with_spelled_integers(columns[topics]),
        _with_spelled_integers(columns[documents]),
        columns[numbers],
        (topics, documents, numbers),
        kind,
        str(path),
        absent=-np.inf if kind is RUN else np.nan,
    )
    for name, ids in ((topics, list(lines.topics)), (documents, lines.docno)):
        if b" ".join(ids).split() != ids:
            bad = next(one for one in ids if _has_space(one))
            raise ValueError(
                f"{path}: {name} must not hold white space, got "
                f"{show(as_text([bad]).item())}"
            )
    first = next(iter(lines.topics), b"")
    if what := would_not_read_as_text(first):
        raise ValueError(
            f"{path}: the first topic must not begin with the bytes of {what}, got "
            f"{show(as_text([first]).item())}"
        )
    return lines


def _with_spelled_integers(ids: Any) -> Any:
    """Ids, as text where they are integers: there is one way to write them."""
    array = np.asarray(none_for_masked(ids), dtype=object)
    if array.ndim != 1:
        return ids
    values = array.tolist()
    whole = {
        kind
        for kind in set(map(type, values))
        if issubclass(kind, Integral) and not issubclass(kind, bool)
    }
    if not whole:
        return ids
    return [str(int(one)) if type(one) in whole else one for one in values]


def _has_space(one: bytes) -> bool:
    """Whether lines are cut inside of it, or there is nothing to cut."""
    return one.split() != [one]


def _pairs(lines: TrecLines) -> Iterator[tuple[str, str]]:
    """Topic and document of each line."""
    documents = as_text(lines.docno).tolist()
    topics = as_text(list(lines.topics)).tolist()
    for topic, of_topic in zip(topics, lines.topics.values(), strict=True):
        for document in documents[of_topic]:
            yield topic, document
