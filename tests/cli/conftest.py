"""What several tests of this room are given."""

import sys

import pytest

from tests.cli.helpers import INPUTS
from tieaware_sklearn.datasets import dump_letor, make_web_search


@pytest.fixture(autouse=True)
def _close():
    """A process of its own would leave no figure open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A folder with files to read, which must stay as they are."""
    for name, text in INPUTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert {name: (tmp_path / name).read_text() for name in INPUTS} == INPUTS
    assert not list(tmp_path.glob(".*"))


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=20, random_state=0)


@pytest.fixture(scope="module")
def letor(web, tmp_path_factory):
    path = tmp_path_factory.mktemp("letor") / "web.txt.gz"
    dump_letor(web.data, web.target, path, qid=web.qid)
    return str(path)
