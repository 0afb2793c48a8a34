"""Tables and sentences about comparisons of systems and of orderings.

A `comparison` is a `SystemComparison`. The annotations do not name the class, because
the module of the class imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display import words
from .._display.text_tables import Table
from .._typing import BoolArray, FloatArray, IntArray
from ..evaluation import Summary
from ..evaluation import _text as _rankings
from ..statistics.averages import largest_values, weighted_mean, without_rounding
from ..statistics.tie_orders import VARYING, share_with_sign, shares_significant

#: Name of the default treatment of ties.
EXPECTED = "expected"
#: Name of the treatment of ties for values without information on ties.
GIVEN = "given"
#: Treatments that texts do not name.
_UNNAMED = (EXPECTED, GIVEN)
#: Meanings of the treatments of ties.
_TREATMENTS = {
    EXPECTED: "exact mean over all orders of tied documents",
    "best": "most favourable order of ties",
    "worst": "least favourable order of ties",
    "input": "ties in the order of rows",
}
#: Names of the tests in texts.
_TESTS = {
    "t": "paired t test",
    "welch": "Welch's t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomization": "Fisher's randomisation test",
    "bootstrap": "bootstrap of medians",
}
#: Meanings of differences, by average.
_DIFFERENCES = {
    "macro": words.meaning("A - B"),
    "geometric": "geometric mean of A divided by that of B",
    "median": "median of A minus median of B",
}
#: Maximum number of systems, and largest number of rows of pairs, for which all pairs
#: are printed.
_FEW_SYSTEMS, _FEW_PAIRS = 3, 15
#: Maximum number of pairs for which each pair has a sentence.
_TOLD_PAIRS = 3
#: Minimum number of queries in each segment for a test of equal differences.
LEAST_OF_SEGMENT = 20

Tables = list[Table]
#: Heads of columns with the values of each column, and functions that format a value.
Columns = list[tuple[Any, ...]]

_short_interval = partial(words.bracketed, digits=3)
_whole_number = partial(words.number, digits=0)


def letters(order: IntArray) -> NDArray[np.object_]:
    """Return the letter of each system: "a" for the first system of `order`, and so on.

    If there are more than 52 systems, numbers replace letters. The package ranx uses
    the same letters, as superscripts of the means.
    """
    names = list(ascii_letters)
    if len(order) > len(names):
        names = [str(i + 1) for i in range(len(order))]
    return np.array(names, dtype=object)[np.argsort(order)]


def runs(letters_in_order: NDArray[np.object_], chosen: BoolArray) -> str:
    """Spell the chosen letters, with three or more in a row written as ``b-d``."""
    places = np.flatnonzero(chosen)
    breaks = np.flatnonzero(np.diff(places) > 1) + 1
    parts = []
    for run in np.split(places, breaks):
        names = letters_in_order[run].tolist()
        if len(names) > 2:
            names = [f"{names[0]}-{names[-1]}"]
        parts += names
    # Numbers in place of letters need a separator.
    separator = "," if len(chosen) > len(ascii_letters) else ""
    return separator.join(parts)


def _head_of_pvalues(comparison: Any, rows: Any) -> str:
    """Return the head of p-values of pairs: the correction, if there is any.

    A single row for each measure and treatment of ties needs no correction.
    """
    if comparison.correction is None or len(rows) <= len(comparison):
        return "pvalue"
    return comparison.correction


def _name_of_pvalues(comparison: Any) -> str:
    """Return the name that sentences use for the p-values that decide."""
    head = _head_of_pvalues(comparison, comparison.pairs)
    return "p" if head == "pvalue" else "corrected p"


def level(comparison: Any, sign: str = "<=") -> str:
    """State which p-values are significant, or with ``>`` which are not."""
    name = _name_of_pvalues(comparison)
    return f"{name} {sign} {1 - comparison.confidence:g}"


def _head_of_differences(comparison: Any) -> str:
    return "A / B" if comparison.average == "geometric" else "A - B"


def _pair_table(
    columns: dict[str, Any],
    *figures: tuple[Any, ...],
    drop: Sequence[str] = (),
    **options: Any,
) -> Table:
    """Return a table of figures of pairs, after the keys that vary, A and B.

    A text that is too narrow omits the columns with the heads in `drop`, in this order.
    """
    names: Columns = []
    for key in ("segment", "measure", "ties"):
        if key in columns and (key == "segment" or len(set(columns[key])) > 1):
            names.append((key, columns[key]))
    names += [("A", columns["a"]), ("B", columns["b"])]
    heads = [head for head, *_ in (*names, *figures)]
    options["drop"] = [heads.index(head) for head in drop if head in heads]
    return Table.of(*names, *figures, left=len(names), **options)


def _treatments(ties: Sequence[str]) -> dict[str, str]:
    """Return the meanings of treatments of ties, unless the only one has no name."""
    meanings: dict[str, str] = {}
    if len(ties) == 1 and ties[0] in _UNNAMED:
        return meanings
    for name in ties:
        meanings[name] = _TREATMENTS.get(name, f"ties broken by the rule {name}")
    return meanings


def _named_treatment(ties: Sequence[str]) -> list[str]:
    """Note the only treatment of ties, if it has a name."""
    if len(ties) > 1 or ties[0] in _UNNAMED:
        return []
    return [f"ties: {ties[0]}"]


def tables(comparison: Any) -> Tables:
    """Return the tables that are printed."""
    n = len(comparison.pairs)
    if len(comparison.systems) <= _FEW_SYSTEMS:
        return systems_and_pairs(comparison)
    if n <= _FEW_PAIRS:
        return [*overview(comparison), systems_and_pairs(comparison)[-1]]
    note = f"{n} differences of pairs: see to_pandas() or --csv"
    return overview(comparison, *_scope_of_pvalues(comparison), note)


def tables_of_page(comparison: Any) -> Tables:
    """Return the tables of a page: all systems, pairs and segments."""
    systems, *pairs = systems_and_pairs(comparison)
    # A comparison of up to three systems has no overview.
    tables = overview(comparison) or [systems]
    if comparison._segments is not None:
        tables += comparison._segments._framed("by_segment()")
    tables += _table_of_needed_queries(comparison)
    settings = f"{_TESTS[comparison.test]}, {comparison.alternative}"
    settings += f", {len(comparison.expected)} queries"
    for table in pairs:
        table = replace(table, notes=[settings, *table.notes], is_detail=True)
        tables.append(table)
    return tables


def _table_of_needed_queries(comparison: Any) -> Tables:
    """Return a table of the queries that would show differences of 1, 2 and 5%."""
    n_pairs = len(comparison.pairs)
    if comparison.qid is None or comparison.average != "macro":
        return []
    if not 0 < n_pairs <= _FEW_PAIRS:
        return []
    means = comparison.summary().mean.reshape(len(comparison), -1)
    largest = means.max(axis=1).repeat(n_pairs // len(comparison))
    figures: Columns = []
    for share in (0.01, 0.02, 0.05):
        planned = comparison._needed(slice(None), share * largest, 0.8, 0.05)
        figures.append((f"{share:.0%}", planned["queries_needed"], _whole_number))
    # The detectable difference does not depend on the planned difference.
    figures.append(("detectable", planned["detectable"]))
    notes = [
        "how many queries a paired t test needs to show a difference of 1%, 2% or 5% "
        "of the largest mean, in 80 of 100 cases, at alpha = 0.05; there are "
        f"{len(comparison.qid)} queries",
        "a difference that is significant already needs no more queries",
    ]
    terms = {
        "1%": "queries needed to show a difference of 1% of the largest mean",
        "detectable": "smallest difference that these queries can show",
    }
    title = "Queries needed to show a difference"
    frame = "queries_needed(0.01).to_pandas()"
    table = _pair_table(
        comparison._names(),
        *figures,
        notes=notes,
        terms=terms,
        title=title,
        frame=frame,
    )
    return [table]


def overview(comparison: Any, *remarks: str) -> Tables:
    """Return a table with a row for each system, best first.

    For up to three systems, no overview is returned.
    """
    n = len(comparison.systems)
    if n <= _FEW_SYSTEMS:
        return []
    summary = comparison.summary()
    order = comparison._best_first(summary.mean)
    columns: Columns = [
        ("#", summary.letter[order]),
        ("system", summary.system[order]),
    ]
    for i, (measure, ties) in enumerate(comparison._keys()):
        rows = order + i * n
        head = measure if len(comparison.ties) == 1 else f"{measure} {ties}"
        columns.append((head, summary.mean[rows]))
        columns.append(("95% interval", summary.interval[rows], _short_interval))
        columns.append((">", summary.better_than[rows]))
    # Intervals are columns 3, 6, ..., and letters are columns 4, 7, ... Text omits the
    # last intervals first, then letters, but not the first letters.
    last = len(columns)
    drop = [*range(last - 2, 2, -3), *range(last - 1, 4, -3)]
    note = f"{words.AVERAGES[comparison.average]} and its 95% interval; >: "
    note += f"significantly better than ({level(comparison)})"
    notes = [*_named_treatment(comparison.ties), note]
    if len(comparison) == 1 and comparison._has_ranks():
        columns.append(("rank", summary.rank[order], _spell_ranks))
        notes.append(
            f"rank: ranks that remain possible ({comparison.confidence:.0%} confidence "
            f"for all {n} systems together)"
        )
    table = Table.of(
        *columns,
        left=2,
        drop=drop,
        frame="summary().to_pandas()",
        notes=[*notes, *summary.undefined, *remarks],
        title="Systems, best first",
    )
    return [table]


def _spell_ranks(ranks: IntArray) -> str:
    """Spell the first and the last rank of an interval."""
    low, high = ranks.tolist()
    return str(low) if low == high else f"{low}-{high}"


def undefined(comparison: Any, means: FloatArray) -> list[str]:
    """Note queries without a relevant document, and the means without them."""
    is_undefined = comparison.undefined
    # If a measure is undefined for a query, all columns of the measure have the same
    # value.
    n_columns_of_measure = len(means) // is_undefined.shape[1]
    values = comparison.expected[:, ::n_columns_of_measure]
    if comparison.query_weight is not None:
        is_undefined = is_undefined[comparison.query_weight > 0]
        values = values[comparison.query_weight > 0]
    texts = []
    if len(means) == len(comparison.systems) <= _FEW_SYSTEMS:
        for name, mean in zip(comparison.systems, means, strict=True):
            texts.append(f"{name} {words.number(mean)}")
        texts = [", ".join(texts)]
    # All queries for which a measure is undefined have the same value.
    values = np.where(is_undefined, values, -np.inf).max(axis=0, initial=-np.inf)
    counts = is_undefined.sum(axis=0)
    return _rankings.undefined_note(
        len(is_undefined), comparison.measures, counts, values, means=texts
    )


def systems_and_pairs(comparison: Any) -> Tables:
    """Return tables of systems and of pairs, by measure and treatment of ties."""
    (systems,) = table_of_systems(comparison.summary())
    tables = [replace(systems, title="Systems", frame="summary().to_pandas()")]
    if len(comparison.pairs):
        tables.append(_table_of_differences(comparison))
    return tables


def table_of_systems(summary: Summary) -> Tables:
    """Return the table of systems by measure and treatment of ties."""
    ties = list(dict.fromkeys(summary.ties))
    names = []
    system = summary.measure[0]
    if len(set(summary.measure)) > 1:
        names.append(("measure", summary.measure))
        system = "system"
    if len(ties) > 1:
        names.append(("ties", summary.ties))
    names.append((system, summary.system))
    average = _rankings.HEADS[summary.average]
    figures: Columns = [(average, summary.mean)]
    if ties != [GIVEN]:
        figures += [("worst", summary.worst), ("best", summary.best)]
        if summary.average == "macro":
            figures.append(("tie_std", summary.tie_std))
    terms = _treatments(ties)
    if ties != [EXPECTED]:
        terms[average] = f"{words.AVERAGES[summary.average]} over queries"
    if "rank_low" in summary.columns and len(set(summary.system)) > 2:
        figures.append(("rank", summary.rank, _spell_ranks))
        terms["rank"] = "ranks that remain possible"
    notes = [*_named_treatment(ties), *summary.undefined]
    columns = [*names, *figures]
    return [Table.of(*columns, left=len(names), notes=notes, terms=terms)]


def _scope_of_pvalues(comparison: Any) -> list[str]:
    """Note over which comparisons p-values are corrected, and over which not."""
    numbers = {
        "pairs": len(comparison.pairs) // len(comparison),
        "measures": len(comparison.measures),
        "treatments of ties": len(comparison.ties),
    }
    texts = []
    for name, number in numbers.items():
        if number < 2:
            continue
        if name == "pairs" and comparison.correction is not None:
            texts.append(f"corrected for the {number} pairs")
        else:
            texts.append(f"not corrected for the {number} {name}")
    if not texts:
        return []
    return [f"{_head_of_pvalues(comparison, comparison.pairs)}: {', '.join(texts)}"]


def _table_of_differences(comparison: Any) -> Table:
    """Return the table of pairs by measure and treatment of ties."""
    percent = f"{100 * comparison.confidence:g}%"
    difference = _head_of_differences(comparison)
    corrected = _head_of_pvalues(comparison, comparison.pairs)
    is_macro = comparison.average == "macro"
    figures: Columns = [(difference, comparison.difference)]
    ends = comparison.difference_interval
    if comparison.interval == "t" and is_macro:
        interval = f"±{percent}"
        meaning = f"half of the {percent} t interval"
        figures.append((interval, np.diff(ends)[:, 0] / 2))
    else:
        interval = f"{percent} interval"
        meaning = f"{percent} {comparison.interval} interval"
        figures.append((interval, ends, _short_interval))
    meaning += f" of {difference} over queries"
    if comparison.ties != (GIVEN,):
        if is_macro:
            figures.append(("tie_std", comparison.tie_std))
        figures.append(("tie range", comparison.tie_range))
        figures.append(("same sign", np.where(comparison.same_sign, "yes", "no")))
    figures.append(("pvalue", comparison.pvalues, words.probability))
    if corrected != "pvalue":
        figures.append((corrected, comparison.adjusted_pvalues, words.probability))
    figures.append(("d", comparison.effect, partial(words.number, digits=2)))
    notes = [*_named_treatment(comparison.ties), *_scope_of_pvalues(comparison)]
    notes_with_interval = notes
    # Intervals of Tukey's test hold for all pairs at once.
    is_simultaneous = corrected == "tukey" and comparison.interval == "t"
    if len(comparison.pairs) > len(comparison) and not is_simultaneous:
        meaning += ", not corrected for the number of pairs"
        note = f"{interval}: not corrected for the number of pairs"
        notes_with_interval = [*notes, note]
    terms = {
        difference: _DIFFERENCES[comparison.average],
        interval: meaning,
        "same sign": "whether the difference has one sign in every order of ties that "
        "the treatment leaves open",
        "pvalue": words.meaning(f"pvalue ({comparison.test})"),
    }
    terms |= _treatments(comparison.ties)
    table = _pair_table(
        comparison._names(),
        *figures,
        drop=["d", "tie_std", interval, "tie range"],
        notes=notes_with_interval,
        terms=terms,
        title="Pairs of systems",
    )
    if interval not in [column.head for column in table.fitted().columns]:
        return replace(table, notes=notes)
    return table


def conclusion(comparison: Any, segment_sentences: Sequence[str] = ()) -> list[str]:
    """State which system is better, by each measure under each treatment of ties.

    The sentences about segments follow the sentence about all queries.
    """
    lines: list[str] = []
    count, n_effective = comparison._effective_queries()
    if n_effective < count:
        text = _rankings.queries_in_words(count, n_effective, comparison.cluster)
        lines.append(f"{text}.")
    n_pairs = len(comparison.pairs) // len(comparison)
    if not n_pairs:
        return lines
    # A difference of geometric means is a ratio, and is not put in a sentence.
    has_differences = comparison.average != "geometric"
    for part in comparison:
        by = part.measures[0]
        if part.ties[0] not in _UNNAMED:
            by += f" with ties {part.ties[0]}"
        if part.average != "macro":
            by = f"the {words.AVERAGES[part.average]} of {by}"
        if n_pairs == 1 and has_differences:
            lines.append(f"By {by}, {_better_of_two(part, 0)}.")
            lines += segment_sentences
            continue
        best_two: Any = []
        if part.baselines:
            text = _against_baselines(part)
        else:
            mean = part.summary().mean
            text = _best_of_all(part, mean)
            best_two = part._best_first(mean)[:2]
        # Whether a pair has its own sentence.
        told = np.zeros(n_pairs, dtype=bool)
        if len(comparison) == 1 and has_differences:
            told |= n_pairs <= _TOLD_PAIRS
            told |= np.isin(part.pairs, best_two).all(axis=1)
        # The sentences of all pairs would repeat the count of significant differences.
        # If no difference is significant, the conclusion is that the queries do not
        # suffice.
        if not told.all() or not part._better().any():
            text += _significant_differences(part)
        lines.append(f"By {by}, {text}.")
        lines += segment_sentences
        for pair in np.flatnonzero(told).tolist():
            lines.append(f"{_better_of_two(part, pair)}.")
    if n_pairs > 1:
        lines.append(
            "The largest of several observed differences is probably smaller on new "
            "queries."
        )
    return lines


def conclusion_of_page(comparison: Any) -> list[str]:
    """Add the segments in which a system is better, if there are few pairs."""
    segments = comparison._segments
    n_pairs = len(comparison.pairs)
    if segments is None or len(comparison) > 1 or n_pairs > _TOLD_PAIRS:
        return conclusion(comparison)
    sentences = []
    for pair in range(n_pairs):
        rows = slice(pair, None, n_pairs)
        names = [str(name) for name in segments.segment[rows].tolist()]
        # Names of segments by the better system, or by "" if neither is better.
        places: dict[str, list[str]] = {}
        for name, better, difference in zip(
            names, segments.better[rows], segments.difference[rows], strict=True
        ):
            # A ratio of geometric means is not an amount by which a system is better.
            if better and comparison.average != "geometric":
                name += f" (by {words.number(abs(difference))})"
            places.setdefault(better, []).append(name)
        a, b = segments.a[pair], segments.b[pair]
        parts = []
        for system, opponent in ((a, b), (b, a)):
            verdict = f"{_quoted(system)} is significantly better"
            listed = places.get(system, [])
            if len(listed) == len(names):
                sentences.append(
                    f"{verdict} than {_quoted(opponent)} in each of the {len(names)} "
                    "segments."
                )
            if listed:
                parts.append(f"{verdict} in {', '.join(listed)}")
        if "" in places:
            undecided = ", ".join(places[""])
            parts.append(f"neither is shown to be better in {undecided}")
        if segments.interaction[pair] <= 1 - comparison.confidence:
            systems = f"{_quoted(a)} and {_quoted(b)}"
            sentences.append(
                f"The difference between {systems} depends on the segment: "
                f"{'; '.join(parts)}."
            )
    return conclusion(comparison, sentences)


def remarks_of_page(comparison: Any) -> list[str]:
    """Explain the words of the page to readers who know no statistics."""
    remarks = []
    for j, measure in enumerate(comparison.measures):
        low, high = comparison.bounds[j].tolist()
        better = "Higher" if comparison.greater_is_better[j] else "Lower"
        if np.isfinite(comparison.bounds[j]).all():
            remarks.append(
                f"{measure} is between {low:g} and {high:g}. {better} is better."
            )
    remarks.append(
        "A difference is significant if its p-value is at most "
        f"{1 - comparison.confidence:g}: equal systems would rarely differ so much by "
        "chance. A system that is not shown to be better may still be better."
    )
    percent = f"{100 * comparison.confidence:g}%"
    remarks.append(
        f"A {percent} interval contains the true value in {percent} of such samples of "
        "queries."
    )
    if _name_of_pvalues(comparison) != "p":
        remarks.append(
            "Corrected p-values allow for the number of comparisons "
            f"({comparison.correction})."
        )
    if comparison.ties != (GIVEN,):
        remarks.append(
            "Documents with the same score are tied: nothing says which comes first."
        )
    return remarks


def _quoted(name: str) -> str:
    """Quote a name that a list of names would cut in two."""
    return f'"{name}"' if "," in name else name


def _better_of_two(comparison: Any, pair: int) -> str:
    """State which system of a pair is better, by how much, and whether ties matter."""
    expected = comparison.expected
    largest = largest_values(expected).max()
    difference = float(without_rounding(comparison.difference[pair], largest))
    i, j = comparison.pairs[pair]
    better, worse = _quoted(comparison.systems[i]), _quoted(comparison.systems[j])
    has_orders = comparison.ties[0] == EXPECTED
    if np.isnan(difference):
        return f"no query has values of both {better} and {worse}"
    if difference == 0:
        if has_orders:
            return _over_orders(comparison, pair, better, worse)
        return f"{better} and {worse} are equal on average"
    ends = comparison.difference_interval[pair]
    if (difference > 0) != comparison.greater_is_better[0]:
        i, j = j, i
        better, worse = worse, better
    if difference < 0:
        difference, ends = -difference, -ends[::-1]
    pvalue = comparison.adjusted_pvalues[pair]
    size = words.number(difference)
    if np.isnan(pvalue):
        return f"{better} is ahead of {worse} by {size}, which no test covers"
    verb = "is not shown to be better than"
    if pvalue <= 1 - comparison.confidence:
        verb = "is significantly better than"
    values = expected[:, j]
    if comparison.qid is not None:
        # The mean covers the queries with a difference. Without `qid`, the systems have
        # different queries.
        values = np.where(np.isnan(expected[:, i]), np.nan, values)
    mean = weighted_mean(values, comparison.query_weight)
    percent = ""
    if comparison.average == "macro" and mean > 0:
        direction = "more" if comparison.greater_is_better[0] else "less"
        percent = f"{100 * difference / mean:.1f}% {direction}; "
    interval = f"{comparison.confidence:.0%} interval {words.bracketed(ends)}"
    p = "< 0.0001" if pvalue < 1e-4 else f"= {words.probability(pvalue)}"
    text = f"{better} {verb} {worse}: ahead by {size} "
    text += f"({percent}{interval}, {_name_of_pvalues(comparison)} {p})"
    if has_orders:
        text += f"; {_over_orders(comparison, pair, better, worse)}"
    return text


def _over_orders(comparison: Any, pair: int, better: str, worse: str) -> str:
    """State in which orders of ties the better of two systems stays better."""
    if comparison.same_sign[pair]:
        return "the order of tied documents does not change which is ahead"
    difference = comparison.difference[pair]
    largest = largest_values(comparison.expected).max()
    tie_range = without_rounding(comparison.tie_range[pair], largest)
    sign = np.sign(without_rounding(difference, largest))
    if not tie_range.any():
        return f"{better} and {worse} are equal in every order of tied documents"
    if sign == 0:
        return (
            f"{better} and {worse} are equal on average, but not in every order of "
            "tied documents"
        )
    if (sign * tie_range).min() >= 0:
        return f"no order of ties makes {worse} better, but some make the two equal"
    text = f"in the least favourable order of ties, {worse} is better"
    columns = comparison.pairs[pair]
    expected = comparison.expected[:, columns]
    is_defined = ~np.isnan(expected).any(axis=1)
    differences = sign * (expected[is_defined] @ [1, -1])
    stds = comparison.std[:, columns][is_defined]
    variances = (stds**2).sum(axis=1)
    if comparison.average != "macro" or np.count_nonzero(variances) < VARYING:
        return f"{text} (pvalues_over_orders tests random orders)"
    share = share_with_sign(difference, comparison.tie_std[pair] ** 2)
    text += f"; in {_spell_share(share)} of random orders, {better} is better"
    is_two_sided_t = comparison.test == "t" and comparison.alternative == "two-sided"
    if is_two_sided_t and not comparison._is_weighted:
        alpha = 1 - comparison.confidence
        share, _ = shares_significant(differences, variances, alpha)
        if not np.isnan(share):
            text += f", with p < {alpha:g} in {_spell_share(share)}"
    return f"{text} (an approximation; pvalues_over_orders tests random orders exactly)"


def _spell_share(share: float) -> str:
    """Spell an approximate share, rounded to 5 points."""
    percent = 5 * round(20 * share)
    return {0: "under 5%", 100: "over 95%"}.get(percent, f"about {percent}%")


def _against_baselines(comparison: Any) -> str:
    """State how many systems are better, and worse, than each baseline."""
    better = comparison._better()
    is_tested = ~np.isnan(comparison.adjusted_pvalues)
    parts = []
    for baseline in comparison.baselines:
        j = comparison.systems.index(baseline)
        name = _quoted(baseline)
        n = np.count_nonzero(is_tested & (comparison.pairs[:, 1] == j))
        if not n:
            parts.append(f"no system is tested against {name}")
            continue
        parts.append(
            f"{better[:, j].sum()} of {n} systems are significantly better than {name}"
            f", and {better[j].sum()} worse"
        )
    return "; ".join(parts)


def _best_of_all(comparison: Any, mean: FloatArray) -> str:
    """State which system has the best average, and which systems may be as good."""
    systems = [_quoted(name) for name in comparison.systems]
    order = comparison._best_first(mean)
    is_absent = np.isnan(mean[order])
    if is_absent.all():
        return "no system has a value"
    first, *followers = order[~is_absent]
    highest = "highest" if comparison.greater_is_better[0] else "lowest"
    noun = "mean" if comparison.average == "macro" else "value"
    text = f"{systems[first]} has the {highest} {noun} ({words.number(mean[first])})"
    better = comparison._better()[first]
    equal = [systems[i] for i in followers if not better[i]]
    if equal:
        text += f", but is not shown to be better than {', '.join(equal)}"
    elif followers:
        text += ", and is significantly better than each of the others"
    if is_absent.any():
        absent = [systems[i] for i in order[is_absent]]
        text += f"; without a value: {', '.join(absent)}"
    return text


def _significant_differences(comparison: Any) -> str:
    """State how many differences are significant."""
    pvalues = comparison.adjusted_pvalues
    n_significant = np.count_nonzero(pvalues <= 1 - comparison.confidence)
    if not n_significant:
        return (
            f"; no difference is significant ({level(comparison, '>')}): these queries "
            "do not show which system is better"
        )
    n = np.count_nonzero(~np.isnan(pvalues))
    text = f"; {n_significant} of {n} differences are significant ({level(comparison)})"
    if EXPECTED in comparison.ties:
        text += f", and {comparison.same_sign.sum()} have the same sign in every order "
        text += "of ties"
    return text


def table_by_segment(summary: Summary) -> Tables:
    """Return the table of pairs on the queries of each segment."""
    comparison = summary.comparison
    measures = comparison.measures
    interval = f"{100 * comparison.confidence:g}% interval"
    head = _head_of_pvalues(comparison, summary)
    terms = {
        interval: f"{interval} over queries of the segment, uncorrected",
        "better": "the system that is significantly better",
        "interaction": "p-value of the hypothesis that the difference is the same in "
        "all segments",
    }
    notes = []
    if head == "pvalue":
        terms[head] = words.meaning(f"pvalue ({comparison.test})")
    else:
        notes.append(
            f"{head}: corrected over all pairs and {summary.n_segments} segments "
            "together"
        )
    if len(measures) > 1:
        notes.append(f"not corrected for the {len(measures)} measures")
    is_small = (summary.n_queries < LEAST_OF_SEGMENT).any()
    if comparison._tests_interactions and is_small:
        notes.append(
            f"interaction: not tested if a segment has fewer than {LEAST_OF_SEGMENT} "
            "queries"
        )
    interactions = summary.interaction
    n_segments = summary.n_segments
    if len(summary) == n_segments * len(measures):
        # The rows of a single pair differ in the segment, not in the p-value.
        for measure, pvalue in zip(measures, interactions[::n_segments], strict=True):
            if not np.isnan(pvalue):
                is_different = pvalue <= 1 - comparison.confidence
                verb = "differs" if is_different else "does not differ significantly"
                notes.append(f"the difference by {measure} {verb} between segments")
    columns: dict[str, Any] = dict(summary.columns)
    columns["segment"] = [str(segment) for segment in summary.segment.tolist()]
    better = np.where(summary.better == "", "not shown", summary.better)
    table = _pair_table(
        columns,
        ("queries", summary.n_queries),
        (_head_of_differences(comparison), summary.difference),
        (interval, summary.difference_interval, _short_interval),
        ("better", better),
        (head, summary.adjusted_pvalue, words.probability),
        ("interaction", interactions, words.probability),
        drop=["better", "queries", "interaction", interval],
        notes=[*_one_note(summary, notes), *comparison.summary().undefined],
        terms=terms,
        title="Pairs of systems by segment",
    )
    return [table]


def table_of_queries(summary: Summary) -> Tables:
    """Return the table of the queries that the t test of each pair needs."""
    test = "paired t test" if summary.alternative == "two-sided" else "one-sided t test"
    note = f"power {summary.power:g} of the {test} at alpha = {summary.alpha:g}"
    terms = {
        "std": "standard deviation of the differences of queries",
        "needed": "queries that show the difference with this power",
        "detectable": "smallest difference that these queries show with it",
    }
    table = _pair_table(
        summary.columns,
        ("difference", summary.difference),
        ("std", summary.std),
        ("queries", summary.n_queries),
        ("needed", summary.queries_needed, _whole_number),
        ("detectable", summary.detectable),
        notes=_one_note(summary, [note]),
        terms=terms,
    )
    return [table]


def _one_note(summary: Summary, notes: list[str]) -> list[str]:
    """Join notes into a note that begins with the measure, unless a column names it."""
    if len(set(summary.measure)) == 1:
        notes = [f"by {summary.measure[0]}", *notes]
    return ["; ".join(notes)] if notes else []


def table_of_orders(study: Any) -> Tables:
    """Return the table of `PValuesOverOrders`."""
    columns = study._columns()
    share = f"p < {study.alpha:g}"
    note = f"{_TESTS[study.test]}, {study.alternative}"
    if len(study.measures) == 1:
        note = f"{study.measures[0]}, {note}"
    terms = {
        "pvalue": "p-value of the exact means over all orders of ties",
        share: "share of the orders of ties with such a p-value",
        "error": "standard error of this share; 0 where all orders were tested",
        "min p": "smallest p-value found over the orders of ties",
        "max p": "largest p-value found over the orders of ties",
        "combined": "a p-value for ties broken at random: twice the mean of the "
        "p-values over the orders, at most 1",
    }
    table = _pair_table(
        columns,
        ("pvalue", columns["pvalues"], words.probability),
        (share, columns["share"]),
        ("error", columns["share_error"]),
        ("min p", columns["smallest"], words.probability),
        ("max p", columns["largest"], words.probability),
        ("combined", columns["combined"], words.probability),
        drop=["error", "combined"],
        notes=[note, *study._undefined],
        terms=terms,
    )
    return [table]


def table_of_means(summary: Summary) -> Tables:
    """Return the table of the averages of overlaps or of rank correlations."""
    heads = {"overlap": "", "n_significant": "p < 0.05", "n_queries": "queries"}
    heads["interval"] = "95% interval"
    columns = []
    for name in summary.columns:
        if name != "interval_high":
            # The attribute `interval` contains both ends.
            name = name.removesuffix("_low")
            columns.append((heads.get(name, name), getattr(summary, name)))
    terms = {}
    if "coefficient" in summary.keys:
        terms["mean"] = "of the coefficient, over queries"
    elif "minimum" in summary.columns:
        terms["minimum"] = "lower bound if the lists went on"
        terms["residual"] = "from this bound to the upper one"
        terms["distance"] = "rank-biased distance, 1 - mean"
    return [Table.of(*columns, terms=terms)]


def table_of_correlation(correlation: Any) -> Tables:
    """Return the table of an `OrderingCorrelation`: the means, or the only query."""
    if len(correlation.qid) > 1:
        return correlation.summary()._framed("summary()")
    table = Table.of(
        ("coefficient", correlation.coefficients),
        ("value", correlation.values[0]),
        ("pvalue", correlation.pvalues[0], words.probability),
    )
    return [table]


def tables_of_ties(statistics: Any) -> Tables:
    """Return the tables of `TieStatistics`."""
    columns = [
        ("system", statistics.systems),
        ("queries", statistics.n_queries),
        ("with ties", statistics.tied_queries, words.percent),
        ("documents", statistics.n_documents),
        ("tied", statistics.tied_documents, words.percent),
        ("as before", statistics.repeated_documents, words.percent),
    ]
    against: Columns = [("against scores", statistics.systems)]
    for order, neighbours, queries in statistics._against():
        against += [(f"by {order}", neighbours), ("queries", queries)]
    if not np.isnan(statistics.tied_ranks).any():
        against.append(("tied ranks", statistics.tied_ranks, words.percent))
        against.append(("no order", statistics.unordered_documents, words.percent))
    shares = statistics.overall()
    medians = dict.fromkeys(shares, np.nan)
    medians["queries"] = float(np.median(statistics.tied_queries))
    medians["documents"] = float(np.median(statistics.repeated_documents))
    total = [
        ("share with ties", shares),
        ("", shares.values(), words.percent),
        ("median system", medians.values(), words.percent),
    ]
    tables = [columns, total]
    if len(against) > 1:
        tables.insert(1, against)
    return [Table.of(*table, terms=_TIES) for table in tables]


_TIES = {
    "with ties": "share of the queries in which documents tie",
    "tied": "share of the documents that tie with another one of their query",
    "as before": "share of the documents that tie with the document before them",
    "by rank": "neighbours by rank whose scores have the opposite order",
    "by line": "lines whose score is above that of the line before",
    "tied ranks": "share of the documents with the rank of another one of their query",
    "no order": "share of the documents with the rank and the score of another one",
    "median system": "the median of the shares of the systems",
}
