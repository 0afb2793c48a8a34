"""Labels and rows as the kernel has them: ties, codes, memory, and odd arrays."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from tests._kernel import helpers
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn._kernel.arranged import Plan, level_codes
from tieaware_sklearn._kernel.engines import compiled, use_engine
from tieaware_sklearn._kernel.midranks import rank_within
from tieaware_sklearn.measures._parse import parse_measures
from tieaware_sklearn.measures._values import Detail
from tieaware_sklearn.ranking._ranked import Order
from tieaware_sklearn.ranking.plans import plan_of

SOME = parse_measures(["ndcg@3", "ap", "rr", "p@2", "cg", "fallout@2", "rprec"])


@pytest.fixture(autouse=True)
def _by_the_kernel():
    with use_engine("compiled"):
        yield


@given(st.lists(st.sampled_from([-1, -0.5, 0, -0.0, 1, 2.5, 253, 254, 300, 2e9])))
def test_codes_of_labels(labels):
    values = np.array([1.0, *labels])
    levels, codes = level_codes(values)
    assert np.array_equal(levels[codes], values)
    assert np.array_equal(levels, np.unique(values))


def groups_of(labels, scores, qid, **options):
    """The tie groups of each query: where they stand, and their labels."""
    groups_by_query = []

    def read(ranked):
        (groups,) = ranked.ties
        own = [[] for _ in range(groups.n_queries)]
        ends = groups.start + groups.n
        for at, query in enumerate(groups.query.tolist()):
            label = groups.levels[groups.label[groups.start[at] : ends[at]]]
            own[query].append((int(groups.lo[at]), label.tolist()))
        return own

    queries = helpers.prepared(labels, qid, block_rows=20)
    for part in queries.each_block(read, scores, **options):
        groups_by_query += part
    return groups_by_query


@settings(max_examples=80)
@given(
    case=helpers.cases(labels={**helpers.LABELS, **helpers.OTHER_LABELS}),
    order=st.sampled_from(Order),
)
def test_tie_groups_are_those_of_numpy(case, order):
    by_kernel, by_numpy = helpers.by_engine(groups_of, *case, order=order)
    # of one length, queries may stand in another order of blocks
    assert by_kernel == by_numpy


@settings(max_examples=20)
@given(case=helpers.cases(max_documents=40), seed=st.integers(0, 2**32 - 1))
def test_no_bit_depends_on_rows_blocks_threads_or_neighbours(case, seed):
    labels, scores, qid = case
    rng = np.random.default_rng(seed)
    statistics = helpers.values_of(labels, scores, qid, helpers.GRADED)
    shuffled = rng.permutation(len(labels))
    again = helpers.values_of(
        labels[shuffled], scores[shuffled], qid[shuffled], helpers.GRADED
    )
    first, second = (list(dict.fromkeys(ids.tolist())) for ids in (qid, qid[shuffled]))
    order = [second.index(query) for query in first]
    chosen = rng.permutation(len(helpers.GRADED))[: rng.integers(1, 5)]
    fewer = helpers.values_of(
        labels, scores, qid, [helpers.GRADED[at] for at in chosen]
    )
    blocks = helpers.prepared(labels, qid, block_rows=1, keep=True)
    parts = helpers.rankings_of(blocks, scores, helpers.GRADED, n_jobs=2)
    columns = helpers.rankings_of(
        helpers.prepared(labels, qid), np.stack([scores[::-1], scores]), helpers.GRADED
    )
    for name, values in statistics.items():
        assert np.array_equal(values, again[name][order], equal_nan=True), name
        assert np.array_equal(values[:, chosen], fewer[name], equal_nan=True), name
        if name in parts:
            assert np.array_equal(values, parts[name], equal_nan=True), name
            assert np.array_equal(values, columns[name][1], equal_nan=True), name
    for detail in Detail:
        less = helpers.prepared(labels, qid).raw_values(helpers.GRADED, scores, detail)
        assert np.array_equal(less.expected, statistics["expected"], equal_nan=True)
        if detail >= Detail.RANGE:
            assert np.array_equal(less.best, statistics["best"], equal_nan=True)
            assert np.array_equal(less.worst, statistics["worst"], equal_nan=True)


LABEL, CODE = np.array([0.0, 1.0, 2.0]), np.empty(3, dtype=np.int32)
ROOM = CODE, np.array([0, 3]), np.empty((2, 1, 1))


def test_bad_arrays_do_not_reach_memory():
    """Entries are private; what they are given by mistake is an error."""
    for name, *args in (
        ("small_codes", LABEL.astype(np.float32), CODE),
        ("small_codes", LABEL[::-1], CODE),
        ("small_codes", LABEL, CODE.astype(np.int64)),
        ("walk_labels", [None], *ROOM),
        ("walk_labels", [Plan("other")], *ROOM),
        ("walk_labels", [Plan("weighted", gain=np.arange(3))], *ROOM),
    ):
        with pytest.raises((ValueError, TypeError, KeyError)):
            getattr(compiled, name)(*args)
    read_only = LABEL.copy()
    read_only.setflags(write=False)
    assert compiled.small_codes(read_only, CODE) == [0, 1, 2]
    # no rows, and no queries
    assert compiled.small_codes(np.empty(0), np.empty(0, dtype=np.int32)) == []


def test_nothing_leaks():
    size = Path("/proc/self/statm")
    if not size.exists():
        pytest.skip("needs to know the size of the process, as Linux tells it")
    n = 20_000
    label = np.sort(np.arange(n, dtype=np.int32) % 3)
    levels, longest = np.arange(3.0), n
    walks = [plan_of(measure, levels, longest) for measure in SOME]
    out = np.empty((2, 1, len(walks)))

    def calls(number):
        for _ in range(number):
            compiled.walk_labels(walks, label, np.array([0, n]), out)
            with pytest.raises(TypeError):
                compiled.walk_labels([None], label, np.array([0, n]), out)
            with pytest.raises(MemoryError):
                compiled.walk_labels(walks, label, np.array([0, 2**58]), out)
            with pytest.raises(KeyError):
                compiled.walk_labels([Plan("other")], label, np.array([0, n]), out)

    calls(10)
    before = int(size.read_text().split()[0])
    calls(1000)
    # in pages; each call would leave at least 160 kB behind, touched or not
    assert int(size.read_text().split()[0]) - before < 5000


def test_queries_of_one_document_have_no_correlation():
    def fit():
        return RankingFeatureSelector().fit([[2, 3], [1, 4]], [1, 0], qid=[1, 2])

    for selector in helpers.by_engine(fit):
        assert selector.screening_.n_queries == 2


def plain(columns, sizes, *, both_ways):
    """Query by query; NaN is last."""
    out = []
    for sign in (1, -1)[: 1 + both_ways]:
        for column in columns:
            own = []
            for part in np.split(column, np.cumsum(sizes)[:-1]):
                # whole numbers as Python's, which have no largest one
                part = part.tolist() if part.dtype.kind in "iub" else part
                keys = [(x != x, -sign * x if x == x else 0) for x in part]
                place = {key: at for at, key in enumerate(sorted(set(keys)))}
                own += (2 * rankdata([place[k] for k in keys]) - len(part) - 1).tolist()
            out.append(own)
    return np.array(out).T


@settings(max_examples=80)
@given(data=st.data(), both_ways=st.booleans(), kind=st.sampled_from([*helpers.SCORES]))
def test_midranks(data, both_ways, kind):
    dtype, values = helpers.SCORES[kind]
    values = [x for x in values if x != -np.inf]
    sizes = np.array(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=6)))
    n, m = int(sizes.sum()), data.draw(st.integers(1, 3))
    drawn = data.draw(st.lists(st.sampled_from(values), min_size=n * m, max_size=n * m))
    columns = np.array(drawn, dtype=dtype).reshape(m, n)
    wanted = plain(columns, sizes, both_ways=both_ways)
    for ranks in helpers.by_engine(rank_within, columns, sizes, both_ways=both_ways):
        assert np.array_equal(ranks, wanted)


def test_long_queries():
    rng = np.random.default_rng(0)
    sizes = np.array([20_000, 1, 9000])
    whole = rng.integers(0, 30_000, (2, sizes.sum()))
    for step in (1.0, 2.0**-52):
        both = helpers.by_engine(rank_within, 1 + step * whole, sizes, both_ways=True)
        assert np.array_equal(*both)
