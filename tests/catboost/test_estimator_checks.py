"""scikit-learn's own checks of QueryCatBoostRanker, with routing off and on."""

from importlib.metadata import version

import pytest

from tests import estimator_checks
from tests.estimator_checks import BOOSTER, DICT_IDS, ZERO_WEIGHTS, Checked, all_of
from tieaware_sklearn.catboost import QueryCatBoostRanker

CATBOOST = {
    ZERO_WEIGHTS: "CatBoost's message says 0, not zero",
    "check_complex_data": "y is refused first",
    "check_fit2d_1sample": "CatBoost says that all features are constant",
}
CATBOOST_ROWS = all_of(
    "CatBoost bins and samples rows, not weights",
    *(f"sample_weight_equivalence_on_{x}_data" for x in ("dense", "sparse")),
)
#: ids of the checks are those of other data, too
SAME_IDS = ("qid contains ids that had other numbers of rows",)


def ranker(**options):
    options |= {"qid": 0, "iterations": 4, "thread_count": 1, "verbose": False}
    return QueryCatBoostRanker(**options, allow_writing_files=False)


TABLE = {
    "catboost, qid=0": Checked(ranker(), DICT_IDS | BOOSTER | CATBOOST, SAME_IDS),
    "catboost, RMSE": Checked(
        ranker(loss_function="RMSE"),
        DICT_IDS | BOOSTER | CATBOOST | CATBOOST_ROWS,
        (*SAME_IDS, "Regression loss"),
    ),
}


# once in a few runs, in Pool._init of check_estimator_sparse_array
@pytest.mark.skipif(
    version("catboost") == "1.2.8", reason="CatBoost 1.2.8 may crash on sparse matrices"
)
@estimator_checks.parametrize(TABLE)
def test_scikit_learns_checks(estimator, check, routing):
    estimator_checks.run(TABLE, estimator, check, routing)


def test_the_html_of_an_estimator_links_to_its_page_of_the_reference():
    estimator_checks.assert_html_links_to_the_reference(TABLE)
