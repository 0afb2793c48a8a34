"""Everything that users call gives the same by either engine."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.metrics import make_scorer

import tieaware_sklearn as ta
from tests._kernel.helpers import GRADED, assert_close, prepared, rankings_of
from tieaware_sklearn._kernel import engines
from tieaware_sklearn._kernel.engines import ENGINES, use_engine
from tieaware_sklearn.datasets import make_web_search

NAMES = ["ndcg@10", "ap", "rr", "p@3", "rprec", "err@5", "bpref"]
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=60, random_state=3)


def test_an_engine_is_used_for_a_while(monkeypatch):
    before = engines.engine
    with use_engine("numpy"):
        with use_engine("compiled"):
            assert engines.engine == "compiled"
        assert engines.engine == "numpy"
        # threads of joblib are no others
        (in_thread,) = Parallel(n_jobs=2, require="sharedmem")(
            [delayed(lambda: engines.engine)()]
        )
        assert in_thread == "numpy"
        with pytest.raises(ZeroDivisionError), use_engine("compiled"):
            1 / 0  # noqa: B018
        assert engines.engine == "numpy"
    assert engines.engine == before
    unknown = pytest.raises(ValueError, match="TIEAWARE_ENGINE must be one of")
    with unknown, use_engine("fortran"):
        pass
    monkeypatch.setattr(engines, "missing", "it was not built")
    missing = pytest.raises(ImportError, match="requires the compiled kernel")
    with missing, use_engine("compiled"):
        pass


def python(code, **environment):
    """What another interpreter prints, or says at its end."""
    own = {name: os.environ[name] for name in os.environ if name != engines.VARIABLE}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(
        command, env={**own, **environment}, capture_output=True, text=True
    )
    return done.returncode, (done.stdout + done.stderr).strip()


HIDDEN = "import sys; sys.modules['tieaware_sklearn._kernel.walks'] = None; "
RUN = """\
import sys, sklearn.feature_selection; before = set(sys.modules)
import tieaware_sklearn as t; from tieaware_sklearn._kernel import engines
t.show_versions()
optional = {'pandas', 'lightgbm', 'matplotlib', 'optuna', 'dask', 'pyarrow'}
print(optional & (set(sys.modules) - before))
from tieaware_sklearn.datasets import make_web_search
web = make_web_search(n_queries=60, random_state=3)
r = t.evaluate(web.target, web.data[:, 1], qid=web.qid, measures=['ndcg', 'ap'])
print(*(x.hex() for x in (*r.expected.ravel(), *r.std.ravel())))
print(engines.engine)
"""


def test_the_environment_chooses_and_no_optional_library_is_imported():
    names = getattr(np._core._multiarray_umath, "__cpu_dispatch__", [])
    off = {"NPY_DISABLE_CPU_FEATURES": " ".join(names)}
    values = []
    for hidden, environment, used in (
        (HIDDEN, {}, "numpy"),
        ("", {"TIEAWARE_ENGINE": "numpy"}, "numpy"),
        ("", {"TIEAWARE_ENGINE": "compiled"}, "compiled"),
        # NumPy sorts the keys, by whatever the processor has
        ("", {"TIEAWARE_ENGINE": "compiled", **off}, "compiled"),
    ):
        status, output = python(hidden + RUN, **environment)
        *_, none, printed, name = output.splitlines()
        assert (status, none, name) == (0, "set()", used)
        values.append(printed)
    assert values[0] == values[1]
    assert values[2] == values[3]


def test_an_engine_that_is_asked_for_and_missing_is_an_error():
    for hidden, variable, error in (
        (HIDDEN, "compiled", "TIEAWARE_ENGINE='compiled' requires the compiled kernel"),
        ("", "fortran", "must be one of ('compiled', 'numpy'), got 'fortran'"),
    ):
        environment = {engines.VARIABLE: variable}
        status, output = python(
            f"{hidden}from tieaware_sklearn import evaluate", **environment
        )
        assert status == 1
        assert error in output


def test_versions_are_those_installed_and_the_engine_is_told(monkeypatch, capsys):
    def shown():
        ta.show_versions()
        lines = capsys.readouterr().out.splitlines()
        return dict(line.split(maxsplit=1) for line in lines)

    rows = shown()
    assert rows["python"].startswith(sys.version.split()[0])
    assert rows["tieaware-sklearn"] == ta.__version__
    for name in ("numpy", "scipy", "scikit-learn", "joblib"):
        assert rows[name] == version(name)
    assert rows["engine"] == engines.engine_in_words()

    def installed_version(name):
        if name in ("pandas", "joblib"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(engines, "version", installed_version)
    rows = shown()
    assert "pandas" not in rows
    assert rows["joblib"] == "not found"
    assert rows["polars"] == "1.0"
    monkeypatch.setattr(engines, "missing", None)
    with use_engine("numpy"):
        assert engines.engine_in_words() == "numpy"
    monkeypatch.setattr(engines, "missing", "it was not built")
    why = "(the compiled kernel is missing: it was not built)"
    assert engines.engine_in_words().endswith(why)


def test_threads_at_once_give_the_same_bits(web, engine):
    prepared = ta.PreparedRanking(web.target, web.qid)

    def compute(j):
        scores = web.data[:, j % web.data.shape[1]]
        report = ta.evaluate(web.target, scores, qid=web.qid, measures=NAMES)
        values = [getattr(report, part).ravel() for part in PER_QUERY]
        return np.append(np.concatenate(values), prepared.score(scores, NAMES[j % 7]))

    with ThreadPoolExecutor(8) as pool:
        for j, together in enumerate(pool.map(compute, range(12))):
            assert np.array_equal(together, compute(j), equal_nan=True)


def score_of(prepared, column):
    return prepared.score(column, "ndcg@10")


def test_queries_and_rankings_travel_between_processes_and_engines(
    web, engine, monkeypatch
):
    monkeypatch.setenv(engines.VARIABLE, engine)
    queries = prepared(web.target, web.qid, keep=True)
    before = rankings_of(queries, web.data[:, 1], GRADED)
    sent = pickle.dumps(queries)
    ranking = ta.PreparedRanking(web.target, web.qid)
    columns = web.data.T[:3]
    alone = [ranking.score(x) for x in columns]
    values = Parallel(n_jobs=2)(delayed(score_of)(ranking, x) for x in columns)
    assert values == alone
    for thing in (
        ta.make_ranking_scorer(["ndcg@10", "ap"]),
        make_scorer(ta.ranking_score),
        ta.RankingFeatureSelector().fit(web.data, web.target, qid=web.qid),
    ):
        pickle.loads(pickle.dumps(thing))
    for name in ENGINES:
        with use_engine(name):
            again = pickle.loads(pickle.dumps(ranking)).score(columns[1])
            assert_close(again, alone[1])
            again = rankings_of(pickle.loads(sent), web.data[:, 1], GRADED)
        for part, values in before.items():
            if name == engine:
                assert np.array_equal(again[part], values, equal_nan=True)
            else:
                assert_close(again[part], values)
