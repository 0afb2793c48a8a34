"""Exact values with the interface and the measure names of pytrec_eval."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._engine import checks, messages, segments
from .._typing import FloatArray, IntArray
from ..io import _trec_inputs
from ..measures import FBeta, Measure, _measure, parse_measure
from ..measures._values import Detail, QueryValues
from ..statistics.averages import floored_logs, ratios, stds_of_means, weighted_mean
from . import _prepared, _resolved


class TopicRows(NamedTuple):
    """Retrieved or judged documents of topics, one topic after another.

    Attributes
    ----------
    topics : list of str
        Topic ids.
    labels : ndarray of shape (n_rows,)
        Labels: `UNJUDGED_LABEL` if a document is not judged, or `DROPPED_LABEL` if
        unjudged documents are left out.
    scores : ndarray of shape (n_rows,)
        Scores: -inf if a document is not retrieved.
    sizes : ndarray of shape (n_topics,)
        Number of rows of each topic, at least one.
    """

    topics: list[str]
    labels: FloatArray
    scores: FloatArray
    sizes: IntArray

    def values(
        self, resolved: _resolved.ResolvedMeasures, detail: Detail = Detail.EXPECTED
    ) -> QueryValues:
        """Compute the values of topics, of shape (n_topics, n_measures)."""
        offsets = segments.offsets_of(self.sizes)
        queries = checks.Queries(np.array(self.topics), offsets, None)
        prepared = _prepared.Prepared(self.labels, queries)
        return prepared.values(resolved, self.scores, detail)

    def n_retrieved(self, least: float | None = None) -> FloatArray:
        """Count each topic's retrieved documents with labels of at least `least`.

        Without `least`, documents without a label are also counted.
        """
        if least is None:
            least = checks.UNJUDGED_LABEL
        is_counted = checks.is_retrieved(self.scores) & (self.labels >= least)
        counts = segments.count_segments(is_counted, self.sizes)
        return counts.astype(np.float64)

    def n_judged(self, least: float) -> FloatArray:
        """Count each topic's documents with labels of at least `least`."""
        counts = segments.count_segments(self.labels >= least, self.sizes)
        return counts.astype(np.float64)

    def counts(self, rel: float) -> dict[str, FloatArray]:
        """Compute each topic's counts and ratios of counts, named as in trec_eval."""
        n_topics = len(self.topics)
        retrieved = self.n_retrieved()
        hits = self.n_retrieved(rel)
        counts = {"runid": np.zeros(n_topics), "num_q": np.ones(n_topics)}
        counts["num_ret"] = retrieved
        counts["num_rel"] = self.n_judged(rel)
        counts["num_rel_ret"] = hits
        counts["utility"] = 2 * hits - retrieved
        counts["set_relative_P"] = share_of_possible(self, rel)
        counts["num_nonrel_judged_ret"] = self.n_retrieved(0.0) - hits
        return counts


