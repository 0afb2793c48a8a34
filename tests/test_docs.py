"""What the guide, its recipes and the notebooks show runs, and prints what they say."""

import doctest
import re
import runpy
import shutil
import sys

import joblib
import nbformat
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.text import Text
from nbclient import NotebookClient
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from tests import reading
from tests.instances import MEASURES
from tests.pages import DOCS, pages, run, write
from tests.plots.helpers import contrast
from tieaware_sklearn import RankingFeatureSelector, evaluate
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots._base import GREY

NOTEBOOKS = sorted((DOCS.parent / "notebooks").glob("*.ipynb"))
SHARDS = "\n".join(
    (DOCS / "howto" / name).read_text()
    for name in ("shards.md", "other_engines.md", "spark_ray.md")
)
RECIPES = dict(
    re.findall(r"^<!-- recipe: (\w+) -->\n```py\n(.*?)^```$", SHARDS, re.M | re.S)
)
quietly = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Where a page may write, with the settings of a fresh interpreter after it."""
    import optuna
    import sklearn

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # threads of LightGBM
    before = optuna.logging.get_verbosity()
    with sklearn.config_context(), threadpool_limits(1, "openmp"):
        yield
    optuna.logging.set_verbosity(before)
    pyplot.close("all")


@pytest.mark.parametrize(
    "page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix()
)
def test_page(page, in_a_folder_of_its_own):
    wrong = [one for one in run(page) if not one.holds()]
    assert not wrong, "\n".join(
        f"{page.name}:{one.start}: {one.source}\nsays:\n{one.want}\nprints:\n{one.got}"
        for one in wrong
    )


def test_outputs_are_written_below_the_line_that_ends_a_block(tmp_path):
    page = tmp_path / "page.md"
    loop = "```python\n>>> for i in range(2):\n...     print(i)\n...\n"
    page.write_text(f"{loop}5\n>>> 3\n4\n```\n")
    write(page)
    assert page.read_text() == f"{loop}0\n1\n>>> 3\n3\n```\n"


@pytest.mark.parametrize("page", reading.pages(), ids=lambda page: page.name)
def test_page_reads_well(page):
    assert reading.complaints(page) == []


def test_what_reads_badly_is_found(tmp_path):
    page = tmp_path / "howto" / "page.md"
    page.parent.mkdir()
    long = " ".join(["word"] * 22)
    page.write_text(f"# {long}\n\n{long}. Few words.\n\n- {long}.\n\n[](other.md)\n")
    (words, link) = reading.complaints(page)
    assert words.startswith("22 words a sentence: word word")
    assert link == "a link without text: [](other.md)"
    page.write_text(f"```sh\n{long}\n```\n\n| {long} |\n")
    assert reading.complaints(page) == []


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("a share of 5 % of it", "5%"),
        ("| p | .05 |", "0.95"),
        ("a pandas dataframe", "data frame"),
        ("Datasets", "data set"),
        ("judgements", "judgment"),
    ],
)
def test_other_spellings_are_found(text, spelling):
    (found,) = reading.misspelled(text)
    assert found.startswith(f"{spelling}, not ")
    assert reading.misspelled(f"`{text}`") == []


def test_messages_and_tables_spell_numbers_as_the_pages_do():
    snapshots = DOCS.parent / "tests" / "snapshots"
    tables = (snapshots / "tables.txt").read_text()
    # formats of numbers, such as .2f, are in the sources of messages
    messages = (snapshots / "messages.txt").read_text()
    for text in (messages, tables):
        assert not reading.SPELLINGS["5%"].search(text)
    assert not reading.SPELLINGS["0.95"].search(tables)


FENCES = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
#: all pages, and what they take from other folders
TEXTS = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_code_and_words_of_pictures_fit_their_places(page):
    """88 columns are what a page shows without scrolling."""
    text = page.read_text(encoding="utf-8")
    for language, code in FENCES.findall(text):
        if not language.startswith("{"):
            assert max(map(len, code.splitlines()), default=0) <= 88, code
    # Sphinx joins the lines of such a text without a space
    assert not re.search(r'!\[[^]"]*\n', text)
    for drawn, alt in re.findall(
        r"^\.\. picture:: (\S+)\n   :alt: .+\n(.*)", text, re.M
    ):
        assert (DOCS / drawn).is_file()
        assert not alt.startswith("    ")


@pytest.fixture
def theme(monkeypatch):
    """The colours of the pages, with what draws in them."""
    monkeypatch.syspath_prepend(DOCS)
    import theme

    yield theme
    pyplot.close("all")


def test_words_of_pictures_are_read_on_light_and_on_dark_pages(theme):
    for colour in (theme.INK, theme.QUIET, theme.BLUE, theme.ORANGE, theme.GREEN, GREY):
        assert contrast(colour, "white") >= 4.5
        assert contrast(theme.ON_DARK[colour.lower()], "#131416") >= 4.5


@pytest.mark.parametrize("path", sorted((DOCS / "pictures").glob("*.py")), ids=str)
def test_a_picture_is_drawn_in_colours_that_are_read(path, theme, tmp_path):
    with pyplot.rc_context(theme.THEME):
        drawn = runpy.run_path(str(path))
        if "main" in drawn:  # of files that are committed
            return
        figure = pyplot.gcf()
        words = [one for one in figure.findobj(Text) if one.get_text().strip()]
        known = {*theme.ON_DARK, "#000000"} - {"#56b4e9", "#d55e00", "#009e73"}
        assert {to_hex(one.get_color()) for one in words} <= known
        theme.write(figure, tmp_path / "x.svg")
    names = {f"x{kind}{dark}.svg" for kind in ("", "_phone", "_panel")
             for dark in ("", "_dark")}  # fmt: skip
    assert {one.name for one in tmp_path.iterdir()} == names
    dark = (tmp_path / "x_dark.svg").read_text()
    assert dark != (tmp_path / "x.svg").read_text()
    assert theme.INK not in dark


def test_paper_has_no_skip_link_and_no_scroll_bars():
    style = (DOCS / "_static" / "pages.css").read_text()
    printed = style[style.index("@media print") :]
    assert "#pst-skip-link, .bd-header" in printed
    assert "white-space: pre-wrap" in printed
    assert style.index("overflow-x: auto") < style.index("@media print")


def outputs(notebook):
    """What the cells print, figures left out."""
    found = []
    for cell in notebook.cells:
        text = []
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            if output.output_type == "stream":
                assert output.name == "stdout", output.text
                text.append(output.text)
            elif "image/png" not in output.get("data", {}):
                text.append(output.data["text/plain"])
        found.append("".join(text))
    return found


@quietly
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    committed = nbformat.read(path, 4)
    again = nbformat.read(path, 4)
    for cell in again.cells:
        if any("image/png" in one.get("data", {}) for one in cell.get("outputs", [])):
            assert cell.metadata["mystnb"]["image"]["alt"], cell.source
        if cell.cell_type == "code":
            cell.outputs = []
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(again, timeout=300, resources=resources).execute()
    assert any(outputs(committed))
    # models of other versions differ in digits, not in what is shown
    for now, then in zip(outputs(again), outputs(committed), strict=True):
        assert bool(now) == bool(then)
        assert len(now.splitlines()) == len(then.splitlines())


def test_notebooks_are_small():
    assert len(NOTEBOOKS) == 5
    assert all(path.stat().st_size < 300_000 for path in NOTEBOOKS)


@pytest.fixture
def mlflow(monkeypatch, tmp_path):
    # newer ones take files as a store only when told to
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow = pytest.importorskip("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    mlflow.set_tracking_uri(before)


def test_the_recipe_logs_what_the_summary_says(mlflow):
    recipe = (DOCS / "api" / "evaluation.md").read_text()
    (code,) = re.findall(r"^```python\n(.*?)^```", recipe, re.M | re.S)
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


@pytest.fixture
def expected(tmp_path, monkeypatch):
    """The summary of all rows, which stand in three files of whole queries."""
    web = make_web_search(n_queries=60, random_state=0)
    clicks = web.data[:, web.feature_names.index("clicks")]
    rows = pd.DataFrame({"qid": web.qid, "label": web.target, "clicks": clicks})
    (tmp_path / "shards").mkdir()
    for part in range(3):
        path = tmp_path / "shards" / f"{part}.parquet"
        rows[web.qid % 3 == part].to_parquet(path, index=False)
    monkeypatch.chdir(tmp_path)
    return evaluate(web.target, clicks, qid=web.qid).summary()


def check(recipe, expected, **names):
    exec(compile(RECIPES[recipe], recipe, "exec"), names)
    found = names["report"].summary()
    for name, column in expected.columns.items():
        assert_array_equal(found.columns[name], column)
    return names


def check_screening(recipe, names):
    """Screens the rows of a recipe of reports; the screening is that of all rows."""
    exec(compile(RECIPES[recipe], recipe, "exec"), names)
    rows = pd.read_parquet("shards")
    expected = RankingFeatureSelector().screen(rows[["clicks"]], rows.label, rows.qid)
    found = names["screening"].to_pandas()
    pd.testing.assert_frame_equal(found, expected.to_pandas(), rtol=1e-12)


@pytest.mark.parametrize("recipe", ["duckdb", "folder", "joblib", "polars"])
def test_recipes_of_shards(recipe, expected):
    if recipe in ("duckdb", "polars"):
        library = pytest.importorskip(recipe)
        if recipe == "polars" and not hasattr(library.LazyFrame, "collect_batches"):
            pytest.skip("this polars has no LazyFrame.collect_batches")
    # functions of `exec` travel to threads only
    with joblib.parallel_config(backend="threading"):
        check(recipe, expected)


@quietly
def test_spark(expected, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
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
        check_screening("spark_screen", check("spark", expected, spark=spark))
    finally:
        spark.stop()


@quietly
def test_ray(expected):
    pytest.importorskip("ray.data")
    import ray

    options = {"num_cpus": 2, "include_dashboard": False}
    ray.init(object_store_memory=200_000_000, **options)
    try:
        check_screening("ray_screen", check("ray", expected))
    finally:
        ray.shutdown()


@quietly
@pytest.mark.parametrize("index", ["faiss", "usearch"])
def test_vector_indexes(index):
    pytest.importorskip(index)
    page = (DOCS / "howto" / "vector_search.md").read_text()
    names: dict = {}
    first = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)[0]
    for example in doctest.DocTestParser().get_examples(first):
        exec(compile(example.source, "page", "exec"), names)
    block = rf"<!-- recipe: {index} -->\n```py\n(.*?)^```$"
    (recipe,) = re.findall(block, page, re.M | re.S)
    exec(compile(recipe, index, "exec"), names)
    assert 0.5 < names["recall"].summary().mean[0] < 1


def test_every_recipe_of_the_page_is_run():
    on_clusters = {"spark", "spark_screen", "ray", "ray_screen"}
    assert set(RECIPES) == {"duckdb", "polars", "folder", "joblib"} | on_clusters
