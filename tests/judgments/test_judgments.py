"""Agreement of assessors; pools, votes of systems, samples of a collection."""

import doctest
import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from tests.pages import DOCS
from tieaware_sklearn.judgments import (
    assessor_agreement,
    depth_pool,
    estimate_recall,
    fleiss_kappa,
    joint_agreement,
    kappa_in_words,
    leave_one_out,
    pseudo_relevance,
    scott_pi,
)

# relevant for both, for the first alone, for the second alone, for neither
YES_NO = ([1, 1, 0, 0], [1, 0, 1, 0])


def test_the_tables_of_the_textbook_and_of_fleiss():
    weight = [300, 20, 10, 70]
    relevant = Fraction(320 + 310, 800)
    chance = relevant**2 + (1 - relevant) ** 2
    pi = (Fraction(370, 400) - chance) / (1 - chance)
    report = scott_pi(*YES_NO, sample_weight=weight)
    assert report == pytest.approx(float(pi), abs=1e-15)
    assert round(report, 5) == 0.77591
    assert joint_agreement(*YES_NO, sample_weight=weight) == 370 / 400
    rows = [np.repeat(column, weight) for column in YES_NO]
    # each assessor's own margins give Cohen's
    assert round(cohen_kappa_score(*rows), 5) == 0.77612
    counts = np.stack([2 - np.add(*rows), np.add(*rows)], axis=1)
    assert fleiss_kappa(counts) == pytest.approx(float(pi), abs=1e-14)
    # fourteen assessors, ten items, five categories: Fleiss (1971), as reprinted
    counts = [
        *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0]),
        *([2, 2, 8, 1, 1], [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2]),
        *([6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
    ]
    assert round(fleiss_kappa(counts), 3) == 0.210


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_pi_by_fractions(pairs):
    first, second = zip(*pairs, strict=True)
    n = len(pairs)
    agreed = Fraction(sum(a == b for a, b in pairs), n)
    both = [*first, *second]
    chance = sum(Fraction(both.count(c), 2 * n) ** 2 for c in set(both))
    report = scott_pi(first, second)
    if chance == 1:
        assert math.isnan(report)
    else:
        assert report == pytest.approx(float((agreed - chance) / (1 - chance)))
    texts = [[f"grade {v}" for v in column] for column in (first, second)]
    assert scott_pi(*texts) == pytest.approx(report, nan_ok=True)


def test_kappa_in_words():
    scale = [-0.1, 0, 0.2, 0.21, 0.4, 0.41, 0.6, 0.61, 0.8, 0.81, 1]
    assert [kappa_in_words(kappa) for kappa in scale] == [
        *("poor", "slight", "slight", "fair", "fair", "moderate", "moderate"),
        *("substantial", "substantial", "almost perfect", "almost perfect"),
    ]
    for kappa in (1.1, -2, math.nan):
        with pytest.raises(ValueError, match=r"kappa must be in \[-1, 1\], got"):
            kappa_in_words(kappa)


@pytest.mark.parametrize("ratings", [[0, 1], [2, 0, 2, 5, 1, 1, 3], [0] * 9 + [1]])
def test_full_agreement_is_one_to_the_bit(ratings):
    assert joint_agreement(ratings, ratings) == scott_pi(ratings, ratings) == 1
    report = assessor_agreement(np.stack([ratings] * 3, axis=1))
    assert report.fleiss == 1
    assert "almost perfect" in str(report)


def test_agreement_of_several():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 80)
    guess = rng.integers(0, 3, (80, 3))
    noisy = np.where(rng.random((80, 3)) < 0.8, truth[:, None], guess)
    report = assessor_agreement(noisy, names=["ann", "bob", "cleo"])
    assert report.scott[0, 2] == scott_pi(noisy[:, 0], noisy[:, 2])
    assert report.joint[1, 2] == pytest.approx((noisy[:, 1] == noisy[:, 2]).mean())
    tau = stats.kendalltau(noisy[:, 0], noisy[:, 1]).statistic
    assert report.correlation[0, 1] == tau
    alike = (noisy == noisy[:, :1]).all(axis=1).mean()
    assert (report.all_agree, report.n_items) == (pytest.approx(alike), 80)
    counts = np.stack([(noisy == grade).sum(axis=1) for grade in range(3)], axis=1)
    assert report.fleiss == pytest.approx(fleiss_kappa(counts))
    table = report.to_pandas()
    assert table.columns.tolist()[:2] == ["assessor", "other"]
    pairs = [("ann", "bob"), ("ann", "cleo"), ("bob", "cleo")]
    assert list(zip(table["assessor"], table["other"], strict=True)) == pairs
    for name in ("joint", "scott", "correlation"):
        values = getattr(report, name)
        assert table[name].tolist() == [values[0, 1], values[0, 2], values[1, 2]]
        assert np.array_equal(values, values.T)
    assert "ann, cleo" in str(report)
    assert "all assessors agree on" in str(report)
    texts = assessor_agreement(np.array(["no", "fair", "good"])[noisy])
    assert texts.fleiss == pytest.approx(report.fleiss)
    assert np.isnan(texts.correlation[0, 1])
    # names of a frame; all alike: no ranking to correlate
    report = assessor_agreement(pd.DataFrame({"ann": [1, 0, 1], "bob": [1, 1, 1]}))
    assert report.names == ("ann", "bob")
    assert np.isnan(report.correlation[0, 1])
    assert np.isnan(assessor_agreement([[1, 2]]).correlation[0, 1])


