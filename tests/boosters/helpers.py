"""LightGBM, XGBoost and CatBoost under the same names of methods."""

import importlib
from typing import ClassVar

import numpy as np

from tieaware_sklearn import ranking_score

#: Three rows, and an evaluation set of the same values in other objects.
X3 = np.arange(9.0).reshape(3, 3)
Y3 = [0, 1, 0]
Q3 = [1, 1, 2]
ROWS3 = {"X": X3, "y": Y3, "qid": Q3}
EVAL3 = {"eval_X": X3.copy(), "eval_y": [*Y3], "eval_qid": [*Q3]}


def rows_of(train, *sets):
    """Return the arguments of `fit`: training data, and the sets that it evaluates."""
    rows = {"X": train.data, "y": train.target, "qid": train.qid}
    if len(sets) == 1:
        (data,) = sets
        rows |= {"eval_X": data.data, "eval_y": data.target, "eval_qid": data.qid}
    elif sets:
        rows["eval_X"] = tuple(data.data for data in sets)
        rows["eval_y"] = tuple(data.target for data in sets)
        rows["eval_qid"] = tuple(data.qid for data in sets)
    return rows


def exact(data, scores, **options):
    """Return the exact mean of a ranking of the data."""
    return ranking_score(data.target, scores, qid=data.qid, **options)


def sizes_of(data):
    _, sizes = np.unique(data.qid, return_counts=True)
    return sizes


class Booster:
    """A library; its ranker takes measures in the constructor."""

    library: str
    ranker_name: str
    options: ClassVar[dict]
    objectives: tuple
    sample: ClassVar[dict] = {}
    #: Whether the last held-out set stops training, or any.
    last_set_stops = True

    def __init__(self):
        self.module = importlib.import_module(f"tieaware_sklearn.{self.library}")
        self.Ranker = getattr(self.module, self.ranker_name)
        name = self.ranker_name.removeprefix("Query")
        self.LibraryRanker = getattr(importlib.import_module(self.library), name)

    def ranker(self, **parameters):
        return self.Ranker(**self.options | parameters)

    def fit(self, rows, measures="ndcg@10", zero_relevance=0.0, **parameters):
        parameters |= {"eval_metric": measures, "zero_relevance": zero_relevance}
        return self.ranker(**parameters).fit(**rows)

    def started(self, model, X, start):
        """Return the scores of a model that starts from scores."""
        return model.predict(X) + start


class LightGBM(Booster):
    library = "lightgbm"
    ranker_name = "QueryLGBMRanker"
    options: ClassVar[dict] = {"n_estimators": 4, "num_leaves": 4, "n_jobs": 1}
    options |= {"verbosity": -1}
    objectives = ({"objective": "lambdarank"}, {"objective": "rank_xendcg"})
    sample: ClassVar[dict] = {"subsample": 0.7, "subsample_freq": 1}
    last_set_stops = False

    def fit(self, rows, measures="ndcg@10", zero_relevance=0.0, **parameters):
        if zero_relevance != 0.0:
            measures = self.module.eval_metric(measures, zero_relevance=zero_relevance)
        return self.ranker(**parameters).fit(**rows, eval_metric=measures)

    def fit_library_ranker(self, data, weight, **parameters):
        model = self.LibraryRanker(**self.options | parameters)
        rows = {"X": data.data, "y": data.target, "group": sizes_of(data)}
        return model.fit(**rows, sample_weight=weight)

    def bits(self, model):
        text = model.booster_.model_to_string()
        # parameters, such as metrics, come after the trees
        trees, _, _ = text.partition("\nparameters:")
        return trees

    def n_trees(self, model):
        return model.booster_.num_trees()

    def first_trees(self, model, X, trees):
        return model.predict(X, num_iteration=trees)

    def best(self, model, name, measure):
        return model.best_iteration_ - 1, model.best_score_[name][measure]

    def inner(self, model):
        return model


class XGBoost(Booster):
    library = "xgboost"
    ranker_name = "QueryXGBRanker"
    options: ClassVar[dict] = {"n_estimators": 4, "max_depth": 3, "n_jobs": 1}
    objectives = ({"objective": "rank:ndcg"}, {"objective": "rank:pairwise"})
    sample: ClassVar[dict] = {"subsample": 0.7}

    def fit_library_ranker(self, data, weight, **parameters):
        model = self.LibraryRanker(**self.options | parameters)
        _, first = np.unique(data.qid, return_index=True)
        # XGBoost has a weight for each query
        options = {"qid": data.qid, "sample_weight": weight[first]}
        return model.fit(data.data, data.target, **options)

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
    library = "catboost"
    ranker_name = "QueryCatBoostRanker"
    options: ClassVar[dict] = {"n_estimators": 4, "depth": 3, "thread_count": 1}
    options |= {"verbose": False, "allow_writing_files": False}
    objectives = ({"loss_function": "YetiRank"}, {"loss_function": "QueryRMSE"})

    def fit_library_ranker(self, data, weight, **parameters):
        model = self.LibraryRanker(**self.options | parameters)
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
