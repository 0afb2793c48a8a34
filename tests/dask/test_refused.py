"""What is wrong is said with its column, value, query, partition and file."""

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
    """Nothing of it may be computed."""
    return spread(rows, 2).map_partitions(lambda frame: 1 / 0, meta=rows[:0])


TWICE = "must name different columns, got '{}' twice"
OF_DATA = [
    ({"score": None}, "df must have one column None, got"),
    ({"score": ["clicks"]}, r"df must have one column \['clicks'\], got"),
    ({"score": "label"}, TWICE.format("label")),
    ({"shuffle": "disk"}, "shuffle must be True or False, got 'disk'"),
    ({"measures": "x"}, "unknown measure 'x'"),
]
NO_SELECTOR = "must be a RankingFeatureSelector, got"
OF_SELECTORS = [
    ({"selector": LinearRanker()}, f"{NO_SELECTOR} LinearRanker"),
    ({"selector": Selector}, f"{NO_SELECTOR} <class"),
    ({"selector": Selector(qid="qid")}, "must not read query ids from a column"),
    ({"selector": Selector(redundancy=False)}, "redundancy must be True with"),
    ({"selector": Selector(direction=["auto"])}, "one value per feature"),
    ({"selector": Selector("xx", max_correlation=None)}, "measure 'xx'"),
    ({"selector": Selector(zero_relevance="no")}, "zero_relevance must be"),
    *(({"features": one}, "a list of at least one") for one in ("clicks", [], 3)),
    ({"features": ["qid"]}, TWICE.format("qid")),
]


WEIGHTS = [
    ("x", "df must have one column 'x', got"),
    ("label", TWICE.format("label")),
    ("clicks", TWICE.format("clicks")),
]
BAD_ARGUMENTS = [
    *((dask.evaluate, *case) for case in OF_DATA),
    *((dask.fit_selector, *case) for case in OF_SELECTORS),
    (dask.evaluate, {"segment": "label"}, TWICE.format("label")),
    (dask.evaluate, {"segment": "x"}, "df must have one column 'x', got"),
    *((dask.evaluate, {"query_weight": name}, message) for name, message in WEIGHTS),
]


