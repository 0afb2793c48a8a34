"""What is known to fail, and is not drawn until it is mended."""

from __future__ import annotations

WEIGHTED_MEDIAN = "weighted median"
INTEGERS = "integers beyond 2^53"
EXPLICIT_GAINS = "explicit gains under conventions"
CONVENTION_WEIGHTS = "query weights under conventions"
TREC_EVAL_NAMES = "names of trec_eval"

#: To switch a check on, take its name out; empty is how it should be.
KNOWN: frozenset[str] = frozenset()
