"""BM25 tuned on Cranfield, with and without pruning.

``python -m benchmarks.results.bm25 FOLDER`` tunes k1 and b; it reads the SMART files of
the Cranfield collection (cran.all.1400, cran.qry, cranqrel).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import optuna
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.tables import format_table
from tieaware_sklearn.optuna import ScoringObjective


class Pairs(NamedTuple):
    """Every document for every query.

    `X` holds how often a document has each term of the query, and its length in
    the last column; `idf` weighs the terms.
    """

    X: sp.csr_array
    y: np.ndarray
    qid: np.ndarray
    idf: np.ndarray


def pairs(documents: list[str], queries: list[str], grades: np.ndarray) -> Pairs:
    """All pairs; `grades` has shape (n_queries, n_documents)."""
    counter = CountVectorizer(token_pattern=r"[a-z0-9]+", dtype=np.float64)
    terms = sp.csr_array(counter.fit_transform(documents))
    resolved = sp.csr_array(counter.transform(queries).sign())
    n_documents = terms.shape[0]
    frequency = np.asarray((terms > 0).sum(axis=0)).ravel()
    idf = np.log(1 + (n_documents - frequency + 0.5) / (frequency + 0.5))
    length = sp.csr_array(np.asarray(terms.sum(axis=1)).reshape(-1, 1))
    blocks = [
        sp.hstack([terms @ sp.diags_array(row), length]) for row in resolved.toarray()
    ]
    X = sp.csr_array(sp.vstack(blocks, format="csr"))
    X.eliminate_zeros()
    return Pairs(
        X, grades.ravel(), np.repeat(np.arange(len(queries)), n_documents), idf
    )


def bm25(data: Pairs) -> Callable[[Any, sp.csr_array], np.ndarray]:
    """Score by BM25, its parameters suggested by the trial."""
    length = data.X[:, [-1]].mean()

    def score(trial: Any, X: sp.csr_array) -> np.ndarray:
        k1 = trial.suggest_float("k1", 0.1, 4.0)
        b = trial.suggest_float("b", 0.0, 1.0)
        counts, lengths = sp.csr_array(X[:, :-1]), X[:, [-1]].toarray()[:, 0]
        rows = np.repeat(np.arange(X.shape[0]), np.diff(counts.indptr))
        saturation = k1 * (1 - b + b * lengths / length)
        tf = counts.data * (k1 + 1) / (counts.data + saturation[rows])
        return np.bincount(rows, tf * data.idf[counts.indices], X.shape[0])

    return score


def cranfield(folder: Path) -> Pairs:
    """Grades 4 (a complete answer) to 1, by the position of the query."""

    def texts(name: str) -> list[str]:
        parts = re.split(r"^\.I .*$", (folder / name).read_text(), flags=re.M)[1:]
        return [re.split(r"^\.W$", part, flags=re.M)[-1] for part in parts]

    documents, queries = texts("cran.all.1400"), texts("cran.qry")
    grades = np.zeros((len(queries), len(documents)))
    for line in (folder / "cranqrel").read_text().splitlines():
        query, document, code = map(int, line.split())
        if code > 0:
            grades[query - 1, document - 1] = 5 - code
    return pairs(documents, queries, grades)


def tune(data: Pairs, n_trials: int, seed: int, prune: bool) -> optuna.Study:
    """A study of k1 and b."""
    score = bm25(data)
    objective = ScoringObjective(score, data.X, data.y, qid=data.qid, measure="ndcg@10")
    study = objective.create_study(seed, prune=prune)
    study.enqueue_trial({"k1": 1.2, "b": 0.75})
    study.optimize(objective, n_trials=n_trials)
    return study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    data = cranfield(arguments.folder)
    rows = []
    for seed in range(arguments.seeds):
        for prune in (False, True):
            study = tune(data, arguments.trials, seed, prune)
            scored = sum(trial.user_attrs["n_queries"] for trial in study.trials)
            seconds = sum(trial.duration.total_seconds() for trial in study.trials)
            best = study.best_trial
            rows.append(
                [
                    f"seed {seed}, {'with' if prune else 'without'} pruning",
                    f"{study.trials[0].value:.4f}",
                    f"{best.value:.4f}",
                    f"{best.params['k1']:.2f}",
                    f"{best.params['b']:.2f}",
                    f"{best.user_attrs['worst']:.4f}-{best.user_attrs['best']:.4f}",
                    str(scored),
                    f"{seconds:.1f}",
                ]
            )
    n_queries = len(np.unique(data.qid))
    print(f"{n_queries} queries, {len(data.y)} pairs, {arguments.trials} trials\n")
    header = ["NDCG@10", "k1=1.2 b=0.75", "best", "k1", "b", "tie range"]
    print(format_table([*header, "queries scored", "seconds"], rows))


if __name__ == "__main__":
    main()
