"""Tables looked through before they are read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import csv, write
from tieaware_sklearn.datasets import iter_batches


def test_tables_whose_first_rows_say_little(tmp_path, monkeypatch):
    monkeypatch.setattr("tieaware_sklearn.io._csv._START", 30)
    late = "qid,label,late,text,gone\n" + "".join(
        f"{q},{q % 2},{'' if q < 5 else q},t,\n" for q in range(8)
    )
    batches = list(iter_batches(csv(tmp_path, late), batch_rows=3))
    assert batches[0].feature_names == ["late"]
    assert_array_equal(
        np.concatenate([b.data[:, 0] for b in batches]), [np.nan] * 5 + [5, 6, 7]
    )
    assert [b.qid.tolist() for b in batches][-1] == ["6", "7"]
    mixed = "qid,label,f\n" + "".join(
        f"{q},0,{'x' * (q == 3) or q}\n" for q in range(6)
    )
    with pytest.raises(ValueError, match=r"line 5: column 'f' must hold numbers"):
        list(iter_batches(csv(tmp_path, mixed)))
    text_first = "qid,label,g,f\n" + "1,0,1,x\n2,0,1,y\n3,0,1,1\n4,0,1,2\n"
    with pytest.raises(ValueError, match=r"line 4: column 'f' must hold numbers or"):
        list(iter_batches(csv(tmp_path, text_first, "late.csv")))
    with pytest.raises(ValueError, match=r"line 4: column 'qid' must not be empty"):
        list(iter_batches(csv(tmp_path, "qid,label,f\n1,0,1\n1,0,2\n,0,1\n")))
    with pytest.raises(ValueError, match=r"line 4: a row must not have more cells"):
        list(iter_batches(csv(tmp_path, "qid,label,f\n1,0,1\n1,0,2\n1,0,1,9\n")))


def test_what_arrow_cannot_say_in_other_words(tmp_path, web, monkeypatch):
    path = write(tmp_path / "a.parquet", **web)

    def fail(*_, **__):
        raise pa.lib.ArrowException("Unknown error: \x0f\nwrapped")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fail)
    with pytest.raises(ValueError, match=r"a\.parquet: Unknown error:   wrapped"):
        iter_batches(path)
