"""Tests of all kinds of results as text, HTML, data frames and pages."""

import re
from base64 import b64decode
from datetime import date
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

import tieaware_sklearn as ta
from tests._display.test_html import HOSTILE, parsed
from tieaware_sklearn import comparison, evaluation, judgments
from tieaware_sklearn._display.html import Result
from tieaware_sklearn.score_precision import precision_study


def all_results(cls=Result):
    """Return all classes of results of this library."""
    kinds = set()
    for kind in cls.__subclasses__():
        kinds |= all_results(kind)
        # Tests define kinds of results, too.
        if kind.__module__.startswith("tieaware_sklearn"):
            kinds.add(kind)
    return kinds


ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tables.md"
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 120)
QID = np.repeat(np.arange(12), 10)
SCORES = RNG.integers(0, 4, (120, 5)).astype(float)
SCORE = SCORES[:, 0]
LONG = [f"runs/{'of_a_very_long_name' * j}-{j}.gz" for j in range(1, 6)]
MEASURES = [
    "ndcg(gain=linear)@10",
    "err(max_label=4)@20",
    "ap(rel=2,denominator=cutoff)@10",
    "dcg(gain=[0,1,123456789012])@100",
    *("rbp(p=0.95)", "p@5", "r@5", "rr", "bpref", "esl"),
]
MEASURE = MEASURES[2]
THREE_MEASURES = MEASURES[:3]
SYSTEMS = dict(zip(LONG, SCORES.T, strict=True))


def ranking_results(**data):
    """Return results on one ranking."""
    segment = np.array(LONG)[QID % 5]
    report = ta.evaluate(Y, SCORE, measures=MEASURES, segment=segment, **data)
    keys = {LONG[3]: QID}
    gain = "rbp(p=0.9,gain=[0,0.5,1])@100"
    frame = pd.DataFrame(SYSTEMS).assign(label=Y, **data)
    in_batches = ta.evaluate_batches([frame], score=LONG[0], measures=MEASURES)
    return [
        report,
        report.by_segment(),
        report.summary("median"),
        in_batches,
        ta.tie_report(Y, SCORE, measures=MEASURES, **data),
        ta.tie_treatments(Y, SCORE, measures=MEASURES, external=keys, **data),
        evaluation.residuals(Y, SCORE, measures=gain, **data),
        evaluation.precision_recall_curve(Y, SCORE, **data),
        ta.sampled(Y, SCORE, ta.ranking_score, n_orders=5, **data),
    ]


def comparison_results(**data):
    """Return results on several systems, or on two orderings."""
    ties = ["expected", LONG[2], "best"]
    options = {"interval": "bootstrap", "n_resamples": 99, "measure": MEASURES[2:5]}
    options["external"] = {LONG[2]: QID}
    ranks = np.arange(len(Y))
    overlap = {"p": 0.123456789, "depth": 10**9}
    orders = {"measure": THREE_MEASURES, "n_orders": 3}
    return [
        ta.compare_systems(Y, SYSTEMS, measure=MEASURES[3], **data),
        ta.compare_systems(Y, SYSTEMS, ties=ties, **options, **data),
        ta.pvalues_over_orders(Y, SYSTEMS, **orders, **data),
        precision_study(Y, SYSTEMS, measure=MEASURE, keep=[0.99, 0.9], **data),
        comparison.tie_statistics(SYSTEMS, rank=ranks, **data),
        comparison.rank_correlation(Y, SCORE, **data),
        comparison.rank_biased_overlap(Y, SCORE, **overlap, **data),
        comparison.top_k_overlap(-SCORE, SCORE, k=3, **data),
    ]


def judgment_results(**data):
    """Return results on judgments of documents."""
    documents = {**data, "docno": np.arange(120)}
    runs = [{**documents, "score": column} for column in SCORES.T]
    judged = {**documents, "target": Y}
    ratings = Y.reshape(-1, 3)
    return [
        judgments.depth_pool(runs, depth=3),
        judgments.pseudo_relevance(runs, m=1),
        judgments.assessor_agreement(ratings, names=LONG[:3]),
        judgments.leave_one_out(runs, judged, measure=MEASURE),
    ]


def feature_results(**data):
    """Return results on features."""
    selector = ta.RankingFeatureSelector(MEASURES[:9])
    selector.fit(SCORES, Y, **data)
    return [selector.screening_.named(LONG)]


