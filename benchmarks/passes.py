"""How many functions and files of the library one call passes, and how deep they nest.

``python -m benchmarks.passes`` counts those of `evaluate`, of `compare_systems`, of a
selector's `fit`, of six scores of a grid search, of ``tieaware screen`` and of a
ranker's `fit` with early stopping: a stranger who follows the call reads as many.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import tieaware_sklearn
from benchmarks.tables import format_table
from tieaware_sklearn import (
    QueryKFold,
    RankingFeatureSelector,
    cli,
    compare_systems,
    evaluate,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search

PACKAGE = str(Path(tieaware_sklearn.__file__).parent)


def passed(call: Callable[[], Any]) -> tuple[set[tuple[str, str]], int]:
    """Files and functions of the library, and how many of them are open at once."""
    functions, depth, deepest = set(), 0, 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        # comprehensions are functions of their own before Python 3.12
        is_ours = code.co_filename.startswith(PACKAGE)
        if not is_ours or code.co_name.endswith("comp>"):
            return
        if event == "call":
            functions.add((code.co_filename, code.co_qualname))
            depth += 1
            deepest = max(deepest, depth)
        elif event == "return":
            depth -= 1

    call()  # what is made once is made
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return functions, deepest


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
    table = np.column_stack([web.qid, web.data])
    without_ids = make_column_transformer(("drop", [0]), remainder="passthrough")
    search = GridSearchCV(
        make_pipeline(without_ids, DecisionTreeRegressor(random_state=0)),
        {"decisiontreeregressor__max_depth": [2, 3]},
        scoring=make_ranking_scorer("ndcg@10", qid=0),
        cv=QueryKFold(3, qid=0),
    )
    found["GridSearchCV.fit, six scores"] = lambda: search.fit(table, web.target)
    found["tieaware screen"] = lambda: screen(web)
    try:
        from tieaware_sklearn.lightgbm import QueryLGBMRanker
    except ImportError:
        return found
    ranker = QueryLGBMRanker(n_estimators=5, early_stopping_rounds=3, verbosity=-1)
    evals = {f"eval_{name}": value[:500] for name, value in rows.items()}
    found["QueryLGBMRanker.fit"] = lambda: ranker.fit(**rows, **evals)
    return found


def screen(web: Any) -> None:
    """Run ``tieaware screen`` on a file of these data."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "web.txt"))
        dump_svmlight_file(web.data, web.target, file, query_id=web.qid)
        with contextlib.redirect_stdout(io.StringIO()):
            cli.main(["screen", file])


def main() -> None:
    rows = []
    for name, call in calls().items():
        functions, depth = passed(call)
        n_files = len({file for file, _ in functions})
        rows.append([name, *map(str, (len(functions), n_files, depth))])
    print(format_table(["call", "functions", "files", "depth"], rows))


if __name__ == "__main__":
    main()
