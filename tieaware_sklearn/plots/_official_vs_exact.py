"""trec_eval's order of ties against the exact means of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..comparison import OfficialVsExact, _result
from . import _base


@dataclass(eq=False)
class OfficialVsExactDisplay(_base.Display, of=[OfficialVsExact]):
    """Means of systems over all orders of ties, with trec_eval's value in the range.

    Make it with `from_result`.

    Parameters
    ----------
    found : OfficialVsExact
        The result to draw, the best system by the first measure on top.

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
    official_vs_exact : Computes the averages.
    TieRangeDisplay : Draws ranges without trec_eval's value.

    Notes
    -----
    The plot follows Yang, Moffat and Turpin (AIRS 2016), Figure 2.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn import official_vs_exact
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import OfficialVsExactDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> systems = {name: web.data[:, j] for j, name in enumerate(web.feature_names[:3])}
    >>> docno = [f"d{i:05}" for i in range(len(web.target))]
    >>> result = official_vs_exact(
    ...     web.target, systems, docno, qid=web.qid, measures="P_10", n_orders=10)
    >>> display = OfficialVsExactDisplay.from_result(result)
    >>> display.figure_.savefig("official.png")  # doctest: +SKIP
    """

    found: OfficialVsExact

    def _draw(self, ax: Any) -> None:
        table = self.found
        axes = self._panels_of_rows(ax, len(table.measures), len(table.systems))
        order = _result.best_first(table.comparisons, table.exact[:, 0])
        rows, names = np.arange(len(order)), [table.systems[i] for i in order]
        shares = table.tied_documents[order]
        beside = "tied", [f"{100 * share:.0f} %" for share in shares]
        diamond = {"marker": "D", "ms": 5.5, "mfc": _base.VERMILLION, "mec": "white"}
        for j, (axis, measure) in enumerate(zip(axes, table.measures, strict=True)):
            ends = np.sort([table.worst[order, j], table.best[order, j]], axis=0)
            axis.hlines(rows, *ends, colors=_base.SKY, linewidth=9, label=_base.RANGE)
            _base.show_ticks(axis, table.exact[order, j], _base.ink(axis), _base.MEAN)
            label = "trec_eval's order of ties"
            axis.plot(table.official[order, j], rows, ls="none", label=label, **diamond)
            _base.show_rows(axis, names, beside)
            axis.set_xlabel(f"{_base.plain(measure)}, mean over queries")
