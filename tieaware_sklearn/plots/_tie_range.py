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

#: columns by name, of shape (n_systems, n_measures)
Columns = dict[str, Array]
#: of the marks of treatments of ties
_COLOURS = _base.ORANGE, _base.GREEN, _base.PURPLE
_MARKERS = "^", "v", "D", "o", "s", "P"


def _summaries(
    y_true: Any, systems: Mapping[str, Any], **options: Any
) -> dict[str, Summary]:
    """Summarise the scores of each system over all queries."""
    return {
        name: evaluate(y_true, y_score, **options).summary()
        for name, y_score in systems.items()
    }


@dataclass(eq=False)
class TieRangeDisplay(_base.SystemsDisplay, of=[RankingReport, Summary]):
    """Means of systems, with the range from the worst to the best order of ties.

    Make it with `from_result`, or with `from_predictions` or `from_estimator` and the
    options of `evaluate`. For a comparison of several treatments of ties, the range is
    that of "expected", or else of the first. Each other treatment is a mark.

    Parameters
    ----------
    systems : tuple of str
        Names of the systems.
    measures : tuple of str
        Names of the measures.
    mean, best, worst : ndarray of shape (n_systems, n_measures)
        Averages over queries of the expected, best and worst values.
    average : str, default="mean over queries"
        Description of these averages, for the axis.
    greater_is_better : bool, default=True
        Whether the highest mean of the first measure is on top. If False, the lowest
        is.
    interval : ndarray of shape (n_systems, n_measures, 2), optional
        95% interval over queries.
    chance : ndarray of shape (n_measures,), optional
        Mean over queries if all documents of a query tie.
    marks : mapping of str to ndarray of shape (n_systems, n_measures), optional
        Averages under other treatments of ties, by name.
    ties : str, default="expected"
        Treatment of ties of `mean`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
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

    With a mark where document ids break the ties, as trec_eval does:

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
        """Plot averages of systems, of one ranking, or of its segments.

        Parameters
        ----------
        result : SystemComparison, Summary, RankingReport, or mapping of str to Summary
            From `compare_systems`; from `RankingReport.summary` or `by_segment`, whose
            segments are then the rows; or such summaries of several rankings by name.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per measure.
        **options
            Other parameters of the class, in place of those of the result.

        Returns
        -------
        TieRangeDisplay

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
            of, fields = _of_comparison(result)
        else:
            of, fields = _of_summaries(result)
        figures = {name: of[name] for name in ("mean", "best", "worst")} | {
            "interval": np.stack([of["interval_low"], of["interval_high"]], axis=-1),
            # chance is the same for all systems; some may lack it
            "chance": np.fmax.reduce(of["chance"]),
        }
        return cls(**(figures | fields | options)).plot(ax)

    def _draw(self, ax: Any) -> None:
        axes = self._panels_of_rows(ax, len(self.measures), len(self.systems))
        side = -1 if self.greater_is_better else 1
        order = np.argsort(side * self.mean[:, 0], kind="stable")
        names = _base.short([self.systems[i] for i in order])
        ends = np.sort([self.worst[order], self.best[order]], axis=0)
        label = _base.MEAN if self.ties == _text.EXPECTED else f"ties: {self.ties}"
        rows = np.arange(len(names))
        for j, (axis, measure) in enumerate(zip(axes, self.measures, strict=True)):
            _base.show_ranges(axis, ends[..., j].T)
            if self.interval is not None:
                _base.show_intervals(axis, self.interval[order, j])
            if self.chance is not None:
                axis.axvline(
                    self.chance[j],
                    color=_base.VERMILLION,
                    linestyle="--",
                    label="chance",
                )
            _base.show_ticks(axis, self.mean[order, j], label)
            widths = ends[1, :, j] - ends[0, :, j]
            _base.show_rows(axis, names, ("best − worst", map(words.number, widths)))
            for i, (name, values) in enumerate(self.marks.items()):
                # below and above the bar in turn, where they do not hide the mean
                apart = 0.27 if i % 2 == 0 else -0.27
                axis.plot(
                    values[order, j],
                    rows + apart,
                    marker=_MARKERS[i % len(_MARKERS)],
                    markersize=5,
                    markeredgewidth=0,
                    color=_COLOURS[i % len(_COLOURS)],
                    linestyle="none",
                    label=f"ties: {_base.plain(name)}",
                )
            axis.set_xlabel(f"{_base.plain(measure)}, {self.average}")
            widest = words.number(np.nanmax(widths, initial=0))
            _base.title(axis, f"ties change it by up to {widest}")


def _of_comparison(result: SystemComparison) -> tuple[Columns, dict[str, Any]]:
    """Columns to draw from a comparison under one treatment of ties."""
    ties = _text.EXPECTED if _text.EXPECTED in result.ties else result.ties[0]
    shape = len(result.measures), len(result.ties), len(result.systems)
    columns = {
        name: column.reshape(shape).transpose(1, 2, 0)
        for name, column in result.summary().columns.items()
    }
    of = {name: column[result.ties.index(ties)] for name, column in columns.items()}
    marks = dict(zip(result.ties, columns["mean"], strict=True))
    del marks[ties]
    return of, {
        "systems": result.systems,
        "measures": result.measures,
        "average": f"{words.AVERAGES[result.average]} over queries",
        "greater_is_better": bool(result.greater_is_better[0]),
        "marks": marks,
        "ties": ties,
    }


def _of_summaries(named: Mapping[str, Summary]) -> tuple[Columns, dict[str, Any]]:
    """Columns to draw from summaries of rankings, or of segments of one."""
    every = list(named.values())
    measures = tuple(dict.fromkeys(every[0].measure.tolist()))
    of = {}
    for name in every[0].columns:
        values = np.concatenate([summary.columns[name] for summary in every])
        of[name] = values.reshape(-1, len(measures))
    fields = {
        "systems": tuple(named),
        "measures": measures,
        "average": f"{words.AVERAGES[every[0].average]} over queries",
        "greater_is_better": not (of["ideal"][:, 0] < of["chance"][:, 0]).any(),
    }
    if every[0].keys[0] == "segment":  # chance differs between segments
        segments = tuple(map(str, of["segment"][:, 0]))
        fields |= {"systems": segments, "chance": None}
    return of, fields
