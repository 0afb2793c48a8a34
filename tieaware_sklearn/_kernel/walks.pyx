# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The walk down sorted rows, compiled: it knows rows, labels and tables, no measures.

A walk is an `arranged.Plan`, the sum that a measure needs. A level is the index of a
label among the distinct labels, ascending. The place of a document is its index in its
query.

Queries are ranked in three steps. `pack` writes the scores of a query as a row of
integer keys, which sort as the scores do and end with the places of the documents.
NumPy sorts the rows. `walk` finds the tie groups of each row, and adds up the sums of
the walks. The documents of a query are sorted by level, ascending, so the documents of
a tie are, too. With `split`, they are in input order, and no documents tie.
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

from .rows cimport (
    BEYOND, MAGNITUDE, NAN_KEY, NO_LIMIT, PADDING, Reach, Row, Sorted, as_one_tie,
    end_of_tie, read_row, relevant_of, start_of_tie,
)
from .formulas cimport (
    BEST, CASCADE_ROOM, COUNTED, FIRST, FOUND, MEAN, PRECISIONS, SATISFIED, WEIGHTED,
    Spec, first_spread, numerators, variance,
)

cdef extern from *:
    """
    /* Number of documents by which memory is fetched ahead, because the queries of a
       block are not neighbours in memory. */
    #define AHEAD 64
    #if defined(__GNUC__)
    #define FETCH(address) __builtin_prefetch(address)
    #else
    #define FETCH(address) ((void)(address))
    #endif
    """
    const int AHEAD
    void FETCH(const void* address) noexcept nogil

ctypedef fused Score:
    float
    double

cdef dict KINDS = {
    "weighted": WEIGHTED, "precisions": PRECISIONS, "first": FIRST, "found": FOUND,
    "counted": COUNTED, "satisfied": SATISFIED,
}


# Read an `arranged.Plan`. The pointers are valid as long as its arrays exist.
cdef void read_walk(object walk, Spec* spec) except *:
    cdef const double[::1] gains
    cdef const double[:, ::1] ranks
    (kind, depth, spec.least, gain, tables,
     spec.at_relevant, spec.others, spec.flat, spec.scale, _) = walk
    spec.kind = KINDS[kind]
    spec.depth = NO_LIMIT if depth is None else min(depth, NO_LIMIT)
    if gain is not None:
        gains = gain
        spec.gain = &gains[0]
    if tables is not None:
        ranks = tables
        spec.weight = &ranks[0, 0]
        spec.total = &ranks[1, 0]
        spec.lost = &ranks[2, 0]


def small_codes(const double[::1] labels, int32_t[::1] code):
    """Return the distinct labels, ascending, if all are whole numbers from -1 to 253.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    code : ndarray of shape (n_rows,)
        Output: the level of each label.

    Returns
    -------
    list of int, or None if a label is another number
    """
    # At index label + 1: the level of the label, or -1 if the label does not occur.
    cdef int32_t[256] place
    cdef int64_t i
    cdef int32_t level, n_levels = 0
    cdef bint small = True
    for level in range(256):
        place[level] = -1
    with nogil:
        for i in range(labels.shape[0]):
            small = -1.0 <= labels[i] < 254.0 and <int32_t>labels[i] == labels[i]
            if not small:
                break
            code[i] = <int32_t>labels[i]
            place[code[i] + 1] = 0
    if not small:
        return None
    levels = []
    for level in range(256):
        if place[level] == 0:
            place[level] = n_levels
            n_levels += 1
            levels.append(level - 1)
    # Labels 0, 1, ... are their own levels.
    if levels != list(range(n_levels)):
        with nogil:
            for i in range(labels.shape[0]):
                code[i] = place[code[i] + 1]
    return levels


def relevant(const int32_t[::1] label, const int64_t[::1] offsets, int64_t least,
             int64_t[::1] out):
    """Count the documents of each query with a level of at least `least`.

    Levels ascend within each query.
    """
    cdef int64_t q
    cdef Row row
    with nogil:
        for q in range(offsets.shape[0] - 1):
            row.ascending = &label[offsets[q]]
            row.n_documents = offsets[q + 1] - offsets[q]
            out[q] = relevant_of(&row, least)


