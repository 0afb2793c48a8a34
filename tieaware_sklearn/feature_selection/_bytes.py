"""Screenings as bytes: an archive of NumPy arrays, one of them a header in JSON."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from typing import Any

import numpy as np

from .._display import words
from .._typing import Array
from .._version import __version__
from ..measures import _parse
from ..statistics.moments import QueryMoments
from . import _selection, _statistics

#: Version of the format.
_VERSION = 3


def to_bytes(screening: Any) -> bytes:
    """Return the bytes of a `Screening`; equal screenings have the same bytes."""
    rule, statistics = screening.rule, screening.statistics
    for measure in rule.measures:
        if any(callable(value) for value in vars(measure).values()):
            raise ValueError(
                f"measure {measure} cannot be saved: gains and discounts must be names "
                "or tables, not functions"
            )
    selection = screening.selection
    options = {field.name: getattr(rule, field.name) for field in fields(rule)}
    options["measures"] = list(map(str, rule.measures))
    header = {
        "version": _VERSION,
        "library": __version__,
        "feature_names": screening.feature_names,
        "weighted": screening.weighted,
        "label": screening.label,
        "n_queries": screening.n_queries,
        "rule": options,
        "by_number": None if selection is None else selection.by_number,
    }
    # the default makes numbers of Python of those of NumPy
    text = json.dumps(header, default=np.generic.item)
    arrays = {"header": np.array(text), "query_digests": screening.query_digests}
    parts = {
        "statistics": statistics,
        "worth": statistics.worth,
        "of_labels": statistics.of_labels,
        "correlation": statistics.correlation,
        "selection": selection,
    }
    for part, values in parts.items():
        if values is not None:
            for name, array in vars(values).items():
                if isinstance(array, np.ndarray):
                    arrays[f"{part}/{name}"] = np.asarray(array, order="C")
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def read_fields(data: Any) -> dict[str, Any]:
    """Return the fields of the screening that the bytes contain."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(arrays["header"].item())
        if header["version"] == _VERSION:
            return _fields(header, arrays)
    # other bytes fail in many ways
    except Exception as error:
        raise ValueError(
            "data must be what Screening.to_bytes returned, got other or damaged bytes "
            f"({type(error).__name__}: {words.printable(str(error))})"
        ) from None
    raise ValueError(
        f"data must have version {_VERSION} of the format, got {header['version']!r}, "
        f"written by tieaware-sklearn {header.get('library')!r}: use that version"
    )


def _fields(header: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    def part(name: str) -> dict[str, Any]:
        prefix = f"{name}/"
        return {
            key.removeprefix(prefix): array
            for key, array in arrays.items()
            if key.startswith(prefix)
        }

    rule = header["rule"]
    rule["measures"] = tuple(_parse.parse_measures(rule["measures"]))
    rule["directions"] = tuple(rule["directions"])
    correlation = selection = None
    if rule["correlates"]:
        correlation = _statistics.FeatureCorrelation(**part("correlation"))
    if header["by_number"] is not None:
        selection = _selection.Selection(
            **part("selection"), by_number=header["by_number"]
        )
    return {
        "feature_names": tuple(header["feature_names"]),
        "rule": _selection.Rule(**rule),
        "statistics": _statistics.FeatureStatistics(
            worth=QueryMoments(**part("worth")),
            of_labels=QueryMoments(**part("of_labels")),
            correlation=correlation,
            n_queries=header["n_queries"],
            **part("statistics"),
        ),
        "query_digests": arrays["query_digests"],
        "selection": selection,
        "weighted": header["weighted"],
        "label": header["label"],
    }