class JudgedTopics:
    """The labels of each topic that has labels.

    Parameters
    ----------
    qrels : dict of dicts
        Labels by topic and document, or other judgments that `load_trec` reads.

    Raises
    ------
    ValueError
        As in `load_trec`.
    """

    def __init__(self, qrels: Any) -> None:
        lines = _trec_inputs.read_judgments(qrels)
        self.labels = {}
        for name, topic in lines.topics.items():
            if topic.docno:
                labels = np.nan_to_num(topic.values, nan=checks.UNJUDGED_LABEL)
                self.labels[name] = dict(zip(topic.docno, labels.tolist(), strict=True))

    def rows(self, run: Any, name: str, *, judged_only: bool = False) -> TopicRows:
        """Return the documents of the judged topics of a run, in the run's order.

        Parameters
        ----------
        run : dict of dicts
            Scores by topic and document, or another run that `load_trec` reads.
        name : str
            Name of the run in messages.
        judged_only : bool
            Whether to leave out documents without a label.

        Raises
        ------
        ValueError
            As in `load_trec`, except that a run without a judged topic is accepted.
        """
        lines = _trec_inputs.read_run(run, name)
        known = [topic for topic in lines.topics if topic in self.labels]
        labels = []
        scores = []
        sizes = []
        for topic in known:
            judged = self.labels[topic]
            retrieved = lines.topics[topic]
            documents = set(retrieved.docno)
            for docno in retrieved.docno:
                labels.append(judged.get(docno, checks.UNJUDGED_LABEL))
            scores += retrieved.values.tolist()
            missed = [judged[docno] for docno in judged if docno not in documents]
            labels += missed
            scores += [-math.inf] * len(missed)
            sizes.append(len(documents) + len(missed))
        label_array = np.array(labels, dtype=np.float64)
        score_array = np.array(scores, dtype=np.float64)
        if judged_only:
            label_array[label_array == checks.UNJUDGED_LABEL] = checks.DROPPED_LABEL
        n_rows = np.array(sizes, dtype=np.int64)
        return TopicRows(known, label_array, score_array, n_rows)


class Named(NamedTuple):
    """A measure with its name in results.

    Attributes
    ----------
    key : str
        Name in results.
    measure : Measure, optional
        Measure, or None for a count of `TopicRows.counts`.
    cutoff : float, optional
        Cut-off k of relative_P, which is hits / min(k, R). The measure is then recall
        at k.
    is_log : bool
        Whether values are logarithms, as for a geometric mean.
    """

    key: str
    measure: Measure | None = None
    cutoff: float | None = None
    is_log: bool = False


def share_of_possible(rows: TopicRows, rel: float) -> FloatArray:
    """Return the relevant documents retrieved, as a share of the possible number."""
    most = np.minimum(rows.n_judged(rel), rows.n_retrieved())
    return ratios(rows.n_retrieved(rel), most, undefined=0.0)


#: Default cut-offs of trec_eval.
_CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
#: Valid values of the argument `statistics`.
_STATISTICS = ("expected", "best", "worst", "std")
#: Measures in the order of trec_eval. Each measure maps to the name for
#: `parse_measure`, to the default cut-offs, recall levels or β², or to None if the
#: measure is a count.
_TREC_EVAL: dict[str, str | tuple[str, ...] | None] = {
    "runid": None,
    "num_q": None,
    "num_ret": None,
    "num_rel": None,
    "num_rel_ret": None,
    "map": "map",
    "gm_map": "map",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "recip_rank": "recip_rank",
    "iprec_at_recall": tuple(f"{tenth / 10}" for tenth in range(11)),
    "P": _CUTOFFS,
    "recall": _CUTOFFS,
    "gm_bpref": "bpref",
    "utility": None,
    "11pt_avg": "11pt_avg",
    "ndcg": "ndcg(gain=linear)",
    "ndcg_cut": _CUTOFFS,
    "map_cut": _CUTOFFS,
    "relative_P": _CUTOFFS,
    "success": ("1", "5", "10"),
    "set_P": "set_P",
    "set_relative_P": None,
    "set_recall": "set_recall",
    "set_map": "SetAP",
    "set_F": ("1",),
    "num_nonrel_judged_ret": None,
}
#: Names of pytrec_eval with cut-offs, recall levels or β², such as ``P_5,10``.
_WITH_NUMBERS = re.compile(r"(.+?)[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)")


