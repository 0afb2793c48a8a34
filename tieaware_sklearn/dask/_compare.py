"""Systems compared where their rows are: on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._engine.digests import Digests
from .._engine.known_queries import id_digests
from .._engine.validation import check_choice, check_share
from ..comparison import SystemComparisons
from ..comparison._comparison_sums import STATISTICS, ComparisonSums
from ..comparison._measured_systems import check_baselines, pairs_with
from ..comparison._merged_comparison import merged_comparisons
from ..comparison._paired_tests import ALTERNATIVES, TESTS
from ..comparison._systems import INTERVALS, check_correction
from ..evaluation._prepared_ranking import ColumnNames, prepare_labels
from ..evaluation._tie_rules import TieRules
from ..evaluation._undefined import ask
from ..measures import Measure
from ..measures._parse import parse_measures
from ._columns import check_given
from ._faults import Names, Wanted
from ._partitions import gathered, merged


def compare_systems(
    df: Any,
    *,
    scores: Sequence[str],
    label: str = "label",
    qid: str = "qid",
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    ties: str | Sequence[str] = "expected",
    external: Mapping[str, Any] | None = None,
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    interval: str = "t",
    confidence: float = 0.95,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    shuffle: bool = True,
) -> Any:
    """Compare systems on a cluster pair by pair, over queries and over their ties.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    scores : list of str
        Columns with the scores of the systems, with -inf for documents that a system
        does not retrieve. The systems have the names of their columns.
    label, qid : str, default="label", "qid"
        Columns with labels and query ids.
    measure, baseline, alternative, correction, confidence, zero_relevance, unjudged
        As in `tieaware_sklearn.compare_systems`.
    ties : str or list of str, default="expected"
        Treatment of ties: "expected", the exact mean over the orders of tied documents;
        "best" or "worst" of these; or the name of a rule in `external`. With a list,
        several treatments side by side. There is no "input", because rows of a cluster
        have no order; a column with their numbers can be a rule.
    external : mapping of str to str or tuple, optional
        External rules for ties by name: a column whose smallest value ranks first, a
        pair of a column and "ascending" or "descending", or a triple of these and
        "float32", as in `break_ties`.
    test, interval : {"t"}, default="t"
        The paired t test, and Student's t interval of the difference. The others need
        the values of all queries; see Notes.
    shuffle : bool, default=True
        As in `evaluate`.

    Returns
    -------
    MergedComparison or SystemComparisons
        The same as `tieaware_sklearn.compare_systems`, without the values of each
        query: means, differences, tie std and tie range to the last bit, intervals,
        tests and effect sizes to 1e-12 (the ends of intervals of effect sizes to 1e-8).
        No bit depends on how rows are divided into partitions. The latter if `measure`
        or `ties` is a list.

    Raises
    ------
    ValueError
        As in `tieaware_sklearn.compare_systems`, if `df` does not have a column, and if
        a query is in several partitions without `shuffle` (the message names it).

    Warns
    -----
    UndefinedMetricWarning
        If the measure is undefined for every query of a system.

    See Also
    --------
    tieaware_sklearn.compare_systems : The same in memory, with further tests.
    evaluate_queries : The values of every query of one system, left on the cluster.

    Notes
    -----
    Each worker sums over its queries the values of each system and the differences of
    each pair, without rounding. Sums and digests are merged as in `evaluate`. Tukey's
    test needs sums over the queries where all systems are defined.

    Wilcoxon's test, the randomization test and bootstrap intervals need the values of
    all queries. `evaluate_queries` has them for one system; of two, the differences of
    the column ``expected`` go to `scipy.stats.wilcoxon`, `scipy.stats.permutation_test`
    or `scipy.stats.bootstrap`.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import compare_systems
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0, 0, 1, 0],
    ...                      "clicks": [9, 1, 1, 5, 2, 2, 1, 1, 0],
    ...                      "age": [1, 2, 3, 2, 3, 3, 1, 1, 1],
    ...                      "qid": [1, 1, 1, 2, 2, 2, 3, 3, 3]})
    >>> print(compare_systems(dd.from_pandas(rows, npartitions=2),
    ...                       scores=["clicks", "age"], measure="rr"))
    RR        mean   worst    best  tie std
    ---------------------------------------
    clicks  0.9167  0.8333  1.0000   0.0833
    age     0.4259  0.3333  0.5556   0.0944
    <BLANKLINE>
    A       B     A - B    ±95%  tie std         tie range  holds   p (t)     d
    ---------------------------------------------------------------------------
    clicks  age  0.4907  0.7569   0.1259  [0.2778, 0.6667]    yes  0.1081  1.61
    """
    check_choice(test, "test", TESTS)
    check_choice(interval, "interval", INTERVALS)
    for name, value in (("test", test), ("interval", interval)):
        if value != "t":
            raise ValueError(
                f"{name} must be 't' on a cluster, got {value!r}, which needs the "
                "values of all queries: take them from evaluate_queries, and give "
                "their differences to scipy.stats"
            )
    check_choice(alternative, "alternative", ALTERNATIVES)
    check_correction(correction, test, alternative, baseline)
    check_share(confidence, "confidence")
    several = not isinstance(measure, (str, Measure)) or not isinstance(ties, str)
    asked = ask(parse_measures(measure, name="measure"), zero_relevance, unjudged)
    if isinstance(scores, (str, Mapping)) or not _is_list(scores):
        raise ValueError(f"scores must be a list of columns, got {scores!r}")
    chosen = list(scores)
    check_given(label=label, qid=qid)
    systems = tuple(map(str, chosen))
    for name in systems:
        if systems.count(name) > 1:
            raise ValueError(
                f"scores must have a different name for each system, got {name} twice"
            )
    keys = [key for key in _key_columns(external) if key not in (label, qid, *chosen)]
    treatments = _rules(external, None, systems).check(ties)
    if "input" in treatments:
        raise ValueError(
            "ties must not be 'input' on a cluster, where rows have no order: a column "
            "with their numbers can be a rule, external={'input order': column}"
        )
    baselines = check_baselines(baseline, systems)
    pairs = pairs_with(baselines, systems)

    def sums(frame: Any) -> tuple[ComparisonSums, Digests]:
        prepared = prepare_labels(
            frame[label], frame[qid], unjudged=asked.unjudged, keep=True,
            names=ColumnNames(label=label, qid=qid),
        )  # fmt: skip
        rules = _rules(external, frame, systems)
        columns = [
            prepared.scores(frame[name], ColumnNames(score=name)) for name in chosen
        ]
        found = [
            [
                rules.values(
                    prepared, asked, column, treatment, STATISTICS[1:], column=j
                )
                for j, column in enumerate(columns)
            ]
            for treatment in treatments
        ]
        # by query, treatment, measure and system
        values = {
            name: np.array([[one[name] for one in each] for each in found])
            .transpose(2, 0, 3, 1)
            for name in STATISTICS
        }  # fmt: skip
        parts = ComparisonSums.of(values, pairs, residuals=correction == "tukey")
        return parts, id_digests(prepared.queries.qid, qid)

    names = Names(label, qid, None)
    rows = gathered(df, names, shuffle, [*chosen, *keys], "scores")
    wanted = Wanted(names, asked, scores=chosen)
    found, _ = merged(rows, sums, qid, shuffle, keep=False, wanted=wanted)
    # of each measure, whether it is defined for any query of each system
    defined = found.systems.count[0, 0].all(axis=1)
    asked.warn_of_nan(np.where(defined, 0.0, np.nan).tolist())
    comparisons = merged_comparisons(
        found, asked, treatments, pairs, systems=systems, baselines=baselines,
        test=test, correction=correction, alternative=alternative,
        interval=interval, confidence=float(confidence),
    )  # fmt: skip
    return SystemComparisons(tuple(comparisons)) if several else comparisons[0]


def _is_list(columns: Any) -> bool:
    """Whether there is something in it."""
    return isinstance(columns, Iterable) and bool(list(columns))


def _key_columns(external: Any) -> list[str]:
    """The columns of external rules, each once."""
    if not isinstance(external, Mapping):
        return []  # or an error
    for name, key in external.items():
        column, *_ = _as_tuple(key)
        if not isinstance(column, Hashable):
            raise ValueError(
                f"external[{name!r}] must be a column of df, or a tuple of a column "
                f"and how it is compared, got {key!r}"
            )
    return list(dict.fromkeys(_as_tuple(key)[0] for key in external.values()))


def _as_tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) and key else (key,)


def _rules(external: Any, frame: Any, systems: tuple[str, ...]) -> TieRules:
    """Rules for the rows of a frame; without one, only checked."""
    if not isinstance(external, Mapping):
        return TieRules(external, 1, systems)
    given = {}
    for name, key in external.items():
        column, *how = _as_tuple(key)
        values = [0] if frame is None else frame[column]
        if "random" in how:
            raise ValueError(
                f"external[{name!r}] must be 'ascending' or 'descending' on a cluster, "
                "where each partition would draw orders of its own, got 'random'"
            )
        given[name] = (values, *how) if how else values
    return TieRules(given, 1 if frame is None else len(frame), systems)
