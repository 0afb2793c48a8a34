"""The command merge: saved parts make what all the files make."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import run
from tieaware_sklearn import RankingFeatureSelector, evaluate, evaluate_batches
from tieaware_sklearn.datasets import make_web_search, query_digests
from tieaware_sklearn.feature_selection import Screening
from tieaware_sklearn.io import track

NAMES = ["a.parquet", "b.parquet", "c.parquet"]
PARTS = ["a.tie", "b.tie", "c.tie"]
OUTPUTS = ["o.csv", "o.json", "o.tie"]


def ends_after(monkeypatch, n_batches, error):
    """Screenings that have read so many batches meet an error."""

    def ended(*arguments):
        for number, batch in enumerate(track(*arguments)):
            if number == n_batches:
                raise error
            yield batch

    monkeypatch.setattr("tieaware_sklearn.cli._screen.track", ended)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture(scope="module")
def rows():
    web = make_web_search(n_queries=40, n_documents=8, random_state=0)
    table = pd.DataFrame(web.data, columns=web.feature_names)
    return table.assign(label=web.target, qid=web.qid)


@pytest.fixture
def shards(folder, rows):
    """Three files of different queries."""
    found = []
    for part, name in enumerate(NAMES):
        some = rows[np.searchsorted([5, 17], rows.qid, side="right") == part]
        some.to_parquet(folder / name)
        found.append(some)
    return found


@pytest.fixture
def parts(capsys, shards):
    for name, part in zip(NAMES, PARTS, strict=True):
        assert run(capsys, "screen", name, "--save", part)[0] == 0
    return shards


def fitted(rows, *, weight=None, **options):
    """The selector that Python fits on the rows."""
    X, weights = rows.drop(columns=["label", "qid"]), None
    if weight is not None:
        weights = np.full(len(X), weight)
    selector = RankingFeatureSelector(**options)
    return selector.fit(X, rows.label, qid=rows.qid, query_weight=weights)


def words_of(*more):
    return [*(f"--{name.partition('.')[2]}={name}" for name in OUTPUTS[:2]),
            "--save=o.tie", *more]  # fmt: skip


def outputs():
    return [Path(name).read_bytes() for name in OUTPUTS]


def assert_close(found, wanted):
    """Two tables, numbers to 1e-12."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert _number(value) == pytest.approx(
                _number(other[key]), abs=1e-12, nan_ok=True
            )


def _number(value):
    """The number, if it is one; JSON has none for NaN."""
    try:
        return np.nan if value is None else float(value)
    except ValueError:
        return value


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--top", "3"],
        ["--select", "4", "--diversity", "0.2"],
        ["--max-correlation", "none"],
    ],
    ids=" ".join,
)
def test_parts_make_what_all_files_make(capsys, parts, options):
    code, wanted, _ = run(capsys, "screen", *NAMES, *words_of(*options))
    assert code == 0
    document, table = json.loads(Path("o.json").read_text()), _rows("o.csv")
    code, out, err = run(capsys, "merge", *PARTS, *words_of(*options))
    assert (code, out, err) == (0, wanted, "")
    found = json.loads(Path("o.json").read_text())
    assert_close(_rows("o.csv"), table)
    assert_close(found.pop("features"), document.pop("features"))
    for key in ("chance", "ideal"):
        assert found.pop(key) == pytest.approx(document.pop(key), abs=1e-12)
    assert found == document


def _rows(name):
    with open(name) as file:
        return list(csv.DictReader(file))


def test_no_bit_depends_on_the_order_or_names_of_parts(capsys, parts):
    assert run(capsys, "merge", *PARTS, *words_of())[0] == 0
    wanted = outputs()
    for order in itertools.permutations(PARTS):
        assert run(capsys, "merge", *order, *words_of())[0] == 0
        assert outputs() == wanted
    renamed = [str(Path(part).rename(f"{i}.x")) for i, part in enumerate(PARTS[::-1])]
    assert run(capsys, "merge", *renamed, *words_of())[0] == 0
    assert outputs() == wanted


def test_parts_of_parts_and_one_alone(capsys, parts, folder):
    assert run(capsys, "merge", "b.tie", "a.tie", "--save=ab.tie")[0] == 0
    wanted = run(capsys, "merge", *PARTS)[1]
    assert run(capsys, "merge", "c.tie", "ab.tie")[1] == wanted
    assert run(capsys, "merge", *PARTS, "--report=o.html", "--plot=o.png")[0] == 0
    page = (folder / "o.html").read_text()
    for name, part, rows in zip(NAMES, PARTS, parts, strict=True):
        assert f"{part}: {rows.qid.nunique()} queries of {name}" in page
    assert (folder / "o.png").read_bytes().startswith(b"\x89PNG")
    # one file is shown again
    wanted = run(capsys, "screen", "b.parquet", *words_of())[1]
    before = outputs()
    assert run(capsys, "merge", "b.tie", *words_of()) == (0, wanted, "")
    assert outputs() == before


