"""The users behind measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import checks
from .._typing import FloatArray
from ..measures import Measure, _parse
from . import _base

_PANELS = (
    ("weight", "W(i): share of attention"),
    ("continuation", "C(i): probability of reading on"),
    ("last", "L(i): probability that i is the last"),
)


@dataclass(eq=False)
class UserModelDisplay(_base.Display):
    """Weights, continuation and last-rank probabilities of measures' user models.

    Make it with `from_measures`.

    Parameters
    ----------
    measures : list of Measure
        The measures.
    depth : int, default=20
        Last rank to show.
    ranking : array-like of shape (n_documents,), optional
        Labels in rank order, for models that depend on them (AP, RR, ERR, Rprec, P
        without a cut-off).

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        The three panels.

    See Also
    --------
    CWL : A measure for any such user model.

    Notes
    -----
    The user models are those of Moffat, Thomas and Scholer (CIKM 2013) and Azzopardi,
    Thomas and Craswell (SIGIR 2018).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.plots import UserModelDisplay
    >>> display = UserModelDisplay.from_measures(["rbp(p=0.5)", "p@5"], depth=6)
    >>> display.figure_.savefig("users.png")  # doctest: +SKIP
    """

    measures: Sequence[Measure]
    depth: int = 20
    ranking: ArrayLike | None = None

    def __post_init__(self) -> None:
        checks.check_count(self.depth, "depth")

    @classmethod
    def from_measures(
        cls,
        measures: str | Measure | Iterable[str | Measure],
        *,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Plot the user models of measures.

        Parameters
        ----------
        measures : str, Measure or list of them
            Measures that have a user model.
        ax : list of three matplotlib Axes, optional
            Axes to draw into.
        **options
            `depth` and `ranking`, as in the class.

        Returns
        -------
        UserModelDisplay

        Raises
        ------
        ValueError
            If a measure has no user model, or needs `ranking` and there is none.
        """
        return cls.from_result(_parse.parse_measures(measures), ax=ax, **options)

    def _draw(self, ax: Any) -> None:
        axes = self._panels(ax, len(_PANELS), width=4.0, height=3.6)
        ranks = np.arange(1, self.depth + 1)
        names = _base.short(map(str, self.measures))
        for axis, (name, label) in zip(axes, _PANELS, strict=True):
            for i, measure in enumerate(self.measures):
                values = getattr(measure, name)(ranks, self.ranking)
                _show_by_rank(axis, values, label=names[i], **_base.line_style(i))
            axis.set(xlabel="rank i", ylabel=label, ylim=(0, None))
            axis.xaxis.get_major_locator().set_params(integer=True)


def _show_by_rank(axis: Any, values: FloatArray, **style: Any) -> None:
    """Draw a line down to the first rank of 0, or a stem for a single rank."""
    at = np.flatnonzero(values)
    if len(at) == 1:
        axis.plot(np.repeat(at + 1, 2), [0, values[at[0]]], markevery=[1], **style)
    else:
        end = at.max(initial=-1) + 2
        axis.plot(np.arange(1, len(values) + 1)[:end], values[:end], **style)
