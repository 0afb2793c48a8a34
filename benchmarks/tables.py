"""Tables of what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from tieaware_sklearn._display.text_tables import Table


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
) -> str:
    """Return rows of cells below a header, the first `left` columns being names."""
    columns = zip(header, zip(*rows, strict=True), strict=True)
    table = Table.of(*columns, left=left)
    return table.text()
