# cython: cdivision=True
"""Formulas of measures for a row that has been read: a short function for each.

The formulas are those of `tieaware_sklearn.measures`, where their sources stand.
"""

from libc.math cimport NAN, ceil, exp, log
from libc.stdint cimport int64_t

from .rows cimport NO_LIMIT, Row, relevant_of

cdef extern from *:
    """
    /* chances up to here change no p-value */
    #define NEGLIGIBLE 1e-13
    /* a user who goes on with such a chance does not */
    #define NOTHING 1e-18
    """
    const double NEGLIGIBLE, NOTHING

cdef enum:
    #: A tie is added up place by place if so many times more documents are above the
    #: tie than in its places above the cut-off.
    DEEP = 1024
    DEEP_SPREAD = 64
    #: cascades go down so far, and their variances; numbers that they need room for
    CASCADE = 1024
    SPREAD = 64
    CASCADE_ROOM = 4 * (CASCADE + 1) + 2 * (SPREAD + 1) * (SPREAD + 1)

#: what a walk adds up: gains weighted by rank, precisions at relevant documents, 1 over
#: the rank of the first relevant one, whether there is one, relevant documents, 1 over
#: the rank of the document that satisfies a user
cdef enum Kind:
    WEIGHTED
    PRECISIONS
    FIRST
    FOUND
    COUNTED
    SATISFIED


cdef struct Spec:
    int kind
    # down to this rank, and from this level on a document is relevant
    int64_t depth
    int64_t least
    # the cut-off is the number of relevant documents; the others are counted
    int at_relevant
    int others
    # every rank weighs the same
    int flat
    # what one document counts
    double scale
    const double* gain
    # of ranks: weights, their sums from the top, and what these lost
    const double* weight
    const double* total
    const double* lost


cdef struct Sum:
    double high
    double low


# Knuth's two-sum: what the addition loses is added up, too.
cdef inline void add(Sum* total, double term) noexcept nogil:
    cdef double after = total.high + term
    cdef double part = after - total.high
    total.low += (total.high - (after - part)) + (term - part)
    total.high = after


# The sum of a table from `low` up to `high`, right to the last bits.
cdef inline double between(const double* total, const double* lost, int64_t low,
                           int64_t high) noexcept nogil:
    return (total[high] - total[low]) + (lost[high] - lost[low])


# Relevant documents of a group, whose levels ascend.
cdef inline int64_t relevant_in(const Row* row, int64_t g,
                                int64_t least) noexcept nogil:
    cdef int64_t run = row.first[g + 1]
    while run > row.first[g] and row.level[run - 1] >= least:
        run -= 1
    return row.top[g + 1] - row.start[run]


#: orders of a tie: all of them, the larger gains first, or last
cdef enum:
    MEAN
    BEST
    WORST

# Mean gain of a group, between the least and the largest of its gains.
cdef inline double mean_gain(const Row* row, const Spec* spec, int64_t g,
                             double* summed) noexcept nogil:
    cdef Sum gains = Sum(0.0, 0.0)
    cdef int64_t run, n = row.top[g + 1] - row.top[g]
    cdef double least, most, mean
    for run in range(row.first[g], row.first[g + 1]):
        add(&gains, spec.gain[row.level[run]] * (row.start[run + 1] - row.start[run]))
    summed[0] = gains.high + gains.low
    mean = summed[0] / n
    least = spec.gain[row.level[row.first[g]]]
    most = spec.gain[row.level[row.first[g + 1] - 1]]
    return least if mean < least else most if mean > most else mean


cdef struct Stretch:
    # ranks of one gain, one after another
    double gain
    int64_t low
    int64_t high


cdef inline void end_stretch(Sum* total, const Stretch* at,
                             const Spec* spec) noexcept nogil:
    if at.gain != 0.0 and at.high > at.low:
        if at.high - at.low == 1:
            add(total, at.gain * spec.weight[at.low])
        else:
            add(total, at.gain * between(spec.total, spec.lost, at.low, at.high))


# Further ranks: what is perfect is added up as the ideal, a stretch at a time.
cdef inline void extend(Sum* total, Stretch* at, double gain, int64_t low, int64_t high,
                        const Spec* spec) noexcept nogil:
    if gain != at.gain:
        end_stretch(total, at, spec)
        at.gain, at.low = gain, low
    at.high = high


