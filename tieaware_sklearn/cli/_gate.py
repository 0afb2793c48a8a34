"""The gate of the command ``compare``, which fails systems that are worse."""

import math
from argparse import Namespace
from dataclasses import dataclass

import numpy as np

from .._display import words
from .._typing import FloatArray
from ..comparison import SystemComparison
from ..evaluation import _interval_warnings
from ..statistics.gates import detectable_loss, excludable_loss, gaffke_pvalue
from ..statistics.moments import QueryMoments, cluster_means
from ..statistics.multiple_testing import adjust
from ..statistics.paired_tests import paired_tests

#: Minimum number of queries for which the error rate of --fail-if worse holds (see
#: docs/inference.md). A pair with fewer queries is not tested.
_MIN_QUERIES = 10


@dataclass
class Verdict:
    """Decision on a system by a measure.

    Attributes
    ----------
    measure, system, baseline : str
    passes : bool or None
        Whether the system passes, or None if the system cannot be tested.
    difference : float
        Mean difference from the baseline, positive if the system is better.
    pvalue : float
        With ``--fail-if worse``, the p-value of the hypothesis that the system is no
        worse than the baseline, with Holm's correction over all systems and measures.
        With ``--fail-if inferior``, the uncorrected p-value of the hypothesis that the
        mean loss is at least the tolerance.
    detectable_loss : float
        Mean loss that ``--fail-if worse`` would detect on these queries with power 0.8.
    text : str
        The decision and its reasons.
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
    """Return 3 if a system fails, else 2 if a system is not tested, else 0."""
    passes = [verdict.passes for verdict in verdicts]
    if False in passes:
        return 3
    if None in passes:
        return 2
    return 0


def check_options(arguments: Namespace) -> None:
    """Raise an error if the options contradict --fail-if."""
    if arguments.fail_if is None:
        return
    if not arguments.baseline and not arguments.against:
        raise ValueError(
            "--baseline or --against must be given with --fail-if, got neither"
        )
    if arguments.test == "wilcoxon":
        raise ValueError(
            "--test must be t or randomization with --fail-if, got wilcoxon"
        )
    if not 0 < arguments.alpha < 1:
        raise ValueError(f"--alpha must be in (0, 1), got {arguments.alpha:g}")
    if arguments.fail_if == "inferior":
        if arguments.tolerance is None or not arguments.tolerance > 0:
            raise ValueError(
                "--tolerance must be above 0 with --fail-if inferior, got "
                f"{arguments.tolerance}"
            )
        if arguments.unpaired:
            raise ValueError(
                "--fail-if must be 'worse' with --unpaired, got 'inferior'"
            )


def decide(arguments: Namespace, comparison: SystemComparison) -> list[Verdict]:
    """Test each system against its baselines by each measure."""
    alpha = arguments.alpha
    verdicts = []
    for part in comparison:
        sign = 1 if part.greater_is_better[0] else -1
        value_range = float(np.ptp(part.bounds[0]))
        for i, (a, b) in enumerate(part.pairs):
            difference = sign * part.difference[i]
            differences = sign * (part.expected[:, a] - part.expected[:, b])
            if part.qid is None:
                # The systems have different queries.
                moments = QueryMoments.from_values(part.expected[:, [a, b]])
                error = float(np.hypot(*moments.standard_error()))
                effective_queries = moments.count.sum()
                n_queries = int(moments.count.min())
            else:
                moments = QueryMoments.from_values(
                    *cluster_means(
                        differences[:, None], part.query_weight, part.cluster
                    )
                )
                error = moments.standard_error().item()
                effective_queries = moments.effective().item()
                n_queries = part.n_queries[i]
            loss = detectable_loss(error, effective_queries, alpha)
            # A later remark replaces an earlier one.
            remark = ""
            if arguments.fail_if == "worse":
                # For an observed loss, the one-sided p-value is half of the two-sided
                # p-value.
                pvalue = part.pvalues[i] / 2
                if difference >= 0:
                    pvalue = 1 - pvalue
                remark = f"a mean loss of {words.number(loss)} would have shown with "
                remark += "probability 0.8"
            else:
                pvalue = _pvalue_of_loss(
                    part, differences, value_range, arguments.tolerance
                )
            if math.isnan(loss):
                remark = "all differences are equal"
            if part.qid is not None and not np.nan_to_num(differences).any():
                excludable = excludable_loss(n_queries, alpha, value_range)
                remark = f"no query differs, and {n_queries} queries can only exclude "
                remark += f"a loss above {excludable:.3g}"
            if math.isnan(pvalue):
                remark = "there is no p-value"
            if n_queries < _MIN_QUERIES:
                pvalue = math.nan
                remark = f"{n_queries} queries, but {_MIN_QUERIES} are needed"
            verdict = Verdict(
                measure=part.measures[0],
                system=part.systems[a],
                baseline=part.systems[b],
                passes=None,
                difference=float(difference),
                pvalue=float(pvalue),
                detectable_loss=loss,
                # `_decide` puts the decision before the remark.
                text=remark,
            )
            verdicts.append(verdict)
    pvalues = np.array([verdict.pvalue for verdict in verdicts])
    if arguments.fail_if == "worse":
        pvalues = adjust(pvalues, "holm")
    for verdict, pvalue in zip(verdicts, pvalues.tolist(), strict=True):
        verdict.pvalue = pvalue
        _decide(verdict, arguments)
    return verdicts


def _pvalue_of_loss(
    comparison: SystemComparison,
    differences: FloatArray,
    value_range: float,
    tolerance: float,
) -> float:
    """Return the p-value of a mean loss of at least the tolerance.

    The p-value is 1 if no test is valid for the differences.
    """
    if comparison.query_weight is not None or comparison.cluster is not None:
        raise ValueError(
            "--fail-if must be 'worse' with weights or clusters, got 'inferior'"
        )
    differences = differences[~np.isnan(differences)]
    if math.isfinite(value_range):
        if tolerance >= value_range:
            raise ValueError(
                f"--tolerance must be below {value_range:g} for "
                f"{comparison.measures[0]}, got {tolerance:g}"
            )
        return gaffke_pvalue(differences, value_range, tolerance)
    # Without bounds, only the t test remains, which rare large losses would mislead.
    if _interval_warnings.why_short(differences, "macro") is not None:
        return 1.0
    _, (pvalue,) = paired_tests((differences + tolerance)[None], "t", "greater")
    return float(pvalue)


def _decide(verdict: Verdict, arguments: Namespace) -> None:
    """Set whether the system passes, and set the text, which ends with the remark."""
    remark = verdict.text
    system, pvalue = verdict.system, verdict.pvalue
    baseline = f"{verdict.baseline} by {verdict.measure}"
    if math.isnan(pvalue):
        verdict.text = f"not tested: {system} against {baseline} ({remark})"
        return
    if arguments.fail_if == "worse":
        verdict.passes = pvalue >= arguments.alpha
        verb = "is not" if verdict.passes else "is"
        finding = f"{system} {verb} significantly worse than {baseline}"
    else:
        verdict.passes = pvalue <= arguments.alpha
        verb = "is" if verdict.passes else "is not shown to be"
        finding = f"{system} {verb} less than {arguments.tolerance:g} worse than "
        finding += baseline
    outcome = "pass" if verdict.passes else "fail"
    p = "< 0.0001" if pvalue < 1e-4 else f"= {words.probability(pvalue)}"
    verdict.text = f"{outcome}: {finding} (p {p}, alpha = {arguments.alpha:g})"
    if remark:
        verdict.text += f"; {remark}"
