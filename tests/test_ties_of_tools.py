"""Values of tied documents by other tools, in the tables of the guide and README."""

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.results import ties_of_tools

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "conventions.md"
#: Distributions with other names than their tools.
DISTRIBUTIONS = {"trec_eval": "pytrec-eval-terrier", "tieaware_sklearn": None}
NAMES = {"trec_eval": "trec_eval (pytrec_eval)"}


def tables(page: Path) -> list[list[list[str]]]:
    """Return the tables of tools: their rows as cells, heads first."""
    tables = []
    for lines in re.findall(r"(?:^\| .*\n|^\|-.*\n)+", page.read_text(), re.M):
        rows = [line.strip("|").split("|") for line in lines.splitlines()]
        cells = [[cell.strip() for cell in row] for row in rows]
        if cells[0][0] == "tool":
            tables.append([cells[0], *cells[2:]])
    return tables


def tools(page: Path, number: int) -> list[tuple[str, str, list[str]]]:
    """Return each tool of a table, its version on the page, and its cells."""
    rows = []
    for names, *cells in tables(page)[number][1:]:
        for name in names.split(", "):
            tool, _, stated = name.partition(" ")
            rows.append((tool, stated, cells))
    return rows


def skip_without(tool: str, stated: str) -> None:
    """Skip the test unless the tool is installed, in the version of the page."""
    distribution = DISTRIBUTIONS.get(tool, tool)
    if distribution is None:
        return
    try:
        installed = version(distribution)
    except PackageNotFoundError:
        pytest.skip(f"{tool} is not installed; the table was made with {stated}")
    # pytrec-eval-terrier has trec_eval 9 in all of its versions
    if tool != "trec_eval" and not f"{installed}.".startswith(f"{stated}."):
        message = f"{tool} {installed} is installed; the table was made with {stated}"
        pytest.skip(message)
    if tool == "keras-rs" and find_spec("jax") is None:
        pytest.skip("the table was made with JAX, which is not installed")
    if tool == "polars_ds" and not version("polars").startswith("1."):
        pytest.skip("polars_ds 0.13 needs Polars 1")


def shown(tool: str, measure: str) -> list[str]:
    """Return the values of a tool as the page shows them."""
    values = ties_of_tools.values(NAMES.get(tool, tool), measure)
    if values is None:
        return ["-"]
    return [f"{value:.4f}" for value in values]


def short(value) -> str:
    return str(value)[:20]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("tool", "stated", "cells"), tools(GUIDE, 0), ids=short)
def test_ndcg_of_tools(tool, stated, cells):
    skip_without(tool, stated)
    assert shown(tool, "NDCG@10") == cells[:3]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("tool", "stated", "cells"), tools(GUIDE, 1), ids=short)
def test_further_measures_of_tools(tool, stated, cells):
    skip_without(tool, stated)
    for measure, cell in zip(ties_of_tools.MEASURES[1:], cells, strict=True):
        values = shown(tool, measure)
        # the first and the last order of rows, if they differ
        ends = dict.fromkeys([values[0], values[-1]])
        assert cell == ", ".join(ends)


def test_tables_have_the_same_tools():
    versions = {tool: stated for tool, stated, _ in tools(GUIDE, 0)}
    names = {NAMES.get(tool, tool) for tool in versions}
    assert names == set(ties_of_tools.TOOLS)
    # these have NDCG alone
    del versions["polars_ds"], versions["AlloyGBM"]
    assert {tool: stated for tool, stated, _ in tools(GUIDE, 1)} == versions


def ndcg_cells(page: Path) -> dict[tuple[str, str], list[str]]:
    return {(tool, stated): cells[:3] for tool, stated, cells in tools(page, 0)}


def test_the_readme_has_the_numbers_of_the_guide():
    readme = ndcg_cells(ROOT / "README.md")
    assert ("tieaware_sklearn", "") in readme
    assert readme.items() <= ndcg_cells(GUIDE).items()


def test_a_tool_that_fails_is_named(monkeypatch, capsys):
    def broken(name, y, score):
        raise AttributeError("removed")

    names = ("ndcg",) * 4
    tools = {
        "broken": ties_of_tools.Tool("numpy", broken, names),
        "absent": ties_of_tools.Tool("no_such_module", broken, names),
        "tieaware_sklearn": ties_of_tools.TOOLS["tieaware_sklearn"],
    }
    monkeypatch.setattr(ties_of_tools, "TOOLS", tools)
    ties_of_tools.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "broken failed: AttributeError: removed"
    assert sum(line.startswith("tieaware_sklearn") for line in lines) == 4
    assert not any(line.startswith("absent") for line in lines)
