"""One vocabulary: a parameter has one default, and one order, wherever it is taken."""

import inspect
import runpy
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from tests.house import LAYERS
from tests.signatures import PATHS, attributes, calls, parameters, taken

#: parameters with several defaults, and why
EXCEPTIONS = {
    "bounds": "weights of a linear score have some, values of any kind have none",
    "coarseness": "a ranker has one level, a study tries several",
    "depth": "a pool of 100 documents, a picture of 20 ranks",
    "eval_metric": "fit goes by the constructor unless it is given another",
    "keep": "a study shows several shares, a choice goes by one",
    "measure": "NDCG has no distribution to give",
    "measures": "of the default ones only RR has a residual",
    "qid": "files and Dask take the name of a column",
    "random_state": "QueryKFold and QueryLGBMRanker are as those they stand for",
    "scale": "a ranker knows the scores that it was fitted on",
    "stratify": "folds go by labels, one split by any values",
    "shuffle": "Dask has the rows of a query anywhere, where others need not shuffle",
    "zero_based": "a file that is written has no numbers to go by",
}
#: words that meant several things
BANNED = {"y_scores", "low", "high", "lower_is_better", "ci"}
CALLS = [(owner, call) for thing in PATHS.values() for owner, call in calls(thing)]


def test_a_parameter_has_one_default():
    several = {
        name
        for name, defaults in taken().items()
        if len(set(defaults.values()) - {""}) > 1
    }
    assert several == set(EXCEPTIONS)


def test_a_name_is_at_the_top_and_at_home_and_nowhere_else():
    homes = defaultdict(set)
    for name in [name for name in LAYERS if not name.startswith("_")]:
        room = import_module(f"tieaware_sklearn.{name}")
        for public_name in getattr(room, "__all__", ()):
            homes[id(getattr(room, public_name))].add(f"{name}.{public_name}")
    assert [places for places in homes.values() if len(places) > 1] == []


def test_words_that_meant_several_things_are_gone():
    assert not BANNED & (set(taken()) | attributes())


@pytest.mark.parametrize(("owner", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_labels_come_first_then_scores_and_options_by_name(owner, call):
    assert not {"measure", "measures"} <= set(inspect.signature(call).parameters)
    taken_here = parameters(call)
    names = [parameter.name for parameter in taken_here]
    for first, second in (("y_true", "y_score"), ("X", "y")):
        if first in names and second in names:
            assert names.index(second) == names.index(first) + 1, names
    if "y_true" in names and "y_score" in names:
        options = taken_here[names.index("y_score") + 1 :]
        given = [p for p in options if p.default is not p.empty]
        assert all(p.kind is p.KEYWORD_ONLY for p in given), names
        assert names.index("qid") == min(map(names.index, (p.name for p in given)))


def test_types_hold_for_users():
    mypy = pytest.importorskip("mypy.api")
    script = str(Path(__file__).parent / "typed.py")
    # with the settings of the library, whose results may be in the cache
    found, _, code = mypy.run([script])
    assert code == 0, found
    runpy.run_path(script)
