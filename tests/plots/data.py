"""Systems and results, and a display of each kind."""

from functools import partial

import numpy as np
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.tree import DecisionTreeRegressor

import tieaware_sklearn as ta
from tieaware_sklearn import plots
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=2)
Y, QID = WEB.target, WEB.qid
FEW = QID <= 4
SYSTEMS = {name: WEB.data[:, j] for j, name in enumerate(WEB.feature_names[:6])}
FEW_SYSTEMS = {name: scores[FEW] for name, scores in SYSTEMS.items()}
STUDY = ta.precision_study(
    Y, SYSTEMS, qid=QID, coarseness=["rho=1.2", "levels=4", "rho=3"]
)
SELECTOR = ta.RankingFeatureSelector("ap").fit(WEB.data, Y, qid=QID)
TREE = DecisionTreeRegressor(max_depth=4, random_state=0)
X_QID = np.column_stack([QID, WEB.data])
CV = ta.QueryKFold(4, qid=0)
FOLD_SCORES = cross_validate(
    TREE,
    X_QID,
    Y,
    cv=CV,
    scoring=ta.make_ranking_scorer(["ndcg@10", "fallout@10"], qid=0),
    return_train_score=True,
    return_estimator=True,
    return_indices=True,
)
PREDICTIONS = cross_val_predict(TREE, X_QID, Y, cv=CV)
HELD_OUT = ta.evaluate(Y, PREDICTIONS, qid=QID, measures=["fallout@10", "ndcg@10"])
#: functions that draw a display of each kind
DISPLAYS = {
    "ranges": partial(
        plots.TieRangeDisplay.from_predictions,
        Y,
        SYSTEMS,
        qid=QID,
        measures=["ndcg@10", "fallout@10"],
    ),
    "systems": partial(
        plots.SystemComparisonDisplay.from_predictions,
        Y,
        SYSTEMS,
        qid=QID,
        measure=["ap", "esl"],
    ),
    "features": partial(
        plots.FeatureScreeningDisplay.from_result,
        SELECTOR.screening_.named(WEB.feature_names),
    ),
    "folds": partial(
        plots.FoldScoresDisplay.from_result, FOLD_SCORES, reports=HELD_OUT
    ),
    "changes": partial(plots.PrecisionLossDisplay.from_result, STUDY),
    "pvalues": partial(plots.PairwisePValueDisplay.from_result, STUDY),
    "recall": partial(
        plots.PrecisionRecallBandDisplay.from_predictions,
        Y[FEW],
        FEW_SYSTEMS,
        qid=QID[FEW],
    ),
}
