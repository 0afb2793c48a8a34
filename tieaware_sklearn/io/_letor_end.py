"""LETOR text whose last line is cut off, as by a copy that was interrupted."""

from __future__ import annotations

from ._text_source import TextSource
from ._wording import quoted

#: other lines that a file must have: of fewer, all may be alike by chance
_LEAST = 10


def check_end(source: TextSource, end: bytes) -> None:
    """Refuse a file that ends in the middle of a line; `end` follows its last break.

    A missing line break alone is no error, and neither is a line with fewer features
    where features of value 0 are left out. So this takes a file whose other lines,
    ten at least, all have the same features (and comments, or none), where the last
    one stops before its line break and before it has them all.

    Raises
    ------
    ValueError
        With the file, the line and its last word.
    """
    if not end.strip() or end.endswith(b"\r"):
        return
    found, common = _parts(end), None
    n_alike, number = 0, 1
    with source.open_text() as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            number += 1
            if not (parts := _parts(line)):
                continue
            if common is None:
                common = parts
                if len(found) >= len(common) or found != common[: len(found)]:
                    return
            elif parts != common:
                return
            n_alike += 1
    if n_alike >= _LEAST:
        word = end.split()[-1].decode("latin-1")
        raise ValueError(
            f"{source}, line {number}: the file must not end in the middle of a line, "
            f"got {quoted(word)}, after which all other lines go on (if the line is "
            "complete, end it with a line break)"
        )


def _parts(line: bytes) -> list[bytes]:
    """What a document has, in order: a label, a query, features by number, a comment.

    Nothing for a line without a document.
    """
    content, comment, _ = line.partition(b"#")
    words = content.split()
    if not words:
        return []
    names = [word.partition(b":")[0] for word in words[1:]]
    return [b"label", *names, *([comment] if comment else [])]
