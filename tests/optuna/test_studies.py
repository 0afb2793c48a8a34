"""Studies shared by several workers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from tests.optuna.helpers import scoring

WORKER = """
import sys, optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback
from tests.optuna.helpers import linear
from tieaware_sklearn.datasets import make_web_search
import time

web = make_web_search(n_queries=60, n_documents=15, shuffle=True, random_state=2)
objective = linear(web.data, web.target, web.qid)
storage = JournalStorage(JournalFileBackend({path!r}))
study = objective.create_study(0, storage=storage, study_name="shared",
                               load_if_exists=True)
print("ready", flush=True)
slow = lambda trial: (time.sleep({pause}), objective(trial))[1]
study.optimize(slow, callbacks=[MaxTrialsCallback({n}, states=None)])
"""


def worker(path, n, pause=0.0):
    code = WORKER.format(path=path, n=n, pause=pause)
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def load(path):
    storage = JournalStorage(JournalFileBackend(path))
    return optuna.load_study(study_name="shared", storage=storage)


def test_two_processes_share_a_study_and_a_killed_one_is_resumed(tmp_path):
    path = str(tmp_path / "journal.log")
    both = [worker(path, 24), worker(path, 24)]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    study = load(path)
    done = [t for t in study.trials if t.state.is_finished()]
    assert len(done) >= 24
    assert [t.number for t in study.trials] == list(range(len(study.trials)))
    assert len({tuple(t.params.values()) for t in done}) == len(done)

    third = worker(path, 200, pause=0.4)  # not killed inside the journal
    assert third.stdout.readline().strip() == "ready"
    before = len(study.trials)
    while len(load(path).trials) < before + 3:
        time.sleep(0.05)
    third.send_signal(signal.SIGKILL)
    third.communicate()
    killed = len(load(path).trials)
    last = worker(path, killed + 5)
    _, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    study = load(path)
    assert len(study.trials) >= killed + 5
    running = [t for t in study.trials if not t.state.is_finished()]
    assert len(running) <= 1
    assert len({tuple(t.params.values()) for t in study.trials}) == len(study.trials)


def test_workers_derive_their_seeds(web, tmp_path):
    objective = scoring(web)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "log")))
    options = {"storage": storage, "study_name": "s", "load_if_exists": True}
    first = objective.create_study(3, **options)
    first.optimize(objective, n_trials=2)
    alone = objective.create_study(3)
    alone.optimize(objective, n_trials=2)
    assert [t.params for t in first.trials] == [t.params for t in alone.trials]
    second = objective.create_study(3, **options)
    second.optimize(objective, n_trials=2)
    assert len({t.params["boost"] for t in second.trials}) == 4
