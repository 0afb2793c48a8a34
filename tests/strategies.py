"""Rankings with ties everywhere, made by hypothesis."""

from __future__ import annotations

import math

from hypothesis import strategies as st

LABELS = st.integers(0, 4)
FEW_SCORES = st.sampled_from([-1.0, 0.0, 0.5])
SCORES = st.one_of(FEW_SCORES, st.sampled_from([-math.inf, -0.0, 1e-300, 2.5, 7.0]))


@st.composite
def ranking(draw, max_documents: int = 6, scores=SCORES):
    """Labels and scores of one query: all tied, all different, or in between."""
    n = draw(st.integers(1, max_documents))
    labels = draw(st.lists(LABELS, min_size=n, max_size=n))
    return labels, draw(st.lists(scores, min_size=n, max_size=n))


@st.composite
def judged_ranking(draw, max_documents: int = 6):
    """Labels of one query, -1 for documents without a judgment, and scores."""
    n = draw(st.integers(1, max_documents))
    labels = draw(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=n, max_size=n))
    scores = st.sampled_from([-math.inf, 0.0, 0.0, 0.0, 1.0])
    return labels, draw(st.lists(scores, min_size=n, max_size=n))


@st.composite
def queries(draw, max_queries: int = 5, max_documents: int = 12):
    """Rows of several queries, interleaved."""
    n = draw(st.integers(1, max_queries * max_documents))
    rows = st.tuples(LABELS, SCORES, st.integers(0, max_queries - 1))
    drawn = draw(st.lists(rows, min_size=n, max_size=n))
    labels, scores, qid = (list(column) for column in zip(*drawn, strict=True))
    return labels, scores, qid
