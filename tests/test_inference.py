"""Size and coverage by simulation: a few data sets, and what cells of the table say."""

import math
import re
from pathlib import Path

import pytest

from benchmarks import inference
from benchmarks.inference import (
    ALPHA,
    COVERAGE,
    NOT_ITS_NULL,
    POWER,
    QUICK,
    SIZE,
    Cell,
    interval,
    power,
    rejection,
)

PAGE = Path(__file__).parents[1] / "docs" / "inference.md"
#: another null than the mean's, another assumption, too few queries: the page says so
NOT_MEANT = ("skewed", "one spreads more", "BCa")


@pytest.fixture(scope="module")
def cells():
    return inference.simulated(**QUICK)


def test_no_test_rejects_and_no_interval_misses_far_too_often(cells):
    off = {}
    for key, own in cells.items():
        (cell,) = own.values()
        error = 100 * math.sqrt(ALPHA * (1 - ALPHA) / cell.n_data_sets)
        title, nominal, row = key
        meant = nominal != POWER and (title, row) not in NOT_ITS_NULL
        meant &= not any(word in part for word in NOT_MEANT for part in (title, row))
        if meant and cell.unwarned > SIZE + inference.TOLERANCE + 4 * error:
            off[key] = cell
    assert not off


def test_the_page_shows_a_row_for_each_test_and_interval(cells):
    on_page = re.findall(r"^```text\n(queries .*?)\n\n", PAGE.read_text(), re.M | re.S)
    simulated = [text.partition("\n\n")[0] for text in inference.tables(cells)]
    names = [
        [re.split(r" {2,}\d", line)[0].rstrip() for line in table.splitlines()]
        for table in (*on_page, *simulated)
    ]
    for rows, expected in zip(names[:3], names[3:], strict=True):
        # without the numbers of queries, and the line below them
        assert rows[2:] == expected[2:]
    for table in on_page:
        assert max(map(len, table.splitlines())) <= 80


def test_the_page_shows_a_row_for_each_kind_of_repeated_runs():
    (on_page,) = re.findall(r"^```text\n(runs .*?)\n```", PAGE.read_text(), re.M | re.S)
    tables = [on_page, inference.table_of_runs(n_years=1)]
    named = [[row.rsplit(None, 1)[0] for row in one.splitlines()] for one in tables]
    assert named[0] == named[1]


def test_the_page_shows_what_weights_are_worth():
    (shown,) = re.findall(
        r"^```text\n(weights .*?)\n```", PAGE.read_text(), re.M | re.S
    )
    tables = [shown, inference.table_of_weights(2)]
    named = [[row.rsplit(None, 1)[0] for row in one.splitlines()] for one in tables]
    assert named[0] == named[1]
    # no interval, and so no coverage
    assert {one.splitlines()[-1].split()[-1] for one in tables} == {"none"}


@pytest.mark.parametrize(
    ("rejected", "warned", "shown"),
    [(6, 0, "6.0 "), (7, 0, "7.0!"), (7, 1, "7.0w"), (3, 0, "3.0~"), (100, 0, "100!")],
)
def test_cell_of_a_test(rejected, warned, shown):
    pvalues = [ALPHA] * rejected + [2 * ALPHA] * (100 - rejected)
    claims = [rejection("", p, i < warned) for i, p in enumerate(pvalues)]
    assert str(Cell.from_claims(claims)) == shown


def test_cell_of_a_power_has_no_mark():
    cell = Cell.from_claims([power("", p) for p in (0.01, 0.02, 0.2, 0.9)])
    assert str(cell) == "50.0 "


def test_a_smaller_alpha_has_a_smaller_size():
    claims = [rejection("", p / 100, False, 0.01) for p in range(100)]
    cell = Cell.from_claims(claims)
    assert (cell.percent, cell.nominal) == (2, 1)
    assert str(cell) == "2.0 "


CELLS = [
    (6, 0, "94.0 "),
    (7, 0, "93.0!"),
    (0, 0, "100~"),
    (5, 50, "90.0!"),
    (0, 100, "none "),
]


@pytest.mark.parametrize(("missed", "without", "shown"), CELLS)
def test_cell_of_an_interval(missed, without, shown):
    ends = [(2, 3)] * missed + [(math.nan, math.nan)] * without
    ends += [(0, 3)] * (100 - len(ends))
    claims = [interval("", both, False, target=1) for both in ends]
    assert str(Cell.from_claims(claims)) == shown


def test_an_unknown_target_is_the_mean_of_the_estimates():
    claims = [interval("", (x - 1, x + 1), False, estimate=x) for x in (0.0, 0.2, 4.0)]
    cell = Cell.from_claims(claims)
    assert (cell.percent, cell.nominal) == (pytest.approx(0), COVERAGE)
