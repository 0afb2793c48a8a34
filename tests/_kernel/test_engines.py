"""Everything that users call gives the same by either engine."""

from __future__ import annotations

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

import tieaware_sklearn
from tests._kernel.helpers import (
    GRADED,
    assert_close,
    labelled,
)
from tieaware_sklearn import (
    PreparedRanking,
    RankingFeatureSelector,
    evaluate,
    make_ranking_scorer,
    ranking_score,
    show_versions,
)
from tieaware_sklearn._kernel import engines
from tieaware_sklearn._kernel.engines import (
    ENGINES,
    engine,
    engine_in_words,
    use_engine,
)
from tieaware_sklearn.datasets import make_web_search

each_engine = pytest.mark.parametrize("name", ENGINES)
NAMES = ["ndcg@10", "ap", "rr", "p@3", "rprec", "err@5", "bpref"]
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=60, random_state=3)


def test_an_engine_is_used_for_a_while():
    before = engine()
    with use_engine("numpy"):
        with use_engine("compiled"):
            assert engine() == "compiled"
        assert engine() == "numpy"
        # threads of joblib are no others
        (found,) = Parallel(n_jobs=2, require="sharedmem")([delayed(engine)()])
        assert found == "numpy"
        with pytest.raises(ZeroDivisionError), use_engine("compiled"):
            1 / 0  # noqa: B018
        assert engine() == "numpy"
    assert engine() == before


def test_unknown_and_missing_engines_are_refused(monkeypatch):
    with (
        pytest.raises(ValueError, match="TIEAWARE_ENGINE must be one of"),
        use_engine("fortran"),
    ):
        pass
    monkeypatch.setattr(engines, "compiled", None)
    with (
        pytest.raises(ImportError, match="needs the compiled kernel"),
        use_engine("compiled"),
    ):
        pass


def python(code, **environment):
    """What another interpreter prints, or says at its end."""
    own = {name: os.environ[name] for name in os.environ if name != engines.VARIABLE}
    env = {**own, **environment}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=env,
        capture_output=True,
        text=True,
    )
    return done.returncode, (done.stdout + done.stderr).strip()


HIDDEN = "import sys; sys.modules['tieaware_sklearn._kernel.walks'] = None; "


RUN = """\
import sys, sklearn.feature_selection; before = set(sys.modules)
import tieaware_sklearn as t; from tieaware_sklearn._kernel import engines
t.show_versions()
optional = {'pandas', 'lightgbm', 'matplotlib', 'optuna', 'dask', 'pyarrow'}
print(optional & (set(sys.modules) - before))
print(engines.engine(), t.ranking_score([0, 1], [2, 1], measure='rr'))
"""


@pytest.mark.parametrize(
    ("hidden", "variable", "engine"),
    [("", "numpy", "numpy"), ("", "compiled", "compiled"), (HIDDEN, "", "numpy")],
)
def test_the_environment_chooses_and_no_optional_library_is_imported(
    hidden, variable, engine
):
    given = {"TIEAWARE_ENGINE": variable} if variable else {}
    status, said = python(hidden + RUN, **given)
    assert status == 0
    assert said.endswith(f"set()\n{engine} 0.5")


@pytest.mark.parametrize(
    ("hidden", "variable", "error"),
    [
        (HIDDEN, "compiled", "TIEAWARE_ENGINE='compiled' needs the compiled kernel"),
        ("", "fortran", "must be one of ('compiled', 'numpy'), got 'fortran'"),
    ],
)
def test_an_engine_that_is_asked_for_and_missing_is_an_error(hidden, variable, error):
    status, said = python(f"{hidden}import tieaware_sklearn", TIEAWARE_ENGINE=variable)
    assert status == 1
    assert error in said


