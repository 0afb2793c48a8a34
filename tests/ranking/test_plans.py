"""Tests of plans, which tell the kernel how to compute a measure."""

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
PLANNED = []
for measure in helpers.GRADED:
    if plan_of(measure, LEVELS, 100) is not None:
        PLANNED.append(measure)


def test_most_measures_have_a_plan():
    kinds = {plan_of(measure, LEVELS, 100).kind for measure in PLANNED}
    named = {"weighted", "precisions", "first", "found", "counted", "satisfied"}
    assert kinds == named
    assert len(PLANNED) > 30


class LargestGainOf1(m.NDCG):
    def gains(self, levels):
        return np.where(levels == 1, 5.0, levels)


class HalvedPrecision(m.Precision):
    def numerator(self, groups):
        return super().numerator(groups) / 2


class HeirOfHalvedPrecision(HalvedPrecision):
    pass


class PrecisionOfIrrelevant(m.Precision):
    def gains(self, levels):
        return (levels < self.rel) + 0.0


class HalvedAveragePrecision(m.AveragePrecision):
    def values(self, groups, detail):
        values = super().values(groups, detail)
        return values.apply(lambda array: array / 2)


class BestOf1(m.ReciprocalRank):
    def extreme(self, groups, *, best):
        if best:
            return np.ones(groups.n_queries)
        return super().extreme(groups, best=False)


class VarianceOf4(m.Recall):
    def numerator_variance(self, groups):
        return np.full(groups.n_queries, 4.0)


class DefinedFrom2(m.Precision):
    def defined(self, groups):
        return groups.total_relevant(1.0) > 1


class Halved:
    """A mixin that halves the numerator of a measure."""

    def numerator(self, groups):
        return super().numerator(groups) / 2


class HalvedDCG(Halved, m.DCG):
    pass


class GoodFallout(m.Fallout):
    greater_is_better = True
    undefined_over_zero = False


# Private parts of a formula, which only some plans read.


class CountedBelow2(m.Precision):
    def _counted(self, groups):
        return groups.n - groups.relevant(2.0)


class CutAt2(m.Precision):
    def _cutoff(self, groups):
        return 2


class HalvedRPrecision(m.RPrecision):
    @property
    def worth(self):
        return 0.5


class FirstLabelOf2(m.ReciprocalRank):
    def _walks(self, groups):
        return m.ReciprocalRank(rel=2)._walks(groups)


class HarmonicCG(m.CG):
    def rank_worth(self, rank):
        return 1.0 / (rank + 1)


class NormaliserOf40(m.NDCG):
    def normaliser(self, groups):
        return np.full(groups.n_queries, 40.0)


WITHOUT_PLAN = [
    LargestGainOf1(3),
    HalvedPrecision(3),
    HeirOfHalvedPrecision(3),
    PrecisionOfIrrelevant(2),
    HalvedAveragePrecision(),
    BestOf1(),
    VarianceOf4(2),
    DefinedFrom2(3),
    HalvedDCG(3),
    GoodFallout(3),
    CountedBelow2(3),
    CutAt2(5),
    HalvedRPrecision(),
    FirstLabelOf2(),
    HarmonicCG(3),
    NormaliserOf40(5),
]


def planned(cls):
    """Give a class the plan of its parent."""
    PLANS[cls] = PLANS[cls.__base__]
    return cls


@planned
class MaximumOf2(m.NDCG):
    maximum = 2.0


@planned
class RelevantFrom2(m.Precision):
    rel = 2.0


@planned
class BooleanGains(m.DCG):
    def gains(self, levels):
        return levels >= 2


@planned
class SingleWeights(m.DCG):
    def rank_worth(self, rank):
        return (rank + 1.0).astype(np.float32) ** -0.5


WITH_PLAN = [MaximumOf2(3), RelevantFrom2(3), BooleanGains(3), SingleWeights(4)]


def test_a_subclass_has_a_plan_only_if_it_is_in_the_table():
    for measure in WITHOUT_PLAN:
        assert plan_of(measure, LEVELS, 10) is None, type(measure)
    for measure in WITH_PLAN:
        assert plan_of(measure, LEVELS, 10) is not None, type(measure)


@settings(max_examples=40)
@given(case=helpers.cases(max_documents=30), order=st.sampled_from(Order))
def test_subclasses_are_computed_by_their_own_formulas(case, order):
    # Measures with and without a plan are evaluated in one call.
    both = []
    for without_plan, with_plan in zip(WITHOUT_PLAN, PLANNED, strict=False):
        both += [without_plan, with_plan]
    helpers.assert_engines_agree(*case, both + WITH_PLAN, order=order)
    helpers.assert_engines_agree(*case, WITHOUT_PLAN, order=order)


def short_gain(plan):
    return plan._replace(gain=plan.gain[:-1])


def short_tables(plan):
    return plan._replace(tables=plan.tables[:, :3])


BAD_PLANS = {"gain": short_gain, "tables": short_tables}


@pytest.mark.parametrize(("part", "shortened"), BAD_PLANS.items(), ids=BAD_PLANS)
def test_the_shapes_of_a_plan_are_checked(part, shortened, monkeypatch):
    class Short(m.NDCG):
        pass

    def plan(measure, levels, longest):
        return shortened(PLANS[m.NDCG](measure, levels, longest))

    monkeypatch.setitem(PLANS, Short, plan)
    with (
        use_engine("compiled"),
        pytest.raises(ValueError, match=f"{part}.* must .*shape"),
    ):
        evaluate([0, 1, 2], [1, 2, 3], measures=Short())
