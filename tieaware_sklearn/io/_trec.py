"""TREC runs and relevance judgments."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ._text_source import PathLike, TextSource

Labels = dict[str, dict[str, float]]


class _Line(NamedTuple):
    """A line of a run."""

    docno: str
    rank: float
    score: float
    number: int


def load_trec(
    qrels: PathLike,
    run: PathLike | Sequence[PathLike],
    *,
    topics: str = "both",
    order: str | None = None,
) -> Bunch:
    r"""Read TREC runs and their relevance judgments as rows of documents.

    Parameters
    ----------
    qrels : path
        Lines of ``topic iteration docno label``, plain or compressed; ``-`` is
        standard input.
    run : path or list of path
        Lines of ``topic Q0 docno rank score tag``. The score ranks; ranks and the
        order of lines do not. A list gives the runs as columns over the documents
        of all of them, for `compare_systems` and `precision_study`.
    topics : {"both", "qrels"}, default="both"
        Topics that are judged and in a run, or all that are judged (trec_eval's
        ``-c``): those that a run does not have retrieve nothing.
    order : {None, "trec_eval"}, default=None
        Rows of a topic as the run has them, or as trec_eval ranks them: by score
        in 32 bits, equal ones by document id, descending. Then ``ties="input"``
        gives trec_eval's numbers. Not for a list: there is one order of rows only.

    Returns
    -------
    sklearn.utils.Bunch
        A row per document of the run and per judged document that it does not
        retrieve: ``target``, its label, NaN where it is not judged (or judged
        below 0); ``score``, -inf where it is not retrieved; ``qid``, the topic;
        ``docno``; ``rank``, as the run gives it, NaN where it is not retrieved.
        ``n_inversions`` counts lines whose score is above that of the line before
        them in their topic, ``n_contradictions`` neighbours by rank whose scores
        say otherwise. ``DESCR``. Of a list of runs, ``score`` and ``rank`` have shape
        (n_documents, n_runs), ``n_inversions`` and ``n_contradictions`` one number
        per run, and ``run_names`` holds the names of the files.

    Raises
    ------
    ValueError
        For lines with too few or many columns, labels, ranks or scores that are no
        numbers, and documents named twice in a topic (with file and line); for
        files without a topic in common; for a list without runs, or with an
        `order`.
    OSError
        If a file cannot be read.

    Notes
    -----
    Formats: trec_eval's README. Buckley's trec_eval breaks ties of scores by
    document id; Yang, Moffat and Turpin (AIRS 2016), section 3, count the runs
    whose ranks and scores disagree.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.datasets import load_trec
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, run = pathlib.Path(folder, "qrels"), pathlib.Path(folder, "run")
    ...     _ = qrels.write_text("301 0 FR-1 1\n301 0 FR-2 0\n301 0 FR-9 2\n")
    ...     _ = run.write_text("301 Q0 FR-2 1 5e-1 x\n301 Q0 FR-1 2 0.5 x\n")
    ...     trec = load_trec(qrels, run)
    >>> trec.docno.tolist(), trec.score.tolist()
    (['FR-2', 'FR-1', 'FR-9'], [0.5, 0.5, -inf])
    >>> ranking_score(trec.target, trec.score, qid=trec.qid, measure="ap")
    0.375
    """
    check_choice(topics, "topics", ("both", "qrels"))
    check_choice(order, "order", (None, "trec_eval"))
    if isinstance(run, (str, os.PathLike)):
        judged = read_qrels(TextSource(qrels))
        ranked = read_run(TextSource(run))
        return trec_rows(judged, ranked, (qrels, run), topics=topics, order=order)
    runs = list(run)
    if not runs:
        raise ValueError("run must name at least one file, got an empty list")
    if order is not None:
        raise ValueError(
            f"order={order!r} is one order of rows: it goes with one run, got a list "
            f"of {len(runs)}"
        )
    judged = read_qrels(TextSource(qrels))
    return _run_columns(judged, runs, qrels, topics)


def load_run(run: PathLike) -> Bunch:
    r"""Read a TREC run by itself, for pools and votes.

    Parameters
    ----------
    run : path
        As in `load_trec`.

    Returns
    -------
    sklearn.utils.Bunch
        A row per line: ``qid``, ``docno``, ``score``, ``rank``, ``DESCR``.

    Raises
    ------
    ValueError
        As in `load_trec`; for a file without lines.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import load_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "run")
    ...     _ = path.write_text("301 Q0 FR-2 1 5e-1 x\n")
    ...     load_run(path).docno.tolist()
    ['FR-2']
    """
    ranked = read_run(TextSource(run))
    rows = [
        (topic, line.docno, line.score, line.rank)
        for topic, lines in ranked.items()
        for line in lines
    ]
    qid, docno, score, rank = _columns(rows, run)
    return Bunch(
        qid=qid,
        docno=docno,
        score=score,
        rank=rank,
        DESCR=f"{run}: {len(ranked)} topics, {len(rows)} documents",
    )


def load_qrels(qrels: PathLike) -> Bunch:
    r"""Read relevance judgments by themselves.

    Parameters
    ----------
    qrels : path
        As in `load_trec`.

    Returns
    -------
    sklearn.utils.Bunch
        A row per line: ``qid``, ``docno``, ``target`` (NaN for labels below 0),
        ``DESCR``.

    Raises
    ------
    ValueError
        As in `load_trec`; for a file without lines.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import load_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels")
    ...     _ = path.write_text("301 0 FR-1 2\n301 0 FR-2 0\n")
    ...     load_qrels(path).target.tolist()
    [2.0, 0.0]
    """
    judged = read_qrels(TextSource(qrels))
    rows = [
        (topic, document, label)
        for topic, labels in judged.items()
        for document, label in labels.items()
    ]
    qid, docno, target = _columns(rows, qrels)
    return Bunch(
        qid=qid,
        docno=docno,
        target=target,
        DESCR=f"{qrels}: {len(judged)} topics, {len(rows)} judgments",
    )


def _columns(rows: Sequence[tuple[Any, ...]], file: object) -> list[NDArray[Any]]:
    if not rows:
        raise ValueError(f"{file} must hold at least one line, got none")
    return [np.array(column) for column in zip(*rows, strict=True)]


def trec_rows(
    judged: Labels,
    ranked: dict[str, list[_Line]],
    files: tuple[object, object],
    *,
    topics: str,
    order: str | None,
) -> Bunch:
    """Judgments and a run, of these files, as `load_trec` gives them."""
    qrels, run = files
    names = [name for name in judged if topics == "qrels" or name in ranked]
    if not set(judged) & set(ranked):
        raise ValueError(
            f"{qrels} and {run} must have a topic in common, got {len(judged)} topics "
            f"and {len(ranked)}"
        )
    rows: list[tuple[str, str, float, float, float]] = []
    for topic in names:
        labels, lines = judged[topic], ranked.get(topic, [])
        if order == "trec_eval":
            lines = sorted(lines, key=_trec_eval_key, reverse=True)
        retrieved = {line.docno for line in lines}
        for line in lines:
            label = labels.get(line.docno, math.nan)
            rows.append((topic, line.docno, label, line.score, line.rank))
        for document, label in labels.items():
            if document not in retrieved:
                rows.append((topic, document, label, -math.inf, math.nan))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    qid, docno, target, score, rank = columns
    if order == "trec_eval":
        score[np.isfinite(score)] = _in_32_bits(score[np.isfinite(score)])
    kept = [ranked[topic] for topic in names if topic in ranked]
    single = order == "trec_eval"
    return Bunch(
        target=target,
        score=score,
        qid=qid,
        docno=docno,
        rank=rank,
        n_inversions=sum(_rises(lines, single) for lines in kept),
        n_contradictions=sum(
            _rises(sorted(lines, key=_rank_key), single) for lines in kept
        ),
        DESCR=f"{run}, judged by {qrels}: {len(names)} topics, {len(rows)} documents",
    )


def _run_columns(
    judged: Labels, runs: Sequence[PathLike], qrels: PathLike, topics: str
) -> Bunch:
    """Several runs over the documents of all of them."""
    each = [read_run(TextSource(path)) for path in runs]
    retrieved = set().union(*each)
    names = [name for name in judged if topics == "qrels" or name in retrieved]
    if not set(judged) & retrieved:
        raise ValueError(
            f"{qrels} and the runs must have a topic in common, got {len(judged)} "
            f"topics and {len(retrieved)}"
        )
    row_of: dict[tuple[str, str], int] = {}
    for topic in names:
        for ranked in each:
            for line in ranked.get(topic, []):
                row_of.setdefault((topic, line.docno), len(row_of))
        for document in judged[topic]:
            row_of.setdefault((topic, document), len(row_of))
    score = np.full((len(row_of), len(runs)), -math.inf)
    rank = np.full(score.shape, math.nan)
    inversions, contradictions = np.zeros((2, len(runs)), dtype=np.int64)
    for j, ranked in enumerate(each):
        for topic in names:
            lines = ranked.get(topic, [])
            rows = [row_of[topic, line.docno] for line in lines]
            score[rows, j] = [line.score for line in lines]
            rank[rows, j] = [line.rank for line in lines]
            inversions[j] += _rises(lines, False)
            contradictions[j] += _rises(sorted(lines, key=_rank_key), False)
    target = [judged[topic].get(document, math.nan) for topic, document in row_of]
    return Bunch(
        target=np.array(target),
        score=score,
        qid=np.array([topic for topic, _ in row_of]),
        docno=np.array([document for _, document in row_of]),
        rank=rank,
        run_names=file_names([os.fspath(path) for path in runs]),
        n_inversions=inversions,
        n_contradictions=contradictions,
        DESCR=(
            f"{len(runs)} runs, judged by {qrels}: {len(names)} topics, {len(row_of)} "
            "documents"
        ),
    )


def file_names(paths: Sequence[str]) -> list[str]:
    """Names of files, or all of a path where names repeat."""
    names = [os.path.basename(path) for path in paths]
    return [
        path if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _rank_key(line: _Line) -> float:
    return line.rank


def _trec_eval_key(line: _Line) -> tuple[float, str]:
    return float(_in_32_bits(np.array(line.score))), line.docno


def _in_32_bits(scores: FloatArray) -> FloatArray:
    """Scores as trec_eval holds them; all beyond its range are alike."""
    limit = float(np.finfo(np.float32).max)
    return np.clip(scores, -limit, limit).astype(np.float32).astype(np.float64)


def _rises(lines: list[_Line], single: bool) -> int:
    """How often a score is above the one before it, in 32 bits if `single`."""
    scores = np.array([line.score for line in lines])
    if single:
        scores = _in_32_bits(scores)
    return int((scores[1:] > scores[:-1]).sum())


def read_qrels(source: TextSource) -> Labels:
    """Labels of each topic and document; NaN for those below 0."""
    judged: Labels = {}
    for number, cells in _lines(source, 4, "topic iteration docno label"):
        topic, _, docno, text = cells
        label = _number(text, "label", source, number)
        labels = judged.setdefault(topic, {})
        if docno in labels:
            raise ValueError(
                f"{source}, line {number}: {docno} is judged twice for topic {topic}"
            )
        labels[docno] = math.nan if label < 0 else label
    return judged


def read_run(source: TextSource) -> dict[str, list[_Line]]:
    """Lines of each topic, as they stand."""
    ranked: dict[str, list[_Line]] = {}
    first: dict[tuple[str, str], int] = {}
    for number, cells in _lines(source, 6, "topic Q0 docno rank score tag"):
        topic, _, docno, rank, score, _ = cells
        seen = first.setdefault((topic, docno), number)
        if seen != number:
            raise ValueError(
                f"{source}, line {number}: {docno} is retrieved twice for topic "
                f"{topic} (line {seen} has it too)"
            )
        place = _number(rank, "rank", source, number)
        value = _number(score, "score", source, number)
        ranked.setdefault(topic, []).append(_Line(docno, place, value, number))
    return ranked


def _lines(
    source: TextSource, columns: int, form: str
) -> Iterator[tuple[int, list[str]]]:
    """Numbered lines that are not empty, cut at white space."""
    with source.reading(), source.open() as file:
        for number, raw in enumerate(file, start=1):
            # at ASCII white space alone, as trec_eval does
            cells = [_text(cell) for cell in raw.split()]
            if not cells:
                continue
            if len(cells) != columns:
                raise ValueError(
                    f"{source}, line {number}: must have {columns} columns ({form}), "
                    f"got {len(cells)}"
                )
            yield number, cells


def _text(cell: bytes) -> str:
    """Different bytes as different texts, in the same order."""
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError:
        return cell.decode("latin-1")


def _number(text: str, name: str, source: TextSource, line: int) -> float:
    try:
        # float() also reads 1_0 and digits of other scripts
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(
            f"{source}, line {line}: {name} must be a number, got {text!r}"
        )
    return value
