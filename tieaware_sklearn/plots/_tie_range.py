"""Ranges of systems over the orders of their ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np

from .._display import words
from .._typing import Array, FloatArray
from ..comparison import SystemComparison, _text
from ..evaluation import RankingReport, Summary, evaluate
from . import _base

#: Colours and symbols of the marks that show treatments of ties.
_COLOURS = _base.VERMILLION, _base.GREEN, _base.PURPLE
_MARKERS = "^", "v", "o", "s", "P"


def _summaries(
    y_true: Any, systems: Mapping[str, Any], **options: Any
) -> dict[str, Summary]:
    """Return the summary of each system over all queries."""
    summaries = {}
    for name, y_score in systems.items():
        summaries[name] = evaluate(y_true, y_score, **options).summary()
    return summaries


@dataclass(eq=False)
class TieRangeDisplay(_base.SystemsDisplay, draws=[RankingReport, Summary]):
    """Means of systems, with the range from the worst to the best order of ties.

    A diamond is the mean, a bar is the range, and a thin line is the 95% interval. A
    bar is grey if the bar contains the chance level.

    Make the display with `from_result`, or with `from_predictions` or `from_estimator`
    and the options of `evaluate`. For a comparison of several treatments of ties, the
    mean and the range are drawn for "expected", or else for the first treatment. Each
    other treatment is drawn as a mark.

    Parameters
    ----------
    systems : tuple of str
        Names of the systems.
    measures : tuple of str
        Names of the measures.
    mean, best, worst : ndarray of shape (n_systems, n_measures)
        Averages over queries of the expected, best and worst values.
    average : str, default="mean over queries"
        Description of the averages, for the axis.
    greater_is_better : bool, default=True
        Whether the highest mean of the first measure is on top. If False, the lowest
        mean is on top.
    interval : ndarray of shape (n_systems, n_measures, 2), optional
        95% interval of each average over queries.
    chance : ndarray of shape (n_measures,), optional
        Chance level of each measure: the average if all documents of each query tie.
    marks : mapping of str to ndarray of shape (n_systems, n_measures), optional
        Averages under other treatments of ties, by name.
    ties : str, default="expected"
        Treatment of ties of `mean`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        One panel per measure.
    ax_ : matplotlib Axes
        The only panel, if there is one measure.

    See Also
    --------
    evaluate, compare_systems : Compute the averages.
    FeatureScreeningDisplay : Draws the same ranges for features.

    Notes
    -----
    The plot follows Yang, Moffat and Turpin (AIRS 2016), Figure 2.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn import compare_systems
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import TieRangeDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> systems = {name: web.data[:, j] for j, name in enumerate(web.feature_names[:3])}
    >>> display = TieRangeDisplay.from_predictions(web.target, systems, qid=web.qid)
    >>> display.figure_.savefig("ties.png")  # doctest: +SKIP

    With a mark for the mean when document ids break the ties, as in trec_eval:

    >>> docno = [f"d{i}" for i in range(len(web.target))]
    >>> comparison = compare_systems(
    ...     web.target, systems, qid=web.qid, measure="ap",
    ...     ties=["expected", "official"],
    ...     external={"official": (docno, "descending", "float32")})
    >>> display = TieRangeDisplay.from_result(comparison)
    >>> display.marks["official"].shape
    (3, 1)
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    _: KW_ONLY
    average: str = "mean over queries"
    greater_is_better: bool = True
    interval: FloatArray | None = None
    chance: FloatArray | None = None
    marks: Mapping[str, FloatArray] = field(default_factory=dict)
    ties: str = _text.EXPECTED
    _compute = staticmethod(_summaries)

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None, **options: Any) -> Self:
        """Plot averages of systems, of a ranking, or of the segments of a ranking.

        Parameters
        ----------
        result : SystemComparison, Summary, RankingReport, or mapping of str to Summary
            A comparison from `compare_systems`, a report, or a summary from
            `RankingReport.summary` or `by_segment`. The segments of `by_segment` are
            the rows. A mapping contains summaries of several rankings by name.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per measure. By default, a new figure is made.
        **options
            Other parameters of the class, which replace the values of the result.

        Returns
        -------
        TieRangeDisplay

        Raises
        ------
        ValueError
            If the number of axes is not the number of measures.
        ImportError
            If `ax` is None and matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> from tieaware_sklearn import evaluate
        >>> from tieaware_sklearn.plots import TieRangeDisplay
        >>> report = evaluate([[1, 0], [0, 1]], [[2, 1], [1, 1]], measures=["rr", "ap"])
        >>> TieRangeDisplay.from_result(report).measures
        ('RR', 'AP')
        """
        if isinstance(result, RankingReport):
            result = result.summary()
        if isinstance(result, Summary):
            result = {"all queries": result}
        if isinstance(result, SystemComparison):
            columns, fields = _read_comparison(result)
        else:
            columns, fields = _read_summaries(result)
        for name in ("mean", "best", "worst"):
            fields[name] = columns[name]
        ends = columns["interval_low"], columns["interval_high"]
        fields["interval"] = np.stack(ends, axis=-1)
        # Chance is the same for all systems, but some systems may lack it.
        fields.setdefault("chance", np.fmax.reduce(columns["chance"]))
        fields.update(options)
        return cls(**fields).plot(ax)

    def _draw(self, ax: Any) -> None:
        axes = self._panels_of_rows(ax, len(self.measures), len(self.systems))
        sign = -1 if self.greater_is_better else 1
        order = np.argsort(sign * self.mean[:, 0], kind="stable")
        names = _base.short_names([self.systems[i] for i in order])
        rows = np.arange(len(names))
        mean_label = _base.MEAN
        if self.ties != _text.EXPECTED:
            mean_label = f"ties: {self.ties}"
        for j, axis in enumerate(axes):
            ends = np.stack([self.worst[order, j], self.best[order, j]], 1)
            # If lower is better, the worst value is the highest.
            lower_is_better = bool((np.diff(ends) < 0).any())
            ends.sort()
            chance = np.nan
            if self.chance is not None:
                chance = self.chance[j]
                _base.show_chance(axis, chance)
            _base.show_ranges(axis, ends, chance)
            if self.interval is not None:
                _base.show_intervals(axis, self.interval[order, j])
            _base.show_means(axis, self.mean[order, j], mean_label)
            widths = np.ptp(ends, axis=1)
            _base.show_rows(axis, names)
            _base.show_beside(axis, "best − worst", map(words.number, widths))
            for i, (name, values) in enumerate(self.marks.items()):
                # Marks are below and above the bars in turn, and do not hide the mean.
                shift = 0.27 if i % 2 == 0 else -0.27
                style = {
                    "marker": _MARKERS[i % len(_MARKERS)],
                    "markersize": 5,
                    "markeredgewidth": 0,
                    "color": _COLOURS[i % len(_COLOURS)],
                    "linestyle": "none",
                }
                label = f"ties: {_base.plain_text(name)}"
                axis.plot(values[order, j], rows + shift, label=label, **style)
            _base.show_average(axis, self.average, lower_is_better)
            widest = words.number(np.nanmax(widths, initial=0))
            title = f"{self.measures[j]}: ties change it by up to {widest}"
            _base.show_title(axis, title)