# pools and votes
def run(*rows):
    qid, docno, score = (list(column) for column in zip(*rows, strict=True))
    return {"qid": qid, "docno": docno, "score": score}


SCORES = st.sampled_from([-math.inf, 0.0, 1.0, 1.0, 2.0])
OF_FOUR = st.lists(SCORES, min_size=4, max_size=4)


@settings(max_examples=40)
@given(st.lists(OF_FOUR, min_size=1, max_size=2), st.integers(1, 5))
def test_pools_equal_enumeration(scores, depth):
    documents = "abcd"
    runs, outcomes = [], []
    for own in scores:
        # row by row of two queries, of which the second has the scores the other way
        both = np.stack([own, own[::-1]], axis=1).ravel()
        rows = {"qid": ["q", "p"] * 4, "docno": np.repeat([*documents], 2)}
        runs.append(rows | {"score": both})
        score_of = dict(zip(documents, own, strict=True))
        retrieved = [d for d in documents if score_of[d] > -math.inf]
        orders = itertools.permutations(retrieved)
        ranked = (
            o for o in orders if [*o] == sorted(o, key=score_of.get, reverse=True)
        )
        outcomes.append([o[:depth] for o in ranked])
    pools = [set(itertools.chain(*chosen)) for chosen in itertools.product(*outcomes)]
    pool = depth_pool(runs, depth)
    keys = zip(pool.qid.tolist(), pool.docno.tolist(), strict=True)
    report = dict(zip(keys, pool.probability.tolist(), strict=True))
    for document, mirrored in zip(documents, documents[::-1], strict=True):
        chance = Fraction(sum(document in p for p in pools), len(pools))
        assert report.get(("q", document), 0) == pytest.approx(float(chance))
        assert report.get(("p", mirrored), 0) == pytest.approx(float(chance))
    sizes = [2 * len(p) for p in pools]
    assert pool.expected_size == pytest.approx(sum(sizes) / len(sizes))
    assert pool.certain.sum() <= min(sizes)
    assert max(sizes) <= len(pool.docno)
    # queries by first appearance, documents sorted
    order = sorted(report, key=lambda key: (key[0] == "p", key[1]))
    assert [*report] == order
    assert f"depth {depth}" in str(pool)


def test_what_is_certain_is_in_the_pool_in_any_order():
    tied = run(*((1, document, 1) for document in "abcdefghij"))
    pool = depth_pool([tied] * 17, 9)
    assert (pool.certain.sum(), len(pool.docno)) == (0, 10)
    assert (pool.probability > 1 - 1e-15).all()
    pool = depth_pool([tied, run((1, "a", 3))], 9)
    assert pool.certain.sum() == 1
    assert list(pool.to_pandas().columns)[:2] == ["qid", "docno"]


