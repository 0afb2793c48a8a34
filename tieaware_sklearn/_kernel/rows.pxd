"""Sorted rows of keys, and how their tie groups are read off."""

from libc.stdint cimport int32_t, int64_t

cdef extern from *:
    """
    /* keys of scores that are not a number, of documents not retrieved, of padding */
    #define NAN_KEY INT64_C(0x7FF8000000000000)
    #define BEYOND INT64_C(0x7FFC000000000000)
    #define PADDING INT64_C(0x7FFE000000000000)
    #define MAGNITUDE INT64_C(0x7FFFFFFFFFFFFFFF)
    /* no list is longer */
    #define NO_LIMIT INT64_C(0x4000000000000000)
    """
    const int64_t NAN_KEY, BEYOND, PADDING, MAGNITUDE, NO_LIMIT


cdef struct Row:
    # tie groups: ranks where they start, and the first of their runs
    int64_t n_groups
    int64_t* top
    int64_t* first
    # runs of a label within groups: level, and the rank where they start
    int64_t n_runs
    int32_t* level
    int64_t* start
    # levels of all documents of the query, by their place, and ascending
    const int32_t* label
    const int32_t* ascending
    int64_t n_documents


cdef struct Reach:
    # down to this rank, or until all documents from this level on have been seen
    int64_t depth
    int64_t least
    # and down to this rank, or until a document from this level on has been seen
    int64_t first_depth
    int64_t first_least


# Documents of the query from this level on.
cdef inline int64_t relevant_of(const Row* row, int64_t least) noexcept nogil:
    cdef int64_t low = 0, high = row.n_documents, middle
    while low < high:
        middle = (low + high) >> 1
        if row.ascending[middle] < least:
            low = middle + 1
        else:
            high = middle
    return row.n_documents - low


cdef struct Sorted:
    # a sorted row of keys
    int64_t* key
    int64_t n
    # those up to here have a score
    int64_t ordered
    int64_t low
    int width
    # the scores that they stand for, times -1 or 1; NULL where keys hold all of them
    const double* score
    const int32_t* document
    double sign
    # keys from `settled` up to `settled_end` are sorted by score, too
    int64_t settled
    int64_t settled_end


cdef inline double score_of(const Sorted* at, int64_t key) noexcept nogil:
    return at.sign * at.score[at.document[key & at.low]]


cdef inline bint comes_after(const Sorted* at, int64_t one,
                             int64_t other) noexcept nogil:
    cdef double a = score_of(at, one), b = score_of(at, other)
    return a > b or (a == b and one > other)


# A heap sort of keys by the scores of their documents.
cdef inline void sort_by_score(const Sorted* at, int64_t* key,
                               int64_t n) noexcept nogil:
    cdef int64_t end = n, root = n >> 1, place, child, moved
    while end > 1:
        if root > 0:
            root -= 1
            moved = key[root]
        else:
            end -= 1
            moved = key[end]
            key[end] = key[0]
        place = root
        child = 2 * place + 1
        while child < end:
            if child + 1 < end and comes_after(at, key[child + 1], key[child]):
                child += 1
            if not comes_after(at, key[child], moved):
                break
            key[place] = key[child]
            place = child
            child = 2 * place + 1
        key[place] = moved


# Whether neighbours tie, i < j; keys that look alike are sorted by score first.
cdef inline bint ties(Sorted* at, int64_t i, int64_t j) noexcept nogil:
    cdef int64_t a, b
    if (at.key[i] ^ at.key[j]) >> at.width:
        return False
    if at.score == NULL or at.key[i] >= NAN_KEY:
        return True
    if score_of(at, at.key[i]) == score_of(at, at.key[j]):
        return True
    if i >= at.settled and j < at.settled_end:
        return False
    a, b = i, j + 1
    while a > 0 and not ((at.key[a - 1] ^ at.key[i]) >> at.width):
        a -= 1
    while b < at.n and not ((at.key[b] ^ at.key[i]) >> at.width):
        b += 1
    sort_by_score(at, at.key + a, b - a)
    at.settled, at.settled_end = a, b
    return score_of(at, at.key[i]) == score_of(at, at.key[j])


# The end of the tie that begins at `a`.
cdef inline int64_t end_of_tie(Sorted* at, int64_t a) noexcept nogil:
    cdef int64_t b = a + 1
    while b < at.n and ties(at, b - 1, b):
        b += 1
    # documents may have been sorted by score on the way
    while b > a + 1 and not ties(at, a, b - 1):
        b -= 1
    return b


# The start of the tie that ends before `b`.
cdef inline int64_t start_of_tie(Sorted* at, int64_t b) noexcept nogil:
    cdef int64_t a = b - 1
    while a > 0 and ties(at, a - 1, a):
        a -= 1
    while a < b - 1 and not ties(at, a, b - 1):
        a += 1
    return a


# Find the tie groups of a sorted row; with `split`, none of its documents tie.
# What has no score comes last in both directions.
cdef inline void read_row(Row* row, Sorted* at, bint backwards, bint split,
                          const Reach* reach) noexcept nogil:
    cdef int64_t rank = 0, i, a, b, n_groups = 0, n_runs = 0, n = at.n
    cdef int64_t seen = 0, seen_first = 0, relevant = relevant_of(row, reach.least)
    cdef int32_t level, last
    while rank < n:
        if ((rank >= reach.depth or seen >= relevant)
                and (rank >= reach.first_depth or seen_first > 0)):
            break
        # documents a, ..., b - 1 of the sorted row tie
        if backwards and rank < at.ordered:
            b = at.ordered - rank
            a = start_of_tie(at, b)
        else:
            a = rank
            b = a + 1
            if b < n and ties(at, a, b):
                b = end_of_tie(at, a)
        last = -1
        for i in range(a, b):
            level = row.label[at.key[i] & at.low]
            if last == -1 or split:
                row.top[n_groups] = rank + i - a
                row.first[n_groups] = n_runs
                n_groups += 1
                last = -1
            if level != last:
                row.level[n_runs] = level
                row.start[n_runs] = rank + i - a
                n_runs += 1
                last = level
            seen += level >= reach.least
            seen_first += level >= reach.first_least
        rank += b - a
    row.n_groups, row.n_runs = n_groups, n_runs
    row.top[n_groups] = rank
    row.first[n_groups] = n_runs
    row.start[n_runs] = rank


# Where the run of a label that starts at `start` ends, by steps that double.
cdef inline int64_t end_of_run(const int32_t* ascending, int64_t start,
                               int64_t n) noexcept nogil:
    cdef int64_t low = start, step = 1, high, middle
    while low + step < n and ascending[low + step] == ascending[start]:
        low += step
        step *= 2
    high = min(low + step, n)
    while high - low > 1:
        middle = (low + high) >> 1
        if ascending[middle] == ascending[start]:
            low = middle
        else:
            high = middle
    return high


# All documents of the query in one group.
cdef inline void as_one_tie(Row* row) noexcept nogil:
    cdef int64_t i = 0, n_runs = 0
    while i < row.n_documents:
        row.level[n_runs] = row.ascending[i]
        row.start[n_runs] = i
        n_runs += 1
        i = end_of_run(row.ascending, i, row.n_documents)
    row.n_groups, row.n_runs = 1, n_runs
    row.top[0], row.first[0] = 0, 0
    row.top[1], row.first[1] = row.n_documents, n_runs
    row.start[n_runs] = row.n_documents
