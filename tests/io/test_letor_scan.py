"""LETOR text in batches."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import iter_batches


def test_sizes_of_queries_beside_a_file(tmp_path, web):
    path = tmp_path / "sizes.txt"
    lines = [f"{y:g} 1:{x}" for y, x in zip(web["y"], web["X"][:, 0], strict=True)]
    path.write_text("# a comment\n\n" + "\n".join(lines))
    sizes = np.unique(web["qid"], return_counts=True)[1]
    (tmp_path / "sizes.txt.query").write_text("\n".join(map(str, sizes)))
    batches = list(iter_batches([path, path], batch_rows=25))
    ids = np.concatenate([b.qid for b in batches])
    assert_array_equal(ids, np.repeat(np.arange(60), np.tile(sizes, 2)))
    assert batches[1].place(0) == f"{path}, line {3 + len(batches[0].qid)}"
    with pytest.raises(ValueError, match="query_file must name one file for each path"):
        iter_batches(path, query_file=[path, path])
    (tmp_path / "sizes.txt.query").write_text("3\n")
    with pytest.raises(ValueError, match="add up to"):
        iter_batches(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:5\n1 qid:1 2:x\n", "line 2: a feature must look like"),
        ("1 qid:1 1:5\n\n# x\n1 qid:x 2:1\n", "line 4: qid must be a 64-bit integer"),
        ("1 qid:1 1:5\n1 1:5\n", "line 2: there is no qid:"),
        ("1 qid:1 1:5\n1_0 qid:1 1:5\n", "line 2: the label must be a number"),
        ("1 qid:1 1:5\n1 qid:1 3:5 2:1\n", "line 2: feature numbers must ascend"),
        ("1 qid:1\n0 qid:1\n", "no line holds a feature"),
        ("1 qid:1 1:5\n1 qid:1 4000000000:5\n", "line 2: .* must be below 2.31"),
        ("1 qid:1 1:5\n1 qid:9999999999999999999 1:5\n", "line 2: qid must be a 64-b"),
        ("1 qidx:1 1:5\n", "line 1: a feature must look like .* got 'qidx:1'"),
        ("# nothing\n", "the file holds no documents"),
    ],
)
def test_letor_lines_that_are_wrong(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        list(iter_batches(path))
    # as when read at once
    assert main(["screen", str(path)]) == 1
