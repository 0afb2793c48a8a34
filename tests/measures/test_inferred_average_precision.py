"""Inferred AP: judged, unjudged and relevant documents in ties."""

from __future__ import annotations

import gzip
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.strategies import judged_ranking
from tieaware_sklearn import evaluate, parse_measure, ranking_score, sampled
from tieaware_sklearn.measures import InferredAveragePrecision
from tieaware_sklearn.measures import _average_precision as module

NAN, INF = math.nan, math.inf
POOLS = ("judged", "all")


def unjudged(labels):
    return [NAN if label < 0 else label for label in labels]


@settings(max_examples=200)
@given(case=judged_ranking(max_documents=7), rel=st.sampled_from([1, 2]))
def test_equals_enumeration(case, rel):
    labels, scores = case
    measures = [InferredAveragePrecision(rel, pool) for pool in POOLS]
    report = evaluate(
        unjudged(labels), scores, measures=measures, zero_relevance="skip"
    )
    for j, pool in enumerate(POOLS):
        plain = naive.inferred(rel, pools_all=pool == "all")
        exact = naive.over_ties(plain, labels, scores)
        if exact is None:
            assert np.isnan(report.expected[0, j])
            continue
        found = [getattr(report, name)[0, j] for name in ("expected", "best", "worst")]
        assert found == pytest.approx(list(map(float, exact[:3])), abs=1e-13)
        wanted = math.sqrt(exact.variance)
        assert report.std[0, j] == pytest.approx(wanted, abs=1e-12)
        assert not report.std_is_estimate[0, j]


def plain_mean(pools_all, lo, n, judged, relevant, judged_above, relevant_above):
    """Sums of products of binomials, in fractions."""
    epsilon, total, others = Fraction(1, 100_000), Fraction(0), judged - 1
    share = Fraction(relevant - 1, max(others, 1))
    for x in range(n):
        for j in range(max(0, x - (n - 1 - others)), min(x, others) + 1):
            ways = math.comb(others, j) * math.comb(n - 1 - others, x - j)
            chance = Fraction(ways, math.comb(n - 1, x))
            m = judged_above + j
            precision = (relevant_above + share * j + epsilon) / (m + 2 * epsilon)
            pooled = lo + x if pools_all else m
            total += chance * (1 + pooled * precision) / (lo + x + 1)
    return float(relevant * total / n)


@pytest.mark.parametrize("pools_all", [False, True])
@pytest.mark.parametrize(
    "tie",
    [
        (0, 60, 20, 5, 0, 0),
        (0, 60, 1, 1, 0, 0),
        (7, 60, 59, 30, 0, 0),
        (7, 60, 30, 30, 4, 2),
        (100, 61, 12, 3, 100, 50),
        (0, 300, 150, 40, 0, 0),
    ],
)
def test_means_of_longer_ties(pools_all, tie):
    found = module.mean_of_tie(module.InferredTies(pools_all), tuple(tie))
    assert found == pytest.approx(plain_mean(pools_all, *tie), rel=1e-12)


def test_counts_left_out_are_nothing():
    """Of long ties, a band of counts is added up; all of them have no other mean."""
    n, marked = 3000, 700
    for x, first, chances in module._judged_above(n, marked):
        assert chances.shape[1] < marked
        numbers = first[:, None] + np.arange(chances.shape[1])
        mean = (chances * numbers).sum(axis=1)
        assert mean == pytest.approx(x * marked / n, rel=1e-10, abs=1e-10)
        spread = (chances * (numbers - mean[:, None]) ** 2).sum(axis=1)
        share = marked / n
        wanted = x * share * (1 - share) * (n - x) / (n - 1)
        assert spread == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def tied(n, judged, relevant, seed=0):
    labels = np.full(n, NAN)
    labels[:judged] = 0
    labels[:relevant] = 1
    return np.random.default_rng(seed).permutation(labels)


@pytest.mark.parametrize("pools_all", [False, True])
def test_variances_have_the_same_bits_whatever_else_is_computed(monkeypatch, pools_all):
    rng = np.random.default_rng(4)
    n = rng.integers(2, 12, 200)
    judged = np.where(rng.random(200) < 0.5, n, rng.integers(1, n + 1))
    relevant = rng.integers(1, judged + 1)
    above = np.sort(rng.integers(0, 9, (3, 200)), axis=0)
    ties = module.Ties(above[2], n, judged, relevant, above[1], above[0])
    worth = module.InferredTies(pools_all)
    together, sampled = worth.variances(ties)
    assert not sampled.any()
    alone = [
        worth.variances(module.Ties(*(column[[g]] for column in ties)))[0][0]
        for g in range(200)
    ]
    assert together.tolist() == alone
    # batches of several sizes
    monkeypatch.setattr(module, "_BATCH_CELLS", 100)
    assert worth.variances(ties)[0].tolist() == alone


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize(("n", "judged"), [(30, 30), (30, 12)])
def test_sampled_variances_are_near_the_exact_ones(monkeypatch, pool, n, judged):
    labels = tied(n, judged, 4)
    measure = InferredAveragePrecision(pool=pool)
    exact = evaluate(labels, np.zeros(n), measures=measure)
    monkeypatch.setattr(module, "_STEPS", 0)
    found = evaluate(labels, np.zeros(n), measures=measure)
    assert found.std_is_estimate.all()
    assert not exact.std_is_estimate.any()
    assert (found.expected == exact.expected).all()
    assert found.std[0, 0] == pytest.approx(exact.std[0, 0], rel=0.15)