# Each place down to the cut-off holds the mean gain of its group.
cdef inline double weighted(const Row* row, const Spec* spec,
                            int order) noexcept nogil:
    cdef Sum total = Sum(0.0, 0.0)
    cdef Stretch at = Stretch(0.0, 0, 0)
    cdef int64_t g, run, low, high, top, end, first, last
    cdef double mean, summed
    for g in range(row.n_groups):
        top, end = row.top[g], row.top[g + 1]
        if top >= spec.depth:
            break
        first, last = row.first[g], row.first[g + 1]
        if last - first == 1:
            mean = spec.gain[row.level[first]]
            extend(&total, &at, mean, top, min(end, spec.depth), spec)
        elif order == MEAN:
            mean = mean_gain(row, spec, g, &summed)
            if spec.flat and end <= spec.depth:
                # a group that is whole adds its sum, not n times the mean
                end_stretch(&total, &at, spec)
                at.gain = 0.0
                add(&total, summed * spec.weight[0])
            else:
                extend(&total, &at, mean, top, min(end, spec.depth), spec)
        else:
            low = top
            for run in range(first, last):
                if order == BEST:
                    run = first + last - 1 - run
                high = low + row.start[run + 1] - row.start[run]
                if low < spec.depth:
                    extend(&total, &at, spec.gain[row.level[run]], low,
                           min(high, spec.depth), spec)
                low = high
    end_stretch(&total, &at, spec)
    return total.high + total.low


# Groups are samples without replacement.
# S² [Σ (w - w̄)² + (n - inside) w̄²] of each.
cdef inline double weighted_variance(const Row* row, const Spec* spec) noexcept nogil:
    cdef Sum squares, spread, total = Sum(0.0, 0.0)
    cdef int64_t g, run, i, top, n, inside
    cdef double mean, summed, deviation, weight
    for g in range(row.n_groups):
        top, n = row.top[g], row.top[g + 1] - row.top[g]
        if top >= spec.depth:
            break
        if row.first[g + 1] - row.first[g] == 1:
            continue
        mean = mean_gain(row, spec, g, &summed)
        squares.high = squares.low = 0.0
        for run in range(row.first[g], row.first[g + 1]):
            deviation = spec.gain[row.level[run]] - mean
            add(&squares, deviation * deviation * (row.start[run + 1] - row.start[run]))
        if squares.high == 0.0:
            continue
        inside = min(n, spec.depth - top)
        mean = between(spec.total, spec.lost, top, top + inside) / n
        spread.high = spread.low = 0.0
        for i in range(top, top + inside):
            deviation = spec.weight[i] - mean
            add(&spread, deviation * deviation)
        weight = spread.high + spread.low + (n - inside) * mean * mean
        add(&total, (squares.high + squares.low) / (n - 1) * weight)
    return total.high + total.low


# The part of AP's numerator of a tie of n documents, r of them relevant.
cdef inline double precisions_of(const Spec* spec, int64_t above, int64_t r, int64_t n,
                                 int64_t top, int64_t inside) noexcept nogil:
    cdef double slope, weights
    cdef int64_t j
    cdef Sum total = Sum(0.0, 0.0)
    if n == 1:
        return (above + 1.0) / (top + 1)
    slope = <double>(r - 1) / (n - 1)
    if top > DEEP * inside:
        # the closed form is a difference of much larger numbers
        for j in range(inside):
            add(&total, (above + 1 + j * slope) / (top + 1 + j))
        return <double>r / n * (total.high + total.low)
    weights = between(spec.total, spec.lost, top, top + inside)
    return <double>r / n * (inside * slope + (above + 1 - slope * (top + 1)) * weights)


