"""The base class of measures: parameters, names, values and chance level.

Parameters of measures are dataclass fields with a check in their metadata.

`Measure.__post_init__` passes the value and the name of a field to the check, and sets
the field to the value that the check returns. A field with a default in its metadata is
`DEFAULT` if the user passes no value. Conventions may replace `DEFAULT` by another
value. `Measure.filled` replaces `DEFAULT` by the default. Formulas see only filled
measures.

Queries are evaluated in blocks. The `TieGroups` of a block describe the ties of the
block under one ranking. The base class of `TieGroups`, `Totals`, contains figures that
no order changes. `levels` contains the distinct labels, ascending, and `mixed` is True
if a tie contains different labels. Arrays that several methods need are computed once
per block.

User models of measures have three functions: continuation, weight and last document
(C/W/L). A user reads on from rank i to i + 1 with probability C(i). W(i) is the share
of attention that rank i gets, and L(i) is the probability that rank i is the last rank
read. Each function determines the other two (Moffat, Thomas and Scholer 2013;
Azzopardi, Thomas and Craswell 2018).
"""

from __future__ import annotations

import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from functools import lru_cache, wraps
from inspect import isfunction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import checks, messages
from .._engine.tie_groups import LONGEST, TieGroups, Totals, once_per_block
from .._typing import BoolArray, FloatArray, IntArray
from ._values import Detail, LabelValues, QueryValues


class Named(NamedTuple):
    """The class that a name stands for, and parameters that the name does not accept.

    `F1` does not accept `beta`, and `SetP` does not accept `k`.
    """

    cls: type[Any]
    without: tuple[str, ...]


_READABLE = re.compile(r"[A-Za-z]\w*", re.ASCII)
#: Measure classes by name in lower case.
NAMED: dict[str, Named] = {}
#: Measures by parsed name. `register` clears the cache.
READ: dict[str, Measure] = {}


def register(cls: type[Any]) -> None:
    """Register the name and the aliases of a measure if they can be parsed.

    A subclass does not replace the names that it inherits. If several classes of the
    user have the same name, the name stands for the last class defined.

    Raises
    ------
    ValueError
        If another measure of this package has the same name.
    """
    names = dict(vars(cls).get("aliases", {}))
    names[getattr(cls, "name", None)] = ()
    registered = {}
    for name, without in names.items():
        if not (isinstance(name, str) and _READABLE.fullmatch(name)):
            continue
        known = NAMED.get(name.lower())
        if known is not None and known.cls in cls.__mro__:
            continue
        if known is not None and is_ours(known.cls) and not is_ours(cls):
            raise ValueError(
                f"name of {cls.__name__} must differ from the names of other measures, "
                f"got {name!r}, a name of {known.cls.__name__}"
            )
        registered[name.lower()] = Named(cls, tuple(without))
    NAMED.update(registered)
    READ.clear()


def is_ours(cls: type[Any]) -> bool:
    """Return whether a class is defined in this package."""
    return cls.__module__.startswith(f"{__package__}.")


def names_where(holds: Callable[[type[Any]], bool]) -> str:
    """Return the names of the measures of this package for which a condition holds.

    The names are in one string: ``"A, B and C"``.
    """
    ours = {named.cls for named in NAMED.values() if is_ours(named.cls)}
    names = sorted((cls.name for cls in ours if holds(cls)), key=str.lower)
    return f"{', '.join(names[:-1])} and {names[-1]}"


#: Signs of the bounds that `is_number` accepts.
_SIGNS = {"above": ">", "below": "<", "least": ">=", "most": "<="}


def check_count(value: Any, name: str) -> int:
    """Return an integer >= 1."""
    checks.check_count(value, name)
    return int(value)


