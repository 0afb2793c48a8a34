"""Base classes of objectives: studies, measures over queries, and pruning."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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

#: User attribute of a study with digests of all that decides the values of its trials.
_DIGESTS = "digests of trials"
#: Key of the digest of the buckets, which affect values only if trials may be pruned.
_BUCKETS = "buckets"
#: Parameters of estimators that do not change predictions.
_SILENT = {
    "memory",
    "n_jobs",
    "nthread",
    "progress",
    "thread_count",
    "verbose",
    "verbosity",
}
#: Beginning of the user attributes of a study that name its workers.
_WORKER = "worker "
_FINISHED = optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED
#: Maximum number of values that a trial reports.
N_VALUES = 256
#: Minimum number of reported values with which WilcoxonPruner may stop a trial. With
#: 13 or fewer values, some of which tie, SciPy's test tries all signs, which is slow.
_LEAST_PAIRS = 14


class StudyCreator(ABC):
    """An objective that creates a study with a suitable sampler and pruner."""

    #: Names of the values of a study. If the tuple is empty, Optuna chooses names.
    _metric_names: Sequence[str] = ()

    @property
    @abstractmethod
    def directions(self) -> list[str]:
        """Direction of each objective: ``"maximize"`` or ``"minimize"``."""

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

        A study from `optuna.create_study` also works.

        Parameters
        ----------
        seed : int, optional
            Seed of the default sampler, without effect if `sampler` is given. With one
            worker and an objective without randomness, equal seeds give equal studies.
            Workers that join a study derive seeds of their own, because with equal
            seeds all workers would try the same parameters.
        n_trials : int, optional
            Planned number of trials, on which the choice of a sampler may depend.
        storage : str or storage, optional
            Where Optuna stores the study, as in `optuna.create_study`. By default, the
            study is kept in memory. For several processes, use
            ``JournalStorage(JournalFileBackend(path))``.
        study_name : str, optional
            Name of the study in the storage. By default, Optuna chooses a name.
        load_if_exists : bool, default=False
            Whether to join the study of this name if the study already exists.
        sampler : sampler, optional
            Sampler of the study. By default, a sampler that suits the objective is
            chosen. A given sampler is not changed, so two workers whose samplers have
            the same seed try the same parameters.
        pruner : pruner, optional
            Pruner of the study. By default, trials are pruned only if `prune` is True.
        prune : bool, default=False
            Whether to stop trials early with Optuna's `WilcoxonPruner`. Pruning pays if
            scores are expensive: see the notes of `QueryObjective`.
        verbose : bool, default=False
            Whether Optuna logs every trial. If Optuna's log level is INFO, the default,
            False sets the level to WARNING for the whole process. False does not change
            any other level.

        Returns
        -------
        optuna.study.Study
            A study for ``study.optimize(objective)``. A new study begins with the
            parameters that the objective proposes, if any.

        Raises
        ------
        ValueError
            If `seed` is not an integer >= 0, if `prune` or `verbose` is neither True
            nor False, if `prune` is True although `pruner` is given or the study has
            several objectives, or if the study to join has other directions or contains
            finished trials of another objective.
        optuna.exceptions.DuplicatedStudyError
            If the storage contains a study of this name and `load_if_exists` is False.
        """
        if seed is not None:
            checks.check_count(seed, "seed", least=0)
        checks.check_flag(prune, "prune")
        checks.check_flag(verbose, "verbose")
        if prune and pruner is not None:
            raise ValueError(
                "prune must be False if pruner is given, got True and "
                f"{type(pruner).__name__}"
            )
        if prune and len(self.directions) > 1:
            raise ValueError(
                "prune must be False, because a study of several objectives cannot "
                "prune, got True"
            )
        if not verbose and optuna.logging.get_verbosity() == optuna.logging.INFO:
            optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            # Optuna has called the pruner and metric names experimental for years, so
            # warnings that they are experimental do not help.
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
        is_first = True
        if storage is not None:
            is_first, seed = _join(study, seed)
        if sampler is None:
            sampler = self._sampler(seed, n_trials)
        study.sampler = sampler
        # Other workers must not enqueue the same trials again.
        if is_first and not study.get_trials(deepcopy=False):
            for parameters in self._first_trials():
                study.enqueue_trial(parameters)
        return study

    @property
    @abstractmethod
    def _identity(self) -> dict[str, str]:
        """Digests, by name, of all that decides the values of trials."""

    def _check_same(self, study: Any) -> None:
        """Refuse studies with other directions, or with trials of other objectives."""
        measure = self._identity["measure"]
        directions = [direction.name.lower() for direction in study.directions]
        if directions != self.directions:
            raise ValueError(
                f"the study must have the directions {self.directions} ({measure}), "
                f"got {directions}"
            )
        digests = study.user_attrs.get(_DIGESTS)
        if digests is None:
            n_finished = len(study.get_trials(deepcopy=False, states=_FINISHED))
            if n_finished:
                raise ValueError(
                    f"the study must contain trials of this objective ({measure}), got "
                    f"{n_finished} finished trials of an unknown objective: use "
                    "another study"
                )
            study.set_user_attr(_DIGESTS, self._identity)
            return
        differing = []
        can_prune = isinstance(study.pruner, optuna.pruners.WilcoxonPruner)
        for name, digest in self._identity.items():
            if digests.get(name) != digest and (can_prune or name != _BUCKETS):
                differing.append(name)
        if differing:
            raise ValueError(
                f"the study must contain trials of this objective ({measure}), got "
                f"trials of {digests['measure']} that differ in "
                f"{', '.join(differing)}: use another study"
            )

    def _first_trials(self) -> list[dict[str, Any]]:
        """Return the parameters of the trials that a new study begins with."""
        return []

    def _sampler(self, seed: int | None, n_trials: int | None) -> Any:
        """Return the sampler of a study that is created without one."""
        return optuna.samplers.TPESampler(seed=seed)


