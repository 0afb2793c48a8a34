"""A differential fuzz that never ends by itself: ``python -m tests.fuzz --minutes 10``.

Small query sets, drawn by hypothesis and checked against the definitions of
`tests.naive` in exact fractions, and small files.
"""
