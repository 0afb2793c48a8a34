"""Findings on data: each command of docs/results.md prints what the page shows."""

import importlib
import operator
import re
import shlex
from functools import partial
from glob import glob
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.results import (
    _shared,
    constant_features,
    early_stopping,
    empty_queries,
    score_precision,
    tracks,
    winners,
)
from tests.pages import alike
from tieaware_sklearn import ranking_score
from tieaware_sklearn.score_precision import round_scores

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
#: pages whose commands are all of findings
PAGES = [PAGE, PAGE.parent / "howto/single_features.md", PAGE.parent / "yang2016.md"]
#: figures of models, which differ between machines: of which version, and how much
MODELS = {
    "early_stopping lightgbm": ("lightgbm", "4.7", 0.06),
    "early_stopping xgboost": ("xgboost", "3.2", 0.06),
    "score_precision --letor": ("lightgbm", "4.7", 0.5),
    "split_queries": ("scikit-learn", "1.9", 0.03),
}
#: modules of commands that take more than ten seconds, as those that train models do
LONG = {"score_precision", "tracks", "yang2016"}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Command(NamedTuple):
    """What a section tells to run, and what that prints."""

    module: str
    arguments: list[str]
    lines: list[str]

    def __str__(self) -> str:
        return " ".join([self.module, *self.arguments])

    def takes_long(self) -> bool:
        return self.module in LONG or str(self).startswith(tuple(MODELS))


def plain(text: str) -> list[str]:
    """Lines without their layout, and without rules and empty ones."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line.strip("-")]


def commands() -> list[Command]:
    """All commands of the pages, each with the outputs up to the next one."""
    found: list[Command] = []
    text = "".join(page.read_text() for page in PAGES)
    blocks = re.findall(r"^```(sh|text)\n(.*?)\n```", text, re.M | re.S)
    for kind, block in blocks:
        if kind == "text":
            found[-1].lines.extend(plain(block))
            continue
        python, option, module, *arguments = shlex.split(block.replace("\\\n", " "))
        assert (python, option) == ("python", "-m")
        found.append(Command(module.rsplit(".", 1)[1], arguments, []))
    return found


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the module of a command prints."""

    def printed(module: str, arguments: list[str]) -> str:
        monkeypatch.setattr("sys.argv", [module, *arguments])
        with threadpool_limits(1, "openmp"):
            importlib.import_module(module).main()
        return capsys.readouterr().out

    return printed


def test_a_page_of_thirteen_findings():
    _, *sections = re.split(r"^## ", PAGE.read_text(), flags=re.M)
    assert len(sections) == 13
    for section in sections:
        assert "```sh\n" in section
        assert section.count("*Caveat.*") == 1


@pytest.mark.parametrize("command", [
    pytest.param(one, marks=[pytest.mark.weekly] if one.takes_long() else [])
    for one in commands()
], ids=lambda command: command.module)  # fmt: skip
def test_commands_print_what_the_page_shows(command, shared_data, monkeypatch, printed):
    module, arguments, lines = command
    of_models = [own for start, own in MODELS.items() if str(command).startswith(start)]
    package, tried, tolerance = (*of_models, ("tieaware-sklearn", "", 0))[0]
    if not version(package).startswith(tried):
        pytest.skip(f"figures are those of {package} {tried}")
    if find_spec("ir_measures") is None:
        # what ir-measures prints comes last
        ends = [i for i, line in enumerate(lines) if line.startswith("ir-measures")]
        lines = lines[: min(ends, default=len(lines))]
    monkeypatch.chdir(shared_data)
    arguments = [path for word in arguments for path in sorted(glob(word)) or [word]]
    now = plain(printed(f"benchmarks.results.{module}", arguments))
    assert len(lines) >= 3
    same = operator.eq
    if of_models:
        same = partial(alike, tolerance=tolerance)
        # where training stops, unless at once
        lines, now = ([re.sub(r" \d\d+ ", " ## ", x) for x in y] for y in (lines, now))
    assert [line for line in lines if not any(same(line, one) for one in now)] == []


WITHOUT_FILES = ["winners", "official", "constant_run"]
WITHOUT_FILES += ["constant_features", "empty_queries", "row_order", "hash_codes"]
WITHOUT_FILES += ["tracks"]


@pytest.mark.parametrize("module", WITHOUT_FILES)
def test_commands_run_without_files(module, printed):
    assert len(plain(printed(f"benchmarks.results.{module}", []))) >= 2


