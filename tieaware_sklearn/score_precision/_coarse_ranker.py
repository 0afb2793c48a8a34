"""How coarse scores are, scores made so, and a ranker whose scores are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
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
#: the least number of each kind but rho
_LEAST = {"decimals": -308, "significant": 1, "bits": 1, "levels": 2}
KINDS = ("rho", *_LEAST)
#: more bits tell no more scores apart than fit into memory
_MOST_BITS = 60


@dataclass(frozen=True)
class Coarseness:
    """One way to make scores coarser; prints as its text, such as ``rho=1.1``.

    Attributes
    ----------
    kind : {"rho", "decimals", "significant", "bits", "levels"}
    value : Fraction, int or str
        The growth of bands, a number of digits, bits or levels, or the name of a
        float type.
    text : str
        Two texts may mean the same, ``rho=2`` and ``rho=4/2``.
    """

    kind: str
    value: Any
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def is_linear(self) -> bool:
        """Whether it divides the range between two scores."""
        return self.kind in ("bits", "levels") and self.value not in FORMATS

    def by_query(self, scale: str) -> bool:
        """Whether it must know the queries, if levels lie as `scale` says."""
        return self.kind == "rho" or (self.is_linear and scale == "query")

    def apply(
        self,
        scores: Array,
        queries: checks.Queries,
        *,
        limits: Any = None,
        existing_ties: str = "keep",
    ) -> FloatArray:
        """Checked scores, made coarser; -inf stays.

        Bands are those of each query, and levels lie between its extremes unless
        there are `limits`.
        """
        if self.kind == "rho":
            return _bands.banded(scores, queries, self.value, existing_ties)
        out = exact_numbers.floats_of(scores, "y_score").copy()
        there = np.isfinite(out)
        finite = out[there]
        if self.kind == "decimals":
            # Python rounds the exact value: no product that overflows or rounds twice
            coarse = _each(finite, lambda x: round(x, self.value))
        elif self.kind == "significant":
            form = f".{self.value - 1}e"
            coarse = _each(finite, lambda x: float(format(x, form)))
        elif not self.is_linear:
            coarse = _to_format(finite, self.value)
        else:
            bits = self.kind == "bits"
            levels = 2 ** min(self.value, _MOST_BITS) if bits else self.value
            low, high = _extremes(out, queries) if limits is None else limits
            low, high = (np.broadcast_to(end, out.shape)[there] for end in (low, high))
            coarse = _to_levels(finite, low, high, levels)
        out[there] = coarse
        return out


def _extremes(
    scores: FloatArray, queries: checks.Queries
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score that is retrieved of the query of each row."""
    arranged, starts = queries.arrange(scores), queries.offsets[:-1]
    low = np.where(np.isfinite(arranged), arranged, np.inf)
    low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(arranged, starts)
    codes = queries.row_codes()
    return low[codes], high[codes]


def _each(scores: FloatArray, rounded: Callable[[float], float]) -> FloatArray:
    """A function of the distinct scores."""

    def finite(score: float) -> float:
        try:
            return min(max(rounded(score), -_LARGEST), _LARGEST)
        except OverflowError:
            return math.copysign(_LARGEST, score)

    distinct, at = np.unique(scores, return_inverse=True)
    return np.array(list(map(finite, distinct.tolist())), dtype=np.float64)[at]


def _to_format(scores: FloatArray, name: str) -> FloatArray:
    """Nearest values of a shorter float type; its largest ones beyond its range."""
    if name != "bfloat16":
        largest = float(np.finfo(name).max)
        return np.clip(scores, -largest, largest).astype(name).astype(np.float64)
    # 8 bits of significand, and the exponents of a 32-bit float
    largest = float(np.uint32(0x7F7F0000).view(np.float32))
    inside = np.clip(scores, -largest, largest)
    _, exponent = np.frexp(inside)
    unit = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
    # whole units: to the nearest, halves to even
    return np.clip(np.rint(inside / unit) * unit, -largest, largest)


