"""What is frozen: a function for each part of the library, by public names alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.tree import DecisionTreeRegressor

import tieaware_sklearn as ta
from tests.frozen import data
from tieaware_sklearn import comparison, evaluation, judgments, score_precision
from tieaware_sklearn import measures as m

Values = dict[str, Any]


class Setting(NamedTuple):
    """What no value may depend on."""

    shuffled: bool
    n_jobs: int

    def ranking(self, sizes: list[int] = data.SIZES, seed: int = 1) -> data.Ranking:
        return data.Ranking(sizes, shuffled=self.shuffled, seed=seed)


PLAIN = Setting(shuffled=False, n_jobs=1)

Case = Callable[[Setting], Values]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


#: Every measure, with each of its parameters.
MEASURES = [
    *("p", "p@3", "p(rel=2)@10", "p(denominator=retrieved)@4"),
    *("r@3", "r@100", "r(denominator=cutoff)@2", "f@5", "f(beta=2,rel=2)@10"),
    *("fallout", "fallout@3", "success@1", "success(rel=2)@3", "rprec", "rprec(rel=2)"),
    *("cg@3", "cg", "dcg", "dcg@10", "dcg(gain=linear)@4", "dcg(discount=none)"),
    *("dcg(gain=[0,1,3,4.5,9])@5", "dcg(discount=[1,0.5,0.5])@3"),
    *("ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "ndcg@100", "ndcg(gain=linear)@10"),
    *("ndcg(discount=inverse)@10", "ndcg_cut_5", "rbp", "rbp(p=0.95)@10"),
    *("rbp(p=0.5,rel=2)", "rbp(p=0.8,gain=[0,0.25,0.5,0.75,1])@7"),
    *("ap", "ap@3", "ap@100", "ap(rel=2)@10", "ap(denominator=cutoff)@5", "map_cut_10"),
    *("rr", "rr@3", "rr(rel=3)", "err", "err@3", "err(max_label=6)@20", "bpref"),
    *("bpref(rel=2)", "esl", "esl(i=3)", "esl(i=2,rel=2)", "rank", "rank(i=2)", "prr"),
    *("prr(i=3,rel=2)", "iprec@0", "iprec@0.3", "iprec(rel=2)@1", "iap", "11pt_avg"),
    *("iap(points=all,rel=2)", "auprc", "auprc(rel=2)", "setap", "judged", "judged@3"),
    *("cwl(chances=[0.9,0.5,0.75])", "cwl(chances=[0.5,0],gain=[0,0.25,0.5,0.75,1])"),
]
STATISTICS = ["expected", "best", "worst", "std", "sampling_error"]
OF_LABELS = ["chance", "ideal", "n_undefined", "bounds"]
OF_QUERIES = {*STATISTICS, "std_is_estimate", "chance", "ideal"}


def by_query(result: Any, values: Any) -> np.ndarray:
    """Return values with a row a query, queries in ascending order of their ids."""
    return np.asarray(values)[np.argsort(np.asarray(result.qid), kind="stable")]


def attributes(
    result: Any, per_query: Iterable[str] = (), other: Iterable[str] = ()
) -> Values:
    """Return attributes of a result by name."""
    values = {name: by_query(result, getattr(result, name)) for name in per_query}
    return values | {name: getattr(result, name) for name in other}


def prefixed(prefix: str, values: Mapping[str, Any]) -> Values:
    return {f"{prefix}/{name}": value for name, value in values.items()}


def report_values(report: Any, names: Iterable[str] = STATISTICS) -> Values:
    """Return statistics of a report, an array for each measure."""
    values: Values = {}
    for name in names:
        matrix = getattr(report, name)
        if name in OF_QUERIES:
            matrix = by_query(report, matrix).T
        for measure, column in zip(report.measures, matrix, strict=True):
            values[f"{measure}/{name}"] = column
    return values


@case
def measures(setting: Setting) -> Values:
    """Every measure and statistic of each query, on scores of every kind."""
    ranking, values = setting.ranking(), {}
    options = {"measures": MEASURES, "zero_relevance": "skip", "n_jobs": setting.n_jobs}
    for name, score in ranking.scores.items():
        qid = ranking.names if name == "integer" else ranking.qid
        report = ta.evaluate(ranking.y, score, qid=qid, **options)
        names = STATISTICS + OF_LABELS if name == "few" else STATISTICS
        values |= prefixed(name, report_values(report, names))
    return values


def quarters(label: float) -> float:
    return min(label, 3) / 4


def halved(rank: int) -> float:
    return 1 / (1 + rank)


@case
def parameters(setting: Setting) -> Values:
    """Gains and discounts that users write."""
    ranking = setting.ranking()
    unordered = {0: 0.5, 1: 2.0, 2: 0.0, 3: 2.0, 4: 1.0}
    chosen = [
        m.DCG(4, gain=quarters),
        m.NDCG(3, gain=unordered),
        m.NDCG(discount=halved),
        m.CG(3, gain="exponential"),
        m.RBP(0.8, 5, gain=quarters),
        m.CWL([0.5, 0.25], gain=quarters),
    ]
    report = ta.evaluate(
        *(ranking.y, ranking.scores["few"]),
        **{"qid": ranking.qid, "measures": chosen, "n_jobs": setting.n_jobs},
    )
    values: Values = {}
    for name in [*STATISTICS, "chance", "ideal"]:
        for number, column in enumerate(by_query(report, getattr(report, name)).T):
            values[f"{number} {chosen[number].name}/{name}"] = column
    return values


@case
def dtypes(setting: Setting) -> Values:
    """Scores and labels of every type, exact in it."""
    ranking, values = setting.ranking(), {}
    whole = ranking.scores["integer"]
    large = 2**60 + whole
    kinds = {
        "bool": whole > 3,
        "uint8": whole.astype(np.uint8),
        "int8": -whole.astype(np.int8),
        "uint64": large.astype(np.uint64) * np.uint64(2),
        "int64": large,
        "float16": whole.astype(np.float16) / np.float16(4),
        "signed zeros": np.where(whole > 3, 0.0, -0.0),
        "tiny": np.where(whole > 5, 1e-300, 5e-324) * (whole % 3),
    }
    labels = {"float64": ranking.y, "int32": ranking.y.astype(np.int32)}
    labels["float32"] = ranking.y.astype(np.float32) / np.float32(4)
    for name, score in kinds.items():
        report = ta.evaluate(
            *(labels["int32"], score),
            **{"qid": ranking.names, "measures": ["ndcg@3", "ap", "rr"]},
        )
        values |= prefixed(name, report_values(report))
    for name, y in labels.items():
        report = ta.evaluate(
            *(y, whole),
            **{"qid": ranking.qid, "measures": ["ndcg@3", "ap(rel=0.5)", "dcg"]},
        )
        values |= prefixed(f"labels of {name}", report_values(report))
    return values


@case
def unjudged(setting: Setting) -> Values:
    """Documents without a judgment: known to some measures, dropped or not relevant."""
    ranking, values = setting.ranking(), {}
    names = ["bpref", "judged@3", "ndcg@3", "ap", "rr", "p@5", "fallout"]
    for how in ("nonrelevant", "drop"):
        report = ta.evaluate(
            *(ranking.partly_judged, ranking.scores["unretrieved"]),
            **{"qid": ranking.qid, "measures": names, "unjudged": how},
        )
        values |= prefixed(how, report_values(report, [*STATISTICS, *OF_LABELS]))
    return values


@case
def long_ties(setting: Setting) -> Values:
    """Ties of hundreds of documents, across cut-offs and tables of small numbers."""
    ranking = setting.ranking([500, 2, 700], seed=50)
    names = [name for name in MEASURES if not name.startswith(("iap", "11pt"))]
    values: Values = {}
    for name in ("few", "unretrieved"):
        report = ta.evaluate(
            *(ranking.y, ranking.scores[name]),
            **{"qid": ranking.qid, "measures": names, "n_jobs": setting.n_jobs},
        )
        values |= prefixed(name, report_values(report))
    return values


@case
def many_queries(setting: Setting) -> Values:
    """More rows than are ranked in one block."""
    sizes = [1 + size for size in data.integers(600, 280, 60).tolist()]
    ranking = setting.ranking(sizes, seed=61)
    # ids of the other rankings repeat beyond a hundred queries
    options = {"qid": ranking.query, "measures": ["ndcg@10", "ap"]}
    report = ta.evaluate(
        ranking.y, ranking.scores["few"], n_jobs=setting.n_jobs, **options
    )
    values: Values = {}
    for average in ("macro", "geometric", "median"):
        summary = report.summary(average).columns
        values |= {f"{average}/{name}": summary[name] for name in FIGURES}
    # each fifth query, to keep the file small
    values["expected"] = by_query(report, report.expected)[::5]
    values["std"] = by_query(report, report.std)[::5]
    return values


FIGURES = [
    *("mean", "best", "worst", "tie_std", "chance", "ideal", "lift", "interval_low"),
    *("interval_high", "sampling_error", "n_estimated", "n_queries", "n_effective"),
]


@case
def averages(setting: Setting) -> Values:
    """Averages over queries: of all kinds, weighted, and for undefined queries."""
    ranking, values = setting.ranking(), {}
    weights = {"equal": None, "weighted": ranking.weight}
    for weighted, weight in weights.items():
        options = {"qid": ranking.qid, "query_weight": weight}
        for zero in (0.0, 0.5, "skip"):
            own = {**options, "zero_relevance": zero}
            for average in ("macro", "geometric", "median", "micro"):
                of_counts = ["p@5", "r@5", "f@5", "fallout@3", "rprec", "judged@3"]
                others = ["ndcg@3", "ap", "rr", "esl"]
                for measure in of_counts + others * (average != "micro"):
                    values[f"{weighted}/{zero}/{average}/{measure}"] = [
                        ta.ranking_score(
                            *(ranking.y, ranking.scores["few"]),
                            **{"measure": measure, "ties": ties, "average": average},
                            **own,
                        )
                        for ties in ("expected", "best", "worst")
                    ]
            if zero == 0.5:
                continue
            report = ta.evaluate(
                *(ranking.y, ranking.scores["unretrieved"]),
                measures=["ndcg@3", "ap", "rr", "err@5", "iap", "r@3"],
                segment=ranking.segment,
                **own,
            )
            for average in ("macro", "geometric", "median"):
                columns = report.summary(average).columns
                of_segments = report.by_segment(average)
                order = np.argsort(
                    np.asarray(of_segments.columns["segment"]), kind="stable"
                )
                for name in FIGURES:
                    place = f"{weighted}/{zero}/{average}/{name}"
                    values[f"summary/{place}"] = columns[name]
                    figures = of_segments.columns[name]
                    values[f"segments/{place}"] = np.asarray(figures)[order]
    return values


OF_CONVENTIONS = {
    "lightgbm": ["ndcg@3", "ap@5", "ap"],
    "xgboost": ["ndcg@3", "ndcg", "ap@3", "p@3"],
    "catboost": ["ndcg@3", "dcg@3", "ap@3", "p@4", "r@4", "rr@3"],
    "trec_eval": ["ndcg@3", "ndcg", "ap", "p@5", "r@5", "rr", "bpref", "iprec@0.3"],
    "trec_eval9": ["iap", "iprec@0.5", "rprec", "success@3", "setap"],
    "trec_eval10": ["iap", "iprec@0.5", "rprec", "f", "ap@10"],
}


@case
def conventions(setting: Setting) -> Values:
    """Definitions of other tools."""
    ranking, values = setting.ranking(), {}
    for convention, names in OF_CONVENTIONS.items():
        report = ta.evaluate(
            *(ranking.y, ranking.scores["few"]),
            **{"qid": ranking.qid, "measures": names, "convention": convention},
            n_jobs=setting.n_jobs,
        )
        values |= prefixed(convention, report_values(report, ["expected", "best"]))
        values[f"{convention}/mean"] = report.summary().columns["mean"]
    y, scores = data.lists()
    long = np.isfinite(y).sum(axis=1) > 1
    for measure in ("ndcg", "dcg@3", "ap"):
        values[f"sklearn/{measure}"] = ta.ranking_score(
            *(np.minimum(y[long], 1) if measure == "ap" else y[long], scores[long]),
            **{"measure": measure, "convention": "sklearn", "average": None},
        )
    return values


@case
def calls(setting: Setting) -> Values:
    """`ranking_score`, prepared labels, batches and matrices."""
    ranking, values = setting.ranking(), {}
    y, score, qid = ranking.y, ranking.scores["float32"], ranking.qid
    first = np.argsort(np.unique(qid, return_index=True)[1], kind="stable")
    back = np.argsort(first, kind="stable")
    for measure in ("ndcg@3", "ap", "rr", "iap"):
        for ties in ("expected", "best", "worst"):
            values[f"{measure}/{ties}"] = ta.ranking_score(
                y, score, qid=qid, measure=measure, ties=ties, average=None
            )[back]
    matrix = np.column_stack([ranking.scores["few"], ranking.scores["distinct"]])
    prepared = ta.PreparedRanking(y, qid, query_weight=ranking.weight)
    for average in ("macro", "geometric", "median"):
        values[f"prepared/{average}"] = prepared.score_columns(
            matrix, "ap", average=average, n_jobs=setting.n_jobs
        )
    values["prepared/each"] = prepared.score(score, "err@5", average=None)[back]
    values["prepared/worst"] = prepared.score(score, "ndcg", ties="worst")
    labels, scores = data.lists()
    for name, padded in (("padding", {}), ("mask", {"mask": np.isfinite(labels)})):
        report = ta.evaluate(labels, scores, measures=MEASURES[::4], **padded)
        values |= prefixed(name, report_values(report, ["expected", "std"]))
    order = np.argsort(qid, kind="stable")
    rows = {"qid": qid[order], "label": y[order], "score": score[order]}
    import pandas as pd

    frame = pd.DataFrame(rows)
    parts = [frame[frame.qid < 40], frame[frame.qid >= 40]]
    report = ta.evaluate_batches(parts, score="score", measures=["ndcg@3", "ap"])
    values["batches"] = report.expected
    return values


@case
def input_order(setting: Setting) -> Values:
    """Ties broken by the order of rows, which is not shuffled."""
    del setting
    ranking, values = PLAIN.ranking(), {}
    _, first = np.unique(ranking.qid, return_index=True)
    back = np.argsort(np.argsort(first))
    for name, score in ranking.scores.items():
        for measure in MEASURES[::3]:
            values[f"{name}/{measure}"] = ta.ranking_score(
                *(ranking.y, score),
                **{"qid": ranking.qid, "measure": measure, "ties": "input"},
                **{"average": None, "zero_relevance": "skip"},
            )[back]
    return values


@case
def ties(setting: Setting) -> Values:
    """Reports of ties, treatments, broken ties, distributions and sampled orders."""
    ranking, values = setting.ranking(), {}
    y, qid = ranking.y, ranking.qid
    keys = {
        "docno": ranking.docno,
        "trec": (ranking.docno, "descending", "float32"),
        "random": (ranking.docno, "random"),
    }
    counts = [
        *("n_queries", "n_documents", "n_distinct_scores", "largest_group"),
        *("tied_documents", "mixed_documents", "repeated_documents", "tied_queries"),
        *("cut_queries", "mean_gap", "largest_gap"),
    ]
    rules = {"external": {"docno": ranking.docno}}
    for name in ("few", "float32", "unretrieved"):
        score = ranking.scores[name]
        options = {"qid": qid, "query_weight": ranking.weight}
        report = ta.tie_report(y, score, k=3, **options)
        weighted = ta.tie_treatments(y, score, **options, **rules)
        means = dict(zip(weighted.treatments, weighted.mean, strict=True))
        values[f"report/{name}/mean"] = np.array([means["expected"], means["docno"]])
        values |= prefixed(f"report/{name}", attributes(report, other=counts))
        treated = ta.tie_treatments(y, score, qid=qid, external=keys)
        chosen = [at for at, one in enumerate(treated.treatments) if one != "input"]
        order = np.argsort(treated.qid, kind="stable")
        values[f"treatments/{name}"] = treated.per_query[chosen][:, order]
        values[f"treatments/{name}/mean"] = treated.mean[chosen]
        for rule in ("docno", "trec", "random"):
            broken = ta.break_ties(score, keys[rule], qid=qid)
            values[f"broken/{name}/{rule}"] = broken[ranking.restore]
    for measure in ("rr", "p@3", "success@2", "esl", "bpref", "iprec@0.5"):
        found = evaluation.tie_distributions(
            y, ranking.scores["few"], qid=qid, measure=measure
        )
        for part in ("values", "probability"):
            values[f"distributions/{measure}/{part}"] = np.concatenate(
                [getattr(found[query], part) for query in sorted(found)]
            )
    return values


@case
def sampled(setting: Setting) -> Values:
    """Orders drawn with a seed, of rows that are not shuffled."""
    del setting
    ranking, values = PLAIN.ranking(), {}
    y, score, qid = ranking.y, ranking.scores["few"], ranking.qid
    names = ["mean", "sampling_error", "tie_std", "min", "max"]
    per_query = ["expected", "std", "query_sampling_error", "query_min", "query_max"]
    ndcg = partial(ta.ranking_score, measure="ndcg@3")
    for average in ("macro", "geometric", "median"):
        found = ta.sampled(y, score, ndcg, qid=qid, n_orders=20, average=average)
        values |= prefixed(average, attributes(found, per_query, names))
    orders = evaluation.sample_orderings(y, score, qid=qid, n_orders=3)
    values["orders"] = list(orders)
    values["broken"] = ta.break_ties(score, "random", qid=qid, random_state=3)
    values["broken/input"] = ta.break_ties(score, "input", qid=qid)
    return values


@case
def curves_and_tables(setting: Setting) -> Values:
    """Precision-recall curves and residuals."""
    ranking, values = setting.ranking(), {}
    y, qid, n_jobs = ranking.y, ranking.qid, setting.n_jobs
    for name in ("few", "unretrieved"):
        score = ranking.scores[name]
        curve = evaluation.precision_recall_curve(y, score, qid=qid, n_jobs=n_jobs)
        names = ["recall", "mean", "worst", "best", "tie_std", "sampling_error"]
        values |= prefixed(f"curve/{name}", attributes(curve, other=names))
        left = evaluation.residuals(
            *(ranking.partly_judged, score),
            **{"qid": qid, "measures": ["rbp", "p@3", "rr", "success@2", "err@5"]},
        )
        names = ["expected", "residual", "worst", "best", "n_unjudged"]
        values |= prefixed(f"residuals/{name}", attributes(left, names))
    return values


OF_PAIRS = [
    *("difference", "difference_interval", "tie_std", "tie_range", "same_sign"),
    *("statistic", "pvalues", "adjusted_pvalues", "effect", "n_queries"),
]
OF_SYSTEMS = [
    *("mean", "worst", "best", "tie_std", "chance", "interval_low", "interval_high"),
]


def systems(ranking: data.Ranking) -> dict[str, np.ndarray]:
    names = ["few", "integer", "unretrieved", "distinct"]
    return {name: ranking.scores[name] for name in names}


@case
def compared(setting: Setting) -> Values:
    """Systems compared: every test, correction, interval and average."""
    ranking, values = setting.ranking(), {}
    options = {"qid": ranking.qid, "n_jobs": setting.n_jobs, "n_resamples": 199}
    weighted = {"query_weight": ranking.weight}
    rule = {"docno": ranking.docno}
    choices: dict[str, dict[str, Any]] = {
        "t": {},
        "wilcoxon": {"test": "wilcoxon"},
        "randomization": {"test": "randomization"},
        "bh": {"correction": "bh"},
        "by": {"correction": "by"},
        "tukey": {"correction": "tukey"},
        "uncorrected": {"correction": None},
        "bootstrap": {"interval": "bootstrap"},
        "geometric": {"average": "geometric"},
        "median": {"average": "median"},
        "greater": {"alternative": "greater"},
        "less": {"alternative": "less", "baseline": "few"},
        "weighted": weighted,
        "weighted signs": {"test": "randomization", **weighted},
        "skip": {"zero_relevance": "skip"},
        "others": {"measure": ["p@3", "esl", "iap"], "confidence": 0.8},
        "ties": {"ties": ["expected", "best", "docno"], "external": rule},
    }
    for name, choice in choices.items():
        own = {"measure": ["ndcg@3", "ap"], **options, **choice}
        result = ta.compare_systems(ranking.y, systems(ranking), **own)
        values |= prefixed(name, attributes(result, other=OF_PAIRS))
        columns = result.summary().columns
        values |= {f"{name}/{figure}": columns[figure] for figure in OF_SYSTEMS}
    result = ta.compare_systems(
        ranking.y, systems(ranking), measure="ap", segment=ranking.segment, **options
    )
    of_segments = result.by_segment(n_resamples=99)
    order = np.argsort(np.asarray(of_segments.columns["segment"]), kind="stable")
    for name in ("difference", "pvalue", "adjusted_pvalue", "effect"):
        values[f"segments/{name}"] = np.asarray(of_segments.columns[name])[order]
    needed = result.queries_needed(0.05).columns
    values |= {f"needed/{name}": needed[name] for name in ("std", "queries_needed")}
    return values


@case
def compared_orders(setting: Setting) -> Values:
    """p-values over the orders of ties."""
    ranking, values = setting.ranking(), {}
    names = ["pvalues", "share", "share_error", "share_a", "share_b", "smallest"]
    names += ["largest", "mean", "combined", "n_orders", "is_exact"]
    for test in ("t", "wilcoxon", "randomization"):
        result = ta.pvalues_over_orders(
            *(ranking.y, systems(ranking)),
            **{"qid": ranking.qid, "measure": ["ndcg@3", "rr"], "n_orders": 20},
            **{"test": test, "n_resamples": 49, "n_jobs": setting.n_jobs},
        )
        values |= prefixed(test, attributes(result, other=names))
    return values


@case
def correlations(setting: Setting) -> Values:
    """Two rankings of the same documents, and the ties of several."""
    ranking, values = setting.ranking(), {}
    qid = ranking.qid
    few, integer = ranking.scores["few"], ranking.scores["integer"]
    found = comparison.rank_correlation(few, integer, qid=qid)
    values |= prefixed("correlation", attributes(found, ["values", "pvalues"]))
    for depth in (None, 5):
        overlap = comparison.rank_biased_overlap(
            ranking.scores["unretrieved"], integer, qid=qid, p=0.8, depth=depth
        )
        names = ["expected", "worst", "best", "minimum", "residual", "n_retrieved"]
        values |= prefixed(f"overlap/{depth}", attributes(overlap, names))
    for how in ("orders", "interchangeable"):
        top = comparison.top_k_overlap(few, integer, qid=qid, k=3, reference_ties=how)
        names = ["expected", "worst", "best", "std", "is_open"]
        values |= prefixed(f"top/{how}", attributes(top, names))
    ranks = ranking.row % 9
    tied = comparison.tie_statistics(systems(ranking), qid=qid, rank=ranks)
    names = ["n_queries", "n_documents", "tied_queries", "tied_documents"]
    names += ["repeated_documents", "contradictions", "contradicted_queries"]
    names += ["tied_ranks", "unordered_documents"]
    return values | prefixed("ties", attributes(tied, other=names))


OF_FEATURES = [
    *("mean_", "best_", "worst_", "tie_std_", "chance_", "ideal_", "lift_"),
    *("interval_", "pvalues_", "qvalues_", "ranking_", "support_", "repeats_"),
    *("selection_order_", "rank_correlation_"),
]


def screened(selector: Any) -> Values:
    values = attributes(selector, other=OF_FEATURES)
    values["ascending"] = selector.directions_ == "ascending"
    if selector.rank_correlation_ is None:
        del values["rank_correlation_"]
    return values


@case
def selector(setting: Setting) -> Values:
    """Screened features: statistics, p-values, directions and selection."""
    ranking, values = setting.ranking([20, 1, 3, *[12] * 16], seed=70), {}
    X, y, qid = data.features(ranking), ranking.y, ranking.qid
    missing = np.where(ranking.row[:, None] % 11 == np.arange(X.shape[1]), np.nan, X)
    three = ["ndcg@3", "ap", "rr"]
    choices: dict[str, tuple[Any, dict[str, Any]]] = {
        "default": (X, {}),
        "float32": (X.astype(np.float32), {"direction": "descending"}),
        "diverse": (X, {"n_features_to_select": 5, "diversity": 0.5}),
        "share": (X, {"n_features_to_select": 0.5, "max_correlation": None}),
        "lift": (X, {"min_lift": 0.1, "alpha": 0.5, "zero_relevance": "skip"}),
        "missing": (missing, {"missing": "last", "sort_by": "ap"}),
        "sparse": (sp.csc_array(X), {}),
        "others": (X, {"measures": ["err", "p@5", "bpref", "esl", "success@3"]}),
        "uncorrelated": (X, {"redundancy": False, "max_correlation": None}),
        "iap": (X[:, :5], {"measures": ["iap"]}),
    }
    for name, (matrix, own) in choices.items():
        options = {"measures": three, "n_jobs": setting.n_jobs, **own}
        fitted = ta.RankingFeatureSelector(**options).fit(matrix, y, qid)
        values |= prefixed(name, screened(fitted))
    fitted = ta.RankingFeatureSelector(three).fit(X, y, qid, ranking.weight)
    values |= prefixed("weighted", screened(fitted))
    parts = ta.RankingFeatureSelector(three)
    for half in (0, 1):
        rows = ranking.query % 2 == half
        parts.partial_fit(X[rows], y[rows], qid[rows])
    return values | prefixed("parts", screened(parts))


@case
def sparse_columns(setting: Setting) -> Values:
    """Columns with few entries, above and below 0."""
    ranking, values = setting.ranking([9] * 40, seed=80), {}
    n_rows, columns = len(ranking.y), []
    for j in range(12):
        there = data.integers(n_rows, 40, 81 + j)[ranking.row] == 0
        cells = 1 + data.integers(n_rows, 3, 99 + j)[ranking.row] + ranking.y
        columns.append(np.where(there, -cells if j % 4 == 3 else cells, 0.0))
    X = np.column_stack(columns)
    for name, make in (("csr", sp.csr_array), ("csc", sp.csc_matrix)):
        options = {"measures": ["ndcg@3", "ap", "rr", "p@5"], "n_jobs": setting.n_jobs}
        fitted = ta.RankingFeatureSelector(**options)
        values |= prefixed(name, screened(fitted.fit(make(X), ranking.y, ranking.qid)))
    return values


@case
def splits(setting: Setting) -> Values:
    """Rows of the splits, which are not shuffled."""
    del setting
    ranking, values = PLAIN.ranking(), {}
    X, y, qid = data.features(ranking), ranking.y, ranking.qid
    splitters = {
        "folds": ta.QueryKFold(4),
        "shuffled folds": ta.QueryKFold(3, shuffle=True, random_state=0, n_repeats=2),
        "stratified folds": ta.QueryKFold(3, stratify="n_relevant"),
        "by label": ta.QueryKFold(
            3, stratify="mean_label", shuffle=True, random_state=5
        ),
        "random": ta.QueryShuffleSplit(3, test_size=0.25, random_state=0),
        "by time": ta.QueryTimeSeriesSplit(3, time="qid"),
        "gap": ta.QueryTimeSeriesSplit(
            3, test_size=3, gap=1, max_train_size=5, time="qid"
        ),
    }
    for name, splitter in splitters.items():
        for number, (train, test) in enumerate(splitter.split(X, y, qid)):
            values[f"{name}/{number}/train"] = train
            values[f"{name}/{number}/test"] = test
    rows = np.arange(len(y))
    named = {"qid": ranking.names, "random_state": 1}
    for name, options in (("half", {"test_size": 0.5}), ("default", {})):
        train, test, *_ = ta.train_test_split_queries(rows, **named, **options)
        values |= {f"{name}/train": train, f"{name}/test": test}
    return values


def rows_seen(ranking: data.Ranking, X: Any, y: np.ndarray) -> np.ndarray:
    """Return the rows in the order in which LightGBM is given them."""
    from tieaware_sklearn.lightgbm import QueryLGBMRanker

    seen: list[np.ndarray] = []

    def gradients(y_true, y_pred, weight, group):
        seen.append(weight.astype(np.int64))
        return y_pred, np.ones(len(y_pred))

    class Ranker(QueryLGBMRanker):
        # an objective that only records the rows does not depend on their order
        _order_parameters: ClassVar = {}

    ranker = Ranker(
        n_estimators=1, objective=gradients, verbose=-1, num_threads=1, metric="None"
    )
    # a row is known by its weight, which decides between equal rows alone
    ranker.fit(X, y, qid=ranking.names, sample_weight=1.0 + ranking.row)
    return seen[0]


@case
def row_order(setting: Setting) -> Values:
    """The canonical order of rows, as rankers have it."""
    ranking = setting.ranking()
    X, values = data.features(ranking), {}
    matrices = {"dense": X, "float32": X.astype(np.float32), "sparse": sp.csr_array(X)}
    for name, matrix in {**matrices, "coarse": np.floor(X[:, :2])}.items():
        values[name] = rows_seen(ranking, matrix, ranking.y)
    return values


@case
def rankers(setting: Setting) -> Values:
    """`LinearRanker` and coarse predictions."""
    ranking = setting.ranking([12] * 14, seed=90)
    X, y, qid = data.features(ranking, 4)[:, :4], ranking.y, ranking.qid
    values: Values = {}
    options = {"measure": "ap", "max_iter": 3, "n_jobs": setting.n_jobs}
    for transforms in ("identity", "rank"):
        linear = ta.LinearRanker(transforms=transforms, **options).fit(X, y, qid=qid)
        values[f"linear/{transforms}"] = linear.coef_
        values[f"linear/{transforms}/score"] = linear.score(X, y, qid=qid)
    # whole numbers, whose tree is the same wherever rows stand
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    order = np.argsort(ranking.row)
    tree.fit(X[order], y[order])
    if setting == PLAIN:  # documents are permuted as they stand
        coarse = score_precision.CoarseRanker(tree, "levels=4").fit(X, y, qid=qid)
        values["coarse"] = coarse.score(X, y, qid=qid)
        for ties_averaged in ("expected", "worst"):
            scorer = ta.make_ranking_scorer("ap", ties=ties_averaged)
            values[f"scorer/{ties_averaged}"] = scorer(tree, X, y, qid=qid)
    return values


@case
def precision(setting: Setting) -> Values:
    """Bands, rounded scores and the study of score precision."""
    ranking, values = setting.ranking(), {}
    score, qid = ranking.scores["distinct"] / 8, ranking.qid
    for rho in ("1.1", "1.4", "2", "3.5"):
        values[f"bands/{rho}"] = score_precision.geometric_bands(200, rho)
        banded = score_precision.band_scores(score, rho, qid=qid)
        values[f"banded/{rho}"] = banded[ranking.restore]
        values[f"depth/{rho}"] = score_precision.rank_safe_depth(rho)
        losses = [
            score_precision.worst_case_loss(measure, rho)
            for measure in ("rbp", "rbp(p=0.5)", "rr")
        ]
        values[f"loss/{rho}"] = losses
    levels = ["decimals=0", "decimals=-1", "significant=2", "bits=float16"]
    levels += ["bits=bfloat16", "levels=5", "bits=3", "rho=1.7"]
    for level in levels:
        rounded = score_precision.round_scores(score, level, qid=qid)
        values[f"rounded/{level}"] = rounded[ranking.restore]
    studies = [("query", "keep"), ("all", "keep")]
    if setting == PLAIN:  # ties are broken by the order of rows
        studies.append(("query", "order"))
    names = ["bits", "tied_documents", "inferiority", "difference", "pvalues"]
    names += ["tau_b", "tau_ap"]
    for scale, existing_ties in studies:
        study = ta.precision_study(
            *(ranking.y, systems(ranking)),
            **{"qid": qid, "measure": "ndcg@3", "coarseness": ["levels=3", "rho=1.5"]},
            **{"scale": scale, "existing_ties": existing_ties},
            n_jobs=setting.n_jobs,
        )
        title = f"study/{scale}/{existing_ties}"
        values[f"{title}/expected"] = study.expected[:, np.argsort(study.qid)]
        values |= prefixed(title, attributes(study, other=names))
    return values


@case
def judged_pools(setting: Setting) -> Values:
    """Pools, labels by votes, agreement, leave-one-out and estimated recall."""
    ranking, values = setting.ranking(), {}
    runs = {
        name: {"qid": ranking.qid, "docno": ranking.docno, "score": score}
        for name, score in systems(ranking).items()
    }
    for by in ("rank", "band"):
        pool = judgments.depth_pool(list(runs.values()), depth=4, by=by)
        order = np.lexsort((pool.docno, pool.qid))
        for name in ("probability", "certain", "stratum", "n_runs"):
            values[f"pool/{by}/{name}"] = getattr(pool, name)[order]
    votes = judgments.pseudo_relevance(list(runs.values()), m=2)
    order = np.lexsort((votes.docno, votes.qid))
    for name in ("target", "n_runs"):
        values[f"votes/{name}"] = getattr(votes, name)[order]
    labels = {"qid": ranking.qid, "docno": ranking.docno, "target": ranking.y}
    left_out = judgments.leave_one_out(runs, labels, measure="ap", depth=5)
    names = ["n_alone", "n_relevant", "value", "without"]
    values |= prefixed("left out", attributes(left_out, other=names))
    ratings = data.integers(120, 3, 95).reshape(40, 3)
    agreement = judgments.assessor_agreement(ratings)
    names = ["joint", "scott", "correlation", "all_agree", "fleiss"]
    values |= prefixed("agreement", attributes(agreement, other=names))
    counts = np.stack([(ratings == grade).sum(axis=1) for grade in range(3)], axis=1)
    values["fleiss"] = judgments.fleiss_kappa(counts)
    first, second = ratings.T[:2]
    weight = 1 + first / 2
    values["scott"] = judgments.scott_pi(first, second, sample_weight=weight)
    values["joint"] = judgments.joint_agreement(first, second)
    return values


@case
def objectives(setting: Setting) -> Values:
    """Values of the objectives for Optuna, at fixed parameters."""
    from optuna.trial import FixedTrial

    from tieaware_sklearn import optuna

    ranking = setting.ranking([12] * 14, seed=90)
    X, y, qid = data.features(ranking, 4)[:, :4], ranking.y, ranking.qid
    weights = {f"weight_x{j}": (j - 1) / 4 for j in range(4)}
    linear = optuna.LinearScoringObjective(X, y, qid=qid, measure="ap")
    values: Values = {"linear": linear(FixedTrial(weights))}

    def score(trial: Any, rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] + trial.suggest_float("factor", 0, 4) * rows[:, 1]

    scoring = optuna.ScoringObjective(score, X, y, qid=qid, measure=["ap", "ndcg@3"])
    values["scoring"] = scoring(FixedTrial({"factor": 0.5}))
    coarse = optuna.ScorePrecisionObjective(
        y, ranking.scores["distinct"], qid=qid, measure="ap", kinds=["levels"]
    )
    trial = FixedTrial({"kind": "levels", "levels": 4})
    values["precision"] = coarse(trial)
    return values


def computed(name: str, setting: Setting) -> dict[str, np.ndarray]:
    """Return the values of a case, flat, as 64-bit floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = CASES[name](setting)
    return {
        f"{name}: {key}": np.asarray(value, dtype=np.float64).ravel()
        for key, value in values.items()
    }
