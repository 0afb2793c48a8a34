"""How coarse scores may become.

``python -m benchmarks.results.score_precision --trec QRELS RUN RUN ...`` studies TREC
runs by AP, ``--letor FILE`` LightGBM models of different sizes by NDCG@10, each query
scored by models that were trained on others; without either, the same on made-up data.
Prints how much of the systems ties, and the study; of runs, also what each loses by
several measures, its own ties in the order of its ranks as in Yang et al., and which
significant differences remain if ties are broken by document id, and by exact means.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tieaware_sklearn import (
    QueryKFold,
    precision_study,
    ranking_score,
)
from tieaware_sklearn.comparison import tie_statistics
from tieaware_sklearn.datasets import load_letor, make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker

from ._shared import not_inferior, pairs_kept, table, trec

RHO = (1.1, 1.2, 1.4, 1.7, 2.0)
BANDS = [f"rho={rho}" for rho in RHO]
COARSENESS = [*BANDS, "bits=float16", "bits=bfloat16", "bits=8", "bits=4", "decimals=2"]
COARSEST = [*COARSENESS, "bits=2", "bits=1"]
#: what each run alone is studied by: levels, and what becomes of its own ties
ALONE = {"order": ["rho=1.1", "rho=1.4"], "keep": ["bits=8", "bits=6", "bits=4"]}
MEASURES = ["ap", "rbp(p=0.5)", "rbp(p=0.85)", "rr"]


class Systems(NamedTuple):
    """Scores of several systems for the same documents; of runs, ids and ranks."""

    target: np.ndarray
    qid: np.ndarray
    scores: dict[str, np.ndarray]
    measure: str
    docno: np.ndarray | None = None
    rank: np.ndarray | None = None


def submitted(files: list[str]) -> Systems:
    """Runs, as they were submitted."""
    runs = trec(files[0], files[1:])
    return Systems(runs.target, runs.qid, runs.scores, "ap", runs.docno, runs.rank)


def trained(data: Any) -> Systems:
    """Models of 4 to 64 leaves and 10 to 300 trees, each query scored by others."""
    scores = {}
    for leaves, trees in itertools.product((4, 16, 64), (10, 50, 150, 300)):
        column = np.empty(len(data.target))
        for train, test in QueryKFold(5).split(data.data, groups=data.qid):
            model = QueryLGBMRanker(
                num_leaves=leaves,
                n_estimators=trees,
                learning_rate=0.05,
                min_child_samples=5,
                deterministic=True,
                force_row_wise=True,
                n_jobs=1,
                verbose=-1,
                row_order="input",
            )
            model.fit(data.data[train], data.target[train], qid=data.qid[train])
            column[test] = model.predict(data.data[test])
        scores[f"{leaves} leaves, {trees} trees"] = column
    return Systems(data.target, data.qid, scores, "ndcg@10")


def significance(
    systems: Systems, coarseness: Sequence[str] = COARSEST
) -> tuple[list[str], list[list[Any]]]:
    """Significant differences that coarser scores keep, lose and add: head and rows.

    The ties of both are broken by document id, or averaged over exactly.
    """
    columns = []
    for ties in ("official", "expected"):
        study = precision_study(
            systems.target,
            systems.scores,
            qid=systems.qid,
            measure=systems.measure,
            coarseness=coarseness,
            ties=ties,
            external={"official": (systems.docno, "descending", "float32")},
            unjudged="nonrelevant",
        )
        columns += pairs_kept(study)
    head = [study.measure]
    for rule in ("by id", "exact"):
        head += [f"{rule}: kept", "lost", "new"]
    counts = np.column_stack(columns).tolist()
    rows = [[level, *row] for level, row in zip(study.levels, counts, strict=True)]
    return head, rows


def alone(systems: Systems) -> list[list[Any]]:
    """The change of each run's mean by measure and level, and who keeps 99 % of it.

    Of the runs in which ten queries change.

    Bands are those of the run's ranks, as in the paper; levels keep the ties of scores.
    """
    rows = []
    for measure, (ties, levels) in itertools.product(MEASURES, ALONE.items()):
        changes, kept, tested = [], [], []
        for scores, rank in zip(systems.scores.values(), systems.rank.T, strict=True):
            order = np.argsort(np.nan_to_num(rank, nan=np.inf), kind="stable")
            study = precision_study(
                systems.target[order],
                {"run": scores[order]},
                qid=systems.qid[order],
                measure=measure,
                coarseness=levels,
                existing_ties=ties,
                keep=[0.99],
                unjudged="nonrelevant",
            )
            exact, *coarse = study.summary().mean
            changes.append(np.array(coarse) / exact - 1)
            keeps, counts = not_inferior(study)
            kept.append(keeps[1:, 0, 0])
            tested.append(counts[1:, 0, 0])
        counted = np.sum(kept, axis=0), np.sum(tested, axis=0)
        for level, change, n, of in zip(
            levels, np.transpose(changes), *counted, strict=True
        ):
            cells = [f"{one:+.2%}" for one in (change.mean(), change.min())]
            rows.append([study.measure, level, *cells, f"{n} of {of}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--trec", nargs="+", metavar="FILE", help="QRELS, then RUNs")
    kind.add_argument("--letor", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.trec:
        systems = submitted(arguments.trec)
    elif arguments.letor:
        systems = trained(load_letor(arguments.letor))
    else:
        systems = trained(make_web_search(n_queries=200, random_state=0))
    print(tie_statistics(systems.scores, qid=systems.qid, rank=systems.rank))
    data = {"qid": systems.qid, "unjudged": "nonrelevant"}
    judged = data | {"measure": systems.measure}
    means = {
        name: ranking_score(systems.target, scores, **judged)
        for name, scores in systems.scores.items()
    }
    least = max(means.values()) / 2
    good = {name: s for name, s in systems.scores.items() if means[name] >= least}
    study = precision_study(systems.target, good, coarseness=COARSENESS, **judged)
    print("", study, sep="\n")
    if systems.docno is not None:
        head = ["measure", "level", "change", "worst run", "keep 99%"]
        print("", table(head, alone(systems)), sep="\n")
        print("", table(*significance(systems)), sep="\n")


if __name__ == "__main__":
    main()
