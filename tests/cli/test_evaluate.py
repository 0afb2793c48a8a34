"""The commands evaluate and compare."""

import gzip
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import run, succeed
from tieaware_sklearn import ranking_score
from tieaware_sklearn.comparison import compare_systems
from tieaware_sklearn.datasets import load_trec

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 z 1\n2 0 a 1\n3 0 q 1\n"
RUN = "1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n1 Q0 c 3 1.0 x\n1 Q0 d 4 3 x\n2 Q0 b 1 1 x\n"
AP = {"measure": "ap", "unjudged": "nonrelevant"}


@pytest.fixture
def trec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    other = b"1 Q0 c 1 1 y\n1 Q0 b 2 1 y\n2 Q0 a 1 1 y\n"
    (tmp_path / "other.gz").write_bytes(gzip.compress(other))
    return ["qrels", "run", "other.gz"]


def test_evaluate_prints_what_ties_leave_open(trec, capsys):
    words = ["evaluate", *trec[:2], "--measures", "ap", "rr", "ndcg@2"]
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    heads = "measure mean worst best tie_std trec_eval topics"
    assert lines[0].split() == heads.split()
    # d, a, then b and c tied: AP (1/2 + (2/4 + 2/3) / 2) / 3, and 0 for topic 2
    mean = (1 / 2 + (2 / 4 + 2 / 3) / 2) / 3 / 2
    best, worst = (1 / 2 + 2 / 3) / 3 / 2, (1 / 2 + 2 / 4) / 3 / 2
    figures = [f"{value:.4f}" for value in (mean, worst, best)]
    assert lines[2].split()[:4] == ["AP", *figures]
    # c before b
    assert lines[2].split()[5:] == [f"{best:.4f}", "2"]
    assert lines[4].split()[5] == "-"  # trec_eval's ndcg has linear gain
    notes = "\n".join(lines[5:])
    assert "1 line is below a line with a lower score" in notes
    assert "1 rank contradicts the scores" in notes
    assert "1 topic with judgments but not in the run: left out (-c" in notes
    assert "trec_eval's NDCG is ndcg(gain=linear)" in notes
    assert len({len(line) for line in lines[:5]}) == 1


@pytest.mark.parametrize("option", ["-J", "--judged-only"])
def test_judged_documents_alone(trec, capsys, option):
    words = ["--measures", "ap", "--json=-", option]
    (*_, found) = json.loads(run(capsys, "evaluate", *trec[:2], *words)[1])["results"]
    # a, then b and c tied, without d; c before b; 0 for topic 2
    mean = (1 + (2 / 2 + 2 / 3) / 2) / 3 / 2
    assert found["mean"] == pytest.approx(mean)
    assert found["trec_eval"] == pytest.approx((1 + 2 / 2) / 3 / 2)
    systems = json.loads(run(capsys, "compare", *trec, *words)[1])["systems"]
    assert systems[0]["mean"] == pytest.approx(mean)


def test_the_column_of_trec_eval_is_of_what_it_has(trec, capsys):
    measures = ["rbp", "11pt_avg", "iap(rounding=nearest)", "iap", "P_1", "set_F"]
    lines = run(capsys, "evaluate", *trec[:2], "--measures", *measures)[1].splitlines()
    found = {line.split()[0]: line.split()[5] != "-" for line in lines[2:8]}
    assert found == {
        "RBP(p=0.8)": False,  # version 10 grades it by labels
        "IAP(rounding=trec_eval9)": True,
        "IAP(rounding=nearest)": True,
        "IAP": False,
        "P@1": True,
        "F": True,
    }
    said = "IAP: trec_eval's IAP is 11pt_avg (version 10: iap(rounding=nearest))"
    assert said in lines


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_labels_below_rel_are_warned_of_once(trec, capsys, command):
    Path("qrels").write_text("1 0 a 0.5\n1 0 b 0\n2 0 c 0.25\n")
    _, err = succeed(capsys, command, *trec, "--measures", "ap")
    assert err.count("largest label is 0.5, below rel=1") == 1


def test_notes_name_the_measures_and_the_reason_once(trec, capsys):
    names = ["NDCG@5", "NDCG(gain=linear,discount=inverse)", "NDCG(gain=linear)"]
    out = run(capsys, "evaluate", *trec[:2], "--measures", *names)[1]
    said, again = " ".join(out.split()), "trec_eval's NDCG is"
    assert said.count(again) == 1
    own = f"{', '.join(names[:2])}: {again} ndcg(gain=linear), with discount=log2"
    assert own in said


@pytest.mark.parametrize("output", [[], ["--csv=o.csv"], ["--report=o.html"]])
def test_a_short_interval_is_warned_of_where_one_is_written(trec, capsys, output):
    ranked = (f"{t} Q0 a 1 {2 * (t > 0)} r\n{t} Q0 b 2 1 r\n" for t in range(12))
    Path("qrels").write_text("".join(f"{t} 0 a 1\n{t} 0 b 0\n" for t in range(12)))
    Path("run").write_text("".join(ranked))
    _, err = succeed(capsys, "evaluate", *trec[:2], "--measures", "rr", *output)
    assert ("the interval is too short" in err) == bool(output)


