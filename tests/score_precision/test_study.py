"""How coarse scores may become: a study, its tables and its frames."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tieaware_sklearn import evaluate, precision_study, ranking_score
from tieaware_sklearn.comparison import compare_systems, rank_correlation
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.score_precision import band_scores, round_scores, worst_case_loss

WEB = make_web_search(n_queries=60, random_state=1)
TEXT, CLICKS = WEB.data[:, 5], WEB.data[:, 11]
SYSTEMS = {"text": TEXT, "clicks": CLICKS, "both": TEXT + CLICKS}
SYSTEMS["length"] = -WEB.data[:, 3]
LEVELS = ["rho=1.5", "bits=3", "decimals=0", "bits=float16", "rho=2.0"]


def study_of(systems=SYSTEMS, **options):
    return precision_study(WEB.target, systems, qid=WEB.qid, **options)


MEASURES = ("ap", "fallout@5")
STUDIES = {name: study_of(measure=name, coarseness=LEVELS) for name in MEASURES}


@pytest.mark.parametrize("measure", STUDIES)
def test_every_number_by_hand(measure):
    study = STUDIES[measure]
    assert study.levels == ("exact", *LEVELS)
    assert study.systems == tuple(SYSTEMS)
    means = study.summary().mean.reshape(len(study.levels), -1)
    side = 1 if measure == "ap" else -1
    for i, level in enumerate([None, *LEVELS]):
        columns = dict(SYSTEMS)
        if level:
            for name, scores in SYSTEMS.items():
                columns[name] = round_scores(scores, level, qid=WEB.qid)
        compared = compare_systems(WEB.target, columns, qid=WEB.qid, measure=measure)
        for name in ("expected", "best", "worst", "pvalues", "difference"):
            assert np.array_equal(getattr(study, name)[i], getattr(compared, name))
        assert means[i].tolist() == compared.summary().mean.tolist()
        correlation = rank_correlation(side * means[0], side * means[i])
        values = dict(zip(correlation.coefficients, correlation.values[0], strict=True))
        assert study.tau_b[i] == values["tau_b"]
        assert study.tau_ap[i] == values["tau_ap"]


@pytest.mark.parametrize("measure", STUDIES)
def test_inferiority_is_a_one_sided_t_test(measure):
    study = STUDIES[measure]
    exact = study.expected[0]
    for i, rough in enumerate(study.expected):
        for t, share in enumerate((0.99, 0.97, 0.95)):
            margin = exact - share * rough
            if measure == "ap":
                margin = rough - share * exact
            pvalue = stats.ttest_1samp(margin, 0, alternative="greater").pvalue
            assert study.inferiority[i, t] == pytest.approx(pvalue)
    is_kept = study.inferiority <= 0.05
    assert study.not_inferior().tolist() == is_kept.sum(axis=2).tolist()


@pytest.mark.parametrize("measure", STUDIES)
def test_shares_and_widths_of_a_study(measure):
    study = STUDIES[measure]
    is_significant = study.pvalues <= 0.05
    assert study.discrimination().tolist() == is_significant.mean(axis=1).tolist()
    width = np.abs(study.best.mean(axis=1) - study.worst.mean(axis=1))
    summary = study.summary()
    np.testing.assert_allclose(summary.imprecision, width.ravel() / summary.mean)
    np.testing.assert_array_equal(study.changes()[0], 0)


def test_false_findings_of_pairs():
    # both, lost, new, neither, turned round, no longer defined
    difference = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, -1, np.nan]])
    exact = [0.01, 0.01, 0.5, 0.5, 0.01, 0.01]
    coarse = [0.02, 0.3, 0.05, 0.4, 0.01, np.nan]
    pvalues = np.array([exact, coarse])
    study = replace(STUDIES["ap"], difference=difference, pvalues=pvalues)
    # the new one, and the one that is significant for the other system
    assert study.false_positives().tolist() == [0, 2]
    # the lost one, and the one that is not defined; not the one that turned round
    assert study.false_negatives().tolist() == [0, 2]


def test_hardly_any_coarseness_changes_nothing():
    levels = ["rho=1.0001", "decimals=300", "significant=17", "bits=60"]
    # the mean of an unchanged system is no more than all of itself
    options = {"coarseness": levels, "keep": [0.99, 1]}
    study = study_of(**options)
    assert (study.changes() == 0).all()
    assert (study.not_inferior() == [4, 0]).all()
    assert (study.tau_b == 1).all()
    assert (study.inferiority[:, 1] == 1).all()


@pytest.mark.parametrize(("ties", "scale"), [("keep", "query"), ("order", "all")])
def test_options_reach_the_scores_of_a_system_alone(ties, scale):
    levels = ["rho=1.5", "levels=5"]
    options = {"coarseness": levels, "existing_ties": ties, "scale": scale}
    study = study_of(CLICKS, **options, progress=True)
    bands = band_scores(CLICKS, 1.5, qid=WEB.qid, existing_ties=ties)
    by_query = WEB.qid if scale == "query" else None
    levels = round_scores(CLICKS, "levels=5", qid=by_query)
    for i, scores in enumerate((bands, levels), start=1):
        report = evaluate(WEB.target, scores, qid=WEB.qid, measures="ndcg@10")
        assert np.array_equal(study.expected[i], report.expected)
    assert len(study.pairs) == 0
    assert np.isnan(study.discrimination()).all()
    assert study.false_positives().tolist() == [0] * 3
    assert "disc" not in str(study)
    assert "1 system on 60 queries" in str(study)


@pytest.mark.parametrize("measure", ["rr", "rbp(p=0.5)"])
def test_bands_of_documents_as_they_stand_lose_no_more_than_the_bound(measure):
    rng = np.random.default_rng(0)
    labels, qid = rng.random(3000) < 0.1, np.arange(3000) // 30
    # all below the third tie, from the middle of a band on
    columns = [np.tile(rng.permutation(30), 100) for _ in range(2)]
    ties = np.maximum(np.column_stack(columns), 26)
    options = {"measure": measure, "coarseness": ["rho=1.4", "decimals=1"]}
    study = precision_study(labels, ties, qid=qid, existing_ties="order", **options)
    bound = worst_case_loss(measure, 1.4)
    loss = study.expected[0] - study.expected[1]
    assert 0 < loss.max() <= bound
    # the exact ranking is the one whose ties are broken as they stand
    by_query = {"qid": qid, "measure": measure, "average": None}
    for j, scores in enumerate(ties.T):
        exact = ranking_score(labels, scores, ties="input", **by_query)
        assert np.array_equal(study.expected[0, :, j], exact)
        rounded = ranking_score(labels, scores, **by_query)
        assert np.array_equal(study.expected[2, :, j], rounded)
    assert study.best[0].tolist() == study.worst[0].tolist()
    assert (study.tied_documents[0] == 0).all()
    np.testing.assert_allclose(study.bits[0], np.log2(30), rtol=1e-12)
    kept = precision_study(labels, ties, qid=qid, **options)
    loss = kept.expected[0] - kept.expected[1]
    assert loss.max() > bound


def test_row_order_does_not_matter():
    rows = np.random.default_rng(0).permutation(len(WEB.qid))
    shuffled = {name: scores[rows] for name, scores in SYSTEMS.items()}
    options = {"coarseness": LEVELS, "test": "wilcoxon"}
    a = study_of(**options)
    labels, qid = WEB.target[rows], WEB.qid[rows]
    b = precision_study(labels, shuffled, qid=qid, n_jobs=2, **options)
    assert str(a) == str(b)
    for name in ("bits", "inferiority", "pvalues", "tau_b", "tau_ap", "difference"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


def test_skipped_queries_are_left_out_of_tests():
    rows = WEB.qid != WEB.qid[0]
    labels = np.where(rows, WEB.target, 0)
    options = {"coarseness": ["rho=1.5"], "zero_relevance": "skip"}
    study = precision_study(labels, SYSTEMS, qid=WEB.qid, **options)
    subset = {name: scores[rows] for name, scores in SYSTEMS.items()}
    without = precision_study(labels[rows], subset, qid=WEB.qid[rows], **options)
    assert np.isnan(study.expected[:, 0]).all()
    assert np.array_equal(study.summary().mean, without.summary().mean)
    assert np.array_equal(study.inferiority, without.inferiority)
    assert np.array_equal(study.pvalues, without.pvalues)
    assert len(study.pairs) == 6


def test_systems_that_retrieve_nothing():
    empty = np.full(len(TEXT), -np.inf)
    systems = {"text": TEXT, "clicks": CLICKS, "none": empty}
    options = {"measure": "esl", "coarseness": "rho=2"}
    with pytest.warns(UndefinedMetricWarning, match="ESL is undefined for every"):
        study = study_of(systems, **options)
    assert np.isnan(study.summary().mean[2::3]).all()
    assert np.isfinite(study.tau_b).all()
    assert np.isnan(study.difference[0, 1:]).all()
    assert study.bits[:, 2].tolist() == [0, 0]
    assert study.tied_documents[:, 2].tolist() == [0, 0]
    assert len(str(study).splitlines()) > 4


def test_a_study_of_nothing_that_is_relevant():
    with pytest.warns(UndefinedMetricWarning):
        study = precision_study([0, 0], {"a": [1, 2]}, zero_relevance="skip")
    assert np.isnan(study.tau_b).all()
    assert study.not_inferior().tolist() == [[0, 0, 0]] * 6


def test_what_is_not_retrieved_has_no_score():
    options = {"measure": "r", "existing_ties": "order"}
    study = precision_study([1, 0, 1], [-np.inf, 2, 2], **options)
    assert (study.expected == 1 / 2).all()
    assert study.bits[0] == np.log2(2)


def test_documents_left_out_do_not_tie():
    labels, qid = [1, np.nan, 0, 1, 0], [1, 1, 1, 2, 2]
    options = {"coarseness": "decimals=0", "unjudged": "drop"}
    study = precision_study(labels, {"a": [2, 2, 1, 1, 1]}, qid=qid, **options)
    assert study.tied_documents.tolist() == [[0.5], [0.5]]
    # log2 of two scores and of one
    assert study.bits.tolist() == [[0.5], [0.5]]


def test_levels_that_are_repeated_count_once():
    levels = ["rho=2", "rho=4/2", " bits = 3", "levels=3"]
    study = precision_study([0, 1, 0], [1, 2, 3], coarseness=levels, keep=[0.9, 0.9])
    assert study.levels == ("exact", "rho=2", "bits=3", "levels=3")
    assert study.keep == (0.9,)


def test_the_table_of_a_study():
    study = STUDIES["ap"]
    lines = str(study).splitlines()
    assert lines[0].split()[:4] == ["AP", "bits", "tied", "change"]
    levels = [line.split()[0] for line in lines[2:8]]
    assert levels == list(study.levels)
    assert max(map(len, lines)) <= 80
    assert "significantly (6 in all)" in str(study)


def test_the_table_and_frame_of_a_summary():
    study = STUDIES["ap"]
    summary = study.summary()
    head, _, *rows = str(summary).splitlines()
    assert head.split()[:4] == ["AP", "system", "mean", "best"]
    assert rows[6 * 4].startswith("Hidden columns: ")
    frame = summary.to_pandas().set_index(["coarseness", "system"])
    assert frame.columns.tolist()[:2] == ["mean", "best"]
    row = frame.loc[("bits=3", "both")]
    for name in ("mean", "best", "worst", "imprecision", "bits", "tied_documents"):
        assert row[name] == getattr(summary, name)[2 * 4 + 2]
    assert row["inferiority_pvalue_0.97"] == study.inferiority[2, 1, 2]
    assert row.best == pytest.approx(study.best[2, :, 2].mean())


def test_the_frame_of_a_study():
    study = STUDIES["ap"]
    frame = study.to_pandas()
    assert frame.columns.tolist()[:3] == ["qid", "coarseness", "system"]
    frame = frame[frame.coarseness == "bits=3"]
    both = frame[frame.system == "both"]
    assert both.change.tolist() == study.changes()[2, :, 2].tolist()
    assert both.qid.tolist() == study.qid.tolist()
    assert both.worst.tolist() == study.worst[2, :, 2].tolist()


# rounding ties the two documents of the first queries: RR is 3/4 and not 1
PAIRS_OF_LABELS = np.tile([1, 0], 40)
PAIRS_OF_SCORES = np.tile([2.4, 2.3], 40)
QID = np.repeat(np.arange(40), 2)
CHANGED = {
    f"{n} change": np.where(n > QID, PAIRS_OF_SCORES, 4.0 * PAIRS_OF_SCORES)
    for n in (0, 9, 10, 12)
}


def study_of_changes(names):
    systems = {name: CHANGED[name] for name in names}
    options = {"measure": "rr", "coarseness": "decimals=0", "keep": [0.7]}
    return precision_study(PAIRS_OF_LABELS, systems, qid=QID, **options)


def test_changed_queries_are_counted():
    study = study_of_changes(CHANGED)
    assert study.changed().tolist() == [[0, 0, 0, 0], [0, 9, 10, 12]]
    assert study.not_inferior().tolist() == [[4], [4]]
    assert study.summary().changed.tolist() == [0, 0, 0, 0, 0, 9, 10, 12]


@pytest.mark.parametrize(("names", "cells", "has_conclusion"), [
    (["0 change", "9 change"], ["0", "few"], False),
    ([*CHANGED], ["0", "2/2"], False),
    (["10 change", "12 change"], ["10", "2"], True),
])  # fmt: skip
def test_few_changed_queries_have_no_verdict(names, cells, has_conclusion):
    """The p-values stay; the table counts systems in which ten queries change."""
    study = study_of_changes(names)
    head, _, exact_row, row, *_ = str(study).splitlines()
    at = head.split().index(">70%")
    assert exact_row.split()[at] == "-"
    assert row.split()[at - 1 : at + 1] == cells
    assert bool(study._conclusion()) == has_conclusion


def test_the_legend_counts_systems_with_enough_changed_queries():
    study = study_of_changes(["10 change", "12 change"])
    legend = " ".join(str(study).split())
    assert "values of 10 queries change. 3/4: 3 of 4 tested systems keep" in legend


BAD_OPTIONS = [
    ({"coarseness": []}, "coarseness must not be empty"),
    ({"coarseness": ["levels=x"]}, "levels must be an integer >= 2, got 'x'"),
    ({"coarseness": {"rho": 2}}, "coarseness must be a string such .* got 'rho'"),
    ({"keep": []}, "keep must not be empty"),
    ({"keep": [1.5]}, r"keep must be a number in \(0, 1\], got 1.5"),
    ({"keep": True}, r"keep must be a number in \(0, 1\], got True"),
    ({"ties": ["best", "expected"]}, "ties must be one treatment"),
    ({"alpha": 0}, r"alpha must be a number in \(0, 1\), got 0"),
    ({"test": "z"}, "test must be one of"),
    ({"scale": "fit"}, "scale must be one of"),
    ({"existing_ties": "x"}, "existing_ties must be one of"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        precision_study([0, 1, 0], {"a": [1, 2, 3]}, **options)


@pytest.mark.parametrize("measure", ["ap", "esl"])
def test_the_best_systems_alone(measure):
    options = {"measure": measure, "coarseness": "levels=4"}
    means = study_of(**options).summary().mean[: len(SYSTEMS)]
    side = 1 if measure == "ap" else -1
    best = np.argsort(-side * means)[:2]
    names = [name for i, name in enumerate(SYSTEMS) if i in best]
    top = study_of(top=2, **options)
    assert top.systems == tuple(names)
    alone = {name: SYSTEMS[name] for name in names}
    same = study_of(alone, **options)
    np.testing.assert_array_equal(top.pvalues, same.pvalues)
    assert str(top) == str(same)
    with pytest.raises(ValueError, match="top must be an integer >= 1, got 0"):
        study_of(top=0, **options)


@pytest.mark.parametrize("measure", ["ap", "esl"])
def test_a_column_of_a_rule_stays_with_its_system(measure):
    rng = np.random.default_rng(0)
    docno = np.column_stack([rng.permutation(len(WEB.qid)) for _ in SYSTEMS])
    options = {"measure": measure, "coarseness": "levels=4", "ties": "ids"}
    options["external"] = {"ids": (docno, "ascending")}
    study = study_of(**options)
    top = study_of(top=2, **options)
    for j, name in enumerate(top.systems):
        i = study.systems.index(name)
        np.testing.assert_array_equal(top.expected[..., j], study.expected[..., i])