def results() -> dict[str, Result]:
    """Return at least one result of each kind, by name."""
    named = {}
    for make in (
        ranking_results,
        comparison_results,
        judgment_results,
        feature_results,
    ):
        for result in make(qid=QID):
            kind = type(result).__name__
            named[f"{kind}-{len(named)}"] = result
    return named


RESULTS = results()
#: The first result of each kind.
FIRST = {type(RESULTS[name]): name for name in reversed(RESULTS)}


def test_each_kind_of_result_is_here_and_is_a_frozen_table():
    assert set(FIRST) == all_results()
    for cls, name in FIRST.items():
        assert cls.__dataclass_params__.frozen
        assert not cls.__dataclass_params__.eq
        result = RESULTS[name]
        assert repr(result) == str(result)
        # A comparison prints its conclusions below its tables.
        of_comparison = ta.comparison.SystemComparison.__repr__
        assert cls.__repr__ in (Result.__repr__, of_comparison)


#: Kinds of results that have a figure.
DRAWN = {"RankingReport", "SystemComparison", "Screening"}
DRAWN |= {"PrecisionStudy", "PrecisionRecallCurve"}


def figures(page):
    """Return the pictures of a page as parsed SVG."""
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [ElementTree.fromstring(b64decode(text)) for text in data]


def parsed_as(tables, text):
    """Return the parsed page. Check its names, rows and columns against tables."""
    page = parsed(text)
    for (head, *rows), table in zip(page.tables, tables, strict=True):
        assert len(head) == len(table.columns)
        assert {len(row) for row in rows} == {len(head)}
        # A page shows only the first rows of a long table.
        shown = [row[0] for row in rows]
        names = table.columns[0].cells
        assert len(shown) >= min(len(names), 50)
        assert shown == names[: len(shown)]
    return page


def links_of(page):
    """Return everything that a page loads or links to."""
    return [value for _, key, value in page.attributes if key in ("src", "href")]


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_html_for_notebooks(name):
    result = RESULTS[name]
    parsed_as(result._tables(), result._repr_html_())


@pytest.mark.parametrize("name", FIRST.values())
def test_every_kind_of_result_is_a_page(name):
    result = RESULTS[name]
    kind = type(result)
    text = result.to_html()
    assert text.startswith("<!DOCTYPE html>")
    page = parsed_as(result._whole(), text)
    if kind is not evaluation.Summary:
        assert bool(figures(text)) == (kind.__name__ in DRAWN)
    # A page loads nothing.
    assert all(link.startswith("data:") for link in links_of(page))
    version = f"tieaware-sklearn {ta.__version__}"
    for term in (version, "numpy ", "Python", date.today().isoformat()):
        assert term in page.text


def quoted(text):
    """Return the names between backticks."""
    return re.findall("`(.+?)`", text)


def columns_of_heads(kind):
    """Return the columns that docs/tables.md lists for heads of a kind of result."""
    named = {}
    row = rf"^\| (?:all|{kind}\b.*?) \| (.+) \| (.+) \|$"
    for heads, columns in re.findall(row, PAGE.read_text(), re.M):
        for head in quoted(heads):
            named.setdefault(head, []).append(set(quoted(columns)))
    return named


def derived_results():
    """Return results with segments, and results derived from other results."""
    data = {"qid": QID, "segment": QID % 2}
    compared = ta.compare_systems(Y, SYSTEMS, measure=MEASURES[2:4], **data)
    study = precision_study(Y, SYSTEMS, qid=QID, measure="rr")
    options = {"measure": "rr", "average": "geometric"}
    ratios = ta.compare_systems(Y, SYSTEMS, qid=QID, **options)
    return [
        compared,
        compared.summary(),
        compared.by_segment(),
        compared.queries_needed(0.1),
        study,
        study.summary(),
        ratios,
    ]


def columns_of_frame(result, frame, measures):
    """Return the columns of a frame and attributes. M_ stands for a measure."""
    columns = {*frame.columns, *frame.get("figure", ()), *dir(result)}
    for measure in measures:
        prefix = f"{measure}_"
        for name in list(columns):
            if name.startswith(prefix):
                columns.add("M_" + name.removeprefix(prefix))
    return columns