def shown(capsys) -> dict[str, str]:
    show_versions()
    lines = capsys.readouterr().out.splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def test_versions_are_those_installed(monkeypatch, capsys):
    rows = shown(capsys)
    assert rows["python"].startswith(sys.version.split()[0])
    assert rows["tieaware-sklearn"] == tieaware_sklearn.__version__
    for name in ("numpy", "scipy", "scikit-learn", "joblib"):
        assert rows[name] == version(name)
    assert rows["engine"] == engine_in_words()

    def found(name):
        if name in ("pandas", "joblib"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(engines, "version", found)
    rows = shown(capsys)
    assert "pandas" not in rows
    assert rows["joblib"] == "not found"
    assert rows["polars"] == "1.0"


def test_the_engine_that_runs_is_told(monkeypatch):
    monkeypatch.setattr(engines, "missing", None)
    with use_engine("numpy"):
        assert engine_in_words() == "numpy"
    monkeypatch.setattr(engines, "missing", "it was not built")
    assert engine_in_words().endswith(
        "(the compiled kernel is missing: it was not built)"
    )


@each_engine
def test_threads_at_once_give_the_same_bits(web, name):
    prepared = PreparedRanking(web.target, web.qid)

    def compute(j):
        scores = web.data[:, j % web.data.shape[1]]
        report = evaluate(web.target, scores, qid=web.qid, measures=NAMES)
        values = [getattr(report, part).ravel() for part in PER_QUERY]
        return np.append(np.concatenate(values), prepared.score(scores, NAMES[j % 7]))

    with use_engine(name), ThreadPoolExecutor(8) as pool:
        for j, together in enumerate(pool.map(compute, range(12))):
            assert np.array_equal(together, compute(j), equal_nan=True)


def score_of(prepared, column):
    return prepared.score(column, "ndcg@10")


@each_engine
def test_processes(web, name, monkeypatch):
    monkeypatch.setenv("TIEAWARE_ENGINE", name)
    with use_engine(name):
        prepared = PreparedRanking(web.target, web.qid)
        alone = [prepared.score(x) for x in web.data.T[:3]]
        found = Parallel(n_jobs=2)(
            delayed(score_of)(prepared, x) for x in web.data.T[:3]
        )
        assert found == alone
        for thing in (
            make_ranking_scorer(["ndcg@10", "ap"]),
            make_scorer(ranking_score),
            RankingFeatureSelector().fit(web.data, web.target, qid=web.qid),
        ):
            pickle.loads(pickle.dumps(thing))


def test_simd_of_numpy_changes_no_bit(web):
    """NumPy sorts the keys, by whatever the processor has."""
    code = (
        "import numpy as np; from tieaware_sklearn import evaluate;"
        "from tieaware_sklearn.datasets import make_web_search;"
        "web = make_web_search(n_queries=60, random_state=3);"
        "r = evaluate(web.target, web.data[:, 1], qid=web.qid, measures=['ndcg','ap']);"
        "print([x.hex() for x in (*r.expected.ravel(), *r.std.ravel())])"
    )
    names = getattr(np._core._multiarray_umath, "__cpu_dispatch__", [])
    plain = python(code, TIEAWARE_ENGINE="compiled")
    off = " ".join(names)
    assert plain[0] == 0
    assert (
        python(code, TIEAWARE_ENGINE="compiled", NPY_DISABLE_CPU_FEATURES=off) == plain
    )


@each_engine
def test_labelled_queries_and_prepared_rankings_travel_between_engines(web, name):
    labels = web.target.astype(float)
    with use_engine(name):
        queries = labelled(labels, web.qid, keep=True)
        before = queries.values(GRADED, web.data[:, 1])
        sent = pickle.dumps(queries)
        prepared = PreparedRanking(web.target, web.qid)
        score = prepared.score(web.data[:, 1], "ap")
    for there in ENGINES:
        with use_engine(there):
            again = pickle.loads(pickle.dumps(prepared)).score(web.data[:, 1], "ap")
            assert_close(again, score)
            found = pickle.loads(sent).values(GRADED, web.data[:, 1])
        for part, values in before.items():
            # what NumPy has prepared stays with NumPy
            if there == name or name == "numpy":
                assert np.array_equal(found[part], values, equal_nan=True)
            else:
                assert_close(found[part], values)
