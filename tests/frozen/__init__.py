"""Values of version 1.1.0, which no later version may change.

`values_1.1.0.npz` holds the values themselves, of each query where there is one, of all
that stays in version 2: `cases` computes them by public names. Values and not reports
are kept, so that a report may get other columns.

Values are compared twice. Everywhere, they must agree to a relative 1e-12, and NaN with
NaN: NumPy's vectorised `exp`, `log` and `power` differ by a unit in the last place
between CPUs, and so do all values that go through them. All values must also agree to
the bit where these functions, those of libm and SciPy, and NumPy's sums give the bits
that they gave where the file was written (`fingerprint`). Digests of the values would
not do: they cannot be compared with a tolerance, and do not show what changed.

Both engines have the same values, except those that the file also has under a name that
begins with "numpy".

Values that go back to means and standard deviations of ERR under ties are those of
version 2, which computes them from gains and not from chances near 1. They moved by at
most a relative 7e-13. For 300 queries, they were compared with exact fractions. Values
of 1.1.0 are off by up to 7e-13, and those in the file by up to 4e-16.

``python -m tests.frozen`` writes the file anew. Run it only in a clone of the version
whose values are frozen, with these files copied into it: a change of the file made
elsewhere would hide a change of values.
"""

import hashlib
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import special, stats

from tests.frozen.cases import CASES, Setting, computed
from tests.frozen.data import integers

FILE = Path(__file__).parent / "values_1.1.0.npz"
#: How far values may be from the file on another CPU.
RELATIVE = 1e-12
#: Values that only NumPy's engine has are stored under names that begin so.
OF_NUMPY = "numpy "

#: Values must be the same in each.
SETTINGS = {
    "plain": Setting(shuffled=False, n_jobs=1),
    "shuffled, four threads": Setting(shuffled=True, n_jobs=4),
}

#: Values whose last bit has changed since, by the beginnings of their names. Sparse
#: columns are averaged like dense ones, where 1.1 added differences to sums.
OTHER_BITS = ("selector: sparse/", "sparse_columns: ")

#: Numbers in the file that version 2 no longer computes, by parts of their names.
#: Interactions are not tested in segments of fewer than 20 queries.
REMOVED = (
    "/n_nearly_tied",
    "posterior/",
    "segments/interaction",
    ": importance/",
    ": contingency/",
    ": recall/",
)

Values = dict[str, np.ndarray]


def fingerprint() -> str:
    """Return a digest of what functions that differ between machines give."""
    x = integers(4096, 1 << 40, 7) / (1 << 36) + 1 / 64
    unit = (x % 1 + 1 / 64) / 2
    arrays = [
        *(np.exp(x), np.exp2(x), np.log(x), np.log2(x), np.log1p(x), np.expm1(unit)),
        *(np.power(x, 0.3), np.power(0.8, x), np.sqrt(x), np.arctan(x)),
        *(x.sum(), np.add.reduceat(x, np.arange(0, 4096, 37)), np.cumsum(x), x.std()),
        *(
            x.reshape(64, 64).sum(axis=0),
            np.einsum("ij,j->i", x.reshape(64, 64), x[:64]),
        ),
        *(special.gammaln(x), special.ndtr(-unit), stats.t.sf(unit, 7)),
        stats.studentized_range.sf(np.linspace(0.5, 6, 12), 3, 11),
        *([math.exp(value) for value in unit], [math.log(value) for value in x]),
        *([math.pow(value, 1.7) for value in x], [math.log1p(value) for value in x]),
    ]
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.asarray(array, np.float64).tobytes())
    return digest.hexdigest()


def computed_here() -> Values:
    """Return the values of all cases and settings by the engine that is in use."""
    values: Values = {}
    for title, setting in SETTINGS.items():
        for case in CASES:
            for name, vector in computed(case, setting).items():
                values[f"{title} | {name}"] = vector
    return values


def computed_by(engine: str) -> dict[str, Values]:
    """Return the values of one engine by setting, computed in a process of its own.

    Engines that take turns in one process share values that measures remember.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "values.npz")
        subprocess.run(
            [sys.executable, "-m", "tests.frozen", str(path)],
            env={**os.environ, "TIEAWARE_ENGINE": engine},
            cwd=Path(__file__).parents[2],
            check=True,
        )
        _, found = read(path)
    values: dict[str, Values] = {setting: {} for setting in SETTINGS}
    for name, vector in found.items():
        setting, _, own = name.partition(" | ")
        values[setting][own] = vector
    return values


def write(path: Path, values: Values) -> None:
    """Write names, lengths, one vector of numbers, and the fingerprint."""
    content = {
        "fingerprint": np.frombuffer(fingerprint().encode(), np.uint8),
        "names": np.frombuffer("\n".join(values).encode(), np.uint8),
        "sizes": np.array([len(vector) for vector in values.values()]),
        "values": np.concatenate(list(values.values())),
    }
    np.savez_compressed(path, **content)


def read(path: Path) -> tuple[str, Values]:
    """Return the fingerprint of the machine that wrote a file, and the values."""
    with np.load(path) as content:
        machine = content["fingerprint"].tobytes().decode()
        names = content["names"].tobytes().decode().split("\n")
        ends = np.cumsum(content["sizes"])
        vectors = np.split(content["values"], ends[:-1])
    return machine, dict(zip(names, vectors, strict=True))


def of_case(values: Values, case: str, engine: str = "compiled") -> Values:
    """Return the values of a case; of a file, those of one of the engines."""
    own = {
        name: value
        for name, value in values.items()
        if name.startswith(f"{case}: ") and not any(part in name for part in REMOVED)
    }
    if engine == "numpy":
        own = {name: values.get(OF_NUMPY + name, value) for name, value in own.items()}
    return own


def differences(values: Values, frozen: Values, relative: float) -> list[str]:
    """Return a line for each name whose values differ by more than this."""
    lines = []
    for name in sorted(values.keys() | frozen.keys()):
        if name not in values or name not in frozen:
            lines.append(f"{name}: only {'frozen' if name in frozen else 'computed'}")
            continue
        new, old = values[name], frozen[name]
        if len(new) != len(old):
            lines.append(f"{name}: {len(new)} values, frozen {len(old)}")
            continue
        if relative:
            same = np.isclose(new, old, rtol=relative, atol=relative, equal_nan=True)
        else:
            same = (new == old) | (np.isnan(new) & np.isnan(old))
        if not same.all():
            place = int(np.argmin(same))
            lines.append(
                f"{name}[{place}]: {new[place].item()!r}, frozen {old[place].item()!r}"
                f" ({np.count_nonzero(~same)} of {len(new)} differ)"
            )
    return lines
