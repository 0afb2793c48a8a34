"""
How few bits does a score need?
===============================

An Optuna study makes scores coarser in many ways, and finds the best trade-offs.

Each dot is a trial: one way to make the scores coarser. The squares are the Pareto
front, which contains the best trade-offs between NDCG@10 and bits. The ring marks the
coarsest scores that keep 95% of the mean NDCG@10. A statistical test decides whether
scores keep this share. The scores in the ring are `rho=2.0`: documents in a band of
ranks have the same score, and each band is twice as deep as the band before.
"""

import matplotlib.pyplot as plt
import numpy as np

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective, coarsest

web = make_web_search(n_queries=60, as_frame=True, random_state=0)
objective = ScorePrecisionObjective(web.target, web.data["text_score"], qid=web.qid)
study = objective.create_study(seed=0)
study.optimize(objective, n_trials=40)

chosen = coarsest(study, keep=0.95)
trials = np.array([trial.values for trial in study.trials])
front = np.array(sorted(trial.values for trial in study.best_trials))
figure, axis = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
axis.plot(*trials.T, "o", label="a trial")
axis.plot(*front.T, "s-", color="#D55E00", label="Pareto front")
ring = {"markersize": 15, "markerfacecolor": "none", "color": "black"}
label = f"coarsest that keeps 95%: {chosen.user_attrs['coarseness']}"
axis.plot(*chosen.values, "o", linestyle="none", label=label, **ring)
axis.set_title("NDCG@10 and bits of rounded scores", loc="left")
axis.set(xlabel="NDCG@10, mean over queries", ylabel="bits of a score")
figure.legend(loc="outside lower center", ncols=3, frameon=False)

# %%
# At 0 bits, all scores tie, so NDCG@10 is at the chance level.
