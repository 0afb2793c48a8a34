"""Search for the coarsest scores that rank about as well."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import words
from .._engine import checks, hashing, segments
from ..comparison import _systems
from ..measures import Measure, parse_measure
from ..measures._values import Detail
from ..score_precision import _coarse_ranker, _study, _text
from ..statistics.averages import stds_of_means, weighted_mean
from ..statistics.inferiority import QueryLosses
from ._base import StudyCreator, digest_of, optuna

#: The choice among float formats that stands for 2^bits evenly spaced levels.
_LINEAR = "linear"
#: Smallest factor by which the bands of a trial grow.
_LEAST_RHO = 1.01
#: Precisions that a new study begins with, by kind.
_FIRST: dict[str, list[dict[str, Any]]] = {
    "rho": [{"rho": 1.1}, {"rho": 1.4}, {"rho": 2.0}],
    "decimals": [],
    "significant": [{"significant": 3}, {"significant": 2}],
    "bits": [
        {"format": "float16"},
        {"format": "bfloat16"},
        {"format": _LINEAR, "linear_bits": 8},
    ],
    "levels": [{"levels": 10}],
}


class ScorePrecisionObjective(StudyCreator):
    """Search for the coarsest scores that rank about as well as the exact scores.

    A study has two objectives: the exact mean of the measure, and the bits of the
    scores, which are minimised. The bits are log2 of the number of distinct scores of a
    query, averaged over queries. ``study.best_trials`` is the Pareto front. `coarsest`
    chooses the trial with the fewest bits among the trials that are not inferior to the
    exact scores.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels: finite and >= 0, or NaN (see `unjudged`). In a matrix, each row is a
        query.
    y_score : array-like of the shape of y_true
        Scores. Higher scores rank first, and -inf means that the document is not
        retrieved.
    qid : array-like of shape (n_documents,), optional
        Query of each document. By default, all documents belong to one query, unless
        the labels are a matrix.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices contains a document, as in `ranking_score`.
    measure : str or Measure, default="ndcg@10"
        A measure, as in `parse_measure`.
    kinds : list of {"rho", "decimals", "significant", "bits", "levels"}, optional
        Kinds of coarseness to try, as in `round_scores`. By default, all kinds are
        tried.
    max_rho : float, default=10.0
        Largest factor, above 1.01, by which bands grow.
    existing_ties : {"keep", "order"}, default="keep"
        Treatment of documents that tie by exact scores, as in `precision_study`: put
        all documents of a tie into the same band, or rank tied documents in the order
        of rows.
    scale : {"query", "all"}, default="query"
        The range of evenly spaced levels: between the extreme scores of each query, or
        of all queries.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        Treatment of documents whose label is NaN, as in `ranking_score`: raise an
        error, count the documents as not relevant, or leave them out.
    n_jobs : int, optional
        Number of threads, which share the blocks of queries. The number does not change
        the results.

    Raises
    ------
    ValueError
        If the data or an option breaks a rule above, or if `y_score` contains the
        scores of several systems.

    See Also
    --------
    coarsest : Chooses a trial.
    optuna.visualization.plot_pareto_front : Draws the study.
    precision_study : Tests given levels of coarseness for several systems.

    Notes
    -----
    A trial suggests ``kind`` and the parameter of the kind: ``rho`` (rounded to three
    decimals), ``decimals``, ``significant`` or ``levels``. For the kind "bits", the
    parameter is ``format``. If the format is "linear", the trial also suggests
    ``linear_bits``.

    A study from `create_study` begins with common precisions of the chosen kinds: bands
    that grow by factors of 1.1, 1.4 and 2 (up to `max_rho`), float16, bfloat16, 8 bits,
    two and three significant digits, and 10 levels.

    Every trial gets these user attributes:

    - ``coarseness``: the coarseness as a text, as in `round_scores`;
    - ``measure``: name of the measure;
    - ``exact``: mean of the measure under the exact scores;
    - ``best``, ``worst``: means of the measure in the most and the least favourable
      order of ties;
    - ``tie_std``: standard deviation of the mean over the orders of ties;
    - ``tied_documents``: share of retrieved documents that tie with another document of
      their query;
    - ``losses``: statistics of the losses of queries, which `coarsest` tests;
    - ``changed``: number of queries whose value changes.

    Examples
    --------
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest
    >>> web = make_web_search(n_queries=100, random_state=0)
    >>> text_score = web.data[:, 5]
    >>> objective = ScorePrecisionObjective(web.target, text_score, qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=15)
    >>> chosen = coarsest(study, keep=0.97)
    >>> bits = chosen.values[1]
    >>> bits < 5
    True
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: Any = None,
        mask: ArrayLike | None = None,
        measure: str | Measure = "ndcg@10",
        kinds: Iterable[str] = _coarse_ranker.KINDS,
        max_rho: float = 10.0,
        existing_ties: str = "keep",
        scale: str = "query",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        n_jobs: int | None = None,
    ) -> None:
        self._systems = _systems.prepare_systems(
            y_true,
            y_score,
            qid,
            [parse_measure(measure)],
            zero_relevance,
            unjudged,
            n_jobs,
            mask=mask,
        )
        n_systems = len(self._systems.names)
        if n_systems != 1:
            raise ValueError(
                f"y_score must be the scores of one system, got {n_systems} systems"
            )
        (self.measure,) = self._systems.resolved.measures
        kinds = checks.check_choices(kinds, "kinds", _coarse_ranker.KINDS)
        self.kinds = tuple(kinds)
        if not checks.is_number(max_rho, above=_LEAST_RHO):
            raise ValueError(
                f"max_rho must be a finite number > {_LEAST_RHO}, got {max_rho!r}"
            )
        self.max_rho = float(max_rho)
        self._options: dict[str, Any] = {"existing_ties": existing_ties, "scale": scale}
        exact, _ = _study.coarse_values(self._systems, 0, None, **self._options)
        self._exact = exact.expected
        # The smallest number of decimals leaves one or two distinct scores. The largest
        # number keeps eight digits of the differences of scores.
        (scores,) = self._systems.scores
        finite = scores[np.isfinite(scores)].astype(float)
        spread = float(np.ptp(finite)) if len(finite) else 0.0
        fewest = 0
        if spread > 0 and math.isfinite(spread):
            fewest = -math.ceil(math.log10(spread))
            fewest = min(max(fewest, -300), 300)
        self._decimals = fewest, fewest + 8

    @property
    def directions(self) -> list[str]:
        """Directions of the measure and of the bits, which are always minimised."""
        if self.measure.greater_is_better:
            return ["maximize", "minimize"]
        return ["minimize", "minimize"]

    @cached_property
    def _identity(self) -> dict[str, str]:
        """Digests of data and options, to compare with the digests of the study."""
        (scores,) = self._systems.scores
        queries = self._systems.prepared.queries
        # Labels are mixed first, so that equal scores and labels do not cancel out.
        labels = hashing.mixed(hashing.bits_of(self._systems.prepared.labels))
        rows = hashing.mixed(hashing.bits_of(scores) ^ labels)
        rows = queries.arrange(rows)
        if self._options["existing_ties"] == "keep":
            # The orders of queries and of their documents do not matter.
            sums = segments.sum_segments(rows, queries.sizes, np.uint64)
            rows = np.sort(sums)
        digests = {"measure": str(self.measure)}
        digests["parameters of measures"] = digest_of(self.measure.filled())
        digests["zero_relevance"] = digest_of(self._systems.resolved.value)
        digests["labels and scores"] = digest_of(rows)
        digests["kinds and max_rho"] = digest_of([self.kinds, self.max_rho])
        digests["existing_ties and scale"] = digest_of(self._options)
        return digests

    def __call__(self, trial: Any) -> tuple[float, float]:
        """Return the exact mean of the measure under coarser scores, and their bits.

        Parameters
        ----------
        trial : optuna.trial.Trial
            Trial that suggests the coarseness.

        Returns
        -------
        tuple of two floats
            Mean of the measure, and bits of the scores.

        Raises
        ------
        ValueError
            If the directions of the study do not match the objectives, if the study
            contains finished trials of another objective, or if the measure is
            undefined for every query.
        """
        # A FixedTrial has no study.
        if hasattr(trial, "study"):
            self._check_same(trial.study)
        coarseness = _coarse_ranker.parse_coarseness(self._suggest(trial))
        values, ties = _study.coarse_values(
            self._systems, 0, coarseness, detail=Detail.DEVIATION, **self._options
        )
        value = weighted_mean(values.expected)
        if math.isnan(value):
            raise ValueError(f"{self.measure} is undefined for every query")
        losses = QueryLosses.from_values(self._exact, values.expected)
        changes = values.expected - self._exact
        changed = _study.count_changes(changes, self._exact)
        trial.set_user_attr("coarseness", str(coarseness))
        trial.set_user_attr("measure", str(self.measure))
        trial.set_user_attr("exact", weighted_mean(self._exact))
        trial.set_user_attr("best", weighted_mean(values.best))
        trial.set_user_attr("worst", weighted_mean(values.worst))
        trial.set_user_attr("tie_std", float(stds_of_means(values.std)))
        trial.set_user_attr("tied_documents", ties.tied_documents)
        trial.set_user_attr("losses", list(losses))
        trial.set_user_attr("changed", int(changed))
        return value, ties.bits

    def _suggest(self, trial: Any) -> str:
        """Return a coarseness as text."""
        kind = trial.suggest_categorical("kind", list(self.kinds))
        if kind == "rho":
            growth = trial.suggest_float("rho", _LEAST_RHO, self.max_rho, log=True)
            value = round(growth, 3)
        elif kind == "bits":
            formats = [*_coarse_ranker.FORMATS, _LINEAR]
            value = trial.suggest_categorical("format", formats)
            if value == _LINEAR:
                value = trial.suggest_int("linear_bits", 1, 16)
        elif kind == "decimals":
            value = trial.suggest_int("decimals", *self._decimals)
        elif kind == "significant":
            value = trial.suggest_int("significant", 1, 8)
        else:
            value = trial.suggest_int("levels", 2, 1024, log=True)
        return f"{kind}={value}"

    def _first_trials(self) -> list[dict[str, Any]]:
        """Return the parameters of trials with well-known precisions."""
        trials = []
        for kind in self.kinds:
            for parameters in _FIRST[kind]:
                if parameters.get("rho", 0) <= self.max_rho:
                    trials.append({"kind": kind, **parameters})
        return trials


