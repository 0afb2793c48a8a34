"""What several tests of this room share."""

from __future__ import annotations

from tieaware_sklearn.lightgbm import QueryLGBMRanker


def ranker(**parameters):
    defaults = {"n_estimators": 5, "num_leaves": 4, "verbosity": -1, "n_jobs": 1}
    return QueryLGBMRanker(**{**defaults, **parameters})


def rows_of(train, *evaluated):
    """What `fit` is given: a data set, and one or several that it evaluates."""
    rows = {"X": train.data, "y": train.target, "qid": train.qid}
    if not evaluated:
        return rows
    sets = [(data.data, data.target, data.qid) for data in evaluated]
    names = ("eval_X", "eval_y", "eval_qid")
    if len(sets) == 1:
        return {**rows, **dict(zip(names, sets[0], strict=True))}
    return {**rows, **dict(zip(names, zip(*sets, strict=True), strict=True))}


def trees_of(model):
    """All bits of the trees; below them stand parameters, metrics among them."""
    return model.booster_.model_to_string().partition("\nparameters:")[0]
