"""Runs and judgments as TREC files, made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import Generator

from tieaware_sklearn.datasets import dump_qrels, dump_trec_run

#: Documents of a topic in each run.
_RETRIEVED = 1000
#: Documents of a topic that runs retrieve from.
_KNOWN = 5000


def write_run(path: Path, n_topics: int, seed: int = 0) -> Path:
    """Write a run of a thousand documents a topic."""
    rng = np.random.default_rng(seed)
    topics, docnos = _draw_documents(n_topics, rng)
    scores = np.round(rng.gamma(2, 5, len(topics)), 4)
    dump_trec_run(path, topics, docnos, scores, tag=f"run{seed}")
    return path


def write_qrels(path: Path, n_topics: int) -> Path:
    """Write judgments of a thousand documents a topic, one in ten relevant."""
    rng = np.random.default_rng(0)
    topics, docnos = _draw_documents(n_topics, rng)
    is_relevant = rng.random(len(topics)) < 0.1
    dump_qrels(path, topics, docnos, is_relevant)
    return path


def _draw_documents(n_topics: int, rng: Generator) -> tuple[list[str], list[str]]:
    """Return topics and names of documents, row by row."""
    topics = []
    docnos = []
    for topic in range(301, 301 + n_topics):
        documents = rng.choice(_KNOWN, _RETRIEVED, replace=False)
        for document in documents.tolist():
            topics.append(str(topic))
            docnos.append(f"FBIS3-{topic}-{document}")
    return topics, docnos