# Σ of the precisions at relevant documents, by the first of the orders.
cdef inline void precisions(const Row* row, const Spec* spec, int n_orders,
                            double* values) noexcept nogil:
    cdef Sum[3] total
    cdef int64_t g, r, n, top, low, above = 0
    cdef int order
    cdef double term
    for order in range(n_orders):
        total[order].high = total[order].low = 0.0
    if row.top[row.n_groups] == row.n_groups:
        # nothing ties, and which documents are relevant cannot be foreseen
        for g in range(min(row.n_groups, spec.depth)):
            r = row.level[g] >= spec.least
            above += r
            add(&total[MEAN], r * (<double>above / (g + 1)))
        for order in range(n_orders):
            values[order] = total[MEAN].high + total[MEAN].low
        return
    for g in range(row.n_groups):
        top = row.top[g]
        if top >= spec.depth:
            break
        r = relevant_in(row, g, spec.least)
        if r == 0:
            continue
        n = row.top[g + 1] - top
        term = precisions_of(spec, above, r, n, top, min(n, spec.depth - top))
        add(&total[MEAN], term)
        for order in range(1, n_orders):
            if r < n:
                low = top if order == BEST else top + n - r
                if low >= spec.depth:
                    continue
                term = precisions_of(spec, above, r, r, low, min(r, spec.depth - low))
            add(&total[order], term)
        above += r
    for order in range(n_orders):
        values[order] = total[order].high + total[order].low


# Hoeffding's decomposition of a sum over pairs, group by group.
# As `_SumOverPairs.numerator_variance`, with a_j = (above + 1) u_j, u_j = 1/rank.
cdef inline double precisions_variance(const Row* row, const Spec* spec, double* shared,
                                       double* rho) noexcept nogil:
    cdef Sum part, squares, running, spread, total = Sum(0.0, 0.0)
    cdef int64_t g, r, top, inside, j, above = 0, end
    cdef double n, relevant, other, slope, mean, deviation, places, pairs, chance, later
    for g in range(row.n_groups):
        top = row.top[g]
        if top >= spec.depth:
            break
        r = relevant_in(row, g, spec.least)
        inside = row.top[g + 1] - top
        if r == 0 or r == inside:
            above += r
            continue
        n, relevant = inside, r
        other = n - relevant
        inside = min(inside, spec.depth - top)
        end = top + inside
        slope = (relevant - 1) / max(n - 2, 1)
        if inside == n and top > DEEP_SPREAD * inside:
            # neither part changes if those of the last place are left out
            for j in range(inside):
                shared[j] = (inside - 1 - j) / ((top + 1.0 + j) * end)
            running.high = running.low = 0.0
            for j in range(inside - 1, -1, -1):
                rho[j] = j * shared[j] + (running.high + running.low)
                add(&running, shared[j])
        else:
            for j in range(inside):
                shared[j] = spec.weight[top + j]
                later = between(spec.total, spec.lost, top + 1 + j, end)
                rho[j] = j * shared[j] + later
        # 0 where r or n - r is 1: there are no pairs to choose
        chance = (relevant / n) * ((relevant - 1) / (n - 1))
        chance *= (other / max(n - 2, 1)) * ((other - 1) / max(n - 3, 1))
        pairs = 0.0
        part.high = part.low = 0.0
        for j in range(inside):
            add(&part, (above + 1) * shared[j] + rho[j] * slope)
        mean = (part.high + part.low) / n
        spread.high = spread.low = 0.0
        for j in range(inside):
            deviation = (above + 1) * shared[j] + rho[j] * slope - mean
            add(&spread, deviation * deviation)
        places = spread.high + spread.low + (n - inside) * mean * mean
        places *= relevant * other / (n * (n - 1))
        if chance > 0.0:
            part.high = part.low = squares.high = squares.low = 0.0
            running.high = running.low = 0.0
            for j in range(inside):
                add(&running, j * shared[j] * shared[j])
                add(&squares, rho[j] * rho[j])
                add(&part, rho[j])
            later = part.high + part.low
            pairs = running.high + running.low
            pairs -= (squares.high + squares.low) / max(n - 2, 1)
            pairs += later * later / max(2 * (n - 1) * (n - 2), 1)
        add(&total, places + chance * max(pairs, 0.0))
        above += r
    return total.high + total.low


# The first group that holds a relevant document, -1 for none above the cut-off.
cdef inline int64_t first_relevant(const Row* row, const Spec* spec,
                                   int64_t* r) noexcept nogil:
    cdef int64_t g
    for g in range(row.n_groups):
        if row.top[g] >= spec.depth:
            return -1
        r[0] = relevant_in(row, g, spec.least)
        if r[0] > 0:
            return g
    return -1


