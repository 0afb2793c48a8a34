"""One list of measures, each with its twin in `naive`, through all common tests."""

from fractions import Fraction
from functools import partial
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


def twins(measure, plain, *parameters) -> list[Instance]:
    """A measure and its twin with each of these parameters, which both have."""
    return [Instance(measure(**own), partial(plain, **own)) for own in parameters]


def thirds(label: float) -> float:
    return min(label, 3) / 4


def rooted(rank):
    return rank**-0.5


def halves(rank):
    """Of a table: 1, a half and a half."""
    return Fraction(1 + (rank == 1), 2) * (rank <= 3)


def inverse(rank):
    return Fraction(1, rank)


UNORDERED = {0: 0.5, 1: 2.0, 2: 0.0, 3: 2.0, 4: 1.0}
CAPPED = {"k": 2, "denominator": "cutoff"}
EVERY_LEVEL = {"points": "all", "rel": 2}

INSTANCES = [
    *twins(m.Precision, naive.precision, {}, {"k": 3}, {"k": 4, "rel": 2}),
    *twins(m.Precision, naive.precision, {"k": 4, "denominator": "retrieved"}),
    *twins(m.Recall, naive.recall, {}, {"k": 2}, CAPPED),
    *twins(m.FBeta, naive.f_beta, {}, {"k": 3}, {"k": 2, "beta": 2, "rel": 3}),
    *twins(m.Fallout, naive.fallout, {}, {"k": 3}),
    *twins(m.Success, naive.success, {}, {"k": 1}, {"k": 3, "rel": 2}),
    *twins(m.RPrecision, naive.r_precision, {}, {"rel": 2}),
    *twins(m.CG, naive.cg, {}, {"k": 3}, {"k": 2, "gain": "exponential"}),
    *twins(m.DCG, naive.dcg, {}, {"k": 3}, {"k": 4, "gain": thirds}),
    Instance(m.DCG(discount="none"), partial(naive.dcg, weight=lambda i: Fraction(1))),
    Instance(m.DCG(4, discount=[1, 0.5, 0.5]), partial(naive.dcg, k=4, weight=halves)),
    *twins(m.NDCG, naive.ndcg, {}, {"k": 2}, {"k": 5, "gain": "linear"}),
    Instance(m.NDCG(3, gain=UNORDERED), partial(naive.ndcg, k=3, gain=UNORDERED.get)),
    Instance(m.NDCG(discount="inverse"), partial(naive.ndcg, weight=inverse)),
    Instance(
        m.NDCG(4, "linear", discount=rooted),
        partial(naive.ndcg, k=4, gain="linear", weight=lambda i: Fraction(i**-0.5)),
    ),
    *twins(m.RBP, naive.rbp, {"p": 0.5}, {"p": 0.95, "rel": 2}),
    *twins(m.RBP, naive.rbp, {"p": 0.8, "k": 3, "gain": thirds}),
    *twins(m.AveragePrecision, naive.average_precision, {}, {"k": 3}, {"rel": 2}),
    *twins(m.AveragePrecision, naive.average_precision, CAPPED),
    *twins(m.ReciprocalRank, naive.reciprocal_rank, {}, {"k": 2}, {"rel": 3}),
    *twins(m.FBeta, naive.f_beta, {"k": 3, "beta": 0.5}),
    *twins(m.ERR, naive.err, {}, {"k": 3}, {"k": 5, "max_label": 6}),
    *twins(m.BPref, naive.bpref, {}, {"rel": 2}),
    *twins(m.SearchLength, naive.search_length, {}, {"i": 2, "rel": 2}),
    *twins(m.Rank, naive.rank, {}, {"i": 2, "rel": 2}),
    *twins(m.RaghavanPrecision, naive.precision_at_relevant, {}, {"i": 3, "rel": 2}),
    *twins(m.InterpolatedPrecision, naive.interpolated, {"recall": 0}, {"recall": 1}),
    *twins(m.InterpolatedPrecision, naive.interpolated, {"recall": 0.3, "rel": 2}),
    *twins(m.InterpolatedAveragePrecision, naive.interpolated_average, {}, EVERY_LEVEL),
    *twins(m.PrecisionRecallArea, naive.area, {}, {"rel": 2}),
    *twins(m.SetAP, naive.set_ap, {}, {"rel": 2}),
    *twins(m.Judged, naive.judged, {}, {"k": 3}),
    *twins(m.CWL, naive.cwl, {"chances": [0.9, 0.5, 0.75]}),
    *twins(m.CWL, naive.cwl, {"chances": [0.5, 0], "gain": thirds}),
]

IDS = [str(instance.measure) for instance in INSTANCES]
MEASURES = [instance.measure for instance in INSTANCES]
