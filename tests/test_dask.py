"""On a cluster, the numbers of one machine; also when a worker dies on the way."""

from __future__ import annotations

import ast
import gc
import importlib
import os
import re
import signal
import sys
import threading
import time
import warnings
from itertools import pairwise

import dask
import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from distributed import Client, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV

import tieaware_sklearn
from tieaware_sklearn import QueryKFold, RankingFeatureSelector, make_ranking_scorer
from tieaware_sklearn.dask import evaluate, evaluate_queries, fit_selector
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker

MEASURES = ["ndcg@10", "ap", "rr", "err@5"]
pytestmark = [
    # a cluster warns of its own affairs, and leaves sockets to the collector
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.xdist_group("dask"),
]


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=60, n_documents=25, random_state=0)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame = frame.assign(label=web.target, qid=web.qid, weight=web.qid % 3 + 0.5)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.fixture(params=["int", "text", "category"])
def kind(request, rows):
    ids = {
        "int": rows.qid,
        "text": "q" + rows.qid.astype(str),
        "category": ("q" + rows.qid.astype(str)).astype("category"),
    }
    return rows.assign(qid=ids[request.param])


@pytest.fixture(scope="module")
def cluster():
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        yield client
    gc.collect()


def spread(rows, npartitions=7):
    return dd.from_pandas(rows, npartitions=npartitions)


def assert_same_summary(found, wanted):
    for name, value in vars(wanted).items():
        if isinstance(value, np.ndarray):
            assert_allclose(getattr(found, name), value, rtol=1e-12, atol=1e-12)
        else:
            assert getattr(found, name) == value


def assert_same_selector(found, wanted):
    assert found.get_params() == wanted.get_params()
    for name, value in vars(wanted).items():
        if not (isinstance(value, np.ndarray) and name.endswith("_")):
            continue
        if value.dtype.kind == "f":
            got = getattr(found, name)
            assert_allclose(got, value, rtol=1e-11, atol=1e-12, err_msg=name)
        else:
            assert_array_equal(getattr(found, name), value, err_msg=name)


# -- the numbers, without a cluster


@pytest.mark.parametrize("average", ["macro", "geometric"])
@pytest.mark.parametrize("weighted", [False, True])
def test_evaluate_has_the_numbers_of_one_machine(kind, average, weighted):
    weight = "weight" if weighted else None
    found = evaluate(
        spread(kind), score="clicks", measures=MEASURES, average=average,
        query_weight=weight,
    )  # fmt: skip
    wanted = tieaware_sklearn.evaluate(
        kind.label, kind.clicks, qid=kind.qid, measures=MEASURES,
        query_weight=kind.weight if weighted else None,
    ).summary(average)  # fmt: skip
    assert_same_summary(found, wanted)
    assert str(found) == str(wanted)


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
        assert_same_summary(found, wanted.summary())


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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "ascending", "n_features_to_select": 2},
        {"n_features_to_select": 5, "max_correlation": 0.5, "diversity": 0.6},
        {"redundancy": False, "max_correlation": None, "missing": "last"},
        {"sort_by": "rr", "zero_relevance": "skip", "measures": ["ap", "rr"]},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_fit_selector_is_a_fit_of_all_rows(rows, options, weighted):
    if options.get("missing"):
        rows = rows.assign(clicks=rows.clicks.where(rows.index % 5 > 0))
    features = [c for c in rows if c not in ("label", "qid", "weight")]
    selector = RankingFeatureSelector(**options)
    weight = {"query_weight": "weight"} if weighted else {"features": features}
    found = fit_selector(selector, spread(rows), **weight)
    wanted = RankingFeatureSelector(**options).fit(
        rows[features], rows.label, rows.qid, rows.weight if weighted else None
    )
    assert not hasattr(selector, "mean_")
    assert_same_selector(found, wanted)
    selected = wanted.get_feature_names_out()
    assert_array_equal(found.transform(rows[features]), rows[selected])
    if not weighted:
        # further queries can be added, as after a fit
        found.partial_fit(rows[features], rows.label, rows.qid + 1000)
        assert found.n_queries_ == 120


def test_a_selector_of_many_features_is_refused_before_the_work(rows):
    columns = {f"f{j}": rows.clicks for j in range(1001)}
    wide = pd.DataFrame(columns).assign(label=rows.label, qid=rows.qid)
    never = spread(wide, 2).map_partitions(lambda frame: frame[["f0"]], meta=wide[:0])
    with pytest.raises(ValueError, match=r"redundancy must be True .* 1001 features"):
        fit_selector(RankingFeatureSelector(), never)


