"""Rows of CSV that lack cells: errors, be they read at once, in batches or at once."""

from __future__ import annotations

import gzip

import pytest

from tests.io.helpers import csv as write_csv
from tieaware_sklearn.cli import main
from tieaware_sklearn.datasets import iter_batches, load_table

ROWS = ["label,qid,text,x", *(f"{i % 2},{i // 4},t,{i}" for i in range(40))]
SHORT = "a row must not have fewer cells than the header (4), got "
#: what the rows 10 and 11 become, how many cells the first short one has, its line
CASES = [
    (["1,2"], 2, 11),
    (["1,2,t"], 3, 11),
    (["7"], 1, 11),
    (['1,2,"a,b,c"'], 3, 11),
    (['1,2,"a\n""b"",\n\n,c"'], 3, 14),
    (['"1","2"', '1,2,"t",3'], 2, 11),
    (['1,2,5" disk,3', "1,2,t"], 3, 12),
    (['1,2,5" disk', '1,2,6" disk,3'], 3, 11),
    (["", "  ", "1,2,t"], 3, 13),
    (['1,2,"t,3"\r', "1,2,t,3\r"], 3, 11),
    (["1,2\r1,2,t,3"], 2, 11),
    (["1,2,t,3,", "1,2,3"], None, 0),
]
LEGAL = [
    ['1,2,"a,b",3'],
    ['1,2,"a\n""b"",,\n\n,c",3'],
    ["", "  ", "\t", "1,2,,"],
    ['1,2,5" disk,3'],
    ['1,2,a "" b,3', '"1","2","",""'],
    ["1,2,t,3\r", "\r", "1,2,t,3\r"],
    ["1,2,t,3\r1,2,t,3"],
    [",2,,"],
]


def with_rows(rows: list[str], end: str = "\n") -> str:
    return "\n".join([*ROWS[:10], *rows, *ROWS[12:]]) + end


def read_in_all_ways(path):
    yield lambda: load_table(path)
    yield lambda: list(iter_batches(path, batch_rows=3))


@pytest.mark.parametrize(("rows", "n_cells", "line"), CASES)
def test_short_rows(tmp_path, rows, n_cells, line):
    path = write_csv(tmp_path, with_rows(rows))
    for read in read_in_all_ways(path):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            read()
        if n_cells is not None:
            assert str(error.value).startswith(
                f"{path}, line {line}: {SHORT}{n_cells} "
            )


@pytest.mark.parametrize("rows", LEGAL)
@pytest.mark.parametrize("end", ["\n", "", "\n\n", "\n \n"])
def test_legal_rows(tmp_path, rows, end):
    path = write_csv(tmp_path, with_rows(rows, end))
    for read in read_in_all_ways(path):
        read()


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("n_lost", [1, 3, 4, 5, 8])
def test_a_file_cut_in_its_last_row(tmp_path, capsys, zipped, n_lost):
    data = "label,qid,x\n1,1,12\n0,1,13\n1,22,7\n"[:-n_lost].encode()
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    path.write_bytes(gzip.compress(data) if zipped else data)
    for command in (
        ["screen", str(path), "--missing", "last", "--quiet"],
        ["screen", str(path), "--missing", "last", "--quiet", "--batch-rows", "1"],
    ):
        code = main(command)
        # the last number may be cut in its digits, which nobody can tell
        is_short = data.rpartition(b"\n")[2].count(b",") < 2
        assert code == (1 if is_short and data[-1:] != b"\n" else 0)
        err = capsys.readouterr().err
        assert ("line 4: a row must not have fewer cells" in err) == bool(code)
