"""Permutation importances as a table and as a frame."""

from __future__ import annotations

import numpy as np
import pytest

from tests.model_selection.helpers import Column
from tieaware_sklearn import query_permutation_importance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 24))
Y = (X[:, 3] > 0.5).astype(float)
QID = np.repeat(np.arange(10), 6)


def found(columns=None, **options):
    options = {"measures": ["ap", "rr"], "n_repeats": 2, **options}
    return query_permutation_importance(
        Column(3), X, Y, qid=QID, columns=columns, **options
    )


def test_a_table_per_measure_what_matters_most_on_top():
    result = found()
    first, second = str(result).split("\n\n")
    lines = first.splitlines()
    assert lines[0].split()[:2] == ["AP", f"{result.baseline[0]:.4f}"]
    assert "p (holm)" in lines[0]
    assert lines[2].split()[0] == "x3"
    assert lines[-1] == "... and 4 more"
    assert len(lines) == 23
    assert second.startswith("RR")
    assert repr(result) == str(result)
    assert result.ranking[3] == 1
    alone = str(found([3], measures="ap"))
    assert "holm" not in alone
    assert alone.splitlines()[0].endswith(" p")
    assert "(bh)" in str(found(correction="bh"))
    assert "90% interval" in str(found(confidence=0.9))


def test_no_line_is_too_long():
    text = str(found({"a rather long name " * 5 + str(j): j for j in range(24)}))
    assert max(map(len, text.splitlines())) <= 80
    assert text.endswith("\n... and 4 more")


def test_to_pandas():
    result = found(correction=None)
    frame = result.to_pandas()
    assert list(frame.columns) == [
        *("column", "measure", "importances_mean", "importances_std"),
        *("interval_low", "interval_high", "pvalue", "adjusted_pvalue"),
    ]
    assert len(frame) == 48
    row = frame[(frame["column"] == "x3") & (frame["measure"] == "RR")].iloc[0]
    assert row["importances_mean"] == result.importances_mean[3, 1]
    assert row["importances_std"] == result.importances[3, 1].std()
    assert row["pvalue"] == row["adjusted_pvalue"] == result.pvalues[3, 1]


def test_corrected_for_the_number_of_columns_by_measure():
    result = found()
    least = result.pvalues.min(axis=0)
    assert result.adjusted_pvalues.min(axis=0) == pytest.approx(24 * least)
