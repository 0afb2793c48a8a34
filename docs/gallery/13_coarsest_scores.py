"""
How few bits does a score need?
===============================

An Optuna study tries many ways of rounding the scores. Each dot is one of them. The
red ones are the Pareto front, the best trade-offs between NDCG@10 and bits. The ring
marks the coarsest scores that keep 95 % of the mean, by a statistical test. `rho=2.0`
are bands of ranks: each band is twice as deep as the one before.
"""

import warnings

from optuna.exceptions import ExperimentalWarning
from optuna.visualization.matplotlib import plot_pareto_front

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
objective = ScorePrecisionObjective(web.target, web.data["text_score"], qid=web.qid)
study = objective.create_study(seed=0)
study.optimize(objective, n_trials=40)

warnings.simplefilter("ignore", ExperimentalWarning)  # it has been one since 2021
axis = plot_pareto_front(study, target_names=["NDCG@10", "bits of a score"])
chosen = coarsest(study, keep=0.95)
axis.plot(*chosen.values, "o", markersize=15, markerfacecolor="none", color="black")
axis.annotate(
    chosen.user_attrs["coarseness"],
    chosen.values,
    xytext=(-12, 16),
    textcoords="offset points",
    horizontalalignment="right",
)

# %%
# At 0 bits all scores tie, and the value is the chance level.
