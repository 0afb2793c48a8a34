"""TREC runs and relevance judgments as rows of documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .. import _optional
from .._engine import checks, exact_numbers, messages
from .._engine.segments import IntArray
from . import _trec_lines, _wording

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
        judgments in memory. The Notes list the forms of both.
    run : path, dict of dicts, data frame or iterable of records; or several of them
        Run: a file, or a run in memory. Documents are ranked by score; ranks and the
        order of lines are not used. A list of runs, or a dict that maps names to runs,
        gives one column of scores for each run over the documents of all runs, for
        `compare_systems` and `precision_study`. The rows of a topic are then sorted by
        descending document id.
    topics : {"both", "qrels"}, default="both"
        Topics to include: those that are both judged and in a run, or all that are
        judged (trec_eval's ``-c``). A run retrieves no documents for topics that it
        does not have.
    order : {None, "trec_eval"}, default=None
        Order of the rows of a topic. None keeps the order of the run. "trec_eval" sorts
        by score in 32 bits and then by descending document id. ``ties="input"`` then
        gives trec_eval's numbers, also for several runs. With None, ``ties="input"``
        breaks the ties of several runs by descending document id, too, but with scores
        in 64 bits.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below. For several
        runs it has one column of scores for each run, named as in ``run_names``, and
        no ranks.

    Returns
    -------
    sklearn.utils.Bunch
        There is one row for each document of the run, and one for each judged document
        that the run does not retrieve. ``target`` is the label, NaN if a document is
        not judged or judged below 0. ``score`` is -inf if it is not retrieved. ``qid``
        is the topic. ``docno`` is the document id as a string. Bytes that are not UTF-8
        become surrogate escapes, so that different bytes are different documents.
        ``rank`` is the rank in the run, NaN if the document is not retrieved or the run
        has no ranks. ``input_order`` is the position of its line within the topic in
        the run, from 1, NaN if it is not retrieved. The last key is ``DESCR``.

        For several runs, ``score``, ``rank`` and ``input_order`` have shape
        (n_documents, n_runs). ``run_names`` holds the keys of a dict, or the tags of
        the runs of a list. A run without a tag of its own is named after its file,
        without folders and ``.gz`` unless another run has that name.

    Raises
    ------
    ValueError
        For lines with too few or too many columns, labels, ranks or scores that are not
        finite numbers, and documents that occur twice in a topic. The message names
        file and line, or argument, topic and document. For topics and documents in
        memory that are neither strings nor bytes, a run without a judged topic, an
        empty list or dict, and with `as_frame` a run with the name of another column.
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
    The README of Buckley's trec_eval describes the files of TREC. trec_eval breaks ties
    by document id. `tieaware_sklearn.comparison.tie_statistics` counts the ranks or
    lines that contradict the scores.

    All lines of a file have the form of its first line:

    - judgments of TREC: ``topic iteration docno label``, separated by white space;
    - judgments of BEIR: ``query-id corpus-id score``, separated by tabs, below a line
      with these names;
    - runs of TREC: ``topic Q0 docno rank score tag``, separated by white space;
    - runs without a tag: ``topic Q0 docno rank score``. The second column must be
      ``Q0`` or ``0``, because other files may omit another column.

    Judgments and runs in memory are

    - dicts of dicts, topic to document to label or score, as pytrec_eval and ranx take
      them;
    - data frames of pandas or polars, or dicts of columns: topics in a column ``qid``
      or ``query_id``; documents in ``docno`` or ``doc_id``; labels in ``target``,
      ``relevance`` or ``label``; scores in ``score``; optional ranks in ``rank``, and
      an optional tag in ``tag``. The frames of BEIR (``query-id``, ``corpus-id``,
      ``score``) and of ranx (``q_id``, ``doc_id``, ``score``) are read, too;
    - records with the fields ``query_id``, ``doc_id`` and ``relevance`` or ``score``,
      as ir_datasets iterates over them.

    Topics and documents are strings or bytes. A dict of dicts has no ranks: ``rank`` is
    NaN. In tables with a column ``target``, such as the output of this function, a
    score of -inf means not retrieved, and a target of NaN not judged.

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
    checks.check_choice(topics, "topics", ("both", "qrels"))
    checks.check_choice(order, "order", (None, "trec_eval"))
    judged, (runs, names) = _trec_lines.given_qrels(qrels), _trec_lines.given_runs(run)
    trec = trec_rows(judged, runs, names, topics=topics, order=order)
    return _framed(trec, as_frame)


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
        As in `load_trec`, and for an empty run.
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
    ranked = _trec_lines.given_run(run)
    rank, score = (column.copy() for column in ranked.numbers.T)
    return _alone(ranked, {"score": score, "rank": rank}, "documents", as_frame)


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
        As in `load_trec`, and for empty judgments.
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
    judged = _trec_lines.given_qrels(qrels)
    return _alone(judged, {"target": judged.numbers[:, 0]}, "judgments", as_frame)


def _alone(
    lines: _trec_lines.TrecLines, numbers: dict[str, Any], what: str, as_frame: bool
) -> Bunch:
    """A run without judgments, or judgments without a run."""
    qid, docno = lines.ids()
    described = f"{lines.source}: {len(lines.topics)} topics, {len(qid)} {what}"
    columns = {"qid": qid, "docno": docno, **numbers}
    return _framed(Bunch(**columns, DESCR=described), as_frame)


def _framed(trec: Bunch, as_frame: bool) -> Bunch:
    """Add a data frame of all that has one value per row, if there is to be one."""
    if not as_frame:
        return trec
    pandas = _optional.import_optional("pandas", extra="io", purpose="as_frame=True")
    there = [name for name in _OF_ROWS if name in trec and trec[name].ndim == 1]
    columns = {name: _column(trec[name], pandas) for name in there}
    trec.frame = pandas.DataFrame(columns)
    if "run_names" in trec:
        rule = "names of runs must differ from the other columns of the frame"
        for name in trec.run_names:
            free = name not in columns
            messages.require(free, f"{rule}, {_wording.listed(columns)}", name)
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


class _Joined(NamedTuple):
    """The documents of judgments and runs, topic by topic."""

    topics: list[bytes]
    qid: NDArray[np.str_]
    docno: NDArray[np.str_]
    #: of the judgments and of each run: lines, and the rows that they are of
    lines: list[IntArray]
    rows: list[list[int]]


def _joined(
    judged: _trec_lines.TrecLines,
    runs: Sequence[_trec_lines.TrecLines],
    topics: str,
    *,
    by_docno: bool,
) -> _Joined:
    """Rows of a topic stand `by_docno`, descending, or as the runs have them."""
    for run in runs:
        shared = not run.topics.keys().isdisjoint(judged.topics)
        rule = f"{judged.source} and {run.source} must have a topic in common"
        got = f"got {len(judged.topics)} and {len(run.topics)} topics"
        messages.require(shared, f"{rule}, {got} without a common one")
    retrieved = set().union(*(run.topics for run in runs))
    names = [name for name in judged.topics if topics == "qrels" or name in retrieved]
    files = [judged, *runs]
    rows: list[list[int]] = [[] for _ in files]
    docno: list[bytes] = []
    sizes: list[int] = []
    for name in names:
        of_files = [file.docno[file.topics.get(name, _NOTHING)] for file in files]
        documents = list(dict.fromkeys(chain(*of_files[1:], of_files[0])))
        if by_docno:
            # ties of all runs are broken as trec_eval does, by the order of none
            documents.sort(reverse=True)
        row_of = dict(zip(documents, count(len(docno)), strict=False))
        for rows_of_file, ids in zip(rows, of_files, strict=True):
            rows_of_file += map(row_of.__getitem__, ids)
        docno += documents
        sizes.append(len(documents))
    places = [[file.topics.get(name, _NOTHING) for name in names] for file in files]
    lines = [np.r_[tuple(of_file)] for of_file in places]
    qid = np.repeat(_trec_lines.as_text(names), sizes)
    return _Joined(names, qid, _trec_lines.as_text(docno), lines, rows)


def trec_rows(
    judged: _trec_lines.TrecLines,
    runs: Sequence[_trec_lines.TrecLines],
    names: list[str] | None,
    *,
    topics: str,
    order: str | None,
) -> Bunch:
    """Judgments and runs as `load_trec` gives them; a run alone has no name."""
    placed = []
    for run in runs:
        rank, score = run.numbers.T
        score = exact_numbers.in_32_bits(score) if order == "trec_eval" else score
        numbers = np.column_stack([rank, score, run.places_in_topics()])
        lines = run._replace(numbers=numbers)
        if order == "trec_eval" and names is None:
            lines = lines.in_order(_trec_lines.by_score_and_docno(lines))
        placed.append(lines)
    joined = _joined(judged, placed, topics, by_docno=names is not None)
    target = np.full(len(joined.docno), np.nan)
    target[joined.rows[0]] = judged.numbers[joined.lines[0], 0]
    cells = np.full((3, len(joined.docno), len(runs)), np.nan)
    cells[_trec_lines.SCORE] = -np.inf
    for j, run in enumerate(placed):
        cells[:, joined.rows[j + 1], j] = run.numbers[joined.lines[j + 1]].T
    if names is None:
        cells = cells[..., 0]
    source = runs[0].source if names is None else f"{len(runs)} runs"
    trec = Bunch(
        target=target,
        score=cells[_trec_lines.SCORE],
        qid=joined.qid,
        docno=joined.docno,
        rank=cells[_trec_lines.RANK],
        input_order=cells[2],
        DESCR=f"{source}, judged by {judged.source}: {len(joined.topics)} topics, "
        f"{len(joined.docno)} documents",
    )
    return trec if names is None else Bunch(**trec, run_names=names)
