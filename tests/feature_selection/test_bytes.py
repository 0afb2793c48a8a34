"""Bytes of screenings: read if they are such, and refused if not."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn import RankingFeatureSelector, Screening

SMALL = RankingFeatureSelector("rr", redundancy=False).screen(
    [[3], [2], [2], [1]], [0, 1, 0, 2], qid=[1, 1, 1, 2]
)
DATA = SMALL.to_bytes()


def changed(save=np.savez, **changes):
    """The bytes with another header, or with other arrays; None leaves one out."""
    arrays = dict(np.load(io.BytesIO(DATA)))
    header = json.loads(arrays["header"].item())
    header |= {name: changes.pop(name) for name in header if name in changes}
    arrays |= {"header": np.array(json.dumps(header))} | changes
    out = io.BytesIO()
    save(out, **{name: value for name, value in arrays.items() if value is not None})
    return out.getvalue()


def test_the_same_bytes_each_time(monkeypatch):
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert SMALL.to_bytes() == changed() == DATA


def test_bytes_of_any_kind_and_compressed():
    class Own(Screening):
        pass

    assert type(Own.from_bytes(bytearray(DATA))) is Own
    assert str(Screening.from_bytes(memoryview(DATA))) == str(SMALL)
    compressed = changed(np.savez_compressed)
    assert Screening.from_bytes(compressed).to_bytes() == DATA


def outcome(data):
    """What a file is read as, in bytes, or the error; any other error comes through."""
    try:
        return Screening.from_bytes(data).to_bytes()
    except ValueError as error:
        return str(error)


def one_array():
    out = io.BytesIO()
    np.save(out, np.arange(3))
    return out.getvalue()


OTHER = r"must be what Screening\.to_bytes returned, got other or damaged bytes \("
VERSION = "must have version 3 of the format, got {}, written by tieaware-sklearn {}"
REFUSED = {
    "text": ("text", OTHER + "TypeError: .*str"),
    "nothing": (b"", OTHER + "EOFError"),
    "CSV": (b"qid,label\n1,1\n", OTHER + "ValueError"),
    "an array": (one_array(), OTHER),
    "without a header": (changed(header=None), OTHER + "KeyError: 'header"),
    "not JSON": (changed(header=np.array("{")), OTHER + "JSONDecodeError"),
    "a pickle": (changed(query_digests=np.array([print])), OTHER + ".*pickle"),
    "a missing array": (changed(**{"worth/mean": None}), OTHER + "TypeError: .*'mean'"),
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
    with pytest.raises(ValueError, match=f"^data .*{message}"):
        Screening.from_bytes(data)


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_byte_changed_or_data_cut_off_there(where, change):
    """An error of one line, or the same screening."""
    at = where % len(DATA)
    flipped = bytearray(DATA)
    flipped[at] ^= change
    for damaged in (bytes(flipped), DATA[:at], DATA[at:], DATA + DATA[:at]):
        found = outcome(damaged)
        if isinstance(found, str):
            assert found.startswith("data ")
            assert "\n" not in found
        else:
            assert found == DATA
