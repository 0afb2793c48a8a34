"""What is wrong with a partition is said with its number, query and file."""

from __future__ import annotations

import re

import dask
import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd

from tests.dask.helpers import ALL, MARKS, computed
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.dask import (
    compare_systems,
    evaluate,
    fit_selector,
)
from tieaware_sklearn.measures import NDCG

pytestmark = [
    *MARKS,
    # by Dask's reader of Parquet, of the newest pandas
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]
N_PARTITIONS = 4
#: queries and documents of each partition
N_QUERIES, N_DOCUMENTS = 8, 5
#: the query with the fault, and its partition
QUERY, PARTITION = 19, 2


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set({"scheduler": "sync", "dataframe.convert-string": False}):
        yield


def part(number):
    """Whole queries."""
    rng = np.random.default_rng(number)
    n = N_QUERIES * N_DOCUMENTS
    return pd.DataFrame(
        {
            "label": rng.integers(0, 3, n).astype(float),
            "qid": np.repeat(np.arange(N_QUERIES), N_DOCUMENTS) + N_QUERIES * number,
            "clicks": rng.random(n),
            "weight": 1.0,
        }
    )


META = part(0)[:0]


def frames_with(change):
    """A data frame of which the rows of one query are changed."""

    def frame(number):
        own = part(number)
        if number == PARTITION:
            change(own, np.flatnonzero(own.qid == QUERY))
        return own

    return dd.from_map(frame, range(N_PARTITIONS), meta=META)


def put(column, value, rows=slice(3, 4)):
    def change(frame, own):
        frame[column] = frame[column].astype(object)
        frame.loc[own[rows], column] = value
        if not isinstance(value, str):
            frame[column] = frame[column].astype(float)

    return change


FAULTS = {
    "a negative label": (
        *(put("label", -1), {}, ALL),
        "(label|y) must be >= 0, got -1.0 in row 18",
    ),
    "two negative labels": (
        *(put("label", -1, slice(3, 5)), {}, ALL),
        r"(label|y) must be >= 0, got -1.0 in row 18 \(and 1 more\)",
    ),
    "an infinite label": (
        *(put("label", np.inf), {}, ALL),
        "(label|y) must be finite, got inf in row 18",
    ),
    "no judgment": (
        *(put("label", np.nan), {}, ALL),
        r"(label|y) must be judged \(leave out unjudged rows\), got nan in row 18",
    ),
    "no score": (
        *(put("clicks", np.nan), {}, ALL[:2]),
        "clicks must not be NaN, got nan in row 18",
    ),
    "an infinite score": (
        *(put("clicks", np.inf), {}, ALL[:2]),
        r"clicks must be finite, or -inf \(not retrieved\), got inf in row 18",
    ),
    "no feature value": (
        *(put("clicks", np.nan), {}, ALL[2:]),
        r"X must not hold NaN, got 1 in column 'clicks' \(missing=\"last\" ",
    ),
    "an infinite feature": (
        *(put("clicks", -np.inf), {}, ALL[2:]),
        "X contains infinity",
    ),
    "weights that differ": (
        *(put("weight", 2.0), {"query_weight": "weight"}, [ALL[0], ALL[2]]),
        r"weight must be constant within a query, got 1.0 and 2.0 in query 19",
    ),
    "a negative weight": (
        *(put("weight", -2.0, slice(5)), {"query_weight": "weight"}, [ALL[0], ALL[2]]),
        r"weight must be finite and >= 0, got -2.0 in row 15 \(and 4 more\)",
    ),
    "no query": (
        *(put("qid", np.nan), {}, ALL),
        "qid must not be missing, got nan in row 18",
    ),
    "a label without a gain": (
        *(put("label", 70), {"measures": [NDCG(10, gain="exponential")]}, ALL[:2]),
        "must be <= 60 with exponential gain .*, got 70",
    ),
    "an undefined measure": (
        *(put("label", 0.0, slice(5)), {"zero_relevance": "raise"}, ALL[:2]),
        "NDCG@10 is undefined for query 19: its denominator is 0",
    ),
    "a word": (
        *(put("clicks", "many"), {}, ALL),
        "column 'clicks' must hold float64, as the meta of df says, got object",
    ),
}
EACH = [(fault, name) for fault, (_, _, names, _) in FAULTS.items() for name in names]


@pytest.mark.parametrize(("fault", "name"), EACH)
def test_a_fault_is_said_by_column_value_query_and_partition(fault, name):
    change, options, _, message = FAULTS[fault]
    with pytest.raises(ValueError, match=message) as caught:
        computed(name, frames_with(change), shuffle=False, **options)
    (note,) = caught.value.__notes__
    assert note.startswith("in partition 2 (of 0 to 3)")
    if " in row " in str(caught.value):
        assert re.search(", query (19|nan)$", note)


@pytest.mark.parametrize("name", ALL)
def test_after_a_shuffle_the_query_is_named(name):
    with pytest.raises(
        ValueError,
        match=r"must be >= 0, got -1.0 in row \d+\nin shuffled partition \d "
        r"\(of 0 to 3\), query 19$",
    ):
        computed(name, frames_with(put("label", -1)))


