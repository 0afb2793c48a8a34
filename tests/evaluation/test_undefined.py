"""Tests of the notes on queries without a relevant document."""

import numpy as np
import pytest

import tieaware_sklearn as ta
from tieaware_sklearn import evaluation, judgments
from tieaware_sklearn.score_precision import precision_study

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(50), 6)
Y = RNG.integers(0, 3, 300)
Y[QID < 10] = 0
SYSTEMS = {name: RNG.integers(0, 4, 300) for name in ("old", "new")}
OLD = SYSTEMS["old"]
X = np.column_stack([*SYSTEMS.values()]).astype(float)
SKIPPED = ta.ranking_score(Y, OLD, qid=QID, measure="ap", zero_relevance="skip")
COUNTED = (
    'without a relevant document count as 0 (zero_relevance="skip" leaves them out'
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def text_of(result):
    """Return the text of a result in one line."""
    return " ".join(str(result).split())


def evaluated(labels=Y, **options):
    options.setdefault("measures", "ap")
    return ta.evaluate(labels, OLD, qid=QID, **options)


def compared(labels=Y, **options):
    options.setdefault("measure", "ap")
    return ta.compare_systems(labels, SYSTEMS, qid=QID, **options)


def compare_five(y, **options):
    return ta.compare_systems(y, RNG.random((300, 5)), qid=QID, **options)


def treat_ties(y, **options):
    return ta.tie_treatments(y, OLD, qid=QID, measures="ap", **options)


def report_ties(y, **options):
    return ta.tie_report(y, OLD, qid=QID, measures="ap", **options)


def curve(y, **options):
    return evaluation.precision_recall_curve(y, OLD, qid=QID, **options)


def study(y, **options):
    return precision_study(y, SYSTEMS, qid=QID, **options)


def pvalues(y, **options):
    return ta.pvalues_over_orders(y, SYSTEMS, qid=QID, n_orders=3, **options)


def screening(y, **options):
    return ta.RankingFeatureSelector("ap", **options).fit(X, y, qid=QID).screening_


#: Functions of labels and options.
RESULTS = {
    "evaluate": evaluated,
    "compare_systems": compared,
    "five systems": compare_five,
    "tie_treatments": treat_ties,
    "tie_report": report_ties,
    "precision_recall_curve": curve,
    "precision_study": study,
    "pvalues_over_orders": pvalues,
    "screening": screening,
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_table_and_page_says_how_many_and_the_remedy(name):
    make = RESULTS[name]
    result = make(Y)
    assert f"50 queries; 10 {COUNTED}" in text_of(result)
    for page in (result.to_html(), result._repr_html_()):
        assert "50 queries; 10 without a relevant document count as 0" in page
    skipped = text_of(make(Y, zero_relevance="skip"))
    assert "40 queries; 10 more without a relevant document are left out" in skipped
    assert "without a relevant document" not in text_of(make(Y + 1))


def test_the_mean_without_them():
    assert f"{COUNTED}: mean {SKIPPED:.4f})" in text_of(evaluated())
    assert f"{COUNTED}: median " in text_of(evaluated().summary("median"))
    options = {"measure": "ap", "zero_relevance": "skip"}
    scores = SYSTEMS["new"]
    new_mean = ta.ranking_score(Y, scores, qid=QID, **options)
    note = f"{COUNTED}: old {SKIPPED:.4f}, new {new_mean:.4f})"
    assert note in text_of(compared())


def test_several_measures_have_their_means_in_80_columns():
    measures = ["ap", "ndcg@10", "rr", "esl", "fallout"]
    text = str(evaluated(measures=measures))
    line = " ".join(text.split())
    assert f"10 {COUNTED}: AP {SKIPPED:.4f}, NDCG@10 " in line
    assert "10 with too few relevant documents retrieved are left out of ESL" in line
    widths = map(len, text.splitlines())
    assert max(widths) <= 80
    skipped = text_of(evaluated(measures=["ap", "rr"], zero_relevance="skip"))
    assert "50 queries; 10 without a relevant document are left out of AP" in skipped


def test_the_note_names_the_number_and_the_value():
    labels = np.where(QID == 0, 0, Y + 1)
    text = text_of(evaluated(labels))
    assert "; 1 without a relevant document counts as 0 (" in text
    text = text_of(evaluated(zero_relevance=0.5))
    assert "10 without a relevant document count as 0.5 (" in text
    text = text_of(evaluated(convention="lightgbm"))
    assert "count as 1 (without them: mean " in text


def test_queries_of_weight_0_are_not_counted():
    weight = np.where(QID < 4, 0, 1)
    report = evaluated(query_weight=weight)
    assert f"46 queries; 6 {COUNTED}: mean {SKIPPED:.4f})" in text_of(report)
    note = f"46 queries; 6 {COUNTED}: old {SKIPPED:.4f}, "
    assert note in text_of(compared(query_weight=weight))


def test_segments_have_the_note_of_all_queries():
    options = {"segment": QID % 2}
    note = f"50 queries; 10 {COUNTED}"
    report = evaluated(**options)
    assert note in text_of(report.by_segment())
    comparison = compared(**options)
    assert note in text_of(comparison.by_segment())


def test_the_flags_are_by_query_and_measure():
    report = evaluated(measures=["ap", "rr"])
    of_ap, of_rr = report.undefined.T
    assert np.flatnonzero(of_ap).tolist() == list(range(10))
    assert not of_rr.any()
    comparison = compared(measure=["ap", "rr"])
    assert comparison.undefined.tolist() == report.undefined.tolist()
    expected_rr = comparison["RR", "expected"]
    assert expected_rr.undefined.shape == (50, 1)
    assert not expected_rr.undefined.any()


def test_reports_of_tables_have_the_same_note():
    report = evaluated()
    table = report.to_pandas(settings=True)
    again = ta.RankingReport.from_frame(table)
    assert str(again) == str(report)


def test_merged_screenings_count_the_queries_of_all_parts():
    selector = ta.RankingFeatureSelector("ap")
    screenings = []
    for rows in (QID < 20, QID >= 20):
        screenings.append(selector.screen(X[rows], Y[rows], qid=QID[rows]))
    first, second = screenings
    merged = first.merge(second)
    pickled = ta.Screening.from_bytes(merged.to_bytes())
    assert f"50 queries; 10 {COUNTED}" in text_of(pickled)


def test_leaving_runs_out_notes_undefined_queries():
    documents = {"qid": [1, 2], "docno": ["x", "y"]}
    runs = [{**documents, "score": [2, 1]}]
    judged = {**documents, "target": [1, 0]}
    result = judgments.leave_one_out(runs, judged)
    assert "2 queries; 1 without a relevant document counts as 0" in text_of(result)


@pytest.mark.parametrize("kind", [evaluated, compared])
def test_pages_of_segments_have_their_table(kind):
    segment = np.where(QID % 2, "head", "tail")
    result = kind(segment=segment)
    page = result.to_html()
    assert "by segment</h2>" in page
    for name in ("head", "tail"):
        assert f'<th scope="row">{name}</th>' in page
    assert "by segment" not in kind().to_html()


def test_tukeys_test_has_a_page_without_segments():
    comparison = compared(correction="tukey", segment=QID % 2)
    page = comparison.to_html()
    assert "by segment" not in page