@pytest.mark.parametrize("pool", POOLS)
def test_agrees_with_sampled_orders(pool):
    labels = np.concatenate([tied(80, 40, 10), tied(150, 30, 8, 1), [0, 1, NAN]])
    scores = np.repeat([3.0, 2.0, 1.0], [80, 150, 3])
    measure = InferredAveragePrecision(pool=pool)
    report = evaluate(labels, scores, measures=measure)
    found = sampled(labels, scores, measure, n_orders=2000)
    error = 4 * found.sampling_error
    assert found.mean == pytest.approx(report.expected[0, 0], abs=error)
    assert found.tie_std == pytest.approx(report.std[0, 0], rel=0.1)


def test_a_judged_pool_is_average_precision_up_to_epsilon():
    rng = np.random.default_rng(1)
    labels = rng.choice([0, 1, NAN], 200)
    scores = rng.integers(0, 30, 200)
    options = {"unjudged": "nonrelevant", "ties": "best"}
    ap = ranking_score(labels, scores, measure="ap", **options)
    assert ranking_score(labels, scores, measure="infap", **options) == pytest.approx(
        ap, abs=1e-4
    )


def program(qrels, run):
    """Values of trec_eval by topic."""
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}).evaluate(run)
    return {topic: values["infAP"] for topic, values in found.items()}


@pytest.mark.parametrize("pool", POOLS)
def test_trec_eval(pool):
    """Unjudged documents are not in its qrels, or there with a label of -1."""
    rng = np.random.default_rng(2)
    qrels, run, qid, labels, scores = {}, {}, [], [], []
    for topic in map(str, range(60)):
        n = int(rng.integers(1, 30))
        label = rng.choice([NAN, 0, 1, 2], n)
        label[0] = 1
        retrieved = rng.random(n) < 0.8
        retrieved[-1] |= not retrieved.any()
        score = rng.permutation(n)
        qrels[topic] = {
            f"d{i:02}": -1 if math.isnan(label[i]) else int(label[i])
            for i in range(n)
            if pool == "all" or not math.isnan(label[i])
        }
        run[topic] = {f"d{i:02}": float(score[i]) for i in np.flatnonzero(retrieved)}
        qid += [topic] * n
        labels += label.tolist()
        scores += np.where(retrieved, score, -INF).tolist()
    measure = parse_measure(f"infap(pool={pool})")
    for convention in (None, "trec_eval"):
        found = ranking_score(
            labels,
            scores,
            qid=qid,
            measure=measure,
            average=None,
            convention=convention,
        )
        wanted = list(program(qrels, run).values())
        assert found == pytest.approx(wanted, abs=1e-13)


def read(path, columns):
    """Lines of a TREC file by topic: documents and a number."""
    found: dict[str, dict[str, float]] = {}
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as lines:
        for parts in map(str.split, lines):
            document, number = (parts[i] for i in columns)
            found.setdefault(parts[0], {})[document] = number
    return found


@pytest.mark.parametrize("run", ["pircRBa1", "rutcor03100"])
def test_trec_eval_on_runs_of_the_robust_track(shared_data, run):
    from tieaware_sklearn.datasets import load_trec

    folder = shared_data / "robust03"
    qrels_path, run_path = next(folder.glob("*qrels*")), next(folder.glob(f"*{run}*"))
    trec = load_trec(qrels_path, run_path, order="trec_eval")
    options = {"measure": "infAP", "average": None, "ties": "input"}
    found = ranking_score(trec.target, trec.score, qid=trec.qid, **options)
    qrels, scores = read(qrels_path, (2, 3)), read(run_path, (2, 4))
    wanted = program(
        {t: {d: int(y) for d, y in own.items()} for t, own in qrels.items()},
        {t: {d: float(s) for d, s in own.items()} for t, own in scores.items()},
    )
    topics = [str(topic) for topic in dict.fromkeys(trec.qid.tolist())]
    assert set(topics) == set(wanted)
    assert found == pytest.approx([wanted[topic] for topic in topics], abs=1e-12)


def test_bad_parameters():
    with pytest.raises(ValueError, match=r"pool must be one of \('judged', 'all'\)"):
        InferredAveragePrecision(pool="some")
    with pytest.raises(ValueError, match="rel must be"):
        InferredAveragePrecision(rel=0)
