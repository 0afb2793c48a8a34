"""What tests of several rankers share."""

from __future__ import annotations

#: checks of scikit-learn that call `score` without the qid that it needs
SCORED_WITHOUT_QID = dict.fromkeys(
    (
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
    ),
    "score refuses to rank documents of all queries together",
)