# 1 over the rank of the first relevant document, or whether there is one.
# At place x of a tie of n documents, r of them relevant, it stands with chance
# p_1 = r/n, p_{x+1} = p_x (n - r - x + 1)/(n - x).
cdef inline double first(const Row* row, const Spec* spec, int order) noexcept nogil:
    cdef int64_t r = 0, g = first_relevant(row, spec, &r), n, top, x
    cdef double missed = 1.0
    cdef Sum total = Sum(0.0, 0.0)
    if g < 0:
        return 0.0
    top, n = row.top[g], row.top[g + 1] - row.top[g]
    if order != MEAN or n == r:
        if order == WORST:
            top += n - r
        if top >= spec.depth:
            return 0.0
        return 1.0 if spec.kind == FOUND else 1.0 / (top + 1)
    for x in range(places_to_first(spec, n, r, top)):
        add(&total, missed * r / (n - x) / (top + 1 + x))
        missed *= <double>(n - r - x) / (n - x)
    if spec.kind == FIRST:
        return total.high + total.low
    return 1.0 - missed if missed > 1e-17 else 1.0


# Places that the first relevant document may have, but for hopeless ones.
cdef inline int64_t places_to_first(const Spec* spec, int64_t n, int64_t r,
                                    int64_t top) noexcept nogil:
    cdef int64_t places = min(min(n, spec.depth - top), n - r + 1)
    return min(places, <int64_t>(41.5 * n / r) + 1)


# The variance of the same.
cdef inline double first_variance(const Row* row, const Spec* spec,
                                  double mean) noexcept nogil:
    cdef int64_t r = 0, g = first_relevant(row, spec, &r), n, top, x
    cdef double missed = 1.0, deviation
    cdef Sum total = Sum(0.0, 0.0)
    if g < 0:
        return 0.0
    top, n = row.top[g], row.top[g + 1] - row.top[g]
    if n == r:
        return 0.0
    for x in range(places_to_first(spec, n, r, top)):
        deviation = 1.0 / (top + 1 + x) - mean
        add(&total, missed * r / (n - x) * (deviation * deviation))
        missed *= <double>(n - r - x) / (n - x)
    if spec.kind == FOUND:
        return 0.0 if missed <= 1e-17 else missed * (1.0 - missed)
    add(&total, missed * (mean * mean))
    return total.high + total.low


cdef inline double log_binomial(const double* log_factorial, int64_t n,
                                int64_t k) noexcept nogil:
    return log_factorial[n] - log_factorial[k] - log_factorial[n - k]