def _read_comparison(
    comparison: SystemComparison,
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return columns of shape (n_systems, n_measures), and other fields."""
    measures = comparison.measures
    systems = comparison.systems
    treatments = list(comparison.ties)
    drawn = 0
    if _text.EXPECTED in treatments:
        drawn = treatments.index(_text.EXPECTED)
    shape = len(measures), len(treatments), len(systems)
    columns = {}
    marks = {}
    for name, column in comparison.summary().columns.items():
        by_treatment = column.reshape(shape).transpose(1, 2, 0)
        columns[name] = by_treatment[drawn]
        if name == "mean":
            marks = dict(zip(treatments, by_treatment, strict=True))
    ties = treatments[drawn]
    del marks[ties]
    fields = {
        "systems": systems,
        "measures": measures,
        "average": f"{words.AVERAGES[comparison.average]} over queries",
        "greater_is_better": bool(comparison.greater_is_better[0]),
        "marks": marks,
        "ties": ties,
    }
    return columns, fields


def _read_summaries(
    summaries: Mapping[str, Summary],
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return columns of shape (n_systems, n_measures), and other fields."""
    first = next(iter(summaries.values()))
    measures = tuple(dict.fromkeys(first.measure.tolist()))
    columns = {}
    for name in first.columns:
        values = [summary.columns[name] for summary in summaries.values()]
        columns[name] = np.concatenate(values).reshape(-1, len(measures))
    # Summaries state no direction, but the ideal is on the better side of chance.
    is_smaller_better = columns["ideal"][:, 0] < columns["chance"][:, 0]
    fields: dict[str, Any] = {
        "systems": tuple(summaries),
        "measures": measures,
        "average": f"{words.AVERAGES[first.average]} over queries",
        "greater_is_better": not is_smaller_better.any(),
    }
    if first.keys[0] == "segment":
        # Segments have different chance levels.
        fields["systems"] = tuple(map(str, columns["segment"][:, 0]))
        fields["chance"] = None
    return columns, fields
