"""Agreement of assessors; pools, votes of systems, samples of a collection."""

import doctest
import itertools
import math
from fractions import Fraction

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
    fleiss_kappa,
    joint_agreement,
    kappa_in_words,
    leave_one_out,
    pseudo_relevance,
    scott_pi,
)

# relevant for both, for the first alone, for the second alone, for neither
YES_NO = ([1, 1, 0, 0], [1, 0, 1, 0])


def test_scott_pi_and_fleiss_kappa_of_the_table_of_the_textbook():
    weight = [300, 20, 10, 70]
    relevant = Fraction(320 + 310, 800)
    chance = relevant**2 + (1 - relevant) ** 2
    expected = float((Fraction(370, 400) - chance) / (1 - chance))
    pi = scott_pi(*YES_NO, sample_weight=weight)
    assert pi == pytest.approx(expected, abs=1e-15)
    assert round(pi, 5) == 0.77591
    assert joint_agreement(*YES_NO, sample_weight=weight) == 370 / 400
    first, second = np.repeat(YES_NO, weight, axis=1)
    # each assessor's own margins give Cohen's
    kappa = cohen_kappa_score(first, second)
    assert round(kappa, 5) == 0.77612
    n_yes = first + second
    counts = np.stack([2 - n_yes, n_yes], axis=1)
    assert fleiss_kappa(counts) == pytest.approx(expected, abs=1e-14)


def test_fleiss_kappa_of_fourteen_assessors():
    # ten items, five categories: Fleiss (1971), as reprinted
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    kappa = fleiss_kappa(counts)
    assert round(kappa, 3) == 0.210


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_pi_by_fractions(pairs):
    first, second = zip(*pairs, strict=True)
    n = len(pairs)
    n_agreed = sum(a == b for a, b in pairs)
    agreed = Fraction(n_agreed, n)
    both = [*first, *second]
    chance = Fraction(0)
    for grade in set(both):
        share = Fraction(both.count(grade), 2 * n)
        chance += share**2
    pi = scott_pi(first, second)
    if chance == 1:
        assert math.isnan(pi)
    else:
        expected = (agreed - chance) / (1 - chance)
        assert pi == pytest.approx(float(expected))
    first_texts = [f"grade {grade}" for grade in first]
    second_texts = [f"grade {grade}" for grade in second]
    assert scott_pi(first_texts, second_texts) == pytest.approx(pi, nan_ok=True)


@pytest.mark.parametrize(("kappa", "words"), [
    (-0.1, "poor"),
    (0, "slight"),
    (0.2, "slight"),
    (0.21, "fair"),
    (0.4, "fair"),
    (0.41, "moderate"),
    (0.6, "moderate"),
    (0.61, "substantial"),
    (0.8, "substantial"),
    (0.81, "almost perfect"),
    (1, "almost perfect"),
])  # fmt: skip
def test_kappa_in_words(kappa, words):
    assert kappa_in_words(kappa) == words


@pytest.mark.parametrize("kappa", [1.1, -2, math.nan])
def test_kappa_in_words_refuses_what_is_no_kappa(kappa):
    with pytest.raises(ValueError, match=r"kappa must be in \[-1, 1\], got"):
        kappa_in_words(kappa)


@pytest.mark.parametrize("ratings", [[0, 1], [2, 0, 2, 5, 1, 1, 3], [0] * 9 + [1]])
def test_full_agreement_is_one_to_the_bit(ratings):
    assert joint_agreement(ratings, ratings) == 1
    assert scott_pi(ratings, ratings) == 1
    columns = np.stack([ratings] * 3, axis=1)
    report = assessor_agreement(columns)
    assert report.fleiss == 1
    assert "almost perfect" in str(report)


