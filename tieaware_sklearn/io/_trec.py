"""TREC runs and relevance judgments as rows of documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .. import _optional
from .._display import words
from .._engine import checks, exact_numbers
from . import _trec_inputs, _trec_lines
from ._trec_lines import Topic, TrecLines

#: Lines of a topic that is missing from a run or from the judgments.
_NO_LINES = Topic([], np.empty(0), np.empty(0))
#: Columns of the data frames, in their order.
_FRAME_COLUMNS = ("qid", "docno", "target", "score", "rank", "input_order")


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
        Relevance judgments, as a file or in memory. A file may be compressed, and ``-``
        is standard input. The Notes list the forms of files and of judgments in memory.
        A topic whose judgments are an empty dict has no relevant document, so most
        measures count the topic as 0 by default.
    run : path, dict of dicts, data frame or iterable of records; or several of them
        Run, as a file or in memory. Documents are ranked by score. The ranks in the run
        are returned, but have no effect on the ranking. For a list of runs, or a dict
        that maps names to runs, ``score`` contains one column for each run, over the
        documents of all runs and the judged documents, as required by `compare_systems`
        and `precision_study`.
    topics : {"both", "qrels"}, default="both"
        Topics to include: the judged topics that are in at least one run, or all judged
        topics (trec_eval's ``-c``). If a run lacks a topic, the run retrieves no
        documents for the topic.
    order : {None, "trec_eval"}, default=None
        Order of the rows of a topic for a single run. None keeps the order of the run.
        "trec_eval" sorts by descending score in 32 bits, and then by descending
        document id. In both orders, judged documents that the run does not retrieve
        come last. For several runs, the rows of a topic are always sorted by descending
        document id. With "trec_eval", the returned scores are rounded to 32 bits, so
        ``ties="input"`` of `ranking_score` breaks ties as trec_eval does, even for
        several runs. With None, ``ties="input"`` breaks ties by the order of a single
        run, or by descending document id for several runs, and compares scores in 64
        bits.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below. For several
        runs, the DataFrame contains one column of scores for each run, named as in
        ``run_names``, but neither ranks nor ``input_order``. Ids must be UTF-8.

    Returns
    -------
    sklearn.utils.Bunch
        For each topic, there is one row for each document that is judged or retrieved.
        The Bunch has these keys:

        - ``target``: label, or NaN if the document is not judged or is judged below 0;
        - ``score``: score, or -inf if the document is not retrieved;
        - ``qid``: topic, as a string;
        - ``docno``: document id, as a string. Bytes that are not UTF-8 become surrogate
          escapes, so different bytes are different documents;
        - ``rank``: rank in the run, or NaN if the document is not retrieved or the run
          contains no ranks;
        - ``input_order``: position of the document's line within the topic in the run,
          counted from 1, or NaN if the document is not retrieved;
        - ``run_names``: only for several runs, a different name for each run;
        - ``DESCR``: description of the data.

        For several runs, ``score``, ``rank`` and ``input_order`` have shape
        (n_documents, n_runs). ``run_names`` contains the keys of a dict, or the tags of
        the runs of a list. A run without a tag, or with the tag of another run, is
        named after its file, without folders or ``.gz``. If another run has this name,
        the path is used. A run in memory without a tag of its own is named after its
        position in the list, such as ``run[0]``.

    Raises
    ------
    ValueError
        If a line contains too few or too many columns, if a label, rank or score is not
        a finite number (the Notes state the exceptions in memory), or if a document
        occurs twice in a topic. The message names the file and the line, or the
        argument, the topic and the document. Also if judgments or runs are of an
        unknown kind, if a table lacks a column or contains two columns for the same
        purpose, if topics or documents in memory are empty or are neither strings nor
        bytes, if a run contains no judged topic, or if a list or dict is empty.
    OSError
        If a file cannot be read.
    ImportError
        If a data frame is requested and pandas is not installed.

    Warns
    -----
    UserWarning
        If the judgments of an included topic are an empty dict.

    See Also
    --------
    load_run, load_qrels : Read only runs or only judgments.
    dump_trec_run, dump_qrels : Write files.
    compare_systems : Compares the runs of a list.

    Notes
    -----
    The README of Buckley's trec_eval describes the files of TREC. trec_eval breaks ties
    by document id. `tieaware_sklearn.comparison.tie_statistics` counts the ranks or
    lines that contradict the scores.

    All lines of a file must have the form of its first line:

    - judgments of TREC: ``topic iteration docno label``, separated by white space;
    - judgments of BEIR: ``query-id corpus-id score``, separated by tabs, after a header
      with these names;
    - runs of TREC: ``topic Q0 docno rank score tag``, separated by white space.

    Judgments and runs in memory are

    - dicts of dicts, which map topics to documents to labels or scores, as in
      pytrec_eval and ranx;
    - data frames of pandas or polars, or dicts of columns: topics in the column ``qid``
      or ``query_id``; documents in ``docno`` or ``doc_id``; labels in ``target``,
      ``relevance`` or ``label``; scores in ``score``; optional ranks in ``rank``; and
      an optional tag in ``tag``. The frames of BEIR (``query-id``, ``corpus-id``,
      ``score``) and ranx (``q_id``, ``doc_id``, ``score``) are also read;
    - records with the fields ``query_id``, ``doc_id`` and ``relevance`` or ``score``,
      as in ir_datasets.

    Topics and documents are strings or bytes. A dict of dicts contains no ranks, so
    ``rank`` is NaN. A rank in a table may be NaN. In tables with a column ``target``,
    such as the output of this function for one run, a score of -inf means that the
    document is not retrieved, and a target of NaN means that the document is not
    judged.

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
    judged = _trec_inputs.read_judgments(qrels)
    runs, names = _trec_inputs.read_runs(run)
    trec = join(judged, runs, names, topics=topics, order=order)
    return _add_frame(trec) if as_frame else trec


def load_run(run: Any, *, as_frame: bool = False) -> Bunch:
    r"""Read a TREC run without judgments, for pooling and voting.

    Parameters
    ----------
    run : path, dict of dicts, data frame or iterable of records
        Run, as in `load_trec`.
    as_frame : bool, default=False
        Whether to add ``frame``, a pandas DataFrame of the columns below.

    Returns
    -------
    sklearn.utils.Bunch
        The Bunch has these keys, with one element for each retrieved document. The
        documents of a topic are contiguous.

        - ``qid``: topic, as a string;
        - ``docno``: document id, as a string;
        - ``score``: score;
        - ``rank``: rank, or NaN if the run contains no ranks;
        - ``DESCR``: description of the run.

    Raises
    ------
    ValueError
        As in `load_trec`. Also if the run retrieves no document.
    OSError
        If the file cannot be read.
    ImportError
        If a data frame is requested and pandas is not installed.

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
    lines = _trec_inputs.read_run(run)
    trec = Bunch(
        **lines.columns("score"),
        DESCR=f"{lines.source}: {len(lines.topics)} topics, {lines.n_lines} documents",
    )
    return _add_frame(trec) if as_frame else trec


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
        The Bunch has these keys, with one element for each judgment. The judgments of a
        topic are contiguous.

        - ``qid``: topic, as a string;
        - ``docno``: document id, as a string;
        - ``target``: label, or NaN for labels below 0;
        - ``DESCR``: description of the judgments.

    Raises
    ------
    ValueError
        As in `load_trec`. Also if there are no judgments.
    OSError
        If the file cannot be read.
    ImportError
        If a data frame is requested and pandas is not installed.

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
    lines = _trec_inputs.read_judgments(qrels)
    trec = Bunch(
        **lines.columns("target"),
        DESCR=f"{lines.source}: {len(lines.topics)} topics, {lines.n_lines} judgments",
    )
    del trec["rank"]
    return _add_frame(trec) if as_frame else trec


