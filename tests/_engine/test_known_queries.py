"""Queries recognised by digests of their ids: in which parts, and how many are kept."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn._engine import digests as module
from tieaware_sklearn._engine.digests import (
    are_kept,
    both,
    check_apart,
    id_digests,
    kept,
    known,
    merged,
    repeated,
    value_bits,
)

IDS = st.lists(st.integers(0, 12), unique=True, max_size=8)


def digests(ids):
    return np.array(ids, dtype=np.uint64)


@given(st.lists(IDS, max_size=5))
def test_repeated_queries_are_those_of_several_parts(parts):
    holders = Counter(one for part in parts for one in part)
    several = {one for one, n in holders.items() if n > 1}
    found = repeated([digests(part) for part in parts])
    # one of every part that has any, the least
    wanted = {min(several & set(part)) for part in parts if several & set(part)}
    assert [one.digest for one in found] == sorted(wanted)
    for one in found:
        assert one.parts == [i for i, part in enumerate(parts) if one.digest in part]
        assert one.n_queries == len(several)


@given(IDS, IDS)
def test_known_queries_are_those_of_before(new, before):
    found = known(digests(new), kept(digests(before)))
    assert found.tolist() == [one in before for one in new]


@given(IDS, IDS)
def test_two_parts_are_one_if_they_share_no_query(ours, theirs):
    parts = [kept(digests(ids)) for ids in (ours, theirs)]
    assert all(map(are_kept, parts))
    shared = sorted(set(ours) & set(theirs))
    together = both(*parts)
    assert together.tolist() == sorted(ours + theirs)
    assert are_kept(together) == (not shared)
    if not shared:
        check_apart(*parts, "part", len(theirs))
        return
    with pytest.raises(ValueError, match="of this part, got ") as told:
        check_apart(*parts, "part", len(theirs))
    assert f"{len(shared)} of them among its {len(theirs)}," in str(told.value)
    assert f"the digest {shared[0]:#018x} (" in str(told.value)


@given(st.lists(IDS.filter(bool), min_size=2, max_size=5), st.integers(1, 6))
def test_the_least_digests_are_kept_in_whatever_order_parts_come(parts, most):
    """With m kept of n, each query among the least m is known again, and no other."""
    parts = [digests(part) + np.uint64(13 * i) for i, part in enumerate(parts)]
    before, module.MOST_KNOWN = module.MOST_KNOWN, most
    try:
        whole = kept(parts[0])
        for part in parts[1:]:
            both = len(whole) + len(kept(part))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                whole = merged(whole, kept(part))
            assert len(caught) == (both > most)
        every = np.sort(np.concatenate(parts))
        assert whole.tolist() == every[:most].tolist()
    finally:
        module.MOST_KNOWN = before


def test_two_ids_with_one_digest_are_named(monkeypatch):
    coarse = lambda ids: value_bits(ids) % np.uint64(8)  # noqa: E731
    monkeypatch.setattr(module, "value_bits", coarse)
    ids = np.array([f"q{i}" for i in range(9)])
    with pytest.raises(ValueError, match=r"qid must have ids that differ .* 'q\d' and"):
        id_digests(ids)
    with pytest.raises(ValueError, match="query must have ids that differ"):
        id_digests(ids, "query")


def test_beyond_the_number_that_is_kept_a_selector_warns(monkeypatch):
    monkeypatch.setattr(module, "MOST_KNOWN", 100)
    rng = np.random.default_rng(0)
    X, y = rng.random((600, 2)), rng.integers(0, 2, 600)
    qid = np.arange(600) // 3
    selector = RankingFeatureSelector("rr")
    selector.partial_fit(X[:300], y[:300], qid[:300])
    # exactly as many as are compared: each is refused
    for again in range(0, 300, 3):
        rows = slice(again, again + 3)
        with pytest.raises(ValueError, match=f"got query {again // 3} again"):
            selector.partial_fit(X[rows], y[rows], qid[rows])
    with pytest.warns(UserWarning, match="of more than 100 queries, only those with"):
        selector.partial_fit(X[300:], y[300:], qid[300:])
    assert selector.n_queries_ == 200
    # a batch that comes again is still refused, by those of its queries that are kept
    with pytest.raises(ValueError, match=r"got query \d+ again"):
        selector.partial_fit(X[300:], y[300:], qid[300:])
    other = RankingFeatureSelector("rr").fit(X[300:], y[300:], qid[300:])
    least = int(value_bits(np.arange(200)).min())
    assert selector.screening_.query_digests[0] == least
    with pytest.raises(ValueError, match=r"none of the queries .* 0x[0-9a-f]{16}"):
        selector.merge(other)
    assert len(selector.screening_.query_digests) == 100


PARTS = st.lists(
    st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True),
    min_size=1,
    max_size=4,
)


@given(PARTS, st.booleans())
def test_parts_of_a_fit_share_no_query_however_they_come(parts, by_merge):
    """Batches A, B, A are an error that names a query of A; others are one fit."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (24, 2)).astype(float), rng.integers(0, 2, 24)
    qid = np.repeat(np.arange(8), 3)
    selector, seen = RankingFeatureSelector("rr"), set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few queries nothing can be said
        for part in parts:
            rows = np.isin(qid, part)
            part_of = X[rows], y[rows], qid[rows]
            repeats = [one for one in np.sort(part) if one in seen]
            if by_merge and seen:
                other = RankingFeatureSelector("rr").fit(*part_of)
                if repeats:
                    names = value_bits(np.array(repeats))
                    what = f"got {len(repeats)} of .* digest {names.min():#018x}"
                    with pytest.raises(ValueError, match=what):
                        selector.merge(other)
                    return
                selector.merge(other)
            else:
                if repeats:
                    what = f"got query {repeats[0]} again"
                    with pytest.raises(ValueError, match=what):
                        selector.partial_fit(*part_of)
                    return
                selector.partial_fit(*part_of)
            seen |= set(part)
        rows = np.isin(qid, list(seen))
        whole = RankingFeatureSelector("rr").fit(X[rows], y[rows], qid[rows])
    assert selector.n_queries_ == whole.n_queries_ == len(seen)
    np.testing.assert_allclose(selector.mean_, whole.mean_, atol=1e-12)