def coarsest(study: Any, *, keep: float = 0.99, alpha: float = 0.05) -> Any:
    """Choose the coarsest scores that are not inferior to the exact scores.

    Parameters
    ----------
    study : optuna.study.Study
        A study of a `ScorePrecisionObjective`.
    keep : float, default=0.99
        Share of the exact mean to keep, in (0, 1]. A trial is not inferior if a
        one-tailed paired t test over queries rejects the hypothesis that the mean of
        the trial is at most this share of the exact mean. If lower values are better,
        the hypothesis is that the mean is at least the exact mean divided by `keep`.
    alpha : float, default=0.05
        Significance level of the test, in (0, 1).

    Returns
    -------
    optuna.trial.FrozenTrial
        Among the trials that are not inferior, the trial with the fewest bits
        (``values[1]``). If several trials have the fewest bits, the trial with the best
        mean is chosen. The user attribute ``coarseness`` names the precision.

    Raises
    ------
    ValueError
        If `keep` or `alpha` is out of range, if the study contains no complete trial of
        a `ScorePrecisionObjective`, or if no trial passes the test.

    Warns
    -----
    UserWarning
        If the values of fewer than ten queries change in the chosen trial. The test is
        unreliable if losses are rare (see `precision_study`).

    See Also
    --------
    ScorePrecisionObjective : The objective of the study.
    optuna.visualization.plot_pareto_front : Draws the study.

    Notes
    -----
    Yang, Moffat and Turpin (AIRS 2016) describe the test. The choice among many trials
    favours lucky trials: slightly different queries may lead to another trial of
    similar coarseness.

    Examples
    --------
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest
    >>> web = make_web_search(n_queries=100, random_state=0)
    >>> objective = ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid,
    ...                                     kinds=["significant"])
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=8)
    >>> coarsest(study, keep=0.9).user_attrs["coarseness"]
    'significant=2'
    """
    checks.check_share(alpha, "alpha")
    checks.check_share(keep, "keep", up_to_one=True)
    states = (optuna.trial.TrialState.COMPLETE,)
    complete = study.get_trials(deepcopy=False, states=states)
    trials = [trial for trial in complete if "losses" in trial.user_attrs]
    if not trials:
        raise ValueError(
            "study must contain complete trials of a ScorePrecisionObjective, got none"
        )
    is_maximized = study.directions[0].name == "MAXIMIZE"
    similar = []
    for trial in trials:
        losses = QueryLosses(*trial.user_attrs["losses"])
        if losses.inferiority(keep, greater_is_better=is_maximized) <= alpha:
            similar.append(trial)
    if not similar:
        raise ValueError(
            f"study must contain a trial that keeps more than {keep:g} of the exact "
            f"mean (p <= {alpha:g}), got none of {len(trials)} trials: run more "
            "trials, use more queries, or lower keep"
        )
    sign = -1.0 if is_maximized else 1.0

    def bits_first(trial: Any) -> tuple[float, float, int]:
        mean, bits = trial.values
        return bits, sign * mean, trial.number

    chosen = min(similar, key=bits_first)
    changed = chosen.user_attrs["changed"]
    if changed < _text.FEWEST:
        words.warn(
            "the number of queries that change under "
            f"{chosen.user_attrs['coarseness']} is {changed}, below {_text.FEWEST}, so "
            "these queries may not contain rare losses"
        )
    return chosen
