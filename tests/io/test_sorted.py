"""Rows in any order, sorted by query on disk."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.io.helpers import FORMS, write
from tieaware_sklearn import RankingFeatureSelector, evaluate, evaluate_batches
from tieaware_sklearn.datasets import iter_batches, load_letor, load_table
from tieaware_sklearn.io import _sorted

ENGINES = {"duckdb": "DuckDB", "polars": "Polars"}


@pytest.fixture(params=ENGINES)
def engine(request, monkeypatch):
    pytest.importorskip(request.param)
    without(monkeypatch, *(ENGINES.keys() - {request.param}))
    return ENGINES[request.param]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where temporary files go, none of which may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def without(monkeypatch, *modules):
    def absent(name):
        if name in modules:
            raise ImportError(name)
        return __import__(name)

    monkeypatch.setattr(_sorted, "import_module", absent)


@pytest.fixture
def mixed(tmp_path, web):
    """The files with their rows in any order."""
    order = np.random.default_rng(0).permutation(len(web["qid"]))
    rows = {key: values[order] for key, values in web.items()}
    return {name: write(tmp_path / name, **rows) for name in FORMS}


@pytest.mark.parametrize("part_bytes", [1, 9000, 1 << 28])
@pytest.mark.parametrize("name", FORMS)
def test_all_rows_by_query_in_the_order_of_the_file(
    engine, folder, mixed, name, part_bytes, monkeypatch
):
    monkeypatch.setattr(_sorted, "_PART_BYTES", part_bytes)
    path = mixed[name]
    whole = (load_letor if ".txt" in name else load_table)(path)
    batches = list(iter_batches(path, batch_rows=40, sort=True))
    _, first, queries = np.unique(whole.qid, return_index=True, return_inverse=True)
    rows = np.argsort(first[queries], kind="stable")
    for key in ("data", "target", "qid"):
        found = np.concatenate([batch[key] for batch in batches])
        assert_array_equal(found, whole[key][rows])
    places = [b.place(i) for b in pickle.loads(pickle.dumps(batches)) for i in (0, 7)]
    starts = np.cumsum([0, *(len(batch.qid) for batch in batches)])
    assert places == [
        whole.place(int(rows[s + i])) for s in starts[:-1] for i in (0, 7)
    ]
    assert f"sorted by query with {engine}: rows 0 to " in batches[0].DESCR
    sizes = [len(np.unique(batch.qid)) for batch in batches]
    assert sum(sizes) == 30
    assert all(len(batch.qid) >= 40 for batch in batches[:-1])


def test_a_file_in_order_is_not_sorted(files, monkeypatch):
    without(monkeypatch, *ENGINES)
    batch, *_ = iter_batches(files["web.csv"], sort=True)
    assert "sorted" not in batch.DESCR
    with pytest.raises(ValueError, match="sort must be"):
        iter_batches(files["web.csv"], sort="yes")


def test_neither_engine(mixed, monkeypatch):
    without(monkeypatch, *ENGINES)
    with pytest.raises(ImportError, match="needs DuckDB or Polars: pip install"):
        iter_batches(mixed["web.csv"], sort=True)
    with pytest.raises(ValueError, match=r"sort=True \(--sort\) sorts the rows"):
        iter_batches(mixed["web.csv"])


@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_any_division_of_rows_gives_the_same_to_the_last_bit(data):
    pytest.importorskip("duckdb")
    n_rows = data.draw(st.integers(1, 40))
    draw = st.lists(st.integers(0, 5), min_size=n_rows, max_size=n_rows)
    frame = pd.DataFrame(
        {"qid": data.draw(draw), "label": data.draw(draw), "x": data.draw(draw),
         "y": np.array(data.draw(draw)) / 3}
    )  # fmt: skip
    n_files = data.draw(st.integers(1, 4))
    of_file = np.array(data.draw(draw)) % n_files
    kind = data.draw(st.sampled_from(["a.csv", "a.parquet", "a.tsv.gz"]))
    with tempfile.TemporaryDirectory() as folder:
        for i in range(n_files):
            place = Path(folder, data.draw(st.sampled_from(["", "a", "b/c"])))
            place.mkdir(parents=True, exist_ok=True)
            rows, path = frame[of_file == i], place / f"{i}{kind}"
            if not len(rows):
                continue
            if kind == "a.parquet":
                size = data.draw(st.integers(1, 9))
                rows.to_parquet(path, row_group_size=size, index=False)
            else:
                rows.to_csv(path, index=False, sep="\t" if "tsv" in kind else ",")
        least = data.draw(st.integers(1, 50))
        batches = list(iter_batches(folder, batch_rows=least, sort=True))
    found = {
        int(q): sorted(
            zip(b.target[b.qid == q], *b.data[b.qid == q].T.tolist(), strict=True)
        )
        for b in batches
        for q in set(b.qid.tolist())
    }
    wanted = {
        q: sorted(zip(*(rows[name] for name in ("label", "x", "y")), strict=True))
        for q, rows in frame.groupby("qid")
    }
    assert found == wanted
    assert sum(len(set(batch.qid)) for batch in batches) == len(wanted)
    summary = evaluate_batches(batches, score="y").summary()
    whole = evaluate(frame["label"], frame["y"], qid=frame["qid"]).summary()
    for name in ("mean", "best", "worst", "tie_std"):
        assert_array_equal(getattr(summary, name), getattr(whole, name))


def test_a_selector_of_rows_in_any_order(folder, mixed, web):
    pytest.importorskip("duckdb")
    whole = RankingFeatureSelector().fit(web["X"], web["y"], qid=web["qid"])
    batches = iter_batches(mixed["web.parquet"], batch_rows=50, sort=True)
    found = RankingFeatureSelector().fit_batches(batches)
    np.testing.assert_allclose(found.mean_, whole.mean_, rtol=1e-12)
    assert_array_equal(found.selection_order_, whole.selection_order_)


def test_an_integer_that_would_tie_with_others(engine, folder, tmp_path):
    frame = pd.DataFrame({"qid": [1, 2, 1], "label": 1, "x": [1, 2**53 + 1, 3]})
    frame.to_parquet(tmp_path / "a.parquet")
    batches = iter_batches(tmp_path / "a.parquet", sort=True)
    with pytest.raises(ValueError, match=r"row 1: column 'x' must hold numbers that a"):
        next(batches)


def test_hundreds_of_features(engine, folder, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((400, 300))
    X[5, 7] = np.nan
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(300)])
    frame.assign(qid=np.arange(400) % 7, label=1).to_parquet(tmp_path / "a.parquet")
    batches = list(iter_batches(tmp_path / "a.parquet", batch_rows=50, sort=True))
    order = np.argsort(np.arange(400) % 7, kind="stable")
    assert_array_equal(np.concatenate([batch.data for batch in batches]), X[order])
    batches[0].data[0, 0] = 1  # as any other batch


def test_texts_with_the_same_hash(engine, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("tieaware_sklearn.io._scan.hash", len, raising=False)
    frame = pd.DataFrame({"label": 1, "qid": ["a", "bb", "c"], "x": 2.0})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="row 2: query c has the 64-bit hash of que"):
        list(iter_batches(tmp_path / "a.parquet", sort=True))


def test_errors_of_files_and_an_early_stop_leave_nothing(engine, folder, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("qid,label,x\n1,1,1\n2,1,2\n1,0,x\n")
    with pytest.raises(ValueError, match=r"line 4: column 'x' must hold numbers"):
        list(iter_batches(path, sort=True))
    path.write_text("qid,label,x\n1,1,1\n2,1,2\n1,0,3\n")
    batches = iter_batches(path, sort=True, batch_rows=1)
    assert list(folder.iterdir()) == []
    assert next(batches).qid.tolist() == ["1", "1"]
    if os.name != "nt":
        # nothing has a name while batches are read
        assert list(folder.iterdir()) == []
    batches.close()


def test_errors_of_the_engine_are_one_sentence(folder, mixed, monkeypatch):
    def sort(rows, into, folder, n_rows):
        assert rows.exists()
        raise RuntimeError("such\nas this")

    engine = _sorted.Engine("DuckDB", sort)
    monkeypatch.setattr(_sorted, "find_engine", lambda: engine)
    with pytest.raises(OSError, match=r"DuckDB could not sort .* by query: such as th"):
        next(iter_batches(mixed["web.csv"], sort=True))


SCRIPT = """
import signal, sys
sys.path.insert(0, {root!r})
from tieaware_sklearn.datasets import iter_batches
from tieaware_sklearn.io import _sorted
from importlib import import_module
import_module({module!r})
engine = _sorted.Engine({module!r}, getattr(_sorted, "_sort_with_" + {module!r}))
_sorted.find_engine = lambda: engine
{before}
for batch in iter_batches({path!r}, sort=True, batch_rows=1000):
    pass
