"""Files without rows among others, as Spark writes one for each empty partition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.cli.helpers import run
from tieaware_sklearn.datasets import dump_letor, iter_batches, load_letor, load_table

ROWS = pd.DataFrame(
    {"label": [1, 0, 2, 0, 1], "qid": [1, 1, 2, 3, 3], "x": [1.5, 2, 3, 4, 5]}
)
ENDINGS = [".parquet", ".csv", ".txt"]


def write(path, frame):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif len(frame):
        dump_letor(frame[["x"]], frame.label, path, qid=frame.qid)
    else:
        path.write_text("")
    return path


@pytest.fixture(params=ENDINGS)
def shards(request, tmp_path):
    """Two of five files with rows, of which the first two and the last have none."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for number, rows in enumerate((0, 0, 3, 0, 2, 0)):
        start = 0 if number < 4 else 3
        write(folder / f"{number}{request.param}", ROWS[start : start + rows])
    return folder


def test_empty_files_among_others(shards):
    read = load_letor if (shards / "0.txt").exists() else load_table
    found = read(shards)
    assert_array_equal(np.ravel(found.data), ROWS.x)
    for n_rows in (1, 3, 100):
        batches = list(iter_batches(shards, batch_rows=n_rows))
        assert_array_equal(np.concatenate([b.data[:, 0] for b in batches]), ROWS.x)
        assert_array_equal(np.concatenate([b.target for b in batches]), ROWS.label)
    (place,) = {found.place(3), batches[-1].place(3)}
    assert place.startswith(f"{shards / '4'}.")


def test_the_command_reads_them(shards, capsys):
    for words in ([], ["--batch-rows", "1"], ["--batch-rows", "0"]):
        code, out, _ = run(capsys, "screen", shards, "--quiet", *words)
        assert code == 0
        assert "5 documents, 3 queries, 1 features" in out


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_document_at_all(tmp_path, ending):
    paths = [write(tmp_path / f"{name}{ending}", ROWS[:0]) for name in "ab"]
    with pytest.raises(ValueError, match=r"a.*b.*: there is no document"):
        iter_batches(paths)
    with pytest.raises(ValueError, match=rf"a\{ending}: there is no document"):
        iter_batches(paths[0])


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_an_empty_file_has_the_columns_of_the_others(tmp_path, ending):
    first = write(tmp_path / f"a{ending}", ROWS)
    other = write(tmp_path / f"b{ending}", ROWS[:0].rename(columns={"x": "y"}))
    with pytest.raises(ValueError, match=r"no column .* has it"):
        iter_batches([first, other])


@pytest.mark.parametrize("kind", ["str", "float", object])
def test_types_of_no_ids_do_not_matter(tmp_path, kind):
    write(tmp_path / "a.parquet", ROWS[:0].astype({"qid": kind}))
    write(tmp_path / "b.parquet", ROWS)
    assert load_table(tmp_path).qid.tolist() == ROWS.qid.tolist()


def test_sizes_of_queries_beside_empty_text(tmp_path):
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "b.txt").write_text("1 1:1\n0 1:2\n0 1:3\n")
    (tmp_path / "b.txt.query").write_text("2\n1\n")
    assert load_letor(tmp_path).qid.tolist() == [0, 0, 1]
    (tmp_path / "a.txt.query").write_text("1\n")
    with pytest.raises(ValueError, match=r"add up to 1, but .* has 0 rows"):
        load_letor(tmp_path)
