"""What ties leave open of each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np

from .._engine import FloatArray
from ..comparison import EXPECTED, SystemComparison, compare_systems
from ..evaluation import DEFAULT_MEASURES, Summary, evaluate
from ._base import GREEN, MEAN, ORANGE, PURPLE, Panels, Systems, SystemsDisplay, plain
from ._ranges import show_ranges

_FIGURES = ("mean", "best", "worst")
#: of the marks, those below the bar and those above in turn
_COLOURS, _MARKERS = (ORANGE, GREEN, PURPLE), ("^", "v", "D", "o", "s", "P")


@dataclass(eq=False)
class TieRangeDisplay(SystemsDisplay):
    """Means of systems, with the range from the worst to the best order of ties.

    Make it with `from_comparison`, with `from_summary`, or with `from_predictions` or
    `from_estimator` and the options of `evaluate`; if ``ties`` or ``external`` is among
    them, those of `compare_systems`, with ``measures`` in place of ``measure``. Of
    several treatments of ties, "expected" has the range, or the first if "expected" is
    not among them, and each of the others is a mark.

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
        Whether the system with the highest mean of the first measure is on top, or that
        with the lowest.
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
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import TieRangeDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> systems = {name: web.data[:, j] for j, name in enumerate(web.feature_names[:3])}
    >>> display = TieRangeDisplay.from_predictions(web.target, systems, qid=web.qid)
    >>> display.figure_.savefig("ties.png")  # doctest: +SKIP

    With a mark where document ids break the ties, as trec_eval does:

    >>> docno = [f"d{i}" for i in range(len(web.target))]
    >>> display = TieRangeDisplay.from_predictions(
    ...     web.target, systems, qid=web.qid, measures="ap",
    ...     ties=["expected", "official"],
    ...     external={"official": (docno, "descending", "float32")})
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
    ties: str = EXPECTED

    @classmethod
    def from_comparison(cls, comparison: SystemComparison, *, ax: Any = None) -> Self:
        """Plot the result of `compare_systems`.

        Parameters
        ----------
        comparison : SystemComparison
            The comparison to draw, with a panel for each measure.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.

        Returns
        -------
        TieRangeDisplay
        """
        summary, shape = comparison.summary(), (len(comparison), -1)
        by: dict[str, list[int]] = {}
        for block, (_, ties) in enumerate(comparison._keys()):
            by.setdefault(ties, []).append(block)
        ties = EXPECTED if EXPECTED in by else next(iter(by))
        shown = by.pop(ties)
        mean, best, worst, low, high, chance = (
            summary.columns[name].reshape(shape)[shown].T
            for name in (*_FIGURES, "interval_low", "interval_high", "chance")
        )
        means = summary.mean.reshape(shape)
        return cls(
            comparison.systems,
            comparison.measures,
            mean,
            best,
            worst,
            greater_is_better=bool(comparison.greater_is_better[0]),
            interval=np.stack([low, high], axis=-1),
            # of any system that has one: it is the same for all
            chance=np.fmax.reduce(chance),
            marks={name: means[blocks].T for name, blocks in by.items()},
            ties=ties,
        ).plot(ax)

    @classmethod
    def from_summary(
        cls, summary: Summary | Mapping[str, Summary], *, ax: Any = None
    ) -> Self:
        """Plot averages of one ranking, or of several by name.

        Parameters
        ----------
        summary : Summary, or mapping of str to Summary
            From `RankingReport.summary`, or `by_segment` of one ranking, whose segments
            are then the rows.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.

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
        >>> TieRangeDisplay.from_summary(report.summary()).measures
        ('RR', 'AP')
        """
        named = {"all queries": summary} if isinstance(summary, Summary) else summary
        every = list(named.values())
        measures = tuple(dict.fromkeys(every[0].measure.tolist()))
        mean, best, worst, low, high, chance, ideal = (
            np.concatenate([one.columns[name] for one in every]).reshape(
                -1, len(measures)
            )
            for name in (*_FIGURES, "interval_low", "interval_high", "chance", "ideal")
        )
        segmented = every[0].keys[0] == "segment"
        segments = every[0].segment[:: len(measures)] if segmented else ()
        average = every[0].average.replace("macro", "mean")
        return cls(
            tuple(map(str, segments)) if segmented else tuple(named),
            measures,
            mean,
            best,
            worst,
            average=f"{average} over queries",
            greater_is_better=not (ideal[:, 0] < chance[:, 0]).any(),
            interval=np.stack([low, high], axis=-1),
            # of any system that has one: it is the same for all, but not of segments
            chance=None if segmented else np.fmax.reduce(chance),
        ).plot(ax)

    @classmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        if {"ties", "external"} & options.keys():
            measure = options.pop("measures", DEFAULT_MEASURES)
            found = compare_systems(y_true, systems, measure=measure, **options)
            return cls.from_comparison(found, ax=ax)
        return cls.from_summary(
            {
                name: evaluate(y_true, score, **options).summary()
                for name, score in systems.items()
            },
            ax=ax,
        )

    def _panels(self) -> Panels:
        return Panels.of_rows(len(self.measures), len(self.systems))

    def _draw(self, axes: list[Any]) -> None:
        side = -1 if self.greater_is_better else 1
        order = np.argsort(side * self.mean[:, 0], kind="stable")
        names = [self.systems[i] for i in order]
        mean, best, worst = (getattr(self, name)[order] for name in _FIGURES)
        for j, (axis, measure) in enumerate(zip(axes, self.measures, strict=True)):
            show_ranges(
                axis,
                names,
                mean[:, j],
                best[:, j],
                worst[:, j],
                interval=None if self.interval is None else self.interval[order, j],
                chance=None if self.chance is None else self.chance[j],
                label=MEAN if self.ties == EXPECTED else f"ties: {self.ties}",
            )
            for i, (name, values) in enumerate(self.marks.items()):
                # below and above the bar in turn, where they do not hide the mean
                apart = 0.27 if i % 2 == 0 else -0.27
                axis.plot(
                    values[order, j],
                    np.arange(len(names)) + apart,
                    linestyle="none",
                    marker=_MARKERS[i % len(_MARKERS)],
                    markersize=5,
                    color=_COLOURS[i % len(_COLOURS)],
                    markeredgewidth=0,
                    label=f"ties: {plain(name)}",
                )
            axis.set_xlabel(f"{plain(measure)}, {self.average}")
