"""Bytes of screenings: read if they are such, and refused if not."""

import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import RankingFeatureSelector, Screening

SELECTOR = RankingFeatureSelector("rr", redundancy=False)
SMALL = SELECTOR.screen([[3], [2], [2], [1]], [0, 1, 0, 2], qid=[1, 1, 1, 2])
DATA = SMALL.to_bytes()


def changed(save=np.savez, **changes):
    """Return the bytes with changed arrays or fields of the header.

    None leaves an array out.
    """
    arrays = dict(np.load(io.BytesIO(DATA)))
    header = json.loads(arrays["header"].item())
    for name in list(changes):
        if name in header:
            header[name] = changes.pop(name)
    arrays["header"] = np.array(json.dumps(header))
    arrays.update(changes)
    present = {name: values for name, values in arrays.items() if values is not None}
    file = io.BytesIO()
    save(file, **present)
    return file.getvalue()


def test_the_same_bytes_each_time(monkeypatch):
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert SMALL.to_bytes() == DATA
    assert changed() == DATA


def test_bytes_of_any_kind_and_compressed():
    class Subclass(Screening):
        pass

    screening = Subclass.from_bytes(bytearray(DATA))
    assert type(screening) is Subclass
    screening = Screening.from_bytes(memoryview(DATA))
    assert str(screening) == str(SMALL)
    compressed = changed(np.savez_compressed)
    assert Screening.from_bytes(compressed).to_bytes() == DATA


def outcome(data):
    """Return the bytes of the screening that is read, or the text of the ValueError."""
    try:
        screening = Screening.from_bytes(data)
    except ValueError as error:
        return str(error)
    return screening.to_bytes()


def array_bytes():
    out = io.BytesIO()
    np.save(out, np.arange(3))
    return out.getvalue()


OTHER = r"must be .* Screening\.to_bytes returned, got other or damaged data \("
VERSION = "must have version 3 of the format, got {}, written by tieaware-sklearn {}"
REFUSED = {
    "text": ("text", OTHER + r"TypeError\): .*str"),
    "nothing": (b"", OTHER + "EOFError"),
    "CSV": (b"qid,label\n1,1\n", OTHER + "ValueError"),
    "an array": (array_bytes(), OTHER),
    "without a header": (changed(header=None), OTHER + r"KeyError\): 'header"),
    "not JSON": (changed(header=np.array("{")), OTHER + "JSONDecodeError"),
    "a pickle": (changed(query_digests=np.array([print])), OTHER + ".*pickle"),
    "a missing array": (
        changed(**{"worth/mean": None}),
        OTHER + r"TypeError\): .*'mean'",
    ),
    "the end cut off": (DATA[:-1], OTHER),
    "half of it": (DATA[: len(DATA) // 2], OTHER),
    "a changed byte": (DATA.replace(b"R\0\0\0R", b"P\0\0\0R"), OTHER + ".*Bad CRC-32"),
    "newer": (changed(version=4, library="9.1"), VERSION.format(4, "'9.1'")),
    "no version": (changed(version=None), VERSION.format(None, "'")),
    "control": (changed(version=1, library="9\x1b[2J"), r"'9\\x1b\[2J'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bytes_that_are_refused(name):
    data, message = REFUSED[name]
    with pytest.raises(ValueError, match=r"^data ") as raised:
        Screening.from_bytes(data)
    error = raised.value
    assert re.search(f"^data .*{message}", f"{error}: {error.__cause__}")


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_damaged_bytes_are_refused_or_read_as_the_same(where, change):
    """The error has one line."""
    index = where % len(DATA)
    flipped = bytearray(DATA)
    flipped[index] ^= change
    head = DATA[:index]
    tail = DATA[index:]
    for damaged in (bytes(flipped), head, tail, DATA + head):
        result = outcome(damaged)
        if isinstance(result, str):
            assert result.startswith("data ")
            assert "\n" not in result
        else:
            assert result == DATA
