"""TREC judgments by subtopic, beside a run: diversity qrels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._engine import check_choice
from ._locate import PathLike
from ._source import TextSource
from ._trec import load_run
from ._wording import quoted

_COLUMNS = "topic subtopic docno label"


class _Judged(NamedTuple):
    """What is known of one topic."""

    #: labels by document and subtopic
    labels: dict[str, dict[str, float]]
    subtopics: set[str]


def load_subtopics(qrels: PathLike, run: PathLike, *, topics: str = "both") -> Bunch:
    r"""Read a TREC run and its judgments by subtopic, for `evaluate_subtopics`.

    Parameters
    ----------
    qrels : path
        File of judgments by subtopic, as of the diversity task of the TREC Web track,
        with lines ``topic subtopic docno label``, plain or compressed; ``-`` is
        standard input.
    run : path
        Run, as in `load_trec`. Documents are ranked by score; the ranks and the order
        of lines in the file are not used.
    topics : {"both", "qrels"}, default="both"
        Topics to include: those that are both judged and in the run, or all that are
        judged.

    Returns
    -------
    sklearn.utils.Bunch
        There is one row for each document of the run, and one for each judged document
        that the run does not retrieve. The keys are ``target`` of shape (n_documents,
        n_subtopics), the labels, NaN where a document is not judged for a subtopic or
        judged below 0; ``subtopics``, a dict of the ids of the subtopics of each topic,
        in the order of the columns: numbers by size, other ids by letter; ``score``,
        -inf where a document is not retrieved; ``qid``, the topic; ``docno``, the
        document id; and ``DESCR``.

    Raises
    ------
    ValueError
        For lines with too few or too many columns, labels that are not numbers, and
        documents that are judged twice for a subtopic (with file and line); for a file
        without lines; and for files without a common topic.
    OSError
        If a file cannot be read.

    See Also
    --------
    tieaware_sklearn.evaluate_subtopics : Evaluates such labels.
    load_trec : Judgments without subtopics.

    Notes
    -----
    The format is that of ndeval, the program of the TREC Web track.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> from tieaware_sklearn.datasets import load_subtopics
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, run = pathlib.Path(folder, "qrels"), pathlib.Path(folder, "run")
    ...     _ = qrels.write_text("51 1 web-1 1\n51 2 web-2 1\n51 2 web-9 1\n")
    ...     _ = run.write_text("51 Q0 web-2 1 5 x\n51 Q0 web-1 2 5 x\n")
    ...     web = load_subtopics(qrels, run)
    >>> web.target.tolist()
    [[nan, 1.0], [1.0, nan], [nan, 1.0]]
    >>> evaluate_subtopics(web.target, web.score, qid=web.qid,
    ...                    measures="StRecall@1").expected
    array([[0.5]])
    """
    check_choice(topics, "topics", ("both", "qrels"))
    judged, ranked = _read(TextSource(qrels)), load_run(run)
    retrieved: dict[str, dict[str, float]] = {}
    rows = zip(
        *(ranked[name].tolist() for name in ("qid", "docno", "score")), strict=True
    )
    for topic, document, score in rows:
        retrieved.setdefault(topic, {})[document] = score
    if retrieved.keys().isdisjoint(judged):
        raise ValueError(
            f"{qrels} and {run} must have a topic in common, got {len(judged)} and "
            f"{len(retrieved)} topics without a common one"
        )
    names = [name for name in judged if topics == "qrels" or name in retrieved]
    subtopics = {name: _in_order(judged[name].subtopics) for name in names}
    width = max(map(len, subtopics.values()))
    qid: list[str] = []
    docno: list[str] = []
    scores: list[float] = []
    labels: list[list[float]] = []
    for name in names:
        own, found = judged[name].labels, retrieved.get(name, {})
        for document in [*found, *(other for other in own if other not in found)]:
            of_document = own.get(document, {})
            row = [of_document.get(one, math.nan) for one in subtopics[name]]
            labels.append(row + [math.nan] * (width - len(row)))
            scores.append(found.get(document, -math.inf))
            docno.append(document)
            qid.append(name)
    return Bunch(
        target=np.array(labels),
        score=np.array(scores),
        qid=np.array(qid),
        docno=np.array(docno),
        subtopics=subtopics,
        DESCR=f"{run}, judged by {qrels}: {len(names)} topics, {len(docno)} documents, "
        f"up to {width} subtopics",
    )


def _in_order(subtopics: set[str]) -> list[str]:
    """Numbers by size, then other ids."""
    return sorted(subtopics, key=lambda one: (not one.isdecimal(), len(one), one))


def _read(source: TextSource) -> dict[str, _Judged]:
    """The judgments of each topic, topics in the order of the file."""
    judged: dict[str, _Judged] = {}
    with source.reading(), source.open_text() as file:
        for number, raw in enumerate(file, start=1):
            # ids as `load_run` has them
            cells = [cell.decode("utf-8", "surrogateescape") for cell in raw.split()]
            if not cells:
                continue
            where = f"{source}, line {number}"
            if len(cells) != len(_COLUMNS.split()):
                raise ValueError(
                    f"{where}: must have 4 columns ({_COLUMNS}), got {len(cells)}"
                )
            topic, subtopic, document, text = cells
            known = judged.setdefault(topic, _Judged({}, set()))
            labels = known.labels.setdefault(document, {})
            if subtopic in labels:
                raise ValueError(
                    f"{where}: {document} is judged twice for subtopic {subtopic} of "
                    f"topic {topic}"
                )
            known.subtopics.add(subtopic)
            labels[subtopic] = _label(text, where)
    if not judged:
        raise ValueError(f"{source} must hold at least one line, got none")
    return judged


def _label(text: str, where: str) -> float:
    """A label; NaN below 0."""
    try:
        label = math.nan if "_" in text else float(text)
    except ValueError:
        label = math.nan
    if not math.isfinite(label):
        raise ValueError(f"{where}: label must be a number, got {quoted(text)}")
    return label if label >= 0 else math.nan
