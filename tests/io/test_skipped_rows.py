"""Rows that are passed by: what comes after is what a reader finds there."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.io.helpers import FORMS
from tieaware_sklearn.io import _skipped_rows
from tieaware_sklearn.io._batches import scan_files
from tieaware_sklearn.io._skipped_rows import without_rows
from tieaware_sklearn.io._text_source import TextSource

CELLS = st.sampled_from(["1", "2.5", "", "é", '"a b"', '"a\nb"', " ", '"1""2"'])
ENDS = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n \n", "\n\t\r\n", "\r"])


@given(
    st.lists(st.tuples(CELLS, CELLS, ENDS), max_size=12),
    st.integers(1, 13),
    st.booleans(),
    st.booleans(),
)
def test_the_rest_is_what_a_reader_finds(tmp_path_factory, rows, skipped, zipped, mark):
    text = "a,b\n" + "".join(f"{a},{b}{end}" for a, b, end in rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    data = b"\xef\xbb\xbf" * mark + text.encode()
    path.write_bytes(gzip.compress(data) if zipped else data)
    rest = without_rows(TextSource(path), skipped)
    if rest is None:
        return
    with rest:
        found = pd.read_csv(rest, dtype=str, keep_default_na=False)
    wanted = pd.read_csv(path, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(found, wanted[skipped:].reset_index(drop=True))


def test_plain_rows_are_passed_by(tmp_path, monkeypatch):
    monkeypatch.setattr(_skipped_rows, "_BLOCK", 7)
    path = tmp_path / "t.csv"
    for end in (b"\n", b"\r\n"):
        path.write_bytes(end.join([b"a,b", *(b"%d,x" % i for i in range(30))]) + end)
        for skipped in (1, 2, 29, 30):
            with without_rows(TextSource(path), skipped) as rest:
                lines = rest.read().split(end)
            assert lines == [b"a,b", *(b"%d,x" % i for i in range(skipped, 30)), b""]
        assert without_rows(TextSource(path), 31) is None


@pytest.mark.parametrize(
    "line", [b'"1",2\n', b"\n", b"  \n", b"\t\n", b"1,2\r3,4\n", b"\r\n"]
)
def test_lines_that_may_not_be_rows_are_left_to_a_reader(tmp_path, line):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n" + line + b"3,4\n")
    assert without_rows(TextSource(path), 1) is None


def test_a_last_line_without_its_end_is_left_to_a_reader(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n3,4")
    assert without_rows(TextSource(path), 2) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cells", [1, 1 << 18])
def test_batches_from_each_row_on(monkeypatch, files, form, cells):
    """The same as without those before, to the last bit and place."""
    monkeypatch.setattr("tieaware_sklearn.io._tabular_scan._LEAST_CELLS", cells)
    scan = scan_files([files[form]], label="label", qid="qid")
    whole = list(scan.batches(20))
    assert len(whole) > 5
    row = 0
    for number, batch in enumerate(whole):
        found = list(scan.batches(20, row))
        assert len(found) == len(whole) - number
        for one, other in zip(found, whole[number:], strict=True):
            for key in ("data", "target", "qid"):
                np.testing.assert_array_equal(one[key], other[key])
                assert one[key].dtype == other[key].dtype
            assert one.place(0) == other.place(0)
            assert one.DESCR == other.DESCR
        row += len(batch.target)
    assert list(scan.batches(20, row)) == []
    with pytest.raises(ValueError, match="where a batch begins, got 1"):
        next(scan.batches(20, 1))
