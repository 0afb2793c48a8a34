"""What checks keep, and what they say: bounds, dtypes and values at the edges."""

from operator import methodcaller

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tieaware_sklearn import evaluate
from tieaware_sklearn._engine import checks
from tieaware_sklearn._engine.exact_numbers import in_32_bits


def test_whole_ids_are_integers():
    for qid in (None, [7, 7], np.array([7, 7])):
        assert evaluate([1, 0], [2, 1], qid=qid).qid.dtype.kind == "i"


def test_scores_of_32_bits_end_somewhere():
    values = in_32_bits(np.array([-np.inf, -1e300, 0.1, 1e300]))
    assert values.dtype == np.float32
    largest = np.finfo(np.float32).max
    assert values.tolist() == [-np.inf, -largest, np.float32(0.1), largest]


def test_a_share_may_be_all_of_it_where_that_is_a_share():
    checks.check_share(1.0, "keep", up_to_one=True)
    with pytest.raises(ValueError, match=r"keep must .*\(0, 1\), got 1\.0"):
        checks.check_share(1.0, "keep")


def halves(ids):
    """A column of Arrow in two chunks."""
    return pa.chunked_array([ids[: len(ids) // 2], ids[len(ids) // 2 :]])


@pytest.mark.parametrize("column", [
    *map(methodcaller, ["astype"] * 4, ["object", "str", "category", "string"]),
    pa.array,
    halves,
    lambda ids: halves(ids).dictionary_encode(),
])  # fmt: skip
@pytest.mark.parametrize("shuffled", [False, True])
def test_texts_of_libraries_are_numbered_as_in_a_list(column, shuffled):
    ids = [f"q{i}é" for i in range(40) for _ in range(i % 4 + 1)]
    if shuffled:
        ids = np.random.default_rng(0).permutation(ids).tolist()
    plain = checks.check_qid(np.array(ids, dtype=object), n_rows=len(ids))
    queries = checks.check_qid(column(pd.Series(ids)), n_rows=len(ids))
    assert queries.qid.tolist() == plain.qid.tolist()
    assert queries.qid.dtype == object
    assert queries.offsets.tolist() == plain.offsets.tolist()
    assert (queries.order is None) == (plain.order is None) == (not shuffled)
    if shuffled:
        assert queries.order.tolist() == plain.order.tolist()


PANDAS_COLUMNS = [
    (["a", None, "b"], "qid must not be missing, got None in row 1"),
    (["a", "b", np.nan], "qid must not be missing, got nan in row 2"),
    ([(1, 2), (np.nan, 1)], r"qid must not be missing, got \(nan, 1\) in row 1"),
    ([[1], [2]], "qid must hold hashable values: unhashable type"),
    (["a", ""], "qid must not be empty, got '' in row 1"),
]


@pytest.mark.parametrize(("ids", "message"), PANDAS_COLUMNS)
def test_columns_of_pandas_are_checked_as_lists_are(ids, message):
    for column in (ids, pd.Series(ids, dtype=object)):
        with pytest.raises(ValueError, match=message):
            checks.check_qid(column, n_rows=len(ids))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_unsigned_distances_with_a_minus_are_warned_of(dtype):
    distance = np.array([3, 0, 1, 2], dtype=dtype)
    least = 2 ** np.iinfo(dtype).bits - 3
    message = f"^y_score of dtype .* is 0, or {least} and more, .* signed first"
    with pytest.warns(UserWarning, match=message):
        assert checks.check_scores(-distance).argmax() == 2
    # signed ones, levels of a code, masks, and distances without a 0
    signed, codes = -distance.astype(int), np.arange(256, dtype=np.uint8)
    unsuspected = distance, distance[[1, 2]] * 255, -distance[[0, 2, 3]]
    for scores in (signed, codes, *unsuspected):
        checks.check_scores(scores)


def test_columns_of_matrices_in_another_order_are_warned_of():
    labels = pd.DataFrame([[1, 0, 0], [0, 1, 0]], columns=[*"abc"])
    scores = pd.DataFrame([[9, 2, 1], [1, 8, 3]], columns=[*"abc"])
    assert evaluate(labels, scores, measures="rr").expected.tolist() == [[1], [1]]
    turned = scores[[*"cba"]]
    message = (
        r"y_score has the columns of y_true in another .*y_score\[y_true.columns\]"
    )
    with pytest.warns(UserWarning, match=message):
        evaluate(labels, turned, measures="rr")
    renamed = turned.set_axis(range(3), axis=1)
    for columns in (turned[labels.columns], turned.to_numpy(), renamed):
        evaluate(labels, columns, measures="rr")
    tables = pa.Table.from_pandas(labels), pa.Table.from_pandas(turned)
    with pytest.warns(UserWarning, match="has the columns of y_true in another order"):
        checks.check_same_order(dict(zip(("y_true", "y_score"), tables, strict=True)))
    checks.check_same_order({"y_true": tables[0], "y_score": tables[0]})