@pytest.mark.parametrize(("function", "options", "message"), BAD_ARGUMENTS)
def test_arguments(rows, function, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        computed(function, never(rows), **options)


def test_data_frames_that_are_none(rows):
    wide = pd.DataFrame(dict.fromkeys(["label", "qid", *range(1001)], rows.label))
    with pytest.raises(ValueError, match=r"redundancy must be True .* 1001 features"):
        dask.fit_selector(Selector(), never(wide))
    twice = rows.set_axis([*rows.columns[:-1], "clicks"], axis=1)
    levels = pd.MultiIndex.from_tuples([("a", name) for name in rows])
    for df, message in (
        (rows, r"df must be a dask.dataframe"),
        (spread(rows.iloc[:0], 1), "at least one row"),
        (spread(twice), "must have one column 'clicks', got in_deg"),
        (spread(rows.set_axis(levels, axis=1)), r"one column 'label', got .*'a'"),
    ):
        with pytest.raises(ValueError, match=message):
            dask.evaluate(df, score="clicks")
    # unlike those of other names, it would be lost on the way
    own = spread(rows.rename(columns={"clicks": "_partitions"}), 1)
    with pytest.raises(KeyError, match="_partitions"):
        dask.evaluate(own, score="_partitions")
    assert dask.evaluate(own, score="_partitions", shuffle=False).qid.size == 60


def frames_of(change):
    """A data frame of which one partition is another."""

    def frame(number):
        return change(part(number)) if number == PARTITION else part(number)

    return dd.from_map(frame, range(N_PARTITIONS), meta=META)


def put(column, value, rows=slice(3, 4)):
    """Some rows of the query are changed."""

    def change(frame):
        own = np.flatnonzero(frame.qid == QUERY)
        frame[column] = frame[column].astype(object)
        frame.loc[own[rows], column] = value
        return frame if isinstance(value, str) else frame.astype({column: float})

    return change


def text_ids(frame):
    return frame.assign(qid="q" + frame.qid.map(str))


def without_clicks(frame):
    return frame.drop(columns="clicks")


WEIGHT, STRICT = {"query_weight": "weight"}, {"zero_relevance": "raise"}
NOTHING = put("label", 0.0, slice(5))
NO_CLICKS = put("clicks", np.nan)
UNDEFINED = "NDCG@10 is undefined for query 19: its denominator is 0"
NO_COLUMN = "must have a column 'clicks', .*, got label, qid, weight"
TEXT_IDS = "^column 'qid' must hold int64, .* got (object|str|string) "


FAULTS = [
    (put("label", -1), {}, ALL, "(label|y) must be >= 0, got -1.0 in row 18"),
    (put("label", -1, slice(3, 5)), {}, ALL, r"got -1.0 in row 18 \(and 1 more\)"),
    (NO_CLICKS, {}, ALL[:1], "clicks must not be NaN, got nan in row 18"),
    (NO_CLICKS, {}, ALL[1:], "X must not hold NaN, got 1 in column 'clicks'"),
    (put("weight", 2.0), WEIGHT, ALL, "got 1.0 and 2.0 in query 19"),
    (put("qid", np.nan), {}, ALL, "qid must not be missing, got nan in row 18"),
    (NOTHING, STRICT, ALL[:1], UNDEFINED),
    (put("clicks", "many"), {}, ALL, "'clicks' must hold float64, .* got object"),
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
        assert note.startswith("in partition 2 (of 0 to 3)")
        if " in row " in str(caught.value):
            assert re.search(", query (19|nan)$", note)
        if "must hold" in message or "have a column" in message:
            # which is said before the shuffle
            with pytest.raises(ValueError, match=f"{message}.*\nin partition 2 "):
                computed(function, df)


def test_faults_of_segments_and_weights(rows):
    no_clicks = frames_of(NO_CLICKS).assign(market="us")
    text = frames_of(NO_CLICKS).map_partitions(text_ids)
    two = rows.assign(market=np.where((rows.qid == 7) & (rows.index % 2), "us", "de"))
    segment = {"segment": "market"}
    cases = [
        (no_clicks, {**segment, "shuffle": False}, r"clicks must not be NaN.*\n.*19"),
        (text, {"shuffle": False}, r"got nan in row 18\n.*query 'q19'$"),
        (spread(two), segment, "market must be constant within a query, .* query 7"),
        (spread(rows.assign(weight=0.0)), WEIGHT, "must not be 0 in every query"),
    ]
    market = (rows.qid % 3).astype(str).astype(object)
    for hole in (None, np.nan):
        df = spread(rows.assign(market=market.where(rows.qid != 7, hole)))
        cases.append((df, segment, r"market must not be missing.*\n.*query 7"))
    for df, options, message in cases:
        with pytest.raises(ValueError, match=message):
            dask.evaluate(df, score="clicks", **options)


def test_text_among_features_of_any_type_is_named():
    own = [part(number).astype({"clicks": object}) for number in range(2)]
    own[1].loc[7, "clicks"] = "many"
    df = dd.from_map(lambda number: own[number], range(2), meta=own[0][:0])
    with pytest.raises(ValueError, match="many"):
        dask.fit_selector(Selector(), df, features=["clicks"], shuffle=False)


def test_a_column_that_the_meta_does_not_have_is_no_feature_in_silence():
    df = frames_of(lambda frame: frame.assign(views=1.0))
    what = "must not have a column 'views', .*\nin partition 2 "
    with pytest.raises(ValueError, match=what):
        dask.fit_selector(Selector("rr"), df)
    assert dask.fit_selector(Selector("rr"), df, features=["clicks"]).n_queries_ == 32
    assert dask.evaluate(df, score="clicks").qid.size == 32


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("floats", ["meta", "partition"])
def test_ids_are_integers_or_floats_in_all_partitions(function, shuffle, floats):
    """As floats, 2^53 and 2^53 + 1 are one query."""
    meta = META.astype({"qid": float}) if floats == "meta" else META
    own = [part(i).assign(qid=part(i).qid + LARGE) for i in range(3)]
    if floats == "partition":
        own[1]["qid"] = own[1].qid.astype(float)
    df = dd.from_map(lambda i: own[i], range(3), meta=meta)
    of, got = ("float64", "int64") if floats == "meta" else ("int64", "float64")
    message = rf"^column 'qid' must hold {of}, .*, got {got} .*\nin partition \d"
    with pytest.raises(ValueError, match=message):
        computed(function, df, shuffle=shuffle)
    # what is empty is of no kind
    others = [own[0], own[1][:0].astype({"qid": float}), own[2]]
    df = dd.from_map(lambda i: others[i], range(3), meta=META)
    if floats == "partition":
        assert dask.evaluate(df, score="clicks", shuffle=shuffle).qid.size == 16


@pytest.mark.parametrize("function", ALL)
def test_ids_of_two_types_do_not_meet_in_a_shuffle(rows, function):
    """Python's 1 and 1.0 are equal, but Dask shuffles them by their texts."""
    mixed = np.array(rows.qid.tolist(), dtype=object)
    mixed[::2] = rows.qid[::2].astype(float).tolist()
    df = dd.from_pandas(rows.assign(qid=mixed), npartitions=5)
    with pytest.raises(ValueError, match="must have equal ids of one type, got"):
        computed(function, df)


def test_ids_with_the_same_digest_are_named(rows, monkeypatch):
    ordered = rows.sort_values("qid").reset_index(drop=True)
    ordered = ordered[ordered.qid < 20]
    parts = [ordered[ordered.qid < 10], ordered[ordered.qid >= 10]]
    df = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])

    def coarse(ids):
        return np.asarray(ids).astype(np.uint64) % np.uint64(13)

    monkeypatch.setattr("tieaware_sklearn._engine.hashing.value_bits", coarse)
    least = min(set(coarse(range(1, 10))) & set(coarse(range(10, 20))))
    names = [q for q in range(1, 20) if q % 13 == least]
    for function in (dask.evaluate, dask.fit_selector):
        with pytest.raises(ValueError, match=f"got {names[0]} and {names[1]}, which"):
            computed(function, df, shuffle=False)
    one = dd.from_pandas(ordered, npartitions=1)
    for function in ALL:
        with pytest.raises(ValueError, match="ids that differ in their digests"):
            computed(function, one, shuffle=False)


