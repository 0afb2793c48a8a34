"""All kinds of results: at a prompt, in a notebook, as frames and as pages."""

from __future__ import annotations

import base64
import os
import re
import sys
from datetime import date
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from dask.dataframe import from_pandas
from matplotlib import pyplot
from sklearn.linear_model import LinearRegression

import tieaware_sklearn
from tests._display.test_html import HOSTILE, parsed
from tieaware_sklearn import (
    RankingFeatureSelector,
    dask,
    evaluate,
    evaluate_batches,
    evaluate_subtopics,
    query_permutation_importance,
    sampled,
    selection_curve,
    selection_stability,
    tie_report,
    tie_treatments,
)
from tieaware_sklearn._display.html import Result
from tieaware_sklearn._display.words import width
from tieaware_sklearn.comparison import (
    compare_systems,
    official_vs_exact,
    pairwise_overlap,
    pvalues_over_orders,
    rank_biased_overlap,
    rank_correlation,
    tie_statistics,
)
from tieaware_sklearn.evaluation import (
    contingency_table,
    precision_recall_curve,
    residuals,
)
from tieaware_sklearn.judgments import assessor_agreement, depth_pool, pseudo_relevance
from tieaware_sklearn.score_precision import precision_study


def all_results(cls=Result):
    """Every kind of result, those derived from others too."""
    kinds = set()
    for kind in cls.__subclasses__():
        kinds |= {kind, *all_results(kind)}
    # not those that tests derive
    return {kind for kind in kinds if kind.__module__.startswith("tieaware_sklearn")}


RNG = np.random.default_rng(0)
Y, QID = RNG.integers(0, 3, 120), np.repeat(np.arange(12), 10)
SCORES = RNG.integers(0, 4, (120, 5)).astype(float)
LONG = [f"runs/{'of_a_very_long_name' * j}-{j}.gz" for j in range(1, 6)]
MEASURES = [
    "ndcg(gain=linear)@10",
    "err(max_label=4)@20",
    "ap(rel=2,denominator=cutoff)@10",
    "dcg(gain=[0,1,123456789012])@100",
    *("rbp(p=0.95)", "p@5", "r@5", "rr", "bpref", "esl"),
]
SYSTEMS = dict(zip(LONG, SCORES.T, strict=True))


def results() -> dict[str, Result]:
    """At least one of each kind."""
    score = SCORES[:, 0]
    segment = np.array(LONG)[QID % 5]
    report = evaluate(Y, score, qid=QID, measures=MEASURES, segment=segment)
    study = precision_study(Y, SYSTEMS, qid=QID, measure=MEASURES[2], keep=[0.99, 0.9])
    runs = [{"qid": QID, "docno": np.arange(120), "score": s} for s in SCORES.T]
    model = LinearRegression().fit(SCORES, Y)
    frame = pd.DataFrame(SYSTEMS).assign(label=Y, qid=QID)
    found = [
        *(report, report.summary(), report.by_segment(), report.summary("median")),
        tie_report(Y, score, qid=QID, measures=MEASURES),
        tie_treatments(Y, score, qid=QID, measures=MEASURES, external={LONG[3]: QID}),
        residuals(Y, score, qid=QID, measures=["rbp(p=0.95,gain=[0,0.5,1])@100"]),
        precision_recall_curve(Y, score, qid=QID),
        contingency_table(Y, score, qid=QID, k=10**9),
        sampled(Y, score, MEASURES[2], qid=QID, n_orders=5),
        rank_correlation(Y, score, qid=QID),
        rank_correlation(Y, score, qid=QID).summary(),
        compare_systems(Y, SYSTEMS, qid=QID, measure=MEASURES[3]),
        compare_systems(Y, SYSTEMS, qid=QID, test="randomization").summary(),
        *(study, study.summary()),
        depth_pool(runs, depth=3),
        pseudo_relevance(runs, m=1),
        assessor_agreement(Y.reshape(-1, 3), names=LONG[:3]),
        RankingFeatureSelector(MEASURES[:9]).fit(SCORES, Y, qid=QID)
        .screening_.named(LONG),
        query_permutation_importance(
            model, SCORES, Y, qid=QID, measures=MEASURES[:3],
            columns=dict(zip(LONG, range(5), strict=True)),
        ),
        selection_stability(
            RankingFeatureSelector(MEASURES[3]), SCORES, Y, qid=QID, n_bootstraps=2
        ),
        selection_curve(
            {name: RankingFeatureSelector(MEASURES[3]) for name in LONG[:3]},
            LinearRegression(), SCORES, Y, qid=QID, measure=MEASURES[4], cv=2,
        ),
        compare_systems(Y, SYSTEMS, qid=QID, measure=MEASURES[:4]),
        compare_systems(
            Y, SYSTEMS, qid=QID, measure=MEASURES[2:5], interval="bootstrap",
            ties=["expected", LONG[2], "best", "input"], external={LONG[2]: QID},
            n_resamples=99,
        ),
        compare_systems(Y, SYSTEMS, qid=QID, measure=[MEASURES[3]]).summary(),
        rank_biased_overlap(Y, score, qid=QID),
        pairwise_overlap(SYSTEMS, qid=QID),
        rank_biased_overlap(Y, score, qid=QID, p=0.123456789, depth=10**9).summary(),
        evaluate_subtopics(
            Y.reshape(-1, 1) >= [1, 2], score, qid=QID,
            measures=["err_ia", "alpha_ndcg(alpha=0.75)@20", "alpha_dcg@5"],
        ),
        compare_systems(Y, SYSTEMS, qid=QID, measure=MEASURES[3]).posterior(),
        official_vs_exact(
            Y, SYSTEMS, QID.astype(str), qid=QID, measures=MEASURES[:3], n_orders=3
        ),
        pvalues_over_orders(Y, SYSTEMS, qid=QID, measure=MEASURES[:3], n_orders=3),
        tie_statistics(SYSTEMS, qid=QID, rank=np.arange(len(Y))),
        evaluate_batches([frame], score=LONG[0], measures=MEASURES),
        dask.compare_systems(
            from_pandas(frame, npartitions=2), scores=LONG, measure=MEASURES[3]
        ),
    ]  # fmt: skip
    return {f"{type(one).__name__}-{i}": one for i, one in enumerate(found)}


