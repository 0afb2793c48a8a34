"""Image retrieval over scikit-learn's digits, with real ties and no download."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from .._engine import checks
from ..io import _rows

#: Pixels have values from 0 to 16. A pixel of at least this value is ink.
_INK = 8

_DESCR = """\
Digits retrieval
----------------
Each query is one of the 1,797 images of 8 x 8 pixels of sklearn.datasets.load_digits
(a copy of the test set of the UCI ML hand-written digits data); its documents are all
other images, and those of the same digit are relevant (label 1). Features are integers,
larger for more alike images, and tie often:

hamming         minus the number of pixels that are ink in only one of both images
l1              minus the sum of absolute pixel differences
chebyshev       minus the largest pixel difference
shared_ink      the sum of the pixelwise smaller values
ink_difference  minus the difference of total ink
quadrants       minus the L1 distance of the numbers of ink pixels per quadrant
ink             total ink of the document, whatever the query
"""


def load_digits_retrieval(
    *,
    n_queries: int = 100,
    random_state: Any = 0,
    as_frame: bool = False,
    return_X_y_qid: bool = False,
) -> Any:
    """Load rankings of images of hand-written digits, with integer similarities.

    Each query is an image, and the documents of the query are all other images. A
    document is relevant if it shows the digit of the query.

    Parameters
    ----------
    n_queries : int, default=100
        Number of images drawn as queries, at most 1797. Each query has 1796 documents.
    random_state : int, RandomState instance or None, default=0
        Seed for drawing the queries. None draws other queries in each call.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with named columns.
    return_X_y_qid : bool, default=False
        Whether to return ``(data, target, qid)`` instead of a Bunch.

    Returns
    -------
    sklearn.utils.Bunch, or tuple if `return_X_y_qid` is True
        The Bunch has these keys:

        - ``data``: features, int64, of shape (n_queries * 1796, 7);
        - ``target``: labels 0 or 1, int64, of shape (n_queries * 1796,);
        - ``qid``: index of the query's image in `sklearn.datasets.load_digits`, int64,
          of shape (n_queries * 1796,);
        - ``feature_names``: list of the names of the features;
        - ``DESCR``: description of the data and the features.

    Raises
    ------
    ValueError
        If n_queries is outside 1..1797.
    ImportError
        If `as_frame` is True and pandas is not installed.

    See Also
    --------
    make_web_search : Generates rankings with ties.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.datasets import load_digits_retrieval
    >>> digits = load_digits_retrieval(n_queries=10)
    >>> digits.data.shape
    (17960, 7)
    >>> hamming = digits.data[:, digits.feature_names.index("hamming")]
    >>> round(ranking_score(digits.target, hamming, qid=digits.qid), 3)
    0.877
    """
    images, digit = load_digits(return_X_y=True)
    pixels = images.astype(np.int64)
    n = len(pixels)
    if not 1 <= n_queries <= n:
        raise ValueError(
            f"n_queries must be an integer from 1 to {n}, got {n_queries!r}"
        )
    rng = checks.check_seed(random_state)
    chosen = np.sort(rng.permutation(n)[:n_queries])
    matrices = []
    for query in chosen:
        similarities = _similarities(pixels, query)
        matrices.append(np.column_stack(list(similarities.values())))
    # An image is not a document of its own query.
    is_document = np.arange(n) != chosen[:, None]
    data = np.stack(matrices)[is_document]
    is_relevant = digit == digit[chosen, None]
    target = is_relevant[is_document].astype(np.int64)
    qid = np.repeat(chosen.astype(np.int64), n - 1)
    names = list(similarities)
    digits = Bunch(data=data, target=target, qid=qid, feature_names=names, DESCR=_DESCR)
    return _rows.as_chosen(digits, as_frame=as_frame, return_X_y_qid=return_X_y_qid)


def _similarities(pixels: Any, query: int) -> dict[str, Any]:
    """Return the similarities of all images to the query, by feature name."""
    ink = pixels >= _INK
    quadrant_ink = ink.reshape(-1, 2, 4, 2, 4).sum(axis=(2, 4))
    quadrant = quadrant_ink.reshape(-1, 4)
    total = pixels.sum(axis=1)
    difference = np.abs(pixels - pixels[query])
    similarities = {"hamming": -(ink != ink[query]).sum(axis=1)}
    similarities["l1"] = -difference.sum(axis=1)
    similarities["chebyshev"] = -difference.max(axis=1)
    similarities["shared_ink"] = np.minimum(pixels, pixels[query]).sum(axis=1)
    similarities["ink_difference"] = -np.abs(total - total[query])
    similarities["quadrants"] = -np.abs(quadrant - quadrant[query]).sum(axis=1)
    similarities["ink"] = total
    return similarities
