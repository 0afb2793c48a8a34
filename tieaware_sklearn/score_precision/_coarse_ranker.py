"""Coarseness of scores, scores that are made coarser, and a ranker with such scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags, metadata_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from .._engine import checks, exact_numbers, feature_matrix
from .._typing import Array, FloatArray
from ..model_selection import _scorers
from ..rankers import _query_ranker
from . import _bands

FORMATS = ("float16", "bfloat16", "float32")
_LARGEST = float(np.finfo(np.float64).max)
#: Smallest value of each kind of coarseness except rho. The largest power of ten among
#: 64-bit floats is 10^308.
_LEAST = {"decimals": -308, "significant": 1, "bits": 1, "levels": 2}
KINDS = ("rho", *_LEAST)
#: Maximum number of bits. Further bits would not separate more scores, because no more
#: scores fit into memory.
_MOST_BITS = 60


@dataclass(frozen=True)
class Coarseness:
    """Kind and degree of coarseness, which prints as its text, such as ``rho=1.1``.

    Attributes
    ----------
    kind : {"rho", "decimals", "significant", "bits", "levels"}
    value : Fraction, int or str
        Growth factor of bands, number of digits, bits or levels, or name of a float
        type.
    text : str
        Text that is printed. Equality ignores the text, because ``rho=2`` and
        ``rho=4/2`` mean the same.
    """

    kind: str
    value: Any
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    def by_query(self, scale: str) -> bool:
        """Return whether the coarser score of a document depends on its query."""
        if self.kind == "rho":
            return True
        is_linear = self.kind in ("bits", "levels") and self.value not in FORMATS
        return is_linear and scale == "query"

    def apply(
        self,
        scores: Array,
        queries: checks.Queries,
        *,
        limits: Any = None,
        existing_ties: str = "keep",
    ) -> FloatArray:
        """Return coarser scores; -inf stays.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Checked scores.
        queries : Queries
            Queries that have their own bands and, without `limits`, their own levels.
        limits : tuple of two floats, optional
            Lowest and highest level.
        existing_ties : {"keep", "order"}
            As in `band_scores`.
        """
        if self.kind == "rho":
            return _bands.banded(scores, queries, self.value, existing_ties)
        out = exact_numbers.floats_of(scores, "y_score").copy()
        is_finite = np.isfinite(out)
        finite = out[is_finite]
        if self.kind == "decimals":
            # Python rounds the exact value. A product with a power of ten could
            # overflow, or round twice.
            coarse = _round_distinct(finite, lambda score: round(score, self.value))
        elif self.kind == "significant":
            spec = f".{self.value - 1}e"
            coarse = _round_distinct(finite, lambda score: float(format(score, spec)))
        elif self.value in FORMATS:
            coarse = _to_format(finite, self.value)
        else:
            n_levels = self.value
            if self.kind == "bits":
                n_levels = 2 ** min(self.value, _MOST_BITS)
            if limits is None:
                limits = _query_limits(out, queries)
            low, high = np.broadcast_arrays(*limits, out)[:2]
            coarse = _to_levels(finite, low[is_finite], high[is_finite], n_levels)
        out[is_finite] = coarse
        return out


def _query_limits(
    scores: FloatArray, queries: checks.Queries
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest retrieved score of the query of each row."""
    high = queries.arrange(scores)
    low = np.where(checks.is_retrieved(high), high, np.inf)
    starts = queries.offsets[:-1]
    codes = queries.row_codes()
    lowest = np.minimum.reduceat(low, starts)
    highest = np.maximum.reduceat(high, starts)
    return lowest[codes], highest[codes]


def _round_distinct(
    scores: FloatArray, round_score: Callable[[float], float]
) -> FloatArray:
    """Round each distinct score once, to a finite float."""
    distinct, inverse = np.unique(scores, return_inverse=True)
    rounded = np.empty(len(distinct))
    for index, score in enumerate(distinct.tolist()):
        try:
            rounded[index] = round_score(score)
        except OverflowError:
            rounded[index] = math.copysign(_LARGEST, score)
    return np.clip(rounded, -_LARGEST, _LARGEST)[inverse]


