"""What pruning of Optuna's trials costs, and what it saves.

``python -m benchmarks.pruning`` tunes functions of several costs on 10^4 to 10^6
documents: CPU seconds of whole studies without pruning, and with it. A layer takes
about 100 ms for a million documents.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import optuna

from benchmarks.tables import format_table
from benchmarks.timing import medians
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScoringObjective

N_DOCUMENTS = 100
#: Columns of the features of `make_web_search`.
TEXT = 5
CLICKS = 1


def boosted(trial: Any, X: np.ndarray, *, layers: int) -> np.ndarray:
    """Return boosted scores, and so many layers of a network that hardly count."""
    boost = trial.suggest_float("boost", 0, 5)
    scores = X[:, TEXT] + boost * X[:, CLICKS]
    if layers == 0:
        return scores
    width = X.shape[1]
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(width, width)) / width
    hidden = X
    for _ in range(layers):
        hidden = np.einsum("ij,jk->ik", hidden, weights)
        hidden = np.tanh(hidden)
    return scores + 1e-6 * hidden[:, 0]


def compare(
    score: Callable[[Any, np.ndarray], np.ndarray],
    web: Any,
    n_trials: int,
    repeats: int,
) -> list[str]:
    """Return median seconds of studies without pruning and with it, in turns."""
    objective = ScoringObjective(score, web.data, web.target, qid=web.qid)

    def tune(prune: bool) -> None:
        study = objective.create_study(0, prune=prune)
        study.optimize(objective, n_trials=n_trials)

    tasks = {"never": partial(tune, False), "always": partial(tune, True)}
    times = medians(tasks, repeats, time.process_time)
    return [f"{seconds:.2f}" for seconds in times.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--layers", type=int, nargs="*", default=[0, 1, 2, 4])
    sizes = [10_000, 100_000, 500_000, 1_000_000]
    parser.add_argument("--documents", type=int, nargs="*", default=sizes)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rows = []
    for n in arguments.documents:
        n_queries = n // N_DOCUMENTS
        web = make_web_search(n_queries, n_documents=N_DOCUMENTS, random_state=0)
        for layers in arguments.layers:
            score = partial(boosted, layers=layers)
            times = compare(score, web, arguments.trials, arguments.repeats)
            rows.append([str(len(web.qid)), str(layers), *times])
    print(f"CPU seconds of {arguments.trials} trials\n")
    header = ["documents", "layers", "never", "always"]
    print(format_table(header, rows))


if __name__ == "__main__":
    main()
