"""What all measures share: names, parameters, user models, distributions."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings

from tests import naive
from tests.instances import INSTANCES, MEASURES
from tests.strategies import ranking
from tieaware_sklearn import Measure, evaluate, parse_measure, ranking_score
from tieaware_sklearn.evaluation import tie_distributions
from tieaware_sklearn.measures import (
    CWL,
    DCG,
    ERR,
    RBP,
    AveragePrecision,
    Precision,
    ReciprocalRank,
    RPrecision,
    Success,
)
from tieaware_sklearn.measures._base import (
    NAMED,
    OF_SUBTOPICS,
    is_ours,
    names_where,
    spelling,
)

REFERENCE = Path(__file__).parents[2] / "docs" / "api" / "measures.md"


def called(cls):
    return cls.name.lower()


OURS = sorted({own.cls for own in NAMED.values() if is_ours(own.cls)}, key=called)


@pytest.fixture
def names():
    before = dict(NAMED)
    yield NAMED
    NAMED.clear()
    NAMED.update(before)


def define(name="Miss", **aliases):
    """A measure of one's own: 1 where no relevant document is found."""

    def numerator(self, groups):
        return 1 - Success.numerator(self, groups)

    body = {"name": name, "aliases": aliases, "numerator": numerator}
    return dataclass(frozen=True)(type("Miss", (Success,), body))


def test_a_measure_of_ones_own_goes_by_its_name(names):
    cls = define(anymiss=("k",))
    assert parse_measure("miss(rel=2)@3") == cls(3, rel=2)
    assert str(parse_measure("MISS@3")) == "Miss@3"
    assert ranking_score([0, 1, 0], [2, 1, 1], measure="miss@2") == 0.5
    assert parse_measure("anymiss") == cls()
    with pytest.raises(ValueError, match="anymiss takes no cut-off"):
        parse_measure("anymiss@3")
    with pytest.raises(ValueError, match=r"did you mean 'Miss@2'"):
        parse_measure("mis@2")
    # messages name what this library has
    assert "Miss" not in names_where(lambda cls: True)


@pytest.mark.parametrize("given", [{"name": "AP"}, {"name": "Miss", "map": ()}])
def test_names_of_this_library_stay(names, given):
    with pytest.raises(
        ValueError, match=r"must be its own, got '(ap|map|AP)', a name of"
    ):
        define(**given)
    assert "miss" not in names


def test_what_a_subclass_inherits_it_does_not_take(names):
    class Mine(Precision):
        name = "Mine"

    assert str(Mine(2)) == "Mine@2"
    assert type(parse_measure("mine@2")) is Mine
    assert type(parse_measure("precision@2")) is Precision

    class Same(Precision):
        pass

    assert type(parse_measure("P@2")) is Precision

    # the last class of a name has it
    again = define(), define()
    assert type(parse_measure("miss@1")) is again[1]

    @dataclass(frozen=True, slots=True)
    class Other(Success):
        name = "Miss"

    assert type(parse_measure("miss@1")) is Other

    class Named:
        name = "Mixed"

    class Mixed(Named, Precision):
        pass

    assert type(parse_measure("mixed@2")) is Mixed


def test_names_that_cannot_be_read_stand_for_nothing(names):
    before = dict(names)
    for name in ("my measure", "1st", "", "a@b", None, property(str)):
        type("Odd", (Precision,), {"name": name})
    assert names == before


def test_what_a_name_must_give(names):
    @dataclass(frozen=True)
    class Needs(Success):
        name: ClassVar[str] = "Needs"
        z: float = field(kw_only=True)

    with pytest.raises(ValueError, match=r"^measure 'needs@2': Needs needs z$"):
        parse_measure("needs@2")
    assert parse_measure("needs(z=1)@2") == Needs(2, z=1)


def test_every_name_has_instances_and_stands_in_the_help():
    for cls in OURS:
        assert any(type(measure) is cls for measure in MEASURES), cls
        for name in (cls.name, *cls.aliases):
            assert re.search(rf"\b{name}\b", parse_measure.__doc__, re.IGNORECASE)


def row_of_the_reference(cls, named):
    """What a measure is called, and what it takes."""
    given = named[called(cls)].parameters
    after = f"@{cls.at}" if cls.at in given else ""
    shown = ", ".join(
        name if f.default is MISSING else f"{name}={spelling(f.default)}"
        for name, f in given.items()
        if name != cls.at
    )
    names = [
        f"`{name}`" + "".join(f" (no {parameter})" for parameter in without)
        for name, without in cls.aliases.items()
    ]
    columns = [f"`{cls.name}{after}`", f"`{cls.__name__}`", shown and f"`{shown}`"]
    return f"| {' | '.join([*columns, ', '.join(names)])} |"


def test_the_table_of_the_reference_is_the_registry():
    by_name = sorted({named.cls for named in OF_SUBTOPICS.values()}, key=called)
    rows = [row_of_the_reference(cls, NAMED) for cls in OURS]
    rows += [row_of_the_reference(cls, OF_SUBTOPICS) for cls in by_name]
    found = re.findall(r"^\| `.*\|$", REFERENCE.read_text(), re.MULTILINE)
    # it has a name for each of the others
    assert [row for row in found if "`IntentAware`" not in row] == rows


