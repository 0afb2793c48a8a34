"""What all results have in common."""

from __future__ import annotations


class Result:
    """A result that shows itself, also at a prompt, as the table that it prints."""

    def __repr__(self) -> str:
        return str(self)
