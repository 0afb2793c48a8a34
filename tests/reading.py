"""How README, guide and how-to pages read: ``python -m tests.reading [PAGE ...]``.

Prints each paragraph whose sentences have more than 20 words on average, links
without a text of their own, and numbers and words that are spelled in another way.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import pages as guide

#: words of a sentence, on average over a paragraph
MOST_WORDS = 20
_FENCED = re.compile(
    r"^```.*?^```$|^<!--.*?-->$|^\$\$.*?^\$\$$|^\([\w-]+\)=$", re.M | re.S
)
_BLOCK_ENDS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#|\||>))")
_MARKUP = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
_CODE = re.compile(r"(`+)[^`]+\1|\$[^$]+\$")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[A-Z`\d])")
_EMPTY_LINK = re.compile(r"(?<!!)\[\]\([^)]*\)")
#: how numbers and words are spelled, and what other spellings look like
SPELLINGS = {
    "5%": re.compile(r"\d %"),
    "0.95": re.compile(r"(?<![\w.)\]])\.\d"),
    "data frame": re.compile(r"\bdata-?frame", re.I),
    "data set": re.compile(r"\bdataset", re.I),
    "judgment": re.compile(r"\bjudgement", re.I),
}


def pages() -> list[Path]:
    """README and the guide."""
    return [guide.DOCS.parent / "README.md", *guide.pages()]


def paragraphs(text: str) -> Iterator[str]:
    """Running text: no code, tables, headings and pictures; items of lists alone."""
    for block in _BLOCK_ENDS.split(_FENCED.sub("\n\n", text)):
        words = " ".join(block.split())
        if words and not words.startswith(("#", "|", "![", "@", ":")):
            yield re.sub(r"^(?:[-*>]|\d+\.) ", "", words)


def words_a_sentence(paragraph: str) -> float:
    """The average; code and formulas count as a word."""
    plain = _CODE.sub("X", _MARKUP.sub(r"\1", paragraph))
    sentences = _SENTENCE_ENDS.split(plain)
    return len(plain.split()) / len(sentences)


def complaints(page: Path) -> list[str]:
    """What there is to mend on a page."""
    text = page.read_text()
    found = [
        f"{words_a_sentence(own):.0f} words a sentence: {own[:70]}..."
        for own in paragraphs(text)
        if words_a_sentence(own) > MOST_WORDS
    ]
    found += [f"a link without text: {link}" for link in _EMPTY_LINK.findall(text)]
    return found + misspelled(text)


def misspelled(text: str) -> list[str]:
    """Other spellings than ours in text, tables and headings, without code."""
    plain = _CODE.sub("X", _MARKUP.sub(r"\1", _FENCED.sub("", text)))
    return [
        f"{spelling}, not {plain[max(match.start() - 9, 0) : match.end() + 9]!r}"
        for spelling, other in SPELLINGS.items()
        for match in other.finditer(plain)
    ]


if __name__ == "__main__":
    for page in [Path(name) for name in sys.argv[1:]] or pages():
        for one in complaints(page):
            print(f"{page.name}: {one}")
