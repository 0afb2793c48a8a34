"""A short run of the fuzz, always the same, and that it sees what is wrong."""

import pytest

from tests.fuzz import enumerated, files, runner
from tests.fuzz.__main__ import main
from tests.fuzz.cases import HEADER
from tests.fuzz.kinds import KINDS, drawn
from tieaware_sklearn import Measure
from tieaware_sklearn.evaluation import _averages
from tieaware_sklearn.io import _csv, _letor
from tieaware_sklearn.measures import ReciprocalRank

SEED = 20_260_101
#: query sets of each kind: about ten seconds together
SHORT = {
    **{"graded": 25, "long ties": 12, "dtypes": 20, "labels": 10, "averages": 20},
    **{"distributions": 20, "neighbours": 20},
}


@pytest.mark.parametrize("kind", SHORT)
def test_no_case_of_a_short_run_fails(kind):
    done = runner.run(kind, SEED, range(SHORT[kind]))
    assert done.failure is None, done.failure
    assert done.sets[kind] == SHORT[kind]
    assert done.comparisons[kind] >= done.cases[kind] >= SHORT[kind]


def test_every_kind_is_in_the_short_run():
    assert set(KINDS) == set(SHORT)


def test_a_case_is_the_same_whenever_it_is_drawn():
    for kind in KINDS:
        assert repr(drawn(kind, 3, 14)) == repr(drawn(kind, 3, 14))
        assert repr(drawn(kind, 3, 14)) != repr(drawn(kind, 3, 15))


@pytest.fixture
def wrong(monkeypatch):
    """The reciprocal rank of a tied query, a little too large."""
    right = ReciprocalRank.numerator
    monkeypatch.setattr(
        ReciprocalRank,
        "numerator",
        lambda self, groups: right(self, groups) + 1e-9 * (not groups.untied),
    )
    # as of a class that is defined so
    monkeypatch.setattr(ReciprocalRank, "walk", Measure.walk)


@pytest.mark.usefixtures("wrong")
def test_what_fails_is_made_small_and_can_be_pasted():
    failure = runner.run("graded", SEED, range(100)).failure
    said, code = failure.split("# the same, to be pasted")
    assert ": Mismatch: expected of RR" in said
    names: dict = {}
    exec(HEADER, names)
    last = code.strip().splitlines()[-1]
    with pytest.raises(enumerated.Mismatch, match="RR"):
        exec(last, names)
    case = eval(last[last.index("Case(") : -1], names)
    assert len(case.measures) == 1
    assert len(case.labels) <= 2


def test_a_wrong_average_is_seen(monkeypatch):
    def wrong(values, weight=None):
        return _averages.mean(values, None)

    monkeypatch.setitem(_averages.BY_NAME, "macro", wrong)
    failure = runner.run("averages", SEED, range(100)).failure
    assert ", macro: found " in failure
    assert ", weight=[" in failure


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_long_run_counts_and_ends(capsys, jobs):
    given = ["--minutes", "0.005", "--seed", "1", "--jobs", str(jobs)]
    assert main(given) == 0
    out = capsys.readouterr().out
    assert out.strip().startswith("seed 1, ")
    assert "enumerated cases a minute" in out
    assert "graded" in out


@pytest.mark.usefixtures("wrong")
def test_the_long_run_fails_with_a_reproduction(capsys):
    assert main(["--minutes", "1", "--seed", "1"]) == 1
    out = capsys.readouterr().out
    assert "FAILED: seed 1, '" in out
    assert "].check(Case(" in out


def test_bad_arguments(capsys):
    with pytest.raises(SystemExit):
        main(["--jobs", "0"])
    assert "must be above 0" in capsys.readouterr().err


@pytest.mark.parametrize("n_bytes", [1, 10, 1 << 20])
@pytest.mark.parametrize("kind", files.KINDS)
def test_no_file_is_read_as_something_else(monkeypatch, kind, n_bytes):
    # a file is looked at in pieces of so many bytes
    monkeypatch.setattr(_csv, "_START", n_bytes)
    monkeypatch.setattr(_letor, "_CHUNK", n_bytes)
    done = files.run(kind, SEED, range(120))
    # both are of interest
    assert min(done["read"], done["refused"]) > 12


def test_a_file_that_is_read_wrongly_is_seen(monkeypatch):
    monkeypatch.setattr(_csv._CsvLines, "_look_at", lambda *_: None)
    again = r"again: tests\.fuzz\.files\.check\('csv quotes', 1, \d+\)$"
    with pytest.raises(AssertionError, match=again):
        files.run("csv quotes", 1, range(60))
