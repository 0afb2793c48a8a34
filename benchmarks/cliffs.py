"""Realistic shapes that once cost many times what they should, each with its goal.

A row has a function that makes two tasks: ours, and the task that it is held against.
`rows` times them in turns. The rows are in the order of the subpackages of the library.
"""

from __future__ import annotations

import atexit
import io
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp

import tieaware_sklearn as ta
from benchmarks import trec_files
from benchmarks.timing import Task, medians
from tieaware_sklearn import RankingFeatureSelector, cli, comparison, datasets
from tieaware_sklearn._engine import checks, exact_numbers
from tieaware_sklearn._typing import Array, FloatArray, IntArray
from tieaware_sklearn.evaluation import precision_recall_curve

#: Our task, and the task that it is held against.
Pair = tuple[Task, Task]


class Row(NamedTuple):
    """A name, the unit and the largest value of the ratio, and a maker of the tasks."""

    task: str
    unit: str
    goal: float
    make: Callable[[], Pair]


ROWS: list[Row] = []


def cliff(task: str, unit: str, goal: float) -> Callable[[Callable[[], Pair]], Any]:
    """Return a decorator that adds a function to the rows."""

    def register(make: Callable[[], Pair]) -> Any:
        ROWS.append(Row(task, unit, goal, make))
        return make

    return register


def rows(repeats: int) -> Iterator[tuple[Row, float]]:
    """Yield each row with its ratio."""
    for row in ROWS:
        ours, base = row.make()
        times = medians({"ours": ours, "base": base}, repeats)
        yield row, times["ours"] / times["base"]


@cache
def _folder() -> Path:
    """Return a folder that is removed at the end of the process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


# ------------------------------------------------------------------ ids, rows, files


def _shuffled_ids() -> IntArray:
    """Return numbers of 20,000 queries for a million rows."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 20_000, 1_000_000)


def _sorted_ids() -> IntArray:
    return np.sort(_shuffled_ids())


def _texts(ids: IntArray) -> Array:
    """Return a UUID for each query, as a text of its own in each row."""
    names = []
    for i in range(20_000):
        name = uuid.UUID(int=i * 0x9E3779B97F4A7C15F39CC060)
        names.append(str(name))
    return np.array(names)[ids].astype(object)


def _gather(ids: Any, plain: Array) -> Pair:
    """Gather rows into queries, against codes by pandas."""
    ours = partial(checks.check_qid, ids, n_rows=len(plain))
    base = pd.Series(plain, dtype=plain.dtype)
    return ours, base.factorize


@cliff("ids of text, sorted", "x pandas' factorize", 1)
def sorted_texts() -> Pair:
    texts = _texts(_sorted_ids())
    return _gather(texts, texts)


@cliff("ids of text in Arrow, sorted", "x pandas' factorize of objects", 0.8)
def sorted_arrow_texts() -> Pair:
    texts = _texts(_sorted_ids())
    return _gather(pa.array(texts), texts)


@cliff("ids that are categories, sorted", "x pandas' factorize of objects", 0.5)
def sorted_categories() -> Pair:
    texts = _texts(_sorted_ids())
    categories = pd.Series(texts, dtype="category")
    return _gather(categories, texts)


@cliff("ids of text, shuffled", "x pandas' factorize", 1.5)
def shuffled_texts() -> Pair:
    texts = _texts(_shuffled_ids())
    return _gather(texts, texts)


@cliff("integer ids, shuffled", "x pandas' factorize", 5)
def shuffled_integers() -> Pair:
    ids = _shuffled_ids()
    return _gather(ids, ids)


@cliff("ids that are zoned times, shuffled", "x pandas' factorize of integers", 10)
def shuffled_times() -> Pair:
    ids = _shuffled_ids()
    times = pd.to_datetime(ids, unit="s", utc=True)
    return _gather(pd.Series(times), ids)


@cliff("numbers that are Decimals", "x float of each", 5)
def decimals() -> Pair:
    numbers = [Decimal(i).scaleb(-3) for i in range(100_000)]
    ours = partial(exact_numbers.numbers_of, np.array(numbers), "y_score")

    def by_float() -> list[float]:
        return list(map(float, numbers))

    return ours, by_float


@cliff("break_ties by numbers", "x lexsort", 5)
def break_ties() -> Pair:
    rng = np.random.default_rng(0)
    key = rng.permutation(300_000)
    score = (key % 20).astype(float)
    qid = np.arange(len(key)) // 100
    ours = partial(ta.break_ties, score, key, qid=qid)
    return ours, partial(np.lexsort, (key, score, qid))


