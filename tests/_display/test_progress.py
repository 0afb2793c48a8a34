"""Progress bars, where they are wanted and can be seen."""

from __future__ import annotations

import sys

import pytest

from tieaware_sklearn._display.progress import show_progress, shows_progress


def test_a_bar_counts_items_or_their_sizes(capsys):
    parts = ["ab", "c", "def"]
    assert list(show_progress(parts, True, 3, "part", "reading")) == parts
    shown = capsys.readouterr().err
    assert "reading" in shown
    assert "3/3" in shown
    assert list(show_progress(parts, True, 6, "letter", size=len)) == parts
    assert "6/6" in capsys.readouterr().err


def test_no_bar_needs_no_library(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(show_progress("ab", False, 2, "letter")) == ["a", "b"]
    assert capsys.readouterr().err == ""
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[io\]"'):
        list(show_progress("ab", True, 2, "letter"))


def test_a_bar_is_for_terminals(monkeypatch):
    assert not shows_progress(quiet=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert shows_progress(quiet=False)
    assert not shows_progress(quiet=True)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert not shows_progress(quiet=False)
