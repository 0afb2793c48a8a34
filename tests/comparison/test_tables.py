"""What tables, pages and frames of comparisons are made of: their columns and rows."""

import re
from html import unescape

import numpy as np
import pytest

import tieaware_sklearn as ta
from tests._display.test_html import check_rows, heads_of, parsed
from tests.comparison.test_overview import compared
from tieaware_sklearn import comparison

pytestmark = pytest.mark.filterwarnings("ignore:the values per query")
RNG = np.random.default_rng(0)
Y, QID = RNG.integers(0, 3, 120), np.repeat(np.arange(12), 10)
A, B = RNG.integers(0, 4, (2, 120)).astype(float)
SYSTEMS = {"A": A, "B": B}
COMPARISON = ta.compare_systems(Y, SYSTEMS, qid=QID, measure="ap", segment=QID % 2)
CORRELATION = comparison.rank_correlation(Y, A, qid=QID)
OF_A_PAIR = "measure ties a b difference difference_interval_low "
OF_A_PAIR += "difference_interval_high tie_std tie_range_low tie_range_high "
OF_A_PAIR += "same_sign statistic pvalue"
#: results, the heads of the tables of their pages, and the columns of their frames
RESULTS = {
    "comparison": (
        COMPARISON,
        "AP | mean | worst | best | tie_std | segment | A | B | queries | A - B | "
        "95% interval | better | holm | interaction | A | B | 1% | 2% | 5% | "
        "detectable | A | B | A - B | ±95% | tie_std | tie range | same sign | pvalue "
        "| d",
        f"{OF_A_PAIR} adjusted_pvalue effect n_queries",
    ),
    "summary": (
        COMPARISON.summary(),
        "AP | mean | worst | best | tie_std",
        "measure ties system mean worst best tie_std chance interval_low "
        "interval_high letter better_than rank_low rank_high",
    ),
    "segments": (
        COMPARISON.by_segment(),
        "segment | A | B | queries | A - B | 95% interval | better | holm | "
        "interaction",
        f"segment {OF_A_PAIR} effect n_queries adjusted_pvalue interaction better",
    ),
    "queries": (
        COMPARISON.queries_needed(0.05),
        "A | B | difference | std | queries | needed | detectable",
        "measure ties a b difference std n_queries queries_needed detectable",
    ),
    "orders": (
        ta.pvalues_over_orders(Y, SYSTEMS, qid=QID, measure="ap", n_orders=3),
        "A | B | pvalue | p < 0.05 | error | min p | max p | combined",
        "measure a b pvalues share share_error share_a share_b smallest largest "
        "mean combined n_orders is_exact",
    ),
    "ties": (
        comparison.tie_statistics(SYSTEMS, qid=QID, rank=np.arange(120)),
        "system | queries | with ties | documents | tied | as before | "
        "against scores | by rank | queries | tied ranks | no order | "
        "share with ties |  | median system",
        "system n_queries n_documents tied_queries tied_documents "
        "repeated_documents contradictions contradicted_queries rises "
        "rising_queries tied_ranks unordered_documents",
    ),
    "correlation": (
        CORRELATION,
        "coefficient | mean | lowest | highest | p < 0.05 | queries",
        "qid coefficient value pvalue n_documents",
    ),
    "means of it": (
        CORRELATION.summary(),
        "coefficient | mean | lowest | highest | p < 0.05 | queries",
        "coefficient mean lowest highest n_significant n_queries",
    ),
    "rbo": (
        comparison.rank_biased_overlap(A, B, qid=QID),
        " | mean | worst | best | minimum | residual | distance | queries",
        "qid expected worst best minimum residual distance n_retrieved_true "
        "n_retrieved_score",
    ),
    "top k": (
        comparison.top_k_overlap(A, B, qid=QID, k=3),
        " | mean | worst | best | tie_std | 95% interval | queries",
        "qid expected worst best std reference_is_open is_open",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_columns(name):
    result, heads, columns = RESULTS[name]
    page = result.to_html()
    assert heads_of(page) == heads.split(" | ")
    assert result.to_pandas().columns.tolist() == columns.split()
    check_rows(result)
    terms = page.partition("<h2>What the columns mean</h2>")[2]
    explained = map(unescape, re.findall("<dt>(.*?)</dt>", terms))
    # the same terms go with all tables of ties, and with p-values of segments
    if name not in ("ties", "segments"):
        assert {*explained} <= {*heads.split(" | "), "95% interval"}


def test_a_page_has_all_pairs_of_each_measure_and_treatment():
    options = {"measure": ["ap", "rr"], "ties": ["expected", "worst"]}
    comparison = compared(n=22, **options)
    (needed,) = comparison.queries_needed(0.05)._tables()
    heads = [column.head for column in needed.columns]
    assert heads[:4] == ["measure", "ties", "A", "B"]
    frame = comparison.to_pandas()
    *_, (head, *rows) = parsed(comparison.to_html()).tables
    for measure in ("AP", "RR"):
        shown = [float(row[head.index("A - B")]) for row in rows if row[0] == measure]
        expected = frame[frame.measure == measure].difference
        assert shown == pytest.approx(expected.tolist(), abs=6e-5)


def test_tables_of_several_measures_treatments_and_segments():
    def compare(measure, *ties, **options):
        options |= {"qid": QID, "segment": QID % 2, "ties": [*ties]}
        return ta.compare_systems(Y, SYSTEMS, measure=measure, **options)

    comparison = compare(["ap", "rr"], "expected", "worst")
    of_segments = str(comparison.by_segment())
    assert of_segments.split()[:5] == ["segment", "measure", "ties", "A", "B"]
    assert "holm: corrected over all pairs and 2 segments together" in of_segments
    plain = compare("ap", "expected", correction=None)
    assert "corrected" not in str(plain.by_segment())
    page = compare(["ap", "rr"], "expected", "worst", correction=None).to_html()
    assert "<dt>pvalue</dt><dd>p-value of the paired t test" in page


@pytest.mark.parametrize("measure", ["ap", "rank"])
@pytest.mark.parametrize("names", [("good", "bad"), ("bad", "good")])
def test_a_sentence_names_the_better_of_two(names, measure):
    scores = {"good": Y + RNG.normal(0, 0.1, 120), "bad": -Y + A / 4}
    systems = {name: scores[name] for name in names}
    comparison = ta.compare_systems(Y, systems, qid=QID, measure=measure)
    text = " ".join(str(comparison).split())
    size = f"{abs(comparison.difference[0]):.4f}"
    assert f"good is significantly better than bad: ahead by {size}" in text
    assert "the order of tied documents does not change which is ahead" in text