@cliff("load_run", "x pandas' read_csv", 3)
def load_run() -> Pair:
    lines = []
    for i in range(200_000):
        topic = 300 + i // 1000
        rank = i % 1000 + 1
        score = 1 / (i + 1)
        lines.append(f"{topic} Q0 FBIS3-{i:09d} {rank} {score:.6f} tag\n")
    path = _folder() / "run"
    path.write_text("".join(lines))
    ours = partial(datasets.load_run, path)
    return ours, partial(pd.read_csv, path, sep=r"\s+", header=None)


@cliff("LETOR, 17 digits and exponents", "x 6 decimals", 2.2)
def load_letor() -> Pair:
    rng = np.random.default_rng(0)
    X = rng.random((4000, 50))
    exponents = _write_letor("exponents", X * 1e-7, "{!r}")
    decimals = _write_letor("decimals", X, "{:.6f}")
    ours = partial(datasets.load_letor, exponents)
    return ours, partial(datasets.load_letor, decimals)


def _write_letor(name: str, X: FloatArray, format_spec: str) -> Path:
    lines = []
    for row in X.tolist():
        cells = ["1 qid:1"]
        for j, value in enumerate(row, start=1):
            text = format_spec.format(value)
            cells.append(f"{j}:{text}")
        lines.append(" ".join(cells) + "\n")
    path = _folder() / name
    path.write_text("".join(lines))
    return path


# ---------------------------------------------------------------------- measures


class Lists(NamedTuple):
    """Labels and scores of queries, (n_queries, n_documents)."""

    labels: FloatArray
    scores: FloatArray

    def task(self, function: Callable[..., object]) -> Task:
        """Return a call of this function with labels, scores and ids of all rows."""
        n_queries, n_documents = self.labels.shape
        qid = np.repeat(np.arange(n_queries), n_documents)
        return partial(function, self.labels.ravel(), self.scores.ravel(), qid=qid)


def _lists(n_queries: int, n_documents: int, n_scores: int | None) -> Lists:
    """Return labels 0 to 4, and so many different scores, or no equal ones for None."""
    rng = np.random.default_rng(0)
    shape = n_queries, n_documents
    labels = rng.choice(np.arange(5.0), shape, p=[0.6, 0.15, 0.1, 0.1, 0.05])
    scores = rng.normal(size=shape)
    if n_scores is not None:
        scores = rng.integers(0, n_scores, shape).astype(float)
    return Lists(labels, scores)


def _numpy_err(lists: Lists) -> FloatArray:
    """Compute ERR of each list without ties."""
    order = np.argsort(-lists.scores, axis=1)
    labels = np.take_along_axis(lists.labels, order, axis=1)
    stops = (2**labels - 1) / 16
    reached = np.cumprod(1 - stops, axis=1)
    reached = np.insert(reached[:, :-1], 0, 1.0, axis=1)
    ranks = np.arange(1, labels.shape[1] + 1)
    return (reached * stops / ranks).sum(axis=1)


def _err_pair(n_scores: int | None) -> Pair:
    lists = _lists(300, 100, n_scores)
    ours = lists.task(partial(ta.evaluate, measures="err"))
    return ours, partial(_numpy_err, lists)


@cliff("ERR, lists of 100", "x NumPy", 10)
def err_without_ties() -> Pair:
    return _err_pair(None)


@cliff("ERR, lists of 100, 10 scores", "x NumPy", 10)
def err_with_ties() -> Pair:
    return _err_pair(10)


def _precision_pair(n_scores: int | None, function: Callable[..., object]) -> Pair:
    lists = _lists(200, 100, n_scores)
    relevant = [np.flatnonzero(labels >= 1) for labels in lists.labels]

    def by_list() -> list[float]:
        """Compute the interpolated precision of each list by NumPy, without ties."""
        means = []
        for scores, documents in zip(lists.scores, relevant, strict=True):
            n = len(documents)
            ranks = np.empty(100)
            ranks[np.argsort(-scores)] = np.arange(1, 101)
            precision = np.arange(1, n + 1) / np.sort(ranks[documents])
            largest_below = np.maximum.accumulate(precision[::-1])[::-1]
            levels = np.ceil(np.arange(11) * n / 10).astype(int)
            first = np.maximum(levels - 1, 0)
            means.append(largest_below[first].mean())
        return means

    return lists.task(function), by_list


@cliff("IPrec@0.3, lists of 100, 10 scores", "x NumPy by list", 8)
def interpolated_precision() -> Pair:
    return _precision_pair(10, partial(ta.evaluate, measures="iprec@0.3"))


