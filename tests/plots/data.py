"""Systems and results, and a display of each kind."""

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
COLUMNS = {name: j for j, name in enumerate(WEB.feature_names)}
OPTIONS = {"measures": ["ndcg@10", "esl"], "columns": COLUMNS, "n_repeats": 2}
IMPORTANCE = ta.query_permutation_importance(
    TREE.fit(WEB.data, Y), WEB.data, Y, qid=QID, **OPTIONS
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
    "importances": lambda **k: plots.PermutationImportanceDisplay.from_result(
        IMPORTANCE, max_features=8, **k
    ),
    "changes": lambda **k: plots.PrecisionLossDisplay.from_result(STUDY, **k),
    "pvalues": lambda **k: plots.PairwisePValueDisplay.from_result(STUDY, **k),
    "recall": lambda **k: plots.PrecisionRecallBandDisplay.from_predictions(
        Y[FEW], {n: s[FEW] for n, s in SYSTEMS.items()}, qid=QID[FEW], **k
    ),
}
