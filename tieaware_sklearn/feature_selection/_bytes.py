"""Screenings as bytes: an archive of NumPy arrays, one of them a header in JSON."""

from __future__ import annotations

import io
import json
from collections import defaultdict
from dataclasses import fields
from typing import Any

import numpy as np

from .._typing import Array
from .._version import __version__
from ..measures import _parse
from ..statistics.moments import QueryMoments
from . import _feature_sums, _selection

#: Version of the format, which changes with the fields of a screening.
_VERSION = 3


def to_bytes(screening: Any) -> bytes:
    """Return the bytes of a `Screening`; equal screenings have the same bytes."""
    for measure in screening.rule.measures:
        if any(callable(value) for value in vars(measure).values()):
            raise ValueError(
                f"measure {measure} cannot be saved: gains and discounts must be names "
                "or tables, not functions"
            )
    options = {}
    for field in fields(screening.rule):
        options[field.name] = getattr(screening.rule, field.name)
    options["measures"] = list(map(str, screening.rule.measures))
    selection = screening.selection
    by_number = None
    if selection is not None:
        by_number = selection.by_number
    header = {
        "version": _VERSION,
        "library": __version__,
        "feature_names": screening.feature_names,
        "weighted": screening.weighted,
        "label": screening.label,
        "n_queries": screening.n_queries,
        "rule": options,
        # The field by_number is the only field of `Selection` that is not an array.
        "by_number": by_number,
    }
    # JSON has no NumPy scalars, so they become Python numbers.
    text = json.dumps(header, default=np.generic.item)
    arrays = {"header": np.array(text), "query_digests": screening.query_digests}
    statistics = screening.statistics
    parts = {
        "statistics": statistics,
        # In the format, the values still have the earlier name of the field.
        "worth": statistics.values,
        "of_labels": statistics.of_labels,
        "correlation": statistics.correlation,
        "selection": selection,
    }
    for part, values in parts.items():
        if values is None:
            continue
        for name, array in vars(values).items():
            # Nested objects are parts of their own, and numbers are in the header.
            if isinstance(array, np.ndarray):
                # Equal arrays have equal bytes only in the same memory order.
                arrays[f"{part}/{name}"] = np.asarray(array, order="C")
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    return archive.getvalue()


def read_fields(data: Any) -> dict[str, Any]:
    """Return the fields of the screening that the bytes contain."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(arrays["header"].item())
        if header["version"] == _VERSION:
            return _fields(header, arrays)
    # Bytes from another source raise many types of exceptions.
    except Exception as error:
        raise ValueError(
            "data must be the bytes that Screening.to_bytes returned, got other or "
            f"damaged data ({type(error).__name__})"
        ) from error
    # The bytes contain a screening in another version of the format.
    raise ValueError(
        f"data must have version {_VERSION} of the format, got {header['version']!r}, "
        f"written by tieaware-sklearn {header.get('library')!r}: read the data with "
        "that version of the package"
    )


def _fields(header: dict[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    """Return the fields of the screening with this header and these arrays."""
    parts: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for key, array in arrays.items():
        # Keys are "part/name", except for the header and the digests.
        part, _, name = key.rpartition("/")
        parts[part][name] = array
    options = header["rule"]
    options["measures"] = tuple(_parse.parse_measures(options["measures"]))
    options["directions"] = tuple(options["directions"])
    correlation = None
    if options["correlates"]:
        correlation = _feature_sums.FeatureCorrelation(**parts["correlation"])
    selection = None
    by_number = header["by_number"]
    if by_number is not None:
        selection = _selection.Selection(**parts["selection"], by_number=by_number)
    statistics = _feature_sums.FeatureStatistics(
        values=QueryMoments(**parts["worth"]),
        of_labels=QueryMoments(**parts["of_labels"]),
        correlation=correlation,
        n_queries=header["n_queries"],
        **parts["statistics"],
    )
    return {
        "feature_names": tuple(header["feature_names"]),
        "rule": _selection.Rule(**options),
        "statistics": statistics,
        "query_digests": arrays["query_digests"],
        "selection": selection,
        "weighted": header["weighted"],
        "label": header["label"],
    }
