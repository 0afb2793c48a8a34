"""Commands count topics and queries without a relevant document."""

import pytest

from tests.cli.helpers import succeed


@pytest.fixture
def files(tmp_path):
    """Judgments without a relevant document of topic 0, and two runs."""
    qrels, old, new = (tmp_path / name for name in ("qrels", "old", "new"))
    rows = [(topic, doc) for topic in range(6) for doc in "ab"]
    qrels.write_text("".join(f"{t} 0 {d} {int(t > 0 and d == 'a')}\n" for t, d in rows))
    for path in (old, new):
        best = "a" if path is new else "b"
        path.write_text(
            "".join(f"{t} Q0 {d} 1 {int(d == best)} {path.name}\n" for t, d in rows)
        )
    return qrels, old, new


def one_line(out):
    return " ".join(out.split())


def test_evaluate(files, capsys, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["evaluate", *files, "--measures", "ap", "rr", "--report", page]
    out, _ = succeed(capsys, *arguments)
    note = "6 topics; 1 without a relevant document counts as 0 (without them: AP "
    assert f"old: {note}0.5000)" in one_line(out)
    assert f"new: {note}1.0000)" in one_line(out)
    assert f"new: {note}1.0000)" in page.read_text()
    out, _ = succeed(capsys, "evaluate", *files, "--measures", "rr")
    assert "without a relevant document" not in one_line(out)


def test_compare(files, capsys, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["compare", *files, "--measures", "ap", "--report", page]
    out, _ = succeed(capsys, *arguments)
    said = "6 queries; 1 without a relevant document counts as 0"
    assert f"{said} (zero_relevance=" in one_line(out)
    assert "leaves them out: old 0.5000, new 1.0000)" in one_line(out)
    assert said in page.read_text()
    out, _ = succeed(capsys, *arguments, "--zero-relevance", "skip")
    said = "5 queries; 1 more without a relevant document is left out"
    assert said in one_line(out)


def test_screen(capsys, tmp_path):
    path, page = tmp_path / "some.txt", tmp_path / "page.html"
    rows = [(query, value) for query in range(6) for value in (1, 2)]
    path.write_text("".join(f"{int(q > 0) * x} qid:{q} 1:{x}\n" for q, x in rows))
    arguments = ["screen", path, "--measures", "ap", "--report", page]
    out, _ = succeed(capsys, *arguments)
    said = "6 queries; 1 without a relevant document counts as 0"
    assert said in one_line(out)
    assert said in page.read_text()
    out, _ = succeed(capsys, *arguments, "--zero-relevance", "skip")
    said = "5 queries; 1 more without a relevant document is left out"
    assert said in one_line(out)
