"""What every kind of result, and each command, prints at 80 columns, as a text.

The data are those of the frozen values: no figure comes from a fitted model, or from
functions whose last digits differ between machines by more than a table shows.
"""

import contextlib
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

import tieaware_sklearn as ta
from tests.frozen import data
from tieaware_sklearn import comparison, evaluation, judgments
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import dump_letor, dump_qrels, dump_trec_run

LONG = "runs/of_a_very_long_name_that_no_table_of_80_columns_shows_whole"
MEASURES = ["ndcg@3", "ap", "rr", "esl"]
MANY = [
    *("ndcg(gain=linear)@10", "err(max_label=4)@20", "ap(rel=2,denominator=cutoff)@10"),
    *("dcg(gain=[0,1,123456789012,4,5])@100", "rbp(p=0.95)", "p@5", "r@5", "bpref"),
]


#: More digits than tables show.
LONG_DECIMAL = re.compile(r"\d+\.\d{5,}(?:e[+-]\d+)?")


class SumOfColumns(BaseEstimator):
    """A ranker that learns nothing."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0] + np.asarray(X)[:, 1]


def results() -> Iterator[tuple[str, Any]]:
    """Yield results by the call that made them."""
    ranking = data.Ranking(data.SIZES)
    y, qid, segment = ranking.y, ranking.qid, ranking.segment
    score, other = ranking.scores["few"], ranking.scores["unretrieved"]
    own = {"qid": qid}
    names = ("few", "integer", "unretrieved", "distinct")
    systems = {name: ranking.scores[name] for name in names}
    long = {f"{LONG}-{name}": value for name, value in systems.items()}
    report = ta.evaluate(y, score, measures=MEASURES, segment=segment, **own)
    yield "evaluate", report
    yield "evaluate, one query", ta.evaluate([1, 0, 0], [1, 1, 0])
    yield "evaluate, many measures", ta.evaluate(y, other, measures=MANY, **own)
    yield "RankingReport.summary", report.summary("median")
    yield "RankingReport.by_segment", report.by_segment()
    weighted = {"query_weight": ranking.weight, "zero_relevance": "skip"}
    yield "evaluate, weighted", ta.evaluate(y, score, measures="iap", **weighted, **own)
    frame = pd.DataFrame({"label": y, "qid": qid, "score": score})
    frame = frame.sort_values("qid")
    batches = [frame[frame.qid < 40], frame[frame.qid >= 40]]
    yield "evaluate_batches", ta.evaluate_batches(batches, score="score")
    yield "tie_report", ta.tie_report(y, score, k=3, measures=MEASURES, **own)
    external = {"docno": ranking.docno}
    treated = {"external": external, "measures": MEASURES, **own}
    yield "tie_treatments", ta.tie_treatments(y, score, **treated)
    residuals = evaluation.residuals(ranking.partly_judged, other, **own)
    yield "residuals", residuals
    curve = evaluation.precision_recall_curve(y, score, **own)
    yield "precision_recall_curve", curve
    yield "sampled", ta.sampled(y, score, ta.ranking_score, n_orders=20, **own)
    yield "compare_systems", ta.compare_systems(y, systems, **own)
    yield "compare_systems, long names", ta.compare_systems(y, long, **own)
    several = ta.compare_systems(
        *(y, systems),
        **{"measure": ["ap", "p@3"], "ties": ["expected", "docno", "best"]},
        **{"external": external, "segment": segment, "baseline": "few", **own},
    )
    yield "compare_systems, measures and ties", several
    yield "SystemComparison.by_segment", several.by_segment(n_resamples=99)
    pair = {"few": score, "distinct": systems["distinct"]}
    two = ta.compare_systems(
        y, pair, measure="ap", interval="bootstrap", n_resamples=99, **own
    )
    yield "compare_systems, two", two
    yield "SystemComparison.queries_needed", two.queries_needed(0.05)
    yield (
        "pvalues_over_orders",
        ta.pvalues_over_orders(y, systems, measure=["ap", "p@3"], n_orders=20, **own),
    )
    yield "rank_correlation", comparison.rank_correlation(y, score, **own)
    overlap = comparison.rank_biased_overlap(score, other, p=0.8, depth=5, **own)
    yield "rank_biased_overlap", overlap
    top = comparison.top_k_overlap(score, systems["integer"], k=3, **own)
    yield "top_k_overlap", top
    ranks = ranking.row % 9
    yield "tie_statistics", comparison.tie_statistics(systems, rank=ranks, **own)
    levels = ["levels=3", "rho=1.5"]
    yield (
        "precision_study",
        ta.precision_study(y, systems, measure="ndcg@3", coarseness=levels, **own),
    )
    runs = {
        name: {"qid": qid, "docno": ranking.docno, "score": value}
        for name, value in systems.items()
    }
    yield "depth_pool", judgments.depth_pool(list(runs.values()), depth=3)
    yield "pseudo_relevance", judgments.pseudo_relevance(list(runs.values()), m=2)
    judged = {"qid": qid, "docno": ranking.docno, "target": y}
    yield "leave_one_out", judgments.leave_one_out(runs, judged, depth=5)
    ratings = data.integers(120, 3, 95).reshape(40, 3)
    agreement = judgments.assessor_agreement(ratings, names=["Ann", "Bob", "Cy"])
    yield "assessor_agreement", agreement
    screened = data.Ranking([20, 1, 3, *[12] * 16], seed=70)
    X = data.features(screened)
    selector = ta.RankingFeatureSelector(["ndcg@3", "ap", "rr"])
    selector.fit(X, screened.y, screened.qid)
    yield "RankingFeatureSelector", selector.screening_
    names_of_columns = [f"column_{j}" for j in range(X.shape[1])]
    yield "Screening.named", selector.screening_.named(names_of_columns)
    wide = ta.RankingFeatureSelector(MANY).fit(X, screened.y, screened.qid)
    yield "RankingFeatureSelector, many measures", wide.screening_


#: Commands and their options.
COMMANDS = [
    ["screen", "train.txt"],
    ["screen", "train.txt", "--top", "3", "--measures", "ap", "p@5", "--select", "2"],
    ["screen", "train.txt", "--csv=-", "--top", "2"],
    ["screen", "train.txt", "--json=-", "--top", "2"],
    ["evaluate", "qrels", "few", "--measures", "ap", "ndcg@3", "p@3"],
    ["evaluate", "qrels", "few", "--csv=-"],
    ["evaluate", "qrels", "few", "--json=-"],
    ["compare", "qrels", "few", "integer", "distinct"],
    ["compare", "qrels", "few", "integer", "--csv=-"],
    ["demo", "--queries", "20"],
    ["evaluate", "qrels", "absent"],
    ["compare", "qrels", "few"],
]


def write_files() -> None:
    """Write what the commands read into the current folder."""
    ranking = data.Ranking([20, 1, 3, *[12] * 16], seed=70)
    X = data.features(ranking)
    order = np.argsort(ranking.qid, kind="stable")
    dump_letor(X[order], ranking.y[order], "train.txt", qid=ranking.qid[order])
    qid, docno = ranking.qid, ranking.docno
    dump_qrels("qrels", qid, docno, ranking.y.astype(int))
    for name in ("few", "integer", "distinct"):
        dump_trec_run(name, qid, docno, ranking.scores[name], tag=name)


def json_lines(value: Any, path: str = "") -> Iterator[str]:
    """Yield the keys of a JSON document and the types of its values.

    A list is shown by its first element.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from json_lines(inner, f"{path}/{key}")
    elif isinstance(value, list) and value:
        yield from json_lines(value[0], f"{path}[0]")
    else:
        yield f"{path}: {type(value).__name__}"


def printed(arguments: list[str]) -> str:
    """Return what a command prints on both streams, and its exit code.

    Of CSV, only the first rows are shown, and digits that differ between CPUs are cut.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    text = out.getvalue()
    if "--json=-" in arguments:
        text = "".join(f"{line}\n" for line in json_lines(json.loads(text)))
    elif "--csv=-" in arguments:
        text = "".join(text.splitlines(keepends=True)[:3])
        text = LONG_DECIMAL.sub(lambda number: f"{float(number[0]):.4g}", text)
    return f"{text}{err.getvalue()}exit code {code}"


def commands() -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(Path(folder)):
        write_files()
        for arguments in COMMANDS:
            yield f"$ tieaware {' '.join(arguments)}", printed(arguments)


def tables() -> str:
    """Return what is printed, each after a line of its own."""
    paragraphs = []
    with mock.patch.dict(os.environ, COLUMNS="80"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, result in results():
            paragraphs.append(f"## {title}\n{result}")
        for title, text in commands():
            paragraphs.append(f"## {title}\n{text}")
    text = "\n\n".join(paragraphs) + "\n"
    # an editor would strip them
    return "\n".join(line.rstrip() for line in text.split("\n"))
