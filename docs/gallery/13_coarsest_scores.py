"""
How few bits does a score need?
===============================

An Optuna study tries many ways of rounding the scores. Each dot is one of them. The
line is the Pareto front, the best trade-offs between NDCG@10 and bits. The ring marks
the coarsest scores that keep 95 % of the mean, by a statistical test. `rho=2.0` are
bands of ranks: each band is twice as deep as the one before.
"""

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective
from tieaware_sklearn.plots import ScorePrecisionDisplay

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
objective = ScorePrecisionObjective(web.target, web.data["text_score"], qid=web.qid)
study = objective.create_study(seed=0)
study.optimize(objective, n_trials=40)
ScorePrecisionDisplay.from_result(study, keep=0.95)

# %%
# At 0 bits all scores tie, and the value is the chance level.
