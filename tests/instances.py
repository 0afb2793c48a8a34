"""One list of measures, each with its twin in `naive`, through all common tests."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from tests import naive
from tieaware_sklearn.measures import (
    CG,
    CWL,
    DCG,
    ERR,
    NDCG,
    RBP,
    AveragePrecision,
    BPref,
    Fallout,
    FBeta,
    InferredAveragePrecision,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Judged,
    Measure,
    Precision,
    PrecisionRecallArea,
    RaghavanPrecision,
    Rank,
    Recall,
    ReciprocalRank,
    RPrecision,
    SearchLength,
    SetAP,
    Success,
)


class Instance(NamedTuple):
    measure: Measure
    plain: naive.Plain
    #: the mean over orders is the harmonic one
    harmonic: bool = False
    #: the standard deviation comes from sampled orders
    sampled: bool = False


def thirds(label: float) -> float:
    return min(label, 3) / 4


def rooted(rank):
    return rank**-0.5


def halves(rank):
    """Of a table: 1, a half and a half."""
    return Fraction(1 + (rank == 1), 2) * (rank <= 3)


UNORDERED = {0: 0.5, 1: 2.0, 2: 0.0, 3: 2.0, 4: 1.0}

INSTANCES = [
    Instance(Precision(), naive.precision()),
    Instance(Precision(3), naive.precision(3)),
    Instance(Precision(4, rel=2), naive.precision(4, rel=2)),
    Instance(
        Precision(4, denominator="retrieved"),
        naive.precision(4, denominator="retrieved"),
    ),
    Instance(Recall(), naive.recall()),
    Instance(Recall(2), naive.recall(2)),
    Instance(Recall(2, denominator="cutoff"), naive.recall(2, denominator="cutoff")),
    Instance(FBeta(), naive.f_beta()),
    Instance(FBeta(3), naive.f_beta(3)),
    Instance(FBeta(2, beta=2, rel=3), naive.f_beta(2, beta=2, rel=3)),
    Instance(Fallout(), naive.fallout()),
    Instance(Fallout(3), naive.fallout(3)),
    Instance(Success(), naive.success()),
    Instance(Success(1), naive.success(1)),
    Instance(Success(3, rel=2), naive.success(3, rel=2)),
    Instance(RPrecision(), naive.r_precision()),
    Instance(RPrecision(rel=2), naive.r_precision(rel=2)),
    Instance(CG(), naive.cg()),
    Instance(CG(3), naive.cg(3)),
    Instance(CG(2, gain="exponential"), naive.cg(2, gain="exponential")),
    Instance(DCG(), naive.dcg()),
    Instance(DCG(3), naive.dcg(3)),
    Instance(DCG(4, gain=thirds), naive.dcg(4, gain=thirds)),
    Instance(DCG(discount="none"), naive.dcg(weight=lambda i: Fraction(1))),
    Instance(DCG(4, discount=[1, 0.5, 0.5]), naive.dcg(4, weight=halves)),
    Instance(NDCG(), naive.ndcg()),
    Instance(NDCG(2), naive.ndcg(2)),
    Instance(NDCG(5, gain="linear"), naive.ndcg(5, gain="linear")),
    Instance(NDCG(3, gain=UNORDERED), naive.ndcg(3, gain=UNORDERED)),
    Instance(NDCG(discount="inverse"), naive.ndcg(weight=lambda i: Fraction(1, i))),
    Instance(
        NDCG(4, "linear", discount=rooted),
        naive.ndcg(4, "linear", lambda i: Fraction(i**-0.5)),
    ),
    Instance(RBP(0.5), naive.rbp(0.5)),
    Instance(RBP(0.95, rel=2), naive.rbp(0.95, rel=2)),
    Instance(RBP(0.8, k=3, gain=thirds), naive.rbp(0.8, k=3, gain=thirds)),
    Instance(AveragePrecision(), naive.average_precision()),
    Instance(AveragePrecision(3), naive.average_precision(3)),
    Instance(AveragePrecision(rel=2), naive.average_precision(rel=2)),
    Instance(
        AveragePrecision(2, denominator="cutoff"),
        naive.average_precision(2, denominator="cutoff"),
    ),
    Instance(ReciprocalRank(), naive.reciprocal_rank()),
    Instance(ReciprocalRank(2), naive.reciprocal_rank(2)),
    Instance(ReciprocalRank(rel=3), naive.reciprocal_rank(rel=3)),
    Instance(FBeta(3, beta=0.5), naive.f_beta(3, beta=0.5)),
    Instance(ERR(), naive.err()),
    Instance(ERR(3), naive.err(3)),
    Instance(ERR(5, max_label=6), naive.err(5, max_label=6)),
    Instance(BPref(), naive.bpref()),
    Instance(BPref(rel=2), naive.bpref(rel=2)),
    Instance(SearchLength(), naive.search_length()),
    Instance(SearchLength(2, rel=2), naive.search_length(2, rel=2)),
    Instance(Rank(), naive.rank()),
    Instance(Rank(2, rel=2), naive.rank(2, rel=2)),
    Instance(RaghavanPrecision(), naive.precision_at_relevant(), harmonic=True),
    Instance(
        RaghavanPrecision(3, rel=2),
        naive.precision_at_relevant(3, rel=2),
        harmonic=True,
    ),
    Instance(InterpolatedPrecision(0), naive.interpolated([0])),
    Instance(
        InterpolatedPrecision(0.3, rel=2), naive.interpolated([Fraction(3, 10)], rel=2)
    ),
    Instance(InterpolatedPrecision(1), naive.interpolated([1])),
    Instance(
        InterpolatedAveragePrecision(),
        naive.interpolated([Fraction(i, 10) for i in range(11)]),
        sampled=True,
    ),
    Instance(
        InterpolatedAveragePrecision("all", rel=2),
        naive.interpolated(None, rel=2),
        sampled=True,
    ),
    Instance(PrecisionRecallArea(), naive.area()),
    Instance(PrecisionRecallArea(rel=2), naive.area(rel=2)),
    Instance(SetAP(), naive.set_ap()),
    Instance(SetAP(rel=2), naive.set_ap(rel=2)),
    Instance(InferredAveragePrecision(), naive.inferred()),
    Instance(InferredAveragePrecision(2, "all"), naive.inferred(2, pools_all=True)),
    Instance(Judged(), naive.judged()),
    Instance(Judged(3), naive.judged(3)),
    Instance(CWL([0.9, 0.5, 0.75]), naive.cwl([0.9, 0.5, 0.75])),
    Instance(CWL([0.5, 0], gain=thirds), naive.cwl([0.5, 0], gain=thirds)),
]

IDS = [str(instance.measure) for instance in INSTANCES]
MEASURES = [instance.measure for instance in INSTANCES]