def test_two_winners():
    found = winners.comparisons(winners.made_up())
    (row,) = winners.disagreements(winners.conclusions(found))
    assert row[4::3] == ["fine", "coarse", "coarse", "-"]
    for _, descending, ascending, ranks, exact, worst, best in winners.averages(found):
        assert worst <= ranks <= best
        assert worst <= min(descending, ascending) <= exact
        assert exact <= max(descending, ascending) <= best


def test_rules_of_a_track_against_pairs_and_places():
    runs = winners.made_up()
    runs.scores["constant"] = np.zeros(len(runs.qid))
    found = tracks.study(runs, ["ap", "P_10"])
    for i, measure in enumerate(("ap", "p@10")):
        by_rule = {rule: differences(runs, rule, measure) for rule in winners.RULES}
        directions = [
            {((a, b) in of, (b, a) in of) for of in by_rule.values()}
            for a, b in found.pairs.tolist()
        ]
        changed = [len(each) > 1 for each in directions]
        assert found.changed()[i].tolist() == changed
        turned = [{(True, False), (False, True)} <= each for each in directions]
        assert found.turned()[i].tolist() == turned
        shares = [f"{len(of) / 3:.1%}" for of in by_rule.values()]
        assert tracks.power("made up", found)[i][2:] == shares
        line = tracks.changes("made up", found)[i]
        exact = by_rule["exact"]
        assert line[2:5] == [
            len({frozenset(pair) for pair in of ^ exact})
            for of in list(by_rule.values())[:-1]
        ]
        assert line[5:] == [sum(changed), sum(turned), found.moved()[i].sum()]
    # by ids, the constant run is first or last
    assert found.places[0, :2, 2].tolist() == [3, 1]
    assert found.moved()[0].all()


def test_ids_of_tied_documents_against_pairs():
    runs = winners.made_up(n_topics=6, n_documents=8)
    by_topic = [np.flatnonzero(runs.qid == topic) for topic in np.unique(runs.qid)]
    score = runs.scores["coarse"]
    pairs = [
        (a, b)
        for rows in by_topic
        for a in rows
        for b in rows
        if score[a] == score[b] and runs.target[a] > 0 == runs.target[b]
    ]
    first = np.mean([runs.docno[a] > runs.docno[b] for a, b in pairs])
    ranked = [sorted(rows, key=runs.rank.__getitem__) for rows in by_topic]
    neighbours = [pair for rows in ranked for pair in pairwise(rows)]
    tied = [(a, b) for a, b in neighbours if score[a] == score[b]]
    same = sum(runs.docno[a] > runs.docno[b] for a, b in tied)
    # nothing but the order of ids: all relevant documents have the lowest
    assert tracks.of_ids(runs, 0) == (first, [same, len(tied)])
    assert first == 0
    swapped = runs._replace(target=1 - runs.target)
    assert tracks.of_ids(swapped, 0)[0] == 1
    assert np.isnan(tracks.of_ids(runs, 1)[0])


def test_official_map_of_a_tied_run(shared_data):
    folder = shared_data / "robust03"
    names = [folder / "qrels.robust03.txt.gz", folder / "input.rutcor03100.gz"]
    runs = _shared.trec(str(names[0]), [str(names[1])])
    (line,) = winners.averages(winners.comparisons(runs))
    _, official, ascending, _, exact, *_ = line
    published = dict(line.split("\t")[:2] for line in (folder / "official.tsv").open())
    assert f"{official:.4f}" == published["rutcor03100"]
    assert ascending < exact < official


def test_significant_differences_of_coarser_scores():
    runs = winners.made_up()
    runs.scores["constant"] = np.zeros(len(runs.qid))
    systems = score_precision.Systems(
        runs.target, runs.qid, runs.scores, "ap", runs.docno
    )
    levels = ["decimals=0", "levels=6"]
    head, rows = score_precision.significance(systems, levels)
    assert head[0] == "AP"
    assert [row[0] for row in rows] == ["exact", *levels]
    for rule, first in (("ids desc.", 1), ("exact", 4)):
        before = differences(runs, rule)
        for level, row in zip(levels, rows[1:], strict=True):
            coarse = {
                name: round_scores(score, level, qid=runs.qid)
                for name, score in runs.scores.items()
            }
            after = differences(runs._replace(scores=coarse), rule)
            counts = [len(before & after), len(before - after), len(after - before)]
            # of another winner: new, but not lost
            counts[1] -= len({(b, a) for a, b in before} & after)
            assert row[first : first + 3] == counts
    # the data have all of it
    assert rows[1][1:] == [2, 1, 0, 2, 0, 1]
    assert rows[2][1:] == [2, 0, 1, 2, 0, 1]


