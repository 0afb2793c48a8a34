"""How coarse scores may become.

``python -m benchmarks.results.score_precision --trec QRELS RUN RUN ...`` studies TREC
runs by AP. With ``--letor FILE``, it studies LightGBM models of different sizes by
NDCG@10, each query scored by models that were trained on other queries. Without either,
it does the same on made-up data. It prints how many documents of the systems tie, and
the study. For runs, it also prints what each run loses by several measures, with its
ties in the order of its ranks as in Yang et al., and which significant differences
remain if ties are broken by document id, and by exact means.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from tieaware_sklearn import QueryKFold, ranking_score
from tieaware_sklearn.comparison import tie_statistics
from tieaware_sklearn.lightgbm import QueryLGBMRanker

from ._shared import (
    Rows,
    Runs,
    TableRows,
    letor,
    not_inferior,
    pairs_kept,
    print_table,
    trec,
    web_search,
)

BANDS = ["rho=1.1", "rho=1.2", "rho=1.4", "rho=1.7", "rho=2.0"]
COARSENESS = [*BANDS, "bits=float16", "bits=bfloat16", "bits=8", "bits=4", "decimals=2"]
COARSEST = [*COARSENESS, "bits=2", "bits=1"]
#: Levels at which each run alone is studied, by the treatment of its own ties.
ALONE = {"order": ["rho=1.1", "rho=1.4"], "keep": ["bits=8", "bits=6", "bits=4"]}
MEASURES = ["ap", "rbp(p=0.5)", "rbp(p=0.85)", "rr"]


def trained(rows: Rows) -> Runs:
    """Return scores of models of 4 to 64 leaves and 10 to 300 trees.

    Each query is scored by models that were trained on other queries.
    """
    options = {"learning_rate": 0.05, "min_child_samples": 5, "row_order": "input"}
    options |= {"deterministic": True, "force_row_wise": True}
    options |= {"n_jobs": 1, "verbose": -1}
    scores = {}
    for leaves in (4, 16, 64):
        for trees in (10, 50, 150, 300):
            model = QueryLGBMRanker(num_leaves=leaves, n_estimators=trees, **options)
            column = np.empty(len(rows.y))
            for train, test in QueryKFold(5).split(rows.X, groups=rows.qid):
                model.fit(rows.X[train], rows.y[train], qid=rows.qid[train])
                column[test] = model.predict(rows.X[test])
            scores[f"{leaves} leaves, {trees} trees"] = column
    return Runs(rows.y, rows.qid, scores)


def significance(
    runs: Runs, measure: str, coarseness: Sequence[str] = COARSEST
) -> tuple[list[str], TableRows]:
    """Return which significant differences coarser scores keep, lose and add.

    Ties of both scores are broken by document id, or averaged over exactly. The result
    is the header and the rows of a table.
    """
    by_id = runs.study(
        measure=measure,
        coarseness=coarseness,
        ties="official",
        external={"official": runs.by_id()},
    )
    exact = runs.study(measure=measure, coarseness=coarseness)
    head = [exact.measure, "by id: kept", "lost", "new", "exact: kept", "lost", "new"]
    columns = [exact.levels, *pairs_kept(by_id), *pairs_kept(exact)]
    return head, [list(row) for row in zip(*columns, strict=True)]


def single_runs(runs: Runs) -> list[Runs]:
    """Return each run alone, with the documents in the order of its ranks."""
    parts = []
    for scores, rank in zip(runs.scores.values(), runs.rank.T, strict=True):
        order = np.argsort(np.nan_to_num(rank, nan=np.inf), kind="stable")
        single = {"run": scores[order]}
        parts.append(Runs(runs.target[order], runs.qid[order], single))
    return parts


def run_studies(runs: Runs) -> TableRows:
    """Return the change of the mean of each run, by measure and level.

    Each run is studied alone. Bands are bands of its ranks, as in the paper. Other
    levels keep the ties of its scores. The last column is the number of runs that keep
    99% of the mean, among the runs in which ten queries change.
    """
    rows = []
    parts = single_runs(runs)
    for measure in MEASURES:
        for existing_ties, levels in ALONE.items():
            changes = []
            kept = []
            counted = []
            for run in parts:
                study = run.study(
                    measure=measure,
                    coarseness=levels,
                    existing_ties=existing_ties,
                    keep=[0.99],
                )
                exact, *coarse = study.summary().mean
                changes.append(np.array(coarse) / exact - 1)
                keeps, counts = not_inferior(study)
                kept.append(keeps[1:, 0, 0])
                counted.append(counts[1:, 0, 0])
            n_kept = np.sum(kept, axis=0)
            n_counted = np.sum(counted, axis=0)
            for i, level in enumerate(levels):
                change = np.array(changes)[:, i]
                row = [study.measure, level, f"{change.mean():+.2%}"]
                row += [f"{change.min():+.2%}", f"{n_kept[i]} of {n_counted[i]}"]
                rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--trec", nargs="+", metavar="FILE", help="QRELS, then RUNs")
    kind.add_argument("--letor", metavar="FILE")
    arguments = parser.parse_args()
    measure = "ndcg@10"
    if arguments.trec:
        runs = trec(arguments.trec)
        measure = "ap"
    elif arguments.letor:
        runs = trained(letor([arguments.letor]))
    else:
        runs = trained(web_search())
    print(tie_statistics(runs.scores, qid=runs.qid, rank=runs.rank))
    options = {"qid": runs.qid, "unjudged": "nonrelevant", "measure": measure}
    means = {}
    for name, scores in runs.scores.items():
        means[name] = ranking_score(runs.target, scores, **options)
    least = max(means.values()) / 2
    good = {name: runs.scores[name] for name in means if means[name] >= least}
    study = runs._replace(scores=good).study(measure=measure, coarseness=COARSENESS)
    print()
    print(study)
    if arguments.trec:
        print()
        head = ["measure", "level", "change", "worst run", "keep 99%"]
        print_table(head, run_studies(runs))
        print()
        head, rows = significance(runs, measure)
        print_table(head, rows)


if __name__ == "__main__":
    main()
