"""What needs another library says which extra of ours installs it."""

import importlib
import sys

import pytest

LIBRARIES = ["catboost", "dask", "ir_measures", "lightgbm", "optuna", "xgboost"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_missing_library_is_named(library, monkeypatch):
    ours = f"tieaware_sklearn.{library}"
    monkeypatch.setitem(sys.modules, library, None)
    for module in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, module)
    extra = library.replace("_", "-")
    hint = rf'^{ours} needs {library}: pip install "tieaware-sklearn\[{extra}\]"$'
    with pytest.raises(ImportError, match=hint):
        importlib.import_module(ours)
