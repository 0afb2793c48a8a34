"""Screenings as bytes: NumPy arrays, and a header in JSON, in a zip archive."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields
from typing import Any

import numpy as np

from .._display import words
from .._engine import checks, seen_queries
from .._typing import Array
from .._version import __version__
from ..evaluation import _resolved
from ..measures import Measure, _parse
from ..statistics.moments import MergeableSums, QueryMoments
from . import _selection, _statistics

#: Version of the layout, which is that of the files of 1.1.0.
_VERSION = 1
_HEADER = "header.json"
#: First bytes of a zip archive.
_MAGIC = b"PK\x03\x04"
#: Stored dtypes by the kind of an array: little-endian, 64 bits or flags.
_DTYPES = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}


def to_bytes(screening: Any) -> bytes:
    """Return the bytes of a `Screening`; equal screenings have the same bytes."""
    rule, selection = screening.rule, screening.selection
    options = {field.name: getattr(rule, field.name) for field in fields(rule)}
    options["measures"] = _names_of(rule.measures)
    content = {
        "feature_names": screening.feature_names,
        "weighted": screening.weighted,
        "label": screening.label,
        "rule": options,
        "statistics": {"n_queries": screening.n_queries},
    }
    arrays = {"query_digests": screening.query_digests}
    arrays |= _arrays_of_sums(screening.statistics, "statistics")
    if selection is not None:
        content["selection"] = {"by_number": selection.by_number}
        for name in ("order", "repeats", "correlation"):
            arrays[f"selection/{name}"] = getattr(selection, name)
    header = {
        "format": "tieaware",
        "version": _VERSION,
        "kind": "Screening",
        "library": __version__,
        "content": content,
    }
    # Not compressed, because versions of zlib compress differently.
    out = io.BytesIO()
    plain = {
        name: np.array(array, dtype=_DTYPES[array.dtype.kind], order="C")
        for name, array in arrays.items()
    }
    np.savez(out, **plain)  # type: ignore[arg-type]
    with zipfile.ZipFile(out, "a") as file:
        # ZipInfo sets a fixed date.
        # The default makes numbers of Python of those of NumPy.
        text = json.dumps(header, allow_nan=False, indent=1, default=np.generic.item)
        file.writestr(zipfile.ZipInfo(_HEADER), text)
    return out.getvalue()


def read_fields(data: Any) -> dict[str, Any]:
    """Return the fields of the screening that the bytes contain."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"data must be bytes, got {type(data).__name__}")
    header, arrays = _unpacked(bytes(data))
    try:
        return _fields(_value(header, "content", dict), arrays)
    # Headers and arrays that `to_bytes` did not write fail in many ways.
    except Exception as error:
        raise ValueError(
            "data must be what Screening.to_bytes returned, got other content "
            f"({type(error).__name__}: {words.printable(str(error))})"
        ) from None


def _unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays, by name."""
    if not data.startswith(_MAGIC):
        raise ValueError(
            f"data must be what Screening.to_bytes returned, got {data[:10]!r}..."
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            # Members that are compressed or overlap may need any amount of memory.
            if sum(info.file_size for info in file.zip.infolist()) > len(data):
                raise ValueError("it is compressed, or its parts overlap")
            header = json.loads(file[_HEADER])
            names = [name for name in file.files if name != _HEADER]
            arrays = {name: np.asarray(file[name]) for name in names}
    # NumPy and zipfile raise a dozen kinds of errors for other bytes.
    except Exception as error:
        raise ValueError(
            f"data is damaged or cut off ({words.printable(str(error))}): copy it "
            "again, or make it again"
        ) from None
    if not isinstance(header, dict) or header.get("kind") != "Screening":
        kind = header.get("kind") if isinstance(header, dict) else header
        raise ValueError(f"data must contain a Screening, got {kind!r}")
    if header.get("version") != _VERSION:
        library = words.printable(str(header.get("library")))[:20]
        raise ValueError(
            f"data has version {header.get('version')!r} of the format, written by "
            f"tieaware-sklearn {library}; this is {__version__}, which reads version "
            f"{_VERSION}: upgrade tieaware-sklearn"
        )
    return header, arrays


def _fields(content: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the fields of a screening, checked."""
    names = tuple(_value(content, "feature_names", list))
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"must have texts in 'feature_names', got {names}")
    rule = _rule_of(_value(content, "rule", dict), len(names))
    n_queries = _value(_value(content, "statistics", dict), "n_queries", int)
    digests = _array(arrays, "query_digests", "<u8", None)
    if n_queries < max(len(digests), 1) or not seen_queries.are_ascending(digests):
        raise ValueError("must have a sorted digest of each query")
    selection = None
    if "selection" in content:
        by_number = _value(_value(content, "selection", dict), "by_number", bool)
        selection = _selection_of(arrays, by_number, len(names))
    return {
        "feature_names": names,
        "rule": rule,
        "statistics": _statistics_of(arrays, rule, n_queries),
        "query_digests": digests,
        "selection": selection,
        "weighted": _value(content, "weighted", bool),
        "label": _value(content, "label", str, type(None)),
    }


