"""LinearRanker: callbacks of scikit-learn follow the tuning of the weights."""

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV

from tieaware_sklearn import (
    LinearRanker,
    QueryKFold,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search

callback = pytest.importorskip("sklearn.callback")

WEB = make_web_search(n_queries=24, n_documents=15, random_state=0)
X, Y, QID = WEB.data, WEB.target, WEB.qid


class Recorder:
    """A callback that records the tasks that begin and end, and may stop them."""

    def __init__(self, stops=False):
        self.stops = stops
        self.begun = []
        self.ended = []

    def setup(self, estimator, context):
        self.open = True

    def teardown(self, estimator, context):
        self.open = False

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(path(context))

    def on_fit_task_end(self, estimator, context):
        self.ended.append(path(context))
        return self.stops


def path(context):
    """Return the names and numbers of a task and the tasks around it."""
    if context.parent is None:
        return (context.task_name,)
    return (*path(context.parent), f"{context.task_name} {context.task_id}")


def fitted(*callbacks, **options):
    ranker = LinearRanker(max_iter=3, **options).set_callbacks(*callbacks)
    return ranker.fit(X, Y, qid=QID)


def by_default(**options):
    return LinearRanker(max_iter=3, **options).fit(X, Y, qid=QID)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_are_ascents_and_their_iterations(n_jobs):
    recorder = Recorder()
    fitted(recorder, n_restarts=1, n_jobs=n_jobs)
    ascents = [("fit", f"ascent {i}") for i in range(3)]
    first = [(*ascents[0], f"iteration {i}") for i in range(3)]
    assert set(recorder.begun) >= {("fit",), *ascents, *first}
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert recorder.begun[0] == recorder.ended[-1] == ("fit",)


def test_a_callback_stops_an_ascent():
    ranker = fitted(Recorder(stops=True))
    assert len(ranker.train_score_) == 2
    assert len(by_default().train_score_) == 4


def test_weights_do_not_depend_on_callbacks():
    np.testing.assert_array_equal(fitted(Recorder()).coef_, by_default().coef_)


def test_callbacks_are_torn_down_after_an_error():
    recorder = Recorder()
    ranker = LinearRanker().set_callbacks(recorder)
    with pytest.raises(ValueError, match="requires y"):
        ranker.fit(X)
    assert not recorder.open


def test_given_weights_are_one_task():
    recorder = Recorder()
    LinearRanker("equal").set_callbacks(recorder).fit(X)
    assert recorder.ended == [("fit",)]


@pytest.mark.parametrize("routing", [False, True])
def test_a_monitor_scores_each_iteration_with_query_ids(routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        monitor = callback.ScoringMonitor(scoring=make_ranking_scorer("ndcg@10"))
        ranker = fitted(monitor)
    scores = {row["task_id_path"]: row["score"] for row in monitor.get_logs().data}
    score = ranking_score(Y, ranker.predict(X), qid=QID, measure="ndcg@10")
    assert scores[(0,)] == score
    # an ascent keeps the best weights so far, as train_score_ does
    best = np.maximum.accumulate(ranker.train_score_)[1:].tolist()
    ascents = []
    for i in range(2):
        ascents.append([v for k, v in scores.items() if k[:2] == (0, i) and k[2:]])
    assert best in ascents


def test_a_monitor_scores_with_a_column_of_query_ids():
    monitor = callback.ScoringMonitor(scoring=make_ranking_scorer("ap", qid=0))
    both = np.column_stack([QID, X])
    ranker = LinearRanker(qid=0, max_iter=3).set_callbacks(monitor).fit(both, Y)
    scores = {row["task_id_path"]: row["score"] for row in monitor.get_logs().data}
    assert scores[(0,)] == ranking_score(Y, ranker.predict(both), qid=QID, measure="ap")


def test_a_progress_bar_of_scikit_learn(capsys):
    pytest.importorskip("rich")
    fitted(callback.ProgressBar())
    out = capsys.readouterr().out
    assert "LinearRanker - fit" in out
    assert "LinearRanker - ascent #1" in out


def test_a_search_passes_a_progress_bar_on(capsys):
    pytest.importorskip("rich")
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = make_ranking_scorer("ndcg@10")
        ranker = LinearRanker(max_iter=1)
        search = GridSearchCV(ranker, {"tol": [0.1]}, cv=QueryKFold(2), scoring=scoring)
        search.set_callbacks(callback.ProgressBar()).fit(X, Y, qid=QID)
    assert "refit-with-best-params | LinearRanker - fit" in capsys.readouterr().out