def test_other_functions_name_the_query_too():
    df = frames_with(put("clicks", np.nan)).assign(market="us")
    with pytest.raises(ValueError, match=r"clicks must not be NaN.*\n.*query 19"):
        evaluate(df, score="clicks", segment="market", shuffle=False)
    with pytest.raises(ValueError, match=r"clicks must not be NaN.*\n.*query 19"):
        compare_systems(df, scores=["weight", "clicks"], shuffle=False)
    text = df.map_partitions(lambda frame: frame.assign(qid="q" + frame.qid.map(str)))
    with pytest.raises(ValueError, match=r"got nan in row 18\n.*query 'q19'$"):
        evaluate(text, score="clicks", shuffle=False)


def test_text_among_features_of_any_type_is_named():
    meta = META.astype({"clicks": object})
    own = [part(number).astype({"clicks": object}) for number in range(2)]
    own[1].loc[7, "clicks"] = "many"
    df = dd.from_map(lambda number: own[number], range(2), meta=meta)
    with pytest.raises(ValueError, match="many"):
        fit_selector(RankingFeatureSelector(), df, features=["clicks"], shuffle=False)


def other_in_one(change):
    def frame(number):
        return change(part(number)) if number == PARTITION else part(number)

    return frame


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_a_column_that_a_partition_does_not_have_is_named(name, shuffle):
    without = other_in_one(lambda frame: frame.drop(columns="clicks"))
    df = dd.from_map(without, range(N_PARTITIONS), meta=META)
    with pytest.raises(
        ValueError,
        match=r"must have a column 'clicks', as the meta of df has, got label, qid, "
        r"weight\nin partition 2 \(of 0 to 3\)$",
    ):
        computed(name, df, shuffle=shuffle)


def test_a_column_that_the_meta_does_not_have_is_no_feature_in_silence():
    more = other_in_one(lambda frame: frame.assign(views=1.0))
    df = dd.from_map(more, range(N_PARTITIONS), meta=META)
    with pytest.raises(
        ValueError,
        match="must not have a column 'views', which the meta of df does not have: "
        r"give df the right meta, or name the features\nin partition 2 ",
    ):
        fit_selector(RankingFeatureSelector("rr"), df)
    named = fit_selector(RankingFeatureSelector("rr"), df, features=["clicks"])
    assert named.n_queries_ == 32
    assert evaluate(df, score="clicks").qid.size == 32


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_ids_of_another_kind_than_the_meta_are_named(name, shuffle):
    texts = other_in_one(lambda frame: frame.assign(qid="q" + frame.qid.map(str)))
    df = dd.from_map(texts, range(N_PARTITIONS), meta=META)
    with pytest.raises(
        ValueError,
        match=r"^column 'qid' must hold int64, as the meta of df says, got (object|str|"
        r"string) .*\nin partition 2 \(of 0 to 3\)$",
    ):
        computed(name, df, shuffle=shuffle)


def test_kinds_of_numbers_and_texts_may_differ():
    """As far as no query changes by it."""
    same = [
        part(0).astype({"label": int, "clicks": np.float32}),
        part(1).astype({"label": object}),
        part(2).astype({"label": "Int64", "qid": np.int32}),
        part(3).astype({"clicks": object}),
        part(4)[:0].astype({"label": object, "qid": object, "clicks": object}),
    ]
    df = dd.from_map(lambda i: same[i], range(5), meta=META)
    assert evaluate(df, score="clicks", shuffle=False).qid.size == 32
    whole = dd.from_pandas(pd.concat([part(i) for i in range(4)]), npartitions=1)
    wanted = fit_selector(RankingFeatureSelector("rr"), whole, features=["weight"])
    found = fit_selector(
        RankingFeatureSelector("rr"), df, features=["weight"], shuffle=False
    )
    assert found.mean_.tolist() == wanted.mean_.tolist()


LARGE = 2**53


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("floats", ["meta", "partition"])
def test_ids_are_integers_or_floats_in_all_partitions(name, shuffle, floats):
    """As floats, 2^53 and 2^53 + 1 are one query."""
    meta = META.astype({"qid": float}) if floats == "meta" else META
    own = [part(i).assign(qid=part(i).qid + LARGE) for i in range(3)]
    if floats == "partition":
        own[1]["qid"] = own[1].qid.astype(float)
    df = dd.from_map(lambda i: own[i], range(3), meta=meta)
    of, got = ("float64", "int64") if floats == "meta" else ("int64", "float64")
    message = rf"^column 'qid' must hold {of}, .*, got {got} .*\nin partition \d"
    with pytest.raises(ValueError, match=message):
        computed(name, df, shuffle=shuffle)
    # what is empty is of no kind
    others = [own[0], own[1][:0].astype({"qid": float}), own[2]]
    df = dd.from_map(lambda i: others[i], range(3), meta=META)
    if floats == "partition":
        assert evaluate(df, score="clicks", shuffle=shuffle).qid.size == 16


