"""On a cluster, the numbers of one machine."""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from numpy.testing import assert_array_equal

import tieaware_sklearn
from tests.dask.helpers import (
    ALL,
    MARKS,
    MEASURES,
    assert_same_report,
    assert_same_selector,
    assert_same_summary,
    computed,
    spread,
)
from tieaware_sklearn.dask import evaluate, evaluate_queries

pytestmark = MARKS


@pytest.mark.parametrize("weighted", [False, True])
def test_evaluate_has_the_numbers_of_one_machine(kind, weighted):
    weight = "weight" if weighted else None
    found = evaluate(
        spread(kind), score="clicks", measures=MEASURES, query_weight=weight
    )
    wanted = tieaware_sklearn.evaluate(
        kind.label, kind.clicks, qid=kind.qid, measures=MEASURES,
        query_weight=kind.weight if weighted else None,
    )  # fmt: skip
    assert_same_report(found, wanted)
    assert found.qid.tolist() == sorted(wanted.qid.tolist())
    sampled = {"interval": "bootstrap", "n_resamples": 99}
    assert_same_summary(found.summary(**sampled), wanted.summary(**sampled))


def test_evaluate_takes_conventions_and_unjudged_labels(rows):
    holes = rows.assign(label=rows.label.where(rows.index % 7 > 0))
    for frame, options in (
        (rows.assign(label=np.minimum(rows.label, 1)), {"convention": "lightgbm"}),
        (holes, {"unjudged": "nonrelevant", "zero_relevance": "skip"}),
    ):
        arguments = {"measures": ["ndcg@10", "ap@10"], **options}
        found = evaluate(spread(frame), score="clicks", **arguments)
        wanted = tieaware_sklearn.evaluate(
            frame.label, frame.clicks, qid=frame.qid, **arguments
        )
        assert_same_report(found, wanted)


def test_evaluate_queries_has_a_row_per_query(kind):
    lazy = evaluate_queries(spread(kind), score="clicks", measures=MEASURES)
    assert isinstance(lazy, dd.DataFrame)
    values = lazy.compute()
    wanted = tieaware_sklearn.evaluate(
        kind.label, kind.clicks, qid=kind.qid, measures=MEASURES
    )
    table = wanted.to_pandas()
    assert list(lazy.columns) == list(values.columns) == list(table.columns)
    assert values["qid"].dtype == lazy["qid"].dtype
    order = ["qid", "measure"]
    values = values.astype({"qid": table["qid"].dtype}).sort_values(order)
    table = table.sort_values(order)
    pd.testing.assert_frame_equal(
        values.reset_index(drop=True), table.reset_index(drop=True), check_exact=True
    )


def test_evaluate_queries_takes_the_options_of_evaluate(rows):
    renamed = rows.rename(columns={"label": "rating", "qid": "query"})
    renamed = renamed[["rating", "query", "clicks"]].sort_values("query")
    named = {"label": "rating", "qid": "query", "score": "clicks"}
    unsure = renamed.assign(rating=renamed.rating.where(renamed.rating > 1))
    cases = [
        (renamed, {"zero_relevance": 0.25}),
        (renamed, {"convention": "trec_eval"}),
        (unsure, {"unjudged": "nonrelevant"}),
    ]
    for frame, options in cases:
        whole = dd.from_pandas(frame, npartitions=1)
        found = evaluate_queries(
            whole, **named, measures=["ap"], shuffle=False, **options
        )
        wanted = tieaware_sklearn.evaluate(
            frame.rating, frame.clicks, qid=frame["query"], measures=["ap"], **options
        )
        values = found.compute().set_index("query")["expected"].to_dict()
        expected = wanted.expected[:, 0].tolist()
        assert values == dict(zip(wanted.qid.tolist(), expected, strict=True))


def test_partitions_of_whole_queries_need_no_shuffle(rows):
    ordered = rows.sort_values("qid").reset_index(drop=True)
    parts = [ordered[ordered.qid % 4 == i] for i in range(4)]
    whole = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])
    arguments = {"score": "clicks", "shuffle": False}
    assert_same_report(evaluate(whole, **arguments), evaluate(whole, score="clicks"))


def test_every_partition_of_values_with_a_cut_query_is_refused(rows):
    ordered = rows.sort_values("qid").reset_index(drop=True)
    starts = [0, *(np.flatnonzero(np.diff(ordered.qid))[[9, 19, 29]] + 1), len(ordered)]
    starts[2] += 3
    frames = [ordered[i:j] for i, j in pairwise(starts)]
    whole = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    values = evaluate_queries(whole, score="clicks", shuffle=False)
    wanted = tieaware_sklearn.evaluate(
        frames[3].label, frames[3].clicks, qid=frames[3].qid
    ).to_pandas()
    pd.testing.assert_frame_equal(values.partitions[3].compute(), wanted)
    for cut in (1, 2):
        with pytest.raises(ValueError, match="query 21 in partitions 1 and 2"):
            values.partitions[cut].compute()


def test_a_partition_may_be_empty_or_weigh_nothing(rows):
    rows = rows.assign(weight=(rows.qid < 10).astype(float))
    many = spread(rows, 3).repartition(npartitions=40)
    assert any(n == 0 for n in many.shuffle("qid").map_partitions(len).compute())
    found = evaluate(many, score="clicks", query_weight="weight")
    few = rows[rows.qid < 10]
    wanted = tieaware_sklearn.evaluate(few.label, few.clicks, qid=few.qid)
    assert_array_equal(found.summary().mean, wanted.summary().mean)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_no_shape_of_partitions_changes_a_number(rows, name, shuffle):
    """Nearly all rows in one, single rows, empty ones, and half of all in one query."""
    few = rows[:120].copy()
    few.loc[:59, "qid"] = 7
    few = few.sort_values("qid", ignore_index=True)
    if shuffle:
        ends = [0, 0, 1, 2, 3, 117, 118, 118, 120]
    else:
        starts = np.flatnonzero(np.diff(few.qid)) + 1
        ends = [0, 0, *starts[:2], *starts[-3:], len(few), len(few)]
    cells = [few[i:j] for i, j in pairwise(ends)]
    df = dd.from_map(lambda i: cells[i], range(len(cells)), meta=few[:0])
    sizes = df.map_partitions(len).compute().tolist()
    assert 0 in sizes
    found = computed(name, df, shuffle=shuffle)
    wanted = computed(name, dd.from_pandas(few, npartitions=1), shuffle=False)
    if name == "evaluate":
        assert_same_report(found, wanted)
    elif name == "evaluate_queries":
        order = ["qid", "measure"]
        pd.testing.assert_frame_equal(
            found.sort_values(order, ignore_index=True),
            wanted.sort_values(order, ignore_index=True),
            check_exact=True,
        )
    else:
        assert_same_selector(found, wanted)


def test_partitions_of_a_single_row_are_queries_of_one_document(rows):
    few = rows[:9].assign(qid=np.arange(9))
    df = dd.from_pandas(few, npartitions=9)
    assert df.map_partitions(len).compute().tolist() == [1] * 9
    wanted = tieaware_sklearn.evaluate(few.label, few.clicks, qid=few.qid)
    for shuffle in (False, True):
        assert_same_report(evaluate(df, score="clicks", shuffle=shuffle), wanted)


def test_a_missing_dask_is_named(monkeypatch):
    ours = "tieaware_sklearn.dask"
    monkeypatch.setitem(sys.modules, "dask", None)
    for module in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[dask\]"'):
        importlib.import_module(ours)
