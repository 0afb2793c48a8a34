"""A run with constant scores, first and last in the same table.

``python -m benchmarks.results.constant_run QRELS RUN ...`` evaluates TREC runs by
reciprocal rank, with ties broken by document id in both directions and by the ranks of
the files, and exactly. If ir-measures is installed, the command also prints its RR and
RR@1000, which two packages compute for it. Without files it makes up runs.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tieaware_sklearn import tie_report

from ._shared import Runs, TableRows, command_line, print_table, trec
from .winners import RULES, averages, comparisons


def made_up(folder: Path, n_topics: int = 30, n_documents: int = 20) -> list[str]:
    """Write judgments, a useful run, and a run with constant scores."""
    rng = np.random.default_rng(0)
    lines: dict[str, list[str]] = {"qrels": [], "useful": [], "constant": []}
    for topic in range(n_topics):
        labels = rng.integers(0, 2, size=n_documents)
        for rank, relevant in enumerate(labels, 1):
            name = f"{'K' if relevant else 'u'}{len(lines['qrels'])}"
            score = np.round(2 * relevant + 2 * rng.normal())
            lines["qrels"].append(f"{topic} 0 {name} {relevant}")
            lines["useful"].append(f"{topic} Q0 {name} {rank} {score} useful")
            lines["constant"].append(f"{topic} Q0 {name} {rank} 0.5 constant")
    for name, text in lines.items():
        (folder / name).write_text("\n".join(text) + "\n")
    return [str(folder / name) for name in lines]


def print_ir_measures(files: Sequence[str], names: Sequence[str]) -> None:
    """Print RR and RR@1000 of each run, as ir-measures reports them."""
    import ir_measures

    qrels, *runs = files
    judged = list(ir_measures.read_trec_qrels(text(qrels)))
    measures = [ir_measures.RR, ir_measures.RR @ 1000]
    rows = []
    for name, run in zip(names, runs, strict=True):
        lines = list(ir_measures.read_trec_run(text(run)))
        values = ir_measures.calc_aggregate(measures, judged, lines)
        rows.append([name, *(values[measure] for measure in measures)])
    print_table(["ir-measures", "RR", "RR@1000"], rows)


def text(path: str) -> str:
    """Return the text of a file, plain or compressed."""
    open_file = gzip.open if path.endswith(".gz") else open
    with open_file(path, "rt") as file:
        return file.read()


def reciprocal_ranks(runs: Runs) -> TableRows:
    """Return a row for each run: share of tied documents, and RR by each rule."""
    rows = averages(comparisons(runs, "rr"))
    for row, scores in zip(rows, runs.scores.values(), strict=True):
        report = tie_report(runs.target, scores, qid=runs.qid, unjudged="nonrelevant")
        row.insert(1, f"{report.tied_documents:.0%}")
    return rows


def main() -> None:
    arguments = command_line(__doc__, help="QRELS, then RUNs").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = arguments.files or made_up(Path(folder))
        runs = trec(files)
        print_table(["RR", "tied", *RULES, "worst", "best"], reciprocal_ranks(runs))
        print()
        if find_spec("ir_measures") is None:
            print("ir-measures is not installed")
        else:
            print_ir_measures(files, list(runs.scores))


if __name__ == "__main__":
    main()
