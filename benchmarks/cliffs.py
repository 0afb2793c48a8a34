"""Realistic shapes that once cost many times what they should, each with its goal.

A row is a function that makes two tasks, ours and what it is held against; `rows` times
them in turns. Rows stand in the order of the rooms of the library.
"""

from __future__ import annotations

import atexit
import io
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

import tieaware_sklearn as ta
from benchmarks import trec_files
from benchmarks.timing import Task, medians
from tieaware_sklearn import (
    RankingFeatureSelector,
    compare_systems,
    evaluate,
    precision_study,
    ranking_score,
)
from tieaware_sklearn._engine import checks, exact_numbers
from tieaware_sklearn.cli import main
from tieaware_sklearn.comparison import rank_biased_overlap, top_k_overlap
from tieaware_sklearn.datasets import load_letor, load_run, load_trec
from tieaware_sklearn.evaluation import precision_recall_curve

FloatArray = NDArray[np.float64]
IntArray = NDArray[Any]

FloatArray = NDArray[np.float64]
#: ours, and what it is held against
Pair = tuple[Task, Task]


class Row(NamedTuple):
    """Tasks to be made, what the ratio is called, and the most it should be."""

    task: str
    unit: str
    goal: float
    make: Callable[[], Pair]


ROWS: list[Row] = []


def cliff(task: str, unit: str, goal: float) -> Callable[[Callable[[], Pair]], object]:
    """Enters a function that makes the two tasks among the rows."""

    def enter(make: Callable[[], Pair]) -> Callable[[], Pair]:
        ROWS.append(Row(task, unit, goal, make))
        return make

    return enter


def rows(repeats: int) -> Iterator[tuple[Row, float]]:
    """Each row with its ratio."""
    for row in ROWS:
        ours, base = row.make()
        times = medians({"ours": ours, "base": base}, repeats)
        yield row, times["ours"] / times["base"]


# ------------------------------------------------------------------ ids, rows, files


def _ids(shuffled: bool) -> np.ndarray:
    """Numbers of 20,000 queries for a million rows."""
    queries = np.random.default_rng(0).integers(0, 20_000, 1_000_000)
    return queries if shuffled else np.sort(queries)


def _texts(shuffled: bool) -> np.ndarray:
    """UUIDs of these queries, a text of its own in each row."""
    names = [str(uuid.UUID(int=i * 0x9E3779B97F4A7C15F39CC060)) for i in range(20_000)]
    return np.array(names)[_ids(shuffled)].astype(object)


def _gather(ids: Any, plain: np.ndarray) -> Pair:
    """Rows gathered into queries, against codes by pandas."""
    base = pd.Series(plain, dtype=plain.dtype)
    n_rows = len(plain)
    return lambda: checks.check_qid(ids, n_rows=n_rows), base.factorize


@cliff("ids of text, sorted", "x pandas' factorize", 1)
def _() -> Pair:
    texts = _texts(shuffled=False)
    return _gather(texts, texts)


@cliff("ids of text in Arrow, sorted", "x pandas' factorize of objects", 0.8)
def _() -> Pair:
    texts = _texts(shuffled=False)
    return _gather(pa.array(texts), texts)


@cliff("ids that are categories, sorted", "x pandas' factorize of objects", 0.5)
def _() -> Pair:
    texts = _texts(shuffled=False)
    return _gather(pd.Series(texts, dtype="category"), texts)


@cliff("ids of text, shuffled", "x pandas' factorize", 1.5)
def _() -> Pair:
    texts = _texts(shuffled=True)
    return _gather(texts, texts)


@cliff("integer ids, shuffled", "x pandas' factorize", 5)
def _() -> Pair:
    ids = _ids(shuffled=True)
    return _gather(ids, ids)


@cliff("ids that are zoned times, shuffled", "x pandas' factorize of integers", 10)
def _() -> Pair:
    ids = _ids(shuffled=True)
    return _gather(pd.Series(pd.to_datetime(ids, unit="s", utc=True)), ids)


@cliff("numbers that are Decimals", "x float of each", 5)
def _() -> Pair:
    numbers = [Decimal(i).scaleb(-3) for i in range(100_000)]
    given = np.array(numbers)
    read = exact_numbers.numbers_of
    return lambda: read(given, "y_score"), lambda: [*map(float, numbers)]