def named_measures(measures: Any, rel: float) -> list[Named]:
    """Return the named measures: first trec_eval's, in the order of trec_eval.

    Parameters
    ----------
    measures : str, Measure or iterable of them
        Names of pytrec_eval keep their meaning. Numbers in a name, as in ``"P_5,10"``,
        replace the default cut-offs, recall levels or β². set_F accepts a single
        number. All other names are read by `parse_measure`.
    rel : float
        Smallest label of a relevant document, for measures that do not state ``rel``.

    Raises
    ------
    ValueError
        If no name is given, if a name is unknown or not supported, if a number in a
        name is not a valid cut-off, recall level or β², if set_F has several numbers,
        or if two measures have the same name in results.
    """
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise ValueError(
            f"measures must be one or more names or Measures, got {measures!r}"
        )
    names = list(measures)
    if not names:
        raise ValueError("measures must name at least one measure, got none")
    if isinstance(measures, (set, frozenset)):
        # The order of a set of strings differs between processes.
        names.sort(key=str)
    numbers: dict[str, list[str]] = {}
    parsed = {}
    for measure in names:
        name = measure if isinstance(measure, str) else ""
        match = _WITH_NUMBERS.fullmatch(name)
        if name in _TREC_EVAL:
            numbers.setdefault(name, [])
        elif match is not None and isinstance(_TREC_EVAL.get(match[1]), tuple):
            listed = match[2].split(",")
            numbers.setdefault(match[1], []).extend(listed)
        else:
            parsed[str(measure)] = parse_measure(measure)
    results: list[Named] = []
    for name in _TREC_EVAL:
        if name in numbers:
            results += _trec_eval_measures(name, numbers[name])
    results += [Named(key, measure) for key, measure in parsed.items()]
    keys = set()
    for named in results:
        if named.key in keys:
            raise ValueError(
                f"measures must have different names in results, got {named.key} twice"
            )
        keys.add(named.key)
    return [named._replace(measure=_at_level(named.measure, rel)) for named in results]


def _at_level(measure: Measure | None, rel: float) -> Measure | None:
    """Return the measure with this relevance threshold, unless its name states one."""
    if getattr(measure, "rel", None) is not _measure.DEFAULT:
        return measure
    return replace(measure, rel=rel)  # type: ignore[type-var]


def _trec_eval_measures(name: str, numbers: list[str]) -> Iterator[Named]:
    """Yield the measures for a name of trec_eval, in ascending order of numbers."""
    meaning = _TREC_EVAL[name]
    if meaning is None:
        yield Named(name)
    elif isinstance(meaning, str):
        yield Named(name, parse_measure(meaning), is_log=name.startswith("gm_"))
    else:
        chosen = sorted(set(map(float, numbers or meaning)))
        if name == "set_F" and len(chosen) > 1:
            raise ValueError(
                f"measures must contain at most one number for set_F, got {len(chosen)}"
            )
        digits = 2 if name == "iprec_at_recall" else 0
        for number in chosen:
            text = _measure.shortest(number)
            key = f"{name}_{number:.{digits}f}"
            if name == "set_F":
                # The number in trec_eval's name is β².
                yield Named(name, FBeta(beta=number**0.5))
            elif name == "relative_P":
                yield Named(key, parse_measure(f"recall_{text}"), cutoff=number)
            else:
                yield Named(key, parse_measure(f"{name}_{text}"))


#: Type of several statistics. The type `Sequence[str]` would include a string.
Statistics = list[str] | tuple[str, ...]


