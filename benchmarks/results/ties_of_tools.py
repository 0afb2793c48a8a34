"""What other tools make of ties.

``python -m benchmarks.results.ties_of_tools`` ranks twenty documents with one score,
three of them relevant, in three orders of the rows: a table for each of four measures.
A number that depends on the order is not one of the scores. Tools that are not
installed are left out, and so are those that have no such measure.

keras-rs draws a new order of ties at each call; here its seed is 0, with JAX behind
Keras where that is installed. polars_ds 0.13 needs Polars 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from benchmarks import boosters
from benchmarks.tables import format_table
from tieaware_sklearn import ranking_score

LABELS = np.array([1, 1, 1] + [0] * 17)
ORDERS = {
    "relevant first": np.arange(20),
    "shuffled": np.random.default_rng(1).permutation(20),
    "relevant last": np.arange(20)[::-1],
}
MEASURES = ("NDCG@10", "AP", "RR", "P@10")
#: the value of a measure by its name in the tool, of labels and scores
Tool = Callable[[str, np.ndarray, np.ndarray], float]


def lightgbm(name: str, y: np.ndarray, score: np.ndarray) -> float:
    return boosters.lightgbm_metric(y, np.array([len(y)]), score, name)()


def xgboost(name: str, y: np.ndarray, score: np.ndarray) -> float:
    return boosters.xgboost_metric(y, np.array([len(y)]), score, name)()


def catboost(name: str, y: np.ndarray, score: np.ndarray) -> float:
    from catboost.utils import eval_metric

    group = np.zeros(len(y), int)
    return eval_metric(y.astype(float), score, name, group_id=group)[0]


def sklearn(name: str, y: np.ndarray, score: np.ndarray) -> float:
    from sklearn import metrics

    if name == "ndcg":
        return metrics.ndcg_score([y], [score], k=10)
    return metrics.average_precision_score(y, score)


def _run(y: np.ndarray, score: np.ndarray) -> tuple[dict, dict]:
    """Judgments and a run, with documents named in the order of rows."""
    names = [f"d{i:02}" for i in range(len(y))]
    both = (dict(zip(names, of.tolist(), strict=True)) for of in (y, score))
    judged, scored = both
    return {"q": judged}, {"q": scored}


def pytrec_eval(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import pytrec_eval as module

    judged, run = _run(y, score)
    return module.RelevanceEvaluator(judged, {name}).evaluate(run)["q"][name]


def ir_measures(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import ir_measures as module

    measure = module.parse_measure(name)
    return module.calc_aggregate([measure], *_run(y, score))[measure]


def ranx(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import ranx as module

    judged, run = _run(y, score)
    return module.evaluate(module.Qrels(judged), module.Run(run), name)


def rax(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import rax as module

    metric, _, k = name.partition("@")
    value = getattr(module, f"{metric}_metric")
    return float(value(score, y.astype(float), topn=int(k) if k else None))


def torchmetrics(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import torch
    from torchmetrics.functional import retrieval

    metric, _, k = name.partition("@")
    value = getattr(retrieval, f"retrieval_{metric}")
    labels = torch.tensor(y.copy())
    return float(value(torch.tensor(score), labels, top_k=int(k) if k else None))


def keras_rs(name: str, y: np.ndarray, score: np.ndarray) -> float:
    if find_spec("jax") is not None:
        os.environ.setdefault("KERAS_BACKEND", "jax")
    import keras_rs as module

    metric, _, k = name.partition("@")
    value = getattr(module.metrics, metric)(k=int(k) if k else None, seed=0)
    value.update_state(y[None].astype("float32"), score[None].astype("float32"))
    return float(value.result())


def polars_ds(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import polars as pl
    import polars_ds as module

    frame = pl.DataFrame({"label": y.astype(float), "score": score})
    return frame.select(getattr(module, name)("label", "score", k=10)).item()


def trm(name: str, y: np.ndarray, score: np.ndarray) -> float:
    import trm as module

    metric, _, k = name.partition("@")
    cut = int(k) if k else len(y)
    found = module.evaluate([score.tolist()], [(y > 0).tolist()], [metric], [cut])
    return found.metrics[metric][cut].expected


def ours(name: str, y: np.ndarray, score: np.ndarray) -> float:
    return ranking_score(y, score, measure=name)


#: tools with the module that they need, and what they call the `MEASURES`
TOOLS: dict[str, tuple[str, Tool, tuple[str | None, ...]]] = {
    "LightGBM": ("lightgbm", lightgbm, ("ndcg@10", "map@20", None, None)),
    "XGBoost": ("xgboost", xgboost, ("ndcg@10", "map", None, "pre@10")),
    "CatBoost": (
        "catboost",
        catboost,
        (
            "NDCG:top=10;type=Base;denominator=LogPosition",
            "MAP:top=-1",
            "MRR:top=-1",
            "PrecisionAt:top=10",
        ),
    ),
    "scikit-learn": ("sklearn", sklearn, ("ndcg", "average_precision", None, None)),
    "trec_eval (pytrec_eval)": (
        "pytrec_eval",
        pytrec_eval,
        ("ndcg_cut_10", "map", "recip_rank", "P_10"),
    ),
    "ir-measures": ("ir_measures", ir_measures, ("nDCG@10", "AP", "RR", "P@10")),
    "ranx": ("ranx", ranx, ("ndcg@10", "map", "mrr", "precision@10")),
    "rax": ("rax", rax, ("ndcg@10", "ap", "mrr", "precision@10")),
    "torchmetrics": (
        "torchmetrics",
        torchmetrics,
        ("normalized_dcg@10", "average_precision", "reciprocal_rank", "precision@10"),
    ),
    "keras-rs": (
        "keras_rs",
        keras_rs,
        ("NDCG@10", "MeanAveragePrecision", "MeanReciprocalRank", "PrecisionAtK@10"),
    ),
    "polars_ds": ("polars_ds", polars_ds, ("query_ndcg_score", None, None, None)),
    "tie-aware-retrieval-metrics": (
        "trm",
        trm,
        ("ndcg@10", "map", "mrr", "precision@10"),
    ),
    "tieaware_sklearn": (
        "tieaware_sklearn",
        ours,
        ("ndcg(gain=linear)@10", "ap", "rr", "p@10"),
    ),
}


def values(tool: str, measure: str) -> list[float] | None:
    """What a tool gives for the orders of rows; None if it has no such measure."""
    _, function, names = TOOLS[tool]
    name = names[MEASURES.index(measure)]
    if name is None:
        return None
    score = np.ones(len(LABELS))
    return [function(name, LABELS[order], score) for order in ORDERS.values()]


def main() -> None:
    tables: dict[str, list[list[str]]] = {measure: [] for measure in MEASURES}
    failures = []
    for tool, (module, *_) in TOOLS.items():
        if find_spec(module) is None:
            continue
        for measure, rows in tables.items():
            try:
                found = values(tool, measure)
            except Exception as error:  # of a tool, or of what it needs: see the others
                failures.append(f"{tool} failed: {type(error).__name__}: {error}")
                break
            if found is not None:
                rows.append([tool, *(f"{value:.4f}" for value in found)])
    for measure, rows in tables.items():
        print(format_table([f"{measure} by", *ORDERS], rows), end="\n\n")
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    main()
