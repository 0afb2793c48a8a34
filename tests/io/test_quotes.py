"""Quotation marks of CSV: a cell that opens with one closes with one."""

from __future__ import annotations

import re
from contextlib import closing, suppress

import numpy as np
import pytest

from tests.cli.helpers import fail, succeed
from tests.io.helpers import refused
from tieaware_sklearn.datasets import load_table
from tieaware_sklearn.io import _csv, _frames, _source


@pytest.mark.parametrize("second", ['"curved monitor', '"curved" monitor'])
def test_stray_marks_do_not_swallow_rows(tmp_path, capsys, second):
    rows = [[i % 3, i // 10, i % 7, f"monitor {i}"] for i in range(500)]
    rows[14][3], rows[479][3] = '"24in monitor', second
    lines = [",".join(map(str, row)) for row in rows]
    path = tmp_path / "shop.csv"
    path.write_text("\n".join(["label,qid,clicks,title", *lines, ""]))
    message = f"{path}, line 16: a quotation mark opens a cell here"
    refused(path, f"{re.escape(message)}.*--quoting none")
    assert "line 16" in fail(capsys, "screen", path)
    # as they are
    found = load_table(path, quoting="none")
    assert found.data[:, 0].tolist() == [clicks for _, _, clicks, _ in rows]
    assert found.qid.tolist() == [str(qid) for _, qid, _, _ in rows]
    out, _ = succeed(capsys, "screen", path, "--quoting", "none")
    assert "500 documents, 50 queries" in out


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_mark_left_open_ends_the_reading_soon(tmp_path, monkeypatch, end):
    monkeypatch.setattr(_csv, "_START", 1 << 10)
    monkeypatch.setattr(_source, "MAX_LINE", 1 << 12)
    rows = [f"1,{i // 9},{i},t" for i in range(20_000)]
    rows.insert(1_000, '1,0,1,"t')
    path = tmp_path / "f.csv"
    path.write_bytes(end.join(["label,qid,x,title", *rows, ""]).encode())
    refused(path, "line 1002: a quotation mark opens a cell")
    # the cell would be longer than a line may be: no more is read
    n_read, options = [], _frames.TableOptions("label", "qid", [])
    file = _csv.open_csv(_source.TextSource(path), options, progress=False)
    with closing(_csv._CsvLines(file)) as lines, suppress(_csv._QuoteError):
        while lines.readinto(bytearray(1 << 10)):
            n_read.append(lines._file.tell())
    opened = path.read_bytes().index(b'"')
    assert opened + (1 << 12) - (1 << 10) <= n_read[-1] <= opened + (1 << 12)


def test_a_mark_left_open_in_the_header(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text('label,qid,"x\n1,1,2\n')
    refused(path, r"f\.csv, line 1: a quotation mark opens a cell")
    path.write_text('\nlabel,qid,"x\ny"\n1,1,2\n0,1,\n')
    found = load_table(path)
    assert found.feature_names == ["x\ny"]
    np.testing.assert_array_equal(found.data, [[2], [np.nan]])
    assert found.place(1).endswith("line 5")
