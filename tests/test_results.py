"""Findings on data: each command of docs/results prints what its page shows."""

import gzip
import importlib
import re
import shlex
from dataclasses import dataclass
from glob import glob
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.results import (
    _shared,
    constant_features,
    deep_learning,
    early_stopping,
    empty_queries,
    score_precision,
    tracks,
    winners,
)
from tests.pages import alike
from tieaware_sklearn import ranking_score
from tieaware_sklearn.score_precision import round_scores

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results.md"
FINDINGS = sorted((DOCS / "results").glob("*.md"))
#: Pages whose commands are all commands of findings.
PAGES = [
    *FINDINGS,
    DOCS / "mslr_features.md",
    DOCS / "yang2016.md",
]
#: Commands that train models: library, its version on the page, and the tolerance.
#: The figures of models differ between machines.
MODELS = {
    "early_stopping lightgbm": ("lightgbm", "4.7", 0.06),
    "early_stopping xgboost": ("xgboost", "3.2", 0.06),
    "score_precision --letor": ("lightgbm", "4.7", 0.5),
    "split_queries": ("scikit-learn", "1.9", 0.03),
}
#: Modules of other commands that take more than ten seconds.
LONG = {"deep_learning", "score_precision", "tracks", "yang2016"}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@dataclass
class Command:
    """A command of a page, and the lines that the page shows below it."""

    module: str
    arguments: list[str]
    lines: list[str]

    def model(self):
        """Return the entry of `MODELS`, None if the command trains no models."""
        text = " ".join([self.module, *self.arguments])
        for start, model in MODELS.items():
            if text.startswith(start):
                return model
        return None

    def takes_long(self) -> bool:
        return self.module in LONG or self.model() is not None


