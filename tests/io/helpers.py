"""Functions that write files, read them, and check errors."""

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from tieaware_sklearn.datasets import dump_letor, iter_batches, load_table

FORMS = ["web.txt", "web.txt.gz", "web.csv", "web.tsv.gz", "web.parquet"]


def write_table(path, frame, row_group_size=37):
    """Write a data frame in the format of the file's name."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=row_group_size)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path


def write(path, X, y, qid, **options):
    if ".txt" in path.name:
        dump_letor(X, y, path, qid=qid)
        return path
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    return write_table(path, frame.assign(label=y, qid=qid), **options)


def as_trec_eval(score):
    """Return a score in 32 bits. All scores beyond 32 bits are equal."""
    limit = float(np.finfo(np.float32).max)
    return float(np.float32(min(max(score, -limit), limit)))


def joined(batches, key="data"):
    return np.concatenate([batch[key] for batch in batches])


def place_of(path, row):
    """Return the name that messages give a row of the file."""
    if path.name.endswith(".parquet"):
        return f"{path}, row {row}"
    if ".txt" in path.name:
        return f"{path}, line {row + 1}"
    # the names are the first row of a table
    return f"{path}, row {row + 2}"


def csv(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def in_batches(path, **options):
    """Return all batches, with a query in each."""
    return list(iter_batches(path, batch_rows=1, **options))


def refused(path, message, load=load_table, **options):
    """Return the message of the error, which is the same at once and in batches."""
    for read in (load, in_batches):
        with pytest.raises(ValueError, match=message) as error:
            read(path, **options)
    return str(error.value)


@contextmanager
def memory_below(n_bytes):
    """Assert that no more memory is taken inside, at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()
