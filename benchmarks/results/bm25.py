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

from tieaware_sklearn._typing import Array, FloatArray
from tieaware_sklearn.optuna import ScoringObjective

from ._shared import print_table


class Pairs(NamedTuple):
    """All pairs of a query and a document.

    `X` holds how often a document has each term of the query, and its length in
    the last column; `idf` weighs the terms.
    """

    X: sp.csr_array
    y: Array
    qid: Array
    idf: FloatArray


def pairs(documents: list[str], queries: list[str], grades: Array) -> Pairs:
    """Return all pairs; `grades` has shape (n_queries, n_documents)."""
    counter = CountVectorizer(token_pattern=r"[a-z0-9]+", dtype=np.float64)
    terms = sp.csr_array(counter.fit_transform(documents))
    query_terms = counter.transform(queries).sign()
    n_documents = len(documents)
    frequency = np.bincount(terms.indices)
    idf = np.log(1 + (n_documents - frequency + 0.5) / (frequency + 0.5))
    lengths = np.asarray(terms.sum(axis=1))
    length_column = sp.csr_array(lengths.reshape(-1, 1))
    blocks = []
    for row in query_terms.toarray():
        counts = terms @ sp.diags_array(row)
        blocks.append(sp.hstack([counts, length_column]))
    X = sp.csr_array(sp.vstack(blocks))
    X.eliminate_zeros()
    qid = np.repeat(np.arange(len(queries)), n_documents)
    return Pairs(X, grades.ravel(), qid, idf)


def bm25(data: Pairs) -> Callable[[Any, sp.csr_array], FloatArray]:
    """Return a function that scores by BM25, with the parameters of a trial."""
    mean_length = data.X[:, [-1]].mean()

    def score(trial: Any, X: sp.csr_array) -> FloatArray:
        k1 = trial.suggest_float("k1", 0.1, 4.0)
        b = trial.suggest_float("b", 0.0, 1.0)
        counts = sp.csr_array(X[:, :-1])
        lengths = X[:, [-1]].toarray().ravel()
        rows = np.repeat(np.arange(X.shape[0]), np.diff(counts.indptr))
        saturation = k1 * (1 - b + b * lengths / mean_length)
        tf = counts.data * (k1 + 1) / (counts.data + saturation[rows])
        weights = tf * data.idf[counts.indices]
        return np.bincount(rows, weights, X.shape[0])

    return score


def texts(path: Path) -> list[str]:
    """Return the texts of a SMART file."""
    _, *parts = re.split(r"^\.I .*$", path.read_text(), flags=re.M)
    return [re.split(r"^\.W$", part, flags=re.M)[-1] for part in parts]


def cranfield(folder: Path) -> Pairs:
    """Return the pairs with grades from 4, a complete answer, to 1.

    Judgments number queries by their position.
    """
    documents = texts(folder / "cran.all.1400")
    queries = texts(folder / "cran.qry")
    grades = np.zeros((len(queries), len(documents)))
    judgments = (folder / "cranqrel").read_text()
    for line in judgments.splitlines():
        query, document, code = map(int, line.split())
        if code > 0:
            grades[query - 1, document - 1] = 5 - code
    return pairs(documents, queries, grades)


def tune(data: Pairs, n_trials: int, seed: int, prune: bool) -> optuna.Study:
    """Return a study of k1 and b."""
    objective = ScoringObjective(
        bm25(data), data.X, data.y, qid=data.qid, measure="ndcg@10"
    )
    study = objective.create_study(seed, prune=prune)
    study.enqueue_trial({"k1": 1.2, "b": 0.75})
    study.optimize(objective, n_trials=n_trials)
    return study


def study_row(name: str, study: optuna.Study) -> list[Any]:
    best = study.best_trial
    attributes = best.user_attrs
    row = [name, study.trials[0].value, best.value]
    row += [f"{best.params['k1']:.2f}", f"{best.params['b']:.2f}"]
    row.append(f"{attributes['worst']:.4f}-{attributes['best']:.4f}")
    row.append(sum(trial.user_attrs["n_queries"] for trial in study.trials))
    seconds = sum(trial.duration.total_seconds() for trial in study.trials)
    row.append(f"{seconds:.1f}")
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    n_trials = arguments.trials
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    data = cranfield(arguments.folder)
    rows = []
    for seed in range(arguments.seeds):
        full = tune(data, n_trials, seed, prune=False)
        rows.append(study_row(f"seed {seed}, without pruning", full))
        pruned = tune(data, n_trials, seed, prune=True)
        rows.append(study_row(f"seed {seed}, with pruning", pruned))
    n_queries = len(np.unique(data.qid))
    print(f"{n_queries} queries, {len(data.y)} pairs, {n_trials} trials\n")
    header = ["NDCG@10", "k1=1.2 b=0.75", "best", "k1", "b", "tie range"]
    print_table([*header, "queries scored", "seconds"], rows)


if __name__ == "__main__":
    main()
