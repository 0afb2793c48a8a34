"""LETOR text read in batches of whole queries."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from ._consecutive_queries import QueryRuns, scattered
from ._letor_format import (
    Counted,
    check_query_file,
    complaint,
    first_wrong,
    kept_features,
    letor_place,
    numbered_queries,
    query_sizes,
    split_line,
)
from ._text_source import PathLike, TextSource

#: lines whose query ids are looked at together
_LINES = 1 << 16


class _Line(NamedTuple):
    text: bytes
    qid: int | None
    first: int
    last: int


class LetorStream:
    """LETOR text, looked through once; see `Stream`."""

    def __init__(
        self,
        sources: Sequence[TextSource],
        *,
        query_file: PathLike | Sequence[PathLike] | None = None,
        ignore: Sequence[str] = (),
    ) -> None:
        self._sources = sources
        self.left_out: list[str] = []
        given = check_query_file(query_file, len(sources))
        runs, files = QueryRuns(), []
        smallest, self._largest = 1, -1
        for source in sources:
            ids: list[int] = []
            n_lines = n_with_qid = 0
            for line in _lines(source):
                n_lines += 1
                if line.last >= 0:
                    smallest = min(smallest, line.first)
                    self._largest = max(self._largest, line.last)
                if line.qid is not None:
                    ids.append(line.qid)
                    n_with_qid += 1
                if len(ids) == _LINES:
                    runs.add(np.array(ids))
                    ids = []
            if not n_lines:
                raise ValueError(f"{source}: the file holds no documents")
            if ids:
                runs.add(np.array(ids))
            files.append(Counted(source, n_lines, n_with_qid))
        self.n_rows = sum(file.n_rows for file in files)
        self.scattered = ""
        self._sizes = query_sizes(files, given)
        if self._sizes is None:
            self._look_for_returns(runs)
        if self._largest < 0:
            raise ValueError(f"{sources[0]}: no line holds a feature")
        self._first = 0 if smallest == 0 else 1
        names = [str(j) for j in range(self._first, self._largest + 1)]
        self._kept = kept_features(names, ignore)
        self.feature_names = [names[j] for j in self._kept]

    def _look_for_returns(self, runs: QueryRuns) -> None:
        row = runs.returns()
        if row is not None:
            place = letor_place(self._sources, row)
            every = (line.qid for source in self._sources for line in _lines(source))
            query = next(q for i, q in enumerate(every) if i == row)
            self.scattered = scattered(place, query)

    def batches(self, batch_rows: int) -> Iterator[Bunch]:
        """Whole queries, of at least so many rows together but for the last."""
        lines: list[bytes] = []
        ids: list[int] = []
        row = 0
        for source, queries in zip(self._sources, self._queries(), strict=True):
            for line, query in zip(_lines(source), queries, strict=False):
                qid = line.qid if query is None else query
                assert qid is not None
                if len(lines) >= batch_rows and qid != ids[-1]:
                    yield self._batch(lines, ids, row)
                    row += len(lines)
                    lines, ids = [], []
                lines.append(line.text)
                ids.append(qid)
        yield self._batch(lines, ids, row)

    def _queries(self) -> Iterator[Iterable[int | None]]:
        """For each file the numbers of the queries of its lines, None if these say."""
        if self._sizes is None:
            yield from (repeat(None) for _ in self._sources)
        else:
            yield from (numbers.tolist() for numbers in numbered_queries(self._sizes))

    def _batch(self, lines: list[bytes], ids: list[int], row: int) -> Bunch:
        # the last line of a file may have no end
        text = b"\n".join(line.rstrip(b"\r\n") for line in lines)
        try:
            matrix, target = load_svmlight_file(
                io.BytesIO(text), n_features=self._largest + 1, zero_based=True
            )
        except (ValueError, OverflowError) as error:
            wrong = next(filter(None, map(first_wrong, self._sources)), None)
            raise ValueError(wrong or f"{self._sources[0]}: {error}") from None
        columns = np.array(self._kept) + self._first
        return Bunch(
            data=matrix[:, columns].toarray(),
            target=target,
            qid=np.array(ids),
            feature_names=self.feature_names,
            place=partial(_place, self._sources, row),
        )


def _place(sources: Sequence[TextSource], first: int, row: int) -> str:
    return letor_place(sources, first + row)


def _lines(source: TextSource) -> Iterator[_Line]:
    """The lines of a file that hold a document: query, first and last feature."""
    with source.reading(), source.open() as file:
        try:
            for text in file:
                content, parts, qid = split_line(text)
                if not parts:
                    continue
                features = parts[1 if qid is None else 2 :]
                first = last = -1
                if features:
                    first = int(features[0].partition(b":")[0])
                    last = int(content.rsplit(None, 1)[-1].partition(b":")[0])
                yield _Line(text, qid, first, last)
        except ValueError as error:
            raise ValueError(complaint(source, fallback=str(error))) from None
