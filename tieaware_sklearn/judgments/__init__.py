"""Judgments: do assessors agree, and what should they look at.

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
from ._pooling import Pool, PseudoJudgments, depth_pool, pseudo_relevance

__all__ = [
    "AgreementReport",
    "Pool",
    "PseudoJudgments",
    "assessor_agreement",
    "depth_pool",
    "fleiss_kappa",
    "joint_agreement",
    "kappa_in_words",
    "pseudo_relevance",
    "scott_pi",
]
