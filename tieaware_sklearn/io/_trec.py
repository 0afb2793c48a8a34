"""TREC runs and relevance judgments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine import check_choice, rises
from .._optional import import_optional
from ._trec_columns import (
    RANK,
    SCORE,
    TrecLines,
    all_lines,
    as_text,
    by_score_and_docno,
    with_32_bits,
)
from ._trec_given import given_qrels, given_run, given_runs
from ._wording import listed

#: lines of a topic that a file does not have
_NOTHING = slice(0, 0)
#: what is known of each document, in the order of the columns of data frames
_OF_ROWS = ("qid", "docno", "target", "score", "rank", "input_order")


def load_trec(
    qrels: Any,
    run: Any,
    *,
    topics: str = "both",
    order: str | None = None,
    as_frame: bool = False,
) -> Bunch:
    r"""Read TREC runs and their relevance judgments as rows of documents.

    Parameters
    ----------
    qrels : path, dict of dicts, data frame or iterable of records
        Relevance judgments: a file, plain or compressed (``-`` is standard input), or
        judgments in memory. Notes have the forms of both.
    run : path, dict of dicts, data frame or iterable of records; or several of them
        Run: a file, or a run in memory. Documents are ranked by score; ranks and the
        order of lines are not used. A list of runs, or a dict that maps names to runs,
        gives one column of scores for each run over the documents of all runs, for
        `compare_systems` and `precision_study`. The rows of a topic then stand by
        descending document id, whatever their order in any run.
    topics : {"both", "qrels"}, default="both"
        Topics to include: those that are both judged and in a run, or all that are
        judged (trec_eval's ``-c``). A run retrieves no documents for topics that it
        does not have.
    order : {None, "trec_eval"}, default=None
        Order of the rows of a topic: that of the run (None), or that of trec_eval, by
        score in 32 bits and then by descending document id. With "trec_eval",
        ``ties="input"`` gives trec_eval's numbers, for each of several runs, too. With
        None, ``ties="input"`` breaks the ties of several runs by descending document
        id as well, but with scores in 64 bits.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below. For several
        runs it has one column of scores for each run, named as in ``run_names``, and
        no ranks.

    Returns
    -------
    sklearn.utils.Bunch
        There is one row for each document of the run, and one for each judged
        document that the run does not retrieve. The keys are ``target``, the label,
        NaN where a document is not judged or judged below 0; ``score``, -inf where
        it is not retrieved; ``qid``, the topic; ``docno``, the document id as a
        string, with surrogate escapes for bytes that are not UTF-8, so that different
        bytes are different documents; ``rank``, the rank that the run gives, NaN where
        the document is not retrieved or the run has no ranks; ``input_order``, the
        place of its line among those of its topic in the run, from 1 on, NaN where it
        is not retrieved; ``n_inversions``, the number of lines whose score is above
        that of the previous line of their topic; ``n_contradictions``, the number of
        neighbours by rank whose scores have the opposite order; and ``DESCR``. For
        several runs, ``score``, ``rank`` and ``input_order`` have shape (n_documents,
        n_runs), ``n_inversions`` and ``n_contradictions`` hold one number for each
        run, and ``run_names`` holds the names of a dict, or the tags of the runs of a
        list. A run without a tag of its own goes by the name of its file, without
        folders and ``.gz`` unless that is the name of another run, too.

    Raises
    ------
    ValueError
        For lines with too few or too many columns, for labels, ranks or scores that
        are not finite numbers, and for documents that occur twice in a topic (with
        file and line, or argument, topic and document); for topics and documents in
        memory that are neither strings nor bytes; for a run without a topic that is
        judged; for an empty list or dict; and with `as_frame` for a run whose name is
        that of another column.
    OSError
        If a file cannot be read.
    ImportError
        For data frames if pandas is not installed.

    See Also
    --------
    load_run, load_qrels : Read runs or judgments only.
    dump_trec_run, dump_qrels : Write files.
    compare_systems : Compares the runs of a list.

    Notes
    -----
    The README of Buckley's trec_eval describes the files of TREC. trec_eval breaks
    ties by document id. Yang, Moffat and Turpin (AIRS 2016), section 3, count the runs
    whose ranks contradict their scores.

    A file is of one form throughout, which its first line shows:

    - judgments of TREC: ``topic iteration docno label``, cut at white space;
    - judgments of BEIR: ``query-id corpus-id score``, cut at tabs, below a line with
      these names;
    - runs of TREC: ``topic Q0 docno rank score tag``, cut at white space;
    - runs without a tag: ``topic Q0 docno rank score``, the second column of which must
      be ``Q0`` or ``0``, because other columns may be left out elsewhere.

    Judgments and runs in memory are

    - dicts of dicts, topic to document to label or score, as pytrec_eval and ranx take
      them;
    - data frames of pandas or polars, or dicts of columns: topics in a column ``qid``
      or ``query_id``; documents in ``docno`` or ``doc_id``; labels in ``target``,
      ``relevance`` or ``label``; scores in ``score``; and, if they are there, ranks in
      ``rank`` and the tag in ``tag``. The frames of BEIR (``query-id``, ``corpus-id``,
      ``score``) and of ranx (``q_id``, ``doc_id``, ``score``) are read, too;
    - records with the fields ``query_id``, ``doc_id`` and ``relevance`` or ``score``,
      as ir_datasets iterates over them.

    Topics and documents are strings or bytes. A dict of dicts has no ranks: ``rank`` is
    NaN. Beside a column ``target``, a score of -inf means that a document is not
    retrieved, and a target of NaN that it is not judged, as in what this function
    returns.

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

    The same from dicts:

    >>> trec = load_trec({"301": {"FR-1": 1, "FR-2": 0, "FR-9": 2}},
    ...                  {"301": {"FR-2": 0.5, "FR-1": 0.5}})
    >>> ranking_score(trec.target, trec.score, qid=trec.qid, measure="ap")
    0.375
    """
    check_choice(topics, "topics", ("both", "qrels"))
    check_choice(order, "order", (None, "trec_eval"))
    judged, (runs, names) = given_qrels(qrels), given_runs(run)
    if names is None:
        trec = trec_rows(judged, runs[0], topics=topics, order=order)
    else:
        trec = _columns_of_runs(judged, runs, topics, order, by_docno=True)
        trec.run_names = names
        trec.DESCR = f"{len(runs)} runs, judged by {judged.source}: {trec.DESCR}"
    return _framed(trec) if as_frame else trec


def load_run(run: Any, *, as_frame: bool = False) -> Bunch:
    r"""Read a TREC run without judgments, for pools and votes.

    Parameters
    ----------
    run : path, dict of dicts, data frame or iterable of records
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
        As in `load_trec`, and for what has no lines.
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
    ranked = given_run(run)
    qid, docno = all_lines(ranked)
    found = Bunch(
        qid=qid,
        docno=docno,
        score=ranked.numbers[:, SCORE].copy(),
        rank=ranked.numbers[:, RANK].copy(),
        DESCR=f"{ranked.source}: {len(ranked.topics)} topics, {len(qid)} documents",
    )
    return _framed(found) if as_frame else found


def load_qrels(qrels: Any, *, as_frame: bool = False) -> Bunch:
    r"""Read relevance judgments without a run.

    Parameters
    ----------
    qrels : path, dict of dicts, data frame or iterable of records
        Relevance judgments, as in `load_trec`.
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
        As in `load_trec`, and for what has no lines.
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
    judged = given_qrels(qrels)
    qid, docno = all_lines(judged)
    found = Bunch(
        qid=qid,
        docno=docno,
        target=judged.numbers[:, 0],
        DESCR=f"{judged.source}: {len(judged.topics)} topics, {len(qid)} judgments",
    )
    return _framed(found) if as_frame else found


def _framed(trec: Bunch) -> Bunch:
    """The same with a data frame of what there is of each row."""
    pandas = import_optional("pandas", extra="io", purpose="as_frame=True")
    there = [name for name in _OF_ROWS if name in trec and trec[name].ndim == 1]
    columns = {name: _column(trec[name], pandas) for name in there}
    trec.frame = pandas.DataFrame(columns)
    if "run_names" in trec:
        if clash := [name for name in trec.run_names if name in columns]:
            raise ValueError(
                "names of runs must differ from the other columns of the frame, "
                f"{listed(columns)}, got {clash[0]!r}"
            )
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
    judged: TrecLines, ranked: TrecLines, *, topics: str, order: str | None
) -> Bunch:
    """Judgments and a run as `load_trec` gives them."""
    trec = _columns_of_runs(judged, [ranked], topics, order, by_docno=False)
    for name in ("score", "rank", "input_order"):
        trec[name] = trec[name][:, 0]
    for name in ("n_inversions", "n_contradictions"):
        trec[name] = int(trec[name][0])
    trec.DESCR = f"{ranked.source}, judged by {judged.source}: {trec.DESCR}"
    return trec


def _columns_of_runs(
    judged: TrecLines,
    runs: Sequence[TrecLines],
    topics: str,
    order: str | None,
    *,
    by_docno: bool,
) -> Bunch:
    """Runs as columns over the documents of all of them, and of the judgments.

    Rows of a topic stand `by_docno`, descending, or as one run has them.
    """
    for run in runs:
        if run.topics.keys().isdisjoint(judged.topics):
            raise ValueError(
                f"{judged.source} and {run.source} must have a topic in common, got "
                f"{len(judged.topics)} and {len(run.topics)} topics without a common "
                "one"
            )
    retrieved = set().union(*(run.topics for run in runs))
    names = [name for name in judged.topics if topics == "qrels" or name in retrieved]
    if order == "trec_eval":
        runs = [with_32_bits(run) for run in runs]
    disorder = np.array([_disorder(run, names) for run in runs]).T.copy()
    input_orders = [run.places_in_topics() for run in runs]
    if order == "trec_eval" and not by_docno:
        orders = [by_score_and_docno(run) for run in runs]
        runs = [run.in_order(own) for run, own in zip(runs, orders, strict=True)]
        input_orders = [
            places[own] for places, own in zip(input_orders, orders, strict=True)
        ]
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
    input_order = np.full((len(docno), len(runs)), np.nan)
    for j, (run, places) in enumerate(zip(runs, input_orders, strict=True)):
        score[rows[j + 1], j] = run.numbers[lines[j + 1], SCORE]
        rank[rows[j + 1], j] = run.numbers[lines[j + 1], RANK]
        input_order[rows[j + 1], j] = places[lines[j + 1]]
    return Bunch(
        target=target,
        score=score,
        qid=np.repeat(as_text(names), sizes),
        docno=as_text(docno),
        rank=rank,
        input_order=input_order,
        n_inversions=disorder[0],
        n_contradictions=disorder[1],
        DESCR=f"{len(names)} topics, {len(docno)} documents",
    )


def _lines_of(topics: Sequence[bytes], file: TrecLines) -> NDArray[np.int64]:
    """Numbers of the lines of some topics, in this order."""
    where = [file.topics.get(name, _NOTHING) for name in topics]
    return np.concatenate([np.arange(lines.start, lines.stop) for lines in where])


def _disorder(run: TrecLines, topics: Sequence[bytes]) -> tuple[int, int]:
    """How often a score is above the one before it, by lines and by ranks."""
    wanted = set(topics)
    known = np.array([name in wanted for name in run.topics], dtype=bool)
    topic = run.topic_numbers()
    rank, score = run.numbers.T

    def count_rises(lines: NDArray[np.int64]) -> int:
        found = rises(score[lines], topic[lines])
        return int((found & known[topic[lines][1:]]).sum())

    # documents of equal rank do not contradict their scores
    ranked = np.lexsort((-score, rank, topic))
    # what has no rank contradicts nothing
    ranked = ranked[~np.isnan(rank[ranked])]
    return count_rises(np.arange(len(topic))), count_rises(ranked)