def noisy_grades():
    """The grades that three assessors give to 80 items: most of them true."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, (80, 1))
    guess = rng.integers(0, 3, (80, 3))
    is_true = rng.random((80, 3)) < 0.8
    return np.where(is_true, truth, guess)


def test_agreement_of_several():
    grades = noisy_grades()
    ann, bob, cleo = grades.T
    report = assessor_agreement(grades, names=["ann", "bob", "cleo"])
    assert report.n_items == 80
    assert report.scott[0, 2] == scott_pi(ann, cleo)
    assert report.joint[1, 2] == pytest.approx((bob == cleo).mean())
    assert report.correlation[0, 1] == stats.kendalltau(ann, bob).statistic
    is_unanimous = (ann == bob) & (ann == cleo)
    assert report.all_agree == pytest.approx(is_unanimous.mean())
    counts = [(grades == grade).sum(axis=1) for grade in range(3)]
    kappa = fleiss_kappa(np.transpose(counts))
    assert report.fleiss == pytest.approx(kappa)


def test_the_table_of_agreement_has_a_row_for_each_pair():
    report = assessor_agreement(noisy_grades(), names=["ann", "bob", "cleo"])
    table = report.to_pandas()
    assert table.columns.tolist()[:2] == ["assessor", "other"]
    assert table["assessor"].tolist() == ["ann", "ann", "bob"]
    assert table["other"].tolist() == ["bob", "cleo", "cleo"]
    for name in ("joint", "scott", "correlation"):
        values = getattr(report, name)
        assert table[name].tolist() == [values[0, 1], values[0, 2], values[1, 2]]
        assert np.array_equal(values, values.T)
    assert "ann, cleo" in str(report)
    assert "all assessors agree on" in str(report)


def test_grades_may_be_texts_which_have_no_correlation():
    grades = noisy_grades()
    names = np.array(["no", "fair", "good"])
    of_texts = assessor_agreement(names[grades])
    assert of_texts.fleiss == pytest.approx(assessor_agreement(grades).fleiss)
    assert np.isnan(of_texts.correlation[0, 1])


def test_equal_grades_have_no_ranking_to_correlate():
    frame = pd.DataFrame({"ann": [1, 0, 1], "bob": [1, 1, 1]})
    report = assessor_agreement(frame)
    assert report.names == ("ann", "bob")
    assert np.isnan(report.correlation[0, 1])
    single = assessor_agreement([[1, 2]])
    assert np.isnan(single.correlation[0, 1])


# pools and votes
def run(*rows):
    qid, docno, score = zip(*rows, strict=True)
    return {"qid": list(qid), "docno": list(docno), "score": list(score)}


SCORES = st.sampled_from([-math.inf, 0.0, 1.0, 1.0, 2.0])
OF_FOUR = st.lists(SCORES, min_size=4, max_size=4)


def first_documents(scores, depth):
    """The first documents of every order of ties."""
    retrieved = [document for document in scores if scores[document] > -math.inf]
    outcomes = []
    for order in itertools.permutations(retrieved):
        ordered = [scores[document] for document in order]
        if ordered == sorted(ordered, reverse=True):
            outcomes.append(order[:depth])
    return outcomes


@settings(max_examples=40)
@given(st.lists(OF_FOUR, min_size=1, max_size=2), st.integers(1, 5))
def test_pools_equal_enumeration(scores, depth):
    documents = "abcd"
    # row by row of two queries, of which the second has the scores reversed
    keys = {"qid": ["q", "p"] * 4, "docno": np.repeat([*documents], 2)}
    runs = []
    outcomes = []
    for of_run in scores:
        both = np.stack([of_run, of_run[::-1]], axis=1)
        runs.append(keys | {"score": both.ravel()})
        score_of = dict(zip(documents, of_run, strict=True))
        outcomes.append(first_documents(score_of, depth))
    pools = []
    for chosen in itertools.product(*outcomes):
        pools.append(set().union(*chosen))
    pool = depth_pool(runs, depth)
    pooled = list(zip(pool.qid.tolist(), pool.docno.tolist(), strict=True))
    probability = dict(zip(pooled, pool.probability.tolist(), strict=True))
    for document, mirrored in zip(documents, "dcba", strict=True):
        n_with = sum(document in docnos for docnos in pools)
        chance = pytest.approx(n_with / len(pools))
        assert probability.get(("q", document), 0) == chance
        assert probability.get(("p", mirrored), 0) == chance
    sizes = [2 * len(docnos) for docnos in pools]
    assert pool.expected_size == pytest.approx(np.mean(sizes))
    assert pool.certain.sum() <= min(sizes)
    assert max(sizes) <= len(pool.docno)
    # queries by first appearance, documents sorted
    assert pooled == sorted(pooled, key=lambda key: (key[0] == "p", key[1]))
    assert f"depth {depth}" in str(pool)


def test_what_is_certain_is_in_the_pool_in_any_order():
    tied = run(*((1, document, 1) for document in "abcdefghij"))
    pool = depth_pool([tied] * 17, 9)
    assert pool.certain.sum() == 0
    assert len(pool.docno) == 10
    assert (pool.probability > 1 - 1e-15).all()
    untied = run((1, "a", 3))
    pool = depth_pool([tied, untied], 9)
    assert pool.certain.sum() == 1
    columns = pool.to_pandas().columns
    assert columns[:2].tolist() == ["qid", "docno"]


def rank_of(run, query, docno):
    """The best rank of a document in the list of a query; infinite if not retrieved."""
    scores = {}
    for q, document, score in zip(run["qid"], run["docno"], run["score"], strict=True):
        if q == query:
            scores[document] = score
    if scores[docno] == -math.inf:
        return math.inf
    return 1 + sum(score > scores[docno] for score in scores.values())


@settings(max_examples=60)
@given(st.lists(st.lists(SCORES, min_size=8, max_size=8), min_size=1, max_size=3))
def test_strata_are_bands_of_the_best_rank(scores):
    depth = 5
    keys = {"qid": [*"qqqqqqpp"], "docno": [*"abcdefab"]}
    runs = [{**keys, "score": of_run} for of_run in scores]
    ranks = depth_pool(runs, depth)
    bands = depth_pool(runs, depth, by="band")
    wide = depth_pool(runs, depth, by="band", rho=3)
    pooled = zip(ranks.qid.tolist(), ranks.docno.tolist(), strict=True)
    for i, (query, docno) in enumerate(pooled):
        best = min(rank_of(run, query, docno) for run in runs)
        best = min(best, depth)
        assert ranks.stratum[i] == best
        # ranks 1, 2 to 3, 4 to 7; with 3: 1 to 2, 3 to 8
        assert bands.stratum[i] == best.bit_length()
        assert wide.stratum[i] == 1 + (best >= 3)
    lines = str(bands).splitlines()[3:]
    parts = [line.split()[-3:] for line in lines]
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


RUNS_BY_NAME = {
    "one": run(("q", "a", 3), ("q", "b", 2), ("q", "c", 1), ("p", "a", 1)),
    "two": run(("q", "b", 3), ("q", "d", 2), ("q", "a", 1), ("r", "a", 1)),
}
JUDGED = {"qid": [*"qqqpq"], "docno": [*"abead"], "target": [1, 1, 1, 2, math.nan]}
ONE = run(("q", "a", 1))
TWICE = run(("q", "a", 1), ("q", "a", 2))


BAD_GRADES = [
    ([1, 0], [1], r"y2 must have one value per row \(2\), got 1"),
    ([], [], "y1 must be a 1-D array of at least one value"),
    ([1, math.nan], [1, 0], "y1 must not be missing .*got nan in"),
    ([1, 0], [1, -math.inf], "y2 must be finite, got -inf in"),
    ([1, 2], ["1", "2"], "y1 and y2 must both have a string dtype, or neither"),
]


@pytest.mark.parametrize(("y1", "y2", "message"), BAD_GRADES)
def test_grades_that_are_refused(y1, y2, message):
    with pytest.raises(ValueError, match=message):
        scott_pi(y1, y2)


def test_negative_weights_of_grades_are_refused():
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        scott_pi([1], [1], sample_weight=[-1])


BAD_COUNTS = [
    ([1, 2], r"counts .* shape \(n_items, n_categories\), got"),
    ([[1, 1], [2, 1]], "at least 2, in every row, got 3 in row"),
    ([[1, 0]], "at least 2, in every row, got 1 in row 0"),
    ([[1.5, 0.5]], "counts must be whole numbers >= 0"),
    ([[np.inf, 2]], "whole numbers >= 0, got inf in row 0"),
]


@pytest.mark.parametrize(("counts", "message"), BAD_COUNTS)
def test_counts_that_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        fleiss_kappa(counts)


def test_ratings_and_names_that_are_refused():
    with pytest.raises(ValueError, match="ratings must have a row for each item"):
        assessor_agreement([[1], [2]])
    with pytest.raises(ValueError, match="names must contain 2"):
        assessor_agreement([[1, 2]], names=["a"])


BAD_RUNS = [
    ([], "runs must be a sequence of at least one run"),
    (ONE, "runs must be a sequence of at le"),
    ([TWICE], r"runs\[0\] .* each document .* once, got 'a' 2 times for query 'q'"),
    ([run(("q", "a", math.nan))], r"\[0\] score must not be NaN"),
]


@pytest.mark.parametrize(("runs", "message"), BAD_RUNS)
def test_runs_that_are_refused(runs, message):
    with pytest.raises(ValueError, match=message):
        depth_pool(runs, 5)


def test_options_of_a_pool_that_are_refused():
    with pytest.raises(ValueError, match="depth must be an integer >= 1, got 0"):
        depth_pool([ONE], 0)
    with pytest.raises(ValueError, match=r"by must be one of .* got 'x'"):
        depth_pool([ONE], 1, by="x")
    with pytest.raises(ValueError, match="rho must be > 1, got 1"):
        depth_pool([ONE], 1, rho=1)


def test_numbers_of_votes_that_are_refused():
    with pytest.raises(ValueError, match=r"m must be below .* runs \(1\), got 1"):
        pseudo_relevance([ONE], 1)
    with pytest.raises(ValueError, match="m must be an integer >= 0, got -1"):
        pseudo_relevance([ONE], -1)


BAD_JUDGMENTS = [
    ("target", None, "judgments target must"),
    ("target", [1, 1], "judgments target .* one value per row .5., got 2"),
    ("target", [1, 1, 1, 2, -1], "judgments target must be >= 0, got -1"),
    ("docno", [*"aaead"], "judgments must contain each .* once, got 'a' 2 times"),
    ("qid", [1, None, 1, 1, 1], "judgments qid must"),
]


@pytest.mark.parametrize(("column", "values", "message"), BAD_JUDGMENTS)
def test_judgments_that_are_refused(column, values, message):
    judgments = JUDGED | {column: values}
    with pytest.raises(ValueError, match=message):
        leave_one_out(RUNS_BY_NAME, judgments)


def test_runs_without_the_judgments_of_their_own():
    # down to rank 1, a is of the first run alone, b of the second; r has no judgments
    report = leave_one_out(RUNS_BY_NAME, JUDGED, measure="ap", depth=1)
    assert report.systems == ("one", "two")
    assert report.n_alone.tolist() == [2, 1]
    assert report.n_relevant.tolist() == [2, 1]
    # of three relevant documents of q: 1 + 1, 1 + 2/3; of p: 1 and none
    assert report.value == pytest.approx([(2 / 3 + 1) / 2, (5 / 9 + 0) / 2])
    # without a: b at rank 2 of b and e; without b: a at rank 3 of a and e
    assert report.without == pytest.approx([(1 / 4 + 0) / 2, (1 / 6 + 0) / 2])
    first_row = str(report).splitlines()[2]
    assert first_row.split()[:3] == ["one", "2", "2"]
    # deeper, both have a and b, and d has no judgment
    runs = list(RUNS_BY_NAME.values())
    deeper = leave_one_out(runs, JUDGED, depth=3)
    assert deeper.systems == ("run 0", "run 1")
    assert deeper.n_alone.tolist() == [1, 0]
    assert deeper.value.tolist() == report.value.tolist()
    assert deeper.without[1] == deeper.value[1]


def test_a_tie_that_reaches_the_pool_is_not_alone():
    tied = run(("q", "a", 1), ("q", "b", 1))
    report = leave_one_out([RUNS_BY_NAME["one"], tied], JUDGED, measure="rr", depth=1)
    # a may be first in the second run, which alone may bring b
    assert report.n_alone.tolist() == [1, 1]
    # of q and p: first or second in equal shares; b is not relevant then
    assert report.value[1] == pytest.approx((1 + 0) / 2)
    assert report.without[1] == pytest.approx((3 / 4 + 0) / 2)


def names_of_the_example():
    """What the guide's example of labels of a model defines before it prints."""
    page = (DOCS / "howto" / "judgments.md").read_text()
    section = page.partition("## Labels of a model")[2]
    code = section.partition("```python")[2]
    names = {}
    for example in doctest.DocTestParser().get_examples(code)[:-1]:
        if "for people, model in" in example.source:
            break
        exec(example.source, names)
    return names


def test_what_labels_of_a_model_gain_beside_those_of_people():
    names = names_of_the_example()
    estimate, a, b = names["estimate"], names["a"], names["b"]
    orders = [names["rng"].permutation(2000) for _ in range(1000)]
    for (people, model), correlation in ((b, 0.60), (b - a, 0.66)):
        assert np.corrcoef(people, model)[0, 1] == pytest.approx(correlation, abs=0.01)
        bias = model - people
        estimates = []
        for order in orders:
            judged, unjudged = order[:100], order[100:]
            alone = estimate(people[judged])
            powered = estimate(model[unjudged], -bias[judged])
            estimates.append([alone, powered])
        mean, half = np.moveaxis(np.array(estimates), -1, 0)
        alone, powered = half.mean(axis=0)
        assert powered / alone == pytest.approx(0.8, abs=0.01)
        is_covered = np.abs(mean - people.mean()) < half
        share = is_covered.mean(axis=0)
        assert ((share > 0.93) & (share < 0.97)).all()
