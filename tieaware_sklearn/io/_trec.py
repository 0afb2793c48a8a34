"""TREC runs and relevance judgments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine.validation import check_choice
from ._bunch import import_pandas
from ._text_source import PathLike, TextSource
from ._trec_lines import TrecLines, as_text, read_qrels, read_run

#: what is known of each document, in the order of the columns of data frames
_OF_ROWS = ("qid", "docno", "target", "score", "rank")
#: columns of the numbers of a run
_RANK, _SCORE = 0, 1
#: lines of a topic that a file does not have
_NOTHING = slice(0, 0)


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
        File of relevance judgments, with lines ``topic iteration docno label``, plain
        or compressed; ``-`` is standard input.
    run : path or list of path
        Run, with lines ``topic Q0 docno rank score tag``. Documents are ranked by
        score; the ranks and the order of lines in the file are not used. A list of
        runs gives one column of scores for each run over the documents of all runs,
        for `compare_systems` and `precision_study`. The rows of a topic then stand by
        descending document id, whatever their order in any run.
    topics : {"both", "qrels"}, default="both"
        Topics to include: those that are both judged and in a run, or all that are
        judged (trec_eval's ``-c``). A run retrieves no documents for topics that it
        does not have.
    order : {None, "trec_eval"}, default=None
        Order of the rows of a topic: that of the run (None), or that of trec_eval, by
        score in 32 bits and then by descending document id. With "trec_eval",
        ``ties="input"`` gives trec_eval's numbers, for each run of a list, too. With
        None, ``ties="input"`` breaks the ties of a list of runs by descending document
        id as well, but with scores in 64 bits.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below. For a list
        of runs it has one column of scores for each run, named as in ``run_names``,
        and no ranks.

    Returns
    -------
    sklearn.utils.Bunch
        There is one row for each document of the run, and one for each judged
        document that the run does not retrieve. The keys are ``target``, the label,
        NaN where a document is not judged or judged below 0; ``score``, -inf where
        it is not retrieved; ``qid``, the topic; ``docno``, the document id as a
        string, with surrogate escapes for bytes that are not UTF-8, so that different
        bytes are different documents; ``rank``, the rank in the run file, NaN where
        the document is not retrieved; ``n_inversions``, the number of lines whose
        score is above that of the previous line of their topic;
        ``n_contradictions``, the number of neighbours by rank whose scores have the
        opposite order; and ``DESCR``. For a list of runs, ``score`` and ``rank`` have
        shape (n_documents, n_runs), ``n_inversions`` and ``n_contradictions`` hold one
        number for each run, and ``run_names`` holds the tags of the runs, or the names
        of their files where tags are not unique.

    Raises
    ------
    ValueError
        For lines with too few or too many columns, for labels, ranks or scores that
        are not numbers, and for documents that occur twice in a topic (with file and
        line); for files without a common topic; and for an empty list of runs.
    OSError
        If a file cannot be read.
    ImportError
        For data frames if pandas is not installed.

    See Also
    --------
    load_run, load_qrels : Read one kind of file only.
    compare_systems : Compares the runs of a list.

    Notes
    -----
    The README of Buckley's trec_eval describes the formats. trec_eval breaks ties by
    document id. Yang, Moffat and Turpin (AIRS 2016), section 3, count the runs whose
    ranks contradict their scores.

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
    judged = read_qrels(TextSource(qrels))
    runs = [read_run(TextSource(path)) for path in paths]
    trec = _columns_of_runs(
        judged, runs, (qrels, "the runs"), topics, order, by_docno=True
    )
    trec.run_names = run_names(paths, [run.tag for run in runs])
    trec.DESCR = f"{len(runs)} runs, judged by {qrels}: {trec.DESCR}"
    return _framed(trec) if as_frame else trec


def load_run(run: PathLike, *, as_frame: bool = False) -> Bunch:
    r"""Read a TREC run without judgments, for pools and votes.

    Parameters
    ----------
    run : path
        Run, as in `load_trec`.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below.

    Returns
    -------
    sklearn.utils.Bunch
        ``qid``, ``docno``, ``score`` and ``rank``, with one element for each line, and
        ``DESCR``.

    Raises
    ------
    ValueError
        As in `load_trec`, and for a file without lines.
    OSError
        If the file cannot be read.
    ImportError
        For data frames if pandas is not installed.

    See Also
    --------
    load_trec : Reads runs with their judgments.
    depth_pool : Pools the documents of runs.

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
    qid, docno = _ids(ranked, run)
    found = Bunch(
        qid=qid,
        docno=docno,
        score=ranked.numbers[:, _SCORE].copy(),
        rank=ranked.numbers[:, _RANK].copy(),
        DESCR=f"{run}: {len(ranked.topics)} topics, {len(qid)} documents",
    )
    return _framed(found) if as_frame else found


