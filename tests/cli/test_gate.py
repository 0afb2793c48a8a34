"""The gate of `tieaware compare`: exit codes for CI."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tieaware_sklearn as ta
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import make_web_search

PAGE = Path(__file__).parents[2] / "docs/howto/guard_ci.md"
WEB = make_web_search(n_queries=60, random_state=0)
SCORES = pd.DataFrame({
    "q": WEB.qid, "y": WEB.target, "clicks": WEB.data[:, 1], "degree": WEB.data[:, 0]
})  # fmt: skip


def save(path, score, rows=slice(None), measures=("ndcg@10",), **options):
    report = ta.evaluate(
        SCORES.y[rows], SCORES[score][rows], qid=SCORES.q[rows],
        measures=list(measures), **options,
    )  # fmt: skip
    table = report.to_pandas(settings=True)
    table.insert(0, "system", score)
    table.to_parquet(path)
    return report


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reports = {"good": save("good.parquet", "clicks")}
    reports["bad"] = save("bad.parquet", "degree")
    return {name: report.expected[:, 0] for name, report in reports.items()}


def gate(*words):
    code = main(["compare", "--values", *words, "--json=gate.json"])
    path = Path("gate.json")
    return code, json.loads(path.read_text())["gate"] if path.exists() else None


@pytest.mark.parametrize(("baseline", "code"), [("good", 3), ("bad", 0)])
def test_a_system_that_is_worse_fails(files, baseline, code, capsys):
    words = "good.parquet bad.parquet --baseline", baseline, "--fail-if worse"
    got, verdicts = gate(*shlex.split(" ".join(words)))
    assert got == code
    (verdict,) = verdicts
    system = {"good": "bad", "bad": "good"}[baseline]
    expected = stats.ttest_rel(files[system], files[baseline], alternative="less")
    assert verdict["pvalue"] == pytest.approx(expected.pvalue, rel=1e-12)
    assert verdict["passes"] is (code == 0)
    assert (verdict["system"], verdict["baseline"]) == (system, baseline)
    printed = " ".join(capsys.readouterr().out.split())
    assert verdict["text"] in printed
    assert verdict["text"].startswith("pass: " if code == 0 else "fail: ")
    # the loss that these queries would have shown
    n = len(files["good"])
    error = stats.sem(files["good"] - files["bad"])
    centre = verdict["detectable_loss"] / error
    critical = stats.t.isf(0.01, n - 1)
    assert stats.nct.sf(critical, n - 1, centre) == pytest.approx(0.8, abs=1e-6)


def test_json_names_the_rule(files):
    words = ["good.parquet", "bad.parquet", "--baseline=good", "--alpha=0.05"]
    for rule, tolerance in (("worse", None), ("inferior", 0.1)):
        options = [f"--fail-if={rule}"]
        if tolerance is not None:
            options.append(f"--tolerance={tolerance}")
        _, (verdict,) = gate(*words, *options)
        found = json.loads(Path("gate.json").read_text())
        assert found["fail_if"] == rule
        assert found["alpha"] == 0.05
        assert found["tolerance"] == tolerance
        # The loss that --fail-if worse would detect is no remark on another rule.
        assert ("would have shown" in verdict["text"]) == (rule == "worse")


def test_alpha_decides(files):
    words = ["good.parquet", "bad.parquet", "--baseline=good", "--fail-if=worse"]
    _, (verdict,) = gate(*words)
    for factor, code in ((0.5, 0), (2, 3)):
        assert gate(*words, f"--alpha={factor * verdict['pvalue']}")[0] == code


def test_several_systems_and_measures_are_corrected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measures = ("ndcg@10", "ap", "rr")
    good = save("good.parquet", "clicks", measures=measures).expected
    bad = save("bad.parquet", "degree", measures=measures).expected
    _, verdicts = gate(
        "good.parquet", "bad.parquet", "--baseline=good", "--fail-if=worse"
    )
    pvalues = stats.ttest_rel(bad, good, alternative="less").pvalue
    order, holm = np.argsort(pvalues), np.empty(3)
    holm[order] = np.maximum.accumulate(pvalues[order] * [3, 2, 1]).clip(max=1)
    assert [v["pvalue"] for v in verdicts] == pytest.approx(holm.tolist(), rel=1e-9)


def test_inferior_unless_the_loss_is_excluded(files):
    words = ["good.parquet", "bad.parquet", "--fail-if=inferior"]
    assert gate(*words, "--baseline=bad", "--tolerance=0.03")[0] == 0
    code, (verdict,) = gate(*words, "--baseline=good", "--tolerance=0.03")
    assert code == 3
    assert "is not shown to be less than 0.03 worse than good" in verdict["text"]


def test_equal_values_exclude_what_their_number_does(files):
    Path("same.parquet").write_bytes(Path("good.parquet").read_bytes())
    words = ["good.parquet", "same.parquet", "--baseline=good", "--fail-if=inferior"]
    least = 1 - 0.01 ** (1 / 60)
    for tolerance, code in ((least - 0.001, 3), (least + 0.001, 0)):
        got, (verdict,) = gate(*words, f"--tolerance={tolerance}")
        assert got == code
        assert (
            f"60 queries can only exclude a loss above {least:.3g}" in verdict["text"]
        )
    assert gate(*words[:3], "--fail-if=worse")[0] == 0


def test_different_queries_need_unpaired(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = SCORES.q <= 30, SCORES.q > 30
    monday = save("monday.parquet", "clicks", first).expected[:, 0]
    tuesday = save("tuesday.parquet", "degree", second).expected[:, 0]
    words = ["monday.parquet", "tuesday.parquet", "--baseline=monday"]
    assert gate(*words, "--fail-if=worse")[0] == 1
    assert "same queries in all systems" in capsys.readouterr().err
    _, (verdict,) = gate(*words, "--fail-if=worse", "--unpaired")
    expected = stats.ttest_ind(tuesday, monday, equal_var=False, alternative="less")
    assert verdict["pvalue"] == pytest.approx(expected.pvalue, rel=1e-9)


def test_weights_are_tested_by_randomization(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weights = {"query_weight": np.where(WEB.qid <= 3, 100.0, 1.0)}
    good = save("good.parquet", "clicks", **weights)
    bad = save("bad.parquet", "degree", **weights)
    words = ["good.parquet", "bad.parquet", "--baseline=good"]
    _, (verdict,) = gate(*words, "--fail-if=worse")
    with pytest.warns(UserWarning, match="weights"):
        expected = ta.compare_values({"bad": bad, "good": good}, test="randomization")
    assert verdict["pvalue"] == pytest.approx(expected.pvalues[0] / 2)
    assert json.loads(Path("gate.json").read_text())["test"] == "randomization"
    assert gate(*words, "--fail-if=inferior", "--tolerance=0.1")[0] == 1


def test_few_queries_are_not_tested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for n, code in ((9, 2), (10, 0)):
        save("a.parquet", "degree", SCORES.q <= n)
        save("b.parquet", "clicks", SCORES.q <= n)
        words = ["a.parquet", "b.parquet", "--baseline=a", "--fail-if=worse"]
        got, (verdict,) = gate(*words)
        assert (got, verdict["passes"]) == (code, True if code == 0 else None)
        assert ("9 queries, but 10 are needed" in verdict["text"]) == (n == 9)


def test_files_from_python_and_files_of_one_name(files, capsys):
    saved = pd.read_parquet("bad.parquet").drop(columns="system")
    saved.to_parquet("python.parquet")
    words = ["good.parquet", "python.parquet", "--baseline=good", "--fail-if=worse"]
    assert gate(*words)[0] == 3
    Path("new").mkdir()
    saved.to_parquet("new/good.parquet")
    words[1] = "new/good.parquet"
    assert gate(*words)[0] == 1
    said = "--values must name files with different names, got good twice"
    assert said in capsys.readouterr().err


def test_a_file_of_one_system_is_compared_with_nothing(files, capsys):
    assert main(["compare", "--values", "good.parquet"]) == 1
    message = "--values must name files that contain two or more systems"
    assert message in capsys.readouterr().err


def test_measures_are_chosen_in_either_spelling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, score in (("a.parquet", "clicks"), ("b.parquet", "degree")):
        save(path, score, measures=("ndcg@10", "ap"))
    words = ["a.parquet", "b.parquet", "--baseline=a", "--fail-if=worse"]
    for spelled in (["--measures", "ap"], ["--measures=ap"]):
        _, verdicts = gate(*words, *spelled)
        assert [verdict["measure"] for verdict in verdicts] == ["AP"]


def test_equal_losses_are_no_equal_values(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("a.parquet", "clicks")
    table = pd.read_parquet("a.parquet")
    table["expected"] = 0.5
    table.to_parquet("a.parquet")
    table["expected"] = 0.25
    table.to_parquet("b.parquet")
    code, (verdict,) = gate("a.parquet", "b.parquet", "--baseline=a", "--fail-if=worse")
    assert code == 3
    assert verdict["text"].endswith("; all differences are equal")


def test_each_of_two_days_needs_enough_queries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("a.parquet", "clicks", SCORES.q <= 30)
    save("b.parquet", "degree", SCORES.q > 55)
    words = ["a.parquet", "b.parquet", "--baseline=a", "--fail-if=worse"]
    code, (verdict,) = gate(*words, "--unpaired")
    assert code == 2
    assert "5 queries, but 10 are needed" in verdict["text"]


REFUSED = [
    (["--fail-if=worse"], "--baseline or --against must be given with --fail-if, got"),
    (["--fail-if=inferior", "--baseline=good"], "--tolerance must be above 0 .* None"),
    (
        ["--fail-if=inferior", "--baseline=good", "--tolerance=1.5"],
        "--tolerance must be below 1 for NDCG@10, got 1.5",
    ),
    (
        ["--fail-if=inferior", "--baseline=good", "--tolerance=.1", "--unpaired"],
        "--fail-if must be 'worse' with --unpaired, got 'inferior'",
    ),
    (
        ["--fail-if=worse", "--baseline=good", "--alpha=2"],
        r"--alpha .* \(0, 1\), got 2",
    ),
    (
        ["--fail-if=worse", "--baseline=good", "--test=wilcoxon"],
        "--test must be t or randomization with --fail-if, got wilcoxon",
    ),
    (["--fail-if=worse", "--baseline=x"], r"baseline must be one of .* got 'x'"),
    (["--ties=best"], "--ties must be left out for saved values, .*best"),
    (["--label=y"], "--label must be left out for saved values, .* y"),
    (["--qid=q"], "--qid must be left out for saved values, .* q"),
    (["-c"], "--complete must be left out for saved values, .* True"),
    (["-J"], "--judged-only must be left out for saved values, .* True"),
    (["--score=new"], "--score must be left out for saved values, .*new"),
    (
        ["--zero-relevance=1"],
        "--zero-relevance must be left out for saved values, .* 1",
    ),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_what_a_gate_refuses(files, words, message, capsys):
    assert gate("good.parquet", "bad.parquet", *words)[0] == 1
    assert re.search(message, capsys.readouterr().err)


def test_unpaired_is_of_saved_values(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    SCORES.to_parquet("scores.parquet")
    words = ["compare", "scores.parquet", "--score", "clicks", "degree", "--unpaired"]
    assert main([*words, "--qid=q", "--label=y"]) == 1
    error = capsys.readouterr().err
    assert "--values or --against must be given with --unpaired, got neither" in error


NEW_SCORES = ["compare", "scores.parquet", "--qid=q", "--label=y"]


@pytest.fixture
def new_scores(files):
    """Write scores whose column `model` is worse than the saved values."""
    SCORES.rename(columns={"degree": "model"}).to_parquet("scores.parquet")


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_new_scores_are_tested_against_saved_values(new_scores, form):
    release = pd.read_parquet("good.parquet")
    if form == "csv":
        release.to_csv("good.csv", index=False)
    words = [*NEW_SCORES, "--score=model", f"--against=good.{form}"]
    outputs = ["--fail-if=worse", "--json=gate.json", f"--save=today.{form}"]
    assert main([*words, *outputs]) == 3
    one_command = json.loads(Path("gate.json").read_text())["gate"]
    # The saved values are those of evaluate, and two commands decide alike.
    evaluate = ["evaluate", *NEW_SCORES[1:], "--score=model", "--measures=ndcg@10"]
    assert main([*evaluate, f"--save=evaluated.{form}"]) == 0
    today = Path(f"today.{form}")
    assert today.read_bytes() == Path(f"evaluated.{form}").read_bytes()
    today.rename(f"model.{form}")
    files = [f"good.{form}", f"model.{form}"]
    code, two_commands = gate(*files, "--baseline=good", "--fail-if=worse")
    assert code == 3
    # Ids of a CSV file are text, which sorts otherwise.
    (verdict,) = one_command
    pvalue = pytest.approx(verdict["pvalue"], rel=1e-12)
    assert two_commands == [{**verdict, "pvalue": pvalue}]


def test_new_scores_of_other_queries_are_compared_unpaired(new_scores, capsys):
    is_old = SCORES.q < SCORES.q.median()
    release = save("release.parquet", "clicks", is_old)
    words = [*NEW_SCORES, "--score=model", "--against=release.parquet"]
    assert main(words) == 1
    assert "values must be for the same queries" in capsys.readouterr().err
    assert main([*words, "--unpaired", "--json=-"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    today = ta.ranking_score(SCORES.y, SCORES.degree, qid=SCORES.q, average=None)
    expected = stats.ttest_ind(today, release.expected[:, 0], equal_var=False)
    assert pair["pvalue"] == pytest.approx(expected.pvalue, rel=1e-12)


REFUSED_WITH_NEW_SCORES = [
    (
        ["good.parquet", "--against=good.parquet"],
        "--score must be given with --against, got none",
    ),
    (["--score", "model", "y", "--save=a.csv"], "--against must be given with --save"),
    (
        ["--score=model", "--against=good.parquet", "--save=good.parquet"],
        "--save must not replace an input, got good.parquet",
    ),
    (
        ["--score=model", "--against=good.parquet", "--ties=best"],
        "--ties must be left out for saved values, .*best",
    ),
    (
        ["--score=model", "--against=model.parquet"],
        "--score must not name a system of --against, got model in both",
    ),
]


@pytest.mark.parametrize(("words", "message"), REFUSED_WITH_NEW_SCORES)
def test_what_a_comparison_with_saved_values_refuses(
    new_scores, words, message, capsys
):
    save("model.parquet", "clicks")
    before = Path("good.parquet").read_bytes()
    assert main([*NEW_SCORES, *words]) == 1
    assert re.search(message, capsys.readouterr().err)
    assert Path("good.parquet").read_bytes() == before


def test_the_commands_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    shell = re.findall(r"^\$ (tieaware compare (?:.*\\\n)*.*)\n", page, re.M)
    commands = [shlex.split(command.replace("\\\n", " ")) for command in shell]
    steps = re.findall(r"- run: >\n((?: {10}.*\n)+)", page)
    assert [shlex.split(step) for step in steps] == commands
    for model, code in (("clicks", 0), ("degree", 3)):
        save("release.parquet", "clicks")
        SCORES.rename(columns={model: "model"}).to_parquet("scores.parquet")
        assert [main(words[1:]) for words in commands] == [code]
        capsys.readouterr()
        (verdict,) = json.loads(Path("gate.json").read_text())["gate"]
        assert verdict["passes"] is (code == 0)
