"""Plans of measures, which the kernel adds up, and classes that have none."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests._kernel import helpers
from tieaware_sklearn import evaluate
from tieaware_sklearn import measures as m
from tieaware_sklearn._kernel.engines import use_engine
from tieaware_sklearn.ranking._ranked import Order
from tieaware_sklearn.ranking.plans import PLANS, plan_of

LEVELS = np.arange(5.0)
PLANNED = [one for one in helpers.GRADED if plan_of(one, LEVELS, 100) is not None]


def test_most_measures_have_a_plan():
    kinds = {plan_of(measure, LEVELS, 100).kind for measure in PLANNED}
    named = {"weighted", "precisions", "first", "found", "counted", "satisfied"}
    assert kinds == named
    assert len(PLANNED) > 30


def own(parent, *first, **body):
    """A subclass with these of its own, and what comes before its parent."""
    return dataclass(frozen=True)(type("Own", (*first, parent), body))


class Halved:
    """No measure, but in front of one."""

    def numerator(self, groups):
        return super().numerator(groups) / 2


def of_numerator(self, groups):
    return m.Precision.numerator(self, groups) / 2


def other_best(self, groups, *, best):
    if best:
        return np.ones(groups.n_queries)
    return m.ReciprocalRank.extreme(self, groups, best=False)


def halved(self, groups, detail):
    values = m.AveragePrecision.values(self, groups, detail)
    return values.apply(lambda array: array / 2)


RELEVANT_2 = m.ReciprocalRank(rel=2)
WITHOUT = [
    # by which a 1 is worth most
    own(m.NDCG, gains=lambda self, levels: np.where(levels == 1, 5.0, levels))(3),
    own(m.Precision, numerator=of_numerator)(3),
    own(own(m.Precision, numerator=of_numerator))(3),
    # what counts as its best order is another
    own(m.Precision, gains=lambda self, levels: (levels < self.rel) + 0.0)(2),
    own(m.AveragePrecision, values=halved)(),
    own(m.ReciprocalRank, extreme=other_best)(),
    own(
        m.Recall, numerator_variance=lambda self, groups: np.full(groups.n_queries, 4.0)
    )(2),
    own(m.Precision, defined=lambda self, groups: groups.total_relevant(1.0) > 1)(3),
    own(m.DCG, Halved)(3),
    own(m.Fallout, greater_is_better=True, undefined_over_zero=False)(3),
    # private parts of a formula, which not every plan reads
    own(m.Precision, _counted=lambda self, groups: groups.n - groups.relevant(2.0))(3),
    own(m.Precision, _cutoff=lambda self, groups: 2)(5),
    own(m.RPrecision, worth=property(lambda self: 0.5))(),
    own(m.ReciprocalRank, _walks=lambda self, groups: RELEVANT_2._walks(groups))(),
    own(m.CG, rank_worth=lambda self, rank: 1.0 / (rank + 1))(3),
    own(m.NDCG, normaliser=lambda self, groups: np.full(groups.n_queries, 40.0))(5),
]


def planned(parent, **body):
    """A subclass with the plan of its parent."""
    cls = own(parent, **body)
    PLANS[cls] = PLANS[parent]
    return cls


WITH = [
    planned(m.NDCG, maximum=2.0)(3),
    planned(m.Precision, rel=2.0)(3),
    # gains, and weights, that are not doubles
    planned(m.DCG, gains=lambda self, levels: levels >= 2)(3),
    planned(
        m.DCG, rank_worth=lambda self, rank: (rank + 1.0).astype(np.float32) ** -0.5
    )(4),
]


@settings(max_examples=40)
@given(case=helpers.cases(max_documents=30), order=st.sampled_from(Order))
def test_subclasses_are_answered_by_their_own_formulas(case, order):
    assert [one for one in WITHOUT if plan_of(one, LEVELS, 10) is not None] == []
    assert [one for one in WITH if plan_of(one, LEVELS, 10) is None] == []
    # beside measures that have a plan, in one call
    both = [one for pair in zip(WITHOUT, PLANNED, strict=False) for one in pair]
    helpers.assert_engines_agree(*case, [*both, *WITH], order=order)
    helpers.assert_engines_agree(*case, WITHOUT, order=order)


@pytest.mark.parametrize(
    ("wrong", "part"), [("gain", lambda a: a[:-1]), ("tables", lambda a: a[:, :3])]
)
def test_what_a_plan_holds_is_checked(wrong, part, monkeypatch):
    def plan(measure, levels, longest):
        right = PLANS[m.NDCG](measure, levels, longest)
        return right._replace(**{wrong: part(getattr(right, wrong))})

    cls = own(m.NDCG)
    monkeypatch.setitem(PLANS, cls, plan)
    refused = pytest.raises(ValueError, match=f"{wrong}.* must .*shape")
    with use_engine("compiled"), refused:
        evaluate([0, 1, 2], [1, 2, 3], measures=cls())