@pytest.mark.parametrize(("measure", "rank", "message"), [
    ("success", 1, "Success has no user model"),
    ("r@5", 1, "R@5 has no user model"),
    ("ap", 1, "ranking must .* of AP, got None"),
    ("p", 1, "ranking must hold the labels .* of P, got"),
    ("ndcg", 1, "NDCG needs a cut-off, .* for its user model"),
    ("rbp", 0, "i must hold ranks, integers >= 1, got 0"),
    ("rbp", 1.5, "i must hold ranks, integers >= 1, got 1.5"),
    ("rbp", 10**12, "i must be at most 10000000, got 1000000000000"),
])  # fmt: skip
def test_bad_users(measure, rank, message):
    for function in ("weight", "last", "continuation"):
        with pytest.raises(ValueError, match=message):
            getattr(parse_measure(measure), function)(rank)


RANKED = [0, 1, 0, 2, 1, 0]
OF_RELEVANCE = [Precision(4), RBP(0.6), CWL([0.9, 0.5, 0.75]), RPrecision()]
OF_RELEVANCE += [Precision(), ReciprocalRank(), ReciprocalRank(rel=2)]
OF_RELEVANCE += [AveragePrecision(), AveragePrecision(rel=2)]


@pytest.mark.parametrize("measure", OF_RELEVANCE, ids=str)
def test_the_measure_is_the_attention_given_to_relevance(measure):
    ranks = np.arange(1, len(RANKED) + 1)
    weight = measure.weight(ranks, ranking=RANKED)
    relevant = np.array(RANKED) >= measure.rel
    value = ranking_score(RANKED, -ranks, measure=measure)
    assert (weight * relevant).sum() == pytest.approx(value)


SURE = [Precision(4), CWL([0.9, 0.5, 0.75]), DCG(5), ReciprocalRank(), ERR(5)]


@pytest.mark.parametrize("measure", SURE, ids=str)
def test_weights_and_last_documents_sum_to_one(measure):
    ranks = np.arange(1, 60)
    assert measure.weight(ranks, ranking=RANKED).sum() == pytest.approx(1)
    last = measure.last(ranks, ranking=RANKED)
    assert last.sum() == pytest.approx(1)
    # nobody leaves without having read on to there
    views = np.cumprod(measure.continuation(ranks, ranking=RANKED))
    stay = np.concatenate([[1], views])
    assert last == pytest.approx(stay[:-1] - stay[1:])


def test_users_by_hand():
    stop = (2**2 - 1) / 16
    for measure, labels, continuation in (
        (RBP(0.8), None, [0.8, 0.8, 0.8]),
        (Precision(3), None, [1, 1, 0]),
        (CWL([0.9, 0.5]), None, [0.9, 0.5, 0]),
        # RR goes on until it has found what it wants
        (ReciprocalRank(), [0, 1, 1], [1, 0, 0]),
        # AP: Σ_{j>i} r_j/j over Σ_{j>=i} r_j/j
        (AveragePrecision(), [1, 0, 1], [(1 / 3) / (4 / 3), 1, 0]),
        (ERR(), [2, 0, 0], [1 - stop, 1, 0]),
    ):
        found = measure.continuation([1, 2, 3], ranking=labels)
        assert found == pytest.approx(continuation), measure
    assert isinstance(RBP(0.8).continuation(7), float)
    # ERR is Σ L(i)/i over those who stop because they are satisfied
    last = ERR().last([1, 2], ranking=[2, 0, 0])
    assert last == pytest.approx([stop, 0])


WITH_DISTRIBUTION = [
    own for own in INSTANCES if type(own.measure)._outcomes is not Measure._outcomes
]


@settings(max_examples=30)
@given(case=ranking())
def test_distributions_equal_enumeration(case):
    labels, scores = case
    for measure, plain, *_ in WITH_DISTRIBUTION:
        exact = naive.outcomes(plain, labels, scores)
        (found,) = tie_distributions(labels, scores, measure=measure).values()
        assert len(found) == len(exact), measure
        values = pytest.approx(list(map(float, exact)), abs=1e-12)
        assert found.values == values, measure
        chances = pytest.approx(list(map(float, exact.values())), abs=1e-12)
        assert found.probability == chances, measure


def test_measures_have_distributions():
    names = {instance.measure.name for instance in WITH_DISTRIBUTION}
    counts = {"P", "R", "F", "Fallout", "Rprec", "Judged", "SetAP"}
    assert names == counts | {"Success", "RR", "ESL", "PRR", "IPrec", "BPref"}
    with pytest.raises(ValueError, match="distribution of AP over the orders of ties"):
        tie_distributions([1, 0], [1, 1], measure="ap")
    with pytest.raises(ValueError, match=r"BPref .* at most 2e\+08 steps"):
        tie_distributions(np.tile([0, 1], 2000), np.zeros(4000), measure="bpref")


def test_distributions_have_moments_and_quantiles():
    labels, scores = [1, 0, 0, 1], [1, 1, 1, 1]
    report = evaluate(labels, scores, measures=["rr"])
    (found,) = tie_distributions(labels, scores, measure="rr").values()
    assert found.mean() == pytest.approx(report.expected[0, 0])
    assert found.std() == pytest.approx(report.std[0, 0])
    # first place with 1/2, second with 1/3, third with 1/6
    assert found.cdf(0.4) == pytest.approx(1 / 6)
    assert found.cdf(1 / 2) == pytest.approx(1 / 2)
    assert found.quantile(0.5) == pytest.approx(1 / 2)
    assert (found.quantile(0), found.quantile(1)) == (found.values[0], 1)
    for q in (2, -0.5):
        with pytest.raises(ValueError, match=rf"q must be in \[0, 1\], got {q}"):
            found.quantile(q)
    found = tie_distributions([0, 1, 0], [1, 1, 1], qid=[7, 7, 3], measure="r@1")
    assert list(found) == [7, 3]
    assert found[7].values.tolist() == [0, 1]
    none = found[3]
    assert np.isnan([none.mean(), none.std(), none.quantile(0.5), none.cdf(1)]).all()
