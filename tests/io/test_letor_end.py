"""Files that end without a line break: those that are cut off, and those that are not.

The messages stand in `test_malformed_files.py`.
"""

from __future__ import annotations

import bz2

import pytest

from tieaware_sklearn.datasets import iter_batches, load_letor

WHOLE = [f"{i % 2} qid:{i // 4} 1:{i}.5 2:3 3:7" for i in range(20)]
READERS = [load_letor, lambda path: list(iter_batches(path, batch_rows=1))]


def _read(reader, path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    found = reader(path)
    return sum(len(b.target) for b in (found if isinstance(found, list) else [found]))


SPARSE = [*WHOLE[:12], "1 qid:3 1:2 3:5", *WHOLE[12:]]
COMMENTED = [f"{line} # d" for line in WHOLE]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "lines",
    [
        WHOLE,
        WHOLE[:1],
        [*SPARSE, "1 qid:9 1:3"],  # features of value 0 are left out
        [*SPARSE, "1 qid:9"],
        [*WHOLE, "1 qid:9 1:3 3:7"],  # no line is cut so
        [*WHOLE, "1 qid:9 2:3"],
        [*WHOLE, "1 qid:9 1:3 2:3 3:4 4:5"],
        [*WHOLE, "1 qid:9 1:3 # d"],  # its features came to an end
        [*WHOLE, "1 qid:9 1:3", "# the end"],
        [*WHOLE, "1 qid:9 1:3\r"],
        [*WHOLE[:9], "1 qid:9 1:3"],  # too few to say that all have the same
        COMMENTED,
        [*COMMENTED[:9], *WHOLE[9:]],
    ],
)
def test_a_missing_line_break_is_no_error(tmp_path, reader, lines):
    n_rows = sum(not line.startswith("#") for line in lines)
    assert _read(reader, tmp_path / "f.txt", "\n".join(lines)) == n_rows


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("head", ["", "# head\n\n"])
@pytest.mark.parametrize("lines", [WHOLE, COMMENTED])
def test_a_cut_file_is_refused_wherever_a_line_lacks_something(
    tmp_path, reader, lines, head
):
    text = head + "\n".join(lines)
    start, goes_on = text.rindex("\n") + 1, "#" if "#" in text else "3:"
    # nothing of the line but its label, to what comes before its last part
    for end in range(start + 1, text.rindex(goes_on) + len(goes_on)):
        if text[end - 1] == "#":
            continue
        with pytest.raises(ValueError, match=rf"f.txt, line {text.count(chr(10)) + 1}"):
            _read(reader, tmp_path / "f.txt", text[:end])
    # with a line break it is whole, whatever it holds
    cut = text[: text.rindex(" 2:")]
    assert _read(reader, tmp_path / "f.txt", f"{cut}\n") == 20
    with pytest.raises(ValueError, match=r"f.txt, line \d+: the file must not end"):
        _read(reader, tmp_path / "f.txt", bz2.compress(cut.encode()))


@pytest.mark.parametrize("reader", READERS)
def test_each_of_several_files_is_looked_at(tmp_path, reader):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("\n".join(WHOLE)[:-4])
    second.write_text("1 qid:99 1:3 2:3 3:3\n")
    for paths in ([first, second], [second, first]):
        with pytest.raises(ValueError, match=r"a.txt, line 20: the file must not end"):
            reader(paths)


def test_long_files_are_cut_in_their_last_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("tieaware_sklearn.io._letor_format._CHUNK", 50)
    path = tmp_path / "f.txt"
    path.write_text("\n".join(WHOLE)[:-4])
    for reader in READERS:
        with pytest.raises(ValueError, match=r"f.txt, line 20: the file must not end"):
            reader(path)
    path.write_text("\n".join(WHOLE))
    assert len(load_letor(path).target) == 20
