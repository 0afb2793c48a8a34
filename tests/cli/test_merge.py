"""The command merge: saved parts make what all the files make."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.helpers import fail, run, succeed
from tieaware_sklearn import RankingFeatureSelector, evaluate, evaluate_batches
from tieaware_sklearn.datasets import make_web_search, query_digests
from tieaware_sklearn.feature_selection import Screening

NAMES = ["a.parquet", "b.parquet", "c.parquet"]
PARTS = ["a.tie", "b.tie", "c.tie"]
OUTPUTS = ["o.csv", "o.json", "o.tie"]
ALL = ["--csv=o.csv", "--json=o.json", "--save=o.tie"]
NO_MERGE = "b.tie does not merge with a.tie: "


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


def screen(capsys, name, rows, *options):
    """Write rows to a file, and save its screening."""
    rows.to_parquet(f"{name}.parquet", index=False)
    words = [f"{name}.parquet", f"--save={name}.tie", *options]
    succeed(capsys, "screen", *words)


@pytest.fixture
def parts(capsys, rows):
    """Rows of three files of different queries, screened."""
    part = np.searchsorted([5, 17], rows.qid, side="right")
    shards = [rows[part == number] for number in range(3)]
    for name, own in zip("abc", shards, strict=True):
        screen(capsys, name, own)
    return shards


def refused(capsys, *words):
    """What is said of parts that do not merge."""
    err = fail(capsys, "merge", *words)
    return err.removeprefix("tieaware: error: ").rstrip("\n")


def fitted(rows, **options):
    """The selector that Python fits on the rows."""
    X = rows.drop(columns=["label", "qid"])
    return RankingFeatureSelector(**options).fit(X, rows.label, qid=rows.qid)


def outputs():
    return [Path(name).read_bytes() for name in OUTPUTS]


def document():
    return json.loads(Path("o.json").read_text())


def assert_close(found, wanted):
    """Two tables, numbers to 1e-12."""
    found, wanted = map(pd.DataFrame, (found, wanted))
    found = found.astype(wanted.dtypes)
    pd.testing.assert_frame_equal(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "options", ["", "--top 3", "--select 4 --diversity 0.2", "--max-correlation none"]
)
def test_parts_make_what_all_files_make(capsys, parts, options):
    options = options.split()
    shown, _ = succeed(capsys, "screen", *NAMES, *ALL, *options)
    wanted, table = document(), pd.read_csv("o.csv")
    assert run(capsys, "merge", *PARTS, *ALL, *options) == (0, shown, "")
    found = document()
    assert_close(pd.read_csv("o.csv"), table)
    assert_close(found.pop("features"), wanted.pop("features"))
    for key in ("chance", "ideal"):
        assert found.pop(key) == pytest.approx(wanted.pop(key), abs=1e-12)
    assert found == wanted


def test_no_bit_depends_on_the_order_or_names_of_parts(capsys, parts):
    succeed(capsys, "merge", *PARTS, *ALL)
    wanted = outputs()
    for order in itertools.permutations(PARTS):
        succeed(capsys, "merge", *order, *ALL)
        assert outputs() == wanted
    renamed = [str(Path(part).rename(f"{i}.x")) for i, part in enumerate(PARTS[::-1])]
    succeed(capsys, "merge", *renamed, *ALL)
    assert outputs() == wanted


def test_parts_of_parts_and_one_alone(capsys, parts):
    pytest.importorskip("matplotlib")
    succeed(capsys, "merge", "b.tie", "a.tie", "--save=ab.tie")
    shown = run(capsys, "merge", *PARTS)[1]
    assert run(capsys, "merge", "c.tie", "ab.tie")[1] == shown
    succeed(capsys, "merge", *PARTS, "--report=o.html", "--plot=o.png")
    page = Path("o.html").read_text()
    for name, part, rows in zip(NAMES, PARTS, parts, strict=True):
        assert f"{part}: {rows.qid.nunique()} queries of {name}" in page
    assert Path("o.png").read_bytes().startswith(b"\x89PNG")
    # one file is shown again
    shown = run(capsys, "screen", "b.parquet", *ALL)[1]
    before = outputs()
    assert run(capsys, "merge", "b.tie", *ALL) == (0, shown, "")
    assert outputs() == before


def test_the_shell_and_python_read_what_the_other_saves(capsys, parts):
    shown = run(capsys, "merge", *PARTS)[1]
    for name, rows in zip(PARTS, parts[:2], strict=False):
        found, selector = Screening.load(name), fitted(rows)
        assert found.feature_names == tuple(selector.feature_names_in_)
        np.testing.assert_allclose(found.mean, selector.mean_, atol=1e-12)
        selector.screening_.save(name)
    out, _ = succeed(capsys, "merge", *PARTS, "--json=o.json")
    # nobody knows how many documents they had
    assert out.splitlines()[0] == "a.tie and 2 more: 40 queries, 12 features"
    assert out.splitlines()[1:] == shown.splitlines()[1:]
    assert document()["n_documents"] is None


@pytest.mark.parametrize("average", ["macro", "geometric"])
def test_reports_of_batches(capsys, parts, rows, average):
    pytest.importorskip("matplotlib")
    for name, some in zip(PARTS, parts, strict=True):
        evaluate_batches([some], score="clicks").save(name)
    words = [*ALL, "--plot=o.png", "--report=o.html", f"--average={average}"]
    code, out, err = run(capsys, "merge", *PARTS, *words)
    assert (code, "hardly ever near 0" in err) == (0, average == "geometric")
    whole = evaluate_batches([rows], score="clicks").summary(average)
    assert out.startswith(f"3 files of 40 queries\n\n{str(whole).splitlines()[0]}")
    assert str(whole).splitlines()[2] in out
    report = evaluate(rows.label, rows.clicks, qid=rows.qid)
    assert_close(document()["measures"], report.summary(average).to_pandas())
    assert (document()["average"], document()["files"]) == (average, PARTS)
    assert Path("o.png").read_bytes().startswith(b"\x89PNG")
    wanted = outputs()
    succeed(capsys, "merge", *PARTS[::-1], *ALL, f"--average={average}")
    assert outputs() == wanted
    assert run(capsys, "merge", "a.tie")[1].startswith("1 file of ")


def test_a_query_in_two_parts_is_refused(capsys, parts, rows):
    screen(capsys, "d", rows[rows.qid.isin([3, 4, 20])])
    said = refused(capsys, *PARTS, "d.tie")
    assert said.startswith(
        "no query must be in two files, got 3 queries more than once, such as the one "
        "whose id has the digest 0x"
    )
    said, _, told = said.partition(" (datasets.query_digests tells which it is)")
    assert said.endswith(tuple(f" in {part} and in d.tie" for part in PARTS))
    assert "LETOR text without qid: has its queries numbered 0, 1, ..." in told
    digest = int(said.partition("digest ")[2].partition(",")[0], 16)
    assert digest in query_digests([3, 4, 20])
    screen(capsys, "d", rows[rows.qid == 3])
    assert "got 1 query more than once" in refused(capsys, "a.tie", "d.tie")
    assert "named once, got a.tie and a.tie," in refused(capsys, "a.tie", "a.tie")


def test_labels_of_other_columns_are_refused(capsys, parts):
    first, second, third = parts
    for name, rows, label in (("a", first, "label"), ("b", second, "l2")):
        other = ({"label", "l2"} - {label}).pop()
        rows = rows.assign(l2=rows.label[::-1].to_numpy())
        screen(capsys, name, rows, "--label", label, "--ignore", other)
    said = "columns of labels differ: l2 in b.tie, label in "
    assert refused(capsys, "a.tie", "b.tie") == f"{NO_MERGE}{said}a.tie"
    # labels of arrays have no name, and do not join what does not go together
    fitted(third).screening_.save("c.tie")
    assert refused(capsys, "c.tie", "a.tie", "b.tie").endswith(f"{said}a.tie")
    succeed(capsys, "merge", "c.tie", "a.tie", "--save=ca.tie")
    assert refused(capsys, "ca.tie", "b.tie").endswith(f"{said}ca.tie")


def test_other_kinds_and_reports_of_other_options_are_refused(capsys, parts):
    options = {"score": "clicks", "measures": "ap"}
    evaluate_batches([parts[1]], **options).save("b.tie")
    said = "it holds the scores of a ranking, not a screening"
    assert refused(capsys, *PARTS) == NO_MERGE + said
    changed = {"score": "in_degree"}
    evaluate_batches([parts[0]], **(options | changed)).save("a.tie")
    said = "columns of scores differ: clicks in b.tie, in_degree in a.tie"
    assert refused(capsys, "a.tie", "b.tie") == NO_MERGE + said
    said = " is for features, but b.tie holds the scores of a ranking"
    for option in ("--top", "--max-correlation"):
        assert refused(capsys, "b.tie", option, "1") == f"{option}{said}"
    assert refused(capsys, "c.tie", "--average=median") == (
        "--average is for the scores of a ranking, but c.tie holds a screening"
    )


def test_folders_and_patterns(capsys, folder, parts):
    shown = run(capsys, "merge", *PARTS, *ALL)[1]
    before = outputs()
    within = folder / "t[1]" / "more"
    within.mkdir(parents=True)
    Path("a.tie").rename(within / "a.tie")
    for name in ("b.tie", "c.tie"):
        Path(name).rename(within.parent / name)
    (within / "a.parquet").write_bytes(b"another file")
    for names in (["t[1]"], ["t[[]1]/*.tie", str(within)]):
        assert run(capsys, "merge", *names, *ALL) == (0, shown, "")
        assert outputs() == before
    (folder / "none").mkdir()
    Path("cut").write_bytes(Path("o.tie").read_bytes()[:-9])
    for words, said in (
        (["t[1]", "t[1]/more/a.tie"], "each file must be named once, got "),
        (["t[1]", "--save=t[1]/b.tie"], "--save must not replace an input, got t[1]/b"),
        (["no/*.tie"], "FILE: there is no file that matches no/*.tie"),
        (["t[1]", "none"], "FILE: there is no file *.tie in the folder none"),
        (["t[1]", ""], "FILE must be a file, a folder or a pattern, got ''"),
        (["t[1]", "s3://b/a"], "FILE must be a file, a folder or a pattern, got 's3:/"),
        (["o.tie", "--save=-"], "--save must name a file, got standard output, -"),
        (["o.tie", "absent.tie"], "absent.tie: No such file or directory"),
        (["o.tie", "o.csv"], "o.csv is not a file that save has written"),
        (["o.tie", "cut"], "cut is damaged or cut off"),
    ):
        assert refused(capsys, *words).startswith(said)
    assert outputs() == before


def test_text_that_leaves_out_query_ids_or_last_features(capsys):
    for name in "ab":
        Path(f"{name}.txt").write_text("1 1:1\n0 1:2\n1 1:3\n0 1:1\n")
        Path(f"{name}.txt.query").write_text("2\n2\n")
        succeed(capsys, "screen", f"{name}.txt", f"--save={name}.tie")
    assert "LETOR text without qid:" in refused(capsys, "a.tie", "b.tie")
    # as the message says
    assert "4 queries" in run(capsys, "screen", "a.txt", "b.txt")[1]
    Path("a.txt").write_text("1 qid:1 1:1 3:2\n0 qid:1 1:2\n")
    Path("b.txt").write_text("1 qid:2 1:1\n0 qid:2 2:2\n")
    for name in "ab":
        succeed(capsys, "screen", f"{name}.txt", f"--save={name}.tie")
    said = refused(capsys, "a.tie", "b.tie")
    assert "features differ: b.tie has no '3' (if " in said
    assert said.endswith("--n-features 3)")
    succeed(capsys, "screen", "a.txt", "b.txt", "--csv=whole.csv")
    words = ["b.txt", "--n-features=3", "--save=b.tie", "--batch-rows=1"]
    succeed(capsys, "screen", *words)
    succeed(capsys, "merge", "a.tie", "b.tie", "--csv=found.csv")
    assert_close(pd.read_csv("found.csv"), pd.read_csv("whole.csv"))


def test_features_that_were_not_correlated(capsys, parts):
    for name, rows in zip(PARTS, parts, strict=True):
        selector = fitted(rows, redundancy=False, max_correlation=None)
        selector.screening_.save(name)
    _, err = succeed(capsys, "merge", *PARTS)
    assert err.startswith("tieaware: repeats are not looked for: those of a.tie were ")
    assert err.count("\n") == 1
    said = "features must be correlated to be selected, but those of a.tie were not "
    assert refused(capsys, *PARTS, "--select=2").startswith(said)
