"""The words that people search for find their pages in the built site."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.site_search import ROOT, SITE, SiteSearch

#: the words of people who look for something, and the page that comes first
FIRST_PAGES = {
    # scores that tie
    "rerankers": "howto/rerankers",
    "cross-encoder": "howto/rerankers",
    "sentence-transformers evaluator": "howto/rerankers",
    "mteb": "howto/rerankers",
    "BEIR": "howto/rerankers",
    "RecTools": "howto/rerankers",
    "RAG evaluation": "howto/rerankers",
    "bfloat16 scores": "howto/rerankers",
    "tie breaking": "howto/ties_of_a_ranking",
    "random tie breaking": "howto/ties_of_a_ranking",
    "quantization": "howto/score_precision",
    "vector search recall": "howto/vector_search",
    "Hamming distance": "howto/hash_codes",
    "LLM as a judge": "howto/llm_judges",
    "recommender evaluation": "howto/recommenders",
    "link prediction": "howto/knowledge_graphs",
    # measures and reports
    "NDCG": "measures",
    "mean average precision": "measures",
    "MRR@10": "measures",
    "precision@k": "measures",
    "recall@k": "measures",
    "HitRate@10": "measures",
    "bpref": "measures",
    "custom metric": "howto/own_measure",
    "per-query scores": "howto/score",
    "confidence interval": "inference",
    "rank confidence interval": "inference",
    "leaderboard": "howto/many_systems",
    "statistical significance test": "howto/compare",
    "paired t-test": "howto/compare",
    "A/B test": "howto/compare",
    "query weights": "howto/compare_weights",
    "Kendall tau": "howto/rank_agreement",
    "Cohen's kappa": "howto/judgments",
    "pooling": "howto/judgments",
    "unjudged documents": "howto/judgments",
    # rankers and features
    "learning to rank": "tutorial",
    "LGBMRanker cross_val_score": "howto/search",
    "GridSearchCV ranking": "howto/search",
    "GroupKFold": "howto/splits",
    "train test split by query": "howto/splits",
    "early stopping NDCG": "howto/boosters",
    "LambdaMART": "howto/boosters",
    "feature importance ranking": "howto/importance",
    "feature selection ranking": "howto/screen",
    "Optuna hyperparameter": "howto/optuna",
    # tools and files
    "trec_eval": "howto/trec",
    "TREC run": "howto/trec",
    "qrels": "howto/trec",
    "pytrec_eval": "conventions",
    "ranx": "conventions",
    "CI gate": "howto/guard_ci",
    "GitHub Actions": "howto/guard_ci",
    "regression test": "howto/guard_ci",
    "Dask": "howto/clusters",
    "Spark": "howto/spark_ray",
    "Parquet": "howto/files",
    # findings
    "TREC Deep Learning track": "results/deep_learning",
}


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site, unless its sources are newer."""
    # without Sphinx, `pytest --libraries` runs these tests when the site is built
    pytest.importorskip("sphinx")
    index = SITE / "searchindex.js"
    if not index.exists():
        pytest.skip("needs the site: sphinx-build -W -b html docs build/docs")
    docs = ROOT / "docs"
    sources = [ROOT / "README.md", docs / "search_scorer.js", *docs.rglob("*.md")]
    if max(path.stat().st_mtime for path in sources) > index.stat().st_mtime:
        pytest.skip("needs the site: build/docs is older than its sources")
    return SITE


@pytest.fixture(scope="module")
def search(site) -> SiteSearch:
    return SiteSearch(site)


@pytest.mark.parametrize("words", FIRST_PAGES)
def test_words_find_their_page(words, search):
    results = search.results(words)
    found = [result.page for result in results]
    assert found[:1] == [FIRST_PAGES[words]], results[:5]


def test_public_names_find_the_reference(search):
    for name in ("QueryLGBMRanker", "compare_systems", "tie_report"):
        pages = [result.page for result in search.results(name)]
        assert pages[0].startswith("api/generated/"), name


def test_the_site_is_built_before_its_search_is_tested():
    commands = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    built = commands.index("-b html docs build/docs")
    assert built < commands.index("wait_for docs") < commands.index("--libraries")


def test_results_are_those_of_sphinx(site, search):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    queries = [*FIRST_PAGES, "QueryLGBMRanker", "evaluate", "tie group", "rank 10"]
    script = Path(__file__).with_name("site_search.js")
    printed = subprocess.run(
        [node, script, site],
        input=json.dumps(queries),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        encoding="utf-8",
    ).stdout
    for query, expected in zip(queries, json.loads(printed), strict=True):
        # Sphinx shows a result once
        found = dict.fromkeys((x.page, x.title) for x in search.results(query))
        assert list(found) == list(dict.fromkeys((x[0], x[1]) for x in expected)), query