def _to_levels(
    scores: FloatArray, low: FloatArray, high: FloatArray, levels: int
) -> FloatArray:
    """Levels, spaced evenly from `low` to `high`, of bins of equal width."""
    out = np.clip(scores, low, high)
    # of halves, because the difference of the largest floats overflows
    spread = high / 2 - low / 2 > 0
    low, high, value = low[spread], high[spread], out[spread]
    span = high / 2 - low / 2
    # scaled, the product is exact for scores such as ratings, and overflows for none
    exponent = np.frexp(span)[1]
    above, width = (np.ldexp(part, -exponent) for part in (value / 2 - low / 2, span))
    place = np.minimum(np.floor(above * levels / width), levels - 1)
    with np.errstate(over="ignore"):  # a level beyond the largest float is cut off
        level = 2 * (low / 2 + place / (levels - 1) * span)
    out[spread] = np.where(place == levels - 1, high, np.clip(level, low, high))
    return out


def parse_coarseness(coarseness: Any) -> Coarseness:
    """The one that a text such as ``"bits=8"`` names."""
    if not isinstance(coarseness, str) or "=" not in coarseness:
        raise ValueError(
            'coarseness must be a text such as "rho=1.1", "decimals=2", '
            '"significant=3", "bits=float16", "bits=8" or "levels=100", got '
            f"{coarseness!r}"
        )
    kind, _, given = (part.strip() for part in coarseness.partition("="))
    checks.check_choice(kind, f"coarseness {coarseness!r}: the kind", KINDS)
    value: Fraction | int | str = given
    if kind == "rho":
        value = _bands.check_rho(given)
    elif kind != "bits" or given not in FORMATS:
        try:
            value = int(given)
        except ValueError:
            value = _LEAST[kind] - 1
        if value < _LEAST[kind]:
            formats = f"one of {FORMATS} or " if kind == "bits" else ""
            raise ValueError(
                f"{kind} must be {formats}an integer >= {_LEAST[kind]}, got {given!r}"
            )
    return Coarseness(kind, value, f"{kind}={given}")


def several(given: Any, name: str, parse: Callable[[Any], Any]) -> list[Any]:
    """One or several, each parsed, and each once."""
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    parsed = list(dict.fromkeys(map(parse, given if listed else [given])))
    if not parsed:
        raise ValueError(f"{name} must not be empty")
    return parsed


