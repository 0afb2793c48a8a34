"""Errors name the column, value, query and partition of a fault."""

import ast
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from dask import config
from dask import dataframe as dd
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dask.helpers import ALL, LARGE, MARKS, assert_same, computed, part, spread
from tieaware_sklearn import LinearRanker, RankingFeatureSelector, dask

pytestmark = [
    *MARKS,
    # by Dask's reader of Parquet, of the newest pandas
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]
N_PARTITIONS = 4
#: the query with the fault, and its partition
QUERY, PARTITION = 19, 2
META = part(0)[:0]
Selector = RankingFeatureSelector


@pytest.fixture(autouse=True)
def one_thread():
    with config.set({"scheduler": "sync", "dataframe.convert-string": False}):
        yield


def never(rows):
    """Return a data frame that fails if it is computed."""
    return spread(rows, 2).map_partitions(lambda frame: 1 / 0, meta=rows[:0])


TWICE = "must name different columns, got '{}' twice"
OF_EVALUATE = [
    ({"score": None}, "df must have exactly one column None, got"),
    ({"score": ["clicks"]}, r"df must have exactly one column \['clicks'\], got"),
    ({"score": "label"}, TWICE.format("label")),
    ({"shuffle": "disk"}, "shuffle must be True or False, got 'disk'"),
    ({"measures": "x"}, "unknown measure 'x'"),
    ({"segment": "label"}, TWICE.format("label")),
    ({"segment": "x"}, "df must have exactly one column 'x', got"),
    ({"query_weight": "x"}, "df must have exactly one column 'x', got"),
    ({"query_weight": "label"}, TWICE.format("label")),
    ({"query_weight": "clicks"}, TWICE.format("clicks")),
]
NO_SELECTOR = "must be a RankingFeatureSelector, because"
OF_SELECTORS = [
    ({"selector": LinearRanker()}, f"{NO_SELECTOR} .* LinearRanker"),
    ({"selector": Selector}, f"{NO_SELECTOR} .* <class"),
    ({"selector": Selector(qid="qid")}, "selector must have qid=None"),
    ({"selector": Selector(redundancy=False)}, "redundancy must be True with"),
    ({"selector": Selector(direction=["auto"])}, "one value per feature"),
    ({"selector": Selector("xx", max_correlation=None)}, "measure 'xx'"),
    ({"selector": Selector(zero_relevance="no")}, "zero_relevance must be"),
    ({"features": "clicks"}, "a list of at least one"),
    ({"features": []}, "a list of at least one"),
    ({"features": 3}, "a list of at least one"),
    ({"features": ["qid"]}, TWICE.format("qid")),
]


