"""Findings on data: each command of docs/results.md prints what the page shows."""

from __future__ import annotations

import gzip
import importlib
import re
import shlex
from glob import glob
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.results import (
    _shared,
    constant_features,
    constant_run,
    early_stopping_xgboost,
    empty_queries,
    row_order,
    split_queries,
    winners,
)
from tieaware_sklearn import ranking_score
from tieaware_sklearn.datasets import dump_letor, load_trec, make_web_search

PAGE = Path(__file__).parents[1] / "docs" / "results.md"
#: figures of models, and of which versions they are
VERSIONS = {
    "early_stopping": ("lightgbm", "4.7"),
    "early_stopping_xgboost": ("xgboost", "3.2"),
    "split_queries": ("scikit-learn", "1.9"),
}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Command(NamedTuple):
    """What a section tells to run, and what that prints."""

    module: str
    arguments: list[str]
    lines: list[str]


def plain(text: str) -> list[str]:
    """Lines without their layout, and without rules and empty ones."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line.strip("-")]


def commands() -> list[Command]:
    """All commands of the page."""
    found = []
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.M)[1:]:
        (command,) = re.findall(r"^```sh\n(.*?)\n```", section, re.M | re.S)
        command = command.replace("\\\n", " ")
        python, option, module, *arguments = shlex.split(command)
        assert (python, option) == ("python", "-m")
        shown = re.findall(r"^```text\n(.*?)\n```", section, re.M | re.S)
        lines = [line for block in shown for line in plain(block)]
        found.append(Command(module.rsplit(".", 1)[1], arguments, lines))
    return found


def printed(
    module: str,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    """What a command prints."""
    monkeypatch.setattr("sys.argv", [module, *arguments])
    importlib.import_module(f"benchmarks.results.{module}").main()
    return plain(capsys.readouterr().out)


def test_a_page_of_ten_findings_and_one():
    assert len(commands()) == 11
    assert PAGE.read_text().count("*Caveat.*") == 11


@pytest.mark.parametrize("number", range(11))
def test_commands_print_what_the_page_shows(number, shared_data, monkeypatch, capsys):
    module, arguments, lines = commands()[number]
    package, tried = VERSIONS.get(module, ("tieaware-sklearn", ""))
    if not version(package).startswith(tried):
        pytest.skip(f"figures are those of {package} {tried}")
    if find_spec("ir_measures") is None:
        # what ir-measures prints comes last
        ends = [i for i, line in enumerate(lines) if line.startswith("ir-measures")]
        lines = lines[: min(ends, default=len(lines))]
    monkeypatch.chdir(shared_data)
    arguments = [path for word in arguments for path in sorted(glob(word)) or [word]]
    if module == "score_precision":
        # the search is not on the page
        arguments = [*arguments, "--trials", "2"]
    now = printed(module, arguments, monkeypatch, capsys)
    assert len(lines) >= 3
    assert [line for line in lines if line not in now] == []


@pytest.mark.parametrize(
    "module",
    ["winners", "constant_run", "constant_features", "empty_queries", "row_order"],
)
def test_commands_run_without_files(module, monkeypatch, capsys):
    assert len(printed(module, [], monkeypatch, capsys)) >= 2


def test_two_winners():
    found = winners.comparisons(winners.made_up())
    (row,) = winners.disagreements(winners.conclusions(found))
    assert row[4::3] == ["fine", "coarse", "-"]
    for _, descending, ascending, exact, worst, best in winners.averages(found):
        assert worst <= min(descending, ascending) <= exact
        assert exact <= max(descending, ascending) <= best


def test_ties_broken_by_document_id(tmp_path):
    files = constant_run.made_up(tmp_path, n_topics=8)
    runs = _shared.trec(files[0], files[1:])
    broken = runs.broken("descending")
    for path, (name, score) in zip(files[1:], broken.items(), strict=True):
        assert _shared.run_name(path) == name
        alone = load_trec(files[0], path, order="trec_eval")
        for measure in ("ap", "rr", "p@5"):
            options = {"measure": measure, "ties": "input"}
            assert ranking_score(
                runs.target, score, qid=runs.qid, measure=measure
            ) == ranking_score(alone.target, alone.score, qid=alone.qid, **options)
    first, second = (runs.broken(rule)["constant"] for rule in winners.RULES[:2])
    assert np.array_equal(np.argsort(first), np.argsort(second)[::-1])
    # relevant documents are called K, others u
    useful, constant = constant_run.reciprocal_ranks(runs)
    _, tied, descending, ascending, exact, *_ = constant
    assert (tied, ascending) == ("100%", 1)
    assert useful[1] != tied
    assert descending < exact < ascending


def test_official_map_of_a_tied_run(shared_data):
    folder = shared_data / "robust03"
    names = [folder / "qrels.robust03.txt.gz", folder / "input.rutcor03100.gz"]
    runs = _shared.trec(str(names[0]), [str(names[1])])
    (line,) = winners.averages(winners.comparisons(runs))
    _, official, ascending, exact, *_ = line
    published = dict(line.split("\t")[:2] for line in (folder / "official.tsv").open())
    assert f"{official:.4f}" == published["rutcor03100"]
    assert ascending < exact < official


def test_stops_of_xgboost():
    found = early_stopping_xgboost.stops(
        *_shared.generated(120),
        max_depth=2,
        n_estimators=100,
        learning_rate=0.1,
        early_stopping_rounds=10,
    )
    found = {(stop.rows, stop.metric): stop for stop in found}
    ours = {stop[2:] for (_, metric), stop in found.items() if "exact" in metric}
    assert len(ours) == 1
    theirs = found["relevant first", "XGBoost ndcg@10"]
    assert theirs.trees <= 3
    assert theirs.reported > theirs.exact + 0.2
    assert theirs.held_out < next(iter(ours))[-1]


def test_constant_features_win_on_sorted_rows():
    rows = constant_features.made_up()
    assert constant_features.constant(rows).tolist() == [False] * 12 + [True]
    line = constant_features.compare("", rows)
    _, features, idle, ours, other, theirs, exact, best = line
    assert (features, idle) == (13, 1)
    assert ours > best > exact
    assert ours > other
    assert theirs == pytest.approx(ours)
    assert exact == ranking_score(rows.y, np.zeros(len(rows.y)), qid=rows.qid)


def test_places_of_a_feature():
    rows, *_ = _shared.generated(40)
    places = row_order.places(rows, 2, ["ap"])
    exact = places[-1]
    by_rows = {place.rows: place for place in places[:-1]}
    assert by_rows["relevant last"].value < exact.value
    assert by_rows["relevant first"].value > exact.value
    assert exact.value == ranking_score(
        rows.y, rows.X[:, 1], qid=rows.qid, measure="ap"
    )
    assert (exact.place == 1) == (exact.value == exact.best_value)
    assert exact.best_value >= exact.value


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


def test_queries_cut_in_two():
    rows, *_ = _shared.generated(40)
    cut, whole = split_queries.compare(rows, n_splits=2, max_iter=5)
    assert cut[1] > whole[1]
    assert int(cut[2]) < int(whole[2])


@pytest.mark.parametrize("n_files", [1, 2, 3])
def test_files_are_split(tmp_path, n_files):
    paths = []
    for seed in range(n_files):
        web = make_web_search(n_queries=8, n_documents=5, random_state=seed)
        paths.append(str(tmp_path / f"{seed}.txt"))
        dump_letor(web.data, web.target, paths[-1], qid=web.qid)
    parts = _shared.read("+".join(paths))
    n_queries = [len(set(part.qid)) for part in parts]
    assert len(parts) == 3
    assert min(n_queries) >= 1
    assert sum(n_queries) == 8 * n_files
    assert n_queries[n_files:] == [] or sum(n_queries[: 4 - n_files]) == 8


def test_names_of_runs(tmp_path):
    assert _shared.run_name("robust03/input.humR03dc.gz") == "humR03dc"
    path = tmp_path / "a.gz"
    with gzip.open(path, "wt") as file:
        file.write("text")
    assert constant_run.text(str(path)) == "text"
