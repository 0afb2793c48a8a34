"""Tensors of other libraries, by the two protocols that they share."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn import PreparedRanking, evaluate, ranking_score
from tieaware_sklearn._engine.exact import from_tensor


class OfArray:
    """Offers `__array__` alone."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class OfDLPack:
    """Offers DLPack alone, on a device of our choice."""

    def __init__(self, values, device=(1, 0)):
        self.values = np.asarray(values)
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)


class Old(OfDLPack):
    """Of before DLPack had options."""

    def __dlpack__(self):
        return self.values.__dlpack__()


class LikeTorch(OfDLPack):
    """Requires gradients, as the outputs of models do."""

    shape = property(lambda self: self.values.shape)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def detach(self):
        return OfArray(self.values)


class NoDtype(OfDLPack):
    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")


LABELS, SCORES = [[1, 0, 2], [0, 1, 0]], [[2.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
TENSORS = [OfArray, OfDLPack, Old, LikeTorch]


@pytest.mark.parametrize("tensor", TENSORS)
def test_in_one_dimension_and_in_two(tensor):
    wanted = ranking_score(LABELS, SCORES, average=None).tolist()
    y_true, y_score = tensor(LABELS), tensor(SCORES)
    weight, mask = tensor([1.0, 2.0]), tensor(np.ones((2, 3), bool))
    assert ranking_score(y_true, y_score, average=None).tolist() == wanted
    report = evaluate(y_true, y_score, query_weight=weight, mask=mask)
    assert report.expected[:, 0].tolist() == wanted
    assert report.query_weight.tolist() == [1, 2]
    prepared = PreparedRanking(y_true, mask=mask)
    assert prepared.score(y_score, average=None).tolist() == wanted
    y_true, y_score, qid = (
        tensor(np.ravel(a)) for a in (LABELS, SCORES, [[0] * 3, [1] * 3])
    )
    assert ranking_score(y_true, y_score, qid=qid, average=None).tolist() == wanted


def test_integers_stay_integers():
    scores = OfDLPack([2**53, 2**53 + 1])
    assert ranking_score([1, 0], scores, measure="rr") == 1 / 2


@pytest.mark.parametrize(
    ("device", "name"),
    [((2, 1), "device 1 of DLPack type 2"), ((99, 0), "DLPack type 99")],
)
def test_the_memory_of_other_devices(device, name):
    there = OfDLPack(SCORES, device)
    message = rf"y_score must be in the memory of the CPU, got .* {name}.*: .*cpu\("
    with pytest.raises(ValueError, match=message):
        ranking_score(LABELS, there)
    with pytest.raises(ValueError, match="y_true must be in the memory"):
        ranking_score(OfDLPack([1, 0], device), [1, 2])


def test_memory_that_the_cpu_shares():
    found = ranking_score(LABELS, OfDLPack(SCORES, (3, 0)))
    assert found == ranking_score(LABELS, SCORES)


def test_dtypes_that_numpy_has_not():
    with pytest.raises(ValueError, match="y_score must be an array that NumPy"):
        ranking_score([1, 0], NoDtype([1.0, 2.0]))


def test_all_else_is_left_alone():
    for value in ([1, 2], np.ones(2), np.ma.ones(2), 7, None, "text"):
        assert from_tensor(value, "y_true") is value