def load_qrels(qrels: PathLike, *, as_frame: bool = False) -> Bunch:
    r"""Read relevance judgments without a run.

    Parameters
    ----------
    qrels : path
        File of relevance judgments, as in `load_trec`.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below.

    Returns
    -------
    sklearn.utils.Bunch
        ``qid``, ``docno`` and ``target`` (NaN for labels below 0), with one element
        for each line, and ``DESCR``.

    Raises
    ------
    ValueError
        As in `load_trec`, and for a file without lines.
    OSError
        If the file cannot be read.
    ImportError
        For data frames if pandas is not installed.

    See Also
    --------
    load_trec : Reads runs with their judgments.
    load_run : Reads a run without judgments.

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
    qid, docno = _ids(judged, qrels)
    found = Bunch(
        qid=qid,
        docno=docno,
        target=judged.numbers[:, 0],
        DESCR=f"{qrels}: {len(judged.topics)} topics, {len(qid)} judgments",
    )
    return _framed(found) if as_frame else found


def _ids(lines: TrecLines, file: PathLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Topics and documents of all lines."""
    if not lines.docno:
        raise ValueError(f"{file} must hold at least one line, got none")
    topics = as_text(list(lines.topics))
    return topics[lines.topic_numbers()], as_text(lines.docno)


def _framed(trec: Bunch) -> Bunch:
    """The same with a data frame of what there is of each row."""
    pandas = import_pandas("as_frame=True")
    there = [name for name in _OF_ROWS if name in trec and trec[name].ndim == 1]
    columns = {name: _column(trec[name], pandas) for name in there}
    trec.frame = pandas.DataFrame(columns)
    if "run_names" in trec:
        scores = pandas.DataFrame(trec.score, columns=trec.run_names)
        trec.frame = pandas.concat([trec.frame, scores], axis=1)
    return trec


def _column(values: NDArray[Any], pandas: Any) -> Any:
    """Values as pandas takes them: its text cannot hold surrogate escapes."""
    if values.dtype.kind == "U":
        try:
            "".join(values).encode()
        except UnicodeEncodeError:
            return pandas.Series(values.tolist(), dtype=object)
    return values


def trec_rows(
    judged: TrecLines,
    ranked: TrecLines,
    files: tuple[object, object],
    *,
    topics: str,
    order: str | None,
) -> Bunch:
    """Judgments and a run, of these files, as `load_trec` gives them."""
    trec = _columns_of_runs(judged, [ranked], files, topics, order, by_docno=False)
    for name in ("score", "rank"):
        trec[name] = trec[name][:, 0]
    for name in ("n_inversions", "n_contradictions"):
        trec[name] = int(trec[name][0])
    trec.DESCR = f"{files[1]}, judged by {files[0]}: {trec.DESCR}"
    return trec