def missing_columns(result, table):
    """Return the heads of a table that its data frame does not have."""
    frame = eval(f"result.{table.frame}", {"result": result})
    measure = getattr(result, "measure", ())
    measures = np.ravel(getattr(result, "measures", measure)).tolist()
    columns = columns_of_frame(result, frame, measures)
    kind = type(result).__name__
    columns_named = columns_of_heads(kind)
    missing = []
    for column in table.columns[table.left :]:
        head = column.head
        if head.split(" ")[0] in measures:
            head = "M"
        alternatives = [{column.head}, *columns_named.get(head, [])]
        if head and not any(names <= columns for names in alternatives):
            missing.append(f"{kind}: {head}: {table.frame}")
    return missing


def test_data_frames_have_the_columns_of_tables():
    missing = []
    for result in [*RESULTS.values(), *derived_results()]:
        for table in [*result._tables(), *result._whole()]:
            missing += missing_columns(result, table)
    assert missing == []


def test_results_of_plain_names_fit_80_columns():
    systems = dict(zip("abcde", SCORES.T, strict=True))
    data = {"qid": QID}
    segment = np.array(["one", "two"])[QID % 2]
    report = ta.evaluate(Y, SCORE, segment=segment, **data)
    selector = ta.RankingFeatureSelector().fit(SCORES, Y, **data)
    options = {"test": "randomization", "interval": "bootstrap"}
    plain_results = [
        report,
        report.by_segment(),
        ta.tie_report(Y, SCORE, **data),
        selector.screening_,
        ta.compare_systems(Y, systems, **options, **data),
        ta.compare_systems(Y, systems, measure=["ap", "rr"], **data),
    ]
    for result in plain_results:
        widths = map(len, str(result).splitlines())
        assert max(widths) <= 80, result


#: Two queries, one with the best and one with the worst order.
APART = ta.evaluate([[1, 0], [1, 0]], [[1, 0], [0, 1]])


@pytest.mark.parametrize("report", [RESULTS["RankingReport-0"], APART])
def test_intervals_stay_within_the_range_of_their_measure(report):
    interval = report.summary().interval
    low, high = report.bounds.T
    assert (interval[:, 0] >= low).all()
    assert (interval[:, 1] <= high).all()


def test_an_interval_may_be_the_range_of_its_measure():
    summary = APART.summary()
    assert summary.interval[-1].tolist() == [0.0, 1.0]


def test_intervals_of_systems_end_at_the_largest_value():
    y = [1, 0, 1, 0, 1, 0]
    qid = [1, 1, 2, 2, 3, 3]
    systems = {"nearly": [2, 1, 2, 1, 1, 2], "ideal": y}
    summary = ta.compare_systems(y, systems, qid=qid).summary()
    assert summary.interval[:, 1].tolist() == [1, 1]


def test_intervals_of_features_stay_within_the_range_of_their_measure():
    selector = ta.RankingFeatureSelector(["p@1", "dcg@1"])
    selector.fit(SCORES, Y, qid=QID)
    low = selector.screening_.interval[:, 0]
    assert low.min() >= 0
    assert low.max() == 1


def lead_of(result):
    """Return the first paragraph of a page, which precedes tables and pictures."""
    text = result.to_html().replace("<wbr>", "")
    lead = text.index('class="lead"')
    assert text.index("<h1>") < text.index("<time>") < lead
    assert lead < text.index("<table>")
    assert lead < text.index("<img")
    return text[lead:].partition("</p>")[0]


def test_a_report_begins_with_the_value_and_its_range():
    tied = ta.evaluate([0, 1], [1, 1], measures="rr")
    assert (
        "RR is 0.7500 (95% interval [-, -], chance 0.7500); "
        "the order of ties moves it from 0.5000 to 1.0000."
    ) in lead_of(tied)
    untied = ta.evaluate([0, 1], [1, 2], measures="rr")
    assert "no order of ties changes it." in lead_of(untied)
    assert "RR is 1.0000 (95%" in lead_of(untied.summary())


