"""TREC runs and relevance judgments."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ._bunch import import_pandas
from ._text_source import PathLike, TextSource

Value = TypeVar("Value")


class _Retrieved(NamedTuple):
    """What a run says of a document."""

    score: float
    rank: float


#: labels, and what a run says, of each topic and document
Labels = dict[str, dict[str, float]]
Run = dict[str, dict[str, _Retrieved]]

_NOT_RETRIEVED = _Retrieved(-math.inf, math.nan)
#: what is known of each document, in the order of the columns of data frames
_OF_ROWS = ("qid", "docno", "target", "score", "rank")


def load_trec(
    qrels: PathLike,
    run: PathLike | Sequence[PathLike],
    *,
    topics: str = "both",
    order: str | None = None,
    as_frame: bool = False,
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
    as_frame : bool, default=False
        Add ``frame``, a pandas DataFrame of the columns below; of a list it has one
        column of scores per run, named by ``run_names``, and no ranks.

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
    ImportError
        For data frames without pandas.

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
        files = TextSource(qrels), TextSource(run)
        judged, ranked = read_qrels(files[0]), read_run(files[1])
        trec = trec_rows(judged, ranked, files, topics=topics, order=order)
        return _framed(trec) if as_frame else trec
    paths = [os.fspath(path) for path in run]
    if not paths:
        raise ValueError("run must name at least one file, got an empty list")
    if order is not None:
        raise ValueError(
            f"order={order!r} is one order of rows: it goes with one run, got a list "
            f"of {len(paths)}"
        )
    judged = read_qrels(TextSource(qrels))
    runs = [read_run(TextSource(path)) for path in paths]
    trec = _columns_of_runs(judged, runs, (qrels, "the runs"), topics)
    trec.run_names = file_names(paths)
    trec.DESCR = f"{len(runs)} runs, judged by {qrels}: {trec.DESCR}"
    return _framed(trec) if as_frame else trec


def load_run(run: PathLike, *, as_frame: bool = False) -> Bunch:
    r"""Read a TREC run by itself, for pools and votes.

    Parameters
    ----------
    run : path
        As in `load_trec`.
    as_frame : bool, default=False
        Add ``frame``, a pandas DataFrame of the columns below.

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
    ImportError
        For data frames without pandas.

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
    qid, docno, lines = _columns(ranked, run)
    score, rank = _scores_and_ranks(lines)
    found = Bunch(
        qid=qid,
        docno=docno,
        score=score,
        rank=rank,
        DESCR=f"{run}: {len(ranked)} topics, {len(qid)} documents",
    )
    return _framed(found) if as_frame else found