def _to_format(scores: FloatArray, name: str) -> FloatArray:
    """Return the nearest values of a shorter float type, within its finite range."""
    if name != "bfloat16":
        largest = float(np.finfo(name).max)
        inside = np.clip(scores, -largest, largest)
        return inside.astype(name).astype(np.float64)
    # bfloat16 has 8 bits of significand and the exponents of a 32-bit float. For frexp,
    # the smallest normal number, 2^-126, has the exponent -125. Smaller numbers have
    # the same unit.
    largest = float(np.uint32(0x7F7F0000).view(np.float32))
    inside = np.clip(scores, -largest, largest)
    _, exponent = np.frexp(inside)
    unit = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
    # The nearest multiple of the unit; halves go to the even multiple.
    rounded = np.rint(inside / unit) * unit
    return np.clip(rounded, -largest, largest)


def _to_levels(
    scores: FloatArray, low: FloatArray, high: FloatArray, n_levels: int
) -> FloatArray:
    """Return evenly spaced levels from `low` to `high` for bins of equal width."""
    out = np.clip(scores, low, high)
    # Halves are subtracted, because the difference of the largest floats overflows.
    has_range = high / 2 - low / 2 > 0
    low = low[has_range]
    high = high[has_range]
    span = high / 2 - low / 2
    above = out[has_range] / 2 - low / 2
    # If the width is scaled to [0.5, 1), the product is exact for scores such as
    # ratings, and never overflows.
    _, exponent = np.frexp(span)
    width = np.ldexp(span, -exponent)
    scaled = np.ldexp(above, -exponent)
    last = n_levels - 1
    bins = np.floor(scaled * n_levels / width)
    bins = np.minimum(bins, last)
    # A level beyond the largest float is clipped.
    with np.errstate(over="ignore"):
        level = 2 * (low / 2 + bins / last * span)
    level = np.clip(level, low, high)
    out[has_range] = np.where(bins == last, high, level)
    return out


def parse_coarseness(coarseness: Any) -> Coarseness:
    """Return the coarseness that a text such as ``"bits=8"`` names."""
    if not isinstance(coarseness, str) or "=" not in coarseness:
        raise ValueError(
            'coarseness must be a string such as "rho=1.1", "decimals=2", '
            '"significant=3", "bits=float16", "bits=8" or "levels=100", got '
            f"{coarseness!r}"
        )
    kind, _, text = (part.strip() for part in coarseness.partition("="))
    checks.check_choice(kind, f"coarseness {coarseness!r}: the kind", KINDS)
    value: Any = text
    if kind == "rho":
        value = _bands.check_rho(text)
    elif kind != "bits" or text not in FORMATS:
        least = _LEAST[kind]
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            formats = f"one of {FORMATS} or " if kind == "bits" else ""
            raise ValueError(
                f"{kind} must be {formats}an integer >= {least}, got {text!r}"
            )
    return Coarseness(kind, value, f"{kind}={text}")