def differences(runs, rule, measure="ap"):
    """Winner and loser of each significant difference."""
    found = winners.comparisons(runs, measure, correction=None)[rule]
    return {
        tuple(pair if difference > 0 else pair[::-1])
        for pair, difference, p in zip(
            found.pairs.tolist(), found.difference, found.pvalues, strict=True
        )
        if p <= 0.05
    }


@pytest.mark.parametrize(("library", "size"), [("lightgbm", 4), ("xgboost", 2)])
def test_stops_are_those_of_early_stopping(library, size):
    rows = _shared.generated(160)[0]
    train, valid, held_out = next(early_stopping.splits(rows, 1))
    assert not set(train.qid) & set(valid.qid)
    assert not set(held_out.qid) & {*train.qid, *valid.qid}
    given = {"size": size, "shuffles": 1, "trees": 60, "patience": 10}
    found = early_stopping.stops(library, train, valid, held_out, **given)
    booster = pytest.importorskip(library)
    adapter = importlib.import_module(f"tieaware_sklearn.{library}")
    options = {"n_estimators": 60, "learning_rate": 0.1, "n_jobs": 1}
    own, sizes = _shared.grouped(train)
    first, group = _shared.grouped(_shared.ordered(valid, "relevant first"))
    queries = {"qid": own.qid, "eval_X": valid.X, "eval_y": valid.y}
    queries |= {"eval_qid": valid.qid}
    if library == "lightgbm":
        options |= {"num_leaves": size, "early_stopping_rounds": 10, "verbosity": -1}
        theirs = booster.LGBMRanker(**options).fit(
            own.X, own.y, group=sizes, eval_X=first.X, eval_y=first.y,
            eval_group=[group], eval_at=[10],
        )  # fmt: skip
        ranker = adapter.QueryLGBMRanker(row_order="input", **options)
        fitted = ranker.fit(own.X, own.y, **queries, eval_metric="ndcg@10")
        trees = theirs.best_iteration_, fitted.best_iteration_
    else:
        options |= {"max_depth": size, "early_stopping_rounds": 10}
        options |= {"eval_metric": "ndcg@10", "objective": "rank:ndcg"}
        theirs = booster.XGBRanker(**options).fit(
            own.X, own.y, group=sizes, eval_set=[(first.X, first.y)],
            eval_group=[group], verbose=False,
        )  # fmt: skip
        ranker = adapter.QueryXGBRanker(row_order="input", **options)
        fitted = ranker.fit(own.X, own.y, **queries)
        trees = theirs.best_iteration + 1, fitted.best_iteration + 1
    assert (found.trees[0], found.trees[-1]) == trees
    score = fitted.predict(held_out.X)
    exact = ranking_score(held_out.y, score, qid=held_out.qid)
    assert found.held_out[-1] == pytest.approx(exact, abs=1e-6)


def test_intervals_of_splits_that_share_queries():
    # Nadeau and Bengio's variance: 1/n + 1/3, where a third as many test as train
    assert early_stopping.interval(np.array([0.1, 0.3])) == "[-1.440, +1.840]"


def test_constant_features_win_on_sorted_rows():
    rows = constant_features.made_up()
    assert constant_features.constant(rows).tolist() == [False] * 12 + [True]
    line = constant_features.compare("", rows)
    _, features, idle, of_file, ours, other, theirs, exact, best = line
    assert (features, idle, of_file) == (13, 1, 0)
    assert ours > best > exact
    assert ours > other
    assert theirs == pytest.approx(ours)
    assert exact == ranking_score(rows.y, np.zeros(len(rows.y)), qid=rows.qid)


def test_queries_without_a_relevant_document():
    rows = empty_queries.made_up()
    empty, n_queries = empty_queries.share_of_empty(rows)
    assert 0 < empty < n_queries
    header, (zero, one, skipped, reported) = empty_queries.compare(rows)
    assert header[1] == "one score for all"
    columns = zip(zero, one, skipped, reported, strict=True)
    for low, high, mean, theirs in list(columns)[1:]:
        assert high == pytest.approx(low + empty / n_queries)
        assert low == pytest.approx(mean * (1 - empty / n_queries))
        assert theirs == pytest.approx(high, abs=0.05)
    assert skipped[-1] == 1