def load_qrels(qrels: PathLike, *, as_frame: bool = False) -> Bunch:
    r"""Read relevance judgments by themselves.

    Parameters
    ----------
    qrels : path
        As in `load_trec`.
    as_frame : bool, default=False
        Add ``frame``, a pandas DataFrame of the columns below.

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
    ImportError
        For data frames without pandas.

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
    qid, docno, labels = _columns(judged, qrels)
    found = Bunch(
        qid=qid,
        docno=docno,
        target=np.array(labels),
        DESCR=f"{qrels}: {len(judged)} topics, {len(qid)} judgments",
    )
    return _framed(found) if as_frame else found


def _columns(
    found: dict[str, dict[str, Value]], file: PathLike
) -> tuple[NDArray[Any], NDArray[Any], list[Value]]:
    """Topics, documents, and what a file says of them."""
    if not found:
        raise ValueError(f"{file} must hold at least one line, got none")
    qid = [topic for topic, documents in found.items() for _ in documents]
    docno = [document for documents in found.values() for document in documents]
    values = [value for documents in found.values() for value in documents.values()]
    return np.array(qid), np.array(docno), values


def _framed(trec: Bunch) -> Bunch:
    """The same with a data frame of what there is of each row."""
    pandas = import_pandas("as_frame=True")
    there = [name for name in _OF_ROWS if name in trec and trec[name].ndim == 1]
    trec.frame = pandas.DataFrame({name: trec[name] for name in there})
    if "run_names" in trec:
        scores = pandas.DataFrame(trec.score, columns=trec.run_names)
        trec.frame = pandas.concat([trec.frame, scores], axis=1)
    return trec


def trec_rows(
    judged: Labels,
    ranked: Run,
    files: tuple[object, object],
    *,
    topics: str,
    order: str | None,
) -> Bunch:
    """Judgments and a run, of these files, as `load_trec` gives them."""
    trec = _columns_of_runs(judged, [ranked], files, topics, order)
    for name in ("score", "rank"):
        trec[name] = trec[name][:, 0]
    for name in ("n_inversions", "n_contradictions"):
        trec[name] = int(trec[name][0])
    trec.DESCR = f"{files[1]}, judged by {files[0]}: {trec.DESCR}"
    return trec


def _columns_of_runs(
    judged: Labels,
    runs: Sequence[Run],
    files: tuple[object, object],
    topics: str,
    order: str | None = None,
) -> Bunch:
    """Runs as columns over the documents of all of them, and of the judgments."""
    retrieved = set().union(*runs)
    if not retrieved & set(judged):
        raise ValueError(
            f"{files[0]} and {files[1]} must have a topic in common, got {len(judged)} "
            f"topics and {len(retrieved)}"
        )
    names = [topic for topic in judged if topics == "qrels" or topic in retrieved]
    if order == "trec_eval":
        runs = [_in_32_bits(run) for run in runs]
    qid: list[str] = []
    docno: list[str] = []
    target: list[float] = []
    cells: list[list[_Retrieved]] = [[] for _ in runs]
    for topic in names:
        lists = [run.get(topic, {}) for run in runs]
        if order == "trec_eval":
            lists = [_by_score_and_docno(lines) for lines in lists]
        labels = judged[topic]
        documents = dict.fromkeys(chain(*lists, labels))
        qid += [topic] * len(documents)
        docno += documents
        target += [labels.get(document, math.nan) for document in documents]
        for column, lines in zip(cells, lists, strict=True):
            column += [lines.get(document, _NOT_RETRIEVED) for document in documents]
    columns = [_scores_and_ranks(column) for column in cells]
    score, rank = (np.column_stack(each) for each in zip(*columns, strict=True))
    disorder = np.array([_disorder(run, names) for run in runs]).T.copy()
    return Bunch(
        target=np.array(target),
        score=score,
        qid=np.array(qid),
        docno=np.array(docno),
        rank=rank,
        n_inversions=disorder[0],
        n_contradictions=disorder[1],
        DESCR=f"{len(names)} topics, {len(qid)} documents",
    )


def _scores_and_ranks(lines: Sequence[_Retrieved]) -> tuple[FloatArray, FloatArray]:
    numbers = np.fromiter(chain.from_iterable(lines), np.float64, 2 * len(lines))
    return numbers[::2].copy(), numbers[1::2].copy()


def file_names(paths: Sequence[str]) -> list[str]:
    """Names of files, or all of a path where names repeat."""
    names = [os.path.basename(path) for path in paths]
    return [
        path if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _in_32_bits(run: Run) -> Run:
    """Scores as trec_eval holds them; all beyond its range are alike."""
    limit = float(np.finfo(np.float32).max)
    found: Run = {}
    for topic, lines in run.items():
        scores = np.clip([line.score for line in lines.values()], -limit, limit)
        rounded = scores.astype(np.float32).tolist()
        found[topic] = {
            docno: line._replace(score=score)
            for (docno, line), score in zip(lines.items(), rounded, strict=True)
        }
    return found


def _by_score_and_docno(lines: dict[str, _Retrieved]) -> dict[str, _Retrieved]:
    """In the order of trec_eval."""
    ranked = sorted((line.score, docno) for docno, line in lines.items())
    return {docno: lines[docno] for _, docno in reversed(ranked)}


def _disorder(run: Run, topics: Sequence[str]) -> tuple[int, int]:
    """How often a score is above the one before it, by lines and by ranks."""
    lists = [list(run.get(topic, {}).values()) for topic in topics]
    by_rank = [sorted(lines, key=attrgetter("rank")) for lines in lists]
    return sum(map(_rises, lists)), sum(map(_rises, by_rank))


def _rises(lines: list[_Retrieved]) -> int:
    scores = np.array([line.score for line in lines])
    return int((scores[1:] > scores[:-1]).sum())


def read_qrels(source: TextSource) -> Labels:
    """Labels of each topic and document; NaN for those below 0."""

    def label(cells: list[str], number: int) -> float:
        value = _number(cells[3], "label", source, number)
        return math.nan if value < 0 else value

    return _read(source, "topic iteration docno label", "judged", label)


def read_run(source: TextSource) -> Run:
    """Lines of each topic, as they stand."""

    def retrieved(cells: list[str], number: int) -> _Retrieved:
        rank = _number(cells[3], "rank", source, number)
        return _Retrieved(_number(cells[4], "score", source, number), rank)

    return _read(source, "topic Q0 docno rank score tag", "retrieved", retrieved)


def _read(
    source: TextSource,
    form: str,
    happened: str,
    value: Callable[[list[str], int], Value],
) -> dict[str, dict[str, Value]]:
    """What lines say of each topic and document, each of which they name once."""
    found: dict[str, dict[str, Value]] = {}
    for number, cells in _lines(source, form):
        topic, _, docno, *_ = cells
        documents = found.setdefault(topic, {})
        if docno in documents:
            lines = _lines(source, form)
            seen = next(n for n, (t, _, d, *_) in lines if (t, d) == (topic, docno))
            raise ValueError(
                f"{source}, line {number}: {docno} is {happened} twice for topic "
                f"{topic} (line {seen} has it too)"
            )
        documents[docno] = value(cells, number)
    return found


def _lines(source: TextSource, form: str) -> Iterator[tuple[int, list[str]]]:
    """Numbered lines that are not empty, cut at white space."""
    columns = len(form.split())
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
