"""A study as tables and frames."""

from __future__ import annotations

import pytest

from tests.score_precision.helpers import LEVELS, NAMES, SYSTEMS, WEB
from tieaware_sklearn import precision_study


def test_the_table_and_frames():
    study = precision_study(WEB.target, SYSTEMS, qid=WEB.qid, coarseness=LEVELS)
    lines = str(study).splitlines()
    assert lines[0].split()[:4] == ["NDCG@10", "bits", "tied", "change"]
    assert [line.split()[0] for line in lines[2:8]] == list(NAMES)
    assert all(len(line) <= 100 for line in lines)
    assert "significant of 6 pairs" in str(study)
    systems = study.to_pandas()
    assert len(systems) == 6 * 4
    row = systems[(systems.coarseness == "bits=3") & (systems.system == "both")].iloc[0]
    assert row["mean"] == study.means()[2, 2]
    assert row["p_0.97"] == study.inferiority[2, 1, 2]
    queries = study.to_pandas("queries")
    assert len(queries) == 6 * 4 * 60
    one = queries[(queries.coarseness == "bits=3") & (queries.system == "both")]
    assert one.change.tolist() == study.changes()[2, :, 2].tolist()
    pairs = study.to_pandas("pairs")
    assert pairs.pvalue.tolist() == study.pvalues.ravel().tolist()
    assert pairs.loc[6, "a"] == "text"
    assert pairs.loc[6, "coarseness"] == "rho=1.5"


def test_other_frames_are_refused():
    study = precision_study([0, 1, 0], {"a": [1, 2, 3]})
    with pytest.raises(ValueError, match="rows must be one of"):
        study.to_pandas("levels")
