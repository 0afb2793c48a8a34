"""The recipes of the page on rerankers, with the libraries that they are for."""

import doctest
import re
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from tests.pages import DOCS
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.evaluation import RelevanceEvaluator

PAGE = DOCS / "howto" / "rerankers.md"
RECIPES = dict(
    re.findall(
        r"^<!-- recipe: (\w+) -->\n```py\n(.*?)^```$",
        PAGE.read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
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


def read_evaluator():
    namespace = {}
    exec(RECIPES["sentence_transformers"], namespace)
    return namespace["TieAwareRerankingEvaluator"]


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
    return read_evaluator()


def test_every_block_of_py_is_a_recipe():
    assert set(RECIPES) == {"sentence_transformers", "mteb"}
    assert len(RECIPES) == PAGE.read_text().count("\n```py\n")


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


@pytest.fixture
def cross_encoder(tmp_path):
    """A cross-encoder with random weights, for which unknown words are the same."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "good", "bad"]
    tokenizer = transformers.BertTokenizer(
        vocab={word: number for number, word in enumerate(words)}
    )
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=16,
        num_labels=1,
    )
    transformers.set_seed(0)
    tokenizer.save_pretrained(tmp_path / "model")
    model = transformers.BertForSequenceClassification(config)
    model.save_pretrained(tmp_path / "model")
    return sentence_transformers.CrossEncoder(str(tmp_path / "model"), device="cpu")


@pytest.mark.parametrize("precision", ["float", "bfloat16"])
def test_a_cross_encoder_is_evaluated(cross_encoder, precision):
    getattr(cross_encoder, precision)()
    samples = [{"query": "a", "positive": ["x"], "negative": ["y", "z"]}]
    metrics = read_evaluator()(samples)(cross_encoder)
    assert metrics["mrr@10"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.filterwarnings("default")
def test_the_trainer_reads_the_metrics(cross_encoder, tmp_path):
    pytest.importorskip("accelerate")
    datasets = pytest.importorskip("datasets")
    from sentence_transformers.cross_encoder import (
        CrossEncoderTrainer,
        CrossEncoderTrainingArguments,
        losses,
    )

    arguments = CrossEncoderTrainingArguments(
        output_dir=str(tmp_path / "checkpoints"),
        max_steps=1,
        eval_strategy="steps",
        eval_steps=1,
        save_steps=1,
        load_best_model_at_end=True,
        metric_for_best_model="eval_mrr@10",
        report_to="none",
        use_cpu=True,
    )
    rows = {"query": ["a", "b"], "passage": ["good", "bad"], "label": [1.0, 0.0]}
    trainer = CrossEncoderTrainer(
        model=cross_encoder,
        args=arguments,
        train_dataset=datasets.Dataset.from_dict(rows),
        loss=losses.BinaryCrossEntropyLoss(cross_encoder),
        evaluator=read_evaluator()(SAMPLES),
    )
    trainer.train()
    logged = trainer.state.log_history[0]
    assert {"eval_mrr@10", "eval_ndcg@10", "eval_map"} <= set(logged)
    assert trainer.state.best_metric == logged["eval_mrr@10"]


#: Judgments with two grades, and scores without ties.
QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d2": 1}}
RESULTS = {
    "q1": {"d1": 0.1, "d2": 0.9, "d3": 0.5},
    "q2": {"d1": 0.9, "d2": 0.1, "d3": 0.5},
}
CONSTANT = {query: dict.fromkeys(scores, 0.5) for query, scores in RESULTS.items()}


def mean_values(qrels, results):
    evaluator = RelevanceEvaluator(qrels, ["mrr@10", "ndcg_cut_10"])
    return evaluator.aggregate(results)


def test_values_of_beir_without_ties_are_equal():
    evaluation = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval
    ndcg, *_ = evaluation.evaluate(QRELS, RESULTS, [10])
    mrr = evaluation.evaluate_custom(QRELS, RESULTS, [10], "mrr")
    values = mean_values(QRELS, RESULTS)
    # BEIR rounds to five digits
    assert values["ndcg_cut_10"] == pytest.approx(ndcg["NDCG@10"], abs=1e-5)
    assert values["mrr@10"] == pytest.approx(mrr["MRR@10"], abs=1e-5)


def test_the_mrr_of_beir_goes_by_the_order_of_the_dictionary():
    evaluation = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval
    qrels = {"q": {"d1": 1}}
    for documents, mrr in ((["d1", "d2"], 1.0), (["d2", "d1"], 0.5)):
        results = {"q": dict.fromkeys(documents, 0.5)}
        assert evaluation.evaluate_custom(qrels, results, [10], "mrr")["MRR@10"] == mrr
        assert mean_values(qrels, results)["mrr@10"] == 0.75


@pytest.mark.filterwarnings("default")
def test_dictionaries_of_ranx():
    ranx = pytest.importorskip("ranx")
    qrels, run = ranx.Qrels(QRELS), ranx.Run(RESULTS)
    mrr, ndcg = ranx.evaluate(qrels, run, ["mrr@10", "ndcg@10"]).values()
    values = mean_values(qrels.to_dict(), run.to_dict())
    assert values["mrr@10"] == pytest.approx(mrr)
    assert values["ndcg_cut_10"] == pytest.approx(ndcg)


def make_mteb_task(mteb, datasets):
    """A retrieval task that downloads nothing."""

    class Task(mteb.abstasks.retrieval.AbsTaskRetrieval):
        ignore_identical_ids = True
        metadata = mteb.TaskMetadata(
            name="ThreeDocuments",
            description="Two queries and three documents.",
            dataset={"path": "none/none", "revision": "1"},
            type="Retrieval",
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

        def load_data(self, **kwargs):
            def texts(ids):
                return datasets.Dataset.from_dict({"id": ids, "text": ids})

            split = {
                "corpus": texts(["d1", "d2", "d3"]),
                "queries": texts(list(QRELS)),
                "relevant_docs": QRELS,
                "top_ranked": None,
            }
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    return Task()


class SearchModel:
    """A model of mteb that returns the given scores, and each query for itself."""

    def __init__(self, results, meta):
        self.results = results
        self.mteb_model_meta = meta

    def index(self, corpus, **kwargs):
        pass

    def search(self, queries, **kwargs):
        return {query: {**self.results[query], query: 1.0} for query in queries["id"]}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("results", [RESULTS, CONSTANT], ids=["distinct", "constant"])
def test_predictions_of_mteb(results, tmp_path, monkeypatch):
    mteb = pytest.importorskip("mteb")
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(tmp_path)
    model = SearchModel(results, mteb.models.ModelMeta.create_empty())
    names = {"model": model, "task": make_mteb_task(mteb, datasets)}
    exec(RECIPES["mteb"], names)
    assert names["results"] == results
    assert names["qrels"] == QRELS
    assert names["per_query"]["q1"].keys() == {"mrr@10", "ndcg_cut_10"}
    official = names["official"].task_results[0].scores["test"][0]
    values = names["evaluator"].aggregate(names["results"])
    if results is RESULTS:
        assert official["mrr_at_10"] == pytest.approx(values["mrr@10"])
        # mteb rounds to five digits
        assert official["ndcg_at_10"] == pytest.approx(values["ndcg_cut_10"], abs=1e-5)
    else:
        # mteb puts d3 first, then d2 and d1
        assert official["mrr_at_10"] == (1 + 1 / 2) / 2
        assert values["mrr@10"] == pytest.approx((5 / 6 + 11 / 18) / 2)


def read_rectools_recipe():
    """The statements that follow the two tables of the section on RecTools."""
    section = PAGE.read_text().partition("\n## RecTools\n")[2].partition("\n## ")[0]
    sources = [
        example.source for example in doctest.DocTestParser().get_examples(section)
    ]
    (start,) = [n for n, source in enumerate(sources) if source.startswith("rows = ")]
    return "".join(sources[start:])


@pytest.fixture
def recommend():
    """Return a function that runs the recipe on items by their number of users."""
    dataset = pytest.importorskip("rectools.dataset")
    models = pytest.importorskip("rectools.models")

    def run(seen):
        seen = pd.DataFrame(seen, columns=["user_id", "item_id"])
        seen = seen.assign(weight=1, datetime="2026-01-01")
        train = dataset.Dataset.construct(seen)
        model = models.PopularModel().fit(train)
        names = {
            "pd": pd,
            "np": np,
            "evaluate": evaluate,
            "recommended": model.recommend([1, 2], train, k=2, filter_viewed=False),
            "held_out": pd.DataFrame({"user_id": [1, 2], "item_id": ["a", "b"]}),
        }
        exec(read_rectools_recipe(), names)
        return names

    return run


@pytest.mark.filterwarnings("default")
def test_values_of_rectools_without_ties_are_equal(recommend):
    metrics = pytest.importorskip("rectools.metrics")
    names = recommend([(1, "a"), (2, "a"), (2, "b")])
    tables = names["recommended"], names["held_out"]
    hit_rate = metrics.HitRate(1).calc_per_user(*tables)
    assert names["report"].expected[:, 0].tolist() == hit_rate.tolist() == [1, 0]
    rows = names["rows"]
    ndcg = ranking_score(
        rows["label"], rows["score"], qid=rows["user_id"], measure="ndcg@10"
    )
    metric = metrics.NDCG(10, divide_by_achievable=True)
    assert ndcg == pytest.approx(metric.calc(*tables))


@pytest.mark.filterwarnings("default")
def test_items_of_rectools_that_tie(recommend):
    names = recommend([(1, "a"), (1, "b"), (2, "a"), (2, "b")])
    assert names["report"].expected[:, 0].tolist() == [0.5, 0.5]


@pytest.mark.filterwarnings("default")
def test_rectools_leaves_out_users_without_held_out_items(recommend):
    metrics = pytest.importorskip("rectools.metrics")
    names = recommend([(1, "a"), (2, "a"), (2, "b")])
    held_out = names["held_out"].query("user_id == 1")
    assert metrics.HitRate(1).calc(names["recommended"], held_out) == 1.0
    names["held_out"] = held_out
    exec(read_rectools_recipe(), names)
    assert names["report"].summary().mean[0] == 0.5