def _add_frame(trec: Bunch) -> Bunch:
    """Add a data frame of the columns, with a column of scores for each run."""
    pandas = _optional.import_optional("pandas", extra="io", purpose="as_frame=True")
    names = [name for name in _FRAME_COLUMNS if name in trec and trec[name].ndim == 1]
    trec.frame = pandas.DataFrame({name: trec[name] for name in names})
    if "run_names" in trec:
        scores = pandas.DataFrame(trec.score, columns=trec.run_names)
        trec.frame = pandas.concat([trec.frame, scores], axis=1)
    return trec


def join(
    judged: TrecLines,
    runs: Sequence[TrecLines],
    names: list[str] | None,
    *,
    topics: str,
    order: str | None,
) -> Bunch:
    """Join judgments and runs, as in `load_trec`. For a single run, `names` is None."""
    for run in runs:
        if run.topics.keys().isdisjoint(judged.topics):
            raise ValueError(
                f"{judged.source} and {run.source} must have a topic in common, got "
                f"{len(judged.topics)} and {len(run.topics)} topics without overlap"
            )
    joined = list(judged.topics)
    if topics == "both":
        retrieved = set().union(*(run.topics for run in runs))
        joined = [qid for qid in joined if qid in retrieved]
    unjudged = [qid for qid in joined if not judged.topics[qid].docno]
    if unjudged:
        words.warn(
            f"{judged.source} has no judgment for "
            f"{words.counted(len(unjudged), 'topic', 'topics')} (first: "
            f"{unjudged[0]!r}), so no document of a topic without judgments counts as "
            "relevant. To leave these topics out, delete them from the dict"
        )
    # For each file, the topics and the rows of the topics' lines.
    files = []
    rows: list[list[int]] = []
    for lines in (judged, *runs):
        files.append([lines.topics.get(qid, _NO_LINES) for qid in joined])
        rows.append([])
    docno: list[str] = []
    sizes = []
    for topic_files in zip(*files, strict=True):
        documents = _documents(topic_files, order, names is None)
        row_of = dict(zip(documents, count(len(docno)), strict=False))
        for file_rows, topic in zip(rows, topic_files, strict=True):
            file_rows += map(row_of.__getitem__, topic.docno)
        docno += documents
        sizes.append(len(documents))
    target = np.full(len(docno), np.nan)
    target[rows[0]] = np.concatenate([topic.values for topic in files[0]])
    score = np.full((len(docno), len(runs)), -np.inf)
    rank = np.full(score.shape, np.nan)
    input_order = np.full(score.shape, np.nan)
    for j, run_topics in enumerate(files[1:]):
        run_rows = np.array(rows[j + 1], dtype=np.int64)
        score[run_rows, j] = np.concatenate([topic.values for topic in run_topics])
        rank[run_rows, j] = np.concatenate([topic.rank for topic in run_topics])
        positions = [np.arange(len(topic.docno)) + 1 for topic in run_topics]
        input_order[run_rows, j] = np.concatenate(positions)
    if order == "trec_eval":
        score = exact_numbers.in_32_bits(score).astype(np.float64)
    source = f"{len(runs)} runs"
    if names is None:
        source = runs[0].source
        score = score[:, 0]
        rank = rank[:, 0]
        input_order = input_order[:, 0]
    trec = Bunch(
        target=target,
        score=score,
        qid=np.repeat(np.array(joined), sizes),
        docno=np.array(docno, dtype=str),
        rank=rank,
        input_order=input_order,
        DESCR=f"{source}, judged by {judged.source}: {len(joined)} topics, "
        f"{len(docno)} documents",
    )
    if names is not None:
        trec.run_names = names
    return trec


def _documents(files: Sequence[Topic], order: str | None, is_single: bool) -> list[str]:
    """Return the documents of a topic in judgments and runs, in the order of rows."""
    if not is_single:
        # This order breaks ties as in trec_eval.
        union = {*chain.from_iterable(topic.docno for topic in files)}
        return sorted(union, key=_trec_lines.as_bytes, reverse=True)
    judged, run = files
    retrieved = run.docno
    if order == "trec_eval":
        retrieved = [retrieved[line] for line in run.trec_eval_order().tolist()]
    return [*dict.fromkeys([*retrieved, *judged.docno])]
