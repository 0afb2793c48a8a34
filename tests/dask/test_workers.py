"""On workers that are processes of their own; also when one dies on the way."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV

import tieaware_sklearn
from tests.dask.helpers import (
    MARKS,
    MEASURES,
    assert_same_selector,
    assert_same_summary,
    spread,
)
from tieaware_sklearn import QueryKFold, RankingFeatureSelector, make_ranking_scorer
from tieaware_sklearn.dask import evaluate, fit_selector
from tieaware_sklearn.lightgbm import QueryLGBMRanker

pytestmark = MARKS


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