def test_the_shell_and_python_read_what_the_other_saves(capsys, parts):
    wanted = run(capsys, "merge", *PARTS)[1]
    for name, rows in zip(PARTS, parts[:2], strict=False):
        found, selector = Screening.load(name), fitted(rows)
        assert found.feature_names == tuple(selector.feature_names_in_)
        np.testing.assert_allclose(found.mean, selector.mean_, atol=1e-12)
        selector.screening_.save(name)
    code, out, _ = run(capsys, "merge", *PARTS, "--json=o.json")
    assert code == 0
    # nobody knows how many documents they had
    assert out.splitlines()[0] == "a.tie and 2 more: 40 queries, 12 features"
    assert out.splitlines()[1:] == wanted.splitlines()[1:]
    assert json.loads(Path("o.json").read_text())["n_documents"] is None


@pytest.mark.parametrize("average", ["macro", "geometric", "median"])
def test_reports_of_batches(capsys, folder, shards, rows, average):
    for name, some in zip(PARTS, shards, strict=True):
        evaluate_batches([some], score="clicks").save(name)
    words = words_of("--plot=o.png", "--report=o.html", f"--average={average}")
    code, out, err = run(capsys, "merge", *PARTS, *words)
    assert (code, err) == (0, "")
    whole = evaluate_batches([rows], score="clicks").summary(average)
    assert out.startswith(f"3 files of 40 queries\n\n{str(whole).splitlines()[0]}")
    assert str(whole).splitlines()[2] in out
    report = evaluate(rows.label, rows.clicks, qid=rows.qid)
    figures = report.summary(average).to_pandas().to_dict("records")
    document = json.loads(Path("o.json").read_text())
    assert_close(document["measures"], figures)
    assert document["average"] == average
    assert (folder / "o.png").read_bytes().startswith(b"\x89PNG")
    wanted = outputs()
    assert run(capsys, "merge", *PARTS[::-1], *words)[0] == 0
    assert outputs() == wanted


def refused(capsys, *words):
    code, out, err = run(capsys, "merge", *words)
    assert (code, out) == (1, "")
    return err.removeprefix("tieaware: error: ").rstrip("\n")


def test_a_query_in_two_parts_is_refused(capsys, parts, rows):
    again = rows[rows.qid.isin([3, 4, 20])]
    again.to_parquet("d.parquet")
    assert run(capsys, "screen", "d.parquet", "--save", "d.tie")[0] == 0
    said = refused(capsys, *PARTS, "d.tie")
    assert said.startswith(
        "no query must be in two files, got 3 queries more than once, such as the one "
        "whose id has the digest 0x"
    )
    said, _, told = said.partition(" (datasets.query_digests tells which it is)")
    assert said.endswith((" in a.tie and in d.tie", " in b.tie and in d.tie",
                          " in c.tie and in d.tie"))  # fmt: skip
    assert "LETOR text without qid:" in told
    digest = int(said.partition("digest ")[2].partition(",")[0], 16)
    assert digest in query_digests([3, 4, 20])
    assert "named once, got a.tie and a.tie," in refused(capsys, "a.tie", "a.tie")
    Path("copy").write_bytes(Path("a.tie").read_bytes())
    assert "got 4 queries more than once" in refused(capsys, "a.tie", "copy")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--measures", "rr"], "measures differ: RR in b.tie, NDCG@10, AP, RR in"),
        (["--ignore", "clicks"], "features differ: b.tie has no 'clicks'"),
    ],
)
def test_parts_of_other_options_and_features_are_refused(capsys, parts, options, said):
    def screened(rows, *options):
        rows.to_parquet("b.parquet", index=False)
        assert run(capsys, "screen", "b.parquet", "--save=b.tie", *options)[0] == 0
        return refused(capsys, *PARTS)

    second = parts[1]
    said = f"b.tie does not merge with a.tie: {said}"
    assert screened(second, *options).startswith(said)
    said = screened(second.assign(more=second.clicks))
    assert "features differ: a.tie has no 'more'" in said
    said = screened(second[second.columns[::-1]])
    assert "features differ in their order: b.tie has " in said


