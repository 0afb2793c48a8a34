"""scikit-learn's own tests of `dcg_score` and `ndcg_score`, run against ours.

They come from the installed package. What they call is replaced by adapters to
`ranking_score`, which differs from these functions in what is written here:

- Ties: ``ignore_ties=True`` ranks by ``argsort(scores)[::-1]``, the last of equal
  scores first; ``ties="input"`` ranks the first of them first. Columns are turned
  round.
- Discounts: the base of the logarithm is 2 here; another is a constant factor.
- One column: it is taken for documents here, for queries there. The adapters add a
  column of padding, which no function there has.
- Errors: negative labels and queries of one document are refused in other words.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware_sklearn import ranking_score

theirs = pytest.importorskip(
    "sklearn.metrics.tests.test_ranking",
    reason="scikit-learn is installed without its tests",
)

#: tests of error messages, and ours
OTHER_WORDS = {
    "test_ndcg_negative_ndarray_error": "y_true must be >= 0 .*got -0.89",
    "test_ndcg_error_single_document": "queries must have at least 2 documents",
}


def ours(name, y_true, y_score, k=None, *, ignore_ties=False, **options):
    """`ranking_score` of matrices by scikit-learn's convention."""
    column = np.full((len(y_true), 1), np.nan)
    matrices = [np.hstack([matrix, column]) for matrix in (y_true, y_score)]
    if ignore_ties:
        matrices = [matrix[:, ::-1] for matrix in matrices]
    return ranking_score(
        *matrices,
        measure=name if k is None else f"{name}@{k}",
        ties="input" if ignore_ties else "expected",
        convention="sklearn",
        **options,
    )


def dcg_sample_scores(y_true, y_score, k=None, log_base=2, ignore_ties=False):
    found = ours("dcg", y_true, y_score, k, ignore_ties=ignore_ties, average=None)
    return found * math.log2(log_base)


def ndcg_sample_scores(y_true, y_score, k=None, ignore_ties=False):
    return ours("ndcg", y_true, y_score, k, ignore_ties=ignore_ties, average=None)


def dcg_score(y_true, y_score, **options):
    log_base = options.pop("log_base", 2)
    weight = options.pop("sample_weight", None)
    found = ours("dcg", y_true, y_score, query_weight=weight, **options)
    return found * math.log2(log_base)


def ndcg_score(y_true, y_score, **options):
    weight = options.pop("sample_weight", None)
    return ours("ndcg", y_true, y_score, query_weight=weight, **options)


ADAPTERS = {
    "dcg_score": dcg_score,
    "ndcg_score": ndcg_score,
    "_dcg_sample_scores": dcg_sample_scores,
    "_ndcg_sample_scores": ndcg_sample_scores,
}


def cases():
    """Each test with each value of its parameter, if it has one."""
    for name, function in vars(theirs).items():
        if not (name.startswith("test_") and "dcg" in name):
            continue
        marks = getattr(function, "pytestmark", ())
        parametrized = [mark.args for mark in marks if mark.name == "parametrize"]
        for parameter, values in parametrized:
            for value in values:
                yield pytest.param(name, {parameter: value}, id=f"{name}[{value}]")
        if not parametrized:
            yield pytest.param(name, {}, id=name)


def test_they_are_found():
    assert {case.values[0] for case in cases()} >= {
        "test_dcg_score",
        "test_dcg_ties",
        "test_ndcg_invariant",
        "test_ndcg_score",
        "test_ndcg_toy_examples",
        *OTHER_WORDS,
    }


@pytest.mark.parametrize(("name", "options"), list(cases()))
def test_of_scikit_learn(name, options, monkeypatch):
    called = []

    def counted(adapter):
        def call(*args, **kwargs):
            called.append(adapter)
            return adapter(*args, **kwargs)

        return call

    for function, adapter in ADAPTERS.items():
        monkeypatch.setattr(theirs, function, counted(adapter))
    test = getattr(theirs, name)
    if name in OTHER_WORDS:
        with pytest.raises(AssertionError, match=OTHER_WORDS[name]):
            test(**options)
    else:
        test(**options)
    assert called