# Return the row at a place of the order. Without an order, rows are query by query.
cdef inline int32_t row_at(const int64_t* order, int64_t place) noexcept nogil:
    return <int32_t>(place if order == NULL else order[place])


def arrange(const int32_t[::1] code, const int64_t[::1] order,
            const int64_t[::1] start, const int64_t[::1] offsets, int n_levels,
            int32_t[::1] rows, int32_t[::1] label):
    """Write the rows and levels of some queries, sorted by level within each query.

    This is a counting sort of each query. Each query visits all levels, so the levels
    should be few.

    Parameters
    ----------
    code : ndarray of shape (n_rows,)
        Level of each row.
    order : ndarray of shape (n_rows,), optional
        The rows, query by query. None if all rows are in this order.
    start : ndarray of shape (n_queries,)
        The index in `order` at which the rows of each query begin.
    offsets : ndarray of shape (n_queries + 1,)
        The index in `rows` and `label` at which each query begins.
    n_levels : int
        Number of levels. 0 keeps the rows of each query in input order.
    rows, label : ndarray
        Output: the rows, and their levels.
    """
    cdef int64_t q, i, n, half, base, end
    cdef int level
    cdef const int64_t* place = NULL if order is None else &order[0]
    # The index of the next document of each level, from the first and from the second
    # half of a query. These are two chains of writes that do not wait for each other.
    cdef int64_t[::1] first = np.empty(n_levels + 1, dtype=np.int64)
    cdef int64_t[::1] second = np.empty(n_levels + 1, dtype=np.int64)
    with nogil:
        for q in range(start.shape[0]):
            n = offsets[q + 1] - offsets[q]
            # The levels of the next query are fetched.
            if place != NULL and q + 1 < start.shape[0]:
                for i in range(offsets[q + 2] - offsets[q + 1]):
                    FETCH(&code[place[start[q + 1] + i]])
            if n_levels == 0:
                for i in range(n):
                    rows[offsets[q] + i] = row_at(place, start[q] + i)
                    label[offsets[q] + i] = code[row_at(place, start[q] + i)]
                continue
            half = n // 2
            for level in range(n_levels):
                first[level] = second[level] = 0
            for i in range(start[q], start[q] + half):
                first[code[row_at(place, i)]] += 1
                second[code[row_at(place, i + half)]] += 1
            if n > 2 * half:
                second[code[row_at(place, start[q] + n - 1)]] += 1
            base = offsets[q]
            for level in range(n_levels):
                end = base + first[level] + second[level]
                for i in range(base, end):
                    label[i] = level
                second[level] = base + first[level]
                first[level] = base
                base = end
            for i in range(start[q], start[q] + half):
                level = code[row_at(place, i)]
                rows[first[level]] = row_at(place, i)
                first[level] += 1
                level = code[row_at(place, i + half)]
                rows[second[level]] = row_at(place, i + half)
                second[level] += 1
            if n > 2 * half:
                i = start[q] + n - 1
                rows[second[code[row_at(place, i)]]] = row_at(place, i)