def test_labels_and_scores_of_other_columns_are_refused(capsys, parts):
    first, second, third = parts
    for name, rows, label in (("a", first, "label"), ("b", second, "l2")):
        other = ({"label", "l2"} - {label}).pop()
        rows.assign(l2=rows.label[::-1].to_numpy()).to_parquet("x.parquet")
        words = ["x.parquet", "--label", label, "--ignore", other, f"--save={name}.tie"]
        assert run(capsys, "screen", *words)[0] == 0
    said = "columns of labels differ: l2 in b.tie, label in "
    assert refused(capsys, "a.tie", "b.tie") == (
        f"b.tie does not merge with a.tie: {said}a.tie"
    )
    with pytest.raises(ValueError, match="labels differ: l2 in other, label in this s"):
        Screening.load("a.tie").merge(Screening.load("b.tie"))
    # labels of arrays have no name, and do not join what does not go together
    fitted(third).screening_.save("c.tie")
    assert refused(capsys, "c.tie", "a.tie", "b.tie").endswith(f"{said}a.tie")
    assert run(capsys, "merge", "c.tie", "a.tie", "--save=ca.tie")[0] == 0
    assert refused(capsys, "ca.tie", "b.tie").endswith(f"{said}ca.tie")
    evaluate_batches([first], score="clicks", measures="ap").save("a.tie")
    evaluate_batches([second], score="in_degree", measures="ap").save("b.tie")
    assert refused(capsys, "a.tie", "b.tie").endswith(
        ": columns of scores differ: in_degree in b.tie, clicks in a.tie"
    )


def test_weights_of_some_queries_only_are_refused(capsys, parts):
    for name, rows, weight in (("a", parts[0], None), ("b", parts[1], 1.0)):
        fitted(rows, weight=weight).screening_.save(f"{name}.tie")
    assert refused(capsys, "a.tie", "b.tie") == (
        "b.tie does not merge with a.tie: weights of queries differ: given in b.tie, "
        "none in a.tie"
    )


def test_missing_labels_that_count_otherwise_are_refused(capsys, parts):
    for words, name in (
        (["a.parquet", "--unjudged", "skip"], "a"),
        (["b.parquet", "--unjudged", "nonrelevant"], "b"),
    ):
        assert run(capsys, "screen", *words, f"--save={name}.tie")[0] == 0
    said = "values of unjudged differ: nonrelevant in b.tie, "
    assert said in refused(capsys, "a.tie", "b.tie")
    # where no label is missing, nothing was left out
    assert run(capsys, "merge", "a.tie", "c.tie", "--save=ac.tie")[0] == 0
    assert said in refused(capsys, "ac.tie", "b.tie")


def test_folders_and_patterns(capsys, folder, parts):
    wanted = run(capsys, "merge", *PARTS, *words_of())[1]
    before = outputs()
    within = folder / "t[1]" / "more"
    within.mkdir(parents=True)
    Path("a.tie").rename(within / "a.tie")
    for name in ("b.tie", "c.tie"):
        Path(name).rename(within.parent / name)
    (within / "a.parquet").write_bytes(b"another file")
    for names in (["t[1]"], ["t[[]1]/*.tie", str(within)]):
        code, out, err = run(capsys, "merge", *names, *words_of())
        assert (code, out, err) == (0, wanted, "")
        assert outputs() == before
    assert "are the same file" in refused(capsys, "t[1]", "t[1]/more/a.tie")
    assert "--save must not replace an input, got" in refused(
        capsys, "t[1]", "--save=t[1]/b.tie"
    )
    assert refused(capsys, "no/*.tie") == "FILE: there is no file that matches no/*.tie"
    (folder / "none").mkdir()
    said = "FILE: there is no file *.tie in the folder none"
    assert refused(capsys, "t[1]", "none") == said
    for name in ("", "s3://bucket/a.tie"):
        said = f"FILE must be a file, a folder or a pattern, got {name!r}"
        assert refused(capsys, "t[1]", name) == said


def test_queries_numbered_from_zero_in_each_file(capsys):
    for name in "ab":
        Path(f"{name}.txt").write_text("1 1:1\n0 1:2\n1 1:3\n0 1:1\n")
        Path(f"{name}.txt.query").write_text("2\n2\n")
        assert run(capsys, "screen", f"{name}.txt", f"--save={name}.tie")[0] == 0
    said = refused(capsys, "a.tie", "b.tie")
    assert "LETOR text without qid: has its queries numbered 0, 1, ..." in said
    # as the message says
    assert "4 queries" in run(capsys, "screen", "a.txt", "b.txt")[1]


