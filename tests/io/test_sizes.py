"""How much memory files take, before they are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from tests.io.helpers import write
from tieaware_sklearn.datasets import load_table
from tieaware_sklearn.io._batches import scan_files
from tieaware_sklearn.io._sizes import bytes_of_tables
from tieaware_sklearn.io._urls import Url

N_ROWS, N_FEATURES = 12_000, 20


def table(kind):
    rng = np.random.default_rng(0)
    X = {
        "digits": rng.integers(0, 10, (N_ROWS, N_FEATURES)),
        "one digit": np.zeros((N_ROWS, N_FEATURES), dtype=int),
        "floats": rng.random((N_ROWS, N_FEATURES)),
        # the first third of short cells, the last of long ones
        "uneven": rng.integers(0, 10, (N_ROWS, N_FEATURES))
        ** np.where(np.arange(N_ROWS) < N_ROWS // 3, 1, 12)[:, None],
    }[kind]
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(N_FEATURES)])
    return frame.assign(qid=np.arange(N_ROWS) // 40, label=1)


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("kind", ["digits", "one digit", "floats", "uneven"])
@pytest.mark.parametrize("suffix", PACKERS)
def test_the_cells_of_text_are_counted_in_a_sample(tmp_path, kind, suffix):
    frame = table(kind)
    path = tmp_path / f"table.csv{suffix}"
    path.write_bytes(PACKERS[suffix](frame.to_csv(index=False).encode()))
    estimate, numbers = bytes_of_tables([path]), 8 * frame.size
    if kind == "uneven" and suffix:
        assert estimate > 0.9 * numbers  # only the start of packed text is known
    else:
        assert 0.9 * numbers < estimate < 1.3 * numbers


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_what_is_read_at_once_stays_below_five_times_the_estimate(tmp_path, name):
    frame, path = table("digits"), tmp_path / name
    if name == "a.parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    load_table(path)  # what is imported on the way
    tracemalloc.start()
    data = load_table(path).data
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.shape == (N_ROWS, N_FEATURES)
    assert peak < 5 * bytes_of_tables([path])


def test_several_files_pipes_and_empty_ones(tmp_path, web):
    one, two = (write(tmp_path / f"{i}.parquet", **web) for i in range(2))
    # labels, query ids, and text, which takes more
    n_columns = web["X"].shape[1] + 2 + 8
    assert bytes_of_tables([one]) == 8 * len(web["y"]) * n_columns
    assert bytes_of_tables([one, two]) == 2 * bytes_of_tables([one])
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "empty.csv.gz").write_bytes(b"")
    empty = [tmp_path / "empty.csv", tmp_path / "empty.csv.gz", tmp_path / "no.csv"]
    assert bytes_of_tables(empty) == 0
    (tmp_path / "bad.csv.gz").write_bytes(b"\x1f\x8b no gzip")
    with pytest.raises(ValueError, match=r"bad\.csv\.gz: damaged compressed data"):
        bytes_of_tables([tmp_path / "bad.csv.gz"])


def test_text_with_numbered_features_is_known_after_the_first_pass(tmp_path):
    path = tmp_path / "sparse.txt"
    path.write_text("".join(f"1 qid:{i} {i % 300 + 1}:1\n" for i in range(900)))
    assert scan_files([path], label="", qid="").n_bytes == 8 * 900 * 300


def test_text_is_unpacked_by_its_first_bytes_not_by_its_name(tmp_path):
    text = table("digits").to_csv(index=False).encode()
    sizes = []
    packed = gzip.compress(text)
    for name, data in (("a.csv", text), ("b.csv.gz", text), ("c.csv", packed)):
        (tmp_path / name).write_bytes(data)
        sizes.append(bytes_of_tables([tmp_path / name]))
    assert sizes[0] == sizes[1] == pytest.approx(sizes[2], rel=0.05)


def test_text_of_unknown_size_is_large(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://unknown.csv", "wb") as file:
        file.write(b"label,qid,a\n1,1,2\n")
    assert bytes_of_tables([Url("memory://unknown.csv")]) < 1000
    monkeypatch.setattr(Url, "size", lambda self: 0)
    assert bytes_of_tables([Url("memory://unknown.csv")]) > 2**40
