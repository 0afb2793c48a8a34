"""The recipe for MLflow in the reference, with the real library and a local store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.instances import MEASURES
from tieaware_sklearn import evaluate

RECIPE = Path(__file__).parents[1] / "docs" / "api" / "evaluation.md"


@pytest.fixture
def mlflow(monkeypatch, tmp_path):
    # newer ones take files as a store only when told to
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    mlflow.set_tracking_uri(before)


def test_the_recipe_logs_what_the_summary_says(mlflow):
    (code,) = re.findall(r"^```python\n(.*?)^```", RECIPE.read_text(), re.M | re.S)
    names: dict[str, object] = {}
    exec(code, names)
    run_id = names["run"].info.run_id
    client = mlflow.MlflowClient()
    logged = client.get_run(run_id).data.metrics
    summary = names["summary"]
    assert logged["NDCG_at_10/mean"] == summary.mean[0]
    assert logged["AP/interval_high"] == summary.interval[1, 1]
    # one value per tree
    history = client.get_metric_history(run_id, "valid_0/NDCG_at_10")
    assert [one.step for one in history] == list(range(1, 11))
    assert history[-1].value == pytest.approx(summary.mean[0], abs=1e-12)
    assert set(logged) == {"valid_0/NDCG_at_10", *summary.to_metrics()}
    artifacts = {one.path for one in client.list_artifacts(run_id)}
    assert artifacts == {"summary.txt", "queries.csv"}


def test_names_of_all_measures_are_taken(mlflow):
    summary = evaluate([2, 0, 1], [1, 1, 0], measures=MEASURES).summary()
    with mlflow.start_run() as run:
        mlflow.log_metrics(summary.to_metrics())
    logged = mlflow.MlflowClient().get_run(run.info.run_id).data.metrics
    assert logged == summary.to_metrics()
