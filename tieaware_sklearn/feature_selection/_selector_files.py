"""What files of selectors hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..io._saved import kept_of, result_of
from ..io._saved_file import Kept, UnreadableError, from_plain, plain_value
from ..measures import Measure
from ..measures._parse import names_to_save, parse_measure
from ._screening import Screening


def kept_selector(selector: Any) -> Kept:
    """Parameters, columns of X and screening of a fitted selector."""
    if selector.qid != selector._fitted_qid_:
        raise ValueError(
            f"qid must not change between fit and save, got {selector.qid!r} after "
            f"{selector._fitted_qid_!r}"
        )
    parameters = {
        name: plain_value(_named(value), name)
        for name, value in sorted(selector.get_params(deep=False).items())
    }
    names = getattr(selector, "feature_names_in_", None)
    header = {
        "parameters": parameters,
        "qid_at": None if selector.qid is None else int(selector._qid_at_),
        "n_features_in": int(selector.n_features_in_),
        "feature_names_in": None if names is None else list(map(str, names)),
    }
    return Kept(header, {}).with_part("screening", kept_of(selector.screening_))


def selector_of(cls: type[Any], kept: Kept) -> tuple[Any, Screening]:
    """A selector with the parameters and columns that were kept, and the screening."""
    given = kept.value("parameters", dict)
    unknown = sorted(set(given) - set(cls._get_param_names()))
    if unknown:
        raise UnreadableError(
            f"must have parameters of {cls.__name__}, got {', '.join(unknown)}: if a "
            "newer version of tieaware-sklearn wrote it, upgrade"
        )
    parameters = {name: _measures(from_plain(value)) for name, value in given.items()}
    selector = cls(**parameters)
    selector.n_features_in_ = kept.value("n_features_in", int)
    selector._fitted_qid_ = selector.qid
    if selector.qid is not None:
        selector._qid_at_ = kept.value("qid_at", int)
    if kept.value("feature_names_in", list, type(None)) is not None:
        names = kept.texts("feature_names_in")
        selector.feature_names_in_ = np.array(names, dtype=object)
    screening = result_of(Screening, kept.part("screening"))
    _check(selector, screening)
    return selector, screening


def _check(selector: Any, screening: Screening) -> None:
    """The columns are those of the screening."""
    n_columns, at = selector.n_features_in_, getattr(selector, "_qid_at_", 0)
    names = getattr(selector, "feature_names_in_", None)
    if names is not None and len(names) != n_columns:
        raise UnreadableError(f"must have {n_columns} columns, got {len(names)} names")
    if not 0 <= at < n_columns <= len(screening.feature_names) + 1:
        raise UnreadableError(f"must have a column for every feature, got {n_columns}")
    if selector._names() != list(screening.feature_names):
        raise UnreadableError("must have a screening of its columns, got one of others")
    if screening.selection is None:
        raise UnreadableError("must have a selection, got none")


def _named(value: Any) -> Any:
    """Measures by name, each as a dict to tell it from its name."""
    if isinstance(value, Measure):
        return {"measure": names_to_save([value])[0]}
    if isinstance(value, (list, tuple)):
        named = map(_named, value)
        return tuple(named) if isinstance(value, tuple) else list(named)
    return value


def _measures(value: Any) -> Any:
    """What `_named` was given."""
    if isinstance(value, dict) and set(value) == {"measure"}:
        return parse_measure(value["measure"])
    if isinstance(value, (list, tuple)):
        read = map(_measures, value)
        return tuple(read) if isinstance(value, tuple) else list(read)
    return value