def test_topics_several_runs_and_averages(trec, tmp_path, capsys):
    out = run(capsys, "evaluate", *trec, "-q", "-c", "--measures", "ap")[1]
    rows = [line.split()[:3] for line in out.splitlines()[2:10]]
    topics = ["1", "2", "3", "all"]
    assert rows == [[name, "AP", t] for name in ("x", "y") for t in topics]
    assert "x: 1 topic with judgments but not in the run: counted as empty lists" in out
    words = ["evaluate", *trec[:2], "--measures", "rr", "--csv=o.csv"]
    document = json.loads(run(capsys, *words, "--json=-")[1])
    assert (document["measures"], document["average"]) == (["RR"], "macro")
    assert document["runs"] == {"x": "run"}
    assert [row["topic"] for row in document["results"]] == ["1", "2", "all"]
    last, row = document["results"][-1], pd.read_csv("o.csv").iloc[-1]
    assert last["mean"] == last["trec_eval"] == row["mean"] == 1 / 4
    assert row.n_topics == 2
    for average, value in (("geometric", math.sqrt(0.5 * 1e-5)), ("median", 1 / 4)):
        lines = run(capsys, *words, "--average", average)[1].splitlines()
        assert lines[0].split()[1] == average
        assert lines[2].split()[1] == f"{value:.4f}"
    # sums have no figure above 1; bytes of topics are written as they came
    code, out, _ = run(capsys, "evaluate", *trec[:2], "--measures", "dcg", "ap")
    assert (code, out.splitlines()[2].split()[0]) == (0, "DCG")
    for name, line in (("qrels", b"30\xe9 0 a 1\n"), ("run", b"30\xe9 Q0 a 1 3 x\n")):
        (tmp_path / name).write_bytes(line + line.replace(b"\xe9", b"\xc3\xa9"))
    succeed(capsys, *words)
    for topic in (b",30\xe9,", b",30\xc3\xa9,"):
        assert topic in (tmp_path / "o.csv").read_bytes()


def lines(tag, score, topics=9):
    return "".join(
        f"{t} Q0 d{d} 1 {score(t, d)} {tag}\n" for t in range(topics) for d in range(6)
    )


