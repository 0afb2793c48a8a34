"""Query sets against the tools themselves: what `convention=` promises.

Ties stand as the tool breaks them. A tool that is not installed is left out.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.cases import Case
from tests.fuzz.enumerated import Tally
from tieaware_sklearn import ranking_score


class Theirs(NamedTuple):
    """A value of the tool, which has a name for it, and how it is asked for here."""

    name: str
    measure: str
    ties: str
    #: the average over queries, or one value per query
    values: float | list[float]
    #: whether an error is an answer, too: to a gain that is not the tool's default
    refusable: bool = False
    average: str = "macro"


class Columns(NamedTuple):
    """A case as tools take it, query by query."""

    label: np.ndarray
    score: np.ndarray
    sizes: list[int]
    weight: np.ndarray | None

    @classmethod
    def of(cls, case: Case) -> Columns:
        sizes = [len(rows) for rows in case.queries.values()]
        weight = None if case.weight is None else np.array(case.weight)
        label, score = np.array(case.labels, float), np.array(case.scores, float)
        return cls(label, score, sizes, weight)

    @property
    def group(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def is_binary(self) -> bool:
        return bool(np.isin(self.label, (0, 1)).all())

    @property
    def each(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        ends = np.cumsum(self.sizes)[:-1]
        labels, scores = np.split(self.label, ends), np.split(self.score, ends)
        return zip(labels, scores, strict=True)


def drawn(rng: Random, *, tied: bool = True, weights: bool = False) -> Case:
    """Queries one after another; scores and labels that every tool takes as they are.

    Scores are multiples of 1/4: they fit 32 bits.
    """
    labels, scores, qid = [], [], []
    top = rng.choice([1, 1, 4])
    for query in range(rng.randint(1, 4)):
        n = rng.randint(1, 12) if rng.random() < 0.9 else rng.randint(30, 50)
        share = rng.random()
        labels += [rng.randint(0, top) * (rng.random() < share) for _ in range(n)]
        levels = rng.choice([1, 3, 6, 100])
        pool = [rng.randint(-levels, levels) / 4 for _ in range(n)]
        scores += pool if tied else [i / 4 for i in rng.sample(range(2 * n), n)]
        qid += [query] * n
    case = Case(labels, scores, qid)
    if weights and rng.random() < 0.4:
        chosen = [rng.choice([0.25, 0.5, 1.0, 2.0, 3.0]) for _ in range(4)]
        case = dataclasses.replace(case, weight=[chosen[query] for query in qid])
    return case


def lightgbm(columns: Columns) -> Iterator[Theirs]:
    """One data set, whose initial scores are ranked; ties by row."""
    import lightgbm as lgb

    quiet = {"verbosity": -1, "num_threads": 1}
    data = lgb.Dataset(
        np.arange(len(columns.label), dtype=float)[:, None],
        label=columns.label,
        group=columns.sizes,
        init_score=columns.score,
        weight=columns.weight,
        params={"min_data_in_leaf": 1, "min_data_in_bin": 1, **quiet},
    )
    metrics = {"metric": ["ndcg", "map"], "eval_at": [1, 3, 10, 40]}
    booster = lgb.Booster({"objective": "none", **metrics, **quiet}, data)
    refusable = columns.weight is not None
    for _, name, value, _ in booster.eval_train():
        yield Theirs(name, name.replace("map", "ap"), "input", value, refusable)


def xgboost(columns: Columns) -> Iterator[Theirs]:
    """One matrix, whose base margins are ranked, in 32 bits; ties by row."""
    import xgboost as xgb

    rows = np.arange(len(columns.label), dtype=float)[:, None]
    data = xgb.DMatrix(rows, columns.label, base_margin=columns.score, nthread=1)
    data.set_group(columns.sizes)
    if columns.weight is not None:
        starts = np.cumsum([0, *columns.sizes[:-1]])
        data.set_weight(columns.weight[starts])
    names = {"ndcg": "ndcg", "ndcg@3": "ndcg@3", "ndcg@40": "ndcg@40"}
    if columns.is_binary:
        names |= {"map": "ap", "map@3": "ap@3", "pre@4": "p@4", "pre": "p"}
    resolved = {"objective": "rank:ndcg", "eval_metric": list(names), "nthread": 1}
    try:
        found = xgb.Booster(resolved, [data]).eval(data).split("\t")[1:]
    except xgb.core.XGBoostError:
        # it refuses its own sum where a weighted query has no relevant document
        if columns.weight is None:
            raise
        return
    for text in found:
        name, value = text.removeprefix("eval-").split(":")
        refusable = columns.weight is not None
        yield Theirs(name, names[name], "input", float(value), refusable)


def catboost(columns: Columns) -> Iterator[Theirs]:
    """The worst order of ties."""
    from catboost.utils import eval_metric

    names = {"NDCG": "ndcg", "NDCG:top=3": "ndcg@3", "DCG:top=3": "dcg@3"}
    names["NDCG:type=Exp"] = "ndcg(gain=exponential)"
    if columns.is_binary:
        names = {
            **{"MAP": "ap", "MAP:top=3": "ap@3", "PrecisionAt:top=4": "p@4"},
            **{"RecallAt:top=4": "r@4", "MRR": "rr", "MRR:top=3": "rr@3"},
        }
    options: dict[str, Any] = {"group_id": columns.group, "thread_count": 1}
    if columns.weight is not None:
        options["group_weight"] = columns.weight
    for name, measure in names.items():
        value = eval_metric(columns.label, columns.score, name, **options)[0]
        refusable = columns.weight is not None or "gain" in measure
        yield Theirs(name, measure, "worst", value, refusable)


def sklearn(columns: Columns) -> Iterator[Theirs]:
    """The mean over the orders of ties, which its AP is not."""
    from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

    if min(columns.sizes) > 1:
        for k in (1, 3, 40):
            for name, score in (("ndcg", ndcg_score), ("dcg", dcg_score)):
                values = [score([y], [s], k=k) for y, s in columns.each]
                yield Theirs(f"{name}_score(k={k})", f"{name}@{k}", "expected", values)
        values = [ndcg_score([2**y - 1], [s]) for y, s in columns.each]
        name, measure = "ndcg_score(2 ** y - 1)", "ndcg(gain=exponential)"
        yield Theirs(name, measure, "expected", values, refusable=True)
    if columns.is_binary and all(len(set(s)) == len(s) for _, s in columns.each):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no positive class
            values = [average_precision_score(y, s) for y, s in columns.each]
        yield Theirs("average_precision_score", "ap", "expected", values)


#: what pytrec_eval, which is version 9, calls measures
TREC_EVAL = {
    **{"map": "ap", "map_cut_10": "ap@10", "P_5": "p@5", "P_100": "p@100"},
    **{"recall_5": "r@5", "Rprec": "rprec", "recip_rank": "rr", "bpref": "bpref"},
    **{"ndcg": "ndcg", "ndcg_cut_10": "ndcg@10", "success_1": "success@1"},
    **{"set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "set_map": "SetAP"},
    **{"infAP": "infap"},
}
#: those that the library takes by these names only
BY_THEIR_NAMES = ["11pt_avg", "iprec_at_recall_0.10", "iprec_at_recall_0.70"]


def trec_eval(columns: Columns) -> Iterator[Theirs]:
    """Ties by document id, descending: the ids are given so that this is by row."""
    import pytrec_eval

    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, float]] = {}
    for topic, (labels, scores) in enumerate(columns.each):
        documents = [f"d{999 - row}" for row in range(len(labels))]
        judged = zip(documents, labels.tolist(), strict=True)
        qrels[f"{topic}"] = {one: int(y) for one, y in judged if not math.isnan(y)}
        ranked = zip(documents, scores.tolist(), strict=True)
        runs[f"{topic}"] = {one: score for one, score in ranked if score != -math.inf}
    gains = {
        topic: {document: 2**label - 1 for document, label in judged.items()}
        for topic, judged in qrels.items()
    }
    supported = pytrec_eval.supported_measures
    each = pytrec_eval.RelevanceEvaluator(qrels, supported).evaluate(runs)

    def values(name: str, each: dict[str, Any] = each) -> list[float]:
        return [each[topic][name] for topic in qrels]

    for name, measure in TREC_EVAL.items():
        yield Theirs(name, measure, "input", values(name))
    exponential = pytrec_eval.RelevanceEvaluator(gains, {"ndcg"}).evaluate(runs)
    name, measure = "ndcg of 2 ** y - 1", "ndcg(gain=exponential)"
    yield Theirs(name, measure, "input", values("ndcg", exponential), refusable=True)
    logs = values("gm_map")
    mean = math.exp(math.fsum(logs) / len(logs))
    yield Theirs("gm_map", "ap", "input", mean, average="geometric")
    for name in [*TREC_EVAL, *BY_THEIR_NAMES]:
        yield Theirs(name, name, "input", values(name))


def drawn_for_trec_eval(rng: Random) -> Case:
    """Some documents not judged, some not retrieved; at least one of each is."""
    case = drawn(rng)
    labels, scores = list(case.labels), list(case.scores)
    for rows in case.queries.values():
        judged, retrieved = rng.choice(rows), rng.choice(rows)
        for row in rows:
            if row != judged and rng.random() < 0.2:
                labels[row] = math.nan
            if row != retrieved and rng.random() < 0.2:
                scores[row] = -math.inf
    columns = zip(labels, scores, strict=True)
    kept = [row for row, (y, s) in enumerate(columns) if y == y or s != -math.inf]
    return dataclasses.replace(case, labels=labels, scores=scores).rows(kept)


def checker(
    convention: str, tool: Callable[[Columns], Iterator[Theirs]], tolerance: float
) -> Callable[[Case], Tally]:
    """A check of all that the tool gives."""

    def check(case: Case) -> Tally:
        tally = Tally(case)
        for theirs in tool(Columns.of(case)):
            tally.cases += 1
            average = None if isinstance(theirs.values, list) else theirs.average
            call = {"measure": theirs.measure, "ties": theirs.ties, "average": average}
            call["convention"] = convention
            if convention == "trec_eval":
                call["unjudged"] = "nonrelevant"
            try:
                ours = ranking_score(**case.arrays, **call)
            except ValueError:
                if not theirs.refusable:
                    raise
                tally.comparisons += 1
                continue
            pairs = zip(np.atleast_1d(ours), np.atleast_1d(theirs.values), strict=True)
            what = f"{convention}'s {theirs.name}", ("ranking_score", call)
            for found, wanted in pairs:
                tally.same(found, float(wanted), *what, tolerance)
        return tally

    return check
