"""Measures by name, in the spelling of ir-measures: ``NDCG(gain=linear)@10``."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from .._engine import checks, messages
from . import _measure
from ._measure import Measure

#: Maximum number of characters in a name, enough for a table of several hundred labels.
_LONGEST = 10_000
#: Name and parameters of a measure, which come before @.
_HEAD = re.compile(r"([A-Za-z]\w*)\s*(?:\((.*)\))?", re.DOTALL)
_EXAMPLE = '"ndcg@10" or "rbp(p=0.8)@10"'
#: Names of trec_eval's measures, without the number that ends some names. `map`,
#: `Rprec` and `bpref` are missing, because they have the same names in this package.
_TREC_EVAL_NAMES = {
    "ndcg_cut": "NDCG(gain=linear)@",
    "map_cut": "AP@",
    "p": "P@",
    "recall": "R@",
    "relative_p": "R(denominator=cutoff)@",
    "success": "Success@",
    "iprec_at_recall": "IPrec(rounding=trec_eval9)@",
    "11pt_avg": "IAP(rounding=trec_eval9)",
    "recip_rank": "RR",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF",
    "set_map": "SetAP",
}
_TREC_EVAL_NAME = re.compile(r"([a-z]\w*?|11pt_avg)(?:[_.](\d+(?:\.\d+)?))?")
#: Maximum number of names whose measures are cached.
_MOST_CACHED = 256


def parse_measure(measure: str | Measure) -> Measure:
    """Return the measure with this name.

    Parameters
    ----------
    measure : str or Measure
        Case-insensitive name, with parameters in parentheses and the cut-off after
        ``@``: ``P@5 R@10 R(denominator=cutoff)@10 F(beta=2)@10 Fallout@10 Success@10
        Rprec CG@10 DCG@10 NDCG NDCG(gain=linear)@10 RBP(p=0.8) CWL(chances=[0.9,0.5])
        AP AP(denominator=cutoff)@10 IPrec@0.1 IAP IAP(points=all) AUPRC BPref RR@10
        ERR(max_label=4)@20 ESL ESL(i=3) Rank PRR Judged@10 SetAP
        NDCG(discount=inverse)@10``. The cut-off may be a share of the documents of
        each query, above 0% and at most 100%, as in ``R@5%``. Other accepted names are
        ``precision recall f1 hit HR HitRate Accuracy map mrr SetP SetR SetF``
        (``Accuracy`` needs a cut-off, and the last three names accept no cut-off) and
        the name of any subclass of `Measure` that you define. Names from trec_eval have
        the definitions of trec_eval: ``P_10 recall_10 relative_P_10 success_1
        map_cut_10 ndcg_cut_10 recip_rank set_P set_recall set_F set_map
        iprec_at_recall_0.10 11pt_avg``. The last two follow version 9 of trec_eval. A
        `Measure` is returned unchanged.

    Returns
    -------
    Measure
        The measure. For a measure `m` of this library, ``parse_measure(str(m)) == m``
        unless the gain or the discount of `m` is a function, or ``str(m)`` is too long.

    Raises
    ------
    ValueError
        If `measure` is neither a string nor a `Measure`, if a name or a parameter is
        unknown, if a required parameter is missing, as in ``IPrec``, if the value of a
        parameter is not valid, or if the name has more than 10,000 characters. For an
        unknown name, the message suggests a similar known name, if there is one.

    See Also
    --------
    Measure : The base class of all measures.
    ranking_score, evaluate : Functions that accept names of measures.

    Notes
    -----
    Unless a convention sets the gain, ``ndcg`` is NDCG with exponential gain.
    trec_eval's ``ndcg`` and ``ndcg_cut_10`` use linear gain. In this package, the two
    measures are ``NDCG(gain=linear)`` and ``NDCG(gain=linear)@10``. To compute
    trec_eval's ``gm_map``, use ``AP`` with ``average="geometric"`` in `ranking_score`.

    Examples
    --------
    >>> from tieaware_sklearn import parse_measure
    >>> parse_measure("ndcg@10")
    NDCG(k=10, gain=DEFAULT, discount=DEFAULT)
    >>> str(parse_measure("map(rel=2)@100"))
    'AP(rel=2)@100'
    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("11pt_avg"))
    ('NDCG(gain=linear)@10', 'IAP(rounding=trec_eval9)')
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(
            f'measure must be a name such as "ndcg@10" or a Measure, got {measure!r}. '
            "If the measure is a function, use sampled()"
        )
    if measure in _measure.READ:
        return _measure.READ[measure]
    if len(measure) > _LONGEST:
        raise ValueError(
            f"measure must be at most {_LONGEST} characters long, got {len(measure)}: "
            f"{messages.show(measure)}"
        )
    parsed = _read(_from_trec_eval(measure) or measure, measure)
    if len(_measure.READ) == _MOST_CACHED:
        _measure.READ.clear()
    _measure.READ[measure] = parsed
    return parsed


