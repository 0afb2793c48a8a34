"""Tests of names, parameters, user models and distributions of measures."""

import copy
import functools
import math
import pickle
import re
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from tests.instances import INSTANCES, MEASURES
from tieaware_sklearn import Measure, evaluate, parse_measure, ranking_score
from tieaware_sklearn import measures as m
from tieaware_sklearn._engine import tie_groups
from tieaware_sklearn.evaluation import tie_distributions
from tieaware_sklearn.measures import _measure as _base
from tieaware_sklearn.measures._parse import parse_measures

TREC9 = {"rounding": "trec_eval9"}
IPREC = m.InterpolatedPrecision(0.1, **TREC9)
CAPPED = m.Recall(5, denominator="cutoff")
INVERSE = m.NDCG(10, discount="inverse")
EXPONENTIAL = m.NDCG(10, gain="exponential")
NAMES = [
    ("precision@5", m.Precision(5), "P@5"),
    ("Recall", m.Recall(), "R"),
    ("f1@10", m.FBeta(10), "F@10"),
    ("f(beta=0.5, rel=2)", m.FBeta(beta=0.5, rel=2), "F(rel=2,beta=0.5)"),
    ("hit@10", m.Success(10), "Success@10"),
    ("HR@10", m.Success(10), "Success@10"),
    ("HitRate@10", m.Success(10), "Success@10"),
    ("Accuracy@10", m.Success(10), "Success@10"),
    ("r(denominator=cutoff)@5", CAPPED, "R(denominator=cutoff)@5"),
    ("relative_P_5", CAPPED, "R(denominator=cutoff)@5"),
    ("cg(gain=exponential)", m.CG(gain="exponential"), "CG(gain=exponential)"),
    (" ndcg @ 10 ", m.NDCG(10), "NDCG@10"),
    ("nDCG(gain='LINEAR')@10", m.NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("ndcg(GAIN=Linear)@10", m.NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("nDCG(dcg='log2')@10", m.NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("nDCG(dcg=exp-log2)@10", EXPONENTIAL, "NDCG(gain=exponential)@10"),
    ("NDCG(k=10, gain='exponential')", EXPONENTIAL, "NDCG(gain=exponential)@10"),
    ("p(rel=1)@5", m.Precision(5, 1), "P(rel=1)@5"),
    ("ndcg(gain={0:0, 1:1.5})", m.NDCG(gain={1: 1.5, 0: 0}), "NDCG(gain={0:0,1:1.5})"),
    ("ndcg(gain=[0, 1, 3])", m.NDCG(gain=[0, 1, 3]), "NDCG(gain={0:0,1:1,2:3})"),
    ("ndcg(discount=inverse)@10", INVERSE, "NDCG(discount=inverse)@10"),
    ("dcg(discount='none')", m.DCG(discount="none"), "DCG(discount=none)"),
    ("dcg(discount=[1, .5])", m.DCG(discount=(1, 0.5)), "DCG(discount=[1,0.5])"),
    ("RBP", m.RBP(0.8), "RBP(p=0.8)"),
    ("rbp(p=0.95)@20", m.RBP(0.95, k=20), "RBP(p=0.95)@20"),
    ("map(rel=2)@100", m.AveragePrecision(100, rel=2), "AP(rel=2)@100"),
    ("mrr", m.ReciprocalRank(), "RR"),
    # Names of trec_eval. "ndcg" keeps the gain of this library.
    ("ndcg", m.NDCG(), "NDCG"),
    ("11pt_avg", m.InterpolatedAveragePrecision(**TREC9), "IAP(rounding=trec_eval9)"),
    ("iprec_at_recall_0.10", IPREC, "IPrec(rounding=trec_eval9)@0.1"),
    ("set_P", m.Precision(), "P"),
    ("set_recall", m.Recall(), "R"),
    ("set_F", m.FBeta(), "F"),
    ("set_map", m.SetAP(), "SetAP"),
    ("recip_rank", m.ReciprocalRank(), "RR"),
    ("ndcg_cut.10", m.NDCG(10, "linear"), "NDCG(gain=linear)@10"),
    ("NDCG_CUT_20", m.NDCG(20, "linear"), "NDCG(gain=linear)@20"),
    ("P_10", m.Precision(10), "P@10"),
    ("map_cut_10", m.AveragePrecision(10), "AP@10"),
    ("success_1", m.Success(1), "Success@1"),
]


@pytest.mark.parametrize(("text", "measure", "canonical"), NAMES)
def test_names(text, measure, canonical):
    assert parse_measure(f" {text} ") == measure
    assert str(measure) == canonical
    assert parse_measure(canonical) == measure
    assert parse_measure(canonical.lower()) == measure
    assert parse_measure(measure) is measure


def test_a_parameter_that_is_not_given_is_the_default():
    measure = m.NDCG(10)
    assert measure.gain is _base.DEFAULT
    assert repr(measure) == "NDCG(k=10, gain=DEFAULT, discount=DEFAULT)"
    assert measure == m.NDCG(10, _base.DEFAULT)
    assert measure != EXPONENTIAL
    filled = measure.filled()
    assert filled == EXPONENTIAL.filled()
    assert filled == m.NDCG(10, "exponential", "log2")
    assert m.CG().filled() == m.CG(gain="linear")
    assert replace(measure, k=5) == m.NDCG(5)


def is_named(measure):
    """Return whether no parameter of a measure is a function."""
    parameters = [getattr(measure, field.name) for field in fields(measure)]
    return not any(map(callable, parameters))


@given(st.data())
def test_measures_are_values_whichever_parameters_are_given(data):
    measure = data.draw(st.sampled_from(MEASURES))
    filled = measure.filled()
    parameters = {}
    for parameter in fields(measure):
        name = parameter.name
        is_default = getattr(measure, name) is _base.DEFAULT
        if is_default and data.draw(st.booleans()):
            parameters[name] = getattr(filled, name)
    stated = replace(measure, **parameters)
    is_same = not parameters
    assert (stated == measure) == is_same
    assert (str(stated) == str(measure)) == is_same
    assert stated.filled() == filled
    assert filled.filled() == filled
    pickled = pickle.loads(pickle.dumps(stated))
    copies = [replace(stated), copy.copy(stated), copy.deepcopy(stated), pickled]
    copies.append(clone(stated, safe=False))
    for same in copies:
        assert same == stated
        assert hash(same) == hash(stated)
        assert repr(same) == repr(stated)
        assert str(same) == str(stated)
    if is_named(stated):
        assert parse_measure(str(stated)) == stated
    labels = [0, 1, 2, 0, 3, 1]
    scores = [3, 2, 2, 1, 1, 0]
    value = ranking_score(labels, scores, measure=measure)
    assert ranking_score(labels, scores, measure=stated) == value
    if parameters:
        with pytest.raises(ValueError, match="measures must differ"):
            parse_measures([measure, stated])


def test_measures_that_differ_are_unequal():
    assert len(set(MEASURES)) == len(MEASURES)
    assert m.Precision(3) != m.Recall(3)
    assert m.Precision(3, rel=1) == m.Precision(3, rel=1.0)


def to_float(value, name):
    return float(value)


def test_formulas_see_no_default(names):
    @dataclass(frozen=True)
    class Own(m.Precision):
        name = "Own"
        share: float = _base.parameter(0.5, to_float)

        def numerator(self, groups):
            assert self.rel == 1.0
            assert self.denominator == "cutoff"
            # Other measures and methods of the parent see no DEFAULT, either.
            recall = m.Recall(self.k)
            hits = recall.numerator(groups)
            assert hits.tolist() == super().numerator(groups).tolist()
            return self.share * hits

    sizes = np.array([2])
    groups = tie_groups.all_tied(sizes, np.arange(2), np.arange(2.0))
    default = Own(2)
    stated = Own(2, share=0.5)
    for measure in (default, stated):
        assert measure.numerator(groups) == [0.5]
        assert ranking_score([1, 0], [1, 2], measure=measure) == 0.25
    assert str(default) == "Own@2"
    assert str(stated) == "Own(share=0.5)@2"


CUT_OFFS = st.none() | st.integers(1, 10**6)


@given(k=CUT_OFFS, rel=st.floats(1e-3, 1e3), p=st.floats(1e-6, 0.999))
def test_names_read_back(k, rel, p):
    measures = [m.RBP(p, k, rel), m.FBeta(k, rel, p), m.AveragePrecision(k, rel)]
    for measure in measures:
        assert parse_measure(str(measure)) == measure


BAD_NAMES = {
    "ndgc@10": r"unknown .* 'ndgc@10'; did you mean 'NDCG@10'\? Known measures: AP ",
    "rbpp(p=0.5)": r"did you mean 'RBP\(p=0.5\)'",
    "ndcg_cut": r"unknown measure 'ndcg_cut'; did you mean 'NDCG'",
    "accuracy": r"unknown measure 'accuracy'; did you mean 'Success'",
    "hits@10": r"'hits@10'. Write CG@k .* the count of ranx, or Success@k .* PyKEEN",
    "R(denominator=k)@5": "denominator must be one of .* got 'k'",
    "set_P_5": r"unknown measure 'set_P_5'; did you mean 'P@5'",
    "P_0": "measure 'P_0': k must be an integer >= 1, got 0",
    "P_1.5": "measure 'P_1.5': k must be .* got '1.5'",
    "iprec_at_recall_1.1": "recall must be .* >= 0 and <= 1, got 1.1",
    "xyzzy": r"unknown measure 'xyzzy'. Known measures: AP AUPRC",
    "ndcg@ten": "measure 'ndcg@ten': k must be an integer >= 1 or .* got 'ten'",
    "ndcg@  ": "measure must look like",
    "": "measure must look like",
    "P@-3": "k must be .* got -3",
    "iprec@x": "measure 'iprec@x': recall must be a number, got 'x'",
    "iprec": "measure 'iprec': .* missing 1 required .* 'recall'",
    "P(k=2.5)": "k must be .* got 2.5",
    "P(k=True)": "k must be .* got True",
    "P(k=3)@5": "k must be given only once",
    "P(rel=2,REL=3)": "rel must be given only once",
    "NDCG(dcg=log2,gain=linear)": "gain must be given only once",
    "Rprec@5": r"'Rprec@5': Rprec has no parameter 'k'\. The parameters are: rel",
    "P(p=0.5)": r"P has no parameter 'p'\. The parameters are: k, rel, denominator",
    "f1(beta=2)": r"f1 has no parameter 'beta'",
    "P(2)": "parameters of a measure must look like name=value",
    "P(rel=2)(k=3)": "parameters of a measure must look like name=value",
    "P(rel=0)": "rel must be a finite number > 0, got 0",
    "P(rel=high)": "rel must be .* got 'high'",
    "RBP(p=1)": "p must be a finite number > 0 and < 1, got 1",
    "err(max_label=1024)": "max_label must be .* > 0 and <= 60, got 1024",
    "F(beta=1e50)": r"beta must be .* > 0 and < 1e\+50, got 1e\+50",
    "cwl(chances=[])": r"chances must be a sequence of numbers .* got \[\]",
    "cwl(chances=0.8)": "chances must be a sequence of numbers .* got 0.8",
    "cwl(chances=['a'])": r"chances must be a sequence of numbers .* got \['a'\]",
    "cwl(chances=[0.5, 1.2])": r"chances must be in \[0, 1\], got 1.2 in row 1",
    "iap(points=1)": 'points must be an integer from 2 to 1001 or "all", got 1',
    "iap(points=1002)": 'points must be an integer from 2 to 1001 or "all", got 1002',
    "F(beta=-1)": "beta must be .* > 0 and < 1e.50, got -1",
    "NDCG(gain=square)": "gain must be one of .* got 'square'",
    "NDCG(gain={[1]: 2})": "gain must be one of",
    "RBP(gain=square)": "gain must be one of .* got 'square'",
    "NDCG(gain={0: -1})": "gain must be 0 or from .* 1e.100, got -1.0 for label",
    "NDCG(gain={})": r"gain must be .* a table .* each label once, got \[\]",
    "NDCG(gain={1: 2, 1: 3})": "a table of .* that contains each label once",
    "NDCG(gain={1e999: 2})": "labels of gain must be finite and >= 0, got inf",
    "NDCG(discount=log10)": r"discount must be one of \('log2', .* got 'log10'",
    "NDCG(discount=[])": r"discount must be one of .* got \[\]",
    "NDCG(discount=[1, -1])": r"discount must be .* later ranks, got \[1.0, -1.0\]",
    "DCG(discount=[1, 1e999])": r"discount must be from .* got \[1.0, inf\]",
    "DCG(discount=[0.5, 1])": r"discount must .* not rise .* got \[0.5, 1.0\]",
    "DCG(discount=[3, 1, 2])": r"discount must .* not rise .* got \[3.0, 1.0, 2.0\]",
    "DCG(discount=[0])": r"discount must be from .* at rank 1, .* got \[0.0\]",
    "DCG(discount=[1e-101])": r"discount must be from .* got \[1e-101\]",
    "NDCG(discount=[1e101,1])": r"discount must be from .* got \[1e\+101, 1.0\]",
    "NDCG(gain={1: 1e-101})": "gain must be 0 or from .* got 1e-101 for label 1",
    "CG(discount=none)": "has no parameter 'discount'",
    "NDCG(dcg=[1])": r"dcg must be one of .* got \[1\]",
    "NDCG(dcg=log10)": "dcg must be one of .* got 'log10'",
    "AP(denominator=all)": "denominator must be one of .* got 'all'",
    "NDCG(gain=" + "-" * 9000 + "1)": r"-[.]{3} \(.*\): parameters .* name=value$",
    "NDCG(gain=" + "[" * 9000: r"[.]{3} \(.*\)(, got|$)",
    "rr" + " " * 20_000 + "!": "at most 10000 .* got 20003: 'rr {57}[.]{3} ",
    "rr" + " " * 9000 + "!": r"must look like .* got 'rr {57}[.]{3} ",
}


@pytest.mark.parametrize(("text", "message"), BAD_NAMES.items())
def test_bad_names(text, message):
    with pytest.raises(ValueError, match=message):
        parse_measure(text)


def test_functions_are_shown_by_their_names():
    power_of_2 = functools.partial(pow, 2)
    assert str(m.NDCG(gain=power_of_2)) == "NDCG(gain=partial)"
    assert str(m.NDCG(gain=math.sqrt)) == "NDCG(gain=sqrt)"


def test_tables_of_gains_are_values():
    table = m.RBP(0.5, gain={0: 0, 1: 0.5})
    pairs = m.RBP(0.5, gain=[(0, 0.0), (1, 0.5)])
    assert hash(table) == hash(pairs)
    assert parse_measure(str(table)) == table


def test_the_largest_gain_of_a_table():
    measure = m.CG(gain={0: 0, 1: 1e100})
    assert ranking_score([1, 0], [2, 1], measure=measure) == 1e100


def test_small_gains_lose_nothing():
    gain = math.expm1(1e-12 * math.log(2))
    assert ranking_score([1e-12], [1], measure="dcg") == gain


def test_a_gain_of_1_is_full_relevance():
    measure = m.RBP(0.5, gain={0: 0, 1: 1})
    labels = [0, 1, 1]
    assert ranking_score(labels, [3, 2, 1], measure=measure) == 0.375


@pytest.mark.parametrize("name", ["gain", "discount"])
def test_functions_of_equal_names_are_refused(name):
    first = m.NDCG(**{name: lambda x: x})
    second = m.NDCG(**{name: lambda x: x})
    with pytest.raises(ValueError, match=rf"differ, got .*\({name}=<lambda>\)"):
        parse_measures([first, second])


@pytest.mark.parametrize("cls", [m.DCG, m.NDCG])
def test_the_attention_of_a_table_of_weights_is_finite(cls):
    measure = cls(discount=[2, 1])
    weight = measure.weight([1, 2, 3])
    assert weight.tolist() == [2 / 3, 1 / 3, 0]
    with pytest.raises(ValueError, match="must have a cut-off"):
        cls(discount="inverse").weight(1)


def test_the_largest_discount():
    measure = m.DCG(discount=[1e100])
    assert ranking_score([1], [1], measure=measure) == 1e100


def test_discounts():
    y = [3, 2, 0, 1]
    scores = [4, 3, 2, 1]
    # Ranks beyond a table have no weight. Without a discount, DCG is CG.
    assert ranking_score(y, scores, measure="dcg(gain=linear,discount=[1,0.5])") == 4
    plain = m.DCG(gain="linear", discount="none")
    assert ranking_score(y, scores, measure=plain) == 6
    # Functions see ranks from 1.
    inverse = m.NDCG(3, discount=lambda rank: 1 / rank)
    expected = ranking_score(y, scores, measure="ndcg(discount=inverse)@3")
    assert ranking_score(y, scores, measure=inverse) == expected
    # Ranks are floats, so negative powers are defined.
    again = m.NDCG(3, discount=lambda rank: rank**-1)
    assert ranking_score(y, scores, measure=again) == expected


ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "api" / "measures.md"


def called(cls):
    return cls.name.lower()


CLASSES = {entry.cls for entry in _base.NAMED.values()}
KNOWN = filter(_base.is_ours, CLASSES)
OURS = sorted(KNOWN, key=called)


@pytest.fixture
def names(monkeypatch):
    monkeypatch.setattr(_base, "NAMED", dict(_base.NAMED))
    return _base.NAMED


def define(name="Miss", **aliases):
    """Define a measure that is 1 if no relevant document is retrieved."""

    def numerator(self, groups):
        return 1 - m.Success.numerator(self, groups)

    body = {"name": name, "aliases": aliases, "numerator": numerator}
    cls = type("Miss", (m.Success,), body)
    return dataclass(frozen=True)(cls)


def test_a_user_measure_is_parsed_by_its_name(names):
    cls = define(**{"no name": (), "anymiss": ("k",)})
    assert parse_measure("miss(rel=2)@3") == cls(3, rel=2)
    assert str(parse_measure("MISS@3")) == "Miss@3"
    labels = [0, 1, 0]
    scores = [2, 1, 1]
    assert ranking_score(labels, scores, measure="miss@2") == 0.5
    assert parse_measure("anymiss") == cls()
    with pytest.raises(ValueError, match=r"measure must be a name such as .* got 5."):
        parse_measure(5)
    with pytest.raises(ValueError, match="anymiss has no parameter 'k'"):
        parse_measure("anymiss@3")
    with pytest.raises(ValueError, match=r"did you mean 'Miss@2'"):
        parse_measure("mis@2")
    with pytest.raises(
        ValueError, match=r"Miss@2 .* Miss is not defined in tieaware_sklearn"
    ):
        tie_distributions(labels, scores, measure="miss@2")
    # Messages list only measures of this library.
    assert "Miss" not in _base.names_where(lambda cls: True)


def test_taken_and_unreadable_names_are_not_registered(names):
    before = dict(names)
    taken_by_alias = {"name": "Miss", "map": ()}
    for taken in ({"name": "AP"}, taken_by_alias):
        with pytest.raises(ValueError, match=r"measures, got '(ap|map|AP)', a name of"):
            define(**taken)
    unreadable = ["my measure", "1st", "", "a@b", None, property(str)]
    for name in unreadable:
        type("Odd", (m.Precision,), {"name": name})
    assert names == before


def test_a_subclass_does_not_take_an_inherited_name(names):
    inheriting = type("Inheriting", (m.Precision,), {"name": "Inheriting"})
    named = type("Named", (), {"name": "Mixed"})
    mixed = type("Mixed", (named, m.Precision), {})
    assert str(inheriting(2)) == "Inheriting@2"
    type("Same", (m.Precision,), {})
    define()
    # The last class that takes a name has the name.
    last = define()
    assert type(parse_measure("inheriting@2")) is inheriting
    assert type(parse_measure("mixed@2")) is mixed
    assert type(parse_measure("miss@2")) is last
    assert type(parse_measure("precision@2")) is m.Precision
    assert type(parse_measure("P@2")) is m.Precision

    @dataclass(frozen=True, slots=True)
    class Other(m.Success):
        name = "Miss"

    assert type(parse_measure("miss@1")) is Other


def test_required_parameters_must_be_in_the_name(names):
    @dataclass(frozen=True)
    class Needs(m.Success):
        name: ClassVar[str] = "Needs"
        z: float = field(kw_only=True)

    with pytest.raises(ValueError, match=r"^measure 'needs@2': .* missing .* 'z'$"):
        parse_measure("needs@2")
    assert parse_measure("needs(z=1)@2") == Needs(2, z=1)


def test_every_name_has_instances_and_stands_in_the_help():
    for cls in OURS:
        instances = [measure for measure in MEASURES if type(measure) is cls]
        assert instances, cls
        for name in (cls.name, *cls.aliases):
            assert re.search(rf"\b{name}\b", parse_measure.__doc__, re.IGNORECASE)


def row_of_the_reference(cls):
    """Return the row of a measure: its names, and its parameters."""
    parameters = []
    cut_off = ""
    for parameter in fields(cls):
        name = parameter.name
        if not parameter.init:
            continue
        default = parameter.metadata.get("default", parameter.default)
        if name == cls.at:
            cut_off = f"@{name}"
        elif default is MISSING:
            parameters.append(name)
        else:
            parameters.append(f"{name}={_base.spelling(default)}")
    names = []
    for name, without in cls.aliases.items():
        notes = [f" (no {parameter})" for parameter in without]
        names.append(f"`{name}`" + "".join(notes))
    cells = [f"`{cls.name}{cut_off}`", f"`{cls.__name__}`", ""]
    if parameters:
        cells[2] = f"`{', '.join(parameters)}`"
    cells.append(", ".join(names))
    return f"| {' | '.join(cells)} |"


def test_the_table_of_the_reference_is_the_registry():
    text = REFERENCE.read_text()
    rows = re.findall(r"^\| `.*\|$", text, re.MULTILINE)
    assert rows == [row_of_the_reference(cls) for cls in OURS]


BAD_USERS = [
    ("success", 1, "Success has no user model"),
    ("r@5", 1, "R@5 has no user model"),
    ("ap", 1, "ranking must .* of AP, got None"),
    ("p", 1, "ranking must contain the labels .* of P, got"),
    ("ndcg", 1, "NDCG must have a cut-off for a user model"),
    ("rbp", 0, "i must be an integer rank >= 1, .* got 0"),
    ("rbp", 1.5, "i must be an integer rank >= 1, .* got 1.5"),
]


@pytest.mark.parametrize(("measure", "rank", "message"), BAD_USERS)
def test_bad_users(measure, rank, message):
    measure = parse_measure(measure)
    for function in (measure.weight, measure.last, measure.continuation):
        with pytest.raises(ValueError, match=message):
            function(rank)


RANKED = [0, 1, 0, 2, 1, 0]
LIKELY = m.CWL([0.9, 0.5, 0.75])
OF_RELEVANCE = [m.Precision(4), m.RBP(0.6), LIKELY, m.RPrecision()]
OF_RELEVANCE += [m.Precision(), m.ReciprocalRank(), m.ReciprocalRank(rel=2)]
OF_RELEVANCE += [m.AveragePrecision(), m.AveragePrecision(rel=2)]


@pytest.mark.parametrize("measure", OF_RELEVANCE, ids=str)
def test_the_measure_is_the_attention_given_to_relevance(measure):
    ranks = np.arange(1, len(RANKED) + 1)
    weight = measure.weight(ranks, ranking=RANKED)
    least = measure.filled().rel
    is_relevant = np.array(RANKED) >= least
    value = ranking_score(RANKED, -ranks, measure=measure)
    assert weight[is_relevant].sum() == pytest.approx(value)


SURE = [m.Precision(4), LIKELY, m.DCG(5), m.ReciprocalRank(), m.ERR(5)]


@pytest.mark.parametrize("measure", SURE, ids=str)
def test_weights_and_last_documents_sum_to_one(measure):
    ranks = np.arange(1, 60)
    weight = measure.weight(ranks, ranking=RANKED)
    assert weight.sum() == pytest.approx(1)
    last = measure.last(ranks, ranking=RANKED)
    assert last.sum() == pytest.approx(1)
    # A user leaves at a rank only after reading all ranks above.
    continuation = measure.continuation(ranks, ranking=RANKED)
    views = np.cumprod(continuation)
    stay = np.concatenate([[1], views])
    assert last == pytest.approx(-np.diff(stay))


STOP = (2**2 - 1) / 16
USERS = [
    (m.RBP(0.8), None, [0.8, 0.8, 0.8]),
    (m.Precision(3), None, [1, 1, 0]),
    (m.CWL([0.9, 0.5]), None, [0.9, 0.5, 0]),
    # The user of RR reads until the first relevant document.
    (m.ReciprocalRank(), [0, 1, 1], [1, 0, 0]),
    # AP: Σ_{j>i} r_j/j over Σ_{j>=i} r_j/j
    (m.AveragePrecision(), [1, 0, 1], [(1 / 3) / (4 / 3), 1, 0]),
    (m.ERR(), [2, 0, 0], [1 - STOP, 1, 0]),
]


@pytest.mark.parametrize(("measure", "labels", "continuation"), USERS)
def test_users_by_hand(measure, labels, continuation):
    ranks = [1, 2, 3]
    chances = measure.continuation(ranks, ranking=labels)
    assert chances == pytest.approx(continuation)


def test_a_single_rank_has_a_single_chance():
    chance = m.RBP(0.8).continuation(7)
    assert isinstance(chance, float)


def test_the_last_rank_of_err_counts_satisfied_users_only():
    # ERR is Σ L(i)/i
    measure = m.ERR()
    last = measure.last([1, 2], ranking=[2, 0, 0])
    assert last == pytest.approx([STOP, 0])


WITH_DISTRIBUTION = {
    instance.measure.name
    for instance in INSTANCES
    if type(instance.measure)._outcomes is not Measure._outcomes
}


def test_measures_have_distributions():
    counts = {"P", "R", "F", "Fallout", "Rprec", "Judged", "SetAP"}
    ranks = {"Success", "RR", "ESL", "Rank", "PRR", "IPrec", "BPref"}
    assert counts | ranks == WITH_DISTRIBUTION
    with pytest.raises(ValueError, match="distribution of AP over the orders of ties"):
        tie_distributions([1, 0], [1, 1], measure="ap")
    labels = np.tile([0, 1], 2000)
    scores = np.zeros(4000)
    with pytest.raises(ValueError, match=r"BPref .* at most 2e\+08 steps"):
        tie_distributions(labels, scores, measure="bpref")


def test_distributions_have_moments_and_quantiles():
    labels = [1, 0, 0, 1]
    scores = [1, 1, 1, 1]
    report = evaluate(labels, scores, measures=["rr"])
    (distribution,) = tie_distributions(labels, scores, measure="rr").values()
    mean = report.expected[0, 0]
    std = report.std[0, 0]
    assert distribution.mean() == pytest.approx(mean)
    assert distribution.std() == pytest.approx(std)
    # first place with 1/2, second with 1/3, third with 1/6
    assert distribution.cdf(0.4) == pytest.approx(1 / 6)
    assert distribution.cdf(1 / 2) == pytest.approx(1 / 2)
    assert distribution.quantile(0.5) == pytest.approx(1 / 2)
    assert distribution.quantile(0) == distribution.values[0]
    assert distribution.quantile(1) == 1
    for q in (2, -0.5):
        with pytest.raises(ValueError, match=rf"q must be in \[0, 1\], got {q}"):
            distribution.quantile(q)


def test_distributions_are_by_query():
    labels = [0, 1, 0]
    qid = [7, 7, 3]
    by_query = tie_distributions(labels, [1, 1, 1], qid=qid, measure="r@1")
    assert list(by_query) == [7, 3]
    assert by_query[7].values.tolist() == [0, 1]
    undefined = by_query[3]
    assert math.isnan(undefined.mean())
    assert math.isnan(undefined.std())
    assert math.isnan(undefined.quantile(0.5))
    assert math.isnan(undefined.cdf(1))


def test_no_measure_is_refused():
    message = "^measures must name at least one measure, got none$"
    with pytest.raises(ValueError, match=message):
        evaluate([1, 0], [2, 1], measures=[])


def test_a_label_without_a_gain_in_the_table_is_named():
    measure = m.NDCG(gain={0: 0, 1: 1})
    with pytest.raises(ValueError, match=r"must be one of the labels .*, got 5$"):
        ranking_score([5, 0], [2, 1], measure=measure)
