"""Bytes of screenings: read if they are such, and refused if not."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tieaware_sklearn
from tieaware_sklearn import RankingFeatureSelector, Screening
from tieaware_sklearn.datasets import make_web_search

KEPT = Path(__file__).parent / "kept" / "screening_1.1.0.tie"
#: The data of the kept file.
WEB = make_web_search(n_queries=6, random_state=0)
SELECTOR = RankingFeatureSelector("ap").fit(WEB.data[:, :3], WEB.target, WEB.qid)
SMALL = RankingFeatureSelector("rr", redundancy=False).screen(
    [[3], [2], [2], [1]], [0, 1, 0, 2], qid=[1, 1, 1, 2]
)
DATA = SMALL.to_bytes()


def members_of(data):
    """The header, and the bytes of every array by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    return json.loads(members.pop("header.json")), members


def zipped(header, members, **options):
    """A file of these, with checksums that fit."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as file:
        for name, member in [("header.json", json.dumps(header)), *members.items()]:
            file.writestr(zipfile.ZipInfo(name), member, file.compression)
    return out.getvalue()


def npy(array, *, allow_pickle=False):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=allow_pickle)
    return out.getvalue()


def outcome(data):
    """What a file is read as, in bytes, or the error; any other error comes through."""
    try:
        return Screening.from_bytes(data).to_bytes()
    except ValueError as error:
        return str(error)


def test_the_same_bytes_each_time(monkeypatch):
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert SMALL.to_bytes() == DATA
    with zipfile.ZipFile(io.BytesIO(DATA)) as file:
        for info in file.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.compress_type == zipfile.ZIP_STORED
    header, _ = members_of(DATA)
    assert (header["format"], header["version"]) == ("tieaware", 1)
    assert header["library"] == tieaware_sklearn.__version__


def test_files_of_1_1_are_read():
    screening, new = Screening.from_bytes(KEPT.read_bytes()), SELECTOR.screening_
    assert str(screening) == str(new)
    pd.testing.assert_frame_equal(screening.to_pandas(), new.to_pandas(), rtol=1e-12)


def other_header(**changes):
    header, members = members_of(DATA)
    return zipped(header | changes, members)


def twice():
    header, members = members_of(DATA)
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(header, members | {"header.json": b"{}"})


def with_compressed_arrays(version):
    header, members = members_of(other_header(version=version))
    members |= {"more.npy": npy(np.zeros(9999))}
    return zipped(header, members, compression=zipfile.ZIP_DEFLATED)


def with_a_pickle():
    header, members = members_of(DATA)
    values = npy(np.array([[print]], dtype=object), allow_pickle=True)
    return zipped(header, members | {"query_digests.npy": values})


def with_parts_that_overlap():
    """One array by several names: a small file that would be a large one in memory."""
    data = zipped(*members_of(DATA))
    at = data.index(b"PK\x01\x02")  # the directory
    ends = data.rindex(b"PK\x05\x06")
    entries = data[at:ends].split(b"PK\x01\x02")[1:]
    (entry,) = (one for one in entries if b"worth/mean2.npy" in one)
    copies = [entry.replace(b"mean2.np", b"%08d" % i) for i in range(50)]
    assert len(set(copies)) == 50
    directory = b"".join(b"PK\x01\x02" + one for one in entries + copies)
    count = (len(entries) + len(copies)).to_bytes(2, "little")
    end = data[ends : ends + 8] + 2 * count + len(directory).to_bytes(4, "little")
    return data[:at] + directory + end + data[ends + 16 :]


OTHER = r"must be what Screening\.to_bytes returned, got "
NEWER = (
    "has version 2 of the format, written by tieaware-sklearn 9.1; this is .*, which "
    "reads version 1: upgrade tieaware-sklearn"
)
REFUSED = [
    (with_compressed_arrays(1), r"is damaged or cut off \(it is compressed, or"),
    (with_parts_that_overlap(), r"is damaged or cut off .*its parts overlap"),
    (with_a_pickle(), "is damaged or cut off .*allow_pickle=False"),
    (b"qid,label\n1,1\n", OTHER + "b'qid,label."),
    (zipped({"a": 1}, {}), "must contain a Screening, got None"),
    (zipped([], {}), "must contain a Screening"),
    (twice(), "must contain a Screening, got None"),
    (DATA[:-1], "is damaged or cut off"),
    (DATA[: len(DATA) // 2], "is damaged or cut off"),
    (DATA.replace(b"RR", b"PR"), r"is damaged or cut off \(Bad CRC-32"),
    (other_header(version=2, library="9.1"), NEWER),
    (other_header(version=2, library="9\x1b[2J\n"), r"sklearn 9\\x1b\[2J\\n; this is"),
    (other_header(version=0), "has version 0 of the format"),
    (other_header(version="1"), "has version '1' of the format"),
    (other_header(kind="RankingReport"), "a Screening, got 'RankingReport'"),
    (other_header(kind="Ca\nke"), r"got 'Ca\\nke'"),
    (other_header(content=[]), OTHER + ".*'content' of type dict, got"),
    (other_header(content={}), OTHER + ".*'feature_names' of type list, got None"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED)
def test_bytes_that_are_refused(data, message):
    with pytest.raises(ValueError, match=f"^data .*{message}"):
        Screening.from_bytes(data)


def test_bytes_of_any_kind_and_of_other_makers():
    class Own(Screening):
        pass

    assert type(Own.from_bytes(bytearray(DATA))) is Own
    assert str(Screening.from_bytes(memoryview(DATA))) == str(SMALL)
    with pytest.raises(ValueError, match="data must be bytes, got str"):
        Screening.from_bytes("text")
    # arrays by column, and beside arrays that nobody knows
    header, members = members_of(DATA)
    variance = np.asfortranarray(SMALL.statistics.tie_variance)
    members |= {"statistics/tie_variance.npy": npy(variance), "more.npy": npy([1.0])}
    found = Screening.from_bytes(zipped(header, members))
    assert found.to_bytes() == DATA
    assert found.statistics.tie_variance.flags.writeable


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_a_byte_changed_or_data_cut_off_there(where, change):
    """An error, or the same screening."""
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


VALUE = "statistics/worth/mean.npy"


BAD_ARRAYS = [
    (VALUE, None, "has no array 'statistics/worth/mean'"),
    (VALUE, npy([[0.5, 0.5]]), r"mean' of .* shape \(1, 2, 4, 1\), got"),
    (VALUE, npy(np.float32([[1]])), r"mean' of dtype <f8 .* got <f4"),
    (VALUE, npy([[0.5]])[:-1], "is damaged or cut off"),
    ("statistics/tie_variance.npy", npy([0.5]), "tie_variance' of dtype"),
    ("statistics/null_variance.npy", None, "has no array 'statistics/null_variance'"),
    ("query_digests.npy", npy(np.uint64([5, 4])), "a sorted digest of each query"),
    ("query_digests.npy", npy(np.uint64([4, 4])), "a sorted digest of each query"),
    ("query_digests.npy", npy(np.uint64([3, 4, 5])), "a sorted digest"),
]


@pytest.mark.parametrize(("name", "member", "message"), BAD_ARRAYS)
def test_arrays_that_no_screening_has(name, member, message):
    header, members = members_of(DATA)
    del members[name]
    data = zipped(header, members if member is None else members | {name: member})
    with pytest.raises(ValueError, match=f"^data .*{message}"):
        Screening.from_bytes(data)


def test_a_measure_that_no_screening_has():
    header, members = members_of(DATA)
    header["content"]["rule"]["sort"] = 1
    with pytest.raises(ValueError, match="must have 'sort' of a measure, got 1"):
        Screening.from_bytes(zipped(header, members))


@pytest.mark.parametrize("value", [None, 7, -1, "x", [], ["x"], {}, 1e300, True, [[]]])
@pytest.mark.parametrize("part", ["", "rule", "statistics"])
def test_headers_that_no_screening_has(part, value):
    header, members = members_of(DATA)
    content = header["content"]
    for name in content[part] if part else content:
        changed = {name: value}
        changed = content | ({part: content[part] | changed} if part else changed)
        new = outcome(zipped(header | {"content": changed}, members))
        # some of these are right
        if isinstance(new, str):
            assert new.startswith("data ")
        else:
            assert members_of(new)[0]["content"] == changed