def _rule_of(header: dict[str, Any], n_features: int) -> _selection.Rule:
    rule = _selection.Rule(
        tuple(_parse.parse_measures(_value(header, "measures", list))),
        _value(header, "sort", int),
        _selection.each_direction(_value(header, "directions", list), n_features),
        _value(header, "missing", str),
        _value(header, "zero_relevance", float, int, str),
        _value(header, "unjudged", str),
        _value(header, "correlates", bool),
    )
    checks.check_choice(rule.missing, "missing", ("raise", "last"))
    checks.check_choice(rule.unjudged, "unjudged", checks.UNJUDGED)
    _resolved.check_zero_relevance(rule.zero_relevance)
    if not 0 <= rule.sort < len(rule.measures):
        raise ValueError(f"must have 'sort' of a measure, got {rule.sort}")
    return rule


def _statistics_of(
    arrays: dict[str, Array], rule: _selection.Rule, n_queries: int
) -> _statistics.FeatureStatistics:
    n_features, n_measures = len(rule.directions), len(rule.measures)
    shape, moments = (n_features, 2, n_measures), QueryMoments
    correlation = None
    if rule.correlates:
        n_rankings = n_features * (2 if rule.missing == "last" else 1)
        correlation = _sums_of(
            _statistics.FeatureCorrelation,
            arrays,
            "statistics/correlation",
            (n_rankings, n_rankings),
        )
    return _statistics.FeatureStatistics(
        _sums_of(moments, arrays, "statistics/worth", (n_features, 2, 4, n_measures)),
        _array(arrays, "statistics/tie_variance", "<f8", *shape),
        _sums_of(moments, arrays, "statistics/of_labels", (2, n_measures)),
        _array(arrays, "statistics/varies", "|b1", n_features),
        correlation,
        n_queries,
        _array(arrays, "statistics/null_variance", "<f8", *shape),
        _array(arrays, "statistics/log_placements", "<f8"),
    )


def _selection_of(
    arrays: dict[str, Array], by_number: bool, n_features: int
) -> _selection.Selection:
    order = _array(arrays, "selection/order", "<i8", None).astype(np.intp)
    repeats = _array(arrays, "selection/repeats", "<i8", n_features).astype(np.intp)
    known = np.arange(n_features)
    if len(np.unique(order)) < len(order) or not np.isin(order, known).all():
        raise ValueError("must have each feature at most once in 'order'")
    if not np.isin(repeats[repeats != -1], order).all():
        raise ValueError("must have chosen features or -1 in 'repeats'")
    correlation = _array(arrays, "selection/correlation", "<f8", n_features)
    return _selection.Selection(order, repeats, correlation, by_number)


def _names_of(measures: tuple[Measure, ...]) -> list[str]:
    """Return the names of measures, from which they are parsed again."""
    names = list(map(str, measures))
    for name, measure in zip(names, measures, strict=True):
        try:
            is_parsed = _parse.parse_measure(name) == measure
        except ValueError:
            is_parsed = False
        if not is_parsed:
            raise ValueError(
                f"measure {name} cannot be saved, because its name is not parsed as "
                "the same measure: gains and discounts must be names or tables, not "
                "functions, and the module of a class of your own must be imported"
            )
    return names


def _arrays_of_sums(sums: MergeableSums, part: str) -> dict[str, Array]:
    """Return the arrays of sums, by the names of their fields."""
    arrays: dict[str, Array] = {}
    for field in fields(sums):  # type: ignore[arg-type]
        name, value = f"{part}/{field.name}", getattr(sums, field.name)
        if isinstance(value, MergeableSums):
            arrays |= _arrays_of_sums(value, name)
        elif isinstance(value, np.ndarray):
            arrays[name] = value
    return arrays


def _sums_of(
    cls: Any, arrays: dict[str, Array], part: str, shape: tuple[int, ...]
) -> Any:
    """Return sums of which each field is an array of floats of this shape."""
    names = (f"{part}/{field.name}" for field in fields(cls))
    return cls(*(_array(arrays, name, "<f8", *shape) for name in names))


def _value(header: dict[str, Any], name: str, *types: type) -> Any:
    """Return a value of one of these types; True is no int."""
    value = header.get(name)
    if type(value) not in types:
        expected = " or ".join(one.__name__ for one in types)
        raise ValueError(f"must have {name!r} of type {expected}, got {value!r}")
    return value


def _array(
    arrays: dict[str, Array], name: str, dtype: str, *shape: int | None
) -> Array:
    """Return an array of this dtype and shape; a length of None is any length."""
    array = arrays.get(name)
    if array is None:
        raise ValueError(f"has no array {name!r}")
    fits = len(array.shape) == len(shape) and all(
        length in (None, actual)
        for length, actual in zip(shape, array.shape, strict=True)
    )
    if array.dtype.str != dtype or not fits:
        raise ValueError(
            f"must have an array {name!r} of dtype {dtype} and shape {shape}, got "
            f"{array.dtype.str} and {array.shape}"
        )
    return array