cdef class Keys:
    """Queries ranked by score columns, with a row of integer keys for each ranking.

    `pack` writes the keys. NumPy must sort the rows before other functions read them.

    Attributes
    ----------
    keys : ndarray of shape (n_columns * n_queries, longest)
        Keys, which sort as the scores do and end with the place of the document.
        Padding behind the end of a query sorts last.
    counts : ndarray of shape (n_columns * n_queries, 2)
        Number of retrieved documents, and number of retrieved documents whose score is
        NaN.
    width : int
        Number of bits of a place.
    """

    cdef readonly object keys, counts
    cdef object scores
    cdef int64_t[:, ::1] key
    cdef int32_t[:, ::1] count
    # Whether the keys of a row lack bits of its scores.
    cdef uint8_t[::1] lossy
    cdef const int32_t[::1] document
    cdef const int64_t[::1] offsets
    cdef const double* score
    cdef int64_t n_rows, n_queries
    cdef readonly int width
    cdef double sign

    # Set `at` to row r.
    cdef void read(self, Sorted* at, int64_t r) noexcept nogil:
        cdef int64_t q = r % self.n_queries
        at.key, at.n, at.width = &self.key[r, 0], self.count[r, 0], self.width
        at.low, at.ordered = (<int64_t>1 << self.width) - 1, at.n - self.count[r, 1]
        at.score = NULL
        if self.lossy[r]:
            at.score = self.score + (r // self.n_queries) * self.n_rows
        at.document = &self.document[self.offsets[q]]
        at.sign = self.sign
        at.settled = at.settled_end = 0


def pack(const Score[:, ::1] scores, const int32_t[::1] rows,
         const int64_t[::1] offsets, int64_t longest, *, bint ascending):
    """Write the keys of queries, for each of several score columns.

    Parameters
    ----------
    scores : ndarray of shape (n_columns, n_rows)
        Floats of 64 bits, or of 32 bits if no query has more than 2^29 documents.
    rows, offsets : ndarray
        The rows of query `q` are ``rows[offsets[q]:offsets[q + 1]]``.
    longest : int
        Number of documents of the longest query.
    ascending : bool
        Whether lower scores rank first.

    Returns
    -------
    Keys
        Keys that are not sorted yet.
    """
    cdef int64_t n_queries = offsets.shape[0] - 1, n_keys = scores.shape[0] * n_queries
    cdef int width = max((<object>longest - 1).bit_length(), 1)
    cdef int64_t r, q, i, n, further, bits, seen, low = (<int64_t>1 << width) - 1
    cdef int32_t retrieved, unordered
    cdef double value
    cdef const Score* score
    cdef const int32_t* row
    cdef int64_t* key
    cdef Keys out = Keys.__new__(Keys)
    out.keys = np.empty((n_keys, longest), dtype=np.int64)
    out.counts = np.empty((n_keys, 2), dtype=np.int32)
    out.key, out.count = out.keys, out.counts
    out.lossy = np.empty(n_keys, dtype=np.uint8)
    out.document, out.offsets = rows, offsets
    out.n_rows, out.n_queries, out.width = scores.shape[1], n_queries, width
    out.sign = 1.0 if ascending else -1.0
    # The pointer is valid as long as the array exists.
    out.scores = scores
    if Score is double:
        out.score = &scores[0, 0]
    with nogil:
        for r in range(n_keys):
            q = r % n_queries
            n = offsets[q + 1] - offsets[q]
            score, row = &scores[r // n_queries, 0], &rows[offsets[q]]
            key = &out.key[r, 0]
            retrieved, unordered, seen = <int32_t>n, 0, 0
            further = rows.shape[0] - offsets[q] - AHEAD
            for i in range(n):
                if i < further:
                    FETCH(&score[row[i + AHEAD]])
                value = score[row[i]]
                if value > -INFINITY:
                    # Adding 0.0 turns -0.0 into 0.0.
                    value = out.sign * value + 0.0
                    memcpy(&bits, &value, sizeof(bits))
                    seen |= bits
                    # The bits of floats compare as the floats do, once all bits of
                    # negative floats except the sign are inverted. The lowest bits make
                    # room for the place.
                    key[i] = ((bits ^ ((bits >> 63) & MAGNITUDE)) & ~low) | i
                elif value != value:
                    unordered += 1
                    key[i] = NAN_KEY | i
                else:
                    retrieved -= 1
                    key[i] = BEYOND | i
            for i in range(n, longest):
                key[i] = PADDING
            out.count[r, 0], out.count[r, 1] = retrieved, unordered
            out.lossy[r] = (seen & low) != 0
    return out


cdef class _Room:
    """Memory for a row of up to `longest` documents, and for the walks."""

    cdef Row row
    cdef Spec* specs
    cdef double* scratch
    cdef int n_walks

    def __cinit__(self, list walks, int64_t longest):
        cdef int64_t n = longest + 1, n_scratch = max(2 * n, CASCADE_ROOM)
        cdef size_t size = len(walks) * sizeof(Spec) + n_scratch * sizeof(double)
        cdef int i
        # A single block of memory contains all arrays, one after another.
        self.specs = <Spec*>malloc(size + n * (3 * sizeof(int64_t) + sizeof(int32_t)))
        if self.specs == NULL:
            raise MemoryError()
        self.n_walks = len(walks)
        self.scratch = <double*>(self.specs + self.n_walks)
        self.row.top = <int64_t*>(self.scratch + n_scratch)
        self.row.first = self.row.top + n
        self.row.start = self.row.first + n
        self.row.level = <int32_t*>(self.row.start + n)
        for i in range(self.n_walks):
            read_walk(walks[i], &self.specs[i])

    def __dealloc__(self):
        free(self.specs)

    # Return how far down a row the walks read.
    cdef Reach reach(self):
        cdef Reach reach = Reach(depth=0, least=NO_LIMIT, first_depth=0, first_least=0)
        cdef int i
        cdef const Spec* spec
        for i in range(self.n_walks):
            spec = &self.specs[i]
            if spec.kind == FIRST or spec.kind == FOUND:
                reach.first_depth = max(reach.first_depth, spec.depth)
                reach.first_least = max(reach.first_least, spec.least)
            else:
                reach.depth = max(reach.depth, spec.depth)
                reach.least = min(reach.least, 0 if spec.others else spec.least)
        return reach


def walk(list walks, Keys keys, const int32_t[::1] label, const int32_t[::1] ascending,
         double[:, :, :, ::1] out, *, bint backwards=False, bint split=False):
    """Add up each of the walks down sorted rows, query by query.

    Parameters
    ----------
    walks : list of arranged.Plan
        The caller must have checked the shapes of their arrays. The kernel does not
        check indices.
    keys : Keys
        Keys with sorted rows.
    label, ascending : ndarray of shape (n_rows,)
        Levels, query by query: in the order of places, and ascending. Without `split`,
        both are the same.
    out : ndarray of shape (n_statistics, n_columns, n_queries, n_walks)
        Output: for one statistic, the means; for three, also the values in the best and
        in the worst order; for four, also the standard deviations, or NaN if they are
        left to NumPy. Despite rounding, a mean lies between the best and the worst.
    backwards : bool
        Whether to rank in the reverse order. Documents with a NaN score stay last.
    split : bool
        Whether documents of equal score rank in the order of their places.
    """
    cdef int64_t r, q, column
    cdef const int64_t[::1] offsets = keys.offsets
    cdef int n_statistics = out.shape[0], w
    cdef _Room room = _Room(walks, keys.key.shape[1])
    cdef Row* row = &room.row
    cdef Reach reach = room.reach()
    cdef Sorted at
    cdef const Spec* spec
    cdef double[3] numerator
    cdef int order, n_orders
    with nogil:
        for r in range(keys.key.shape[0]):
            column, q = r // keys.n_queries, r % keys.n_queries
            row.label, row.ascending = &label[offsets[q]], &ascending[offsets[q]]
            row.n_documents = offsets[q + 1] - offsets[q]
            keys.read(&at, r)
            read_row(row, &at, backwards, split, &reach)
            # With as many runs of labels as groups, no tie mixes labels, and all orders
            # are equal.
            n_orders = min(n_statistics, 3) if row.n_runs > row.n_groups else 1
            for w in range(room.n_walks):
                spec = &room.specs[w]
                numerators(row, spec, n_orders, numerator, room.scratch)
                for order in range(min(n_statistics, 3)):
                    out[order, column, q, w] = spec.scale * numerator[order % n_orders]
                if n_statistics > 3:
                    out[3, column, q, w] = 0.0
                    if n_orders > 1:
                        out[3, column, q, w] = spec.scale * sqrt(
                            variance(row, spec, numerator, room.scratch)
                        )


def walk_labels(list walks, const int32_t[::1] label, const int64_t[::1] offsets,
                double[:, :, ::1] out):
    """Add up each walk as if all documents of a query tied: the mean, and the best.

    Parameters
    ----------
    walks : list of arranged.Plan
        As in `walk`.
    label : ndarray of shape (n_rows,)
        Levels, query by query, ascending within each query.
    offsets : ndarray of shape (n_queries + 1,)
        The index in `label` at which each query begins.
    out : ndarray of shape (2, n_queries, n_walks)
        Output: the means, and the values in the best order.
    """
    cdef int64_t q, longest = 0
    cdef int w
    for q in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    cdef _Room room = _Room(walks, longest)
    cdef Row* row = &room.row
    cdef double[2] numerator
    with nogil:
        for q in range(offsets.shape[0] - 1):
            row.ascending = &label[offsets[q]]
            row.n_documents = offsets[q + 1] - offsets[q]
            as_one_tie(row)
            for w in range(room.n_walks):
                numerators(row, &room.specs[w], 2, numerator, room.scratch)
                out[0, q, w] = room.specs[w].scale * numerator[MEAN]
                out[1, q, w] = room.specs[w].scale * numerator[BEST]


def tie_groups(Keys keys, int64_t column, const int32_t[::1] label,
               int64_t[::1] n_groups, int64_t[::1] start, int32_t[::1] levels, *,
               bint backwards=False, bint split=False):
    """Write the tie groups of the sorted rows of one score column, row after row.

    Parameters
    ----------
    keys, label, backwards, split
        As in `walk`.
    column : int
        Index of the score column.
    n_groups : ndarray of shape (n_queries,)
        Output: the number of groups of each query.
    start : ndarray of shape (n_retrieved,)
        Output: the index in `levels` at which each group starts. Only the first
        elements are written, one for each group.
    levels : ndarray of shape (n_retrieved,)
        Output: the levels of the documents in rank order, ascending within groups.

    Returns
    -------
    int
        The number of groups of all queries.
    """
    cdef int64_t r, q, g, run, i, above = 0, total = 0
    cdef _Room room = _Room([], keys.key.shape[1])
    cdef Row* row = &room.row
    cdef Reach reach = Reach(depth=NO_LIMIT, least=0, first_depth=0, first_least=0)
    cdef Sorted at
    with nogil:
        for q in range(keys.n_queries):
            r = column * keys.n_queries + q
            row.label = row.ascending = &label[keys.offsets[q]]
            row.n_documents = keys.offsets[q + 1] - keys.offsets[q]
            keys.read(&at, r)
            read_row(row, &at, backwards, split, &reach)
            n_groups[q] = row.n_groups
            for g in range(row.n_groups):
                start[total] = above + row.top[g]
                total += 1
            for run in range(row.n_runs):
                for i in range(row.start[run], row.start[run + 1]):
                    levels[above + i] = row.level[run]
            above += at.n
    return total


def midranks(Keys keys, double[:, :] out, *, bint backwards=False):
    """Write twice the midrank of each document, centred on 0 in each query.

    Parameters
    ----------
    keys, backwards
        As in `walk`. All documents must be retrieved.
    out : ndarray of shape (n_rows, n_columns)
        Output: whole numbers, query by query, in the order of places.
    """
    cdef int64_t r, q, a, b, i, top, column, document
    cdef Sorted at
    with nogil:
        for r in range(keys.key.shape[0]):
            column, q = r // keys.n_queries, r % keys.n_queries
            keys.read(&at, r)
            a = 0
            while a < at.n:
                b = end_of_tie(&at, a)
                top = at.ordered - b if backwards and a < at.ordered else a
                for i in range(a, b):
                    document = keys.offsets[q] + (at.key[i] & at.low)
                    out[document, column] = 2 * top + (b - a) - at.n
                a = b


def spread_within_ties(list walks, Keys keys, const int32_t[::1] ascending,
                       const double[:, :, ::1] sums, const double[::1] log_factorial,
                       double[:, ::1] out, *, bint backwards=False):
    """Add `Measure.spread_within_ties` of each walk to the output.

    Parameters
    ----------
    walks, keys, ascending, backwards
        As in `walk`.
    sums : ndarray of shape (2, n_walks, n_ranks + 1)
        Running sums of the worths of ranks and of their squares, down to the cut-off.
    log_factorial : ndarray of shape (longest + 1,)
        Logarithms of 0!, 1!, ...
    out : ndarray of shape (n_columns * n_queries, n_walks)
        Output, which is added to: Σ (w - w̄)² within ties, where w is the worth of a
        rank. For walks to the first relevant document, the variance over the orders of
        ties, averaged over all placements of the labels.
    """
    cdef int64_t r, q, a, b, w, rank, high, depth = sums.shape[2] - 1
    cdef _Room room = _Room(walks, keys.key.shape[1])
    cdef Row* row = &room.row
    cdef const Spec* spec
    cdef Sorted at
    cdef double total
    with nogil:
        for r in range(keys.key.shape[0]):
            keys.read(&at, r)
            q = r % keys.n_queries
            row.ascending = &ascending[keys.offsets[q]]
            row.n_documents = keys.offsets[q + 1] - keys.offsets[q]
            rank = 0
            while rank < min(at.n, depth):
                if backwards and rank < at.ordered:
                    b = at.ordered - rank
                    a = start_of_tie(&at, b)
                else:
                    a = rank
                    b = end_of_tie(&at, a)
                high = min(rank + b - a, depth)
                for w in range(room.n_walks if b - a > 1 else 0):
                    spec = &room.specs[w]
                    if spec.kind != FIRST and spec.kind != FOUND:
                        total = sums[0, w, high] - sums[0, w, rank]
                        out[r, w] -= total * total / (b - a)
                        out[r, w] += sums[1, w, high] - sums[1, w, rank]
                    elif rank < spec.depth:
                        out[r, w] += first_spread(
                            spec, &log_factorial[0], row.n_documents,
                            relevant_of(row, spec.least), rank, b - a, room.scratch,
                        )
                rank += b - a


cdef int by_value(const void* one, const void* other) noexcept nogil:
    cdef double a = (<const double*>one)[0], b = (<const double*>other)[0]
    return (a > b) - (a < b)


cdef struct Tail:
    # The distribution of the value below a group: ascending values, and for each value
    # v the chance P(value <= v). The last chance is 1.
    int64_t n
    double* value
    double* below


# Return how many of the values are at most `least`.
cdef inline int64_t up_to(const Tail* tail, double least) noexcept nogil:
    cdef int64_t low = 0, high = tail.n, middle
    while low < high:
        middle = (low + high) >> 1
        if tail.value[middle] <= least:
            low = middle + 1
        else:
            high = middle
    return low


# Write the moments of the value from each relevant document of a group on, and the
# distribution of the value from its first relevant document on. The group has n
# documents, r of them relevant. The formulas are the formulas of
# `measures._interpolated`. `row` is memory for four numbers of each relevant document:
# the number of places at which its precision is above a value, the ways to place the
# later relevant documents so that none is above the value, and the chance that no
# document from this one on is above the value, within the group and in the whole list.
cdef inline void add_tie(int64_t top, int64_t n, int64_t r, int64_t above,
                         const Tail* tail, Tail* new, double* choose,
                         double* distinct, double[:, ::1] row,
                         double[:, ::1] out) noexcept nogil:
    cdef int64_t i, j, m, d, side = n + 1, n_distinct = 1, a = 0, b
    cdef double value, ways, last, chance, off
    value = max((above + r) / <double>(top + n), tail.value[0])
    distinct[0] = value
    for i in range(r):
        for j in range(n - r + 1):
            distinct[n_distinct] = (above + i + 1) / <double>(top + i + 1 + j)
            n_distinct += distinct[n_distinct] > value
        row[0, i], row[3, i] = n, 0.0
        out[0, above + i] = out[1, above + i] = 0.0
    qsort(distinct, n_distinct, sizeof(double), by_value)
    for m in range(side):
        choose[m] = 1.0
    for m in range(side, (r + 1) * side):
        choose[m] = choose[m - side] * max(m % side - m // side + 1, 0) / (m // side)
    b = up_to(tail, value) - 1
    new.n = 0
    while True:
        if value == distinct[a]:
            # `last` adds up the chances that document i, at one of d places, is the
            # last document above the value.
            last = 0.0
            for i in range(r - 1, -1, -1):
                d = <int64_t>row[0, i]
                while d > 0 and not (above + i + 1) / <double>(top + d) > value:
                    d -= 1
                ways = 0.0
                if d > i:
                    for j in range(i + 1, r):
                        m = <int64_t>row[0, j] - d
                        ways += choose[(j - i) * side + m] * row[1, j]
                    ways = choose[(r - i - 1) * side + n - d] - ways
                row[0, i], row[1, i] = d, ways
                last += max(ways, 0.0) * choose[(i + 1) * side + d] / choose[r * side + n]
                row[2, i] = min(max(1.0 - last, 0.0), 1.0)
        for i in range(r):
            chance = row[2, i] * tail.below[b] - row[3, i]
            row[3, i] = row[2, i] * tail.below[b]
            if row[3, i] > 0.0:
                off = value - out[0, above + i]
                out[0, above + i] += off * (chance / row[3, i])
                out[1, above + i] += chance * off * (value - out[0, above + i])
        new.value[new.n], new.below[new.n] = value, row[3, 0]
        new.n += 1
        if row[3, 0] >= 1.0:
            break
        while a + 1 < n_distinct and distinct[a] <= value:
            a += 1
        if b + 1 < tail.n and not value < distinct[a] <= tail.value[b + 1]:
            b += 1
            value = tail.value[b]
        else:
            b += b + 1 < tail.n and tail.value[b + 1] == distinct[a]
            value = distinct[a]
    for i in range(r):
        out[1, above + i] = max(out[1, above + i], 0.0)


def interpolated(const int64_t[:, :] ties, double[:, ::1] out):
    """Write the moments of the largest precision from each relevant document on.

    Parameters
    ----------
    ties : ndarray of shape (4, n_groups)
        The groups of a query with relevant documents, from the top. The rows are the
        number of documents above each group, the number of its documents, the number of
        its relevant documents, and the number of relevant documents above the group.
    out : ndarray of shape (2, n_relevant)
        Output: means and variances.
    """
    cdef int64_t g, i, n, r, values = 1, most = 2, binomials = 4, relevant = 1
    cdef Tail[2] tails
    cdef int at = 0
    for g in range(ties.shape[1]):
        n, r = ties[1, g], ties[2, g]
        if r < n:
            most = max(most, r * (n - r + 1) + 2)
            values += r * (n - r + 1) + 1
            binomials, relevant = max(binomials, (r + 1) * (n + 1)), max(relevant, r)
    cdef double[:, ::1] room = np.empty((4, values + 1)), row = np.empty((4, relevant))
    cdef double[::1] distinct = np.empty(most), choose = np.empty(binomials)
    tails[0].n, tails[0].value, tails[0].below = 1, &room[0, 0], &room[1, 0]
    tails[1].n, tails[1].value, tails[1].below = 0, &room[2, 0], &room[3, 0]
    room[0, 0], room[1, 0] = 0.0, 1.0
    with nogil:
        for g in range(ties.shape[1] - 1, -1, -1):
            n, r = ties[1, g], ties[2, g]
            # The order of a group of relevant documents only does not matter, so its
            # documents are groups of their own.
            for i in range(n - 1 if r == n else 0, -1, -1):
                add_tie(
                    ties[0, g] + i, 1 if r == n else n, 1 if r == n else r,
                    ties[3, g] + i, &tails[at], &tails[1 - at], &choose[0],
                    &distinct[0], row, out,
                )
                at = 1 - at
