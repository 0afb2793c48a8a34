"""The command line, as a shell user meets it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import dump_letor, make_web_search


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=20, random_state=0)


@pytest.fixture(scope="module")
def letor(web, tmp_path_factory):
    path = tmp_path_factory.mktemp("letor") / "web.txt.gz"
    dump_letor(web.data, web.target, web.qid, path)
    return str(path)


@pytest.fixture(scope="module")
def frame(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    return frame.assign(rating=web.target, query=[f"q{q}" for q in web.qid], url="a/b")


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_screen_prints_a_table(capsys, letor, web):
    code, out, err = run(capsys, "screen", letor, "--top", 5)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert f"{len(web.target)} documents, 40 queries, 12 features" in lines[0]
    assert lines[2].split()[:4] == ["feature", "rank", "first", "NDCG@10"]
    assert lines[4].startswith("(chance)")
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    best = int(np.argmin(selector.ranking_))
    cells = lines[5].split()
    assert cells[:3] == [str(best + 1), "1", "high"]
    assert cells[3] == f"{selector.scores_[best, 0]:.4f}"
    assert len(lines[5:10]) == 5
    assert "... and 7 more" in out
    assert f"{selector.support_.sum()} of 12 features beat chance by NDCG@10" in out


def test_screen_writes_csv_and_json(capsys, letor, web, tmp_path):
    names = ["--measures", "ap(rel=2)", "f(rel=2,beta=2)@5,rr"]
    to_csv, to_json = tmp_path / "out.csv", tmp_path / "out.json"
    code, out, _ = run(
        capsys, "screen", letor, *names, "--csv", to_csv, "--json", to_json
    )
    assert code == 0
    assert "feature" in out
    rows = list(csv.DictReader(io.StringIO(to_csv.read_text())))
    selector = RankingFeatureSelector(["ap(rel=2)", "f(beta=2,rel=2)@5", "rr"])
    selector.fit(web.data, web.target, web.qid)
    assert len(rows) == 12
    for row in rows:
        j = int(row["feature"]) - 1
        assert int(row["rank"]) == selector.ranking_[j]
        assert float(row["F(rel=2,beta=2)@5"]) == selector.scores_[j, 1]
        assert float(row["RR_q"]) == selector.qvalues_[j, 2]
    document = json.loads(to_json.read_text())
    assert document["measures"] == ["AP(rel=2)", "F(rel=2,beta=2)@5", "RR"]
    assert document["n_queries"] == 40
    assert document["chance"]["RR"] == selector.chance_[2]
    assert document["features"][0]["correlation"] is None
    assert [row["feature"] for row in document["features"]] == [
        row["feature"] for row in rows
    ]


def test_screen_to_standard_output(capsys, letor):
    _, out, _ = run(capsys, "screen", letor, "--top", 3, "--csv")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 3
    _, out, _ = run(capsys, "screen", letor, "--json", "--sort-by", "rr")
    document = json.loads(out)
    assert document["sort_by"] == "RR"
    values = [row["RR"] for row in document["features"]]
    assert values == sorted(values, reverse=True)
    code, _, err = run(capsys, "screen", letor, "--json", "--csv")
    assert code == 1
    assert "only one of --csv and --json" in err


@pytest.mark.parametrize(
    "name", ["web.csv", "web.tsv", "web.csv.gz", "web.csv.xz", "web.parquet"]
)
def test_screen_reads_tables(capsys, frame, web, tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    columns = ["--label", "rating", "--qid", "query"]
    code, out, err = run(capsys, "screen", path, *columns, "--json")
    assert code == 0
    assert err == "tieaware: left out, not numbers: url\n"
    selector = RankingFeatureSelector().fit(web.data, web.target, web.qid)
    for row in json.loads(out)["features"]:
        j = web.feature_names.index(row["feature"])
        assert row["NDCG@10"] == pytest.approx(selector.scores_[j, 0], abs=1e-12)
    code, _, err = run(capsys, "screen", path)
    assert code == 1
    assert f"{name}: there is no column 'label' (columns: in_degree, clicks," in err
    code, out, _ = run(capsys, "screen", path, path, *columns)
    assert code == 0
    assert "and 1 more:" in out
    code, out, _ = run(capsys, "screen", path, *columns, "--ignore", "clicks", "--csv")
    assert code == 0
    assert "\nclicks," not in out
    assert len(out.splitlines()) == 12
    # left out before it is looked at
    assert run(capsys, "screen", path, *columns, "--ignore", "url")[::2] == (0, "")
    for name in ("rating", "titles"):
        code, _, err = run(capsys, "screen", path, *columns, "--ignore", name)
        assert code == 1
        assert f"ignore must name a feature, got '{name}'" in err


def test_tables_keep_query_ids_and_integers_as_they_are(capsys, tmp_path):
    path = tmp_path / "ids.csv"
    ids = ["007", "7", "NA", "null"]
    lines = ["label,qid,big,b"]
    for n, qid in enumerate(ids):
        lines += [f"1,{qid},{2**62 + 1},0.5", f"0,{qid},{2**62},{n}.5"]
    path.write_text("\n".join(lines))
    code, out, _ = run(capsys, "screen", path, "--json", "--measures", "rr")
    assert code == 0
    document = json.loads(out)
    assert document["n_queries"] == 4
    by_name = {row["feature"]: row for row in document["features"]}
    # a tie in float64, none in int64
    assert by_name["big"]["RR"] == 1
    dates = pd.DataFrame(
        {
            "label": [1, 0],
            "qid": [1, 1],
            "x": [2, 1],
            "when": pd.to_datetime(["2020-01-01", "2021-01-01"]),
            "nothing": [None, None],
        }
    )
    dates.to_parquet(tmp_path / "dates.parquet")
    _, out, err = run(capsys, "screen", tmp_path / "dates.parquet", "--json")
    assert "tieaware: left out, not numbers: when, nothing\n" in err
    assert [row["feature"] for row in json.loads(out)["features"]] == ["x"]


def test_outputs_keep_what_stands_at_their_path(capsys, letor, tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    assert run(capsys, "screen", letor, "--csv", link)[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("rank,feature")
    assert target.stat().st_mode & 0o777 == 0o640
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        assert run(capsys, "screen", letor, "--csv", pipe)[0] == 0
        assert reader.stdout.read().startswith(b"rank,feature")
    assert pipe.is_fifo()


def test_screen_reports_bad_cells_and_missing_values(capsys, frame, tmp_path):
    columns = ["--label", "rating", "--qid", "query"]
    path = tmp_path / "bad.csv"
    bad = frame.astype({"clicks": object})
    bad.loc[17, "clicks"] = "many"
    bad.to_csv(path, index=False)
    code, _, err = run(capsys, "screen", path, *columns)
    assert code == 1
    assert "bad.csv, line 19: column 'clicks' must hold numbers, got 'many'" in err
    gaps = frame.copy()
    gaps.loc[3, ["clicks", "n_slashes"]] = np.nan
    gaps.to_csv(path, index=False)
    code, _, err = run(capsys, "screen", path, *columns)
    assert code == 1
    assert "bad.csv, line 5: feature clicks is missing, and so are 1 more" in err
    assert "--missing last" in err
    code, _, _ = run(capsys, "screen", path, *columns, "--missing", "last")
    assert code == 0
    unlabelled = frame.copy()
    unlabelled.loc[5, "rating"] = np.nan
    unlabelled.to_csv(path, index=False)
    code, _, err = run(capsys, "screen", path, *columns)
    assert code == 1
    assert "bad.csv, line 7: a label must be finite and >= 0, got nan" in err


def quoted_file(folder):
    path = folder / "quoted.csv"
    path.write_text("label,qid,x\n1,1,2\n0,1,3\n")
    return str(path)


def bad_files(folder):
    def write(name, text):
        path = folder / name
        path.write_text(text)
        return str(path)

    yield ["absent.txt"], 1, "absent.txt: No such file or directory"
    yield [str(folder)], 1, "Is a directory"
    yield [write("a.txt", "")], 1, "a.txt: the file holds no documents"
    middle = "1 qid:1 1:1\nzero qid:1 1:1\n0 qid:1 1:0\n"
    yield [write("b.txt", middle)], 1, "b.txt, line 2: the label must be a number"
    yield [write("c.csv", "")], 1, "c.csv: "
    yield [write("d.csv", "label,qid,x\n")], 1, "d.csv: the file holds no documents"
    yield [write("e.parquet", "label")], 1, "e.parquet: "
    yield [write("f.csv", "label,qid,x\nbad,1,2\n")], 1, "'label' holds no number"
    yield [write("g.csv", "label,qid\n1,1\n")], 1, "no column but 'label'"
    fine = write("fine.txt", "1 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:0\n")
    yield [fine, write("h.csv", "a")], 1, "all files must be of one kind"
    negative = write("i.txt", "# head\n0 qid:1 1:0\n\n-1 qid:1 1:1\n")
    yield [negative], 1, "i.txt, line 4: a label must be finite and >= 0, got -1"
    for value in ("nan", "inf"):
        path = write("j.txt", f"0 qid:1 1:0\n1 qid:1 1:{value}\n")
        yield [fine, path], 1, "j.txt, line 2: feature 1 "
        path = write("k.txt", f"0 qid:1 1:0\n{value} qid:1 1:1\n")
        yield [path], 1, f"k.txt, line 2: a label must be finite and >= 0, got {value}"
    quoted = 'label,qid,x,y\n1,1,2,"a\nb"\n\n1,1,two,c\n'
    yield [write("l.csv", quoted)], 1, "l.csv, line 5: column 'x' must hold numbers"
    longer = write("m.csv", "label,qid,x\n1,1,2,9\n0,1,3,4\n")
    yield [longer], 1, "m.csv, line 2: a row must not have more cells than the head"
    middle = write("q.csv", "label,qid,x\n1,1,2\n   \n\n0,1,3,4\n")
    yield [middle], 1, "q.csv, line 5: a row must not have more cells than the head"
    blank = write("r.csv", "label,qid,x\n1,1,1\n   \n\n0,1,3\n\n0,1,y\n")
    yield [blank], 1, "r.csv, line 7: column 'x' must hold numbers, got 'y'"
    long = write("s.csv", f"label,qid,x,t\n1,1,1,{'a' * 200_000}\n0,1,y,b\n")
    yield [long], 1, "s.csv, line 3: column 'x' must hold numbers, got 'y'"
    yield [write("t.txt", "1 qid:1\n0 qid:1\n")], 1, "t.txt: no line holds a feature"
    for line in ("1_0 qid:1 1:1", "1 qid:1_0 1:1", "1 qid:1 1:1_0"):
        yield [write("u.txt", f"1 qid:1 1:1\n{line}\n")], 1, "u.txt, line 2: "
    damaged = folder / "v.txt.bz2"
    damaged.write_bytes(b"BZhxxxx")
    yield [fine, str(damaged)], 1, "v.txt.bz2: damaged compressed data"
    same = str(folder / "out.csv")
    other = str(folder / "." / "x" / ".." / "out.csv")
    yield [fine, "--csv", same, "--json", other], 1, "only one of --csv and --json"
    yield [write("n.csv", "label;qid;x\n1;1;2\n")], 1, "cells are parted by ';'"
    empty = write("o.csv", "label,qid,x\n1,1,2\n0,,3\n")
    yield [empty], 1, "o.csv, line 3: column 'qid' is empty"
    yield [write("p.csv", "a,b\n1,2\n"), "--label", "qid"], 1, "both column 'qid'"
    yield [str(folder / "absent.parquet")], 1, "absent.parquet: No such file"
    yield [fine, "--label", "x"], 1, "--label names a column of CSV and Parquet files"
    yield [quoted_file(folder), "--query-file", fine], 1, "--query-file goes with LETOR"
    yield [fine, "--ignore", "7"], 1, "--ignore must name features, got '7'"
    yield [fine, "--ignore", "1"], 1, "--ignore must leave a feature to screen"
    yield [fine, "--csv", str(folder)], 1, "--csv must name a file, got the folder"
    yield [fine, "--csv", ""], 1, "--csv must name a file, got an empty name"
    yield [fine, "--csv", "same", "--json", "same"], 1, "only one of --csv and --json"
    yield [fine, "--measures", "ndgc@10"], 1, "did you mean 'NDCG@10'?"
    yield [fine, "--sort-by", "dcg"], 1, "sort_by must be one of"
    nowhere = str(folder / "no" / "out.csv")
    yield [fine, "--csv", nowhere], 1, "--csv: there is no folder for"
    yield [fine, "--zero-relevance", "raise", "--measures", "fallout"], 1, "undefined"


def test_bad_files_give_one_line_and_no_traceback(capsys, tmp_path):
    for arguments, expected, message in bad_files(tmp_path):
        code, out, err = run(capsys, "screen", *arguments)
        assert (code, out) == (expected, ""), arguments
        assert message in err
        assert err.count("\n") == 1
        assert err.startswith("tieaware: error: ")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["screen"],
        ["launch"],
        ["screen", "x", "--direction", "up"],
        ["screen", "x", "--top", "-1"],
        ["screen", "x", "--top", "few"],
        ["screen", "x", "--jobs", "two"],
        ["demo", "--jobs", "0"],
        ["screen", "x", "--zero-relevance", "keep"],
    ],
)
def test_bad_usage_exits_with_2(capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: tieaware" in capsys.readouterr().err


def test_measures_that_few_queries_have_say_so(capsys, tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("2 qid:1 1:1\n0 qid:1 1:0\n1 qid:2 1:1\n0 qid:2 1:0\n1 qid:3 1:1\n")
    measures = ["--measures", "ap(rel=2)", "rr(rel=9)", "fallout@1", "ap"]
    _, out, _ = run(capsys, "screen", path, *measures, "--zero-relevance", "skip")
    assert "beat chance by AP(rel=2) (q <= 0.05; 1 queries)" in out
    assert "AP(rel=2) is the average of 1 of 3 queries: it is undefined" in out
    assert "Warning: no query has a document that RR(rel=9) counts." in out
    assert "Fallout@1 is the average of 2 of 3 queries" in out
    assert "\nAP is" not in out
    _, out, _ = run(capsys, "screen", path, *measures)
    assert "of 3 queries" not in out


def test_one_query_is_warned_of_in_plain_words(capsys, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("1 qid:1 1:1\n0 qid:1 1:0\n")
    code, _, err = run(capsys, "screen", path)
    assert code == 0
    assert err.startswith("tieaware: warning: p-values need at least two queries")


def test_demo(capsys, tmp_path):
    path = tmp_path / "digits.txt"
    code, out, err = run(capsys, "demo", "--queries", 10, "--out", path)
    assert code == 0
    assert err.startswith(f"tieaware: wrote {path}; features 1 hamming, 2 l1, ")
    orders = [
        "relevant rows first",
        "as loaded",
        "shuffled",
        "relevant rows last",
        "exact, in any order",
    ]
    values = {}
    for line in out.splitlines():
        for name in orders:
            if line.startswith(name):
                values[name] = float(line.split()[-2])
    assert list(values) == orders
    best, *_, worst, exact = values.values()
    assert worst < exact < best
    code, out, _ = run(capsys, "screen", path)
    assert code == 0
    assert "17960 documents, 10 queries, 7 features" in out
    code, _, err = run(capsys, "demo", "--queries", 0)
    assert code == 1
    assert "n_queries must be in 1..1797, got 0" in err


def shell(command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, **options
    )


def test_as_a_module_and_in_a_pipe(letor):
    module = [sys.executable, "-m", "tieaware_sklearn"]
    assert shell([*module, "--version"]).stdout.strip()
    assert "screen" in shell([*module, "--help"]).stdout
    done = shell([*module, "screen", letor, "--top", "0"])
    assert done.returncode == 0
    assert done.stderr == ""
    # a reader that closes at once, as head does
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(
        [*module, "screen", letor], stdout=write, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(write)
        _, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_standard_input_and_plain_terminals(letor):
    module = [sys.executable, "-m", "tieaware_sklearn", "screen"]
    with open(letor, "rb") as file:
        done = shell([*module, "-", "--top", "1"], stdin=file)
    assert done.returncode == 0
    assert done.stdout == shell([*module, letor, "--top", "1"]).stdout.replace(
        letor, "-"
    )
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = shell([*module, letor], env=ascii_only)
    assert done.returncode == 0
    assert "?95%" in done.stdout
    piped = shell(["sh", "-c", f"{' '.join(module)} {letor} --csv /dev/stdout | cat"])
    assert piped.stderr == ""
    assert piped.stdout.startswith("rank,feature")
    text = "1 qid:1 1:2\n\n-1 qid:1 1:3\n"
    done = shell([*module, "-"], input=text)
    assert done.returncode == 1
    assert "standard input, line 3: a label must be finite and >= 0" in done.stderr
    closed = shell(["sh", "-c", f"{' '.join(module)} {letor} >&-"])
    assert "Traceback" not in closed.stderr
    silent = shell(["sh", "-c", f"{' '.join(module)} {letor} 2>&-"])
    assert silent.returncode == 0


def test_interrupted(monkeypatch, capsys, letor):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tieaware_sklearn.cli._screen_files.read", interrupt)
    assert run(capsys, "screen", letor)[0] == 130


def test_progress_on_a_terminal_only(monkeypatch, capsys, letor):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _, _, err = run(capsys, "screen", letor)
    assert "12/12" in err
    _, _, err = run(capsys, "screen", letor, "--quiet")
    assert err == ""


# -- evaluate


QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 z 1\n2 0 a 1\n3 0 q 1\n"
RUN = "1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n1 Q0 c 3 1.0 x\n1 Q0 d 4 3 x\n2 Q0 b 1 1 x\n"


@pytest.fixture
def trec(tmp_path):
    paths = tmp_path / "qrels.txt", tmp_path / "run.txt", tmp_path / "other.gz"
    paths[0].write_text(QRELS)
    paths[1].write_text(RUN)
    paths[2].write_bytes(gzip.compress(b"1 Q0 c 1 1 y\n1 Q0 b 2 1 y\n2 Q0 a 1 1 y\n"))
    return [str(path) for path in paths]


def test_evaluate_prints_what_ties_leave_open(trec, capsys):
    assert main(["evaluate", *trec[:2], "--measures", "ap", "rr", "ndcg@2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        *("measure", "mean", "worst", "best", "tie", "std", "trec_eval", "topics")
    ]
    # d, a, then b and c tied: AP (1/2 + (2/4 + 2/3) / 2) / 3, and 0 for topic 2
    mean = (1 / 2 + (2 / 4 + 2 / 3) / 2) / 3 / 2
    best, worst = (1 / 2 + 2 / 3) / 3 / 2, (1 / 2 + 2 / 4) / 3 / 2
    figures = [f"{value:.4f}" for value in (mean, worst, best)]
    assert lines[2].split()[:4] == ["AP", *figures]
    # c before b
    assert lines[2].split()[5] == f"{best:.4f}"
    assert lines[4].split()[5] == "-"  # trec_eval's ndcg has linear gain
    notes = "\n".join(lines[5:])
    assert "1 line stands below one of a lower score" in notes
    assert "1 rank contradicts the scores" in notes
    assert "1 topic with judgments, not in the run: left out (-c" in notes
    assert "trec_eval's NDCG: ndcg(gain=linear)" in notes
    assert len({len(line) for line in lines[:5]}) == 1


def test_evaluate_shows_topics_and_several_runs(trec, capsys):
    arguments = ["evaluate", *trec, "-q", "-c", "--measures", "ap"]
    assert main(arguments) == 0
    out = capsys.readouterr().out.splitlines()
    rows = [line.split()[:3] for line in out[2:10]]
    topics = ["1", "2", "3", "all"]
    assert rows == [[run, "AP", t] for run in ("run.txt", "other.gz") for t in topics]


def test_evaluate_writes_figures_for_programs(trec, tmp_path, capsys):
    written = tmp_path / "out.csv"
    arguments = ["evaluate", *trec[:2], "--measures", "rr", "--csv", str(written)]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["measures"] == ["RR"]
    last = document["results"][-1]
    assert last["topic"] == "all"
    assert last["mean"] == last["trec_eval"] == 1 / 4
    assert [row["topic"] for row in document["results"]] == ["1", "2", "all"]
    rows = list(csv.DictReader(io.StringIO(written.read_text())))
    assert float(rows[-1]["mean"]) == 1 / 4
    assert rows[-1]["n_topics"] == "2"


def test_evaluate_averages_otherwise(trec, capsys):
    arguments = ["evaluate", *trec[:2], "--measures", "rr", "--average"]
    assert main([*arguments, "geometric"]) == 0
    value = capsys.readouterr().out.splitlines()[2].split()[1]
    assert value == f"{math.sqrt(0.5 * 1e-5):.4f}"
    assert main([*arguments, "median"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[1] == "median"
    assert lines[2].split()[1] == "0.2500"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--measures", "xyzzy"], "unknown measure 'xyzzy'"),
        (["missing.txt"], "missing.txt: No such file"),
        (["--csv", "--json"], "only one of --csv and --json can go to standard output"),
        (["-", "-"], "only one of the files can be standard input"),
        (["run.txt", "run.txt"], "RUN must name each file once"),
    ],
)
def test_evaluate_names_what_is_wrong(trec, extra, message, capsys):
    assert main(["evaluate", *trec[:2], *extra]) == 1
    assert message in capsys.readouterr().err


def test_evaluate_names_file_and_line(trec, tmp_path, capsys):
    bad = tmp_path / "bad"
    bad.write_text(RUN + "1 Q0 e\n")
    assert main(["evaluate", trec[0], str(bad)]) == 1
    assert "bad, line 6: must have 6 columns" in capsys.readouterr().err