def test_last_features_that_are_left_out(capsys):
    Path("a.txt").write_text("1 qid:1 1:1 3:2\n0 qid:1 1:2\n")
    Path("b.txt").write_text("1 qid:2 1:1\n0 qid:2 2:2\n")
    for name in "ab":
        assert run(capsys, "screen", f"{name}.txt", f"--save={name}.tie")[0] == 0
    said = refused(capsys, "a.tie", "b.tie")
    assert "features differ: b.tie has no '3' (if " in said
    assert said.endswith("--n-features 3)")
    words = ["b.txt", "--n-features=3", "--save=b.tie"]
    assert run(capsys, "screen", "a.txt", "b.txt", "--csv=whole.csv")[0] == 0
    for more in ([], ["--batch-rows=1"]):
        assert run(capsys, "screen", *words, *more)[0] == 0
        assert run(capsys, "merge", "a.tie", "b.tie", "--csv=found.csv")[0] == 0
        assert_close(_rows("found.csv"), _rows("whole.csv"))
    for words, error in (
        (["screen", "a.txt", "--n-features=2"], "n_features must be at least 3, the"),
        (["screen", "b.parquet", "--n-features=3"], "n_features must not be given for"),
    ):
        code, _, err = run(capsys, *words)
        assert code == 1
        assert error in err


def test_other_kinds_are_refused(capsys, parts):
    rows = parts[1]
    options = {"score": "clicks", "measures": "ap"}
    evaluate_batches([rows], **options).save("b.tie")
    assert refused(capsys, *PARTS) == (
        "b.tie does not merge with a.tie: it holds the scores of a ranking, not a "
        "screening"
    )
    evaluate_batches([parts[0]], **options, unjudged="drop").save("a.tie")
    assert "values of unjudged differ: raise in b.tie, drop in a.tie" in refused(
        capsys, "a.tie", "b.tie"
    )
    assert refused(capsys, "b.tie", "--top", "3") == (
        "--top is for features, but b.tie holds the scores of a ranking"
    )
    assert refused(capsys, "c.tie", "--average=median") == (
        "--average is for the scores of a ranking, but c.tie holds a screening"
    )


def test_interrupted_parts_are_refused_unless_they_are_wanted(
    capsys, monkeypatch, parts
):
    with monkeypatch.context() as patched:
        ends_after(patched, 1, KeyboardInterrupt())
        words = ["b.parquet", "--batch-rows", "20", "--save=b.tie"]
        assert run(capsys, "screen", *words)[0] == 130
    assert refused(capsys, *PARTS) == (
        "b.tie: the screening was interrupted after 20 documents: complete it, or "
        "merge what there is with --interrupted"
    )
    words = [*PARTS, "--interrupted", "--json=o.json", "--save=o.tie"]
    code, out, _ = run(capsys, "merge", *words)
    assert code == 0
    n_documents = len(parts[0]) + 20 + len(parts[2])
    assert f" {n_documents} documents, " in out
    assert not json.loads(Path("o.json").read_text())["complete"]
    assert "was interrupted after" in refused(capsys, "o.tie")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04cut", b"1 qid:1 1:2\n"])
def test_damaged_files_are_refused(capsys, parts, content):
    Path("b.tie").write_bytes(content)
    assert refused(capsys, *PARTS).startswith("b.tie is ")
    Path("b.tie").write_bytes(Path("a.tie").read_bytes()[:-9])
    assert refused(capsys, *PARTS).startswith("b.tie is damaged or cut off")
    Path("b.tie").unlink()
    assert refused(capsys, *PARTS) == "b.tie: No such file or directory"


def test_features_that_were_not_correlated(capsys, parts):
    for name, rows in zip(PARTS, parts, strict=True):
        selector = fitted(rows, redundancy=False, max_correlation=None)
        selector.screening_.save(name)
    code, _, err = run(capsys, "merge", *PARTS)
    assert code == 0
    assert err.startswith("tieaware: repeats are not looked for: ")
    assert err.count("\n") == 1
    assert "features must be correlated to be sel" in refused(
        capsys, *PARTS, "--select=2"
    )


@pytest.mark.parametrize("command", ["screen", "merge"])
def test_a_full_disk_costs_no_other_output(capsys, parts, command):
    read = NAMES if command == "screen" else PARTS
    code, table, _ = run(capsys, command, *read, *words_of())
    assert code == 0
    wanted = outputs()
    Path("o.tie").unlink()
    code, out, err = run(capsys, command, *read, *words_of("--save=/dev/full"))
    assert (code, out) == (1, table)
    assert err == "tieaware: error: /dev/full: No space left on device\n"
    assert not Path("o.tie").exists()
    assert [Path(name).read_bytes() for name in OUTPUTS[:2]] == wanted[:2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--save=a.tie"], "--save must not replace an input, got a.tie"),
        (["--save=-"], "--save must name a file, got standard output, -"),
        (["--save=no/o.tie"], "--save: no/o.tie: there is no folder"),
        (
            ["--save=o.csv", "--csv=o.csv"],
            "only one of --csv and --save can go to o",
        ),
    ],
)
def test_outputs_are_checked_first(capsys, parts, words, said):
    before = Path("a.tie").read_bytes()
    assert refused(capsys, *PARTS, *words).startswith(said)
    assert Path("a.tie").read_bytes() == before
