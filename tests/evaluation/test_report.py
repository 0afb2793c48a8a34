"""Reports and their summaries."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy import stats

from tests.evaluation.helpers import LABELS, QID, SCORES
from tieaware_sklearn import RankingReport, evaluate, ranking_score


def test_summary_is_the_mean_with_a_t_interval():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 300), rng.integers(0, 5, 300)
    qid = rng.integers(0, 30, 300)
    report = evaluate(labels, scores, qid=qid, measures=["ndcg@3", "fallout@3"])
    summary = report.summary()
    for j in range(2):
        values = report.expected[:, j]
        assert summary.mean[j] == math.fsum(values) / 30
        error = stats.sem(values)
        interval = stats.t.interval(0.95, 29, values.mean(), error)
        assert summary.interval[j] == pytest.approx(interval, abs=1e-14)
        assert summary.tie_std[j] == pytest.approx(
            math.sqrt((report.std[:, j] ** 2).sum()) / 30
        )
        room = summary.ideal[j] - summary.chance[j]
        lift = (summary.mean[j] - summary.chance[j]) / room
        assert summary.lift[j] == pytest.approx(lift)
    assert ranking_score(labels, scores, qid=qid, measure="ndcg@3") == summary.mean[0]
    for ties in ("best", "worst"):
        value = ranking_score(labels, scores, qid=qid, measure="ndcg@3", ties=ties)
        assert value == getattr(summary, ties)[0]
    with pytest.raises(ValueError, match="average must be one of"):
        report.summary("harmonic")


def test_reports_print_as_tables_and_pickle():
    report = evaluate(LABELS, SCORES, qid=QID, measures=["ndcg@10", "rbp(p=.5)"])
    lines = str(report).splitlines()
    assert lines[0].split()[:4] == ["measure", "mean", "worst", "best"]
    assert [line.split()[0] for line in lines[2:4]] == ["NDCG@10", "RBP(p=0.5)"]
    assert lines[4:] == ["3 queries"]
    assert repr(report) == str(report)
    assert len({len(line) for line in lines[1:4]}) == 1
    again = pickle.loads(pickle.dumps(report))
    assert isinstance(again, RankingReport)
    assert np.array_equal(again.expected, report.expected)
    with pytest.raises(AttributeError):
        report.expected = None


def test_reports_to_pandas():
    report = evaluate(LABELS, SCORES, qid=QID, measures=["ap", "rr"])
    frame = report.to_pandas()
    assert frame["qid"].tolist() == ["a", "a", "b", "b", "c", "c"]
    of_ap = frame[frame["measure"] == "AP"]
    assert of_ap["expected"].tolist() == report.expected[:, 0].tolist()
    table = report.summary().to_pandas().set_index("measure")
    assert table.index.tolist() == ["AP", "RR"]
    assert table.loc["RR", "best"] == report.best[:, 1].mean()
    ends = table.loc["RR", ["interval_low", "interval_high"]].tolist()
    assert ends == report.summary().interval[1].tolist()


def test_reports_compare_by_identity():
    one, two = (evaluate([0, 1], [1, 2]).summary() for _ in range(2))
    assert one == one
    assert one != two
    assert len({one, two}) == 2