def plain(text: str) -> list[str]:
    """Return the lines of a text without layout, horizontal rules and empty lines."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line.strip("-")]


def without_tree_counts(lines: list[str]) -> list[str]:
    """Replace numbers of two digits and more, such as the trees of an early stop."""
    return [re.sub(r" \d\d+ ", " ## ", line) for line in lines]


def commands() -> list[Command]:
    """Return the commands of the pages, each with the lines up to the next command."""
    commands = []
    for page in PAGES:
        blocks = re.findall(r"^```(sh|text)\n(.*?)\n```", page.read_text(), re.M | re.S)
        assert blocks[0][0] == "sh", page
        for kind, block in blocks:
            if kind == "text":
                commands[-1].lines.extend(plain(block))
                continue
            words = shlex.split(block.replace("\\\n", " "))
            assert words[:2] == ["python", "-m"]
            module = words[2].removeprefix("benchmarks.results.")
            commands.append(Command(module, words[3:], []))
    return commands


def command_cases():
    cases = []
    for command in commands():
        marks = [pytest.mark.weekly] if command.takes_long() else []
        cases.append(pytest.param(command, marks=marks, id=command.module))
    return cases


@pytest.fixture
def printed(monkeypatch, capsys):
    """Return a function that runs the module of a command and returns its output."""

    def printed(module: str, arguments: list[str]) -> str:
        monkeypatch.setattr("sys.argv", [module, *arguments])
        with threadpool_limits(1, "openmp"):
            importlib.import_module(f"benchmarks.results.{module}").main()
        return capsys.readouterr().out

    return printed


def test_the_table_has_a_line_for_each_finding():
    linked = re.findall(r"^\|.*\]\(results/(\w+)\.md\) \|$", RESULTS.read_text(), re.M)
    assert linked[0] == "deep_learning"
    assert len(linked) == 14
    assert sorted(linked) == [page.stem for page in FINDINGS]


@pytest.mark.parametrize("page", FINDINGS, ids=lambda page: page.stem)
def test_a_page_asks_a_question_and_names_its_command_and_a_caveat(page):
    text = page.read_text()
    label, title, first, *_ = re.split(r"\n+(?=# )|\n\n", text)
    assert label == f"({page.stem.replace('_', '-')})="
    assert title.startswith("# ")
    # a question, then the answer
    assert re.search(r"\?\s+[A-Z]", first)
    assert "```sh\n" in text
    assert "(../results.md#data-and-commands)" in text
    assert len(re.findall(r"^\*Caveat\.\*|^## Caveats$", text, re.M)) == 1


@pytest.mark.parametrize("command", command_cases())
def test_commands_print_what_the_page_shows(command, shared_data, monkeypatch, printed):
    model = command.model()
    tolerance = 0.0
    if model is not None:
        library, tried, tolerance = model
        if not version(library).startswith(tried):
            pytest.skip(f"figures are those of {library} {tried}")
    lines = command.lines
    if find_spec("ir_measures") is None:
        # what ir-measures prints comes last
        is_head = [line.startswith("ir-measures") for line in lines]
        if any(is_head):
            lines = lines[: is_head.index(True)]
    assert len(lines) >= 3
    monkeypatch.chdir(shared_data)
    arguments = []
    for word in command.arguments:
        arguments += sorted(glob(word)) or [word]
    output = plain(printed(command.module, arguments))
    if model is None:
        missing = [line for line in lines if line not in output]
    else:
        lines = without_tree_counts(lines)
        output = without_tree_counts(output)
        missing = []
        for line in lines:
            if not any(alike(line, printed_line, tolerance) for printed_line in output):
                missing.append(line)
    assert missing == []


WITHOUT_FILES = [
    "winners",
    "official",
    "constant_run",
    "constant_features",
    "empty_queries",
    "row_order",
    "hash_codes",
    "tracks",
    "deep_learning",
]


@pytest.mark.parametrize("module", WITHOUT_FILES)
def test_commands_run_without_files(module, printed):
    output = printed(module, [])
    assert len(plain(output)) >= 2


def test_two_winners():
    results = winners.comparisons(winners.made_up())
    tables = winners.disagreements(winners.conclusions(results))
    (rows,) = tables.values()
    assert [row[-1] for row in rows] == ["fine", "coarse", "coarse", "-"]
    for row in winners.averages(results):
        _, descending, ascending, ranks, exact, worst, best = row
        assert worst <= ranks <= best
        assert worst <= min(descending, ascending) <= exact
        assert exact <= max(descending, ascending) <= best


def runs_with_a_constant_run():
    runs = winners.made_up()
    runs.scores["constant"] = np.zeros(len(runs.qid))
    return runs


def significant_pairs(runs, ties, measure="ap"):
    """Return the winner and the loser of each significant difference."""
    results = winners.comparisons(runs, measure, correction=None)
    result = results[ties]
    pairs = set()
    for i, (first, second) in enumerate(result.pairs.tolist()):
        if result.pvalues[i] > 0.05:
            continue
        if result.difference[i] > 0:
            pairs.add((first, second))
        else:
            pairs.add((second, first))
    return pairs


@pytest.mark.parametrize(("i", "measure"), [(0, "ap"), (1, "p@10")])
def test_rules_of_a_track_against_pairs_and_places(i, measure):
    runs = runs_with_a_constant_run()
    study = tracks.study(runs, ["ap", "P_10"])
    significant = [significant_pairs(runs, ties, measure) for ties in winners.RULES]
    changed = []
    turned = []
    for first, second in study.pairs.tolist():
        first_wins = [(first, second) in pairs for pairs in significant]
        second_wins = [(second, first) in pairs for pairs in significant]
        conclusions = set(zip(first_wins, second_wins, strict=True))
        changed.append(len(conclusions) > 1)
        turned.append(any(first_wins) and any(second_wins))
    assert study.changed()[i].tolist() == changed
    assert study.turned()[i].tolist() == turned
    shares = [f"{len(pairs) / 3:.1%}" for pairs in significant]
    assert tracks.power("made up", study)[i][2:] == shares
    not_as_exact = []
    for pairs in significant[:-1]:
        differing = pairs ^ significant[-1]
        not_as_exact.append(len({frozenset(pair) for pair in differing}))
    counts = [*not_as_exact, sum(changed), sum(turned), study.moved()[i].sum()]
    assert tracks.changes("made up", study)[i][2:] == counts


def test_a_constant_run_is_first_or_last_by_document_ids():
    study = tracks.study(runs_with_a_constant_run(), ["ap"])
    assert study.places[0, :2, 2].tolist() == [3, 1]
    assert study.moved()[0].all()


def test_ids_of_tied_documents_against_pairs():
    runs = winners.made_up(n_topics=6, n_documents=8)
    score = runs.scores["coarse"]
    is_later = []
    n_tied = 0
    n_as_ranked = 0
    for topic in np.unique(runs.qid):
        rows = np.flatnonzero(runs.qid == topic)
        for a in rows[runs.target[rows] > 0]:
            for b in rows[runs.target[rows] == 0]:
                if score[a] == score[b]:
                    is_later.append(runs.docno[a] > runs.docno[b])
        ranked = rows[np.argsort(runs.rank[rows])]
        for a, b in pairwise(ranked):
            if score[a] == score[b]:
                n_tied += 1
                n_as_ranked += runs.docno[a] > runs.docno[b]
    share = np.mean(is_later)
    assert tracks.id_agreement(runs, 0) == (share, n_as_ranked, n_tied)


def test_share_of_relevant_documents_with_later_ids():
    # relevant documents have the lowest ids
    runs = winners.made_up(n_topics=6, n_documents=8)
    swapped = runs._replace(target=1 - runs.target)
    assert tracks.id_agreement(runs, 0).relevant_first == 0
    assert tracks.id_agreement(swapped, 0).relevant_first == 1


def test_share_of_relevant_documents_is_undefined_without_ties():
    runs = winners.made_up(n_topics=6, n_documents=8)
    assert np.isnan(tracks.id_agreement(runs, 1).relevant_first)


def test_official_map_of_a_tied_run(shared_data):
    folder = shared_data / "robust03"
    names = ["qrels.robust03.txt.gz", "input.rutcor03100.gz"]
    runs = _shared.trec([str(folder / name) for name in names])
    (row,) = winners.averages(winners.comparisons(runs))
    _, official, ascending, _, exact, *_ = row
    published = {}
    for line in (folder / "official.tsv").read_text().splitlines():
        run, value, *_ = line.split("\t")
        published[run] = value
    assert f"{official:.4f}" == published["rutcor03100"]
    assert ascending < exact < official


LEVELS = ["decimals=0", "levels=6"]


def test_table_of_significant_differences_of_coarser_scores():
    runs = runs_with_a_constant_run()
    head, rows = score_precision.significance(runs, "ap", LEVELS)
    assert head[0] == "AP"
    assert [row[0] for row in rows] == ["exact", *LEVELS]
    # each count differs from 0 at a level
    assert rows[1][1:] == [2, 1, 0, 2, 0, 1]
    assert rows[2][1:] == [2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize(("ties", "column"), [("ids desc.", 1), ("exact", 4)])
def test_significant_differences_of_coarser_scores(ties, column):
    runs = runs_with_a_constant_run()
    before = significant_pairs(runs, ties)
    _, rows = score_precision.significance(runs, "ap", LEVELS)
    for level, row in zip(LEVELS, rows[1:], strict=True):
        coarse = {}
        for name, score in runs.scores.items():
            coarse[name] = round_scores(score, level, qid=runs.qid)
        after = significant_pairs(runs._replace(scores=coarse), ties)
        # a difference with another winner is new, but not lost
        turned = {(loser, winner) for winner, loser in after}
        lost = before - after - turned
        counts = [len(before & after), len(lost), len(after - before)]
        assert row[column : column + 3] == counts


STOPS = {"shuffles": 1, "trees": 60, "patience": 10}


@pytest.fixture
def parts():
    """Return training, validation and held-out rows."""
    return next(early_stopping.splits(_shared.made_up(160), 1))


def test_splits_share_no_query(parts):
    train, valid, held_out = [set(rows.qid) for rows in parts]
    assert not train & valid
    assert not train & held_out
    assert not valid & held_out


def check_last_stop(stops, ranker, held_out):
    """Check the NDCG@10 of the exact stop against a ranker that stops at it."""
    scores = ranker.predict(held_out.X)
    value = ranking_score(held_out.y, scores, qid=held_out.qid)
    assert stops.held_out[-1] == pytest.approx(value, abs=1e-6)


def test_stops_are_those_of_lightgbm(parts):
    lightgbm = pytest.importorskip("lightgbm")
    adapter = importlib.import_module("tieaware_sklearn.lightgbm")
    stops = early_stopping.stops("lightgbm", parts, size=4, **STOPS)
    train, valid, held_out = parts
    rows, sizes = _shared.grouped(train)
    sorted_rows, group = _shared.grouped(_shared.ordered(valid, "relevant first"))
    options = {"n_estimators": 60, "learning_rate": 0.1, "num_leaves": 4}
    options |= {"early_stopping_rounds": 10, "n_jobs": 1, "verbosity": -1}
    by_rows = lightgbm.LGBMRanker(**options)
    eval_set = {"eval_X": sorted_rows.X, "eval_y": sorted_rows.y, "eval_at": [10]}
    by_rows.fit(rows.X, rows.y, group=sizes, eval_group=[group], **eval_set)
    exact = adapter.QueryLGBMRanker(row_order="input", **options)
    queries = {"qid": rows.qid, "eval_qid": valid.qid, "eval_metric": "ndcg@10"}
    exact.fit(rows.X, rows.y, eval_X=valid.X, eval_y=valid.y, **queries)
    assert stops.trees[0] == by_rows.best_iteration_
    assert stops.trees[-1] == exact.best_iteration_
    check_last_stop(stops, exact, held_out)


def test_stops_are_those_of_xgboost(parts):
    xgboost = pytest.importorskip("xgboost")
    adapter = importlib.import_module("tieaware_sklearn.xgboost")
    stops = early_stopping.stops("xgboost", parts, size=2, **STOPS)
    train, valid, held_out = parts
    rows, sizes = _shared.grouped(train)
    sorted_rows, group = _shared.grouped(_shared.ordered(valid, "relevant first"))
    options = {"n_estimators": 60, "learning_rate": 0.1, "max_depth": 2}
    options |= {"early_stopping_rounds": 10, "n_jobs": 1}
    options |= {"eval_metric": "ndcg@10", "objective": "rank:ndcg"}
    by_rows = xgboost.XGBRanker(**options)
    eval_set = {"eval_set": [(sorted_rows.X, sorted_rows.y)], "verbose": False}
    by_rows.fit(rows.X, rows.y, group=sizes, eval_group=[group], **eval_set)
    exact = adapter.QueryXGBRanker(row_order="input", **options)
    queries = {"qid": rows.qid, "eval_qid": valid.qid}
    exact.fit(rows.X, rows.y, eval_X=valid.X, eval_y=valid.y, **queries)
    assert stops.trees[0] == by_rows.best_iteration + 1
    assert stops.trees[-1] == exact.best_iteration + 1
    check_last_stop(stops, exact, held_out)


def test_intervals_of_splits_that_share_queries():
    # Nadeau and Bengio's variance: 1/n + 1/3, where a third as many test as train
    assert early_stopping.interval(np.array([0.1, 0.3])) == "[-1.440, +1.840]"


def test_constant_features_win_on_sorted_rows():
    rows = constant_features.made_up()
    assert constant_features.constant(rows).tolist() == [False] * 12 + [True]
    _, n_features, *row = constant_features.compare("", rows)
    n_constant, n_constant_in_file, by_rows, best_by_rows, reported, exact, best = row
    assert n_features == 13
    assert n_constant == 1
    assert n_constant_in_file == 0
    assert by_rows > best > exact
    assert by_rows > best_by_rows
    assert reported == pytest.approx(by_rows)
    constant_scores = np.zeros(len(rows.y))
    assert exact == ranking_score(rows.y, constant_scores, qid=rows.qid)


def test_queries_without_a_relevant_document():
    rows = empty_queries.made_up()
    n_empty, n_queries = empty_queries.count_empty(rows)
    assert 0 < n_empty < n_queries
    share = n_empty / n_queries
    header, table = empty_queries.compare(rows)
    assert header[1] == "one score for all"
    values = [row[1:] for row in table]
    for as_zero, as_one, skipped, reported in zip(*values, strict=True):
        assert as_one == pytest.approx(as_zero + share)
        assert as_zero == pytest.approx(skipped * (1 - share))
        assert reported == pytest.approx(as_one, abs=0.05)
    left_out = table[2]
    assert left_out[-1] == 1


@pytest.fixture(scope="module")
def twin():
    """Return eight made-up runs, and their comparisons by NDCG@10."""
    runs = deep_learning.made_up()
    compared = deep_learning.comparisons(runs, [deep_learning.NDCG])
    return runs, compared[deep_learning.NDCG]


def run_means(runs, treatment):
    """Return the mean of each run by NDCG@10 under a treatment of ties."""
    options = {"measure": deep_learning.NDCG, "unjudged": "nonrelevant"}
    means = []
    for scores in runs.scores.values():
        mean = ranking_score(
            runs.target, scores, qid=runs.qid, ties=treatment, **options
        )
        means.append(mean)
    return means


def test_pairs_that_ties_can_reverse(twin):
    runs, rules = twin
    best = run_means(runs, "best")
    worst = run_means(runs, "worst")
    reverses = []
    for a, b in rules.exact.pairs.tolist():
        reverses.append(best[a] > worst[b] and best[b] > worst[a])
    assert 0 < sum(reverses) < len(reverses)
    assert deep_learning.reverses(rules.exact).tolist() == reverses
    counts = deep_learning.reversals(rules.exact)
    assert counts.sum() == 2 * sum(reverses)


def test_places_count_the_runs_with_a_higher_mean(twin):
    runs, rules = twin
    means = run_means(runs, "expected")
    places = [1 + sum(other > mean for other in means) for mean in means]
    assert deep_learning.places(rules.exact).tolist() == places


def test_a_conclusion_changes_if_one_treatment_is_significant(twin):
    _, rules = twin
    official = rules.official.pvalues < 0.05
    exact = rules.exact.pvalues < 0.05
    # no significant difference of these runs turns
    assert deep_learning.changed(rules).tolist() == (official != exact).tolist()
    assert (official != exact).any()


def test_tied_neighbours_against_pairs(twin):
    runs, _ = twin
    all_neighbours = deep_learning.tied_neighbours(runs)
    for score, neighbours in zip(runs.scores.values(), all_neighbours, strict=True):
        tied = []
        for topic in np.unique(runs.qid):
            ranking = np.sort(score[(runs.qid == topic) & np.isfinite(score)])[::-1]
            for place, (first, second) in enumerate(pairwise(ranking), 1):
                if first == second:
                    tied.append((topic, place))
        found = zip(neighbours.topic.tolist(), neighbours.place.tolist(), strict=True)
        assert list(found) == tied
        assert (score[neighbours.rows[:, 0]] == score[neighbours.rows[:, 1]]).all()


def test_shares_of_topics_with_ties():
    # the first and second, and the fifth and sixth document of one of two topics tie
    neighbours = deep_learning.TiedNeighbours(None, np.zeros(2), np.array([1, 5]))
    assert deep_learning.tied_topics(neighbours, 2) == [0.5] * 5 + [0.0]


def test_other_runs_that_tie_the_same_documents():
    scores = {
        "a": np.array([1.0, 1.0, 2.0]),
        "b": np.array([2.0, 2.0, 1.0]),
        "c": np.array([1.0, 2.0, 3.0]),
        "d": np.array([1.0, -np.inf, 2.0]),
    }
    runs = _shared.Runs(np.array([1, 0, 2]), np.zeros(3), scores)
    assert deep_learning.also_tied(runs, 0, np.array([[0, 1]])) == 0.5
    assert deep_learning.equal_labels(runs) == [
        ["a run", 1, 1, 0],
        ["most runs", 1, 1, 0],
    ]


def test_files_that_break_ties():
    scores = {
        "last digit": np.array([2.5, 2.499999, 2.499998, 7.0, 3.0]),
        "ranks": np.array([1, 1 / 2, 1 / 3, 1, 1 / 2]),
        "ties": np.array([1.0, 1.0, 0.5, 0.5, 0.5]),
    }
    runs = _shared.Runs(np.zeros(5), np.array([1, 1, 1, 2, 2]), scores)
    rows = deep_learning.broken_ties(runs)
    assert rows[:2] == [["last digit", "67%", "0%"], ["ranks", "0%", "100%"]]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("ielab-uniCOIL", "sparse"), ("ihsm_bicolbert", "ColBERT"), ("x", "not told")],
)
def test_kinds_of_runs(name, kind):
    assert deep_learning.kind_of(name) == kind


def test_picture_for_light_and_dark_and_for_wide_and_narrow_pages(printed, tmp_path):
    printed("deep_learning", ["--out", str(tmp_path)])
    names = {path.name for path in tmp_path.iterdir()}
    variants = ["", "_dark", "_phone", "_phone_dark"]
    assert names == {f"runs{variant}.svg" for variant in variants}


def read_lines(path):
    with gzip.open(path, "rt") as lines:
        return [line.split() for line in lines]


@pytest.mark.parametrize(
    ("run", "measure", "level", "name"),
    [
        ("p_tct0", deep_learning.NDCG, 1, "ndcg_cut_10"),
        ("ihsm_poly8q", "P(rel=2)@10", 2, "P_10"),
        ("p_fusion00", "AP(rel=2)@100", 2, "map_cut_100"),
        ("Fast_ForwardP_2", "RR(rel=2)", 2, "recip_rank"),
    ],
)
def test_official_means_are_those_of_trec_eval(shared_data, run, measure, level, name):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = shared_data / "dl21"
    files = [folder / "qrels.txt.gz", folder / f"{run}.gz"]
    labels = {}
    for topic, _, document, label in read_lines(files[0]):
        labels.setdefault(topic, {})[document] = int(label)
    scores = {}
    for topic, _, document, _, score, _ in read_lines(files[1]):
        scores.setdefault(topic, {})[document] = float(score)
    evaluator = pytrec_eval.RelevanceEvaluator(labels, {name}, relevance_level=level)
    values = [topic[name] for topic in evaluator.evaluate(scores).values()]
    runs = _shared.trec([str(path) for path in files])
    read = deep_learning.with_precision(runs, "bits=float32")
    # a comparison needs two runs
    read.scores["same"] = read.scores[run]
    rules = deep_learning.comparisons(read, [measure])[measure]
    official = rules.official.summary().mean[0]
    assert official == pytest.approx(np.mean(values), abs=1e-12)