@pytest.mark.parametrize(("options", "message"), OF_SELECTORS)
def test_arguments_of_fit_selector(rows, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        computed(dask.fit_selector, never(rows), **options)


@pytest.mark.parametrize(("options", "message"), OF_EVALUATE)
def test_arguments_of_evaluate(rows, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        computed(dask.evaluate, never(rows), **options)


def test_more_features_than_redundancy_can_compare(rows):
    wide = pd.DataFrame(dict.fromkeys(["label", "qid", *range(1001)], rows.label))
    with pytest.raises(ValueError, match=r"redundancy must be True .* 1001 features"):
        dask.fit_selector(Selector(), never(wide))


def test_data_frames_that_cannot_be_evaluated(rows):
    twice = rows.set_axis([*rows.columns[:-1], "clicks"], axis=1)
    levels = pd.MultiIndex.from_tuples([("a", name) for name in rows])
    multi_level = rows.set_axis(levels, axis=1)
    cases = [
        (rows, r"df must be a dask.dataframe"),
        (spread(rows.iloc[:0], 1), "at least one row"),
        (spread(twice), "must have exactly one column 'clicks', got in_deg"),
        (spread(multi_level), r"one column 'label', got .*'a'"),
    ]
    for df, message in cases:
        with pytest.raises(ValueError, match=message):
            dask.evaluate(df, score="clicks")


def test_a_column_named_as_the_column_that_dask_adds_in_a_shuffle(rows):
    df = spread(rows.rename(columns={"clicks": "_partitions"}), 1)
    # a shuffle would lose the column
    with pytest.raises(KeyError, match="_partitions"):
        dask.evaluate(df, score="_partitions")
    assert dask.evaluate(df, score="_partitions", shuffle=False).qid.size == 60


def frames_of(change):
    """Return a data frame with a change in one partition."""

    def frame(number):
        if number == PARTITION:
            return change(part(number))
        return part(number)

    return dd.from_map(frame, range(N_PARTITIONS), meta=META)


def put(column, value, rows=slice(3, 4)):
    """Return a function that changes rows of the query."""

    def change(frame):
        query_rows = np.flatnonzero(frame.qid == QUERY)
        frame[column] = frame[column].astype(object)
        frame.loc[query_rows[rows], column] = value
        if isinstance(value, str):
            return frame
        return frame.astype({column: float})

    return change


def text_ids(frame):
    return frame.assign(qid="q" + frame.qid.map(str))


def without_clicks(frame):
    return frame.drop(columns="clicks")


WEIGHT = {"query_weight": "weight"}
STRICT = {"zero_relevance": "raise"}
NOTHING = put("label", 0.0, slice(5))
NO_CLICKS = put("clicks", np.nan)
UNDEFINED = "NDCG@10 is undefined for query 19: the labels define no value"
NO_COLUMN = "must have the column 'clicks' .*, got label, qid, weight"
TEXT_IDS = "^column 'qid' must have .*, int64, got (object|str|string) "


FAULTS = [
    (put("label", -1), {}, ALL, "(label|y) must be >= 0, got -1.0 in row 18"),
    (put("label", -1, slice(3, 5)), {}, ALL, r"got -1.0 in row 18 \(and 1 more\)"),
    (NO_CLICKS, {}, ALL[:1], "clicks must not be NaN, got nan in row 18"),
    (NO_CLICKS, {}, ALL[1:], "X must not contain NaN, got 1 NaN in feature 'clicks'"),
    (put("weight", 2.0), WEIGHT, ALL, "got 1.0 and 2.0 in query 19"),
    (put("qid", np.nan), {}, ALL, "qid must not be missing, got nan in row 18"),
    (NOTHING, STRICT, ALL[:1], UNDEFINED),
    (put("clicks", "many"), {}, ALL, "'clicks' must have .*, float64, got object"),
    (without_clicks, {}, ALL, NO_COLUMN),
    (text_ids, {}, ALL, TEXT_IDS),
]


@pytest.mark.parametrize(("change", "options", "functions", "message"), FAULTS)
def test_a_fault_in_a_partition(change, options, functions, message):
    df = frames_of(change)
    for function in functions:
        with pytest.raises(ValueError, match=message) as caught:
            computed(function, df, shuffle=False, **options)
        note, *_ = caught.value.__notes__
        assert note.startswith("in partition 2 (numbered 0 to 3)")
        if " in row " in str(caught.value):
            assert re.search(", query (19|nan)$", note)
        if "must contain" in message or "have a column" in message:
            # the error comes before the shuffle
            with pytest.raises(ValueError, match=f"{message}.*\nin partition 2 "):
                computed(function, df)


def test_faults_of_segments_and_weights(rows):
    no_clicks = frames_of(NO_CLICKS).assign(market="us")
    text = frames_of(NO_CLICKS).map_partitions(text_ids)
    is_us = (rows.qid == 7) & (rows.index % 2 == 1)
    two = rows.assign(market=np.where(is_us, "us", "de"))
    segment = {"segment": "market"}
    cases = [
        (no_clicks, {**segment, "shuffle": False}, r"clicks must not be NaN.*\n.*19"),
        (text, {"shuffle": False}, r"got nan in row 18\n.*query 'q19'$"),
        (spread(two), segment, "market must be constant within a query, .* query 7"),
        (spread(rows.assign(weight=0.0)), WEIGHT, "must not be 0 in every query"),
    ]
    market = (rows.qid % 3).astype(str).astype(object)
    for hole in (None, np.nan):
        incomplete = market.where(rows.qid != 7, hole)
        df = spread(rows.assign(market=incomplete))
        cases.append((df, segment, r"market must not be missing.*\n.*query 7"))
    for df, options, message in cases:
        with pytest.raises(ValueError, match=message):
            dask.evaluate(df, score="clicks", **options)


def test_text_among_features_of_any_type_is_named():
    parts = [part(number).astype({"clicks": object}) for number in range(2)]
    parts[1].loc[7, "clicks"] = "many"
    df = dd.from_map(lambda number: parts[number], range(2), meta=parts[0][:0])
    with pytest.raises(ValueError, match="many"):
        dask.fit_selector(Selector(), df, features=["clicks"], shuffle=False)


def test_a_column_that_the_meta_does_not_have_is_no_feature_in_silence():
    df = frames_of(lambda frame: frame.assign(views=1.0))
    message = "no partition may have the column 'views', .*\nin partition 2 "
    with pytest.raises(ValueError, match=message):
        dask.fit_selector(Selector("rr"), df)
    assert dask.fit_selector(Selector("rr"), df, features=["clicks"]).n_queries_ == 32
    assert dask.evaluate(df, score="clicks").qid.size == 32


def parts_with_large_ids():
    """Return partitions with ids above 2^53. As floats, 2^53 and 2^53 + 1 are equal."""
    return [part(i).assign(qid=part(i).qid + LARGE) for i in range(3)]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("function", ALL)
def test_ids_must_not_be_integers_if_the_meta_has_floats(function, shuffle):
    parts = parts_with_large_ids()
    meta = META.astype({"qid": float})
    df = dd.from_map(lambda i: parts[i], range(3), meta=meta)
    message = r"^column 'qid' must have .*, float64, got int64 .*\nin partition \d"
    with pytest.raises(ValueError, match=message):
        computed(function, df, shuffle=shuffle)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("function", ALL)
def test_ids_must_not_be_floats_in_one_partition(function, shuffle):
    parts = parts_with_large_ids()
    parts[1] = parts[1].astype({"qid": float})
    df = dd.from_map(lambda i: parts[i], range(3), meta=META)
    message = r"^column 'qid' must have .*, int64, got float64 .*\nin partition \d"
    with pytest.raises(ValueError, match=message):
        computed(function, df, shuffle=shuffle)


@pytest.mark.parametrize("shuffle", [False, True])
def test_ids_may_be_floats_in_an_empty_partition(shuffle):
    parts = parts_with_large_ids()
    parts[1] = parts[1][:0].astype({"qid": float})
    df = dd.from_map(lambda i: parts[i], range(3), meta=META)
    assert dask.evaluate(df, score="clicks", shuffle=shuffle).qid.size == 16


@pytest.mark.parametrize("function", ALL)
def test_ids_of_two_types_do_not_meet_in_a_shuffle(rows, function):
    """Python's 1 and 1.0 are equal, but Dask shuffles them by their texts."""
    mixed = np.array(rows.qid.tolist(), dtype=object)
    mixed[::2] = rows.qid[::2].astype(float).tolist()
    df = dd.from_pandas(rows.assign(qid=mixed), npartitions=5)
    with pytest.raises(
        ValueError, match="must have ids of one type in all partitions, got"
    ):
        computed(function, df)


def test_ids_with_the_same_digest_are_named(rows, monkeypatch):
    ordered = rows.sort_values("qid").reset_index(drop=True)
    ordered = ordered[ordered.qid < 20]
    parts = [ordered[ordered.qid < 10], ordered[ordered.qid >= 10]]
    df = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])

    def coarse(ids):
        return np.asarray(ids).astype(np.uint64) % np.uint64(13)

    monkeypatch.setattr("tieaware_sklearn._engine.hashing.value_bits", coarse)
    digests = [set(coarse(range(1, 10))), set(coarse(range(10, 20)))]
    least = min(set.intersection(*digests))
    names = [q for q in range(1, 20) if q % 13 == least]
    for function in (dask.evaluate, dask.fit_selector):
        with pytest.raises(ValueError, match=f"got {names[0]} and {names[1]} with"):
            computed(function, df, shuffle=False)
    whole = dd.from_pandas(ordered, npartitions=1)
    for function in ALL:
        with pytest.raises(ValueError, match="ids with different 64-bit digests"):
            computed(function, whole, shuffle=False)


