"""The one thing of scikit-learn's that is private and needed: what a scorer is there.

Several scorers of one call are asked one after another, each for a number, so that
an error costs its own number only. That they are asked of the same model and rows,
those alone learn that are scikit-learn's `_BaseScorer`: `_MultimetricScorer` calls
their ``_score(method_caller, estimator, X, y, **routed)`` with one `method_caller`,
made for the call. Nothing public tells: the same model and the same X may be other
rows, as `permutation_importance` shuffles a column in place. What is relied on is in
tests/model_selection/test_scikit_learn_scorers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.metrics._scorer import _BaseScorer

BaseScorer = _BaseScorer

_FOUND: WeakKeyDictionary[Callable[..., Any], dict[Any, Any]] = WeakKeyDictionary()


def found_in_call(method_caller: Callable[..., Any] | None) -> dict[Any, Any]:
    """What scorers of one call have found so far, for those that come after.

    It lives as long as the call; a scorer that is called by itself has its own.
    """
    return {} if method_caller is None else _FOUND.setdefault(method_caller, {})
