"""Many systems at a glance: one row each, with letters, and sentences on the best."""

import re
from string import ascii_letters

import numpy as np
import pytest

from tieaware_sklearn.comparison import _text, compare_systems

pytestmark = pytest.mark.filterwarnings("ignore:the values per query")
MEASURES = ["ap", "rr", "ndcg@10"]


def compared(n=17, names="system {:02}", n_queries=40, **options):
    """Systems that are less and less alike to the labels, in no order."""
    rng = np.random.default_rng(n)
    labels = rng.integers(0, 3, n_queries * 12)
    noise = 1 + rng.permutation(n) / 4
    scores = np.round(labels + rng.normal(0, noise, (len(labels), n)).T, 1)
    systems = {names.format(i): score for i, score in enumerate(scores)}
    qid = np.repeat(range(n_queries), 12)
    return compare_systems(labels, systems, qid=qid, **options)


def won(comparison, measure, ties):
    """Pairs of the better and the worse system, from the table of pairs."""
    frame = comparison.to_pandas()
    frame = frame[(frame.measure == measure) & (frame.ties == ties)]
    frame = frame[frame.adjusted_pvalue <= 1 - comparison.confidence]
    up = comparison.greater_is_better[comparison.measures.index(measure)]
    same = 1 if comparison.average == "geometric" else 0
    return {
        (a, b) if (difference > same) == up else (b, a)
        for a, b, difference in zip(frame.a, frame.b, frame.difference, strict=True)
    }


@pytest.mark.parametrize("options", [
    {"measure": MEASURES},
    {"measure": ["rank", "ap"], "ties": ["worst", "expected"], "correction": None},
    {"measure": "ap", "average": "geometric", "confidence": 0.8},
    {"measure": "ap", "average": "median", "n_resamples": 99},
    {"measure": "ndcg@10", "correction": "tukey", "n": 5},
    {"measure": MEASURES, "baseline": ["system 03", "system 05"], "n": 9},
    {"measure": "ap", "n": 2},
    {"measure": "ap", "n": 60, "n_queries": 30},
])  # fmt: skip
def test_letters_are_the_pairs(options):
    comparison = compared(**options)
    frame = comparison.summary().to_pandas()
    first = frame[: len(comparison.systems)]
    up = bool(comparison.greater_is_better[0])
    order = first.sort_values("mean", ascending=not up, kind="stable")
    letters = order.letter.tolist()
    n = len(letters)
    assert letters == [*(ascii_letters[:n] if n <= 52 else map(str, range(1, n + 1)))]
    named = dict(zip(letters, order.system, strict=True))
    for (measure, ties), rows in frame.groupby(["measure", "ties"]):
        assert [named[letter] for letter in rows.letter] == [*comparison.systems]
        beaten = won(comparison, measure, ties)
        for system, text in zip(rows.system, rows.better_than, strict=True):
            chosen = [(system, loser) in beaten for loser in order.system]
            assert text == _text.runs(np.array(letters), np.array(chosen))


RUNS = [
    (5, [], ""),
    (5, [4], "e"),
    (5, [1, 2], "bc"),
    (5, [0, 2, 3, 4], "ac-e"),
    (9, [0, 1, 3, 4, 5, 7], "abd-fh"),
    (52, range(24, 28), "y-B"),
    (53, [], ""),
    (53, [0, 1, 4, 10, 11, 12, 52], "1,2,5,11-13,53"),
]


@pytest.mark.parametrize(("n", "chosen", "text"), RUNS)
def test_letters_in_a_row_are_spelled_by_their_ends(n, chosen, text):
    letters = _text.letters(np.arange(n))
    assert _text.runs(letters, np.isin(range(n), chosen)) == text


def test_a_row_a_system_the_best_first():
    comparison = compared(measure=MEASURES)
    lines = str(comparison).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert re.sub(" +", " ", lines[0]) == "# system AP 95% interval > RR > NDCG@10 >"
    frame = comparison.summary().to_pandas()
    assert (frame.interval_high == 1).any()
    for line, letter in zip(lines[2:19], "abcdefghijklmnopq", strict=True):
        rows = frame[frame.letter == letter]
        wanted = f"{letter} {rows.system.iloc[0]}"
        for row in rows.itertuples():
            wanted += f" {row.mean:.4f}"
            if row.measure == "AP":
                wanted += f" [{row.interval_low:.3f}, {row.interval_high:.3f}]"
            wanted += f" {row.better_than}".rstrip()
        assert re.sub(" +", " ", line) == wanted
    assert lines[19:22] == [
        "mean and its 95% interval; >: significantly better than (corrected p <= 0.05)",
        "holm: corrected for the 136 pairs, not corrected for the 3 measures",
        "408 differences of pairs: see to_pandas() or --csv",
    ]
    # of one measure, the interval
    first = frame[(frame.letter == "a") & (frame.measure == "AP")].iloc[0]
    ends = f"[{first.interval_low:.3f}, {first.interval_high:.3f}]"
    line = f"a {first.system} {first['mean']:.4f} {ends} {first.better_than}"
    line += f" {first.rank_low}-{first.rank_high}"
    alone = str(comparison["AP", "expected"]).splitlines()
    assert re.sub(" +", " ", alone[2]) == line