RESULTS = results()


#: one of each kind
FIRST = {type(RESULTS[name]): name for name in reversed(RESULTS)}


def test_each_kind_of_result_is_here_and_is_a_frozen_table():
    assert set(FIRST) == all_results()
    for cls in FIRST:
        assert cls.__dataclass_params__.frozen
        assert not cls.__dataclass_params__.eq
        assert cls.__repr__ is Result.__repr__
        assert cls.__str__ is Result.__str__


def test_a_prompt_shows_the_table():
    report = evaluate([1, 0], [1, 1])
    for result in (report, report.summary(), tie_report([1, 0], [1, 1])):
        assert repr(result) == str(result)
        assert repr(result).splitlines()[1].startswith("-----")


def test_a_frame_has_the_fields_with_a_value_per_row():
    summary = evaluate([1, 0], [1, 1], measures=["rr", "p@1"]).summary()
    frame = summary.to_pandas()
    assert frame["measure"].tolist() == ["RR", "P@1"]
    assert frame["mean"].tolist() == summary.mean.tolist()
    # an interval makes two columns, a text none
    assert {"interval_low", "interval_high"} < set(frame)
    assert "average" not in frame


@pytest.mark.parametrize("name", RESULTS)
def test_results_as_html(name):
    found = parsed(RESULTS[name]._repr_html_())
    tables = RESULTS[name]._tables()
    assert len(found.tables) == len(tables)
    for shown, table in zip(found.tables, tables, strict=True):
        head, *rows = shown
        bars = table.ranges is not None
        assert len(head) == len(table.columns) + bars
        assert {len(row) for row in rows} == {len(head)}
        assert len(rows) == len(table.columns[0].values)
        cells = [row[0] for row in rows]
        assert cells == table.columns[0].cells


def test_results_of_plain_names_fit_80_columns():
    systems = dict(zip("abcde", SCORES.T, strict=True))
    qid, score = QID, SCORES[:, 0]
    segment = np.array(["one", "two"])[QID % 2]
    report = evaluate(Y, score, qid=qid, segment=segment)
    study = precision_study(Y, systems, qid=qid)
    fitted = RankingFeatureSelector().fit(SCORES, Y, qid=qid)
    comparison = compare_systems(Y, systems, qid=qid)
    docno = QID.astype(str)
    for result in (
        *(report, report.by_segment(), tie_report(Y, score, qid=qid)),
        *(study, study.summary(), comparison, fitted.screening_),
        compare_systems(
            Y, systems, qid=qid, test="randomization", interval="bootstrap"
        ),
        compare_systems(Y, systems, qid=qid, measure=["ap", "rr"]),
        official_vs_exact(Y, systems, docno, qid=qid, n_orders=3),
        pvalues_over_orders(Y, systems, qid=qid, measure=["ap", "rr"], n_orders=3),
    ):
        assert max(map(width, str(result).splitlines())) <= 80, result


