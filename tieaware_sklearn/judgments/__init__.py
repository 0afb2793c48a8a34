"""Relevance judgments: agreement of assessors, pools to judge, estimates of recall.

Cohen's kappa is scikit-learn's `sklearn.metrics.cohen_kappa_score`.
"""

from ._agreement import (
    AgreementReport,
    assessor_agreement,
    fleiss_kappa,
    joint_agreement,
    kappa_in_words,
    scott_pi,
)
from ._krippendorff import krippendorff_alpha
from ._leave_one_out import LeaveOneOut, leave_one_out
from ._pooling import Pool, PseudoJudgments, depth_pool, pseudo_relevance

__all__ = [
    "AgreementReport",
    "LeaveOneOut",
    "Pool",
    "PseudoJudgments",
    "assessor_agreement",
    "depth_pool",
    "fleiss_kappa",
    "joint_agreement",
    "kappa_in_words",
    "krippendorff_alpha",
    "leave_one_out",
    "pseudo_relevance",
    "scott_pi",
]
