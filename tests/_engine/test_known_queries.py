"""Queries recognised by digests of their ids: in which parts, and how many are kept."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn._engine import digests as module
from tieaware_sklearn._engine.digests import (
    SeenQueries,
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
            for warned in caught:
                assert f"of more than {most} queries" in str(warned.message)
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


BATCHES = st.lists(st.lists(st.integers(-9, 40), unique=True, max_size=6), max_size=12)


@given(BATCHES)
def test_the_first_that_comes_again_as_a_set_finds_it(batches):
    seen, plain = SeenQueries(), set()
    for batch in batches:
        again = [i for i, query in enumerate(batch) if query in plain]
        found = seen.add(np.array(batch, dtype=np.int64))
        assert found == (again[0] if again else None)
        if not again:
            plain |= set(batch)


def test_ids_of_any_type_that_are_equal_are_one():
    seen = SeenQueries()
    assert seen.add(np.array([1, 2])) is None
    assert seen.add(np.array([0.5, 2.0])) == 1
    assert seen.add(np.array(["1", "2"], dtype=object)) is None
    assert seen.add(np.array(["0", "2"])) == 1
