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
from functools import partial
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
    """Return files and functions of the library, and how many are open at once."""
    functions = set()
    depth = 0
    deepest = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        # Comprehensions are functions of their own before Python 3.12.
        if code.co_name.endswith("comp>"):
            return
        if event == "call":
            functions.add((code.co_filename, code.co_qualname))
            depth += 1
            deepest = max(deepest, depth)
        elif event == "return":
            depth -= 1

    # Imports and caches are not counted.
    call()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return functions, deepest


def calls() -> dict[str, Callable[[], Any]]:
    web = make_web_search(n_queries=30, random_state=0)
    rows = {"X": web.data, "y": web.target, "qid": web.qid}
    labels = [1, 0, 2]
    scores = [3, 3, 1]
    systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
    calls: dict[str, Callable[[], Any]] = {}
    calls["ranking_score"] = partial(ranking_score, labels, scores)
    calls["evaluate"] = partial(evaluate, labels, scores)
    compare = partial(compare_systems, qid=web.qid)
    calls["compare_systems"] = partial(compare, web.target, systems)
    calls["RankingFeatureSelector.fit"] = lambda: RankingFeatureSelector().fit(**rows)
    table = np.column_stack([web.qid, web.data])
    search = tree_search()
    calls["GridSearchCV.fit, six scores"] = partial(search.fit, table, web.target)
    calls["tieaware screen"] = partial(screen, web)
    try:
        from tieaware_sklearn.lightgbm import QueryLGBMRanker
    except ImportError:
        return calls
    ranker = QueryLGBMRanker(n_estimators=5, early_stopping_rounds=3, verbosity=-1)
    eval_set = {f"eval_{name}": values[:500] for name, values in rows.items()}
    calls["QueryLGBMRanker.fit"] = partial(ranker.fit, **rows, **eval_set)
    return calls


def tree_search() -> GridSearchCV:
    """Return a search of trees of two depths; the first column has the query ids."""
    without_ids = make_column_transformer(("drop", [0]), remainder="passthrough")
    trees = make_pipeline(without_ids, DecisionTreeRegressor(random_state=0))
    depths = {"decisiontreeregressor__max_depth": [2, 3]}
    scorer = make_ranking_scorer("ndcg@10", qid=0)
    folds = QueryKFold(3, qid=0)
    return GridSearchCV(trees, depths, scoring=scorer, cv=folds)


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
        files = {file for file, _ in functions}
        rows.append([name, str(len(functions)), str(len(files)), str(depth)])
    print(format_table(["call", "functions", "files", "depth"], rows))


if __name__ == "__main__":
    main()
