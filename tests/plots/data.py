"""Systems and results, and a display of each kind."""

import numpy as np
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.tree import DecisionTreeRegressor

import tieaware_sklearn as ta
from tieaware_sklearn import plots
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=2)
Y, QID = WEB.target, WEB.qid
FEW = QID <= 4
SYSTEMS = dict(zip(WEB.feature_names[:6], WEB.data.T[:6], strict=True))
STUDY = ta.precision_study(
    Y, SYSTEMS, qid=QID, coarseness=["rho=1.2", "levels=4", "rho=3"]
)
SELECTOR = ta.RankingFeatureSelector("ap").fit(WEB.data, Y, qid=QID)
TREE = DecisionTreeRegressor(max_depth=4, random_state=0)
FOLDS = {"X": np.column_stack([QID, WEB.data]), "y": Y, "cv": ta.QueryKFold(4, qid=0)}
FOLD_SCORES = cross_validate(
    TREE,
    **FOLDS,
    scoring=ta.make_ranking_scorer(["ndcg@10", "fallout@10"], qid=0),
    return_train_score=True,
    return_estimator=True,
    return_indices=True,
)
HELD_OUT = ta.evaluate(
    Y, cross_val_predict(TREE, **FOLDS), qid=QID, measures=["fallout@10", "ndcg@10"]
)
DISPLAYS = {
    "ranges": lambda **k: plots.TieRangeDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measures=["ndcg@10", "fallout@10"], **k
    ),
    "systems": lambda **k: plots.SystemComparisonDisplay.from_predictions(
        Y, SYSTEMS, qid=QID, measure=["ap", "esl"], **k
    ),
    "features": lambda **k: plots.FeatureScreeningDisplay.from_result(
        SELECTOR.screening_.named(WEB.feature_names), **k
    ),
    "folds": lambda **k: plots.FoldScoresDisplay.from_result(
        FOLD_SCORES, reports=HELD_OUT, **k
    ),
    "changes": lambda **k: plots.PrecisionLossDisplay.from_result(STUDY, **k),
    "pvalues": lambda **k: plots.PairwisePValueDisplay.from_result(STUDY, **k),
    "recall": lambda **k: plots.PrecisionRecallBandDisplay.from_predictions(
        Y[FEW], {n: s[FEW] for n, s in SYSTEMS.items()}, qid=QID[FEW], **k
    ),
}
