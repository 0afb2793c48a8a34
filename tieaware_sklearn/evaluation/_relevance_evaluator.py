"""An evaluator in the shape of pytrec_eval's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, overload

import numpy as np

from .._engine.exact import show
from .._engine.ties import FloatArray
from .._engine.validation import check_choices, is_number
from ..measures import Measure
from ._averages import GEOMETRIC_FLOOR, mean
from ._judged_topics import JudgedTopics, TopicRows
from ._labelled_queries import STATISTICS
from ._pytrec_eval_names import Named, named_measures
from ._undefined import ask

#: several of them; a text would be a sequence of texts, too
Statistics = list[str] | tuple[str, ...]


class RelevanceEvaluator:
    """Exact values of runs for the names and in the shape of pytrec_eval.

    It takes the place of ``pytrec_eval.RelevanceEvaluator``: the same arguments, the
    same names of measures, the same topics and keys in what it returns. pytrec_eval
    breaks ties by document id; here a value is the exact mean over the orders of ties.
    Best, worst and standard deviation come on request.

    Parameters
    ----------
    query_relevance : dict of dicts
        Labels by topic and document. Labels below 0 are no judgments. What else
        `load_trec` reads judgments from is accepted, too.
    measures : iterable of str or Measure
        Names of pytrec_eval with its definitions and defaults: ``"map"``, ``"ndcg"``
        (with linear gain), ``"P"`` (at 5, 10, 15, 20, 30, 100, 200, 500 and 1000),
        ``"P_5"``, ``"ndcg_cut.5,10"``, ``"official"``, ... All other names are read by
        `parse_measure`: ``"ndcg@10"`` has exponential gain.
    relevance_level : float, default=1
        Documents with a label of at least `relevance_level` are relevant, in measures
        that do not spell out a ``rel`` of their own.
    judged_docs_only_flag : bool, default=False
        Whether to leave out documents without a judgment.

    Raises
    ------
    ValueError
        For judgments that are not labels by topic and document (with topic and
        document), for unknown measures, for measures of pytrec_eval that have no
        definition here (G, Rndcg, Rprec_mult, binG, infAP, ndcg_rel, relstring, and
        its preference measures), and for options that are none.

    See Also
    --------
    evaluate : The same for arrays, with a report.
    tieaware_sklearn.datasets.load_trec : Judgments and runs as arrays.
    compare_systems : Several runs, with tests of their differences.

    Notes
    -----
    Scores are compared in 64 bits, where pytrec_eval compares them in 32: scores that
    only 64 bits tell apart do not tie here. Without any ties the values are those of
    pytrec_eval, which has trec_eval 9 inside, with these exceptions: a topic for which
    a run has no documents has the value 0 in all measures of its ranking, where
    pytrec_eval has NaN for some; and ``gm_map`` and ``gm_bpref`` are logarithms of the
    exact means. The number in ``set_F_2`` is β².

    C. Van Gysel and M. de Rijke, "Pytrec_eval: an extremely fast Python interface to
    trec_eval", SIGIR 2018.

    Examples
    --------
    >>> from tieaware_sklearn import RelevanceEvaluator
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
        if not is_number(relevance_level, above=0):
            raise ValueError(
                "relevance_level must be a finite number > 0, got "
                f"{show(relevance_level)}"
            )
        # pytrec_eval takes 1 for True
        if judged_docs_only_flag not in (False, True):
            raise ValueError(
                "judged_docs_only_flag must be True or False, got "
                f"{show(judged_docs_only_flag)}"
            )
        self._rel = float(relevance_level)
        self._judged_only = bool(judged_docs_only_flag)
        self._named = named_measures(measures, self._rel)
        self._asked = ask(
            [named.measure for named in self._named if named.measure is not None],
            unjudged="nonrelevant",
        )
        self._judged = JudgedTopics(query_relevance)

    @overload
    def evaluate(
        self, scores: Any, *, statistics: str = ...
    ) -> dict[str, dict[str, float]]: ...
    @overload
    def evaluate(
        self, scores: Any, *, statistics: Statistics
    ) -> dict[str, dict[str, dict[str, float]]]: ...
    def evaluate(
        self,
        scores: Any,
        *,
        statistics: str | Statistics = "expected",
    ) -> dict[str, Any]:
        """Evaluate a run, topic by topic.

        Parameters
        ----------
        scores : dict of dicts
            Scores by topic and document. What else `load_trec` reads a run from is
            accepted, too.
        statistics : str or list of str, default="expected"
            "expected", "best", "worst" or "std", or several of them. There is no "std"
            of ``gm_map`` and ``gm_bpref``.

        Returns
        -------
        dict
            Values by topic and measure, as pytrec_eval returns them, of the topics
            that are both judged and in the run. A list of statistics gives one such
            dict for each of them, by its name.

        Raises
        ------
        ValueError
            For documents and topics that are not strings and for scores that are not
            finite numbers (with topic and document), for a run without a topic that
            is judged, and for unknown statistics.
        """
        chosen = self._chosen(statistics)
        rows = self._rows(scores)
        keys = [named.key for named in self._named]
        found: dict[str, dict[str, dict[str, float]]] = {}
        for name, values in zip(chosen, self._values(rows, chosen), strict=True):
            each = (dict(zip(keys, row, strict=True)) for row in values.tolist())
            found[name] = dict(zip(rows.topics, each, strict=True))
        return found[statistics] if isinstance(statistics, str) else found

    @overload
    def aggregate(self, scores: Any, *, statistics: str = ...) -> dict[str, float]: ...
    @overload
    def aggregate(
        self, scores: Any, *, statistics: Statistics
    ) -> dict[str, dict[str, float]]: ...
    def aggregate(
        self,
        scores: Any,
        *,
        statistics: str | Statistics = "expected",
    ) -> dict[str, Any]:
        """Evaluate a run over all topics.

        Parameters
        ----------
        scores, statistics
            As in `evaluate`.

        Returns
        -------
        dict
            Values by measure, as ``pytrec_eval.compute_aggregated_measure`` has them:
            sums of counts, geometric means of ``gm_map`` and ``gm_bpref``, and means of
            all other measures. The standard deviation is that of the mean over topics.
            A list of statistics gives one such dict for each of them, by its name.

        Raises
        ------
        ValueError
            As in `evaluate`, and for a run without topics.
        """
        chosen = self._chosen(statistics)
        rows = self._rows(scores)
        if not rows.topics:
            raise ValueError("scores must hold at least one topic, got none")
        found = {}
        for name, values in zip(chosen, self._values(rows, chosen), strict=True):
            pairs = zip(self._named, values.T, strict=True)
            found[name] = {named.key: _of_all(named, own, name) for named, own in pairs}
        return found[statistics] if isinstance(statistics, str) else found

    def _chosen(self, statistics: str | Statistics) -> list[str]:
        chosen = check_choices(statistics, "statistics", STATISTICS)
        logs = [named.key for named in self._named if named.is_log]
        if "std" in chosen and logs:
            raise ValueError(
                f'statistics must not hold "std" with {logs[0]}, whose standard '
                "deviation has no closed form"
            )
        return chosen

    def _rows(self, scores: Any) -> TopicRows:
        rows = self._judged.rows(scores, "scores", judged_only=self._judged_only)
        if not rows.topics and not (isinstance(scores, Mapping) and not scores):
            raise ValueError(
                "scores must hold a topic that is judged, got none of the "
                f"{len(self._judged.topics)} topics of query_relevance"
            )
        return rows

    def _values(self, rows: TopicRows, statistics: list[str]) -> list[FloatArray]:
        """Each statistic, of shape (n_topics, n_measures)."""
        n_topics = len(rows.topics)
        if not n_topics:
            return [np.empty((0, len(self._named))) for _ in statistics]
        ours = [np.empty((n_topics, 0))] * len(statistics)
        if self._asked.measures:
            ours = rows.values(self._asked, tuple(statistics))
        factors = [
            None if named.factor is None else named.factor(rows, self._rel)
            for named in self._named
        ]
        out = []
        for name, values in zip(statistics, ours, strict=True):
            columns, fixed = iter(values.T), np.full(n_topics, float(name != "std"))
            found = np.empty((n_topics, len(self._named)))
            for j, (named, factor) in enumerate(zip(self._named, factors, strict=True)):
                column = fixed if named.measure is None else next(columns)
                if factor is not None:
                    column = column * factor
                if named.is_log:
                    column = np.log(np.maximum(column, GEOMETRIC_FLOOR))
                found[:, j] = column
            out.append(found)
        return out


def _of_all(named: Named, values: FloatArray, statistic: str) -> float:
    """The value of all topics, from those of each."""
    if statistic == "std":
        variance = math.fsum((values**2).tolist())
        return math.sqrt(variance) / (1 if named.is_sum else len(values))
    if named.is_sum:
        return math.fsum(values.tolist())
    return math.exp(mean(values)) if named.is_log else mean(values)