@cliff("IAP, lists of 100", "x NumPy by list", 8)
def interpolated_average_precision() -> Pair:
    return _precision_pair(None, partial(ta.evaluate, measures="iap"))


@cliff("curve, lists of 100, 10 scores", "x NumPy by list", 8)
def curve() -> Pair:
    return _precision_pair(10, precision_recall_curve)


@cliff("NDCG@10, 10^6 labels that differ", "x whole labels", 3)
def different_labels() -> Pair:
    whole = _lists(10_000, 100, None)
    rng = np.random.default_rng(1)
    fractions = 4 * rng.random(whole.labels.shape)
    different = Lists(fractions, whole.scores)
    return different.task(ta.ranking_score), whole.task(ta.ranking_score)


# ------------------------------------------------------- selector, features, inspection


@cliff("selector, n_jobs=2, small data", "x one job", 1.3)
def few_features_in_threads() -> Pair:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 10))
    y = rng.integers(0, 3, 1000)
    qid = np.repeat(np.arange(100), 10)
    single = RankingFeatureSelector()
    double = RankingFeatureSelector(n_jobs=2)
    return partial(double.fit, X, y, qid), partial(single.fit, X, y, qid)


def _selector(measure: str) -> RankingFeatureSelector:
    return RankingFeatureSelector(measure, redundancy=False, max_correlation=None)


@cliff("selector, RR, several relevant", "x AP", 1.5)
def variance_of_rr() -> Pair:
    rng = np.random.default_rng(0)
    X = rng.random((10_000, 20)) < 0.3
    y = rng.random(10_000) < 0.3
    rows = (X * 1.0, y, np.repeat(np.arange(100), 100))
    ours = partial(_selector("rr").fit, *rows)
    return ours, partial(_selector("ap").fit, *rows)


