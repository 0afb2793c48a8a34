"""A short run of the fuzz, always the same, and faults that it must find."""

import pytest
from hypothesis import Phase

from tests.fuzz.__main__ import main
from tests.fuzz.kinds import KINDS, Kind, run
from tieaware_sklearn.io import _csv
from tieaware_sklearn.measures import ReciprocalRank
from tieaware_sklearn.ranking.plans import PLANS
from tieaware_sklearn.statistics import averages

#: query sets of each kind: about ten seconds together
SHORT = {
    "graded": 25,
    "long ties": 12,
    "dtypes": 25,
    "labels": 15,
    "averages": 20,
    "distributions": 40,
    "neighbours": 40,
}


@pytest.mark.parametrize("kind", SHORT)
def test_no_query_set_is_scored_wrongly(kind):
    assert run(kind, SHORT[kind]).total() == SHORT[kind]


@pytest.mark.parametrize("kind", ["csv quotes", "csv numbers", "letor"])
def test_no_file_is_read_as_something_else(kind):
    counts = run(kind, 100)
    # files that are read and files that are refused are both tested
    assert min(counts["read"], counts["refused"]) > 12


def failure(kind, examples, **options):
    """Return the message and the notes of the error of a failing case."""
    with pytest.raises(AssertionError) as caught:
        run(kind, examples, **options)
    return "\n".join([str(caught.value), *caught.value.__notes__])


def test_a_failing_case_is_made_small_and_can_be_pasted(monkeypatch):
    # the reciprocal rank of a tied query is a little too large
    right = ReciprocalRank.numerator
    monkeypatch.setattr(
        ReciprocalRank,
        "numerator",
        lambda self, groups: right(self, groups) + 1e-9 * (not groups.untied),
    )
    # the class must have no plan, which would compute the rank elsewhere
    monkeypatch.delitem(PLANS, ReciprocalRank)
    message = failure("graded", 100)
    assert message.startswith("expected of RR")
    assert "case=Case(labels=[0, 0], " in message


def test_a_wrong_average_is_seen(monkeypatch):
    def wrong(values, weight=None):
        return averages.weighted_mean(values, None)

    monkeypatch.setitem(averages.AVERAGE_FUNCTIONS, "macro", wrong)
    message = failure("averages", 100, phases=[Phase.generate])
    assert ", macro: found " in message
    assert " weight=[" in message


def test_a_file_that_is_read_wrongly_is_seen(monkeypatch):
    monkeypatch.setattr(_csv, "MISSING", (*_csv.MISSING, "0"))
    message = failure("csv numbers", 60, phases=[Phase.generate])
    assert "must be read as Plain(" in message
    assert "case=File(" in message


@pytest.fixture
def small(monkeypatch):
    def check(case):
        assert case < 10

    monkeypatch.setitem(KINDS, "digits", Kind(lambda rng: rng.randrange(10), check))
    monkeypatch.setitem(KINDS, "numbers", Kind(lambda rng: rng.randrange(999), check))


@pytest.mark.usefixtures("small")
def test_the_long_run_counts_and_ends(capsys):
    main(["--minutes", "1e-6", "--kinds", "digits"])
    assert capsys.readouterr().out == "digits        10 checked\n"


@pytest.mark.usefixtures("small")
def test_the_long_run_ends_where_a_case_fails(capsys):
    with pytest.raises(AssertionError) as caught:
        main(["--minutes", "1", "--kinds", "digits", "numbers"])
    assert "case=10," in "".join(caught.value.__notes__)
    assert "digits        10 checked\n" in capsys.readouterr().out