@cliff("break_ties by numbers", "x lexsort", 5)
def _() -> Pair:
    key = np.random.default_rng(0).permutation(300_000)
    score, qid = (key % 20).astype(float), np.arange(len(key)) // 100
    ours = partial(ta.break_ties, score, key, qid=qid)
    return ours, lambda: np.lexsort((key, score, qid))


def _file(text: str) -> str:
    path = tempfile.mkstemp()[1]
    atexit.register(os.remove, path)
    Path(path).write_text(text)
    return path


@cliff("load_run", "x pandas' read_csv", 3)
def _() -> Pair:
    lines = (
        f"{300 + i // 1000} Q0 FBIS3-{i:09d} {i % 1000 + 1} {1 / (i + 1):.6f} tag\n"
        for i in range(200_000)
    )
    path = _file("".join(lines))
    return lambda: load_run(path), lambda: pd.read_csv(path, sep=r"\s+", header=None)


@cliff("LETOR, 17 digits and exponents", "x 6 decimals", 2.2)
def _() -> Pair:
    X = np.random.default_rng(0).random((4000, 50))
    paths = []
    for numbers, spelled in ((X * 1e-7, repr), (X, "{:.6f}".format)):
        rows = (enumerate(map(spelled, row), start=1) for row in numbers.tolist())
        lines = (" ".join(f"{j}:{x}" for j, x in row) for row in rows)
        paths.append(_file("".join(f"1 qid:1 {line}\n" for line in lines)))
    return lambda: load_letor(paths[0]), lambda: load_letor(paths[1])


# ---------------------------------------------------------------------- measures


