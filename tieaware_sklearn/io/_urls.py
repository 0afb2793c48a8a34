"""Files that fsspec reaches by URL, as far as a path is asked for by readers."""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, Any

from .._optional import import_optional
from ._wording import in_one_line

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def is_url(name: str | os.PathLike[str]) -> bool:
    """Whether a name is a URL, or a chain of them as fsspec has it."""
    return isinstance(name, str) and _URL.match(name) is not None


class Url:
    """A file by its URL, with those methods of `pathlib.Path` that readers need.

    Parameters
    ----------
    url : str
        As fsspec takes it, such as ``s3://...`` or ``simplecache::https://...``.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        # what follows ? is no part of the name
        self._path = PurePosixPath(re.split(r"[?#]", url.rpartition("::")[2])[0])

    def __str__(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"Url({self._url!r})"

    @property
    def suffix(self) -> str:
        return self._path.suffix

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def parents(self) -> list[PurePosixPath]:
        """The folders above, innermost first."""
        return list(self._path.parents)

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """The path with another suffix, only to look at."""
        return self._path.with_suffix(suffix)

    def with_name(self, name: str) -> Url:
        """Another file of the same folder."""
        return Url(self._url.removesuffix(self.name) + name)

    def exists(self) -> bool:
        return self.is_file()

    def is_file(self) -> bool:
        with as_errors_of(self._url):
            filesystem, path = connect(self._url)
            return bool(filesystem.isfile(path))

    def size(self) -> int:
        """Bytes of the file; 0 where the server does not say."""
        with as_errors_of(self._url):
            filesystem, path = connect(self._url)
            return int(filesystem.size(path) or 0)

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The bytes; every error of a driver names the URL."""
        with as_errors_of(self._url):
            filesystem, path = connect(self._url)
            return io.BufferedReader(_Remote(filesystem.open(path, mode), self._url))


def connect(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there."""
    core = import_optional("fsspec.core", extra="urls", purpose=f"reading {url}")
    filesystem, path = core.url_to_fs(url)
    return filesystem, path


class _Remote(io.RawIOBase):
    """A file of fsspec whose errors name the URL."""

    def __init__(self, file: Any, url: str) -> None:
        self._file, self._url = file, url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return int(self._file.seek(offset, whence))
        except (ValueError, io.UnsupportedOperation) as error:
            raise OSError(
                errno.ESPIPE,
                "the server gives the file only as a whole: simplecache:: before the "
                "URL copies it to a temporary file",
                self._url,
            ) from error

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        with as_errors_of(self._url):
            block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def as_errors_of(url: str) -> Iterator[None]:
    """Errors of drivers, which are of many kinds, as an OSError that names the URL."""
    try:
        yield
    except FileNotFoundError as error:
        # drivers say so of a server that does not answer, too
        why = error.__cause__
        is_absent = isinstance(why, (FileNotFoundError, KeyError))
        if isinstance(why, Exception) and not (
            is_absent or getattr(why, "status", None) == 404
        ):
            raise _unread(url, why) from error
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url) from error
    except (ImportError, MemoryError):
        raise
    except OSError as error:
        if error.filename == url:
            raise
        raise _unread(url, error) from error
    except Exception as error:
        raise _unread(url, error) from error


def _unread(url: str, error: Exception) -> OSError:
    why = in_one_line(error) or type(error).__name__
    return OSError(errno.EIO, f"cannot be read: {why}", url)
