"""A run that says nothing, first and last in one table.

``python -m benchmarks.results.constant_run QRELS RUN ...`` evaluates TREC runs by
reciprocal rank, ties broken by document id in both directions and by the ranks of the
files, and exactly; and, where ir-measures is installed, by its RR and RR@1000, which
two packages compute for it. Without files it makes up runs.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tieaware_sklearn import tie_report

from ._shared import Runs, command_line, table, trec
from .winners import RULES, averages, comparisons


def made_up(folder: Path, n_topics: int = 30, n_documents: int = 20) -> list[str]:
    """Judgments, a run with scores that help, and one with a single score."""
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


def ir_measures(qrels: str, runs: Sequence[str]) -> list[tuple[float, float]]:
    """RR and RR@1000 of each run, as ir-measures reports them."""
    import ir_measures as module

    judged = list(module.read_trec_qrels(text(qrels)))
    found = []
    for run in runs:
        lines = list(module.read_trec_run(text(run)))
        measures = [module.RR, module.RR @ 1000]
        values = module.calc_aggregate(measures, judged, lines)
        found.append((values[measures[0]], values[measures[1]]))
    return found


def text(path: str) -> str:
    """All of a file, plain or compressed."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt") as file:
        return file.read()


def reciprocal_ranks(runs: Runs) -> list[list[Any]]:
    """A line per run: share of documents tied, RR by the rules, worst and best."""
    lines = averages(comparisons(runs, "rr"))
    for line, score in zip(lines, runs.scores.values(), strict=True):
        report = tie_report(runs.target, score, qid=runs.qid, unjudged="nonrelevant")
        line.insert(1, f"{report.tied_documents:.0%}")
    return lines


def main() -> None:
    arguments = command_line(__doc__, help="QRELS, then RUNs").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = arguments.files or made_up(Path(folder))
        runs = trec(files[0], files[1:])
        header = ["RR", "tied", *RULES, "worst", "best"]
        print(table(header, reciprocal_ranks(runs)))
        if find_spec("ir_measures") is None:
            print("\nir-measures is not installed")
            return
        found = ir_measures(files[0], files[1:])
        lines = [[name, *line] for name, line in zip(runs.scores, found, strict=True)]
        print("\n" + table(["ir-measures", "RR", "RR@1000"], lines))


if __name__ == "__main__":
    main()
