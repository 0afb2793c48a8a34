"""Trials of a study, and the best of them so far."""

import matplotlib.pyplot as plt
import numpy as np
import optuna
from theme import BLUE, INK, QUIET

from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import LinearScoringObjective

optuna.logging.set_verbosity(optuna.logging.WARNING)
web = make_web_search(n_queries=60, as_frame=True, random_state=0)
objective = LinearScoringObjective(web.data, web.target, qid=web.qid, measure="ap")
study = objective.create_study(seed=0)
study.optimize(objective, n_trials=40)
values = [trial.value for trial in study.trials]

figure, panel = plt.subplots(figsize=(2.9, 2.3))
panel.plot(values, "o", color="#56B4E9", markersize=4)
best = np.maximum.accumulate(values)
panel.step(range(len(best)), best, color=BLUE, linewidth=2.5, where="post")
panel.text(len(best) - 1, best[-1] + 0.012, "best so far", color=BLUE, ha="right")
panel.set(xticks=[], yticks=[], ylim=(min(values) - 0.02, best[-1] + 0.05))
panel.set_xlabel("40 trials, in order", color=QUIET)
panel.set_ylabel("AP", color=QUIET)
panel.spines[["top", "right"]].set_visible(False)
panel.spines[:].set_color(INK)