def test_partitions_of_whole_queries_need_no_shuffle(rows):
    ordered = rows.sort_values("qid").reset_index(drop=True)
    parts = [ordered[ordered.qid % 4 == i] for i in range(4)]
    whole = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])
    arguments = {"score": "clicks", "shuffle": False}
    assert_same_summary(evaluate(whole, **arguments), evaluate(whole, score="clicks"))


ALL = ["evaluate", "evaluate_queries", "fit_selector"]


def computed(name, df, **options):
    """What a function finds: of `evaluate_queries`, all of it."""
    if name == "evaluate":
        return evaluate(df, score="clicks", **options)
    if name == "evaluate_queries":
        return evaluate_queries(df, score="clicks", **options).compute()
    return fit_selector(RankingFeatureSelector("rr"), df, **options)


@pytest.mark.parametrize("name", ALL)
def test_queries_cut_by_partitions_are_not_counted_twice(name):
    # 400 queries in 50 partitions were 449, with NDCG@10 .4532 for .4439
    web = make_web_search(n_queries=400, random_state=0)
    rows = pd.DataFrame(web.data, columns=web.feature_names)
    rows = rows.assign(label=web.target, qid=web.qid)
    df = dd.from_pandas(rows, npartitions=50)
    with pytest.raises(
        ValueError,
        match=r"qid must have all rows of a query in one partition without shuffle, "
        r"got query \d+ in partitions \d+ and \d+ \(of 0 to 49\), and 48 more queries",
    ) as caught:
        computed(name, df, shuffle=False)
    query, *holders = map(int, re.findall(r"\d+", str(caught.value))[:3])
    parts = [set(part.qid) for part in dask.compute(*df.to_delayed())]
    assert [i for i, part in enumerate(parts) if query in part] == holders


@pytest.mark.parametrize("name", ALL)
def test_partitions_that_repeat_others_are_named(kind, name):
    parts = [kind[kind.qid.isin(kind.qid.unique()[i::3])] for i in range(3)]
    parts = [dd.from_pandas(part, npartitions=1) for part in [*parts, parts[1]]]
    with pytest.raises(ValueError, match=r"in partitions 1 and 3 \(of 0 to 3\)") as e:
        computed(name, dd.concat(parts), shuffle=False)
    query = re.search(r"got query (.*?) in", str(e.value))[1]
    assert ast.literal_eval(query) in set(parts[1].qid.compute())


def test_a_query_in_many_partitions_is_named_with_some_of_them(rows):
    df = dd.from_pandas(rows.assign(qid=7), npartitions=9)
    with pytest.raises(ValueError, match="query 7 in partitions 0, 1, 2, 3 and 5 more"):
        evaluate(df, score="clicks", shuffle=False)


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


@pytest.mark.parametrize("name", ALL)
def test_ids_of_two_types_do_not_meet_in_a_shuffle(rows, name):
    """Python's 1 and 1.0 are equal, but Dask shuffles them by their texts."""
    mixed = np.array(rows.qid.tolist(), dtype=object)
    mixed[::2] = rows.qid[::2].astype(float).tolist()
    with dask.config.set({"dataframe.convert-string": False}):
        df = dd.from_pandas(rows.assign(qid=mixed), npartitions=5)
        with pytest.raises(ValueError, match="must have equal ids of one type, got"):
            computed(name, df)


def test_ids_with_the_same_digest_are_named(rows, monkeypatch):
    ordered = rows.sort_values("qid").reset_index(drop=True)
    ordered = ordered[ordered.qid < 20]
    parts = [ordered[ordered.qid < 10], ordered[ordered.qid >= 10]]
    df = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])

    def coarse(ids):
        return np.asarray(ids).astype(np.uint64) % np.uint64(13)

    for module in ("tieaware_sklearn._engine.known_queries", "tieaware_sklearn.dask"):
        monkeypatch.setattr(f"{module}.value_bits", coarse)
    least = min(set(coarse(range(1, 10))) & set(coarse(range(10, 20))))
    names = [q for q in range(1, 20) if q % 13 == least]
    for name in ("evaluate", "fit_selector"):
        with pytest.raises(ValueError, match=f"got {names[0]} and {names[1]}, which"):
            computed(name, df, shuffle=False)
    one = dd.from_pandas(ordered, npartitions=1)
    for name in ALL:
        with pytest.raises(ValueError, match="ids that differ in their digests"):
            computed(name, one, shuffle=False)


