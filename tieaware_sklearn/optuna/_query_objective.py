"""The bases of objectives: studies, and over queries measures and pruning."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _optional
from .._engine import checks, feature_matrix, hashing, segments
from .._typing import IntArray
from ..evaluation import _prepared, _resolved
from ..measures import Measure, _parse
from ..measures._values import Detail, QueryValues
from ..ranking._ranked import Ranked
from ..statistics.averages import column_means, stds_of_means

optuna = _optional.import_optional("optuna")

#: the user attribute of a study that says what all of its trials are of
TRIALS = "digests of trials"
#: the part of it that decides values only where trials may be pruned
BUCKETS = "buckets"
#: parameters of estimators that decide no value
_SILENT = {"memory", "n_jobs", "nthread", "progress", "thread_count"}
_SILENT |= {"verbose", "verbosity"}
_WORKER = "worker "


class StudyCreator(ABC):
    """An objective that knows what study suits it."""

    #: names for the values of a study; empty where they are left open
    _metric_names: Sequence[str] = ()

    @property
    @abstractmethod
    def directions(self) -> list[str]:
        """The direction of each objective: ``"maximize"`` or ``"minimize"``."""

    def create_study(
        self,
        seed: int | None = None,
        *,
        n_trials: int | None = None,
        storage: Any = None,
        study_name: str | None = None,
        load_if_exists: bool = False,
        sampler: Any = None,
        pruner: Any = None,
        prune: bool = False,
        verbose: bool = False,
    ) -> Any:
        """Create a study with a sampler and a pruner that suit the objective.

        A study by `optuna.create_study` works, too.

        Parameters
        ----------
        seed : int, optional
            Seed of the sampler. With one worker, equal seeds give equal studies, to the
            last bit. Workers that join a study derive seeds of their own: with equal
            seeds, all would try the same parameters.
        n_trials : int, optional
            Planned number of trials, on which the choice of a sampler may depend.
        storage, study_name, load_if_exists
            As in `optuna.create_study`. For several processes, use
            ``JournalStorage(JournalFileBackend(path))``.
        sampler, pruner : optional
            By default a sampler and a pruner that suit the objective. A given sampler
            is not changed: two workers whose samplers have the same seed try the same
            parameters.
        prune : bool, default=False
            Whether to stop trials early by Optuna's `WilcoxonPruner`. That pays where
            scores are expensive: see the notes of `QueryObjective`.
        verbose : bool, default=False
            Whether Optuna logs every trial. False turns its log down from INFO, its
            default, to warnings, for the whole process, as
            ``optuna.logging.set_verbosity`` does. Other levels stay.

        Returns
        -------
        optuna.study.Study

        Raises
        ------
        ValueError
            If `prune` or `verbose` is neither True nor False, if `prune` is True
            although `pruner` is given or the study has several objectives, or if the
            study to join holds finished trials of something else.
        """
        if seed is not None:
            checks.check_count(seed, "seed", least=0)
        checks.check_flag(prune, "prune")
        checks.check_flag(verbose, "verbose")
        if prune and pruner is not None:
            raise ValueError(
                "prune is for the default and must be left out if pruner is given, "
                f"got True and {type(pruner).__name__}"
            )
        if prune and len(self.directions) > 1:
            raise ValueError(
                "a study of several objectives cannot prune, got prune=True"
            )
        if not verbose and optuna.logging.get_verbosity() == optuna.logging.INFO:
            optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            # Optuna calls some of these experimental, and has for years
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            if pruner is None and prune:
                pruner = optuna.pruners.WilcoxonPruner()
            study = optuna.create_study(
                directions=self.directions,
                storage=storage,
                study_name=study_name,
                load_if_exists=load_if_exists,
                pruner=pruner or optuna.pruners.NopPruner(),
            )
            self._check_same(study)
            if self._metric_names:
                study.set_metric_names(self._metric_names)
        first, seed = (True, seed) if storage is None else _join(study, seed)
        study.sampler = self._sampler(seed, n_trials) if sampler is None else sampler
        # the first worker alone enqueues them
        if first and not study.get_trials(deepcopy=False):
            for parameters in self._first_trials():
                study.enqueue_trial(parameters)
        return study

    @property
    @abstractmethod
    def _identity(self) -> dict[str, str]:
        """Digests, by name, of all that decides the values of trials."""

    def _check_same(self, study: Any) -> None:
        """Refuse a study with other directions, or with trials of something else."""
        directions = [direction.name.lower() for direction in study.directions]
        if directions != self.directions:
            raise ValueError(
                f"the study must have the directions {self.directions} "
                f"({self._identity['measure']}), got {directions}"
            )
        theirs = study.user_attrs.get(TRIALS)
        if theirs is None:
            n_finished = len(study.get_trials(deepcopy=False, states=_FINISHED))
            if n_finished:
                raise ValueError(
                    "the study must hold trials of this objective "
                    f"({self._identity['measure']}), got {n_finished} finished trials "
                    "of an unknown one: use another study"
                )
            study.set_user_attr(TRIALS, self._identity)
            return
        differing = [
            name
            for name, digest in self._identity.items()
            if theirs.get(name) != digest
        ]
        if not isinstance(study.pruner, optuna.pruners.WilcoxonPruner):
            differing = [name for name in differing if name != BUCKETS]
        if differing:
            raise ValueError(
                "the study must hold trials of this objective "
                f"({self._identity['measure']}), got trials of {theirs['measure']} "
                f"that differ in {', '.join(differing)}: use another study"
            )

    def _first_trials(self) -> list[dict[str, Any]]:
        """Parameters that a new study begins with."""
        return []

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        return optuna.samplers.TPESampler(seed=seed)


def best_parameters(study: Any) -> Any:
    """Parameters of the best trial of a study, or of a trial, to suggest once more."""
    trial = study.best_trial if isinstance(study, optuna.study.Study) else study
    return optuna.trial.FixedTrial(trial.params)


def _join(study: Any, seed: int | None) -> tuple[bool, int | None]:
    """Whether this worker is the first of a study, and the seed of its sampler."""
    me = _WORKER + uuid.uuid4().hex
    study.set_user_attr(me, "joined")
    # all workers see attributes in the order in which they were written
    first = next(name for name in study.user_attrs if name.startswith(_WORKER)) == me
    if first or seed is None:
        return first, seed
    derived = np.random.SeedSequence([seed, int(me.removeprefix(_WORKER), 16)])
    return first, int(derived.generate_state(1)[0])


_FINISHED = optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED
#: at most so many values are reported by a trial
N_VALUES = 256
#: WilcoxonPruner decides on trials that have reported so many values
_LEAST_PAIRS = 14


def digest_of(value: Any) -> str:
    """Return a text that is the same for equal values in every process."""
    return str(joblib.hash(_contents(value, ())))


def _contents(value: Any, outer: tuple[int, ...]) -> Any:
    """Return what decides a value, without addresses of objects.

    What cannot be pickled has the name of its type.

    Parameters
    ----------
    value : object
    outer : tuple of int
        The `id` of each value that holds this one, which may hold itself.
    """
    if id(value) in outer:
        return "recursion"
    contents = functools.partial(_contents, outer=(*outer, id(value)))
    named = value if hasattr(value, "__qualname__") else type(value)
    name = f"{getattr(named, '__module__', None)}.{named.__qualname__}"
    if isinstance(value, Mapping):
        return {joblib.hash(contents(key)): contents(value[key]) for key in value}
    if isinstance(value, (set, frozenset)):
        return [name, *sorted(joblib.hash(contents(item)) for item in value)]
    parts = _parts(value)
    if parts is not None:
        return [name, *map(contents, parts)]
    try:
        return joblib.hash(value)
    except Exception:
        # pickling runs code of any object, which raises errors of any kind
        return name


def _parts(value: Any) -> Sequence[Any] | None:
    """Return what a value consists of besides its name, None if it is hashed whole.

    A function has its defaults and what it encloses. A lambda also has its code, as all
    lambdas of a module may have one name. An estimator has its parameters.
    """
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, Measure):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if inspect.ismethod(value):
        return [value.__self__]
    if inspect.iscode(value):
        return [value.co_code, value.co_names, value.co_consts]
    if inspect.isfunction(value):
        parts: list[Any] = [value.__defaults__, value.__kwdefaults__]
        for cell in value.__closure__ or ():
            with suppress(ValueError):  # the cell is empty
                parts.append(cell.cell_contents)
        if value.__name__ == "<lambda>":
            parts.append(value.__code__)
        return parts
    if hasattr(value, "get_params") and not inspect.isclass(value):
        parameters = value.get_params(deep=False)
        return [{name: parameters[name] for name in parameters.keys() - _SILENT}]
    return None


class Measured(NamedTuple):
    """Exact values of some queries.

    `values` has shape (n_chosen, n_measures). `tied` and `ranked` count documents.
    """

    chosen: IntArray
    values: QueryValues
    tied: int
    ranked: int

    @classmethod
    def together(cls, parts: list[Measured]) -> Measured:
        """Parts that were measured one after another."""
        return cls(
            np.concatenate([part.chosen for part in parts]),
            QueryValues.join([part.values for part in parts], np.concatenate),
            sum(part.tied for part in parts),
            sum(part.ranked for part in parts),
        )


#: the number of each bucket, and its places in what is measured together
Buckets = list[tuple[int, IntArray]]
#: queries measured together, and their buckets
Step = tuple[Measured, Buckets]
#: the order in which a trial takes so many buckets or folds
Order = Callable[[int], IntArray]


class QueryObjective(StudyCreator):
    """An Optuna objective whose value is the mean of a measure over queries.

    With a list of measures it returns one value for each, for a multi-objective study.

    Use one of its subclasses `ScoringObjective`, `LinearScoringObjective` and
    `RankerObjective`. All take these options.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features).
    y : array-like of shape (n_rows,)
        Labels: finite and >= 0. NaN is unjudged.
    qid : array-like of shape (n_rows,)
        Query of each row.
    measure : str, Measure or list of such, default="ndcg@10"
        Measure or measures, as in `parse_measure`. A list, without duplicates, gives an
        objective for each measure: see Notes.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        How to treat NaN labels, as in `ranking_score`.
    query_weight : array-like of shape (n_rows,), optional
        Weight of each row's query.
    report_every : int, optional
        Number of queries in a bucket, whose mean is reported as one value. By default
        there are at most 256 buckets. 1 reports every query.
    random_state : int, RandomState instance or None, default=0
        Seed that assigns queries to buckets and draws the order of the buckets. Buckets
        are the same in every trial, but their order differs. All processes and all
        sessions of a study must have the same buckets: give each the same int.

    Attributes
    ----------
    measure : Measure or tuple of Measure
        The measure or measures of the objective.

    Raises
    ------
    ValueError
        If the data or an option breaks a rule above, or if no query has a defined
        value.

    See Also
    --------
    ScoringObjective, LinearScoringObjective, RankerObjective : The subclasses.

    Notes
    -----
    **Pruning.** ``create_study(prune=True)`` sets Optuna's `WilcoxonPruner`, which
    stops a trial once it is clearly worse, query by query, than the best one. Queries
    are then scored in blocks. Each block takes extra time: to gather and measure it, to
    report up to 256 values (.3 ms each in a journal) and to check them (.5 to 1.5 ms).
    So pruning pays if *scoring* is expensive: for rankers, except on the smallest data,
    and for functions that take more than about 100 ms for a million documents. It does
    not pay for linear scores.

    `WilcoxonPruner` compares trials bucket by bucket, so the order of the buckets is
    drawn anew for each trial. It is consulted only after 14 values are reported. A
    pruned trial returns its running mean, so that Optuna counts it as complete, but it
    is never the best. An undefined value is never reported. Other pruners, and a
    `WilcoxonPruner` inside another pruner, prune nothing.

    **Several measures.** With ``measure=["ndcg@10", "ap"]`` a call returns a tuple of
    exact means, and finds ties once for all. `create_study` creates a study with an
    objective for each measure, with its direction and name, sampled by TPE.
    ``study.best_trials`` is the Pareto front. Optuna cannot prune such a study.

    Every trial gets user attributes. ``best``, ``worst`` and ``tie_std`` are of the
    measure over the orders of ties (``NDCG@10 best`` and so on with several measures).
    ``tied_documents`` is the share of documents that tie with another document of their
    query. ``n_queries`` is the number of scored queries, and ``pruned`` says whether
    the trial was pruned.

    Examples
    --------
    >>> from tieaware_sklearn.optuna import QueryObjective, ScoringObjective
    >>> issubclass(ScoringObjective, QueryObjective)
    True
    """

    #: the queries of each bucket
    _dealt: list[IntArray]

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any,
        measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        query_weight: ArrayLike | None = None,
        report_every: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        measures = tuple(_parse.parse_measures(measure, name="measure"))
        resolved = _resolved.resolve(measures, zero_relevance, unjudged)
        self._measures = measures
        self._is_one = isinstance(measure, (str, Measure))
        self.measure = measures[0] if self._is_one else measures
        if not self._is_one:
            self._metric_names = list(map(str, measures))
        if report_every is not None:
            checks.check_count(report_every, "report_every")
        self._seed = checks.seed_of(random_state)
        X = X if hasattr(X, "shape") else np.asarray(X)
        given = _prepared.prepare(
            y,
            qid,
            query_weight,
            X=X,
            names=_prepared.ROW_NAMES,
            unjudged=resolved.unjudged,
            keep=True,
            single_documents="raise",
        )
        self._queries = self._ordered(X, given)
        self._X = feature_matrix.take_rows(X, self._queries.order)
        self._prepared = given.sorted(self._queries)
        self._resolved = resolved
        self._zero_relevance = zero_relevance
        self._report_every = report_every
        chance = self._prepared.label_values(resolved).chance
        weight = self._prepared.weight
        self._weight = np.ones(len(chance)) if weight is None else weight
        counts = ~np.isnan(chance) & (self._weight > 0)[:, None]
        also = "" if weight is None else " and that has weight"
        for parsed, defined in zip(measures, counts.T, strict=True):
            if not defined.any():
                raise ValueError(
                    f"y must have a query for which {parsed} is defined{also}, got "
                    f"none (of {len(counts)} queries)"
                )

    def _ordered(self, X: Any, given: _prepared.Prepared) -> checks.Queries:
        """The queries by id, the rows of each in the order in which they are scored."""
        return given.queries.by_id()

    @property
    def direction(self) -> str:
        """The direction of a study of the measure: ``"maximize"`` or ``"minimize"``.

        An objective of several measures raises RuntimeError: use `directions`.
        """
        if not self._is_one:
            raise RuntimeError(
                "several measures have no single direction: use directions"
            )
        return self.directions[0]

    @property
    def directions(self) -> list[str]:
        """The direction of each measure, as `optuna.create_study` takes them."""
        return [
            "maximize" if measure.greater_is_better else "minimize"
            for measure in self._measures
        ]

    @abstractmethod
    def _steps(self, trial: Any, order: Order, prune: bool) -> Iterator[Step]:
        """Some queries after others, until all are measured."""

    def __call__(self, trial: Any) -> float | tuple[float, ...]:
        """The exact mean of the measure, or of the queries before pruning.

        Parameters
        ----------
        trial : optuna.trial.Trial

        Returns
        -------
        float, or tuple of float for a list of measures

        Raises
        ------
        ValueError
            If the study's directions do not go with the measures, if it holds finished
            trials of something else, and for scores that cannot rank.
        """
        prune = self._check_study(trial)
        order: Order = np.arange
        if prune:
            order = np.random.default_rng([self._seed, trial.number]).permutation
        parts: list[Measured] = []
        n_values, n_left, pruned = 0, len(self._dealt), False
        for measured, buckets in self._steps(trial, order, prune):
            parts.append(measured)
            if not prune:
                continue
            n_values += self._report(trial, measured, buckets)
            n_left -= len(buckets)
            if n_left and n_values >= _LEAST_PAIRS and trial.should_prune():
                # a part of the queries must not pass for the best trial
                pruned = self._is_behind(trial.study, parts)
                if pruned:
                    break
        measured = Measured.together(parts)
        values = self._means(measured)
        attributes = self._attributes(measured) | {
            "tied_documents": measured.tied / max(measured.ranked, 1),
            "n_queries": len(measured.chosen),
            "pruned": pruned,
        }
        for name, attribute in attributes.items():
            trial.set_user_attr(name, attribute)
        return values[0] if self._is_one else tuple(values)

    def _measured(self, chosen: IntArray, scores: NDArray[np.generic]) -> Measured:
        """Exact values of these queries, given scores of their rows in order."""
        prepared = self._prepared
        if len(chosen) < prepared.queries.n_queries or (np.diff(chosen) != 1).any():
            prepared = prepared.of_queries(chosen)

        def compute(ranked: Ranked) -> tuple[QueryValues, IntArray]:
            values = ranked.values(self._resolved.measures, Detail.DEVIATION)
            return values, ranked.ties[0].n

        # the values and the sizes of tie groups
        parts, sizes = zip(*prepared.each_block(compute, scores), strict=True)
        values = prepared.joined(parts).apply(lambda array: array[0])
        filled = self._resolved.fill(values, prepared.queries)
        size = np.concatenate(sizes)
        return Measured(chosen, filled, int(size[size > 1].sum()), int(size.sum()))

    def _means(
        self, measured: Measured, part: IntArray | slice = slice(None)
    ) -> list[float]:
        """Mean values of some of the queries, NaN where none is defined."""
        weight = self._weight[measured.chosen[part]]
        values = measured.values.expected[part]
        return column_means(values, weight).tolist()

    def _attributes(self, measured: Measured) -> dict[str, Any]:
        """Averages over the orders of ties, by measure, which a trial remembers."""
        weight = self._weight[measured.chosen]
        values = measured.values
        spreads = {
            "best": column_means(values.best, weight).tolist(),
            "worst": column_means(values.worst, weight).tolist(),
            "tie_std": stds_of_means(values.std, weight).tolist(),
        }
        return {
            # of one measure, the name is left out
            name if self._is_one else f"{measure} {name}": averages[j]
            for j, measure in enumerate(self._resolved.names)
            for name, averages in spreads.items()
        }

    def _report(self, trial: Any, measured: Measured, buckets: Buckets) -> int:
        """Report the mean of each bucket where it is defined: how many values."""
        n_values = 0
        for number, at in buckets:
            value = self._means(measured, at)[0]
            if not math.isnan(value):
                trial.report(value, step=number)
                n_values += 1
        return n_values

    def _is_behind(self, study: Any, parts: list[Measured]) -> bool:
        value, best = self._means(Measured.together(parts))[0], study.best_value
        up = self._measures[0].greater_is_better
        return bool(value < best if up else value > best)

    def _check_study(self, trial: Any) -> bool:
        """Check the study of a trial, and return whether the trial may be pruned."""
        study = getattr(trial, "study", None)
        if study is None:  # a FixedTrial
            return False
        if len(study.directions) > len(self.directions):  # it has other values, too
            return False
        self._check_same(study)
        is_paired = isinstance(study.pruner, optuna.pruners.WilcoxonPruner)
        return is_paired and len(self._measures) == 1

    @cached_property
    def _identity(self) -> dict[str, str]:
        data = self._prepared
        sizes = np.diff(data.queries.offsets)
        # the rows of a query are the same in any order
        rows = hashing.mixed(
            hashing.row_digests(self._X) ^ hashing.bits_of(data.labels)
        )
        return {
            "measure": " and ".join(self._resolved.names),
            "parameters of measures": digest_of([m.filled() for m in self._measures]),
            "zero_relevance": digest_of(self._resolved.options["zero_relevance"]),
            "labels": digest_of(hashing.query_marks(data.labels, data.queries.offsets)),
            "query_weight": digest_of(self._weight),
            "features": digest_of(
                [
                    feature_matrix.list_columns(self._X),
                    self._X.shape,
                    segments.sum_segments(rows, sizes, np.uint64),
                ]
            ),
            **self._decisive(),
            BUCKETS: digest_of(self._dealt),
        }

    @abstractmethod
    def _decisive(self) -> dict[str, str]:
        """Digests of what else decides the values of trials."""

    def _buckets(self, n_queries: int, seed: int, n_folds: int = 1) -> list[IntArray]:
        """Fixed buckets of about as many queries as share a value, drawn at random."""
        size = self._report_every
        if size is None:
            size = math.ceil(self._queries.n_queries / max(1, N_VALUES + 1 - n_folds))
        order = np.random.default_rng(seed).permutation(n_queries)
        return [np.sort(part) for part in np.array_split(order, -(-n_queries // size))]