def round_scores(y_score: ArrayLike, coarseness: str, *, qid: Any = None) -> FloatArray:
    """Round scores to less precision.

    Distinct scores may become equal, but their order is never reversed.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores; -inf (not retrieved) is kept. All kinds except bands convert them to
        64-bit floats. Scores that become equal by this are an error.
    coarseness : str
        The coarseness:

        - ``"rho=1.1"``: geometric bands of ranks that grow by this factor, as in
          `band_scores`;
        - ``"decimals=2"``: number of decimal places; negative numbers round to tens,
          hundreds and so on;
        - ``"significant=3"``: number of significant decimal digits;
        - ``"bits=float16"``, ``"bits=bfloat16"`` or ``"bits=float32"``: the values of a
          float type; scores beyond its range become its extreme values;
        - ``"levels=100"``: number of bins of equal width between the smallest and the
          largest score. A score on an edge goes into the upper bin. The values of the
          bins are evenly spaced, from the smallest to the largest score;
        - ``"bits=8"``: number of bits of an integer, the same as ``"levels=256"``.
    qid : array-like of shape (n_documents,), optional
        Query of each document. Bands, levels and numbers of bits refer to the scores of
        each query. By default all documents are one query. Digits and float types do
        not need it.

    Returns
    -------
    ndarray of shape (n_documents,), float64
        The coarser scores.

    Raises
    ------
    ValueError
        If scores or ids are not allowed, or if `coarseness` is unknown.

    See Also
    --------
    band_scores : Bands of ranks.
    precision_study : Measures the effect of coarser scores.
    CoarseRanker : A ranker whose scores are made coarser.

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
    return parsed.apply(scores, checks.check_qid(qid, n_rows=len(scores)))


class CoarseRanker(_query_ranker.RankerMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Reduce the precision of the scores of any ranker.

    The precision of scores is then a parameter that `GridSearchCV` can tune.

    Parameters
    ----------
    estimator : estimator
        A ranker, regressor or classifier, or a pipeline that ends in one.
    coarseness : str or None, default="rho=1.1"
        Coarseness of the scores, as in `round_scores`, such as ``"bits=8"``. None keeps
        scores as they are. Bands (``"rho=1.1"``) need the query of each row in
        `predict`.
    scale : {"fit", "query"}, default="fit"
        Range of evenly spaced levels (``"levels=100"``, ``"bits=8"``). "fit" takes the
        smallest and largest score of the training data, as a quantised model does.
        "query" takes them from each query, which `predict` must then know.
    existing_ties : {"keep", "order"}, default="keep"
        As in `band_scores`.
    response_method : {"predict", "predict_proba", "decision_function"} or list, \
optional
        The method of `estimator` whose values rank, as in `make_ranking_scorer`.
    qid : str or int, optional
        Column of X that holds query ids. `estimator` gets X without it, and its `fit`
        gets ``qid`` if it accepts that. By default, pass query ids as ``qid``. `fit`
        hands them to an estimator that accepts them, and `make_ranking_scorer` to
        `predict`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    limits_ : tuple of two floats or None
        Smallest and largest score of the training data. None if none is finite.
    n_features_in_ : int
        Number of columns of X in `fit`, including `qid`.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of these columns, if X has names and all are strings.

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
        """Fit the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it. It is passed to an
            estimator that accepts it.
        **fit_params
            Further arguments of the estimator's `fit`, passed through metadata routing
            if that is on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is invalid, if there are two sources of query ids, or if the
            estimator raises it.
        """
        self._checked()
        _scorers.check_response_method(self.response_method)
        given, (X, qid) = X, feature_matrix.resolve_qid(X, self.qid, qid)
        checks.check_qid(qid, n_rows=feature_matrix.count_rows(X))
        if get_config()["enable_metadata_routing"]:
            if qid is not None and self.qid is None:
                fit_params["qid"] = qid
            routed = metadata_routing.process_routing(self, "fit", **fit_params)
            fit_params = dict(routed["estimator"]["fit"])
            if qid is not None and self.qid is not None:
                routing = metadata_routing.get_routing_for_object(self.estimator)
                if routing.consumes("fit", {"qid"}) or has_fit_parameter(
                    self.estimator, "qid"
                ):
                    fit_params["qid"] = qid
        elif qid is not None and (keyword := _qid_keyword(self.estimator)) is not None:
            fit_params.setdefault(keyword, qid)
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(X, y, **fit_params)
        validate_data(self, given, skip_check_array=True)
        scores = self._exact(X, qid)
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
        qid : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it. It is needed for bands and
            for ``scale="query"``.

        Returns
        -------
        ndarray of shape (n_rows,)

        Raises
        ------
        ValueError
            If query ids are needed and there are none, or if scores are NaN.
        """
        check_is_fitted(self)
        coarseness = self._checked()
        given = X
        X, qid = feature_matrix.resolve_qid(
            X, self.qid, qid, request="set_predict_request(qid=False)"
        )
        if self.qid is not None:
            # a feature must not stand in for ids that were left out
            validate_data(self, given, reset=False, skip_check_array=True)
        queries = checks.check_qid(qid, n_rows=feature_matrix.count_rows(X))
        by_query = coarseness is not None and coarseness.by_query(self.scale)
        if by_query and qid is None:
            raise ValueError(
                f"qid must hold the query of each row, because {coarseness} goes by "
                "query, got None: pass it to predict, as make_ranking_scorer does with "
                "the qid it gets, or let it be a column of X, "
                "CoarseRanker(qid=<name or index>), which works for cross_val_predict "
                "and inside searches, too"
            )
        scores = self._exact(X, qid)
        if coarseness is None:
            return scores
        return coarseness.apply(
            scores,
            queries,
            limits=None if by_query else self.limits_,
            existing_ties=self.existing_ties,
        )

    def _exact(self, X: Any, qid: Any) -> FloatArray:
        return _scorers.predicted_scores(
            self.estimator_, X, self.response_method, qid=qid
        )

    def _checked(self) -> Coarseness | None:
        """The coarseness, if there is one, and all options checked."""
        checks.check_choice(self.scale, "scale", ("fit", "query"))
        checks.check_choice(self.existing_ties, "existing_ties", _bands.EXISTING_TIES)
        return None if self.coarseness is None else parse_coarseness(self.coarseness)

    def get_metadata_routing(self) -> metadata_routing.MetadataRouter:
        """Return what scikit-learn routes to this ranker and its estimator.

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
    """The name under which `fit` hands query ids on, without routing, if it does."""
    if has_fit_parameter(estimator, "qid"):
        return "qid"
    if not hasattr(estimator, "steps"):
        return None
    name, last = estimator.steps[-1]
    keyword = _qid_keyword(last)
    return None if keyword is None else f"{name}__{keyword}"