print("done")
"""


def script(module, path, folder, before=""):
    root = str(Path(__file__).parents[2])
    code = SCRIPT.format(module=module, path=str(path), before=before, root=root)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of this kind")
@pytest.mark.parametrize(
    ("module", "limit"), [("duckdb", 60_000), ("polars", 60_000), ("duckdb", 2_000)]
)
def test_a_full_disk_is_one_sentence(folder, tmp_path, module, limit):
    pytest.importorskip(module)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((2000, 6)), columns=[*"abcdef"])
    frame = frame.assign(qid=rng.integers(0, 300, 2000), label=1)
    frame.to_parquet(tmp_path / "a.parquet")
    before = (
        "import resource\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    )
    with script(module, tmp_path / "a.parquet", folder, before) as process:
        _, err = process.communicate(timeout=120)
    last = err.strip().splitlines()[-1]
    assert process.returncode == 1
    assert "no space left to sort the rows by query (TMPDIR names another" in last, err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("module", "number", "stage"),
    [
        ("duckdb", signal.SIGTERM, "rows"),
        ("duckdb", signal.SIGINT, "sorted"),
        ("polars", signal.SIGTERM, "sorted"),
    ],
)
def test_signals_leave_nothing(folder, tmp_path, module, number, stage):
    pytest.importorskip(module)
    rng = np.random.default_rng(0)
    n_rows = 150_000
    frame = pd.DataFrame(rng.random((n_rows, 8)), columns=[*"abcdefgh"])
    frame = frame.assign(qid=rng.integers(0, 9000, n_rows), label=1)
    frame.to_parquet(tmp_path / "a.parquet")
    before = f"signal.signal({int(number)}, signal.SIG_DFL)"
    if number == signal.SIGINT:
        before = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    with script(module, tmp_path / "a.parquet", folder, before) as process:
        while process.poll() is None:
            if any(folder.rglob(f"*{stage}*")):
                process.send_signal(number)
                break
            time.sleep(0.002)
        out, err = process.communicate(timeout=120)
    if "done" not in out:
        assert process.returncode in (-number, 1), err
        assert number == signal.SIGTERM or "KeyboardInterrupt" in err