# The mean variance of the same within one tie, r labels at random on n documents.
# With c of them in the tie of m documents, and none above it, `missed` is the chance
# that none stands above the cut-off, and the mean h(c) is 1 - missed or, as
# 1/x = (1 + (1 - x)/x)/1 in sums of binomials, h(c) (top + m - c + 1) =
# 1 - missed + h(c + 1) c (m - c)/(c + 1).
cdef inline double first_spread(const Spec* spec, const double* log_factorial,
                                int64_t n, int64_t r, int64_t top, int64_t m,
                                double* chance) noexcept nogil:
    cdef int64_t below = n - top - m, inside = min(m, spec.depth - top), c, x, likely
    cdef int64_t low = max(1, r - below), high = min(m, r), least, most
    cdef double* missed = &chance[high + 1]
    cdef double first, share, mean = 0.0, total = 0.0
    if low > high:
        return 0.0
    # the chance that none is above the tie
    first = log_binomial(log_factorial, n - top, r) - log_binomial(log_factorial, n, r)
    first = exp(first)
    share = 1.0 if spec.kind == FOUND else 1.0 / (top + 1)
    if first * share * share < NEGLIGIBLE:
        return 0.0
    # and that the most likely number is in it, from which others follow
    likely = min(max((m + 1) * (r + 1) // (n - top + 2), low), high)
    share = log_binomial(log_factorial, m, likely) - log_binomial(log_factorial, n, r)
    share += log_binomial(log_factorial, below, r - likely)
    chance[likely] = exp(share)
    least = most = likely
    while least > low and chance[least] > NEGLIGIBLE:
        share = <double>least * (below - r + least)
        share /= <double>(m - least + 1) * (r - least + 1)
        chance[least - 1] = chance[least] * share
        least -= 1
    while most < high and chance[most] > NEGLIGIBLE:
        share = <double>(m - most) * (r - most)
        share /= <double>(most + 1) * (below - r + most + 1)
        chance[most + 1] = chance[most] * share
        most += 1
    missed[0] = 1.0
    for c in range(most):
        missed[c + 1] = missed[c] * max(m - inside - c, 0) / (m - c)
    # the first of all stands at each place with this chance
    first *= <double>r / (n - top)
    for x in range(min(inside, n - r - top + 1)):
        share = 1.0 if spec.kind == FOUND else 1.0 / (top + 1 + x)
        total += first * (share * share)
        first *= <double>(n - r - top - x) / max(n - 1 - top - x, 1)
        if first < NEGLIGIBLE:
            break
    if spec.kind == FIRST:
        # and the first of the most that are in the tie with this one
        first = <double>most / m
        for x in range(min(inside, m - most + 1)):
            mean += first / (top + 1 + x)
            first *= <double>(m - most - x) / max(m - 1 - x, 1)
            if first < NEGLIGIBLE:
                break
    for c in range(most, least - 1, -1):
        if spec.kind == FOUND:
            mean = 1.0 - missed[c]
        elif c < most:
            mean = 1.0 - missed[c] + mean * (c * (m - c)) / (c + 1)
            mean /= top + m - c + 1
        total -= chance[c] * (mean * mean)
    return max(total, 0.0)


cdef inline int64_t depth_of(const Row* row, const Spec* spec) noexcept nogil:
    return relevant_of(row, spec.least) if spec.at_relevant else spec.depth


# Relevant documents, or the others, down to the cut-off.
cdef inline double counted(const Row* row, const Spec* spec,
                           int order) noexcept nogil:
    cdef int64_t depth = depth_of(row, spec), g, n, r, inside, hits, whole = 0
    for g in range(row.n_groups):
        if row.top[g] >= depth:
            break
        n = row.top[g + 1] - row.top[g]
        r = relevant_in(row, g, spec.least)
        inside = min(n, depth - row.top[g])
        if order == MEAN and inside < n:
            return whole + <double>(n - r if spec.others else r) * inside / n
        hits = max(inside - (n - r), 0) if order == WORST else min(r, inside)
        whole += inside - hits if spec.others else hits
    return whole


# Hypergeometric, of the one group that the cut-off splits.
cdef inline double counted_variance(const Row* row, const Spec* spec) noexcept nogil:
    cdef int64_t depth = depth_of(row, spec), g
    cdef double n, share, inside
    for g in range(row.n_groups):
        if row.top[g] >= depth:
            break
        if row.top[g + 1] > depth:
            n = row.top[g + 1] - row.top[g]
            share = relevant_in(row, g, spec.least) / n
            inside = (depth - row.top[g]) / n
            return share * (1 - share) * inside * (1 - inside) * n * n / max(n - 1, 1.0)
    return 0.0


cdef inline int64_t size_of(const Row* row, int64_t run) noexcept nogil:
    return row.start[run + 1] - row.start[run]


# Whether documents of a group differ in gain.
cdef inline bint mixes(const Row* row, const Spec* spec, int64_t g) noexcept nogil:
    return (spec.gain[row.level[row.first[g]]]
            < spec.gain[row.level[row.first[g + 1] - 1]])


# Places of a mixed group that count: E[P_x] is at most (1 - mean gain)^x.
cdef inline int64_t places_passed(const Row* row, const Spec* spec,
                                  int64_t g) noexcept nogil:
    cdef int64_t n = row.top[g + 1] - row.top[g]
    cdef int64_t inside = min(n, spec.depth - row.top[g])
    cdef double summed, hopeless, go_on = 1.0 - mean_gain(row, spec, g, &summed)
    if go_on <= 0.0:
        return min(inside, 1)
    if go_on >= 1.0:
        return inside
    hopeless = ceil(log(NOTHING) / log(go_on))
    return inside if hopeless >= inside else <int64_t>hopeless


# E[L_x], the mean chance to stop at one of the first x = 0 ... width of a group.
# Runs A and B merge as E^{AB}_x = Σ_j Hyp(j; x, |A|, |B|) (E^A_{x-j} +
# (1 - E^A_{x-j}) E^B_j), and the hypergeometric chances of x + 1 documents come from
# those of x. Nothing is subtracted from 1 that is near it.
cdef inline double* chances_to_stop(const Row* row, const Spec* spec, int64_t g,
                                    int64_t width, double* scratch) noexcept nogil:
    cdef double* stopped = scratch
    cdef double* merged = scratch + width + 1
    cdef double* chance = scratch + 2 * (width + 1)
    cdef double* alone = scratch + 3 * (width + 1)
    cdef int64_t run, x, j, a = 0, b
    cdef double gain, before, total, left
    for run in range(row.first[g], row.first[g + 1]):
        gain, b = spec.gain[row.level[run]], size_of(row, run)
        alone[0], chance[0] = 0.0, 1.0
        for x in range(1, min(b, width) + 1):
            alone[x], chance[x] = gain + (1.0 - gain) * alone[x - 1], 0.0
        if a == 0:
            stopped, alone, a = alone, stopped, b
            continue
        for x in range(min(a + b, width) + 1):
            total, left = 0.0, 1.0 / max(a + b - x, 1)
            for j in range(min(b, min(x + 1, width)), 0, -1):
                # of j - 1, until now
                if x - j >= 0 and x - j <= a:
                    before = stopped[x - j]
                    total += chance[j] * (before + (1.0 - before) * alone[j])
                    chance[j] *= (a - (x - j)) * left
                chance[j] += chance[j - 1] * ((b - j + 1) * left)
            if x <= a:
                total += chance[0] * stopped[x]
            chance[0] *= max(a - x, 0) * left
            merged[x] = total
        stopped, merged, a = merged, stopped, a + b
    return stopped


# Of the chance to stop at one of the first x places of a group, in the sum of
# (L_x - L_{x-1}) / (top + x) over `width` of them.
cdef inline double weight_of(int64_t top, int64_t x, int64_t width) noexcept nogil:
    cdef double rank = top + x
    return 1.0 / (rank * (rank + 1.0)) if x < width else 1.0 / rank


# 1 over the rank of the document that satisfies the user, who stops there.
cdef inline double satisfied(const Row* row, const Spec* spec, int order,
                             double* scratch) noexcept nogil:
    cdef int64_t g, run, at, x, top, width
    cdef double reached = 1.0, gain
    cdef double* stopped
    cdef Sum total = Sum(0.0, 0.0)
    for g in range(row.n_groups):
        top = row.top[g]
        if top >= spec.depth or reached <= NOTHING:
            break
        if order == MEAN and mixes(row, spec, g):
            width = places_passed(row, spec, g)
            stopped = chances_to_stop(row, spec, g, width, scratch)
            for x in range(1, width + 1):
                add(&total, reached * stopped[x] * weight_of(top, x, width))
            reached *= 1.0 - stopped[width]
            continue
        for run in range(row.first[g], row.first[g + 1]):
            # the larger gains stand last
            at = run if order == WORST else row.first[g] + row.first[g + 1] - 1 - run
            gain = spec.gain[row.level[at]]
            for x in range(top, min(top + size_of(row, at), spec.depth)):
                if gain == 0.0 or reached <= NOTHING:
                    break
                add(&total, reached * gain / (x + 1))
                reached *= 1.0 - gain
            top += size_of(row, at)
    return total.high + total.low


# The variance of what the first `width` places of a mixed group add. For the mean gain
# m, P_x = 1 - L_x is (1 - m)^x times its value for gains (gain - m)/(1 - m), and for
# these nothing cancels. A run of b documents joins a others, k of which stand among the
# first k + j: E[L_x L_y] with j of the run comes from that with j - 1, as the last of
# them is among the first x of y with chance x/y.
cdef inline double passing_variance(const Row* row, const Spec* spec, int64_t g,
                                    int64_t width, double* product) noexcept nogil:
    cdef int64_t side = width + 1, n = row.top[g + 1] - row.top[g]
    cdef int64_t run, x, y, k, j, a = 0, b
    cdef double[SPREAD + 1] mean, none, both, first, weight
    cdef double summed, gain, go_on, chance, last, above, outside
    cdef double* binomial = product + side * side
    cdef double* fewer
    cdef double typical = mean_gain(row, spec, g, &summed)
    cdef double passing = max(1.0 - typical, NOTHING), power = 1.0
    cdef Sum total = Sum(0.0, 0.0)
    for y in range(side):
        binomial[y * side] = binomial[y * side + y] = 1.0
        for x in range(1, y):
            fewer = binomial + (y - 1) * side + x
            binomial[y * side + x] = fewer[0] + fewer[-1]
    for run in range(row.first[g], row.first[g + 1]):
        gain = (spec.gain[row.level[run]] - typical) / passing
        go_on, b = 1.0 - gain, size_of(row, run)
        if a == 0:
            mean[0] = 0.0
            for y in range(1, side):
                mean[y] = gain + go_on * mean[y - 1]
            for y in range(side):
                for x in range(y + 1):
                    product[y * side + x] = mean[x] * mean[y] * binomial[y * side + x]
            a = b
            continue
        none[0] = 1.0
        for k in range(width):
            none[k + 1] = none[k] * max(a - k, 0) / max(a + b - k, 1)
        for k in range(width, -1, -1):
            chance, last = none[k], mean[k]
            for x in range(side):
                both[x] = first[x] = 0.0
            for x in range(k + 1):
                both[x] = product[k * side + x]
                first[x] = mean[x] * binomial[k * side + x]
                product[k * side + x] *= chance
            mean[k] *= chance
            for j in range(1, min(b, width - k) + 1 if k <= a else 1):
                y = k + j
                chance *= <double>((b - j + 1) * y) / (j * (a + b - y + 1))
                last = gain + go_on * last
                outside, fewer = 0.0, binomial + (y - 1) * side - 1
                for x in range(y, 0, -1):
                    above = go_on * both[x - 1] + gain * first[x - 1]
                    both[x] = gain * last * fewer[x] + go_on * above + outside
                    first[x] += gain * fewer[x] + go_on * first[x - 1]
                    product[y * side + x] += chance * both[x]
                    outside = above
                mean[y] += chance * last
        a += b
    for x in range(1, side):
        power *= passing
        # no order changes what passes a whole group
        weight[x] = power * weight_of(row.top[g], x, width) if x < n else 0.0
    for y in range(1, side):
        for x in range(1, y + 1):
            above = product[y * side + x] / binomial[y * side + x] - mean[x] * mean[y]
            add(&total, (1 + (x < y)) * weight[x] * weight[y] * above)
    return max(total.high + total.low, 0.0)


# A sum over groups; NaN where too many places count for the exact value.
cdef inline double satisfied_variance(const Row* row, const Spec* spec,
                                      double* scratch) noexcept nogil:
    cdef int64_t g, run, x, width
    cdef double reached = 1.0
    cdef Sum total = Sum(0.0, 0.0)
    for g in range(row.n_groups):
        if row.top[g] >= spec.depth or reached <= NOTHING:
            break
        if mixes(row, spec, g):
            width = places_passed(row, spec, g)
            if width > SPREAD:
                return NAN
            add(&total, reached * reached * passing_variance(row, spec, g, width, scratch))
        for run in range(row.first[g], row.first[g + 1]):
            for x in range(size_of(row, run) if spec.gain[row.level[run]] > 0.0 else 0):
                reached *= 1.0 - spec.gain[row.level[run]]
    return total.high + total.low


# Mean, best and worst, or the first of them; none beyond the mean in floats.
cdef inline void numerators(const Row* row, const Spec* spec, int n_orders,
                            double* values, double* scratch) noexcept nogil:
    cdef int order
    if spec.kind == PRECISIONS:
        precisions(row, spec, n_orders, values)
    for order in range(n_orders):
        if spec.kind == WEIGHTED:
            values[order] = weighted(row, spec, order)
        elif spec.kind == COUNTED:
            values[order] = counted(row, spec, order)
        elif spec.kind == SATISFIED:
            values[order] = satisfied(row, spec, order, scratch)
        elif spec.kind != PRECISIONS:
            values[order] = first(row, spec, order)
        # fewer of the others are better
        if (values[order] < values[MEAN]) == ((order == BEST) != spec.others):
            values[order] = values[MEAN]


# From mean, best and worst; NaN leaves it to NumPy.
cdef inline double variance(const Row* row, const Spec* spec, const double* values,
                            double* scratch) noexcept nogil:
    if spec.kind == WEIGHTED:
        return weighted_variance(row, spec)
    if spec.kind == PRECISIONS:
        return precisions_variance(row, spec, scratch, scratch + row.n_documents)
    if spec.kind == COUNTED:
        return counted_variance(row, spec)
    if spec.kind == SATISFIED:
        return satisfied_variance(row, spec, scratch)
    return first_variance(row, spec, values[MEAN])
