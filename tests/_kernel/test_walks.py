"""Tests of the kernel against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests._kernel import helpers
from tieaware_sklearn import evaluate
from tieaware_sklearn import measures as m
from tieaware_sklearn._kernel.engines import use_engine
from tieaware_sklearn.measures._interpolated import RelevantInTies
from tieaware_sklearn.measures._parse import parse_measures
from tieaware_sklearn.ranking._ranked import Order
from tieaware_sklearn.ranking.plans import plan_of

LEVELS = np.arange(5.0)
PLANNED = []
for measure in helpers.GRADED:
    if plan_of(measure, LEVELS, 100) is not None:
        PLANNED.append(measure)
ORDERS = st.fixed_dictionaries({"order": st.sampled_from(Order)})


@settings(max_examples=90)
@given(
    case=helpers.cases(),
    second=helpers.cases(labels=helpers.OTHER_LABELS),
    options=ORDERS,
)
def test_engines_agree(case, second, options):
    helpers.assert_engines_agree(*case, helpers.GRADED, **options)
    helpers.assert_engines_agree(*second, helpers.ANY_LABELS, **options)


@settings(max_examples=20)
@given(case=helpers.cases(max_documents=20), seed=st.integers(0, 99))
def test_engines_agree_on_several_columns_and_both_ways(case, seed):
    labels, scores, qid = case
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(scores)
    tied = np.full_like(scores, scores[0])
    columns = np.stack([scores, shuffled, tied])

    def both_ways():
        queries = helpers.prepared(labels, qid)
        options = {"both_ways": True, "spread": True}
        return helpers.rankings_of(queries, columns, helpers.GRADED, **options)

    compiled, numpy = helpers.by_engine(both_ways)
    for by_kernel, by_numpy in zip(compiled, numpy, strict=True):
        for name, values in by_kernel.items():
            helpers.assert_close(values, by_numpy[name], name)
    orders = (Order.DESCENDING, Order.ASCENDING)
    with use_engine("compiled"):
        for expected, order in zip(compiled, orders, strict=True):
            options = {"spread": True, "order": order}
            for number, column in enumerate(columns):
                alone = helpers.values_of(
                    labels, column, qid, helpers.GRADED, **options
                )
                for name, values in expected.items():
                    assert_array_equal(values[number], alone[name], err_msg=name)


N = 50_003
PLACES = np.arange(N)
MIDDLE = N // 2
IS_NEAR_THE_MIDDLE = np.abs(PLACES - MIDDLE) < 30
SHUFFLED = PLACES * 7919
#: Scores of long lists.
SHAPES = {
    "deep pairs": -(PLACES // 2),
    "deep tie": -np.minimum(PLACES, N - 7),
    "tie in the middle": -np.where(IS_NEAR_THE_MIDDLE, MIDDLE, PLACES),
    "huge tie": np.zeros(N, dtype=int),
    "two huge ties": PLACES % 2,
    "dozens": PLACES % 50,
    "untied": SHUFFLED % N,
    "one ulp": 1 + SHUFFLED % 2003 * helpers.UNIT,
    "not retrieved": np.where(PLACES % 97, -np.inf, PLACES % 401),
}


@pytest.mark.parametrize("scores", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("share", [0.5, 1e-4])
def test_engines_agree_on_long_lists(scores, share):
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 5, N)
    labels[rng.random(N) >= share] = 0
    labels[-3:] = 1, 0, 2
    # Cut-offs beyond any list are compared on short lists.
    measures = [measure for measure in PLANNED if str(2**70) not in str(measure)]
    qid = np.zeros(N)
    for order in (Order.DESCENDING, Order.ASCENDING):
        helpers.assert_engines_agree(labels, scores, qid, measures, order=order)


@st.composite
def ties_of_a_query(draw):
    """Draw the columns of `RelevantInTies`: tied documents, relevant ones, and gaps."""
    columns = []
    top = 0
    above = 0
    for _ in range(draw(st.integers(1, 9))):
        top += draw(st.integers(0, 3))
        n = draw(st.integers(1, 25) | st.just(1))
        r = draw(st.integers(1, n) | st.just(n))
        columns.append((top, n, r, above))
        top += n
        above += r
    return np.array(columns).T


@settings(max_examples=200)
@given(columns=ties_of_a_query())
def test_moments_of_interpolated_precision(columns):
    kernel, numpy = helpers.by_engine(lambda: RelevantInTies(columns)._moments)
    helpers.assert_close(kernel, numpy)
    steps = np.diff(kernel[0])
    assert (steps <= 1e-15).all()


@pytest.mark.parametrize("n", [64, 65, 300, 1024, 1025])
@pytest.mark.parametrize("levels", [1, 2, 7])
def test_cascades_down_ties_of_any_length(n, levels):
    """Both engines sample spreads over more than 64 places, with equal seeds."""
    rng = np.random.default_rng(n)
    measures = parse_measures(["err", "err@3", "err@100", "err(max_label=60)@70"])
    scores = np.sort(rng.integers(0, levels, n))
    graded = rng.integers(0, 5, n)
    graded[rng.random(n) >= 0.3] = 0
    fractions = rng.random(n) * 4
    qid = np.arange(n) % 2
    for labels in (graded, fractions):
        helpers.assert_engines_agree(labels, scores, qid, measures)


STEPS = [
    ("near", Order.DESCENDING),
    ("nearly tied", Order.ASCENDING),
    ("negative", Order.ASCENDING),
    ("in pairs", Order.DESCENDING),
]


@pytest.mark.parametrize(("kind", "order"), STEPS)
def test_many_near_equal_scores_are_told_apart(kind, order):
    # Keys contain 20 bits of the place, so scores that differ in the last bits are
    # one run.
    n = 1 << 19
    rng = np.random.default_rng(1)
    steps_of_kinds = {"near": rng.permutation(n)}
    steps_of_kinds["nearly tied"] = rng.integers(0, 3, n)
    steps_of_kinds["negative"] = rng.permutation(n) - 2 * n
    steps_of_kinds["in pairs"] = np.arange(n) // 2
    steps = steps_of_kinds[kind]
    is_relevant = rng.random(n) < 0.01
    labels = is_relevant.astype(float)
    scores = 1 + steps * helpers.UNIT
    measures = parse_measures(["ap", "ndcg", "rr(rel=2)", "p@5"])
    qid = np.zeros(n, dtype=int)
    with use_engine("compiled"):
        values = helpers.values_of(labels, scores, qid, measures, order=order)
        exact = helpers.values_of(labels, steps, qid, measures, order=order)
    for name in ("expected", "best", "worst"):
        assert_array_equal(values[name], exact[name])


@pytest.mark.parametrize("n", [2, 3, 17, 64, 65, 300])
@pytest.mark.parametrize("spread", [3, 40])
def test_neighbours_by_one_ulp_between_ties_of_every_length(n, spread):
    rng = np.random.default_rng(n)
    measures = parse_measures(["ndcg", "ap", "rr", "p@3", "ap@5", "fallout@4"])
    steps = rng.integers(0, spread, n)
    labels = rng.integers(0, 3, n)
    qid = rng.integers(0, 3, n)
    for base in (1.0, -1.0, 1e300, 0.0):
        step = np.abs(base) * helpers.UNIT
        if base == 0:
            step = 5e-324
        scores = base + step * steps
        columns = np.stack([scores, scores[::-1], -scores])
        for order in Order:
            helpers.assert_engines_agree(labels, scores, qid, measures, order=order)
        helpers.assert_engines_agree(labels, columns, qid, measures, order=Order.INPUT)


@pytest.mark.parametrize("kind", helpers.SCORES)
def test_dtypes_in_columns(kind):
    dtype, values = helpers.SCORES[kind]
    rng = np.random.default_rng(3)
    values = np.array(values, dtype=dtype)
    columns = rng.choice(values, (5, 40))
    labels = rng.integers(0, 5, 40)
    qid = rng.integers(0, 6, 40)
    helpers.assert_engines_agree(labels, columns, qid, helpers.GRADED)
    strided = columns[::2]
    options = {"order": Order.ASCENDING}
    helpers.assert_engines_agree(labels, strided, qid, helpers.ANY_LABELS, **options)
    # Columns may be slices of a read-only table.
    table = np.ascontiguousarray(columns.T)
    table.setflags(write=False)
    helpers.assert_engines_agree(labels, table.T, qid, helpers.GRADED)
    helpers.assert_engines_agree(labels, table[:, 1], qid, helpers.GRADED)


def test_labels_of_hundreds_of_levels():
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 1000, 3000) / 8
    qid = rng.integers(0, 40, 3000)
    for order in (Order.DESCENDING, Order.INPUT):
        scores = rng.integers(0, 20, 3000)
        helpers.assert_engines_agree(
            labels, scores, qid, helpers.ANY_LABELS, order=order
        )


GAINS = {
    "like labels": [0.1, 0.2, 0.3, 0.4, 0.5],
    "in two steps": [0, 0, 0, 1, 1],
    "all 1": [1, 1, 1, 1, 1],
    "all 0": [0, 0, 0, 0, 0],
    "all equal": [0.5, 0.5, 0.5, 0.5, 0.5],
    "falling": [4, 3, 2, 1, 0],
    "unordered": [0, 5, 1, 5, 1],
    "far apart": [1e-100, 1e-100, 1e-100, 1e-100, 1e100],
}


@pytest.mark.parametrize("gains", GAINS.values(), ids=GAINS)
def test_gains_of_the_users(gains):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 5, 300)
    qid = rng.integers(0, 30, 300)
    gain = dict(enumerate(gains))
    measures = [m.CG(gain=gain), m.CG(3, gain), m.DCG(3, gain)]
    measures += [m.NDCG(gain=gain), m.NDCG(4, gain)]
    tied = rng.integers(0, 3, 300)
    for scores in (tied, rng.normal(size=300)):
        helpers.assert_engines_agree(labels, scores, qid, measures)


def test_gains_of_a_tie_are_added_exactly():
    gain = {0: 0, 1: 1, 2: 1, 3: 2.0**53}
    measure = m.CG(1, gain=gain)
    with use_engine("compiled"):
        report = evaluate([3, 2, 1], [0, 0, 0], measures=measure)
    assert report.expected[0, 0] == (2.0**53 + 2) / 3
