"""Rankings for tests of the Optuna objectives."""

import optuna
import pytest

from tieaware_sklearn.datasets import make_web_search

optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=60, n_documents=15, shuffle=True, random_state=2)
