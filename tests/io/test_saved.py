"""Files of results: written whole or not at all, and read only if they are such."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tieaware_sklearn
from tests.saved import members_of, npy, zipped
from tieaware_sklearn import RankingFeatureSelector, RankingReport, Screening, evaluate
from tieaware_sklearn.datasets import make_web_search

KEPT = Path(__file__).parent / "kept"

REPORT = evaluate([0, 1, 2], [1, 1, 0], measures=["ap", "rr"])
DATA = REPORT.to_bytes()
# of which files of older versions are kept
WEB = make_web_search(n_queries=6, random_state=0)
OF_WEB = evaluate(WEB.target, WEB.data[:, 1], qid=WEB.qid, segment=WEB.qid % 2)
SELECTOR = RankingFeatureSelector("ap").fit(WEB.data[:, :3], WEB.target, WEB.qid)


def test_the_same_bytes_each_time_in_place_of_an_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.tie"
    path.write_text("old")
    REPORT.save(path)
    monkeypatch.setattr("time.time", lambda: 0.0)
    REPORT.save(str(tmp_path / "b.tie"))
    assert path.read_bytes() == (tmp_path / "b.tie").read_bytes() == DATA
    assert sorted(os.listdir(tmp_path)) == ["a.tie", "b.tie"]
    assert str(RankingReport.load(path)) == str(REPORT)
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.compress_type == zipfile.ZIP_STORED
    header, _ = members_of(DATA)
    assert (header["format"], header["version"]) == ("tieaware", 1)
    assert header["library"] == tieaware_sklearn.__version__


def test_files_of_1_0_are_read():
    report = RankingReport.load(KEPT / "report_1.0.0.tie")
    made = RankingReport.from_bytes(OF_WEB.to_bytes())  # ids are digests, in order
    screening = Screening.load(KEPT / "screening_1.0.0.tie")
    assert str(screening) == str(SELECTOR.screening_)
    # of labels at random it knows nothing, and neither does what is merged with it: its
    # p is that of the t test alone
    merged = screening.merge(SELECTOR.screen(WEB.data[:, :3], WEB.target, WEB.qid + 6))
    for j, way in enumerate(merged.directions):
        scores = WEB.data[:, j] * (-1 if way == "ascending" else 1)
        found = evaluate(WEB.target, scores, qid=WEB.qid, measures="ap")
        twice = np.tile(found.expected - found.chance, (2, 1))[:, 0]
        p = stats.ttest_1samp(twice, 0, alternative="greater").pvalue
        np.testing.assert_allclose(merged.pvalues[j, 0], min(1, 2 * p))
    for name in ("expected", "best", "worst", "std"):
        np.testing.assert_allclose(getattr(report, name), getattr(made, name), 1e-12)


def test_files_of_1_1_are_read():
    for kind, kept, new in (
        (RankingReport, "report_1.1.0.tie", OF_WEB),
        (Screening, "screening_1.1.0.tie", SELECTOR.screening_),
    ):
        loaded = kind.load(KEPT / kept)
        assert str(loaded) == str(new)
        saved = kind.from_bytes(new.to_bytes())
        pd.testing.assert_frame_equal(loaded.to_pandas(), saved.to_pandas(), rtol=1e-12)


def test_what_cannot_be_written_costs_nothing(tmp_path):
    path = tmp_path / "a.tie"
    path.write_text("old")
    path.chmod(0o444)
    for target, error, message in (
        (tmp_path / "absent" / "a.tie", OSError, r"absent.a\.tie"),
        (tmp_path, IsADirectoryError, "test_what_cannot"),
        (path, PermissionError, r"a\.tie"),
        (f"{path}.gz", ValueError, r"^path must not end in \.gz, .*a\.tie\.gz"),
        ("/dev/full", OSError, "No space left on device: '/dev/full'"),
    ):
        with pytest.raises(error, match=message):
            REPORT.save(target)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.tie"]
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
    header, members = members_of(other_header(version=version))
    members |= {"more.npy": npy(np.zeros(9999))}
    return zipped(header, members, compression=zipfile.ZIP_DEFLATED)


def with_a_pickle():
    header, members = members_of(DATA)
    values = npy(np.array([[print]], dtype=object), allow_pickle=True)
    return zipped(header, members | {"expected.npy": values})


def with_parts_that_overlap():
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
    return data[:at] + directory + end + data[ends + 16 :]


NO_FILE = "is not a file that save has written"
NEWER = (
    "has version 2 of the format, written by tieaware-sklearn 9.1; this is .*, which "
    "reads version 1: upgrade tieaware-sklearn"
)
SCREENING = r"must hold a RankingReport, got a Screening: use Screening\.load"


REFUSED = [
    (with_compressed_arrays(1), r"is damaged or cut off \(it is compressed, or"),
    (with_compressed_arrays(2), "has version 2 of the format"),
    (with_parts_that_overlap(), r"is damaged or cut off .*its parts overlap"),
    (with_a_pickle(), "is damaged or cut off .*allow_pickle=False"),
    (b"qid,label\n1,1\n", NO_FILE),
    (zipped({"a": 1}, {}), NO_FILE),
    (zipped([], {}), NO_FILE),
    (twice(), NO_FILE),
    (other_header(format="other"), NO_FILE),
    (DATA[:-1], "is damaged or cut off"),
    (DATA[: len(DATA) // 2], "is damaged or cut off"),
    (DATA.replace(b"AP", b"PA"), r"is damaged or cut off \(Bad CRC-32"),
    (other_header(version=2, library="9.1"), NEWER),
    (other_header(version=2, library="9\x1b[2J\n"), r"sklearn 9 \[2J; this is"),
    (other_header(version=0), "has version 0 of the format"),
    (other_header(version="1"), "must have 'version' of type int in its header"),
    (other_header(kind=None), "must have 'kind' of type str in its header"),
    (other_header(kind="Ca\nke"), r"got 'Ca\\nke', which this library does not"),
    (other_header(kind="Screening"), SCREENING),
    (other_header(content=[]), "must have 'content' of type dict in its header"),
    (other_header(content={}), "must have 'measures' of type list in its header"),
]


@pytest.mark.parametrize(("data", "message"), REFUSED)
def test_files_that_are_refused(tmp_path, data, message):
    path = tmp_path / "a.tie"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"^{path} .*{message}") as told:
        RankingReport.load(path)
    assert told.value.__suppress_context__
    with pytest.raises(ValueError, match=f"^data .*{message}"):
        RankingReport.from_bytes(data)


def test_bytes_of_any_kind_and_of_other_makers():
    class Own(RankingReport):
        pass

    assert type(Own.from_bytes(bytearray(DATA))) is Own
    assert str(RankingReport.from_bytes(memoryview(DATA))) == str(REPORT)
    with pytest.raises(ValueError, match="data must be bytes, got str"):
        RankingReport.from_bytes("text")
    # arrays by column, and beside arrays that nobody knows
    header, members = members_of(DATA)
    bounds = np.asfortranarray(REPORT.bounds)
    assert bounds.flags.f_contiguous
    members |= {"bounds.npy": npy(bounds), "more.npy": npy([1.0])}
    # what is compressed is no larger than the file, or refused
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = zipped(header, members, compression=compression)
        found = RankingReport.from_bytes(data)
        assert found.to_bytes() == DATA
        assert found.bounds.flags.writeable