def _columns_of_runs(
    judged: TrecLines,
    runs: Sequence[TrecLines],
    files: tuple[object, object],
    topics: str,
    order: str | None,
    *,
    by_docno: bool,
) -> Bunch:
    """Runs as columns over the documents of all of them, and of the judgments.

    Rows of a topic stand `by_docno`, descending, or as one run has them.
    """
    retrieved = set().union(*(run.topics for run in runs))
    if retrieved.isdisjoint(judged.topics):
        raise ValueError(
            f"{files[0]} and {files[1]} must have a topic in common, got "
            f"{len(judged.topics)} and {len(retrieved)} topics without a common one"
        )
    names = [name for name in judged.topics if topics == "qrels" or name in retrieved]
    if order == "trec_eval":
        runs = [_in_32_bits(run) for run in runs]
    disorder = np.array([_disorder(run, names) for run in runs]).T.copy()
    if order == "trec_eval" and not by_docno:
        runs = [_by_score_and_docno(run) for run in runs]
    files_lines = [judged, *runs]
    lines = [_lines_of(names, file) for file in files_lines]
    rows: list[list[int]] = [[] for _ in files_lines]
    docno: list[bytes] = []
    sizes: list[int] = []
    for name in names:
        own = [file.docno[file.topics.get(name, _NOTHING)] for file in files_lines]
        documents = list(dict.fromkeys(chain(*own[1:], own[0])))
        if by_docno:
            # ties of all runs are broken as trec_eval does, by the order of none
            documents.sort(reverse=True)
        row_of = dict(zip(documents, count(len(docno)), strict=False))
        for of_file, ids in zip(rows, own, strict=True):
            of_file += map(row_of.__getitem__, ids)
        docno += documents
        sizes.append(len(documents))
    target = np.full(len(docno), np.nan)
    target[rows[0]] = judged.numbers[lines[0], 0]
    score = np.full((len(docno), len(runs)), -np.inf)
    rank = np.full((len(docno), len(runs)), np.nan)
    for j, run in enumerate(runs):
        score[rows[j + 1], j] = run.numbers[lines[j + 1], _SCORE]
        rank[rows[j + 1], j] = run.numbers[lines[j + 1], _RANK]
    return Bunch(
        target=target,
        score=score,
        qid=np.repeat(as_text(names), sizes),
        docno=as_text(docno),
        rank=rank,
        n_inversions=disorder[0],
        n_contradictions=disorder[1],
        DESCR=f"{len(names)} topics, {len(docno)} documents",
    )


def _lines_of(topics: Sequence[bytes], file: TrecLines) -> NDArray[np.int64]:
    """Numbers of the lines of some topics, in this order."""
    where = [file.topics.get(name, _NOTHING) for name in topics]
    return np.concatenate([np.arange(lines.start, lines.stop) for lines in where])


def run_names(paths: Sequence[str], tags: Sequence[str | None]) -> list[str]:
    """Tags of runs; names of files where a run has none of its own.

    All of a path where names of files repeat.
    """
    given = [tag for tag in tags if tag is not None]
    if len(set(given)) == len(tags):
        return given
    names = [os.path.basename(path) for path in paths]
    return [
        path if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _in_32_bits(run: TrecLines) -> TrecLines:
    """Scores as trec_eval holds them; all beyond its range are alike."""
    limit = float(np.finfo(np.float32).max)
    numbers = run.numbers.copy()
    scores = np.clip(numbers[:, _SCORE], -limit, limit)
    numbers[:, _SCORE] = scores.astype(np.float32)
    return run._replace(numbers=numbers)


def _by_score_and_docno(run: TrecLines) -> TrecLines:
    """In the order of trec_eval."""
    topic, falling = run.topic_numbers(), -run.numbers[:, _SCORE]
    order = np.lexsort((falling, topic))
    as_above = np.zeros(len(order) + 1, dtype=bool)
    as_above[1:-1] = np.diff(topic[order]) == 0
    as_above[1:-1] &= np.diff(falling[order]) == 0
    # ids are compared where they decide only
    tied = order[as_above[:-1] | as_above[1:]].tolist()
    by_docno = np.zeros(len(order), dtype=np.int64)
    tied.sort(key=run.docno.__getitem__, reverse=True)
    by_docno[tied] = np.arange(len(tied))
    return run.in_order(np.lexsort((by_docno, falling, topic)))


def _disorder(run: TrecLines, topics: Sequence[bytes]) -> tuple[int, int]:
    """How often a score is above the one before it, by lines and by ranks."""
    wanted = set(topics)
    known = np.array([name in wanted for name in run.topics], dtype=bool)
    topic = run.topic_numbers()
    rank, score = run.numbers.T

    def rises(lines: NDArray[np.int64]) -> int:
        above = score[lines][1:] > score[lines][:-1]
        of_one = topic[lines][1:] == topic[lines][:-1]
        return int((above & of_one & known[topic[lines][1:]]).sum())

    return rises(np.arange(len(topic))), rises(np.lexsort((rank, topic)))
