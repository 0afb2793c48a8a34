"""Values of tied documents by other tools.

``python -m benchmarks.results.ties_of_tools`` ranks twenty documents with one score,
three of them relevant, in three orders of the rows, and prints a table for each of four
measures. A value that depends on the order does not depend on the scores alone. The
tables leave out tools that are not installed, and tools without the measure.

keras-rs draws a new order of ties at each call. In these tables its seed is 0, and
Keras runs on JAX if JAX is installed. polars_ds 0.13 needs Polars 1.
The measures of RecTools take ranks. Its ImplicitRanker ranks the documents, numbered by
row. RecTools 0.19 asks for NumPy 1 on Python 3.11 and 3.12. ``pip install --no-deps``
puts it beside this package. Its values in these tables are the same with NumPy 2.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks import boosters
from tieaware_sklearn import ranking_score
from tieaware_sklearn._typing import Array

from ._shared import print_table

LABELS = np.array([1, 1, 1] + [0] * 17)
ORDERS = {
    "relevant first": np.arange(20),
    "shuffled": np.random.default_rng(1).permutation(20),
    "relevant last": np.arange(20)[::-1],
}
MEASURES = ("NDCG@10", "AP", "RR", "P@10")


class Tool(NamedTuple):
    """A tool that evaluates rankings.

    Attributes
    ----------
    module : str
        The module that the tool needs.
    function : callable
        Returns the value of a measure, by its name in the tool, for labels and scores.
    names : tuple
        The names of the `MEASURES` in the tool, None for measures that it lacks.
    """

    module: str
    function: Callable[[str, Array, Array], float]
    names: tuple[str | None, ...]


TOOLS = {}


def with_cutoff(name: str) -> tuple[str, int | None]:
    """Split a name such as "ndcg@10" into the measure and its cut-off."""
    measure, _, k = name.partition("@")
    return measure, int(k) if k else None


def qrels_and_run(y: Array, score: Array) -> tuple[dict, dict]:
    """Return judgments and a run, with documents named in the order of rows."""
    documents = [f"d{i:02}" for i in range(len(y))]
    labels = dict(zip(documents, y.tolist(), strict=True))
    scores = dict(zip(documents, score.tolist(), strict=True))
    return {"q": labels}, {"q": scores}


def lightgbm(name: str, y: Array, score: Array) -> float:
    metric = boosters.lightgbm_metric(y, np.array([len(y)]), score, name)
    return metric()


TOOLS["LightGBM"] = Tool("lightgbm", lightgbm, ("ndcg@10", "map@20", None, None))


def xgboost(name: str, y: Array, score: Array) -> float:
    metric = boosters.xgboost_metric(y, np.array([len(y)]), score, name)
    return metric()


TOOLS["XGBoost"] = Tool("xgboost", xgboost, ("ndcg@10", "map", None, "pre@10"))


def catboost(name: str, y: Array, score: Array) -> float:
    from catboost.utils import eval_metric

    queries = np.zeros(len(y), int)
    (value,) = eval_metric(y.astype(float), score, name, group_id=queries)
    return value


TOOLS["CatBoost"] = Tool(
    "catboost",
    catboost,
    (
        "NDCG:top=10;type=Base;denominator=LogPosition",
        "MAP:top=-1",
        "MRR:top=-1",
        "PrecisionAt:top=10",
    ),
)


def sklearn(name: str, y: Array, score: Array) -> float:
    from sklearn import metrics

    if name == "ndcg":
        return metrics.ndcg_score([y], [score], k=10)
    return metrics.average_precision_score(y, score)


TOOLS["scikit-learn"] = Tool(
    "sklearn", sklearn, ("ndcg", "average_precision", None, None)
)


def pytrec_eval(name: str, y: Array, score: Array) -> float:
    import pytrec_eval

    qrels, run = qrels_and_run(y, score)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name})
    return evaluator.evaluate(run)["q"][name]


TOOLS["trec_eval (pytrec_eval)"] = Tool(
    "pytrec_eval", pytrec_eval, ("ndcg_cut_10", "map", "recip_rank", "P_10")
)


def ir_measures(name: str, y: Array, score: Array) -> float:
    import ir_measures

    measure = ir_measures.parse_measure(name)
    qrels, run = qrels_and_run(y, score)
    return ir_measures.calc_aggregate([measure], qrels, run)[measure]


TOOLS["ir-measures"] = Tool("ir_measures", ir_measures, ("nDCG@10", "AP", "RR", "P@10"))


def ranx(name: str, y: Array, score: Array) -> float:
    import ranx

    qrels, run = qrels_and_run(y, score)
    return ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name)


TOOLS["ranx"] = Tool("ranx", ranx, ("ndcg@10", "map", "mrr", "precision@10"))


def rax(name: str, y: Array, score: Array) -> float:
    import rax

    measure, k = with_cutoff(name)
    metric = getattr(rax, f"{measure}_metric")
    return float(metric(score, y.astype(float), topn=k))


TOOLS["rax"] = Tool("rax", rax, ("ndcg@10", "ap", "mrr", "precision@10"))


def torchmetrics(name: str, y: Array, score: Array) -> float:
    import torch
    from torchmetrics.functional import retrieval

    measure, k = with_cutoff(name)
    metric = getattr(retrieval, f"retrieval_{measure}")
    labels = torch.tensor(y.copy())
    return float(metric(torch.tensor(score), labels, top_k=k))


TOOLS["torchmetrics"] = Tool(
    "torchmetrics",
    torchmetrics,
    ("normalized_dcg@10", "average_precision", "reciprocal_rank", "precision@10"),
)


def keras_rs(name: str, y: Array, score: Array) -> float:
    if find_spec("jax") is not None:
        os.environ.setdefault("KERAS_BACKEND", "jax")
    import keras_rs

    measure, k = with_cutoff(name)
    metric = getattr(keras_rs.metrics, measure)(k=k, seed=0)
    labels = y[None].astype("float32")
    metric.update_state(labels, score[None].astype("float32"))
    return float(metric.result())


TOOLS["keras-rs"] = Tool(
    "keras_rs",
    keras_rs,
    ("NDCG@10", "MeanAveragePrecision", "MeanReciprocalRank", "PrecisionAtK@10"),
)


def polars_ds(name: str, y: Array, score: Array) -> float:
    import polars as pl
    import polars_ds

    frame = pl.DataFrame({"label": y.astype(float), "score": score})
    metric = getattr(polars_ds, name)
    return frame.select(metric("label", "score", k=10)).item()


TOOLS["polars_ds"] = Tool(
    "polars_ds", polars_ds, ("query_ndcg_score", None, None, None)
)


def alloygbm(name: str, y: Array, score: Array) -> float:
    import alloygbm

    measure, k = with_cutoff(name)
    metric = getattr(alloygbm, measure)
    queries = np.zeros(len(y), int)
    return metric(y, score, group=queries, k=k)


TOOLS["AlloyGBM"] = Tool("alloygbm", alloygbm, ("ndcg@10", None, None, None))


def rectools(name: str, y: Array, score: Array) -> float:
    import pandas as pd
    from rectools import Columns, metrics
    from rectools.models.rank import Distance, ImplicitRanker

    # With a user of weight 1, the weight of an item is its score.
    user = np.ones((1, 1), "float32")
    items = score.astype("float32")
    ranker = ImplicitRanker(Distance.DOT, user, items[:, None])
    _, ranked, _ = ranker.rank([0])
    ranking = pd.DataFrame({Columns.Item: ranked})
    ranking[Columns.User] = 0
    ranking[Columns.Rank] = ranking.index + 1
    relevant = pd.DataFrame({Columns.Item: np.flatnonzero(y)})
    relevant[Columns.User] = 0
    measure, k = with_cutoff(name)
    metric = getattr(metrics, measure)(k)
    if measure == "NDCG":
        metric.divide_by_achievable = True
    return metric.calc(ranking, relevant)


TOOLS["RecTools"] = Tool(
    "rectools", rectools, ("NDCG@10", "MAP@20", "MRR@20", "Precision@10")
)


def trm(name: str, y: Array, score: Array) -> float:
    import trm

    measure, k = with_cutoff(name)
    k = k or len(y)
    is_relevant = (y > 0).tolist()
    result = trm.evaluate([score.tolist()], [is_relevant], [measure], [k])
    return result.metrics[measure][k].expected


TOOLS["tie-aware-retrieval-metrics"] = Tool(
    "trm", trm, ("ndcg@10", "map", "mrr", "precision@10")
)


def tieaware(name: str, y: Array, score: Array) -> float:
    return ranking_score(y, score, measure=name)


TOOLS["tieaware_sklearn"] = Tool(
    "tieaware_sklearn", tieaware, ("ndcg(gain=linear)@10", "ap", "rr", "p@10")
)


def values(name: str, measure: str) -> list[float] | None:
    """Return the values of a tool for the orders of rows, None if it has no measure."""
    tool = TOOLS[name]
    measure_name = tool.names[MEASURES.index(measure)]
    if measure_name is None:
        return None
    score = np.ones(len(LABELS))
    orders = ORDERS.values()
    return [tool.function(measure_name, LABELS[order], score) for order in orders]


def main() -> None:
    tables: dict[str, list[Any]] = {measure: [] for measure in MEASURES}
    failures = []
    for name, tool in TOOLS.items():
        if find_spec(tool.module) is None:
            continue
        for measure, rows in tables.items():
            try:
                by_order = values(name, measure)
            except Exception as error:  # the error may be of a library of the tool
                failures.append(f"{name} failed: {type(error).__name__}: {error}")
                break
            if by_order is not None:
                cells = [f"{value:.4f}" for value in by_order]
                rows.append([name, *cells])
    for measure, rows in tables.items():
        print_table([f"{measure} by", *ORDERS], rows)
        print()
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    main()