@settings(max_examples=60)
@given(st.lists(st.lists(SCORES, min_size=8, max_size=8), min_size=1, max_size=3))
def test_strata_are_bands_of_the_best_rank(scores):
    depth = 5
    keys = {"qid": [*"qqqqqqpp"], "docno": [*"abcdefab"]}
    runs = [{**keys, "score": own} for own in scores]
    ranks = depth_pool(runs, depth)
    bands = depth_pool(runs, depth, by="band")
    wide = depth_pool(runs, depth, by="band", rho=3)
    keys = list(zip(ranks.qid.tolist(), ranks.docno.tolist(), strict=True))
    for i, (qid, docno) in enumerate(keys):
        best = depth
        for order in runs:
            rows = list(zip(order["qid"], order["docno"], order["score"], strict=True))
            own = [s for q, d, s in rows if (q, d) == (qid, docno) and s > -math.inf]
            if own:
                above = sum(q == qid and s > own[0] for q, _, s in rows)
                best = min(best, above + 1)
        assert ranks.stratum[i] == best
        # ranks 1, 2 to 3, 4 to 7; with 3: 1 to 2, 3 to 8
        assert bands.stratum[i] == best.bit_length()
        assert wide.stratum[i] == 1 + (best >= 3)
    parts = [line.split()[-3:] for line in str(bands).splitlines()[3:]]
    counts = np.array(parts, dtype=float).reshape(-1, 3)
    assert counts[:, 2].sum() == len(bands.stratum)
    assert counts[:, 1].sum() == bands.certain.sum()


def test_votes():
    runs = [
        run(("q", "a", 2), ("q", "b", 1), ("p", "z", 1)),
        run(("q", "b", 5), ("q", "a", -math.inf), ("q", "c", 4)),
        run(("q", "b", 5), ("q", "c", 4)),
    ]
    votes = pseudo_relevance(runs, m=1)
    assert votes.qid.tolist() == ["q", "q", "q", "p"]
    assert votes.docno.tolist() == ["a", "b", "c", "z"]
    assert votes.n_runs.tolist() == [1, 3, 2, 1]
    assert votes.target.tolist() == [0, 1, 1, 0]
    table = votes.to_pandas()
    assert table.columns.tolist() == ["qid", "docno", "target", "n_runs"]
    assert table["target"].sum() == 2
    assert str(votes).splitlines()[-1].split() == ["2", "4", "2"]
    assert pseudo_relevance(runs, m=2).target.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_of_a_share_are_those_of_clopper_and_pearson(confidence):
    n = 12
    for k in range(n + 1):
        sample = [2] * k + [0] * (n - k)
        report = estimate_recall(sample, 1000, confidence=confidence).share_interval
        known = stats.binomtest(k, n).proportion_ci(confidence, method="exact")
        assert report == pytest.approx(known, rel=1e-12)


def test_recall_of_a_sample():
    report = estimate_recall([3, 0, 1, 0], 1000, n_found=100, rel=2)
    assert (report.share, report.n_relevant, report.recall) == (0.25, 250, 0.4)
    low, high = report.share_interval
    # no fewer than were found
    assert 1000 * low < 100
    assert report.n_relevant_interval == pytest.approx([100, 1000 * high])
    unknown = estimate_recall([3, 0, 1, 0], 1000, rel=2)
    assert unknown.n_relevant_interval == pytest.approx([1000 * low, 1000 * high])
    assert report.recall_interval == pytest.approx([0.1 / high, 1])
    table = report.to_pandas()
    assert table.estimate.tolist() == [0.25, 250, 0.4]
    assert str(report).splitlines()[-1].split()[:2] == ["recall", "0.4"]
    # a sample without a relevant document bounds recall from below
    none = estimate_recall([0] * 10, 1000, n_found=100)
    assert np.isnan(none.recall)
    assert none.recall_interval == pytest.approx([0.1 / none.share_interval[1], 1])
    assert np.isnan(estimate_recall([1, 0], 10).recall_interval).all()
    nothing = estimate_recall([1, 0], 10, n_found=0)
    assert (nothing.recall, *nothing.recall_interval) == (0, 0, 0)


