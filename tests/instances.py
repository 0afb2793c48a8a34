"""One list of measures, each with its twin in `naive`, through all common tests."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from tests import naive
from tieaware_sklearn import measures as m


class Instance(NamedTuple):
    measure: m.Measure
    plain: naive.Plain

    @property
    def harmonic(self) -> bool:
        """Whether the mean over orders is the harmonic one."""
        return self.measure.name == "PRR"

    @property
    def sampled(self) -> bool:
        """Whether the standard deviation comes from sampled orders."""
        return self.measure.name == "IAP"


def twins(measure, plain, *args, **options) -> Instance:
    """A measure and its twin with the same parameters."""
    return Instance(measure(*args, **options), plain(*args, **options))


def thirds(label: float) -> float:
    return min(label, 3) / 4


def rooted(rank):
    return rank**-0.5


def halves(rank):
    """Of a table: 1, a half and a half."""
    return Fraction(1 + (rank == 1), 2) * (rank <= 3)


UNORDERED = {0: 0.5, 1: 2.0, 2: 0.0, 3: 2.0, 4: 1.0}
TENTHS = [Fraction(i, 10) for i in range(11)]

INSTANCES = [
    twins(m.Precision, naive.precision),
    twins(m.Precision, naive.precision, 3),
    twins(m.Precision, naive.precision, 4, rel=2),
    twins(m.Precision, naive.precision, 4, denominator="retrieved"),
    twins(m.Recall, naive.recall),
    twins(m.Recall, naive.recall, 2),
    twins(m.Recall, naive.recall, 2, denominator="cutoff"),
    twins(m.FBeta, naive.f_beta),
    twins(m.FBeta, naive.f_beta, 3),
    twins(m.FBeta, naive.f_beta, 2, beta=2, rel=3),
    twins(m.Fallout, naive.fallout),
    twins(m.Fallout, naive.fallout, 3),
    twins(m.Success, naive.success),
    twins(m.Success, naive.success, 1),
    twins(m.Success, naive.success, 3, rel=2),
    twins(m.RPrecision, naive.r_precision),
    twins(m.RPrecision, naive.r_precision, rel=2),
    twins(m.CG, naive.cg),
    twins(m.CG, naive.cg, 3),
    twins(m.CG, naive.cg, 2, gain="exponential"),
    twins(m.DCG, naive.dcg),
    twins(m.DCG, naive.dcg, 3),
    twins(m.DCG, naive.dcg, 4, gain=thirds),
    Instance(m.DCG(discount="none"), naive.dcg(weight=lambda i: Fraction(1))),
    Instance(m.DCG(4, discount=[1, 0.5, 0.5]), naive.dcg(4, weight=halves)),
    twins(m.NDCG, naive.ndcg),
    twins(m.NDCG, naive.ndcg, 2),
    twins(m.NDCG, naive.ndcg, 5, gain="linear"),
    twins(m.NDCG, naive.ndcg, 3, gain=UNORDERED),
    Instance(m.NDCG(discount="inverse"), naive.ndcg(weight=lambda i: Fraction(1, i))),
    Instance(
        m.NDCG(4, "linear", discount=rooted),
        naive.ndcg(4, "linear", lambda i: Fraction(i**-0.5)),
    ),
    twins(m.RBP, naive.rbp, 0.5),
    twins(m.RBP, naive.rbp, 0.95, rel=2),
    twins(m.RBP, naive.rbp, 0.8, k=3, gain=thirds),
    twins(m.AveragePrecision, naive.average_precision),
    twins(m.AveragePrecision, naive.average_precision, 3),
    twins(m.AveragePrecision, naive.average_precision, rel=2),
    twins(m.AveragePrecision, naive.average_precision, 2, denominator="cutoff"),
    twins(m.ReciprocalRank, naive.reciprocal_rank),
    twins(m.ReciprocalRank, naive.reciprocal_rank, 2),
    twins(m.ReciprocalRank, naive.reciprocal_rank, rel=3),
    twins(m.FBeta, naive.f_beta, 3, beta=0.5),
    twins(m.ERR, naive.err),
    twins(m.ERR, naive.err, 3),
    twins(m.ERR, naive.err, 5, max_label=6),
    twins(m.BPref, naive.bpref),
    twins(m.BPref, naive.bpref, rel=2),
    twins(m.SearchLength, naive.search_length),
    twins(m.SearchLength, naive.search_length, 2, rel=2),
    twins(m.Rank, naive.rank),
    twins(m.Rank, naive.rank, 2, rel=2),
    twins(m.RaghavanPrecision, naive.precision_at_relevant),
    twins(m.RaghavanPrecision, naive.precision_at_relevant, 3, rel=2),
    Instance(m.InterpolatedPrecision(0), naive.interpolated([0])),
    Instance(
        m.InterpolatedPrecision(0.3, rel=2),
        naive.interpolated([Fraction(3, 10)], rel=2),
    ),
    Instance(m.InterpolatedPrecision(1), naive.interpolated([1])),
    Instance(m.InterpolatedAveragePrecision(), naive.interpolated(TENTHS)),
    Instance(
        m.InterpolatedAveragePrecision("all", rel=2),
        naive.interpolated(None, rel=2),
    ),
    twins(m.PrecisionRecallArea, naive.area),
    twins(m.PrecisionRecallArea, naive.area, rel=2),
    twins(m.SetAP, naive.set_ap),
    twins(m.SetAP, naive.set_ap, rel=2),
    twins(m.InferredAveragePrecision, naive.inferred),
    Instance(m.InferredAveragePrecision(2, "all"), naive.inferred(2, pools_all=True)),
    twins(m.Judged, naive.judged),
    twins(m.Judged, naive.judged, 3),
    twins(m.CWL, naive.cwl, [0.9, 0.5, 0.75]),
    twins(m.CWL, naive.cwl, [0.5, 0], gain=thirds),
]

IDS = [str(instance.measure) for instance in INSTANCES]
MEASURES = [instance.measure for instance in INSTANCES]