@st.composite
def partitions_of_queries(draw):
    """Queries of random documents in partitions, and those cut or repeated."""
    n_partitions = draw(st.integers(1, 5))
    frames = [[] for _ in range(n_partitions)]
    twice = {}
    ids = draw(
        st.lists(st.integers(-3, 9), min_size=1, max_size=6, unique=True)
        | st.lists(st.text("ab", max_size=3), min_size=1, max_size=6, unique=True)
    )
    for qid in ids:
        documents = st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0]))
        found = draw(st.lists(documents, min_size=1, max_size=5))
        rows = [(label, score, qid) for label, score in found]
        partition = st.integers(0, n_partitions - 1)
        places = draw(st.lists(partition, min_size=1, max_size=2))
        cut = draw(st.integers(0, len(rows)))
        repeats = draw(st.booleans())
        both = [rows, rows] if repeats else [rows[:cut], rows[cut:]]
        halves = both if len(places) == 2 else [rows]
        held = set()
        for place, half in zip(places, halves, strict=True):
            frames[place] += half
            held |= {place} if half else set()
        if len(held) > 1:
            twice[qid] = held
    frames = [draw(st.permutations(frame)) for frame in frames]
    return [
        pd.DataFrame(frame, columns=["label", "clicks", "qid"]).astype(
            {"label": float, "clicks": float, "qid": type(ids[0])}
        )
        for frame in frames
    ], twice


@settings(max_examples=40, deadline=None)
@given(partitions_of_queries(), st.sampled_from(ALL))
def test_cut_or_repeated_anywhere_is_an_error_else_as_on_one_machine(data, name):
    frames, twice = data
    df = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    rows = pd.concat(frames, ignore_index=True)
    with dask.config.set(scheduler="synchronous"):
        if twice:
            with pytest.raises(ValueError, match="in one partition without") as caught:
                computed(name, df, shuffle=False)
            query = re.search(r"got query (.*?) in partitions", str(caught.value))[1]
            held = twice[ast.literal_eval(query)]
            assert all(str(place) in str(caught.value) for place in held)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one query, nothing relevant
            found = computed(name, df, shuffle=False)
            report = tieaware_sklearn.evaluate(rows.label, rows.clicks, qid=rows.qid)
            if name == "evaluate":
                assert_same_summary(found, report.summary())
            elif name == "evaluate_queries":
                wanted = report.to_pandas()
                found["qid"] = found["qid"].astype(wanted["qid"].dtype)
                pd.testing.assert_frame_equal(
                    found.sort_values(["qid", "measure"], ignore_index=True),
                    wanted.sort_values(["qid", "measure"], ignore_index=True),
                    check_exact=True,
                )
            else:
                wanted = RankingFeatureSelector("rr")
                wanted.fit(rows[["clicks"]], rows.label, rows.qid)
                assert_same_selector(found, wanted)


def test_a_partition_may_be_empty_or_weigh_nothing(rows):
    rows = rows.assign(weight=(rows.qid < 10).astype(float))
    many = spread(rows, 3).repartition(npartitions=40)
    assert any(n == 0 for n in many.shuffle("qid").map_partitions(len).compute())
    found = evaluate(many, score="clicks", query_weight="weight")
    few = rows[rows.qid < 10]
    wanted = tieaware_sklearn.evaluate(few.label, few.clicks, qid=few.qid)
    assert_allclose(found.mean, wanted.summary().mean, rtol=1e-12)


