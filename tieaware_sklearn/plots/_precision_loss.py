"""What coarser scores change on each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._engine import FloatArray, check_choice
from ..score_precision import PrecisionStudy, precision_study
from ._axes import BLUE, GREY, SKY, VERMILLION, short, title
from ._display_base import Panels
from ._systems_display import Systems, SystemsDisplay, check_one_treatment


@dataclass(eq=False)
class PrecisionLossDisplay(SystemsDisplay):
    """Changes of queries under coarser scores, with a box for each level.

    Make it with `from_study`, or with `from_predictions` or `from_estimator` and the
    options of `precision_study`.

    Parameters
    ----------
    levels : tuple of str
        Levels of coarseness.
    changes : list of ndarray
        For each level, the value of each query under coarser scores minus its exact
        value.
    measure : str
        Name of the measure.
    systems : str
        Name of the system, or number of systems, of these queries.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        The only panel, in a list.
    ax_ : matplotlib Axes
        The only panel.

    See Also
    --------
    precision_study : Computes the changes.
    PairwisePValueDisplay : Draws the changes of tests of pairs.

    Notes
    -----
    The plot follows Yang, Moffat and Turpin (AIRS 2016), Figure 3.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PrecisionLossDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> display = PrecisionLossDisplay.from_predictions(
    ...     web.target, web.data[:, 5], qid=web.qid, coarseness=["rho=1.2", "rho=2"])
    >>> display.levels
    ('rho=1.2', 'rho=2')
    """

    levels: tuple[str, ...]
    changes: list[FloatArray]
    measure: str
    systems: str

    @classmethod
    def from_study(
        cls, study: PrecisionStudy, *, system: str | None = None, ax: Any = None
    ) -> Self:
        """Plot the queries of one system of a study, or of all systems.

        Parameters
        ----------
        study : PrecisionStudy
            The study to draw.
        system : str, optional
            One of ``study.systems``; by default all.
        ax : matplotlib Axes, optional
            Axes to draw into.

        Returns
        -------
        PrecisionLossDisplay

        Raises
        ------
        ValueError
            If the study does not have the system.
        """
        if system is not None:
            check_choice(system, "system", study.systems)
        chosen = study.systems if system is None else (system,)
        whose = chosen[0] if len(chosen) == 1 else f"{len(chosen)} systems"
        columns = [study.systems.index(name) for name in chosen]
        changes = study.changes()[1:, :, columns]
        each = [level[~np.isnan(level)] for level in changes]
        return cls(study.levels[1:], each, study.measure, whose).plot(ax=ax)

    @classmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        check_one_treatment(cls.__name__, **options)
        return cls.from_study(precision_study(y_true, systems, **options), ax=ax)

    def _panels(self) -> Panels:
        width = min(max(4.0, 1.6 + 0.95 * len(self.levels)), 14)
        return Panels(1, width=width, height=4.2)

    def _draw(self, axes: list[Any]) -> None:
        (axis,) = axes
        n = len(self.levels)
        axis.axhline(0, color=GREY, linewidth=1)
        diamond = {"marker": "D", "mfc": VERMILLION, "mec": "white", "ms": 7}
        dots = {"marker": ".", "mfc": GREY, "mec": "none", "ms": 4, "alpha": 0.5}
        drawn = axis.boxplot(
            self.changes,
            positions=np.arange(n),
            widths=0.6,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": SKY, "edgecolor": BLUE},
            medianprops={"color": BLUE, "linewidth": 2},
            whiskerprops={"color": BLUE},
            capprops={"color": BLUE},
            meanprops=diamond,
            flierprops=dots,
        )
        drawn["boxes"][0].set_label("interquartile range and median")
        drawn["means"][0].set_label("mean")
        drawn["fliers"][0].set_label("outlier queries")
        angled = {"rotation": 35, "horizontalalignment": "right"} if n > 5 else {}
        axis.set_xticks(np.arange(n), short(self.levels), **angled)
        change = f"change of {self.measure}, per query"
        axis.set(xlabel="coarseness of scores", ylabel=change)
        title(axis, *short([self.systems]))
        axis.grid(visible=False, axis="x")
