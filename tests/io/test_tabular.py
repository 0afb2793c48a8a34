"""CSV, TSV and Parquet at once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tieaware_sklearn.datasets import iter_batches, load_table


@pytest.mark.parametrize("name", ["web.csv", "web.tsv.gz", "web.parquet"])
def test_a_table_at_once(files, web, name):
    table = load_table(files[name])
    assert_array_equal(table.data, web["X"])
    assert_array_equal(table.target, web["y"])
    assert table.left_out == ["url"]
    assert table.qid.astype(int).tolist() == web["qid"].tolist()
    n_rows, n_features = web["X"].shape
    n_queries = len(np.unique(web["qid"]))
    described = f": {n_rows} rows, {n_queries} queries, {n_features} features"
    assert table.DESCR.endswith(described)
    twice = load_table([files[name], files[name]], ignore=["f1"], as_frame=True)
    assert len(twice.data) == 2 * n_rows
    assert twice.data.columns.tolist() == twice.feature_names
    assert "f1" not in twice.feature_names


def test_a_table_in_any_order(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("query,rating,clicks\na,1,5\nb,0,\na,0,5\n")
    columns = {"label": "rating", "qid": "query"}
    table = load_table(path, **columns)
    assert table.qid.tolist() == ["a", "b", "a"]
    assert_array_equal(table.data, [[5], [np.nan], [5]])
    with pytest.raises(ValueError, match=r"line 4: query a comes .* \(--sort\)"):
        iter_batches(path, **columns)
    with pytest.raises(ValueError, match=r"there is no column 'label' .*--label"):
        load_table(path)
    with pytest.raises(ValueError, match=r"must end in \.csv.* load_letor"):
        load_table(tmp_path / "train.txt")


@pytest.mark.parametrize(
    ("cells", "bad"),
    [
        # beyond all types of 64 bits, and beyond what one of them holds
        (["18446744073709551617", "18446744073709551618", "3"], "18446744073709551617"),
        (["9223372036854775809", "9223372036854775808", "-3"], "9223372036854775809"),
        (["0" * 5000 + "1", "9" * 5000, "2"], "0" * 60),
    ],
)
def test_floats_tie_no_integers(tmp_path, cells, bad):
    path = tmp_path / "large.csv"
    path.write_text("label,qid,x\n" + "".join(f"1,1,{cell}\n" for cell in cells))
    with pytest.raises(ValueError, match=f"line 2: column 'x' must .* got '{bad}"):
        load_table(path)
