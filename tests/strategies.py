"""Rankings with ties everywhere, made by hypothesis."""

import math

from hypothesis import strategies as st

from tests import naive

LABELS = st.integers(0, 4)
FEW_SCORES = st.sampled_from([-1.0, 0.0, 0.5])
SCORES = st.one_of(FEW_SCORES, st.sampled_from([-math.inf, -0.0, 1e-300, 2.5, 7.0]))


@st.composite
def ranking(draw, max_documents: int = 6, scores=SCORES, labels=LABELS):
    """Labels and scores of one query: all tied, all different, or in between."""
    n = draw(st.integers(1, max_documents))
    some = draw(st.lists(labels, min_size=n, max_size=n))
    return some, draw(st.lists(scores, min_size=n, max_size=n))


def judged_ranking(max_documents: int = 6):
    """Labels of one query, -1 for documents without a judgment, and scores."""
    scores = st.sampled_from([-math.inf, 0.0, 0.0, 0.0, 1.0])
    return ranking(max_documents, scores, st.sampled_from([-1, 0, 1, 2]))


@st.composite
def queries(draw, max_queries: int = 5, max_documents: int = 12):
    """Rows of several queries, interleaved."""
    n = draw(st.integers(1, max_queries * max_documents))
    rows = st.tuples(LABELS, SCORES, st.integers(0, max_queries - 1))
    drawn = draw(st.lists(rows, min_size=n, max_size=n))
    labels, scores, qid = (list(column) for column in zip(*drawn, strict=True))
    return labels, scores, qid


@st.composite
def judged_runs(draw, max_topics: int = 3, max_documents: int = 12, tied: bool = True):
    """Judgments and a run, dicts of dicts; a topic may be in one of them alone."""
    documents = [f"d{i}" for i in range(max_documents)]
    some = st.lists(st.sampled_from(documents), min_size=1, unique=True)
    qrels, run = {}, {}
    for topic in (f"q{i}" for i in range(draw(st.integers(1, max_topics)))):
        # a topic without any label of at least 0 crashes pytrec_eval
        judged = {"d0": 0} | {one: draw(st.integers(-1, 3)) for one in draw(some)}
        judged["judged"] = draw(st.integers(0, 2))
        qrels[topic] = judged
        ranked = draw(some)
        if tied:
            run[topic] = {one: draw(FEW_SCORES) for one in ranked}
        else:
            run[topic] = {one: float(at) for at, one in enumerate(ranked)}
    if draw(st.booleans()):
        run["only ranked"] = {"d0": 1.0}
    return qrels, run


def every_order(scores: dict[str, float]) -> list[dict[str, float]]:
    """Runs of one topic without ties, one for each order of its ties."""
    documents = list(scores)
    return [
        {documents[i]: float(len(order) - rank) for rank, i in enumerate(order)}
        for order in naive.retrieved_orders(list(scores.values()))
    ]
