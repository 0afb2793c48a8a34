"""Digits as a retrieval task; the generated web search."""

import hashlib
from functools import partial

import numpy as np
import pytest

from tieaware_sklearn import RankingFeatureSelector, ranking_score, tie_report
from tieaware_sklearn.datasets import load_digits_retrieval, make_web_search


@pytest.mark.parametrize(
    "load",
    [
        partial(load_digits_retrieval, n_queries=5),
        partial(make_web_search, n_queries=40, n_noise=3, n_duplicates=3),
    ],
    ids=["digits", "web search"],
)
def test_all_forms_are_the_same_data(load):
    bunch = load()
    arrays = load(return_X_y_qid=True)
    frames = load(as_frame=True, return_X_y_qid=True)
    assert frames[0].columns.tolist() == bunch.feature_names
    for parts in (arrays, frames):
        for values, name in zip(parts, ("data", "target", "qid"), strict=True):
            assert np.array_equal(np.asarray(values), bunch[name])
    framed = load(as_frame=True)
    assert framed.data.columns.tolist() == bunch.feature_names


def test_digits_tie():
    digits = load_digits_retrieval(n_queries=5)
    y, qid = digits.target, digits.qid
    assert digits.data.shape == (5 * 1796, len(digits.feature_names))
    assert digits.data.dtype.kind == "i"
    assert set(y) == {0, 1}
    assert len(np.unique(qid)) == 5
    for name, column in zip(digits.feature_names, digits.data.T, strict=True):
        assert name in digits.DESCR
        report = tie_report(y, column, qid=qid)
        assert report.tied_documents > 0.5
    hamming = digits.data[:, digits.feature_names.index("hamming")]
    assert hamming.min() >= -64
    assert hamming.max() <= 0
    score = ranking_score(y, hamming, qid=qid)
    chance = ranking_score(y, np.zeros(len(y)), qid=qid)
    assert score > 5 * chance


def test_web_search_is_what_was_asked_for():
    web = make_web_search(n_queries=400, n_noise=3, n_duplicates=3, random_state=0)
    assert web.data.shape == (len(web.target), 6 + 3 + 3)
    sizes = np.bincount(web.qid)[1:]
    assert len(sizes) == 400
    assert 80 < sizes.mean() < 120
    assert sizes.std() > 20
    assert set(web.target) == {0, 1, 2, 3, 4}
    selector = RankingFeatureSelector(max_correlation=None)
    selector.fit(web.data, web.target, web.qid)
    directions = dict(zip(web.feature_names, selector.directions_, strict=True))
    assert directions["in_degree"] == "descending"
    assert directions["text_score"] == "descending"
    assert directions["url_length"] == "ascending"
    assert directions["n_slashes"] == "ascending"
    informative = [not name.startswith("noise") for name in web.feature_names]
    assert selector.support_.tolist() == informative
    for j, name in enumerate(("in_degree", "clicks", "page_visits")):
        copy = web.feature_names.index(f"log_{name}")
        assert np.array_equal(selector.mean_[j], selector.mean_[copy])


@pytest.mark.parametrize(
    ("options", "digest"),
    [
        ({}, "5999522f3814ca27"),
        (
            {
                "n_queries": 200,
                "n_duplicates": 3,
                "strength": 0.9,
                "tie_rate": 0.2,
                "shuffle": True,
                "random_state": 3,
            },
            "126f65180fcdec2d",
        ),
    ],
)
def test_the_bits_are_the_same_on_every_machine(options, digest):
    """Pages of the documentation print what follows from these data."""
    web = make_web_search(**options)
    hasher = hashlib.sha256()
    for part in (web.data, web.target, web.qid):
        hasher.update(np.asarray(part, dtype="<f8").tobytes())
    assert hasher.hexdigest()[:16] == digest


def clicks(**options):
    """Labels, scores and query ids of the clicks."""
    web = make_web_search(n_queries=200, random_state=1, **options)
    column = web.data[:, web.feature_names.index("clicks")]
    return web.target, column, web.qid


def test_more_strength_makes_clicks_rank_better():
    values = []
    for strength in (0, 0.5, 1):
        y, scores, qid = clicks(strength=strength)
        values.append(ranking_score(y, scores, qid=qid))
    assert values[0] < values[1] < values[2]


def test_a_higher_tie_rate_makes_more_ties():
    shares = []
    for tie_rate in (0.1, 0.6, 0.95):
        y, scores, qid = clicks(tie_rate=tie_rate)
        report = tie_report(y, scores, qid=qid)
        shares.append(report.tied_documents)
    assert shares[0] < shares[1] < shares[2]


REFUSED = [
    (make_web_search, {"n_queries": 0}, "n_queries must be >= 1, got 0"),
    (make_web_search, {"n_documents": 0}, "n_documents must be >= 1, got 0"),
    (make_web_search, {"strength": 1.1}, r"strength must be in \[0, 1\], got 1.1"),
    (make_web_search, {"tie_rate": 1}, r"tie_rate must be in \[0, 1\), got 1"),
    (make_web_search, {"n_noise": -1}, "n_noise must be >= 0, got -1"),
    (make_web_search, {"n_duplicates": 4}, "n_duplicates must be <= 3, got 4"),
    (load_digits_retrieval, {"n_queries": 1798}, "n_queries .* 1 to 1797, got 1798"),
]


@pytest.mark.parametrize(("make", "options", "message"), REFUSED)
def test_sizes_and_shares_that_are_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)
