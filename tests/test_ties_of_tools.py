"""What other tools do with ties: the tables of the guide and of the README."""

import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.results import ties_of_tools

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "pitfalls.md"
#: distributions whose names are not those of the tools, in lower case
DISTRIBUTIONS = {"trec_eval": "pytrec-eval-terrier", "tieaware_sklearn": None}
NAMES = {"trec_eval": "trec_eval (pytrec_eval)"}


def tables(page: Path) -> list[list[list[str]]]:
    """The tables of tools: their rows, heads first, as cells."""
    found = []
    for lines in re.findall(r"(?:^\| .*\n|^\|-.*\n)+", page.read_text(), re.M):
        rows = [line.strip("|").split("|") for line in lines.splitlines()]
        cells = [[cell.strip() for cell in row] for row in rows]
        if cells[0][0] == "tool":
            found.append([cells[0], *cells[2:]])
    return found


def tools(page: Path, number: int) -> list[tuple[str, str, list[str]]]:
    """Each tool of a table, with the version stated and the cells of its row."""
    found = []
    for names, *cells in tables(page)[number][1:]:
        for name in names.split(", "):
            tool, _, stated = name.partition(" ")
            found.append((tool, stated, cells))
    return found


def need(tool: str, stated: str) -> None:
    """Skip unless the tool is here, in the version stated."""
    distribution = DISTRIBUTIONS.get(tool, tool)
    if distribution is None:
        return
    try:
        here = version(distribution)
    except PackageNotFoundError:
        pytest.skip(f"{tool} is not installed; the table was made with {stated}")
    # pytrec-eval-terrier has trec_eval 9 in all of its versions
    if tool != "trec_eval" and not f"{here}.".startswith(f"{stated}."):
        pytest.skip(f"{tool} {here} is installed; the table was made with {stated}")
    if tool == "keras-rs" and find_spec("jax") is None:
        pytest.skip("the table was made with JAX, which is not installed")
    if tool == "polars_ds" and not version("polars").startswith("1."):
        pytest.skip("polars_ds 0.13 needs Polars 1")


def shown(tool: str, measure: str) -> list[str] | None:
    found = ties_of_tools.values(NAMES.get(tool, tool), measure)
    return None if found is None else [f"{value:.4f}" for value in found]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("number", "tool", "stated", "cells"),
    [(number, *row) for number in (0, 1) for row in tools(GUIDE, number)],
    ids=lambda of: str(of)[:20],
)
def test_values_of_tools(number, tool, stated, cells):
    need(tool, stated)
    if number == 0:
        assert shown(tool, "NDCG@10") == cells[:3]
        return
    for measure, cell in zip(ties_of_tools.MEASURES[1:], cells, strict=True):
        found = shown(tool, measure) or ["-"]
        assert cell == ", ".join(dict.fromkeys([found[0], found[-1]]))


def test_tables_have_the_same_tools():
    stated = {tool: version for tool, version, _ in tools(GUIDE, 0)}
    names = {NAMES.get(tool, tool) for tool in stated}
    assert names == set(ties_of_tools.TOOLS)
    assert {tool: version for tool, version, _ in tools(GUIDE, 1)} == {
        tool: version for tool, version in stated.items() if tool != "polars_ds"
    }


def test_the_readme_has_the_numbers_of_the_guide():
    few, every = (
        {(tool, stated): cells[:3] for tool, stated, cells in tools(page, 0)}
        for page in (ROOT / "README.md", GUIDE)
    )
    assert ("tieaware_sklearn", "") in few
    assert few.items() <= every.items()


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
