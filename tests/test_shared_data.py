"""Real learning-to-rank files, where they are at hand."""

import numpy as np
import pytest

from tieaware_sklearn import RankingFeatureSelector, evaluate
from tieaware_sklearn.datasets import load_letor

FILES = {
    "mslr": ("mslr/msn1.fold1.train.5k.txt.gz", (5000, 136), 43),
    "lambdarank train": ("lightgbm_lambdarank/rank.train", (3005, 300), 201),
    "lambdarank test": ("lightgbm_lambdarank/rank.test", (768, 300), 50),
    "mq2008": ("mq2008/S*.txt", (9630, 46), 471),
    "ohsumed": ("ohsumed/*.txt", (9029, 25), 64),
}


@pytest.mark.parametrize("name", FILES)
def test_loads_and_screens(shared_data, name):
    pattern, shape, n_queries = FILES[name]
    data = load_letor(sorted(shared_data.glob(pattern)))
    if name == "lambdarank test":
        assert data.data.shape[0] == shape[0]
    else:
        assert data.data.shape == shape
    assert len(np.unique(data.qid)) == n_queries
    selector = RankingFeatureSelector().fit(data.data, data.target, qid=data.qid)
    assert selector.n_queries_ == n_queries
    assert np.isfinite(selector.mean_).all()
    assert (selector.worst_ <= selector.mean_).all()
    assert (selector.mean_ <= selector.best_).all()
    assert 0 < selector.support_.sum() <= data.data.shape[1]
    constant = np.ptp(data.data, axis=0) == 0
    assert not selector.support_[constant].any()
    best = int(np.argmin(selector.ranking_))
    sign = 1 if selector.directions_[best] == "descending" else -1
    report = evaluate(data.target, sign * data.data[:, best], qid=data.qid)
    assert np.array_equal(report.summary().mean, selector.mean_[best])
