"""What users see, as texts under version control: names, messages, printed tables.

A change of a public name, a message or a table is thereby seen in a diff. Write the
texts anew with ``python -m tests.snapshots`` and read the diff before it is committed.
"""

from collections.abc import Callable
from pathlib import Path

from tests.snapshots.api import api
from tests.snapshots.messages import messages
from tests.snapshots.tables import tables

FOLDER = Path(__file__).parent
#: Files, and the functions that return their text.
TEXTS: dict[str, Callable[[], str]] = {
    "api.txt": api,
    "messages.txt": messages,
    "tables.txt": tables,
}


def read(name: str) -> str:
    """Return the text that is under version control."""
    return (FOLDER / name).read_text(encoding="utf-8")
