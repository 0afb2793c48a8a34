"""Digits as a retrieval task; the generated web search."""

import hashlib
from functools import partial

import numpy as np
import pytest

from tieaware_sklearn import RankingFeatureSelector, ranking_score, tie_report
from tieaware_sklearn.datasets import load_digits_retrieval, make_web_search


@pytest.mark.parametrize("load", [
    partial(load_digits_retrieval, n_queries=5),
    partial(make_web_search, n_queries=40, n_noise=3, n_duplicates=3),
])  # fmt: skip
def test_all_forms_are_the_same_data(load):
    whole = load()
    framed = load(as_frame=True, return_X_y_qid=True)
    assert framed[0].columns.tolist() == whole.feature_names
    for found in (load(return_X_y_qid=True), framed):
        for values, name in zip(found, ("data", "target", "qid"), strict=True):
            assert np.array_equal(np.asarray(values), whole[name])
    assert load(as_frame=True).data.columns.tolist() == whole.feature_names


def test_digits_tie():
    digits = load_digits_retrieval(n_queries=5)
    assert digits.data.shape == (5 * 1796, len(digits.feature_names))
    assert digits.data.dtype.kind == "i"
    assert set(digits.target) == {0, 1}
    assert len(np.unique(digits.qid)) == 5
    for name, column in zip(digits.feature_names, digits.data.T, strict=True):
        assert name in digits.DESCR
        assert tie_report(digits.target, column, qid=digits.qid).tied_documents > 0.5
    hamming = digits.data[:, digits.feature_names.index("hamming")]
    assert -64 <= hamming.min() <= hamming.max() <= 0
    score = ranking_score(digits.target, hamming, qid=digits.qid)
    assert score > 5 * ranking_score(digits.target, hamming * 0, qid=digits.qid)


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
    by_name = dict(zip(web.feature_names, selector.directions_, strict=True))
    assert by_name["in_degree"] == by_name["text_score"] == "descending"
    assert by_name["url_length"] == by_name["n_slashes"] == "ascending"
    noise = [name.startswith("noise") for name in web.feature_names]
    assert selector.support_.tolist() == [not is_noise for is_noise in noise]
    for j, name in enumerate(("in_degree", "clicks", "page_visits")):
        copy = web.feature_names.index(f"log_{name}")
        assert np.array_equal(selector.mean_[j], selector.mean_[copy])


def test_the_bits_are_those_of_every_machine():
    """Pages print what follows from these data."""

    def digest(**options):
        X, *rest = make_web_search(**options, return_X_y_qid=True)
        parts = [np.asarray(part, dtype="<f8").tobytes() for part in (X, *rest)]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:16]

    assert digest() == "5999522f3814ca27"
    options = {"strength": 0.9, "tie_rate": 0.2, "shuffle": True, "random_state": 3}
    assert digest(n_queries=200, n_duplicates=3, **options) == "126f65180fcdec2d"


def test_web_search_strength_and_ties():
    def clicks(**options):
        web = make_web_search(n_queries=200, random_state=1, **options)
        column = web.data[:, web.feature_names.index("clicks")]
        ties = tie_report(web.target, column, qid=web.qid)
        return ranking_score(web.target, column, qid=web.qid), ties.tied_documents

    values = [clicks(strength=strength)[0] for strength in (0, 0.5, 1)]
    assert values[0] < values[1] < values[2]
    shares = [clicks(tie_rate=tie_rate)[1] for tie_rate in (0.1, 0.6, 0.95)]
    assert shares[0] < shares[1] < shares[2]


REFUSED = [
    (make_web_search, {"n_queries": 0}, "n_queries must be >= 1, got 0"),
    (make_web_search, {"n_documents": 0}, "n_documents must be >= 1, got 0"),
    (make_web_search, {"strength": 1.1}, r"strength must be in \[0, 1\], got 1.1"),
    (make_web_search, {"tie_rate": 1}, r"tie_rate must be in \[0, 1\), got 1"),
    (make_web_search, {"n_noise": -1}, "n_noise must be >= 0, got -1"),
    (make_web_search, {"n_duplicates": 4}, "n_duplicates must be <= 3, got 4"),
    (load_digits_retrieval, {"n_queries": 1798}, "n_queries .* 1..1797, got 1798"),
]


@pytest.mark.parametrize(("make", "options", "message"), REFUSED)
def test_sizes_and_shares_that_are_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)