def test_queries_cut_by_partitions_are_not_counted_twice(rows):
    df = spread(rows.sort_values("qid", ignore_index=True), 9)
    message = (
        r"qid must have all rows of a query in one partition with shuffle=False, got"
    )
    message += r" query \d+ in partitions \d+ and \d+ \(numbered 0 to 8\)"
    for function in ALL:
        with pytest.raises(ValueError, match=message):
            computed(function, df, shuffle=False)
    single_query = spread(rows.assign(qid=7), 9)
    with pytest.raises(ValueError, match=r"query 7 in partitions 0 and 1 \("):
        dask.evaluate(single_query, score="clicks", shuffle=False)


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_a_file_that_is_read_twice_is_an_error(rows, tmp_path, function, filesystem):
    """Dask reads several files as one partition where few columns are wanted."""
    wide = rows.assign(**{f"more {j}": 0.0 for j in range(20)})
    for i in range(8):
        wide[wide.qid % 8 == i].to_parquet(tmp_path / f"{i}.parquet")
    wide[wide.qid % 8 == 0].to_parquet(tmp_path / "0 again.parquet")
    df = dd.read_parquet(tmp_path, filesystem=filesystem)
    few = df[["clicks", "label", "qid"]] if function is dask.fit_selector else df
    with pytest.raises(ValueError, match=r"in partitions \d and \d \(num"):
        computed(function, few, shuffle=False)


