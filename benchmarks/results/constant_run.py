"""A run that says nothing, first and last in one table.

``python -m benchmarks.results.constant_run QRELS RUN ...`` evaluates TREC runs by
reciprocal rank, ties broken by document id in both directions, and exactly; and, where
ir-measures is installed, by its RR and RR@1000, which two packages compute for it.
Without files it makes up runs.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tieaware_sklearn import tie_report

from ._shared import table, trec
from .winners import averages, comparisons


def made_up(folder: Path, n_topics: int = 30, n_documents: int = 20) -> list[str]:
    """Judgments, a run with scores that help, and one with a single score."""
    rng = np.random.default_rng(0)
    lines: dict[str, list[str]] = {"qrels": [], "useful": [], "constant": []}
    for topic in range(n_topics):
        for relevant in rng.integers(0, 2, size=n_documents):
            name = f"{'K' if relevant else 'u'}{len(lines['qrels'])}"
            score = np.round(2 * relevant + 2 * rng.normal())
            lines["qrels"].append(f"{topic} 0 {name} {relevant}")
            lines["useful"].append(f"{topic} Q0 {name} 1 {score} useful")
            lines["constant"].append(f"{topic} Q0 {name} 1 0.5 constant")
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


def reciprocal_ranks(files: Sequence[str]) -> tuple[list[str], list[list[Any]]]:
    """A table: header, and a row per run."""
    runs = trec(files[0], files[1:])
    tied = [
        tie_report(runs.target, score, qid=runs.qid, unjudged="nonrelevant")
        for score in runs.scores.values()
    ]
    # no run is longer than 1,000 documents, so RR is RR@1000
    rows = averages(comparisons(runs, "rr"))
    for row, report in zip(rows, tied, strict=True):
        row.insert(1, f"{report.tied_documents:.0%}")
    header = ["RR", "documents tied", "ids descending", "ids ascending", "exact"]
    header += ["worst", "best"]
    if find_spec("ir_measures") is not None:
        header += ["ir-measures RR", "ir-measures RR@1000"]
        for row, values in zip(rows, ir_measures(files[0], files[1:]), strict=True):
            row += values
    return header, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="QRELS, then RUNs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(table(*reciprocal_ranks(arguments.files or made_up(Path(folder)))))


if __name__ == "__main__":
    main()
