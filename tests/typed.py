"""What a user writes: all names at the top, for `test_typed.py` to check."""

from typing import assert_type

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import tieaware_sklearn as ta
from tieaware_sklearn.model_selection import RankingScorer

Floats = NDArray[np.float64]
y: Floats = np.array([1.0, 0, 0, 1, 0, 2, 0, 1] * 4)
qid: NDArray[np.int64] = np.repeat(np.arange(8), 4)
X: Floats = np.column_stack([np.arange(32.0) % 3, np.arange(32.0) % 5])
score: Floats = X[:, 0]
systems = {"one": score, "two": X[:, 1]}

assert_type(ta.ranking_score(y, score, qid=qid), float)
assert_type(ta.ranking_score(y, score, qid=qid, average=None), Floats)
measure = assert_type(ta.parse_measure("ndcg@10"), ta.Measure)
assert_type(ta.evaluate(y, score, qid=qid, measures="ap").expected, Floats)
frame = pd.DataFrame({"label": y, "qid": qid, "clicks": score})
assert_type(ta.evaluate_batches([frame], score="clicks"), ta.RankingReport)
prepared = ta.PreparedRanking(y, qid)
assert_type(prepared.score(score, measure), float)
assert_type(prepared.score(score, "ap", average=None), Floats)
assert_type(prepared.score_columns(X), Floats)
assert_type(ta.sampled(y, score, ta.ranking_score, qid=qid, n_orders=10).mean, float)
assert_type(ta.break_ties(score, -y, qid=qid), Floats)
assert_type(ta.tie_report(y, score, qid=qid).to_html(), str)
assert_type(ta.tie_treatments(y, score, qid=qid).to_html(), str)

assert_type(ta.compare_systems(y, systems, qid=qid).difference, Floats)
assert_type(ta.pvalues_over_orders(y, systems, qid=qid, n_orders=9).pvalues, Floats)
assert_type(ta.precision_study(y, systems, qid=qid).to_html(), str)

selector = ta.RankingFeatureSelector("ap", n_features_to_select=1)
assert_type(selector.fit(X, y, qid=qid), ta.RankingFeatureSelector)
assert_type(selector.screening_, ta.Screening)
ranker = ta.LinearRanker("equal").fit(X, y, qid=qid)
assert_type(ranker.predict(X), Floats)
folds = [
    ta.QueryKFold(2),
    ta.QueryShuffleSplit(2),
    ta.QueryTimeSeriesSplit(2, time="qid"),
]
n_train = [len(train) for cv in folds for train, _ in cv.split(X, y, qid)]
left, *_ = ta.train_test_split_queries(X, y, qid=qid)
assert_type(ta.make_ranking_scorer("ap"), RankingScorer)
assert_type(ta.make_ranking_scorer(["ap", "rr"]), dict[str, RankingScorer])
assert issubclass(ta.SplitQueriesWarning, UserWarning)
ta.show_versions()
