"""Exposure of documents by rankings with ties."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn.evaluation import expected_exposure
from tieaware_sklearn.measures import CWL

DOCUMENTS = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 2]), st.sampled_from([-math.inf, 0, 1, 1])),
    min_size=1,
    max_size=5,
)


def by_enumeration(labels, scores, looks):
    """The mean over all orders of the chance that a user looks at each document."""
    orders = naive.retrieved_orders(scores)
    exposure = [Fraction(0)] * len(labels)
    for order in orders:
        chance = Fraction(1)
        for rank, document in enumerate(order, 1):
            exposure[document] += chance / len(orders)
            chance *= looks(rank, labels[document])
    return exposure


MODELS = {
    "rbp(p=0.5)": lambda rank, label: Fraction(1, 2),
    "rbp(p=0.5)@2": lambda rank, label: Fraction(int(rank < 2), 2),
    "p@2": lambda rank, label: Fraction(int(rank < 2)),
    "rr": lambda rank, label: Fraction(int(label < 1)),
    "rr(rel=2)": lambda rank, label: Fraction(int(label < 2)),
    CWL((0.5, 0.25)): lambda rank, label: Fraction([0, 2, 1, 0, 0, 0][rank], 4),
}


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=60)
@given(documents=DOCUMENTS)
def test_values_by_enumeration(model, documents):
    labels, scores = zip(*documents, strict=True)
    result = expected_exposure(labels, scores, user_model=model)
    assert result.user_model.lower() == str(model).lower()
    exposure = by_enumeration(labels, scores, MODELS[model])
    target = by_enumeration(labels, labels, MODELS[model])
    pairs = list(zip(exposure, target, strict=True))
    np.testing.assert_allclose(result.exposure, list(map(float, exposure)), atol=1e-15)
    np.testing.assert_allclose(result.target, list(map(float, target)), atol=1e-15)
    for name, value in (
        ("disparity", sum(e * e for e, _ in pairs)),
        ("relevance", sum(e * t for e, t in pairs)),
        ("loss", sum((e - t) ** 2 for e, t in pairs)),
    ):
        assert getattr(result, name)[0] == pytest.approx(float(value), abs=1e-14)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 60
    return {
        "y_true": rng.integers(0, 3, n),
        "y_score": rng.integers(0, 4, n),
        "qid": rng.integers(0, 7, n),
        "group": rng.choice(["old", "new"], n),
    }


def test_each_query_is_that_query_alone_in_any_order_of_rows(rows):
    whole = expected_exposure(**rows)
    for i, query in enumerate(whole.qid):
        of = rows["qid"] == query
        alone = expected_exposure(**{key: column[of] for key, column in rows.items()})
        assert whole.loss[i] == alone.loss[0]
        np.testing.assert_array_equal(whole.exposure[of], alone.exposure)
        for j, group in enumerate(whole.groups):
            total = whole.exposure[of & (rows["group"] == group)].sum()
            assert whole.group_exposure[i, j] == pytest.approx(total)
            total = whole.target[of & (rows["group"] == group)].sum()
            assert whole.group_target[i, j] == pytest.approx(total)


def test_matrices_are_rows_of_queries():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 3, (2, 5, 8))
    group = rng.integers(0, 2, (5, 8))
    of_matrix = expected_exposure(labels, scores, group=group)
    flat = expected_exposure(
        labels.ravel(), scores.ravel(), qid=np.repeat(range(5), 8), group=group.ravel()
    )
    for name in ("loss", "exposure", "target", "group_exposure", "group_target"):
        np.testing.assert_array_equal(getattr(of_matrix, name), getattr(flat, name))
    some = rng.random((5, 8)) < 0.7
    found = expected_exposure(labels, scores, mask=some)
    chosen = labels[some], scores[some]
    alone = expected_exposure(*chosen, qid=np.nonzero(some)[0])
    np.testing.assert_array_equal(found.loss, alone.loss)


def test_summary_has_a_row_for_each_group(rows):
    summary = expected_exposure(**rows).summary()
    assert summary.figure.tolist()[:3] == ["EE-L", "EE-D", "EE-R"]
    assert sorted(summary.figure[3:]) == ["new: excess", "old: excess"]
    # all documents are retrieved, so that one group has what the other lacks
    assert summary.mean[3] == pytest.approx(-summary.mean[4])


@pytest.mark.parametrize("model", ["ap", "err@5", "rr@3", "r@5", "dcg", "p"])
def test_other_user_models_are_refused(model):
    with pytest.raises(ValueError, match=r"user_model must be RR, or .* got "):
        expected_exposure([1, 0], [1, 0], user_model=model)
    with pytest.raises(ValueError, match=r"user_model must be the name .* got 5"):
        expected_exposure([1, 0], [1, 0], user_model=5)


def test_documents_without_a_judgment():
    labels = [1, np.nan, 0]
    with pytest.raises(ValueError, match="y_true must be judged"):
        expected_exposure(labels, [3, 2, 1])
    taken = expected_exposure(labels, [3, 2, 1], unjudged="nonrelevant")
    assert taken.target[1] == taken.target[2]
    dropped = expected_exposure(labels, [3, 2, 1], unjudged="drop")
    assert dropped.exposure.tolist() == [1, 0, 0.8]
    assert dropped.target.tolist() == [1, 0, 0.8]


def test_the_order_of_rows_changes_no_bit_of_a_group():
    labels, scores = np.array([1, 0, 0]), np.array([0, 2, 1])
    every = [
        expected_exposure(labels[rows], scores[rows], group=list("ggg"))
        for rows in map(list, itertools.permutations(range(3)))
    ]
    assert len({one.group_exposure.item() for one in every}) == 1


def test_integers_are_ranked_as_integers():
    scores = np.array([2**53, 2**53 + 1, 2**53 + 2])
    exposure = expected_exposure([1, 0, 1], scores).exposure
    np.testing.assert_allclose(exposure, [0.64, 0.8, 1.0])