def test_what_was_found_is_in_the_estimate_of_recall():
    more = estimate_recall([1] + [0] * 9, n_population=100, n_found=20)
    assert (more.n_relevant, more.recall) == (20, 1)
    assert more.n_relevant_interval[0] == 20
    with pytest.warns(UserWarning, match="n_found=50 contradicts the sample"):
        contradicted = estimate_recall([1] + [0] * 9, n_population=100, n_found=50)
    assert (contradicted.n_relevant, contradicted.recall) == (50, 1)
    assert contradicted.n_relevant_interval.tolist() == [50, 50]
    # the relevant and the irrelevant documents of the sample are known
    small = estimate_recall([1, 1, 0, 0], n_population=5)
    assert small.n_relevant_interval.tolist() == [2, 3]


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_the_size_of_a_sample(share):
    relevant = round(100 * share)
    report = estimate_recall([1] * relevant + [0] * (100 - relevant), 10**6)
    size = report.sample_size(0.02)
    counts = relevant * size // 100, size
    width = np.ptp(stats.binomtest(*counts).proportion_ci(method="exact"))
    assert width == pytest.approx(0.02, rel=0.02)
    assert report.sample_size(0.0001) == 10**6


RUNS_BY_NAME = {
    "one": run(("q", "a", 3), ("q", "b", 2), ("q", "c", 1), ("p", "a", 1)),
    "two": run(("q", "b", 3), ("q", "d", 2), ("q", "a", 1), ("r", "a", 1)),
}
JUDGED = {"qid": [*"qqqpq"], "docno": [*"abead"], "target": [1, 1, 1, 2, math.nan]}
ONE = run(("q", "a", 1))
TWICE = run(("q", "a", 1), ("q", "a", 2))


def judged(change):
    """Leave one run out, with judgments that are wrong."""
    return leave_one_out(RUNS_BY_NAME, JUDGED | change)


