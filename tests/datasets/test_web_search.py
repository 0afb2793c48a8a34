"""The generated web search."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from tieaware_sklearn import RankingFeatureSelector, ranking_score, tie_report
from tieaware_sklearn.datasets import make_web_search


def test_web_search_is_what_was_asked_for():
    web = make_web_search(n_queries=400, n_noise=3, n_duplicates=3, random_state=0)
    assert web.data.shape == (len(web.target), 6 + 3 + 3)
    assert len(web.feature_names) == 12
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
    # the same again, unless asked otherwise
    options = {"n_queries": 400, "n_noise": 3, "n_duplicates": 3}
    X, y, qid = make_web_search(**options, as_frame=True, return_X_y_qid=True)
    assert X.columns.tolist() == web.feature_names
    assert np.array_equal(X.to_numpy(), web.data)
    assert np.array_equal(y, web.target)
    assert np.array_equal(qid, web.qid)


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
    _, _, qid = make_web_search(9, shuffle=True, random_state=2, return_X_y_qid=True)
    assert (np.diff(qid) < 0).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_queries": 0}, "n_queries must be >= 1, got 0"),
        ({"n_documents": 0}, "n_documents must be >= 1, got 0"),
        ({"strength": 1.1}, r"strength must be in \[0, 1\], got 1.1"),
        ({"tie_rate": 1}, r"tie_rate must be in \[0, 1\), got 1"),
        ({"n_noise": -1}, "n_noise must be >= 0, got -1"),
        ({"n_duplicates": 4}, "n_duplicates must be <= 3, got 4"),
    ],
)
def test_web_search_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        make_web_search(**options)
