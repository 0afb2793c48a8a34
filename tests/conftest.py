"""Settings of all tests, and what the tests of several rooms are given."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# processes that each take all cores stand in each other's way
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["MPLBACKEND"] = "agg"

# a check that passed once passes again; HYPOTHESIS_PROFILE=random looks for new cases,
# and tests.mutants has no use for the smallest case that fails
for profile in ("default", "random", "mutants"):
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=profile != "random",
        phases=[Phase.explicit, Phase.generate] if profile == "mutants" else Phase,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
        ],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# their assertions show values, as those of tests do
for helpers in Path(__file__).parent.glob("*/helpers.py"):
    pytest.register_assert_rewrite(f"tests.{helpers.parent.name}.helpers")


SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Research data beside the project; not part of it."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the research data of ../shared/data, which is not shipped")
    return SHARED_DATA


@pytest.fixture(params=["compiled", "numpy"])
def engine(request) -> Iterator[str]:
    """Either engine in turn, for the whole test.

    Without the kernel its half is skipped. With TIEAWARE_ENGINE=compiled it fails: the
    library itself then refuses to compute anything.
    """
    from tieaware_sklearn._kernel import engines
    from tieaware_sklearn.measures import _interpolated

    if request.param == "compiled" and engines.compiled is None:
        pytest.skip(f"needs the compiled kernel: {engines.missing}")
    # the cached values of queries in which all documents tie are of either engine
    _interpolated._one_tie.cache_clear()
    with engines.use_engine(request.param):
        yield request.param
    _interpolated._one_tie.cache_clear()


@pytest.fixture
def kernel() -> None:
    """For tests that compare the engines."""
    from tieaware_sklearn._kernel import engines

    if engines.compiled is None:
        pytest.skip(f"needs the compiled kernel: {engines.missing}")