def test_a_comparison_begins_with_the_best_system():
    compared = ta.compare_systems(Y, SYSTEMS, qid=QID)
    means = compared.summary().mean
    best = np.argmax(means)
    assert (compared.adjusted_pvalues > 0.05).all()
    lead = lead_of(compared)
    assert f"{LONG[best]} has the highest mean ({means[best]:.4f}), but is not" in lead
    assert (
        "; no difference is significant (corrected p &gt; 0.05): "
        "these queries do not show which system is better."
    ) in lead


THREE_QUERIES = {"y_true": [1, 0, 1, 0, 1, 0], "qid": [1, 1, 2, 2, 3, 3]}


def test_two_systems_are_compared_in_words():
    # A lower ESL is better.
    systems = {"a": [2, 1, 2, 1, 2, 1], "b": [1, 2, 1, 2, 1, 2]}
    compared = ta.compare_systems(y_score=systems, measure="esl", **THREE_QUERIES)
    assert (
        "By ESL, a is not shown to be better than b: ahead by 1.0000 (100.0% less; "
        "95% interval [-, -], p = 0.2500); the order of tied documents does not "
        "change which is ahead."
    ) in lead_of(compared)


def test_two_systems_that_are_equal_on_average():
    systems = {"a": [2, 1, 1, 1, 1, 2], "b": [1, 1, 1, 1, 1, 1]}
    compared = ta.compare_systems(y_score=systems, measure="p@1", **THREE_QUERIES)
    conclusion = (
        "a and b are equal on average, but not in every order of tied documents."
    )
    assert conclusion in lead_of(compared)


def test_two_systems_on_one_query_have_no_test():
    systems = {"a": [[2, 1]], "b": [[1, 2]]}
    compared = ta.compare_systems([[1, 0]], systems, measure="rr")
    lead = lead_of(compared)
    assert "By RR, a is ahead of b by 0.5000, which no test covers." in lead


def test_a_page_explains_its_columns():
    measures = ["ndcg@10", "rr"]
    selector = ta.RankingFeatureSelector(measures)
    selector.fit(SCORES, Y, qid=QID)
    report = ta.evaluate(Y, SCORE, qid=QID, measures=measures)
    for page in (selector.screening_.to_html(), report.to_html()):
        _, _, meanings = page.partition("What the columns mean")
        assert "chance" in meanings


def test_a_page_has_all_rows():
    rng = np.random.default_rng(0)
    X = rng.random((120, 40))
    selector = ta.RankingFeatureSelector("ap").fit(X, Y, qid=QID)
    screening = selector.screening_
    assert len(str(screening).splitlines()) < 40
    text = screening.to_html()
    best_features, all_features = parsed(text).tables
    assert len(best_features) == 22
    assert len(all_features) == 42
    assert f"of 40 features beat chance by {screening.sort_by}" in text


@pytest.mark.parametrize("title", [None, "Winter & spring"])
def test_a_page_goes_into_a_file_and_has_a_title(title, tmp_path):
    report = ta.evaluate([0, 1], [1, 2])
    path = tmp_path / "page.html"
    path.write_text("old")
    figures_open = pyplot.get_fignums()
    assert report.to_html(str(path), title=title) is None
    text = path.read_text(encoding="utf-8")
    assert text == report.to_html(title=title)
    assert report.to_html(path, title=title) is None
    for tag in ("title", "h1"):
        heading = escape(title or "Ranking report")
        assert f"<{tag}>{heading}</{tag}>" in text
    assert pyplot.get_fignums() == figures_open


NAMES = [HOSTILE, "a\x00\x1b[2J\n", "caf\udce9", "$x", "_p", ""]


def assert_sound_page(result, path):
    result.to_html(path)
    text = path.read_text(encoding="utf-8")
    assert parsed(text).tables
    assert len(figures(text)) == 1


def test_systems_of_any_name_make_sound_pages(tmp_path):
    columns = [*SCORES.T, np.arange(120)]
    systems = dict(zip(NAMES, columns, strict=True))
    compared = ta.compare_systems(Y, systems, qid=QID)
    assert_sound_page(compared, tmp_path / "page.html")


@pytest.mark.parametrize("names", [NAMES[:5], NAMES[1:]], ids=["first", "last"])
def test_features_of_any_name_make_sound_pages(names, tmp_path):
    selector = ta.RankingFeatureSelector("ap").fit(SCORES, Y, qid=QID)
    screening = selector.screening_.named(names)
    assert_sound_page(screening, tmp_path / "page.html")
