"""Queries looked up by what results keep of their ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine import check_qid, count_rows, id_digests


def query_digests(qid: ArrayLike) -> NDArray[np.uint64]:
    """Return the digests by which results recognise queries that come twice.

    Saved screenings, selectors and reports keep 64 bits of each query id, and no ids.
    Where two of them have a query in common, the error names its digest.

    Parameters
    ----------
    qid : array-like of shape (n_rows,)
        Query ids, as they were given to what made the results. Ids of CSV files that
        the command has read are text.

    Returns
    -------
    ndarray of shape (n_rows,), dtype uint64
        The digest of each row's query id: the same for equal ids, in every process and
        on every machine.

    Raises
    ------
    ValueError
        For missing ids, and for two ids with the same digest, which are named.

    See Also
    --------
    tieaware_sklearn.RankingReport.merge : Refuses a query that both parts have.

    Examples
    --------
    An error of `merge` that speaks of the digest 0x313ee9e02436b8f8 is about the query

    >>> import pandas as pd
    >>> from tieaware_sklearn.datasets import query_digests
    >>> rows = pd.DataFrame({"qid": ["mug", "tea", "tea"], "label": [0, 1, 0]})
    >>> rows.qid[query_digests(rows.qid) == 0x313ee9e02436b8f8].unique().tolist()
    ['tea']
    """
    queries = check_qid(qid, n_rows=count_rows(qid))
    return id_digests(queries.qid)[queries.row_codes()]