def test_queries_cut_by_partitions_are_not_counted_twice(rows):
    df = spread(rows.sort_values("qid", ignore_index=True), 9)
    message = r"qid must have all rows of a query in one partition without shuffle, got"
    message += r" query \d+ in partitions \d+ and \d+ \(of 0 to 8\)"
    for function in ALL:
        with pytest.raises(ValueError, match=message):
            computed(function, df, shuffle=False)
    one = spread(rows.assign(qid=7), 9)
    with pytest.raises(ValueError, match=r"query 7 in partitions 0 and 1 \(of 0 to 8"):
        dask.evaluate(one, score="clicks", shuffle=False)


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
    with pytest.raises(ValueError, match=r"in partitions \d and \d \(of 0 to 8\)"):
        computed(function, few, shuffle=False)


@st.composite
def cut_queries(draw):
    """Partitions of queries, of which some are cut or repeated, and these."""
    n_partitions = draw(st.integers(2, 5))
    frames = [[] for _ in range(n_partitions)]
    twice = {}
    numbers = st.lists(st.integers(-3, 9), min_size=1, max_size=6, unique=True)
    texts = st.lists(st.text("ab", min_size=1), min_size=1, max_size=6, unique=True)
    ids = draw(numbers | texts)
    for qid in ids:
        documents = st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0]))
        found = draw(st.lists(documents, min_size=2, max_size=5))
        rows = [(label, score, qid) for label, score in found]
        place = st.integers(0, n_partitions - 1)
        first, second = draw(place), draw(place)
        cut = draw(st.integers(1, len(rows)))
        rest = rows if draw(st.booleans()) else rows[cut:]
        frames[first] += rows[:cut]
        frames[second] += rest
        if first != second and rest:
            twice[qid] = {first, second}
    kinds = {"label": float, "clicks": float, "qid": type(ids[0])}
    names = ["label", "clicks", "qid"]
    return [pd.DataFrame(one, columns=names).astype(kinds) for one in frames], twice


@settings(max_examples=25)
@given(cut_queries(), st.sampled_from(ALL))
def test_cut_or_repeated_anywhere_is_an_error_else_as_on_one_machine(data, function):
    frames, twice = data
    df = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    if not twice:
        whole = dd.from_pandas(pd.concat(frames, ignore_index=True), npartitions=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one query, nothing relevant
            found, wanted = (computed(function, x, shuffle=False) for x in (df, whole))
            assert_same(found, wanted)
        return
    with pytest.raises(ValueError, match="in one partition without") as caught:
        computed(function, df, shuffle=False)
    query = re.search(r"got query (.*?) in partitions", str(caught.value))[1]
    held = twice[ast.literal_eval(query)]
    assert all(str(place) in str(caught.value) for place in held)


class OfTheUser(Exception):
    pass


@pytest.mark.parametrize("error", [KeyError("password"), OfTheUser("not today")])
def test_errors_of_what_makes_a_partition_are_left_as_they_are(error):
    def fail(frame):
        raise type(error)(*error.args)

    with pytest.raises(type(error)) as caught:
        dask.evaluate(frames_of(fail), score="clicks")
    assert caught.value.args == error.args


def test_no_partition_and_ids_that_are_times():
    with pytest.raises(TypeError, match=r"NoneType.*\nin partition 2 "):
        dask.evaluate(frames_of(lambda frame: None), score="clicks")
    own = part(0)
    own["qid"] = pd.Timestamp("2020-01-20") + pd.to_timedelta(own.qid, unit="D")
    df = dd.concat([dd.from_pandas(own[:3], 1), dd.from_pandas(own[3:], 1)])
    with pytest.raises(ValueError, match="got query 2020-01-20T00:00:00"):
        dask.evaluate(df, score="clicks", shuffle=False)