@pytest.mark.parametrize("shuffle", [False, True])
def test_scores_that_floats_do_not_hold_are_no_floats(shuffle):
    own = [part(i).assign(clicks=LARGE + np.arange(40) % 3) for i in range(2)]
    meta = own[0][:0]
    own[1]["clicks"] = np.arange(40.0) % 4
    df = dd.from_map(lambda i: own[i], range(2), meta=meta)
    found = evaluate(df, score="clicks", shuffle=shuffle)
    rows = pd.concat([own[0], own[1].astype({"clicks": int})])
    wanted = evaluate(dd.from_pandas(rows, npartitions=1), score="clicks")
    assert found.expected.tolist() == wanted.expected.tolist()
    numbered = [one.rename(columns={"clicks": 0}) for one in own]
    df = dd.from_map(lambda i: numbered[i], range(2), meta=numbered[0][:0])
    found = evaluate(df, score=0, shuffle=shuffle)
    assert found.expected.tolist() == wanted.expected.tolist()
    df = dd.from_map(lambda i: own[i], range(2), meta=META)
    with pytest.raises(
        ValueError,
        match=r"^column 'clicks' must hold float64, .*\nin partition 0 \(of 0 to 1\)",
    ):
        evaluate(df, score="clicks", shuffle=shuffle)


def test_a_partition_that_is_none_is_named():
    df = dd.from_map(other_in_one(lambda frame: None), range(4), meta=META)
    with pytest.raises(TypeError, match=r"NoneType.*\nin partition 2 "):
        evaluate(df, score="clicks")


def test_an_error_about_another_key_is_left_as_it_is():
    def fail(frame):
        raise KeyError("password")

    df = dd.from_map(other_in_one(fail), range(N_PARTITIONS), meta=META)
    with pytest.raises(KeyError, match="password"):
        evaluate(df, score="clicks")


def test_times_are_shown_as_such():
    own = part(0)
    own["qid"] = pd.Timestamp("2020-01-20") + pd.to_timedelta(own.qid, unit="D")
    df = dd.concat([dd.from_pandas(own[:3], 1), dd.from_pandas(own[3:], 1)])
    with pytest.raises(ValueError, match="got query 2020-01-20T00:00:00"):
        evaluate(df, score="clicks", shuffle=False)


@pytest.fixture
def files(tmp_path):
    for number in range(N_PARTITIONS):
        part(number).to_parquet(tmp_path / f"{number}.parquet", index=False)
    return tmp_path


NAMED = r"in partition 2 \(of 0 to 3\)\nin file \S*2\.parquet$"


@pytest.mark.parametrize("name", ["evaluate", "fit_selector"])
@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_a_corrupt_row_group_names_its_file(files, name, filesystem):
    path = files / "2.parquet"
    whole = bytearray(path.read_bytes())
    # pages, behind the magic bytes and before the footer
    whole[4:300] = b"\xff" * 296
    path.write_bytes(whole)
    df = dd.read_parquet(files, filesystem=filesystem)
    with pytest.raises(OSError, match=NAMED):
        computed(name, df, shuffle=False)


@pytest.mark.parametrize("name", ["evaluate", "fit_selector"])
def test_files_that_are_cut_or_differ_are_named(files, name):
    path = files / "2.parquet"
    others = [
        (part(2).drop(columns="clicks"), "clicks"),
        (part(2).astype({"qid": str}), "column 'qid' must hold int64"),
    ]
    for frame, message in others:
        frame.to_parquet(path, index=False)
        with pytest.raises((KeyError, ValueError), match=f"{message}.*\n{NAMED}"):
            computed(name, dd.read_parquet(files))
    part(2).to_parquet(path, index=False)
    df = dd.read_parquet(files)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=f"Parquet.*\n{NAMED}"):
        computed(name, df)


def test_files_are_named_though_several_are_one_partition(files):
    """Dask makes one partition of several files of which few columns are read."""
    for number in range(N_PARTITIONS):
        many = {f"f{j}": np.zeros(40) for j in range(40)}
        part(number).assign(**many).to_parquet(files / f"{number}.parquet")
    df = dd.read_parquet(files)
    texts = part(2).assign(qid="q" + part(2).qid.map(str), **many)
    texts.to_parquet(files / "2.parquet")
    with pytest.raises(ValueError, match=f"column 'qid' must hold.*\n{NAMED}"):
        evaluate(df, score="clicks", shuffle=False)
    part(2).assign(label=-1, **many).to_parquet(files / "2.parquet")
    df = dd.read_parquet(files)
    for name in ("evaluate", "fit_selector"):
        with pytest.raises(ValueError, match=r"must be >= 0, got -1.*\n(.*\n)?in file"):
            computed(name, df, shuffle=False)


def test_errors_of_what_makes_a_partition_are_left_as_they_are():
    class OfTheUser(Exception):
        pass

    def fail(frame):
        raise OfTheUser("not today")

    df = dd.from_map(other_in_one(fail), range(N_PARTITIONS), meta=META)
    with pytest.raises(OfTheUser, match=r"^not today") as caught:
        evaluate(df, score="clicks")
    assert caught.value.args == ("not today",)
    assert caught.value.__notes__ == ["in partition 2 (of 0 to 3)"]
