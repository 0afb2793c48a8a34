# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""LETOR text as arrays, in one pass over its bytes.

Only plain text is read: lines of ASCII tokens in the form of the format, with feature
numbers of at most nine digits. Of anything else the functions return None, and the
reader in Python, which takes the same text for the same arrays, decides what it is and
words the errors.
"""

import numpy as np

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memchr, memcmp

cdef extern from "Python.h":
    double PyOS_string_to_double(const char*, char**, PyObject*) except? -1.0

cdef extern from *:
    """
    #include <float.h>
    /* whether arithmetic rounds to doubles at once, or only when they are stored */
    #ifdef FLT_EVAL_METHOD
    #define ROUNDS_ONCE (FLT_EVAL_METHOD == 0)
    #else
    #define ROUNDS_ONCE 0
    #endif
    #ifdef _MSC_VER
    #if defined(_M_X64) || defined(_M_ARM64)
    #undef ROUNDS_ONCE
    #define ROUNDS_ONCE 1
    #endif
    #endif
    #include <stdint.h>
    #include <string.h>
    /* Digits times a power of ten, both exact in 64 bits: their product or quotient
       rounds to 64 bits and then to 53, which is right unless the first lies halfway. */
    static int by_64_bits(uint64_t digits, int exponent, double *value) {
    #if defined(__x86_64__) && LDBL_MANT_DIG == 64
        static const long double tens[] = {
            1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L, 1e9L, 1e10L, 1e11L,
            1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L,
            1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
        long double wide = (long double)digits;
        uint64_t bits;
        if (exponent < -27 || exponent > 27) return 0;
        wide = exponent < 0 ? wide / tens[-exponent] : wide * tens[exponent];
        memcpy(&bits, &wide, sizeof bits);
        *value = (double)wide;
        return (bits & 0x7FF) != 0x400;
    #else
        return 0;
    #endif
    }
    """
    const bint ROUNDS_ONCE
    bint by_64_bits(uint64_t digits, int exponent, double* value) noexcept

# all whole numbers up to here are doubles
cdef uint64_t EXACT = <uint64_t>1 << 53
# one more digit fits into 64 bits
cdef uint64_t FULL = 10**18
# the powers of ten that are doubles
cdef double[23] TENS = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
    1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]


# ASCII white space, as bytes.split() has it.
cdef inline bint is_white(char c) noexcept:
    return c == 32 or 9 <= c <= 13


cdef inline bint is_digit(char c) noexcept:
    return 48 <= c <= 57


cdef inline const char* after_white(const char* at, const char* stop) noexcept:
    while at < stop and is_white(at[0]):
        at += 1
    return at


cdef inline const char* after_token(const char* at, const char* stop) noexcept:
    while at < stop and not is_white(at[0]):
        at += 1
    return at


# The first c, or the stop.
cdef inline const char* find(const char* at, char c, const char* stop) noexcept:
    cdef const char* first = <const char*>memchr(at, c, stop - at)
    return stop if first == NULL else first


# The end of a feature's number and its colon; NULL if it is not plain.
cdef inline const char* feature_number(
    const char* at, const char* stop, int64_t* number
) noexcept:
    cdef const char* first = at
    number[0] = 0
    while at < stop and is_digit(at[0]) and at - first < 9:
        number[0] = 10 * number[0] + at[0] - 48
        at += 1
    if at == first or at == stop or at[0] != b":":
        return NULL
    return at + 1


# The end of a query id of at most 18 digits; NULL if it is another token.
cdef inline const char* query_number(
    const char* at, const char* stop, int64_t* number
) noexcept:
    cdef bint negative = at < stop and at[0] == b"-"
    cdef const char* first
    if at < stop and (at[0] == b"-" or at[0] == b"+"):
        at += 1
    first = at
    number[0] = 0
    while at < stop and is_digit(at[0]) and at - first < 18:
        number[0] = 10 * number[0] + at[0] - 48
        at += 1
    if at == first or (at < stop and not is_white(at[0])):
        return NULL
    if negative:
        number[0] = -number[0]
    return at


# The end of a token that float() takes for a number; NULL if it does not.
cdef const char* number_of_python(
    const char* at, const char* stop, double* value
) except? NULL:
    cdef const char* end = after_token(at, stop)
    cdef char* read = NULL
    if at == end:
        return NULL
    try:
        value[0] = PyOS_string_to_double(at, &read, NULL)
    except ValueError:
        return NULL
    return end if read == end else NULL


# The end of a token that is a number, read to the bits of float(); else NULL.
# Where the digits are a whole number that is a double, and the power of ten is one,
# too, their product or quotient is rounded once, and so correctly: Clinger (1990),
# "How to read floating point numbers accurately". Many others are so in 64 bits, where
# processors have these. Python reads the rest.
cdef inline const char* real_number(
    const char* at, const char* stop, double* value
) except? NULL:
    cdef const char* p = at
    cdef uint64_t digits = 0
    cdef int exponent = 0, power = 0
    cdef bint negative = at < stop and at[0] == b"-", below = False
    cdef bint any_digit = False, full = False
    if p < stop and (p[0] == b"-" or p[0] == b"+"):
        p += 1
    while p < stop and is_digit(p[0]):
        full |= digits >= FULL
        digits = 10 * digits + <uint64_t>(p[0] - 48)
        any_digit = True
        p += 1
    if p < stop and p[0] == b".":
        p += 1
        while p < stop and is_digit(p[0]):
            full |= digits >= FULL or exponent <= -1000
            if full:
                break
            digits = 10 * digits + <uint64_t>(p[0] - 48)
            exponent -= 1
            any_digit = True
            p += 1
    if not full and any_digit and p < stop and (p[0] == b"e" or p[0] == b"E"):
        p += 1
        below = p < stop and p[0] == b"-"
        if p < stop and (p[0] == b"-" or p[0] == b"+"):
            p += 1
        any_digit = False
        while p < stop and is_digit(p[0]):
            full |= power >= 1000
            if full:
                break
            power = 10 * power + p[0] - 48
            any_digit = True
            p += 1
        exponent += -power if below else power
    if not any_digit or full or not (p == stop or is_white(p[0])):
        return number_of_python(at, stop, value)
    if ROUNDS_ONCE and digits <= EXACT and -22 <= exponent <= 22:
        value[0] = <double>digits
        if exponent < 0:
            value[0] /= TENS[-exponent]
        else:
            value[0] *= TENS[exponent]
    elif not by_64_bits(digits, exponent, value):
        return number_of_python(at, stop, value)
    if negative:
        value[0] = -value[0]
    return p


def look(bytes text):
    """Queries and features of some lines; of a line, its first and last feature only.

    Parameters
    ----------
    text : bytes
        Whole lines.

    Returns
    -------
    tuple, or None if the text is not plain
        The number of rows; the query ids, int64, of those that have one; the smallest
        and the largest feature number, 1 and -1 if there are none.
    """
    cdef const char* at = text
    cdef const char* end = at + len(text)
    cdef const char* line_end
    cdef const char* stop
    cdef int64_t n_rows = 0, n_ids = 0, smallest = 1, largest = -1, number
    cdef int64_t[::1] ids = np.empty(text.count(b"\n") + 1, dtype=np.int64)
    while at < end:
        line_end = find(at, b"\n", end)
        stop = find(at, b"#", line_end)
        # Python reads underscores in numbers, which the reader refuses
        if find(at, b"_", stop) != stop:
            return None
        at = after_white(at, stop)
        if at < stop:
            n_rows += 1
            at = after_white(after_token(at, stop), stop)
            if stop - at >= 4 and memcmp(at, b"qid:", 4) == 0:
                at = query_number(at + 4, stop, &ids[n_ids])
                if at == NULL:
                    return None
                n_ids += 1
                at = after_white(at, stop)
            if at < stop:
                if feature_number(at, stop, &number) == NULL:
                    return None
                smallest = min(smallest, number)
                while is_white((stop - 1)[0]):
                    stop -= 1
                at = stop
                while not is_white((at - 1)[0]):
                    at -= 1
                if feature_number(at, stop, &number) == NULL:
                    return None
                largest = max(largest, number)
        at = line_end + 1
    return n_rows, np.asarray(ids)[:n_ids].copy(), smallest, largest


def parse(bytes text, const int32_t[::1] column):
    """Labels and features of some lines.

    Parameters
    ----------
    text : bytes
        Whole lines.
    column : ndarray of shape (width,)
        The column of each feature number, ascending; -1 for those to leave out.

    Returns
    -------
    tuple of ndarray, or None if the text is not plain
        The values that are there, float64; their columns, int32; of shape
        (n_rows + 1,), where the values of rows begin and end, int32; the labels,
        float64, of shape (n_rows,).
    """
    if len(text) >= 2**31:
        return None
    cdef const char* at = text
    cdef const char* end = at + len(text)
    cdef const char* line_end
    cdef const char* stop
    cdef int64_t n_rows = 0, n_values = 0, width = column.shape[0], number, last
    n_lines, n_colons = text.count(b"\n") + 1, text.count(b":")
    cdef double[::1] label = np.empty(n_lines)
    cdef int32_t[::1] start = np.empty(n_lines + 1, dtype=np.int32)
    # one more than there can be, for those that are left out
    cdef double[::1] value = np.empty(n_colons + 1)
    cdef int32_t[::1] place = np.empty(n_colons + 1, dtype=np.int32)
    start[0] = 0
    while at < end:
        line_end = find(at, b"\n", end)
        stop = find(at, b"#", line_end)
        at = after_white(at, stop)
        if at < stop:
            at = real_number(at, stop, &label[n_rows])
            if at == NULL:
                return None
            at = after_white(at, stop)
            if stop - at >= 4 and memcmp(at, b"qid:", 4) == 0:
                at = after_white(after_token(at, stop), stop)
            last = -1
            while at < stop:
                at = feature_number(at, stop, &number)
                if at == NULL or number <= last or number >= width:
                    return None
                last = number
                at = real_number(at, stop, &value[n_values])
                if at == NULL:
                    return None
                place[n_values] = column[number]
                n_values += place[n_values] >= 0
                at = after_white(at, stop)
            n_rows += 1
            start[n_rows] = <int32_t>n_values
        at = line_end + 1
    # copies, as long as what is in them
    return (
        np.asarray(value)[:n_values].copy(),
        np.asarray(place)[:n_values].copy(),
        np.asarray(start)[: n_rows + 1].copy(),
        np.asarray(label)[:n_rows].copy(),
    )