def test_few_pairs_follow_and_up_to_three_systems_have_no_letters():
    for n, options, follow in (
        (6, {}, True),
        (4, {"measure": ["ap", "rr"]}, True),
        (7, {}, False),
        (8, {"baseline": "system 01", "measure": ["ap", "rr"]}, True),
        (9, {"baseline": "system 01", "measure": ["ap", "rr"]}, False),
    ):
        comparison = compared(n, **options)
        tables = comparison._tables()
        assert len(tables) == 1 + follow
        assert ("differences of pairs" in str(comparison)) != follow
        if follow:
            assert len(tables[1].columns[0].values) == len(comparison.pairs)
        whole = [table.title for table in comparison._whole()]
        needed = (
            ["Queries needed to show a difference"]
            if len(comparison.pairs) <= 15
            else []
        )
        assert whole == ["Systems, best first", *needed, "Pairs of systems"]
    for n in (1, 2, 3):
        comparison = compared(n, measure=MEASURES)
        texts = [table.text() for table in _text.systems_and_pairs(comparison)]
        assert str(comparison).startswith("\n\n".join(texts))
        assert len(comparison._whole()) == len(texts) + (n > 1)


def test_what_is_too_wide_is_left_out():
    # intervals first
    comparison = compared(6, "a system of {:018}", measure=MEASURES)
    (table, _) = str(comparison).split("\n\n")
    head = re.sub(" +", " ", table.splitlines()[0])
    assert head == "# system AP > RR > NDCG@10 >"
    assert (
        "Hidden columns: AP 95% interval, RR 95% interval, NDCG@10 95% interval"
        in table
    )
    # then letters
    comparison = compared(5, "system {:018}", measure=[f"p@{k}" for k in range(1, 6)])
    table, text = str(comparison).split("\n\n")
    assert max(map(len, str(comparison).splitlines())) <= 80
    head = re.sub(" +", " ", table.splitlines()[0])
    assert head == "# system P@1 > P@2 > P@3 > P@4 P@5"
    assert text.count("By P@") == 5
    # names of any length
    comparison = compared(5, "x" * 70 + "{}", measure=MEASURES)
    assert str(comparison).count("…") == 5


def test_treatments_and_averages_are_named():
    comparison = compared(5, measure=["ap", "rr"], ties=["expected", "worst"])
    tables, text = _text.overview(comparison), str(comparison)
    heads = [column.head for table in tables for column in table.columns[2::3]]
    assert heads == ["AP expected", "AP worst", "RR expected", "RR worst"]
    assert "By AP with ties worst, " in text
    assert "\nties: best\nmean and its 95%" in str(compared(5, ties="best"))
    comparison = compared(5, measure=["ap", "rr"], average="geometric", confidence=0.9)
    assert "\ngeometric mean and its 95% interval; >: signifi" in str(comparison)
    assert "(corrected p <= 0.1)" in str(comparison)
    assert "[0." in str(comparison).splitlines()[2]
    text = str(compared(5, correction=None))
    assert "significant (p <= 0.05)" in text.replace("\n", " ")


def test_the_equals_of_the_best_are_named():
    rng = np.random.default_rng(1)
    labels, qid = rng.integers(0, 2, 400), np.repeat(range(40), 10)

    def conclusion(names, **options):
        noise = rng.normal(0, 0.01, (len(names), 400))
        systems = dict(zip(names, labels + rng.normal(0, 1, 400) + noise, strict=True))
        systems["random"] = rng.random(400)
        return compare_systems(labels, systems, qid=qid, **options)

    comparison = conclusion("abcdef", measure="ap")
    mean = dict(zip(comparison.systems, comparison.summary().mean, strict=True))
    best, *losers = sorted("abcdef", key=lambda name: -mean[name])
    line, best_two, _ = comparison._conclusion()
    text = f"By AP, {best} has the highest mean ({mean[best]:.4f}), but is not "
    text += f"shown to be better than {', '.join(losers)}; "
    assert line.startswith(text)
    assert best_two.startswith(f"{best} is not shown to be better than {losers[0]}: ")
    line, *_ = conclusion("abcd", measure="ap")._conclusion()
    assert "but is not shown to be better than" in line
    # long names, too, also by another measure
    names = [f"a system with a long name, {i}" for i in range(9)]
    comparison = conclusion(names, measure=["ap", "rr"])
    summary = comparison.summary().to_pandas()
    for line, measure in zip(
        comparison._conclusion(), comparison.measures, strict=False
    ):
        rows = summary[summary.measure == measure]
        best = rows.system[rows["mean"].idxmax()]
        rows = rows.sort_values("mean", ascending=False, kind="stable")
        losers = rows.system[~rows.system.isin([best, "random"])]
        quoted = [f'"{name}"' for name in losers]
        assert f"better than {', '.join(quoted)}; " in line


def test_letters_are_no_metrics():
    summary = compared(5, measure="ap").summary()
    metrics = summary.to_metrics()
    assert {type(value) for value in metrics.values()} == {float}
    assert len(metrics) == 5 * 9
    assert "AP/expected/system_00/interval_high" in metrics
