"""Many systems in a row each: letters of those that each is significantly better than.

The letters are those of ranx, where they are superscripts of the means.
"""

from collections.abc import Sequence
from itertools import chain
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display import text_tables, words
from .._typing import BoolArray, IntArray

#: a block of a measure: head, values and how they are shown, of each column
Block = Sequence[tuple[Any, ...]]


def letters(order: IntArray) -> NDArray[np.object_]:
    """Letters of systems, in this order; numbers if there are more than 52."""
    n = len(order)
    names = list(ascii_letters[:n]) if n <= len(ascii_letters) else range(1, n + 1)
    out = np.empty(n, dtype=object)
    out[order] = list(map(str, names))
    return out


def runs(letters_in_order: NDArray[np.object_], chosen: BoolArray) -> str:
    """Spell the chosen letters, three or more in a row as ``b-d``."""
    places = np.flatnonzero(chosen)
    separator = "," if len(chosen) > len(ascii_letters) else ""
    parts = []
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        names = letters_in_order[run].tolist()
        if len(names) > 2:
            names = [f"{names[0]}-{names[-1]}"]
        parts += names
    return separator.join(parts)


def tables(
    names: Block, blocks: Sequence[Block], notes: Sequence[str]
) -> list[text_tables.Table]:
    """Tables with blocks of measures side by side, as few as fit 80 columns.

    The second columns of all blocks but the first give way to width where one table
    then holds all blocks.
    """
    made: list[text_tables.Table] = []
    for size in range(len(blocks), 0, -1):
        made = []
        for i in range(0, len(blocks), size):
            places = range(len(names) + 1, len(names) + 3 * size, 3)
            made.append(
                text_tables.Table.of(
                    *names,
                    *chain(*blocks[i : i + size]),
                    left=len(names),
                    drop=places[:0:-1] if size == len(blocks) else (),
                    notes=notes if i + size >= len(blocks) else (),
                    title="Systems, best first",
                )
            )
        rules = [table.text().splitlines()[1] for table in made]
        if max(map(len, rules)) <= words.COLUMNS:
            break
    return made
