"""All results, with long names and many columns, on narrow and wide terminals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from dask.dataframe import from_pandas
from sklearn.linear_model import LinearRegression

from tests._display.helpers import all_results
from tests._display.test_html import parsed
from tieaware_sklearn import (
    RankingFeatureSelector,
    dask,
    evaluate,
    evaluate_batches,
    evaluate_subtopics,
    query_permutation_importance,
    sampled,
    selection_curve,
    selection_stability,
    tie_report,
    tie_treatments,
)
from tieaware_sklearn._display.html import Result
from tieaware_sklearn._display.words import width
from tieaware_sklearn.comparison import (
    compare_systems,
    official_vs_exact,
    pairwise_overlap,
    pvalues_over_orders,
    rank_biased_overlap,
    rank_correlation,
    tie_statistics,
)
from tieaware_sklearn.evaluation import (
    contingency_table,
    precision_recall_curve,
    residuals,
)
from tieaware_sklearn.judgments import assessor_agreement, depth_pool, pseudo_relevance
from tieaware_sklearn.score_precision import precision_study

RNG = np.random.default_rng(0)
Y, QID = RNG.integers(0, 3, 120), np.repeat(np.arange(12), 10)
SCORES = RNG.integers(0, 4, (120, 5)).astype(float)
LONG = [f"runs/{'of_a_very_long_name' * j}-{j}.gz" for j in range(1, 6)]
MEASURES = [
    "ndcg(gain=linear)@10",
    "err(max_label=4)@20",
    "ap(rel=2,denominator=cutoff)@10",
    "dcg(gain=[0,1,123456789012])@100",
    *("rbp(p=0.95)", "p@5", "r@5", "rr", "bpref", "esl"),
]
SYSTEMS = dict(zip(LONG, SCORES.T, strict=True))


def results() -> dict[str, Result]:
    """At least one of each kind."""
    score = SCORES[:, 0]
    segment = np.array(LONG)[QID % 5]
    report = evaluate(Y, score, qid=QID, measures=MEASURES, segment=segment)
    study = precision_study(Y, SYSTEMS, qid=QID, measure=MEASURES[2], keep=[0.99, 0.9])
    runs = [{"qid": QID, "docno": np.arange(120), "score": s} for s in SCORES.T]
    model = LinearRegression().fit(SCORES, Y)
    frame = pd.DataFrame(SYSTEMS).assign(label=Y, qid=QID)
    found = [
        *(report, report.summary(), report.by_segment(), report.summary("median")),
        tie_report(Y, score, qid=QID, measures=MEASURES),
        tie_treatments(Y, score, qid=QID, measures=MEASURES, external={LONG[3]: QID}),
        residuals(Y, score, qid=QID, measures=["rbp(p=0.95,gain=[0,0.5,1])@100"]),
        precision_recall_curve(Y, score, qid=QID),
        contingency_table(Y, score, qid=QID, k=10**9),
        sampled(Y, score, MEASURES[2], qid=QID, n_orders=5),
        rank_correlation(Y, score, qid=QID),
        rank_correlation(Y, score, qid=QID).summary(),
        compare_systems(Y, SYSTEMS, qid=QID, measure=MEASURES[3]),
        compare_systems(Y, SYSTEMS, qid=QID, test="randomization").summary(),
        *(study, study.summary()),
        depth_pool(runs, depth=3),
        pseudo_relevance(runs, m=1),
        assessor_agreement(Y.reshape(-1, 3), names=LONG[:3]),
        RankingFeatureSelector(MEASURES[:9]).fit(SCORES, Y, qid=QID)
        .screening_.named(LONG),
        query_permutation_importance(
            model, SCORES, Y, qid=QID, measures=MEASURES[:3],
            columns=dict(zip(LONG, range(5), strict=True)),
        ),
        selection_stability(
            RankingFeatureSelector(MEASURES[3]), SCORES, Y, qid=QID, n_bootstraps=2
        ),
        selection_curve(
            {name: RankingFeatureSelector(MEASURES[3]) for name in LONG[:3]},
            LinearRegression(), SCORES, Y, qid=QID, measure=MEASURES[4], cv=2,
        ),
        compare_systems(Y, SYSTEMS, qid=QID, measure=MEASURES[:4]),
        compare_systems(
            Y, SYSTEMS, qid=QID, measure=MEASURES[2:5], interval="bootstrap",
            ties=["expected", LONG[2], "best", "input"], external={LONG[2]: QID},
            n_resamples=99,
        ),
        compare_systems(Y, SYSTEMS, qid=QID, measure=[MEASURES[3]]).summary(),
        rank_biased_overlap(Y, score, qid=QID),
        pairwise_overlap(SYSTEMS, qid=QID),
        rank_biased_overlap(Y, score, qid=QID, p=0.123456789, depth=10**9).summary(),
        evaluate_subtopics(
            Y.reshape(-1, 1) >= [1, 2], score, qid=QID,
            measures=["err_ia", "alpha_ndcg(alpha=0.75)@20", "alpha_dcg@5"],
        ),
        compare_systems(Y, SYSTEMS, qid=QID, measure=MEASURES[3]).posterior(),
        official_vs_exact(
            Y, SYSTEMS, QID.astype(str), qid=QID, measures=MEASURES[:3], n_orders=3
        ),
        pvalues_over_orders(Y, SYSTEMS, qid=QID, measure=MEASURES[:3], n_orders=3),
        tie_statistics(SYSTEMS, qid=QID, rank=np.arange(len(Y))),
        evaluate_batches([frame], score=LONG[0], measures=MEASURES),
        dask.compare_systems(
            from_pandas(frame, npartitions=2), scores=LONG, measure=MEASURES[3]
        ),
    ]  # fmt: skip
    return {f"{type(one).__name__}-{i}": one for i, one in enumerate(found)}


RESULTS = results()


def test_each_kind_of_result_is_here():
    assert {type(one) for one in RESULTS.values()} == set(all_results())


@pytest.mark.parametrize("name", RESULTS)
def test_results_as_html(name):
    found = parsed(RESULTS[name]._repr_html_())
    tables = RESULTS[name]._tables()
    assert len(found.tables) == len(tables)
    for shown, table in zip(found.tables, tables, strict=True):
        head, *rows = shown
        bars = table.ranges is not None
        assert len(head) == len(table.columns) + bars
        assert {len(row) for row in rows} == {len(head)}
        assert len(rows) == len(table.columns[0].values)
        cells = [row[0] for row in rows]
        assert cells == table.columns[0].cells


def test_results_of_plain_names_fit_80_columns():
    systems = dict(zip("abcde", SCORES.T, strict=True))
    qid, score = QID, SCORES[:, 0]
    segment = np.array(["one", "two"])[QID % 2]
    report = evaluate(Y, score, qid=qid, segment=segment)
    study = precision_study(Y, systems, qid=qid)
    fitted = RankingFeatureSelector().fit(SCORES, Y, qid=qid)
    comparison = compare_systems(Y, systems, qid=qid)
    docno = QID.astype(str)
    for result in (
        *(report, report.by_segment(), tie_report(Y, score, qid=qid)),
        *(study, study.summary(), comparison, fitted.screening_),
        compare_systems(
            Y, systems, qid=qid, test="randomization", interval="bootstrap"
        ),
        compare_systems(Y, systems, qid=qid, measure=["ap", "rr"]),
        official_vs_exact(Y, systems, docno, qid=qid, n_orders=3),
        pvalues_over_orders(Y, systems, qid=qid, measure=["ap", "rr"], n_orders=3),
    ):
        assert max(map(width, str(result).splitlines())) <= 80, result


def test_intervals_stay_within_the_range_of_their_measure():
    apart = evaluate([[1, 0]] * 2, [[1, 0], [0, 1]])
    for report in (RESULTS["RankingReport-0"], apart):
        summary = report.summary()
        low, high = report.bounds.T
        assert (summary.interval[:, 0] >= low).all()
        assert (summary.interval[:, 1] <= high).all()
    assert summary.interval[-1].tolist() == [0.0, 1.0]
    screening = RankingFeatureSelector(["p@1", "dcg@1"]).fit(SCORES, Y, qid=QID)
    interval = screening.screening_.interval
    assert interval[:, 0].min() >= 0
    assert interval[:, 0].max() == 1
    importance = RESULTS["PermutationImportance-20"]
    assert np.abs(importance.interval).max() <= 1
