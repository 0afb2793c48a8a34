"""A differential fuzz that never ends by itself: ``python -m tests.fuzz --minutes 10``.

Random small query sets, checked against the definitions of `tests.naive` in exact
fractions. Case `number` of a kind under a seed is always the same, on any machine and
whatever else is run.
"""
