"""Averages over queries, as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Table

#: what trackers of experiments do not take in names
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result):
    """Averages over queries; prints as a table.

    The methods that return it say which columns it has. Each is an attribute, too, and
    so is `interval`, of shape (n_rows, 2), where there are columns ``interval_low`` and
    ``interval_high``.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        The columns of `to_pandas`.
    keys : tuple of str
        The first columns, which say what a row is about: the measure, the system.
    about : dict of str to object
        What is the same for all rows, such as ``average``; each is an attribute, too.

    See Also
    --------
    RankingReport.summary : Averages of a ranking.
    RankingReport.by_segment : The same for each segment of queries.
    SystemComparison.summary : Averages of several systems.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate
    >>> summary = evaluate([1, 0, 1, 0], [2, 1, 3, 3], qid=[1, 1, 2, 2],
    ...                    measures="rr").summary()
    >>> summary.mean, summary.columns["chance"], summary.average
    (array([0.875]), array([0.75]), 'macro')
    """

    columns: dict[str, NDArray[Any]]
    keys: tuple[str, ...]
    about: dict[str, Any]
    _show: Callable[[Summary], list[Table]]

    def __getattr__(self, name: str) -> Any:
        # an object that is being unpickled has no fields yet
        columns, about = (vars(self).get(own, {}) for own in ("columns", "about"))
        if name in columns or name in about:
            return columns[name] if name in columns else about[name]
        if f"{name}_low" in columns:
            ends = columns[f"{name}_low"], columns[f"{name}_high"]
            return np.stack(ends, axis=-1)
        raise AttributeError(f"a Summary of {[*columns, *about]} has no {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.columns, *self.about]

    def __len__(self) -> int:
        return len(self.columns[self.keys[0]])

    def to_metrics(self) -> dict[str, float]:
        """Return all figures under stable names, for experiment trackers.

        Returns
        -------
        dict of str to float
            The names are those of `keys` and of the column, such as
            ``"NDCG_at_10/mean"`` and ``"head/NDCG_at_10/tie_std"`` for a segment. They
            consist of letters, digits and ``_ . - /``, as MLflow requires. Averages
            other than the mean are part of the name: ``"NDCG_at_10_median/mean"``. NaN
            values are left out.

        Raises
        ------
        ValueError
            For measures, segments or systems whose names do not differ in ASCII letters
            and digits.

        Examples
        --------
        >>> from tieaware_sklearn import evaluate
        >>> summary = evaluate([0, 1, 1], [2, 2, 1], measures=["p@1", "ap"]).summary()
        >>> metrics = summary.to_metrics()
        >>> metrics["P_at_1/mean"], metrics["P_at_1/best"], metrics["P_at_1/worst"]
        (0.5, 1.0, 0.0)
        """
        average = self.about.get("average", "macro")
        last = "" if average == "macro" else f"_{average}"
        rows = zip(*(_plain(key, self.columns[key]) for key in self.keys), strict=True)
        return {
            f"{'/'.join(names)}{last}/{figure}": float(values[i])
            for i, names in enumerate(rows)
            for figure, values in self.columns.items()
            if figure not in self.keys and not np.isnan(values[i])
        }

    def _columns(self) -> dict[str, Any]:
        return dict(self.columns)

    def _tables(self) -> list[Table]:
        return self._show(self)


def _plain(key: str, values: Sequence[Any] | NDArray[Any]) -> list[str]:
    """Names that trackers of experiments take."""
    names = list(map(str, np.asarray(values).tolist()))
    plain = {
        name: _NOT_PLAIN.sub("_", name.replace("@", "_at_")).strip("_")
        for name in names
    }
    if len(set(plain.values())) < len(plain) or not all(plain.values()):
        raise ValueError(
            f"{key}s must have names that differ in ASCII letters and digits, got "
            f"{', '.join(plain)}"
        )
    return [plain[name] for name in names]