@st.composite
def cut_queries(draw):
    """Return partitions, and the partitions of each query that is cut or repeated."""
    n_partitions = draw(st.integers(2, 5))
    frames = [[] for _ in range(n_partitions)]
    twice = {}
    numbers = st.lists(st.integers(-3, 9), min_size=1, max_size=6, unique=True)
    texts = st.lists(st.text("ab", min_size=1), min_size=1, max_size=6, unique=True)
    ids = draw(numbers | texts)
    for qid in ids:
        documents = st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0]))
        pairs = draw(st.lists(documents, min_size=2, max_size=5))
        rows = [(label, score, qid) for label, score in pairs]
        place = st.integers(0, n_partitions - 1)
        first = draw(place)
        second = draw(place)
        cut = draw(st.integers(1, len(rows)))
        is_repeated = draw(st.booleans())
        second_rows = rows if is_repeated else rows[cut:]
        frames[first] += rows[:cut]
        frames[second] += second_rows
        if first != second and second_rows:
            twice[qid] = {first, second}
    kinds = {"label": float, "clicks": float, "qid": type(ids[0])}
    parts = []
    for rows in frames:
        part = pd.DataFrame(rows, columns=["label", "clicks", "qid"])
        parts.append(part.astype(kinds))
    return parts, twice


@settings(max_examples=25)
@given(cut_queries(), st.sampled_from(ALL))
def test_cut_or_repeated_anywhere_is_an_error_else_as_on_one_machine(data, function):
    frames, twice = data
    df = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    if not twice:
        whole = dd.from_pandas(pd.concat(frames, ignore_index=True), npartitions=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one query, nothing relevant
            actual = computed(function, df, shuffle=False)
            assert_same(actual, computed(function, whole, shuffle=False))
        return
    with pytest.raises(ValueError, match="in one partition with ") as caught:
        computed(function, df, shuffle=False)
    query = re.search(r"got query (.*?) in partitions", str(caught.value))[1]
    for partition in twice[ast.literal_eval(query)]:
        assert str(partition) in str(caught.value)


class UserError(Exception):
    pass


@pytest.mark.parametrize("error", [KeyError("password"), UserError("not today")])
def test_errors_of_what_makes_a_partition_are_left_as_they_are(error):
    def fail(frame):
        raise type(error)(*error.args)

    with pytest.raises(type(error)) as caught:
        dask.evaluate(frames_of(fail), score="clicks")
    assert caught.value.args == error.args


def test_a_partition_that_is_none():
    with pytest.raises(TypeError, match=r"NoneType.*\nin partition 2 "):
        dask.evaluate(frames_of(lambda frame: None), score="clicks")


def test_a_message_names_ids_that_are_times():
    rows = part(0)
    rows["qid"] = pd.Timestamp("2020-01-20") + pd.to_timedelta(rows.qid, unit="D")
    df = dd.concat([dd.from_pandas(rows[:3], 1), dd.from_pandas(rows[3:], 1)])
    with pytest.raises(ValueError, match="got query 2020-01-20T00:00:00"):
        dask.evaluate(df, score="clicks", shuffle=False)
