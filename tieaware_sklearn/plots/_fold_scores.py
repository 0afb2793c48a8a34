"""Scores of the folds of a cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evaluation import RankingReport
from ..measures import parse_measure
from ..statistics.averages import weighted_mean
from . import _base

#: Label of the row of a single result.
_ALL_FOLDS = "all folds"


@dataclass(eq=False)
class FoldScoresDisplay(_base.Display):
    """Scores of each fold, as returned by `cross_validate`, and their means.

    A dot is a fold, and a diamond is the mean over folds. With `reports`, a bar is the
    range over the orders of ties.

    Folds whose score is NaN, for example because scikit-learn caught an error, are left
    out. The number of scored folds is shown beside each row. Make the display with
    `from_result`.

    Parameters
    ----------
    cv_results : dict, or mapping of str to dict
        Result of `sklearn.model_selection.cross_validate` for one model, or for each of
        several models by name. Only ``test_score`` and ``test_<name>`` are drawn.
    reports : RankingReport, or mapping of str to RankingReport, optional
        Report on the held-out predictions if `cv_results` is a single result, or
        reports of some of the models by name. If a score is named after a measure of
        the report, as in `parse_measure`, a bar shows the range of the mean of the
        measure over the orders of ties. If the name begins with ``neg_``, the range is
        negated.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        One panel per score, such as ``test_ap``.
    ax_ : matplotlib Axes
        The only panel, if there is one score.

    Raises
    ------
    ValueError
        If no key starts with ``test_``, if the name of a report is not the name of a
        model, if a single report is given although `cv_results` maps names to results,
        or if no measure of a report is the measure of a score.

    See Also
    --------
    make_ranking_scorer : Makes the scorers of one or several measures.
    TieRangeDisplay : Draws the ranges of reports without folds.

    Notes
    -----
    The mean over folds gives each fold the same weight. The range over the orders of
    ties is the range of the mean over all queries of the report. If the folds have
    different numbers of queries, the mean over folds can lie outside this range.

    `cross_validate` names the scores ``test_score`` if ``scoring`` is a single scorer.
    The measure is then unknown, so `reports` cannot be given. To draw reports, call
    `make_ranking_scorer` with a list, which may contain a single measure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from tieaware_sklearn import QueryKFold, make_ranking_scorer
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import FoldScoresDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> X = np.column_stack([web.qid, web.data])
    >>> results = cross_validate(
    ...     DecisionTreeRegressor(max_depth=3), X, web.target, cv=QueryKFold(qid=0),
    ...     scoring=make_ranking_scorer(["ndcg@10", "ap"], qid=0))
    >>> display = FoldScoresDisplay.from_result(results)
    >>> [axis.get_title(loc="left") for axis in display.axes_]
    ['ndcg@10', 'ap']
    """

    cv_results: Mapping[str, Any]
    reports: Any = None

    def _draw(self, ax: Any) -> None:
        results = self.cv_results
        reports = self.reports or {}
        if not all(isinstance(result, Mapping) for result in results.values()):
            results = {_ALL_FOLDS: results}
        if isinstance(reports, RankingReport):
            reports = {_ALL_FOLDS: reports}
        # A dict keeps each score once, in the order of the results.
        names = {}
        for result in results.values():
            for key in result:
                if key.startswith("test_"):
                    names[key.removeprefix("test_")] = key
        if not names:
            raise ValueError(
                "cv_results must have keys test_score or test_<name>, got "
                f"{list(self.cv_results)}"
            )
        for model, report in reports.items():
            ranges = [_tie_range(report, name) for name in names]
            if model not in results or np.isnan(ranges).all():
                raise ValueError(
                    f"reports must be for {list(results)} and contain one of the "
                    f"measures {list(names)}, got {list(report.measures)} for {model!r}"
                )
        axes = self._panels_of_rows(ax, len(names), len(results))
        for axis, (name, key) in zip(axes, names.items(), strict=True):
            if reports:
                ranges = [_tie_range(reports.get(model), name) for model in results]
                _base.show_ranges(axis, np.array(ranges))
            means = []
            counts = []
            for row, result in enumerate(results.values()):
                scores = np.asarray(result.get(key, []))
                rows = np.full(len(scores), row)
                axis.plot(scores, rows, "o", color=_base.BLUE, label="a fold")
                means.append(weighted_mean(scores))
                counts.append(f"{np.isfinite(scores).sum()} of {len(scores)}")
            _base.show_means(axis, np.array(means), "mean over folds")
            _base.show_rows(axis, _base.short_names(results))
            _base.show_beside(axis, "scored folds", counts)
            axis.set_xlabel("score on test folds")
            _base.show_title(axis, name)


def _tie_range(report: RankingReport | None, score: str) -> tuple[float, float]:
    """Return the worst and the best mean of the measure of a score.

    The means are NaN if there is no report, or if the report does not contain the
    measure. If the score is negated, the means are also negated.
    """
    measure = score.removeprefix("neg_")
    # The names of other libraries' scorers are not names of measures.
    with suppress(ValueError):
        measure = str(parse_measure(measure))
    if report is None or measure not in report.measures:
        return np.nan, np.nan
    j = report.measures.index(measure)
    worst = weighted_mean(report.worst[:, j], report.query_weight)
    best = weighted_mean(report.best[:, j], report.query_weight)
    if score.startswith("neg_"):
        return -worst, -best
    return worst, best
