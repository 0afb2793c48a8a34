"""scikit-learn's own checks of QueryXGBRanker, with routing off and on."""

from tests import estimator_checks
from tests.estimator_checks import BOOSTER, ZERO_WEIGHTS, Checked
from tieaware_sklearn.xgboost import QueryXGBRanker

XGBOOST = {
    ZERO_WEIGHTS: "the message says 0, not zero",
    "check_sample_weights_not_overwritten": "gives rows of one query other weights",
}
RANKER = QueryXGBRanker(qid=0, objective="rank:pairwise", n_estimators=4, n_jobs=1)
TABLE = {"xgboost, qid=0": Checked(RANKER, BOOSTER | XGBOOST)}


@estimator_checks.parametrize(TABLE)
def test_scikit_learns_checks(estimator, check, routing):
    estimator_checks.run(TABLE, estimator, check, routing)


def test_the_html_of_an_estimator_links_to_its_page_of_the_reference():
    estimator_checks.assert_html_links_to_the_reference(TABLE)
