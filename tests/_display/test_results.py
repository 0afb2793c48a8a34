"""All kinds of results: at a prompt, in a notebook, as frames and as pages."""

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
from sklearn.linear_model import LinearRegression

import tieaware_sklearn as ta
from tests._display.test_html import HOSTILE, parsed
from tieaware_sklearn import comparison, evaluation, judgments
from tieaware_sklearn._display.html import Result
from tieaware_sklearn.score_precision import precision_study


def all_results(cls=Result):
    """Every kind of result, those derived from others too."""
    kinds = set()
    for kind in cls.__subclasses__():
        kinds |= {kind, *all_results(kind)}
    # not those that tests derive, nor what others are derived from
    base = comparison._segmented.SegmentedResult
    named = {one for one in kinds if one.__module__.startswith("tieaware_sklearn")}
    return named - {base}


PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
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
    score, own = SCORES[:, 0], {"qid": QID}
    segment = np.array(LONG)[QID % 5]
    report = ta.evaluate(Y, score, measures=MEASURES, segment=segment, **own)
    runs = [{**own, "docno": np.arange(120), "score": s} for s in SCORES.T]
    LinearRegression()
    frame = pd.DataFrame(SYSTEMS).assign(label=Y, **own)
    ties = {"ties": ["expected", LONG[2], "best"], "external": {LONG[2]: QID}}
    found = [
        *(report, report.by_segment(), report.summary("median")),
        ta.tie_report(Y, score, measures=MEASURES, **own),
        ta.tie_treatments(Y, score, measures=MEASURES, external={LONG[3]: QID}, **own),
        evaluation.residuals(Y, score, measures="rbp(p=0.9,gain=[0,0.5,1])@100", **own),
        evaluation.precision_recall_curve(Y, score, **own),
        evaluation.contingency_table(Y, score, k=10**9, **own),
        ta.sampled(Y, score, ta.ranking_score, n_orders=5, **own),
        comparison.rank_correlation(Y, score, **own),
        precision_study(Y, SYSTEMS, measure=MEASURES[2], keep=[0.99, 0.9], **own),
        judgments.depth_pool(runs, depth=3),
        judgments.pseudo_relevance(runs, m=1),
        judgments.assessor_agreement(Y.reshape(-1, 3), names=LONG[:3]),
        judgments.estimate_recall(Y, 10**9, n_found=10**6),
        judgments.leave_one_out(runs, runs[0] | {"target": Y}, measure=MEASURES[2]),
        ta.RankingFeatureSelector(MEASURES[:9]).fit(SCORES, Y, qid=QID)
        .screening_.named(LONG),
        ta.compare_systems(Y, SYSTEMS, measure=MEASURES[3], **own),
        ta.compare_systems(
            Y, SYSTEMS, measure=MEASURES[2:5], interval="bootstrap", n_resamples=99,
            **ties, **own
        ),
        comparison.rank_biased_overlap(Y, score, p=0.123456789, depth=10**9, **own),
        comparison.top_k_overlap(-score, score, k=3, **own),
        ta.pvalues_over_orders(Y, SYSTEMS, measure=MEASURES[:3], n_orders=3, **own),
        comparison.tie_statistics(SYSTEMS, rank=np.arange(len(Y)), **own),
        ta.evaluate_batches([frame], score=LONG[0], measures=MEASURES),
    ]  # fmt: skip
    return {f"{type(one).__name__}-{i}": one for i, one in enumerate(found)}


RESULTS = results()
#: one of each kind
FIRST = {type(RESULTS[name]): name for name in reversed(RESULTS)}


def test_each_kind_of_result_is_here_and_is_a_frozen_table():
    assert set(FIRST) == all_results()
    for cls, name in FIRST.items():
        assert cls.__dataclass_params__.frozen
        assert not cls.__dataclass_params__.eq
        assert repr(RESULTS[name]) == str(RESULTS[name])
        # below the tables of a comparison stands what they say
        assert cls.__repr__ in (
            Result.__repr__,
            ta.comparison.SystemComparison.__repr__,
        )


#: kinds that have a figure
DRAWN = {"RankingReport", "SystemComparison", "Screening"}
DRAWN |= {"PrecisionStudy", "PrecisionRecallCurve"}


def figures(page):
    """The pictures of a page, as the XML that they must be."""
    data = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [ElementTree.fromstring(b64decode(one)) for one in data]


