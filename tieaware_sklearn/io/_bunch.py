"""What loaders give, in the form that is asked for."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.utils import Bunch

from .._optional import import_optional


def framed(ranking: Bunch) -> Bunch:
    """The same ranking with its features as a data frame."""
    pandas = import_pandas("as_frame=True")
    make = pandas.DataFrame
    if sp.issparse(ranking.data):
        make = pandas.DataFrame.sparse.from_spmatrix
    ranking.data = make(ranking.data, columns=ranking.feature_names)
    return ranking


def as_asked(ranking: Bunch, *, as_frame: bool, return_X_y_qid: bool) -> Any:
    """The ranking, or its features, labels and query ids alone."""
    if as_frame:
        framed(ranking)
    if return_X_y_qid:
        return ranking.data, ranking.target, ranking.qid
    return ranking


def import_pandas(purpose: str) -> Any:
    """The library, or an error that says what it is needed for."""
    return import_optional("pandas", extra="io", purpose=purpose)