class RelevanceEvaluator:
    """Tie-aware evaluation of runs, with the arguments and results of pytrec_eval.

    This class can replace ``pytrec_eval.RelevanceEvaluator``, because the arguments,
    the names of measures, and the topics and keys in results are the same. pytrec_eval
    breaks ties by document id. By default, `RelevanceEvaluator` returns the mean over
    the orders of ties. The best value, the worst value and the standard deviation are
    also available.

    Parameters
    ----------
    query_relevance : dict of dicts
        Labels by topic and document, or other judgments that `load_trec` reads. Labels
        below 0 are not judgments. If the judgments of a topic are an empty dict, the
        topic is left out, as in pytrec_eval.
    measures : iterable of str or Measure
        Names of pytrec_eval, with the definitions and defaults of pytrec_eval:
        ``"map"``, ``"ndcg"`` (with linear gain), ``"P"`` (at 5, 10, 15, 20, 30, 100,
        200, 500 and 1000), ``"P_5"``, ``"ndcg_cut.5,10"``, ... `parse_measure` reads
        all other names, so ``"ndcg@10"`` is NDCG with exponential gain.
    relevance_level : float, default=1
        Documents with a label of at least `relevance_level` are relevant, except in
        measures that state a ``rel``.
    judged_docs_only_flag : bool, default=False
        Whether to leave out documents without a judgment.

    Raises
    ------
    ValueError
        If the judgments cannot be read, if there is no measure, if a measure is
        unknown, if two measures have the same name in results, or if an option is
        invalid. If a judgment is invalid, the message names the topic and the document.
        These names of pytrec_eval are unknown: G, Rndcg, Rprec_mult, binG, infAP,
        ndcg_rel, relstring, the preference measures, and the nicknames of several
        measures, such as official and all_trec.

    See Also
    --------
    evaluate : Reports the same values for arrays.
    tieaware_sklearn.datasets.load_trec : Reads judgments and runs as arrays.
    compare_systems : Compares several runs, with tests of their differences.

    Notes
    -----
    `RelevanceEvaluator` compares scores in 64 bits, and pytrec_eval in 32 bits. Scores
    that differ only in 64 bits therefore tie in pytrec_eval, but not in
    `RelevanceEvaluator`. pytrec_eval contains trec_eval 9. If no scores tie in 32 bits,
    measures named as in pytrec_eval return the values of pytrec_eval, with one
    exception. If a run contains a topic without documents, measures of the ranking,
    such as ``map``, are 0 for this topic, while pytrec_eval returns NaN for some of
    these measures.

    For each topic, the values of ``gm_map`` and ``gm_bpref`` are logarithms: by
    default, logarithms of the mean over the orders of ties. The number in ``set_F_2``
    is β².

    C. Van Gysel and M. de Rijke, "Pytrec_eval: an extremely fast Python interface to
    trec_eval", SIGIR 2018.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import RelevanceEvaluator
    >>> evaluator = RelevanceEvaluator({"q1": {"d1": 0, "d2": 1, "d3": 0}},
    ...                                {"map", "P_2"})
    >>> run = {"q1": {"d1": 2.0, "d2": 1.5, "d3": 1.5}}
    >>> evaluator.evaluate(run)
    {'q1': {'map': 0.41666666666666663, 'P_2': 0.25}}
    >>> both = evaluator.evaluate(run, statistics=["worst", "best"])
    >>> both["best"]["q1"]["map"]
    0.5
    """

    def __init__(
        self,
        query_relevance: Any,
        measures: Iterable[str | Measure],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not checks.is_number(relevance_level, above=0):
            raise ValueError(
                "relevance_level must be a finite number > 0, got "
                f"{messages.show(relevance_level)}"
            )
        # pytrec_eval accepts 1 in place of True.
        if judged_docs_only_flag not in (False, True):
            raise ValueError(
                "judged_docs_only_flag must be True or False, got "
                f"{messages.show(judged_docs_only_flag)}"
            )
        self._rel = relevance_level
        self._judged_only = judged_docs_only_flag
        self._named = named_measures(measures, self._rel)
        parsed = [named.measure for named in self._named if named.measure is not None]
        self._resolved = _resolved.resolve(parsed, unjudged="nonrelevant")
        self._judged = JudgedTopics(query_relevance)

    def evaluate(
        self, scores: Any, *, statistics: str | Statistics = "expected"
    ) -> dict[str, Any]:
        """Evaluate a run, topic by topic.

        Parameters
        ----------
        scores : dict of dicts
            Scores by topic and document, or another run that `load_trec` reads.
        statistics : str or list of str, default="expected"
            One or several of "expected", "best", "worst" and "std". "std" is not
            available for ``gm_map`` and ``gm_bpref``.

        Returns
        -------
        dict
            Values by topic and measure, as in pytrec_eval, for topics that are both
            judged and in the run. If `statistics` is a list, the result maps the name
            of each statistic to a dict of this form.

        Raises
        ------
        ValueError
            If the id of a document or a topic is empty or is neither a string nor
            bytes, if a score is not a finite number, if the run contains no judged
            topic, if `statistics` is empty or contains an unknown or repeated name, or
            if "std" is requested with ``gm_map`` or ``gm_bpref``. If a score is
            invalid, the message names the topic and the document.
        """
        topics, tables = self._computed(scores, statistics)
        keys = [named.key for named in self._named]
        results = {}
        for name, values in tables.items():
            by_topic = {}
            for topic, row in zip(topics, values.tolist(), strict=True):
                by_topic[topic] = dict(zip(keys, row, strict=True))
            results[name] = by_topic
        return results[statistics] if isinstance(statistics, str) else results

    def aggregate(
        self, scores: Any, *, statistics: str | Statistics = "expected"
    ) -> dict[str, Any]:
        """Evaluate a run over all topics.

        Parameters
        ----------
        scores, statistics
            As in `evaluate`.

        Returns
        -------
        dict
            Values by measure, as from ``pytrec_eval.compute_aggregated_measure``: sums
            for measures of pytrec_eval whose names begin with ``num_``, geometric means
            for ``gm_map`` and ``gm_bpref``, and means for all other measures. "std" is
            the standard deviation, over the orders of ties, of the mean over topics,
            and 0 for sums. If `statistics` is a list, the result maps the name of each
            statistic to a dict of this form.

        Raises
        ------
        ValueError
            As in `evaluate`.
        """
        _, tables = self._computed(scores, statistics)
        results = {}
        for name, values in tables.items():
            by_measure = {}
            for named, column in zip(self._named, values.T, strict=True):
                by_measure[named.key] = _aggregate(named, column, name)
            results[name] = by_measure
        return results[statistics] if isinstance(statistics, str) else results

    def _computed(
        self, scores: Any, statistics: str | Statistics
    ) -> tuple[list[str], dict[str, FloatArray]]:
        """Return topics, and an array of shape (n_topics, n_measures) per statistic."""
        chosen = checks.check_choices(statistics, "statistics", _STATISTICS)
        for named in self._named:
            if named.is_log and "std" in chosen:
                raise ValueError(
                    f'statistics must not contain "std" with {named.key}, whose '
                    "standard deviation has no closed form"
                )
        rows = self._judged.rows(scores, "scores", judged_only=self._judged_only)
        if not rows.topics:
            raise ValueError(
                "scores must contain a topic that is judged, got none of the "
                f"{len(self._judged.labels)} topics of query_relevance"
            )
        detail = Detail.EXPECTED if chosen == ["expected"] else Detail.DEVIATION
        values = rows.values(self._resolved, detail)
        counts = rows.counts(self._rel)
        tables = {}
        for name in chosen:
            columns = []
            # Counts have no column in `values`.
            measured = iter(getattr(values, name).T)
            for named in self._named:
                if named.measure is not None:
                    column = next(measured)
                elif name != "std":
                    column = counts[named.key]
                else:
                    # The order of ties does not change counts.
                    column = np.zeros(len(rows.topics))
                if named.cutoff is not None:
                    # Recall times R is the number of hits.
                    total = counts["num_rel"]
                    most = np.minimum(total, named.cutoff)
                    column = column * ratios(total, most, undefined=0.0)
                columns.append(floored_logs(column) if named.is_log else column)
            tables[name] = np.column_stack(columns)
        return rows.topics, tables


def _aggregate(named: Named, values: FloatArray, statistic: str) -> float:
    """Return the value over all topics, which is a sum for numbers of documents."""
    if named.measure is None and named.key.startswith("num_"):
        return math.fsum(values.tolist())
    if statistic == "std":
        return float(stds_of_means(values))
    average = weighted_mean(values)
    return math.exp(average) if named.is_log else average
