"""The recipes of docs/howto/shards.md, with the engines that are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from tieaware_sklearn import evaluate
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.feature_selection import Screening

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "shards.md"
BLOCK = re.compile(r"^<!-- recipe: (\w+) -->\n```py\n(.*?)^```$", re.M | re.S)
RECIPES = dict(BLOCK.findall(PAGE.read_text()))
SHELL = re.compile(r"^<!-- recipe: xargs -->\n```sh\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def expected(tmp_path, monkeypatch):
    """The summary of all rows, which stand in three files of whole queries."""
    web = make_web_search(n_queries=60, random_state=0)
    clicks = web.data[:, web.feature_names.index("clicks")]
    rows = pa.table({"qid": web.qid, "label": web.target, "clicks": clicks})
    (tmp_path / "shards").mkdir()
    for part in range(3):
        path = tmp_path / "shards" / f"{part}.parquet"
        pq.write_table(rows.filter(pa.array(web.qid % 3 == part)), path)
    monkeypatch.chdir(tmp_path)
    return evaluate(web.target, clicks, qid=web.qid).summary()


def run(recipe, expected, **names):
    exec(compile(RECIPES[recipe], recipe, "exec"), names)
    found = names["report"].summary()
    for name, column in expected.columns.items():
        assert_array_equal(found.columns[name], column)


def test_duckdb(expected):
    pytest.importorskip("duckdb")
    run("duckdb", expected)


def test_polars(expected):
    polars = pytest.importorskip("polars")
    if not hasattr(polars.LazyFrame, "collect_batches"):
        pytest.skip("this polars has no LazyFrame.collect_batches")
    run("polars", expected)


def test_folder(expected):
    run("folder", expected)


@pytest.fixture
def xargs(tmp_path):
    """The recipe as it is run by a shell."""
    command = tmp_path / "bin" / "tieaware"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tieaware_sklearn "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"

    def run_recipe():
        return subprocess.run(
            ["sh", "-c", *SHELL.findall(PAGE.read_text())],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )

    return run_recipe


def test_xargs(expected, xargs, capsys):
    done = xargs()
    assert (done.returncode, done.stderr) == (0, "")
    assert main(["screen", *map(str, sorted(Path("shards").glob("*.parquet")))]) == 0
    assert done.stdout == capsys.readouterr().out
    row = pd.read_csv("found.csv").iloc[0]
    at = list(expected.measure).index("AP")
    assert row["AP"] == pytest.approx(expected.mean[at], abs=1e-12)
    assert Screening.load("all.tie").n_queries == 60


def test_xargs_merges_nothing_if_a_shard_fails(expected, xargs):
    # of an earlier run, one of a shard that is no longer there
    for name in ("1", "old"):
        Path(f"shards/{name}.parquet.tie").write_bytes(b"stale")
    Path("shards/1.parquet").write_bytes(b"no shard")
    done = xargs()
    assert done.returncode == 123
    assert "shards/1.parquet: " in done.stderr
    assert not Path("all.tie").exists()
    assert not Path("found.csv").exists()
    assert sorted(path.name for path in Path("shards").glob("*.tie")) == [
        "0.parquet.tie", "2.parquet.tie"
    ]  # fmt: skip


def test_joblib(expected):
    # functions of `exec` travel to threads only
    import joblib

    with joblib.parallel_config(backend="threading"):
        run("joblib", expected)


@pytest.mark.filterwarnings("ignore")
def test_spark(expected):
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java")
    builder = sql.SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",  # which would make one partition
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        run("spark", expected, spark=spark)
    finally:
        spark.stop()


@pytest.mark.filterwarnings("ignore")
def test_ray(expected):
    pytest.importorskip("ray.data")
    import ray

    options = {"num_cpus": 2, "include_dashboard": False}
    ray.init(object_store_memory=200_000_000, **options)
    try:
        run("ray", expected)
    finally:
        ray.shutdown()


def test_every_recipe_of_the_page_is_run():
    assert set(RECIPES) == {"duckdb", "polars", "folder", "joblib", "spark", "ray"}