def parsed_as(tables, text):
    """HTML that has the names and as many rows and columns as these tables."""
    found = parsed(text)
    for (head, *rows), table in zip(found.tables, tables, strict=True):
        assert len(head) == len(table.columns)
        assert {len(row) for row in rows} == {len(head)}
        # a page has no more of a long table
        shown = [row[0] for row in rows]
        assert len(shown) >= min(len(table.columns[0].cells), 50)
        assert shown == table.columns[0].cells[: len(shown)]
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_html_for_notebooks_and_the_first_of_a_kind_a_page(name):
    result, kind = RESULTS[name], type(RESULTS[name])
    parsed_as(result._tables(), result._repr_html_())
    if name != FIRST[kind]:
        return
    text = result.to_html()
    assert text.startswith("<!DOCTYPE html>")
    found = parsed_as(result._whole(), text)
    assert kind is evaluation.Summary or bool(figures(text)) == (kind.__name__ in DRAWN)
    # nothing is loaded from anywhere
    loads = [value for _, key, value in found.attributes if key in ("src", "href")]
    assert all(one.startswith("data:") for one in loads)
    version = f"tieaware-sklearn {ta.__version__}"
    for said in (version, "numpy ", "Python", date.today().isoformat()):
        assert said in found.text


def columns_of_heads(kind):
    """The columns that docs/tables.md names for heads of a kind of result."""
    named = {}
    lines = re.findall(
        rf"^\| (?:all|{kind}\b.*?) \| (.+) \| (.+) \|$", PAGE.read_text(), re.M
    )
    for heads, columns in lines:
        for head in re.findall("`(.+?)`", heads):
            named.setdefault(head, []).append({*re.findall("`(.+?)`", columns)})
    return named


def shown_tables():
    """Tables of all results, of those derived from them, and their data frames."""
    own = {"qid": QID, "segment": QID % 2}
    compared = ta.compare_systems(Y, SYSTEMS, measure=MEASURES[2:4], **own)
    ratios = ta.compare_systems(Y, SYSTEMS, measure="rr", average="geometric", qid=QID)
    study = precision_study(Y, SYSTEMS, measure="rr", **own)
    derived = [
        *(compared, compared.summary(), compared.by_segment(), ratios),
        *(compared.queries_needed(0.1), study, study.summary()),
    ]
    for result in [*RESULTS.values(), *derived]:
        for table in [*result._tables(), *result._whole()]:
            yield result, table


def test_data_frames_have_the_columns_of_tables():
    missing = set()
    for result, table in shown_tables():
        frame = eval(f"result.{table.frame}", {"result": result})
        measure = getattr(result, "measure", ())
        measures = np.ravel(getattr(result, "measures", measure)).tolist()
        columns = {*frame.columns, *frame.get("figure", ()), *dir(result)}
        for measure in measures:
            columns |= {
                re.sub(f"^{re.escape(measure)}_", "M_", name) for name in columns
            }
        kind = type(result).__name__
        named = columns_of_heads(kind)
        for column in table.columns[table.left :]:
            head = column.head
            if head.split(" ")[0] in measures:
                head = "M"
            names = [{column.head}, *named.get(head, [])]
            if head and not any(each <= columns for each in names):
                missing.add(f"{kind}: {head}: {table.frame}")
    assert sorted(missing) == []


def test_results_of_plain_names_fit_80_columns():
    systems, own = dict(zip("abcde", SCORES.T, strict=True)), {"qid": QID}
    segment = np.array(["one", "two"])[QID % 2]
    report = ta.evaluate(Y, SCORES[:, 0], segment=segment, **own)
    for result in (
        *(report, report.by_segment(), ta.tie_report(Y, SCORES[:, 0], **own)),
        ta.RankingFeatureSelector().fit(SCORES, Y, **own).screening_,
        ta.compare_systems(
            Y, systems, test="randomization", interval="bootstrap", **own
        ),
        ta.compare_systems(Y, systems, measure=["ap", "rr"], **own),
    ):
        assert max(map(len, str(result).splitlines())) <= 80, result


def test_intervals_stay_within_the_range_of_their_measure():
    apart = ta.evaluate([[1, 0]] * 2, [[1, 0], [0, 1]])
    for report in (RESULTS["RankingReport-0"], apart):
        summary = report.summary()
        low, high = report.bounds.T
        assert (summary.interval[:, 0] >= low).all()
        assert (summary.interval[:, 1] <= high).all()
    assert summary.interval[-1].tolist() == [0.0, 1.0]
    y, qid = [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3]
    systems = {"nearly": [2, 1, 2, 1, 1, 2], "ideal": y}
    summary = ta.compare_systems(y, systems, qid=qid).summary()
    assert summary.interval[:, 1].tolist() == [1, 1]
    screening = ta.RankingFeatureSelector(["p@1", "dcg@1"]).fit(SCORES, Y, qid=QID)
    interval = screening.screening_.interval
    assert interval[:, 0].min() >= 0
    assert interval[:, 0].max() == 1


