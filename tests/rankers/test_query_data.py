"""Training and evaluation data, gathered by query."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.lightgbm.helpers import ranker, rows_of


def test_frames_must_have_the_columns_of_fit(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    other = frame[frame.columns[::-1]]
    model = ranker().fit(frame, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="in order: 'in_degree' as column 0, got"):
        model.predict(other)
    with pytest.raises(ValueError, match="eval_X must have the columns"):
        ranker().fit(
            **{**rows_of(web, web), "X": frame, "eval_X": other},
        )
    fewer = frame.drop(columns="clicks")
    with pytest.raises(ValueError, match="X has 11 features, but QueryLGBMR"):
        model.predict(fewer)


def test_frames_with_numbers_as_names(web):
    frame = pd.DataFrame(np.column_stack([web.qid, web.data]))
    model = ranker(qid=0).fit(frame, web.target)
    with pytest.raises(ValueError, match="in order: 1 as column 0, got 12"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="X must be 2-dimensional"):
        ranker().fit(web.data[:, 0], web.target, qid=web.qid)


def test_several_sets_as_lists(web, valid):
    model = ranker().fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=[valid.data, web.data.copy()],
        eval_y=[valid.target, web.target],
        eval_qid=[valid.qid, web.qid],
    )
    assert list(model.evals_result_) == ["valid_0", "valid_1"]


def test_categorical_features_are_counted_with_the_qid_column(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame.insert(0, "topic", web.qid)
    data = frame.to_numpy()

    def categories(X, qid, wanted):
        model = ranker(qid=qid, min_data_per_group=1, cat_smooth=0.1, n_estimators=20)
        model.fit(X, web.target, categorical_feature=wanted)
        trees = model.booster_.trees_to_dataframe()
        return set(trees[trees.decision_type == "=="].split_feature)

    assert categories(frame, "topic", [5]) == {frame.columns[5]}
    assert categories(frame, "topic", [frame.columns[5]]) == {frame.columns[5]}
    assert categories(data, 0, [5]) == {"Column_4"}
    for X, qid, wanted in ((frame, "topic", [0]), (data, 0, [0]), (data, -13, [0])):
        with pytest.raises(ValueError, match="must not hold the qid column"):
            ranker(qid=qid).fit(X, web.target, categorical_feature=wanted)
    with pytest.raises(ValueError, match="must not hold the qid column, got 'topic'"):
        ranker(qid="topic").fit(frame, web.target, categorical_feature=["topic"])
