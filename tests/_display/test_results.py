"""Results show themselves as tables."""

from __future__ import annotations

import pytest

import tieaware_sklearn.comparison
import tieaware_sklearn.judgments  # noqa: F401
from tests._display.helpers import all_results
from tieaware_sklearn import evaluate, tie_report
from tieaware_sklearn._display.html import Result


@pytest.mark.parametrize("cls", all_results(), ids=lambda cls: cls.__name__)
def test_every_result_is_a_frozen_table(cls):
    assert cls.__dataclass_params__.frozen
    assert not cls.__dataclass_params__.eq
    assert cls.__repr__ is Result.__repr__
    assert cls.__str__ is Result.__str__
    assert cls._tables is not getattr(Result, "_tables", None)


def test_a_prompt_shows_the_table():
    report = evaluate([1, 0], [1, 1])
    for result in (report, report.summary(), tie_report([1, 0], [1, 1])):
        assert repr(result) == str(result)
        assert repr(result).splitlines()[1].startswith("-----")


def test_a_frame_has_the_fields_with_a_value_per_row():
    pytest.importorskip("pandas")
    summary = evaluate([1, 0], [1, 1], measures=["rr", "p@1"]).summary()
    frame = summary.to_pandas()
    assert frame["measure"].tolist() == ["RR", "P@1"]
    assert frame["mean"].tolist() == summary.mean.tolist()
    # an interval makes two columns, a text none
    assert {"interval_low", "interval_high"} < set(frame)
    assert "average" not in frame
