"""Values are those of version 1.1.0: see `tests.frozen`."""

import functools

import pytest

from tests import frozen


@functools.cache
def file():
    return frozen.read(frozen.FILE)


@functools.cache
def values_by(engine):
    return frozen.computed_by(engine)


def lines(case, setting, engine, relative):
    """Return the differences of a case from the file."""
    values = frozen.of_case(values_by(engine)[setting], case)
    expected = frozen.of_case(file()[1], case, engine)
    if setting != "plain":
        # some values are of rows as they stand, and are computed only so
        expected = {name: expected[name] for name in values}
    return frozen.differences(values, expected, relative)


def test_every_case_is_in_the_file():
    names = {name.removeprefix(frozen.OF_NUMPY) for name in file()[1]}
    assert {name.partition(":")[0] for name in names} == set(frozen.CASES)


@pytest.mark.xdist_group("frozen")
@pytest.mark.parametrize("setting", frozen.SETTINGS)
@pytest.mark.parametrize("case", frozen.CASES)
def test_values_are_close_to_the_frozen_ones_on_any_machine(case, setting, engine):
    assert lines(case, setting, engine, frozen.RELATIVE) == []


@pytest.mark.xdist_group("frozen")
@pytest.mark.parametrize("setting", frozen.SETTINGS)
@pytest.mark.parametrize("case", frozen.CASES)
def test_values_are_the_frozen_ones_to_the_bit(case, setting, engine):
    if file()[0] != frozen.fingerprint():
        pytest.skip("functions of NumPy, SciPy or libm have other bits here")
    different = lines(case, setting, engine, relative=0)
    assert [line for line in different if not line.startswith(frozen.OTHER_BITS)] == []