def _read(text: str, measure: str) -> Measure:
    """Return the measure named `text`. Messages show `measure`, the user's spelling."""
    head, at, after = (part.strip() for part in text.partition("@"))
    match = _HEAD.fullmatch(head)
    if match is None or (at and not after):
        raise ValueError(
            f"measure must look like {_EXAMPLE}, got {messages.show(measure)}"
        )
    name, parameters = match[1], match[2] or ""
    named = _measure.NAMED.get(name.lower())
    # Accuracy without a cut-off is the share of correct answers, not Success.
    if named is None or (name.lower() == "accuracy" and not after):
        raise ValueError(_unknown(name, measure.strip()))
    try:
        keywords = _keywords(parameters)
        if after:
            keywords.append((named.cls.at, _after_at(after, named.cls.at)))
        parsed = named.cls(**_fields(keywords, name, named))
    except (ValueError, TypeError) as error:
        raise ValueError(f"measure {messages.show(measure)}: {error}") from None
    return parsed


def parse_measures(measures: Any, *, name: str = "measures") -> list[Measure]:
    """Return a list of one or more measures, all different."""
    if isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable):
        return [parse_measure(measures)]
    parsed = list(map(parse_measure, measures))
    if not parsed:
        raise ValueError(f"{name} must name at least one measure, got none")
    names = [str(measure.filled()) for measure in parsed]
    for measure, full_name in zip(parsed, names, strict=True):
        if names.count(full_name) > 1:
            raise ValueError(f"{name} must differ, got {measure} twice")
    return parsed


def _from_trec_eval(measure: str) -> str | None:
    """Return this package's name for a measure of trec_eval, or None."""
    match = _TREC_EVAL_NAME.fullmatch(measure.strip().lower())
    if match is None or match[1] not in _TREC_EVAL_NAMES:
        return None
    name = _TREC_EVAL_NAMES[match[1]]
    number = match[2] or ""
    # Names that end with @ need a number. Other names must not have a number.
    if name.endswith("@") != bool(number):
        return None
    return name + number


def _unknown(name: str, measure: str) -> str:
    """Return the message about an unknown name, with the nearest name, if any."""
    if name.lower() == "hits":
        return (
            f"unknown measure {messages.show(measure)}. Write CG@k with binary labels "
            "for the count of ranx, or Success@k for the rate of PyKEEN"
        )
    spelled = {key: named.cls.name for key, named in _measure.NAMED.items()}
    suffix = measure[len(name) :]
    letters = name.rstrip("0123456789")
    if letters != name and not suffix:
        # By "ndgc10", the user may mean "NDCG@10".
        suffix = f"@{name[len(letters) :]}"
        name = letters
    hint = "."
    nearest = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.5)
    if nearest:
        suggestion = spelled[nearest[0]] + suffix
        hint = f"; did you mean {messages.show(suggestion)}?"
    known = " ".join(sorted(set(spelled.values()), key=str.lower))
    return f"unknown measure {messages.show(measure)}{hint} Known measures: {known}"


def _keywords(parameters: str) -> list[tuple[str, Any]]:
    """Return the parameters in the parentheses of a name, in order."""
    try:
        call = ast.parse(f"f({parameters})", mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            words = call.keywords
            if not call.args and all(word.arg is not None for word in words):
                return [(str(word.arg).lower(), _literal(word.value)) for word in words]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    raise ValueError("parameters of a measure must look like name=value")


def _literal(node: ast.expr) -> Any:
    """Return the value of a parameter. Words without quotes are strings."""
    if isinstance(node, ast.Dict) and None not in node.keys:
        # All pairs are kept, because the measure must see a label that occurs twice.
        keys = [_literal(key) for key in node.keys if key is not None]
        return list(zip(keys, map(_literal, node.values), strict=True))
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        value = ast.unparse(node).replace(" ", "")
    return value.lower() if isinstance(value, str) else value


def _after_at(text: str, parameter: str) -> int | float | str:
    """Return what follows @: a cut-off, or the number of another parameter."""
    try:
        return int(text) if parameter == "k" else float(text)
    except ValueError:
        if parameter == "k":
            return _measure.check_cutoff(text, parameter)
        raise ValueError(
            f"{parameter} must be a number, got {messages.show(text)}"
        ) from None


def _fields(
    keywords: list[tuple[str, Any]], name: str, named: _measure.Named
) -> dict[str, Any]:
    """Return the values of the fields of a measure, each at most once."""
    names = [field.name for field in fields(named.cls) if field.init]
    accepted = [field for field in names if field not in named.without]
    values = {}
    for keyword, value in keywords:
        parameter, meanings = named.cls.synonyms.get(keyword, (keyword, None))
        if meanings is not None:
            checks.check_choice(value, keyword, tuple(meanings))
            value = meanings[value]
        if parameter not in accepted:
            known = ", ".join(accepted) or "none"
            raise ValueError(
                f"{name} has no parameter {keyword!r}. The parameters are: {known}"
            )
        if parameter in values:
            raise ValueError(f"{parameter} must be given only once")
        values[parameter] = value
    return values
