"""SECURITY.md: each promise has a test, and one of them is here."""

import re
import socket
from pathlib import Path

import pytest

from tieaware_sklearn.cli import main

ROOT = Path(__file__).parents[1]
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text())


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_test_of_a_promise_is_there(file, name):
    assert f"\ndef {name}(" in (ROOT / file).read_text()


def test_nothing_asks_the_network(monkeypatch, tmp_path, capsys):
    def refused(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--queries", "20", "--out", "digits.csv"]) == 0
    assert main(["screen", "digits.csv", "--report=page.html"]) == 0
    # unless a URL is named
    assert main(["screen", "http://localhost/digits.csv"]) == 1
    assert re.search("network was asked|aiohttp|fsspec", capsys.readouterr().err)