@pytest.mark.parametrize(("function", "arguments", "message"), [
    (scott_pi, ([1, 0], [1]), r"y2 must have one value per row \(2\), got 1"),
    (scott_pi, ([], []), "y1 must be a 1-D array of at least one value"),
    (scott_pi, ([1, math.nan], [1, 0]), "y1 must not be missing .*got nan in"),
    (scott_pi, ([1, 0], [1, -math.inf]), "y2 must be finite, got -inf in"),
    (partial(scott_pi, sample_weight=[-1]), ([1], [1]), "sample_weight must be finite"),
    (scott_pi, ([1, 2], ["1", "2"]), "y1 and y2 must both hold numbers"),
    (fleiss_kappa, ([1, 2],), r"counts .* shape \(n_items, n_categories\), got"),
    (fleiss_kappa, ([[1, 1], [2, 1]],), "at least 2, in every row, got 3 in row"),
    (fleiss_kappa, ([[1, 0]],), "at least 2, in every row, got 1 in row 0"),
    (fleiss_kappa, ([[1.5, 0.5]],), "counts must be whole numbers >= 0"),
    (fleiss_kappa, ([[np.inf, 2]],), "whole numbers >= 0, got inf in row 0"),
    (assessor_agreement, ([[1], [2]],), "ratings must have a row for each item"),
    (partial(assessor_agreement, names=["a"]), ([[1, 2]],), "names must hold 2"),
    (depth_pool, ([], 5), "runs must be a sequence of at least one run"),
    (depth_pool, (ONE, 5), "runs must be a sequence of at le"),
    (depth_pool, ([ONE], 0), "depth must be an integer >= 1, got 0"),
    (partial(depth_pool, by="x"), ([ONE], 1), "by must be one of .* got 'x'"),
    (partial(depth_pool, rho=1), ([ONE], 1), "rho must be > 1, got 1"),
    (depth_pool, ([TWICE], 5), r"runs\[0\] .* each document .* once, got 'a' twice "
     "for query 'q'"),
    (depth_pool, ([run(("q", "a", math.nan))], 5), r"\[0\] score must not be NaN"),
    (pseudo_relevance, ([ONE], 1), r"m must be below .* runs \(1\), got 1"),
    (pseudo_relevance, ([ONE], -1), "m must be an integer >= 0, got -1"),
    (estimate_recall, ([1, math.nan], 10), "judged_sample must be judged .* row 1"),
    (estimate_recall, ([1, -1], 10), "judged_sample must be >= 0, got -1"),
    (estimate_recall, ([1, 0, 1], 2), "n_population must be an integer >= 3, got 2"),
    (estimate_recall, ([1, 0], 10, 11),
     r"n_found must be at most 9 \(n_population without .*, got 11"),
    (estimate_recall, ([1, 0], 10, -1), "n_found must be an integer >= 0, got -1"),
    (partial(estimate_recall, confidence=1), ([1, 0], 10),
     r"confidence must be .* in \(0, 1\), got 1"),
    (judged, ({"target": None},), "judgments target must"),
    (judged, ({"target": [1, 1]},), "judgments target .* one value per row .5., got 2"),
    (judged, ({"target": [1, 1, 1, 2, -1]},), "judgments target must be >= 0, got -1"),
    (judged, ({"docno": [*"aaead"]},), "judgments must hold each .* once, got 'a' tw"),
    (judged, ({"qid": [1, None, 1, 1, 1]},), "judgments qid must"),
])  # fmt: skip
def test_bad_input(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


def test_runs_without_the_judgments_of_their_own():
    # down to rank 1, a is of the first run alone, b of the second; r has no judgments
    report = leave_one_out(RUNS_BY_NAME, JUDGED, measure="ap", depth=1)
    assert report.systems == ("one", "two")
    assert report.n_alone.tolist() == report.n_relevant.tolist() == [2, 1]
    # of three relevant documents of q: 1 + 1, 1 + 2/3; of p: 1 and none
    assert report.value == pytest.approx([(2 / 3 + 1) / 2, (5 / 9 + 0) / 2])
    # without a: b at rank 2 of b and e; without b: a at rank 3 of a and e
    assert report.without == pytest.approx([(1 / 4 + 0) / 2, (1 / 6 + 0) / 2])
    # deeper, both have a and b, and d has no judgment
    deeper = leave_one_out([*RUNS_BY_NAME.values()], JUDGED, depth=3)
    assert deeper.systems == ("run 0", "run 1")
    assert deeper.n_alone.tolist() == [1, 0]
    assert deeper.value.tolist() == report.value.tolist()
    assert deeper.without[1] == deeper.value[1]
    assert str(report).splitlines()[2].split()[:3] == ["one", "2", "2"]


def test_a_tie_that_reaches_the_pool_is_not_alone():
    tied = run(("q", "a", 1), ("q", "b", 1))
    report = leave_one_out([RUNS_BY_NAME["one"], tied], JUDGED, measure="rr", depth=1)
    # a may be first in the second run, which alone may bring b
    assert report.n_alone.tolist() == [1, 1]
    # of q and p: first or second in equal shares; b is not relevant then
    assert report.value[1] == pytest.approx((1 + 0) / 2)
    assert report.without[1] == pytest.approx((3 / 4 + 0) / 2)


def test_what_labels_of_a_model_gain_beside_those_of_people():
    page = (DOCS / "howto" / "judgments.md").read_text()
    code = page.partition("## Labels of a model")[2].partition("```python")[2]
    names = {}
    for example in doctest.DocTestParser().get_examples(code)[:-1]:
        if "for people, model in" in example.source:
            break
        exec(example.source, names)
    estimate, a, b = names["estimate"], names["a"], names["b"]
    orders = [names["rng"].permutation(2000) for _ in range(1000)]
    for (people, model), correlation in ((b, 0.60), (b - a, 0.66)):
        assert np.corrcoef(people, model)[0, 1] == pytest.approx(correlation, abs=0.01)
        parts = [(people, model - people, order[:100], order[100:]) for order in orders]
        report = [(estimate(y[n]), estimate((y + d)[m], -d[n])) for y, d, n, m in parts]
        mean, half = np.moveaxis(np.array(report), -1, 0)
        alone, powered = half.mean(axis=0)
        assert powered / alone == pytest.approx(0.8, abs=0.01)
        covered = (np.abs(mean - people.mean()) < half).mean(axis=0)
        assert ((covered > 0.93) & (covered < 0.97)).all()
