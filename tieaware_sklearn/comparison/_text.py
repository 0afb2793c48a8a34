"""Tables and sentences on comparisons of systems and of orderings.

A `comparison` is a `SystemComparison`. Its module imports this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display import text_tables, words
from .._typing import BoolArray, FloatArray, IntArray
from ..evaluation import Summary
from ..evaluation import _text as _rankings
from ..statistics.averages import column_means, largest_values, without_rounding
from ..statistics.tie_orders import VARYING, share_with_sign, shares_significant

#: tests by the names of the argument
_WORDS_OF_TESTS = {
    "t": "paired t test",
    "welch": "Welch's t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomization": "Fisher's randomisation test",
}
#: the default treatment of ties, which is not named
EXPECTED = "expected"
#: in its place, of values that came without a word on ties
GIVEN = "given"
#: systems, and rows of pairs, up to which all pairs are printed
_FEW_SYSTEMS, _FEW_PAIRS = 3, 15
#: Most pairs that have a sentence each.
_TOLD_PAIRS = 3
#: queries of each segment that a test of equal differences needs
LEAST_OF_SEGMENT = 20

Tables = list[text_tables.Table]

_short_interval = partial(words.bracketed, digits=3)
_DIFFERENCES = {
    "macro": words.meaning("A - B"),
    "geometric": "geometric mean of A divided by that of B",
    "median": "median of A minus median of B",
}


def letters(order: IntArray) -> NDArray[np.object_]:
    """Letters of systems, in this order; numbers if there are more than 52.

    The letters are those of ranx, where they are superscripts of the means.
    """
    n = len(order)
    names = list(ascii_letters)
    if n > len(names):
        names = list(map(str, range(1, n + 1)))
    return np.array(names, dtype=object)[np.argsort(order)]


def runs(letters_in_order: NDArray[np.object_], chosen: BoolArray) -> str:
    """Spell the chosen letters, three or more in a row as ``b-d``."""
    places = np.flatnonzero(chosen)
    separator = "," if len(chosen) > len(ascii_letters) else ""
    parts = []
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        names = letters_in_order[run].tolist()
        if len(names) > 2:
            names = [f"{names[0]}-{names[-1]}"]
        parts += names
    return separator.join(parts)


def _head_of_pvalues(comparison: Any, rows: Any) -> str:
    """Head of the p-values of rows of pairs, which names the correction, if any."""
    if comparison.correction is None or len(rows) <= len(comparison):
        return "pvalue"
    return comparison.correction


def level(comparison: Any, sign: str = "<=") -> str:
    """Say which p-values are significant, or with ``>`` which are not."""
    name = _name_of_pvalues(comparison)
    return f"{name} {sign} {1 - comparison.confidence:g}"


def _name_of_pvalues(comparison: Any) -> str:
    """Name the p-values that decide, in a sentence."""
    head = _head_of_pvalues(comparison, comparison.pairs)
    return "p" if head == "pvalue" else "corrected p"


def _head_of_differences(comparison: Any) -> str:
    return "A / B" if comparison.average == "geometric" else "A - B"


def _of_pairs(
    columns: dict[str, Any],
    keys: Sequence[str],
    *figures: tuple[Any, ...],
    drop: Sequence[str] = (),
    **options: Any,
) -> text_tables.Table:
    """Table of figures of pairs, after the keys that vary, A and B.

    Narrow pages do without the heads to drop, the first to go first.
    """
    names = [
        (key, columns[key])
        for key in keys
        if key == "segment" or len(set(columns[key])) > 1
    ]
    names += [("A", columns["a"]), ("B", columns["b"])]
    heads = [head for head, *_ in (*names, *figures)]
    places = [heads.index(head) for head in drop if head in heads]
    return text_tables.Table.of(
        *names, *figures, left=len(names), drop=places, **options
    )


def _treatments(ties: Sequence[str]) -> dict[str, str]:
    """Meanings of treatments of ties, where there are others than the exact mean."""
    if [*ties] in ([EXPECTED], [GIVEN]):
        return {}
    meanings = {
        EXPECTED: "exact mean over all orders of tied documents",
        "best": "most favourable order of ties",
        "worst": "least favourable order of ties",
        "input": "ties in the order of rows",
    }
    return {
        name: meanings.get(name, f"ties broken by the rule {name}") for name in ties
    }


def tables(comparison: Any) -> Tables:
    """The tables in print."""
    n = len(comparison.pairs)
    if len(comparison.systems) <= _FEW_SYSTEMS:
        return systems_and_pairs(comparison)
    if n <= _FEW_PAIRS:
        return [*overview(comparison), systems_and_pairs(comparison)[-1]]
    return overview(
        comparison,
        *_scope_of_pvalues(comparison),
        f"{n} differences of pairs: see to_pandas() or --csv",
    )


def tables_of_page(comparison: Any) -> Tables:
    """The tables of a page, which has room for all systems, pairs and segments."""
    best = overview(comparison)
    systems, *pairs = systems_and_pairs(comparison)
    segments = []
    if comparison._segments is not None:
        segments = comparison._segments._framed("by_segment()")
    test = _WORDS_OF_TESTS.get(comparison.test, "bootstrap of medians")
    settings = f"{test}, {comparison.alternative}, {len(comparison.expected)} queries"
    pairs = [
        replace(table, notes=[settings, *table.notes], is_detail=True)
        for table in pairs
    ]
    # the few systems of a short comparison have no other table
    return [*best, *(() if best else [systems]), *segments, *_needs(comparison), *pairs]


def _needs(comparison: Any) -> Tables:
    """Table of the queries that would show differences of 1, 2 and 5%."""
    is_planned = comparison.qid is not None and comparison.average == "macro"
    if not (is_planned and 0 < len(comparison.pairs) <= _FEW_PAIRS):
        return []
    means = comparison.summary().mean.reshape(len(comparison), -1).max(axis=1)
    means = np.repeat(means, len(comparison.pairs) // len(comparison))
    figures: list[tuple[Any, ...]] = []
    for share in (0.01, 0.02, 0.05):
        planned = comparison._needed(slice(None), share * means, 0.8, 0.05)
        needed = planned["queries_needed"], partial(words.number, digits=0)
        figures.append((f"{share:.0%}", *needed))
    return [
        _of_pairs(
            comparison._names(),
            ["measure", "ties"],
            *figures,
            ("detectable", planned["detectable"]),
            notes=[
                "how many queries a paired t test needs to show a difference of 1%, "
                "2% or 5% of the largest mean, in 80 of 100 cases, at alpha = 0.05; "
                f"there are {len(comparison.qid)} queries",
                "a difference that is significant already needs no more queries",
            ],
            terms={
                "1%": "queries needed to show a difference of 1% of the largest mean",
                "detectable": "smallest difference that these queries can show",
            },
            title="Queries needed to show a difference",
            frame="queries_needed(0.01).to_pandas()",
        )
    ]


def overview(comparison: Any, *remarks: str) -> Tables:
    """Table with a row a system, the best first, if there are more than few."""
    n = len(comparison.systems)
    if n <= _FEW_SYSTEMS:
        return []
    summary = comparison.summary()
    order = comparison._best_first(summary.mean)
    columns: list[tuple[Any, ...]] = [
        ("#", summary.letter[order]),
        ("system", summary.system[order]),
    ]
    for at, (measure, ties) in enumerate(comparison._keys()):
        rows = order + at * n
        head = measure if len(comparison.ties) == 1 else f"{measure} {ties}"
        columns += [
            (head, summary.mean[rows]),
            ("95% interval", summary.interval[rows], _short_interval),
            (">", summary.better_than[rows]),
        ]
    note = f"{words.AVERAGES[comparison.average]} and its 95% interval; >: "
    note += f"significantly better than ({level(comparison)})"
    # intervals go first, then letters, those by the first measure last
    last = len(columns)
    drop = [*range(last - 2, 2, -3), *range(last - 1, 4, -3)]
    notes = [*_named_treatment(comparison.ties), note]
    if len(comparison) == 1 and comparison._has_ranks():
        columns.append(("rank", summary.rank[order], _spelled_ranks))
        notes.append(
            f"rank: those of {n} that the data do not exclude "
            f"({comparison.confidence:.0%} for all systems together)"
        )
    table = text_tables.Table.of(
        *columns,
        left=2,
        drop=drop,
        frame="summary().to_pandas()",
        notes=[*notes, *summary.undefined, *remarks],
        title="Systems, best first",
    )
    return [table]


def _spelled_ranks(ranks: IntArray) -> str:
    """Spell the first and the last of some ranks."""
    low, high = ranks.tolist()
    return str(low) if low == high else f"{low}-{high}"


def _named_treatment(ties: Sequence[str]) -> list[str]:
    """A note on the only treatment of ties, unless it is the exact mean."""
    is_named = len(ties) == 1 and ties[0] not in (EXPECTED, GIVEN)
    return [f"ties: {ties[0]}"] if is_named else []


def undefined(comparison: Any, means: FloatArray) -> list[str]:
    """Note queries without a relevant document, and the means without them."""
    counted, texts = np.ones(len(comparison.undefined), dtype=bool), []
    if comparison.query_weight is not None:
        counted = comparison.query_weight > 0
    if len(means) == len(comparison.systems) <= _FEW_SYSTEMS:
        for name, mean in zip(comparison.systems, means, strict=True):
            texts.append(f"{name} {words.number(mean)}")
        texts = [", ".join(texts)]
    absent = comparison.undefined[counted]
    values = comparison.expected[counted, :: len(means) // absent.shape[1]]
    return _rankings.undefined_note(
        len(absent),
        comparison.measures,
        absent.sum(axis=0),
        np.where(absent, values, -np.inf).max(axis=0, initial=-np.inf),
        means=texts,
    )


def systems_and_pairs(comparison: Any) -> Tables:
    """Tables with a row a system, and a row a pair, by measure and treatment."""
    (systems,) = table_of_systems(comparison.summary())
    tables = [replace(systems, title="Systems", frame="summary().to_pandas()")]
    if len(comparison.pairs):
        tables.append(_table_of_pairs(comparison))
    return tables


def table_of_systems(summary: Summary) -> Tables:
    """Table of the systems by one or several measures and treatments of ties."""
    measures, ties = set(summary.measure), [*dict.fromkeys(summary.ties)]
    names = []
    if len(measures) > 1:
        names.append(("measure", summary.measure))
    if len(ties) > 1:
        names.append(("ties", summary.ties))
    names.append(
        ("system" if len(measures) > 1 else summary.measure[0], summary.system)
    )
    average = _rankings.HEADS[summary.average]
    figures: list[tuple[Any, ...]] = [(average, summary.mean)]
    if ties != [GIVEN]:
        figures += [("worst", summary.worst), ("best", summary.best)]
        if summary.average == "macro":
            figures.append(("tie_std", summary.tie_std))
    terms = _treatments(ties)
    if terms or ties == [GIVEN]:
        terms[average] = f"{words.AVERAGES[summary.average]} over queries"
    if "rank_low" in summary.columns and len(set(summary.system)) > 2:
        figures.append(("rank", summary.rank, _spelled_ranks))
        terms["rank"] = "ranks that the data do not exclude"
    table = text_tables.Table.of(
        *names,
        *figures,
        left=len(names),
        notes=[*_named_treatment(ties), *summary.undefined],
        terms=terms,
    )
    return [table]


def _scope_of_pvalues(comparison: Any) -> list[str]:
    """Note over what p-values of pairs are corrected, and over what not."""
    numbers = {
        "pairs": len(comparison.pairs) // len(comparison),
        "measures": len(comparison.measures),
        "treatments of ties": len(comparison.ties),
    }
    texts = []
    for name, number in numbers.items():
        if number > 1 and name == "pairs" and comparison.correction is not None:
            texts.append(f"corrected for the {number} pairs")
        elif number > 1:
            texts.append(f"not corrected for the {number} {name}")
    if not texts:
        return []
    return [f"{_head_of_pvalues(comparison, comparison.pairs)}: {', '.join(texts)}"]


def _table_of_pairs(comparison: Any) -> text_tables.Table:
    """Table of pairs by one or several measures and treatments of ties."""
    percent = f"{100 * comparison.confidence:g}%"
    difference = _head_of_differences(comparison)
    corrected = _head_of_pvalues(comparison, comparison.pairs)
    figures: list[tuple[Any, ...]] = [(difference, comparison.difference)]
    if comparison.interval == "t" and comparison.average == "macro":
        interval, meaning = f"±{percent}", f"half of the {percent} t interval"
        figures.append((interval, np.diff(comparison.difference_interval)[:, 0] / 2))
    else:
        interval = f"{percent} interval"
        meaning = f"{percent} {comparison.interval} interval"
        figures.append((interval, comparison.difference_interval, _short_interval))
    if comparison.ties != (GIVEN,):
        if comparison.average == "macro":
            figures.append(("tie_std", comparison.tie_std))
        figures.append(("tie range", comparison.tie_range))
        figures.append(("same sign", np.where(comparison.same_sign, "yes", "no")))
    figures.append(("pvalue", comparison.pvalues, words.probability))
    if corrected != "pvalue":
        figures.append((corrected, comparison.adjusted_pvalues, words.probability))
    figures.append(("d", comparison.effect, partial(words.number, digits=2)))
    meaning += f" of {difference} over queries"
    # intervals of Tukey's test hold for all pairs at once
    simultaneous = corrected == "tukey" and comparison.interval == "t"
    notes = [*_named_treatment(comparison.ties), *_scope_of_pvalues(comparison)]
    of_interval = []
    if len(comparison.pairs) > len(comparison) and not simultaneous:
        meaning += ", not corrected for the number of pairs"
        of_interval = [f"{interval}: not corrected for the number of pairs"]
    table = _of_pairs(
        comparison._names(),
        ["measure", "ties"],
        *figures,
        drop=["d", "tie_std", interval, "tie range"],
        notes=notes + of_interval,
        terms={
            difference: _DIFFERENCES[comparison.average],
            interval: meaning,
            "same sign": "whether the difference has one sign in every order of ties "
            "that the treatment leaves open",
            "pvalue": words.meaning(f"pvalue ({comparison.test})"),
            **_treatments(comparison.ties),
        },
        title="Pairs of systems",
    )
    if interval not in [column.head for column in table.fitted().columns]:
        return replace(table, notes=notes)
    return table


def sentences(comparison: Any) -> str:
    """The sentences below the tables in print."""
    return "\n".join(map(words.paragraph, conclusion(comparison)))


def conclusion(comparison: Any, of_segments: Sequence[str] = ()) -> list[str]:
    """Say which system is better, by each measure under each treatment of ties.

    The sentences on segments follow the one on all queries.
    """
    lines = []
    count, worth = comparison._counted_and_worth()
    if worth < count:
        text = _rankings.queries_in_words(count, worth, comparison.cluster)
        lines.append(f"{text}.")
    if not len(comparison.pairs):
        return lines
    for part in comparison:
        (measure,), (ties,) = part.measures, part.ties
        by = measure
        if ties not in (EXPECTED, GIVEN):
            by += f" with ties {ties}"
        if part.average != "macro":
            by = f"the {words.AVERAGES[part.average]} of {by}"
        # A difference of geometric means is a ratio, and has no sentence.
        has_differences = part.average != "geometric"
        if len(part.pairs) == 1 and has_differences:
            lines.append(f"By {by}, {_better_of_two(part, 0)}.")
            lines += of_segments
            continue
        best_two: Any = []
        if part.baselines:
            text = _against_baselines(part)
        else:
            mean = part.summary().mean
            text = _best_of_all(part, mean)
            best_two = part._best_first(mean)[:2]
        pairs: list[int] = []
        if len(comparison) == 1 and has_differences:
            pairs = list(range(len(part.pairs)))
            if len(pairs) > _TOLD_PAIRS:
                is_told = np.isin(part.pairs, best_two).all(axis=1)
                pairs = np.flatnonzero(is_told).tolist()
        if len(pairs) < len(part.pairs) or not part._better().any():
            text += _differences(part)
        lines.append(f"By {by}, {text}.")
        lines += of_segments
        lines += [f"{_better_of_two(part, pair)}." for pair in pairs]
    if len(comparison.pairs) > len(comparison):
        lines.append(
            "The largest of several observed differences is probably smaller on new "
            "queries."
        )
    return lines


def conclusion_of_page(comparison: Any) -> list[str]:
    """The conclusion, and in which segments a system of few pairs is better."""
    segments, n_pairs = comparison._segments, len(comparison.pairs)
    if segments is None or len(comparison) > 1 or n_pairs > _TOLD_PAIRS:
        return conclusion(comparison)
    sentences = []
    for pair in range(n_pairs):
        rows = slice(pair, None, n_pairs)
        names = list(map(str, segments.segment[rows].tolist()))
        sizes = np.abs(segments.difference[rows]).tolist()
        better = segments.better[rows].tolist()
        a, b = segments.a[pair], segments.b[pair]
        parts = []
        for system, opponent in ((a, b), (b, a)):
            places = [i for i, name in enumerate(better) if name == system]
            if len(places) == len(names):
                sentences.append(
                    f"{_quoted(system)} is significantly better than "
                    f"{_quoted(opponent)} in each of the {len(names)} segments."
                )
            if places:
                where = [f"{names[i]} (by {words.number(sizes[i])})" for i in places]
                parts.append(
                    f"{_quoted(system)} is significantly better in {', '.join(where)}"
                )
        undecided = [
            name for name, system in zip(names, better, strict=True) if not system
        ]
        if undecided:
            parts.append(f"neither is shown to be better in {', '.join(undecided)}")
        if segments.interaction[pair] <= 1 - comparison.confidence:
            sentences.append(
                f"{_quoted(a)} and {_quoted(b)} differ between segments: "
                f"{'; '.join(parts)}."
            )
    return conclusion(comparison, sentences)


def remarks_of_page(comparison: Any) -> list[str]:
    """Explain the words of the page to readers who know no statistics."""
    remarks = []
    for j, measure in enumerate(comparison.measures):
        low, high = comparison.bounds[j].tolist()
        better = "Higher" if comparison.greater_is_better[j] else "Lower"
        if np.isfinite([low, high]).all():
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
            "Documents with the same score are tied: nothing says which comes first. "
            "The columns worst and best are means in their least and most favourable "
            "order."
        )
    return remarks


def _quoted(name: str) -> str:
    """Quote a name that a list of names would cut in two."""
    return f'"{name}"' if "," in name else name


def _better_of_two(comparison: Any, pair: int) -> str:
    """Say which system of a pair is better, by how much, and whether ties matter."""
    largest = largest_values(comparison.expected).max()
    difference = float(without_rounding(comparison.difference[pair], largest))
    pvalue = comparison.adjusted_pvalues[pair]
    better, worse = (_quoted(comparison.systems[i]) for i in comparison.pairs[pair])
    if np.isnan(difference):
        return f"no query has values of both {better} and {worse}"
    if difference == 0 and comparison.ties[0] != EXPECTED:
        return f"{better} and {worse} are equal on average"
    if difference == 0:
        return _over_orders(comparison, pair, better, worse)
    ends = comparison.difference_interval[pair]
    if (difference > 0) != comparison.greater_is_better[0]:
        better, worse = worse, better
    if difference < 0:
        difference, ends = -difference, -ends[::-1]
    size = words.number(difference)
    if np.isnan(pvalue):
        return f"{better} is ahead of {worse} by {size}, which no test covers"
    verb = "is significantly better than"
    if not pvalue <= 1 - comparison.confidence:
        verb = "is not shown to be better than"
    shown = "< 0.0001" if pvalue < 1e-4 else f"= {words.probability(pvalue)}"
    interval = f"{comparison.confidence:.0%} interval {words.bracketed(ends)}"
    text = f"{better} {verb} {worse}: ahead by {size} "
    text += f"({_percent_of(comparison, pair, worse)}{interval}, "
    text += f"{_name_of_pvalues(comparison)} {shown})"
    if comparison.ties[0] != EXPECTED:
        return text
    return f"{text}; {_over_orders(comparison, pair, better, worse)}"


def _percent_of(comparison: Any, pair: int, system: str) -> str:
    """The size of a difference as a share of the mean of one system of the pair."""
    columns = comparison.pairs[pair]
    values = comparison.expected[:, columns]
    if comparison.qid is not None:
        # the queries of the difference
        values = values + 0 * values[:, ::-1]
    means = column_means(values, comparison.query_weight)
    mean = means[[_quoted(comparison.systems[i]) == system for i in columns]].item()
    if comparison.average != "macro" or not mean > 0:
        return ""
    percent = 100 * abs(comparison.difference[pair]) / mean
    return f"{percent:.1f}% {'more' if comparison.greater_is_better[0] else 'less'}; "


def _over_orders(comparison: Any, pair: int, better: str, worse: str) -> str:
    """Say in which orders of ties the better of two systems stays better."""
    if comparison.same_sign[pair]:
        return "the order of tied documents does not change which is ahead"
    largest = largest_values(comparison.expected).max()
    tie_range = without_rounding(comparison.tie_range[pair], largest)
    sign = np.sign(without_rounding(comparison.difference[pair], largest))
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
    variances = comparison.std[:, columns] ** 2
    is_defined = ~np.isnan(expected).any(axis=1)
    differences = sign * (expected[is_defined] @ [1, -1])
    variances = variances[is_defined].sum(axis=1)
    if comparison.average != "macro" or np.count_nonzero(variances) < VARYING:
        return f"{text} (pvalues_over_orders tests random orders)"
    share = share_with_sign(comparison.difference[pair], comparison.tie_std[pair] ** 2)
    text += f"; in {_spelled_share(share)} of random orders, {better} is better"
    if (
        comparison.test == "t"
        and comparison.alternative == "two-sided"
        and comparison.query_weight is None
        and comparison.cluster is None
    ):
        alpha = 1 - comparison.confidence
        share, _ = shares_significant(differences, variances, alpha)
        if not np.isnan(share):
            text += f", with p < {alpha:g} in {_spelled_share(share)}"
    return f"{text} (an approximation; pvalues_over_orders tests random orders exactly)"


def _spelled_share(share: float) -> str:
    """Spell an approximate share, rounded to 5 points."""
    percent = 5 * round(20 * share)
    return {0: "under 5%", 100: "over 95%"}.get(percent, f"about {percent}%")


def _against_baselines(comparison: Any) -> str:
    """Say how many systems are better, and worse, than each baseline."""
    better, parts = comparison._better(), []
    for name in comparison.baselines:
        at = comparison.systems.index(name)
        is_tested = ~np.isnan(comparison.adjusted_pvalues)
        n = np.count_nonzero(is_tested & (comparison.pairs[:, 1] == at))
        if not n:
            parts.append(f"no system is tested against {_quoted(name)}")
            continue
        parts.append(
            f"{better[:, at].sum()} of {n} systems are significantly better than "
            f"{_quoted(name)}, and {better[at].sum()} worse"
        )
    return "; ".join(parts)


def _best_of_all(comparison: Any, mean: FloatArray) -> str:
    """Say which system has the best average, and which others may be as good."""
    systems = [*map(_quoted, comparison.systems)]
    order = comparison._best_first(mean)
    is_absent = np.isnan(mean[order])
    if is_absent.all():
        return "no system has a value"
    first, *others = order[~is_absent]
    highest = "highest" if comparison.greater_is_better[0] else "lowest"
    noun = "mean" if comparison.average == "macro" else "value"
    text = f"{systems[first]} has the {highest} {noun} ({words.number(mean[first])})"
    better = comparison._better()[first]
    equal = [systems[i] for i in others if not better[i]]
    if equal:
        text += f", but is not shown to be better than {', '.join(equal)}"
    elif others:
        text += ", and is significantly better than each of the others"
    if is_absent.any():
        absent = [systems[i] for i in order[is_absent]]
        text += f"; without a value: {', '.join(absent)}"
    return text


def _differences(comparison: Any) -> str:
    """Say how many differences are significant."""
    n = np.count_nonzero(~np.isnan(comparison.adjusted_pvalues))
    differ = np.count_nonzero(comparison.adjusted_pvalues <= 1 - comparison.confidence)
    if not differ:
        text = (
            f"; no difference is significant ({level(comparison, '>')}): these queries "
            "do not show which system is better"
        )
    else:
        text = f"; {differ} of {n} differences are significant ({level(comparison)})"
        if EXPECTED in comparison.ties:
            text += f", and {comparison.same_sign.sum()} have the same sign in every "
            text += "order of ties"
    return text


def table_by_segment(summary: Summary) -> Tables:
    """Table of the pairs on the queries of each segment."""
    comparison = summary.comparison
    percent = f"{100 * comparison.confidence:g}% interval"
    head, notes = _head_of_pvalues(comparison, summary), []
    terms = {percent: f"{percent} over queries of the segment, uncorrected"}
    if head == "pvalue":
        terms[head] = words.meaning(f"pvalue ({comparison.test})")
    else:
        notes.append(
            f"{head}: corrected over all pairs and {summary.n_segments} segments "
            "together"
        )
    if len(comparison.measures) > 1:
        notes.append(f"not corrected for the {len(comparison.measures)} measures")
    if (
        comparison.query_weight is None
        and comparison.cluster is None
        and comparison.average != "median"
        and (summary.n_queries < LEAST_OF_SEGMENT).any()
    ):
        notes.append(
            f"interaction: not tested if a segment has fewer than {LEAST_OF_SEGMENT} "
            "queries"
        )
    if len(summary) == 2 * len(comparison) and not np.isnan(summary.interaction).all():
        differs = summary.interaction[: len(comparison)] <= 0.05
        for measure, is_different in zip(comparison.measures, differs, strict=False):
            verb = "differs" if is_different else "does not differ significantly"
            notes.append(f"the difference by {measure} {verb} between segments")
    terms["better"] = "the system that is significantly better"
    terms["interaction"] = (
        "p-value of the hypothesis that the difference is the same in all segments"
    )
    segments = list(map(str, summary.segment.tolist()))
    return [
        _of_pairs(
            summary.columns | {"segment": segments},
            ["segment", "measure", "ties"],
            ("queries", summary.n_queries),
            (_head_of_differences(comparison), summary.difference),
            (percent, summary.difference_interval, _short_interval),
            ("better", np.where(summary.better == "", "not shown", summary.better)),
            (head, summary.adjusted_pvalue, words.probability),
            ("interaction", summary.interaction, words.probability),
            drop=["better", "queries", "interaction", percent],
            notes=[*_one_note(summary, notes), *comparison.summary().undefined],
            terms=terms,
            title="Pairs of systems by segment",
        )
    ]


def table_of_queries(summary: Summary) -> Tables:
    """Table of the queries that the t test of each pair needs."""
    test = "paired t test" if summary.alternative == "two-sided" else "one-sided t test"
    note = f"power {summary.power:g} of the {test} at alpha = {summary.alpha:g}"
    return [
        _of_pairs(
            summary.columns,
            summary.keys[:-2],
            ("difference", summary.difference),
            ("std", summary.std),
            ("queries", summary.n_queries),
            ("needed", summary.queries_needed, partial(words.number, digits=0)),
            ("detectable", summary.detectable),
            notes=_one_note(summary, [note]),
            terms={
                "std": "standard deviation of the differences of queries",
                "needed": "queries that show the difference with this power",
                "detectable": "smallest difference that these queries show with it",
            },
        )
    ]


def _one_note(summary: Summary, notes: list[str]) -> list[str]:
    """Join notes to one, which begins with the measure unless a column names it."""
    if len(set(summary.measure)) == 1:
        notes = [f"by {summary.measure[0]}", *notes]
    return ["; ".join(notes)] if notes else []


def tables_of_segments(summary: Summary) -> Tables:
    """The tables of the result of each segment."""
    return [
        replace(
            table,
            notes=[f"segment {name}", *table.notes],
            title=f"Segment {name}",
            frame=f"results[{name!r}].{table.frame}",
        )
        for name, result in summary.results.items()
        for table in result._tables()
    ]


def table_of_orders(study: Any) -> Tables:
    """Table of `PValuesOverOrders`."""
    columns, share = study._columns(), f"p < {study.alpha:g}"
    note = f"{_WORDS_OF_TESTS[study.test]}, {study.alternative}"
    if len(study.measures) == 1:
        note = f"{study.measures[0]}, {note}"
    return [
        _of_pairs(
            columns,
            ["measure"],
            ("pvalue", columns["pvalues"], words.probability),
            (share, columns["share"]),
            ("error", columns["share_error"]),
            ("min p", columns["smallest"], words.probability),
            ("max p", columns["largest"], words.probability),
            ("combined", columns["combined"], words.probability),
            drop=["error", "combined"],
            notes=[note, *study._undefined],
            terms={
                "pvalue": "p-value of the exact means over all orders of ties",
                share: "share of the orders of ties with such a p-value",
                "error": "standard error of this share; 0 where all orders were tested",
                "min p": "smallest p-value found over the orders of ties",
                "max p": "largest p-value found over the orders of ties",
                "combined": "a p-value for ties broken at random: twice the mean of "
                "the p-values over the orders, at most 1",
            },
        )
    ]


def table_of_means(summary: Summary) -> Tables:
    """Table of the averages of overlaps or of rank correlations."""
    heads = {"overlap": "", "n_significant": "p < 0.05", "n_queries": "queries"}
    heads["interval"] = "95% interval"
    columns = []
    for name in summary.columns:
        if name != "interval_high":
            name = name.removesuffix("_low")
            columns.append((heads.get(name, name), getattr(summary, name)))
    terms = {}
    if "coefficient" in summary.keys:
        terms = {"mean": "of the coefficient, over queries"}
    elif "minimum" in summary.columns:
        terms = {
            "minimum": "lower bound if the lists went on",
            "residual": "from this bound to the upper one",
            "distance": "rank-biased distance, 1 - mean",
        }
    return [text_tables.Table.of(*columns, terms=terms)]


def table_of_correlation(correlation: Any) -> Tables:
    """Table of an `OrderingCorrelation`: of its means, or of its only query."""
    if len(correlation.qid) > 1:
        return correlation.summary()._framed("summary()")
    return [
        text_tables.Table.of(
            ("coefficient", correlation.coefficients),
            ("value", correlation.values[0]),
            ("pvalue", correlation.pvalues[0], words.probability),
        )
    ]


def tables_of_ties(statistics: Any) -> Tables:
    """Tables of `TieStatistics`."""
    columns = [
        ("system", statistics.systems),
        ("queries", statistics.n_queries),
        ("with ties", statistics.tied_queries, words.percent),
        ("documents", statistics.n_documents),
        ("tied", statistics.tied_documents, words.percent),
        ("as before", statistics.repeated_documents, words.percent),
    ]
    against: list[tuple[Any, ...]] = [("against scores", statistics.systems)]
    for by, neighbours, queries in statistics._against():
        against += [(f"by {by}", neighbours), ("queries", queries)]
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
    tables = [columns, against, total] if len(against) > 1 else [columns, total]
    return [text_tables.Table.of(*table, terms=_TIES) for table in tables]


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
