"""Runs and judgments as TREC files, made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tieaware_sklearn.datasets import dump_qrels, dump_trec_run

#: documents of each topic, in a run and in all runs
_RETRIEVED, _KNOWN = 1000, 5000


def write_run(path: Path, n_topics: int, seed: int = 0) -> Path:
    """A run of a thousand documents a topic."""
    rng = np.random.default_rng(seed)
    topic, docno = _documents(n_topics, rng)
    score = np.round(rng.gamma(2, 5, len(topic)), 4)
    dump_trec_run(path, topic, docno, score, tag=f"run{seed}")
    return path


def write_qrels(path: Path, n_topics: int, seed: int = 0) -> Path:
    """Judgments of a thousand documents a topic, one in ten relevant."""
    rng = np.random.default_rng(seed)
    topic, docno = _documents(n_topics, rng)
    dump_qrels(path, topic, docno, rng.random(len(topic)) < 0.1)
    return path


def _documents(n_topics: int, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    topics = range(301, 301 + n_topics)
    chosen = [rng.choice(_KNOWN, _RETRIEVED, replace=False) for _ in topics]
    docno = [
        f"FBIS3-{topic}-{document}"
        for topic, own in zip(topics, chosen, strict=True)
        for document in own.tolist()
    ]
    return np.repeat([str(topic) for topic in topics], _RETRIEVED).tolist(), docno
