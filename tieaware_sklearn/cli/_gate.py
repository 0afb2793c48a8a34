"""The gate of the command ``compare``: it stops systems that are worse."""

import argparse
import math
from typing import NamedTuple

import numpy as np

from .._display import words
from ..comparison import SystemComparison
from ..evaluation import _interval_warnings
from ..statistics.gates import detectable_loss, excludable_loss, gaffke_pvalue
from ..statistics.moments import QueryMoments, cluster_means
from ..statistics.multiple_testing import adjust
from ..statistics.paired_tests import paired_tests

#: queries of each pair that a gate needs
FEWEST = 10
#: exit codes: too few queries, or a system that must not pass
UNTESTED, FAILED = 2, 3


class Verdict(NamedTuple):
    """The decision on a system by a measure.

    Attributes
    ----------
    measure, system, baseline : str
    passes : bool or None
        None if it cannot be tested.
    difference : float
        Positive if the system is better.
    pvalue : float
        Of the hypothesis that the system is no worse, corrected by Holm for all
        systems and measures; for "inferior", of a loss of the tolerance.
    detectable_loss : float
        Mean loss that these queries would have shown with power 0.8.
    text : str
    """

    measure: str
    system: str
    baseline: str
    passes: bool | None
    difference: float
    pvalue: float
    detectable_loss: float
    text: str


def exit_code(verdicts: list[Verdict]) -> int:
    """Return 3 if a system fails, otherwise 2 if one is not tested, otherwise 0."""
    passes = [verdict.passes for verdict in verdicts]
    if False in passes:
        return FAILED
    return UNTESTED if None in passes else 0


def check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that a gate does not have."""
    if arguments.fail_if is None:
        return
    if not arguments.baseline:
        raise ValueError("--baseline must name a system for --fail-if, got none")
    if arguments.test == "wilcoxon":
        raise ValueError(
            "--test must be t or randomization for --fail-if, got wilcoxon"
        )
    if not 0 < arguments.alpha < 1:
        raise ValueError(f"--alpha must be in (0, 1), got {arguments.alpha:g}")
    if arguments.fail_if == "inferior":
        if arguments.tolerance is None or not arguments.tolerance > 0:
            raise ValueError(
                f"--tolerance must be above 0 for --fail-if inferior, got "
                f"{arguments.tolerance}"
            )
        if arguments.unpaired:
            raise ValueError("--fail-if must be worse for --unpaired, got inferior")


def decide(
    arguments: argparse.Namespace, comparison: SystemComparison
) -> list[Verdict]:
    """Test each system against its baselines by each measure."""
    alpha, tolerance = arguments.alpha, arguments.tolerance
    verdicts = []
    for part in comparison:
        side = 1 if part.greater_is_better[0] else -1
        for i, (a, b) in enumerate(part.pairs):
            difference = side * part.difference[i]
            differences = side * (part.expected[:, a] - part.expected[:, b])
            n_queries = part.n_queries[i]
            if part.qid is None:
                moments = QueryMoments.of(part.expected[:, [a, b]])
                error, n = np.hypot(*moments.standard_error()), moments.count.sum()
                n_queries = int(moments.count.min())
            else:
                column = differences[:, None]
                moments = QueryMoments.of(
                    *cluster_means(column, part.query_weight, part.cluster)
                )
                error, n = moments.standard_error().item(), moments.effective().item()
            if arguments.fail_if == "worse":
                pvalue = part.pvalues[i] / 2
                if difference >= 0:
                    pvalue = 1 - pvalue
            else:
                pvalue = _pvalue_of_loss(part, differences, tolerance)
            loss, room = detectable_loss(error, n, alpha), np.ptp(part.bounds[0])
            remark = f"a mean loss of {words.number(loss)} would have shown with "
            remark += "probability 0.8"
            if math.isnan(loss):
                remark = "all differences are equal"
            if part.qid is not None and not np.nan_to_num(differences).any():
                least = excludable_loss(n_queries, alpha, room)
                remark = f"no query differs, and {n_queries} queries can only exclude "
                remark += f"a loss above {least:.3g}"
            if math.isnan(pvalue):
                remark = "there is no p-value"
            if n_queries < FEWEST:
                pvalue = math.nan
                remark = f"{n_queries} queries, but {FEWEST} are needed"
            names = part.measures[0], part.systems[a], part.systems[b]
            verdicts.append(
                Verdict(*names, None, float(difference), float(pvalue), loss, remark)
            )
    if arguments.fail_if == "worse":
        adjusted = adjust(np.array([verdict.pvalue for verdict in verdicts]), "holm")
        verdicts = [
            verdict._replace(pvalue=float(pvalue))
            for verdict, pvalue in zip(verdicts, adjusted, strict=True)
        ]
    return [_with_text(verdict, arguments) for verdict in verdicts]


def _pvalue_of_loss(
    comparison: SystemComparison, differences: np.ndarray, tolerance: float
) -> float:
    """Test that the mean loss is the tolerance or more."""
    if comparison.query_weight is not None or comparison.cluster is not None:
        raise ValueError(
            "--fail-if must be worse for weights or clusters, got inferior"
        )
    differences = differences[~np.isnan(differences)]
    room = float(np.ptp(comparison.bounds[0]))
    if math.isfinite(room):
        if tolerance >= room:
            raise ValueError(
                f"--tolerance must be below {room:g} for {comparison.measures[0]}, got "
                f"{tolerance:g}"
            )
        return gaffke_pvalue(differences, room, tolerance)
    # no bound: the t test, but not where rare losses would fool it
    if _interval_warnings.why_short(differences, "macro") is not None:
        return 1.0
    _, (pvalue,) = paired_tests((differences + tolerance)[None], "t", "greater")
    return float(pvalue)


def _with_text(verdict: Verdict, arguments: argparse.Namespace) -> Verdict:
    """Decide, and say why."""
    alpha, pvalue = arguments.alpha, verdict.pvalue
    by = f"by {verdict.measure}"
    if math.isnan(pvalue):
        pair = f"{verdict.system} against {verdict.baseline}"
        return verdict._replace(text=f"not tested: {pair} {by} ({verdict.text})")
    if arguments.fail_if == "worse":
        passes = pvalue >= alpha
        verb = "is not significantly worse" if passes else "is significantly worse"
        text = f"{verdict.system} {verb} than {verdict.baseline} {by}"
    else:
        passes = pvalue <= alpha
        verb = "is" if passes else "is not shown to be"
        text = f"{verdict.system} {verb} less than {arguments.tolerance:g} worse than "
        text += f"{verdict.baseline} {by}"
    shown = "< 0.0001" if pvalue < 1e-4 else f"= {words.probability(pvalue)}"
    text += f" (p {shown}, alpha = {alpha:g}); {verdict.text}"
    return verdict._replace(
        passes=passes, text=f"{'pass' if passes else 'fail'}: {text}"
    )
