"""Copies of the tree, in which a fault is put into the code and the tests run."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from tqdm import tqdm

from . import PACKAGE, PYTEST, ROOT

BUILD = ("setup.py", "-q", "build_ext", "--inplace")
CHECK = ("-m", "pytest", "-x", *PYTEST)
#: seconds that tests without a fault may take
PATIENCE = 3600.0


class Fault(Protocol):
    """A fault of a file of the package, and the tests that must notice."""

    @property
    def file(self) -> str: ...

    @property
    def tests(self) -> Sequence[str]: ...

    @property
    def seconds(self) -> float:
        """How long a build or these tests may take: a fault may never end."""

    def put_into(self, text: str) -> str: ...


def fails(folder: Path, seconds: float, *words: str) -> bool:
    environment = {**os.environ, "TIEAWARE_KERNEL": "require"}
    environment |= {"TIEAWARE_ENGINE": "compiled", "PYTHONPATH": str(folder)}
    try:
        run = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return True
    return run.returncode != 0


def is_noticed(fault: Fault, folder: Path) -> bool:
    """Whether a test fails, or the kernel no longer compiles."""
    file = folder / PACKAGE.name / fault.file
    text = file.read_text()
    file.write_text(fault.put_into(text))
    try:
        is_compiled = file.suffix != ".py"
        return (is_compiled and fails(folder, fault.seconds, *BUILD)) or fails(
            folder, fault.seconds, *CHECK, *fault.tests
        )
    finally:
        file.write_text(text)


def check(name: str, faults: Sequence[Fault], jobs: int) -> None:
    """Count the faults that tests notice, and show the others."""
    # a fault may ask for any memory; browsers reserve addresses that they do not use
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, 8 << 30))
    with tempfile.TemporaryDirectory() as copies, ThreadPoolExecutor(jobs) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            folder = Path(copies) / str(job)
            shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build"))
            free.put(folder)
        tests = dict.fromkeys(test for fault in faults for test in fault.tests)
        if fails(folder, PATIENCE, *CHECK, *tests):
            raise RuntimeError(f"tests fail without a fault: {[*tests]}")

        def noticed(fault: Fault) -> bool:
            folder = free.get()
            try:
                seen = is_noticed(fault, folder)
            finally:
                free.put(folder)
            if not seen:
                tqdm.write(str(fault))
            return seen

        n_noticed = sum(tqdm(pool.map(noticed, faults), name, len(faults)))
    print(f"{name}: {n_noticed} of {len(faults)} noticed", flush=True)
