"""On a cluster, the comparisons of one machine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

import tieaware_sklearn
from tests.dask.helpers import MARKS, assert_same_report, assert_same_summary, spread
from tieaware_sklearn.dask import compare_systems, evaluate

pytestmark = MARKS
SYSTEMS = ["clicks", "in_degree", "page_visits"]


def in_memory(rows, systems=SYSTEMS, **options):
    return tieaware_sklearn.compare_systems(
        rows.label, rows[systems], qid=rows.qid, **options
    )


def assert_same_comparison(found, wanted):
    """To the last bit; queries on a cluster are by id."""
    assert type(found) is type(wanted)
    order = [found.qid.tolist().index(one) for one in wanted.qid.tolist()]
    for name, value in vars(wanted).items():
        ours = getattr(found, name)
        if name in ("qid", "expected", "best", "worst", "std", "chance"):
            assert_array_equal(ours[order], value, err_msg=name)
        elif isinstance(value, np.ndarray):
            assert_array_equal(ours, value, err_msg=name)
        else:
            assert ours == value, name
    assert_same_summary(found.summary(), wanted.summary())
    assert str(found) == str(wanted)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"baseline": "in_degree", "correction": "bh", "alternative": "greater"},
        {"correction": "tukey", "measure": "rr"},
        {"correction": None, "confidence": 0.8, "alternative": "less", "measure": "ap"},
        {"measure": "esl", "correction": "by"},
        {"ties": "worst", "zero_relevance": "skip"},
        {"test": "wilcoxon", "interval": "bootstrap", "n_resamples": 199},
        {"test": "randomization", "n_resamples": 199, "random_state": 3},
    ],
)
def test_systems_have_the_numbers_of_one_machine(kind, options):
    found = compare_systems(spread(kind), scores=SYSTEMS, **options)
    assert_same_comparison(found, in_memory(kind, **options))


def test_several_measures_and_treatments(rows):
    rows = rows.assign(docno=rows.index.astype(str), number=rows.index)
    options = {
        "measure": ["ndcg@10", "rr", "p@3"],
        "ties": ["best", "expected", "as trec_eval", "first"],
    }
    found = compare_systems(
        spread(rows), scores=SYSTEMS, **options,
        external={"as trec_eval": ("docno", "descending", "float32"),
                  "first": "number"},
    )  # fmt: skip
    wanted = in_memory(
        rows, **options,
        external={"as trec_eval": (rows.docno, "descending", "float32"),
                  "first": rows.number},
    )  # fmt: skip
    assert len(found) == len(wanted) == 12
    assert_same_comparison(found, wanted)
    by_number = in_memory(rows, measure="rr", ties="input")
    assert_array_equal(found["rr", "first"].difference, by_number.difference)


@pytest.mark.parametrize("correction", ["holm", "tukey"])
def test_queries_where_a_system_is_undefined_are_left_out(rows, correction):
    # esl is undefined where a system retrieves too few relevant documents
    holes = rows.assign(
        clicks=rows.clicks.where(rows.qid % 4 > 0, -np.inf),
        in_degree=rows.in_degree.where(rows.qid % 5 > 0, -np.inf),
    )
    options = {"measure": "esl", "correction": correction}
    found = compare_systems(spread(holes), scores=SYSTEMS, **options)
    wanted = in_memory(holes, **options)
    assert len(set(wanted.n_queries.tolist())) == 3
    assert_same_comparison(found, wanted)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_small_comparisons(data):
    n = data.draw(st.integers(1, 12), label="n")
    column = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    rows = pd.DataFrame({name: data.draw(column) for name in ("label", "qid", "a")})
    rows = rows.assign(b=data.draw(st.sampled_from([rows.a, rows.label, 1 - rows.a])))
    options = {
        "measure": data.draw(st.sampled_from(["rr", "ndcg", "p@1"])),
        "zero_relevance": data.draw(st.sampled_from([0.0, 1.0])),
        "correction": data.draw(st.sampled_from(["holm", "tukey"])),
    }
    number = data.draw(st.integers(1, 4), label="partitions")
    found = compare_systems(spread(rows, number), scores=["a", "b"], **options)
    wanted = in_memory(rows, ["a", "b"], **options)
    assert_same_comparison(found, wanted)


def test_no_bit_depends_on_partitions(rows):
    shuffled = rows.sample(frac=1, random_state=1).reset_index(drop=True)
    options = {"scores": SYSTEMS, "correction": "tukey"}
    one = compare_systems(spread(rows, 1), **options)
    two = compare_systems(spread(shuffled, 9), **options)
    for table in ("to_pandas", "summary"):
        ours, theirs = getattr(one, table)(), getattr(two, table)()
        if table == "summary":
            ours, theirs = ours.to_pandas(), theirs.to_pandas()
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


def test_partitions_may_be_empty_or_hold_whole_queries(rows):
    frames = [rows[rows.qid % 3 == part] for part in range(3)]
    frames.insert(1, rows[:0])
    whole = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    found = compare_systems(whole, scores=SYSTEMS, shuffle=False)
    assert_same_comparison(found, in_memory(rows))


def test_one_system_has_no_pairs(rows):
    found = compare_systems(spread(rows), scores=["clicks"])
    assert_same_comparison(found, in_memory(rows, ["clicks"]))


def test_without_shuffle_a_cut_query_is_refused(rows):
    cut = spread(rows.sort_values("qid", ignore_index=True), 2)
    with pytest.raises(ValueError, match=r"got query \d+ in partitions 0 and 1"):
        compare_systems(cut, scores=SYSTEMS, shuffle=False)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"test": "z"}, "test must be one of"),
        ({"interval": "z"}, "interval must be one of"),
        ({"ties": "input"}, "ties must not be 'input' on a cluster"),
        ({"ties": "docno"}, "ties must be"),
        ({"external": {"x": ("label", "sideways")}}, "must be one of .*'sideways'"),
        ({"external": {"x": ("label", "random")}}, "each partition would draw"),
        ({"external": {"x": "docno"}}, "df must have one column 'docno'"),
        ({"external": {"x": [1, 2]}}, "unhashable"),
        ({"external": {"x": (pd.Series([1]), "ascending")}}, "unhashable"),
        ({"external": {"best": "label"}}, "must not use the name of a built-in"),
        ({"external": "docno"}, "external must map names to keys"),
        ({"scores": "clicks"}, "scores must be a list of columns, got 'clicks'"),
        ({"scores": []}, "scores must be a list of columns"),
        ({"scores": {"a": [1]}}, "scores must be a list of columns"),
        ({"scores": ["clicks", "clicks"]}, "different columns, got 'clicks' twice"),
        (
            {"scores": ["clicks", "label"]},
            "must name different columns, got 'label' twice",
        ),
        ({"baseline": "age"}, "baseline"),
        ({"correction": "tukey", "baseline": "clicks"}, "baseline must be None"),
        ({"confidence": 95}, "confidence must be a number"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_the_work(rows, options, what):
    never = spread(rows, 2).map_partitions(lambda frame: 1 / 0, meta=rows[:0])
    with pytest.raises((ValueError, TypeError), match=what):
        compare_systems(never, **({"scores": SYSTEMS} | options))


def test_a_rule_may_go_by_any_column(rows):
    keys = ["clicks", "label", "qid"]
    found = compare_systems(
        spread(rows), scores=SYSTEMS, ties=[*keys, "expected"],
        external={key: key for key in keys},
    )  # fmt: skip
    wanted = in_memory(
        rows, ties=[*keys, "expected"], external={key: rows[key] for key in keys}
    )
    assert_same_comparison(found, wanted)
    holes = rows.assign(docno=rows.index.astype(str))
    holes["docno"] = holes.docno.where(rows.index != 7)
    what = rf"external\['x'\] must not be missing .* query {rows.qid[7]}"
    with pytest.raises(ValueError, match=what):
        compare_systems(
            spread(holes), scores=SYSTEMS, external={"x": "docno"}, ties="x"
        )


def test_columns_may_have_numbers_for_names(rows):
    numbers = {name: number for number, name in enumerate(SYSTEMS)}
    numbered = rows[["label", "qid", *SYSTEMS]].rename(columns=numbers)
    found = compare_systems(spread(numbered), scores=[0, 1, 2], baseline="1")
    wanted = in_memory(numbered, [0, 1, 2], baseline="1")
    assert found.systems == ("0", "1", "2")
    assert_same_comparison(found, wanted)


def test_workers_find_what_one_machine_finds(cluster, rows):
    options = {"measure": ["rr", "ap"], "correction": "tukey"}
    frames = [rows[rows.qid % 3 == part] for part in range(3)]
    whole = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    found = compare_systems(whole, scores=SYSTEMS, shuffle=False, **options)
    assert_same_comparison(found, in_memory(rows, **options))
    by_segment = {"score": "clicks", "segment": "weight"}
    found = evaluate(whole, shuffle=False, **by_segment)
    assert_same_report(found, evaluate(spread(rows, 1), **by_segment))


def test_errors_name_the_column(rows):
    bad = rows.assign(in_degree=rows.in_degree.where(rows.index != 7))
    with pytest.raises(ValueError, match="in_degree must not be NaN"):
        compare_systems(spread(bad), scores=SYSTEMS)
    bad = rows.assign(label=rows.label.where(rows.index != 7))
    with pytest.raises(ValueError, match="label must be judged"):
        compare_systems(spread(bad), scores=SYSTEMS)


def test_a_measure_that_is_undefined_everywhere_is_warned_of(rows):
    with pytest.warns(UndefinedMetricWarning, match="NDCG@10 is"):
        found = compare_systems(
            spread(rows.assign(label=0)), scores=SYSTEMS, zero_relevance="skip"
        )
    assert np.isnan(found.difference).all()
    assert_array_equal(found.n_queries, 0)