def check_cutoff(value: Any, name: str) -> int | str:
    """Return an integer >= 1, or the shortest spelling of a share of the list."""
    if not isinstance(value, str):
        return check_count(value, name)
    try:
        percent = float(value.removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not (value.endswith("%") and 0 < percent <= 100):
        raise ValueError(
            f"{name} must be an integer >= 1 or a share in (0%, 100%], got "
            f"{messages.show(value)}"
        )
    return f"{shortest(percent)}%"


def cutoff() -> Any:
    """Return the field k: None, an integer >= 1, or a share such as "5%"."""
    return field(default=None, metadata={"check": check_cutoff})


class _Default:
    """The class of `DEFAULT`. Copies and pickles of `DEFAULT` are the same object."""

    def __repr__(self) -> str:
        return "DEFAULT"

    def __reduce__(self) -> str:
        return "DEFAULT"


#: Value of a parameter that the user does not pass. A convention, or the default of
#: the class, replaces `DEFAULT`.
DEFAULT = _Default()


def parameter(default: Any, check: Callable[[Any, str], Any]) -> Any:
    """Return a field that is `DEFAULT` if the user passes no value."""
    return field(default=DEFAULT, metadata={"check": check, "default": default})


def _check_number(**bounds: float) -> Any:
    limits = " and ".join(f"{_SIGNS[name]} {x:g}" for name, x in bounds.items())

    def check(value: Any, name: str) -> float:
        if not checks.is_number(value, **bounds):
            raise ValueError(
                f"{name} must be a finite number {limits}, got {messages.show(value)}"
            )
        return float(value)

    return check


def number(default: Any = MISSING, **bounds: float) -> Any:
    """Return a float field within the bounds above, below, least and most."""
    return field(default=default, metadata={"check": _check_number(**bounds)})


def relevant_label() -> Any:
    """Return the field rel: the smallest label of relevant documents."""
    return parameter(1.0, _check_number(above=0))


def choice(*choices: str) -> Any:
    """Return a field with one of several strings. The first string is the default."""

    def check(value: Any, name: str) -> Any:
        checks.check_choice(value, name, choices)
        return value

    return parameter(choices[0], check)


def _on_filled(formula: Callable[..., Any]) -> Any:
    """Return a method that calls the formula on the filled measure."""

    @wraps(formula)
    def method(self: Measure, *args: Any, **options: Any) -> Any:
        return formula(self.filled(), *args, **options)

    return method


def shortest(number: float) -> str:
    """Return the shortest spelling from which the same number is read."""
    return repr(int(number)) if float(number).is_integer() else repr(float(number))


def spelling(value: Any) -> str:
    """Return the spelling of a parameter in the name of a measure."""
    if isinstance(value, numbers.Real):
        return shortest(float(value))
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        pairs = [f"{shortest(label)}:{shortest(gain)}" for label, gain in value]
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, tuple):
        return "[" + ",".join(map(shortest, value)) + "]"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value)


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values that a measure can have for one query, with their probabilities.

    The probability of a value is the share of the orders of tied documents in which the
    measure has this value. ``len(distribution)`` is the number of values.

    Attributes
    ----------
    values : ndarray of shape (n_values,), float64
        Distinct values in ascending order. If the measure is undefined for the query,
        there are no values.
    probability : ndarray of shape (n_values,), float64
        Probability of each value, greater than 0.

    See Also
    --------
    tie_distributions : The function that returns a distribution for each query.

    Examples
    --------
    >>> from tieaware_sklearn.evaluation import tie_distributions
    >>> found = tie_distributions([1, 0, 0], [1, 1, 1], measure="rr")[0]
    >>> found.values
    array([0.33333333, 0.5       , 1.        ])
    >>> found.probability
    array([0.33333333, 0.33333333, 0.33333333])
    """

    values: FloatArray
    probability: FloatArray

    @classmethod
    def of(cls, values: FloatArray, chances: FloatArray) -> Distribution:
        """Sort the values, merge equal values, and drop values of probability 0."""
        possible = chances > 0
        distinct, place = np.unique(values[possible], return_inverse=True)
        totals: Any = np.bincount(place, chances[possible])
        return cls(distinct, totals)

    def _if_defined(self, value: Any) -> float:
        return float(value) if len(self) else math.nan

    def mean(self) -> float:
        """Return the mean, or NaN if the measure is undefined."""
        return self._if_defined((self.values * self.probability).sum())

    def std(self) -> float:
        """Return the standard deviation, or NaN if the measure is undefined."""
        deviation = self.values - self.mean()
        return self._if_defined(np.sqrt((self.probability * deviation**2).sum()))

    def cdf(self, value: float) -> float:
        """Return the probability of a value of at most `value`, or NaN if undefined."""
        return self._if_defined(self.probability[self.values <= value].sum())

    def quantile(self, q: float) -> float:
        """Return the smallest value whose `cdf` is at least `q`.

        The result is NaN if the measure is undefined for the query.

        Raises
        ------
        ValueError
            If q is outside [0, 1].
        """
        if not 0 <= q <= 1:
            raise ValueError(f"q must be in [0, 1], got {q!r}")
        if not len(self):
            return math.nan
        cumulated = np.cumsum(self.probability)
        index = np.searchsorted(cumulated, q * cumulated[-1])
        return float(self.values[index])

    def __len__(self) -> int:
        return len(self.values)


#: Type of the weight of a rank, or of the weights of several ranks.
Weights = float | FloatArray


class UserModel:
    """C, W and L of measures that have a user model."""

    name: ClassVar[str]

    def weight(self, i: ArrayLike, ranking: ArrayLike | None = None) -> Weights:
        """Return W(i), the share of the user's attention that rank i gets.

        Parameters
        ----------
        i : int or array-like of int
            Rank or ranks, counted from 1.
        ranking : array-like of shape (n_documents,), optional
            Labels in rank order. NaN counts as a label of 0. The labels are needed for
            AP, RR, ERR and Rprec, for P without a cut-off or with
            ``denominator="retrieved"``, and if the cut-off is a share of the list.

        Returns
        -------
        float, or ndarray of the shape of `i`, float64

        Raises
        ------
        ValueError
            If a rank is not an integer or is below 1, if the measure has no user model,
            if the labels are needed but missing, if `ranking` is empty or contains an
            invalid label, if CG lacks a cut-off, or if DCG or NDCG lacks both a cut-off
            and a sequence of weights as its discount.

        Notes
        -----
        Moffat, Thomas and Scholer (2013) and Azzopardi, Thomas and Craswell (2018)
        describe C/W/L.

        Examples
        --------
        >>> from tieaware_sklearn.measures import RBP, AveragePrecision
        >>> RBP(p=0.5).weight([1, 2, 3])
        array([0.5  , 0.25 , 0.125])
        >>> AveragePrecision().weight([1, 2, 3], ranking=[0, 1, 0])
        array([0.5, 0.5, 0. ])
        """
        return _plain(self._at(i, ranking)[0])

    def continuation(self, i: ArrayLike, ranking: ArrayLike | None = None) -> Weights:
        """Return C(i) = W(i + 1)/W(i), the probability of reading on from rank i.

        If W(i) is 0, C(i) is 0. The parameters, the type of the return value and the
        errors are the same as for `weight`.
        """
        here, following, _ = self._at(i, ranking)
        return _ratio(following, here)

    def last(self, i: ArrayLike, ranking: ArrayLike | None = None) -> Weights:
        """Return L(i) = (W(i) - W(i + 1))/W(1), the probability of stopping at rank i.

        If W(1) is 0, L(i) is 0. The parameters, the type of the return value and the
        errors are the same as for `weight`.
        """
        here, following, first = self._at(i, ranking)
        return _ratio(here - following, first)

    def _at(
        self, i: ArrayLike, ranking: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return W of ranks i, i + 1 and 1."""
        ranks = np.asarray(i)
        if ranks.dtype.kind not in "iu" or (ranks < 1).any():
            raise ValueError(
                f"i must be an integer rank >= 1, or an array of such ranks, got {i!r}"
            )
        labels = None
        if ranking is not None:
            labels = checks.check_labels(
                ranking, unjudged="nonrelevant", name="ranking"
            )
            # Unjudged documents have negative labels.
            labels = np.maximum(labels, 0)
        n_ranks = ranks.max(initial=1) + 1
        model = self
        if cuts_share(self):
            model = at_size(self, len(self._required(labels)))
        # Ranks without a weight from `_attention` have weight 0.
        weights = np.append(model._attention(n_ranks, labels), np.zeros(n_ranks))
        return weights[ranks - 1], weights[ranks], weights[0]

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        """Return W of at least the first n ranks, or of all ranks with W above 0."""
        known = names_where(lambda cls: cls._attention is not UserModel._attention)
        raise ValueError(
            f"{self} has no user model. User models are available for {known}"
        )

    def _required(self, labels: FloatArray | None) -> FloatArray:
        """Return the labels, or raise an error if the user model lacks them."""
        if labels is None:
            raise ValueError(
                f"ranking must contain the labels in rank order for the user model of "
                f"{self.name}, got None"
            )
        return labels