def best_parameters(study: Any) -> Any:
    """Return a trial that suggests the parameters of a trial, or of the best trial."""
    trial = study.best_trial if isinstance(study, optuna.study.Study) else study
    return optuna.trial.FixedTrial(trial.params)


def _join(study: Any, seed: int | None) -> tuple[bool, int | None]:
    """Return whether this worker is the first of a study, and the sampler's seed."""
    number = uuid.uuid4()
    worker = _WORKER + number.hex
    earlier = [name for name in study.user_attrs if name.startswith(_WORKER)]
    study.set_user_attr(worker, "joined")
    # If workers join at the same time, the first name decides. Journals order names by
    # the time of writing, and databases order names alphabetically.
    workers = [name for name in study.user_attrs if name.startswith(_WORKER)]
    is_first = not earlier and workers[0] == worker
    if is_first or seed is None:
        return is_first, seed
    derived = np.random.SeedSequence([seed, number.int])
    return is_first, int(derived.generate_state(1)[0])


def digest_of(value: Any) -> str:
    """Return a digest that is the same for equal values in every process."""
    return str(joblib.hash(_contents(value, ())))


def _contents(value: Any, outer: tuple[int, ...]) -> Any:
    """Return the contents of a value for `joblib.hash`, without addresses of objects.

    A value that cannot be pickled is replaced by the name of its type.

    Parameters
    ----------
    value : object
    outer : tuple of int
        The `id` of each value that contains this value. A value may contain itself.
    """
    if id(value) in outer:
        return "recursion"
    outer = (*outer, id(value))
    if isinstance(value, Mapping):
        contents = {}
        for key, item in value.items():
            digest = joblib.hash(_contents(key, outer))
            contents[digest] = _contents(item, outer)
        return contents
    named = value if hasattr(value, "__qualname__") else type(value)
    name = f"{getattr(named, '__module__', None)}.{named.__qualname__}"
    if isinstance(value, (set, frozenset)):
        digests = [joblib.hash(_contents(item, outer)) for item in value]
        return [name, *sorted(digests)]
    parts = _parts(value)
    if parts is not None:
        return [name, *(_contents(part, outer) for part in parts)]
    try:
        return joblib.hash(value)
    except Exception:
        # Pickling runs the code of any object, which can raise any error.
        return name


