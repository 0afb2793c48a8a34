"""The evaluator for sentence-transformers that the page on rerankers shows."""

import re
import sys
from types import ModuleType

import numpy as np
import pytest

from tests.pages import DOCS
from tieaware_sklearn import ranking_score

PAGE = DOCS / "howto" / "rerankers.md"
SAMPLES = [
    {"query": "a", "positive": ["good"], "negative": ["good too", "bad"]},
    {"query": "b", "positive": ["bad"], "negative": ["good"]},
]


class SentenceEvaluator:
    """What sentence-transformers 6.2 has under this name, as far as we use it."""

    def __init__(self):
        self.greater_is_better = True
        self.primary_metric = None

    def prefix_name_to_metrics(self, metrics, name):
        if not name:
            return metrics
        if not self.primary_metric.startswith(f"{name}_"):
            self.primary_metric = f"{name}_{self.primary_metric}"
        return {f"{name}_{key}": value for key, value in metrics.items()}


class Reranker:
    """A cross-encoder that scores passages that begin with good alike."""

    def predict(self, pairs, convert_to_numpy):
        scores = [float(passage.startswith("good")) for _, passage in pairs]
        return np.array(scores, dtype=np.float32)


@pytest.fixture(params=["stand-in", "installed"])
def evaluator_class(request, monkeypatch):
    if request.param == "installed":
        pytest.importorskip("sentence_transformers")
    else:
        package = "sentence_transformers"
        for name in (package, f"{package}.sentence_transformer"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        module = ModuleType(f"{package}.sentence_transformer.evaluation")
        module.SentenceEvaluator = SentenceEvaluator
        monkeypatch.setitem(sys.modules, module.__name__, module)
    (code,) = re.findall(
        r"^<!-- recipe: sentence_transformers -->\n```py\n(.*?)^```$",
        PAGE.read_text(),
        re.MULTILINE | re.DOTALL,
    )
    namespace = {}
    exec(code, namespace)
    return namespace["TieAwareRerankingEvaluator"]


def test_the_evaluator_returns_exact_means(evaluator_class):
    evaluator = evaluator_class(SAMPLES)
    metrics = evaluator(Reranker())
    y = [1, 0, 0, 1, 0]
    score = [1, 1, 0, 0, 1]
    for measure in ("mrr@10", "ndcg@10", "map"):
        expected = ranking_score(y, score, qid=[0, 0, 0, 1, 1], measure=measure)
        assert metrics[measure] == expected
    assert metrics["mrr@10"] == (0.75 + 0.5) / 2
    assert evaluator.primary_metric == "mrr@10"
    assert evaluator.greater_is_better


def test_the_name_of_the_evaluator_begins_the_names_of_its_metrics(evaluator_class):
    evaluator = evaluator_class(SAMPLES, measures=["map"], name="dev")
    assert list(evaluator(Reranker())) == ["dev_map"]
    assert evaluator.primary_metric == "dev_map"
