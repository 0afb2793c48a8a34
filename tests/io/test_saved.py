"""Files of results: written whole or not at all, and read only if they are such."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tieaware_sklearn
from tests.saved import members_of, npy, zipped
from tieaware_sklearn import RankingReport, evaluate

REPORT = evaluate([0, 1, 2], [1, 1, 0], measures=["ap", "rr"])
DATA = REPORT.to_bytes()


def test_the_same_bytes_each_time(tmp_path, monkeypatch):
    REPORT.save(tmp_path / "a.tie")
    monkeypatch.setattr("time.time", lambda: 0.0)
    REPORT.save(str(tmp_path / "b.tie"))
    assert (tmp_path / "a.tie").read_bytes() == DATA
    assert (tmp_path / "b.tie").read_bytes() == DATA
    with zipfile.ZipFile(tmp_path / "a.tie") as file:
        for info in file.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.compress_type == zipfile.ZIP_STORED
    header, _ = members_of(DATA)
    assert (header["format"], header["version"]) == ("tieaware", 1)
    assert header["library"] == tieaware_sklearn.__version__


def test_a_file_is_replaced_and_others_stay(tmp_path):
    path = tmp_path / "a.tie"
    path.write_text("old")
    REPORT.save(path)
    assert str(RankingReport.load(path)) == str(REPORT)
    assert os.listdir(tmp_path) == ["a.tie"]


def test_what_cannot_be_written_costs_nothing(tmp_path, monkeypatch):
    with pytest.raises(OSError, match=r"absent.a\.tie"):
        REPORT.save(tmp_path / "absent" / "a.tie")
    with pytest.raises(IsADirectoryError):
        REPORT.save(tmp_path)
    path = tmp_path / "a.tie"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"a\.tie"):
        REPORT.save(path)
    path.chmod(0o644)
    with pytest.raises(ValueError, match=r"path must not end in \.gz, .*a\.tie\.gz"):
        REPORT.save(tmp_path / "a.tie.gz")

    def cut_off(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", cut_off)
    with pytest.raises(OSError, match=r"No space left on device: .*a\.tie"):
        REPORT.save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.tie"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_an_error():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        REPORT.save("/dev/full")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.tie"):
        RankingReport.load(tmp_path / "absent.tie")


def other_header(**changes):
    header, members = members_of(DATA)
    return zipped(header | changes, members)


def twice():
    header, members = members_of(DATA)
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(header, members | {"header.json": b"{}"})


def with_compressed_arrays(version):
    header, members = members_of(DATA)
    members |= {"more.npy": npy(np.zeros(9999))}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        changed = json.dumps(header | {"version": version})
        file.writestr(zipfile.ZipInfo("header.json"), changed)
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (with_compressed_arrays(1), r"damaged or cut off \(it is compressed, or"),
        (with_compressed_arrays(2), "has version 2 of the format"),
        (b"", "is not a file that save has written"),
        (b"qid,label\n1,1\n", "is not a file that save has written"),
        (zipped({"a": 1}, {}), "is not a file that save has written"),
        (zipped([], {}), "is not a file that save has written"),
        (other_header(format="other"), "is not a file that save has written"),
        (DATA[:-1], "is damaged or cut off"),
        (DATA[: len(DATA) // 2], "is damaged or cut off"),
        (DATA.replace(b"AP", b"PA"), r"is damaged or cut off \(Bad CRC-32"),
        (DATA.replace(b'"raise"', b'"raisE"'), r"is damaged or cut off \(Bad CRC-32"),
        (
            other_header(version=2, library="9.1"),
            "has version 2 of the format, written by tieaware-sklearn 9.1; this is "
            ".*, which reads version 1: upgrade tieaware-sklearn",
        ),
        (
            other_header(version=2, library="9\x1b[2J\n"),
            r"tieaware-sklearn 9 \[2J; this is",
        ),
        (other_header(version=0), "has version 0 of the format"),
        (other_header(version="1"), "must have 'version' of type int in its header"),
        (other_header(kind=None), "must have 'kind' of type str in its header"),
        (
            other_header(kind="Ca\nke"),
            r"must hold a RankingReport, got 'Ca\\nke', which this library does not",
        ),
        (
            other_header(kind="Screening"),
            r"must hold a RankingReport, got a Screening: use Screening\.load",
        ),
        (other_header(content=[]), "must have 'content' of type dict in its header"),
        (other_header(content={}), "must have 'measures' of type list in its header"),
    ],
)
def test_files_that_are_refused(tmp_path, data, message):
    path = tmp_path / "a.tie"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as told:
        RankingReport.load(path)
    assert str(told.value).startswith(f"{path} ")
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__
    with pytest.raises(ValueError, match=message):
        RankingReport.from_bytes(data)


def test_a_name_that_comes_twice():
    with pytest.raises(ValueError, match="is not a file that save has written"):
        RankingReport.from_bytes(twice())


def test_parts_that_overlap():
    """One array by several names: a small file that would be a large one in memory."""
    data = zipped(*members_of(DATA))
    at = data.index(b"PK\x01\x02")  # the directory
    ends = data.rindex(b"PK\x05\x06")
    entries = data[at:ends].split(b"PK\x01\x02")[1:]
    entry = max(entries, key=len)
    copies = [entry.replace(b"std_is_e", b"%08d" % i) for i in range(50)]
    assert len(set(copies)) == 50
    directory = b"".join(b"PK\x01\x02" + one for one in entries + copies)
    count = (len(entries) + len(copies)).to_bytes(2, "little")
    end = data[ends : ends + 8] + 2 * count + len(directory).to_bytes(4, "little")
    with pytest.raises(ValueError, match=r"is damaged .*its parts overlap"):
        RankingReport.from_bytes(data[:at] + directory + end + data[ends + 16 :])


def test_data_that_are_no_bytes():
    with pytest.raises(ValueError, match="data must be bytes, got str"):
        RankingReport.from_bytes("text")
    assert str(RankingReport.from_bytes(memoryview(DATA))) == str(REPORT)


def test_arrays_of_other_makers_are_read():
    """By column, with lines of other lengths, and beside arrays that nobody knows."""
    header, members = members_of(DATA)
    bounds = np.asfortranarray(REPORT.bounds)
    assert bounds.flags.f_contiguous
    members |= {"bounds.npy": npy(bounds), "more.npy": npy([1.0])}
    found = RankingReport.from_bytes(zipped(header, members))
    assert found.to_bytes() == DATA
    assert found.bounds.flags.writeable
    # what is compressed is no larger than the file, or refused
    small = zipped(header, members, compression=zipfile.ZIP_DEFLATED)
    assert RankingReport.from_bytes(small).to_bytes() == DATA


def test_a_class_derived_from_one_of_ours():
    class Own(RankingReport):
        pass

    assert type(Own.from_bytes(DATA)) is Own
