"""Values of options, as they are typed."""

from __future__ import annotations

import argparse

#: more than that are started by mistake
_MOST_THREADS = 1024
#: SciPy counts columns in 32 bits
_MOST_FEATURES = 2**31


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be an integer, got {text[:40]!r}"
        ) from None


def jobs(text: str) -> int:
    value = integer(text)
    if value != -1 and not 1 <= value <= _MOST_THREADS:
        raise argparse.ArgumentTypeError(
            f"must be 1 to {_MOST_THREADS}, or -1 for every core, got {value}"
        )
    return value


def count(text: str) -> int:
    value = integer(text)
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"must be >= 0 and below 2^63, got {value}")
    return value


def n_features(text: str) -> int:
    value = integer(text)
    if not 1 <= value < _MOST_FEATURES:
        raise argparse.ArgumentTypeError(
            f"must be >= 1 and below {_MOST_FEATURES}, got {value}"
        )
    return value


def limit(text: str) -> float | None:
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a number or none, got {text[:40]!r}"
        ) from None


def zero_relevance(text: str) -> float | str:
    return text if text in ("skip", "raise") else float(text)