def test_what_was_found_comes_first():
    compared = ta.compare_systems(Y, SYSTEMS, qid=QID)
    averages = dict(zip(SYSTEMS, compared.summary().mean, strict=True))
    best = max(averages, key=averages.get)
    assert (compared.adjusted_pvalues > 0.05).all()
    mean = f"{best} has the highest mean ({averages[best]:.4f}), but is not shown"
    for result, said in (
        (ta.evaluate([0, 1], [1, 1], measures="rr"), "RR is 0.7500 (95% interval "
         "[-, -], chance 0.7500); the order of ties moves it from 0.5000 to 1.0000."),
        (ta.evaluate([0, 1], [1, 2], measures="rr"), "no order of ties changes it."),
        (ta.evaluate([0, 1], [1, 2], measures="rr").summary(), "RR is 1.0000 (95%"),
        (compared, mean),
        (compared, "; no difference is significant (corrected p &gt; 0.05): these "
         "queries do not show which system is better."),
        # two systems, in words; lower is better
        (ta.compare_systems([1, 0] * 3, {"a": [2, 1] * 3, "b": [1, 2] * 3},
                            qid=[1, 1, 2, 2, 3, 3], measure="esl"),
         "By ESL, a is not shown to be better than b: ahead by 1.0000 (100.0% less; "
         "95% interval [-, -], p = 0.2500); the order of tied documents does not "
         "change which is ahead."),
        (ta.compare_systems([1, 0] * 3, {"a": [2, 1, 1, 1, 1, 2], "b": [1] * 6},
                            qid=[1, 1, 2, 2, 3, 3], measure="p@1"),
         "a and b are equal on average, but not in every order of tied documents."),
        (ta.compare_systems([[1, 0]], {"a": [[2, 1]], "b": [[1, 2]]}, measure="rr"),
         "By RR, a is ahead of b by 0.5000, which no test covers."),
    ):  # fmt: skip
        text = re.sub("<wbr>", "", result.to_html())
        lead = text.index('class="lead"')
        assert said in text[lead:].partition("</p>")[0]
        assert text.index("<h1>") < text.index("<time>") < lead < text.index("<table>")
        assert lead < text.index("<img")


def test_a_page_explains_its_columns():
    selector = ta.RankingFeatureSelector(["ndcg@10", "rr"]).fit(SCORES, Y, qid=QID)
    report = ta.evaluate(Y, SCORES[:, 0], qid=QID, measures=["ndcg@10", "rr"])
    for page in (selector.screening_.to_html(), report.to_html()):
        assert "chance" in page.partition("What the columns mean")[2]


def test_a_page_has_all_rows():
    X = np.random.default_rng(0).random((120, 40))
    screening = ta.RankingFeatureSelector("ap").fit(X, Y, qid=QID).screening_
    assert len(str(screening).splitlines()) < 40
    text = screening.to_html()
    first, everything = parsed(text).tables
    assert (len(first), len(everything)) == (22, 42)
    assert f"of 40 features beat chance by {screening.sort_by}" in text


@pytest.mark.parametrize("title", [None, "Winter & spring"])
def test_a_page_goes_into_a_file_and_has_a_title(title, tmp_path):
    report, path = ta.evaluate([0, 1], [1, 2]), tmp_path / "page.html"
    path.write_text("old")
    figures_open = pyplot.get_fignums()
    assert report.to_html(str(path), title=title) is None
    text = path.read_text(encoding="utf-8")
    assert text == report.to_html(title=title)
    assert report.to_html(path, title=title) is None
    for tag in ("title", "h1"):
        assert f"<{tag}>{escape(title or 'Ranking report')}</{tag}>" in text
    assert pyplot.get_fignums() == figures_open


def test_names_of_any_kind_make_sound_pages(tmp_path):
    names = [HOSTILE, "a\x00\x1b[2J\n", "caf\udce9", "$x", "_p", ""]
    systems = dict(zip(names, [*SCORES.T, np.arange(120)], strict=True))
    fitted = ta.RankingFeatureSelector("ap").fit(SCORES, Y, qid=QID)
    path = tmp_path / "page.html"
    for result in (
        ta.compare_systems(Y, systems, qid=QID),
        *(fitted.screening_.named(some) for some in (names[:5], names[1:])),
    ):
        result.to_html(path)
        text = path.read_text(encoding="utf-8")
        assert parsed(text).tables
        assert len(figures(text)) == 1
