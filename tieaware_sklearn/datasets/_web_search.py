"""A generator of web search rankings with discrete, tied features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.utils import Bunch

from .._engine import checks
from .._typing import FloatArray
from ..io import _rows

#: Share of the documents with each grade. The shares are similar in MSLR-WEB30K.
_GRADES = np.array([0.52, 0.32, 0.13, 0.02, 0.01])

_DESCR = """\
A generated web search: the documents of each query have labels 0..4 and these features.

in_degree, clicks, page_visits   counts with a power-law tail, higher is better
url_length, n_slashes            small integers, lower is better
text_score                       continuous, higher is better
noise_*                          unrelated to the labels, discrete and continuous
log_*                            log(1 + x) of a feature above: the same ranking

The features have the same bits on every machine: continuous ones have 6 decimals,
logarithms 8.
"""
# The last bits of random draws, exp and log depend on the machine. Features are rounded
# to these numbers of decimals, so that features are the same on every machine.
_DECIMALS = 6
_LOG_DECIMALS = 8


def make_web_search(
    n_queries: int = 100,
    *,
    n_documents: int = 100,
    strength: float = 0.5,
    tie_rate: float = 0.5,
    n_noise: int = 4,
    n_duplicates: int = 2,
    shuffle: bool = False,
    random_state: Any = 0,
    as_frame: bool = False,
    return_X_y_qid: bool = False,
) -> Any:
    """Generate queries, graded documents and mostly discrete features of a web search.

    Parameters
    ----------
    n_queries : int, default=100
        Number of queries.
    n_documents : int, default=100
        Mean of the log-normal distribution of the number of documents of a query. The
        numbers are rounded, and at least 1.
    strength : float, default=0.5
        Strength of the dependence of the first six features on the labels, from 0
        (none) to 1.
    tie_rate : float, default=0.5
        Expected share, in [0, 1), of the documents for which a count (in_degree, clicks
        or page_visits) is 0. The other values of the count have a power-law tail. A
        higher `tie_rate` also makes the steps of url_length larger.
    n_noise : int, default=4
        Number of features that are unrelated to the labels. The unrelated features are
        alternately discrete and continuous.
    n_duplicates : int, default=2
        Number, at most 3, of features that are the logarithm, log(1 + x), of a count.
    shuffle : bool, default=False
        Whether to shuffle the rows, so that queries are interleaved.
    random_state : int, RandomState instance or None, default=0
        Seed of all random draws. None generates other data in each call.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with named columns.
    return_X_y_qid : bool, default=False
        Whether to return ``(data, target, qid)`` instead of a Bunch.

    Returns
    -------
    sklearn.utils.Bunch, or tuple if `return_X_y_qid` is True
        The Bunch has these keys:

        - ``data``: features, float64, of shape (n_rows, 6 + n_noise + n_duplicates);
        - ``target``: labels 0..4, int64, of shape (n_rows,);
        - ``qid``: query ids 1..n_queries, int64, of shape (n_rows,);
        - ``feature_names``: list of the names of the features;
        - ``DESCR``: description of the data and the features.

    Raises
    ------
    ValueError
        If a parameter is outside its range.
    ImportError
        If `as_frame` is True and pandas is not installed.

    See Also
    --------
    load_digits_retrieval : Loads real data with ties.

    Examples
    --------
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=3)
    >>> web.feature_names[:6]
    ['in_degree', 'clicks', 'page_visits', 'url_length', 'n_slashes', 'text_score']
    """
    for name, value, least in (
        ("n_queries", n_queries, 1),
        ("n_documents", n_documents, 1),
        ("n_noise", n_noise, 0),
        ("n_duplicates", n_duplicates, 0),
    ):
        if not value >= least:
            raise ValueError(f"{name} must be >= {least}, got {value!r}")
    if not 0 <= strength <= 1:
        raise ValueError(f"strength must be in [0, 1], got {strength!r}")
    if not 0 <= tie_rate < 1:
        raise ValueError(f"tie_rate must be in [0, 1), got {tie_rate!r}")
    if n_duplicates > 3:
        raise ValueError(f"n_duplicates must be <= 3, got {n_duplicates!r}")
    rng = checks.check_seed(random_state)

    # The mean of the exponential of a normal variable is 1 if its mean is minus half of
    # its variance: 0.18 = 0.6² / 2.
    lengths = np.exp(0.6 * rng.standard_normal(n_queries) - 0.18) * n_documents
    sizes = np.maximum(1, np.round(lengths)).astype(np.int64)
    qid = np.repeat(np.arange(1, n_queries + 1), sizes)
    n = len(qid)
    # Some queries are hard: the quality of their documents is lower. Some of the hard
    # queries have no relevant document. The variance of quality is 0.8² + 0.6² = 1, so
    # `ndtr` returns quantiles.
    quality = 0.8 * rng.standard_normal(n)
    quality += 0.6 * rng.standard_normal(n_queries)[qid - 1]
    target = np.searchsorted(np.cumsum(_GRADES)[:-1], ndtr(quality))

    def latent(share: float) -> FloatArray:
        """Return standard normal values that are correlated with quality."""
        weight = strength * share
        noise = rng.standard_normal(n)
        return weight * quality + np.sqrt(1 - weight**2) * noise

    def count(share: float, exponent: float) -> FloatArray:
        """Return counts: 0 for a share `tie_rate`, otherwise with a power-law tail."""
        quantile = ndtr(latent(share))
        above = (quantile - tie_rate) / (1 - tie_rate)
        # The least base avoids a division by 0 if a quantile rounds to 1.
        tail = np.maximum(1 - above, 1e-12) ** (-1 / exponent)
        return np.where(above > 0, np.floor(tail), 0.0)

    features: dict[str, Any] = {"in_degree": count(0.7, 1.1)}
    features["clicks"] = count(1.0, 1.5)
    features["page_visits"] = count(0.8, 1.0)
    counts = list(features)
    step = 1 + np.round(8 * tie_rate)
    length = 15 + 25 * np.exp(-0.5 * latent(0.6))
    slashes = 2.5 * np.exp(-0.5 * latent(0.5))
    text_score = 10 + 4 * latent(0.9)
    features["url_length"] = np.floor(length / step) * step
    features["n_slashes"] = np.floor(slashes)
    features["text_score"] = np.round(text_score, _DECIMALS)
    for i in range(n_noise):
        noise = np.round(rng.standard_normal(n), _DECIMALS)
        if i % 2 == 0:
            noise = np.floor(3 * np.abs(noise))
        features[f"noise_{i + 1}"] = noise
    for name in counts[:n_duplicates]:
        logarithm = np.log1p(features[name])
        features[f"log_{name}"] = np.round(logarithm, _LOG_DECIMALS)

    data = np.column_stack(list(features.values()))
    if shuffle:
        order = rng.permutation(n)
        data, target, qid = data[order], target[order], qid[order]
    names = list(features)
    web = Bunch(data=data, target=target, qid=qid, feature_names=names, DESCR=_DESCR)
    return _rows.as_chosen(web, as_frame=as_frame, return_X_y_qid=return_X_y_qid)