def _ratio(part: FloatArray, whole: FloatArray) -> Weights:
    """Return part/whole, or 0 where the whole is 0."""
    return _plain(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def _plain(values: FloatArray) -> Weights:
    return float(values) if values.ndim == 0 else values


def even(n: int, at_most: int | None = None) -> FloatArray:
    """Return equal weights 1/n of n ranks, but not more than `at_most` of them.

    P@1000000000 must not allocate 1,000,000,000 weights.
    """
    n_weights = n if at_most is None else min(n, at_most)
    return np.full(n_weights, 1 / max(n, 1))


def from_views(views: FloatArray) -> FloatArray:
    """Return the weights of ranks that users reach with these probabilities."""
    return views / views.sum()


#: Type of queries, with the values that a measure can have for each query and the
#: probabilities of these values.
Outcomes = Iterator[tuple[int, FloatArray, FloatArray]]


@dataclass(frozen=True)
class Measure(UserModel, ABC):
    """Base class of all measures.

    Measures are small, immutable and hashable objects. Two measures of the same class
    with the same parameters are equal. ``str(measure)`` is the canonical name. For a
    measure of this library, `parse_measure` makes an equal measure from this name,
    unless a parameter is a function or the name has more than 10,000 characters.

    The value of a measure is a numerator divided by a denominator. The order of tied
    documents changes only the numerator. The methods that compute numerators and
    denominators accept the tie groups of a block of queries, and return a float64 array
    of shape (n_queries,).

    See Also
    --------
    parse_measure : Makes a measure from its name.
    ranking_score : Computes the value of a measure.

    Notes
    -----
    If a parameter that conventions may set, such as `rel`, `gain` or `denominator`, is
    not passed, its value is `DEFAULT`. `DEFAULT` stands for the value set by a
    convention or, without a convention, for the default in the docstring of the class.
    A parameter that is passed is never replaced, so a measure with a passed parameter
    differs from a measure with `DEFAULT`, even if the values are the same. ``filled()``
    returns the measure with the defaults in place of `DEFAULT`.

    The means over the orders of tied documents are exact, except for IPrec and IAP with
    long ties. For P, R, F, AP, RR and NDCG, the means follow McSherry and Najork (ECIR
    2008).

    Examples
    --------
    >>> from tieaware_sklearn import Measure, parse_measure
    >>> from tieaware_sklearn.measures import NDCG
    >>> isinstance(parse_measure("ndcg@10"), Measure), str(NDCG(k=10))
    (True, 'NDCG@10')
    """

    #: Other names, each with the parameters that the name does not accept.
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: The parameter that follows @ in a name.
    at = "k"
    #: Parameters that the name shows even if they have their default value.
    always_shown: ClassVar[tuple[str, ...]] = ()
    #: Other keywords in names, each with its parameter and the meanings of its values:
    #: ``dcg=log2`` is ``gain=linear``.
    synonyms: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    greater_is_better = True
    #: Whether the measure is undefined, and not 0, if its denominator is 0.
    undefined_over_zero = False
    #: Whether the measure is a ratio of counts, which micro-averages pool over queries.
    is_ratio = False
    #: Whether the worth of a rank differs between queries, as in Rprec. If so,
    #: `rank_worth` must not be used.
    has_query_rank_worth = False
    #: Whether the measure distinguishes unjudged from non-relevant documents.
    takes_unjudged = False
    #: Whether `zero_relevance` may be the value of queries for which the measure is
    #: undefined.
    takes_zero_relevance = True
    #: An upper bound of the values, 1 if the measure is normalised.
    maximum = math.inf
    #: A lower bound of the values.
    minimum = 0.0

    #: The measure without `DEFAULT`, or None if no parameter is `DEFAULT`. Each object
    #: sets its own `_filled`. `ClassVar` keeps `_filled` out of the fields.
    _filled: ClassVar[Any] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls)
        # Methods that override methods of Measure are called on a measure without
        # `DEFAULT`. Other methods must be called from overriding methods.
        for name, value in list(vars(cls).items()):
            if isfunction(value) and name[:2] != "__" and hasattr(Measure, name):
                setattr(cls, name, _on_filled(value))

    def __post_init__(self) -> None:
        defaults = {}
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            check = attribute.metadata.get("check")
            is_left_out = value is None and attribute.default is None
            if value is DEFAULT:
                defaults[attribute.name] = attribute.metadata["default"]
            elif check and not is_left_out:
                value = check(value, attribute.name)
                object.__setattr__(self, attribute.name, value)
        filled = replace(self, **defaults) if defaults else None
        object.__setattr__(self, "_filled", filled)

    def filled(self) -> Self:
        """The measure with the defaults of its class in place of `DEFAULT`."""
        return self if self._filled is None else self._filled

    @property
    def reach(self) -> int | None:
        """The rank of the deepest document that counts, or None if all may count."""
        return None if cuts_share(self) else getattr(self, "k", None)

    @lru_cache(maxsize=256)  # noqa: B019 (measures are small, and compare by value)
    def __str__(self) -> str:
        """The name, with parameters that are passed or differ from their defaults."""
        shown = []
        after = ""
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            if attribute.name == self.at:
                after = "" if value is None else f"@{value}"
            elif attribute.name in self.always_shown or value != attribute.default:
                shown.append(f"{attribute.name}={spelling(value)}")
        parameters = f"({','.join(shown)})" if shown else ""
        return f"{self.name}{parameters}{after}"

    @abstractmethod
    def numerator(self, groups: TieGroups) -> FloatArray:
        """The mean numerator of each query over the orders of its tied documents."""

    @abstractmethod
    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator over the orders of tied documents."""

    def normaliser(self, groups: Totals) -> FloatArray:
        """The denominator of each query, which is the same in every order."""
        return np.ones(groups.n_queries)

    def defined(self, groups: TieGroups) -> BoolArray:
        """Whether the measure is defined, for each query."""
        if self.undefined_over_zero:
            return self.normaliser(groups) > 0
        return np.ones(groups.n_queries, dtype=bool)

    @abstractmethod
    def gains(self, levels: FloatArray) -> FloatArray:
        """The gain of each label. The best order ranks documents by gain."""

    @once_per_block
    def gains_of(self, groups: TieGroups) -> FloatArray:
        """The gain of each label, computed once per block."""
        return self.gains(groups.levels)

    @once_per_block
    def _mean(self, groups: TieGroups) -> FloatArray:
        """The `numerator`, computed once per block."""
        return self.numerator(groups)

    def extreme(self, groups: TieGroups, *, best: bool) -> FloatArray:
        """The numerator of each query in the best or the worst order of its ties."""
        mean = self._mean(groups)
        if not groups.mixed:
            return mean
        # Split groups do not mix gains, so the mean is the best or the worst value.
        split_groups = groups.ordered(self.gains_of(groups), descending=best)
        extreme = self.numerator(split_groups)
        # Rounding must not break worst <= expected <= best.
        bound = np.maximum if best == self.greater_is_better else np.minimum
        return bound(extreme, mean)

    def values(self, groups: TieGroups, detail: Detail) -> QueryValues:
        """The values of each query over the orders of its tied documents.

        Arrays have shape (n_queries,).
        """
        denominator = self.normaliser(groups)
        undefined = ~self.defined(groups)

        def value(numerator: FloatArray) -> FloatArray:
            return divide(numerator, denominator, undefined)

        values = QueryValues(value(self._mean(groups)))
        if detail >= Detail.RANGE:
            values.best = value(self.extreme(groups, best=True))
            values.worst = value(self.extreme(groups, best=False))
            values.normaliser = denominator
        if detail >= Detail.DEVIATION:
            values.std = value(np.sqrt(self.numerator_variance(groups)))
            values.sampling_error = self.sampling_error(groups)
            values.std_is_estimate = self.std_is_estimate(groups)
        if detail >= Detail.SPREAD:
            values.spread_within_ties = self.spread_within_ties(groups)
        return values

    @once_per_block
    def label_values(self, everything: TieGroups) -> LabelValues:
        """The chance level and the ideal of each query, whose documents all tie.

        Arrays have shape (n_queries,).
        """
        denominator = self.normaliser(everything)
        undefined = ~self.defined(everything)
        best = self.extreme(everything, best=True)
        return LabelValues(
            chance=divide(self._mean(everything), denominator, undefined),
            ideal=divide(best, denominator, undefined),
        )

    def rank_worth(self, rank: IntArray) -> FloatArray:
        """The worth of a relevant document at ranks from 0, or 0 if unknown."""
        return np.zeros(len(rank))

    def spread_within_ties(self, groups: TieGroups) -> FloatArray:
        """The sum of Σ (w - w̄)² over the ties of each query.

        In a tie, w is the worth of a relevant document at each rank, which is 0 below
        the cut-off, and w̄ is the mean of w. The screening of features computes null
        variances from this sum.
        """
        # Running sums at both ends of each tie.
        ends = np.array([groups.lo, groups.hi])
        sums = rank_sums((self,), ends.max(initial=0))[:, 0, ends]
        added, squares = sums[:, 1] - sums[:, 0]
        spread = np.where(groups.n > 1, squares - added**2 / groups.n, 0.0)
        return groups.sum_groups(spread)

    def sampling_error(self, groups: TieGroups) -> FloatArray:
        """The standard error of a value that is an estimate, or 0 for exact values."""
        return np.zeros(groups.n_queries)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        """1 for queries whose `std` comes from sampled orders, 0 for all others."""
        return np.zeros(groups.n_queries)

    def distributions(self, groups: TieGroups) -> list[Distribution]:
        """The distribution of the value of each query over the orders of its ties.

        Raises
        ------
        ValueError
            If the distribution of the measure has no closed form, if ties are too long
            for the computation, or if the class of the measure is not defined in this
            package.
        """
        if not is_ours(type(self)):
            # The numerator of a subclass may differ from the numerator of its parent.
            raise ValueError(
                f"the distribution of {self} over the orders of ties is not known, "
                f"because {type(self).__name__} is not defined in tieaware_sklearn: "
                "estimate the distribution by sampled()"
            )
        # Undefined queries have no value. Queries omitted by `_outcomes` have the value
        # 0 with probability 1.
        n_values = self.defined(groups).astype(int).tolist()
        results = [Distribution(np.zeros(n), np.ones(n)) for n in n_values]
        for query, values, chances in self._outcomes(groups):
            if len(results[query]):
                results[query] = Distribution.of(values, chances)
        return results

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        """Yield the parts of `distributions`. The value of omitted queries is 0."""
        known = names_where(lambda cls: cls._outcomes is not Measure._outcomes)
        raise ValueError(
            f"the distribution of {self} over the orders of ties has no closed form, "
            f"unlike the distributions of {known}: estimate the distribution by "
            "sampled()"
        )


class RelevanceMeasure(Measure):
    """A measure of binary relevance: labels of at least `rel` are relevant."""

    maximum = 1.0
    rel: float

    def gains(self, levels: FloatArray) -> FloatArray:
        return (levels >= self.rel).astype(np.float64)

    def total(self, groups: Totals) -> FloatArray:
        """R, the number of relevant documents of each query, retrieved or not."""
        return groups.total_relevant(self.rel).astype(np.float64)


@dataclass(frozen=True)
class BinaryMeasure(RelevanceMeasure):
    """A measure of binary relevance with a cut-off."""

    k: Any = cutoff()
    rel: float = relevant_label()


@dataclass(frozen=True)
class CappedMeasure(BinaryMeasure):
    """A measure divided by R, or by min(k, R), and undefined if R is 0."""

    undefined_over_zero = True
    denominator: str = choice("relevant", "cutoff")

    def _divisor(self, relevant: Any) -> Any:
        """Return the denominator of queries with `relevant` relevant documents."""
        if self.denominator == "cutoff" and self.k is not None:
            # int64 cannot represent a larger k.
            return np.minimum(relevant, min(self.k, LONGEST))
        return relevant

    def normaliser(self, groups: Totals) -> FloatArray:
        return self._divisor(self.total(groups))


@dataclass(frozen=True)
class MeasureOverRelevant(RelevanceMeasure):
    """A measure divided by R, the number of relevant documents, undefined if R is 0."""

    undefined_over_zero = True
    rel: float = relevant_label()

    def normaliser(self, groups: Totals) -> FloatArray:
        return self.total(groups)


def cuts_share(measure: Any) -> bool:
    """Return whether the cut-off of a measure is a share of the list."""
    return isinstance(getattr(measure, "k", None), str)


def at_size(measure: Any, n_documents: int) -> Any:
    """Return the measure with a rank in place of a share, for lists of this length."""
    if not cuts_share(measure):
        return measure
    # With floats, 7% of 100 would be rounded up to 8.
    percent = Fraction(measure.k.removesuffix("%"))
    return replace(measure, k=math.ceil(percent * n_documents / 100))


def at_ranks(
    measures: Iterable[Measure], sizes: IntArray
) -> tuple[list[Measure], IntArray]:
    """Return measures without shares, and which of them each query has.

    The cut-off of a query is its number of documents times the share, rounded up. The
    indices of the measures of each query have shape (n_queries, n_measures).
    """
    distinct_sizes, place = np.unique(sizes, return_inverse=True)
    known: dict[Measure, int] = {}
    index = []
    for measure in measures:
        numbers = []
        for size in distinct_sizes.tolist():
            cut_measure = at_size(measure, size)
            numbers.append(known.setdefault(cut_measure, len(known)))
        index.append(numbers)
    return list(known), np.array(index).T[place]


@lru_cache(maxsize=8)
def rank_sums(measures: tuple[Measure, ...], depth: int) -> FloatArray:
    """Return running sums of `Measure.rank_worth` and of squared `rank_worth`.

    The array has shape (2, n_measures, depth + 1).
    """
    rank = np.arange(depth)
    worths = []
    for measure in measures:
        is_counted = rank < (measure.reach or depth)
        worths.append(measure.rank_worth(rank) * is_counted)
    sums = np.cumsum([worths, np.square(worths)], axis=-1)
    return np.insert(sums, 0, 0.0, axis=-1)


def divide(
    numerators: FloatArray, denominator: FloatArray, undefined: BoolArray
) -> FloatArray:
    """Return the values of measures, with NaN where they are undefined.

    0/0 is 0 where a measure is defined, as P is for an empty list.
    """
    is_positive = denominator > 0
    if (is_positive & ~undefined).all():
        return numerators / denominator
    values = np.zeros(numerators.shape)
    np.divide(numerators, denominator, out=values, where=is_positive)
    np.copyto(values, np.nan, where=undefined)
    return values