def test_what_is_wrong_is_named(rows):
    df = spread(rows, 2)
    selector = RankingFeatureSelector()
    wrong = [
        (lambda: evaluate(rows, score="clicks"), "df must be a dask.dataframe"),
        (lambda: evaluate(df, score="x"), "df must have a column 'x', got in_degree"),
        (lambda: evaluate(df, score="label"), "must name different columns"),
        (lambda: evaluate(df, score="clicks", average="median"), "average must be"),
        (lambda: evaluate(df, score="clicks", measures="x"), "x"),
        (lambda: fit_selector(selector, df, features=[]), "at least one column"),
        (lambda: fit_selector(selector, df, features=["qid"]), "different columns"),
        (
            lambda: fit_selector(RankingFeatureSelector(qid="qid"), df),
            "must not read query ids from a column",
        ),
        (
            lambda: evaluate(spread(rows.assign(label=-1)), score="clicks"),
            "label must be >= 0, got -1",
        ),
        (
            lambda: evaluate(
                spread(rows.assign(w=0)), score="clicks", query_weight="w"
            ),
            "w must not be 0 in every query",
        ),
        (
            lambda: evaluate(
                spread(rows.assign(label=0)), score="clicks", zero_relevance="raise"
            ),
            "NDCG@10 is undefined for query",
        ),
        (
            lambda: evaluate(spread(rows.iloc[:0], 1), score="clicks"),
            "at least one row",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()


# -- on workers that are processes of their own


def test_on_a_cluster(cluster, rows):
    found = evaluate(spread(rows), score="clicks", measures=MEASURES)
    wanted = tieaware_sklearn.evaluate(
        rows.label, rows.clicks, qid=rows.qid, measures=MEASURES
    )
    assert_same_summary(found, wanted.summary())


def test_grid_search_with_the_dask_backend_of_joblib(cluster, rows):
    X = rows.drop(columns=["label", "weight"])
    search = GridSearchCV(
        QueryLGBMRanker(qid="qid", n_jobs=1, verbosity=-1),
        {"n_estimators": [3, 6]},
        scoring=make_ranking_scorer("ndcg@10", qid="qid"),
        cv=QueryKFold(3, qid="qid"),
        error_score="raise",
    )
    here = search.fit(X, rows.label).cv_results_["mean_test_score"]
    with parallel_config(backend="dask"):
        there = search.fit(X, rows.label).cv_results_["mean_test_score"]
    assert_array_equal(here, there)


def die_once(frame, flag):
    """The first worker that comes here is killed, as if it had run out of memory."""
    if len(frame) and not os.path.exists(flag):
        with open(flag, "x"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return frame


def test_a_worker_that_is_killed_while_it_reads(cluster, rows, tmp_path):
    df = spread(rows)
    flag = str(tmp_path / "died")
    dying = df.map_partitions(die_once, flag, meta=df._meta)
    found = fit_selector(RankingFeatureSelector(), dying.drop(columns="weight"))
    assert os.path.exists(flag)
    features = [c for c in rows if c not in ("label", "qid", "weight")]
    wanted = RankingFeatureSelector().fit(rows[features], rows.label, rows.qid)
    assert_same_selector(found, wanted)


def begin_and_wait(frame, folder):
    """Tell which rows are worked on by which process, and go on when told to."""
    if len(frame):
        (folder / f"{frame.index.min()} {os.getpid()}").touch()
        give_up = time.monotonic() + 60
        while not (folder / "go on").exists():
            assert time.monotonic() < give_up
            time.sleep(0.02)
    return frame


@pytest.mark.parametrize("stage", ["reading", "measuring"])
def test_a_worker_that_is_killed_at_work_is_replaced(cluster, rows, tmp_path, stage):
    cluster.wait_for_workers(2, timeout=30)
    wanted = tieaware_sklearn.evaluate(
        rows.label, rows.clicks, qid=rows.qid, measures=MEASURES
    ).summary()
    df = spread(rows) if stage == "reading" else spread(rows).shuffle("qid")
    waiting = df.map_partitions(begin_and_wait, tmp_path, meta=df._meta)
    killed = []

    def kill():
        """What waits is not done: nobody has told it to go on."""
        while not (begun := os.listdir(tmp_path)):
            time.sleep(0.02)
        killed.extend(begun[0].split())
        os.kill(int(killed[1]), signal.SIGKILL)
        (tmp_path / "go on").touch()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = evaluate(
        waiting, score="clicks", measures=MEASURES, shuffle=stage == "reading"
    )
    killer.join()
    assert_same_summary(found, wanted)
    (tmp_path / "go on").unlink()
    first, pid = killed
    by = {own.split()[1] for own in os.listdir(tmp_path) if own.split()[0] == first}
    assert by > {pid}, "the rows of the worker that died were not read again"


def test_a_missing_dask_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.delitem(sys.modules, "tieaware_sklearn.dask")
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[dask\]"'):
        importlib.import_module("tieaware_sklearn.dask")


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