@pytest.fixture
def runs(tmp_path, monkeypatch):
    judged = (f"{t} 0 d{d} {(t + d) % 3 % 2}\n" for t in range(9) for d in range(6))
    texts = {
        "qrels": "".join(judged),
        "one": lines("alpha", lambda t, d: (t + d) % 3),
        "two": lines("beta", lambda t, d: d // 3),
        "three": lines("gamma", lambda t, d: t * d % 5, topics=7),
    }
    monkeypatch.chdir(tmp_path)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return list(texts)


def assert_rows(rows, columns, names):
    """Rows of JSON or CSV have the values of columns."""
    for name in names:
        found = pd.DataFrame(rows)[name].to_list()
        wanted = pd.Series(columns[name]).to_list()
        if isinstance(wanted[0], float):
            np.testing.assert_allclose(np.array(found, float), wanted, rtol=1e-12)
        else:
            assert found == wanted


def test_pairs_are_those_of_compare_systems(capsys, runs):
    words = ["--measures", "ap", "p@3", "--json=-", "--csv=pairs.csv"]
    out, err = succeed(capsys, "compare", *runs, *words)
    said = "tieaware: warning: the values per query of alpha - beta by AP, alpha - beta"
    assert err.startswith(f"{said} by P@3 do not vary, so")
    assert "alpha - gamma by AP, beta - gamma by AP are too skewed for" in err
    assert err.count("\n") == 2
    found = json.loads(out)
    data = load_trec(runs[0], runs[1:], order="trec_eval")
    systems = dict(zip(data.run_names, data.score.T, strict=True))
    options = AP | {"measure": ["ap", "p@3"]}
    wanted = compare_systems(data.target, systems, qid=data.qid, **options)
    names = ["measure", "a", "b", "difference", "tie_std", "adjusted_pvalue"]
    for rows in (found.pop("pairs"), pd.read_csv("pairs.csv")):
        assert_rows(rows, wanted._columns(), [*names, "tie_range_low"])
    means = [row["mean"] for row in found.pop("systems")]
    assert means == wanted.summary().mean.tolist()
    assert found == {
        "qrels": "qrels",
        "measures": ["AP", "P@3"],
        "ties": ["expected"],
        "runs": dict(zip(data.run_names, runs[1:], strict=True)),
        "n_topics": 9,
        "test": "t",
        "correction": "holm",
        "baseline": [],
    }


def test_compare_prints_tables_and_what_their_heads_mean(capsys, runs):
    out, _ = succeed(capsys, "compare", *runs, "--measures", "ap")
    first = "3 runs on 9 topics of qrels\nBy AP, beta has the highest mean (0.5111),"
    assert out.startswith(first)
    assert "gamma: 2 of 9 topics are not in the run, and count as empty lists\n" in out
    for term in ("A - B", "±95%", "tie range", "same sign", "holm"):
        assert f"\n{term}  " in out
    _, out, _ = run(capsys, "compare", *runs, "--correction", "none")
    assert "holm" not in out
    _, out, _ = run(capsys, "compare", *runs[:3], "--test", "wilcoxon")
    assert "pvalue     p-value of Wilcoxon's" in out


def test_many_runs_fit_a_screen(capsys, runs):
    shifts = ((i, (1, 2, 3, 5, 7, 4)[i % 6], 2 + i % 3) for i in range(8))
    for i, factor, rest in shifts:
        text = lines(f"run{i}", lambda t, d, f=factor, r=rest: (f * d + t) % r)
        Path(f"r{i}").write_text(text)
    words = ["qrels", *(f"r{i}" for i in range(8)), "--measures", "ap", "rr", "p@3"]
    out, _ = succeed(capsys, "compare", *words, "--json=o.json", "--csv=o.csv")
    assert len(out.splitlines()) <= 45
    assert max(map(len, out.splitlines())) <= 80
    opening, table, meanings = out.split("\n\n")
    assert meanings.startswith("95% interval  ")
    document, rows = json.loads(Path("o.json").read_text()), pd.read_csv("o.csv")
    systems = pd.DataFrame(document["systems"])
    of_ap = systems[systems.measure == "AP"].sort_values("letter")
    best = of_ap.iloc[0]
    assert f"\nBy AP, {best.run} has the highest mean ({best['mean']:.4f})" in opening
    names = [row.split()[:2] for row in table.splitlines()[2:10]]
    assert names == of_ap[["letter", "run"]].to_numpy().tolist()
    assert "\n84 differences of pairs: see to_pandas() or --csv" in table
    # the pairs, each with the figures of both runs
    assert len(rows) == 3 * 28
    assert rows.columns[:4].tolist() == ["measure", "ties", "a", "b"]
    keyed = systems.set_index(["measure", "run"])
    for side in "ab":
        own = keyed.loc[[*zip(rows.measure, rows[side], strict=True)]]
        for name in ("mean", "interval_low", "interval_high"):
            np.testing.assert_allclose(rows[f"{name}_{side}"], own[name], rtol=1e-12)
    # a page has all
    succeed(capsys, "compare", *words, "--report=o.html")
    page = Path("o.html").read_text(encoding="utf-8")
    heads = re.findall("<h2>(.*?)</h2>", page)
    assert heads[:3] == ["Systems, best first", "Notes", "Pairs of systems"]


def test_a_page_of_runs_says_which_is_ahead(capsys, runs):
    words = ["evaluate", *runs, "--measures", "ap", "ndcg@3", "esl"]
    succeed(capsys, *words, "--report=o.html")
    succeed(capsys, *words, "--csv=o.csv")
    page = Path("o.html").read_text(encoding="utf-8")
    averages = pd.read_csv("o.csv").query("topic == 'all'")
    expected = []
    for measure, rows in averages.groupby("measure", sort=False):
        word, best = "highest", rows["mean"].max()
        if measure == "ESL":
            word, best = "lowest", rows["mean"].min()
        names = ", ".join(rows["run"][rows["mean"] == best])
        expected.append(f"By {measure}, the {word} mean is {best:.4f} ({names}).")
    *verdict, hint = re.findall('<p class="lead">(.*?)</p>', page)
    assert verdict == expected
    assert "tieaware compare" in hint


def test_treatments_side_by_side_with_a_baseline(capsys, runs):
    ties = ["official", "expected", "worst", "rank", "file"]
    words = ["--measures", "ap", "p@3", "--ties", *ties, "--baseline", "beta"]
    code, out, err = run(capsys, "compare", *runs, *words, "--json=-")
    # once for all treatments
    assert (code, err.count("alpha - beta by AP")) == (0, 1)
    found = json.loads(out)
    assert (found["ties"], found["baseline"]) == (ties, ["beta"])
    pairs = {(pair["a"], pair["b"]) for pair in found["pairs"]}
    assert pairs == {("alpha", "beta"), ("gamma", "beta")}
    assert len(found["pairs"]) == 2 * 2 * len(ties)
    of_ap = [row for row in found["systems"] if row["measure"] == "AP"]
    means = {(row["run"], row["ties"]): row["mean"] for row in of_ap}
    for name, path in zip(("alpha", "beta", "gamma"), runs[1:], strict=True):
        for treatment, order in (("official", "trec_eval"), ("file", None)):
            data = load_trec(runs[0], path, order=order, topics="qrels")
            options = {"qid": data.qid, "ties": "input", **AP}
            wanted = ranking_score(data.target, data.score, **options)
            assert means[name, treatment] == wanted
    code, out, _ = run(capsys, "compare", *runs, *words)
    assert "expected" in out
    assert max(map(len, out.splitlines()[1:])) <= 80
