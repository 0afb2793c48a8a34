"""The search of the built site: ``python -m tests.site_search WORDS ...``.

Ranks pages as `_static/searchtools.js` of Sphinx does, with the scorer of
`docs/search_scorer.js`, so that tests need no browser. Where Node is installed, a test
compares both.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: where `.ci/run` and CONTRIBUTING build the site
SITE = ROOT / "build" / "docs"

# the values of Sphinx
TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM = 15, 7, 5, 2
OBJECT, PARTIAL_OBJECT = 11, 6
PRIORITIES = {0: 15, 1: 5, 2: -5}


@dataclass(frozen=True)
class Result:
    """A line of the list of results."""

    page: str
    title: str
    kind: str
    points: float


def round_half_up(value: float) -> int:
    """Return the nearest integer, as `Math.round` does."""
    return int(value + 0.5)


class SiteSearch:
    """The search of the site in a folder."""

    def __init__(self, site: Path = SITE):
        from sphinx.search.en import SearchEnglish

        language = SearchEnglish({})
        self.stem = language.stem
        self.stopwords = language.stopwords
        index = (site / "searchindex.js").read_text(encoding="utf-8")
        self.index: dict[str, Any] = json.loads(
            index.removeprefix("Search.setIndex(").removesuffix(")")
        )
        self.pages = self.index["docnames"]
        self.titles = self.index["titles"]
        scorer = (site / "_static" / "language_data.js").read_text(encoding="utf-8")
        deductions = re.search(r"const DEDUCTIONS = (\{.*?\});", scorer, re.S)
        assert deductions, "the site was built without docs/search_scorer.js"
        self.deductions: dict[str, int] = json.loads(deductions[1])

    def results(self, query: str) -> list[Result]:
        """Return all results, the first one on top."""
        words = re.findall(r"\w+", query)
        stems = {}  # in order, each once
        for word in words:
            if word.lower() not in self.stopwords and not word.isdecimal():
                stems[self.stem(word.lower())] = None
        main, other = [], []
        main += self._headings(query.lower().strip())
        for result, is_main in self._entries(query.lower().strip()):
            (main if is_main else other).append(result)
        main += self._objects(dict.fromkeys(word.lower() for word in words))
        main += self._texts(list(stems))
        ranked = []
        for group in (main, other):
            scored = [self._score(result, query) for result in group]
            # the page shows the list from its end
            scored.sort(key=lambda result: result.title.lower(), reverse=True)
            scored.sort(key=lambda result: result.points)
            ranked += reversed(scored)
        return ranked

    def _score(self, result: Result, query: str) -> Result:
        """Apply `Scorer.score` of docs/search_scorer.js."""
        stems = {
            self.stem(word)
            for word in re.findall(r"\w+", query.lower())
            if len(word) > 2 and word not in self.stopwords
        }
        points = result.points * (0.15 if result.kind == "index" else 1)
        points += 2 * sum(stem in result.title.lower() for stem in stems)
        for start, deduction in self.deductions.items():
            if result.page.startswith(start):
                points -= deduction
                break
        return Result(result.page, result.title, result.kind, points)

    def _headings(self, query: str) -> Iterator[Result]:
        for heading, places in self.index["alltitles"].items():
            long_enough = len(query) >= len(heading) / 2
            if query in heading.lower().strip() and long_enough:
                points = round_half_up(TITLE * len(query) / len(heading))
                for number, _ in places:
                    title = self.titles[number]
                    if title == heading:
                        yield Result(self.pages[number], title, "title", points + 1)
                    else:
                        title = f"{title} > {heading}"
                        yield Result(self.pages[number], title, "title", points)

    def _entries(self, query: str) -> Iterator[tuple[Result, bool]]:
        for entry, places in self.index["indexentries"].items():
            if query in entry and len(query) >= len(entry) / 2:
                points = round_half_up(100 * len(query) / len(entry))
                for number, _, is_main in places:
                    title = self.titles[number]
                    yield Result(self.pages[number], title, "index", points), is_main

    def _objects(self, words: dict[str, None]) -> Iterator[Result]:
        for word in words:
            for prefix, objects in self.index["objects"].items():
                for number, kind, priority, _, name in objects:
                    full_name = f"{prefix}.{name}" if prefix else name
                    last = full_name.lower().split(".")[-1]
                    kind_in_words = self.index["objnames"][str(kind)][2]
                    title = self.titles[number]
                    text = f"{prefix} {name} {kind_in_words} {title}".lower()
                    others = [other for other in words if other != word]
                    if word not in full_name.lower():
                        continue
                    if not all(other in text for other in others):
                        continue
                    points = PRIORITIES.get(priority, 0)
                    if word in (last, full_name.lower()):
                        points += OBJECT
                    elif word in last:
                        points += PARTIAL_OBJECT
                    yield Result(self.pages[number], full_name, "object", points)

    def _texts(self, stems: list[str]) -> Iterator[Result]:
        points: dict[int, dict[str, int]] = {}
        for stem in stems:
            for numbers, value in self._places(stem):
                for number in [numbers] if isinstance(numbers, int) else numbers:
                    # the last of several counts, as in Sphinx
                    points.setdefault(number, {})[stem] = value
        long = sum(len(stem) > 2 for stem in stems)
        for number, values in points.items():
            if len(values) in (len(stems), long):
                title = self.titles[number]
                yield Result(self.pages[number], title, "text", max(values.values()))

    def _places(self, stem: str) -> Iterator[tuple[int | list[int], int]]:
        fields = [
            (self.index["terms"], TERM, PARTIAL_TERM),
            (self.index["titleterms"], TITLE, PARTIAL_TITLE),
        ]
        for terms, value, _ in fields:
            if stem in terms:
                yield terms[stem], value
        for terms, _, value in fields:
            if stem not in terms and len(stem) > 2:
                for term, numbers in terms.items():
                    if stem in term:
                        yield numbers, value


if __name__ == "__main__":
    for result in SiteSearch().results(" ".join(sys.argv[1:]))[:10]:
        print(f"{result.points:5.1f}  {result.page}  {result.title}")
