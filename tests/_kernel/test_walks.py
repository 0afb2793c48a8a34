"""What the kernel adds up, against NumPy."""

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
PLANNED = [
    measure for measure in helpers.GRADED if plan_of(measure, LEVELS, 100) is not None
]
orders = st.fixed_dictionaries({"order": st.sampled_from(Order)})


@settings(max_examples=90)
@given(
    case=helpers.cases(),
    second=helpers.cases(labels=helpers.OTHER_LABELS),
    options=orders,
)
def test_engines_agree(case, second, options):
    helpers.assert_engines_agree(*case, helpers.GRADED, **options)
    helpers.assert_engines_agree(*second, helpers.ANY_LABELS, **options)


@settings(max_examples=20)
@given(case=helpers.cases(max_documents=20), seed=st.integers(0, 99))
def test_engines_agree_on_several_columns_and_both_ways(case, seed):
    labels, scores, qid = case
    shuffled = np.random.default_rng(seed).permutation(len(scores))
    columns = np.stack([scores, scores[shuffled], np.full_like(scores, scores[0])])

    def both_ways():
        queries = helpers.prepared(labels, qid)
        return helpers.rankings_of(
            queries, columns, helpers.GRADED, both_ways=True, spread=True
        )

    compiled, numpy = helpers.by_engine(both_ways)
    for by_kernel, by_numpy in zip(compiled, numpy, strict=True):
        for name, values in by_kernel.items():
            helpers.assert_close(values, by_numpy[name], name)
    options = {"spread": True}
    with use_engine("compiled"):
        for direction, order in enumerate((Order.DESCENDING, Order.ASCENDING)):
            options["order"] = order
            for number, column in enumerate(columns):
                alone = helpers.values_of(
                    labels, column, qid, helpers.GRADED, **options
                )
                for name, values in compiled[direction].items():
                    assert_array_equal(values[number], alone[name], err_msg=name)


