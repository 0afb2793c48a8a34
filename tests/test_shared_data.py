"""Real learning-to-rank files, where they are at hand."""

import json

import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from sklearn.base import clone

from tieaware_sklearn import RankingFeatureSelector, evaluate, precision_study
from tieaware_sklearn.cli import main
from tieaware_sklearn.dask import fit_selector
from tieaware_sklearn.datasets import dump_letor, load_letor, load_trec
from tieaware_sklearn.score_precision import worst_case_loss

FILES = {
    "mslr": ("mslr/msn1.fold1.train.5k.txt.gz", (5000, 136), 43),
    "lambdarank train": ("lightgbm_lambdarank/rank.train", (3005, 300), 201),
    "lambdarank test": ("lightgbm_lambdarank/rank.test", (768, 300), 50),
    "mq2008": ("mq2008/S*.txt", (9630, 46), 471),
    "ohsumed": ("ohsumed/*.txt", (9029, 25), 64),
}


def test_of_features_given_three_ways_distinct_ones_are_chosen(
    shared_data, tmp_path, capsys
):
    data = load_letor(shared_data / FILES["mslr"][0])
    X = np.hstack([data.data, 2 * data.data + 1, -data.data])
    y, qid = data.target, data.qid
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    parts = [qid % 2 == 0, qid % 2 == 1]
    for path, rows in zip(files, parts, strict=True):
        dump_letor(X[rows], y[rows], path, qid=qid[rows])
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(label=y, qid=qid)
    spread = dd.from_pandas(frame, npartitions=3)
    selector = RankingFeatureSelector("ndcg@10", n_features_to_select=20)
    order = clone(selector).fit(X, y, qid=qid).selection_order_
    assert len(set(order % data.data.shape[1])) == 20
    added, fits = clone(selector), []
    for rows in parts:
        added.partial_fit(X[rows], y[rows], qid[rows])
        fits.append(clone(selector).fit(X[rows], y[rows], qid[rows]))
    for other in (added, fits[0].merge(fits[1]), fit_selector(selector, spread)):
        assert other.selection_order_.tolist() == order.tolist()
    words = ["screen", *map(str, files), "--measures", "ndcg@10", "--json", "--quiet"]
    for batches in ([], ["--batch-rows", "1000"]):
        assert main([*words, "--select", "20", *batches]) == 0
        selected = json.loads(capsys.readouterr().out)["selected"]
        assert selected == [str(j + 1) for j in order]


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


@pytest.mark.parametrize("run", ["MU03rob01", "humR03dc", "InexpC2"])
def test_bands_of_runs_lose_no_more_than_the_bound(shared_data, run):
    folder = shared_data / "robust03"
    trec = load_trec(folder / "qrels.robust03.txt.gz", folder / f"input.{run}.gz")
    study = precision_study(
        trec.target,
        trec.score,
        qid=trec.qid,
        measure="rbp(p=0.5)",
        coarseness="rho=1.1",
        unjudged="nonrelevant",
        existing_ties="order",
    )
    assert 0 < study.changes().max() <= worst_case_loss("rbp(p=0.5)", 1.1) < 0.0002