def test_intervals_stay_within_the_range_of_their_measure():
    apart = evaluate([[1, 0]] * 2, [[1, 0], [0, 1]])
    for report in (RESULTS["RankingReport-0"], apart):
        summary = report.summary()
        low, high = report.bounds.T
        assert (summary.interval[:, 0] >= low).all()
        assert (summary.interval[:, 1] <= high).all()
    assert summary.interval[-1].tolist() == [0.0, 1.0]
    screening = RankingFeatureSelector(["p@1", "dcg@1"]).fit(SCORES, Y, qid=QID)
    interval = screening.screening_.interval
    assert interval[:, 0].min() >= 0
    assert interval[:, 0].max() == 1
    importance = RESULTS["PermutationImportance-20"]
    assert np.abs(importance.interval).max() <= 1


#: kinds that have a figure
DRAWN = {
    *("RankingReport", "SystemComparison", "Screening", "OfficialVsExact"),
    *("PrecisionStudy", "PermutationImportance", "SelectionCurve"),
    "PrecisionRecallCurve",
}


def figures(page):
    """The pictures of a page, as the XML that they must be."""
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [ElementTree.fromstring(base64.b64decode(one)) for one in data]


@pytest.mark.parametrize("name", FIRST.values())
def test_every_result_writes_a_page(name):
    result = RESULTS[name]
    text = result.to_html()
    assert text.startswith("<!DOCTYPE html>")
    found = parsed(text)
    assert len(found.tables) == len(result._whole())
    for shown, table in zip(found.tables, result._whole(), strict=True):
        assert len(shown) == 1 + len(table.columns[0].values)
    kind = type(result).__name__
    assert kind == "Summary" or bool(figures(text)) == (kind in DRAWN)
    # nothing is loaded from anywhere
    loads = [value for _, key, value in found.attributes if key in ("src", "href")]
    assert all(one.startswith("data:") for one in loads)
    version = f"tieaware-sklearn {tieaware_sklearn.__version__}"
    for said in (version, "numpy ", "Python", date.today().isoformat()):
        assert said in found.text


def test_what_was_found_comes_first():
    comparison = compare_systems(Y, SYSTEMS, qid=QID)
    screening = RankingFeatureSelector("ap").fit(SCORES, Y, qid=QID).screening_
    best = next(iter(SYSTEMS))
    averages = dict(zip(SYSTEMS, comparison.summary().mean, strict=True))
    best = max(averages, key=averages.get)
    differ = (comparison.adjusted_pvalues <= 0.05).sum()
    for result, said in (
        (evaluate([0, 1], [1, 1], measures="rr"), "RR is 0.7500 (95% interval [-, -], "
         "chance 0.7500); the order of ties moves it from 0.5000 to 1.0000."),
        (evaluate([0, 1], [1, 2], measures="rr"), "no order of ties changes it."),
        (comparison, f"{best} is best ({averages[best]:.4f}); {differ} of 10 differ"),
        (screening, f"of 5 features beat chance by {screening.sort_by}"),
    ):  # fmt: skip
        text = re.sub("<wbr>", "", result.to_html())
        lead = text.index('class="lead"')
        assert said in text[lead:].partition("</p>")[0]
        assert text.index("<h1>") < lead < text.index("<table>")
        assert lead < text.index("<img")


def test_a_page_has_all_rows():
    X = np.random.default_rng(0).random((120, 90))
    screening = RankingFeatureSelector("ap").fit(X, Y, qid=QID).screening_
    assert len(str(screening).splitlines()) < 40
    assert len(parsed(screening.to_html()).tables[0]) == 92


def test_a_file_is_replaced_once_the_page_is_complete(tmp_path, monkeypatch):
    report, path = evaluate([0, 1], [1, 2]), tmp_path / "page.html"
    figures_open = pyplot.get_fignums()
    assert report.to_html(path) is None
    assert path.read_text(encoding="utf-8") == report.to_html()
    assert pyplot.get_fignums() == figures_open
    link = tmp_path / "link.html"
    link.symlink_to(path)
    path.write_text("old")
    report.to_html(str(link))
    assert link.is_symlink()
    assert path.read_text(encoding="utf-8") == report.to_html()
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="full"):
        report.to_html(path)
    assert path.read_text() == "old"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.html", "page.html"]


def test_without_matplotlib_a_page_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = evaluate([0, 1], [1, 2]).to_html()
    assert "because matplotlib is not installed" in text
    assert not figures(text)


@pytest.mark.parametrize(
    "name", [HOSTILE, "a\x00\x1b[2J\n", "caf\udce9", "$x", "_p", ""]
)
def test_names_of_any_kind_make_sound_pages(name, tmp_path):
    rows = np.arange(120)
    comparison = compare_systems(Y, {name: SCORES[:, 0], "b": rows}, qid=QID)
    fitted = RankingFeatureSelector("ap").fit(SCORES, Y, qid=QID)
    screening = fitted.screening_.named([name, *"bcde"])
    for result in (comparison, screening):
        path = tmp_path / "page.html"
        result.to_html(path)
        text = path.read_text(encoding="utf-8")
        assert parsed(text).tables
        assert len(figures(text)) == 1