def _parts(value: Any) -> Sequence[Any] | None:
    """Return the parts of a value besides its name, or None to hash it as a whole.

    A function consists of its defaults and of the values that it encloses. A lambda
    also consists of its code, because all lambdas of a module can have the same name.
    An estimator consists of its parameters.
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
            # An empty cell raises ValueError.
            with suppress(ValueError):
                parts.append(cell.cell_contents)
        if value.__name__ == "<lambda>":
            parts.append(value.__code__)
        return parts
    if hasattr(value, "get_params") and not inspect.isclass(value):
        parameters = value.get_params(deep=False)
        return [{name: parameters[name] for name in parameters.keys() - _SILENT}]
    return None


class MeasuredQueries(NamedTuple):
    """Exact values of queries.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,)
        Indices of the queries.
    values : QueryValues
        Values of shape (n_queries, n_measures).
    n_tied, n_ranked : int
        Number of documents that tie with another document, and of ranked documents.
    """

    queries: IntArray
    values: QueryValues
    n_tied: int
    n_ranked: int

    @classmethod
    def join(cls, parts: list[MeasuredQueries]) -> MeasuredQueries:
        """Join parts that were measured one after another."""
        queries, values, n_tied, n_ranked = zip(*parts, strict=True)
        joined = QueryValues.join(values, np.concatenate)
        return cls(np.concatenate(queries), joined, sum(n_tied), sum(n_ranked))


#: Index of each bucket, and the indices of its queries in `MeasuredQueries`.
Buckets = list[tuple[int, IntArray]]
#: Queries that are measured together, and their buckets.
Step = tuple[MeasuredQueries, Buckets]


class QueryObjective(StudyCreator):
    """An Optuna objective whose value is the mean of a measure over queries.

    With a list of measures, the objective returns one value for each measure, for a
    multi-objective study.

    Use one of the subclasses `ScoringObjective`, `LinearScoringObjective` and
    `RankerObjective`. All three subclasses accept these parameters.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Arrow table
        Data of shape (n_rows, n_features).
    y : array-like of shape (n_rows,)
        Labels: finite and >= 0. NaN means unjudged (see `unjudged`).
    qid : array-like of shape (n_rows,)
        Query of each row, in any order.
    measure : str, Measure or list of them, default="ndcg@10"
        Measure or measures, as in `parse_measure`. A list, without duplicates, gives an
        objective for each measure: see Notes.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where the measure is undefined, such as NDCG without a
        relevant document, as in `ranking_score`. "skip" leaves these queries out, and
        "raise" raises an error.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        Treatment of documents whose label is NaN, as in `ranking_score`: raise an
        error, count the documents as not relevant, or leave them out.
    query_weight : array-like of shape (n_rows,), optional
        Weight of each row's query in the mean: >= 0 and constant within a query.
    report_every : int, optional
        Number of queries in a bucket. If trials may be pruned, the mean of each bucket
        is reported to Optuna as one value. By default, there are at most 256 buckets,
        or one for each fold if there are more folds. With 1, the value of every query
        is reported.
    random_state : int, RandomState instance or None, default=0
        Seed that assigns queries to buckets and draws the order of the buckets. Buckets
        are the same in every trial, but their order differs. All processes and all
        sessions of a study must have the same buckets, so pass the same int in all of
        them.

    Attributes
    ----------
    measure : Measure or tuple of Measure
        The measure or measures of the objective.

    Raises
    ------
    ValueError
        If the data or an option breaks a rule above, if there are more than 50 rows and
        each row is a query of its own, or if a measure is defined for no query of
        positive weight.

    See Also
    --------
    ScoringObjective, LinearScoringObjective, RankerObjective : The subclasses.

    Notes
    -----
    **Pruning.** ``create_study(prune=True)`` sets Optuna's `WilcoxonPruner`, which
    stops a trial once it is clearly worse, query by query, than the best trial. Queries
    are then scored in blocks. Each block takes extra time: to gather and measure it, to
    report up to 256 values (0.3 ms each in a journal) and to check them (0.5 ms to 1.5
    ms). So pruning pays if *scoring* is expensive: for rankers, except on the smallest
    data, and for functions that take more than about 100 ms for a million documents.
    Pruning does not pay for linear scores.

    `WilcoxonPruner` compares trials bucket by bucket, so the order of the buckets is
    drawn anew for each trial. The pruner is consulted only after 14 values are
    reported. A pruned trial returns its running mean, so Optuna counts the trial as
    complete, but the trial is never the best. An undefined value is never reported.
    Other pruners, and a `WilcoxonPruner` inside another pruner, prune nothing.

    **Several measures.** With ``measure=["ndcg@10", "ap"]``, a call returns a tuple of
    exact means, and finds ties once for all measures. In a study from `create_study`,
    each measure is an objective with the direction and the name of the measure, and the
    sampler is TPE. ``study.best_trials`` is the Pareto front. Optuna cannot prune such
    a study.

    Every trial gets user attributes. ``best`` and ``worst`` are the means of the
    measure in the most and the least favourable order of ties, and ``tie_std`` is the
    standard deviation of the mean over the orders of ties (``NDCG@10 best`` and so on
    with several measures). ``tied_documents`` is the share of documents that tie with
    another document of their query. ``n_queries`` is the number of scored queries, and
    ``pruned`` is True if the trial was pruned.

    Examples
    --------
    >>> from tieaware_sklearn.optuna import QueryObjective, ScoringObjective
    >>> issubclass(ScoringObjective, QueryObjective)
    True
    """

    #: The queries of each bucket.
    _bucket_queries: list[IntArray]

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
        resolved = self._resolve(measures, zero_relevance, unjudged)
        self._measures = measures
        self._is_single = isinstance(measure, (str, Measure))
        self.measure = measures[0] if self._is_single else measures
        if not self._is_single:
            self._metric_names = list(map(str, measures))
        if report_every is not None:
            checks.check_count(report_every, "report_every")
        self._seed = checks.seed_of(random_state)
        X = X if hasattr(X, "shape") else np.asarray(X)
        prepared = _prepared.prepare(
            y,
            qid,
            query_weight,
            X=X,
            names=_prepared.ROW_NAMES,
            unjudged=resolved.unjudged,
            keep=True,
            single_documents="raise",
        )
        self._queries = self._sort_rows(X, prepared)
        self._X = feature_matrix.take_rows(X, self._queries.order)
        self._prepared = prepared.sorted(self._queries)
        self._resolved = resolved
        self._report_every = report_every
        chance = self._prepared.label_values(resolved).chance
        weight = self._prepared.weight
        self._weight = np.ones(len(chance)) if weight is None else weight
        has_weight = self._weight > 0
        condition = "" if weight is None else " and whose weight is above 0"
        # The chance level of a query is NaN if the measure is undefined.
        for parsed, values in zip(measures, chance.T, strict=True):
            if np.isnan(values[has_weight]).all():
                raise ValueError(
                    f"y must have a query for which {parsed} is defined{condition}, "
                    f"got none among {len(chance)} queries"
                )

    def _resolve(
        self, measures: Sequence[Measure], zero_relevance: float | str, unjudged: str
    ) -> _resolved.ResolvedMeasures:
        """Return the measures with the options that define their values."""
        return _resolved.resolve(measures, zero_relevance, unjudged)

    def _sort_rows(self, X: Any, prepared: _prepared.Prepared) -> checks.Queries:
        """Return queries by id, with the rows of each query in the order of scoring."""
        return prepared.queries.by_id()

    @property
    def direction(self) -> str:
        """Direction in which a study optimizes: ``"maximize"`` or ``"minimize"``.

        If `measure` is a list, RuntimeError is raised: use `directions`.
        """
        if not self._is_single:
            raise RuntimeError(
                "several measures have no single direction: use directions"
            )
        return self.directions[0]

    @property
    def directions(self) -> list[str]:
        """Direction of each measure, in a list for `optuna.create_study`."""
        directions = []
        for measure in self._measures:
            directions.append("maximize" if measure.greater_is_better else "minimize")
        return directions

    @abstractmethod
    def _steps(self, trial: Any, rng: np.random.Generator | None) -> Iterator[Step]:
        """Measure queries step by step, until all are measured.

        A trial that may be pruned measures buckets or folds in an order drawn by `rng`.
        """

    def __call__(self, trial: Any) -> float | tuple[float, ...]:
        """Return the exact mean of the measure over the queries measured by the trial.

        Parameters
        ----------
        trial : optuna.trial.Trial
            Trial that suggests the parameters.

        Returns
        -------
        float, or tuple of float for a list of measures
            Mean of each measure. If the trial was pruned, only some queries count.

        Raises
        ------
        ValueError
            If the directions of the study do not match the measures, if the study
            contains finished trials of another objective, or if scores cannot rank.
        """
        rng = None
        if self._may_prune(trial):
            rng = np.random.default_rng([self._seed, trial.number])
        parts: list[MeasuredQueries] = []
        n_values = 0
        n_left = len(self._bucket_queries)
        pruned = False
        for measured, buckets in self._steps(trial, rng):
            parts.append(measured)
            if rng is None:
                continue
            n_left -= len(buckets)
            for number, places in buckets:
                value = self._means(measured, places)[0]
                if not math.isnan(value):
                    trial.report(value, step=number)
                    n_values += 1
            if n_left and n_values >= _LEAST_PAIRS and trial.should_prune():
                # The mean of a part of the queries must not become the best value.
                value = self._means(MeasuredQueries.join(parts))[0]
                best = trial.study.best_value
                is_maximized = self.directions[0] == "maximize"
                pruned = value < best if is_maximized else value > best
                if pruned:
                    break
        measured = MeasuredQueries.join(parts)
        weight = self._weight[measured.queries]
        best_means = column_means(measured.values.best, weight).tolist()
        worst_means = column_means(measured.values.worst, weight).tolist()
        stds = stds_of_means(measured.values.std, weight).tolist()
        for j, measure in enumerate(self._resolved.names):
            prefix = "" if self._is_single else f"{measure} "
            trial.set_user_attr(f"{prefix}best", best_means[j])
            trial.set_user_attr(f"{prefix}worst", worst_means[j])
            trial.set_user_attr(f"{prefix}tie_std", stds[j])
        tied_documents = measured.n_tied / max(measured.n_ranked, 1)
        trial.set_user_attr("tied_documents", tied_documents)
        trial.set_user_attr("n_queries", len(measured.queries))
        trial.set_user_attr("pruned", pruned)
        means = self._means(measured)
        return means[0] if self._is_single else tuple(means)

    def _measure(
        self, chosen: IntArray, scores: NDArray[np.generic]
    ) -> MeasuredQueries:
        """Measure the chosen queries by the scores of their rows, query by query."""
        prepared = self._prepared
        is_part = len(chosen) < prepared.queries.n_queries
        if is_part or (np.diff(chosen) != 1).any():
            prepared = prepared.of_queries(chosen)

        def compute(ranked: Ranked) -> tuple[QueryValues, IntArray]:
            """Return values of queries, and the sizes of their tie groups."""
            values = ranked.values(self._resolved.measures, Detail.DEVIATION)
            return values, ranked.ties[0].n

        parts, sizes = zip(*prepared.each_block(compute, scores), strict=True)
        # The scores are a single ranking of each query.
        values = prepared.joined(parts).apply(lambda array: array[0])
        filled = self._resolved.fill(values, prepared.queries)
        size = np.concatenate(sizes)
        n_tied = int(size[size > 1].sum())
        return MeasuredQueries(chosen, filled, n_tied, int(size.sum()))

    def _means(
        self, measured: MeasuredQueries, places: IntArray | slice = slice(None)
    ) -> list[float]:
        """Return the mean of each measure over queries at these indices."""
        weight = self._weight[measured.queries[places]]
        values = measured.values.expected[places]
        return column_means(values, weight).tolist()

    def _may_prune(self, trial: Any) -> bool:
        """Check the study of a trial, and return whether the trial may be pruned."""
        study = getattr(trial, "study", None)
        if study is None:
            # A FixedTrial has no study.
            return False
        if len(study.directions) > len(self.directions):
            # The study also contains values from another function.
            return False
        self._check_same(study)
        is_paired = isinstance(study.pruner, optuna.pruners.WilcoxonPruner)
        return is_paired and len(self._measures) == 1

    @functools.cached_property
    def _identity(self) -> dict[str, str]:
        labels = self._prepared.labels
        queries = self._prepared.queries
        measures = [measure.filled() for measure in self._measures]
        # Digests of rows are summed, because the rows of a query may be in any order.
        rows = hashing.row_digests(self._X) ^ hashing.bits_of(labels)
        rows = hashing.mixed(rows)
        sums = segments.sum_segments(rows, queries.sizes, np.uint64)
        features = [feature_matrix.list_columns(self._X), self._X.shape, sums]
        zero_relevance = self._resolved.options["zero_relevance"]
        label_marks = hashing.query_marks(labels, queries.offsets)
        digests = {"measure": " and ".join(self._resolved.names)}
        digests["parameters of measures"] = digest_of(measures)
        digests["zero_relevance"] = digest_of(zero_relevance)
        digests["labels"] = digest_of(label_marks)
        digests["query_weight"] = digest_of(self._weight)
        digests["features"] = digest_of(features)
        digests.update(self._further_digests())
        digests[_BUCKETS] = digest_of(self._bucket_queries)
        return digests

    @abstractmethod
    def _further_digests(self) -> dict[str, str]:
        """Return digests of the other inputs that decide the values of trials."""

    def _buckets(self, n_queries: int, seed: int, n_folds: int = 1) -> list[IntArray]:
        """Assign queries at random to buckets, each of which reports one value.

        The queries belong to one of `n_folds` folds, and are numbered from 0.
        """
        size = self._report_every
        if size is None:
            # Each fold rounds its number of buckets up, which adds less than one value.
            n_values = max(1, N_VALUES + 1 - n_folds)
            size = math.ceil(self._queries.n_queries / n_values)
        order = np.random.default_rng(seed).permutation(n_queries)
        n_buckets = math.ceil(n_queries / size)
        return [np.sort(part) for part in np.array_split(order, n_buckets)]
