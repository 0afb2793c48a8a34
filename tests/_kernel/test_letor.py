"""LETOR text read by the kernel, against float() and the words of a line."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware_sklearn._kernel import engines

digits = st.text("0123456789", max_size=25)
signs = st.sampled_from(["", "+", "-"])


@st.composite
def decimals(draw):
    """Decimal strings, some of which are no numbers."""
    text = draw(signs) + draw(digits)
    if draw(st.booleans()):
        text += "." + draw(digits)
    if draw(st.booleans()):
        power = draw(st.integers(0, 30) | st.integers(0, 400))
        text += draw(st.sampled_from("eE")) + draw(signs) + str(power)
    return text


def halfway(number, n_digits):
    """About the middle between two floats."""
    above = Decimal(math.nextafter(number, math.inf))
    return f"{(Decimal(number) + above) / 2:.{n_digits}e}"


def read(token):
    """What the kernel makes of a token, as a label and as a value."""
    text = f"{token} qid:1 1:{token} 2:{token}# {token}\n{token}".encode("latin-1")
    found = engines.letor.parse(text, np.arange(-1, 2, dtype=np.int32))
    if found is None:
        return None
    values, columns, starts, labels = found
    assert columns.tolist() == [0, 1]
    assert starts.tolist() == [0, 2, 2]
    (bits,) = {x.tobytes() for x in (*values, *labels)}
    return bits


def bits_of(token):
    try:
        return np.float64(float(token.encode("latin-1"))).tobytes()
    except ValueError:
        return None


@settings(max_examples=500)
@given(
    decimals()
    | st.floats().map(repr)
    | st.floats(1e-30, 1e30).map(lambda x: f"{x:.15g}")
    | st.integers(2**53 - 9, 2**53 + 9).map(str)
    | st.builds(halfway, st.floats(1e-6, 1e8), st.integers(14, 18))
)
def test_numbers_have_the_bits_of_float(token):
    if token:  # otherwise there is no label
        assert read(token) == bits_of(token)


@pytest.mark.parametrize(
    "token",
    [
        *("9007199254740993", "9007199254740992e22", "-0", "1e23", "8.5e-23", "1."),
        *("2.2250738585072011e-308", "4.9e-324", "2e-324", "1e400", "-.5e-3", "007"),
        *("179769313486231580793e289", "1" + "0" * 400, "0." + "0" * 1200 + "1e1210"),
        *("1e99999999999999999999", "0e99999999999999999999", "." + "5" * 5000),
        *("12345678901234567890e-1", "18446744073709551616"),
        *("18446744073709551617.0000", "nan", "-nan", "inf", "-Infinity", "+iNf"),
        # what float does not take
        *(".", "+", "-", "e5", "1e", "1e+", "1.e", "--1", "1-", "0x10", "1e5.0", "1:2"),
        *("nan(1)", "infinit", "1,5", "1\0", "\x001", "1\x1f", "1\xa0", "\xb2"),
    ],
)
def test_numbers_that_are_hard_to_read_or_none(token):
    assert read(token) == bits_of(token)


def parse(text, n_columns=3):
    return engines.letor.parse(text.encode(), np.zeros(n_columns, dtype=np.int32))


@pytest.mark.parametrize(
    "features",
    [
        *("1:5 1:6", "2:5 1:6", "3:1", "-1:1", "+1:1", "1", ":1", "1:", "1 :1", "1: 1"),
        *("1:1 qid:1", "0000000001:1", "4294967297:1", "18446744073709551617:1"),
        *("1:1\x002:1", "1:1_0", "1:1 qid"),
    ],
)
def test_features_that_are_not_plain(features):
    assert parse(f"1 qid:1 2:1\n1 qid:1 {features}") is None
    assert parse("1 qidx:1 1:1") is None


def test_numbers_that_are_left_out_are_read_all_the_same():
    column = np.array([-1, 0, -1, 1], dtype=np.int32)
    text = b"2 qid:5 1:1 2:2 3:3\r\n\n# no 1:1\n 0\t0:8\x0b3:4.5 #\r"
    values, columns, starts, labels = engines.letor.parse(text, column)
    assert values.tolist() == [1, 3, 4.5]
    assert columns.tolist() == [0, 1, 1]
    assert starts.tolist() == [0, 2, 3]
    assert labels.tolist() == [2, 0]
    assert engines.letor.parse(b"1 qid:5 2:x", column) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *((text, (0, [], 1, -1)) for text in ("", "\n\n", "# 1:1 qid:1", " \t\r\n#")),
        (
            "1 qid:-7 3:1 9:1 12:1 # 13:1\n\n0 qid:+08 2:x\n1 4:1\n1\n1 qid:9 \n",
            (5, [-7, 8, 9], 1, 12),
        ),
        ("1 qid:3 0:1 999999999:1", (1, [3], 0, 999_999_999)),
    ],
)
def test_first_and_last_feature_of_lines(text, wanted):
    n_rows, ids, *ends = engines.letor.look(text.encode())
    assert (n_rows, ids.tolist(), *ends) == wanted
    if not n_rows:
        assert [part.tolist() for part in parse(text, 1)] == [[], [], [0], []]


@pytest.mark.parametrize(
    "line",
    [
        *("1_0 qid:1 1:1", "1 qid:1 1:1_0 2:1", "1 qid:1234567890123456789 1:1"),
        *("1 qid:", "1 qid:- 1:1", "1 qid:1.5 1:1", "1 qid:1\0 1:1", "1 qid :1"),
        *("1 qid:1 1:1 2", "1 qid:1 x 2:1", "1 qid:1 -1:1", "1 qid:1 4000000000:1"),
        "1 qid:1 1:1 qid:1",
    ],
)
def test_lines_that_are_not_plain(line):
    assert engines.letor.look(line.encode()) is None
