"""How much a selection of features depends on the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from .._display import html, progress_bars, text_tables, words
from .._engine import checks, feature_matrix
from .._engine.segments import FloatArray, IntArray
from ..evaluation import _prepared
from ..model_selection import _scorers
from . import _selection_curve

#: rows of a printed table
_SHOWN = 20
#: samples below which intervals were too short in simulations
_LEAST = 50


@dataclass(frozen=True, eq=False, repr=False)
class SelectionStability(html.Result):
    """Features that a selector chooses on samples of the queries; prints as a table.

    `selection_stability` returns it. The features that are chosen most often are on
    top.

    Attributes
    ----------
    feature_names : tuple of str
        Names of the features.
    frequency : ndarray of shape (n_features,)
        Share of the samples in which each feature is chosen.
    selected : ndarray of shape (n_samples, n_features), bool
        The features that are chosen in each sample.
    stability : float
        Index of Nogueira, Sechidis and Brown (2018): 1 if all samples give the same
        features, about 0 if features are chosen at random. NaN if no feature is ever
        chosen, or all always are.
    interval : ndarray of shape (2,)
        Asymptotic interval of the index that infinitely many samples of these queries
        would have, clipped to its range. NaN for fewer than 50 samples.
    n_queries : int
        Number of queries that the samples are drawn from.
    confidence : float
        Confidence level of `interval`.

    See Also
    --------
    selection_stability : Returns such a result.

    Examples
    --------
    >>> from tieaware_sklearn import RankingFeatureSelector, selection_stability
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> X, y, qid = make_web_search(n_queries=30, as_frame=True, return_X_y_qid=True)
    >>> found = selection_stability(
    ...     RankingFeatureSelector("ap", n_features_to_select=3), X, y, qid=qid)
    >>> found.selected.shape, found.selected.sum(axis=1)[:5]
    ((50, 12), array([3, 3, 3, 3, 3]))
    """

    feature_names: tuple[str, ...]
    frequency: FloatArray
    selected: NDArray[np.bool_]
    stability: float
    interval: FloatArray
    n_queries: int
    confidence: float

    def _columns(self) -> dict[str, Any]:
        order = np.argsort(-self.frequency, kind="stable")
        names = [self.feature_names[j] for j in order]
        return {"feature": names, "frequency": self.frequency[order]}

    def _conclusion(self) -> list[str]:
        n_samples, interval = len(self.selected), "no interval"
        if n_samples >= _LEAST:
            ends = words.bracketed(self.interval)
            interval = f"{self.confidence:.0%} interval {ends}"
        return [
            f"Stability {words.number(self.stability)}, {interval} ({n_samples} "
            f"bootstrap samples of these {self.n_queries} queries, "
            f"{self.selected.sum() / n_samples:.1f} features on average)."
        ]

    def _whole(self) -> list[text_tables.Table]:
        return self._tables(len(self.feature_names))

    def _tables(self, most: int = _SHOWN) -> list[text_tables.Table]:
        n_samples, more = len(self.selected), len(self.frequency) - most
        names, shares = (column[:most] for column in self._columns().values())
        times = np.rint(shares * n_samples).astype(int)
        notes = [f"... and {more} more"] if more > 0 else []
        notes += self._conclusion()
        return [
            text_tables.Table.of(
                ("feature", names),
                ("chosen", shares),
                ("samples", times.tolist()),
                notes=notes,
                terms={
                    "chosen": "share of the samples in which the feature is chosen",
                    "samples": "number of these samples",
                },
            )
        ]


def selection_stability(
    selector: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: Any,
    n_bootstraps: int = 50,
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool = False,
) -> SelectionStability:
    """Measure how much a selection of features depends on the queries.

    The selector is fitted on bootstrap samples of whole queries. The result describes
    how far samples of these queries agree, not how far new queries would.

    Parameters
    ----------
    selector : selector
        An unfitted selector of scikit-learn's interface. It is cloned for every fit.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Labels.
    qid : array-like of shape (n_rows,), or str or int
        Query of each row, or the column of X that holds it (a name for data frames, an
        index for arrays). It is not a feature. The selector gets the ids if its `fit`
        takes or requests ``qid``. Its own `qid` must be None.
    n_bootstraps : int, default=50
        Number of bootstrap samples, at least 2. A query that is drawn twice counts as
        two queries. With fewer than 50 samples there is a warning, and no interval.
    confidence : float, default=0.95
        Confidence level of the interval of the index.
    random_state : int, RandomState instance or None, default=0
        Seed of the bootstrap samples.
    n_jobs : int, optional
        Number of processes over samples (joblib); no result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    SelectionStability
        How often each feature is chosen, and the index with its interval.

    Raises
    ------
    ValueError
        If there are fewer than two samples, or if the input breaks a rule above.

    See Also
    --------
    selection_curve : Scores the rankers that are trained on selected features.

    Notes
    -----
    Let p_f be the share of the M samples in which feature f of d is chosen, and k the
    mean number of features chosen. The index is equation 4 of Nogueira, Sechidis and
    Brown (2018, "On the stability of feature selection algorithms", JMLR 18), ::

        1 - mean over f of M/(M - 1) p_f (1 - p_f) / ((k/d) (1 - k/d)),

    which is corrected for chance and allows selections of different sizes. They suggest
    calling values below 0.4 poor and above 0.75 excellent. The interval is the
    asymptotic one of their section 4. It says how exactly M samples of these queries
    show what infinitely many would. In simulations, it covered the agreement of
    selections on new queries in only about half of the data sets; and with 5 to 20
    samples, it covered its own target in 33 to 95 %.

    Two features that carry the same information can replace each other, which lowers
    the index although nothing is lost.

    Examples
    --------
    >>> from tieaware_sklearn import RankingFeatureSelector, selection_stability
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, as_frame=True, random_state=0)
    >>> selector = RankingFeatureSelector("ndcg@10", n_features_to_select=4)
    >>> print(selection_stability(selector, web.data, web.target, qid=web.qid))
    feature        chosen  samples
    ------------------------------
    clicks         1.0000       50
    text_score     1.0000       50
    page_visits    0.9000       45
    in_degree      0.5600       28
    url_length     0.5400       27
    n_slashes      0.0000        0
    noise_1        0.0000        0
    noise_2        0.0000        0
    noise_3        0.0000        0
    noise_4        0.0000        0
    log_in_degree  0.0000        0
    log_clicks     0.0000        0
    Stability 0.7762, 95% interval [0.7543, 0.7982] (50 bootstrap samples of these
    60 queries, 4.0 features on average).
    """
    _selection_curve.check_selector(selector)
    checks.check_share(confidence, "confidence")
    checks.check_flag(progress, "progress")
    checks.check_count(n_bootstraps, "n_bootstraps", least=2)
    rng = checks.check_seed(random_state)
    rows, _ = _selection_curve.rows_by_content(X, y, qid)
    n_queries = rows.queries.n_queries
    drawn = (rng.randint(n_queries, size=n_queries) for _ in range(n_bootstraps))
    parts = list(map(np.sort, drawn))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    supports = parallel(delayed(_support)(selector, rows, part) for part in parts)
    bar = progress_bars.show_progress(
        supports, progress, len(parts), "sample", "stability"
    )
    selected = np.stack(list(bar))
    stability, error = nogueira(selected)
    half = ndtri((1 + confidence) / 2) * error
    # the least is that of samples in which all features are chosen equally often
    least = -1 / (len(selected) - 1)
    ends = np.clip([stability - half, stability + half], least, 1.0)
    if n_bootstraps < _LEAST:
        ends = np.full(2, np.nan)
        words.warn(
            f"n_bootstraps must be at least {_LEAST} for an interval of the stability, "
            f"got {n_bootstraps}"
        )
    return SelectionStability(
        feature_names=tuple(map(str, feature_matrix.names_of(rows.X))),
        frequency=selected.mean(axis=0),
        selected=selected,
        stability=stability,
        interval=ends,
        n_queries=n_queries,
        confidence=float(confidence),
    )


def _support(
    selector: Any, rows: _prepared.QueryRows, chosen: IntArray
) -> NDArray[np.bool_]:
    fitted = _scorers.fit_rows(clone(selector), rows.of_queries(chosen))
    return np.asarray(fitted.get_support())


def nogueira(selected: NDArray[np.bool_]) -> tuple[float, float]:
    """The stability of selections (n_samples, n_features), and its standard error.

    Both are NaN where no feature is ever selected, or every one always is.
    """
    n_samples, n_features = selected.shape
    z = selected.astype(np.float64)
    share = z.mean(axis=0)
    size = z.sum(axis=1) / n_features
    if selected.all() or not selected.any():
        return np.nan, np.nan
    mean_size = float(size.mean())
    spread = mean_size * (1 - mean_size)
    unbiased = n_samples / (n_samples - 1)
    index = 1 - unbiased * float(np.mean(share * (1 - share))) / spread
    # contribution of each sample to the error, as in their section 4
    influence = (z * share).mean(axis=1) - size * mean_size
    influence += index / 2 * (2 * mean_size * size - size - mean_size + 1)
    influence /= spread
    error = 2 / n_samples * float(np.sqrt(np.sum((influence - influence.mean()) ** 2)))
    return index, error
