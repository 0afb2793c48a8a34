"""A study as tables and frames."""

from __future__ import annotations

import numpy as np
import pytest

from tests.score_precision.helpers import LEVELS, NAMES, SYSTEMS, WEB
from tieaware_sklearn import precision_study
from tieaware_sklearn.score_precision import PrecisionStudy


def test_the_table_and_frames():
    study = precision_study(WEB.target, SYSTEMS, qid=WEB.qid, coarseness=LEVELS)
    lines = str(study).splitlines()
    assert lines[0].split()[:4] == ["NDCG@10", "bits", "tied", "change"]
    assert [line.split()[0] for line in lines[2:8]] == list(NAMES)
    assert all(len(line) <= 80 for line in lines)
    assert "significantly (6 in all)" in str(study)
    summary = study.summary()
    systems = summary.to_pandas()
    assert len(systems) == 6 * 4
    assert systems.columns.tolist()[:4] == ["coarseness", "system", "mean", "best"]
    row = systems[(systems.coarseness == "bits=3") & (systems.system == "both")].iloc[0]
    for name in ("mean", "best", "worst", "imprecision", "bits", "tied_documents"):
        assert row[name] == getattr(summary, name)[2 * 4 + 2]
    assert row["inferiority_pvalue_0.97"] == study.inferiority[2, 1, 2]
    assert summary.best[2 * 4 + 2] == pytest.approx(study.best[2, :, 2].mean())
    lines = str(summary).splitlines()
    assert lines[0].split()[:4] == ["NDCG@10", "system", "mean", "best"]
    assert len(lines) == 2 + 6 * 4
    queries = study.to_pandas()
    assert len(queries) == 6 * 4 * 60
    assert queries.columns.tolist()[:3] == ["qid", "coarseness", "system"]
    one = queries[(queries.coarseness == "bits=3") & (queries.system == "both")]
    assert one.change.tolist() == study.changes()[2, :, 2].tolist()
    assert one.qid.tolist() == study.qid.tolist()
    assert one.worst.tolist() == study.worst[2, :, 2].tolist()


def test_false_findings_of_pairs():
    nothing = np.zeros((4, 1, 2))
    study = PrecisionStudy(
        measure="AP",
        greater_is_better=True,
        levels=("exact", "rho=2"),
        systems=("a", "b"),
        qid=np.array([1]),
        expected=nothing,
        best=nothing,
        worst=nothing,
        bits=nothing[0],
        tied_documents=nothing[0],
        keep=(),
        inferiority=nothing[0],
        pairs=np.array([[0, 1]] * 6),
        # both, lost, new, neither, turned round, no longer defined
        difference=np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, -1, np.nan]]),
        pvalues=np.array(
            [[0.01, 0.01, 0.5, 0.5, 0.01, 0.01], [0.02, 0.3, 0.05, 0.4, 0.01, np.nan]]
        ),
        tau_b=nothing[0],
        tau_ap=nothing[0],
        alpha=0.05,
        test="t",
        ties="expected",
    )
    # the new one, and the one that is significant for the other system
    assert study.false_positives().tolist() == [0, 2]
    # the lost one, and the one that is not defined; not the one that turned round
    assert study.false_negatives().tolist() == [0, 2]
