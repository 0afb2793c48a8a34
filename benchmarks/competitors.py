"""The same measure by other evaluation tools, each given its own kind of input.

What is timed is evaluation alone: dictionaries and runs are made beforehand. Those of
them that are not installed are left out.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from benchmarks.timing import Task
from benchmarks.workloads import Workload


def tools(data: Workload, score: np.ndarray) -> dict[str, Task]:
    """NDCG@10 by the tools that are there, of the queries of a workload."""
    made = {
        "pytrec_eval": ("pytrec_eval ndcg_cut_10", _pytrec_eval),
        "ranx": ("ranx ndcg@10", _ranx),
        "trm": ("tie-aware-retrieval-metrics nDCG@10", _trm),
    }
    return {
        title: make(data, score)
        for module, (title, make) in made.items()
        if find_spec(module) is not None
    }


def _dictionaries(data: Workload, score: np.ndarray) -> tuple[dict, dict]:
    ends = np.cumsum(data.sizes)
    labels, scores = data.y.astype(int).tolist(), score.tolist()
    qrels, run = {}, {}
    for query, (end, size) in enumerate(zip(ends, data.sizes, strict=True)):
        documents = range(end - size, end)
        qrels[f"q{query}"] = {f"d{d}": labels[d] for d in documents}
        run[f"q{query}"] = {f"d{d}": scores[d] for d in documents}
    return qrels, run


def _pytrec_eval(data: Workload, score: np.ndarray) -> Task:
    import pytrec_eval

    qrels, run = _dictionaries(data, score)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10"})
    return lambda: evaluator.evaluate(run)


def _ranx(data: Workload, score: np.ndarray) -> Task:
    import ranx

    qrels, run = _dictionaries(data, score)
    judged, ranked = ranx.Qrels(qrels), ranx.Run(run)
    return lambda: ranx.evaluate(judged, ranked, "ndcg@10", make_comparable=False)


def _trm(data: Workload, score: np.ndarray) -> Task:
    import trm

    parts = np.split(np.arange(len(data.y)), np.cumsum(data.sizes)[:-1])
    scores = [score[part].tolist() for part in parts]
    relevant = [(data.y[part] > 0).tolist() for part in parts]
    name = next(m for m in trm.SUPPORTED_METRICS if m.lower() == "ndcg")
    return lambda: trm.evaluate(scores, relevant, [name], [10])
