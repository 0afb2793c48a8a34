"""What the rankers of LightGBM, XGBoost and CatBoost share, under one set of names."""

import importlib
from typing import ClassVar

import numpy as np

from tieaware_sklearn import ranking_score

#: three rows, and an evaluation set that is not the same objects
X3, Y3, Q3 = np.arange(9.0).reshape(3, 3), [0, 1, 0], [1, 1, 2]
ROWS3 = {"X": X3, "y": Y3, "qid": Q3}
EVAL3 = {"eval_X": X3.copy(), "eval_y": [*Y3], "eval_qid": [*Q3]}


def rows_of(train, *sets):
    """What `fit` is given: training data, and one set or several that it evaluates."""
    rows = {"X": train.data, "y": train.target, "qid": train.qid}
    for name, part in (("X", "data"), ("y", "target"), ("qid", "qid")) if sets else ():
        own = tuple(getattr(data, part) for data in sets)
        rows[f"eval_{name}"] = own if len(own) > 1 else own[0]
    return rows


def exact(data, scores, **options):
    """The exact mean of a ranking of the data."""
    return ranking_score(data.target, scores, qid=data.qid, **options)


def sizes_of(data):
    return np.unique(data.qid, return_counts=True)[1]


class Booster:
    """A library; its ranker takes measures in the constructor."""

    library: str
    ranker_name: str
    options: ClassVar[dict]
    objectives: tuple
    sample: ClassVar[dict] = {}
    #: whether early stopping goes by the last held-out set, or by any
    last_set_stops = True

    def __init__(self):
        self.module = importlib.import_module(f"tieaware_sklearn.{self.library}")
        self.Ranker = getattr(self.module, self.ranker_name)
        name = self.ranker_name.removeprefix("Query")
        theirs = importlib.import_module(self.library)
        self.Theirs = getattr(theirs, name)

    def ranker(self, **parameters):
        return self.Ranker(**{**self.options, **parameters})

    def fit(self, given, measures="ndcg@10", zero_relevance=0.0, **parameters):
        ours = {"eval_metric": measures, "zero_relevance": zero_relevance}
        return self.ranker(**ours, **parameters).fit(**given)

    def started(self, model, X, start):
        """Scores of a model that starts from some."""
        return model.predict(X) + start


class LightGBM(Booster):
    library, ranker_name = "lightgbm", "QueryLGBMRanker"
    options: ClassVar[dict] = {"n_estimators": 4, "num_leaves": 4, "n_jobs": 1}
    options |= {"verbosity": -1}
    objectives = ({"objective": "lambdarank"}, {"objective": "rank_xendcg"})
    sample: ClassVar[dict] = {"subsample": 0.7, "subsample_freq": 1}
    last_set_stops = False

    def fit(self, given, measures="ndcg@10", zero_relevance=0.0, **parameters):
        if zero_relevance != 0.0:
            measures = self.module.eval_metric(measures, zero_relevance=zero_relevance)
        return self.ranker(**parameters).fit(**given, eval_metric=measures)

    def own(self, data, weight, **parameters):
        model = self.Theirs(**{**self.options, **parameters})
        rows = {"X": data.data, "y": data.target, "group": sizes_of(data)}
        return model.fit(**rows, sample_weight=weight)

    def bits(self, model):
        # below the trees stand parameters, metrics among them
        return model.booster_.model_to_string().partition("\nparameters:")[0]

    def n_trees(self, model):
        return model.booster_.num_trees()

    def first_trees(self, model, X, trees):
        return model.predict(X, num_iteration=trees)

    def best(self, model, name, measure):
        return model.best_iteration_ - 1, model.best_score_[name][measure]

    def inner(self, model):
        return model


class XGBoost(Booster):
    library, ranker_name = "xgboost", "QueryXGBRanker"
    options: ClassVar[dict] = {"n_estimators": 4, "max_depth": 3, "n_jobs": 1}
    objectives = ({"objective": "rank:ndcg"}, {"objective": "rank:pairwise"})
    sample: ClassVar[dict] = {"subsample": 0.7}

    def own(self, data, weight, **parameters):
        first = np.unique(data.qid, return_index=True)[1]
        given = {"qid": data.qid, "sample_weight": weight[first]}  # one a query
        model = self.Theirs(**{**self.options, **parameters})
        return model.fit(data.data, data.target, **given)

    def bits(self, model):
        return bytes(model.get_booster().save_raw())

    def n_trees(self, model):
        return model.get_booster().num_boosted_rounds()

    def first_trees(self, model, X, trees):
        return model.predict(X, iteration_range=(0, trees))

    def best(self, model, name, measure):
        return model.best_iteration, model.best_score

    def inner(self, model):
        return model.get_booster()

    def started(self, model, X, start):
        return model.predict(X, base_margin=start, output_margin=True)


class CatBoost(Booster):
    library, ranker_name = "catboost", "QueryCatBoostRanker"
    options: ClassVar[dict] = {"n_estimators": 4, "depth": 3, "thread_count": 1}
    options |= {"verbose": False, "allow_writing_files": False}
    objectives = ({"loss_function": "YetiRank"}, {"loss_function": "QueryRMSE"})

    def own(self, data, weight, **parameters):
        model = self.Theirs(**{**self.options, **parameters})
        return model.fit(data.data, data.target, group_id=data.qid, group_weight=weight)

    def bits(self, model):
        model = self.inner(model)
        return model.get_leaf_values().tobytes(), str(model.get_borders())

    def n_trees(self, model):
        return model.model_.tree_count_

    def first_trees(self, model, X, trees):
        return model.predict(X, ntree_end=trees)

    def best(self, model, name, measure):
        return model.best_iteration_, model.best_score_[name][measure]

    def inner(self, model):
        return getattr(model, "model_", model)


BOOSTERS = {kind.library: kind for kind in (LightGBM, XGBoost, CatBoost)}