def _lists(
    n_queries: int, n: int, n_scores: int | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Labels 0 to 4, scores (all of them different for None) and ids."""
    rng, size = np.random.default_rng(0), n_queries * n
    y = rng.choice(np.arange(5.0), size, p=[0.6, 0.15, 0.1, 0.1, 0.05])
    scores = rng.normal(size=size)
    if n_scores is not None:
        scores = rng.integers(0, n_scores, size).astype(float)
    return y, scores, np.repeat(np.arange(n_queries), n)


def _err(y: FloatArray, scores: FloatArray) -> FloatArray:
    """ERR of lists in the rows of a matrix, by NumPy, without ties."""
    stops = (2 ** np.take_along_axis(y, (-scores).argsort(axis=1), axis=1) - 1) / 16
    reached = np.cumprod(1 - stops, axis=1)
    reached = np.insert(reached[:, :-1], 0, 1.0, axis=1)
    return (reached * stops / np.arange(1, y.shape[1] + 1)).sum(axis=1)


def _of_err(n_scores: int | None) -> Pair:
    y, scores, qid = _lists(300, 100, n_scores)
    rows = y.reshape(300, 100), scores.reshape(300, 100)
    return lambda: evaluate(y, scores, qid=qid, measures="err"), lambda: _err(*rows)


@cliff("ERR, lists of 100", "x NumPy", 10)
def _err_of_lists() -> Pair:
    return _of_err(None)


@cliff("ERR, lists of 100, 10 scores", "x NumPy", 10)
def _err_of_ties() -> Pair:
    return _of_err(10)


def _of_precisions(n_scores: int | None, compute: Callable[..., object]) -> Pair:
    y, scores, qid = _lists(200, 100, n_scores)
    relevant = [np.flatnonzero(of >= 1) for of in y.reshape(200, 100)]

    def one_by_one() -> list[float]:
        """Interpolated precision of each list, by NumPy, without ties."""
        found = []
        for of, its in zip(scores.reshape(200, 100), relevant, strict=True):
            place = np.empty(100)
            place[(-of).argsort()] = np.arange(1, 101)
            precision = np.arange(1, len(its) + 1) / np.sort(place[its])
            from_here = np.maximum.accumulate(precision[::-1])[::-1]
            levels = np.ceil(np.arange(11) * len(its) / 10).astype(int)
            found.append(from_here[np.maximum(levels - 1, 0)].mean())
        return found

    return lambda: compute(y, scores, qid=qid), one_by_one


@cliff("IPrec@0.3, lists of 100, 10 scores", "x NumPy by list", 8)
def _precisions() -> Pair:
    return _of_precisions(10, partial(evaluate, measures="iprec@0.3"))


@cliff("IAP, lists of 100", "x NumPy by list", 8)
def _average() -> Pair:
    return _of_precisions(None, partial(evaluate, measures="iap"))


@cliff("curve, lists of 100, 10 scores", "x NumPy by list", 8)
def _curve() -> Pair:
    return _of_precisions(10, precision_recall_curve)


@cliff("NDCG@10, 10^6 labels that differ", "x whole labels", 3)
def _fractions() -> Pair:
    y, scores, qid = _lists(10_000, 100, None)
    labels = 4 * np.random.default_rng(1).random(len(y))
    many, few = (partial(ranking_score, of, scores, qid=qid) for of in (labels, y))
    return many, few


# ------------------------------------------------------- selector, features, inspection


@cliff("selector, n_jobs=2, small data", "x one job", 1.3)
def few_features_in_threads() -> Pair:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 10)), rng.integers(0, 3, 1000)
    one, two = (RankingFeatureSelector(n_jobs=n_jobs) for n_jobs in (None, 2))
    data = {"X": X, "y": y, "qid": np.repeat(np.arange(100), 10)}
    return partial(two.fit, **data), partial(one.fit, **data)


@cliff("selector, RR, several relevant", "x AP", 1.5)
def variance_of_rr() -> Pair:
    rng = np.random.default_rng(0)
    X, y = rng.random((10_000, 20)) < 0.3, rng.random(10_000) < 0.3
    rr, ap = (
        RankingFeatureSelector(one, redundancy=False, max_correlation=None)
        for one in ("rr", "ap")
    )
    data = {"X": X * 1.0, "y": y, "qid": np.repeat(np.arange(100), 100)}
    return partial(rr.fit, **data), partial(ap.fit, **data)


@cliff("selector, sparse X, NDCG@10", "x NDCG of its entries", 1)
def sparse_features() -> Pair:
    # the goal is 100 ns an entry, and 1 ns a column and query
    rng = np.random.default_rng(0)
    n_rows, n_columns, size = 10_000, 10_000, 10
    X = sp.random_array((n_rows, n_columns), density=1e-3, format="csc", rng=rng)
    y, qid = rng.integers(0, 3, n_rows), np.arange(n_rows) // size
    discount = 1 / np.log2(np.arange(2, size + 2))
    selector = RankingFeatureSelector("ndcg@10", redundancy=False, max_correlation=None)

    def by_entry() -> None:
        """DCG of each column in each query with an entry of it, both ways."""
        column = np.repeat(np.arange(n_columns), np.diff(X.indptr))
        pairs, pair = np.unique(column * n_rows + qid[X.indices], return_inverse=True)
        scores = np.zeros((len(pairs), size))
        scores[pair, X.indices % size] = X.data
        labels = y.reshape(-1, size)[pairs % n_rows]
        for way in (1, -1):
            order = np.argsort(-way * scores, axis=1, kind="stable")
            dcg = np.take_along_axis(labels, order, axis=1) @ discount
            np.bincount(pairs // n_rows, dcg, n_columns)

    return partial(selector.fit, X, y, qid=qid), by_entry


# ------------------------------------------------------------- comparisons of systems


def _systems(
    n_systems: int, n_queries: int = 1000
) -> tuple[dict[str, Any], FloatArray]:
    """Labels, scores and query ids of systems, and the values of queries by NDCG@10."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 5 * n_queries)
    scores = rng.integers(0, 5, (len(labels), n_systems)) + 0.1 * labels[:, None]
    qid = np.repeat(range(n_queries), 5)
    rows = {"y_true": labels, "y_score": scores, "qid": qid}
    return rows, compare_systems(**rows, correction=None).expected


def _differences(values: FloatArray) -> FloatArray:
    a, b = np.triu_indices(values.shape[1], k=1)
    return values[:, a] - values[:, b]


def _random_signs(differences: FloatArray) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        signs = rng.integers(0, 2, (1000, len(differences))) * 2.0 - 1
        (signs @ differences).mean()


@cliff("randomization test, 10 systems", "x random signs by NumPy", 3)
def randomization() -> Pair:
    rows, values = _systems(10)
    apart = _differences(values)
    return (
        lambda: compare_systems(**rows, test="randomization"),
        lambda: _random_signs(apart),
    )


@cliff("randomization test, 20,000 queries", "x random signs by NumPy", 3)
def randomization_of_many_queries() -> Pair:
    rows, values = _systems(2, 20_000)
    apart = _differences(values)
    return (
        lambda: compare_systems(**rows, test="randomization"),
        lambda: _random_signs(apart),
    )


@cliff("precision study, randomization test", "x compare_systems, 2 levels", 1.5)
def randomization_in_a_study() -> Pair:
    rows, _ = _systems(10)

    def compared() -> None:
        for _ in range(2):
            compare_systems(**rows, test="randomization")

    return (
        lambda: precision_study(**rows, test="randomization", coarseness="rho=2"),
        compared,
    )


@cliff("medians of 10 systems", "x resampled medians by NumPy", 2)
def medians_of_systems() -> Pair:
    rows, values = _systems(10, 200)

    def resampled() -> None:
        chosen = np.random.default_rng(0).integers(0, 200, (9999, 200))
        for column in values.T:
            np.median(column[chosen], axis=1)

    return lambda: compare_systems(**rows, average="median"), resampled


@cliff("t tests of 50 systems, 1,225 pairs", "x evaluate of each system", 16)
def many_pairs() -> Pair:
    rows, _ = _systems(50)

    def evaluated() -> None:
        for column in rows["y_score"].T:
            evaluate(rows["y_true"], column, qid=rows["qid"], measures="ndcg@10")

    return lambda: compare_systems(**rows), evaluated


# ------------------------------------------------- overlaps, correlations, judgments


def _neighbours(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids of 100 of 150 documents, for each of 10,000 queries, and their distances."""
    rng = np.random.default_rng(seed)
    ids = np.argsort(rng.random((10_000, 150)), axis=1)[:, :100]
    return ids, np.sort(rng.random(ids.shape), axis=1)


@cliff("top_k_overlap, lists of 100 ids", "x numpy.intersect1d by row", 0.2)
def _of_ids() -> Pair:
    (true, exact), (found, distances) = _neighbours(0), _neighbours(1)
    return (
        lambda: top_k_overlap(
            exact, distances, ids=(true, found), k=100, metric="distance"
        ),
        lambda: [len(np.intersect1d(*row)) for row in zip(true, found, strict=True)],
    )


@cliff("top_k_overlap, 10,000 x 100 scores", "x argsort and intersect1d", 0.2)
def _of_scores() -> Pair:
    exact, scores = np.random.default_rng(0).random((2, 10_000, 100))

    def by_row() -> list[int]:
        tops = ((np.argsort(-row)[:10] for row in side) for side in (exact, scores))
        return [len(np.intersect1d(*row)) for row in zip(*tops, strict=True)]

    return lambda: top_k_overlap(exact, scores, k=10), by_row


@cliff("rank_biased_overlap", "x a sort of each ranking", 5)
def _of_two() -> Pair:
    qid = np.repeat(np.arange(100), 1000)
    first, second = np.random.default_rng(0).integers(0, 50, (2, len(qid)))
    return (
        lambda: rank_biased_overlap(first, second, qid=qid),
        lambda: [np.lexsort((scores, qid)) for scores in (first, second)],
    )


# ------------------------------------------------------------------- the command


@cliff("tieaware --help", "x import numpy", 2)
def _help() -> Pair:
    words = [sys.executable, "-m", "tieaware_sklearn", "--help"]
    return _process(words), _process([sys.executable, "-c", "import numpy"])


def _process(words: list[str]) -> Task:
    return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


@cliff("tieaware compare, 17 runs", "x reading", 1.5)
def _compare_runs() -> Pair:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    qrels = trec_files.write_qrels(folder / "qrels", 10)
    runs = [trec_files.write_run(folder / f"{k}", 10, seed=k) for k in range(17)]
    words = ["compare", *map(str, [qrels, *runs]), f"--csv={folder / 'out'}"]

    def ours() -> None:
        nowhere = io.StringIO()
        # errors are warnings of few queries
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            main(words)

    return ours, lambda: load_trec(qrels, runs, topics="both", order="trec_eval")
