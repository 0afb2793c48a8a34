"""Tests of checks of arrays: dtypes, bounds, and values that are warned of."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tieaware_sklearn import evaluate
from tieaware_sklearn._engine import checks
from tieaware_sklearn._engine.exact_numbers import in_32_bits


def test_whole_ids_are_integers():
    for qid in (None, [7, 7], np.array([7, 7])):
        report = evaluate([1, 0], [2, 1], qid=qid)
        assert report.qid.dtype.kind == "i"


def test_scores_of_32_bits_end_somewhere():
    scores = np.array([-np.inf, -1e300, 0.1, 1e300])
    values = in_32_bits(scores)
    assert values.dtype == np.float32
    largest = np.finfo(np.float32).max
    assert values.tolist() == [-np.inf, -largest, np.float32(0.1), largest]


def test_a_share_of_1_is_accepted_on_request():
    checks.check_share(1.0, "keep", up_to_one=True)
    with pytest.raises(ValueError, match=r"keep must .*\(0, 1\), got 1\.0"):
        checks.check_share(1.0, "keep")


def as_object(ids):
    return pd.Series(ids, dtype="object")


def as_str(ids):
    return pd.Series(ids, dtype="str")


def as_category(ids):
    return pd.Series(ids, dtype="category")


def as_string(ids):
    return pd.Series(ids, dtype="string")


def in_two_chunks(ids):
    """Return a column of Arrow in two chunks."""
    middle = len(ids) // 2
    return pa.chunked_array([ids[:middle], ids[middle:]])


def dictionary_in_two_chunks(ids):
    return in_two_chunks(ids).dictionary_encode()


COLUMNS = [as_object, as_str, as_category, as_string]
COLUMNS += [pa.array, in_two_chunks, dictionary_in_two_chunks]


IDS = []
for query in range(40):
    n_documents = query % 4 + 1
    IDS += [f"q{query}é"] * n_documents
RNG = np.random.default_rng(0)
SHUFFLED_IDS = RNG.permutation(IDS).tolist()


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("texts", [IDS, SHUFFLED_IDS], ids=["in order", "shuffled"])
def test_texts_of_libraries_are_numbered_as_in_a_list(column, texts):
    n_rows = len(texts)
    plain = checks.check_qid(np.array(texts, dtype=object), n_rows=n_rows)
    queries = checks.check_qid(column(texts), n_rows=n_rows)
    assert queries.qid.tolist() == plain.qid.tolist()
    assert queries.qid.dtype == object
    assert queries.offsets.tolist() == plain.offsets.tolist()
    assert (plain.order is None) == (texts is IDS)
    np.testing.assert_equal(queries.order, plain.order)


PANDAS_COLUMNS = [
    (["a", None, "b"], "qid must not be missing, got None in row 1"),
    (["a", "b", np.nan], "qid must not be missing, got nan in row 2"),
    ([(1, 2), (np.nan, 1)], r"qid must not be missing, got \(nan, 1\) in row 1"),
    ([[1], [2]], "qid must contain hashable values: .*unhashable type"),
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
    message = f"^y_score of dtype .* contains 0 and .* >= {least}, .* pass -distances"
    with pytest.warns(UserWarning, match=message):
        scores = checks.check_scores(-distance)
    assert scores.argmax() == 2
    # Not warned of: distances without a minus, signed distances, codes, masks,
    # and distances without a 0.
    checks.check_scores(distance)
    checks.check_scores(-distance.astype(int))
    codes = np.arange(256, dtype=np.uint8)
    checks.check_scores(codes)
    mask = distance[[1, 2]] * 255
    checks.check_scores(mask)
    without_0 = -distance[[0, 2, 3]]
    checks.check_scores(without_0)


def test_columns_of_matrices_in_another_order_are_warned_of():
    labels = pd.DataFrame({"a": [1, 0], "b": [0, 1], "c": [0, 0]})
    scores = pd.DataFrame({"a": [9, 1], "b": [2, 8], "c": [1, 3]})
    report = evaluate(labels, scores, measures="rr")
    assert report.expected.tolist() == [[1], [1]]
    turned = scores[["c", "b", "a"]]
    message = r"y_score and y_true have the same columns .*y_score\[y_true.columns\]"
    with pytest.warns(UserWarning, match=message):
        evaluate(labels, turned, measures="rr")
    renamed = turned.set_axis(range(3), axis=1)
    for columns in (turned[labels.columns], turned.to_numpy(), renamed):
        evaluate(labels, columns, measures="rr")
    table = pa.Table.from_pandas(labels)
    turned_table = pa.Table.from_pandas(turned)
    with pytest.warns(UserWarning, match="y_true have the same columns"):
        checks.check_same_order({"y_true": table, "y_score": turned_table})
    checks.check_same_order({"y_true": table, "y_score": table})
