"""Rankings in batches: the bits of all rows at once, and no query twice."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tieaware_sklearn import RankingReport, evaluate, evaluate_batches

MEASURES = ["ndcg@3", "ap", "rr", "dcg", "bpref"]
KINDS = [
    lambda frame: frame,
    lambda frame: pl.DataFrame({name: frame[name].to_numpy() for name in frame}),
    lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
]


def made(n_queries, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 9, n_queries))
    return pd.DataFrame({
        "qid": qid,
        "label": rng.integers(0, 3, len(qid)),
        "s": rng.integers(0, 4, len(qid)),
        "w": rng.random(n_queries)[qid],
    }).sample(frac=1, random_state=seed)  # fmt: skip


def check(found, rows, average="macro", weight=None, **options):
    report = evaluate(
        rows.label, rows.s, qid=rows.qid, measures=MEASURES,
        query_weight=None if weight is None else rows[weight], **options,
    )  # fmt: skip
    found, expected = found.summary(average), report.summary(average)
    assert_array_equal(found.measure, expected.measure)
    for name, column in expected.columns.items():
        assert_array_equal(found.columns[name], column, err_msg=name)


@settings(max_examples=50)
@given(
    st.integers(1, 30), st.integers(0, 99), st.integers(1, 7), st.integers(1, 50),
    st.sampled_from(["macro", "geometric", "median"]), st.sampled_from([None, "w"]),
    st.sampled_from([0.1, "skip"]), st.sampled_from(KINDS),
)  # fmt: skip
def test_the_bits_of_all_rows_at_once(
    n_queries, seed, n_batches, batch_rows, average, weight, zero_relevance, kind
):
    rows = made(n_queries, seed)
    # some are empty, which is nothing
    batches = [kind(rows[rows.qid % n_batches == part]) for part in range(n_batches)]
    options = {"zero_relevance": zero_relevance}
    found = evaluate_batches(
        batches, score="s", measures=MEASURES, query_weight=weight,
        batch_rows=batch_rows, **options,
    )  # fmt: skip
    check(found, rows, average, weight, **options)


def test_parts_merged_in_any_order():
    rows = made(600)
    parts = [
        evaluate_batches([rows[rows.qid % 4 == part]], score="s", measures=MEASURES)
        for part in range(4)
    ]
    whole = evaluate_batches([rows], score="s", measures=MEASURES)
    found, *others = (pickle.loads(pickle.dumps(parts[i])) for i in (3, 0, 2, 1))
    again = RankingReport.merge(found, *others)
    for other in others:
        found = found.merge(other)
    check(found, rows)
    assert again.to_bytes() == found.to_bytes() == whole.to_bytes()
    assert str(found) == str(whole)


@pytest.mark.parametrize("batch_rows", [1, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_query_of_two_batches_is_named(kind, batch_rows):
    rows = made(20).sort_values("qid")
    at = int(np.flatnonzero(rows.qid.duplicated())[3])
    query = rows.qid.iloc[at]
    with pytest.raises(ValueError, match=f"query {query} again in batch 1"):
        evaluate_batches(
            [kind(rows[:at]), kind(rows[at:])], score="s", batch_rows=batch_rows
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measures": "rr"}, "measures differ: RR in other, NDCG@10, AP, RR in this r"),
        ({"convention": "trec_eval"}, r"measures differ: NDCG\(gain=linear\)@10, AP"),
        ({"zero_relevance": "skip"}, "values of zero_relevance differ: skip in other"),
        ({"unjudged": "drop"}, "values of unjudged differ: drop in other, raise in th"),
        ({"query_weight": "w"}, "columns of query weights differ: w in other, none in"),
        ({"score": "w"}, "columns of scores differ: w in other, s in this report"),
        ({"label": "one"}, "columns of labels differ: one in other, label in this rep"),
        ({"segment": "one"}, "segments of queries differ: yes in other, no in this re"),
    ],
)
def test_reports_of_other_options_do_not_merge(options, said):
    rows = made(20).assign(one=1)
    report = evaluate_batches([rows[rows.qid < 9]], score="s")
    other = evaluate_batches([rows[rows.qid >= 9]], **({"score": "s"} | options))
    for part in (other, RankingReport.from_bytes(other.to_bytes())):
        with pytest.raises(ValueError, match=f"columns of this report: {said}"):
            report.merge(part)


def test_what_merges_and_what_does_not():
    rows = made(20)
    parts = [rows[rows.qid < 9], rows[rows.qid >= 9], rows[rows.qid >= 7]]
    a, b, c = (evaluate_batches([part], score="s") for part in parts)
    for others, n in (((c,), 2), ((b, a), 9)):
        with pytest.raises(
            ValueError,
            match=rf"got {n} of them, such as the one whose id has the digest "
            r"0x[0-9a-f]{16} \(datasets.query_digests tells which it is\)$",
        ):
            a.merge(*others)
    # queries are told apart by their ids, whatever the column is called
    named = parts[1].rename(columns={"qid": "q"})
    assert len(a.merge(evaluate_batches([named], score="s", qid="q")).qid) == 20
    # arrays have no names, and weights
    label, s, qid, w = (parts[1][name] for name in ("label", "s", "qid", "w"))
    arrays = evaluate(label, s, qid=qid)
    assert len(a.merge(arrays).qid) == len(arrays.merge(a).qid) == 20
    with pytest.raises(ValueError, match="weights of queries differ: yes in other"):
        a.merge(evaluate(label, s, qid=qid, query_weight=w))
    with pytest.raises(ValueError, match="must be a RankingReport, got Summary"):
        a.merge(evaluate([1], [1]).summary())
    # zero_relevance of any type of number is one
    number = evaluate_batches([parts[0]], score="s", zero_relevance=0)
    assert number.merge(b).to_bytes() == a.merge(b).to_bytes()
    # ids of several kinds stay as they are
    one, two = (evaluate([1, 0], [2, 1], qid=[i] * 2, measures="rr") for i in (1, "1"))
    assert one.merge(two).qid.tolist() == [1, "1"]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"label": -1}, {}, r"batch 1: label must be >= 0, got -1.* in row 2"),
        ({"s": np.nan}, {}, "batch 1: s must not be NaN, got nan in row 2"),
        ({"qid": np.nan}, {}, "column 'qid' of batch 1 must not be missing"),
        ({"w": -1.0}, {"query_weight": "w"}, "batch 1: w must be"),
        ({"w": 2.0}, {"segment": "w"}, "batch 1: w must be constant .*1.0 and 2.0"),
        ({"qid": ""}, {}, "column 'qid' of batch 1 must not be empty, got '' in row 2"),
        ({}, {"score": "absent"}, "batch 0: there is no column 'absent'"),
        ({}, {"label": "s"}, "must name different columns, got 's' twice"),
        ({}, {"batch_rows": 0}, "batch_rows must be an integer >= 1, got 0"),
    ],
)
def test_errors_name_the_batch_and_row(change, options, message):
    batches = [
        pd.DataFrame({"qid": [q, q, q + 1.0], "label": 1, "s": [1.0, 2, 3], "w": 1.0})
        for q in (0, 2, 4)
    ]
    for name, value in change.items():
        kind = object if value == "" else float
        batches[1] = batches[1].astype({name: kind})
        batches[1].loc[1 if "segment" in options else 2, name] = value
    with pytest.raises(ValueError, match=message):
        evaluate_batches(batches, **({"score": "s"} | options))


def test_no_row_and_no_weight():
    with pytest.raises(ValueError, match="must hold at least one row, got none"):
        evaluate_batches([], score="s")
    # of some batches, such as those of a shard, all weights may be 0
    rows = made(4).assign(w=0.0)
    assert not evaluate_batches([rows], score="s", query_weight="w").query_weight.any()
    other = made(4, seed=1).assign(qid=lambda frame: frame.qid + 4)
    found = evaluate_batches(
        [rows, other], score="s", query_weight="w", measures=MEASURES, batch_rows=1
    )
    check(found, pd.concat([rows, other]), weight="w")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("integers", lambda ids: ids.astype(str)),
        ("integers", lambda ids: ids.astype(float)),
        ("integers", lambda ids: [(i,) for i in ids.tolist()]),
        ("size alone", lambda ids: ids.astype(np.int32)),
        ("size alone", lambda ids: ids.astype(object)),
    ],
)
def test_ids_of_two_kinds_are_refused(one, other):
    """A query of both batches would be two queries, or found by their conversion."""
    rows = made(6).sort_values("qid")
    again = rows.assign(qid=other(rows.qid))
    message = "batch 1 must hold .*integers.*, as in batch 0, got .*: a query of both"
    if one == "size alone":
        message = "again in batch 1"
        new = again.assign(qid=again.qid + 6)
        assert len(evaluate_batches([rows, new], score="s").qid) == 12
    with pytest.raises(ValueError, match=message):
        evaluate_batches([rows, again], score="s")
