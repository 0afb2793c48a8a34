"""Every example of the guide runs, and prints what its page says."""

from __future__ import annotations

import pytest

from tests.pages import DOCS, pages, run


@pytest.fixture
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Where a page may write, with the settings of a fresh interpreter after it."""
    import matplotlib.pyplot as plt
    import optuna
    import sklearn

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # threads of LightGBM
    before = optuna.logging.get_verbosity()
    with sklearn.config_context():
        yield
    optuna.logging.set_verbosity(before)
    plt.close("all")


@pytest.mark.parametrize(
    "page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix()
)
def test_page(page, in_a_folder_of_its_own):
    wrong = [one for one in run(page) if not one.holds()]
    assert not wrong, "\n".join(
        f"{page.name}:{one.start}: {one.source}\nsays:\n{one.want}\nprints:\n{one.got}"
        for one in wrong
    )
