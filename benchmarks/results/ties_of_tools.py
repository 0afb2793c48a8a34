"""What other tools make of ties.

``python -m benchmarks.results.ties_of_tools`` ranks twenty documents with one score,
three of them relevant, in three orders of the rows. A number that depends on the order
is not one of the scores. Tools that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from benchmarks.tables import format_table
from tieaware_sklearn import ranking_score

LABELS = np.array([1, 1, 1] + [0] * 17)
ORDERS = {
    "relevant first": np.arange(20),
    "shuffled": np.random.default_rng(1).permutation(20),
    "relevant last": np.arange(20)[::-1],
}
Tool = Callable[[np.ndarray, np.ndarray], float]


def lightgbm(y: np.ndarray, score: np.ndarray) -> float:
    import lightgbm as lgb

    params = {"verbosity": -1, "feature_pre_filter": False}
    rows = lgb.Dataset(np.zeros((len(y), 1)), y, group=[len(y)], params=params)
    rows.set_init_score(score)
    params |= {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10]}
    return lgb.Booster(params, rows).eval_train()[0][2]


def xgboost(y: np.ndarray, score: np.ndarray) -> float:
    import xgboost as xgb

    rows = xgb.DMatrix(np.zeros((len(y), 1)), y, qid=np.zeros(len(y), int))
    rows.set_base_margin(score)
    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "base_score": 0.0}
    return float(xgb.Booster(params, [rows]).eval(rows).split(":")[1])


def catboost(y: np.ndarray, score: np.ndarray) -> float:
    from catboost.utils import eval_metric

    group = np.zeros(len(y), int)
    metric = "NDCG:top=10;type=Base;denominator=LogPosition"
    return eval_metric(y.astype(float), score, metric, group_id=group)[0]


def sklearn(y: np.ndarray, score: np.ndarray) -> float:
    from sklearn.metrics import ndcg_score

    return ndcg_score([y], [score], k=10)


def _named(y: np.ndarray) -> list[str]:
    return [f"d{i:02}" for i in range(len(y))]


def pytrec_eval(y: np.ndarray, score: np.ndarray) -> float:
    import pytrec_eval as module

    names = _named(y)
    judged = {"q": dict(zip(names, y.tolist(), strict=True))}
    run = {"q": dict(zip(names, score.tolist(), strict=True))}
    evaluator = module.RelevanceEvaluator(judged, {"ndcg_cut_10"})
    return evaluator.evaluate(run)["q"]["ndcg_cut_10"]


def ir_measures(y: np.ndarray, score: np.ndarray) -> float:
    import ir_measures as module

    names = _named(y)
    judged = {"q": dict(zip(names, y.tolist(), strict=True))}
    run = {"q": dict(zip(names, score.tolist(), strict=True))}
    measure = module.nDCG @ 10
    return module.calc_aggregate([measure], judged, run)[measure]


def ranx(y: np.ndarray, score: np.ndarray) -> float:
    import ranx as module

    names = _named(y)
    judged = module.Qrels({"q": dict(zip(names, y.tolist(), strict=True))})
    run = module.Run({"q": dict(zip(names, score.tolist(), strict=True))})
    return module.evaluate(judged, run, "ndcg@10")


def rax(y: np.ndarray, score: np.ndarray) -> float:
    import rax as module

    return float(module.ndcg_metric(score, y.astype(float), topn=10))


def polars_ds(y: np.ndarray, score: np.ndarray) -> float:
    import polars as pl
    import polars_ds as module

    frame = pl.DataFrame({"label": y.astype(float), "score": score})
    return frame.select(module.query_ndcg_score("label", "score", k=10)).item()


def trm(y: np.ndarray, score: np.ndarray) -> float:
    import trm as module

    found = module.evaluate([score.tolist()], [(y > 0).tolist()], ["ndcg"], [10])
    return found.metrics["ndcg"][10].expected


def ours(y: np.ndarray, score: np.ndarray) -> float:
    return ranking_score(y, score, measure="ndcg(gain=linear)@10")


TOOLS: dict[str, tuple[str, Tool]] = {
    "LightGBM": ("lightgbm", lightgbm),
    "XGBoost": ("xgboost", xgboost),
    "CatBoost": ("catboost", catboost),
    "scikit-learn ndcg_score": ("sklearn", sklearn),
    "trec_eval (pytrec_eval)": ("pytrec_eval", pytrec_eval),
    "ir-measures": ("ir_measures", ir_measures),
    "ranx": ("ranx", ranx),
    "rax": ("rax", rax),
    "polars_ds": ("polars_ds", polars_ds),
    "tie-aware-retrieval-metrics": ("trm", trm),
    "tieaware_sklearn": ("tieaware_sklearn", ours),
}


def main() -> None:
    rows = []
    for name, (module, tool) in TOOLS.items():
        if find_spec(module) is None:
            continue
        score = np.ones(len(LABELS))
        values = [tool(LABELS[order], score) for order in ORDERS.values()]
        rows.append([name, *(f"{value:.4f}" for value in values)])
    print(format_table(["NDCG@10 by", *ORDERS], rows))


if __name__ == "__main__":
    main()