def round_scores(y_score: ArrayLike, coarseness: str, *, qid: Any = None) -> FloatArray:
    """Round scores to less precision.

    Distinct scores may become equal, but their order is never reversed.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores. A score of -inf (not retrieved) is kept. All kinds of coarseness except
        bands convert scores to 64-bit floats, so integers beyond 2^53 may become equal.
    coarseness : str
        The coarseness:

        - ``"rho=1.1"``: geometric bands of ranks that grow by this factor, as in
          `band_scores`;
        - ``"decimals=2"``: number of decimal places. ``"decimals=-1"`` rounds to tens,
          ``"decimals=-2"`` to hundreds, and so on;
        - ``"significant=3"``: number of significant decimal digits;
        - ``"bits=float16"``, ``"bits=bfloat16"`` or ``"bits=float32"``: the values of a
          float type. Scores beyond the range of the type become the smallest or the
          largest finite value of the type;
        - ``"levels=100"``: number of bins of equal width between the smallest and the
          largest score. A score on the edge of two bins goes into the upper bin. The
          values of the bins are evenly spaced, from the smallest to the largest score;
        - ``"bits=8"``: number of bits of an integer. 8 bits are the same as
          ``"levels=256"``.
    qid : array-like of shape (n_documents,), optional
        Query of each document. Bands, levels and numbers of bits refer to the scores of
        each query. By default, all documents belong to one query. Digits and float
        types do not need query ids.

    Returns
    -------
    ndarray of shape (n_documents,), float64
        The coarser scores.

    Raises
    ------
    ValueError
        If scores are NaN or +inf, if `qid` has another length or contains missing ids,
        or if `coarseness` is unknown or its value is out of range.

    See Also
    --------
    band_scores : Replaces scores by bands of ranks.
    precision_study : Measures the effect of coarser scores.
    CoarseRanker : Makes the scores of a ranker coarser.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import round_scores
    >>> round_scores([0.123, 12.35, 987.6], "significant=2").tolist()
    [0.12, 12.0, 990.0]
    >>> round_scores([0.0, 0.2, 0.6, 1.0], "levels=3").tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    parsed = parse_coarseness(coarseness)
    scores = checks.check_scores(y_score)
    queries = checks.check_qid(qid, n_rows=len(scores))
    return parsed.apply(scores, queries)


class CoarseRanker(_query_ranker.RankerMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Reduce the precision of the scores of any ranker.

    The precision of scores is then a parameter that `GridSearchCV` can tune.

    Parameters
    ----------
    estimator : estimator
        A ranker, regressor or classifier, or a pipeline whose last step is such an
        estimator.
    coarseness : str or None, default="rho=1.1"
        Coarseness of the scores, as in `round_scores`, such as ``"bits=8"``. None keeps
        scores as they are. Bands (``"rho=1.1"``) need the query of each row in
        `predict`.
    scale : {"fit", "query"}, default="fit"
        Range of evenly spaced levels (``"levels=100"``, ``"bits=8"``). "fit" uses the
        smallest and largest score that the fitted estimator assigns to the training
        data, as a quantised model does, and clips scores beyond this range. "query"
        uses the smallest and largest score of each query, so `predict` needs the query
        ids.
    existing_ties : {"keep", "order"}, default="keep"
        Treatment of documents that already tie, for bands. "keep" puts all documents of
        a tie into the same band, and "order" ranks tied documents in the order of rows,
        as in `band_scores`.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        Method of `estimator` whose values rank the documents, as in
        `make_ranking_scorer`.
    qid : str or int, optional
        Column of X that contains query ids (a name for data frames, an index for
        arrays). `estimator` receives X without this column. If the method `fit` of
        `estimator` accepts ``qid``, this method receives the ids. By default, pass
        query ids as the argument ``qid`` of `fit` and `predict`. `make_ranking_scorer`
        passes the ids to `predict`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    limits_ : tuple of two floats or None
        Smallest and largest finite score that `estimator_` assigns to the training
        data, or None if no score is finite.
    n_features_in_ : int
        Number of columns of X in `fit`, including the column that `qid` names.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns of X in `fit`. The attribute exists only if X is a data
        frame whose column names are all strings.

    See Also
    --------
    round_scores : Makes given scores coarser.
    tieaware_sklearn.optuna.ScorePrecisionObjective : Searches for the coarsest
        precision that is not inferior.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from tieaware_sklearn import QueryKFold, make_ranking_scorer
    >>> from tieaware_sklearn.score_precision import CoarseRanker
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> X = np.column_stack([web.qid, web.data])
    >>> search = GridSearchCV(
    ...     CoarseRanker(LinearRegression(), qid=0),
    ...     {"coarseness": [None, "levels=100", "levels=4"]},
    ...     scoring=make_ranking_scorer("ndcg@10", qid=0),
    ...     cv=QueryKFold(3, qid=0),
    ... ).fit(X, web.target)
    >>> coarse = search.best_estimator_.set_params(coarseness="levels=4")
    >>> len(np.unique(coarse.predict(X)))
    4
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(
        self,
        estimator: Any,
        coarseness: str | None = "rho=1.1",
        *,
        scale: str = "fit",
        existing_ties: str = "keep",
        response_method: str | Sequence[str] | None = None,
        qid: str | int | None = None,
    ) -> None:
        self.estimator = estimator
        self.coarseness = coarseness
        self.scale = scale
        self.existing_ties = existing_ties
        self.response_method = response_method
        self.qid = qid

    def fit(
        self, X: Any, y: ArrayLike | None = None, *, qid: Any = None, **fit_params: Any
    ) -> CoarseRanker:
        """Fit the estimator, and find the range of its scores.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Data, with the column of `qid` if there is one.
        y : array-like of shape (n_rows,), optional
            Labels, if the estimator requires labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Do not pass `qid` if the parameter `qid` of the class
            names a column of X. `fit` passes the ids to an estimator that accepts
            ``qid`` and, if metadata routing is enabled, also requests ``qid``.
        **fit_params
            Further arguments of the estimator's `fit`, passed through metadata routing
            if metadata routing is enabled.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is invalid, if query ids are given twice, are missing for
            some rows or have the wrong length, if the scores of the estimator are NaN
            or +inf, or if the estimator raises a ValueError.
        AttributeError
            If the estimator has none of the methods of `response_method`.
        """
        self._checked()
        _scorers.check_response_method(self.response_method)
        features, qid = feature_matrix.resolve_qid(X, self.qid, qid)
        # Wrong ids are refused even if the estimator does not get them.
        checks.check_qid(qid, n_rows=feature_matrix.count_rows(features))
        if get_config()["enable_metadata_routing"]:
            if qid is not None and self.qid is None:
                fit_params["qid"] = qid
            routed = metadata_routing.process_routing(self, "fit", **fit_params)
            fit_params = dict(routed.estimator.fit)
            # Routing does not pass a column of X.
            if self.qid is not None:
                routing = metadata_routing.get_routing_for_object(self.estimator)
                requests_qid = routing.consumes("fit", {"qid"})
                if requests_qid or has_fit_parameter(self.estimator, "qid"):
                    fit_params["qid"] = qid
        elif qid is not None:
            keyword = _qid_keyword(self.estimator)
            if keyword is not None:
                fit_params.setdefault(keyword, qid)
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(features, y, **fit_params)
        validate_data(self, X, skip_check_array=True)
        scores = self._exact(features, qid)
        scores = scores[np.isfinite(scores)]
        self.limits_ = None
        if len(scores):
            self.limits_ = float(scores.min()), float(scores.max())
        return self

    def predict(self, X: Any, *, qid: Any = None) -> FloatArray:
        """Return the coarser scores of the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Data, with the column of `qid` if there is one.
        qid : array-like of shape (n_rows,), optional
            Query of each row. Do not pass `qid` if the parameter `qid` of the class
            names a column of X. Query ids are needed for bands and, with
            ``scale="query"``, for evenly spaced levels.

        Returns
        -------
        ndarray of shape (n_rows,)
            The coarser scores, or the scores of the estimator if `coarseness` is None.

        Raises
        ------
        ValueError
            If query ids are needed but missing, if query ids are given twice or have
            the wrong length, if a parameter is invalid, or if the scores of the
            estimator are NaN or +inf.
        NotFittedError
            If the ranker is not fitted.
        """
        check_is_fitted(self)
        coarseness = self._checked()
        request = "set_predict_request(qid=False)"
        features, qid = feature_matrix.resolve_qid(X, self.qid, qid, request=request)
        if self.qid is not None:
            # If the ids were left out of X, a feature would be read as ids.
            validate_data(self, X, reset=False, skip_check_array=True)
        queries = checks.check_qid(qid, n_rows=feature_matrix.count_rows(features))
        by_query = coarseness is not None and coarseness.by_query(self.scale)
        if by_query and qid is None:
            raise ValueError(
                f"qid must contain the query of each row, because {coarseness} depends "
                "on the query, got None: pass qid to predict, as make_ranking_scorer "
                "does, or name the column of X that contains qid by "
                "CoarseRanker(qid=<name or index>), which also works in "
                "cross_val_predict and in searches"
            )
        scores = self._exact(features, qid)
        if coarseness is None:
            return scores
        limits = None if by_query else self.limits_
        return coarseness.apply(
            scores, queries, limits=limits, existing_ties=self.existing_ties
        )

    def _exact(self, X: Any, qid: Any) -> FloatArray:
        """Return the scores of the fitted estimator."""
        return _scorers.predicted_scores(
            self.estimator_, X, self.response_method, qid=qid
        )

    def _checked(self) -> Coarseness | None:
        """Check all options, and return the coarseness, if there is one."""
        checks.check_choice(self.scale, "scale", ("fit", "query"))
        checks.check_choice(self.existing_ties, "existing_ties", _bands.EXISTING_TIES)
        if self.coarseness is None:
            return None
        return parse_coarseness(self.coarseness)

    def get_metadata_routing(self) -> metadata_routing.MetadataRouter:
        """Return the metadata routing of this ranker and its estimator.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        mapping = metadata_routing.MethodMapping().add(caller="fit", callee="fit")
        router = metadata_routing.MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.target_tags.required = inner.target_tags.required
        return tags


def _qid_keyword(estimator: Any) -> str | None:
    """Return the keyword by which `fit` passes on query ids without routing, if any."""
    if has_fit_parameter(estimator, "qid"):
        return "qid"
    if not hasattr(estimator, "steps"):
        return None
    name, last = estimator.steps[-1]
    keyword = _qid_keyword(last)
    if keyword is None:
        return None
    return f"{name}__{keyword}"