@cliff("selector, sparse X, NDCG@10", "x NDCG of its entries", 1)
def sparse_features() -> Pair:
    # The goal is 100 ns an entry, and 1 ns a column and query.
    rng = np.random.default_rng(0)
    n_rows = n_columns = 10_000
    size = 10
    X = sp.random_array((n_rows, n_columns), density=1e-3, format="csc", rng=rng)
    y = rng.integers(0, 3, n_rows)
    qid = np.arange(n_rows) // size
    discount = 1 / np.log2(np.arange(2, size + 2))

    def by_entry() -> None:
        """Compute DCG of each column in each query with an entry, in both orders."""
        column = np.repeat(np.arange(n_columns), np.diff(X.indptr))
        pair_of_entry = column * n_rows + qid[X.indices]
        pairs, pair = np.unique(pair_of_entry, return_inverse=True)
        scores = np.zeros((len(pairs), size))
        scores[pair, X.indices % size] = X.data
        labels = y.reshape(-1, size)[pairs % n_rows]
        for keys in (-scores, scores):
            order = np.argsort(keys, axis=1, kind="stable")
            dcg = np.take_along_axis(labels, order, axis=1) @ discount
            np.bincount(pairs // n_rows, dcg, n_columns)

    return partial(_selector("ndcg@10").fit, X, y, qid), by_entry


# ------------------------------------------------------------- comparisons of systems


def _systems(n_systems: int, n_queries: int = 1000) -> dict[str, Any]:
    """Return labels, scores and query ids of systems."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 5 * n_queries)
    scores = rng.integers(0, 5, (len(labels), n_systems)) + 0.1 * labels[:, None]
    qid = np.repeat(range(n_queries), 5)
    return {"y_true": labels, "y_score": scores, "qid": qid}


def _ndcg_values(rows: dict[str, Any]) -> FloatArray:
    """Return NDCG@10 of each query and system."""
    result = ta.compare_systems(**rows, correction=None)
    return result.expected


def _randomization_pair(n_systems: int, n_queries: int) -> Pair:
    rows = _systems(n_systems, n_queries)
    values = _ndcg_values(rows)
    first, second = np.triu_indices(n_systems, k=1)
    differences = values[:, first] - values[:, second]

    def random_signs() -> None:
        rng = np.random.default_rng(0)
        for _ in range(10):
            signs = rng.integers(0, 2, (1000, n_queries)) * 2.0 - 1
            (signs @ differences).mean()

    return partial(ta.compare_systems, **rows, test="randomization"), random_signs


@cliff("randomization test, 10 systems", "x random signs by NumPy", 3)
def randomization_of_many_systems() -> Pair:
    return _randomization_pair(10, 1000)


@cliff("randomization test, 20,000 queries", "x random signs by NumPy", 3)
def randomization_of_many_queries() -> Pair:
    return _randomization_pair(2, 20_000)


@cliff("precision study, randomization test", "x compare_systems, 2 levels", 1.5)
def randomization_in_a_study() -> Pair:
    rows = _systems(10)
    rows["test"] = "randomization"

    def compare_twice() -> None:
        for _ in range(2):
            ta.compare_systems(**rows)

    return partial(ta.precision_study, **rows, coarseness="rho=2"), compare_twice


@cliff("medians of 10 systems", "x resampled medians by NumPy", 2)
def medians_of_systems() -> Pair:
    rows = _systems(10, 200)
    values = _ndcg_values(rows)

    def resample() -> None:
        rng = np.random.default_rng(0)
        chosen = rng.integers(0, 200, (9999, 200))
        for column in values.T:
            np.median(column[chosen], axis=1)

    return partial(ta.compare_systems, **rows, average="median"), resample


@cliff("t tests of 50 systems, 1,225 pairs", "x evaluate of each system", 16)
def many_pairs() -> Pair:
    rows = _systems(50)

    def evaluate_each() -> None:
        labels, scores, qid = rows.values()
        for column in scores.T:
            ta.evaluate(labels, column, qid=qid, measures="ndcg@10")

    return partial(ta.compare_systems, **rows), evaluate_each


# ------------------------------------------------- overlaps, correlations, judgments


def _neighbours(seed: int) -> tuple[IntArray, FloatArray]:
    """Return 100 ids out of 150, for each of 10,000 queries, and their distances."""
    rng = np.random.default_rng(seed)
    keys = rng.random((10_000, 150))
    ids = np.argsort(keys, axis=1)[:, :100]
    distances = np.sort(rng.random(ids.shape), axis=1)
    return ids, distances


def _intersect(first: Array, second: Array) -> None:
    """Intersect the ids of each row."""
    for row in zip(first, second, strict=True):
        np.intersect1d(*row)


@cliff("top_k_overlap, lists of 100 ids", "x numpy.intersect1d by row", 0.2)
def overlap_of_ids() -> Pair:
    true_ids, true_distances = _neighbours(0)
    ids, distances = _neighbours(1)
    overlap = partial(comparison.top_k_overlap, k=100, metric="distance")
    ours = partial(overlap, true_distances, distances, ids=(true_ids, ids))
    return ours, partial(_intersect, true_ids, ids)


@cliff("top_k_overlap, 10,000 x 100 scores", "x argsort and intersect1d", 0.2)
def overlap_of_scores() -> Pair:
    rng = np.random.default_rng(0)
    exact, scores = rng.random((2, 10_000, 100))

    def by_row() -> None:
        for rows in zip(exact, scores, strict=True):
            first, second = (np.argsort(-row)[:10] for row in rows)
            np.intersect1d(first, second)

    return partial(comparison.top_k_overlap, exact, scores, k=10), by_row


@cliff("rank_biased_overlap", "x a sort of each ranking", 5)
def biased_overlap() -> Pair:
    qid = np.repeat(np.arange(100), 1000)
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 50, (2, len(qid)))

    def sort_both() -> None:
        np.lexsort((first, qid))
        np.lexsort((second, qid))

    return partial(comparison.rank_biased_overlap, first, second, qid=qid), sort_both


# ------------------------------------------------------------------- the command


@cliff("tieaware --help", "x import numpy", 2)
def command_help() -> Pair:
    ours = _process("-m", "tieaware_sklearn", "--help")
    return ours, _process("-c", "import numpy")


def _process(*arguments: str) -> Task:
    command = [sys.executable, *arguments]
    return partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)


@cliff("tieaware compare, 17 runs", "x reading", 1.5)
def compare_runs() -> Pair:
    folder = _folder()
    qrels = trec_files.write_qrels(folder / "qrels", 10)
    runs = []
    for seed in range(17):
        run = trec_files.write_run(folder / f"{seed}", 10, seed)
        runs.append(run)
    table = folder / "out"
    arguments = ["compare", *map(str, [qrels, *runs]), f"--csv={table}"]

    def ours() -> None:
        output = io.StringIO()
        # Standard error receives warnings of few queries.
        with redirect_stdout(output), redirect_stderr(output):
            cli.main(arguments)

    options = {"topics": "both", "order": "trec_eval"}
    return ours, partial(datasets.load_trec, qrels, runs, **options)