SHAPES = {
    "deep pairs": lambda n: -(np.arange(n) // 2),
    "deep tie": lambda n: -np.minimum(np.arange(n), n - 7),
    "tie in the middle": lambda n: (
        -np.where(np.abs(np.arange(n) - n // 2) < 30, n // 2, np.arange(n))
    ),
    "huge tie": lambda n: np.zeros(n, dtype=int),
    "two huge ties": lambda n: np.arange(n) % 2,
    "dozens": lambda n: np.arange(n) % 50,
    "untied": lambda n: np.arange(n) * 7919 % n,
    "one ulp": lambda n: 1 + np.arange(n) * 7919 % 2003 * helpers.UNIT,
    "not retrieved": lambda n: np.where(np.arange(n) % 97, -np.inf, np.arange(n) % 401),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.5, 1e-4])
def test_engines_agree_on_long_lists(shape, share):
    n = 50_003
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 5, n) * (rng.random(n) < share)
    labels[-3:] = 1, 0, 2
    scores = SHAPES[shape](n)
    measures = [
        measure for measure in PLANNED if "1180591620717411303424" not in str(measure)
    ]
    for order in (Order.DESCENDING, Order.ASCENDING):
        helpers.assert_engines_agree(labels, scores, np.zeros(n), measures, order=order)


@st.composite
def ties_of_a_query(draw):
    """Columns of `RelevantInTies`: groups of all relevant and of some, and gaps."""
    columns, top, above = [], 0, 0
    for _ in range(draw(st.integers(1, 9))):
        top += draw(st.integers(0, 3))
        n = draw(st.integers(1, 25) | st.just(1))
        r = draw(st.integers(1, n) | st.just(n))
        columns.append((top, n, r, above))
        top, above = top + n, above + r
    return np.array(columns).T


@settings(max_examples=200)
@given(columns=ties_of_a_query())
def test_moments_of_interpolated_precision(columns):
    kernel, numpy = helpers.by_engine(lambda: RelevantInTies(columns)._moments)
    helpers.assert_close(kernel, numpy)
    assert (np.diff(kernel[0]) <= 1e-15).all()


@pytest.mark.parametrize("n", [64, 65, 300, 1024, 1025])
@pytest.mark.parametrize("levels", [1, 2, 7])
def test_cascades_down_ties_of_any_length(n, levels):
    """Spreads of more than 64 places are sampled, by the same seeds in both engines."""
    rng = np.random.default_rng(n)
    measures = parse_measures(["err", "err@3", "err@100", "err(max_label=60)@70"])
    scores = np.sort(rng.integers(0, levels, n))
    for labels in (rng.integers(0, 5, n) * (rng.random(n) < 0.3), rng.random(n) * 4):
        helpers.assert_engines_agree(labels, scores, np.arange(n) % 2, measures)


@pytest.mark.parametrize(
    ("kind", "ascending"),
    [("near", False), ("nearly tied", True), ("negative", True), ("in pairs", False)],
)
def test_many_near_equal_scores_are_told_apart(kind, ascending):
    # keys hold 20 bits of the place: scores alike but for the last bits are one run
    n = 1 << 19
    rng = np.random.default_rng(1)
    steps = {
        "near": rng.permutation(n),
        "nearly tied": rng.integers(0, 3, n),
        "negative": rng.permutation(n) - (n << 1),
        "in pairs": np.arange(n) // 2,
    }[kind]
    labels = (rng.random(n) < 0.01).astype(float)
    scores = 1 + steps * helpers.UNIT
    measures = parse_measures(["ap", "ndcg", "rr(rel=2)", "p@5"])
    qid = np.zeros(n, dtype=int)
    order = Order.ASCENDING if ascending else Order.DESCENDING
    with use_engine("compiled"):
        values = helpers.values_of(labels, scores, qid, measures, order=order)
        exact = helpers.values_of(labels, steps, qid, measures, order=order)
    for name in ("expected", "best", "worst"):
        assert np.array_equal(values[name], exact[name])


@pytest.mark.parametrize("n", [2, 3, 17, 64, 65, 300])
@pytest.mark.parametrize("spread", [3, 40])
def test_neighbours_by_one_ulp_between_ties_of_every_length(n, spread):
    rng = np.random.default_rng(n)
    measures = parse_measures(["ndcg", "ap", "rr", "p@3", "ap@5", "fallout@4"])
    steps = rng.integers(0, spread, n)
    labels, qid = rng.integers(0, 3, n), rng.integers(0, 3, n)
    for base in (1.0, -1.0, 1e300, 0.0):
        scores = base + (np.abs(base) * helpers.UNIT or 5e-324) * steps
        columns = np.stack([scores, scores[::-1], -scores])
        for order in Order:
            helpers.assert_engines_agree(labels, scores, qid, measures, order=order)
        helpers.assert_engines_agree(labels, columns, qid, measures, order=Order.INPUT)


@pytest.mark.parametrize("kind", helpers.SCORES)
def test_dtypes_in_columns(kind):
    dtype, values = helpers.SCORES[kind]
    rng = np.random.default_rng(3)
    columns = rng.choice(np.array(values, dtype=dtype), (5, 40))
    labels, qid = rng.integers(0, 5, 40), rng.integers(0, 6, 40)
    helpers.assert_engines_agree(labels, columns, qid, helpers.GRADED)
    helpers.assert_engines_agree(
        labels, columns[::2, :], qid, helpers.ANY_LABELS, order=Order.ASCENDING
    )
    # as slices of a table, and read-only
    table = np.ascontiguousarray(columns.T)
    table.setflags(write=False)
    helpers.assert_engines_agree(labels, table.T, qid, helpers.GRADED)
    helpers.assert_engines_agree(labels, table[:, 1], qid, helpers.GRADED)


def test_labels_of_hundreds_of_levels():
    rng = np.random.default_rng(4)
    labels, qid = rng.integers(0, 1000, 3000) / 8, rng.integers(0, 40, 3000)
    for order in (Order.DESCENDING, Order.INPUT):
        case = labels, rng.integers(0, 20, 3000), qid
        helpers.assert_engines_agree(*case, helpers.ANY_LABELS, order=order)


def test_gains_of_the_users():
    """That follow the labels, do not, are all the same, or all zero."""
    rng = np.random.default_rng(5)
    labels, qid = rng.integers(0, 5, 300), rng.integers(0, 30, 300)
    tables = [[0, 0, 0, 1, 1], [1, 1, 1, 1, 1], [0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5]]
    tables += [[4, 3, 2, 1, 0], [0, 5, 1, 5, 1], [1e-100] * 4 + [1e100], [0.5] * 5]
    names = ["cg", "cg@3", "dcg@3", "ndcg", "ndcg@4"]
    for table in tables:
        gain = dict(enumerate(table))
        own = [
            type(measure)(k=measure.k, gain=gain) for measure in parse_measures(names)
        ]
        for scores in (rng.integers(0, 3, 300), rng.normal(size=300)):
            helpers.assert_engines_agree(labels, scores, qid, own)


def test_gains_of_a_tie_are_added_exactly():
    gain = dict(enumerate([0, 1, 1, 2.0**53]))
    with use_engine("compiled"):
        report = evaluate([3, 2, 1], [0, 0, 0], measures=m.CG(1, gain=gain))
    assert report.expected[0, 0] == (2.0**53 + 2) / 3
