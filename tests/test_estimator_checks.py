"""scikit-learn's own checks of our estimators, with metadata routing off and on.

Those of XGBoost and CatBoost stand beside the other tests of these libraries.
"""

from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tests import estimator_checks
from tests.estimator_checks import (
    BOOSTER,
    DICT_IDS,
    ONLY_IDS,
    ZERO_WEIGHTS,
    Checked,
    all_of,
)
from tieaware_sklearn import LinearRanker, RankingFeatureSelector
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.score_precision import CoarseRanker

QID = DICT_IDS | {
    "check_estimators_nan_inf": "puts inf into the column of ids only, an id"
}
SCORED_WITHOUT_QID = all_of(
    "calls score without the query ids that it needs",
    *("fit_score_takes_y", "n_features_in_after_fitting", "pipeline_consistency"),
)
SECOND_FIT = {
    "check_fit_score_takes_y": "gives partial_fit the queries of fit again: refused"
}
#: where each row is a query
NOTHING_VARIES = ("no feature is selected: each feature is constant",)
ONE_QUERY = ("without qid", "p-values need at least two")
LIGHTGBM = {
    "check_no_attributes_set_in_init": "LightGBM keeps **kwargs as attributes",
    ZERO_WEIGHTS: "LightGBM trains on weights of 0",
    "check_complex_data": "y is refused first",
}
LIGHTGBM_RANKER = QueryLGBMRanker(qid=0, objective="regression", verbosity=-1, n_jobs=1)


def coarse(model, level, **options):
    fails = {**QID, **ONLY_IDS} if options else SCORED_WITHOUT_QID
    return Checked(CoarseRanker(model, level, **options), fails)


def linear(*weights, **options):
    fails = QID if "qid" in options else SCORED_WITHOUT_QID
    return Checked(LinearRanker(*weights, **options), fails)


TABLE = {
    "selector": Checked(RankingFeatureSelector(), warns=ONE_QUERY),
    "selector, NaN last": Checked(
        RankingFeatureSelector(missing="last"), warns=ONE_QUERY
    ),
    "selector, qid=0": Checked(
        RankingFeatureSelector(qid=0), QID | SECOND_FIT, NOTHING_VARIES
    ),
    "linear, equal": linear("equal"),
    "linear, log1p": linear("equal", transforms="log1p"),
    "linear, rank": linear("equal", transforms="rank"),
    "linear, tuned": linear(qid=0, max_iter=2),
    "linear, held out": linear(qid=0, max_iter=2, validation_fraction=0.5),
    "coarse, exact": coarse(LinearRegression(), None),
    "coarse, float16": coarse(Ridge(), "bits=float16"),
    "coarse, levels": coarse(DecisionTreeRegressor(random_state=0), "levels=8"),
    "coarse, pipeline": coarse(make_pipeline(StandardScaler(), Ridge()), "decimals=2"),
    "coarse, linear": coarse(LinearRanker("equal"), "significant=3"),
    "coarse, qid=0": coarse(LinearRegression(), "rho=1.5", qid=0),
    "lightgbm, qid=0": Checked(
        LIGHTGBM_RANKER,
        DICT_IDS | BOOSTER | LIGHTGBM,
        ("Converting data to scipy sparse",),
    ),
}


@estimator_checks.parametrize(TABLE)
def test_scikit_learns_checks(estimator, check, routing):
    estimator_checks.run(TABLE, estimator, check, routing)


def test_the_html_of_an_estimator_links_to_its_page_of_the_reference():
    estimator_checks.assert_html_links_to_the_reference(TABLE)
