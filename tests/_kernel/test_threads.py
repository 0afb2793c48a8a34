"""The kernel in several threads, and in interpreters without a global lock."""

import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tieaware_sklearn import evaluate

MEASURES = ["ndcg@10", "ap", "rr", "p@5", "rbp(p=0.8)"]


def columns(seed: int):
    """Labels, scores that tie, and ids of 300 queries of 20 documents."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, 6000)
    return labels, random.integers(0, 6, 6000) / 4, np.repeat(np.arange(300), 20)


def values(seed: int) -> bytes:
    labels, scores, qid = columns(seed)
    report = evaluate(labels, scores, qid=qid, measures=MEASURES)
    return report.expected.tobytes() + report.std.tobytes()


def test_eight_threads_compute_what_one_computes():
    seeds = [*range(8)] * 4
    with ThreadPoolExecutor(8) as pool:
        threaded = [*pool.map(values, seeds)]
    assert threaded == [values(seed) for seed in seeds]


def test_threads_share_the_same_arrays():
    labels, scores, qid = columns(0)

    def expected(_):
        report = evaluate(labels, scores, qid=qid, measures=MEASURES)
        return report.expected.tobytes()

    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(expected, range(16))}) == 1


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs no global lock"
)
def test_the_library_does_not_turn_the_lock_on():
    code = (
        "import sys, tieaware_sklearn, tieaware_sklearn._kernel.walks;"
        "sys.exit(sys._is_gil_enabled())"
    )
    # a module that needs the lock turns it on with a warning
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
