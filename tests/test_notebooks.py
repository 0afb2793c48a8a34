"""Notebooks run from a clean start, and what is committed is what they print."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.filterwarnings("ignore")


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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    committed = nbformat.read(path, 4)
    again = nbformat.read(path, 4)
    for cell in again.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(again, timeout=300, resources=resources).execute()
    assert any(outputs(committed))
    # models of other versions differ in digits, not in what is shown
    for now, then in zip(outputs(again), outputs(committed), strict=True):
        assert bool(now) == bool(then)
        assert len(now.splitlines()) == len(then.splitlines())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_say_what_they_show(path):
    for cell in nbformat.read(path, 4).cells:
        if any("image/png" in one.get("data", {}) for one in cell.get("outputs", [])):
            assert cell.metadata["mystnb"]["image"]["alt"], cell.source


def test_notebooks_are_small():
    assert len(NOTEBOOKS) == 5
    assert all(path.stat().st_size < 300_000 for path in NOTEBOOKS)
