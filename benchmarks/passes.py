"""How many files and functions of the library one call passes.

``python -m benchmarks.passes`` counts those of `evaluate`, of `compare_systems`, of a
selector's `fit` and of a ranker's `fit` with early stopping: a stranger who follows the
call reads as many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import tieaware_sklearn
from benchmarks.tables import format_table
from tieaware_sklearn import (
    RankingFeatureSelector,
    compare_systems,
    evaluate,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search

PACKAGE = str(Path(tieaware_sklearn.__file__).parent)


def passed(call: Callable[[], Any]) -> set[tuple[str, str]]:
    """Files and functions of the library."""
    found = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        # comprehensions are functions of their own before Python 3.12
        if not code.co_name.endswith("comp>"):
            found.add((code.co_filename, code.co_qualname))

    call()  # what is made once is made
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def calls() -> dict[str, Callable[[], Any]]:
    web = make_web_search(n_queries=30, random_state=0)
    rows = {"X": web.data, "y": web.target, "qid": web.qid}
    systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
    found: dict[str, Callable[[], Any]] = {
        "ranking_score": lambda: ranking_score([1, 0, 2], [3, 3, 1]),
        "evaluate": lambda: evaluate([1, 0, 2], [3, 3, 1]),
        "compare_systems": lambda: compare_systems(web.target, systems, qid=web.qid),
        "RankingFeatureSelector.fit": lambda: RankingFeatureSelector().fit(**rows),
    }
    try:
        from tieaware_sklearn.lightgbm import QueryLGBMRanker
    except ImportError:
        return found
    ranker = QueryLGBMRanker(n_estimators=5, early_stopping_rounds=3, verbosity=-1)
    evals = {f"eval_{name}": value[:500] for name, value in rows.items()}
    found["QueryLGBMRanker.fit"] = lambda: ranker.fit(**rows, **evals)
    return found


def main() -> None:
    rows = []
    for name, call in calls().items():
        seen = passed(call)
        rows.append([name, str(len({file for file, _ in seen})), str(len(seen))])
    print(format_table(["call", "files", "functions"], rows))


if __name__ == "__main__":
    main()
