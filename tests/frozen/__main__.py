"""Writes the values of both engines anew: ``python -m tests.frozen``.

With a path, the values of the engine in use go to that file instead, of all settings.
"""

import sys
from pathlib import Path

import numpy as np

from tests import frozen


def main(paths: list[str]) -> None:
    if paths:
        frozen.write(Path(paths[0]), frozen.computed_here())
        return
    values = frozen.computed_by("compiled")["plain"]
    for name, vector in frozen.computed_by("numpy")["plain"].items():
        if not np.array_equal(vector, values[name], equal_nan=True):
            values[frozen.OF_NUMPY + name] = vector
    frozen.write(frozen.FILE, values)
    size = frozen.FILE.stat().st_size
    print(f"{len(values)} names, {size} bytes: {frozen.FILE}")


if __name__ == "__main__":
    main(sys.argv[1:])
